"""Blocks of pages on music, from the files that music_results.py stores in study/results/music."""

import csv
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from _markdown import table
from numpy.typing import NDArray

from skecoc.compare.statistics import TTest, corrected_t_test
from skecoc.reports import Picture, drawing_style, new_figure
from skecoc_study.music.methods import MIXED_FEATURES, MUSIC_METHODS, WOLC
from skecoc_study.paper.published import published_music

FOLDER = Path(__file__).resolve().parent.parent / "results" / "music"
FEATURES = ("mmfcc", "mosc", "mnase")
PAPER_CODES = ("1vs1", "1vsALL", "DECOC", "ECOC-ONE", "WOLC-ECOC")
TITLES = {
    "one-vs-one/loss-weighted": "1vs1 / LW",
    "one-vs-rest/loss-weighted": "1vsALL / LW",
    "one-vs-rest/loss-based": "1vsALL / LB",
    "decoc/loss-weighted": "DECOC / LW",
    "ecoc-one/loss-weighted": "ECOC-ONE / LW",
    WOLC: "WOLC-ECOC / OW",
    MIXED_FEATURES: "mixed features",
}
#: Ten folds: one test clip for nine of training.
TEST_SHARE = 1 / 9
BLUE, ORANGE = "#2b6cb0", "#d8822b"

