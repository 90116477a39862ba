"""The paper's experiment as a whole: which runs each table and figure needs, what is written from them, its report."""

import argparse
import math
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from skecoc.cli.plugins import InputError, deliver, make_folder, say, write_text
from skecoc.reports import WRITERS, Picture, Table, check_template_engine, color_of, render, to_html, to_text
from skecoc_study.paper.figures import CONVERGENCE_DATA, paper_figures
from skecoc_study.paper.published import DATA_SETS, FURTHER_METHODS, METHODS, WOLC, WOLC_PAPER, recomputed_ranks
from skecoc_study.paper.summaries import setting_title, summarize_paper
from skecoc_study.paper.tables import ACCURACY_TABLES, paper_tables
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.results import META_FILE, Results, SettingSummary
from skecoc_study.runs.runner import connected, run, status
from skecoc_study.runs.store import Store

#: File of the store in a folder of results.
STORE_FILE = "results.sqlite"
REPORT_FILE = "report.html"

# Learners and responses. The paper's reference library decodes labels; probabilities show what the same learners allow.
# Margins of support vector machines are not compared: each column has its own penalty and width,
# so the scales of its margins say nothing.
_SETTINGS = (("stumps", "labels"), ("stumps", "probabilities"), ("svm", "labels"), ("svm", "probabilities"))
_LARGE_SETS = ("satimage", "optdigits", "pendigits")
_QUICK_SETS = ("dermatology", "iris", "ecoli", "wine", "glass", "thyroid")
# With support vector machines, splits are fewer than the paper's ten; three large sets are split once, with
# probabilities as outputs only.
_SVM_REPEATS = {("svm", name): 1 if name in _LARGE_SETS else 4 for name in DATA_SETS}
_METHODS = (*METHODS, WOLC_PAPER)

#: The experiments that have a name.
PROTOCOLS = {
    "paper": Protocol("paper", tuple(DATA_SETS), _SETTINGS, _METHODS, fewer_repeats=_SVM_REPEATS),
    "quick": Protocol("quick", _QUICK_SETS, _SETTINGS, _METHODS, n_repeats=2, n_folds=3),
}

# Three large sets are split once where weights take long: without a penalty, those of continuous outputs are found
# slowly. The further methods are compared with labels only, the outputs of the paper's AdaBoost.
_ONCE = {("stumps", name): 1 for name in _LARGE_SETS}

# The convergence figures show growth from one-vs-rest, as in the paper: what weights minimise in every round, with a
# margin, since the paper's objective often is zero before the first round; and the out-of-fold loss of the default.
_FIGURE_METHODS = ("wolc-margin/optimized-weight", "wolc-one-vs-rest/optimized-weight")

#: What can be reproduced: the paper's names.
TARGETS = ("table2", "table3", "table4", "table5", "table6", *CONVERGENCE_DATA, "fig8", "all")
# Those that are made from audio of the user's; "all" is without them.
_MUSIC_TARGETS = ("table5", "table6", "fig8")


def parts_of(target: str, *, quick: bool = False) -> list[Protocol]:
    """List the experiments whose runs a table or a figure of the paper needs, to be run into the same store.

    Those on music need none: their runs are not stored.
    """
    if target not in TARGETS:
        raise InputError(f"target: {target!r} is not known; expected one of {', '.join(TARGETS)}")
    whole = PROTOCOLS["quick" if quick else "paper"]
    large = tuple(name for name in whole.data_sets if name in _LARGE_SETS)
    small = tuple(name for name in whole.data_sets if name not in _LARGE_SETS)
    once = _ONCE if large else {}
    parts: list[Protocol] = []
    if target in ("table2", "table4", "all"):
        parts.append(replace(whole, settings=_SETTINGS[:1], fewer_repeats={}))
        parts.append(replace(whole, settings=_SETTINGS[1:2], methods=tuple(METHODS), fewer_repeats={}))
        parts.append(replace(whole, settings=_SETTINGS[1:2], methods=(WOLC_PAPER,), fewer_repeats=once))
    if target in ("table2", "all"):
        parts.append(replace(whole, settings=_SETTINGS[:1], methods=tuple(FURTHER_METHODS), fewer_repeats=once))
    if target in ("table3", "table4", "all"):
        parts.append(replace(whole, settings=_SETTINGS[2:], data_sets=small))
        parts += [replace(whole, settings=_SETTINGS[3:], data_sets=large, methods=tuple(METHODS))] if large else []
    growth = replace(whole, settings=_SETTINGS[:2], methods=_FIGURE_METHODS, fewer_repeats={})
    drawn = [data_set for name, data_set in CONVERGENCE_DATA.items() if target in (name, "all")]
    return parts + [replace(growth, data_sets=(data_set,)) for data_set in drawn]


