"""Hide what compiled audio decoders print on standard error, while messages of Python are still shown."""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_STDERR = 2
# Held while descriptor 2 changes, and while Python's messages are written to it. It is re-entrant since a signal may
# interrupt a message with another one.
_lock = threading.RLock()


class _State:
    """State shared by threads that decode at the same time: their number, and what the last one restores."""

    n_threads = 0
    kept: int | None = None  # a duplicate of descriptor 2, while that leads nowhere
    relay: "_Relay | None" = None


class _Relay(io.TextIOBase):
    """Stands for Python's own `sys.stderr`, and writes where that did, wherever descriptor 2 leads at the moment.

    It also works after decoding has ended: a progress bar, for example, may have kept it.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """How text is encoded."""
        return str(getattr(self._stream, "encoding", None) or "utf-8")

    def write(self, text: str) -> int:
        """Write a message."""
        with _lock:
            if _State.kept is None:
                return int(self._stream.write(text))
            content = text.encode(self.encoding, "backslashreplace")
            while content:
                content = content[os.write(_State.kept, content) :]
        return len(text)

    def flush(self) -> None:
        """Write what has been held back; while descriptor 2 leads nowhere, nothing is."""
        with _lock:
            if _State.kept is None:
                self._stream.flush()

    def fileno(self) -> int:
        """Return the descriptor of the stream that this stands for."""
        return int(self._stream.fileno())

    def isatty(self) -> bool:
        """Tell whether messages are read on a terminal."""
        with _lock:
            return os.isatty(self.fileno() if _State.kept is None else _State.kept)

    def writable(self) -> bool:
        """Tell that this can be written to."""
        return True


def messages_stream() -> Any:
    """Return what Python writes messages to; what is written to it is shown even while something is decoded."""
    return _Relay(sys.stderr) if _leads_to_stderr(sys.stderr) else sys.stderr


@contextmanager
def without_decoder_messages() -> Iterator[None]:
    """Discard what compiled code prints on standard error; what Python prints there is shown as usual.

    The descriptor belongs to the whole process, so that several threads share one redirection: the first one makes it,
    and the last one undoes it. A process without standard error is left as it is.
    """
    with _lock:
        if _State.n_threads == 0:
            _turn_away()
        _State.n_threads += 1
    try:
        yield
    finally:
        with _lock:
            _State.n_threads -= 1
            if _State.n_threads == 0:
                _turn_back()


def _turn_away() -> None:
    """Send descriptor 2 to the null device, and Python's own messages past it."""
    stream = sys.stderr
    if sys.__stderr__ is None:  # the process began without it, and descriptor 2 may be any file by now
        return
    try:
        if stream is not None and not stream.closed:
            stream.flush()
        _State.kept = os.dup(_STDERR)
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
    finally:
        os.close(nowhere)
    if _leads_to_stderr(stream):
        _State.relay = _Relay(stream)
        sys.stderr = _State.relay


def _turn_back() -> None:
    """Undo what `_turn_away` has done."""
    if _State.kept is None:
        return
    os.dup2(_State.kept, _STDERR)
    os.close(_State.kept)
    _State.kept = None
    if _State.relay is not None and sys.stderr is _State.relay:  # unless somebody has redirected it meanwhile
        sys.stderr = _State.relay._stream
    _State.relay = None


def _leads_to_stderr(stream: Any) -> bool:
    """Tell whether a stream of Python writes to descriptor 2; those of notebooks and of tests do not."""
    with suppress(OSError, ValueError, AttributeError):
        return bool(stream.fileno() == _STDERR)
    return False
