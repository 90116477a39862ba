import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.classifiers import wolc
from skecoc.classifiers.growth import GrowingCode
from skecoc.classifiers.weighting import WeightStrategy, fit_weights
from skecoc.coding import one_vs_rest
from skecoc.data import Blocks
from skecoc.data.blocks import IterableBlocks
from skecoc.data.executor import LocalExecutor, States
from skecoc.data.folds import assign_folds
from skecoc.data.samples import ArraySamples, prepare_rows
from skecoc.datasets import list_uci, load_uci
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.learners.columns import SEEN, ColumnTrainer
from skecoc.learners.summed import SummedTrainer
from skecoc.persistence import load_model, save_model
from tests.grids import few, grid, nightly
from tests.reference.blocks import blobs, divided, ecoc_in_blocks, wolc_in_blocks

STUMPS = StumpAdaBoostClassifier(10)
FEW_SETS = ["balance", "glass", "vehicle"]


@pytest.mark.parametrize("name", ["iris", "vehicle", "dermatology"])
@pytest.mark.parametrize("coding", ["one-vs-one", "one-vs-rest", "dense-random"])
def test_exact_codes_give_the_classifier_of_rows_in_memory(name, coding):
    X, y = load_uci(name, return_X_y=True)
    X = np.nan_to_num(X)
    expected = ECOCClassifier(STUMPS, coding=coding, random_state=0).fit(X, y)
    model = ecoc_in_blocks(STUMPS, coding=coding, max_bins=1000, block_size=80, random_state=0).fit(X, y)
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert np.array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("response", ["predict_proba", "decision_function", "predict"])
@pytest.mark.parametrize("decoding", ["loss-weighted", "hamming", "optimized-weight", "probabilistic"])
def test_every_response_and_decoding_agrees_with_rows_in_memory(response, decoding):
    X, y = blobs(300, decimals=0)
    weight = np.random.default_rng(0).integers(0, 3, 300) / 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ECOCClassifier(STUMPS, coding="one-vs-rest", decoding=decoding, response_method=response).fit(
            X, y, weight
        )
        model = ecoc_in_blocks(STUMPS, coding="one-vs-rest", decoding=decoding, response_method=response)
        model.fit_blocks(divided(X, y, [10, 200], weight))
    # Weights are solved to a gap of 1e-4; the scale of Platt's sigmoid is fitted to rows that were put together.
    agreement = (model.predict(X) == expected.predict(X)).mean()
    assert agreement == 1.0 if decoding in ("loss-weighted", "hamming") else agreement > 0.97


@pytest.mark.parametrize("decoding", ["loss-weighted", "optimized-weight"])
def test_the_division_into_blocks_changes_no_prediction(decoding, tmp_path):
    X, y = blobs(3000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    order = np.argsort(y, kind="stable")  # blocks that lack classes
    models = [
        ecoc_in_blocks(STUMPS, decoding=decoding, random_state=0).fit(X, y),
        ecoc_in_blocks(STUMPS, decoding=decoding, random_state=0, block_size=1000, n_jobs=2).fit(mapped, y),
        ecoc_in_blocks(STUMPS, decoding=decoding, random_state=0).fit_blocks(divided(X, y, [1, 1, 2000])),
        ecoc_in_blocks(STUMPS, decoding=decoding, random_state=0, block_size=900).fit(X[order], y[order]),
    ]
    scores = models[0].decision_function(X)
    for model in models[1:]:
        if decoding == "loss-weighted":
            assert np.array_equal(model.decision_function(X), scores)
        else:
            np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-7)
            assert np.array_equal(model.predict(X), models[0].predict(X))


@pytest.fixture(scope="module")
def grown():
    X, y = blobs(6000)
    return X, y, wolc_in_blocks(STUMPS, random_state=0, max_iter=4).fit(X, y)


