"""Clips from paths, open files or arrays, as mono signals of one sample rate."""

import hashlib
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skecoc_study.music.frontends import RATES, Singles, check_signal
from skecoc_study.music.stderr import without_decoder_messages

# An array with more columns than this is not samples by channels, but most likely channels by samples.
_MOST_CHANNELS = 64
# A lower sample rate is that of a damaged header; what is resampled from it could fill the memory.
_LOWEST_RATE = 1_000
# At most this many clips are named in a message.
_MOST_NAMES = 10
# Less of a clip than this share of the length that its header tells is worth a note; encoders round to whole frames.
_WHOLE = 0.95

# How files begin that `soundfile` may read, and other files that are given by mistake.
_AUDIO_STARTS = (b"RIFF", b"RF64", b"riff", b"FORM", b"fLaC", b"OggS", b"ID3", b".snd", b"caff")
_OTHER_STARTS = {
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x89PNG": "a PNG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x8b": "a gzip file",
}
_N_START = 512  # bytes to judge a file by
# Messages of libsndfile on files that it cannot decode, which are wrong or give no reason.
_UNTRUE = ("File does not exist", "Unspecified internal error")
# What it says of a format that it does not know, and of a known one whose header is cut off.
_UNIMPLEMENTED = "File contains data in an unimplemented format"


class AudioError(ValueError):
    """Raised if a clip cannot be read; the message names the clip and the reason."""


class Clip(ABC):
    """A piece of audio that can be read, more than once; an `AudioError` says if it cannot."""

    name: str  # what messages call it
    missing: float = 0.0  # share of the length that its header tells which was not there when it was read last

    @abstractmethod
    def rate(self) -> int:
        """Return the sample rate of the clip, without reading all of it."""

    @abstractmethod
    def digest(self) -> bytes:
        """Hash the content: equal for equal content only."""

    @abstractmethod
    def samples(self) -> tuple[Singles, int]:
        """Read the whole clip: samples (n_samples, n_channels) of full scale 1, and the sample rate."""

    def signal(self, rate: int) -> Singles:
        """Read the clip as one channel, the mean of all, resampled to a given rate if need be."""
        samples, own_rate = self.samples()
        if len(samples) == 0:
            raise AudioError(f"{self.name} holds no samples")
        n_channels = samples.shape[1]
        mono = samples[:, 0] if n_channels == 1 else samples @ np.full(n_channels, 1.0 / n_channels, dtype=np.float32)
        try:
            mono = check_signal(mono)
        except ValueError as error:
            raise AudioError(f"{self.name}: {error}") from error
        if own_rate == rate:
            return mono
        resampled: Singles = _import_extra("soxr").resample(mono, own_rate, rate)
        return resampled if len(resampled) else mono  # of a few samples the resampler leaves none


