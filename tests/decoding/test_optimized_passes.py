"""The parts that touch rows: shares, cuts, collapsing, blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.decoding.optimized.newton import Smoothing, cut_at, project_shares
from skecoc.decoding.optimized.problem import MemoryRows, WeightSpace, collapse_rows, lower_bound, rows_from_blocks
from tests.reference.optimized import objective, random_problem, scores, smallest_objective, smoothed_hinge


def memory_rows(codewords, y, matrix, n_jobs=None):
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    return MemoryRows(codewords, y, weight / weight.sum(), len(matrix), n_jobs)


def random_weights(space, seed=0):
    return space.project(np.random.default_rng(seed).random(space.matrix.shape))


def plain_cut(rows, matrix, weights, margin, smoothing):
    """Sum up the smoothed hinge, its cut and its gradient, row by row."""
    total = np.zeros(3)
    gradient = np.zeros_like(matrix)
    for i, t in enumerate(scores(rows.codewords, matrix, weights)):
        own, w = rows.y[i], rows.weight[i]
        rivals = np.delete(np.arange(len(matrix)), own)
        z = margin + t[rivals] - t[own]
        value, shares = smoothed_hinge(z, np.zeros(len(z)), smoothing)
        total += w * np.array([value, shares @ z, margin * shares.sum()])
        gradient[rivals] += w * shares[:, np.newaxis] * rows.codewords[i]
        gradient[own] -= w * shares.sum() * rows.codewords[i]
    return total, gradient * matrix


@settings(deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_shares_are_the_projection(values):
    z = np.array(values)
    rivals, shares = np.empty(len(z), dtype=np.intp), np.empty(len(z))
    n_active, full = project_shares(z, rivals, shares)
    found = np.zeros(len(z))
    found[rivals[:n_active]] = shares[:n_active]
    _, expected = smoothed_hinge(z, np.zeros(len(z)), 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert full == (np.maximum(z, 0).sum() > 1)


def test_project_keeps_feasible_weights_and_zeros():
    space = WeightSpace(np.array([[1.0, 0.0, -1.0], [1.0, 1.0, 0.0]]))
    weights = np.array([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(space.project(weights), weights, atol=1e-15)
    np.testing.assert_allclose(
        space.project(np.array([[5.0, 9.0, 4.5], [0.0, 0.0, 9.0]])), [[0.75, 0, 0.25], [0.5, 0.5, 0]]
    )


@pytest.mark.parametrize("smoothing", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_cut_equals_the_plain_sum_over_rows(smoothing, margin):
    codewords, y, matrix = random_problem(0, n_rows=60)
    rows, space = memory_rows(codewords, y, matrix), WeightSpace(matrix)
    weights = random_weights(space)
    cut = cut_at(rows, space, weights, margin, Smoothing(smoothing))
    (smoothed, linear, offset), gradient = plain_cut(rows, matrix, weights, margin, smoothing)
    np.testing.assert_allclose([cut.smoothed, cut.linear, cut.offset], [smoothed, linear, offset], atol=1e-13)
    np.testing.assert_allclose(cut.gradient, gradient, atol=1e-13)
    assert cut.hinge == pytest.approx(objective(codewords, y, matrix, weights, margin, 0.0, rows.weight), abs=1e-13)
    assert cut.risk == pytest.approx(objective(codewords, y, matrix, weights, 0.0, 0.0, rows.weight), abs=1e-13)
    assert cut.linear == pytest.approx(cut.offset + (cut.gradient * weights).sum(), abs=1e-13)


def test_curvature_is_the_derivative_of_the_gradient():
    codewords, y, matrix = random_problem(3, n_rows=60)
    rows, space = memory_rows(codewords, y, matrix), WeightSpace(matrix)
    weights = random_weights(space)
    smoothing, step = Smoothing(0.5), 1e-6
    curvature = cut_at(rows, space, weights, 0.1, smoothing).curvature
    curvature = curvature + np.tril(curvature, -1).T
    for k in range(space.n_weights):
        moved = [weights.copy(), weights.copy()]
        for side, sign in zip(moved, (-1, 1), strict=True):
            side[space.classes[k], space.columns[k]] += sign * step
        low, high = (space.flatten(cut_at(rows, space, side, 0.1, smoothing).gradient) for side in moved)
        np.testing.assert_allclose(curvature[:, k], (high - low) / (2 * step), atol=1e-6)


def test_shifts_move_to_the_shares():
    codewords, y, matrix = random_problem(5)
    rows, space = memory_rows(codewords, y, matrix), WeightSpace(matrix)
    weights = random_weights(space)
    before = cut_at(rows, space, weights, 0.1, Smoothing(0.5))
    moved = cut_at(rows, space, weights, 0.1, Smoothing(0.2, previous_width=0.5))
    t = scores(codewords, matrix, weights)
    for i, own in enumerate(y):
        rivals = np.delete(np.arange(len(matrix)), own)
        z = 0.1 + t[i, rivals] - t[i, own]
        _, shares = smoothed_hinge(z, np.zeros(len(z)), 0.5)
        np.testing.assert_allclose(rows.shift[i, rivals], shares, atol=1e-6)
        assert rows.shift[i, own] == 0
    assert before.linear < moved.linear <= moved.hinge


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), smoothing=st.floats(1e-3, 1.0), l2=st.sampled_from([1e-3, 1e-1]))
def test_every_cut_gives_a_lower_bound(seed, smoothing, l2):
    codewords, y, matrix = random_problem(seed, n_rows=15, n_classes=3, n_columns=4)
    space = WeightSpace(matrix)
    rows = MemoryRows(codewords, y, np.full(15, 1 / 15), 3)
    cut = cut_at(rows, space, random_weights(space, seed), 0.1, Smoothing(smoothing))
    bound = lower_bound(space, cut.offset, cut.gradient, l2)
    optimum, _ = smallest_objective(codewords, y, matrix, 0.1, l2)
    assert bound <= optimum + 1e-8


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_collapsed_rows_have_the_same_cut(dtype):
    codewords, y, matrix = random_problem(1, n_rows=300, n_columns=9, hard=True)
    codewords = codewords.astype(dtype)
    codewords[::7, 0] = 0
    rows, space = memory_rows(codewords, y, matrix), WeightSpace(matrix)
    codewords = np.concatenate([codewords] * 4)
    rows = MemoryRows(codewords, np.tile(y, 4), np.tile(rows.weight, 4) / 4, len(matrix))
    collapsed, is_hard = collapse_rows(rows, 9)
    assert is_hard
    assert collapsed.n_rows == len(np.unique(np.column_stack([codewords, rows.y]), axis=0)) < rows.n_rows
    weights = random_weights(space)
    one = cut_at(rows, space, weights, 0.1, Smoothing(0.1))
    other = cut_at(collapsed, space, weights, 0.1, Smoothing(0.1))
    np.testing.assert_allclose(other.gradient, one.gradient, atol=1e-13)
    assert other.hinge == pytest.approx(one.hinge, abs=1e-13)


def test_soft_or_distinct_codewords_are_not_collapsed():
    codewords, y, matrix = random_problem(1, n_rows=100)
    rows = memory_rows(np.concatenate([codewords, codewords]), np.tile(y, 2), matrix)
    assert collapse_rows(rows, matrix.shape[1]) == (rows, False)
    codewords, y, matrix = random_problem(1, n_rows=100, n_columns=40, hard=True)
    rows = memory_rows(codewords, y, matrix)
    assert collapse_rows(rows, matrix.shape[1]) == (rows, True)


def test_codewords_that_only_begin_hard_are_not_collapsed():
    codewords, y, matrix = random_problem(1, n_rows=6000, n_columns=4, hard=True)
    codewords = codewords.astype(float)
    codewords[1, 0] = 0.5  # between the rows that are looked at first
    rows = memory_rows(codewords, y, matrix)
    assert collapse_rows(rows, 4)[0] is rows


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_streamed_rows_have_the_same_cut(n_jobs):
    codewords, y, matrix = random_problem(2, n_rows=9000)
    weight = np.random.default_rng(0).random(len(y))
    space = WeightSpace(matrix)
    parts = [slice(0, 10), slice(10, 5000), slice(5000, None)]
    blocks = [(codewords[part].astype(np.float32), y[part], weight[part]) for part in parts]
    streamed = rows_from_blocks(blocks, matrix, None, n_jobs)
    together = MemoryRows(codewords.astype(np.float32), y, weight / weight.sum(), len(matrix), n_jobs)
    weights = random_weights(space)
    one = cut_at(streamed, space, weights, 0.1, Smoothing(0.1))
    other = cut_at(together, space, weights, 0.1, Smoothing(0.1))
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-12)
    np.testing.assert_allclose(one.curvature, other.curvature, atol=1e-9)
    assert one.n_kinks == other.n_kinks


def test_samples_are_rows_with_weights_that_sum_to_one():
    codewords, y, matrix = random_problem(2, n_rows=2000)
    rows = memory_rows(codewords, y, matrix)
    blocks = [(codewords[:700], y[:700], None), (codewords[700:], y[700:], None)]
    for sample in (rows.sample(500), rows_from_blocks(blocks, matrix, None, None).sample(500)):
        assert 350 < sample.n_rows < 650
        assert sample.weight.sum() == pytest.approx(1.0)
        known = {tuple(row) for row in np.column_stack([codewords, y])}
        assert {tuple(row) for row in np.column_stack([sample.codewords, sample.y])} <= known
