"""Many classes and modern learners: compact codes, bounded memory, sparse text, boosting, learners of two classes."""

import importlib
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers import ecoc, prediction, wolc
from skecoc.coding import choose_coding, dense_random, min_row_distance, one_vs_rest, sparse_random
from skecoc.decoding import LossBasedDecoder, LossWeightedDecoder, ProbabilisticDecoder
from skecoc.learners import StumpAdaBoostClassifier
from tests.grids import few
from tests.reference.blocks import ecoc_in_blocks, wolc_in_blocks

ROOT = Path(__file__).resolve().parents[1]


def clouds(n_classes, n_rows_each, n_features=8, scale=0.2):
    """Rows around one random centre per class: half of them to train on, half to test."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), n_rows_each)
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(scale=scale, size=(len(y), n_features))
    return X[::2], y[::2], X[1::2], y[1::2]


def texts(n_topics, n_texts_each, n_words=3000, seed=0):
    """Sparse counts of words: half of a text's words are its topic's."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_topics), n_texts_each)
    own = np.random.default_rng(0).integers(0, n_words, (n_topics, 20))
    words = rng.integers(0, n_words, (len(y), 20))
    words[:, :10] = own[y[:, np.newaxis], rng.integers(0, 20, (len(y), 10))]
    rows = np.repeat(np.arange(len(y)), 20)
    return sparse.csr_matrix((np.ones(words.size), (rows, words.ravel())), shape=(len(y), n_words)), y


