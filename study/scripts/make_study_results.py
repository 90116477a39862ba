"""Make everything in study/results from the runs stored there, and fill in the numbers that pages of study/ quote.

skecoc report skecoc-results --output study/results --compact   # new runs
python study/scripts/make_study_results.py                      # all tables, figures and quoted numbers
python study/scripts/make_study_results.py --check              # exit code 1 if anything is not up to date
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from _as_printed import as_printed_blocks, as_printed_pictures
from _markdown import table
from _music import music_blocks, music_picture
from _pages import ROOT, written_pages
from make_results import fill, in_short, main, printed_blocks
from scipy.stats import ttest_ind_from_stats

from skecoc.compare.statistics import nemenyi_critical_difference, paired_t_test, paired_values, wilcoxon_holm
from skecoc.reports import to_markdown
from skecoc_study.paper.published import METHODS, WOLC, published_accuracy, recomputed_ranks
from skecoc_study.paper.reproduction import outcome_files, read_results
from skecoc_study.paper.summaries import setting_title, summarize_paper, weights_in_short
from skecoc_study.paper.tables import paper_tables
from skecoc_study.runs.results import Results, SettingSummary

STUDY = ROOT / "study"
FOLDER = STUDY / "results"
PAPER_REPEATS = 10
ALPHA = 0.05
#: Relative gap of a certificate.
CERTIFIED = 1e-3


def averages(summary: SettingSummary) -> str:
    """Average every method over the data sets, best rank first."""
    ranks, rows = summary.ranks(), summary.comparable
    paper = recomputed_ranks(summary.learner, summary.ranked_data_sets, summary.methods)
    found = [
        (
            ranks[method],
            METHODS[method] + (weights_in_short(summary) if method == WOLC else ""),
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
        f"{setting_title(summary)}: WOLC-ECOC (OW{weights_in_short(summary)}) {means[WOLC]:.2f} %, "
        f"average rank {ranks[WOLC]:.2f} of {len(ranks)}; "
        f"of the others {METHODS[other]} has the best rank, {ranks[other]:.2f}, with {means[other]:.2f} %. "
        f"WOLC-ECOC is significantly more accurate than {better} of the {len(tests)} others (Wilcoxon's signed-rank "
        f"test over data sets, Holm's adjustment, {100 * ALPHA:.0f} %); average ranks alone differ significantly "
        f"(Nemenyi) when they are {distance:.2f} apart."
    )


def experiments(summaries: list[SettingSummary]) -> str:
    """Set the flagship beside the best other method in every experiment of the paper."""
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
    return in_short(rows)


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
    """Compare the columns of WOLC-ECOC, evaluated and trained, and its time with one-vs-one's."""
    wolc, pairs = summary.methods.index(WOLC), summary.methods.index("one-vs-one/hamming")
    evaluated = summary.columns[:, wolc] / summary.columns[:, pairs]
    trained = summary.trained[:, wolc] / summary.trained[:, pairs]
    seconds = summary.fit_seconds[:, wolc] / summary.fit_seconds[:, pairs]
    lowest, highest = evaluated.argmin(), evaluated.argmax()
    slower = np.exp(np.log(seconds).mean())
    return (
        f"WOLC-ECOC evaluates {summary.columns[:, wolc].mean():.1f} columns on average, {evaluated.mean():.1f} times "
        f"as many as one-vs-one: from {evaluated[lowest]:.1f} ({summary.data_sets[lowest]}) to "
        f"{evaluated[highest]:.1f} times ({summary.data_sets[highest]}). It trains "
        f"{summary.trained[:, wolc].mean():.1f} columns, {trained.mean():.1f} times as many, each also without the "
        f"samples of each fold, and takes {slower:.1f} times as long (geometric mean; one-vs-one is trained once, "
        "without folds).\n"
    )


