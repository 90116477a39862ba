"""Many weights: ascent of the dual, row by row."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.optimized.ascent import DualAscent, ascend
from skecoc.decoding.optimized.problem import Block, MemoryRows, Problem, Rows, WeightSpace, relative_gap
from tests.grids import grid
from tests.reference.optimized import hinge, objective, random_problem, smallest_objective

PROBLEMS = [
    {"seed": 0},
    {"seed": 1, "ternary": False},
    {"seed": 2, "hard": True},
    {"seed": 4, "n_classes": 3, "n_columns": 9, "noise": 2.0},
    {"seed": 5, "noise": 0.3},
    {"seed": 6, "n_classes": 2, "n_columns": 4},
]


@pytest.fixture
def every_problem_has_many_weights(monkeypatch):
    monkeypatch.setattr("skecoc.decoding.optimized.newton._NEWTON_WEIGHTS", 0)
    monkeypatch.setattr("skecoc.decoding.optimized.decoder.MANY_WEIGHTS", 0)


def rows_of(codewords, y, matrix, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return MemoryRows(codewords, y, weight / weight.sum(), len(matrix))


@pytest.mark.parametrize(
    ("problem", "settings"),
    grid(PROBLEMS, [{"margin": 0.3, "l2": 1e-2}, {"margin": 0.1, "l2": 1e-1}, {"margin": 0.0, "l2": 1e-2}]),
)
@pytest.mark.usefixtures("every_problem_has_many_weights")
def test_the_objective_is_that_of_the_full_quadratic_program(problem, settings):
    margin, l2 = settings.values()
    codewords, y, matrix = random_problem(**problem)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weight[: len(matrix)] = 1.0
    decoder = OptimizedWeightDecoder(margin, l2=l2, tol=1e-4, max_rounds=2000).fit(codewords, y, matrix, weight)
    optimum, _ = smallest_objective(codewords, y, matrix, margin, l2, weight)
    found = decoder.certificate_
    assert found.gap <= 1e-4
    assert found.lower_bound <= optimum + 1e-9
    assert optimum - 1e-9 <= found.objective <= optimum + 1e-4 * max(optimum, 1e-3) + 1e-9
    assert found.objective == pytest.approx(objective(codewords, y, matrix, decoder.weights_, margin, l2, weight))
    assert found.risk == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, 0.0, weight), abs=1e-12)
    assert (decoder.weights_ >= 0).all()
    assert (decoder.weights_[matrix == 0] == 0).all()
    np.testing.assert_allclose(decoder.weights_.sum(axis=1), 1.0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), max_rounds=st.integers(1, 6), l2=st.sampled_from([1e-3, 1e-1]))
def test_the_bound_is_true_whenever_it_stops(seed, max_rounds, l2):
    codewords, y, matrix = random_problem(seed, n_rows=15, n_classes=3, n_columns=4)
    space = WeightSpace(matrix)
    found = ascend(Problem(space, 0.1, l2), rows_of(codewords, y, matrix), space.equal(), 1e-9, max_rounds)
    optimum, _ = smallest_objective(codewords, y, matrix, 0.1, l2)
    assert found.n_rounds <= max_rounds
    assert found.lower_bound <= optimum + 1e-8
    assert found.objective >= optimum - 1e-8


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("every_problem_has_many_weights")
def test_prior_weights_move_the_objective_by_a_linear_term(seed):
    # |W - W0|^2 = |W|^2 - 2 W0 @ W + |W0|^2: the objective around W0 is the plain one less a linear function.
    codewords, y, matrix = random_problem(seed)
    space = WeightSpace(matrix)
    prior = space.project(np.random.default_rng(seed).random(matrix.shape))
    decoder = OptimizedWeightDecoder(0.2, l2=0.1, tol=1e-6, max_rounds=5000)
    decoder.fit(codewords, y, matrix, prior_weights=prior)
    found = decoder.certificate_
    assert found.gap <= 1e-6
    at = hinge(codewords, y, matrix, decoder.weights_, 0.2) + 0.05 * ((decoder.weights_ - prior) ** 2).sum()
    assert found.objective == pytest.approx(at)
    rng = np.random.default_rng(1)
    for _ in range(200):  # no other weights are better than the bound
        other = space.project(decoder.weights_ + 0.1 * rng.normal(size=matrix.shape))
        there = hinge(codewords, y, matrix, other, 0.2) + 0.05 * ((other - prior) ** 2).sum()
        assert there >= found.lower_bound - 1e-12


@pytest.mark.parametrize("ternary", [False, True])
def test_safe_sweeps_never_lower_the_bound(monkeypatch, ternary):
    monkeypatch.setattr("skecoc.decoding.optimized.ascent._LEAST_CURVATURE", 1.0)
    codewords, y, matrix = random_problem(3, n_rows=60, n_classes=6, n_columns=12, ternary=ternary)
    space = WeightSpace(matrix)
    ascent = DualAscent(Problem(space, 0.3, 0.01), rows_of(codewords, y, matrix))
    bounds = [ascent.bound]
    for _ in range(20):
        ascent.look(ascent.weights(), 0.03)
        ascent.sweep()
        followed = ascent.weights()
        ascent.update()
        np.testing.assert_allclose(ascent.weights(), followed, atol=1e-10)  # the weights followed the shares
        bounds.append(ascent.bound)
    assert (np.diff(bounds) >= -1e-12).all()
    assert bounds[-1] > bounds[0]


def test_one_row_is_solved_by_one_sweep():
    # Two classes, one lossy row, and weights that stay positive: the dual is one parabola, maximised at once.
    codewords, y, matrix = np.array([[-0.2, 0.1]]), np.array([0]), np.array([[1.0, 1.0], [-1.0, -1.0]])
    space = WeightSpace(matrix)
    problem = Problem(space, 0.3, 10.0)
    ascent = DualAscent(problem, rows_of(codewords, y, matrix))
    ascent.look(ascent.weights(), 0.0)
    ascent.sweep()
    ascent.update()
    weights = space.repair(ascent.weights())
    at = ascent.look(ascent.weights(), 0.0)[0] + problem.penalty(weights)
    assert ascent.bound == pytest.approx(at, abs=1e-14)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_pass_has_the_hinge_and_the_risk(share):
    rng = np.random.default_rng(0)
    matrix = rng.choice([-1.0, 1.0], (30, 40)) * (rng.random((30, 40)) < share)
    matrix[:, 0] = 1.0
    y = rng.integers(0, 30, 500)
    codewords = np.tanh(rng.normal(size=(500, 40))).astype(np.float32)
    space = WeightSpace(matrix)
    weights = space.project(rng.random(matrix.shape) / 10)
    ascent = DualAscent(Problem(space, 0.3, 0.1), rows_of(codewords, y, matrix))
    found = ascent.look(space.flatten(weights), 0.1)
    expected = [hinge(codewords.astype(float), y, matrix, weights, margin) for margin in (0.3, 0.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def noisy_rows(n_classes, n_columns, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.choice([-1.0, 1.0], (n_classes, n_columns))
    y = np.arange(n_rows) % n_classes
    return np.tanh(0.6 * matrix[y] + rng.normal(size=(n_rows, n_columns))), y, matrix


def test_jobs_and_blocks_change_no_bit():
    codewords, y, matrix = noisy_rows(20, 20, 9000)
    one = OptimizedWeightDecoder(tol=1e-3).fit(codewords, y, matrix)
    two = OptimizedWeightDecoder(tol=1e-3, n_jobs=2).fit(codewords, y, matrix)
    np.testing.assert_array_equal(two.weights_, one.weights_)
    assert two.certificate_.lower_bound == one.certificate_.lower_bound
    for size in (9000, 700):
        blocks = [(codewords[k : k + size], y[k : k + size], None) for k in range(0, 9000, size)]
        streamed = OptimizedWeightDecoder(tol=1e-3).fit_blocks(blocks, matrix)
        np.testing.assert_allclose(streamed.weights_, one.weights_, atol=1e-9)
        assert streamed.certificate_.gap <= 1e-3


@pytest.mark.parametrize(("seed", "n_rows", "l2"), [(4950, 50, 1e-2), (0, 300, 1e-4)])
def test_newton_steps_that_are_stuck_find_a_way_out(seed, n_rows, l2):
    # With a smoothing that only becomes narrower, the gap stays at 1e-5.
    codewords, y, matrix = random_problem(seed, n_rows=n_rows)
    decoder = OptimizedWeightDecoder(0.3, l2=l2, tol=1e-8).fit(codewords, y, matrix)
    optimum, _ = smallest_objective(codewords, y, matrix, 0.3, l2)
    found = decoder.certificate_
    assert found.gap <= 1e-8
    assert found.lower_bound <= optimum + 1e-9 <= found.objective + 2e-9
    assert found.n_rounds <= 250


@pytest.mark.parametrize(("margin", "is_hard"), [(0.3, True), (0.0, False)])
@pytest.mark.usefixtures("every_problem_has_many_weights")
def test_ties_of_many_weights_take_no_number_per_row_and_class(margin, is_hard):
    codewords, y, matrix = random_problem(3, hard=is_hard)
    rows = rows_of(codewords, y, matrix)
    OptimizedWeightDecoder(margin, tol=1e-2)._fit_rows(rows, matrix)
    assert "shift" not in vars(rows)


def test_rows_that_no_sample_can_hold_are_not_fetched(monkeypatch):
    monkeypatch.setattr("skecoc.decoding.optimized.newton._MOST_GATHERED", 2000 * 20)
    codewords, y, matrix = noisy_rows(20, 20, 2000)
    rows = FarRows(codewords, y, 20, 900)
    rows.most_sampled = 1999
    OptimizedWeightDecoder(tol=1e-1)._fit_rows(rows, matrix)
    assert rows.n_passes > 0
    assert len(rows.sampled) == 1  # to start from


def test_there_is_room_for_all_rivals_that_tie(monkeypatch):
    for name, value in (("_CANDIDATES", 1), ("_CANDIDATES_PER_WEIGHT", 0.0)):
        monkeypatch.setattr(f"skecoc.decoding.optimized.ascent.{name}", value)
    # Class 0 is told from six others by nothing: each of its rows ties with all of them.
    matrix = 2.0 * np.eye(7) - 1.0
    codewords, y = np.concatenate([-np.ones((6, 7)), matrix[1:]]), np.array([0] * 6 + [1, 2, 3, 4, 5, 6])
    space = WeightSpace(matrix)
    found = ascend(Problem(space, 0.3, 0.01), rows_of(codewords, y, matrix), space.equal(), 1e-4, 1000)
    optimum, _ = smallest_objective(codewords, y, matrix, 0.3, 0.01)
    assert relative_gap(found.objective, found.lower_bound) <= 1e-4
    assert found.lower_bound <= optimum + 1e-9 <= found.objective + 2e-9


class FarRows(Rows):
    """Rows in blocks of some size, of which a sample can be had."""

    most_sampled = np.inf

    def __init__(self, codewords, y, n_classes, size):
        super().__init__(n_classes, len(y), None)
        self.rows, self.size, self.n_passes, self.sampled = (codewords, y), size, 0, []

    def map(self, function):
        self.n_passes += 1
        draws = np.random.default_rng(0).random(self.n_rows)
        none = np.zeros((0, 0), dtype=np.float32)
        found = []
        for first in range(0, self.n_rows, self.size):
            part = slice(first, first + self.size)
            codewords, y = (array[part] for array in self.rows)
            found.append(function(Block(codewords, y, np.full(len(y), 1.0 / self.n_rows), none, draws[part])))
        return found

    def sum(self, function, merge, *, with_shift=False):
        first, *others = self.map(function)
        for other in others:
            first = merge(first, other)
        return first

    def first_block(self):
        return Block(*self.rows, np.full(self.n_rows, 1.0 / self.n_rows), np.zeros((0, 0), dtype=np.float32))

    def sample(self, size):
        stride = -(-self.n_rows // min(size, self.most_sampled))
        codewords, y = (array[:: int(stride)] for array in self.rows)
        self.sampled.append(len(y))
        return MemoryRows(codewords, y, np.full(len(y), 1.0 / len(y)), self.n_classes)


@pytest.mark.parametrize("is_gathered", [True, False])
def test_rows_from_elsewhere(monkeypatch, is_gathered):
    codewords, y, matrix = noisy_rows(20, 20, 2000)
    near = OptimizedWeightDecoder(tol=1e-2).fit(codewords, y, matrix)
    if not is_gathered:
        monkeypatch.setattr("skecoc.decoding.optimized.newton._MOST_GATHERED", 1000 * 20)
    found = []
    for size in (2000, 900):
        rows = FarRows(codewords, y, 20, size)
        decoder = OptimizedWeightDecoder(tol=1e-2)._fit_rows(rows, matrix)
        assert rows.sampled == [2000 if is_gathered else 1000]
        assert (rows.n_passes == 0) == is_gathered
        assert decoder.certificate_.gap <= 1e-2
        assert decoder.certificate_.lower_bound <= near.certificate_.objective
        assert near.certificate_.lower_bound <= decoder.certificate_.objective
        found.append(decoder.weights_)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


@pytest.mark.usefixtures("every_problem_has_many_weights")
def test_a_warm_start_is_kept_unless_better_weights_are_found():
    codewords, y, matrix = random_problem(1, n_rows=80)
    good = OptimizedWeightDecoder(tol=1e-4).fit(codewords, y, matrix)
    for max_rounds in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            decoder = OptimizedWeightDecoder(tol=1e-9, max_rounds=max_rounds)
            decoder.fit(codewords, y, matrix, warm_start_weights=good.weights_)
        assert decoder.certificate_.objective <= good.certificate_.objective + 1e-15


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
@pytest.mark.usefixtures("every_problem_has_many_weights")
def test_codewords_of_any_dtype_with_rows_of_zeros(dtype):
    codewords, y, matrix = random_problem(2, n_rows=60, hard=True, n_columns=9)
    codewords = codewords.astype(dtype)
    codewords[5:9] = 0
    decoder = OptimizedWeightDecoder(tol=1e-3, max_rounds=2000).fit(codewords, y, matrix)
    optimum, _ = smallest_objective(codewords.astype(float), y, matrix, 0.3, 0.01)
    assert decoder.certificate_.lower_bound <= optimum + 1e-9
    assert decoder.certificate_.objective <= optimum * (1 + 1e-3)


def test_memory_does_not_grow_with_rows_times_classes():
    codewords, y, matrix = noisy_rows(800, 20, 8000)
    codewords = codewords.astype(np.float32)
    decoder = OptimizedWeightDecoder(tol=2e-2)
    decoder.fit(*noisy_rows(20, 20, 100))  # compile
    tracemalloc.start()
    decoder.fit(codewords, y, matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_candidates = 8 + 2 * matrix.size / len(y)
    bound = 12 * n_candidates * len(y) + 20 * 8 * matrix.size + 2**22  # and chunks of rows
    assert peak < bound < 8000 * 800 * 4