def test_wolc_grows_by_clustered_columns_and_gains_by_it(grown):
    model = grown[2]
    X_test, y_test = blobs(3000, seed=1)
    assert set(model.column_kinds_) == {"initial", "clustered"}
    first = next(model.staged_score(X_test, y_test))
    assert model.score(X_test, y_test) > first + 0.02
    assert list(model.staged_score(X_test, y_test))[model.best_round_] == model.score(X_test, y_test)


def test_wolc_is_as_accurate_as_on_rows_in_memory(grown):
    X, y, model = grown
    X_test, y_test = blobs(3000, seed=1)
    memory = WOLCClassifier(STUMPS, random_state=0, max_iter=4).fit(X, y)
    assert model.score(X_test, y_test) > memory.score(X_test, y_test) - 0.01


@pytest.mark.parametrize("edges", few([[1, 2, 2, 4000], [3000]]))
def test_the_division_into_blocks_does_not_change_how_wolc_grows(grown, edges):
    X, y, model = grown
    other = wolc_in_blocks(STUMPS, random_state=0, max_iter=4).fit_blocks(divided(X, y, edges))
    assert np.array_equal(other.code_matrix_, model.code_matrix_)
    assert np.array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.weights_, model.weights_, atol=1e-8)


@pytest.mark.parametrize("name", ["glass", "vehicle", "ecoli"])
def test_blocks_grow_the_code_of_samples_in_memory(name):
    X, y = load_uci(name, return_X_y=True)
    rules = {"max_iter": 3, "random_state": 0}
    memory = WOLCClassifier(STUMPS, **rules).fit(X[::2], y[::2])
    blocks = wolc_in_blocks(STUMPS, block_size=200, max_bins=5_000, **rules).fit(X[::2], y[::2])
    assert np.array_equal(blocks.code_matrix_, memory.code_matrix_)
    assert_same_fit(blocks, memory, X)


def assert_same_fit(model, expected, X):
    """The same code, and the same rounds and decision values but for the order of sums."""
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert model.best_round_ == expected.best_round_
    losses = [record.loss for record in expected.history_]
    assert [record.loss for record in model.history_] == pytest.approx(losses, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-5)
    assert (model.predict(X) == expected.predict(X)).mean() > 0.998


@pytest.fixture
def binned(monkeypatch):
    """Samples in memory are binned as if there were many."""
    monkeypatch.setattr("skecoc.learners.columns.MANY_TO_BIN", 0)


@pytest.mark.parametrize(
    ("response", "n_folds"), grid(["predict_proba", "decision_function", "predict"], ["auto", None])
)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_samples_in_blocks_are_fitted_as_in_memory(response, n_folds, weighted, binned):
    X, y = blobs(600)
    X[::7] = X[1::7][: len(X[::7])]  # some twice, also with another class
    weight = np.random.default_rng(0).integers(1, 5, 600) / 4 if weighted else None
    parameters = {"max_iter": 2, "random_state": 3, "n_folds": n_folds, "response_method": response}
    expected = WOLCClassifier(STUMPS, **parameters).fit(X, y, sample_weight=weight)
    model = wolc_in_blocks(STUMPS, **parameters).fit_blocks(divided(X, y, [1, 250], weight))
    assert "clustered" in expected.column_kinds_ or expected.n_iter_ == 1
    assert_same_fit(model, expected, X)


@settings(max_examples=6, deadline=None)
@given(edges=st.lists(st.integers(0, 200), max_size=4), seed=st.integers(0, 99))
def test_any_division_of_many_samples_is_fitted_as_in_memory(edges, seed):
    X, y = blobs(200, n_classes=3)
    parameters = {"init": "one-vs-rest", "max_iter": 1, "random_state": seed}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skecoc.learners.columns.MANY_TO_BIN", 0)
        expected = WOLCClassifier(StumpAdaBoostClassifier(4), **parameters).fit(X, y)
    model = wolc_in_blocks(StumpAdaBoostClassifier(4), **parameters).fit_blocks(divided(X, y, sorted(edges)))
    assert_same_fit(model, expected, X)


