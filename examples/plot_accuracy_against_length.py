# ruff: noqa: D205, D400
"""
Accuracy against code length: what a column buys
================================================

Every column is a learner to train, to store and to evaluate. This example compares the accuracy of codes by their
number of columns, on two of the shipped data sets, with boosted stumps.
"""

# %%
# Codes of fixed length
# ---------------------
# Four folds, the same for all codes; all are decoded by optimised weights.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.coding import dense_random
from skecoc.datasets import load_uci
from skecoc.decoding import OptimizedWeightDecoder

folds = StratifiedKFold(4, shuffle=True, random_state=0)


def accuracy_of(coding, X, y):
    """Return the length of a code and its accuracy on held-out rows."""
    # Folds would only calibrate probabilities.
    model = ECOCClassifier(coding=coding, decoding=OptimizedWeightDecoder(l2=0.1), random_state=0, n_folds=None)
    return model.fit(X, y).code_matrix_.shape[1], cross_val_score(model, X, y, cv=folds).mean()


# %%
# Codes that grow
# ---------------
# One fit gives a whole curve: ``staged_score`` decodes test rows with the code of every round. With these settings
# growth does not stop by itself, but goes on until the code has as many columns as one-vs-one.


def growth_of(init, X, y, lengths):
    """Return the accuracy on held-out rows of a code grown to each length."""
    curves = []
    for train, test in folds.split(X, y):
        grown = WOLCClassifier(init=init, max_columns=lengths[-1], tol=0.0, patience=100, random_state=0).fit(
            X[train], y[train]
        )
        columns = [record.n_columns for record in grown.history_]
        curves.append(np.interp(lengths, columns, list(grown.staged_score(X[test], y[test]))))
    return np.mean(curves, axis=0)


# %%
# The picture
# -----------
# Growth adds columns for the classes that are confused most, so grown codes are mostly more accurate than fixed ones of
# the same length. Grown from a tree (``"decoc"``), they reach the accuracy of one-vs-one with fewer columns on both
# sets, grown from one-vs-rest only on vowel. With few columns, a tree is the better initial code. Random problems of
# all classes at once are hard for stumps.
figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for name, axes in zip(("segmentation", "vowel"), panels, strict=True):
    X, y = load_uci(name, return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    n_classes = len(np.unique(y))
    longest = n_classes * (n_classes - 1) // 2
    for init, colour in (("one-vs-rest", "#2b6cb0"), ("decoc", "#4a9d5b")):
        lengths = np.arange(n_classes - (init == "decoc"), longest + 1)
        axes.plot(lengths, growth_of(init, X, y, lengths), color=colour, linewidth=2.5, label=f"grown from {init}")
    random_codes = [
        dense_random(n_classes, n_columns=length, random_state=0) for length in (n_classes, 2 * n_classes, longest)
    ]
    points = np.transpose([accuracy_of(matrix, X, y) for matrix in random_codes])
    axes.plot(*points, "o--", color="0.5", label="dense random")
    for coding in ("decoc", "one-vs-rest", "forest", "one-vs-one"):
        length, accuracy = accuracy_of(coding, X, y)
        print(f"{name:13} {coding:12} {length:3d} columns  {accuracy:.3f}")
        axes.plot(length, accuracy, "s", color="#d8822b", markersize=8)
        on_the_left = coding == "one-vs-one"
        place = (-8 if on_the_left else 8, -4)
        alignment = "right" if on_the_left else "left"
        axes.annotate(coding, (length, accuracy), place, textcoords="offset points", ha=alignment)
    axes.set(title=name, xlabel="columns", ylabel="accuracy")
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
