# ruff: noqa: D205, D400, ERA001
"""
Decoding: from outputs to a class
=================================

Six decodings of the same code with the same trained learners. In two dimensions, the regions of the classes can be
drawn: learners separate by lines, and the decoding combines them.
"""

# %%
# A problem in two dimensions
# ---------------------------
# Five classes, and a tree of four binary problems. In such a code the classes have different numbers of zeros:
# class 4 takes part in one column, classes 0 and 1 in three.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skecoc import ECOCClassifier
from skecoc.plotting import plot_code_matrix

centres = [(-4, 1), (-1.5, 3), (-2, -2.5), (2.5, -1), (3.5, 3)]
X, y = make_blobs(700, centers=centres, cluster_std=1.35, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
tree = np.array(
    [
        [1, 1, 1, 0],
        [1, 1, -1, 0],
        [1, -1, 0, 1],
        [1, -1, 0, -1],
        [-1, 0, 0, 0],
    ]
)
colours = ListedColormap(["#2b6cb0", "#d8822b", "#4a9d5b", "#8c5fa8", "#b8a13a"])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
plot_code_matrix(tree, title="a tree of four columns", ax=left)
right.scatter(*X_train.T, c=y_train, cmap=colours, s=8)
right.set_title("five classes")
plt.show()

# %%
# What the learners predict
# -------------------------
# Logistic regression gives a probability p for each column, which becomes 2p - 1 in the codeword: between -1 and
# 1, positive on the +1 side. The learner of column 1 was not trained on class 4, but has an output everywhere.
horizontal, vertical = np.meshgrid(np.linspace(-8, 7.5, 220), np.linspace(-6.5, 7, 190))
plane = np.column_stack([horizontal.ravel(), vertical.ravel()])
sides = LinearSegmentedColormap.from_list("sides", ["#d8822b", "white", "#2b6cb0"])
model = ECOCClassifier(LogisticRegression(), coding=tree, decoding="hamming").fit(X_train, y_train)
codewords = model.codewords(plane)
figure, panels = plt.subplots(1, 4, figsize=(11, 2.7), sharex=True, sharey=True, layout="constrained")
for column, axes in enumerate(panels):
    outputs = codewords[:, column].reshape(horizontal.shape)
    image = axes.pcolormesh(horizontal, vertical, outputs, cmap=sides, vmin=-1, vmax=1)
    side = tree[y_train, column]
    axes.scatter(*X_train[side != 0].T, c=side[side != 0], cmap=sides, s=9, edgecolor="0.2", linewidth=0.3)
    axes.set_title(f"column {column}")
figure.colorbar(image, ax=panels, label="output")
plt.show()

# %%
# Six decodings
# -------------
# Hamming and loss-based decoding count a zero as half a disagreement. Class 4 has three zeros, so classes 1 and 3 are
# predicted in its place where the outputs of their columns are large. Decodings that leave zeros out, or give every
# class the same total weight, do not have this bias.
decodings = ("hamming", "loss-based", "euclidean", "laplacian", "loss-weighted", "optimized-weight")
figure, panels = plt.subplots(2, 3, figsize=(11, 6.6), sharex=True, sharey=True, layout="constrained")
for decoding, axes in zip(decodings, panels.flat, strict=True):
    model = ECOCClassifier(LogisticRegression(), coding=tree, decoding=decoding).fit(X_train, y_train)
    regions = model.predict(plane).reshape(horizontal.shape)
    axes.pcolormesh(horizontal, vertical, regions, cmap=colours, alpha=0.35)
    axes.scatter(*X_test.T, c=y_test, cmap=colours, s=8)
    axes.set_title(f"{decoding}: {model.score(X_test, y_test):.1%}")
plt.show()

# %%
# Scores of one sample
# --------------------
# The class with the highest score is predicted; scores of different decodings are not on one scale. This sample lies in
# the lower part of class 4.
row = np.array([[4.5, 1.2]])
print("codeword", model.codewords(row).round(2))
for decoding in decodings:
    model = ECOCClassifier(LogisticRegression(), coding=tree, decoding=decoding).fit(X_train, y_train)
    scores = " ".join(f"{score:6.2f}" for score in model.decision_function(row)[0])
    print(f"{decoding:17} {scores}  -> class {model.predict(row)[0]}")
# sphinx_gallery_thumbnail_number = 3
