"""Several learners, and any learner, for rows in blocks: stumps see all rows, others a sample of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.data import Blocks
from skecoc.data.bins import SAMPLE_ROWS_OF_CLASS
from skecoc.data.blocks import IterableBlocks
from skecoc.data.executor import LocalExecutor, States
from skecoc.data.folds import assign_folds, sample_keys
from skecoc.data.samples import prepare_rows, sample_rows
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import Column, ColumnTrainer
from skecoc.learners.summed import SummedTrainer
from skecoc.persistence import load_model, save_model
from tests.grids import few
from tests.reference.blocks import blobs, divided, ecoc_in_blocks, wolc_in_blocks
from tests.reference.training import Seeded

STUMPS = StumpAdaBoostClassifier(10)
BAYES = [("stumps", STUMPS), ("bayes", GaussianNB())]
THREE = [
    ("stumps", STUMPS),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("trees", MulticlassLearner(ExtraTreesClassifier(10))),
]
PAIRS = [(ECOCClassifier, ecoc_in_blocks), (WOLCClassifier, wolc_in_blocks)]


def prepared(executor, X, y, weight=None, n_folds=None, has_several=False, sample_rows=100):
    blocks = States(IterableBlocks(divided(X, y, [len(y) // 3, len(y) // 2], weight)))
    return prepare_rows(executor, blocks, 5, 256, n_folds, has_several=has_several, sample_rows=sample_rows)


def check_same(model, expected, X):
    assert type(model) is type(expected)
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert model.column_learners_.tolist() == expected.column_learners_.tolist()
    assert (model.predict(X) == expected.predict(X)).mean() >= 0.995


@pytest.mark.parametrize(("local", "block"), PAIRS)
@pytest.mark.parametrize("name", few(["glass", "wine"]))
def test_rows_that_fit_the_sample_give_the_classifier_of_rows_in_memory(local, block, name):
    X, y = load_uci(name, return_X_y=True)
    settings = {"random_state": 0, **({"max_iter": 2} if local is WOLCClassifier else {})}
    expected = local(THREE, **settings).fit(X[::2], y[::2])
    model = block(THREE, **settings, block_size=100).fit(X[::2], y[::2])
    check_same(model, expected, X)
    assert model.training_samples_ == dict.fromkeys(["stumps", "logistic", "trees"], len(y[::2]))


def test_mixed_is_that_of_rows_in_memory():
    X, y = load_uci("iris", return_X_y=True)
    model = wolc_in_blocks("mixed", max_iter=0, random_state=0).fit(X[::2], y[::2])
    check_same(model, WOLCClassifier("mixed", max_iter=0, random_state=0).fit(X[::2], y[::2]), X)
    assert [*model.training_samples_] == ["stumps", "logistic", "svm", "svm_sharp", "trees", "boosting"]


@pytest.mark.parametrize(("local", "block"), PAIRS)
@pytest.mark.parametrize("learner", [LogisticRegression(), KNeighborsClassifier(), LinearSVC()], ids=repr)
def test_any_single_learner_is_that_of_rows_in_memory(local, block, learner):
    X, y = blobs(200)
    X, y = np.vstack([X, X[:40]]), np.append(y, y[:40])  # some rows are given twice
    settings = {"response_method": "predict", "random_state": 0, **({"max_iter": 1} if local is WOLCClassifier else {})}
    expected = local(learner, **settings).fit(X, y)
    model = block(learner, **settings).fit_blocks(divided(X, y, [5, 90]))
    check_same(model, expected, X)
    assert model.training_samples_ == {type(learner).__name__: 240}


def test_weights_that_are_given_reach_the_learners_and_the_decoding():
    X, y = blobs(240)
    weight = np.random.default_rng(0).integers(0, 3, 240) / 2
    expected = ECOCClassifier(BAYES, random_state=0).fit(X, y, weight)
    model = ecoc_in_blocks(BAYES, random_state=0).fit_blocks(divided(X, y, [5, 90], weight))
    check_same(model, expected, X)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize(("n_rows", "n_folds"), [(600, "auto"), (600, 3), (6000, "auto")])
def test_stumps_from_sums_are_those_of_all_rows_also_out_of_fold(n_rows, n_folds):
    X, y = blobs(n_rows, decimals=0)
    is_single = n_rows > 5000
    folds = assign_folds(X, y, 5 if n_folds == "auto" and not is_single else 3, 5, is_single=is_single)
    folds = np.minimum(folds, 0) if is_single else folds
    columns = [Column(np.array(pattern, np.int8)) for pattern in ([1, -1, 0, 0], [1, -1, -1, -1], [0, 1, 1, -1])]
    if not is_single:
        columns.append(Column(columns[0].pattern, n_regions=3))
    expected = ColumnTrainer(STUMPS, X, y, 5, "predict_proba", folds=folds, clustered_learner=RegionClassifier(STUMPS))
    with LocalExecutor() as executor:
        rows = prepared(executor, X, y, n_folds=n_folds, has_several=True)
        keys, _, sampled, *_ = rows.summary.sample
        classes = rows.sample_classes()
        held_out = rows.layout.folds.assign(keys, classes)
        held_out = np.minimum(held_out, 0) if is_single else held_out
        trainer = SummedTrainer(STUMPS, sampled, classes, 5, "predict_proba", folds=held_out, rows=rows)
        learners, outputs = Seeded(trainer).train_held_out(columns)
        np.testing.assert_allclose(Seeded(trainer).train_held_out(columns[:1], tried=True)[1], outputs[:, :1])
    of_all, all_outputs = Seeded(expected).train_held_out(columns)
    for learner, other in zip(learners[:3], of_all[:3], strict=True):
        np.testing.assert_array_equal(learner.features_, other.features_)
        np.testing.assert_allclose(learner.thresholds_, other.thresholds_)
    by_row = {
        (*row, label): output for row, label, output in zip(X[folds >= 0], y[folds >= 0], all_outputs, strict=True)
    }
    keep = held_out >= 0
    same = [by_row[(*row, label)] for row, label in zip(sampled[keep], classes[keep], strict=True)]
    np.testing.assert_allclose(outputs, same, atol=1e-6)


def test_stumps_see_all_rows_and_other_learners_the_sample():
    X, y = blobs(3000, decimals=0)
    model = ecoc_in_blocks(BAYES, coding="one-vs-rest", random_state=0, sample_size=400).fit(X, y)
    of_all = ECOCClassifier(STUMPS, coding="one-vs-rest", random_state=0).fit(X, y)
    for learner, other in zip(model.estimators_[:4], of_all.estimators_, strict=True):
        np.testing.assert_allclose(learner.thresholds_, other.thresholds_)
    with LocalExecutor() as executor:
        root = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
        blocks = States(IterableBlocks(divided(X, y, [50])))
        sampled = sample_rows(prepare_rows(executor, blocks, root, 256, None), 400)
    for pattern, learner in zip(model.code_matrix_.T[4:], model.estimators_[4:], strict=True):
        expected = GaussianNB().fit(sampled.X, (pattern[sampled.y] > 0).astype(int), sampled.weight)
        np.testing.assert_allclose(learner.theta_, expected.theta_)
        np.testing.assert_allclose(learner.class_prior_, expected.class_prior_)
    assert model.training_samples_ == {"stumps": 3000, "bayes": len(sampled.y)}
    assert 400 <= len(sampled.y) <= 400 + 4 * SAMPLE_ROWS_OF_CLASS


@pytest.mark.parametrize("block", [ecoc_in_blocks, wolc_in_blocks])
def test_the_division_into_blocks_changes_nothing(block):
    X, y = blobs(6000)
    order = np.argsort(y, kind="stable")  # blocks that lack classes
    settings = {"estimator": BAYES, "sample_size": 500, "random_state": 0}
    if block is wolc_in_blocks:
        settings["max_iter"] = 1
    first = block(**settings).fit(X, y)
    second = block(**settings, block_size=700, n_jobs=2).fit(X[order], y[order])
    assert np.array_equal(first.code_matrix_, second.code_matrix_)
    assert np.array_equal(first.decision_function(X), second.decision_function(X))
    assert first.training_samples_["stumps"] == 6000


def test_a_rare_class_is_in_the_sample_and_has_the_share_of_all_rows():
    X, y = blobs(20_000)
    y[:40] = 4
    weight = np.where(y == 1, 2.0, 1.0)
    with LocalExecutor() as executor:
        sampled = sample_rows(prepared(executor, X, y, weight), 500)
    counts = np.bincount(sampled.y)
    assert counts[4] == 40
    assert len(sampled.y) <= 500 + 5 * SAMPLE_ROWS_OF_CLASS
    shares = np.bincount(sampled.y, sampled.weight) / sampled.weight.sum()
    np.testing.assert_allclose(shares, np.bincount(y, weight) / weight.sum())
    model = wolc_in_blocks(BAYES, sample_size=500, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model._prior, shares)


def test_a_larger_sample_than_the_default_is_drawn():
    X, y = blobs(40_000, n_features=2)
    model = ecoc_in_blocks(GaussianNB(), sample_size=35_000).fit(X, y)
    assert model.training_samples_ == {"GaussianNB": 35_000}
    assert ecoc_in_blocks(GaussianNB(), sample_size=40_000).fit(X, y).training_samples_ == {"GaussianNB": 40_000}
    assert ecoc_in_blocks(GaussianNB()).fit(X, y).training_samples_ == {"GaussianNB": 32_768}


def test_learners_without_weights_are_trained_on_a_sample_unless_weights_are_given():
    X, y = blobs(2000)
    learners = [("stumps", STUMPS), ("near", KNeighborsClassifier())]
    model = wolc_in_blocks(learners, sample_size=500, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.82
    for sample_size in (500, 5000):
        with pytest.raises(ValueError, match="'near' in estimator, KNeighborsClassifier, does not take it"):
            clone(model).fit(Blocks(X, y, sample_weight=np.ones(2000), sample_size=sample_size))


def test_weights_of_a_sample_need_no_metadata_routing():
    X, y = blobs(1000)
    learners = [("stumps", STUMPS), ("logistic", make_pipeline(StandardScaler(), LogisticRegression()))]
    expected = ecoc_in_blocks(learners, sample_size=300, random_state=0).fit(X, y)
    with config_context(enable_metadata_routing=True):
        model = ecoc_in_blocks(learners, sample_size=300, random_state=0).fit(X, y)
    assert np.array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("sample_size", [200, 5000])
def test_frames_keep_their_names_and_models_can_be_saved(sample_size, tmp_path):
    X, y = blobs(900)
    frame, labels = pd.DataFrame(X, columns=list("abcde")), np.array(["ash", "beech", "oak", "yew"])[y]
    model = wolc_in_blocks(THREE, sample_size=sample_size, max_iter=1, random_state=0).fit(frame, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = model.predict(frame)
    assert (predicted == labels).mean() > 0.85
    save_model(model, tmp_path / "model.skecoc")
    assert np.array_equal(load_model(tmp_path / "model.skecoc").predict(frame), predicted)


def test_parameters_of_learners_have_their_names():
    model = ecoc_in_blocks([("stumps", STUMPS), ("logistic", LogisticRegression())])
    model.set_params(logistic__C=0.5, stumps="drop")
    X, y = blobs(200)
    assert clone(model).fit(X, y).training_samples_ == {"logistic": 200}
    assert model.get_params()["logistic__C"] == 0.5


@pytest.mark.parametrize("kind", [LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier])
@pytest.mark.parametrize("max_bins", ["auto", 16])
def test_other_methods_are_fitted_to_the_sample(kind, max_bins):
    X, y = blobs(900)
    model = kind(STUMPS, random_state=0).fit(Blocks(X, y, block_size=250, max_bins=max_bins))
    assert model.training_samples_ == {"StumpAdaBoostClassifier": 900}
    assert model.score(X, y) > 0.7
    if max_bins == "auto":
        order = np.argsort(sample_keys(X, int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))), kind="stable")
        expected = kind(STUMPS, random_state=0).fit(X[order], y[order])
        assert np.array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearRegression(), r"estimator must be a classifier.*got LinearRegression\(\)"),
        (GaussianNB, "estimator must be a classifier.*got <class 'sklearn.naive_bayes.GaussianNB'>"),
        (StandardScaler(), "estimator must be a classifier.*StandardScaler"),
        ("all", "estimator must be a classifier, a list .* or 'mixed', got 'all'"),
        ([("scale", object())], "'scale' in estimator must be a classifier"),
        (
            [("line", LinearRegression())],
            r"'line' in estimator must be a classifier or 'drop', got LinearRegression\(\)",
        ),
        ([("coding", GaussianNB())], "names in estimator must not be those of parameters, got coding"),
        ([], "estimator must be"),
    ],
)
def test_what_cannot_be_trained_is_refused_by_name(estimator, message):
    X, y = blobs(60)
    with pytest.raises(ValueError, match=message):
        ecoc_in_blocks(estimator).fit(X, y)


def test_a_number_of_bins_that_is_given_counts_for_stumps_among_several_learners():
    X, y = blobs(400, n_features=3)
    model = ecoc_in_blocks(BAYES, max_bins=4, random_state=0, block_size=150).fit(X, y)
    assert model.training_samples_ == {"stumps": 400, "bayes": 400}
    stumps = [e for e, name in zip(model.estimators_, model.column_learners_, strict=True) if name == "stumps"]
    features, thresholds = (np.concatenate([getattr(e, name) for e in stumps]) for name in ("features_", "thresholds_"))
    assert all(1 <= len(set(thresholds[features == f])) <= 3 for f in range(3))


def test_a_larger_sample_changes_no_bins(monkeypatch):
    monkeypatch.setattr("skecoc.data.samples.SAMPLE_ROWS", 200)
    monkeypatch.setattr("skecoc.data.blocks.SAMPLE_ROWS", 200)
    X, y = blobs(3000, n_features=2)
    with LocalExecutor() as executor:
        small, large = (prepared(executor, X, y, sample_rows=size) for size in (100, 900))
        assert len(large.summary.sample.y) > 800 > 500 > len(small.summary.sample.y)
        assert np.array_equal(small.bins.edges, large.bins.edges)
        assert np.array_equal(small.sample.X, large.sample.X)
        assert np.array_equal(small.sample_classes(), large.sample_classes())
