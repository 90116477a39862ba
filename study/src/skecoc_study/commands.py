"""Options of the commands ``reproduce``, ``report`` and ``music``; what they do is imported when they run."""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from skecoc.cli.plugins import add_jobs, add_output, add_seed, add_splits, at_least

# Names that --help lists, as plain text: the registries themselves would load numpy and scikit-learn.
TARGETS = ("table2", "table3", "table4", "table5", "table6", "fig6", "fig7", "fig8", "all")
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
_MUSIC_EPILOG = """\
FOLDER has one folder per genre: FOLDER/jazz/Artist-Title.mp3, FOLDER/rock/... MP3, WAV, FLAC
and OGG are read at any sample rate. Features are stored, so no file is analysed twice.

examples:
  skecoc music extract music --output features.csv
  skecoc music compare music --group-by artist
  skecoc music train music -o genres.skops --report genres.html
  skecoc music predict genres.skops new/*.mp3 more"""
_DEFAULT_FOLDER = Path("skecoc-results")
_REPRODUCE_EPILOG = """\
The full experiment takes hours. You can interrupt it at any time (Ctrl-C), start it again, or
start it in a second terminal: finished runs are stored in FOLDER/results.sqlite and never
repeated. All files are written when the command ends, even if not all runs are finished.

table5, table6 and fig8 are on music whose recordings cannot be passed on. They run on your own
with --clips, and are not part of all; of their work, only the features of the audio are stored.

examples:
  skecoc reproduce --quick
  skecoc reproduce table2 --jobs 8
  skecoc reproduce table5 --clips music --quick
  skecoc reproduce --status
  skecoc reproduce --backend dask --scheduler tcp://10.0.0.1:8786
  skecoc report skecoc-results --output study/results"""


def _later(module: str, name: str) -> Callable[[argparse.Namespace], None]:
    """Return a function of a module that is not imported before it is called."""

    def run(options: argparse.Namespace) -> None:
        getattr(import_module(module), name)(options)

    return run


def add_reproduce(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `reproduce`."""
    parser = add_parser(
        "reproduce",
        help="run the experiments of the WOLC-ECOC paper and compare with the published numbers",
        description="Run the experiments of the WOLC-ECOC paper: 14 data sets, 16 methods, 10 times\n"
        "10-fold cross-validation, with boosted stumps and with support vector machines.",
        epilog=_REPRODUCE_EPILOG,
    )
    parser.set_defaults(run=_later("skecoc_study.paper.reproduction", "reproduce"))
    parser.add_argument(
        "target",
        nargs="?",
        default="all",
        metavar="TARGET",
        help=f"one of {', '.join(TARGETS)} (default: all)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="2 repeats of 3-fold cross-validation on 6 small data sets (or on --clips); takes minutes",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=_DEFAULT_FOLDER,
        metavar="FOLDER",
        help=f"folder of the results (default: {_DEFAULT_FOLDER})",
    )
    parser.add_argument(
        "--clips",
        type=Path,
        metavar="FOLDER",
        help="for table5, table6 and fig8, which are on music: a folder with one folder of audio per genre",
    )
    parser.add_argument("--dortmund", action="store_true", help="check that the folder of --clips is the Dortmund set")
    parser.add_argument(
        "--status", action="store_true", help="show the progress and the remaining time without running anything"
    )
    parser.add_argument(
        "--allow-mixed",
        action="store_true",
        help="allow adding to results of other versions or settings",
    )
    add_jobs(parser)
    parser.add_argument(
        "--backend",
        choices=("local", "dask"),
        default="local",
        help="where to run: in local processes (default) or on all threads of a Dask cluster",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of the Dask scheduler, such as tcp://10.0.0.1:8786; with --backend dask",
    )


def add_report(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `report`."""
    parser = add_parser(
        "report",
        help="write tables, figures and report from stored results",
        description="Write tables, figures and the HTML report of stored results, complete or not.\n"
        "With --compact, also write the results themselves as small files.",
    )
    parser.set_defaults(run=_later("skecoc_study.paper.reproduction", "report"))
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        default=_DEFAULT_FOLDER,
        metavar="FOLDER",
        help=f"folder of `skecoc reproduce`, or of compact files (default: {_DEFAULT_FOLDER})",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: the folder read)")
    parser.add_argument("--compact", action="store_true", help="also write runs.csv.gz, rounds.csv.gz and meta.json")


def add_music(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `music` and its four parts."""
    parser = add_parser(
        "music",
        help="music genres: extract features, compare codes, train, predict",
        description="Classify music genres from audio files, with modulation spectra of MFCC, OSC and NASE.",
        epilog=_MUSIC_EPILOG,
    )
    parser.set_defaults(run=lambda _: parser.print_help())
    parts = parser.add_subparsers(title="parts", metavar="PART")
    for add_part in (_add_extract, _add_compare, _add_train, _add_predict):
        add_part(parts.add_parser)


def _add_extract(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add_parser("extract", help="compute features and store them")
    parser.set_defaults(run=_later("skecoc_study.music.parts", "extract"))
    _add_folder(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--feature", choices=_FEATURE_CHOICES, default="all", help="default: all")
    group.add_argument("--output", type=Path, metavar="FILE", help="also write a table, .csv or .parquet")


def _add_compare(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add_parser("compare", help="compare codes by cross-validation")
    parser.set_defaults(run=_later("skecoc_study.music.parts", "compare"))
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
    add_splits(how, folds=10)
    where = parser.add_argument_group("output")
    add_output(where, ["table", "markdown", "csv", "json"])
    where.add_argument(
        "--convergence", type=Path, metavar="FILE", help="also write the growth of WOLC-ECOC: .svg, .png or .csv"
    )


def _add_train(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add_parser("train", help="train a model")
    parser.set_defaults(run=_later("skecoc_study.music.parts", "train"))
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
    how.add_argument("--folds", type=at_least(2), default=5, metavar="N", help="folds (default: 5)")
    add_seed(how)
    where = parser.add_argument_group("further output")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _add_predict(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add_parser("predict", help="predict the genres of files")
    parser.set_defaults(run=_later("skecoc_study.music.parts", "predict"))
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model written by `skecoc music train`")
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="PATH", help="audio files, or folders with audio files at any depth"
    )
    add_output(parser, ["table", "csv", "json"])
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
    add_jobs(group)
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="folder for the stored features (default: skecoc/audio in the user's cache)",
    )
    where.add_argument("--no-cache", action="store_true", help="do not store features")
