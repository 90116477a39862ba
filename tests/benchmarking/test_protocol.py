import json
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skecoc.benchmarking.protocol import (
    PAPER_METHODS,
    PROTOCOLS,
    Batch,
    Protocol,
    RunRecord,
    batches_of,
    split_rows,
)
from skecoc.datasets import list_uci, load_uci
from skecoc.support.errors import InputError

SMALL = Protocol(
    "small",
    ("iris", "wine"),
    (("stumps", "labels"), ("svm", "margins"), ("stumps", "probabilities")),
    ("one-vs-one/hamming", "wolc", "one-vs-one/loss-based", "ecoc-one/hamming"),
    n_repeats=2,
    n_folds=3,
)


def runs_of(protocol):
    return [key for batch in protocol.batches() for key in batch.keys]


def test_the_papers_experiment_has_its_methods_sets_and_numbers_of_runs():
    protocol = PROTOCOLS["paper"]
    names = {"one-vs-one": "1vs1", "one-vs-rest": "1vsALL", "random-10": "Random", "ecoc-one": "ECOC-ONE"}
    decodings = {"hamming": "HD", "loss-based": "LB", "loss-weighted": "LW", "optimized-weight": "OW"}
    codings, decoded = zip(*(method.split("/") for method in PAPER_METHODS), strict=True)
    assert [f"{names.get(c, c.upper())}/{decodings[d]}" for c, d in zip(codings, decoded, strict=True)] == [
        *(f"{c}/{d}" for c in ("1vs1", "1vsALL", "Random", "ECOC-ONE", "DECOC") for d in ("HD", "LB", "LW")),
        "WOLC/OW",
    ]
    assert sorted(protocol.data_sets) == sorted(list_uci())
    counts = Counter((key.learner, key.response, key.data_set) for key in runs_of(protocol))
    for (learner, _, data_set), count in counts.items():
        is_large = len(load_uci(data_set).target) > 2310
        assert count == (16 * 10 if learner == "svm" and is_large else 16 * 100)
    assert {kind[:2] for kind in counts} == set(protocol.settings)


def test_the_quick_experiment_is_two_by_three_on_six_sets_with_both_learners():
    protocol = PROTOCOLS["quick"]
    assert (protocol.n_repeats, protocol.n_folds, len(protocol.data_sets)) == (2, 3, 6)
    assert {learner for learner, _ in protocol.settings} == {"stumps", "svm"}
    assert protocol.methods == PAPER_METHODS


def test_every_run_is_in_one_batch():
    runs = runs_of(SMALL)
    assert len(runs) == len(set(runs)) == 2 * 2 * 3 * 3 * 4
    assert {key.method for key in runs} == {
        "one-vs-one/hamming",
        "one-vs-one/loss-based",
        "wolc/optimized-weight",
        "ecoc-one/hamming",
    }
    names = [batch.name for batch in SMALL.batches()]
    assert len(names) == len(set(names))


def test_decodings_and_responses_of_a_fixed_code_are_one_batch_and_grown_codes_are_alone():
    batches = batches_of("iris", 1, 2, "stumps", ["labels", "probabilities"], SMALL.methods)
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


def test_fewer_repeats_hold_for_their_learner_and_data_set_only():
    protocol = replace(SMALL, fewer_repeats={("svm", "iris"): 1, ("svm", "wine"): 5})
    repeats = Counter((key.learner, key.data_set, key.repeat) for key in runs_of(protocol))
    assert {kind for kind in repeats if kind[0] == "svm"} == {
        ("svm", "iris", 0),
        ("svm", "wine", 0),
        ("svm", "wine", 1),
    }
    assert ("stumps", "iris", 1) in repeats


def test_a_protocol_survives_json():
    for protocol in (*PROTOCOLS.values(), SMALL):
        assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_sets": ("iris", "rose")}, "data sets: 'rose' is not known; expected one of balance, dermatology, "),
        ({"data_sets": ()}, "data sets: expected at least one"),
        ({"data_sets": ("iris", "iris")}, "data sets: 'iris' is given more than once"),
        ({"settings": (("tree", "labels"),)}, "learners: 'tree' is not known; expected one of stumps, svm"),
        ({"settings": (("svm", "auto"),)}, "responses: 'auto' is not known; expected one of labels, prob"),
        ({"settings": ()}, "learners: expected at least one"),
        ({"methods": ("one-vs-two/hamming",)}, "methods: the coding 'one-vs-two'.* expected one of .*one-vs-one"),
        ({"methods": ("wolc/hamming",)}, "methods: the decoding 'hamming' .* expected one of optimized-weight"),
        ({"methods": ("sklearn/one-vs-one",)}, "methods: 'sklearn/one-vs-one' cannot be told how"),
        ({"n_folds": 1}, "expected at least 2 folds .* got n_folds=1"),
        ({"n_repeats": 0}, "1 repeat, got .*n_repeats=0"),
    ],
)
def test_a_protocol_that_cannot_be(changes, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **changes)


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
