# ruff: noqa: D205, D400
"""
Three learners, one code
========================

`estimator` may be a list of learners. Each of them solves the binary problems of a code, and the weights say how much
each learner counts for each class. For classes that are still confused, growth adds a column of the best learner.
"""

# %%
# Learners that make different errors
# -----------------------------------
# Silhouettes of four kinds of vehicles. Stumps and logistic regression are trained for each binary problem.
# :class:`~skecoc.learners.MulticlassLearner` wraps multiclass classifiers: the trees are fitted only once for all
# columns.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skecoc import WOLCClassifier
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.plotting import plot_learner_shares

X, y = load_uci("vehicle", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
learners = [
    ("stumps", StumpAdaBoostClassifier()),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    ("trees", MulticlassLearner(ExtraTreesClassifier(100))),
]
model = WOLCClassifier(learners, random_state=0).fit(X_train, y_train)
print(model.growth_summary())

# %%
# Alone and together
# ------------------
# Every learner alone, with weights but without growth, and all three in one code. The out-of-fold accuracy is the
# classifier's own estimate. By both accuracies, three learners are better than one.
accuracy = {}
for name, learner in learners:
    alone = WOLCClassifier([(name, learner)], max_iter=0, random_state=0).fit(X_train, y_train)
    accuracy[name] = alone.history_[0].out_of_fold_accuracy, alone.score(X_test, y_test)
start = next(model.staged_score(X_test, y_test))
accuracy["all three"] = model.history_[0].out_of_fold_accuracy, start
accuracy["all three, grown"] = model.history_[model.best_round_].out_of_fold_accuracy, model.score(X_test, y_test)
for name, (out_of_fold, test) in accuracy.items():
    print(f"{name:<17} out of fold {out_of_fold:.3f}, test {test:.3f}")

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
places = np.arange(len(accuracy))
for shift, values, colour, label in zip(
    (-0.2, 0.2),
    zip(*accuracy.values(), strict=True),
    ("#9db8d6", "#2b6cb0"),
    ("out of fold", "test"),
    strict=True,
):
    axes.bar_label(axes.bar(places + shift, values, 0.4, color=colour, label=label), fmt="%.2f")
axes.set_xticks(places, list(accuracy))
axes.set(ylabel="accuracy", ylim=(0.6, 0.9))
axes.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Share of each learner by class
# ------------------------------
# The shares of a class sum to 1. A learner that helps little for a class has a small share there.
plot_learner_shares(model)
plt.show()

# %%
# What growth added
# -----------------
# Opel and Saab are two cars that look alike. Of all learners that could add a column for this pair, the one that lowers
# the out-of-fold log-loss of the pair most was added. Logistic regression already had a column for it, so the new one
# is clustering-based: each region has its own logistic regression. Bus against Saab got a column of the trees, a simple
# one, since trees had columns of one-vs-rest only. The gain is small, as it often is with several good learners: the
# out-of-fold loss falls, while the test accuracy above hardly changes.
losses = [record.loss for record in model.history_]
print(f"log-loss out of fold: {losses[0]:.3f} at the start, {losses[model.best_round_]:.3f} in the round that is kept")
for q in np.flatnonzero(model.column_kinds_ != "initial"):
    first, second = model.classes_[np.flatnonzero(model.code_matrix_[:, q])]
    print(f"column {q}: {first} against {second}, {model.column_kinds_[q]}, by {model.column_learners_[q]}")
