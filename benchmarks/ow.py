"""How fast optimised weights are found. Every figure is a ratio; times are CPU seconds with one BLAS thread.

Run ``python benchmarks/ow.py [full-program] [algorithm-2] [scaling] [hard] [classes]``; without arguments, all five:

full-program   against the full quadratic program with one slack per row, given to the same solver library (minutes)
algorithm-2    the paper's problem by its cutting planes, 10^3 to 10^6 rows, against the default solver and eq. 8
scaling        10^4, 10^5 and 10^6 rows against one plain numpy pass; exponent of time; peak memory
hard           hard codewords of the fourteen data sets: milliseconds of a fit
classes        dense one-vs-rest codes of 10 to 100 classes, 5,000 rows: seconds of a fit and of a plain pass
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import piqp
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skecoc.decoding.optimized import OptimizedWeightDecoder

N_CLASSES, N_COLUMNS = 10, 30
MOST_CUTS = 2_000


def made_up_rows(n_rows, seed=0, kind="continuous", shape=(N_CLASSES, N_COLUMNS)):
    """Make codewords of a dense random code whose columns are right more or less often: hard or continuous ones."""
    rng = np.random.default_rng(seed)
    matrix = rng.choice([-1.0, 1.0], size=shape)
    y = rng.integers(0, shape[0], n_rows)
    codewords = np.empty((n_rows, shape[1]))
    strength = 0.6 * np.linspace(0.2, 1.2, shape[1])
    for first in range(0, n_rows, 10_000):
        part = slice(first, first + 10_000)
        noise = rng.normal(size=codewords[part].shape)
        codewords[part] = np.tanh(matrix[y[part]] * strength + noise)
    return np.sign(codewords) if kind == "hard" else codewords, y, matrix


def cpu_seconds(function, repeats=3):
    """Return the smallest CPU time of several calls, and the last result."""
    times = []
    for _ in range(repeats):
        start = process_time()
        result = function()
        times.append(process_time() - start)
    return min(times), result


def plain_pass(codewords, decoder):
    """Do what any decoding costs at least: compute scores and their best."""
    return (codewords @ (decoder.weights_ * decoder.matrix_).T).argmin(axis=1)


def full_constraints(codewords, y, matrix):
    """Return what a constraint per row and rival asks of weights and slacks, and which weights sum to 1."""
    n_rows, n_weights = len(y), matrix.size
    rows, rivals = np.nonzero(np.arange(len(matrix)) != y[:, np.newaxis])
    each = np.arange(len(rows)).repeat(matrix.shape[1])
    places, values = [], []
    for classes, sign in ((rivals, 1.0), (y[rows], -1.0)):
        places.append((classes[:, np.newaxis] * matrix.shape[1] + np.arange(matrix.shape[1])).ravel())
        values.append((sign * codewords[rows] * matrix[classes]).ravel())
    slopes = sparse.csc_matrix(
        (np.concatenate(values), (np.tile(each, 2), np.concatenate(places))), (len(rows), n_weights)
    )
    slacks = sparse.csc_matrix((-np.ones(len(rows)), (np.arange(len(rows)), rows)), (len(rows), n_rows))
    return slopes, slacks, sparse.csc_matrix(np.kron(np.eye(len(matrix)), np.ones(matrix.shape[1])))


def full_program(codewords, y, matrix, margin, l2):
    """Solve the quadratic program with one slack per row and one constraint per row and rival."""
    n_rows, n_weights = len(y), matrix.size
    slopes, slacks, memberships = full_constraints(codewords, y, matrix)
    sums = sparse.hstack([memberships, sparse.csc_matrix((len(matrix), n_rows))])
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-6
    solver.setup(
        sparse.diags(np.concatenate([np.full(n_weights, l2), np.zeros(n_rows)])).tocsc(),
        np.concatenate([np.zeros(n_weights), np.full(n_rows, 1.0 / n_rows)]),
        sums.tocsc(),
        np.ones(len(matrix)),
        sparse.hstack([slopes, slacks]).tocsc(),
        np.full(slopes.shape[0], -np.inf),
        np.full(slopes.shape[0], -margin),
        np.zeros(n_weights + n_rows),
        np.full(n_weights + n_rows, np.inf),
    )
    solver.solve()
    return solver.result.info.primal_obj


def full_linear_program(codewords, y, matrix):
    """Solve eq. 8, with one slack per row and one constraint per row and rival, by HiGHS; return the mean loss."""
    n_rows, n_weights = len(y), matrix.size
    slopes, slacks, memberships = full_constraints(codewords, y, matrix)
    found = linprog(
        np.concatenate([np.zeros(n_weights), np.full(n_rows, 1.0 / n_rows)]),
        A_ub=sparse.hstack([slopes, slacks]),
        b_ub=np.zeros(slopes.shape[0]),
        A_eq=sparse.hstack([memberships, sparse.csc_matrix((len(matrix), n_rows))]),
        b_eq=np.ones(len(matrix)),
        method="highs",
    )
    return found.fun


def report_full_program():
    codewords, y, matrix = made_up_rows(20_000)
    decoder = OptimizedWeightDecoder()
    ours, _ = cpu_seconds(lambda: decoder.fit(codewords, y, matrix))
    started = process_time()
    optimum = full_program(codewords, y, matrix, decoder.margin, decoder.l2)
    theirs = process_time() - started
    found = decoder.certificate_
    print(f"full program, 20,000 rows: {theirs / ours:.0f} times as long as ours")
    print(
        f"  relative difference of the objectives {abs(found.objective - optimum) / optimum:.1e}, "
        f"our gap {found.gap:.1e}"
    )


def report_algorithm_2():
    """Solve the paper's problem by Algorithm 2, by the default solver and, if rows are few, as one linear program."""
    print(f"the paper's problem (margin=0, l2=0), tol=1e-3, at most {MOST_CUTS} constraints")
    cases = [(4, 7, n_rows) for n_rows in (1_000, 10_000, 100_000, 1_000_000)] + [(3, 6, 1_000), (5, 10, 1_000)]
    for kind in ("hard", "continuous"):
        for n_classes, n_columns, n_rows in cases:
            shape = n_classes, n_columns
            ours = in_own_process(n_rows, kind, "auto", 0.0, 0.0, shape)
            cuts = in_own_process(n_rows, kind, "cutting-plane", 0.0, 0.0, shape)
            reached = f"gap {cuts.gap:.0e}" + ("" if cuts.gap <= 1e-3 else ", not reached")
            print(
                f"  {kind}, {n_classes} classes, {n_columns} columns, {n_rows:,} rows: {cuts.n_cuts:.0f} cuts, "
                f"{reached}, {cuts.seconds / ours.seconds:.1f} times as long as the default solver; extra memory "
                f"{cuts.extra:.2f} and {ours.extra:.2f} times the codewords; mean loss {cuts.objective:.6f} and "
                f"{ours.objective:.6f}",
                flush=True,
            )
        codewords, y, matrix = made_up_rows(1_000, kind=kind, shape=(4, 7))
        started = process_time()
        optimum = full_linear_program(codewords, y, matrix)
        theirs = process_time() - started
        decoder = OptimizedWeightDecoder(0.0, l2=0.0, solver="cutting-plane", tol=1e-3, max_rounds=MOST_CUTS)
        ours, _ = cpu_seconds(lambda fitted=decoder, data=(codewords, y, matrix): fitted.fit(*data), repeats=1)
        print(
            f"  {kind}, 4 classes, 7 columns, 1,000 rows, full program (eq. 8) by HiGHS: mean loss {optimum:.6f}, "
            f"{theirs / ours:.1f} times as long as Algorithm 2",
            flush=True,
        )


