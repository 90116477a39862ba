import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skecoc.decoding import LossWeightedDecoder, risk_and_confusion
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.optimized.decoder import tie_shares
from skecoc.decoding.optimized.problem import MemoryRows
from skecoc.decoding.scoring import SOLVED_TIE_TOLERANCE, SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN, order_ties, worst_rivals
from tests.reference.optimized import (
    hinge,
    objective,
    random_problem,
    scores,
    smallest_hinge,
    smallest_objective,
    steepest_on_face,
    vertex_weights,
)
from tests.reference.optimized import order_ties as plain_order_ties

PROBLEMS = [
    {"seed": 0},
    {"seed": 1, "ternary": False},
    {"seed": 2, "hard": True},
    {"seed": 3, "hard": True, "n_rows": 120},
    {"seed": 4, "n_classes": 3, "n_columns": 9, "noise": 2.0},
    {"seed": 5, "noise": 0.3},
]
GROWING_TOLERANCE = 1e-12


def assert_feasible(weights, matrix):
    assert (weights >= 0).all()
    assert (weights[matrix == 0] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)


def distance_bound(certificate, l2):
    """How far weights may be from the optimal ones.

    The objective F is strongly convex with modulus l2, so F(W) >= F(W*) + l2 / 2 |W - W*|^2 for every feasible W;
    with F(W) - F(W*) <= objective - lower_bound, |W - W*| <= sqrt(2 (objective - lower_bound) / l2).
    """
    return np.sqrt(2 * (certificate.objective - certificate.lower_bound) / l2)


# The two programs that the cuts stand for (Theorem 1)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_the_default_objective_is_that_of_the_full_quadratic_program(problem):
    codewords, y, matrix = random_problem(**problem)
    for margin, l2 in [(0.1, 1e-2), (0.3, 1e-3), (0.0, 1e-2)]:
        decoder = OptimizedWeightDecoder(margin, l2=l2, tol=1e-7).fit(codewords, y, matrix)
        optimum, weights = smallest_objective(codewords, y, matrix, margin, l2)
        found = decoder.certificate_
        assert found.objective == pytest.approx(optimum, abs=1e-6)
        assert found.lower_bound <= optimum + 1e-9 <= found.objective + 2e-9
        assert found.objective == pytest.approx(
            objective(codewords, y, matrix, decoder.weights_, margin, l2), abs=1e-12
        )
        assert found.hinge == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, margin), abs=1e-12)
        assert found.risk == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, 0.0), abs=1e-12)
        assert np.linalg.norm(decoder.weights_ - weights) <= distance_bound(found, l2) + 1e-4
        assert_feasible(decoder.weights_, matrix)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_the_risk_without_penalty_is_that_of_the_full_linear_program(problem, margin):
    codewords, y, matrix = random_problem(**problem)
    decoder = OptimizedWeightDecoder(margin=margin, l2=0).fit(codewords, y, matrix)
    optimum = smallest_hinge(codewords, y, matrix, margin)
    found = decoder.certificate_
    assert found.objective == found.hinge == pytest.approx(optimum, abs=1e-7)
    assert found.hinge == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, margin), abs=1e-12)
    assert found.lower_bound <= optimum + 1e-9
    assert found.gap <= 1e-4
    assert_feasible(decoder.weights_, matrix)


def test_an_early_stop_has_a_true_bound_and_says_its_gap():
    codewords, y, matrix = random_problem(1, n_rows=80)
    optimum, _ = smallest_objective(codewords, y, matrix, 0.3, 1e-2)
    for max_rounds in (1, 3, 6):
        with pytest.warns(ConvergenceWarning, match=r"relative gap of \d"):
            decoder = OptimizedWeightDecoder(max_rounds=max_rounds).fit(codewords, y, matrix)
        found = decoder.certificate_
        assert found.n_rounds == max_rounds
        assert found.lower_bound < optimum < found.objective
        assert found.gap == pytest.approx((found.objective - found.lower_bound) / found.objective)


@pytest.mark.parametrize("max_rounds", [1, 8, 12])
def test_an_early_stop_without_penalty_has_a_true_bound(max_rounds):
    codewords, y, matrix = random_problem(1, n_rows=80, noise=2.0)
    optimum = smallest_hinge(codewords, y, matrix)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of \d"):
        decoder = OptimizedWeightDecoder(margin=0, l2=0, max_rounds=max_rounds).fit(codewords, y, matrix)
    found = decoder.certificate_
    assert found.n_rounds <= max_rounds + 1
    assert found.lower_bound <= optimum < found.objective
    assert found.hinge == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, 0.0), abs=1e-12)
    assert_feasible(decoder.weights_, matrix)


