# ruff: noqa: D205, D400
"""
Gradient boosting, and a learner of two classes
===============================================

Any scikit-learn classifier can learn a column: here gradient-boosted trees of scikit-learn and LightGBM, which accept
missing values, and a classifier for two classes only.
"""

# %%
# Boosted trees
# -------------
# Seven kinds of image segments; a tenth of all values is missing. By itself `HistGradientBoostingClassifier` grows one
# tree per class in every round. In one-vs-one it solves a binary problem for each pair of classes, from the few samples
# of that pair; in a dense random code each problem is about all classes.
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier
from skecoc.datasets import load_uci

X, y = load_uci("segmentation", return_X_y=True)
X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
accuracy = {}


def compare(name, model):
    """Fit a model, print its accuracy on the test rows and the seconds that fitting took, and note the accuracy."""
    start = perf_counter()
    with threadpool_limits(1):  # trees of few rows are grown faster by one thread
        model.fit(X_train, y_train)
    seconds = perf_counter() - start
    accuracy[name] = model.score(X_test, y_test)
    print(f"{name:<30} accuracy {accuracy[name]:.3f}, fitted in {seconds:.1f} s")


boosting = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=0)
compare("boosting alone", boosting)
compare("one-vs-one of boosting", ECOCClassifier(boosting, coding="one-vs-one"))
compare("dense random code of boosting", ECOCClassifier(boosting, coding="dense-random", random_state=0))

# %%
# LightGBM
# --------
# Its classifier is a scikit-learn estimator and used in the same way. This library does not need LightGBM.
try:
    from lightgbm import LGBMClassifier
except ImportError:
    print("LightGBM is not installed")
else:
    lightgbm = LGBMClassifier(n_estimators=20, num_leaves=8, n_jobs=1, verbose=-1)
    compare("LightGBM alone", lightgbm)
    compare("one-vs-one of LightGBM", ECOCClassifier(lightgbm, coding="one-vs-one"))


# %%
# A learner of two classes
# ------------------------
# This classifier separates two classes by the plane halfway between their means. With a code it classifies seven. It
# needs scaled features without missing values, so it is the last step of a pipeline.
class HalfwayPlane(ClassifierMixin, BaseEstimator):
    """Assign a row to the class whose mean is nearer; exactly two classes."""

    def fit(self, X, y):
        """Find the means."""
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(f"y must hold 2 classes, got {len(self.classes_)}")
        first, second = (X[y == label].mean(axis=0) for label in self.classes_)
        self.normal_, self.middle_ = second - first, (first + second) / 2
        return self

    def decision_function(self, X):
        """Return the signed distances from the plane, in units of the distance of the means."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return (X - self.middle_) @ self.normal_ / (self.normal_ @ self.normal_)

    def predict(self, X):
        """Return the class of the nearer mean."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


for coding in ("one-vs-rest", "one-vs-one"):
    code = ECOCClassifier(HalfwayPlane(), coding=coding, decoding="hamming", response_method="predict")
    compare(f"{coding} of planes", make_pipeline(SimpleImputer(), StandardScaler(), code))

# %%
# Side by side
# ------------
# Boosting handles many classes well and gains little from a code. The planes need a code, and its choice matters: with
# one-vs-rest, the mean of six classes together is near none of them.
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
names = list(accuracy)[::-1]
bars = axes.barh(names, [accuracy[name] for name in names], color="#2b6cb0")
axes.bar_label(bars, fmt="%.3f", padding=3)
axes.set(xlabel="test accuracy", xlim=(0, 1.1))
plt.show()