@pytest.mark.parametrize("weighted", [False, True])
def test_few_samples_in_blocks_are_put_together_and_fitted_as_in_memory(weighted, monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.base.MANY_TO_BIN", 10_000)
    monkeypatch.setattr("skecoc.classifiers.ecoc.MANY_TO_BIN", 10_000)
    X, y = load_uci("vehicle", return_X_y=True)
    X[::7] = X[1::7][: len(X[::7])]
    weight = np.where(np.arange(len(y)) % 3, 1.0, 0.5) if weighted else None
    expected = WOLCClassifier(STUMPS, max_iter=3, random_state=0).fit(X, y, sample_weight=weight)
    model = wolc_in_blocks(STUMPS, max_iter=3, random_state=0).fit_blocks(divided(X, y, [1, 400], weight))
    assert_same_fit(model, expected, X)


def test_equal_rows_with_weights_count_as_often_as_they_are_given(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.base.MANY_TO_BIN", 10_000)
    monkeypatch.setattr("skecoc.classifiers.ecoc.MANY_TO_BIN", 10_000)
    X, y = blobs(3000, n_features=3)
    X, y = np.vstack([X, X[:2200]]), np.append(y, y[:2200])  # with more than 5,000 samples, one fold is held out
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    learner = StumpAdaBoostClassifier(3)
    shared = weight.copy()
    shared[:2200] = shared[3000:] = (weight[:2200] + weight[3000:]) / 2
    expected = WOLCClassifier(learner, max_iter=1, random_state=0).fit(X, y, sample_weight=shared)
    model = wolc_in_blocks(learner, max_iter=1, random_state=0).fit_blocks(divided(X, y, [1, 3000], weight))
    assert_same_fit(model, expected, X)


DECODINGS = ["loss-weighted", "probabilistic", "logistic-weight", "loss-based", "hamming", "optimized-weight"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decoding", [*DECODINGS, None])
def test_probabilities_are_those_of_samples_in_memory(decoding, weighted, binned):
    X, y = blobs(5500 if decoding is None else 1200, n_features=3, decimals=1)
    X[::6] = X[1::6][: len(X[::6])]
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(y)) if weighted else None
    settings = {"estimator": StumpAdaBoostClassifier(4), "random_state": 0}
    local, block = (WOLCClassifier, wolc_in_blocks) if decoding is None else (ECOCClassifier, ecoc_in_blocks)
    settings |= {"max_iter": 0} if decoding is None else {"decoding": decoding}
    expected = local(**settings).fit(X, y, sample_weight=weight)
    model = block(**settings).fit_blocks(divided(X, y, [100, 700], weight))
    atol = 0.01 if decoding == "optimized-weight" else 1e-6  # of its solver
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=atol)
    assert model.training_samples_ == {"StumpAdaBoostClassifier": len(y)}


def test_logistic_weights_of_more_rows_than_the_sample_see_held_out_codewords(binned, monkeypatch):
    X, y = blobs(900, n_features=12)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.4, rng.integers(4, size=900), y)  # noise, which stumps learn by heart
    settings = {"estimator": StumpAdaBoostClassifier(60), "decoding": "logistic-weight", "random_state": 0}
    expected = ECOCClassifier(**settings).fit(X, y)
    monkeypatch.setattr("skecoc.classifiers.base.SAMPLE_ROWS", 450)
    model = ecoc_in_blocks(**settings, block_size=299).fit(X, y)
    assert model.training_samples_ == {"StumpAdaBoostClassifier": 900}
    for learner, other in zip(model.estimators_, expected.estimators_, strict=True):
        assert np.array_equal(learner.thresholds_, other.thresholds_)
    assert np.abs(model.predict_proba(X) - expected.predict_proba(X)).mean() < 0.04


