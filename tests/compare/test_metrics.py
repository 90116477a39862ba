import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score

from skecoc.compare.metrics import METRICS, Metric, common_measures, find_metric
from skecoc.support.errors import InputError

Y = np.array([0, 0, 0, 1, 1, 2])
PREDICTED = np.array([0, 0, 1, 1, 1, 0])
PROBABILITIES = np.array(
    [[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.1, 0.8, 0.1], [0.2, 0.7, 0.1], [0.5, 0.1, 0.4]]
)


def score(name):
    return find_metric(name).score(Y, PREDICTED, PROBABILITIES, 3)


def test_by_hand():
    assert score("accuracy") == pytest.approx(4 / 6)
    assert score("balanced-accuracy") == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert score("macro-f1") == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)
    assert score("log-loss") == pytest.approx(-np.log([0.8, 0.6, 0.3, 0.8, 0.7, 0.4]).mean())


def test_scorers_of_scikit_learn():
    assert score("roc_auc_ovr") == pytest.approx(roc_auc_score(Y, PROBABILITIES, multi_class="ovr"))
    assert score("f1_weighted") == pytest.approx(f1_score(Y, PREDICTED, average="weighted"))
    assert score("neg_log_loss") == pytest.approx(-log_loss(Y, PROBABILITIES))


def test_other_spellings_are_the_same_metric():
    assert [find_metric(name).name for name in ("balanced_accuracy", "f1_macro", "log_loss")] == [
        "balanced-accuracy",
        "macro-f1",
        "log-loss",
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_balanced_accuracy_is_that_of_scikit_learn(pairs):
    y, predicted = np.array(pairs).T
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = balanced_accuracy_score(y, predicted)
    assert Metric("balanced-accuracy").score(y, predicted, None, 4) == pytest.approx(expected)


def test_which_way_is_better_and_how_it_is_shown():
    shown = {name: (find_metric(name).higher_is_better, find_metric(name).in_percent) for name in METRICS}
    assert shown == {
        "accuracy": (True, True),
        "balanced-accuracy": (True, True),
        "macro-f1": (True, False),
        "log-loss": (False, False),
    }
    assert find_metric("neg_log_loss").higher_is_better
    assert find_metric("log-loss").gain(0.5) == -0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("acuracy", "metric: 'acuracy' is not known (did you mean 'accuracy'"),
        ("f1", "metric: 'f1' cannot score these predictions: "),
        ("r2", "metric: 'r2' is for regression; expected one for classes"),
    ],
)
def test_metrics_that_cannot_be(name, message):
    with pytest.raises(InputError) as caught:
        find_metric(name)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["f1", "precision", "roc_auc", "average_precision"])
def test_binary_metrics_suit_two_classes(name):
    y, predicted = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]])
    assert 0.6 < find_metric(name, 2).score(y, predicted, probabilities, 2) <= 1


def test_a_score_that_is_not_defined():
    with pytest.raises(InputError, match="metric: 'roc_auc' is not defined for these predictions"):
        Metric("roc_auc").score(np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.tile([0.7, 0.3], (3, 1)), 2)


def test_measures_and_metrics_agree_where_a_class_has_no_rows():
    y, predicted = np.array([0, 0, 1]), np.array([0, 2, 1])
    assert common_measures(y, predicted, None, 3)["macro_f1"] == Metric("macro-f1").score(y, predicted, None, 3)


@pytest.mark.parametrize("name", ["log-loss", "roc_auc_ovr"])
def test_probabilities_that_are_missing(name):
    with pytest.raises(InputError, match=f"metric: .*{name}"):
        Metric(name).score(Y, PREDICTED, None, 3)


def test_common_measures():
    found = common_measures(Y, PREDICTED, PROBABILITIES, 3)
    assert found["macro_f1"] == pytest.approx(score("macro-f1"))
    assert found["macro_precision"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found["macro_recall"] == found["balanced_accuracy"] == pytest.approx(score("balanced-accuracy"))
    assert common_measures(Y, PREDICTED, None, 3)["log_loss"] is None
