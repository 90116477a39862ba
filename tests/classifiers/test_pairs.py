"""The paper's Figure 5, negated columns, and order that rounding does not decide."""

import numpy as np

from skecoc.classifiers.growth import symmetric_losses
from skecoc.classifiers.layered import hard_pairs, number_of_equal_columns, pair_column

# Figure 5 of the paper: 100 rows per class, the same decoding seen as errors and as risk.
CONFUSION = [[90, 0, 10], [0, 90, 10], [0, 5, 95]]
RISK = [[0, 0, 0], [0, 0, 4], [20, 6, 0]]


def test_figure_5_confusion_selects_classes_2_and_3():
    np.testing.assert_array_equal(symmetric_losses(CONFUSION)[np.triu_indices(3, 1)], [0, 10, 15])
    assert hard_pairs(CONFUSION, 1) == [(1, 2)]


def test_figure_5_risk_selects_classes_1_and_3():
    np.testing.assert_array_equal(symmetric_losses(RISK)[np.triu_indices(3, 1)], [0, 20, 10])
    assert hard_pairs(RISK, 1) == [(0, 2)]


def test_pairs_without_loss_are_left_out():
    assert hard_pairs(RISK, 3) == [(0, 2), (1, 2)]
    assert hard_pairs(np.diag([5.0, 5.0]), 3) == []


def test_losses_that_differ_by_rounding_are_equal():
    losses = np.zeros((3, 3))
    losses[0, 1], losses[0, 2], losses[1, 2] = 0.3, 0.1 + 0.2, 0.3
    assert hard_pairs(losses, 3) == [(0, 1), (0, 2), (1, 2)]


def test_a_negated_column_is_the_column():
    matrix = np.array([[1, 0], [-1, 1], [-1, -1]], dtype=np.int8)
    assert number_of_equal_columns(matrix, pair_column(3, (1, 2))) == 1
    assert number_of_equal_columns(-matrix, pair_column(3, (1, 2))) == 1
    assert number_of_equal_columns(matrix, pair_column(3, (0, 2))) == 0
