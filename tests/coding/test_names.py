import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import skecoc.coding
from skecoc.coding import (
    CODINGS,
    check_code_matrix,
    choose_coding,
    decoc,
    dense_random,
    forest,
    one_vs_one,
    resolve_coding,
)
from skecoc.learners import StumpAdaBoostClassifier

NAMES = {
    "one-vs-rest",
    "one-vs-one",
    "exhaustive",
    "ternary-complete",
    "ordinal",
    "hadamard",
    "dense-random",
    "sparse-random",
    "decoc",
    "forest",
}
LARGEST = {"exhaustive": 12, "ternary-complete": 8}


def rows(n_classes, n_per_class=3):
    y = np.repeat(np.arange(n_classes), n_per_class)
    return np.random.RandomState(n_classes).normal(size=(len(y), 4)), y


def test_every_coding_has_its_functions_name_with_hyphens():
    assert set(CODINGS) == NAMES
    for name in NAMES:
        assert name.replace("-", "_") in skecoc.coding.__all__
        assert callable(getattr(skecoc.coding, name.replace("-", "_")))


def test_up_to_thirty_classes_every_learner_has_one_vs_one():
    for learner in (StumpAdaBoostClassifier(), DecisionTreeClassifier(), LogisticRegression()):
        assert {choose_coding(n, 10**7, [learner]) for n in range(2, 31)} == {"one-vs-one"}


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (StumpAdaBoostClassifier(), 200),
        (SVC(), 200),
        (make_pipeline(StandardScaler(), SVC()), 200),
        (GridSearchCV(SVC(), {"C": [1, 10]}), 200),
        (LogisticRegression(), 100),
        (LinearSVC(), 100),
        (KNeighborsClassifier(), 100),
        (CalibratedClassifierCV(LinearSVC()), 100),
        (DecisionTreeClassifier(), 30),
        (RandomForestClassifier(), 30),
        (BaggingClassifier(LogisticRegression()), 30),
        (HistGradientBoostingClassifier(), 30),
        (make_pipeline(StandardScaler(), MLPClassifier()), 30),
    ],
    ids=repr,
)
def test_one_vs_one_is_chosen_as_far_as_the_learner_can_afford_it(learner, most):
    chosen = {n: choose_coding(n, 1_000, [learner]) for n in (30, 31, 100, 101, 200, 201, 5_000)}
    is_linear = "Logistic" in repr(learner) or "LinearSVC" in repr(learner)
    beyond = "one-vs-rest" if is_linear and most == 100 else "dense-random"
    assert chosen == {n: "one-vs-one" if n <= most else beyond for n in chosen}


def test_many_codewords_and_several_learners_leave_one_vs_one():
    stumps = StumpAdaBoostClassifier()
    assert choose_coding(100, 50_000, [stumps]) == "one-vs-one"
    assert choose_coding(100, 51_000, [stumps]) == "dense-random"
    assert choose_coding(30, 51_000, [stumps, SVC()]) == "one-vs-one"
    assert choose_coding(31, 100, [stumps, SVC()]) == "one-vs-rest"


def test_everything_exported_exists():
    assert all(hasattr(skecoc.coding, name) for name in skecoc.coding.__all__)


@pytest.mark.parametrize("n_classes", range(2, 21))
@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_gives_a_valid_code(name, n_classes):
    X, y = rows(n_classes)
    if n_classes > LARGEST.get(name, 20):
        with pytest.raises(ValueError, match="n_classes must be at most"):
            resolve_coding(name, X, y, n_classes, 0)
        return
    M = resolve_coding(name, X, y, n_classes, 0)
    assert M.dtype == np.int8
    check_code_matrix(M, n_classes)


def test_names_stand_for_the_functions():
    X, y = rows(6)
    weight = np.arange(len(y)) % 3 + 1.0
    np.testing.assert_array_equal(resolve_coding("one-vs-one", X, y, 6), one_vs_one(6))
    np.testing.assert_array_equal(resolve_coding("dense-random", X, y, 6, 7), dense_random(6, random_state=7))
    np.testing.assert_array_equal(resolve_coding("forest", X, y, 6), forest(X, y))
    weighted = resolve_coding("decoc", X, y, 6, sample_weight=weight)
    np.testing.assert_array_equal(weighted, decoc(X, y, sample_weight=weight))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"coding='one_vs_on' is not known .*; expected one of 'decoc', 'dense-r"):
        resolve_coding("one_vs_on", None, None, 3)


@pytest.mark.parametrize("kind", [np.asarray, lambda M: M.tolist(), lambda M: tuple(map(tuple, M)), np.float32])
def test_matrices_are_checked_and_converted(kind):
    M = resolve_coding(kind(one_vs_one(4)), None, None, 4)
    assert M.dtype == np.int8
    np.testing.assert_array_equal(M, one_vs_one(4))


def test_frames_are_matrices():
    pd = pytest.importorskip("pandas")
    np.testing.assert_array_equal(resolve_coding(pd.DataFrame(one_vs_one(4)), None, None, 4), one_vs_one(4))


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 8))
def test_callables_get_rows_and_class_indices(n_classes):
    X, y = rows(n_classes)

    def coding(given_X, given_y):
        assert given_X is X
        assert given_y is y
        return one_vs_one(n_classes).tolist()

    np.testing.assert_array_equal(resolve_coding(coding, X, y, n_classes), one_vs_one(n_classes))


@pytest.mark.parametrize(
    ("coding", "message"),
    [
        (one_vs_one(4), "coding must have one row per class: expected 3 rows, got 4"),
        (lambda X, y: one_vs_one(4), "coding must have one row per class: expected 3 rows, got 4"),
        (lambda X, y: None, r"coding must have shape \(n_classes, n_columns\)"),
        ([[1], [-1], [1]], "coding must have a different row for every class"),
        ([[1], [-1], [2]], "coding must have entries"),
        (np.array(3), "coding must have shape"),
        (None, r"coding must be a name, a code matrix .* or a callable f\(X, y\), got NoneType"),
        (3, "got int"),
        ({"one-vs-one"}, "got set"),
    ],
)
def test_bad_codings_are_named(coding, message):
    with pytest.raises(ValueError, match=message):
        resolve_coding(coding, None, None, 3)
