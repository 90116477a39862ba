import json
from collections import Counter
from dataclasses import replace

import pytest

from skecoc.cli.plugins import InputError
from skecoc_study.runs.protocol import Protocol

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
    for protocol in (SMALL, replace(SMALL, fewer_repeats={("svm", "iris"): 1})):
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
        ({"methods": ("sklearn/one-vs-one",)}, "methods: 'sklearn/one-vs-one' has a fixed response"),
        ({"n_folds": 1}, "expected at least 2 folds .* got n_folds=1"),
        ({"n_repeats": 0}, "1 repeat, got .*n_repeats=0"),
    ],
)
def test_a_protocol_that_cannot_be(changes, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **changes)
