"""The pictures draw what they are given."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers import wolc
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.plotting import (
    plot_code_matrix,
    plot_convergence,
    plot_learner_shares,
    plot_reliability,
    plot_risk,
    plot_weights,
)
from tests.reference.blocks import wolc_in_blocks

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
    model = ECOCClassifier(decoding="loss-weighted").fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
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


@pytest.fixture(scope="module")
def grown():
    return grow()


def grow(**parameters):
    """Grow a code on half of vehicle; return it with the other half."""
    X, y = load_uci("vehicle", return_X_y=True)
    rules = {"tol": 0.0, "max_iter": 2, **parameters}
    model = WOLCClassifier(StumpAdaBoostClassifier(5), random_state=0, **rules).fit(X[::2], y[::2])
    return model, X[1::2], y[1::2]


def test_grown_columns_are_marked_by_kind(grown):
    model, _, _ = grown
    ax = plot_code_matrix(model)
    marked = {line.get_label(): list(line.get_xdata()) for line in ax.lines}
    for kind in ("simple", "clustered"):
        assert marked.get(kind, []) == list(np.flatnonzero(model.column_kinds_ == kind))
    assert marked
    assert not plot_code_matrix(one_vs_one(3)).lines
    assert plot_weights(model)[0].lines


def test_convergence_draws_the_history_and_the_test_samples(grown):
    model, X, y = grown
    losses, accuracies = plot_convergence(model, X, y)
    columns = [record.n_columns for record in model.history_]
    drawn = {line.get_label(): line for line in (*losses.lines, *accuracies.lines)}
    np.testing.assert_array_equal(drawn["loss"].get_xdata(), columns)
    np.testing.assert_array_equal(drawn["loss"].get_ydata(), [record.loss for record in model.history_])
    out_of_fold = [record.out_of_fold_accuracy for record in model.history_]
    np.testing.assert_array_equal(drawn["training, out of fold"].get_ydata(), out_of_fold)
    np.testing.assert_array_equal(drawn["test"].get_ydata(), list(model.staged_score(X, y)))
    assert losses.lines[-1].get_xdata()[0] == accuracies.lines[-1].get_xdata()[0] == columns[model.best_round_]
    assert "test" not in [line.get_label() for line in plot_convergence(model)[1].lines]


def legends(panels):
    return [[] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().texts] for ax in panels]


def test_convergence_leaves_out_what_was_not_measured(grown, monkeypatch):
    model, X, y = grown
    assert legends(plot_convergence(model)) == [["loss"], ["training, out of fold"]]
    without_folds = grow(n_folds=None)[0]
    panels = plot_convergence(without_folds)
    assert legends(panels) == [["loss", "risk"], ["training", "training, out of fold"]]
    np.testing.assert_array_equal(panels[0].lines[1].get_ydata(), [record.risk for record in without_folds.history_])
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 0)
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 2)
    unknown, _, _ = grow()
    assert legends(plot_convergence(unknown)) == [[], []]
    assert legends(plot_convergence(unknown, X, y)) == [[], ["test"]]


def test_figure_5_risk_and_confusion_frame_different_pairs():
    left, right = plot_risk([[0, 0, 0], [0, 0, 4], [20, 6, 0]], [[90, 0, 10], [0, 90, 10], [0, 5, 95]])
    assert left.get_title() == "confusion: 1 and 2"
    assert right.get_title() == "risk: 2 and 0"
    assert {(patch.get_x(), patch.get_y()) for patch in right.patches} == {(-0.5, 1.5), (1.5, -0.5)}
    assert {text.get_text() for text in right.texts} == {"4", "6", "20"}


def test_rows_of_subclasses_carry_the_name_of_their_class_and_a_number():
    X = np.repeat([0.0, 5.0, 10.0], 20)[:, None] + np.linspace(0, 1, 60)[:, None]
    y = np.repeat(["outer", "inner", "outer"], 20)
    model = SubclassECOCClassifier(StumpAdaBoostClassifier(1), random_state=0).fit(X, y)
    labels = [label.get_text() for label in plot_code_matrix(model).get_yticklabels()]
    assert labels == ["inner", "outer (1)", "outer (2)"]  # as in the names of columns


def test_few_columns_of_a_classifier_are_named():
    X, y = load_iris(return_X_y=True)
    ax = plot_code_matrix(ECOCClassifier().fit(X, y))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0 vs 1", "0 vs 2", "1 vs 2"]
    many = ECOCClassifier().fit(np.repeat(X, 2, axis=0), np.arange(300) % 10)
    assert plot_code_matrix(many).get_xticklabels()[1].get_text() == "4"


def test_classifiers_of_blocks_are_drawn_too():
    X, y = load_iris(return_X_y=True)
    model = wolc_in_blocks(random_state=0).fit(X, y)
    _, accuracies = plot_convergence(model, X, y)
    np.testing.assert_array_equal(accuracies.lines[-2].get_ydata(), list(model.staged_score(X, y)))
    assert plot_learner_shares(model).get_xlabel() == "share of the weights"


def test_bad_arguments_of_growth_pictures_are_named(grown):
    model, X, _ = grown
    with pytest.raises(ValueError, match="X and y"):
        plot_convergence(model, X)
    with pytest.raises(NotFittedError):
        plot_convergence(WOLCClassifier())
    with pytest.raises(NotFittedError):
        plot_code_matrix(ECOCClassifier())
    with pytest.raises(ValueError, match=r"ECOCClassifier does not grow its code.* must be a WOLCClassifier, LCECOC"):
        plot_convergence(ECOCClassifier().fit(*load_iris(return_X_y=True)))
    with pytest.raises(ValueError, match=r"ECOCClassifier has no weights to draw: its decoder_ is a HammingDecoder"):
        plot_weights(ECOCClassifier(decoding="hamming").fit(*load_iris(return_X_y=True)))
    with pytest.raises(ValueError, match="square"):
        plot_risk(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="class_names"):
        plot_risk(np.ones((2, 2)), np.ones((2, 2)), class_names=["a"])


def test_learner_shares_are_stacked_to_one_bar_per_class():
    X, y = load_iris(return_X_y=True)
    learners = [("stumps", StumpAdaBoostClassifier(2)), ("line", MulticlassLearner(LogisticRegression(max_iter=500)))]
    model = ECOCClassifier(learners, decoding="logistic-weight", random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    ax = plot_learner_shares(model)
    shares = model.learner_shares()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"{name} {100 * share.mean():.0f} %" for name, share in shares.items()
    ]
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(widths, list(shares.values()))
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in ax.containers[-1]], 1.0)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first class is on top
    given = mpl.figure.Figure().subplots()
    assert plot_learner_shares(model, ax=given, class_names=["x", "y", "z"]) is given
    assert given.get_yticklabels()[0].get_text() == "x"


def test_learner_shares_of_a_single_learner_and_of_subclasses_are_one_colour():
    X, y = load_iris(return_X_y=True)
    for model in (ECOCClassifier(), SubclassECOCClassifier(random_state=0)):
        ax = plot_learner_shares(model.fit(X, y))
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["StumpAdaBoostClassifier 100 %"]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [1.0, 1.0, 1.0])


def test_learner_shares_of_many_learners_look_different():
    X = np.arange(80.0)[:, None]
    learners = [(f"tree {k}", MulticlassLearner(DecisionTreeClassifier(max_depth=k + 1))) for k in range(10)]
    model = ECOCClassifier(learners, coding="one-vs-rest", decoding="hamming").fit(X, np.repeat(np.arange(40), 2))
    ax = plot_learner_shares(model)
    assert len({(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in ax.containers}) == 10
    assert len(ax.get_yticklabels()) == 40


def test_bad_arguments_of_learner_shares_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="output-code classifier, got LogisticRegression"):
        plot_learner_shares(LogisticRegression())
    with pytest.raises(NotFittedError):
        plot_learner_shares(ECOCClassifier())
    with pytest.raises(ValueError, match="class_names must hold 3 names"):
        plot_learner_shares(ECOCClassifier().fit(X, y), class_names=["a"])


def test_reliability_draws_the_bins_of_the_predicted_class():
    """Two bins: of probabilities 0.6 and 0.7 one is right, of 0.9 and twice 1.0 all are."""
    first = np.array([0.6, 0.3, 0.9, 1.0, 0.0])
    ax = plot_reliability(np.column_stack([first, 1 - first]), y=["a", "a", "a", "a", "b"], n_bins=5)
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_xdata(), [(0.6 + 0.7) / 2, (0.9 + 1.0 + 1.0) / 3])
    np.testing.assert_allclose(line.get_ydata(), [0.5, 1.0])
    sizes = [dots.get_sizes()[0] for dots in ax.collections]
    np.testing.assert_allclose(sizes, 8 + 150 * np.array([2, 3]) / 5)
    loss = -np.log([0.6, 0.3, 0.9, 1.0, 1.0]).mean()
    assert ax.get_legend().get_texts()[0].get_text() == f"probabilities: log-loss {loss:.3f}"


def test_reliability_of_one_class_and_of_several_models():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = ECOCClassifier(random_state=0).fit(X[::2], names[::2])
    probabilities = model.predict_proba(X[1::2])
    ax = plot_reliability(
        {"model": model, "given": probabilities}, X[1::2], names[1::2], of_class="virginica", n_bins=1
    )
    for line in ax.lines[1:]:  # a single bin has the mean of all probabilities, and the class's share
        np.testing.assert_allclose(line.get_xydata(), [[probabilities[:, 2].mean(), 1 / 3]])
    assert ax.get_xlabel() == "probability of the class virginica"
    assert len(ax.get_legend().get_texts()) == 2


def test_bad_arguments_of_reliability_are_named():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y must hold the class labels"):
        plot_reliability(model, X)
    with pytest.raises(ValueError, match="X must hold the samples"):
        plot_reliability(model, y=y)
    with pytest.raises(ValueError, match=r"probabilities must have shape \(150, 3\)"):
        plot_reliability(np.ones((150, 2)), y=y)
    with pytest.raises(ValueError, match="y must hold classes that the model knows, got 3"):
        plot_reliability(model, X, y + 1)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        plot_reliability(model, X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="of_class must be one of the classes"):
        plot_reliability(model, X, y, of_class=7)
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        plot_reliability(model, X, y, n_bins=0)
