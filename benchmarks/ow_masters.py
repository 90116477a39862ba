"""Solvers for the reduced problems of optimised-weight decoding: speed, accuracy, and where on a face they end.

Run ``python benchmarks/ow_masters.py``. Clarabel, HiGHS and PIQP are needed; DAQP, OSQP, ProxQP and quadprog are
measured if they are installed. The quadratic problems are those of real fits, recorded. Times are CPU seconds with one
BLAS thread, given as ratios to PIQP's.
"""

from importlib.util import find_spec
from time import process_time
from unittest.mock import patch

import clarabel
import highspy
import numpy as np
import piqp
from ow import cpu_seconds, made_up_rows
from ow_accuracy import OUTPUTS, margins_of_folds
from scipy import sparse
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from skecoc.coding import one_vs_rest
from skecoc.decoding.optimized import OptimizedWeightDecoder, face, newton

ACCURACY = 1e-9


def by_piqp(H, c, A):
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = ACCURACY
    solver.setup(
        np.asfortranarray(H),
        c,
        np.asfortranarray(A),
        np.ones(len(A)),
        x_l=np.zeros(len(c)),
        x_u=np.full(len(c), np.inf),
    )
    solver.solve()
    return np.array(solver.result.x)


def by_clarabel(H, c, A):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    left = sparse.vstack([sparse.csc_matrix(A), -sparse.identity(len(c))], format="csc")
    right = np.concatenate([np.ones(len(A)), np.zeros(len(c))])
    cones = [clarabel.ZeroConeT(len(A)), clarabel.NonnegativeConeT(len(c))]
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(H)), c, left, right, cones, settings)
    return np.array(solver.solve().x)


def by_highs(H, c, A):
    model = highspy.HighsModel()
    program = model.lp_
    program.num_col_, program.num_row_ = len(c), len(A)
    program.col_cost_ = c
    program.col_lower_, program.col_upper_ = np.zeros(len(c)), np.full(len(c), highspy.kHighsInf)
    program.row_lower_ = program.row_upper_ = np.ones(len(A))
    columns = sparse.csc_matrix(A)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = columns.indptr, columns.indices
    program.a_matrix_.value_ = columns.data
    lower = sparse.csc_matrix(np.tril(H))
    model.hessian_.dim_ = len(c)
    model.hessian_.format_ = highspy.HessianFormat.kTriangular
    model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = lower.indptr, lower.indices, lower.data
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(model)
    highs.run()
    return np.array(highs.getSolution().col_value)


def by_daqp(H, c, A):
    import daqp

    upper = np.concatenate([np.full(len(c), 1e30), np.ones(len(A))])
    lower = np.concatenate([np.zeros(len(c)), np.ones(len(A))])
    sense = np.concatenate([np.zeros(len(c)), np.full(len(A), 5)]).astype(np.int32)
    return np.array(daqp.solve(H, c, np.ascontiguousarray(A), upper, lower, sense)[0])


def by_quadprog(H, c, A):
    import quadprog

    left = np.vstack([A, np.eye(len(c))]).T
    return quadprog.solve_qp(H, -c, left, np.concatenate([np.ones(len(A)), np.zeros(len(c))]), len(A))[0]


def by_osqp(H, c, A):
    import osqp

    solver = osqp.OSQP()
    left = sparse.vstack([sparse.csc_matrix(A), sparse.identity(len(c))], format="csc")
    lower = np.concatenate([np.ones(len(A)), np.zeros(len(c))])
    upper = np.concatenate([np.ones(len(A)), np.full(len(c), np.inf)])
    solver.setup(
        sparse.csc_matrix(np.triu(H)), c, left, lower, upper, verbose=False, eps_abs=1e-7, eps_rel=1e-7, max_iter=20_000
    )
    return solver.solve().x


def by_proxqp(H, c, A):
    from proxsuite import proxqp

    solver = proxqp.dense.QP(len(c), len(A), 0, True)
    solver.settings.eps_abs = ACCURACY
    solver.init(H, c, A, np.ones(len(A)), None, None, None, np.zeros(len(c)), np.full(len(c), 1e20))
    solver.solve()
    return solver.results.x


SOLVERS = {"PIQP": by_piqp, "Clarabel": by_clarabel, "HiGHS": by_highs}
OPTIONAL = {"daqp": by_daqp, "quadprog": by_quadprog, "osqp": by_osqp, "proxsuite": by_proxqp}


def recorded_problems(codewords, y, matrix):
    """Return Hessian, slope and constraints of every quadratic problem of a fit."""
    recorded = []
    solve = newton.minimize_quadratic

    def record(space, curvature, slope, origin):
        hessian = curvature + np.tril(curvature, -1).T
        recorded.append((hessian, slope - hessian @ space.flatten(origin), space.memberships))
        return solve(space, curvature, slope, origin)

    with patch.object(newton, "minimize_quadratic", record):
        OptimizedWeightDecoder().fit(codewords, y, matrix)
    return recorded


