import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import BatchOutcome, RoundRecord, RunRecord
from skecoc_study.runs import store as store_module
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.store import CLAIM_SECONDS, Store

PROTOCOL = Protocol("tiny", ("iris",), (("stumps", "labels"),), ("decoc/hamming", "decoc/loss-based"), 1, 2)
BATCHES = list(PROTOCOL.batches())
SETTINGS = {"seed": "0", "n_folds": "2"}


def outcome_of(batch, n_correct=40, rounds=(), warnings=()):
    runs = [RunRecord(*key, 75, 75, n_correct, 2, 2, 0.5, 0.25) for key in batch.keys]
    return BatchOutcome(batch, runs, list(rounds), list(warnings), seconds=1.5)


def a_round(number, **changes):
    measured = 0.5, 0.25, 0.125, 0.75, 0.5, 1e-3
    record = RoundRecord("iris", 0, 0, "stumps", "labels", "wolc", number, 3, *measured, kept=False, optimized=False)
    return replace(record, **changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as store:
        store.begin(PROTOCOL, SETTINGS, ["iris: a note"])
        yield store


def change(path, statement, *values):
    """Change a file behind the store's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def test_what_is_saved_is_read(store, path):
    rounds = [a_round(1, kept=True), a_round(0, objective=np.nan)]
    warned = [(BATCHES[0].keys[0], "careful"), (BATCHES[0].keys[1], "careful")]
    runs, late_runs = outcome_of(BATCHES[0]).runs, outcome_of(BATCHES[1], n_correct=39).runs
    store.save(outcome_of(BATCHES[1], n_correct=39))
    store.save(outcome_of(BATCHES[0], rounds=rounds, warnings=warned))
    for reader in (store, Store(path, create=False)):
        assert reader.read_runs() == [*runs, *late_runs]
        first, second = reader.read_rounds()
        assert (first.round, second) == (0, rounds[0])
        assert np.isnan(first.objective)
        assert first.kept is False
        assert second.kept is True
        assert reader.done() == {*BATCHES[0].keys, *BATCHES[1].keys}
        assert reader.seconds_of_batches() == [(("iris", "stumps", "decoc"), 2, 1.5)]
        assert reader.meta()["warnings"] == [
            {
                "data_set": "iris",
                "learner": "stumps",
                "response": "labels",
                "method": f"decoc/{decoding}",
                "message": "careful",
                "n_runs": 1,
            }
            for decoding in ("hamming", "loss-based")
        ]


def test_the_order_of_saving_does_not_show(tmp_path):
    stores = []
    for name, batches in (("a", BATCHES), ("b", BATCHES[::-1])):
        store = Store(tmp_path / name)
        store.begin(PROTOCOL, SETTINGS)
        for batch in batches:
            store.save(outcome_of(batch))
        stores.append(store)
    first, second = stores
    assert first.read_runs() == second.read_runs()
    assert len(first.read_runs()) == 4
    assert first.meta() == second.meta()


def test_meta_tells_versions_machine_protocol_settings_and_notes(store):
    store.save(outcome_of(BATCHES[0]))
    meta = store.meta()
    (versions,) = meta["versions"]
    assert {"skecoc", "python", "numpy", "scipy", "scikit-learn", "numba"} <= versions.keys()
    assert versions["numpy"] == np.__version__
    assert meta["machines"][0]["cores"] >= 1
    assert [Protocol.from_dict(values) for values in meta["protocols"]] == [PROTOCOL]
    assert meta["settings"] == SETTINGS
    assert meta["notes"] == ["iris: a note"]


def test_results_that_are_there_stay(store):
    store.save(outcome_of(BATCHES[0], n_correct=40))
    store.save(outcome_of(BATCHES[0], n_correct=41))
    assert {run.n_correct for run in store.read_runs()} == {40}


def test_a_batch_is_saved_as_a_whole_or_not_at_all(store):
    with pytest.raises(InputError, match=r"results: cannot use '.*results\.sqlite': NOT NULL"):
        store.save(outcome_of(BATCHES[0], rounds=[a_round(0, test_accuracy=np.nan)]))
    assert store.read_runs() == []
    store.save(outcome_of(BATCHES[0]))
    assert len(store.read_runs()) == 2


def other_database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE results (value)")
    return connection.serialize()


def result_file(folder):
    with Store(folder / "whole.sqlite") as store:
        store.begin(PROTOCOL, SETTINGS)
        many = [outcome_of(replace(BATCHES[0], fold=fold)).runs for fold in range(200)]
        store.save(replace(outcome_of(BATCHES[0]), runs=[run for runs in many for run in runs]))
    return (folder / "whole.sqlite").read_bytes()


def damaged(content):
    middle = len(content) // 2
    return content[:middle] + b"\x55" * 4096 + content[middle + 4096 :]


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: b"accuracy,method\n0.5,a\n", "is not a result file of skecoc"),
        (lambda folder: b"\x00", "is not a result file of skecoc"),
        (lambda folder: other_database(), "is not a result file of skecoc"),
        (lambda folder: damaged(result_file(folder)), "is damaged|malformed"),
        (lambda folder: result_file(folder)[:9000], "is damaged|malformed"),
    ],
    ids=["text", "byte", "other database", "overwritten", "cut"],
)
def test_a_foreign_or_damaged_file_is_refused_and_left_as_it_is(tmp_path, path, make, message, create):
    content = make(tmp_path)
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        Store(path, create=create)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("results")] == ["results.sqlite"]


def test_an_empty_file_is_as_good_as_none(path):
    path.touch()
    with Store(path) as store:
        assert store.read_runs() == []


def test_a_file_is_ours_by_its_header(store, path):
    assert int.from_bytes(path.read_bytes()[68:72], "big") == store_module.APPLICATION_ID


def test_a_file_of_another_format_is_refused(store, path):
    change(path, "PRAGMA user_version = 99")
    with pytest.raises(InputError, match="has version 99 of the format, expected version 2"):
        Store(path)


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(InputError, match="is a folder, expected the name of a file"):
        Store(tmp_path)
    with pytest.raises(InputError, match=r"the folder '.*nowhere' does not exist"):
        Store(tmp_path / "nowhere" / "results.sqlite")
    with pytest.raises(InputError, match=r"there is no file '.*results\.sqlite'"):
        Store(tmp_path / "results.sqlite", create=False)
    assert list(tmp_path.iterdir()) == []


def test_other_versions_are_refused_unless_asked_for(store, path, monkeypatch):
    now = store_module.versions()
    monkeypatch.setattr(store_module, "versions", lambda: {**now, "numpy": "9.9"})
    with Store(path) as other:
        other.begin(PROTOCOL, SETTINGS)  # there is no result yet that could be mixed with
    store.save(outcome_of(BATCHES[0]))
    before = store.meta()
    with Store(path) as other:
        expected = f"begun with other versions, .*: numpy was {np.__version__} and is 9.9"
        with pytest.raises(InputError, match=expected):
            other.begin(PROTOCOL, SETTINGS)
        assert other.meta() == before
        other.begin(PROTOCOL, SETTINGS, allow_mixed=True)
        other.save(outcome_of(BATCHES[1]))
        assert [versions["numpy"] for versions in other.meta()["versions"]] == [np.__version__, "9.9"]


def test_other_settings_are_refused_unless_asked_for_and_further_ones_are_welcome(store, path):
    with Store(path) as other:
        with pytest.raises(InputError, match=r"begun with other settings, .*: seed was 0 and is 1"):
            other.begin(PROTOCOL, {**SETTINGS, "seed": "1"})
        other.begin(PROTOCOL, {**SETTINGS, "seed": "1"}, allow_mixed=True)
        other.begin(PROTOCOL, {"seed": "0", "learner svm": "TunedSVMClassifier()"})
        assert other.meta()["settings"] == {**SETTINGS, "learner svm": "TunedSVMClassifier()"}


@pytest.fixture
def other(store, path):
    with Store(path) as other:
        other.begin(PROTOCOL, SETTINGS)
        yield other


def test_a_batch_is_claimed_once(store, other):
    assert store.claim(BATCHES[0])
    assert store.claim(BATCHES[0])  # it is its own
    assert not other.claim(BATCHES[0])
    assert other.claim(BATCHES[1])
    assert store.n_claimed() == 2
    store.release_claims()
    assert other.claim(BATCHES[0])


def test_a_batch_that_is_done_is_not_claimed(store, other):
    store.claim(BATCHES[0])
    store.save(outcome_of(BATCHES[0]))
    assert store.n_claimed() == 0
    assert not other.claim(BATCHES[0])
    partly = replace(BATCHES[0], variants=(("labels", "hamming"), ("labels", "euclidean")))
    assert other.claim(partly)


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_claims_of_a_dead_process_are_free(store, other, path):
    store.claim(BATCHES[0])
    change(path, "UPDATE sessions SET pid = ? WHERE id = 1", dead_process())
    assert other.n_claimed() == 0
    assert other.claim(BATCHES[0])


def test_the_claims_of_a_silent_process_are_free_until_it_speaks_again(store, other, path):
    store.claim(BATCHES[0])
    store.claim(BATCHES[1])
    change(path, "UPDATE sessions SET heartbeat = heartbeat - ? WHERE id = 1", CLAIM_SECONDS + 1)
    assert other.claim(BATCHES[0])
    store.renew_claims()
    assert not other.claim(BATCHES[1])


def test_a_process_on_another_machine_is_believed_to_live(store, other, path):
    store.claim(BATCHES[0])
    change(path, "UPDATE sessions SET host = 'elsewhere', pid = ? WHERE id = 1", dead_process())
    assert not other.claim(BATCHES[0])


def test_a_full_disk_leaves_all_that_was_saved(store, path):
    store.save(outcome_of(BATCHES[0]))
    connection = store._database._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    large = outcome_of(BATCHES[1], warnings=[(BATCHES[1].keys[0], "long " * 10_000)])
    with pytest.raises(InputError, match=r"results: cannot use '.*': database or disk is full"):
        store.save(large)
    with Store(path, create=False) as reader:
        assert reader.read_runs() == outcome_of(BATCHES[0]).runs
    connection.execute("PRAGMA max_page_count = 100000")
    store.save(large)
    assert len(store.read_runs()) == 4


def test_a_store_that_somebody_else_keeps_locked_is_named(store, path, monkeypatch):
    monkeypatch.setattr(store_module, "_BUSY_SECONDS", 0.1)
    with Store(path) as impatient, closing(sqlite3.connect(path)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match=r"cannot use '.*results\.sqlite': database is locked"):
            impatient.begin(PROTOCOL, SETTINGS)


def test_an_interrupt_in_a_transaction_leaves_none_open(store):
    def interrupt_within():
        with store._database.transaction() as connection:
            connection.execute("DELETE FROM notes")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt_within()
    store.save(outcome_of(BATCHES[0]))
    assert store.meta()["notes"] == ["iris: a note"]
