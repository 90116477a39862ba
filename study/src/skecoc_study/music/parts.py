"""The four parts of ``skecoc music``: features, a comparison of codes, a model, and genres of new files."""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skecoc.cli.plugins import (
    InputError,
    check_different,
    check_page,
    check_writable,
    deliver,
    say,
    terminal_width,
    write_bytes,
    write_text,
)
from skecoc.persistence import ModelFileError, dump_model, load_model
from skecoc.reports import model_page, to_csv, to_markdown, to_text
from skecoc.tables import calibration_bins, describe_model
from skecoc_study.music import ModulationFeatures, feature_names
from skecoc_study.music.clips import as_clips
from skecoc_study.music.experiment import MusicComparison, MusicData, compare_music
from skecoc_study.music.extraction import FeatureCache, default_cache_folder
from skecoc_study.music.extraction import extract as extract_features
from skecoc_study.music.folders import Collection, find_audio, read_collection, report_problems
from skecoc_study.music.methods import check_music_methods, make_music_classifier
from skecoc_study.music.modulation import FEATURES
from skecoc_study.music.output import (
    features_csv,
    features_parquet,
    format_predictions,
    growth_csv,
    growth_picture,
    music_accuracy_table,
    music_length_table,
)
from skecoc_study.music.training import Recipe, choose_recipe, evaluate, fit_model, make_card

_TABLE_SUFFIXES = (".csv", ".parquet")
_FIGURE_SUFFIXES = (".svg", ".png", ".csv")


def extract(options: argparse.Namespace) -> None:
    """Run `music extract`."""
    if options.output is not None:
        _check_suffix("--output", options.output, _TABLE_SUFFIXES)
    elif options.no_cache:
        raise InputError("--no-cache needs --output, otherwise nothing would be stored")
    music = _read_folder(options)
    if options.output is not None:
        _write_table(options.output, music, options.feature)
    say(music.describe())


def compare(options: argparse.Namespace) -> None:
    """Run `music compare`."""
    methods = check_music_methods(options.methods)
    for method in methods:
        make_music_classifier(method, options.learner, options.seed)  # unknown learners are refused at once
    if options.output is not None:
        check_writable("--output", options.output)
    if options.convergence is not None:
        _check_suffix("--convergence", options.convergence, _FIGURE_SUFFIXES)
        if not any(method.startswith("wolc") for method in methods):
            raise InputError("--convergence: expected a method that grows a WOLC code, such as wolc, in --methods")
    comparison = compare_folder(options, methods)
    if options.format in ("csv", "json") or options.output is not None:  # tables have them below
        for note in comparison.notes:
            say(f"note: {note}")
    deliver(_format_comparison(comparison, options), options.output)
    if options.convergence is not None:
        _write_convergence(options.convergence, comparison)


def compare_folder(options: argparse.Namespace, methods: list[str]) -> MusicComparison:
    """Read a folder and compare methods on it, with the other options of `music compare`."""
    music = _read_folder(options)
    features = {name: music.feature(name) for name in dict.fromkeys(options.features)}
    blocks = {name: music.feature(name) for name in FEATURES}
    return compare_music(
        MusicData(features, music.genres, _groups(music, options.group_by), blocks),
        methods,
        learner=options.learner,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
    )


def _groups(music: Collection, group_by: str) -> NDArray[Any] | None:
    """Return what is kept on one side of every split."""
    return {"none": None, "artist": music.artists, "track": music.tracks}[group_by]


def train(options: argparse.Namespace) -> None:
    """Run `music train`."""
    check_writable("--output", options.output)
    check_page("--report", options.report)
    check_different({"--output": options.output, "--report": options.report}, {})
    recipe = choose_recipe(options.method, options.feature, options.learner, options.seed)
    with _model_errors():
        dump_model(recipe.classifier())  # what cannot be saved is refused before any work
    music = _read_folder(options)
    groups, is_terminal = _groups(music, options.group_by), sys.stderr.isatty()
    found = evaluate(music, recipe, groups, folds=options.folds, n_jobs=options.jobs, show_progress=is_terminal)
    for note in found.comparison.notes:
        say(f"note: {note}")
    model = fit_model(music, recipe, options.jobs)
    model[0].card_ = {
        **make_card(music, recipe, found, model[-1], "" if groups is None else options.group_by),
        "command": _command(options, music, recipe),
        "calibration": calibration_bins(found.probabilities, found.truth),
    }
    with _model_errors():
        content = dump_model(model)
    page = "" if options.report is None else model_page(describe_model(model))
    write_bytes("--output", options.output, content)
    say(f"{music.describe()}; model written to {options.output}")
    if options.report is not None:
        write_text("--report", options.report, page)
        say(f"report written to {options.report}")
    deliver(f"{recipe.method}: {found.headline()}\n")
    for warning in found.warnings():
        say(f"warning: {warning}")


def _command(options: argparse.Namespace, music: Collection, recipe: Recipe) -> str:
    """Write the command that repeats a training; of paths, it has the names only."""
    words = ["skecoc music train", shlex.quote(music.root.resolve().name), "-o", shlex.quote(options.output.name)]
    words += ["--feature", recipe.feature, "--method", recipe.method, "--rate", str(music.rate)]
    words += [] if recipe.learner is None else ["--learner", shlex.quote(recipe.learner)]
    words += ["--group-by", options.group_by, "--folds", str(options.folds), "--seed", str(recipe.seed)]
    return " ".join(words)


def predict(options: argparse.Namespace) -> None:
    """Run `music predict`."""
    if options.output is not None:
        check_writable("--output", options.output)
    with _model_errors():
        model = load_model(options.model)
    if not isinstance(model, Pipeline) or not isinstance(model[0], ModulationFeatures):
        raise InputError(f"'{options.model}' is a model, but was not written by `skecoc music train`")
    features = model[0]
    files, empty = find_audio(options.files)
    for folder in empty:
        if options.on_error == "raise":
            raise InputError(f"'{folder}' holds no audio")
        say(f"left out: '{folder}' holds no audio")
    clips = as_clips(files)
    with _analysis(options) as settings:
        found = extract_features(clips, features.feature, features.rate_, **settings)
    report_problems(found, clips, options.on_error, say)
    read = [position for position in range(len(clips)) if position not in found.errors]
    if not read:
        raise InputError("none of the files can be read")
    probabilities = model[1:].predict_proba(found.values[read])
    paths = [files[position] for position in read]
    deliver(format_predictions(paths, model.classes_, probabilities, options.format), options.output)


def _read_folder(options: argparse.Namespace) -> Collection:
    with _analysis(options) as settings:
        return read_collection(
            options.folder,
            say=say,
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
            say(f"finished files are stored in {cache.folder}, and the same command continues from there")
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
    inside = [Path(clip).relative_to(music.root).as_posix() for clip in music.paths.tolist()]
    columns = inside, music.genres.tolist(), feature_names(feature, music.rate), music.feature(feature)
    if path.suffix.lower() != ".parquet":
        write_text("--output", path, features_csv(*columns))
        return
    try:
        content = features_parquet(*columns)
    except ImportError as error:
        raise InputError(str(error)) from error
    write_bytes("--output", path, content)


def _write_convergence(path: Path, comparison: MusicComparison) -> None:
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
    if options.format == "json":
        return json.dumps(comparison.to_dict(), indent=1) + "\n"
    both = [music_accuracy_table(comparison), music_length_table(comparison)]
    if options.format == "csv":
        return to_csv(both[0])
    if options.format == "markdown":
        return "\n".join(map(to_markdown, both))
    return "\n".join(to_text(table, terminal_width(options)) for table in both)
