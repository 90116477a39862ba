"""What the music commands share: from a folder of audio to features, with a word about every file left out."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skecoc.cli.console import add_jobs, say
from skecoc.music import load_audio_folder, load_dortmund
from skecoc.music.cache import FeatureCache, default_cache_folder
from skecoc.music.clips import Clip, as_clips, choose_rate
from skecoc.music.extraction import Extraction, extract, read_rates
from skecoc.music.modulation import feature_slices
from skecoc.music.spectra import RATES
from skecoc.support.errors import InputError

Floats = NDArray[np.float64]
Texts = NDArray[np.str_]

# At most this many files are named in one line.
_MOST_NAMES = 5


@dataclass(frozen=True)
class Collection:
    """Features of a folder of music.

    Attributes
    ----------
    root : pathlib.Path
        The folder.
    paths, genres, artists, tracks : ndarray of str of shape (n_clips,)
        What is known of each clip.
    values : ndarray of shape (n_clips, n_features)
        All features.
    rate : int
        The sample rate that clips were analysed at.
    """

    root: Path
    paths: Texts
    genres: Texts
    artists: Texts
    tracks: Texts
    values: Floats
    rate: int

    def feature(self, name: str) -> Floats:
        """Return the columns of one feature.

        Parameters
        ----------
        name : {"mmfcc", "mosc", "mnase", "all"}
            The feature.

        Returns
        -------
        ndarray of shape (n_clips, n_features)
            Its columns.
        """
        return self.values[:, feature_slices(self.rate)[name]]

    def describe(self) -> str:
        """Say how much there is.

        Returns
        -------
        str
            Numbers of clips and genres, and the sample rate.
        """
        n_genres = len(np.unique(self.genres))
        return f"{len(self.paths)} clips of {n_genres} genres, analysed at {self.rate} Hz"


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of commands that read a folder of music.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Where to add them.
    """
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder with one folder of audio per genre")
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--rate",
        type=int,
        choices=RATES,
        help="sample rate of the analysis (default: 44100 if all files have that or more, else 22050)",
    )
    group.add_argument(
        "--on-error",
        choices=["skip", "raise"],
        default="skip",
        help="files that are not audio: leave them out and say so (skip, the default), or end (raise)",
    )
    group.add_argument("--dortmund", action="store_true", help="check that FOLDER is the Dortmund set")
    add_cache(group)
    add_jobs(group)


def add_cache(group: argparse._ActionsContainer) -> None:
    """Add the options of the cache.

    Parameters
    ----------
    group : argument parser or group
        Where to add them.
    """
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="where features are kept (default: skecoc/music in the user's cache)",
    )
    where.add_argument("--no-cache", action="store_true", help="keep nothing")


def cache_of(options: argparse.Namespace) -> FeatureCache | None:
    """Return the cache that the options ask for.

    Parameters
    ----------
    options : argparse.Namespace
        With the options of `add_cache`.

    Returns
    -------
    FeatureCache or None
        None for ``--no-cache``.

    Raises
    ------
    InputError
        If the folder cannot be made.
    """
    if options.no_cache:
        return None
    folder = default_cache_folder() if options.cache is None else options.cache
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--cache: cannot make the folder '{folder}': {error.strerror}") from error
    return FeatureCache(folder)


def read_collection(options: argparse.Namespace) -> Collection:
    """Read the folder that the options name, and compute all features.

    Parameters
    ----------
    options : argparse.Namespace
        With the arguments of `add_folder`.

    Returns
    -------
    Collection
        The clips that could be read.

    Raises
    ------
    InputError
        If there is no such folder, fewer than two genres, or files that are not audio and ``--on-error raise``.
    """
    music = _list_files(options)
    clips = as_clips(music.data)
    rate = options.rate or choose_rate(read_rates(clips)[0])
    found = extract_clips(clips, "all", rate, options)
    report_problems(found, [clip.name for clip in clips], options.on_error)
    read = np.array([position not in found.errors for position in range(len(clips))])
    genres = music.target[read]
    if len(np.unique(genres)) < 2:
        raise InputError(f"folder='{options.folder}': fewer than two genres have audio that can be read")
    return Collection(
        options.folder, music.data[read], genres, music.artists[read], music.tracks[read], found.values[read], rate
    )


def extract_clips(clips: Sequence[Clip], feature: str, rate: int, options: argparse.Namespace) -> Extraction:
    """Compute features with the cache and the jobs that the options ask for, and a progress bar.

    Parameters
    ----------
    clips : sequence of Clip
        The clips.
    feature : {"mmfcc", "mosc", "mnase", "all"}
        What to compute.
    rate : {22050, 44100}
        The sample rate of the analysis.
    options : argparse.Namespace
        With the options of `add_cache` and `add_jobs`.

    Returns
    -------
    Extraction
        The features, and what went wrong.

    Raises
    ------
    InputError
        If the cache cannot be made, or a package is missing.
    """
    cache = cache_of(options)
    try:
        return extract(clips, feature, rate, cache=cache, n_jobs=options.jobs, show_progress=sys.stderr.isatty())
    except ImportError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:
        if cache is not None:
            say(f"what is done is kept in {cache.folder}, and the same command goes on from there")
        raise


def report_problems(found: Extraction, names: list[str], on_error: str) -> None:
    """Say which clips could not be read, and which are short.

    Parameters
    ----------
    found : Extraction
        What was found.
    names : list of str
        Names of the clips.
    on_error : {"skip", "raise"}
        Whether unreadable clips are left out, or end the command.

    Raises
    ------
    InputError
        If clips could not be read and ``on_error="raise"``.
    """
    if found.errors and on_error == "raise":
        raise InputError(_listing(list(found.errors.values()), "; "))
    for message in found.errors.values():
        say(f"left out: {message}")
    if found.short:
        short = _listing([names[position] for position in found.short], ", ")
        say(f"note: shorter than 5.9 s, and therefore repeated: {short}")
    if found.unsaved is not None:
        say(f"note: features could not be kept: {found.unsaved}")


def _list_files(options: argparse.Namespace) -> Bunch:
    """List the audio of the folder; say one line about each file left out."""
    load = load_dortmund if options.dortmund else load_audio_folder
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            music = load(options.folder, on_error=options.on_error)
    except (ValueError, ImportError) as error:
        raise InputError(str(error).replace("root=", "folder=", 1)) from error
    for path, reason in music.skipped.items():
        say(f"left out: '{path}' {reason}")
    for warning in caught:
        if not str(warning.message).startswith("left out"):
            say(f"note: {warning.message}")
    return music


def _listing(names: list[str], separator: str) -> str:
    """Join the first few names."""
    shown = separator.join(names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
