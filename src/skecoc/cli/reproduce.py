"""``skecoc reproduce``: the paper's experiment; ``skecoc report``: its tables, figures and page from stored results."""

import argparse
import math
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

from skecoc.cli.console import add_jobs, deliver, say
from skecoc.paper.protocol import Protocol
from skecoc.paper.reproduction import STORE_FILE, TARGETS, parts_of, read_results, tables_text, write_outcome
from skecoc.paper.runner import connected, run, status
from skecoc.paper.store import Store
from skecoc.reports import check_template_engine
from skecoc.support.errors import InputError
from skecoc.support.files import make_folder

_DEFAULT_FOLDER = Path("skecoc-results")
_EPILOG = """\
The full experiment takes hours. You can interrupt it at any time (Ctrl-C), start it again, or
start it in a second terminal: finished runs are stored in FOLDER/results.sqlite and never
repeated. All files are written when the command ends, even if not all runs are finished.

examples:
  skecoc reproduce --quick
  skecoc reproduce table2 --jobs 8
  skecoc reproduce --status
  skecoc reproduce --backend dask --scheduler tcp://10.0.0.1:8786
  skecoc report skecoc-results --output docs/results"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the commands."""
    _add_reproduce(add_parser)
    _add_report(add_parser)


def _add_reproduce(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `reproduce`."""
    parser = add_parser(
        "reproduce",
        help="run the experiments of the WOLC-ECOC paper and compare with the published numbers",
        description="Run the experiments of the WOLC-ECOC paper: 14 data sets, 16 methods, 10 times\n"
        "10-fold cross-validation, with boosted stumps and with support vector machines.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_reproduce)
    parser.add_argument(
        "target",
        nargs="?",
        default="all",
        metavar="TARGET",
        help=f"one of {', '.join(TARGETS)} (default: all)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 repeats of 3-fold cross-validation on 6 small data sets; takes minutes"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=_DEFAULT_FOLDER,
        metavar="FOLDER",
        help=f"folder of the results (default: {_DEFAULT_FOLDER})",
    )
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


def _add_report(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `report`."""
    parser = add_parser(
        "report",
        help="write tables, figures and report from stored results",
        description="Write tables, figures and the HTML report of stored results, complete or not.\n"
        "With --compact, also write the results themselves as small files.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_report)
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


def _reproduce(options: argparse.Namespace) -> None:
    """Run the command `reproduce`."""
    parts = parts_of(options.target, quick=options.quick)
    path = options.output / STORE_FILE
    if options.status:
        deliver(_describe_status(parts, path))
        return
    check_template_engine()
    make_folder("--output", options.output)
    try:
        with _cluster(options) as client, Store(path) as store:
            for part in parts:
                run(
                    part,
                    store,
                    n_jobs=options.jobs,
                    show_progress=sys.stderr.isatty(),
                    allow_mixed=options.allow_mixed,
                    client=client,
                )
    except KeyboardInterrupt:
        say(f"interrupted; finished runs are stored in {path}, and the same command continues from there")
        raise
    results = read_results(options.output)
    write_outcome(results, options.output, say)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    deliver(tables_text(options.target, results, width))


def _cluster(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Connect to the cluster of the options; None stands for this machine."""
    if (options.backend == "dask") != (options.scheduler is not None):
        raise InputError("--backend dask and --scheduler ADDRESS must be given together")
    return nullcontext() if options.scheduler is None else connected(options.scheduler)


def _report(options: argparse.Namespace) -> None:
    """Run the command `report`."""
    check_template_engine()
    results = read_results(options.results)
    folder = options.results if options.output is None else options.output
    make_folder("--output", folder)
    if options.compact:
        results.write(folder)
    write_outcome(results, folder, say)


def _describe_status(parts: list[Protocol], path: Path) -> str:
    """Say how far the runs are, one line per setting and data set that is not complete."""
    if not path.exists():
        raise InputError(f"--status: there is no '{path}' yet")
    with Store(path, create=False) as store:
        found = [status(part, store) for part in parts]
        claimed = store.n_claimed()
    counts = [count for part in found for count in part.counts.items()]
    done, total = (sum(numbers) for numbers in zip(*(count for _, count in counts), strict=True))
    seconds = sum(part.seconds_left for part in found)
    lines = [
        f"  {learner:<8}{response:<15}{data_set:<14}{n_done:>6} of {n_total}"
        for (learner, response, data_set), (n_done, n_total) in counts
        if n_done < n_total
    ]
    left = timedelta(seconds=round(seconds)) if math.isfinite(seconds) else "an unknown time"
    lines.insert(0, f"{done} of {total} runs done, {claimed} batches in work; the rest takes one worker about {left}")
    return "\n".join(lines) + "\n"
