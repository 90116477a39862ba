"""From a table to a model: what is checked, said and written down."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skecoc.compare import DataSet
from skecoc.compare.methods import MAJORITY, default_methods
from skecoc.learners import StumpAdaBoostClassifier, mixed
from skecoc.persistence import dump_model, load_model
from skecoc.support.errors import InputError
from skecoc.tables import fit_table, fitting
from skecoc.tables.fitting import OWN_REFERENCES, REFERENCES
from tests.grids import few


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
        "left out: column 'id' (identifies the rows)",
    ]


def test_model_and_card_survive_the_file(model, model_file, things):
    loaded = load_model(model_file)
    np.testing.assert_array_equal(loaded.predict_proba(things.X), model.predict_proba(things.X))
    assert loaded.card_.keys() == model.card_.keys()
    np.testing.assert_array_equal(loaded.card_["confusion"], model.card_["confusion"])
    assert loaded.card_["comparison"] == model.card_["comparison"]


@pytest.mark.parametrize(
    "method", few(["wolc", "decoc/probabilistic", "random-10/hamming", "subclass-ecoc/loss-based"], 2)
)
def test_methods_of_all_kinds_can_be_saved(things, method):
    model = fit_table(things, method=method, folds=2, learner="sklearn.linear_model.LogisticRegression")
    assert len(dump_model(model)) > 0
    assert model.classifier_.n_jobs is None


@pytest.fixture(scope="module")
def best_model(things):
    """What `fit_table` makes unless it is told otherwise, with faster learners in the place of those of mixed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed, "mixed_learners", lambda *_, **__: [("a", GaussianNB()), ("b", LogisticRegression())])
        return fit_table(things, folds=2)


def test_several_methods_are_tried_by_default_and_the_best_is_saved(best_model):
    card = best_model.card_
    methods = [row["method"] for row in card["comparison"]]
    assert sorted(methods) == sorted([MAJORITY, *default_methods(3, 5, has_learner=False)])
    assert methods[-1] == MAJORITY
    assert card["method"] == methods[0]
    scores = [row["score"] for row in card["comparison"][:-1]]
    assert scores == sorted(scores, reverse=True)
    assert f"{card['method']} is saved as the best of 6 methods" in card["reason"]
    assert card["important"]["pairs"].tolist()


def test_the_best_is_chosen_by_the_metric(things, monkeypatch):
    """Probabilities of a method that is always right but never sure are worth little by log-loss."""
    frame = pd.DataFrame({"x": np.r_[np.linspace(0, 1, 30), np.linspace(2, 3, 30)]})
    data_set = DataSet("two", frame, np.repeat(["a", "b"], 30))
    monkeypatch.setattr(fitting, "default_methods", lambda *a, **k: ["one-vs-one/hamming", "sklearn/logistic"])
    by_accuracy = fit_table(data_set, folds=2)
    by_loss = fit_table(data_set, folds=2, metric="log-loss")
    losses = {row["method"]: row["score"] for row in by_loss.card_["comparison"]}
    assert by_loss.card_["method"] == min(losses, key=losses.get)
    assert by_loss.card_["metric"]["name"] == "log-loss"
    assert by_accuracy.card_["comparison"][0]["score"] == 1.0


@pytest.mark.nightly
def test_a_model_of_several_learners_survives_the_file(things, tmp_path):
    model = fit_table(things, method="mixed", folds=2)
    path = tmp_path / "mixed.skops"
    path.write_bytes(dump_model(model))
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(things.X), model.predict_proba(things.X))
    assert loaded.card_["comparison"] == model.card_["comparison"]
    assert (model.card_["method"], model.card_["learner"]) == (
        "mixed/logistic-weight",
        "stumps, logistic, svm, svm_sharp, trees, boosting",
    )
    assert loaded.classifier_.estimator == "mixed"


@pytest.mark.parametrize("method", few(["random-forest", "logistic", "boosting", "svm"], 2))
def test_classifiers_of_scikit_learn_can_be_saved(things, method, tmp_path):
    model = fit_table(things, method=method, folds=2)
    path = tmp_path / "own.skops"
    path.write_bytes(dump_model(model))
    np.testing.assert_array_equal(load_model(path).predict(things.X), model.predict(things.X))
    row = model.card_["comparison"][0]
    assert (model.card_["method"], row["columns"]) == (f"sklearn/{method}", row["columns"])
    assert model.card_["learner"] == ""


@pytest.mark.parametrize(
    ("arguments", "methods", "learner"),
    [
        ({}, default_methods(3, 5, has_learner=False), StumpAdaBoostClassifier),
        ({"method": "auto"}, default_methods(3, 5, has_learner=False), StumpAdaBoostClassifier),
        ({"learner": GaussianNB()}, default_methods(3, 5, has_learner=True), GaussianNB),
        ({"learner": "random-forest"}, default_methods(3, 5, has_learner=True), RandomForestClassifier),
        ({"method": "mixed"}, ["mixed/logistic-weight", *OWN_REFERENCES], StumpAdaBoostClassifier),
        ({"method": "random-forest"}, OWN_REFERENCES, StumpAdaBoostClassifier),
        ({"method": "wolc"}, ["wolc/optimized-weight", *REFERENCES], StumpAdaBoostClassifier),
        ({"method": "one-vs-one"}, ["one-vs-one/loss-weighted", *REFERENCES], StumpAdaBoostClassifier),
        (
            {"method": "decoc", "class_weight": "balanced"},
            ["decoc/loss-weighted", *OWN_REFERENCES],
            StumpAdaBoostClassifier,
        ),
    ],
)
def test_what_is_tried(things, monkeypatch, arguments, methods, learner):
    monkeypatch.setattr(fitting, "_rehearse", lambda *a: None)
    seen = []

    def cross_validate(data_sets, methods, learner, metric, **options):
        seen.append((methods, type(learner)))
        raise InputError("enough")

    monkeypatch.setattr(fitting, "cross_validate", cross_validate)
    with pytest.raises(InputError, match="enough"):
        fit_table(things, **arguments)
    assert seen == [([MAJORITY, *methods], learner)]