def test_a_fit_that_reaches_the_gap_does_not_warn():
    codewords, y, matrix = random_problem(1, n_rows=80)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decoder = OptimizedWeightDecoder(tol=1e-5).fit(codewords, y, matrix)
    assert 0 <= decoder.certificate_.gap <= 1e-5
    assert decoder.certificate_.n_rows == 80


# Cases worked by hand


def test_perfect_codewords_get_equal_weights():
    matrix = 2 * np.eye(3) - 1
    decoder = OptimizedWeightDecoder().fit(matrix, [0, 1, 2], matrix)
    np.testing.assert_allclose(decoder.weights_, 1 / 3, atol=1e-9)
    assert decoder.certificate_.hinge == 0
    assert decoder.certificate_.objective == pytest.approx(0.01 / 2 * 9 / 9)
    paper = OptimizedWeightDecoder(margin=0, l2=0).fit(matrix, [0, 1, 2], matrix)
    np.testing.assert_allclose(paper.weights_, 1 / 3, atol=1e-6)
    assert paper.certificate_.objective == paper.certificate_.gap == 0


def test_maximum_entropy_on_a_face_worked_by_hand():
    # With W = [[a, 1-a], [b, 1-b]] the row of class 0 costs max(0, 6 - 4 (a + b)), and so does that of class 1:
    # the face is a + b >= 1.5, and entropy is largest at a = b = 0.75.
    decoder = OptimizedWeightDecoder(margin=0, l2=0).fit([[1, -3], [-1, 3]], [0, 1], [[1, 1], [-1, -1]])
    np.testing.assert_allclose(decoder.weights_, [[0.75, 0.25], [0.75, 0.25]], atol=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_no_point_of_the_face_has_more_entropy(problem, margin):
    # Entropy is concave: it is largest at W if no direction from W into the face has a positive slope.
    codewords, y, matrix = random_problem(**problem)
    decoder = OptimizedWeightDecoder(margin=margin, l2=0).fit(codewords, y, matrix)
    slopes = -np.log(np.maximum(decoder.weights_, 1e-7)) - 1.0
    best = steepest_on_face(codewords, y, matrix, margin, decoder.certificate_.lower_bound, slopes)
    assert (slopes * (best - decoder.weights_)).sum() < 1e-4


def test_l2_shares_the_burden_on_a_problem_worked_by_hand():
    # As above with margin 2: the hinge is max(0, 8 - 4 (a + b)), so its minimum 0 needs a = b = 1, and with the
    # penalty l2 / 2 (a^2 + (1-a)^2 + b^2 + (1-b)^2) the optimum has 4 = l2 (2 a - 1) for l2 >= 4.
    decoder = OptimizedWeightDecoder(2.0, l2=8.0, tol=1e-9).fit([[1, -3], [-1, 3]], [0, 1], [[1, 1], [-1, -1]])
    np.testing.assert_allclose(decoder.weights_, [[0.75, 0.25], [0.75, 0.25]], atol=1e-4)
    assert decoder.certificate_.hinge == pytest.approx(2.0, abs=1e-3)


def test_a_vertex_collapses_where_the_maximum_entropy_point_does_not():
    # One column that is always right is enough for zero risk: a vertex puts all weight on it and the other two
    # classes tie; the centre of the face still uses the other columns.
    rng = np.random.default_rng(0)
    matrix = 2 * np.eye(3) - 1
    y = np.tile([0, 1, 2], 60)
    codewords = matrix[y].copy()
    flip = rng.random(len(y)) < 0.2
    codewords[flip, 1] *= -1
    codewords[flip, 2] *= -1
    vertex = scores(codewords, matrix, vertex_weights(codewords, y, matrix))
    decoder = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
    centre = decoder.scores(codewords)
    share_tied = [np.mean(np.abs(np.diff(np.sort(t, axis=1)[:, -2:])) < 1e-6) for t in (vertex, centre)]
    assert share_tied[1] < share_tied[0]
    assert (centre.argmax(axis=1) == y).mean() > (vertex.argmax(axis=1) == y).mean()


# One solution, whatever the order of things


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), hard=st.booleans())
def test_permutations_permute_the_weights(seed, hard):
    codewords, y, matrix = random_problem(seed, n_rows=50, hard=hard)
    rng = np.random.default_rng(seed)
    rows, classes, columns = (rng.permutation(size) for size in (50, *matrix.shape))
    signs = rng.choice([-1, 1], matrix.shape[1]).astype(codewords.dtype)
    one = OptimizedWeightDecoder(tol=1e-6).fit(codewords, y, matrix)
    other = OptimizedWeightDecoder(tol=1e-6).fit(
        (codewords * signs)[rows][:, columns], np.argsort(classes)[y[rows]], (matrix * signs)[classes][:, columns]
    )
    bound = distance_bound(one.certificate_, 0.01) + distance_bound(other.certificate_, 0.01)
    assert np.linalg.norm(other.weights_ - one.weights_[classes][:, columns]) <= bound < 2e-2


