import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from skecoc.learners import svm_dual
from skecoc.learners.svm_dual import margins_on, negative_inverse, solve_path, submatrix, sweep
from tests.reference.svm import violation


def two_clouds(seed, n=40, gap=1.0):
    random = np.random.default_rng(seed)
    signs = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return random.normal(size=(n, 3)) + gap * signs[:, None], signs


def objective(kernel, signs, coefficients):
    return coefficients @ signs - coefficients @ kernel @ coefficients / 2


def test_two_rows_by_hand():
    # One free number a, the coefficients being (a, -a): maximise 2 a - a^2 (1 - k), so a = 1 / (1 - k), or the cap.
    kernel = np.array([[1.0, 0.5], [0.5, 1.0]])
    coefficients, intercepts, converged = solve_path(
        kernel, np.array([1.0, -1.0]), np.array([1.0, 2.0]), np.array([0.5, 1.0, 4.0, 8.0]), 1e-6
    )
    assert converged
    np.testing.assert_allclose(coefficients, [[0.5, -0.5], [1, -1], [2, -2], [2, -2]])
    np.testing.assert_allclose(intercepts[2:], 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.floats(0.01, 3), st.booleans())
def test_every_solution_of_a_path_is_optimal(seed, n, gamma, weighted):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(n, 2)).astype(float)  # with duplicates, also of opposite label
    signs = np.where(random.random(n) < 0.4, 1.0, -1.0)
    signs[:2] = 1, -1
    weight = random.uniform(0.1, 3, n) if weighted else np.ones(n)
    kernel = rbf_kernel(X, gamma=gamma)
    penalties = np.array([0.1, 1.0, 30.0, 1e4])
    coefficients, _, converged = solve_path(kernel, signs, weight, penalties, 1e-3)
    assert converged
    for penalty, solution in zip(penalties, coefficients, strict=True):
        # Rounding of coefficients as large as 1e4 allows for a little more than the tolerance.
        assert violation(kernel, signs, penalty * weight, solution) < 1e-3 + 1e-9 * penalty