class FileClip(Clip):
    """Audio in a file: MP3, WAV, FLAC, OGG or anything else that `soundfile` reads."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.name = repr(str(path))

    def rate(self) -> int:
        """Return the sample rate that the file's header gives."""
        with self._opened() as audio:
            return _check_own_rate(audio.samplerate, self.name)

    def digest(self) -> bytes:
        """Hash the bytes of the file."""
        self._file()
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        except OSError as error:
            raise AudioError(f"{self.name} cannot be read: {error.strerror}") from error

    def samples(self) -> tuple[Singles, int]:
        """Decode the file."""
        with self._opened() as audio:
            n_told = audio.frames
            try:
                with without_decoder_messages():
                    samples = audio.read(dtype="float32", always_2d=True)
            except _import_extra("soundfile").SoundFileError as error:
                raise AudioError(f"{self.name} {_damaged(_reason(error))}") from error
            except (ValueError, MemoryError) as error:  # FLAC from a pipe, for one, has no length in its header
                raise AudioError(f"{self.name} is too long to be read, or does not tell its length") from error
            self.missing = 0.0 if len(samples) >= _WHOLE * n_told else 1.0 - len(samples) / n_told
            return samples, _check_own_rate(audio.samplerate, self.name)

    def header_problem(self) -> str | None:
        """Say why the file is not audio, judging by its size and header; None if it is."""
        try:
            with self._opened() as audio:
                return None if audio.frames > 0 else "holds no samples"
        except AudioError as error:
            return str(error).removeprefix(self.name).lstrip(": ")

    def _file(self) -> Any:
        """Return what soundfile opens, after a look at whether that makes sense."""
        try:
            if self.path.is_dir():
                raise AudioError(f"{self.name} is a folder, expected a file")
            if not self.path.exists():
                raise AudioError(f"{self.name}: there is no such file")
            if not self.path.is_file():
                raise AudioError(f"{self.name} is a device or a pipe, expected a file")
            if self.path.stat().st_size == 0:
                raise AudioError(f"{self.name} is empty")
        except OSError as error:  # such as a folder that may not be entered
            raise AudioError(f"{self.name} cannot be read: {error.strerror}") from error
        return str(self.path)

    def _opened(self) -> Any:
        soundfile, file = _import_extra("soundfile"), self._file()
        try:
            with without_decoder_messages():
                return soundfile.SoundFile(file)
        except (soundfile.SoundFileError, OSError, TypeError) as error:  # TypeError: a suffix of headerless formats
            raise AudioError(f"{self.name} {_problem(self._start(), _reason(error))}") from error

    def _start(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(_N_START)
        except OSError as error:
            raise AudioError(f"{self.name} cannot be read: {error.strerror}") from error


class OpenFileClip(FileClip):
    """Audio in a seekable binary file that is open already; it is left at the position where it was."""

    def __init__(self, file: Any, name: str) -> None:
        own_name = getattr(file, "name", None)
        self.name = repr(own_name) if isinstance(own_name, str) else name
        try:
            position = file.tell()
            self.content = file.read()
            file.seek(position)
        except (OSError, ValueError) as error:
            raise AudioError(f"{self.name}: expected an open, seekable file: {error}") from error
        if not isinstance(self.content, bytes):
            raise AudioError(f"{self.name}: expected a file opened in binary mode")

    def _file(self) -> Any:
        if not self.content:
            raise AudioError(f"{self.name} is empty")
        return BytesIO(self.content)

    def _start(self) -> bytes:
        return self.content[:_N_START]

    def digest(self) -> bytes:
        """Hash the bytes of the file."""
        return hashlib.sha256(self.content).digest()


class ArrayClip(Clip):
    """Audio that is an array already: floats of full scale 1, or integers of the full scale of their type."""

    def __init__(self, samples: Any, rate: int, name: str) -> None:
        self.name = name
        self._rate = _check_own_rate(rate, name)
        array = np.asarray(samples)
        if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= _MOST_CHANNELS):
            raise AudioError(f"{name}: expected shape (n_samples,) or (n_samples, n_channels), got {array.shape}")
        if array.dtype.kind not in "fiu":
            raise AudioError(f"{name}: expected an array of numbers, got dtype {array.dtype}")
        if array.dtype.kind in "iu" and array.dtype.itemsize > 4:
            message = f"{name}: {array.dtype} is taken relative to its full scale, by which most audio is silence"
            warnings.warn(f"{message}; expected floats of full scale 1, or integers of 8 to 32 bits", stacklevel=2)
        self._samples = array[:, np.newaxis] if array.ndim == 1 else array

    def rate(self) -> int:
        """Return the sample rate that was given."""
        return self._rate

    def digest(self) -> bytes:
        """Hash the samples, their type and rate."""
        content = np.ascontiguousarray(self._samples)
        kind = repr((content.dtype.str, content.shape, self._rate)).encode()
        return hashlib.sha256(kind + content.tobytes()).digest()

    def samples(self) -> tuple[Singles, int]:
        """Divide integers by the full scale of their type; unsigned ones are centred."""
        samples = self._samples
        if samples.dtype.kind == "f":
            return samples.astype(np.float32, copy=False), self._rate
        info = np.iinfo(samples.dtype)
        centre, half = (0.0, float(info.max) + 1.0) if info.min < 0 else ((info.max + 1) / 2, (info.max + 1) / 2)
        return ((samples - centre) / half).astype(np.float32), self._rate


def as_clips(sources: Any, array_rate: int | None = None) -> list[Clip]:
    """Turn paths, open files, pairs (array, rate) and arrays of a given rate into clips."""
    return [_as_clip(source, array_rate, f"clip {number}") for number, source in enumerate(_as_list(sources))]