def read_results(folder: Path) -> Results:
    """Read the results in a folder: those of a store, or the compact files made from one."""
    if (folder / STORE_FILE).exists():
        with Store(folder / STORE_FILE, create=False) as store:
            return Results(store.read_runs(), store.read_rounds(), store.meta())
    if (folder / META_FILE).exists():
        return Results.read(folder)
    raise InputError(f"results: expected {STORE_FILE} or {META_FILE} in the folder '{folder}'")


def write_outcome(results: Results, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Write ``tables/``, ``figures/`` and ``report.html`` of results, complete or not; files are replaced."""
    if not results.runs:
        raise InputError("results: there are no runs yet")
    for path, text in outcome_files(results):
        target = folder / path
        make_folder("--output", target.parent)
        write_text("--output", target, text)
    say(f"tables, figures and {REPORT_FILE} written to {folder}")


def outcome_files(results: Results) -> Iterator[tuple[Path, str]]:
    """Make the files of `write_outcome`: path within the folder, and content."""
    tables, pictures = paper_tables(results), list(paper_figures(results))
    for name, table in tables.items():
        for ending, write in WRITERS.items():
            yield Path("tables", f"{name}.{ending}"), write(table)
    for picture in pictures:
        yield Path("figures", f"{picture.name}.svg"), picture.svg()
    yield Path(REPORT_FILE), report_page(results, tables, pictures)


def report_page(results: Results, tables: dict[str, Table], pictures: Sequence[Picture]) -> str:
    """Write the report of the paper's experiment as one HTML file."""
    return render("reproduction.html.jinja", summarize_reproduction(results, tables, pictures), "skecoc_study.paper")


def summarize_reproduction(results: Results, tables: dict[str, Table], pictures: Sequence[Picture]) -> dict[str, Any]:
    """Collect everything that the report shows as plain data; tables are HTML and figures SVG."""
    summaries = summarize_paper(results)
    if not summaries and not pictures:
        raise ValueError("the results hold no run of any of the paper's methods, and no growth")
    figures = {picture.name: picture.for_page() for picture in pictures}
    return {
        "title": "Output codes: the paper's experiment, run again",
        "headlines": [_headline(summary) for summary in summaries],
        "methods": [
            {"key": key, "name": name, "color": color_of(key)}
            for key, name in METHODS.items()
            if any(key in summary.methods for summary in summaries)
        ],
        "sections": [_section(summary, tables, figures) for summary in summaries],
        "tables": [to_html(table) for name, table in tables.items() if name.startswith("table4")],
        "figures": [figure for name, figure in figures.items() if name.startswith("fig")],
        **_environment(results.meta),
    }


def _headline(summary: SettingSummary) -> str:
    """Say in one sentence how WOLC-ECOC came out in a setting."""
    where, ranks = setting_title(summary), summary.ranks()
    others = {method: rank for method, rank in ranks.items() if method != WOLC}
    if WOLC not in ranks or not others:
        return f"{where}: not enough runs to rank the methods."
    best = min(others, key=lambda method: others[method])
    scores = dict(zip(summary.methods, 100 * summary.scores().mean(axis=0), strict=True))
    return (
        f"{where}: WOLC-ECOC has the average rank {ranks[WOLC]:.2f} and a mean accuracy of {scores[WOLC]:.2f} %; the "
        f"best other method by rank is {METHODS[best]} with {ranks[best]:.2f} and {scores[best]:.2f} % "
        f"({len(summary.ranked_data_sets)} data sets, {len(ranks)} methods)."
    )


def _section(summary: SettingSummary, tables: dict[str, Table], figures: dict[str, Any]) -> dict[str, Any]:
    """Collect what belongs to one learner and one kind of responses."""
    setting = f"{summary.learner}-{summary.response}"
    number = ACCURACY_TABLES[summary.learner]
    more = {"WOLC-ECOC against each method": f"tests-{setting}", "Training time": f"time-{setting}"}
    return {
        "id": setting,
        "title": setting_title(summary),
        "averages": _averages(summary) if summary.comparable.any() else [],
        "figures": [figures[name] for name in (f"length-{setting}", f"ranks-{setting}") if name in figures],
        "accuracy": to_html(tables.get(f"{number}-{summary.response}") or tables[number]),
        "more": [{"title": title, "table": to_html(tables[name])} for title, name in more.items() if name in tables],
        "time": figures.get(f"time-{setting}"),
    }


def _averages(summary: SettingSummary) -> list[dict[str, Any]]:
    """Average each method over comparable data sets; the best rank comes first."""
    ranks, rows = summary.ranks(), summary.comparable
    paper = recomputed_ranks(summary.learner, summary.ranked_data_sets, summary.methods)
    found = [
        {
            "key": method,
            "name": METHODS[method],
            "rank": ranks[method],
            "paper_rank": paper[method],
            "accuracy": 100 * float(summary.accuracy[rows, k].mean()),
            "columns": float(summary.columns[rows, k].mean()),
            "fit_seconds": float(summary.fit_seconds[rows, k].mean()),
            "won": int((summary.against_control[rows, k] < 0).sum()),
            "lost": int((summary.against_control[rows, k] > 0).sum()),
        }
        for k, method in enumerate(summary.methods)
    ]
    return sorted(found, key=lambda row: float(row["rank"]))


def _environment(meta: dict[str, Any]) -> dict[str, Any]:
    """List settings, versions and notes for reading; nothing that changes when a report is made again."""
    plan = {"Repeats": "n_repeats", "Folds": "n_folds", "Seed": "seed"}
    protocols = meta.get("protocols", [])
    processors = sorted({str(machine["processor"]) for machine in meta.get("machines", [])} - {""})
    return {
        "settings": [
            (title, ", ".join(dict.fromkeys(str(protocol[name]) for protocol in protocols)))
            for title, name in plan.items()
            if protocols
        ],
        "versions": [
            *(item for found in meta.get("versions", []) for item in sorted(found.items())),
            *(("Processor", name) for name in processors),
        ],
        "notes": list(meta.get("notes", [])),
    }


def reproduce(options: argparse.Namespace) -> None:
    """Run the command `reproduce`."""
    if options.target in _MUSIC_TARGETS:
        from skecoc_study.music.reproduction import reproduce_music  # not loaded for the others

        protocol = PROTOCOLS["quick" if options.quick else "paper"]
        reproduce_music(options, protocol=protocol, growth_method=_FIGURE_METHODS[0])
        return
    if options.clips is not None or options.dortmund:
        raise InputError(f"--clips and --dortmund are for {', '.join(_MUSIC_TARGETS)} only, got {options.target}")
    parts = parts_of(options.target, quick=options.quick)
    path = options.output / STORE_FILE
    if options.status:
        deliver(_describe_status(parts, path))
        return
    check_template_engine()
    make_folder("--output", options.output)
    if (options.backend == "dask") != (options.scheduler is not None):
        raise InputError("--backend dask and --scheduler ADDRESS must be given together")
    cluster: AbstractContextManager[Any] = nullcontext() if options.scheduler is None else connected(options.scheduler)
    try:
        with cluster as client, Store(path) as store:
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
    wanted = options.target if options.target.startswith("table") else "table"
    tables = [table for name, table in paper_tables(results).items() if name.startswith(wanted)]
    deliver("\n".join(to_text(table, width) for table in tables))


def report(options: argparse.Namespace) -> None:
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