def test_one_vs_one_of_many_classes_is_taken_as_it_is_from_blocks_too(binned, monkeypatch):
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 3)
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 1e3)
    X, y = blobs(300)
    expected = WOLCClassifier(STUMPS, random_state=0).fit(X, y)
    model = wolc_in_blocks(STUMPS, random_state=0, block_size=100).fit(X, y)
    assert model.stop_reason_ == expected.stop_reason_
    assert model.code_matrix_.shape == (4, 6)
    assert np.array_equal(model.decision_function(X), expected.decision_function(X))


def test_weights_of_codewords_that_stay_where_they_are_differ_by_rounding_alone(binned, monkeypatch):
    X, y = blobs(900)
    decoder = OptimizedWeightDecoder(0.1, l2=0.01, tol=1e-3)
    parameters = {"max_iter": 1, "random_state": 0, "decoding": decoder}
    together = WOLCClassifier(STUMPS, **parameters).fit(X, y)
    monkeypatch.setattr("skecoc.classifiers.weighting._MOST_OUTPUTS", 0)
    expected = WOLCClassifier(STUMPS, **parameters).fit(X, y)
    model = wolc_in_blocks(STUMPS, block_size=200, **parameters).fit(X, y)
    np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-9)
    assert np.array_equal(model.predict(X), expected.predict(X))
    assert (together.predict(X) == expected.predict(X)).mean() > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("is_summed", [False, True])