@pytest.mark.parametrize("problem", PROBLEMS[:4], ids=str)
def test_permutations_permute_the_maximum_entropy_weights(problem):
    codewords, y, matrix = random_problem(**problem)
    rng = np.random.default_rng(0)
    rows, classes, columns = (rng.permutation(size) for size in (len(y), *matrix.shape))
    one = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
    other = OptimizedWeightDecoder(margin=0, l2=0).fit(
        codewords[rows][:, columns], np.argsort(classes)[y[rows]], matrix[classes][:, columns]
    )
    np.testing.assert_allclose(other.weights_, one.weights_[classes][:, columns], atol=2e-4)


@pytest.mark.parametrize(("margin", "l2"), [(0.1, 0.01), (0.0, 0.0)])
@pytest.mark.parametrize("hard", [True, False])
def test_repeated_rows_equal_sample_weights(margin, l2, hard):
    codewords, y, matrix = random_problem(7, n_rows=40, hard=hard)
    times = np.random.default_rng(0).integers(1, 4, 40)
    settings_ = {"margin": margin, "l2": l2, "tol": 1e-6 if l2 else 1e-4}
    weighted = OptimizedWeightDecoder(**settings_).fit(codewords, y, matrix, times)
    repeated = OptimizedWeightDecoder(**settings_).fit(codewords.repeat(times, axis=0), y.repeat(times), matrix)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-5, abs=1e-7)
    if l2:
        bound = distance_bound(weighted.certificate_, l2) + distance_bound(repeated.certificate_, l2)
        assert np.linalg.norm(weighted.weights_ - repeated.weights_) <= bound < 2e-2
    else:
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=2e-4)


def test_zero_sample_weights_leave_rows_out():
    codewords, y, matrix = random_problem(7, n_rows=40)
    kept = np.arange(40) < 30
    one = OptimizedWeightDecoder(tol=1e-6).fit(codewords, y, matrix, kept.astype(float))
    other = OptimizedWeightDecoder(tol=1e-6).fit(codewords[kept], y[kept], matrix)
    assert one.certificate_.objective == pytest.approx(other.certificate_.objective, rel=2e-6)


def test_balanced_classes_have_equal_total_weights():
    codewords, y, matrix = random_problem(8, n_rows=60)
    y[30:] = 0
    weight = np.random.default_rng(0).random(60) + 0.1
    balanced = OptimizedWeightDecoder(class_weight="balanced", tol=1e-6).fit(codewords, y, matrix, weight)
    by_hand = weight / np.bincount(y, weight)[y]
    same = OptimizedWeightDecoder(tol=1e-6).fit(codewords, y, matrix, by_hand)
    assert balanced.certificate_.objective == pytest.approx(same.certificate_.objective, rel=2e-6)
    plain = OptimizedWeightDecoder(tol=1e-6).fit(codewords, y, matrix, weight)
    assert plain.certificate_.objective != pytest.approx(same.certificate_.objective, rel=1e-3)