class TwoClasses(ClassifierMixin, BaseEstimator):
    """A learner that refuses anything but two classes: the nearer of two means."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError("two classes only")
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        distances = np.square(X[:, np.newaxis] - self.means_).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class SparseOnly(LogisticRegression):
    """A learner that wants to see sparse rows."""

    def fit(self, X, y, sample_weight=None):
        assert sparse.issparse(X)
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        assert sparse.issparse(X)
        return super().predict_proba(X)


@pytest.mark.parametrize("coding", [dense_random, sparse_random])
def test_a_compact_code_of_trees_beats_one_tree_with_a_hundred_classes(coding):
    X, y, X_test, y_test = clouds(100, 10)
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(
        tree, coding=coding(100, n_columns=50, n_draws=1, random_state=0), decoding="loss-averaged"
    ).fit(X, y)
    assert len(model.estimators_) == 50
    assert model.score(X_test, y_test) > tree.fit(X, y).score(X_test, y_test) + 0.1


@pytest.mark.parametrize(("coding", "n_columns"), few([(sparse_random, 45), (dense_random, 30)]))
def test_a_thousand_classes(coding, n_columns):
    X, y, X_test, y_test = clouds(1000, 4, scale=0.1)
    names = np.array([f"class {number:04d}" for number in range(1000)])
    matrix = coding(1000, n_columns=n_columns, n_draws=1, random_state=0)
    assert min_row_distance(matrix) >= 6
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(tree, coding=matrix, decoding="loss-averaged", response_method="predict").fit(X, names[y])
    assert model.score(X_test, names[y_test]) > 0.3  # by chance 0.001
    assert model.score(X, names[y]) > 0.99
    probabilities = model.predict_proba(X_test[:50])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X_test[:50]))


def test_the_binary_numbers_of_the_classes_are_the_shortest_code():
    X, y, _, _ = clouds(1000, 4)
    numbers = np.arange(1000)[:, np.newaxis]
    bits = 2 * ((numbers >> np.arange(10)) & 1) - 1
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0), coding=bits, decoding="hamming").fit(X, y)
    assert model.code_matrix_.shape == (1000, 10)
    assert model.score(X, y) == 1.0


def test_memory_of_predictions_does_not_grow_with_the_number_of_rows():
    X, y, X_test, _ = clouds(500, 4)
    model = ECOCClassifier(
        TwoClasses(), coding=dense_random(500, n_columns=12, n_draws=1, random_state=0), decoding="hamming"
    ).fit(X, y)
    rows = np.tile(X_test, (9, 1))
    model.predict(rows[:100])
    tracemalloc.start()
    model.predict(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    every_score = 8 * 500 * len(rows)
    assert len(rows) * 500 > 2 * prediction._BLOCK_SCORES
    assert peak < 4 * every_score  # seven arrays of that size without blocks


MODELS = [
    ECOCClassifier(DecisionTreeClassifier(max_depth=3), random_state=0),
    WOLCClassifier(max_iter=1, random_state=0),
    SubclassECOCClassifier(random_state=0),
]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_blocks_of_rows_change_nothing(model, n_classes, monkeypatch):
    X, y, X_test, _ = clouds(n_classes, 30, n_features=3, scale=1.0)
    model.fit(pd.DataFrame(X, columns=list("abc")), y)
    rows = pd.DataFrame(X_test, columns=list("abc"))
    methods = (model.predict, model.predict_proba, model.decision_function)
    expected = [method(rows) for method in methods]
    monkeypatch.setattr(prediction, "_BLOCK_SCORES", 7 * n_classes)
    for method, whole in zip(methods, expected, strict=True):
        # On some machines the last digits of a product of matrices depend on its number of rows.
        np.testing.assert_allclose(method(rows), whole, rtol=0 if method == model.predict else 1e-12)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array])
def test_blocks_of_sparse_rows_change_nothing(kind, monkeypatch):
    X, y = texts(4, 20)
    model = ECOCClassifier(LogisticRegression()).fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr(prediction, "_BLOCK_SCORES", 28)
    np.testing.assert_allclose(model.predict_proba(kind(X)), expected)


def test_rows_of_no_shape_are_refused_as_ever():
    X, y, _, _ = clouds(3, 10)
    model = ECOCClassifier(DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="2D array"):
        model.predict(np.float64(3.0))


def test_sparse_text_reaches_the_learner_sparse():
    X, y = texts(100, 6)
    X_test, y_test = texts(100, 3, seed=1)
    model = ECOCClassifier(
        SparseOnly(C=10.0), coding=dense_random(100, n_columns=40, n_draws=1, random_state=0), decoding="loss-based"
    )
    assert model.fit(X, y).score(X_test, y_test) > 0.9


def test_a_learner_of_two_classes_serves_fifty():
    X, y, X_test, y_test = clouds(50, 8, scale=0.4)
    model = ECOCClassifier(TwoClasses(), coding="one-vs-one", decoding="hamming").fit(X, y)
    assert len(model.estimators_) == 50 * 49 // 2
    assert model.score(X_test, y_test) > 0.8


def test_gradient_boosting_takes_missing_values():
    X, y, X_test, y_test = clouds(6, 60, scale=0.5)
    rng = np.random.default_rng(0)
    for rows in (X, X_test):
        rows[rng.random(rows.shape) < 0.2] = np.nan
    with threadpool_limits(1):
        boosting = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)
        model = ECOCClassifier(boosting, coding="one-vs-rest", decoding="loss-based").fit(X, y)
        assert model.score(X_test, y_test) > 0.8


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, X_test, y_test = clouds(6, 60, scale=0.5)
    learner = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=5, n_jobs=1, verbose=-1)
    model = ECOCClassifier(learner, coding="one-vs-one").fit(X, y)
    assert isinstance(model.estimators_[0], lightgbm.LGBMClassifier)
    assert model.score(X_test, y_test) > 0.8


def test_with_few_classes_auto_is_one_vs_one():
    X, y, X_test, _ = clouds(6, 30, scale=1.0)
    auto = ECOCClassifier(random_state=0).fit(X, y)
    named = ECOCClassifier(coding="one-vs-one", random_state=0).fit(X, y)
    assert auto.coding_ == named.coding_ == "one-vs-one"
    np.testing.assert_array_equal(auto.predict_proba(X_test), named.predict_proba(X_test))


@pytest.mark.parametrize(
    ("learner", "n_columns"), [(DecisionTreeClassifier(random_state=0), 53), (StumpAdaBoostClassifier(5), 820)]
)
def test_with_more_classes_auto_depends_on_the_learner(learner, n_columns):
    X, y, X_test, y_test = clouds(41 if n_columns == 820 else 39, 10)
    model = ECOCClassifier(learner, random_state=0).fit(X, y)
    assert model.coding_ == ("one-vs-one" if n_columns == 820 else "dense-random")
    assert model.code_matrix_.shape[1] == n_columns
    assert model.score(X_test, y_test) > 0.6  # by chance 0.03
    np.testing.assert_array_equal(
        model.code_matrix_, ECOCClassifier(learner, random_state=0).fit(X, y).code_matrix_
    )  # it is drawn from the seed


def test_other_codings_keep_their_names():
    X, y, _, _ = clouds(4, 10)
    for coding, name in (("decoc", "decoc"), (one_vs_rest(4), "custom"), (lambda *_: one_vs_rest(4), "custom")):
        assert ECOCClassifier(DecisionTreeClassifier(), coding=coding).fit(X, y).coding_ == name


def test_blocks_choose_as_arrays_do(monkeypatch):
    monkeypatch.setattr("skecoc.coding.choice._MOST_CODEWORDS", 1e5)
    X, y, _, _ = clouds(40, 20)
    learner = StumpAdaBoostClassifier(3)
    local, blocks = (kind(learner, random_state=0).fit(X, y) for kind in (ECOCClassifier, ecoc_in_blocks))
    assert local.coding_ == blocks.coding_ == blocks.coding_ == "dense-random"
    assert local.code_matrix_.shape == (40, 107)
    np.testing.assert_array_equal(local.code_matrix_, blocks.code_matrix_)


def test_a_compact_code_of_many_classes_does_not_grow(monkeypatch):
    monkeypatch.setattr("skecoc.coding.choice._MOST_CODEWORDS", 1e5)
    X, y, X_test, y_test = clouds(40, 40, scale=0.4)
    model = WOLCClassifier(StumpAdaBoostClassifier(10), random_state=0).fit(X, y)
    assert model.group_shares_ == {"dense-random": 1.0}
    assert model.weights_optimized_
    assert model.stop_reason_ == "there are too many classes to grow dense-random"
    fixed = ECOCClassifier(StumpAdaBoostClassifier(10), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_test), fixed.predict(X_test))
    assert model.score(X_test, y_test) > 0.9
    for most_outputs in (2**24, 1000):  # weights are optimised, or those of the losses
        monkeypatch.setattr(ecoc, "_MOST_OUTPUTS", most_outputs)
        expected = clone(model).fit(X, y)
        assert expected.weights_optimized_ == (most_outputs > 1000)
        blocks = wolc_in_blocks(StumpAdaBoostClassifier(10), max_bins=2000, random_state=0).fit(X, y)
        np.testing.assert_array_equal(blocks.code_matrix_, expected.code_matrix_)
        assert (blocks.predict(X_test) == expected.predict(X_test)).mean() >= 0.995


def test_growth_from_the_compact_code_of_trees():
    X, y, X_test, y_test = clouds(40, 20, scale=0.4)
    model = WOLCClassifier(DecisionTreeClassifier(random_state=0), max_columns=45, max_iter=1, random_state=0).fit(X, y)
    assert model.history_[0].n_columns == 45  # the code is cut to what may be
    assert model.score(X_test, y_test) > 0.6


def test_a_learner_may_have_an_attribute_called_steps():
    learner = DummyClassifier()
    learner.steps = 100
    assert choose_coding(101, 100, [learner]) == "dense-random"


@pytest.mark.nightly
def test_linear_learners_have_one_vs_rest_beyond_a_hundred_classes_and_its_own_decoding():
    X, y, X_test, _ = clouds(101, 6)
    learner = LogisticRegression(C=100.0)
    auto = ECOCClassifier(learner).fit(X, y)
    assert auto.coding_ == "one-vs-rest"
    assert isinstance(auto.decoder_, LossBasedDecoder)
    named = ECOCClassifier(learner, coding="one-vs-rest", decoding="loss-based").fit(X, y)
    np.testing.assert_array_equal(auto.predict_proba(X_test), named.predict_proba(X_test))
    # A decoding that is named is taken, and few classes have the usual one again.
    assert isinstance(clone(auto).set_params(decoding="loss-weighted").fit(X, y).decoder_, LossWeightedDecoder)
    assert isinstance(auto.fit(X[y < 5], y[y < 5]).decoder_, ProbabilisticDecoder)


def test_trees_start_from_a_compact_code_alone():
    assert WOLCClassifier(DecisionTreeClassifier())._init_codings(31, 1_000)[0] == ["dense-random"]
    assert WOLCClassifier(DecisionTreeClassifier())._init_codings(30, 1_000)[0] == ["one-vs-rest", "one-vs-one"]


@pytest.mark.parametrize(("n_samples", "expected"), [(5_000, True), (5_001, False), (17_000, True)])
def test_of_many_samples_those_that_are_held_out_count(n_samples, expected, monkeypatch):
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 4_999 * 66)
    assert bool(WOLCClassifier()._init_codings(11, n_samples)[1]) == expected


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("_many_classes")


def test_blocks_of_a_small_file(script, tmp_path):
    done = {"columns": 200, "accuracy": 0.8204, "fit_seconds": 36.0, "peak_megabytes": 280, "model_megabytes": 3.72}
    kept = {
        "quick": {
            "clouds": {"stumps/auto": done, "tree/alone": {"failure": "not finished within 200 s"}},
            "clusters": {"stumps/auto": done | {"accuracy": 0.5906, "fit_seconds": 37.0, "peak_megabytes": 1278}},
        }
    }
    path = tmp_path / "many_classes.json"
    path.write_text(json.dumps(kept), encoding="utf-8")
    made = {name: make() for name, make in script.many_classes_blocks(path, tmp_path / "missing.txt").items()}
    assert made["many-classes-quick"].splitlines()[2:] == [
        "| boosted stumps, `ECOCClassifier` | 200 | 0.820 | 0.591 | 36 | 1,278 | 3.7 |",
        "| tree alone | - | not finished within 200 s | - | - | - | - |",
    ]
    assert made["many-classes-full"] == made["many-codings"] == "Not measured."


def test_printed_codings_become_a_table(script):
    printed = (
        "classes data       learner   coding       weighted  based optimized    fit s model MB\n"
        "    200 clouds     tree      one-vs-rest     0.331  0.330         -      3.0     10.0\n"
        "    200 clouds     stumps    one-vs-rest     0.662  0.860         -      3.0     10.0\n"
        "    200 clouds     stumps    dense20         0.928  0.725     0.959      3.0     10.0\n"
        "classes data       learner   coding       weighted  based optimized    fit s model MB\n"
        "    200 clouds     stumps    one-vs-one      0.662  0.935         -      3.0     10.0\n"
    )
    assert script.by_coding(printed).splitlines() == [
        r"| learner, data | one-vs-one | one-vs-rest | dense random, $20 \log_2 P$ |",
        "| --- | ---: | ---: | ---: |",
        "| boosted stumps, clouds | 0.935 | 0.860 | 0.725, 0.959 |",
        "| tree, clouds | - | 0.330 | - |",
    ]


def test_the_page_knows_all_methods_of_the_benchmark(script, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    benchmark = importlib.import_module("many_classes")
    assert sorted(benchmark.METHODS) == sorted(script.METHODS)
    assert sorted(benchmark.SIZES) == sorted(script.SIZES)
    assert list(benchmark.DATA) == list(script.DATA)
