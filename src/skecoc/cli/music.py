"""``skecoc music``: what the four parts take; `music_parts` does what they say."""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from skecoc.cli import console

# Names that --help lists, as plain text: the registries themselves would load numpy and scikit-learn.
FEATURES = ("mmfcc", "mosc", "mnase")
RATES = (22050, 44100)
DEFAULT_METHODS = (
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-weighted",
    "decoc/loss-weighted",
    "ecoc-one/loss-weighted",
    "wolc/optimized-weight",
    "mixed-features/logistic-weight",
)

_FEATURE_CHOICES = (*FEATURES, "all")
_LEARNER_HELP = (
    "the binary learner of all methods: svm, stumps or any other learner of skecoc fit (default: a tuned RBF svm; "
    "mixed-features uses multiclass svms and a logistic regression)"
)
_EPILOG = """\
FOLDER has one folder per genre: FOLDER/jazz/Artist-Title.mp3, FOLDER/rock/... MP3, WAV, FLAC
and OGG are read at any sample rate. Features are stored, so no file is analysed twice.

examples:
  skecoc music extract music --output features.csv
  skecoc music compare music --group-by artist
  skecoc music train music -o genres.skops --report genres.html
  skecoc music predict genres.skops new/*.mp3 more"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command and its four parts."""
    parser = add_parser(
        "music",
        description="Classify music genres from audio files, with modulation spectra of MFCC, OSC and NASE.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=lambda _: parser.print_help())
    parts = parser.add_subparsers(title="parts", metavar="PART")
    for add_part in (_add_extract, _add_compare, _add_train, _add_predict):
        add_part(parts.add_parser)


def _part(name: str) -> Callable[[argparse.Namespace], None]:
    """Return what runs a part, which is imported only then: reading audio and training need much that help does not."""

    def run(options: argparse.Namespace) -> None:
        getattr(import_module("skecoc.cli.music_parts"), name)(options)

    return run


def _add_extract(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music extract`."""
    parser = add_parser("extract", help="compute features and store them")
    parser.set_defaults(run=_part("extract"))
    _add_folder(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--feature", choices=_FEATURE_CHOICES, default="all", help="default: all")
    group.add_argument("--output", type=Path, metavar="FILE", help="also write a table, .csv or .parquet")


def _add_compare(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music compare`."""
    parser = add_parser("compare", help="compare codes by cross-validation")
    parser.set_defaults(run=_part("compare"))
    _add_folder(parser)
    what = parser.add_argument_group("methods and features")
    what.add_argument(
        "--features",
        nargs="+",
        choices=_FEATURE_CHOICES,
        default=list(FEATURES),
        metavar="FEATURE",
        help=f"features to compare: {', '.join(FEATURES)} or all of them together, all (default: the first three)",
    )
    what.add_argument(
        "--methods",
        nargs="+",
        default=list(DEFAULT_METHODS),
        metavar="METHOD",
        help="coding/decoding, or mixed-features: one code with a learner for each of the three features and for "
        "all of them (default: the codes of the paper, and mixed-features)",
    )
    what.add_argument("--learner", help=_LEARNER_HELP)
    how = parser.add_argument_group("evaluation", "Small genres, or few artists or tracks, reduce the number of folds.")
    _add_groups(how)
    console.add_splits(how, folds=10)
    where = parser.add_argument_group("output")
    console.add_output(where, ["table", "markdown", "csv", "json"])
    where.add_argument(
        "--convergence", type=Path, metavar="FILE", help="also write the growth of WOLC-ECOC: .svg, .png or .csv"
    )


def _add_train(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music train`."""
    parser = add_parser("train", help="train a model")
    parser.set_defaults(run=_part("train"))
    _add_folder(parser)
    group = parser.add_argument_group("model")
    group.add_argument("-o", "--output", type=Path, metavar="MODEL", required=True, help="the file to write")
    group.add_argument("--feature", choices=_FEATURE_CHOICES, default="all", help="default: all")
    group.add_argument(
        "--method",
        help="mixed-features (one code with a learner for each of the three features and for all of them; the default) "
        "or coding/decoding (with a single feature or a --learner, the default is wolc/optimized-weight)",
    )
    group.add_argument("--learner", help=_LEARNER_HELP)
    how = parser.add_argument_group("held-out accuracy", "Small genres reduce the number of folds.")
    _add_groups(how)
    how.add_argument("--folds", type=console.at_least(2), default=5, metavar="N", help="folds (default: 5)")
    console.add_seed(how)
    where = parser.add_argument_group("further output")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _add_predict(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe `music predict`."""
    parser = add_parser("predict", help="predict the genres of files")
    parser.set_defaults(run=_part("predict"))
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model written by `skecoc music train`")
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="PATH", help="audio files, or folders with audio files at any depth"
    )
    console.add_output(parser, ["table", "csv", "json"])
    _add_analysis(parser)


def _add_groups(group: argparse._ActionsContainer) -> None:
    """Add the option that keeps clips together."""
    group.add_argument(
        "--group-by",
        choices=["none", "artist", "track"],
        default="none",
        help="never split the clips of an artist or a track between training and test (default: none)",
    )


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
        help="what to do with files that are not audio: skip them with a message (the default), or stop (raise)",
    )
    console.add_jobs(group)
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="folder for the stored features (default: skecoc/audio in the user's cache)",
    )
    where.add_argument("--no-cache", action="store_true", help="do not store features")