def fits():
    for name, output in (("segmentation", "label"), ("vowel", "label"), ("vowel", "probability")):
        F, y, _, _ = next(margins_of_folds(name, 10))
        yield f"{name}, {output}", OUTPUTS[output](F), y, one_vs_rest(F.shape[1])
    yield "made up, 10 classes, 30 columns", *made_up_rows(20_000)


def report_quadratic():
    solvers = SOLVERS | {name: solve for name, solve in OPTIONAL.items() if find_spec(name)}
    for title, codewords, y, matrix in fits():
        problems = recorded_problems(codewords, y, matrix)
        problems = problems[:: max(1, len(problems) // 6)]
        print(f"\n{title}: {matrix.size} weights, {len(problems)} problems of a fit")
        best = [np.inf] * len(problems)
        answers, seconds = {}, {}
        for name, solve in solvers.items():
            seconds[name], answers[name] = cpu_seconds(lambda s=solve, p=problems: [s(*each) for each in p], repeats=2)
            values = [0.5 * x @ H @ x + c @ x for x, (H, c, _) in zip(answers[name], problems, strict=True)]
            feasible = [
                max(-x.min(), np.abs(A @ x - 1).max()) < 1e-9
                for x, (_, _, A) in zip(answers[name], problems, strict=True)
            ]
            best = [min(b, v) if ok else b for b, v, ok in zip(best, values, feasible, strict=True)]
        for name, found in answers.items():
            excess = max(0.5 * x @ H @ x + c @ x - b for x, (H, c, _), b in zip(found, problems, best, strict=True))
            violation = max(
                max(-x.min(), np.abs(A @ x - 1).max()) for x, (_, _, A) in zip(found, problems, strict=True)
            )
            ratio = seconds[name] / seconds["PIQP"]
            print(
                f"  {name:10s} {ratio:7.1f} times PIQP's time, objective {excess:8.1e} above the best, "
                f"violation {violation:.0e}"
            )


def entropy(weights):
    return -float((weights * np.log(np.maximum(weights, 1e-300))).sum())


def by_linprog(program, method):
    """Solve a reduced linear program by HiGHS."""
    space = program.space
    n_pairs, n_rows = len(program.pair_rows), len(program.weight)
    slack = sparse.csr_array((-np.ones(n_pairs), (np.arange(n_pairs), program.pair_rows)), shape=(n_pairs, n_rows))
    pairs = sparse.hstack([program.slopes, slack])
    equal = sparse.hstack([sparse.csr_array(space.memberships), sparse.csr_array((space.n_classes, n_rows))])
    bounds = np.full(n_pairs, -program.margin)
    found = linprog(program.costs, pairs, bounds, equal, np.ones(space.n_classes), (0, None), method=method)
    return space.repair(found.x[: space.n_weights])


def last_linear_program(codewords, y, matrix):
    """Fit without margin and penalty; return the decoder and the last reduced linear program."""
    programs = []
    solve = face.minimize_linear

    def record(program):
        programs.append(program)
        return solve(program)

    with patch.object(face, "minimize_linear", record):
        decoder = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
    return decoder, programs[-1]


def report_linear():
    print("\nlinear program without margin and penalty: entropy of the weights found, and accuracy on test rows in %")
    for name in ("vowel", "vehicle", "segmentation"):
        F, y, test_F, test_y = next(margins_of_folds(name, 10))
        matrix = one_vs_rest(F.shape[1]).astype(float)
        codewords, test = OUTPUTS["label"](F).astype(float), OUTPUTS["label"](test_F)
        decoder, program = last_linear_program(codewords, y, matrix)
        found = {
            "HiGHS simplex": by_linprog(program, "highs-ds"),
            "HiGHS interior point, crossover": by_linprog(program, "highs-ipm"),
            "PIQP": face.minimize_linear(program)[0],
            "maximum entropy": decoder.weights_,
        }
        cells = []
        for title, weights in found.items():
            right = 100 * np.mean((test @ (weights * matrix).T).argmax(axis=1) == test_y)
            cells.append(f"{title} {entropy(weights):.2f} ({right:.0f} %)")
        cells.append(f"with ties in order ({100 * np.mean(decoder.scores(test).argmax(axis=1) == test_y):.0f} %)")
        print(f"  {name}: " + ", ".join(cells))


def main():
    with threadpool_limits(1):
        started = process_time()
        report_quadratic()
        report_linear()
        print(f"\n{process_time() - started:.0f} CPU seconds in all")


if __name__ == "__main__":
    main()