Floats = NDArray[np.float64]


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """Read a stored file."""
    return list(csv.DictReader((FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def values_of(name: str, feature: str, method: str, measure: str = "accuracy") -> Floats:
    """Return the values of a method on all folds; accuracies are in percent."""
    rows = [row for row in rows_of(name) if (row["feature"], row["method"]) == (feature, method)]
    if measure == "accuracy":
        return np.array([100 * int(row["correct"]) / int(row["clips"]) for row in rows])
    return np.array([float(row[measure]) for row in rows])


def methods_of(name: str, feature: str) -> list[str]:
    """Return the methods that were run on a feature."""
    return list(dict.fromkeys(row["method"] for row in rows_of(name) if row["feature"] == feature))


def means(name: str, measure: str = "accuracy") -> Floats:
    """Average the paper's methods over folds: features by methods."""
    return np.array([[values_of(name, f, method, measure).mean() for method in MUSIC_METHODS] for f in FEATURES])


def contest(name: str, feature: str, method: str, rival: str, rival_feature: str | None = None) -> TTest:
    """Compare two methods over the folds."""
    first, second = values_of(name, feature, method), values_of(name, rival_feature or feature, rival)
    return corrected_t_test(first, second, test_share=TEST_SHARE)


def accuracies(name: str, feature: str, methods: Sequence[str], control: str = WOLC) -> list[str]:
    """Write mean and deviation of methods; the best is bold, and what differs significantly from another is marked."""
    found = [values_of(name, feature, method) for method in methods]
    best = max(round(values.mean(), 2) for values in found)
    signs = {1: " +", 0: "", -1: " −"}
    cells = []
    for method, values in zip(methods, found, strict=True):
        mean = f"{values.mean():.2f}"
        mark = "" if method == control else signs[contest(name, feature, method, control).verdict]
        cells.append(f"{f'**{mean}**' if float(mean) == best else mean} ± {values.std(ddof=1):.2f}{mark}")
    return cells


def columns(name: str, feature: str, methods: Sequence[str]) -> list[str]:
    """Write mean code lengths of methods."""
    return [f"{values_of(name, feature, method, 'columns').mean():.1f}" for method in methods]


def by_feature(name: str) -> str:
    """Lay out accuracies and code lengths of the paper's codes."""
    rows = [[f.upper(), *accuracies(name, f, MUSIC_METHODS)] for f in FEATURES]
    rows += [[f"columns, {f.upper()}", *columns(name, f, MUSIC_METHODS)] for f in FEATURES]
    return table(["", *(TITLES[method] for method in MUSIC_METHODS)], rows)


def published() -> str:
    """Lay out the paper's own tables."""
    rows = []
    for measure, title in (("accuracy", "{}"), ("code_length", "columns, {}")):
        found = published_music(measure)
        for feature in FEATURES:
            values = [found[feature.upper(), code] for code in PAPER_CODES]
            texts = [f"{value:.2f}" for value in values]
            if measure == "accuracy":
                texts = [f"**{t}**" if v == max(values) else t for t, v in zip(texts, values, strict=True)]
            rows.append([title.format(feature.upper()), *texts])
    return table(["", *(TITLES[method] for method in MUSIC_METHODS)], rows)


def all_features() -> str:
    """Lay out the methods on all features."""
    name = "all_features_by_track"
    methods = methods_of(name, "all")
    rows = [["accuracy", *accuracies(name, "all", methods)], ["columns", *columns(name, "all", methods)]]
    return table(["", *(TITLES[method] for method in methods)], rows)


def dortmund() -> str:
    """Lay out the codes on the Dortmund set's own features."""
    name = "dortmund_features"
    (feature,) = {row["feature"] for row in rows_of(name)}
    methods = ["one-vs-one/loss-weighted", "one-vs-rest/loss-weighted", "one-vs-rest/loss-based", *MUSIC_METHODS[2:]]
    rows = [["accuracy", *accuracies(name, feature, methods)], ["columns", *columns(name, feature, methods)]]
    return table(["", *(TITLES[method] for method in methods)], rows)


def plain_svm() -> str:
    """Say how accurate scikit-learn's SVC is without any search."""
    texts = [f"{values_of('plain_svm_by_track', f, 'sklearn/svm').mean():.1f} % ({f.upper()})" for f in FEATURES]
    return f"scikit-learn's `SVC(C=10)` on standardised features, without a search: {', '.join(texts)}."


def split_gain() -> str:
    """Say by how much accuracies are higher if clips of one track are on both sides."""
    gained = means("split_freely") - means("by_track")
    return (
        f"On the game soundtracks, splitting freely raises the accuracy by {gained.min():.0f} to {gained.max():.0f} "
        "points, depending on feature and code."
    )


def soundtracks() -> str:
    """List the soundtracks."""
    found = rows_of("soundtracks")
    rows = [[row["soundtrack"], f"{row['package']} {row['version']}", row["tracks"], row["clips"]] for row in found]
    total = [str(sum(int(row[name]) for row in found)) for name in ("tracks", "clips")]
    return table(["soundtrack", "Debian package", "tracks", "clips"], [*rows, ["**all**", "", *total]])


def encoders() -> str:
    """Lay out by how much MP3 changes features."""
    found = {(row["kbit_per_second"], row["rate"], row["feature"]): row["median_change"] for row in rows_of("encoders")}
    bit_rates, rates = (list(dict.fromkeys(key[k] for key in found)) for k in (0, 1))
    header = ["kbit/s", *(f"{feature.upper()}, {int(rate) / 1000:g} kHz" for rate in rates for feature in FEATURES)]
    return table(header, [[b, *(found[b, rate, f] for rate in rates for f in FEATURES)] for b in bit_rates])


def growth_folds() -> list[list[dict[str, str]]]:
    """Return the rounds of WOLC-ECOC on MNASE, fold by fold."""
    rounds = rows_of("growth")
    return [[row for row in rounds if row["fold"] == fold] for fold in dict.fromkeys(row["fold"] for row in rounds)]


def growth() -> str:
    """Say how WOLC-ECOC grew on MNASE."""
    folds = growth_folds()
    first = [rows[0] for rows in folds]
    kept = [next(row for row in rows if row["kept"] == "True") for rows in folds]

    def errors(rows: Sequence[dict[str, str]], measure: str) -> str:
        mean = 100 * float(np.mean([float(row[measure]) for row in rows]))
        return f"{mean if measure == 'loss' else 100 - mean:.1f} %"

    return (
        f"Growth keeps added columns in {sum(row['round'] != '0' for row in kept)} of {len(folds)} folds. Out of fold, "
        f"{errors(first, 'loss')} of the training clips are predicted wrongly with the initial columns and "
        f"{errors(kept, 'loss')} in the kept round; of the test clips, {errors(first, 'test_accuracy')} and "
        f"{errors(kept, 'test_accuracy')}."
    )


def music_picture() -> Picture:
    """Draw the errors of all folds by round."""
    folds = growth_folds()
    with drawing_style():
        figure = new_figure(6.4, 3.6)
        axes = figure.subplots()
        for k, (label, color) in enumerate((("test clips", ORANGE), ("training clips, out of fold", BLUE))):
            for rows in folds:
                loss, accuracy = (np.array([float(row[m]) for row in rows]) for m in ("loss", "test_accuracy"))
                errors = 100 * (loss if k else 1 - accuracy)
                is_kept = [row["kept"] == "True" for row in rows].index(True)
                axes.plot(errors, color=color, alpha=0.5, linewidth=1.0)
                axes.plot(is_kept, errors[is_kept], "o", color=color, markersize=4)
            axes.plot([], [], "o-", color=color, label=label)
        axes.set_ylim(0, 85)
        axes.set_xlim(left=-0.3)
        axes.set(xlabel="round", ylabel="errors in %")
        axes.legend(loc="upper right", ncols=2)
    alt = "Errors of ten folds by round, nearly flat lines: half of the test clips, a quarter of the training clips."
    return Picture("music-growth", "Growth of WOLC-ECOC on MNASE of game soundtracks", alt, figure)


def paper_settings() -> str:
    """Say how accurate the paper's own settings are."""
    found = values_of("paper_settings_by_track", "mnase", "wolc-paper/optimized-weight")
    lengths = values_of("paper_settings_by_track", "mnase", "wolc-paper/optimized-weight", "columns")
    return f"With the paper's own settings the accuracy is {found.mean():.2f} %, with {lengths.mean():.1f} columns."


def music_blocks() -> dict[str, Callable[[], str]]:
    """Name the blocks of the page and say how they are made."""
    return {
        "music-published": published,
        "music-soundtracks": soundtracks,
        "music-by-track": lambda: by_feature("by_track"),
        "music-plain-svm": plain_svm,
        "music-stumps": lambda: by_feature("boosted_stumps_by_track"),
        "music-all-features": all_features,
        "music-split-freely": lambda: by_feature("split_freely"),
        "music-split-gain": split_gain,
        "music-dortmund": dortmund,
        "music-encoders": encoders,
        "music-growth": growth,
        "music-paper-settings": paper_settings,
    }
