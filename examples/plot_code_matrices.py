# ruff: noqa: D205, D400
"""
Code matrices: which binary problems to solve
=============================================

A code matrix has one row per class and one column per binary problem. Blue classes (+1) are set against orange ones
(-1); grey ones (0) take no part. This example draws the codings of the library and measures them.
"""

# %%
# Codes that depend only on the number of classes
# -----------------------------------------------
# One-vs-rest and one-vs-one are the best known. Exhaustive codes hold every bipartition of all classes, Hadamard codes
# a few with distant rows, and ordinal codes are for classes that have an order. Random codes have as many columns as
# you like; many are drawn, and the one whose closest rows are farthest apart is improved and kept.
import matplotlib.pyplot as plt

from skecoc.coding import (
    code_statistics,
    decoc,
    dense_random,
    exhaustive,
    forest,
    hadamard,
    min_row_distance,
    one_vs_one,
    one_vs_rest,
    ordinal,
    sparse_random,
)
from skecoc.datasets import load_uci
from skecoc.plotting import plot_code_matrix

codes = {
    "one-vs-rest": one_vs_rest(5),
    "one-vs-one": one_vs_one(5),
    "ordinal": ordinal(5),
    "Hadamard": hadamard(5),
    "exhaustive": exhaustive(5),
    "dense random": dense_random(5, n_columns=12, random_state=0),
    "sparse random": sparse_random(5, n_columns=12, random_state=0),
}
figure, panels = plt.subplots(4, 2, figsize=(9, 8), layout="constrained")
for axes, (title, matrix) in zip(panels.flat, codes.items(), strict=False):
    plot_code_matrix(matrix, title=f"{title}: {matrix.shape[1]} columns", ax=axes)
    axes.set_xlabel("")
panels[-1, -1].axis("off")
plt.show()

# %%
# Measures of a code
# ------------------
# The minimum distance of two rows says how many wrong outputs a code can correct at most; a zero counts one half.
# Zeros make binary problems smaller, hence easier to learn. Each column is a learner to train and to evaluate.
print(f"{'':14}columns  minimum distance  zeros")
for title, matrix in codes.items():
    measured = code_statistics(matrix)
    print(f"{title:14}{measured['n_columns']:7d}{measured['min_distance']:18.1f}{measured['zero_share']:7.0%}")

# %%
# Codes that are learnt from the data
# -----------------------------------
# :func:`~skecoc.coding.decoc` splits the classes into the two sides that the features separate best, then splits each
# side again. Here the classes are kinds of soil in a satellite image; damp soils and stubble are in one branch.
# :func:`~skecoc.coding.forest` adds further trees that repeat no split.
soils = load_uci("satimage")
names = ["red", "cotton", "grey", "damp grey", "stubble", "very damp"]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.8), width_ratios=(1, 2.4), layout="constrained")
plot_code_matrix(decoc(soils.data, soils.target), class_names=names, title="one tree", ax=left)
plot_code_matrix(forest(soils.data, soils.target, n_trees=3), class_names=names, title="three trees", ax=right)
plt.show()

# %%
# Distance against number of columns
# ----------------------------------
# The distance of the closest two rows for sixteen classes. The search over random codes comes close to the Hadamard
# code, which is the best possible one with fifteen columns, and works for any length.
lengths = [6, 8, 10, 12, 15, 20, 25, 30, 40]
found = [min_row_distance(dense_random(16, n_columns=length, random_state=0)) for length in lengths]
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(lengths, found, "o-", color="#2b6cb0", label="dense random, searched")
for title, matrix, marker in (("Hadamard", hadamard(16), "s"), ("one-vs-rest", one_vs_rest(16), "^")):
    axes.plot(matrix.shape[1], min_row_distance(matrix), marker, color="#d8822b", markersize=9, label=title)
axes.set(xlabel="columns", ylabel="minimum distance of two rows")
axes.legend(frameon=False)
plt.show()
