"""``skecoc music``: from folders of audio to features, a comparison of codes, a model, and genres of new files."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc.benchmarking.methods import WOLC_CODINGS, coding_of, make_classifier, make_learner
from skecoc.cli import console
from skecoc.music import ModulationFeatures, feature_names
from skecoc.music.clips import as_clips
from skecoc.music.experiment import (
    MUSIC_METHODS,
    MusicComparison,
    MusicData,
    check_music_methods,
    compare_music,
    growth_csv,
    growth_picture,
    music_accuracy_table,
    music_length_table,
)
from skecoc.music.extraction import FeatureCache, default_cache_folder, extract
from skecoc.music.folders import Collection, read_collection, report_problems
from skecoc.music.frontends import RATES
from skecoc.music.modulation import FEATURE_CHOICES, FEATURES
from skecoc.persistence import ModelFileError, dump_model, load_model
from skecoc.reports.tables import to_csv, to_markdown, to_text
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_bytes, write_text

_TABLE_SUFFIXES = (".csv", ".parquet")
_FIGURE_SUFFIXES = (".svg", ".png", ".csv")
_LEARNER_HELP = "the binary learner: svm (RBF, tuned; the default), stumps, or an import path"
# Genres that a line of `predict` shows, the most probable first.
_SHOWN_GENRES = 3
_EPILOG = """\
FOLDER has one folder per genre: FOLDER/jazz/Artist-Title.mp3, FOLDER/rock/... MP3, WAV, FLAC
and OGG are read at any sample rate. Features are kept, so that no file is analysed twice.

