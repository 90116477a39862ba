"""From a table to a model: what is checked, said and written down."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from skecoc.benchmarking import DataSet
from skecoc.learners import StumpAdaBoostClassifier, mixed_learners
from skecoc.persistence import dump_model, load_model
from skecoc.support.errors import InputError
from skecoc.tables import fit_table, fitting


class UsersOwn(ClassifierMixin, BaseEstimator):
    """A learner that no file may be trusted to hold."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.middle_ = float(np.median(X[:, 0]))
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.middle_).astype(int)]

    def predict_proba(self, X):
        return np.eye(2)[self.predict(X)]


NAME = f"{UsersOwn.__module__}.UsersOwn"


def test_the_card_says_how_the_model_was_made(model):
    card = model.card_
    assert (card["data"], card["target"], card["n_rows"]) == ("things.csv", "kind", 60)
    assert (card["method"], card["learner"], card["folds"]) == ("one-vs-one/loss-weighted", "stumps", 3)
    assert card["class_counts"].tolist() == [20, 20, 20]
    assert card["notes"] == [
        "left out: column 'unit' (the same value in every row)",
        "left out: column 'id' (only numbers or names the rows)",
    ]


def test_model_and_card_survive_the_file(model, model_file, things):
    loaded = load_model(model_file)
    np.testing.assert_array_equal(loaded.predict_proba(things.X), model.predict_proba(things.X))
    assert loaded.card_.keys() == model.card_.keys()
    np.testing.assert_array_equal(loaded.card_["confusion"], model.card_["confusion"])
    assert loaded.card_["comparison"] == model.card_["comparison"]


@pytest.mark.parametrize("method", ["wolc", "random-10/hamming", "subclass-ecoc/loss-based", "decoc/probabilistic"])
def test_methods_of_all_kinds_can_be_saved(things, method):
    model = fit_table(things, method=method, folds=2, learner="sklearn.linear_model.LogisticRegression")
    assert len(dump_model(model)) > 0
    assert model.classifier_.n_jobs is None


@pytest.fixture(scope="module")
def mixed_model(things):
    """What `fit_table` makes unless it is told otherwise."""
    return fit_table(things, folds=2)


def test_several_learners_are_the_default(mixed_model):
    card = mixed_model.card_
    assert (card["method"], card["learner"]) == (
        "mixed/logistic-weight",
        "stumps, logistic, svm, svm_sharp, trees, boosting",
    )
    shown = {row["method"]: row["columns"] for row in card["comparison"]}
    assert list(shown) == ["mixed/logistic-weight", "sklearn/random-forest", "sklearn/logistic"]
    assert shown["sklearn/random-forest"] == shown["sklearn/logistic"] == 0.0
    assert card["important"]["pairs"].tolist()
    assert mixed_model.classifier_.estimator == "mixed"
    assert mixed_model.classifier_.n_jobs is None


def test_a_model_of_several_learners_survives_the_file(mixed_model, things, tmp_path):
    path = tmp_path / "mixed.skops"
    path.write_bytes(dump_model(mixed_model))
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(things.X), mixed_model.predict_proba(things.X))
    assert loaded.card_["comparison"] == mixed_model.card_["comparison"]


@pytest.mark.parametrize(
    ("arguments", "method"),
    [
        ({}, "mixed/logistic-weight"),
        ({"method": "mixed"}, "mixed/logistic-weight"),
        ({"learner": "stumps"}, "wolc/optimized-weight"),
        ({"learner": GaussianNB()}, "wolc/optimized-weight"),
        ({"method": "wolc"}, "wolc/optimized-weight"),
        ({"method": "one-vs-one/hamming"}, "one-vs-one/hamming"),
    ],
)
def test_the_method_depends_on_the_learner_unless_it_is_named(things, monkeypatch, arguments, method):
    monkeypatch.setattr(fitting, "_rehearse", lambda *a: None)
    seen = []

    def evaluate(data_set, method, learner, **options):
        seen.append((method, type(learner)))
        raise InputError("enough")

    monkeypatch.setattr(fitting, "evaluate", evaluate)
    with pytest.raises(InputError, match="enough"):
        fit_table(things, **arguments)
    learner = GaussianNB if isinstance(arguments.get("learner"), GaussianNB) else StumpAdaBoostClassifier
    assert seen == [(method, learner)]


