"""Make everything in docs/results from the runs stored there, and fill in the numbers that README and guide quote.

A block of a Markdown file that begins with ``<!-- results: name -->`` and ends with ``<!-- end -->`` is written by this
script, from docs/results/runs.csv.gz and the files beside it (`growth.json`, `fixed_codes.json`, `ablation.json`,
`peers.json`, `arena.json` and `choosing.json` are what scripts in benchmarks/ keep). The page arena.md is written as a
whole. CI runs it with ``--check``.

    skecoc report skecoc-results --output docs/results --compact   # new runs
    python scripts/make_results.py                                 # all tables, figures and quoted numbers
    python scripts/make_results.py --check                         # exit code 1 if anything is not up to date
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _arena import arena_blocks, arena_files, arena_row
from _as_printed import as_printed_blocks, as_printed_pictures
from _choosing import choosing_blocks
from _growth import growth_blocks, growth_pictures
from _learners import learners_blocks
from _many_classes import many_classes_blocks
from _markdown import table
from _music import music_blocks, music_picture
from _pages import written_pages
from _provenance import provenance_blocks
from _readme import readme_blocks
from scipy.stats import ttest_ind_from_stats

from skecoc.compare.statistics import (
    nemenyi_critical_difference,
    paired_t_test,
    paired_values,
    wilcoxon_holm,
)
from skecoc.paper.published import DATA_SETS, METHODS, WOLC, published_accuracy, recomputed_ranks
from skecoc.paper.reproduction import outcome_files, read_results
from skecoc.paper.results import Results, SettingSummary
from skecoc.paper.summaries import setting_title, summarize_paper
from skecoc.paper.tables import paper_tables
from skecoc.reports.tables import to_markdown

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "results"
ARENA = FOLDER / "arena.json"
CHOOSING = FOLDER / "choosing.json"
PAGES = written_pages()
BLOCK = re.compile(r"(<!-- results: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
PAPER_REPEATS = 10
ALPHA = 0.05


def averages(summary: SettingSummary) -> str:
    """Average every method over the data sets, best rank first."""
    ranks, rows = summary.ranks(), summary.comparable
    paper = recomputed_ranks(summary.learner, summary.ranked_data_sets, summary.methods)
    found = [
        (
            ranks[method],
            f"{METHODS[method]}",
            f"{100 * summary.accuracy[rows, k].mean():.2f}",
            f"{ranks[method]:.2f}",
            f"{paper[method]:.2f}",
            f"{summary.columns[rows, k].mean():.1f}",
            f"{(summary.against_control[rows, k] < 0).sum()}/{(summary.against_control[rows, k] == 0).sum()}"
            f"/{(summary.against_control[rows, k] > 0).sum()}"
            if method != WOLC
            else "",
        )
        for k, method in enumerate(summary.methods)
    ]
    header = ["method", "accuracy %", "rank", "paper's rank", "columns", "WOLC won/tied/lost"]
    return table(header, [cells for _, *cells in sorted(found, key=lambda row: row[0])])


def sets(summary: SettingSummary) -> str:
    """Set WOLC-ECOC beside the best other method by rank, data set by data set."""
    ranks = summary.ranks()
    other = min((method for method in summary.methods if method != WOLC), key=lambda method: ranks[method])
    first, second = summary.methods.index(WOLC), summary.methods.index(other)
    pairs = summary.methods.index("one-vs-one/hamming")
    rows = []
    for row, name in enumerate(summary.data_sets):
        mark = {1: "worse", 0: "", -1: "better"}[int(summary.against_control[row, second])]
        length = summary.columns[row, first] / summary.columns[row, pairs]
        rows.append(
            [
                name,
                f"{100 * summary.accuracy[row, first]:.2f}",
                f"{100 * summary.accuracy[row, second]:.2f}",
                mark,
                f"{summary.columns[row, first]:.1f}",
                f"{length:.2f}",
            ]
        )
    header = ["data set", "WOLC-ECOC", METHODS[other], "WOLC-ECOC is", "columns", "of one-vs-one's"]
    return table(header, rows)


def headline(summary: SettingSummary) -> str:
    """Say how WOLC-ECOC came out, and how far apart ranks must be to differ significantly."""
    ranks, scores = summary.ranks(), summary.scores()
    means = dict(zip(summary.methods, 100 * scores.mean(axis=0), strict=True))
    other = min((method for method in summary.methods if method != WOLC), key=lambda method: ranks[method])
    tests = wilcoxon_holm(scores, summary.methods.index(WOLC))
    better = sum(test.adjusted < ALPHA and test.wins > test.losses for test in tests)
    distance = nemenyi_critical_difference(len(ranks), len(scores))
    return (
        f"{setting_title(summary)}: WOLC-ECOC {means[WOLC]:.2f} %, average rank {ranks[WOLC]:.2f} of {len(ranks)}; "
        f"of the others {METHODS[other]} has the best rank, {ranks[other]:.2f}, with {means[other]:.2f} %. "
        f"WOLC-ECOC is significantly more accurate than {better} of the {len(tests)} others (Wilcoxon's signed-rank "
        f"test over data sets, Holm's adjustment, {100 * ALPHA:.0f} %); average ranks alone differ significantly "
        f"(Nemenyi) when they are {distance:.2f} apart."
    )


def in_short(summaries: list[SettingSummary]) -> str:
    """Set the flagship beside the best other method in every experiment, for README."""
    rows = []
    for summary in summaries:
        ranks, scores = summary.ranks(), summary.scores()
        means = dict(zip(summary.methods, 100 * scores.mean(axis=0), strict=True))
        other = min((method for method in summary.methods if method != WOLC), key=lambda method: ranks[method])
        rows.append(
            [
                f"paper's experiment, {setting_title(summary)}",
                f"{len(scores)}",
                f"{means[WOLC]:.1f} %, rank {ranks[WOLC]:.1f}",
                f"{METHODS[other]}: {means[other]:.1f} %, rank {ranks[other]:.1f}",
                f"{nemenyi_critical_difference(len(ranks), len(scores)):.1f}",
            ]
        )
    header = ["experiment", "sets", "WOLC-ECOC", "best other method by rank", "critical difference of ranks"]
    return table(header, [arena_row(ARENA), *rows])


def front(summary: SettingSummary) -> str:
    """List the methods that are at once more accurate on average and shorter than WOLC-ECOC."""
    rows, wolc = summary.comparable, summary.methods.index(WOLC)
    accuracy, length = summary.accuracy[rows].mean(axis=0), summary.columns[rows].mean(axis=0)
    above = [
        METHODS[method]
        for k, method in enumerate(summary.methods)
        if accuracy[k] > accuracy[wolc] and length[k] < length[wolc]
    ]
    names = ", ".join(above) if above else "none"
    return f"Methods that are both more accurate on average and shorter than WOLC-ECOC: {names}."


def against_one_vs_one(summary: SettingSummary, results: Results) -> str:
    """Count the data sets on which WOLC-ECOC loses significantly to one-vs-one, in each of its decodings."""
    lines = []
    for method in (name for name in summary.methods if name.startswith("one-vs-one/")):
        lost = []
        for name in summary.ranked_data_sets:
            values = results.values("accuracy", summary.learner, summary.response, name, [method, WOLC])
            done = ~np.isnan(values).any(axis=(0, 2))
            first, second = paired_values(values[:, done])
            if paired_t_test(first, second).verdict > 0:
                lost.append(name)
        where = f" ({', '.join(lost)})" if lost else ""
        n_sets = len(summary.ranked_data_sets)
        lines.append(
            f"- {METHODS[method]}: significantly better than WOLC-ECOC on {len(lost)} of {n_sets} sets{where}.\n"
        )
    return "".join(lines)


def lengths(summary: SettingSummary) -> str:
    """Compare the number of columns that WOLC-ECOC evaluates with one-vs-one's."""
    wolc, pairs = summary.methods.index(WOLC), summary.methods.index("one-vs-one/hamming")
    ratio = summary.columns[:, wolc] / summary.columns[:, pairs]
    lowest, highest = ratio.argmin(), ratio.argmax()
    return (
        f"WOLC-ECOC evaluates {summary.columns[:, wolc].mean():.1f} columns on average, {ratio.mean():.1f} times as "
        f"many as one-vs-one: from {ratio[lowest]:.1f} ({summary.data_sets[lowest]}) to {ratio[highest]:.1f} times "
        f"({summary.data_sets[highest]}).\n"
    )


