# ruff: noqa: D205, D400
"""
Probabilities: how reliable they are
====================================

Every decoding has ``predict_proba``. Of the samples that are predicted with a probability of 0.9, nine in ten should be
correct. This example measures whether they are.
"""

# %%
# Three ways to get probabilities
# -------------------------------
# Silhouettes of four vehicles, two of which are much alike. The calibration of probabilities is fitted to out-of-fold
# outputs: each column is trained once more for each of three folds. Without folds, only a temperature is fitted, to
# training samples, on which learners make fewer errors. scikit-learn's calibration works for any classifier; it fits
# five of them and averages their probabilities.
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
# class. Below the diagonal, fewer rows are correct than their probability says: without folds, probabilities are too
# high. The other two are slightly too low, since learners of folds have seen fewer rows than those that predict, and
# more so with scikit-learn's calibration, which scales sigmoids of single classes to sum to one.
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
