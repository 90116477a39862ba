"""What the report of the paper's experiment says, as plain data."""

from typing import Any

from skecoc.benchmarking.results import Results, SettingSummary
from skecoc.paper.figures import paper_figures
from skecoc.paper.published import METHODS, WOLC, recomputed_ranks
from skecoc.paper.table_notes import setting_title
from skecoc.paper.tables import paper_tables, summarize_paper
from skecoc.reports.pictures import color_of
from skecoc.reports.table_structure import Table
from skecoc.reports.table_writers import to_html

_ACCURACY = {"stumps": "table2", "svm": "table3"}


def summarize_reproduction(results: Results) -> dict[str, Any]:
    """Collect everything that the report of the paper's experiment shows.

    Parameters
    ----------
    results : Results
        The runs, complete or not.

    Returns
    -------
    dict
        Plain lists, dictionaries, strings and numbers: ``title``, ``headlines``, ``methods`` (names and colours),
        ``sections`` (one per learner and kind of answers: averages, figures, tables), ``tables`` and ``figures`` that
        belong to all of them, ``settings``, ``versions``, ``notes``. Tables are HTML and figures SVG.

    Raises
    ------
    ValueError
        If there is neither a run of a method of the paper nor the growth of a code.
    """
    summaries, tables = summarize_paper(results), paper_tables(results)
    pictures = {picture.name: {"title": picture.title, "svg": picture.svg()} for picture in paper_figures(results)}
    if not summaries and not pictures:
        raise ValueError("the results hold no run of any of the paper's methods, and no growth")
    sections = [_section(summary, tables, pictures) for summary in summaries]
    return {
        "title": "Output codes: the paper's experiment, run again",
        "headlines": [_headline(summary) for summary in summaries],
        "methods": _methods(summaries),
        "sections": sections,
        "tables": [to_html(table) for name, table in tables.items() if name.startswith("table4")],
        "figures": [picture for name, picture in pictures.items() if name.startswith("fig")],
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


def _methods(summaries: list[SettingSummary]) -> list[dict[str, str]]:
    """List the methods of all settings, each with the colour of its coding."""
    present = {method for summary in summaries for method in summary.methods}
    return [{"key": key, "name": name, "color": color_of(key)} for key, name in METHODS.items() if key in present]


def _section(summary: SettingSummary, tables: dict[str, Table], pictures: dict[str, Any]) -> dict[str, Any]:
    """Collect what belongs to one learner and one kind of answers."""
    setting = f"{summary.learner}-{summary.response}"
    number = _ACCURACY[summary.learner]
    more = {"WOLC-ECOC against each method": f"tests-{setting}", "Training time": f"time-{setting}"}
    return {
        "id": setting,
        "title": setting_title(summary),
        "averages": _averages(summary) if summary.comparable.any() else [],
        "figures": [pictures[name] for name in (f"length-{setting}", f"ranks-{setting}") if name in pictures],
        "accuracy": to_html(tables.get(f"{number}-{summary.response}") or tables[number]),
        "more": [{"title": title, "table": to_html(tables[name])} for title, name in more.items() if name in tables],
        "time": pictures.get(f"time-{setting}"),
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
