import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from skecoc import ECOCClassifier
from skecoc.compare import DataSet, load_data_sets
from skecoc.compare.methods import make_learner
from skecoc.compare.trials import Batch, Fold, SharedColumns, batches_of, run_batch, shares_columns, warning_notes
from skecoc.decoding import DECODERS
from tests.grids import few, grid
from tests.reference import runs as reference

IRIS, GLASS, VEHICLE = load_data_sets(["iris", "glass", "vehicle"])


def without_seconds(records):
    return [replace(record, fit_seconds=0.0, predict_seconds=0.0) for record in records]


def blobs(n_rows=30, seed=0):
    rng = np.random.default_rng(seed)
    return DataSet("blobs", rng.normal(size=(n_rows, 2)) + np.arange(n_rows)[:, None] % 3, np.arange(n_rows) % 3)


@pytest.mark.parametrize(("learner", "data_set"), few([("svm", IRIS), ("stumps", GLASS)]), ids=["svm", "stumps"])
def test_every_run_is_what_a_classifier_trained_alone_gives(learner, data_set):
    codings = ("one-vs-one", "one-vs-rest", "random-10", "decoc", "ecoc-one")
    methods = [f"{coding}/{d}" for coding in codings for d in ("hamming", "loss-weighted")] + ["wolc/optimized-weight"]
    responses = ["labels", "probabilities"] if learner == "stumps" else ["probabilities", "margins"]
    for batch in batches_of(data_set.name, 1, 2, learner, responses, methods):
        for run in run_batch(batch, data_set, make_learner(learner), n_folds=4, seed=3).runs:
            n_correct, alone = reference.run_alone(run.key, n_folds=4, seed=3)
            assert run.n_correct == n_correct, run.key
            assert run.n_columns == len(getattr(alone, "used_columns_", alone.estimators_))
            assert run.n_trained >= run.n_columns
            assert (run.n_train + run.n_test) == len(data_set.y)


