# ruff: noqa: D205, D400, ERA001
"""
Weights and risk: how much a column counts, and which pair is hardest
=====================================================================

Optimised-weight decoding gives every class its own weights of the columns, which minimise the training risk. The risk
of each pair of classes shows where a code that grows should add columns.
"""

# %%
# Two kinds of weights
# --------------------
# Seven kinds of image segments, a Hadamard code, boosted stumps. Loss-weighted decoding weights a column by how often
# it is correct for the class; all are mostly correct, so the weights are nearly equal.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.datasets import load_uci
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.plotting import plot_risk, plot_weights

segments = load_uci("segmentation")
X = MinMaxScaler().fit_transform(segments.data)
y = segments.target
train, test = slice(None, None, 4), slice(1, None, 4)
model = ECOCClassifier(coding="hadamard", decoding="loss-weighted").fit(X[train], y[train])
plot_weights(model)
plt.suptitle(f"loss-weighted: {model.score(X[test], y[test]):.1%} of test rows")
plt.show()

# %%
# Optimised weights are the solution of a convex problem, and differ between columns.
model = ECOCClassifier(coding="hadamard", decoding="optimized-weight").fit(X[train], y[train])
plot_weights(model)
plt.suptitle(f"optimised: {model.score(X[test], y[test]):.1%} of test rows")
plt.show()

# %%
# The weights come with a certificate: the objective, and a lower bound of it.
certificate = model.decoder_.certificate_
print(f"objective {certificate.objective:.5f}, lower bound {certificate.lower_bound:.5f}, gap {certificate.gap:.1e}")

# %%
# Why a margin is needed
# ----------------------
# The risk as the WOLC-ECOC paper defines it has no margin, so a tie between the true class and all others costs
# nothing. Then very different weights have the same training risk, and even with those of maximum entropy more than
# half of the test samples are tied. With a margin, ties have a loss and are fewer; they remain where classes share an
# output and none has the majority. Eleven vowels, one-vs-rest, hard labels:
vowels = load_uci("vowel")
hard = ECOCClassifier(coding="one-vs-rest", response_method="predict").fit(vowels.data[::2], vowels.target[::2])
seen, new = hard.codewords(vowels.data[::2]), hard.codewords(vowels.data[1::2])
rows = np.searchsorted(hard.classes_, vowels.target[::2])
figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for axes, decoder in zip(panels, (OptimizedWeightDecoder(margin=0, l2=0), OptimizedWeightDecoder()), strict=True):
    decoder.fit(seen, rows, hard.code_matrix_)
    agreements = new @ (decoder.weights_ * hard.code_matrix_).T
    second, best = np.sort(agreements, axis=1)[:, -2:].T
    axes.hist(best - second, bins=np.linspace(0, 0.4, 41), color="#2b6cb0")
    axes.set(
        title=f"margin {decoder.margin:g}, training risk {decoder.certificate_.risk:.3f}",
        xlabel="lead of the best class",
    )
panels[0].set_ylabel("test rows")
plt.show()

# %%
# Risk and confusion
# ------------------
# Which pair of classes is hardest? The confusion matrix counts errors; the risk matrix adds up by how much samples miss
# the margin, also those that are predicted correctly. The two may differ. The paper's growth uses the risk.
model = WOLCClassifier(init="one-vs-rest", max_iter=0, random_state=0).fit(X[train], y[train])
codewords, rows = model.codewords(X[test]), np.searchsorted(model.classes_, y[test])
risk, confusion = model.decoder_.risk_and_confusion(codewords, rows)
plot_risk(risk, confusion, class_names=model.classes_, figure=plt.figure(figsize=(10, 4.8), layout="constrained"))
plt.show()
# sphinx_gallery_thumbnail_number = 2
