# ruff: noqa: D205, D400
"""
Growth: a code that adds columns for confused classes
=====================================================

:class:`~skecoc.WOLCClassifier` starts from a code, finds the pairs of classes with the highest loss, and adds a column
for each of them, round by round. If a pair already has a column, the new one is clustering-based: the samples of the
pair are split into regions, each with its own learner.
"""

# %%
# In two dimensions
# -----------------
# Four classes, of which two lie in stripes that no line separates. The learner is logistic regression, which separates
# by lines.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from skecoc import WOLCClassifier
from skecoc.datasets import load_uci
from skecoc.plotting import plot_code_matrix, plot_convergence


def draw_rows(n_rows, seed):
    """Draw rows in the unit square, and their classes."""
    rows = np.random.default_rng(seed).uniform(size=(n_rows, 2))
    stripes = np.where((rows[:, 0] * 4 + 0.4 * np.sin(6 * rows[:, 1])).astype(int) % 2, "b", "a")
    return rows, np.select([rows[:, 1] > 0.85, rows[:, 1] < 0.15], ["c", "d"], default=stripes)


X, y = draw_rows(900, seed=0)
X_test, y_test = draw_rows(2000, seed=1)
rules = {"init": "one-vs-rest", "n_pairs": 1, "max_iter": 8, "random_state": 0}
model = WOLCClassifier(LogisticRegression(C=100), **rules).fit(X, y)
for number, record in enumerate(model.history_):
    pairs = " ".join(f"{model.classes_[i]}/{model.classes_[j]}" for i, j in record.pairs)
    kept = "  <- kept" if number == model.best_round_ else ""
    print(f"round {number}: {record.n_columns:2d} columns, loss {record.loss:.3f}, next: {pairs or 'nothing'}{kept}")
print(model.growth_summary())

# %%
# Round 1 adds a column for a and b, which changes nothing, since one line cannot separate the stripes. From round 2 on,
# further columns for the same pair train a learner in each region, and the stripes are separated.
horizontal, vertical = np.meshgrid(np.linspace(0, 1, 150), np.linspace(0, 1, 150))
plane = np.column_stack([horizontal.ravel(), vertical.ravel()])
colours = ListedColormap(["#2b6cb0", "#d8822b", "#4a9d5b", "#8c5fa8"])
rounds = list(zip(model.staged_predict(plane), model.staged_score(X_test, y_test), model.history_, strict=True))
figure, panels = plt.subplots(2, 3, figsize=(10, 6.8), sharex=True, sharey=True, layout="constrained")
panels.flat[0].scatter(*X.T, c=np.searchsorted(model.classes_, y), cmap=colours, s=7)
panels.flat[0].set_title("training rows")
for axes, number in zip(panels.flat[1:], (0, 1, 2, 3, 4), strict=True):
    predicted, score, record = rounds[number]
    regions = np.searchsorted(model.classes_, predicted).reshape(horizontal.shape)
    axes.pcolormesh(horizontal, vertical, regions, cmap=colours, alpha=0.5)
    axes.set_title(f"round {number}, {record.n_columns} columns: {score:.0%}")
plt.show()

# %%
# On real data
# ------------
# Eleven spoken vowels, boosted stumps. By default growth starts from one-vs-rest and one-vs-one together, so that all
# pairs are columns already. Rings mark the clustering-based columns that growth has added.
vowels = load_uci("vowel")
X = MinMaxScaler().fit_transform(vowels.data)
train, test = slice(None, None, 2), slice(1, None, 2)
model = WOLCClassifier(random_state=0).fit(X[train], vowels.target[train])
plot_code_matrix(model, title=f"{len(model.estimators_)} columns, {len(model.used_columns_)} of them with weight")
plt.show()

# %%
# The grey line is the out-of-fold estimate, from learners that have not seen the sample; its log-loss decides when to
# stop. The dotted line marks the round that is kept, for which optimised weights are fitted.
plot_convergence(model, X[test], vowels.target[test])
plt.show()

# %%
# Prediction evaluates every column. ``max_columns`` limits their number.
for budget in ("auto", 66, 100):
    short = WOLCClassifier(max_columns=budget, random_state=0).fit(X[train], vowels.target[train])
    print(f"at most {budget} columns: {len(short.estimators_)} kept, {short.score(X[test], vowels.target[test]):.1%}")