# More columns never hurt (Theorem 2)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), hard=st.booleans(), max_rounds=st.sampled_from([1, 2, 5, 500]))
def test_appending_a_column_never_raises_the_objective(seed, hard, max_rounds):
    codewords, y, matrix = random_problem(seed, n_rows=50, hard=hard)
    before = OptimizedWeightDecoder().fit(codewords, y, matrix)
    rng = np.random.default_rng(seed)
    column = rng.choice([-1, 0, 1], len(matrix))
    wider = np.column_stack([matrix, column])
    outputs = rng.choice([-1, 1], 50) if hard else rng.uniform(-1, 1, 50)
    longer = np.column_stack([codewords, outputs.astype(codewords.dtype)])
    start = np.column_stack([before.weights_, np.zeros(len(matrix))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        after = OptimizedWeightDecoder(max_rounds=max_rounds).fit(longer, y, wider, warm_start_weights=start)
    assert after.certificate_.objective <= before.certificate_.objective + GROWING_TOLERANCE
    assert_feasible(after.weights_, wider)
    if max_rounds == 500:
        cold = OptimizedWeightDecoder().fit(longer, y, wider).certificate_
        assert cold.lower_bound <= after.certificate_.objective
        assert cold.objective <= before.certificate_.objective * (1 + 1e-4)


def test_without_penalty_appending_a_column_raises_the_risk_by_no_more_than_the_tolerance():
    codewords, y, matrix = random_problem(9, noise=2.0)
    before = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix).certificate_
    wider = np.column_stack([matrix, [1, -1, 0, 0]])
    longer = np.column_stack([codewords, np.random.default_rng(0).uniform(-1, 1, len(y))])
    after = OptimizedWeightDecoder(margin=0, l2=0).fit(longer, y, wider).certificate_
    assert after.objective <= before.objective + 2e-8


def test_copies_of_columns_lower_the_objective_but_not_the_hinge_by_much():
    # A copy lets a column's weight w become two of w / 2, which halves its share of the penalty. So the objective
    # falls round after round although nothing was learnt; the hinge tells.
    codewords, y, matrix = random_problem(10, n_rows=200, noise=1.5)
    rounds = []
    for copies in (1, 2, 4, 8):
        decoder = OptimizedWeightDecoder(l2=0.02, tol=1e-7).fit(np.tile(codewords, copies), y, np.tile(matrix, copies))
        rounds.append((decoder.certificate_.objective, decoder.certificate_.hinge))
    objectives, hinges = np.array(rounds).T
    assert (np.diff(objectives) < -1e-4).all()
    optimum = smallest_hinge(codewords, y, matrix, 0.3)
    assert (hinges >= optimum - 1e-9).all()
    assert objectives[-1] - hinges[-1] < 0.5 * (objectives[0] - hinges[0])


# Blocks, dtypes and threads


class CountedBlocks:
    """Blocks made afresh on every reading."""

    def __init__(self, *arrays, size):
        self.arrays, self.size, self.n_readings = arrays, size, 0

    def __iter__(self):
        self.n_readings += 1
        codewords, y = self.arrays
        for start in range(0, len(y), self.size):
            yield codewords[start : start + self.size].copy(), y[start : start + self.size], None


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_give_the_same_objective_as_arrays(n_jobs):
    codewords, y, matrix = random_problem(11, n_rows=3000)
    arrays = OptimizedWeightDecoder(n_jobs=n_jobs).fit(codewords, y, matrix).certificate_
    blocks = CountedBlocks(codewords, y, size=700)
    found = OptimizedWeightDecoder(n_jobs=n_jobs).fit_blocks(blocks, matrix).certificate_
    assert found.gap <= 1e-4
    assert max(found.lower_bound, arrays.lower_bound) <= min(found.objective, arrays.objective)
    assert blocks.n_readings >= found.n_rounds
    assert found.n_rows == 3000


def test_hard_blocks_are_collapsed_and_solved_in_memory():
    codewords, y, matrix = random_problem(12, n_rows=3000, hard=True, n_columns=5)
    blocks = CountedBlocks(codewords, y, size=700)
    found = OptimizedWeightDecoder(tol=1e-7).fit_blocks(blocks, matrix)
    arrays = OptimizedWeightDecoder(tol=1e-7).fit(codewords, y, matrix)
    assert (
        found.certificate_.n_rows
        == arrays.certificate_.n_rows
        == len(np.unique(np.column_stack([codewords, y]), axis=0))
    )
    assert blocks.n_readings <= 5
    np.testing.assert_allclose(found.weights_, arrays.weights_, atol=1e-3)


def test_blocks_without_penalty():
    codewords, y, matrix = random_problem(13, n_rows=60)
    blocks = CountedBlocks(codewords, y, size=25)
    decoder = OptimizedWeightDecoder(margin=0, l2=0).fit_blocks(blocks, matrix)
    assert decoder.certificate_.objective == pytest.approx(smallest_hinge(codewords, y, matrix), abs=1e-7)


def test_memory_mapped_codewords(tmp_path):
    codewords, y, matrix = random_problem(14, n_rows=500)
    np.save(tmp_path / "codewords.npy", codewords.astype(np.float32))
    mapped = np.load(tmp_path / "codewords.npy", mmap_mode="r")
    decoder = OptimizedWeightDecoder().fit(mapped, y, matrix)
    exact = OptimizedWeightDecoder().fit(codewords, y, matrix)
    assert decoder.certificate_.objective == pytest.approx(exact.certificate_.objective, rel=1e-4)


def test_many_rows_are_rehearsed_on_a_sample_and_still_certified():
    codewords, y, matrix = random_problem(15, n_rows=20_000, n_classes=3, n_columns=5, ternary=False)
    found = OptimizedWeightDecoder().fit(codewords, y, matrix).certificate_
    assert found.gap <= 1e-4
    # A sample cannot prove anything about all rows: the bound holds for other weights of all rows too.
    for seed in range(5):
        weights = np.random.default_rng(seed).dirichlet(np.ones(5), 3)
        assert objective(codewords, y, matrix, weights, 0.3, 0.01) >= found.lower_bound


@pytest.mark.parametrize(
    ("n_classes", "n_columns", "hard"),
    [(4, 6, False), (6, 60, False), (4, 8, True)],
    ids=["dense", "gradients", "hard"],
)
def test_the_number_of_jobs_changes_no_bit(n_classes, n_columns, hard):
    codewords, y, matrix = random_problem(20, 5000, n_classes, n_columns, hard=hard)
    weight = np.random.default_rng(0).random(len(y))
    one, two, three = (
        OptimizedWeightDecoder(tol=1e-3, n_jobs=n_jobs).fit(codewords, y, matrix, weight) for n_jobs in (1, 2, 3)
    )
    for other in (two, three):
        np.testing.assert_array_equal(other.weights_, one.weights_)
        np.testing.assert_array_equal(other.tie_shares_, one.tie_shares_)
        assert other.certificate_.lower_bound == one.certificate_.lower_bound
        assert other.certificate_.n_rounds == one.certificate_.n_rounds


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("ternary", [False, True])
def test_ascent_finds_the_same_weights(monkeypatch, hard, ternary):
    codewords, y, matrix = random_problem(16, n_rows=300, n_classes=6, n_columns=12, ternary=ternary, hard=hard)
    dense = OptimizedWeightDecoder(tol=1e-7).fit(codewords, y, matrix)
    monkeypatch.setattr("skecoc.decoding.optimized.newton._NEWTON_WEIGHTS", 0)
    found = OptimizedWeightDecoder(tol=1e-6, max_rounds=2000).fit(codewords, y, matrix)
    assert found.certificate_.gap <= 1e-6
    assert found.certificate_.objective == pytest.approx(dense.certificate_.objective, rel=2e-6)
    apart = distance_bound(found.certificate_, 0.01) + distance_bound(dense.certificate_, 0.01)
    assert np.linalg.norm(found.weights_ - dense.weights_) <= apart


def test_fifty_classes_are_certified():
    rng = np.random.default_rng(0)
    matrix, y = 2.0 * np.eye(50) - 1.0, np.arange(600) % 50
    codewords = np.tanh(0.7 * matrix[y] + rng.normal(size=(600, 50)))
    found = OptimizedWeightDecoder(tol=1e-3).fit(codewords, y, matrix).certificate_
    assert found.gap <= 1e-3
    assert found.n_rounds < 200


# Ties


def test_with_no_margin_ties_are_ordered_by_loss_weights():
    codewords, y, matrix = random_problem(17, n_rows=60, n_classes=5, n_columns=5, ternary=False, hard=True)
    decoder = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
    plain = scores(codewords, matrix, decoder.weights_)
    ordered = decoder.scores(codewords)
    loss_weighted = LossWeightedDecoder().fit(codewords, y, matrix).scores(codewords)
    n_ties = 0
    for t, s, key in zip(plain, ordered, loss_weighted, strict=True):
        for p in range(5):
            for r in range(5):
                if t[p] > t[r] + 4 * SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN:
                    assert s[p] > s[r]
                elif abs(t[p] - t[r]) <= SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN and key[p] > key[r] + 1e-9:
                    n_ties += 1
                    assert s[p] > s[r]
    assert n_ties > 20
    np.testing.assert_allclose(ordered, plain, atol=5 * SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN)


def test_with_a_margin_scores_that_are_not_tied_are_the_weighted_agreements():
    codewords, y, matrix = random_problem(18)
    decoder = OptimizedWeightDecoder().fit(codewords, y, matrix)
    plain = scores(codewords, matrix, decoder.weights_)
    found = decoder.scores(codewords)
    is_tied = np.sort(np.abs(plain[:, :, np.newaxis] - plain[:, np.newaxis]), axis=2)[:, :, 1] <= SOLVED_TIE_TOLERANCE
    np.testing.assert_allclose(found[~is_tied], plain[~is_tied], atol=1e-15)
    np.testing.assert_allclose(found, plain, atol=len(matrix) * SOLVED_TIE_TOLERANCE)
    assert (~is_tied).sum() > 100


def test_a_codeword_that_no_class_dominates_goes_to_the_one_with_most_rows():
    # With shares a, b, c of one codeword, the hinge ties all three classes unless one has more than half of the rows:
    # a tie costs the margin once for every row, a lead by the margin twice for all rows but the leader's.
    matrix = 2 * np.eye(3) - 1
    codewords = np.vstack([matrix.repeat(10, axis=0), -np.ones((19, 3))])
    y = np.concatenate([np.repeat([0, 1, 2], 10), np.repeat([0, 1, 2], [5, 9, 5])])
    decoder = OptimizedWeightDecoder().fit(codewords, y, matrix)
    plain = scores(-np.ones((1, 3)), matrix, decoder.weights_)
    assert np.ptp(plain) < SOLVED_TIE_TOLERANCE
    np.testing.assert_allclose(decoder.tie_shares_, np.array([5, 9, 5]) / len(y))
    assert decoder.scores(-np.ones((1, 3))).argmax() == 1
    y[-19:] = np.repeat([0, 1, 2], [10, 5, 4])  # now one class has more than half
    decoder.fit(codewords, y, matrix)
    leader, second = np.sort(scores(-np.ones((1, 3)), matrix, decoder.weights_)[0])[:-3:-1]
    assert leader - second == pytest.approx(0.3, abs=1e-3)
    assert not decoder.tie_shares_.any()


@settings(deadline=None)
@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 9), n_levels=st.integers(1, 30))
def test_ties_are_ordered_as_by_plain_loops(seed, n_classes, n_levels):
    rng = np.random.default_rng(seed)
    found = rng.integers(0, n_levels, (8, n_classes)) / 10 + rng.choice([0.0, 1e-6], (8, n_classes))
    for key in (rng.integers(0, 3, n_classes) / 2, rng.integers(0, 3, found.shape) / 2):
        np.testing.assert_allclose(order_ties(found, key, 0.1), plain_order_ties(found, key, 0.1), atol=1e-15)


