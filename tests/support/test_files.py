import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skecoc.support import files
from skecoc.support.errors import InputError
from skecoc.support.files import check_model_path, check_writable, remove_leftovers, replacement, write_text


def test_a_new_file_has_the_text_and_the_usual_permissions(tmp_path):
    path = tmp_path / "a.txt"
    usual = tmp_path / "usual.txt"
    usual.touch()
    write_text("--output", path, "schön\n")
    assert path.read_bytes() == "schön\n".encode()
    assert path.stat().st_mode == usual.stat().st_mode


def test_replacing_keeps_permissions_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_text("--output", path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_on_the_way_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match=r"--output: cannot write '.*a\.txt': No space left on device"):
        write_text("--output", path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text("--output", tmp_path / "a.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_symbolic_link_is_followed(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text("--output", link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_text()))
    reader.start()
    write_text("--output", path, "through")
    reader.join()
    assert received == ["through"]
    assert path.is_fifo()


def test_text_that_utf8_cannot_hold(tmp_path):
    write_text("--output", tmp_path / "a.txt", "caf\udce9")
    assert (tmp_path / "a.txt").read_text() == r"caf\udce9"


def test_check_passes_where_writing_works(tmp_path):
    check_writable("--output", tmp_path / "new.txt")
    (tmp_path / "old.txt").touch()
    check_writable("--output", tmp_path / "old.txt")
    check_writable("--output", Path(os.devnull))
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


def test_check_refuses_a_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"--report: the folder '.*none' does not exist"):
        check_writable("--report", tmp_path / "none" / "a.html")


def test_check_refuses_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"--report: .* is a folder"):
        check_writable("--report", tmp_path)


def test_check_refuses_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(InputError, match=r"--report: the folder '.*a' does not exist"):
        check_writable("--report", tmp_path / "a" / "b.html")


def test_check_refuses_a_folder_without_permission(tmp_path, monkeypatch):
    # Asked of the system through os.access, since tests may run as a user who may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == tmp_path and mode == os.W_OK))
    with pytest.raises(InputError, match=r"--report: no permission to write '.*a\.html'"):
        check_writable("--report", tmp_path / "a.html")


WRITER = """
import sys, time
from pathlib import Path
from skecoc.support.files import replacement
with replacement(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
    file.write(b" and half")
"""


@pytest.fixture
def start_writer():
    """A function that starts a process which has written half of a file, and waits."""
    started = []

    def start(path):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "writing\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_what_a_killed_writer_leaves_is_removed_by_the_next_and_a_running_one_goes_on(tmp_path, start_writer):
    killed, running = start_writer(tmp_path / "killed.txt"), start_writer(tmp_path / "running.txt")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 2
    write_text("--output", tmp_path / "new.txt", "new")
    assert len(list(tmp_path.glob(".skecoc-*"))) == 1
    running.communicate()
    assert running.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.txt", "running.txt"]
    assert (tmp_path / "running.txt").read_text() == "half and half"


def leftover(folder, name, age=0.0):
    """Make a file that a writer might have left some seconds ago."""
    path = folder / name
    path.write_text("left")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_files_of_other_systems_are_removed_when_they_are_a_day_old(tmp_path):
    names = {
        ".skecoc-0123456789ab-abcdefgh": 90_000,  # another system, or this one before it was started again
        ".skecoc-abcdefgh": 90_000,  # of an older version, or where there are no locks
        f".skecoc-{files._system()}-abcdefgh": 0,
    }
    gone = [leftover(tmp_path, name, age) for name, age in names.items()]
    kept = [
        leftover(tmp_path, ".skecoc-0123456789ab-bcdefghi", 80_000),
        leftover(tmp_path, ".skecoc-bcdefghi", 80_000),
        leftover(tmp_path, ".skecoc-notes-of-mine.txt", 10**6),
        leftover(tmp_path, "skecoc-abcdefgh", 10**6),
    ]
    (tmp_path / ".skecoc-folderab").mkdir()
    target = leftover(tmp_path, "elsewhere", 10**6)
    (tmp_path / ".skecoc-linkabcd").symlink_to(target)
    remove_leftovers(tmp_path)
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in kept)
    assert target.exists()
    assert (tmp_path / ".skecoc-linkabcd").is_symlink()


def test_a_folder_is_looked_at_once(tmp_path):
    write_text("--output", tmp_path / "a.txt", "a")
    left = leftover(tmp_path, ".skecoc-abcdefgh", 90_000)
    write_text("--output", tmp_path / "a.txt", "a")
    assert left.exists()


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, removed = files._lock, []

    def late(handle, *, wait):
        if wait and not removed:
            removed.extend(tmp_path.glob(".skecoc-*"))
            removed[0].unlink()
        return lock(handle, wait=wait)

    monkeypatch.setattr(files, "_lock", late)
    write_text("--output", tmp_path / "a.txt", "a")
    assert len(removed) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("age", [0, 90_000])
def test_without_locks_only_age_tells(tmp_path, monkeypatch, age):
    monkeypatch.setattr(files, "_lock", lambda handle, *, wait: None)
    left = leftover(tmp_path, f".skecoc-{files._system()}-abcdefgh", age)
    with replacement(tmp_path / "a.txt") as file:
        file.write(b"a")
        (mine,) = (path for path in tmp_path.glob(".skecoc-*") if path != left)
        assert len(mine.name) == len(".skecoc-abcdefgh")
    assert left.exists() == (age == 0)
    assert (tmp_path / "a.txt").read_text() == "a"


def test_files_of_other_users_stay(tmp_path, monkeypatch):
    left = leftover(tmp_path, ".skecoc-abcdefgh", 90_000)
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    remove_leftovers(tmp_path)
    assert left.exists()


def test_models_have_a_suffix_of_their_own(tmp_path):
    for name in ("model.pkl", "model", "model.joblib"):
        with pytest.raises(InputError, match=r"--output: '.*' does not end in .skops"):
            check_model_path("--output", tmp_path / name)
    for path in (tmp_path / "model.skops", tmp_path / "model.SKOPS", Path(os.devnull)):
        check_model_path("--output", path)