@pytest.mark.parametrize(
    ("case", "decoding"),
    grid(
        [
            (DecisionTreeClassifier(max_depth=2), "labels"),
            (LogisticRegression(), "probabilities"),
            (LinearSVC(), "margins"),
            (LinearSVC(), "auto"),
        ],
        [name for name in DECODERS if shares_columns("one-vs-one", name)],
    ),
)
def test_shared_columns_decode_exactly_as_columns_of_ones_own(case, decoding):
    learner, response = case
    X_train, y_train, X_test, y_test = reference.fold_rows("glass", 0, 0, 3, 0)
    fold = Fold(X_train[:, :4], y_train, X_test[:, :4], y_test)
    batch = Batch("glass", 0, 0, "any", "one-vs-one", ((response, decoding),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # margins may suit a decoding badly
        trial = SharedColumns(batch, learner, 7, fold).decode(batch.keys[0])
        method = {**reference.RESPONSES, "auto": "auto"}[response]
        alone = ECOCClassifier(learner, coding="one-vs-one", decoding=decoding, response_method=method, random_state=7)
        alone.fit(fold.X_train, fold.y_train)
    np.testing.assert_array_equal(trial.predicted, alone.predict(fold.X_test))
    if hasattr(alone.decoder_, "weights_"):
        np.testing.assert_array_equal(trial.classifier.weights_, alone.weights_)


class CountingClassifier(DecisionTreeClassifier):
    """Counts how often any of its clones is trained, and which outputs it is evaluated for."""

    calls = []  # noqa: RUF012

    def __init__(self, max_depth=2, random_state=None):
        super().__init__(max_depth=max_depth, random_state=random_state)

    def fit(self, X, y):
        self.calls.append("fit")
        return super().fit(X, y)

    def predict(self, X):
        self.calls.append(f"labels of {len(X)}")
        return super().predict(X)

    def predict_proba(self, X):
        # A tree's labels are made of its probabilities, which is not another evaluation.
        self.calls.append(f"probabilities of {len(X)}")
        return super().predict_proba(X)


def test_columns_are_trained_once_and_evaluated_once_per_response():
    variants = tuple(
        (response, d) for response in ("labels", "probabilities") for d in ("hamming", "loss-based", "loss-weighted")
    )
    batch = Batch("iris", 0, 0, "counting", "one-vs-rest", variants)
    CountingClassifier.calls.clear()
    outcome = run_batch(batch, IRIS, CountingClassifier(), n_folds=3, seed=0)
    assert len(outcome.runs) == 6
    calls = CountingClassifier.calls
    assert calls.count("fit") == 3
    assert calls.count("labels of 50") == calls.count("probabilities of 50") == 3
    assert calls.count("probabilities of 100") == 3


@pytest.mark.parametrize("coding", ["random-10", "decoc"])
def test_a_run_does_not_depend_on_what_shares_its_columns(coding):
    variants = (("labels", "hamming"), ("probabilities", "loss-weighted"), ("labels", "loss-weighted"))
    batch = Batch("glass", 0, 1, "stumps", coding, variants)
    together = run_batch(batch, GLASS, make_learner("stumps"), 3, 0).runs
    for variant, run in zip(variants, together, strict=True):
        alone = run_batch(replace(batch, variants=(variant,)), GLASS, make_learner("stumps"), 3, 0)
        assert without_seconds(alone.runs) == without_seconds([run])


def test_the_rounds_of_wolc_lead_to_its_accuracy():
    batch = Batch("vehicle", 0, 0, "stumps", "wolc-paper", (("probabilities", "optimized-weight"),))
    outcome = run_batch(batch, VEHICLE, make_learner("stumps"), 10, 0)
    (run,), rounds = outcome.runs, outcome.rounds
    assert [record.round for record in rounds] == list(range(len(rounds)))
    assert len(rounds) > 2
    (kept,) = (record for record in rounds if record.kept)
    assert kept.test_accuracy == run.accuracy
    lengths = [record.n_columns for record in rounds]
    assert lengths == sorted(set(lengths))
    assert lengths[0] == 4
    assert lengths[-1] == run.n_trained
    assert run.n_columns <= kept.n_columns
    risks = np.array([record.risk for record in rounds])
    assert (np.diff(risks) <= 1e-3).all()


def test_seconds_count_the_shared_training_for_each_run():
    variants = (("labels", "hamming"), ("labels", "loss-weighted"))
    outcome = run_batch(Batch("glass", 0, 0, "svm", "one-vs-one", variants), GLASS, make_learner("svm"), 3, 0)
    first, second = outcome.runs
    assert min(first.fit_seconds, second.fit_seconds) > outcome.seconds / 3
    assert first.fit_seconds + second.fit_seconds > outcome.seconds
    assert first.predict_seconds > 0


class SpyingClassifier(DummyClassifier):
    """Writes down what it is trained on and how many threads there are."""

    seen = {}  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen["train"] = (X.min(axis=0), X.max(axis=0))
        self.seen["threads"] = {pool["num_threads"] for pool in threadpool_info()}
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        self.seen["test"] = X
        return super().predict(X)


def test_rows_are_imputed_and_scaled_by_the_training_part():
    X = np.linspace(0, 1, 30)[:, None]
    X[4] = np.nan
    data_set = DataSet("gap", X, np.arange(30) % 2)
    batch = Batch("gap", 0, 0, "spy", "one-vs-rest", (("labels", "hamming"),))
    for fold in range(3):
        run_batch(replace(batch, fold=fold), data_set, SpyingClassifier(), 3, 0)
        low, high = SpyingClassifier.seen["train"]
        assert (low[0], high[0]) == pytest.approx((0, 1))
        assert np.isfinite(SpyingClassifier.seen["test"]).all()


def test_linear_algebra_has_one_thread():
    batch = Batch("blobs", 0, 0, "spy", "one-vs-rest", (("labels", "hamming"),))
    with threadpool_limits(2):
        before = {pool["num_threads"] for pool in threadpool_info()}
        run_batch(batch, blobs(), SpyingClassifier(), 3, 0)
        assert SpyingClassifier.seen["threads"] == {1}
        assert {pool["num_threads"] for pool in threadpool_info()} == before


class WarningClassifier(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        warnings.warn("too\n few rows", stacklevel=1)
        return super().fit(X, y, sample_weight)


def test_a_warning_of_shared_columns_is_one_of_every_run():
    variants = (("probabilities", "hamming"), ("probabilities", "loss-weighted"))
    batch = Batch("blobs", 0, 0, "any", "one-vs-rest", variants)
    outcome = run_batch(batch, blobs(), WarningClassifier(), 3, 0)
    assert outcome.warnings == [(key, "too few rows") for key in batch.keys]


def test_warnings_are_noted_once_with_the_number_of_their_runs():
    batch = Batch("iris", 0, 0, "any", "one-vs-one", (("auto", "hamming"), ("auto", "loss-based")))
    first, second = batch.keys
    warned = [(first, "few rows"), (first._replace(fold=1), "few rows"), (second, "slow")]
    assert warning_notes(warned) == [
        "iris: one-vs-one/hamming warned in 2 runs: few rows",
        "iris: one-vs-one/loss-based warned in 1 run: slow",
    ]