def choose_rate(rates: Sequence[int]) -> int:
    """Choose the rate to analyse clips at: 44,100 if all have at least that, so that none is stretched, else 22,050."""
    if not rates:
        raise ValueError("X must hold at least one clip that can be read")
    return RATES[1] if min(rates) >= RATES[1] else RATES[0]


def listing(names: Sequence[str], separator: str = "; ") -> str:
    """Join the first few names, and count the others."""
    others = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return separator.join([*names[:_MOST_NAMES], *others])


def _as_list(sources: Any) -> list[Any]:
    """List the sources; a frame or an array of one column is that column."""
    if isinstance(sources, (str, bytes, os.PathLike)) or hasattr(sources, "read"):
        raise ValueError(f"X must be a list of clips, got a single one: {sources!r}")
    if issparse(sources):
        raise ValueError("X must be a list of clips; sparse input is not supported")
    if hasattr(sources, "columns"):
        if len(sources.columns) != 1:
            raise ValueError(f"X must have one column of paths if it is a frame, got {len(sources.columns)}")
        return np.asarray(sources).ravel().tolist()
    array = sources if isinstance(sources, np.ndarray) else None
    if array is not None and array.ndim == 2 and array.dtype.kind in "OUT" and array.shape[1] == 1:
        return array.ravel().tolist()
    try:
        return list(sources)
    except TypeError as error:
        raise ValueError(f"X must be a list of clips, got {type(sources).__name__}") from error


def _as_clip(source: Any, array_rate: int | None, name: str) -> Clip:
    if isinstance(source, (str, os.PathLike)):
        return FileClip(source)
    if hasattr(source, "read"):
        return OpenFileClip(source, name)
    if isinstance(source, tuple) and len(source) == 2:
        return ArrayClip(*source, name)
    if isinstance(source, np.ndarray) and source.ndim:
        if array_rate is None:
            raise ValueError(f"{name} is an array without a sample rate; give (array, rate), or array_rate")
        return ArrayClip(source, array_rate, name)
    raise ValueError(f"{name}: expected a path, an open file, (array, rate) or an array, got {type(source).__name__}")


def _check_own_rate(rate: Any, name: str) -> int:
    if isinstance(rate, bool) or not isinstance(rate, (int, np.integer)) or rate < _LOWEST_RATE:
        expected = f"a whole number of samples per second, at least {_LOWEST_RATE}"
        raise AudioError(f"{name}: expected {expected}, got rate {rate!r}")
    return int(rate)


def _import_extra(module: str) -> Any:
    """Import what reads or resamples audio, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'reading audio needs {module}: pip install "scikit-ecoc-study[audio]"') from error


def _reason(error: Exception) -> str:
    """Say why, without the name of the file, which the message has already; empty if that would not be true."""
    reason = str(getattr(error, "error_string", error)).strip().removeprefix("Error : ")
    return "" if reason.startswith(_UNTRUE) else reason


def _damaged(reason: str) -> str:
    return f"is damaged or cut off: {reason}" if reason else "is damaged or cut off"


def _problem(start: bytes, reason: str) -> str:
    """Say what a file is that cannot be opened, judging by its first bytes and by what the library says."""
    is_mpeg = len(start) > 1 and start[0] == 0xFF and start[1] & 0xE0 == 0xE0
    if start.startswith(_AUDIO_STARTS) or is_mpeg:
        if reason.startswith(_UNIMPLEMENTED):
            return "is damaged, cut off or in a format that is not supported"
        return _damaged(reason)
    for beginning, kind in _OTHER_STARTS.items():
        if start.startswith(beginning):
            return f"is {kind}, not audio"
    if not start.strip(b"\x00"):
        return "holds zeros, not audio"
    if _is_text(start):
        return "is text, not audio"
    return f"cannot be read as audio: {reason or 'it begins like no format that is known'}"


def _is_text(start: bytes) -> bool:
    """Tell whether bytes are text; the last character may be cut off."""
    try:
        text = start.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 3:
            return False
        text = start[: error.start].decode("utf-8")
    return all(mark.isprintable() or mark.isspace() for mark in text)