def optimized(results: Results, summaries: list[SettingSummary]) -> str:
    """Say in which share of the runs each setting's weights have a certificate, and are optimised rather than equal."""
    rows = []
    for summary in summaries:
        kept = [
            record
            for name in summary.data_sets
            for record in results.kept_rounds(summary.learner, summary.response, name, WOLC)
        ]
        certified = [record for record in kept if record.gap <= CERTIFIED]
        rows.append(
            [
                setting_title(summary),
                f"{len(kept):,}",
                f"{100 * len(certified) / len(kept):.1f} %",
                f"{max(record.gap for record in certified):.0e}",
                f"{100 * np.mean([record.optimized for record in kept]):.1f} %",
                f"{100 * np.mean([not record.optimized for record in kept]):.1f} %",
            ]
        )
    header = ["setting", "runs", "with a certificate", "largest gap", "optimised (OW)", "equal in each group"]
    return table(header, rows)


def objectives(results: Results) -> str:
    """Say by how much the training objective with a margin and no penalty rises from round to round at most."""
    rises, lost, n_runs = [0.0], [0.0], 0
    for learner, response in results.settings():
        for name in results.data_sets(learner, response):
            runs: dict[tuple[int, int], list[float]] = {}
            out_of_fold: dict[tuple[int, int], list[float]] = {}
            for coding, found, measure in (
                ("wolc-margin", runs, "objective"),
                ("wolc-one-vs-rest", out_of_fold, "loss"),
            ):
                for record in sorted(
                    results.rounds_of(learner, response, name, coding), key=lambda record: record.round
                ):
                    found.setdefault((record.repeat, record.fold), []).append(getattr(record, measure))
            n_runs += len(runs)
            rises += [max(np.diff(values), default=0.0) for values in runs.values()]
            lost += [float(np.mean(np.diff(values) > 0)) for values in out_of_fold.values() if len(values) > 1]
    return (
        f"In {n_runs:,} runs the training objective with a margin of 0.1 and no penalty never rose by more than "
        f"{max(rises):.0e} from one round to the next. The out-of-fold log-loss of the default rose in "
        f"{100 * np.mean(lost[1:]):.0f} % of the rounds of a run, on average.\n"
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
        "are probably too small; not tested where there is one repeat): "
        f"{', '.join(below) if below else 'no set'}.\n\n"
    )
    return text + table(["data set", "here", "paper", "difference", "significantly"], rows)


def blocks(results: Results) -> dict[str, Callable[[], str]]:
    """Name all blocks and say how they are made."""
    found = as_printed_blocks() | music_blocks() | printed_blocks(FOLDER)
    for name, made in paper_tables(results).items():
        found[name] = lambda made=made: to_markdown(made)
    summaries = summarize_paper(results)
    found["in-short"] = lambda: experiments(summaries)
    found["optimized"] = lambda: optimized(results, summaries)
    found["objectives"] = lambda: objectives(results)
    for summary in summaries:
        setting = f"{summary.learner}-{summary.response}"
        for kind, make in {"averages": averages, "sets": sets, "headline": headline, "front": front}.items():
            found[f"{kind}-{setting}"] = lambda make=make, summary=summary: make(summary)
        found[f"lengths-{setting}"] = lambda summary=summary: lengths(summary)
        for kind, compare in {"losses": against_one_vs_one, "paper": beside_paper}.items():
            found[f"{kind}-{setting}"] = lambda compare=compare, summary=summary: compare(summary, results)
    return found


def files(*, with_drawings: bool) -> Iterator[tuple[Path, str]]:
    """Make all files, with figures and the report or, since those depend on matplotlib's version, without."""
    results = read_results(FOLDER)
    for path, text in outcome_files(results):
        if with_drawings or path.parts[0] == "tables":
            yield FOLDER / path, text
    if with_drawings:
        for picture in as_printed_pictures():
            yield FOLDER / "figures" / f"{picture.name}.svg", picture.svg()
        yield FOLDER / "music" / "growth.svg", music_picture().svg()
    made = blocks(results)
    for page in written_pages(STUDY):
        yield page, fill(page.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    main(files, __doc__)