def test_saving_is_rehearsed_with_all_learners(things, monkeypatch):
    monkeypatch.setattr(fitting, "evaluate", lambda *a, **k: pytest.fail("work was done"))
    rehearsed = []

    def refuse(model, trusted):
        rehearsed.append(model.classifier_)
        raise InputError("not to be saved")

    monkeypatch.setattr(fitting, "check_storable", refuse)
    with pytest.raises(InputError, match="not to be saved"):
        fit_table(things)
    assert list(dict.fromkeys(rehearsed[0].column_learners_)) == [name for name, _ in mixed_learners()]


def test_a_column_that_may_be_an_identifier_is_pointed_out(things):
    X = things.X[["weight"]].assign(**{"plant id": np.arange(60) // 5 * 7})
    model = fit_table(DataSet("things", X, things.y), method="one-vs-rest/hamming", folds=2)
    assert model.card_["notes"] == ["column 'plant id' may be an identifier (its name says so); --drop leaves it out"]
    assert "plant id" in model.kinds_


def test_a_stray_cell_is_pointed_out_and_its_column_used(things):
    X = things.X[["weight"]].assign(size=[*map(str, np.arange(59) / 4), "?"])
    model = fit_table(DataSet("things", X, things.y), method="one-vs-rest/hamming", folds=2)
    assert model.card_["notes"] == ["column 'size' is taken as text: row 60 holds '?', 59 of 60 cells are numbers"]
    assert model.kinds_["size"] == "text"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "nothing"}, "methods: 'nothing' is not known"),
        ({"method": "sklearn/one-vs-one"}, "method: 'sklearn/one-vs-one' is a reference, not a method of this package"),
        ({"method": "sklearn/svm"}, "method: 'sklearn/svm' is a reference, not a method of this package"),
        ({"learner": "nothing"}, "learner: 'nothing' is not known"),
        ({"method": "mixed", "learner": "svm"}, "learner: mixed has its own learners; leave out either the method or"),
        ({"drop": ["nothing"]}, "drop: 'nothing' is not a column"),
        ({"folds": 21}, "folds: 21 is more than the 20 rows of the largest class"),
        ({"method": "exhaustive/hamming", "learner": "sklearn.svm.LinearSVR"}, "is not a scikit-learn classifier"),
    ],
)
def test_bad_arguments(things, arguments, message):
    with pytest.raises(InputError, match=message):
        fit_table(things, **arguments)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 6, "has one class only"),
        (["a", "b", "c", "d", "e", "f"], "folds: 2 is more than the 1 rows of the largest class"),
        ([0.5, 1.5, 0.5, 1.5, 0.5, 1.5], "labels that are not classes"),
        (["a", "a", "a", "a", "a", "b"], "only one class with two rows or more"),
    ],
)
def test_bad_classes(y, message):
    X = pd.DataFrame({"a": [3.0, 1.0, 2.0, 5.0, 4.0, 9.0]})
    with pytest.raises(InputError, match=message):
        fit_table(DataSet("tiny", X, np.array(y)), folds=2)


def test_a_learner_that_cannot_be_saved_is_refused_before_the_work(things, monkeypatch):
    monkeypatch.setattr(fitting, "evaluate", lambda *a, **k: pytest.fail("work was done"))
    with pytest.raises(InputError) as caught:
        fit_table(things, learner=UsersOwn())
    assert str(caught.value) == (
        f"learner: the model would hold types that are not trusted: {NAME}; if you trust their code, add "
        f"--trust {NAME} (here, and to predict and inspect)"
    )


def test_a_trusted_learner_is_taken_and_loaded_only_if_trusted_again(things, tmp_path):
    model = fit_table(things, method="one-vs-rest/hamming", learner=UsersOwn(), folds=2, trusted=[NAME])
    path = tmp_path / "own.skops"
    path.write_bytes(dump_model(model, trusted=[NAME]))
    with pytest.raises(ValueError, match=f"is refused: it holds types that are not trusted, {NAME}"):
        load_model(path)
    loaded = load_model(path, trusted=[NAME])
    np.testing.assert_array_equal(loaded.predict(things.X), model.predict(things.X))


def test_warnings_of_learners_become_notes(things):
    class Talkative(UsersOwn):
        def fit(self, X, y, sample_weight=None):
            import warnings

            warnings.warn("not converged", UserWarning, stacklevel=1)
            return super().fit(X, y)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_rehearse", lambda *a: None)
        model = fit_table(things, method="one-vs-rest/hamming", learner=Talkative(), folds=2)
    assert "one-vs-rest/hamming warned in 2 folds: not converged" in model.card_["notes"]
