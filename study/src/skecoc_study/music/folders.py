"""Folders of music with one folder per genre: paths, genres, artists and tracks."""

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skecoc.cli.plugins import InputError
from skecoc_study.music.clips import Clip, FileClip, as_clips, choose_rate, listing
from skecoc_study.music.extraction import Extraction, FeatureCache, extract, read_rates
from skecoc_study.music.frontends import Floats
from skecoc_study.music.modulation import feature_slices

Texts = NDArray[np.str_]

_SUFFIXES = frozenset(
    f".{name}" for name in ("aif", "aiff", "au", "caf", "flac", "mp3", "oga", "ogg", "opus", "rf64", "w64", "wav")
)
# What the name of a clip cut from a track ends in: where it begins.
_CLIP_NUMBER = re.compile(r"@\d+$")
_ON_ERROR = {"raise": True, "skip": False}

#: Genres of the Dortmund set, and the number of clips of each.
DORTMUND_COUNTS: Mapping[str, int] = MappingProxyType(
    {"alternative": 145, "blues": 120, "electronic": 113, "folkcountry": 222, "funksoulrnb": 47}
    | {"jazz": 319, "pop": 116, "raphiphop": 300, "rock": 504}
)


def load_audio_folder(root: str | os.PathLike[str], *, on_error: str = "skip") -> Bunch:
    """List the audio files of a folder with one subfolder per genre.

    Only the headers of files are read; `skecoc_study.music.ModulationFeatures` computes features from the paths.
    Requires ``pip install "scikit-ecoc-study[audio]"``.

    Parameters
    ----------
    root : str or path-like
        The folder. Each of its subfolders is a genre, with audio files at any depth; names that begin with a dot are
        ignored.
    on_error : {"skip", "raise"}, default="skip"
        Whether to skip files that are not audio, and genres without audio, with a warning, or to raise an error.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        With

        data, target : ndarrays of str of shape (n_clips,)
            Paths of the files, sorted, and the genre of each.
        target_names : ndarray of str of shape (n_genres,)
            The genres, sorted.
        artists : ndarray of str of shape (n_clips,)
            The artist, from ``rock/Artist/...`` or ``rock/Artist-Title.mp3``; otherwise the name of the file.
        tracks : ndarray of str of shape (n_clips,)
            The track of the clip: ``rock/song@30.flac`` and ``rock/song@60.flac`` belong to the same track.
        skipped : dict of str to str
            Paths that were skipped, with the reason.
        DESCR, filename : str
            One line that describes the collection, and the folder.

    Raises
    ------
    ValueError
        If the folder does not exist or has fewer than two genres with audio, or for a bad file if ``on_error="raise"``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import soundfile
    >>> from skecoc_study.music import load_audio_folder
    >>> with tempfile.TemporaryDirectory() as root:
    ...     for name in ["jazz/Ann-Blue.wav", "jazz/Ann-Red.wav", "rock/Bob-Hey.wav"]:
    ...         Path(root, name).parent.mkdir(exist_ok=True)
    ...         soundfile.write(Path(root, name), np.zeros(100), 44100)
    ...     music = load_audio_folder(root)
    >>> music.target.tolist(), music.artists.tolist()
    (['jazz', 'jazz', 'rock'], ['Ann', 'Ann', 'Bob'])
    """
    return _load(Path(root), sorted(_genre_folders(root)), on_error)


def load_dortmund(root: str | os.PathLike[str], *, on_error: str = "skip") -> Bunch:
    """List the files of the Dortmund music set, which is available from its authors.

    It has 1,886 clips of ten seconds in nine genres [1]_. A warning is given if folders or counts differ from the
    published ones.

    Parameters
    ----------
    root : str or path-like
        The folder with the nine genre folders.
    on_error : {"skip", "raise"}, default="skip"
        See `load_audio_folder`.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        See `load_audio_folder`. The clips of an artist may belong to several genres.

    References
    ----------
    .. [1] H. Homburg, I. Mierswa, B. Möller, K. Morik and M. Wurst. A benchmark dataset for audio classification and
       clustering. International Conference on Music Information Retrieval, 528-531, 2005.

    Examples
    --------
    >>> from skecoc_study.music import load_dortmund
    >>> load_dortmund("no-such-folder")
    Traceback (most recent call last):
    ...
    ValueError: root='no-such-folder' is not a folder
    """
    folders = _genre_folders(root)
    if not folders & set(DORTMUND_COUNTS):
        raise ValueError(f"root={str(root)!r} has none of the folders {', '.join(DORTMUND_COUNTS)}")
    bunch = _load(Path(root), sorted(folders & set(DORTMUND_COUNTS)), on_error)
    differences = list(_dortmund_differences(bunch, folders))
    if differences:
        warnings.warn(f"not the published Dortmund set: {'; '.join(differences)}", UserWarning, stacklevel=2)
    return bunch


@dataclass(frozen=True)
class Collection:
    """All features of a folder of music, and what is known of each clip."""

    root: Path
    paths: Texts
    genres: Texts
    artists: Texts
    tracks: Texts
    values: Floats
    rate: int  # the sample rate that clips were analysed at

    def feature(self, name: str) -> Floats:
        """Return the columns of one feature, or "all"."""
        return self.values[:, feature_slices(self.rate)[name]]

    def describe(self) -> str:
        """Say how many clips and genres there are."""
        n_genres = len(np.unique(self.genres))
        return f"{len(self.paths)} clips of {n_genres} genres, analysed at {self.rate} Hz"


