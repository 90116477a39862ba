"""The pictures draw what they are given."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from skecoc import ECOCClassifier
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.plotting import plot_code_matrix, plot_weights

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_code_matrix_draws_the_entries_under_the_class_names():
    ax = plot_code_matrix(one_vs_one(3), class_names=["a", "b", "c"], title="pairs")
    np.testing.assert_array_equal(ax.images[0].get_array(), one_vs_one(3))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.get_title() == "pairs"


def test_a_fitted_classifier_names_its_rows():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier().fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    ax = plot_code_matrix(model)
    assert ax.get_yticklabels()[1].get_text() == "versicolor"
    _, right = plot_weights(model)
    np.testing.assert_allclose(right.images[0].get_array().filled(0), model.weights_)


def test_weights_hide_the_positions_that_are_zero_in_the_matrix():
    left, right = plot_weights(np.full((3, 3), 0.5), one_vs_one(3))
    np.testing.assert_array_equal(right.images[0].get_array().mask, one_vs_one(3) == 0)
    np.testing.assert_array_equal(left.images[0].get_array(), one_vs_one(3))


def test_large_matrices_are_drawn_too():
    ax = plot_code_matrix(one_vs_rest(120))
    assert len(ax.get_yticks()) <= 31


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="class_names must hold 3 names"):
        plot_code_matrix(one_vs_rest(3), class_names=["a"])
    with pytest.raises(ValueError, match="same shape"):
        plot_weights(np.ones((3, 2)), one_vs_rest(3))
    with pytest.raises(ValueError, match="matrix"):
        plot_code_matrix([[1, 2], [1, 1]])
