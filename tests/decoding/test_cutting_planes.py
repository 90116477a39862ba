"""Algorithm 2 of the paper: the same optimum as the full program, by cuts, at a vertex."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skecoc.decoding import OptimizedWeightDecoder
from skecoc.decoding.scoring import decode
from tests.reference.optimized import hinge, random_problem, smallest_hinge

PROBLEMS = [
    {"seed": 0},
    {"seed": 1, "ternary": False},
    {"seed": 2, "hard": True},
    {"seed": 3, "hard": True, "n_rows": 120},
    {"seed": 4, "n_classes": 3, "n_columns": 9, "noise": 2.0},
]


def by_cuts(margin=0.0, **parameters):
    return OptimizedWeightDecoder(margin, l2=0.0, solver="cutting-plane", **parameters)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_theorem_1_the_cuts_have_the_optimum_of_the_full_program(problem, margin):
    codewords, y, matrix = random_problem(**problem)
    decoder = by_cuts(margin, tol=1e-6, max_rounds=2_000).fit(codewords, y, matrix)
    found = decoder.certificate_
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(smallest_hinge(codewords, y, matrix, margin), abs=1e-6)
    assert found.objective == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, margin), abs=1e-9)
    assert found.risk == pytest.approx(hinge(codewords, y, matrix, decoder.weights_, 0.0), abs=1e-9)
    assert found.n_rounds == found.n_cuts + 1
    np.testing.assert_allclose(decoder.weights_.sum(axis=1), 1.0)
    assert (decoder.weights_ >= 0).all()
    assert not decoder.weights_[matrix == 0].any()


def test_one_cut_by_hand():
    # With equal weights the second sample is wrong: its own class 1 scores (-1 - 1) / 2, class 0 scores (1 - 1) / 2.
    matrix = np.array([[1, -1], [-1, -1]])
    codewords, y = np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([0, 1])
    decoder = by_cuts().fit(codewords, y, matrix)
    assert decoder.certificate_.n_cuts == 1
    assert decoder.certificate_.objective == 0.0
    # The cut is t_0 - t_1 of that sample: class 0 scores W_00 - W_01, class 1 scores -1 whatever its weights are. So
    # the cut is zero if all weight of class 0 is on its second column.
    np.testing.assert_allclose(decoder.weights_[0], [0.0, 1.0], atol=1e-9)


def test_weights_are_a_vertex():
    codewords, y, matrix = random_problem(seed=1, ternary=False)
    decoder = by_cuts().fit(codewords, y, matrix)
    centre = OptimizedWeightDecoder(0.0, l2=0.0).fit(codewords, y, matrix)
    # Each weight that is positive beside another one of its class needs a cut that holds with equality.
    assert (decoder.weights_ > 1e-9).sum() <= len(matrix) + decoder.certificate_.n_cuts
    assert (decoder.weights_ > 1e-9).sum() < (centre.weights_ > 1e-9).sum()


def test_the_first_of_tied_classes_is_predicted():
    matrix = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    codewords, y = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]), np.arange(3)
    decoder = by_cuts().fit(codewords, y, matrix)
    decoder.weights_ = np.eye(3)[[0, 0, 0]]  # all look at the first column
    scores = decode(decoder, codewords, matrix, [0.2, 0.3, 0.5])
    assert scores.argmax(axis=1).tolist() == [0, 1, 1]
    assert np.ptp(scores[1, 1:]) < 1e-6


def test_it_ends_after_the_largest_number_of_constraints_with_a_warning():
    codewords, y, matrix = random_problem(seed=0, n_rows=80)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        decoder = by_cuts(0.1, max_rounds=3, tol=1e-9).fit(codewords, y, matrix)
    assert decoder.certificate_.n_cuts == 3
    assert decoder.certificate_.lower_bound <= smallest_hinge(codewords, y, matrix, 0.1) + 1e-9


def test_blocks_have_the_optimum_of_samples_in_memory():
    codewords, y, matrix = random_problem(seed=1, ternary=False, n_rows=90)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    memory = by_cuts(0.1, tol=1e-5, max_rounds=2_000).fit(codewords, y, matrix, weight)
    blocks = [(codewords[part], y[part], weight[part]) for part in (slice(0, 7), slice(7, None))]
    read = by_cuts(0.1, tol=1e-5, max_rounds=2_000).fit_blocks(blocks, matrix)
    assert read.certificate_.objective == pytest.approx(memory.certificate_.objective, rel=1e-4)


def test_a_further_fit_forgets_how_ties_were_ordered():
    codewords, y, matrix = random_problem(seed=2, hard=True)
    decoder = OptimizedWeightDecoder(0.0, l2=0.0).fit(codewords, y, matrix)
    decoder.set_params(solver="cutting-plane")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again, fresh = decoder.fit(codewords, y, matrix), by_cuts().fit(codewords, y, matrix)
    np.testing.assert_array_equal(again.scores(codewords), fresh.scores(codewords))
