# ruff: noqa: D205, D400
"""
Probabilities: how far to believe them
======================================

Every decoding has ``predict_proba``. Its largest entry is always that of the predicted class; whether a sample with 0.9
is right nine times in ten is another matter. This example measures it.
"""

# %%
# Three ways to get probabilities
# -------------------------------
# Silhouettes of four vehicles, two of which are much alike. Scores become probabilities by a calibration that is fitted
# to outputs of learners that have not seen the sample: each column is trained once more for each of three folds.
# Without folds there is one temperature, found on training samples, on which the learners do too well. scikit-learn's
# calibration works for any classifier; it fits five further ones and averages them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skecoc import ECOCClassifier
from skecoc.datasets import load_uci
from skecoc.plotting import plot_reliability

X, y = load_uci("vehicle", return_X_y=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {
    "without folds": ECOCClassifier(n_folds=None),
    "out of fold": ECOCClassifier(),
    "CalibratedClassifierCV": CalibratedClassifierCV(ECOCClassifier(n_folds=None), cv=5),
}

# %%
# Reliability
# -----------
# Every row is predicted by a model that was fitted without it, and put into a bin by the probability of its predicted
# class. Below the diagonal, rows are right less often than their probability says: without folds, the code is too
# sure. The other two err on the safe side, since learners of folds have seen fewer rows than the one that predicts;
# sigmoids for each class, which are then made to sum to one, do so by more.
probabilities = {
    name: cross_val_predict(model, X, y, cv=folds, method="predict_proba") for name, model in models.items()
}
for name, found in probabilities.items():
    right = np.unique(y)[found.argmax(axis=1)] == y
    print(f"{name:23} accuracy {right.mean():.3f}  mean confidence {found.max(axis=1).mean():.3f}")
plot_reliability(probabilities, y=y)
plt.show()

# %%
# One class
# ---------
# The probability of a single class, whatever is predicted: here of the harder one of the two that are much alike.
plot_reliability(probabilities, y=y, of_class="opel")
plt.show()