def report_scaling():
    found, sizes = [], (10_000, 100_000, 1_000_000)
    for n_rows in sizes:
        found.append(one := in_own_process(n_rows, "continuous", "auto", 0.3, 0.01))
        print(
            f"{n_rows:,} rows: {one.seconds / one.plain:.0f} plain passes, gap {one.gap:.0e} in {one.n_rounds:.0f} "
            f"passes over all rows, peak extra memory {one.extra:.2f} times the codewords"
        )
    exponents = np.diff(np.log([one.seconds for one in found])) / np.diff(np.log(sizes))
    print("exponents of time: " + ", ".join(f"{exponent:.2f}" for exponent in exponents))


class Measured(NamedTuple):
    """What a fit of one size took, and its certificate; memory in units of the codewords."""

    seconds: float
    plain: float
    extra: float
    objective: float
    gap: float
    n_rounds: float
    n_cuts: float


def in_own_process(n_rows, kind, solver, margin, l2, shape=(N_CLASSES, N_COLUMNS)):
    """Measure one size in a process of its own, so that its peak memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip(("codewords", "y", "matrix"), made_up_rows(n_rows, kind=kind, shape=shape), strict=True):
            np.save(Path(folder) / f"{name}.npy", array)
        command = [sys.executable, __file__, "one-size", folder, solver, str(margin), str(l2)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Measured(*map(float, done.stdout.split()))


def memory(field):
    """Return a figure of this process's memory, in bytes (Linux)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status[field].split()[0])