def beside_paper(summary: SettingSummary, results: Results) -> str:
    """Compare WOLC-ECOC's accuracies with the paper's, by a two-sample t test at 5 %."""
    published = published_accuracy(summary.learner)
    rows, below = [], []
    for name in summary.ranked_data_sets:
        values = results.values("accuracy", summary.learner, summary.response, name, [WOLC])[0]
        repeats = 100 * values[~np.isnan(values).any(axis=1)].mean(axis=1)
        mean, std, _ = published.cell(name, WOLC)
        verdict = ""
        if len(repeats) > 1:
            test = ttest_ind_from_stats(
                repeats.mean(), repeats.std(ddof=1), len(repeats), mean, std, PAPER_REPEATS, equal_var=False
            )
            verdict = ("above" if repeats.mean() > mean else "below") if test.pvalue < 0.05 else ""
        if verdict == "below":
            below.append(name)
        rows.append([name, f"{repeats.mean():.2f}", f"{mean:.2f}", f"{repeats.mean() - mean:+.2f}", verdict])
    text = (
        "Significantly below the paper's WOLC-ECOC (Welch's t test at 5 % with the paper's standard deviations, which "
        "come from one split and are probably too small; not tested where there is one repeat): "
        f"{', '.join(below) if below else 'no set'}.\n\n"
    )
    return text + table(["data set", "here", "paper", "difference", "significantly"], rows)