FAST = {"method": "one-vs-rest/hamming", "folds": 2}


def test_the_file_s_name_changes_nothing(things):
    models = [fit_table(DataSet(name, things.X, things.y), **FAST) for name in ("a.csv", "b.parquet")]
    assert models[0].card_["scores"] == models[1].card_["scores"]
    np.testing.assert_array_equal(models[0].predict_proba(things.X), models[1].predict_proba(things.X))


def test_groups_classes_in_order_and_weights_are_said(things):
    X = things.X.assign(garden=np.arange(60) // 3)
    order = ["pear", "apple", "Äpfel & <b>"]
    model = fit_table(
        DataSet("things", X, things.y), method="ordinal", folds=2, group="garden", order=order, class_weight="balanced"
    )
    assert model.card_["options"] == {
        "class_weight": "balanced",
        "group": "garden",
        "order": order,
        "compared_rows": 60,
    }
    assert model.classes_.tolist() == order
    assert model.left_out_["garden"] == "dropped"
    assert set(model.predict(X)) <= set(order)
    assert model.score(X, things.y) > 0.6


def test_a_large_table_is_compared_on_some_rows_and_fitted_to_all(things):
    model = fit_table(things, max_rows=30, **FAST)
    assert "methods are compared on 30 of the 60 rows (--max-rows)" in model.card_["notes"]
    assert model.card_["confusion"].sum() == 30
    whole = fit_table(things, **FAST)
    np.testing.assert_array_equal(model.predict_proba(things.X), whole.predict_proba(things.X))


def test_a_test_table_is_scored_by_the_final_model(things):
    model = fit_table(things, test=DataSet("new.csv", things.X[:20], things.y[:20]), **FAST)
    assert model.card_["test"]["score"] == pytest.approx(np.mean(model.predict(things.X[:20]) == things.y[:20]))
    assert model.card_["test"]["n_rows"] == 20


def test_without_time_only_the_first_method_is_tried(things):
    model = fit_table(things, method="one-vs-rest/hamming", folds=2, time_budget=1e-9)
    assert [row["method"] for row in model.card_["comparison"]] == ["one-vs-rest/hamming", MAJORITY]
    assert "no time was left for sklearn/one-vs-one, sklearn/one-vs-rest" in model.card_["notes"]


def test_a_learner_that_takes_no_weights_is_told_so(things):
    with pytest.raises(InputError, match="method: KNeighborsClassifier does not support sample_weight"):
        fit_table(things, learner="knn", class_weight="balanced", trusted=[], **FAST)


def test_a_column_that_may_be_an_identifier_is_pointed_out(things):
    X = things.X[["weight"]].assign(**{"plant id": np.arange(60) // 5 * 7})
    model = fit_table(DataSet("things", X, things.y), method="one-vs-rest/hamming", folds=2)
    assert model.card_["notes"] == ["column 'plant id' may be an identifier (its name says so); --drop leaves it out"]
    assert "plant id" in model.kinds_


def test_a_stray_cell_is_pointed_out_and_its_column_used(things):
    X = things.X[["weight"]].assign(size=[*map(str, np.arange(59) / 4), "few"])
    model = fit_table(DataSet("things", X, things.y), method="one-vs-rest/hamming", folds=2)
    assert model.card_["notes"] == [
        "column 'size': 1 cell holds no finite number (the first 'few' in row 60) and counts as missing"
    ]
    assert model.kinds_["size"] == "number"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "nothing"}, "methods: 'nothing' is not known"),
        ({"method": "sklearn/one-vs-one"}, "method: 'sklearn/one-vs-one' is a reference, which is not saved"),
        ({"method": "majority"}, "method: 'sklearn/majority' is a reference, which is not saved"),
        ({"method": "random-forest", "learner": "svm"}, "learner: sklearn/random-forest has its own learners"),
        ({"class_weight": "even"}, "class_weight: expected 'balanced' or None, got 'even'"),
        ({"metric": "acuracy"}, "metric: 'acuracy' is not known"),
        ({"group": "nothing"}, "group: 'nothing' is not a column"),
        ({"order": ["apple"]}, "order: expected every class once"),
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
        ([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], "labels that are not classes"),
        (["a", "a", "a", "a", "a", "b"], "only one class with two rows or more"),
    ],
)
def test_bad_classes(y, message):
    X = pd.DataFrame({"a": [3.0, 1.0, 2.0, 5.0, 4.0, 9.0]})
    with pytest.raises(InputError, match=message):
        fit_table(DataSet("tiny", X, np.array(y)), folds=2)


def test_a_learner_that_cannot_be_saved_is_refused_before_the_work(things, monkeypatch):
    monkeypatch.setattr(fitting, "cross_validate", lambda *a, **k: pytest.fail("work was done"))
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
    assert "things.csv: one-vs-rest/hamming warned in 2 runs: not converged" in model.card_["notes"]
