import os
import signal
from dataclasses import replace

import pytest

from skecoc.cli import main
from skecoc.cli.plugins import InputError
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.runner import connected, run
from skecoc_study.runs.store import Store

PROTOCOL = Protocol(
    "tiny", ("iris",), (("stumps", "labels"),), ("one-vs-one/hamming", "ecoc-one/loss-based", "wolc"), 1, 3
)


def contents(store):
    """All that results say, but for the time they took."""
    runs = [replace(record, fit_seconds=0.0, predict_seconds=0.0) for record in store.read_runs()]
    return sorted(runs, key=lambda record: record.key), store.read_rounds()


def test_the_experiment_has_the_same_results_on_a_cluster(cluster, tmp_path):
    with Store(tmp_path / "here.sqlite") as store:
        run(PROTOCOL, store)
        expected = contents(store)
    with Store(tmp_path / "there.sqlite") as store, connected(cluster.scheduler_address) as client:
        run(PROTOCOL, store, client=client)
        assert contents(store)[0] == expected[0]
        assert sorted(map(str, contents(store)[1])) == sorted(map(str, expected[1]))


@pytest.mark.nightly
def test_a_worker_killed_during_the_experiment_costs_nothing(cluster, tmp_path):
    with Store(tmp_path / "here.sqlite") as store:
        run(PROTOCOL, store)
        expected = contents(store)[0]
    with Store(tmp_path / "there.sqlite") as store, connected(cluster.scheduler_address) as client:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        run(PROTOCOL, store, client=client)
        assert contents(store)[0] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "dask"], "--scheduler ADDRESS must be given together"),
        (["--scheduler", "tcp://127.0.0.1:9"], "must be given together"),
        (["--backend", "dask", "--scheduler", "nonsense://x"], "no Dask scheduler found at 'nonsense://x'"),
    ],
)
def test_bad_options_are_one_line(options, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as error:
        raise SystemExit(main(["reproduce", "table2", "--quick", "--output", str(tmp_path), *options]))
    assert error.value.code
    assert message in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("skecoc_study.runs.runner._CONNECT_SECONDS", 1)
    with (
        pytest.raises(InputError, match="no Dask scheduler found at 'tcp:"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass
