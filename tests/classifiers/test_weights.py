"""Optimised weights of a code that grows: what they are fitted to."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_iris

from skecoc import WOLCClassifier
from skecoc.classifiers.weighting import rows_for_weights
from skecoc.data.executor import LocalExecutor, States
from skecoc.data.folds import mix
from skecoc.data.samples import ArraySamples, CodedSamples
from skecoc.decoding import OptimizedWeightDecoder

MATRIX = np.array([[1, -1, 1, 0], [-1, 1, 0, 1], [0, -1, -1, 1]], dtype=np.int8)


def coded(n_rows, weight=None):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(3), rng.integers(0, 3, n_rows - 3))
    codewords = np.clip(MATRIX[y] + rng.normal(size=(n_rows, 4)), -1, 1).astype(np.float32)
    weight = np.ones(n_rows) if weight is None else weight[y]
    keys = mix(np.arange(n_rows, dtype=np.uint64))
    return CodedSamples(codewords, codewords, y, weight, np.full(n_rows, -1), keys)


def in_memory(samples):
    return ArraySamples(samples.y, samples.weight, len(MATRIX))


@pytest.mark.parametrize("ratio", [1e8, 1e20])
def test_classes_may_weigh_next_to_nothing_beside_another(ratio):
    X, y = load_iris(return_X_y=True)
    model = WOLCClassifier(random_state=0).fit(X, y, sample_weight=np.where(y == 0, ratio, 1.0))
    assert model.score(X[y == 0], y[y == 0]) == 1.0


@pytest.mark.parametrize("smallest", [0.3, 1e-9, 1e-20])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_small_weights_are_summed_up_exactly(smallest, class_weight):
    samples = coded(60, np.array([1.0, 0.7, smallest]))
    decoder = OptimizedWeightDecoder(class_weight=class_weight)
    rows, present = rows_for_weights(in_memory(samples), samples, MATRIX, decoder, None)
    assert present.tolist() == [0, 1, 2]
    weight = samples.weight / np.bincount(samples.y, samples.weight)[samples.y] if class_weight else samples.weight
    expected = np.bincount(samples.y, weight) / weight.sum()
    np.testing.assert_allclose(np.bincount(rows.y, rows.weight), expected, rtol=1e-7)


def test_rows_are_numbered_by_the_classes_that_have_samples():
    samples = coded(60)
    without = CodedSamples(*(array[samples.y != 1] for array in samples))
    rows, present = rows_for_weights(ArraySamples(*without[2:4], 3), without, MATRIX, OptimizedWeightDecoder(), None)
    assert present.tolist() == [0, 2]
    assert rows.n_classes == 2
    assert np.bincount(rows.y).tolist() == np.bincount(samples.y)[[0, 2]].tolist()
    assert rows.weight.sum() == pytest.approx(1.0)


def test_a_sample_that_is_given_twice_is_a_row_of_twice_the_weight():
    samples = coded(60)
    twice = CodedSamples(*(np.concatenate([array, array[:20]]) for array in samples))
    rows, _ = rows_for_weights(in_memory(twice), twice, MATRIX, OptimizedWeightDecoder(), None)
    assert rows.n_rows == 60
    weight = samples._replace(weight=np.where(np.arange(60) < 20, 1.0, 0.5))
    expected, _ = rows_for_weights(in_memory(weight), weight, MATRIX, OptimizedWeightDecoder(), None)
    np.testing.assert_array_equal(rows.codewords, expected.codewords)
    np.testing.assert_allclose(rows.weight, expected.weight)


def test_threads_share_many_samples_in_memory(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.weighting._MOST_OUTPUTS", 0)
    samples, found, threads = coded(20_000), [], set()

    def rows_of(block):
        threads.add(threading.get_ident())
        return len(block.y)

    for n_jobs in (1, 2):
        decoder = OptimizedWeightDecoder(n_jobs=n_jobs)
        rows, _ = rows_for_weights(in_memory(samples), samples, MATRIX, decoder, None)
        assert sum(rows.map(rows_of)) == rows.sum(rows_of, int.__add__) == 20_000
        found.append(decoder._fit_rows(rows, MATRIX))
    assert len(threads) > 1
    np.testing.assert_array_equal(found[0].weights_, found[1].weights_)
    with LocalExecutor() as executor:
        parts = [CodedSamples(*(array[k::3] for array in samples)) for k in range(3)]
        far, _ = rows_for_weights(executor, States(parts), MATRIX, decoder, None)
        np.testing.assert_allclose(decoder._fit_rows(far, MATRIX).weights_, found[0].weights_, atol=1e-10)
