# ruff: noqa: D205, D400
"""
Probabilities: how far to believe them
======================================

Every decoding has ``predict_proba``. Its largest entry is always that of the predicted class; whether a sample with 0.9
is right nine times in ten is another matter. This example measures it, and shows how to get better ones.
"""

# %%
# Three ways to get probabilities
# -------------------------------
# Silhouettes of four vehicles, two of which are much alike. One temperature turns scores into probabilities. In a
# plain code it is found on training samples, on which the learners do too well. A code that grows has outputs of
# learners that have not seen the sample, and finds its temperature on those. Calibration on held-out samples costs
# further fits and works for any classifier.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.datasets import load_uci

X, y = load_uci("vehicle", return_X_y=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {
    "one-vs-one, as fitted": ECOCClassifier(),
    "grown, as fitted": WOLCClassifier(random_state=0),
    "one-vs-one, calibrated": CalibratedClassifierCV(ECOCClassifier(), cv=5),
}

# %%
# Reliability
# -----------
# Every row is predicted by a model that was fitted without it, and put into a bin by the probability of its predicted
# class. Below the diagonal, rows are right less often than their probability says: the plain code is too sure. Its
# calibrated version, of sigmoids for each class, errs a little on the other side. The mean confidence of the grown code
# is close to its accuracy.
edges = np.linspace(0.3, 1, 8)
figure, axes = plt.subplots(figsize=(5.4, 5), layout="constrained")
axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
for (name, model), style in zip(models.items(), ("s--", "o-", "^-"), strict=True):
    probabilities = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    confidence, right = probabilities.max(axis=1), np.unique(y)[probabilities.argmax(axis=1)] == y
    bins = np.digitize(confidence, edges)
    filled = [k for k in np.unique(bins) if (bins == k).sum() >= 20]
    shares = [right[bins == k].mean() for k in filled]
    axes.plot([confidence[bins == k].mean() for k in filled], shares, style, label=name)
    print(
        f"{name:23} accuracy {right.mean():.3f}  mean confidence {confidence.mean():.3f}  "
        f"log loss {log_loss(y, probabilities):.3f}"
    )
axes.set(
    xlabel="probability of the predicted class", ylabel="share of rows that are right", xlim=(0.3, 1), ylim=(0.3, 1)
)
axes.legend(frameon=False)
plt.show()