@pytest.mark.parametrize("gamma", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("penalty", [0.3, 20.0])
def test_margins_equal_those_of_libsvm(gamma, penalty):
    X, signs = two_clouds(1)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    coefficients, intercepts, _ = solve_path(rbf_kernel(X, gamma=gamma), signs, weight, np.array([penalty]), 1e-9)
    machine = SVC(C=penalty, gamma=gamma, tol=1e-9).fit(X, signs, weight)
    new = two_clouds(2)[0]
    ours = margins_on(rbf_kernel(X, new, gamma=gamma), coefficients, intercepts)[0]
    np.testing.assert_allclose(ours, machine.decision_function(new), atol=1e-5)


@pytest.mark.parametrize("gamma", [0.01, 0.1])
def test_large_penalties_are_solved_at_least_as_well_as_by_libsvm(gamma):
    X, signs = two_clouds(3, n=200, gap=0.5)
    kernel = rbf_kernel(X, gamma=gamma)
    for penalty in (1e2, 1e4):
        coefficients = solve_path(kernel, signs, np.ones(200), np.array([penalty]), 1e-3)[0][0]
        machine = SVC(C=penalty, gamma=gamma).fit(X, signs)
        theirs = np.zeros(200)
        theirs[machine.support_] = machine.dual_coef_[0]
        assert violation(kernel, signs, penalty, coefficients) < 2e-3
        ours = objective(kernel, signs, coefficients)
        assert ours >= objective(kernel, signs, theirs) - 1e-4 * ours


def test_a_path_reaches_the_optimum_that_each_penalty_has_alone():
    X, signs = two_clouds(4, n=150, gap=0.4)
    kernel = rbf_kernel(X, gamma=0.2)
    penalties = 2.0 ** np.arange(0, 12, 2)
    path = solve_path(kernel, signs, np.ones(150), penalties, 1e-6)[0]
    for penalty, solution in zip(penalties, path, strict=True):
        alone = solve_path(kernel, signs, np.ones(150), np.array([penalty]), 1e-6)[0][0]
        assert objective(kernel, signs, solution) == pytest.approx(objective(kernel, signs, alone), rel=1e-6)


def test_a_solution_that_no_cap_holds_back_serves_all_larger_penalties():
    X, signs = two_clouds(5, gap=1.5)
    kernel = rbf_kernel(X, gamma=0.3)
    penalties = np.array([0.1, 1e3, 1e4, 1e6])
    path, intercepts, _ = solve_path(kernel, signs, np.ones(40), penalties, 1e-3)
    assert np.abs(path[0]).max() == 0.1  # the first is held back, so that the claim is about the others
    assert np.abs(path[1]).max() < 1e3
    np.testing.assert_array_equal(path[2:], path[[1, 1]])
    np.testing.assert_array_equal(intercepts[2:], intercepts[[1, 1]])
    for penalty in penalties[1:]:
        assert violation(kernel, signs, penalty, path[1]) < 1e-3
        machine = SVC(C=penalty, gamma=0.3).fit(X, signs)
        ours = margins_on(kernel, path[1:2], intercepts[1:2])[0]
        np.testing.assert_allclose(ours, machine.decision_function(X), atol=5e-3)


def test_working_on_few_rows_changes_nothing():
    X, signs = two_clouds(6, n=600, gap=0.7)  # enough rows for choosing some
    kernel = rbf_kernel(X, gamma=0.2)
    coefficients, _, converged = solve_path(kernel, signs, np.ones(600), np.array([1.0, 50.0]), 1e-5)
    assert converged
    for penalty, solution in zip((1.0, 50.0), coefficients, strict=True):
        lower, upper = np.minimum(signs, 0) * penalty, np.maximum(signs, 0) * penalty
        whole, residual = np.zeros(600), signs.copy()
        assert svm_dual._solve_dense(kernel, whole, residual, lower, upper, 1e-5)
        np.testing.assert_allclose(residual, signs - kernel @ whole, atol=1e-8)
        assert objective(kernel, signs, solution) == pytest.approx(objective(kernel, signs, whole), rel=1e-6)


def test_a_free_step_solves_the_free_rows_exactly():
    X, signs = two_clouds(7)
    kernel = rbf_kernel(X, gamma=1.0)
    coefficient = 1e-3 * signs  # everything is free, and no bound is near
    residual = signs - kernel @ coefficient
    svm_dual._free_step(kernel, coefficient, residual, np.full(40, -1e3), np.full(40, 1e3))
    system = np.block([[kernel, np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    exact = np.linalg.solve(system, np.append(signs, 0.0))
    np.testing.assert_allclose(coefficient, exact[:-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(residual, exact[-1], atol=1e-6)


def test_a_free_step_stays_within_bounds_and_never_loses():
    X, signs = two_clouds(8)
    kernel = rbf_kernel(X, gamma=0.05)
    coefficient, lower, upper = 0.5 * signs, np.minimum(signs, 0), np.maximum(signs, 0)
    before = objective(kernel, signs, coefficient)
    residual = signs - kernel @ coefficient
    svm_dual._free_step(kernel, coefficient, residual, lower, upper)
    assert (coefficient >= lower).all()
    assert (coefficient <= upper).all()
    assert ((coefficient == lower) | (coefficient == upper)).any()
    assert abs(coefficient.sum()) < 1e-9
    np.testing.assert_allclose(residual, signs - kernel @ coefficient, atol=1e-9)
    assert objective(kernel, signs, coefficient) > before


def test_sweeping_inverts_and_is_undone():
    A = rbf_kernel(np.random.default_rng(0).normal(size=(6, 2)), gamma=2.0)
    tableau, scratch = A.copy(), np.empty(6)
    for pivot in range(6):
        sweep(tableau, pivot, 1.0, scratch)
    np.testing.assert_allclose(np.tril(tableau), np.tril(-np.linalg.inv(A)), rtol=1e-8)
    sweep(tableau, 2, -1.0, scratch)
    kept = [0, 1, 3, 4, 5]
    expected = -np.linalg.inv(A[np.ix_(kept, kept)])
    np.testing.assert_allclose(np.tril(tableau[np.ix_(kept, kept)]), np.tril(expected), rtol=1e-8)


def test_rows_that_depend_on_others_are_left_out_of_the_inverse():
    X = np.array([[0.0], [1.0], [0.0], [2.0]])
    _, independent = negative_inverse(rbf_kernel(X, gamma=1.0), np.arange(4))
    np.testing.assert_array_equal(independent, [True, True, False, True])


def test_submatrix_and_margins_equal_numpy():
    random = np.random.default_rng(0)
    matrix, rows, columns = random.random((7, 9)), np.array([6, 0, 0]), np.array([8, 1, 1, 3])
    np.testing.assert_array_equal(submatrix(matrix, rows, columns), matrix[np.ix_(rows, columns)])
    coefficients = random.normal(size=(3, 7)) * (random.random((3, 7)) < 0.5)
    np.testing.assert_allclose(
        margins_on(matrix, coefficients, np.array([0.0, 1.0, -2.0])),
        coefficients @ matrix + np.array([[0.0], [1.0], [-2.0]]),
    )


def test_an_unreachable_tolerance_is_given_up():
    X, signs = two_clouds(9, n=20, gap=0.1)
    assert not solve_path(rbf_kernel(X, gamma=0.01), signs, np.ones(20), np.array([1e4]), 1e-300)[2]