def test_tie_shares_count_rows_whose_own_class_ties_for_the_best_score():
    # Ties chain: 0.5 and 0.5 - 0.8e-4 and 0.5 - 1.6e-4 are one group, 0.3 and 0.3 another that is not the best.
    chain = [0.5, 0.5 - 0.8e-4, 0.5 - 1.6e-4, 0.3, 0.3]
    codewords = np.array([chain] * 5 + [[0.5, 0.4, 0.3, 0.3, 0.3]])
    rows = MemoryRows(codewords, np.array([0, 1, 2, 3, 4, 0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 5)
    np.testing.assert_array_equal(tie_shares(rows, np.eye(5)), [1, 2, 3, 0, 0])


# Risk and confusion


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_risk_and_confusion_equal_a_plain_loop(margin):
    codewords, y, matrix = random_problem(19, noise=2.0)
    weight = np.random.default_rng(0).random(len(y))
    decoder = OptimizedWeightDecoder(margin=margin).fit(codewords, y, matrix, weight)
    found = decoder.risk_and_confusion(codewords, y, weight)
    risk, confusion = np.zeros((2, len(matrix), len(matrix)))
    for t, own, w in zip(scores(codewords, matrix, decoder.weights_), y, weight, strict=True):
        rival = max((p for p in range(len(matrix)) if p != own), key=lambda p: t[p])
        risk[own, rival] += w * max(0.0, margin + t[rival] - t[own])
        confusion[own, rival if t[rival] > t[own] else own] += w
    np.testing.assert_allclose(found.risk, risk, atol=1e-12)
    np.testing.assert_allclose(found.confusion, confusion, atol=1e-12)
    assert found.risk.sum() / weight.sum() == pytest.approx(decoder.certificate_.hinge, abs=1e-12)
    assert found.confusion.sum(axis=1) == pytest.approx(np.bincount(y, weight))


@settings(deadline=None)
@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 5), margin=st.sampled_from([0.0, 0.3]))
def test_worst_rivals_equal_a_plain_loop(seed, n_classes, margin):
    rng = np.random.default_rng(seed)
    found, y = rng.integers(-3, 3, (6, n_classes)) / 4, rng.integers(0, n_classes, 6)
    before = found.copy()
    rivals, leads = worst_rivals(found, y, margin)
    for t, own, rival, lead in zip(found, y, rivals, leads, strict=True):
        assert rival == max((p for p in range(n_classes) if p != own), key=lambda p: t[p])
        assert lead == pytest.approx(margin + t[rival] - t[own], abs=1e-15)
    np.testing.assert_array_equal(found, before)


