"""The paper's experiment as a whole: which runs each of its tables and figures needs, and what is written from them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from skecoc.benchmarking.protocol import Protocol
from skecoc.benchmarking.results import META_FILE, Results
from skecoc.benchmarking.store import Store
from skecoc.paper.figures import paper_figures
from skecoc.paper.protocol import PROTOCOLS
from skecoc.paper.report import summarize_reproduction
from skecoc.paper.tables import paper_tables
from skecoc.reports import render
from skecoc.reports.table_writers import WRITERS
from skecoc.support.errors import InputError
from skecoc.support.files import write_text

#: File of the store in a folder of results.
STORE_FILE = "results.sqlite"
REPORT_FILE = "report.html"

#: Data sets of the paper's convergence figures. They show growth from one-vs-rest, as in the paper: the default start
#: may take one-vs-one as it is, and the paper's own settings often have no loss left before the first round.
_FIGURES = {"fig6": "dermatology", "fig7": "vehicle"}
_FIGURE_SETTINGS = (("stumps", "labels"), ("stumps", "probabilities"))
_FIGURE_METHODS = ("wolc-one-vs-rest/optimized-weight", "wolc-paper/optimized-weight")

#: What can be reproduced: the paper's names.
TARGETS = ("table2", "table3", "table4", *_FIGURES, "all")


def parts_of(target: str, *, quick: bool = False) -> list[Protocol]:
    """List the experiments whose runs a table or a figure of the paper needs.

    Parameters
    ----------
    target : {"table2", "table3", "table4", "fig6", "fig7", "all"}
        The paper's Tables II to IV, its Figures 6 and 7, or all of them.
    quick : bool, default=False
        Whether to take few repeats and folds on small data sets.

    Returns
    -------
    list of Protocol
        To be run one after the other into the same store.

    Raises
    ------
    InputError
        If the target is not known.

    Examples
    --------
    >>> [part.data_sets for part in parts_of("fig6")]
    [('dermatology',)]
    """
    if target not in TARGETS:
        raise InputError(f"target: {target!r} is not known; expected one of {', '.join(TARGETS)}")
    whole = PROTOCOLS["quick" if quick else "paper"]
    learners = {"table2": ("stumps",), "table3": ("svm",), "table4": ("stumps", "svm"), "all": ("stumps", "svm")}
    parts = [_with_learner(whole, learner) for learner in learners.get(target, ())]
    drawn = [name for name in _FIGURES if target in (name, "all")]
    growth = replace(whole, settings=_FIGURE_SETTINGS, methods=_FIGURE_METHODS, fewer_repeats={})
    return parts + [replace(growth, data_sets=(_FIGURES[name],)) for name in drawn]


def _with_learner(protocol: Protocol, learner: str) -> Protocol:
    """Restrict a protocol to one learner."""
    settings = tuple(setting for setting in protocol.settings if setting[0] == learner)
    fewer = {pair: repeats for pair, repeats in protocol.fewer_repeats.items() if pair[0] == learner}
    return replace(protocol, settings=settings, fewer_repeats=fewer)


def read_results(folder: Path) -> Results:
    """Read the results in a folder: those of a store, or the compact files made from one.

    Parameters
    ----------
    folder : pathlib.Path
        Holds ``results.sqlite``, or ``meta.json`` and the files beside it.

    Returns
    -------
    Results
        The runs.

    Raises
    ------
    InputError
        If there are no results, or they cannot be read.
    """
    if (folder / STORE_FILE).exists():
        with Store(folder / STORE_FILE, create=False) as store:
            return Results(store.read_runs(), store.read_rounds(), store.meta())
    if (folder / META_FILE).exists():
        return Results.read(folder)
    raise InputError(f"results: expected {STORE_FILE} or {META_FILE} in the folder '{folder}'")


def write_outcome(results: Results, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Write all tables, figures and the report that results allow.

    Parameters
    ----------
    results : Results
        The runs, complete or not.
    folder : pathlib.Path
        Where to write: ``tables/`` (text, CSV, LaTeX, HTML and Markdown), ``figures/`` (SVG), ``report.html``. Files of
        these names are replaced.
    say : callable, default: nothing is said
        Told what has been written.

    Raises
    ------
    InputError
        If there is no run, or the system refuses.
    """
    if not results.runs:
        raise InputError("results: there are no runs yet")
    for path, text in outcome_files(results):
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder '{target.parent}': {error.strerror}") from error
        write_text("--output", target, text)
    say(f"tables, figures and {REPORT_FILE} written to {folder}")


def outcome_files(results: Results) -> Iterator[tuple[Path, str]]:
    """Make the files of `write_outcome`.

    Parameters
    ----------
    results : Results
        The runs.

    Yields
    ------
    (pathlib.Path, str)
        Path within the folder, and content.
    """
    for name, table in paper_tables(results).items():
        for ending, write in WRITERS.items():
            yield Path("tables", f"{name}.{ending}"), write(table)
    for picture in paper_figures(results):
        yield Path("figures", f"{picture.name}.svg"), picture.svg()
    yield Path(REPORT_FILE), render("reproduction.html.jinja", summarize_reproduction(results))