def printed_blocks() -> dict[str, Callable[[], str]]:
    """Make blocks of what the benchmarks printed, as it is: ``printed-stumps``."""
    return {
        f"printed-{path.stem}": lambda path=path: f"```text\n{path.read_text(encoding='utf-8').strip()}\n```\n"
        for path in sorted((FOLDER / "benchmarks").glob("*.txt"))
    }


def blocks(results: Results) -> dict[str, Callable[[], str]]:
    """Name all blocks and say how they are made."""
    found = as_printed_blocks() | growth_blocks() | arena_blocks(ARENA) | choosing_blocks(CHOOSING) | learners_blocks()
    found |= many_classes_blocks() | printed_blocks() | provenance_blocks()
    found |= music_blocks() | readme_blocks()
    for name, made in paper_tables(results).items():
        found[name] = lambda made=made: to_markdown(made)
    summaries = summarize_paper(results)
    found["in-short"] = lambda: in_short(summaries)
    for summary in summaries:
        setting = f"{summary.learner}-{summary.response}"
        for kind, make in {"averages": averages, "sets": sets, "headline": headline, "front": front}.items():
            found[f"{kind}-{setting}"] = lambda make=make, summary=summary: make(summary)
        found[f"lengths-{setting}"] = lambda summary=summary: lengths(summary)
        for kind, compare in {"losses": against_one_vs_one, "paper": beside_paper}.items():
            found[f"{kind}-{setting}"] = lambda compare=compare, summary=summary: compare(summary, results)
    return found


def fill(text: str, made: dict[str, Callable[[], str]]) -> str:
    """Write the blocks of a page anew."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"].strip()
        if name not in made:
            raise KeyError(f"no block is called {name!r}; there are {', '.join(made)}")
        return f"{match[1]}{made[name]().strip()}\n{match[3]}"

    return BLOCK.sub(replace, text)


def files(results: Results, *, with_drawings: bool) -> Iterator[tuple[Path, str]]:
    """Make all files, with figures and the report or, since those depend on matplotlib's version, without."""
    for path, text in outcome_files(results):
        if with_drawings or path.parts[0] == "tables":
            yield FOLDER / path, text
    if with_drawings:
        for picture in (*growth_pictures(), *as_printed_pictures()):
            yield FOLDER / "figures" / f"{picture.name}.svg", picture.svg()
        yield FOLDER / "music" / "growth.svg", music_picture().svg()
    for path, text in arena_files(ARENA, with_drawings=with_drawings):
        yield FOLDER / path, text
    made = blocks(results)
    for page in PAGES:
        if page != FOLDER / "arena.md":
            yield page, fill(page.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table or a number would change")
    options = parser.parse_args()
    results = read_results(FOLDER)
    stale = []
    for path, text in files(results, with_drawings=not options.check):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(ROOT)))
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    word = "not up to date" if options.check else "written"
    print(
        "\n".join(f"{name}: {word}" for name in stale)
        or f"all up to date ({len(results.runs)} runs, {len(DATA_SETS)} sets)"
    )
    sys.exit(bool(stale) and options.check)


if __name__ == "__main__":
    main()
