import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.nightly
def test_the_example_gives_on_a_cluster_what_it_gives_on_one_machine():
    start = [sys.executable, str(EXAMPLES / "dask_cluster.py")]
    done = subprocess.run(start, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.count("as on one machine: True") == 2


@pytest.fixture
def from_the_shell(tmp_path):
    """The script that starts a cluster by hand, and the address of its scheduler; all of it is killed in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where `dask` and `python` are
    shell = subprocess.Popen(
        ["/bin/sh", str(EXAMPLES / "cluster_from_the_shell.sh"), str(port)],
        env={**os.environ, "PATH": path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield shell, f"tcp://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.communicate()


def has_ended(shell):
    """Tell whether no process of the script is left, its children's children included."""
    shell.poll()
    with suppress(ProcessLookupError):
        os.killpg(shell.pid, 0)
        return False
    return True


def assert_nothing_is_left(shell, folder):
    end = time.monotonic() + 60
    while not has_ended(shell) and time.monotonic() < end:
        time.sleep(0.1)
    assert has_ended(shell)
    assert not [path for path in folder.iterdir() if path.name.startswith("tmp.")]


@pytest.mark.nightly
def test_a_cluster_started_from_the_shell_gives_what_one_machine_gives(from_the_shell, tmp_path):
    shell, address = from_the_shell
    printed, _ = shell.communicate(timeout=300)
    assert f"2 workers at {address}" in printed
    assert printed.count("as on one machine: True") == 2
    assert shell.returncode == 0
    assert_nothing_is_left(shell, tmp_path)


@pytest.mark.nightly
def test_a_cluster_from_the_shell_ends_with_its_script(from_the_shell, tmp_path):
    shell, address = from_the_shell
    assert shell.stdout.readline() == f"2 workers at {address}\n"
    shell.terminate()
    assert shell.wait(timeout=60) == 128 + signal.SIGTERM
    assert_nothing_is_left(shell, tmp_path)