examples:
  skecoc music extract music --output features.csv
  skecoc music compare music --group-by artist
  skecoc music train music -o genres.skops
  skecoc music predict genres.skops new/*.mp3"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command and its four parts."""
    parser = add_parser(
        "music",
        description="Genres of music from audio files, by the modulation spectra of MFCC, OSC and NASE.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=lambda _: parser.print_help())
    parts = parser.add_subparsers(title="parts", metavar="PART")
    for add_part in (_add_extract, _add_compare, _add_train, _add_predict):
        add_part(parts.add_parser)


def _add_extract(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music extract`."""
    parser = add_parser("extract", help="compute features and keep them")
    parser.set_defaults(run=_extract)
    _add_folder(parser)
    group = parser.add_argument_group("what comes out")
    group.add_argument("--feature", choices=FEATURE_CHOICES, default="all", help="default: all")
    group.add_argument("--output", type=Path, metavar="FILE", help="also write a table, .csv or .parquet")


def _add_compare(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music compare`."""
    parser = add_parser("compare", help="compare codes by cross-validation")
    parser.set_defaults(run=_compare)
    _add_folder(parser)
    what = parser.add_argument_group("what is compared")
    what.add_argument("--features", nargs="+", choices=FEATURE_CHOICES, default=list(FEATURES), metavar="FEATURE")
    what.add_argument("--methods", nargs="+", default=list(MUSIC_METHODS), metavar="METHOD", help="coding/decoding")
    what.add_argument("--learner", default="svm", help=_LEARNER_HELP)
    how = parser.add_argument_group("how")
    how.add_argument(
        "--group-by",
        choices=["none", "artist", "track"],
        default="none",
        help="keep an artist's or a track's clips on one side of every split (default: none)",
    )
    console.add_splits(how, folds=10)
    where = parser.add_argument_group("what comes out")
    console.add_output(where, ["table", "markdown", "csv", "json"])
    where.add_argument(
        "--convergence", type=Path, metavar="FILE", help="also write the growth of WOLC-ECOC: .svg, .png or .csv"
    )


def _add_train(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music train`."""
    parser = add_parser("train", help="train a model")
    parser.set_defaults(run=_train)
    _add_folder(parser)
    group = parser.add_argument_group("model")
    group.add_argument("-o", "--output", type=Path, metavar="MODEL", required=True, help="the file to write")
    group.add_argument("--feature", choices=FEATURE_CHOICES, default="all", help="default: all")
    group.add_argument(
        "--method", default="wolc/optimized-weight", help="coding/decoding (default: wolc/optimized-weight)"
    )
    group.add_argument("--learner", default="svm", help=_LEARNER_HELP)
    console.add_seed(group)


def _add_predict(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music predict`."""
    parser = add_parser("predict", help="predict the genres of files")
    parser.set_defaults(run=_predict)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that `skecoc music train` wrote")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="audio files")
    console.add_output(parser, ["table", "csv", "json"])
    _add_analysis(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of parts that read a folder of music."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder with one folder of audio per genre")
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--rate",
        type=int,
        choices=RATES,
        help="sample rate of the analysis (default: 44100 if all files have that or more, else 22050)",
    )
    group.add_argument("--dortmund", action="store_true", help="check that FOLDER is the Dortmund set")
    _add_analysis(group)


def _add_analysis(group: argparse._ActionsContainer) -> None:
    """Add the options of parts that analyse audio."""
    group.add_argument(
        "--on-error",
        choices=["skip", "raise"],
        default="skip",
        help="files that are not audio: leave them out and say so (skip, the default), or end (raise)",
    )
    console.add_jobs(group)
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="where features are kept (default: skecoc/audio in the user's cache)",
    )
    where.add_argument("--no-cache", action="store_true", help="keep nothing")


def _extract(options: argparse.Namespace) -> None:
    """Run `music extract`."""
    if options.output is not None:
        _check_suffix("--output", options.output, _TABLE_SUFFIXES)
    elif options.no_cache:
        raise InputError("--no-cache needs --output: nothing would be kept")
    music = _read_folder(options)
    if options.output is not None:
        _write_table(options.output, music, options.feature)
    console.say(music.describe())


def _compare(options: argparse.Namespace) -> None:
    """Run `music compare`."""
    methods = check_music_methods(options.methods)
    make_learner(options.learner)
    if options.output is not None:
        check_writable("--output", options.output)
    if options.convergence is not None:
        _check_suffix("--convergence", options.convergence, _FIGURE_SUFFIXES)
        if not any(coding_of(method) in WOLC_CODINGS for method in methods):
            raise InputError("--convergence: expected a method that grows a WOLC code, such as wolc, in --methods")
    music = _read_folder(options)
    groups = {"none": None, "artist": music.artists, "track": music.tracks}[options.group_by]
    comparison = compare_music(
        MusicData({name: music.feature(name) for name in dict.fromkeys(options.features)}, music.genres, groups),
        options.methods,
        learner=options.learner,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
    )
    console.deliver(_format_comparison(comparison, options), options.output)
    if options.convergence is not None:
        _write_convergence(options.convergence, comparison)


def _train(options: argparse.Namespace) -> None:
    """Run `music train`."""
    check_writable("--output", options.output)
    (method,) = check_music_methods([options.method])
    classifier = make_classifier(method, make_learner(options.learner), options.seed)
    with _model_errors():
        dump_model(classifier)  # what cannot be saved is refused before any work
    music = _read_folder(options)
    scaler = MinMaxScaler()
    X = scaler.fit_transform(music.feature(options.feature))
    try:
        # The model's file tells nothing of this machine: neither the number of jobs nor the cache is a part of it.
        with parallel_config(n_jobs=options.jobs):
            classifier.fit(X, music.genres)
    except ValueError as error:
        raise InputError(f"cannot train {method!r}: {error}") from error
    features = ModulationFeatures(options.feature, rate=music.rate).fit([])
    model = Pipeline([("features", features), ("scale", scaler), ("classify", classifier)])
    with _model_errors():
        content = dump_model(model)
    write_bytes("--output", options.output, content)
    console.say(f"{music.describe()}; model written to {options.output}")


def _predict(options: argparse.Namespace) -> None:
    """Run `music predict`."""
    if options.output is not None:
        check_writable("--output", options.output)
    with _model_errors():
        model = load_model(options.model)
    if not isinstance(model, Pipeline) or not isinstance(model[0], ModulationFeatures):
        raise InputError(f"'{options.model}' is a model, but not one that `skecoc music train` wrote")
    features = model[0]
    clips = as_clips([str(path) for path in options.files])
    with _analysis(options) as settings:
        found = extract(clips, features.feature, features.rate_, **settings)
    report_problems(found, clips, options.on_error, console.say)
    read = [position for position in range(len(clips)) if position not in found.errors]
    if not read:
        raise InputError("none of the files can be read")
    probabilities = model[1:].predict_proba(found.values[read])
    paths = [str(options.files[position]) for position in read]
    console.deliver(_format_predictions(paths, model.classes_.tolist(), probabilities, options.format), options.output)


def _read_folder(options: argparse.Namespace) -> Collection:
    """Compute all features of the folder that the options name."""
    with _analysis(options) as settings:
        return read_collection(
            options.folder,
            say=console.say,
            dortmund=options.dortmund,
            on_error=options.on_error,
            rate=options.rate,
            **settings,
        )


@contextmanager
def _analysis(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the cache, jobs and progress bar of an extraction; if it is interrupted, say what is kept."""
    cache = None if options.no_cache else FeatureCache(options.cache or default_cache_folder())
    if cache is not None:  # made at once, so that a wrong one is noticed before any work
        try:
            cache.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--cache: cannot make the folder '{cache.folder}': {error.strerror}") from error
    try:
        yield {"cache": cache, "n_jobs": options.jobs, "show_progress": sys.stderr.isatty()}
    except ImportError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:
        if cache is not None:
            console.say(f"what is done is kept in {cache.folder}, and the same command goes on from there")
        raise


@contextmanager
def _model_errors() -> Iterator[None]:
    """Say in one line why a model cannot be saved or loaded."""
    try:
        yield
    except (ModelFileError, ImportError) as error:
        raise InputError(str(error)) from error


def _check_suffix(argument: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, or of a kind that is not known."""
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{argument}: expected a name that ends in {' or '.join(suffixes)}, got '{path}'")
    check_writable(argument, path)


def _write_table(path: Path, music: Collection, feature: str) -> None:
    """Write features as a table: path below the folder, genre, and a column per feature."""
    names, values = feature_names(feature, music.rate), music.feature(feature)
    inside = [Path(clip).relative_to(music.root).as_posix() for clip in music.paths.tolist()]
    if path.suffix.lower() == ".parquet":
        write_bytes("--output", path, _parquet(inside, music.genres.tolist(), names, values))
        return
    write_text("--output", path, _csv(names, inside, music.genres.tolist(), values))


def _csv(names: list[str], paths: list[str], genres: list[str], values: Any) -> str:
    """Write a line per clip: its path, its genre, and named values."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["path", "genre", *names])
    lines.writerows([path, genre, *row] for path, genre, row in zip(paths, genres, values.tolist(), strict=True))
    return text.getvalue()


def _parquet(paths: list[str], genres: list[str], names: list[str], values: Any) -> bytes:
    """Write features in the format of Parquet."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError('writing Parquet needs pyarrow: pip install "scikit-ecoc[table]"') from error
    table = pa.table({"path": paths, "genre": genres, **dict(zip(names, values.T, strict=True))})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def _write_convergence(path: Path, comparison: MusicComparison) -> None:
    """Write the growth of WOLC-ECOC, as a picture or as numbers."""
    if path.suffix.lower() == ".csv":
        write_text("--convergence", path, growth_csv(comparison))
        return
    try:
        picture = growth_picture(comparison)
    except ImportError as error:
        raise InputError(f"--convergence: {error}") from error
    if path.suffix.lower() == ".png":
        write_bytes("--convergence", path, picture.png(dpi=150))
    else:
        write_text("--convergence", path, picture.svg())


def _format_comparison(comparison: MusicComparison, options: argparse.Namespace) -> str:
    """Write a comparison in the chosen format."""
    if options.format == "json":
        return json.dumps(comparison.to_dict(), indent=1) + "\n"
    tables = [music_accuracy_table(comparison), music_length_table(comparison)]
    if options.format == "csv":
        return to_csv(tables[0])
    if options.format == "markdown":
        return "\n".join(map(to_markdown, tables))
    return "\n".join(to_text(table, console.terminal_width(options)) for table in tables)


def _format_predictions(paths: list[str], genres: list[str], probabilities: Any, form: str) -> str:
    """Write genres and probabilities in the chosen format."""
    best = [genres[index] for index in np.argmax(probabilities, axis=1)]
    if form == "json":
        content = [
            {"path": path, "genre": genre, "probabilities": dict(zip(genres, row, strict=True))}
            for path, genre, row in zip(paths, best, probabilities.tolist(), strict=True)
        ]
        return json.dumps(content, indent=1) + "\n"
    if form == "csv":
        return _csv(genres, paths, best, probabilities)
    width = max(map(len, paths))
    return "".join(f"{path:<{width}}  {_likely(genres, row)}\n" for path, row in zip(paths, probabilities, strict=True))


def _likely(genres: list[str], probabilities: Any) -> str:
    """Name the most probable genres."""
    order = np.argsort(-probabilities, kind="stable")[:_SHOWN_GENRES]
    return ", ".join(f"{genres[index]} {100 * probabilities[index]:.0f} %" for index in order)