def test_the_risk_matrix_and_the_confusion_matrix_may_disagree():
    matrix, weights = np.eye(3), np.eye(3)
    codewords = [[0.1, 0.2, 0.0], [0.1, 0.2, 0.0], [0.0, -0.5, 0.5]]
    found = risk_and_confusion(codewords, [0, 0, 1], matrix, weights)
    np.testing.assert_allclose(found.risk, [[0, 0.2, 0], [0, 0, 1.0], [0, 0, 0]])
    np.testing.assert_allclose(found.confusion, [[0, 2, 0], [0, 0, 1], [0, 0, 0]])


# Bad input and manners


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2": -1e-3}, "l2 must be 'auto' or a finite number of at least 0"),
        ({"margin": -0.1}, "margin must be"),
        ({"margin": np.nan}, "margin must be"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"max_rounds": 0}, "max_rounds must be an integer of at least 1"),
        ({"solver": "simplex"}, "solver must be 'auto' or 'cutting-plane', got 'simplex'"),
        ({"solver": "cutting-plane"}, "solver='cutting-plane' needs l2=0, got 0.01"),
        ({"class_weight": "equal"}, "class_weight must be None or 'balanced'"),
    ],
)
def test_bad_parameters(parameters, message):
    codewords, y, matrix = random_problem(0)
    with pytest.raises(ValueError, match=message):
        OptimizedWeightDecoder(**parameters).fit(codewords, y, matrix)


