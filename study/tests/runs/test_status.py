from dataclasses import replace

import pytest

from skecoc.compare import load_data_sets
from skecoc.compare.experiments import BatchOutcome, RunRecord
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.runner import Clock, status
from skecoc_study.runs.store import Store

PROTOCOL = Protocol(
    "tiny",
    ("iris", "wine"),
    (("stumps", "labels"), ("stumps", "probabilities")),
    ("decoc/hamming", "decoc/loss-based", "wolc"),
    n_repeats=2,
    n_folds=3,
)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        store.begin(PROTOCOL, {})
        yield store


def save(store, batches, seconds):
    for batch in batches:
        runs = [RunRecord(*key, 75, 75, 40, 2, 2, 0.5, 0.25) for key in batch.keys]
        store.save(BatchOutcome(batch, runs, [], [], seconds))


def batches_of(data_set, coding):
    return [batch for batch in PROTOCOL.batches() if (batch.data_set, batch.coding) == (data_set, coding)]


def test_runs_are_counted_by_setting_and_data_set(store):
    assert {done for done, _ in status(PROTOCOL, store).counts.values()} == {0}
    save(store, batches_of("wine", "decoc")[:2], 1.0)
    save(store, batches_of("wine", "wolc")[:1], 1.0)
    found = status(PROTOCOL, store)
    assert found.counts == {
        ("stumps", "labels", "iris"): (0, 18),
        ("stumps", "probabilities", "iris"): (0, 18),
        ("stumps", "labels", "wine"): (5, 18),
        ("stumps", "probabilities", "wine"): (4, 18),
    }


def test_the_time_left_is_that_of_the_missing_batches(store):
    save(store, batches_of("iris", "decoc")[:1], 2.0)
    save(store, batches_of("iris", "decoc")[1:2], 4.0)
    save(store, batches_of("iris", "wolc")[:1], 10.0)
    only_iris = replace(PROTOCOL, data_sets=("iris",))
    assert status(only_iris, store).seconds_left == pytest.approx(4 * 3.0 + 11 * 10.0)


def test_nothing_is_left_when_all_is_done(store):
    save(store, PROTOCOL.batches(), 1.0)
    found = status(PROTOCOL, store)
    assert all(done == total for done, total in found.counts.values())
    assert found.seconds_left == 0.0


def test_what_was_not_measured_is_guessed_and_scaled_by_what_was(store):
    clock = Clock(load_data_sets(["iris", "wine"]), store)
    guess = clock.seconds({("wine", "svm", "wolc"): 1})
    assert 0 < guess < 10
    clock.add(("iris", "svm", "wolc"), 7 * clock.seconds({("iris", "svm", "wolc"): 1}))
    assert clock.seconds({("wine", "svm", "wolc"): 1}) == pytest.approx(7 * guess)
    clock.add(("wine", "svm", "wolc"), 5.0)
    assert clock.seconds({("wine", "svm", "wolc"): 1}) == 5.0
    assert clock.seconds({("wine", "stumps", "wolc"): 1}) < guess  # other learners are not scaled


def test_larger_data_and_longer_codes_are_expected_to_take_longer(store):
    clock = Clock(load_data_sets(["iris", "vehicle"]), store)
    for learner in ("stumps", "svm"):
        seconds = [clock.seconds({(name, learner, "wolc"): 1}) for name in ("iris", "vehicle")]
        assert seconds[0] < seconds[1]
        assert clock.seconds({("vehicle", learner, "one-vs-rest"): 1}) < seconds[1]
