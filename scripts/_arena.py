"""The page docs/results/arena.md and its figures, from arena.json beside it, which benchmarks/arena.py keeps.

`make_results.py` writes them. Other files can be looked at before they are put in place:

    python scripts/_arena.py arena.json some/folder
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _markdown import ranks_differ, table
from scipy.stats import rankdata

from skecoc.compare.statistics import (
    average_ranks,
    best_per_row,
    nemenyi_critical_difference,
    wilcoxon_holm,
    wilcoxon_p_value,
)
from skecoc.datasets import list_uci
from skecoc.reports.pictures import Picture, rank_picture

SYNTHETIC = ("3x3", "4x4", "6x2", "26x1", "checkerboard", "rings", "boxes")
MEASURES = ("accuracy", "log_loss", "fit", "predict")
#: All methods and what they are, in the order of the page; those of this library first.
METHODS = {
    "mixed": '`WOLCClassifier("mixed")`',
    "WOLC stumps": "`WOLCClassifier()`, whose learner is 40 boosted stumps",
    "WOLC SVM": "`WOLCClassifier(TunedSVMClassifier(C=1000, width=0.5))` of scaled features: support vector machines "
    "without search",
    "RandomForest": "`RandomForestClassifier(300)`",
    "ExtraTrees": "`ExtraTreesClassifier(300)`",
    "HistGradientBoosting": "`HistGradientBoostingClassifier()`",
    "LightGBM": "`LGBMClassifier()`",
    "SVC": "`SVC(C=100)` of scaled features; its probabilities, but not its predictions, are those of "
    "`CalibratedClassifierCV(ensemble=False)`, which counts in its time of `fit`",
    "LogisticRegression": "`LogisticRegression(max_iter=1000)` of scaled features",
    "Stacking": "`StackingClassifier` of the learners of mixed, with `LogisticRegression` on top",
    "Voting": '`VotingClassifier(voting="soft")` of the learners of mixed',
}
OURS = ("mixed", "WOLC stumps", "WOLC SVM")
#: Of members that stacking and voting have, and of calibration.
MEMBERS = (
    "Stacking and calibration have {inner_folds} inner folds, stratified. Learners without probabilities are "
    "calibrated in the same way as SVC; binary learners are applied one-vs-one. If a class has a single training "
    "sample, this sample is duplicated for calibration; in the fold of stacking that leaves it out, its class has "
    "probability 0."
)
TIME_BASES = ("RandomForest", "Stacking")
ALPHA = 0.05
POINT = 1.0


@dataclass(frozen=True)
class Arena:
    """Means of all methods on the sets that all of them have been measured on."""

    methods: list[str]
    sets: dict[str, dict[str, int]]  # training rows, features and classes by name
    values: np.ndarray  # by set, method and measure
    left_out: list[str]
    n_repeats: int
    settings: dict[str, int]
    versions: dict[str, str]

    @property
    def control(self) -> int:
        """Return the place of the method that the others are compared with: the first of ours."""
        return next((k for k, method in enumerate(self.methods) if method in OURS), 0)

    @property
    def is_real(self) -> np.ndarray:
        """Tell which sets are real data."""
        return np.array([name not in SYNTHETIC for name in self.sets])

    def of(self, measure: str) -> np.ndarray:
        """Return a measure by set and method."""
        return self.values[..., MEASURES.index(measure)]

    def scores(self, measure: str) -> np.ndarray:
        """Return a measure by set and method, turned round if less of it is better."""
        return self.of(measure) if measure == "accuracy" else -self.of(measure)

    def groups(self) -> dict[str, np.ndarray]:
        """Return the sets of each kind, by a name with their number; all sets first."""
        kinds = {"sets": np.full(len(self.sets), True), "real sets": self.is_real, "synthetic sets": ~self.is_real}
        found = {f"{rows.sum()} {kind}": rows for kind, rows in kinds.items() if rows.any()}
        return found if len(found) == len(kinds) else dict(list(found.items())[-1:])


def read_arena(path: Path) -> Arena:
    """Read what the benchmark keeps."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    runs: dict[tuple[str, str], dict[tuple[int, int], list[float]]] = defaultdict(dict)
    for run in kept["runs"]:
        runs[run["set"], run["method"]][run["repeat"], run["fold"]] = [run[measure] for measure in MEASURES]
    methods = [method for method in METHODS if any(key[1] == method for key in runs)]
    unknown = {method for _, method in runs} - set(methods)
    if unknown:
        raise ValueError(f"{path} has methods that the page does not know: {', '.join(sorted(unknown))}")
    splits = {split for found in runs.values() for split in found}
    complete = [name for name in kept["sets"] if all(set(runs[name, method]) == splits for method in methods)]
    if not complete:
        raise ValueError(f"{path} has no set that all methods have been measured on")
    values = [[np.mean(list(runs[name, method].values()), axis=0) for method in methods] for name in complete]
    return Arena(
        methods,
        {name: kept["sets"][name] for name in complete},
        np.array(values),
        [name for name in kept["sets"] if name not in complete],
        len({repeat for repeat, _ in splits}),
        kept["settings"],
        kept["versions"],
    )