@pytest.mark.parametrize("name", [*FEW_SETS, *nightly(sorted({*list_uci()} - {*FEW_SETS}))])
def test_blocks_of_the_sets_of_the_paper_are_fitted_as_in_memory(name, is_summed, binned, monkeypatch):
    X, y = load_uci(name, return_X_y=True)
    X = np.nan_to_num(X)
    if not is_summed:
        monkeypatch.setattr("skecoc.classifiers.base.MANY_TO_BIN", 10_000)
        monkeypatch.setattr("skecoc.classifiers.ecoc.MANY_TO_BIN", 10_000)
        monkeypatch.setattr("skecoc.learners.columns.MANY_TO_BIN", 10_000)
    parameters = {"max_iter": 2 if is_summed else None, "random_state": 1}
    expected = WOLCClassifier(**parameters).fit(X[::2], y[::2])
    model = wolc_in_blocks(block_size=len(y) // 5, **parameters).fit(X[::2], y[::2])
    assert_same_fit(model, expected, X[1::2])


@pytest.mark.parametrize("response", ["decision_function", "predict"])
def test_wolc_takes_every_response(response):
    X, y = blobs(1500)
    model = wolc_in_blocks(STUMPS, response_method=response, random_state=0, max_iter=2, block_size=700)
    weight = np.full(len(y), 0.5)
    assert model.fit(X, y, weight).score(X, y) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_the_local_model_is_an_ordinary_one(grown):
    X, _, model = grown
    local = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert type(local) is WOLCClassifier
    assert np.array_equal(local.predict(X), model.predict(X))
    assert local.get_params()["n_regions"] == model.n_regions


def test_the_local_model_can_be_saved_without_pickle(grown, tmp_path):
    pytest.importorskip("skops")
    X, _, model = grown
    save_model(model, tmp_path / "model.skops")
    assert np.array_equal(load_model(tmp_path / "model.skops").predict(X), model.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_folds", [None, 3])
def test_losses_and_optimised_weights_are_those_of_samples_in_memory(weighted, n_folds, monkeypatch):
    X, y = blobs(1500, decimals=1)
    weight = np.random.default_rng(0).integers(1, 4, 1500) / 3 if weighted else np.ones(1500)
    folds = None if n_folds is None else assign_folds(X, y, n_folds, seed=7)
    params = {"sample_weight": weight}
    trainer = ColumnTrainer(STUMPS, X, y, 7, "predict_proba", fit_params=params, folds=folds)
    with LocalExecutor() as executor:
        rows = prepare_rows(executor, States(IterableBlocks(divided(X, y, [5, 900], weight))), 7, 256, n_folds)
        found = []
        in_memory = ArraySamples(y, weight, 4, folds, only_held_out=True)
        summed = SummedTrainer(STUMPS, None, None, 7, "predict_proba", clustered_learner=STUMPS, rows=rows)
        for samples, of_samples in ((in_memory, trainer), (rows, summed)):
            code = GrowingCode(samples, of_samples)
            code.start([one_vs_rest(4)])
            seen = of_samples.outputs(code.columns, SEEN)
            n_seen = len(seen) if of_samples is trainer else executor.sum(len, seen)
            assert n_seen == len(y)  # whatever folds hold out
            solver = OptimizedWeightDecoder(0.3, l2=0.1, tol=1e-7)
            strategy = WeightStrategy(decoder=solver, n_pairs=3, n_regions=[3])
            evaluation = strategy.evaluate(code)
            nested = fit_weights(code, clone(solver), 4, without_fold=1 if n_folds else None)
            found.append((evaluation, nested))
    (memory, nested), (blocks, other_nested) = found
    np.testing.assert_allclose(blocks.decoder.weights_, memory.decoder.weights_, atol=1e-3)
    np.testing.assert_allclose(other_nested.weights_, nested.weights_, atol=1e-3)
    # At the optimum some samples have two worst rivals: which of them counts is a matter of rounding.
    np.testing.assert_allclose(blocks.pair_losses.sum(axis=1), memory.pair_losses.sum(axis=1), rtol=1e-3)
    assert blocks.loss == pytest.approx(memory.loss, rel=1e-5)
    assert blocks.out_of_fold_accuracy == pytest.approx(memory.out_of_fold_accuracy, abs=2e-3)


def test_frames_keep_names():
    pd = pytest.importorskip("pandas")
    X, y = blobs(300)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ecoc_in_blocks(STUMPS, block_size=100, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(frame, y) > 0.5


@pytest.mark.parametrize("model", [ecoc_in_blocks(STUMPS), wolc_in_blocks(STUMPS, max_iter=2)])
@pytest.mark.parametrize("largest", [3.0, 0.7])
def test_blocks_without_weights_have_weights_of_one_beside_others(model, largest):
    X, y = blobs(800)
    weight = np.random.default_rng(0).uniform(0.1, largest, 400)
    parts = [(X[:400], y[:400]), (X[400:], y[400:], weight)]
    model.set_params(random_state=0)
    found = clone(model).fit_blocks(parts)
    expected = clone(model).fit_blocks([(*parts[0], np.ones(400)), parts[1]])
    assert np.array_equal(found.decision_function(X), expected.decision_function(X))


class _Passes:
    """Blocks that differ from pass to pass."""

    def __init__(self, *passes):
        self._passes = list(passes)

    def __iter__(self):
        return iter(self._passes.pop(0))


@pytest.mark.parametrize("model", [ecoc_in_blocks(STUMPS), wolc_in_blocks(STUMPS)])
@pytest.mark.parametrize("n_blocks", [0, 1])
def test_blocks_that_are_used_up_are_refused(model, n_blocks):
    blocks = divided(*blobs(200), [100])
    with pytest.raises(ValueError, match=f"they must be the same every time.* got {100 * n_blocks} rows after 200"):
        clone(model).fit_blocks(_Passes([], blocks, blocks[:n_blocks]))  # the first is not read


def test_a_class_of_equal_rows_is_never_held_out():
    X, y = blobs(300)
    X[y == 0] = 9.0
    assert wolc_in_blocks(STUMPS, max_iter=1, random_state=0).fit(X, y).score(X, y) > 0.5


@pytest.mark.slow
class InBlocks:
    """Fit a classifier to blocks of the arrays that it is given."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X if y is None else Blocks(X, y, sample_weight=sample_weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = False  # refused by name, see below
        return tags


class ECOCInBlocks(InBlocks, ECOCClassifier):
    pass


class WOLCInBlocks(InBlocks, WOLCClassifier):
    pass


NO_MISSING = {"check_estimators_nan_inf": "fit refuses missing values, stumps predict them"}


@parametrize_with_checks([WOLCInBlocks(max_iter=2)], expected_failed_checks=lambda _: NO_MISSING)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks([ECOCInBlocks()], expected_failed_checks=lambda _: NO_MISSING)
def test_estimator_checks_of_codes_that_do_not_grow(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: ecoc_in_blocks().fit(X, np.zeros(len(y))), "at least 2 classes"),
        (lambda X, y: ecoc_in_blocks().fit_blocks([]), "at least one row"),
        (lambda X, y: ecoc_in_blocks().fit(X, y, np.zeros(len(y))), "weights are zero"),
        (lambda X, y: ecoc_in_blocks().fit(X, None), "y must be given"),
        (lambda X, y: ecoc_in_blocks().fit(X, np.where(y == 0, None, y)), "some are missing"),
        (lambda X, y: ecoc_in_blocks().fit(X, X[:, 0]), "Unknown label type: "),
        (lambda X, y: ecoc_in_blocks(max_bins=1).fit(X, y), "max_bins"),
        (lambda X, y: ecoc_in_blocks(sample_size=0).fit(X, y), "sample_size"),
        (lambda X, y: wolc_in_blocks(n_folds=1).fit(X, y), "n_folds"),
        (
            lambda X, y: wolc_in_blocks(max_columns=1).fit(X, y),
            "max_columns must leave .* 2 columns .* got 1",
        ),
        (
            lambda X, y: ecoc_in_blocks(coding="ovo", max_columns=2).fit(X, y),
            "has 6 columns, and max_columns=2 of",
        ),
        (lambda X, y: wolc_in_blocks(n_regions=[3, 256]).fit(X, y), "n_regions must be at most 255"),
        (
            lambda X, y: ecoc_in_blocks(decoding=OptimizedWeightDecoder(l2=0.0)).fit(X, y),
            "l2 must be positive",
        ),
    ],
)
def test_bad_arguments_are_named(make, message):
    X, y = blobs(200)
    with pytest.raises(ValueError, match=message):
        make(X, y)


def test_learners_and_preparation_refuse_described_data_by_name():
    described = Blocks(np.arange(12.0).reshape(6, 2), np.arange(6) % 2)
    with pytest.raises(ValueError, match="Blocks cannot become an array: only the fit of skecoc's classifiers"):
        make_pipeline(StandardScaler(), ECOCClassifier()).fit(described, np.arange(6) % 2)
    for learner in (StumpAdaBoostClassifier(), MulticlassLearner(GaussianNB())):
        with pytest.raises(ValueError, match=f"X must be in memory, got Blocks: .*{type(learner).__name__} takes no"):
            learner.fit(described)


def test_an_order_of_another_code_is_refused_before_rows_are_read():
    class Unread:
        def __iter__(self):
            return map(pytest.fail, ["rows were read"])

    with pytest.raises(ValueError, match='class_order needs coding="ordinal"'):
        ECOCClassifier(class_order=[0, 1]).fit(Blocks(Unread()))


def test_a_number_of_folds_calibrates_out_of_fold_on_blocks_as_in_memory():
    X, y = blobs(400)
    few_bins = Blocks(X, y, block_size=150, max_bins=20)  # boosts sums, however few rows
    found = {n: ECOCClassifier(STUMPS, decoding="hamming", n_folds=n).fit(few_bins) for n in ("auto", 3)}
    assert found["auto"].calibration_ is None
    assert found[3].calibration_ is not None
    assert found[3].temperature_ != found["auto"].temperature_
