"""Optimised weights of many classes: time in passes, gap and memory. Times are CPU seconds with one BLAS thread.

Run ``python benchmarks/ow_many_classes.py [quick]``. A *pass* evaluates the objective and a subgradient over all rows:
scores of all classes over the non-zero weights, each row's worst rival and its hinge, and the cut. Its time is the best
of several, and the smaller of the library's and of one in plain numpy and scipy. Every case runs in a process of its
own, for at most two minutes; memory is the peak above that of the codewords, labels and matrix, which are there before.

Codewords are those of learners that err: ``noise`` and ``clean`` are codes of the own class plus more or less noise,
squashed; ``posterior`` are ``2 p - 1`` with the posterior probability of a column's positive side among points around
class centres, known with noise. ``pooled`` weights are drawn towards a mixture of two groups, as growth does it.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from ow import memory
from scipy import sparse
from scipy.special import expit, logit, softmax
from threadpoolctl import threadpool_limits

from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.optimized.ascent import DualAscent
from skecoc.decoding.optimized.problem import MemoryRows, Problem, WeightSpace
from skecoc.decoding.scoring import worst_rivals

# Code, classes, columns, rows; quick sizes follow.
SIZES = {
    "dense": ((1_000, 100, 50_000), (100, 50, 5_000)),
    "sparse": ((1_000, 150, 50_000), (100, 75, 5_000)),
    "rest": ((1_000, 1_000, 20_000), (100, 100, 5_000)),
    "pairs": ((200, 19_900, 10_000), (40, 780, 4_000)),
}
CODEWORDS = ("noise", "clean", "posterior")
MARGIN, L2 = 0.3, 0.01
LIMIT = 120  # seconds of a case


def code_matrix(kind, n_classes, n_columns, rng):
    """Make a code: dense random, one fifth of it random, one-vs-rest or one-vs-one."""
    if kind == "rest":
        return np.asarray(one_vs_rest(n_classes), dtype=np.float64)
    if kind == "pairs":
        return np.asarray(one_vs_one(n_classes), dtype=np.float64)
    share = 1.0 if kind == "dense" else 0.2
    matrix = rng.choice([-1.0, 1.0], (n_classes, n_columns)) * (rng.random((n_classes, n_columns)) < share)
    matrix[matrix.any(axis=1) == 0, 0] = 1.0
    return matrix


def made_up_rows(kind, outputs, n_classes, n_columns, n_rows, seed=0):
    """Make codewords in [-1, 1] as float32."""
    rng = np.random.default_rng(seed)
    matrix = code_matrix(kind, n_classes, n_columns, rng)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    codewords = np.empty((n_rows, matrix.shape[1]), dtype=np.float32)
    strength = rng.permutation(np.linspace(0.2, 1.2, matrix.shape[1])) * (1.5 if outputs == "clean" else 0.6)
    centres = 1.2 * rng.normal(size=(n_classes, 12))
    for first in range(0, n_rows, 2_000):
        part = slice(first, first + 2_000)
        noise = rng.normal(size=codewords[part].shape)
        if outputs == "posterior":
            points = centres[y[part]] + 0.9 * rng.normal(size=(len(noise), 12))
            nearness = points @ centres.T - 0.5 * (centres**2).sum(axis=1)
            share = softmax(nearness / 0.9**2, axis=1) + 1e-6
            positive, negative = share @ (matrix > 0), share @ (matrix < 0)
            codewords[part] = 2.0 * expit(0.5 * logit((positive / (positive + negative)).clip(1e-9, 1 - 1e-9)) + noise)
            codewords[part] -= 1.0
        else:
            codewords[part] = np.tanh(matrix[y[part]] * strength + 0.9 * noise)
    return codewords, y, matrix


def pooled_form(codewords, y, matrix):
    """Return prior weights, margin and penalty as growth chooses them: two groups of columns, mixed 7 to 3."""
    first = np.arange(matrix.shape[1]) < matrix.shape[1] // 2
    prior = np.zeros_like(matrix)
    for part, share in ((first, 0.7), (~first, 0.3)):
        used = np.abs(matrix) * part
        prior += share * used / np.maximum(used.sum(axis=1, keepdims=True), 1.0)
    prior /= prior.sum(axis=1, keepdims=True)
    some = slice(0, 5_000)
    _, leads = worst_rivals(codewords[some] @ (prior * matrix).T, y[some])
    margin = 1.5 * float(np.abs(leads).mean())
    return prior, margin, 0.05 * margin * len(matrix) / float((prior**2).sum())


def plain_pass(codewords, y, matrix, weights, margin):
    """Find the mean hinge and a subgradient with numpy and scipy, 512 rows at a time."""
    code = weights * matrix
    code = sparse.csr_array(code) if np.count_nonzero(matrix) < 0.25 * matrix.size else code
    hinge, slope = 0.0, np.zeros_like(matrix)
    for first in range(0, len(y), 512):
        x, own = codewords[first : first + 512].astype(np.float64), y[first : first + 512]
        scores = np.ascontiguousarray((code @ x.T).T) if sparse.issparse(code) else x @ code.T
        rivals, losses = worst_rivals(scores, own, margin)
        lossy = np.flatnonzero(losses > 0)
        hinge += losses[lossy].sum()
        places = np.concatenate([rivals[lossy], own[lossy]]), np.tile(lossy, 2)
        signs = np.repeat([1.0, -1.0], len(lossy))
        slope += sparse.csr_array((signs, places), shape=(len(matrix), len(own))) @ x
    return hinge / len(y), slope * matrix / len(y)


def best_seconds(function, repeats=3):
    """Return the smallest CPU time of several calls."""
    times = []
    for _ in range(repeats):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def run_case(kind, outputs, form, size):
    """Measure one case and print a line."""
    codewords, y, matrix = made_up_rows(kind, outputs, *size)
    prior, margin, l2 = pooled_form(codewords, y, matrix) if form == "pooled" else (None, MARGIN, L2)
    for dtype in (np.float32, np.float64):  # compile
        data = made_up_rows("dense", "noise", 12, 30, 200)
        OptimizedWeightDecoder(tol=1e-2).fit(data[0].astype(dtype), *data[1:])
    decoder = OptimizedWeightDecoder(margin, l2=l2, tol=1e-3)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    started = process_time()
    decoder.fit(codewords, y, matrix, prior_weights=prior)
    seconds = process_time() - started
    extra = memory("VmHWM") - before
    space = WeightSpace(decoder.matrix_)
    rows = MemoryRows(codewords, y, np.full(len(y), 1.0 / len(y)), len(matrix))
    ascent = DualAscent(Problem(space, margin, l2, 0.0 if prior is None else prior), rows)
    weights = space.flatten(decoder.weights_)
    ascent.look(weights, 0.0)
    ascent.sweep()  # a share for the rows with a loss
    ours = best_seconds(lambda: (ascent.look(weights, 0.0), ascent.update()))
    plain = best_seconds(lambda: plain_pass(codewords, y, decoder.matrix_, decoder.weights_, margin))
    found = decoder.certificate_
    print(
        f"| {kind} | {outputs} | {form} | {len(matrix):,} x {matrix.shape[1]:,} | {space.n_weights:,} | {len(y):,} "
        f"| {seconds:.1f} | {min(ours, plain):.3f} | {seconds / min(ours, plain):.0f} | {found.gap:.0e} "
        f"| {found.n_rounds} | {extra / 2**20:.0f} | {extra / space.n_weights:.0f} | {codewords.nbytes / 2**20:.0f} |",
        flush=True,
    )


def main():
    if sys.argv[1:2] == ["case"]:
        warnings.simplefilter("always")
        with threadpool_limits(1):
            run_case(*sys.argv[2:5], [int(value) for value in sys.argv[5:8]])
        return
    print(
        "| code | codewords | form | matrix | weights | rows | seconds | seconds of a pass | passes' time | gap "
        "| passes made | extra MB | bytes per weight | codewords MB |"
    )
    for kind, sizes in SIZES.items():
        size = [str(value) for value in sizes["quick" in sys.argv]]
        cases = [(outputs, "equal") for outputs in CODEWORDS] + [("posterior", "pooled")]
        for case in cases:
            try:
                subprocess.run([sys.executable, __file__, "case", kind, *case, *size], check=True, timeout=LIMIT)
            except subprocess.TimeoutExpired:
                shape = f"{int(size[0]):,} x {int(size[1]):,}"
                print(f"| {kind} | {' | '.join(case)} | {shape} | not finished within {LIMIT} s |", flush=True)


if __name__ == "__main__":
    main()