def joined(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> joined(["a", "b", "c"]), joined([])
    ('a, b and c', 'none')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else "none"


def p_text(p_value: float) -> str:
    """Write a p-value."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def by_set(arena: Arena, measure: str, decimals: int) -> str:
    """Lay out a measure by set and method, the best in bold, then means and average ranks."""
    values, scores = arena.of(measure), arena.scores(measure)
    rows = []
    for (name, about), row, best in zip(arena.sets.items(), values, best_per_row(scores, decimals), strict=True):
        cells = [f"{value:.{decimals}f}" for value in row]
        cells = [f"**{cell}**" if is_best else cell for cell, is_best in zip(cells, best, strict=True)]
        rows.append([name, f"{about['rows']:,}", str(about["classes"]), *cells])
    for group, chosen in arena.groups().items():
        rows.append([f"mean, {group}", "", "", *(f"{value:.{decimals}f}" for value in values[chosen].mean(axis=0))])
    if measure == "log_loss":
        medians = np.median(values, axis=0)
        rows.append([f"median, {len(values)} sets", "", "", *(f"{value:.{decimals}f}" for value in medians)])
    for group, chosen in arena.groups().items():
        ranks = average_ranks(scores[chosen])
        rows.append([f"average rank, {group}", "", "", *(f"{rank:.2f}" for rank in ranks)])
    return table(["set", "training rows", "classes", *arena.methods], rows)


def standing(arena: Arena, measure: str, label: str) -> str:
    """Say who is first by average rank, where the control comes, and from whom these two differ."""
    scores, control = arena.scores(measure), arena.methods[arena.control]
    ranks = dict(zip(arena.methods, average_ranks(scores).tolist(), strict=True))
    order = sorted(ranks, key=lambda method: ranks[method])
    text = f"{label}: {order[0]} has the best average rank, {ranks[order[0]]:.2f} among {len(order)} methods on "
    text += f"{len(scores)} sets; then come {joined([f'{name} ({ranks[name]:.2f})' for name in order[1:3]])}."
    if control not in order[:3]:
        text += f" {control} has place {order.index(control) + 1} ({ranks[control]:.2f})."
    distance = nemenyi_critical_difference(len(order), len(scores))
    text += f" By Nemenyi's test at 5 % (critical difference {distance:.2f})"
    for place, name in enumerate(dict.fromkeys([order[0], control])):
        near = [other for other in order if other != name and abs(ranks[other] - ranks[name]) < distance]
        text += f"{'; ' if place else ' '}{name} does not differ from: {joined(near)}"
    return text + "."


def verdicts(arena: Arena, measure: str) -> str:
    """Say from which methods the control differs significantly, and which way."""
    scores, control = arena.scores(measure), arena.control
    found: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for test in wilcoxon_holm(scores, control):
        is_apart = test.adjusted < ALPHA
        found[is_apart * lead(scores[:, control] - scores[:, test.other])].append(arena.methods[test.other])
    words = ("more accurate", "less accurate") if measure == "accuracy" else ("lower in log-loss", "higher in log-loss")
    return (
        f"{arena.methods[control]} is significantly {words[0]} than: {joined(found[1])}; significantly {words[1]} "
        f"than: {joined(found[-1])}; not significantly different from: {joined(found[0])} (signed-rank test over sets, "
        "Holm's adjustment, 5 %)."
    )


def lead(differences: np.ndarray) -> int:
    """Return the sign of the sum of signed ranks."""
    rounded = np.round(differences, 10)
    return int(np.sign((np.sign(rounded) * rankdata(np.abs(rounded))).sum()))


def lost(arena: Arena) -> str:
    """List the sets where the control is behind the best other method by more than a point."""
    accuracy, control = arena.of("accuracy"), arena.control
    others = np.delete(accuracy, control, axis=1)
    names = np.delete(arena.methods, control)
    gains = accuracy[:, control] - others.max(axis=1)
    found = [
        f"{name} ({gain:+.1f}, {names[row.argmax()]})"
        for name, gain, row in zip(arena.sets, gains, others, strict=True)
        if gain < -POINT
    ]
    return (
        f"{arena.methods[control]} is behind the best other method of the set by more than one point of accuracy on "
        f"{len(found)} of {len(gains)} sets{': ' + joined(found) if found else ''}; it is ahead of all others by more "
        f"than one point on {(gains > POINT).sum()}."
    )


def lost_to_each(arena: Arena) -> str:
    """List, method by method, the sets where the control is behind by more than a point."""
    accuracy, control = arena.of("accuracy"), arena.control
    rows = []
    for k, method in enumerate(arena.methods):
        gains = accuracy[:, control] - accuracy[:, k]
        behind = [f"{name} {gain:+.1f}" for name, gain in zip(arena.sets, gains, strict=True) if gain < -POINT]
        if k != control:
            rows.append(f"- {method}: {len(behind)}{' (' + ', '.join(behind) + ')' if behind else ''}.\n")
    return "".join(rows)


def against(arena: Arena, measure: str) -> str:
    """Compare the control with each other method over sets."""
    values, scores, control = arena.of(measure), arena.scores(measure), arena.control
    is_accuracy, real = measure == "accuracy", arena.is_real
    rows = []
    for test in wilcoxon_holm(scores, control):
        gains = values[:, control] - values[:, test.other]
        row = [arena.methods[test.other], f"{gains.mean():+.2f}" if is_accuracy else f"{gains.mean():+.3f}"]
        row.append(f"{test.wins}/{test.ties}/{test.losses}")
        if is_accuracy:
            row.append(f"{(gains > POINT).sum()}/{(gains < -POINT).sum()}")
        of_real = wilcoxon_p_value(scores[real, control], scores[real, test.other]) if real.any() else np.nan
        rows.append([*row, p_text(test.p_value), p_text(test.adjusted), "" if np.isnan(of_real) else p_text(of_real)])
    header = ["against", "mean difference", "better/equal/worse on sets"]
    header += ["by more than 1 point: better/worse"] if is_accuracy else []
    return table([*header, "p", "p, adjusted", "p, real sets only"], rows)


def times(arena: Arena) -> str:
    """Lay out times of fit and predict as ratios: of their sums over sets, and geometric means over sets."""
    bases = [name for name in TIME_BASES if name in arena.methods]
    header, columns = ["method"], []
    for measure in ("fit", "predict"):
        values = np.maximum(arena.of(measure), 1e-6)  # as exact as times are stored
        for base in bases:
            other = values[:, [arena.methods.index(base)]]
            columns += [values.sum(axis=0) / other.sum(), np.exp(np.log(values / other).mean(axis=0))]
            header += [f"`{measure}` / {base}: of sums", "geometric mean"]
    rows = [
        [method, *(f"{column[k]:.2f}" if column[k] < 10 else f"{column[k]:.0f}" for column in columns)]
        for k, method in enumerate(arena.methods)
    ]
    return table(header, rows)


def time_words(arena: Arena) -> str:
    """Say how the control's time compares."""
    fit, predict = arena.of("fit").sum(axis=0), arena.of("predict").sum(axis=0)
    found = [
        f"{fit[arena.control] / fit[k]:.2f} times as long in `fit` and {predict[arena.control] / predict[k]:.2f} times "
        f"as long in `predict` as {base}"
        for base, k in ((base, arena.methods.index(base)) for base in TIME_BASES if base in arena.methods)
    ]
    return f"Over all sets {arena.methods[arena.control]} takes {joined(found)}." if found else ""


def headline(arena: Arena) -> str:
    """List how the methods came out."""
    lines = [
        standing(arena, "accuracy", "Accuracy"),
        verdicts(arena, "accuracy"),
        lost(arena),
        standing(arena, "log_loss", "Log-loss"),
        verdicts(arena, "log_loss"),
        time_words(arena),
    ]
    return "".join(f"- {line}\n" for line in lines if line)


DECODERS = """\
## Decoders of the same codewords

The learners of mixed are trained once per fold; their out-of-fold codewords go to each decoder
(`benchmarks/mixed_decoders.py`; {n_sets} sets, no growth). Logistic weights are those of mixed, with one group per
learner; "one group" has a single one. Hinge weights are `OptimizedWeightDecoder`, stacking is scikit-learn's
`LogisticRegression` on the codewords. For their log-loss, hinge and equal weights have a temperature fitted to the same
codewords.

{table}

{differ}
"""


def short(arena: Arena) -> str:
    """Say in some sentences how the methods came out."""
    name, parts = arena.methods[arena.control], []
    for measure, title in {"accuracy": "accuracy", "log_loss": "log-loss"}.items():
        ranks = average_ranks(arena.scores(measure))
        order = [k for k in np.argsort(ranks, kind="stable") if k != arena.control]
        others = ", ".join(f"{arena.methods[k]} {ranks[k]:.1f}" for k in order[:5])
        parts.append(f"{ranks[arena.control]:.1f} by {title} (then {others})")
    return (
        f"Average ranks of {name} among {len(arena.methods)} methods on {len(arena.sets)} sets: {joined(parts)}. "
        f"{ranks_differ(len(arena.methods), len(arena.sets))} {time_words(arena)}\n"
    )


def how(arena: Arena) -> str:
    """Say what was measured, and how."""
    names, n_shipped = list(arena.sets), sum(name in list_uci() for name in arena.sets)
    n_synthetic = int((~arena.is_real).sum())
    inner = {key: value for key, value in arena.settings.items() if key == "inner_folds"}
    repeats = "Stratified" if arena.n_repeats == 1 else f"{arena.n_repeats} times stratified"
    data = (
        f"{len(names)} sets: {n_shipped} that the library ships, {len(names) - n_shipped - n_synthetic} "
        f"of `benchmarks/suite` and {n_synthetic} synthetic ones. They are those of "
        "[Growth and weights](growth.md#how-it-was-measured), on which the defaults of this library, the learners of "
        "mixed among them, were chosen; no method is tuned to a set."
    )
    if "max_table_rows" in arena.settings:  # of benchmarks/openml.py
        data = (
            f"{len(names)} sets of [OpenML](https://www.openml.org), not used to choose defaults of this library; no "
            f"method is tuned to a set. Tables with more than {arena.settings['max_table_rows']:,} rows are reduced to "
            "that number at random first."
        )
    about = {
        "**Data.**": data,
        "**Folds.**": f"{repeats} {arena.settings['folds']}-fold, the same for all methods; means over the folds. "
        f"Training parts with more than {arena.settings['max_rows']:,} rows are reduced to that number at random. "
        "Medians, categories and ranges are fitted to the training part.",
        "**Log-loss**": "is the mean of -log of the probability that the true class is given, clipped at 2.2e-16: "
        "a probability of 0 costs 36, which can dominate a mean but not a rank.",
        "**Time**": "is CPU time on one core, after a first fit that triggers compilation. The time of `fit` "
        "includes the calibration of probabilities.",
        "**Versions.**": ", ".join(f"{name} {number}" for name, number in arena.versions.items()) + ".",
    }
    if arena.left_out:
        about["**Left out**,"] = f"since not all methods have been measured there: {joined(arena.left_out)}."
    about["**Methods**,"] = "all with `random_state=0`:"
    text = "".join(f"- {title} {words}\n" for title, words in about.items())
    text += "".join(f"  - {method}: {METHODS[method]}.\n" for method in arena.methods)
    has_members = {"SVC", "Stacking", "Voting"} & set(arena.methods)
    return text + (f"\n{MEMBERS.format(**inner)}\n" if has_members else "")


PAGE = """<!-- written by scripts/make_results.py -->

# Compared with ordinary classifiers

WOLC-ECOC and other classifiers on the same folds: accuracy, log-loss and time (`benchmarks/arena.py`). This page is
written by `python scripts/make_results.py` from the stored results.

{headline}
## How it was measured

{how}
## Accuracy

In percent; the best of each set in bold.

![Average ranks by accuracy; bars join methods that do not differ significantly](figures/arena-accuracy.svg)

{accuracy}
## Log-loss

Less is better; the best of each set in bold.

![Average ranks by log-loss; bars join methods that do not differ significantly](figures/arena-log-loss.svg)

{log_loss}
{decoders}## One by one

{control} against each other method over the sets: p-values of the two-sided Wilcoxon signed-rank test, unadjusted,
adjusted by Holm's method over all rows of the table, and unadjusted over the real sets alone. Accuracy, where a
positive difference is in favour of {control}:

{against_accuracy}
Log-loss, where a negative difference is in favour of {control}:

{against_loss}
Number of sets on which {control} is less accurate by more than one point, by how much in brackets:

{lost}
## Time

As ratios to the time of another method: of the sums over all sets, in which large sets count most, and the geometric
mean of the sets' ratios. A number below 1 means faster.

{times}"""


def decoders(path: Path) -> str:
    """Compare decoders of the same codewords (`benchmarks/mixed_decoders.py`), if there are results."""
    if not path.exists():
        return ""
    stored = json.loads(path.read_text())
    values = np.array(list(stored["sets"].values()))  # (n_sets, n_decoders, 2): accuracy and log-loss
    ranks = [average_ranks(values[..., 0]), average_ranks(-values[..., 1])]
    rows = [
        [name, f"{accuracy:.2f}", f"{ranks[0][k]:.2f}", f"{loss:.3f}", f"{ranks[1][k]:.2f}"]
        for k, (name, (accuracy, loss)) in enumerate(zip(stored["decoders"], values.mean(axis=0), strict=True))
    ]
    header = ["decoder", "accuracy", "average rank", "log-loss", "average rank"]
    differ = ranks_differ(len(rows), len(values))
    return DECODERS.format(n_sets=len(values), table=table(header, rows), differ=differ)


def page(arena: Arena, decoders_path: Path | None = None) -> str:
    """Write the page."""
    return PAGE.format(
        decoders="" if decoders_path is None else decoders(decoders_path),
        control=arena.methods[arena.control],
        headline=headline(arena),
        how=how(arena),
        accuracy=by_set(arena, "accuracy", 1),
        log_loss=by_set(arena, "log_loss", 3),
        against_accuracy=against(arena, "accuracy"),
        against_loss=against(arena, "log_loss"),
        lost=lost_to_each(arena),
        times=times(arena),
    )


def arena_row(path: Path) -> list[str]:
    """Say in the cells of one row how the control and the best other method came out by accuracy."""
    arena = read_arena(path)
    scores = arena.scores("accuracy")
    ranks, means = average_ranks(scores), scores.mean(axis=0)
    own = [k for k, method in enumerate(arena.methods) if method in OURS]
    other = min(set(range(len(ranks))) - set(own), key=lambda k: ranks[k])
    mine, next_best = (f"{means[k]:.1f} %, rank {ranks[k]:.1f}" for k in (arena.control, other))
    difference = nemenyi_critical_difference(*reversed(scores.shape), alpha=ALPHA)
    return [
        f"compared with ordinary classifiers, `{arena.methods[arena.control]}`",
        f"{len(scores)}",
        mine,
        f"{arena.methods[other]}: {next_best}",
        f"{difference:.1f}",
    ]


def pictures(arena: Arena) -> Iterator[Picture]:
    """Draw the critical-difference diagrams; the methods of this library have its colour."""
    keys = {(f"wolc/{method}" if method in OURS else method): method for method in arena.methods}
    for measure, title in {"accuracy": "accuracy", "log_loss": "log-loss"}.items():
        name = f"arena-{title}"
        yield rank_picture(name, f"Average ranks by {title}", keys, arena.scores(measure))


def arena_blocks(path: Path) -> dict[str, Callable[[], str]]:
    """Name the blocks that other pages may quote, and say how they are made; none if there are no results."""
    if not path.exists():
        return {}
    return {
        "arena-headline": lambda: headline(read_arena(path)),
        "arena-short": lambda: short(read_arena(path)),
    }


def arena_files(path: Path, *, with_drawings: bool) -> Iterator[tuple[Path, str]]:
    """Make the page and its figures beside a file of results, if that is there."""
    if not path.exists():
        return
    arena = read_arena(path)
    yield Path("arena.md"), page(arena, path.with_name("mixed_decoders.json"))
    if with_drawings:
        for picture in pictures(arena):
            yield Path("figures") / f"{picture.name}.svg", picture.svg()


def main(arguments: Sequence[str]) -> None:
    source, folder = map(Path, arguments)
    for path, text in arena_files(source, with_drawings=True):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
