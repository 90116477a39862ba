import hashlib
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skecoc.compare.trials import Batch, RunRecord, batches_of, seed_of, shares_columns, split_rows

METHODS = ("one-vs-one/hamming", "wolc/optimized-weight", "one-vs-one/loss-based", "ecoc-one/hamming")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("one-vs-one/hamming", True),
        ("wolc/optimized-weight", False),
        ("sklearn/one-vs-one", False),
        ("one-vs-one/logistic-weight", False),  # fitted out of fold
    ],
)
def test_columns_of_codes_fixed_before_training_are_shared(method, expected):
    assert shares_columns(*method.split("/")) == expected


def test_decodings_and_responses_of_a_fixed_code_are_one_batch_and_grown_codes_are_alone():
    batches = batches_of("iris", 1, 2, "stumps", ["labels", "probabilities"], METHODS)
    assert [(batch.coding, batch.variants) for batch in batches] == [
        (
            "one-vs-one",
            (
                ("labels", "hamming"),
                ("probabilities", "hamming"),
                ("labels", "loss-based"),
                ("probabilities", "loss-based"),
            ),
        ),
        ("wolc", (("labels", "optimized-weight"),)),
        ("wolc", (("probabilities", "optimized-weight"),)),
        ("ecoc-one", (("labels", "hamming"),)),
        ("ecoc-one", (("probabilities", "hamming"),)),
    ]


def test_a_batch_keeps_its_name_whichever_variants_are_left():
    batch = Batch("iris", 0, 1, "stumps", "decoc", (("labels", "hamming"), ("labels", "loss-based")))
    assert batch.name == replace(batch, variants=batch.variants[1:]).name == "iris/0/1/stumps/decoc"


@given(counts=st.lists(st.integers(1, 9), min_size=2, max_size=5), n_folds=st.integers(2, 4), seed=st.integers(0, 99))
def test_folds_are_a_partition_with_equal_shares_of_every_class(counts, n_folds, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    if max(counts) < n_folds:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = split_rows(y, "some", 0, n_folds, seed)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(y)))
    shares = np.array([np.bincount(y[test], minlength=len(counts)) for _, test in folds])
    assert (shares.max(axis=0) - shares.min(axis=0) <= 1).all()


def test_folds_depend_on_seed_data_set_and_repeat_alone():
    y = np.repeat([0, 1, 2], 20)

    def first_test_part(name="a", repeat=0, seed=0):
        return split_rows(y, name, repeat, 5, seed)[0][1].tolist()

    assert first_test_part() == first_test_part()
    others = [first_test_part(name="b"), first_test_part(repeat=1), first_test_part(seed=1)]
    assert all(other != first_test_part() for other in others)


def test_a_record_tells_its_accuracy_and_its_key():
    record = RunRecord("iris", 1, 2, "svm", "labels", "decoc", "hamming", 100, 50, 40, 3, 3, 0.5, 0.25)
    assert (record.accuracy, record.method, record.key.method) == (0.8, "decoc/hamming", "decoc/hamming")
    assert record.key == ("iris", 1, 2, "svm", "labels", "decoc", "hamming")


def test_the_seed_is_a_hash_of_the_identity_alone():
    digest = hashlib.blake2b(b"(0, 'folds', 'iris', 0)", digest_size=4).hexdigest()
    assert seed_of(0, "folds", "iris", 0) == int(digest, 16)


def test_different_runs_have_different_seeds():
    seeds = {seed_of(*identity) for identity in product(range(4), ["iris", "wine"], range(10), range(10))}
    assert len(seeds) == 800


def test_where_one_part_ends_matters():
    assert seed_of("a", "bc") != seed_of("ab", "c")
    assert seed_of(1, "1") != seed_of("1", 1)


def test_seeds_fit_numpy():
    assert all(0 <= seed_of(number) < 2**32 for number in range(1000))


def test_a_file_name_that_is_not_unicode():
    assert seed_of("caf\udce9.csv") != seed_of("cafe.csv")
