import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skecoc.compare import DataSet, compare, load_data_sets
from skecoc.learners import mixed
from skecoc.support.errors import InputError
from skecoc.tables import as_data_set
from tests.reference import compare as reference

METHODS = ["one-vs-one/hamming", "dense-random/loss-based", "dense-random/hamming", "sklearn/output-code"]


def without_seconds(records):
    return [replace(record, fit_seconds=0.0, predict_seconds=0.0) for record in records]


def blobs(counts, seed=0, name="blobs"):
    """Well separated classes with so many rows each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(list(counts), list(counts.values()))
    centres = {label: 10.0 * i for i, label in enumerate(counts)}
    X = np.array([centres[label] for label in y])[:, None] + rng.random((len(y), 2))
    return DataSet(name, X, y)


@pytest.fixture(scope="module")
def iris_and_glass():
    return load_data_sets(["iris", "glass"])


@pytest.fixture(scope="module")
def result(iris_and_glass):
    return compare(iris_and_glass, METHODS, learner=DecisionTreeClassifier(max_depth=2), folds=3, repeats=2, seed=5)


def test_one_record_per_run_in_order(result):
    keys = [(r.data_set, r.repeat, r.fold, r.method) for r in result.records]
    assert keys == [
        (name, repeat, fold, method)
        for name in ["iris", "glass"]
        for repeat in range(2)
        for fold in range(3)
        for method in METHODS
    ]
    assert all(
        record.n_train + record.n_test == (150 if record.data_set == "iris" else 214) for record in result.records
    )


def test_runs_are_arranged_by_data_set_method_and_run(result):
    runs = result.runs("accuracy")
    assert runs.shape == (2, 4, 6)
    for record in result.records:
        i, j = ["iris", "glass"].index(record.data_set), METHODS.index(record.method)
        assert runs[i, j, 3 * record.repeat + record.fold] == record.accuracy


@pytest.mark.parametrize("method", METHODS[:2])
def test_accuracies_equal_plain_cross_validation(result, iris_and_glass, method):
    learner = DecisionTreeClassifier(max_depth=2)
    for data_set in iris_and_glass:
        expected = reference.fold_accuracies(data_set.name, data_set.X, data_set.y, *method.split("/"), learner, 3, 5)
        found = [r.accuracy for r in result.records if (r.data_set, r.method, r.repeat) == (data_set.name, method, 0)]
        assert found == expected


@pytest.mark.slow
def test_results_do_not_depend_on_jobs(result, iris_and_glass):
    again = compare(
        iris_and_glass, METHODS, learner=DecisionTreeClassifier(max_depth=2), folds=3, repeats=2, seed=5, n_jobs=2
    )
    assert without_seconds(again.records) == without_seconds(result.records)
    assert again.notes == result.notes


def test_results_do_not_depend_on_what_else_is_compared(result, iris_and_glass):
    alone = compare(
        iris_and_glass[1:], METHODS[1:2], learner=DecisionTreeClassifier(max_depth=2), folds=3, repeats=2, seed=5
    )
    expected = [r for r in result.records if (r.data_set, r.method) == ("glass", METHODS[1])]
    assert without_seconds(alone.records) == without_seconds(expected)


def test_decodings_of_a_coding_share_their_columns(iris_and_glass):
    CountingClassifier.n_fits = 0
    methods = ["one-vs-one/hamming", "one-vs-rest/hamming", "one-vs-one/loss-weighted", "one-vs-rest/loss-based"]
    result = compare(iris_and_glass[:1], methods, learner=CountingClassifier(), folds=2)
    assert CountingClassifier.n_fits == 2 * (3 + 3)
    assert [record.method for record in result.records] == methods * 2
    CountingClassifier.n_fits = 0
    compare(iris_and_glass, methods[:1], learner=CountingClassifier(), folds=2)
    assert CountingClassifier.n_fits == 2 * (3 + 15)


class CountingClassifier(GaussianNB):
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingClassifier.n_fits += 1
        return super().fit(X, y, sample_weight)


def test_codes_that_grow_stand_beside_fixed_ones():
    data_sets = load_data_sets(["iris"])
    result = compare(data_sets, ["wolc", "one-vs-one/hamming", "ecoc-one/loss-based"], folds=3)
    assert result.methods == ["wolc/optimized-weight", "one-vs-one/hamming", "ecoc-one/loss-based"]
    assert result.runs("accuracy").min() > 0.8
    assert set(result.runs("n_columns")[0, 1]) == {3.0}


def test_classifiers_and_mixed_stand_beside_codes_whatever_the_learner(monkeypatch):
    monkeypatch.setattr(mixed, "mixed_learners", lambda *_, **__: [("a", GaussianNB()), ("b", LogisticRegression())])
    data_sets, methods = load_data_sets(["iris"]), ["mixed", "sklearn/svm", "one-vs-one/hamming"]
    results = [compare(data_sets, methods, learner=learner, folds=3) for learner in (GaussianNB(), DummyClassifier())]
    runs = [result.runs("accuracy")[0] for result in results]
    np.testing.assert_array_equal(runs[0][:2], runs[1][:2])
    assert runs[0][:2].min() > 0.8
    assert (runs[0][2] > runs[1][2]).all()
    assert results[0].runs("n_columns")[0, 0].min() > 3
    assert set(results[0].runs("n_columns")[0, 1]) == {0.0}
    assert results[1].notes == ["the learner, DummyClassifier(), is not that of mixed/logistic-weight, sklearn/svm"]


def test_another_seed_splits_otherwise(result, iris_and_glass):
    other = compare(
        iris_and_glass, METHODS[:1], learner=DecisionTreeClassifier(max_depth=2), folds=3, repeats=2, seed=6
    )
    assert not np.array_equal(other.runs("accuracy"), result.runs("accuracy")[:, :1])


def test_repeats_split_anew(result):
    runs = result.runs("accuracy")[1, 0]
    assert not np.array_equal(runs[:3], runs[3:])


def test_code_lengths_and_descriptions(result):
    assert set(result.runs("n_columns")[0, 0]) == {3.0}
    assert set(result.runs("n_columns")[1, 0]) == {15.0}
    assert result.data_sets[1] == {"name": "glass", "n_rows": 214, "n_features": 9, "n_classes": 6}
    assert result.methods == METHODS
    assert {name: result.settings[name] for name in ("folds", "repeats", "seed")} == {
        "folds": 3,
        "repeats": 2,
        "seed": 5,
    }


def test_a_single_row_class_fits_and_is_noted():
    result = compare([blobs({"a": 9, "b": 9, "c": 1})], METHODS, learner=GaussianNB(), folds=3)
    assert result.notes[0] == "blobs: fewer rows than the 3 folds in class c: kept, but absent from some folds"
    # The only row of class c is tested once, by models that have never seen it, and is the only error.
    correct = sum(record.accuracy * record.n_test for record in result.records if record.method == METHODS[0])
    assert correct == pytest.approx(18)


def test_stratified_splitting_warns_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare([blobs({"a": 9, "b": 9, "c": 2})], METHODS[:1], learner=GaussianNB(), folds=3)


def test_a_table_with_text_dates_and_gaps():
    y = np.repeat(["x", "y", "z"], 10)
    frame = pd.DataFrame(
        {
            "id": range(30),
            "colour": np.where(y == "x", "red", np.where(y == "y", "green", None)),
            "noise": [None, *np.random.default_rng(0).random(29)],
        }
    )
    result = compare([as_data_set("own.csv", frame, y)], ["one-vs-rest/loss-based"], folds=5)
    assert result.runs("accuracy").min() == 1.0
    assert result.notes == ["own.csv: left out: column 'id' (identifies the rows)"]


def test_a_row_counter_does_not_give_the_class_away():
    y = np.repeat(["x", "y"], 50)
    frame = pd.DataFrame({"id": range(100), "noise": np.random.default_rng(0).random(100)})
    assert compare([as_data_set("own.csv", frame, y)], ["one-vs-rest/loss-based"]).runs("accuracy").mean() < 0.7


class WarningClassifier(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        warnings.warn("too\n few rows", stacklevel=1)
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
        return super().fit(X, y, sample_weight)


def test_warnings_are_told_once_per_method_and_data_set():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare([blobs({"a": 9, "b": 9, "c": 9})], METHODS[:1], learner=WarningClassifier(), folds=3)
    assert result.notes == ["blobs: one-vs-one/hamming warned in 3 runs: too few rows"]


class RefusingClassifier(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("I take no such rows")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_method_that_refuses_the_data_is_named(n_jobs):
    with pytest.raises(InputError, match="method 'one-vs-one/hamming' on data set 'blobs': I take no such rows"):
        compare([blobs({"a": 9, "b": 9})], METHODS[:1], learner=RefusingClassifier(), n_jobs=n_jobs)


class ForgetfulClassifier(DummyClassifier):
    def predict_proba(self, X):
        raise IndexError("no such category")


def test_a_learner_that_fails_to_predict_is_named():
    with pytest.raises(InputError, match="method 'one-vs-one/hamming' on data set 'blobs': no such category"):
        compare([blobs({"a": 9, "b": 9})], METHODS[:1], learner=ForgetfulClassifier())


class BrokenClassifier(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("a defect")


def test_a_defect_stays_a_defect():
    with pytest.raises(RuntimeError, match="a defect"):
        compare([blobs({"a": 9, "b": 9})], METHODS[:1], learner=BrokenClassifier())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_sets": []}, "datasets: expected at least one"),
        ({"data_sets": [blobs({"a": 5, "b": 5}), blobs({"a": 5, "b": 5})]}, "'blobs' is the name of more than one"),
        ({"methods": []}, "methods: expected at least one"),
        ({"methods": ["x/y"]}, "methods: the coding 'x'"),
        ({"folds": 1}, "folds: expected at least 2, got 1"),
        ({"folds": 11}, "folds: 11 is more than the 10 rows of data set 'blobs'"),
        ({"repeats": 0}, "repeats: expected at least 1, got 0"),
        ({"learner": "nothing"}, "learner: 'nothing' is not known"),
    ],
)
def test_bad_arguments(changes, message):
    arguments = {"data_sets": [blobs({"a": 5, "b": 5})], "methods": METHODS[:1], **changes}
    with pytest.raises(InputError, match=message):
        compare(**arguments)


def test_progress_is_drawn_only_if_asked_for(capsys):
    arguments = {"data_sets": [blobs({"a": 5, "b": 5})], "methods": METHODS[:1], "learner": GaussianNB()}
    compare(**arguments)
    assert capsys.readouterr().err == ""
    compare(**arguments, show_progress=True)
    assert "5/5" in capsys.readouterr().err
