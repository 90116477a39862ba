# ruff: noqa: D205, D400
"""
A hundred classes, and a thousand
=================================

One-vs-rest trains as many learners as there are classes. A compact code needs a small multiple of the *logarithm* of
that number: each column is a bipartition of all classes, and codewords that are far apart tolerate wrong outputs. In
return, a random bipartition of many classes is a hard binary problem, so compact codes need learners that can solve
it, such as trees. With trees they are also more accurate: the errors of many different trees correct each other.
"""

# %%
# A hundred classes
# -----------------
# Each class is a small cloud of points in ten dimensions. One multiclass tree has to separate all hundred of them.
import tracemalloc
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier
from skecoc.coding import dense_random, min_row_distance, sparse_random


def clouds(n_classes, n_rows_each):
    """Draw rows around one random centre per class, and split them into a training and a test half."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, 10))
    y = np.repeat(np.arange(n_classes), n_rows_each)
    X = centres[y] + rng.normal(scale=0.25, size=(len(y), 10))
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


def fit_and_score(model, X, X_test, y, y_test):
    """Return the accuracy on the test rows and the seconds that fitting took."""
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    return model.score(X_test, y_test), seconds


tree = DecisionTreeClassifier(random_state=0)
data = clouds(100, 20)
one_tree, _ = fit_and_score(tree, *data)
one_vs_rest, rest_seconds = fit_and_score(OneVsRestClassifier(tree), *data)
print(f"one tree {one_tree:.3f}; one-vs-rest, 100 trees {one_vs_rest:.3f} in {rest_seconds:.1f} s")

# %%
# Seven columns are the fewest that separate a hundred classes, and they correct no errors. Further columns do. Sparse
# columns leave out half of the classes: they are trained faster and carry less information.
lengths = [7, 14, 27, 40, 67, 100]
accuracy = {"dense": [], "sparse": []}
for n_columns in lengths:
    for name, coding in (("dense", dense_random), ("sparse", sparse_random)):
        matrix = coding(100, n_columns=n_columns, n_draws=10, random_state=0)
        score, seconds = fit_and_score(
            ECOCClassifier(tree, coding=matrix, decoding="loss-averaged", n_folds=None), *data
        )
        accuracy[name].append(score)
        distance = min_row_distance(matrix)
        print(f"{name:<6} {n_columns:3d} columns, distance {distance:4.1f}: {score:.3f} in {seconds:.1f} s")

fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, marker in (("dense", "o"), ("sparse", "s")):
    ax.plot(lengths, accuracy[name], marker=marker, label=f"{name} random code")
ax.axhline(one_tree, color="0.4", linestyle="--", label="one multiclass tree")
ax.axhline(one_vs_rest, color="0.4", linestyle=":", label="one-vs-rest, 100 trees")
ax.set(xlabel="columns (binary trees)", ylabel="test accuracy", title="100 classes, decision trees")
ax.legend()
plt.show()

# %%
# A thousand classes
# ------------------
# For trees and so many classes, the default, ``coding="auto"``, is a dense random code. Its hundred columns are ten
# times the logarithm of a thousand. Drawing it takes longer than before, since all pairs of a thousand rows are
# compared. Four training rows per class are few for a single tree.
data = clouds(1000, 8)
one_tree, _ = fit_and_score(tree, *data)
model = ECOCClassifier(tree, random_state=0, n_folds=None)
score, seconds = fit_and_score(model, *data)
distance = min_row_distance(model.code_matrix_)
print(f"{model.coding_} code of shape {model.code_matrix_.shape}, distance {distance:.0f}")
print(f"one tree {one_tree:.3f}; 100 binary trees {score:.3f} in {seconds:.1f} s")

# %%
# Memory of predictions
# ---------------------
# Every class is scored for every row. Scores of a thousand classes are computed some two thousand rows at a time, so
# that the memory of `predict` does not grow with the number of rows.
rows = np.tile(data[1], (5, 1))
tracemalloc.start()
model.predict(rows)
_, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
print(f"{len(rows):,} rows: all scores at once {8e-6 * 1000 * len(rows):.0f} MB, peak of predict {1e-6 * peak:.0f} MB")