def with_entry(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y, m: (with_entry(x, (3, 1), np.nan), y, m), "codewords must be finite"),
        (lambda x, y, m: (with_entry(x, (3, 1), np.inf), y, m), "codewords must be finite"),
        (lambda x, y, m: (x[:, 1:], y, m), r"codewords must have shape \(n_samples, 6\)"),
        (lambda x, y, m: (x, with_entry(y, 0, 4), m), "y must hold indices of the matrix's 4 rows"),
        (lambda x, y, m: (x, with_entry(y, 0, -1), m), "y must hold indices"),
        (lambda x, y, m: (x, y[1:], m), "y must have shape"),
        (lambda x, y, m: (x, np.where(y == 2, 1, y), m), r"y must hold every row of the matrix.*got none of \[2\]"),
        (lambda x, y, m: (x, y, with_entry(m, 1, 0)), "at least one non-zero entry in every row"),
        (lambda x, y, m: (x, y, with_entry(m, (1, 1), 2)), r"entries in \{-1, 0, 1\}"),
        (lambda x, y, m: (x, y, m, -np.ones(len(y))), "sample_weight must hold"),
        (lambda x, y, m: (x, y, m, (y != 2).astype(float)), r"with a positive sample weight; got none of \[2\]"),
    ],
)
def test_bad_rows(change, message):
    arguments = change(*random_problem(0))
    with pytest.raises(ValueError, match=message):
        OptimizedWeightDecoder().fit(*arguments)
    codewords, y, matrix, weight = (*arguments, None)[:4]
    if "shape" not in message or "codewords" in message:
        with pytest.raises(ValueError, match=message):
            OptimizedWeightDecoder().fit_blocks([(codewords, y, weight)], matrix)


def test_blocks_must_be_readable_again():
    codewords, y, matrix = random_problem(0)
    with pytest.raises(ValueError, match="blocks must be readable more than once"):
        OptimizedWeightDecoder().fit_blocks(iter([(codewords, y, None)]), matrix)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w[:, 1:],
        lambda w: w * 2,
        lambda w: with_entry(w, (0, 0), -0.5),
        lambda w: with_entry(w, (0, 0), np.nan),
    ],
)
def test_bad_warm_starts(change):
    codewords, y, matrix = random_problem(1, ternary=False)
    equal = np.full(matrix.shape, 1 / 6)
    with pytest.raises(ValueError, match="warm_start_weights must"):
        OptimizedWeightDecoder().fit(codewords, y, matrix, warm_start_weights=change(equal))


