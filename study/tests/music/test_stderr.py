"""What decoders print is kept away from standard error, whatever else happens there."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile
from sklearn.utils.fixes import parse_version
from study.tests.music.conftest import encoded

from skecoc_study.music.stderr import messages_stream, without_decoder_messages


def n_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_compiled_code_is_not_heard_and_python_is(capfd, monkeypatch):
    stream = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 (descriptor 2, as outside of tests)
    monkeypatch.setattr(sys, "stderr", stream)
    early = messages_stream()
    before = n_descriptors()
    with without_decoder_messages():
        os.write(2, b"Note: Illegal Audio-MPEG-Header\n")
        print("während", file=sys.stderr)
        print("by the stream", file=early)
        late = sys.stderr
    os.write(2, b"after\n")
    print("later", file=late, flush=True)
    assert capfd.readouterr().err.splitlines() == ["während", "by the stream", "after", "later"]
    assert sys.stderr is stream
    assert n_descriptors() == before


def test_all_is_as_before_after_an_error(capfd):
    stream, before = sys.stderr, n_descriptors()
    with contextlib.suppress(ZeroDivisionError), without_decoder_messages():
        os.write(2, b"noise\n")
        raise ZeroDivisionError
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"
    assert (sys.stderr is stream, n_descriptors()) == (True, before)


def test_several_threads_share_it(capfd):
    both_inside = threading.Barrier(2)

    def decode(wait_inside):
        for _ in range(50):
            with without_decoder_messages():
                os.write(2, b"noise\n")
                if wait_inside:
                    both_inside.wait(5)
                    os.write(2, b"noise\n")
                else:
                    both_inside.wait(5)
            os.write(2, b"")

    before = n_descriptors()
    threads = [threading.Thread(target=decode, args=(wait,)) for wait in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"
    assert n_descriptors() == before


def test_another_stream_of_python_is_left_alone(capsys):
    stream = sys.stderr
    with without_decoder_messages():
        assert sys.stderr is stream
        print("heard", file=sys.stderr)
    assert messages_stream() is stream
    assert capsys.readouterr().err == "heard\n"


def test_a_redirection_made_meanwhile_stays():
    with without_decoder_messages():
        inner = contextlib.redirect_stderr(sys.stdout)
        inner.__enter__()
    assert sys.stderr is sys.stdout
    inner.__exit__(None, None, None)
    print("heard", file=sys.stderr)


@pytest.mark.skipif(parse_version(soundfile.__version__) < parse_version("0.13"), reason="soundfile ends the process")
def test_a_process_without_standard_error_can_decode(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(100), 8000)
    program = f"""
from skecoc_study.music.clips import FileClip
print(len(FileClip({str(tmp_path / "a.wav")!r}).samples()[0]))
"""
    closed = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program]
    done = subprocess.run(closed, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "100\n"


def test_a_damaged_mp3_is_read_in_silence(tmp_path):
    whole = encoded(0.1 * np.random.default_rng(0).normal(size=44100), "MP3")
    (tmp_path / "cut.mp3").write_bytes(whole[:3000] + bytes(500) + whole[6000:])
    program = f"""
import sys, warnings
from skecoc_study.music.clips import FileClip
print("before", file=sys.stderr)
clip = FileClip({str(tmp_path / "cut.mp3")!r})
print(len(clip.samples()[0]), clip.missing)
print("after", file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["before", "after"]
    n_samples, missing = done.stdout.split()
    assert 0 < int(n_samples) < 44100
    assert float(missing) == pytest.approx(1 - int(n_samples) / 44100, abs=0.05)