def one_size(folder, solver, margin, l2):
    warnings.simplefilter("ignore", ConvergenceWarning)
    codewords, y, matrix = (np.load(Path(folder) / f"{name}.npy") for name in ("codewords", "y", "matrix"))
    decoder = OptimizedWeightDecoder(float(margin), l2=float(l2), tol=1e-3, solver=solver, max_rounds=MOST_CUTS)
    decoder.fit(*made_up_rows(2_000, shape=matrix.shape))  # compile, and let libraries allocate what they keep
    plain, _ = cpu_seconds(lambda: plain_pass(codewords, decoder), repeats=5)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    started = process_time()
    decoder.fit(codewords, y, matrix)
    ours = process_time() - started
    extra = memory("VmHWM") - before
    again, _ = cpu_seconds(lambda: decoder.fit(codewords, y, matrix), repeats=1 if len(y) > 50_000 else 3)
    found = decoder.certificate_
    print(
        *Measured(min(ours, again), plain, extra / codewords.nbytes, *(getattr(found, f) for f in Measured._fields[3:]))
    )


def report_hard():
    from ow_accuracy import OUTPUTS, margins_of_folds

    from skecoc.coding import one_vs_rest
    from skecoc.datasets import list_uci

    print("hard codewords, one-vs-rest: milliseconds of a fit, passes, rows before and after putting together")
    for name in list_uci():
        F, y, _, _ = next(margins_of_folds(name, 10))
        matrix = one_vs_rest(F.shape[1])
        codewords = OUTPUTS["label"](F)
        decoder = OptimizedWeightDecoder()
        ours, _ = cpu_seconds(lambda data=(codewords, y, matrix), fitted=decoder: fitted.fit(*data))
        found = decoder.certificate_
        print(
            f"  {name:14s}{1e3 * ours:6.1f} ms {found.n_rounds:4d} passes {len(y):6d} -> {found.n_rows} rows, "
            f"gap {found.gap:.0e}"
        )


def many_classes(n_classes, n_rows=5_000, seed=0):
    """Make one-vs-rest codewords of overlapping classes: noisy log odds, squashed."""
    rng = np.random.default_rng(seed)
    centres = 1.2 * rng.normal(size=(n_classes, 8))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    points = centres[y] + 0.9 * rng.normal(size=(n_rows, 8))
    nearness = -((points[:, np.newaxis] - centres) ** 2).sum(axis=2) / (2 * 0.9**2)
    share = softmax(nearness, axis=1)
    odds = np.log(share + 1e-6) - np.log1p(1e-6 - share) + rng.normal(size=share.shape)
    return np.tanh(0.4 * odds), y, 2.0 * np.eye(n_classes) - 1.0


def report_classes():
    for n_classes in (10, 20, 35, 50, 100):
        codewords, y, matrix = many_classes(n_classes)
        for l2 in (0.02, 0.1):
            decoder = OptimizedWeightDecoder(l2=l2, tol=1e-3)
            ours, _ = cpu_seconds(lambda data=(codewords, y, matrix), fitted=decoder: fitted.fit(*data), repeats=2)
            plain, _ = cpu_seconds(lambda rows=codewords, fitted=decoder: plain_pass(rows, fitted))
            found = decoder.certificate_
            print(
                f"{n_classes} classes, {matrix.size} weights, l2={l2}: {ours:.2f} s, {ours / plain:.0f} plain passes, "
                f"gap {found.gap:.0e} in {found.n_rounds} passes"
            )


REPORTS = {
    "full-program": report_full_program,
    "algorithm-2": report_algorithm_2,
    "scaling": report_scaling,
    "hard": report_hard,
    "classes": report_classes,
}


def main():
    arguments = sys.argv[1:] or ["algorithm-2", "scaling", "hard", "classes", "full-program"]
    with threadpool_limits(1):
        if arguments[0] == "one-size":
            one_size(*arguments[1:])
            return
        OptimizedWeightDecoder().fit(*made_up_rows(1_000))  # compile
        for argument in arguments:
            REPORTS[argument]()


if __name__ == "__main__":
    main()