def test_decoders_are_cloned_and_pickled_without_solvers():
    codewords, y, matrix = random_problem(0)
    decoder = OptimizedWeightDecoder(margin=0.2, n_jobs=1).fit(codewords, y, matrix)
    assert clone(decoder).get_params() == decoder.get_params()
    fitted = {"matrix_", "weights_", "margin_", "l2_", "certificate_", "tie_shares_", "tie_tolerance_"}
    assert set(vars(decoder)) - set(decoder.get_params()) == fitted
    again = pickle.loads(pickle.dumps(decoder))  # noqa: S301
    np.testing.assert_array_equal(again.scores(codewords), decoder.scores(codewords))
    assert again.certificate_ == decoder.certificate_


@pytest.mark.parametrize("seed", range(4))
def test_the_penalty_draws_towards_prior_weights(seed):
    codewords, y, matrix = random_problem(seed)
    rng = np.random.default_rng(seed)
    prior = rng.uniform(size=matrix.shape) * (matrix != 0)
    prior /= prior.sum(axis=1, keepdims=True)
    tight = OptimizedWeightDecoder(l2=1e5).fit(codewords, y, matrix, prior_weights=prior)
    np.testing.assert_allclose(tight.weights_, prior, atol=1e-3)
    decoder = OptimizedWeightDecoder(l2=0.1, tol=1e-6).fit(codewords, y, matrix, prior_weights=prior)
    certificate = decoder.certificate_
    penalty = 0.05 * ((decoder.weights_ - prior) ** 2).sum()
    assert certificate.objective == pytest.approx(certificate.hinge + penalty, abs=1e-9)
    assert certificate.gap <= 1e-6
    for _ in range(50):  # no weights nearby are better
        other = np.maximum(decoder.weights_ + 0.03 * rng.normal(size=matrix.shape) * (matrix != 0), 0)
        other /= other.sum(axis=1, keepdims=True)
        scores = codewords @ (other * matrix).T
        own = scores[np.arange(len(y)), y].copy()
        scores[np.arange(len(y)), y] = -np.inf
        hinge = np.maximum(0, decoder.margin + scores.max(axis=1) - own).mean()
        assert hinge + 0.05 * ((other - prior) ** 2).sum() > certificate.lower_bound - 1e-9


def test_equal_prior_weights_change_nothing():
    codewords, y, matrix = random_problem(1)
    equal = (matrix != 0) / (matrix != 0).sum(axis=1, keepdims=True)
    plain = OptimizedWeightDecoder(tol=1e-7).fit(codewords, y, matrix)
    drawn = OptimizedWeightDecoder(tol=1e-7).fit(codewords, y, matrix, prior_weights=equal)
    np.testing.assert_allclose(drawn.weights_, plain.weights_, atol=1e-3)


@pytest.mark.parametrize(("name", "bad"), [("prior_weights", "shape"), ("prior_weights", "non-negative")])
def test_bad_prior_weights_are_named(name, bad):
    codewords, y, matrix = random_problem(0)
    weights = np.ones((2, 2)) if bad == "shape" else np.full(matrix.shape, -1.0)
    with pytest.raises(ValueError, match=f"{name} must .*{bad}"):
        OptimizedWeightDecoder().fit(codewords, y, matrix, **{name: weights})


def test_soft_codewords_tie_only_if_they_are_equal():
    # Outputs that differ from -1 in the ninth digit still order the classes.
    matrix = 2 * np.eye(3) - 1
    codewords = -1 + 1e-8 * np.array([[3.0, 2, 1], [1, 3, 2], [2, 1, 3]])
    decoder = OptimizedWeightDecoder(l2=10.0).fit(codewords, [0, 1, 2], matrix)
    assert decoder.tie_tolerance_ == 0.0
    np.testing.assert_array_equal(decoder.scores(codewords).argmax(axis=1), [0, 1, 2])


def test_fitting_changes_no_input():
    codewords, y, matrix = random_problem(0)
    copies = codewords.copy(), y.copy(), matrix.copy()
    OptimizedWeightDecoder().fit(codewords, y, matrix)
    for array, copy in zip((codewords, y, matrix), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
