"""warm_start: a further fit trains only columns that are added, and equals a single fit."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.datasets import load_uci
from skecoc.learners import columns
from skecoc.persistence import load_model, save_model

X, Y = load_uci("vehicle", return_X_y=True)
X, Y = X[::2], Y[::2]
TREE = DecisionTreeClassifier(max_depth=3)


@pytest.fixture
def fits(monkeypatch):
    """Count the learners that are trained."""
    counts = [0]
    fit_one = columns._fit_one

    def counted(*arguments):
        counts[0] += 1
        return fit_one(*arguments)

    monkeypatch.setattr(columns, "_fit_one", counted)

    def since():
        number, counts[0] = counts[0], 0
        return number

    return since


def assert_same(model, other):
    np.testing.assert_array_equal(model.code_matrix_, other.code_matrix_)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    names = ("weights_", "slopes_", "intercepts_")
    assert any(hasattr(model.decoder_, name) for name in names)
    for name in names:
        np.testing.assert_array_equal(getattr(model.decoder_, name, None), getattr(other.decoder_, name, None))
    timeless = [[replace(record, seconds={}) for record in grown.history_] for grown in (model, other)]
    assert repr(timeless[0]) == repr(timeless[1])
    assert model.stop_reason_ == other.stop_reason_


CASES = [
    (WOLCClassifier, {}, {"max_iter": 2}, {"max_iter": 6}),
    (WOLCClassifier, {}, {"max_columns": 15}, {"max_columns": 25}),
    (WOLCClassifier, {"estimator": TREE}, {"patience": 1}, {"patience": 4}),
    (WOLCClassifier, {"n_folds": None}, {"max_iter": 1}, {"max_iter": 4}),
    (LCECOCClassifier, {"estimator": TREE, "patience": 9}, {"max_columns": 8}, {"max_columns": 14}),
    (LCECOCClassifier, {"n_folds": None}, {"max_iter": 1}, {"max_iter": 3}),
    (ECOCOneClassifier, {"init": "dense-random"}, {"max_iter": 0}, {"max_iter": 3}),
    (ECOCOneClassifier, {"extend": True}, {"max_columns": 4}, {"max_columns": 6}),
]


@pytest.mark.parametrize(("method", "parameters", "first", "then"), CASES)
def test_two_fits_are_one_and_train_no_column_twice(fits, method, parameters, first, then):
    parameters = {"random_state": 0, **parameters}
    model = method(warm_start=True, **parameters, **first).fit(X, Y)
    at_first = fits()
    model.set_params(**then).fit(X, Y)
    added = fits()
    single = method(**parameters, **then).fit(X, Y)
    assert (added > 0, at_first + added) == (True, fits())
    assert_same(model, single)
    assert_same(model.fit(X.copy(), Y.copy()), single)
    assert fits() == 0


def test_several_learners_are_kept(fits):
    learners = [("tree", TREE), ("linear", LogisticRegression(C=0.01, max_iter=20, solver="liblinear"))]
    model = WOLCClassifier(learners, max_iter=1, random_state=0, warm_start=True).fit(X, Y)
    at_first = fits()
    model.set_params(max_iter=3).fit(X, Y)
    added = fits()
    single = WOLCClassifier(learners, max_iter=3, random_state=0).fit(X, Y)
    assert at_first + added == fits()
    assert_same(model, single)


def test_without_a_seed_the_first_fits_random_numbers_stay(fits):
    model = LCECOCClassifier(init="dense-random", max_iter=1, patience=9, warm_start=True).fit(X, Y)
    before = model.code_matrix_
    fits()
    model.fit(X, Y)
    assert fits() == 0
    np.testing.assert_array_equal(model.code_matrix_, before)
    other = LCECOCClassifier(init="dense-random", max_iter=1, patience=9, warm_start=True).fit(X, Y)
    assert not np.array_equal(other.code_matrix_, before)


@pytest.mark.parametrize(
    "change",
    [
        {"random_state": 1},
        {"n_folds": 4},
        {"estimator": DecisionTreeClassifier(max_depth=2)},
        {"estimator__max_depth": 2},
        {"warm_start": False},
    ],
)
def test_what_columns_depend_on_makes_them_new(fits, change):
    model = LCECOCClassifier(TREE, max_iter=1, random_state=0, warm_start=True).fit(X, Y)
    fits()
    model.set_params(estimator=DecisionTreeClassifier(max_depth=3))
    model.set_params(**change).fit(X, Y)
    number = fits()
    single = LCECOCClassifier(**{**model.get_params(deep=False), "warm_start": False}).fit(X, Y)
    assert number == fits() > 0
    assert_same(model, single)


def test_other_data_make_columns_new_also_if_they_are_changed_in_place(fits):
    samples, labels = X.copy(), Y.copy()
    model = LCECOCClassifier(TREE, max_iter=1, random_state=0, warm_start=True).fit(samples, labels)
    samples[0, 0] += 1.0
    for arguments in ((samples, labels), (samples, labels[::-1]), (samples, labels, np.arange(len(labels)) + 1.0)):
        fits()
        model.fit(*arguments)
        number = fits()
        single = LCECOCClassifier(TREE, max_iter=1, random_state=0).fit(*arguments)
        assert number == fits() > 0
        assert_same(model, single)
    model.fit(*load_iris(return_X_y=True))
    assert len(model.classes_) == 3


def test_pickles_and_model_files_do_not_hold_what_is_kept(fits, tmp_path):
    model = LCECOCClassifier(TREE, max_iter=1, random_state=0, warm_start=True).fit(X, Y)
    plain = LCECOCClassifier(TREE, max_iter=1, random_state=0).fit(X, Y)
    assert len(pickle.dumps(model)) < len(pickle.dumps(plain)) + 100
    save_model(model, tmp_path / "model.skops")
    for copied in (pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model.skops")):  # noqa: S301
        assert_same(copied, model)
        fits()
        copied.set_params(max_iter=2).fit(X, Y)
        assert fits() > len(plain.estimators_)
        assert_same(copied, LCECOCClassifier(TREE, max_iter=2, random_state=0).fit(X, Y))