def read_collection(
    folder: Path,
    *,
    say: Callable[[str], None],
    dortmund: bool = False,
    on_error: str = "skip",
    rate: int | None = None,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Collection:
    """Compute all features of a folder of music, and say one line about each file left out."""
    music = _listed(folder, load_dortmund if dortmund else load_audio_folder, on_error, say)
    clips = as_clips(music.data)
    rate = rate or choose_rate(read_rates(clips)[0])
    found = extract(clips, "all", rate, cache=cache, n_jobs=n_jobs, show_progress=show_progress)
    report_problems(found, clips, on_error, say)
    read = np.array([position not in found.errors for position in range(len(clips))])
    genres = music.target[read]
    if len(np.unique(genres)) < 2:
        raise InputError(f"folder='{folder}': fewer than two genres have audio that can be read")
    return Collection(
        folder, music.data[read], genres, music.artists[read], music.tracks[read], found.values[read], rate
    )


def find_audio(paths: Sequence[Path]) -> tuple[list[str], list[str]]:
    """List files, and those in folders and below that are audio by their names, each once; and folders without any.

    Names that begin with a dot are passed over in folders, but not if they are given.
    """
    files: dict[str, None] = {}
    empty = []
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = sorted(
                file
                for file in path.rglob("*")
                if file.suffix.lower() in _SUFFIXES
                and file.is_file()
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            )
        files.update(dict.fromkeys(map(str, inside)))
        if not inside:
            empty.append(str(path))
    return list(files), empty


def report_problems(found: Extraction, clips: Sequence[Clip], on_error: str, say: Callable[[str], None]) -> None:
    """Say which clips could not be read, or refuse them, and which are short."""
    if found.errors and on_error == "raise":
        raise InputError(listing(list(found.errors.values())))
    for message in found.errors.values():
        say(f"left out: {message}")
    for remark in found.remarks(clips):
        say(f"note: {remark}")


def _listed(folder: Path, load: Callable[..., Bunch], on_error: str, say: Callable[[str], None]) -> Bunch:
    """List the audio of a folder; a line about each file left out takes the place of the warning that names them."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            music = load(folder, on_error=on_error)
    except ValueError as error:
        raise InputError(str(error).replace("root=", "folder=", 1)) from error
    for path, reason in music.skipped.items():
        say(f"left out: '{path}' {reason}")
    for warning in caught:
        if not str(warning.message).startswith("left out"):
            say(f"note: {warning.message}")
    return music


def _dortmund_differences(bunch: Bunch, folders: set[str]) -> Iterator[str]:
    """Say what differs from the published set."""
    counts = Counter(bunch.target.tolist())
    for genre, expected in DORTMUND_COUNTS.items():
        if genre not in folders:
            yield f"there is no folder {genre}"
        elif counts[genre] != expected:
            yield f"{genre} has {counts[genre]} clips, expected {expected}"
    unknown = sorted(folders - set(DORTMUND_COUNTS))
    if unknown:
        yield f"left out {listing(unknown)}"


def _genre_folders(root: str | os.PathLike[str]) -> set[str]:
    """Name the folders of a folder, without hidden ones."""
    if not Path(root).is_dir():
        raise ValueError(f"root={str(root)!r} is not a folder")
    return {path.name for path in Path(root).iterdir() if path.is_dir() and not path.name.startswith(".")}


def _load(root: Path, genres: list[str], on_error: str) -> Bunch:
    """List the readable files of some genres; refuse or warn of all others, and refuse fewer than two genres."""
    if on_error not in _ON_ERROR:
        raise ValueError(
            f"on_error={on_error!r} is not known; expected one of {', '.join(map(repr, sorted(_ON_ERROR)))}"
        )
    refuse = _ON_ERROR[on_error]
    bunch = _list_files(root, genres)
    names = listing([f"{path!r} {reason}" for path, reason in bunch.skipped.items()])
    if names and refuse:
        raise ValueError(f"root={bunch.filename!r} holds what is not audio: {names}")
    if names:
        warnings.warn(f"left out: {names}", UserWarning, stacklevel=3)
    if len(bunch.target_names) < 2:
        found = ", ".join(map(repr, bunch.target_names.tolist())) or "none"
        raise ValueError(f"root={str(root)!r} must hold a folder per genre, at least two with audio; found {found}")
    return bunch


def _list_files(root: Path, genres: list[str]) -> Bunch:
    """List the files of some genres: those that can be read, and why others cannot."""
    strays = sorted(path for path in root.iterdir() if path.is_file() and not path.name.startswith("."))
    skipped = {str(path): "is not in a genre's folder" for path in strays}
    found: list[tuple[str, str, str, str]] = []
    for genre in genres:
        n_before = len(found)
        for path in sorted((root / genre).rglob("*")):
            inside = path.relative_to(root / genre)
            if not path.is_file() or any(part.startswith(".") for part in inside.parts):
                continue
            is_named_so = path.suffix.lower() in _SUFFIXES
            reason = FileClip(path).header_problem() if is_named_so else "is not an audio file, judging by its name"
            if reason is None:
                track = _CLIP_NUMBER.sub("", inside.with_suffix("").as_posix())
                artist = inside.parts[0] if len(inside.parts) > 1 else inside.stem.partition("-")[0].strip()
                found.append((str(path), genre, artist or inside.stem, f"{genre}/{track}"))
            else:
                skipped[str(path)] = reason
        if len(found) == n_before:
            skipped[str(root / genre)] = "holds no audio"
    columns = np.array(found, dtype=str).reshape(-1, 4).T
    genres_found = np.unique(columns[1])
    return Bunch(
        data=columns[0],
        target=columns[1],
        target_names=genres_found,
        artists=columns[2],
        tracks=columns[3],
        skipped=skipped,
        DESCR=f"{root.name}: {len(found)} clips of {len(genres_found)} genres",
        filename=str(root),
    )
