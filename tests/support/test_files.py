import os
import stat
import threading
from pathlib import Path

import pytest

from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_text


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
