"""The numbers on the page of music results are those of the files beside it."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from scripts.game_music import PACKAGES

from skecoc.benchmarking.statistics import corrected_t_test
from skecoc.music.methods import MIXED_FEATURES, MUSIC_METHODS
from skecoc.paper.published import published_music

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "music.md"
GUIDE = PAGE.parents[1] / "user_guide" / "music.md"
FEATURES = ("mmfcc", "mosc", "mnase")
*RIVALS, WOLC = MUSIC_METHODS
PAPER_CODES = ("1vs1", "1vsALL", "DECOC", "ECOC-ONE", "WOLC-ECOC")
SPLITS = {
    "Soundtracks of games": "by_track",
    "The same clips, split freely": "split_freely",
    "The Dortmund set's own features": "dortmund_features",
}


def text_of(path):
    """The text outside of tables, without line breaks."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("|")]
    return " ".join(" ".join(lines).split())


def stated(path, *numbers):
    """Whether a page's text has these numbers one after another, whatever the words between them."""
    found = re.findall(r"(?<![\w.,-])[+-]?\d+(?:\.\d+)?(?!\w)", text_of(path))
    return any(found[start : start + len(numbers)] == list(numbers) for start in range(len(found)))


def rows_of(name):
    """Rows of a file beside the page."""
    return list(csv.DictReader((PAGE.parent / "music" / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def fold_values(split, feature, method, measure="accuracy"):
    """Values of the ten folds of a method."""
    rows = [r for r in rows_of("folds") if (r["split"], r["feature"], r["method"]) == (split, feature, method)]
    assert [int(row["fold"]) for row in rows] == list(range(10))
    if measure == "accuracy":
        return np.array([100 * int(row["correct"]) / int(row["clips"]) for row in rows])
    return np.array([float(row[measure]) for row in rows])


def mean_accuracies(split):
    """Mean accuracy by feature and method of the paper."""
    return np.array([[fold_values(split, f, method).mean() for method in MUSIC_METHODS] for f in FEATURES])


def tables():
    """Rows of numbers below each heading of the page: the heading, the row's name, its numbers."""
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        heading = line.removeprefix("## ") if line.startswith("## ") else heading
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        numbers = [re.match(r"(\**)(\d+\.\d\d)\**(?: ± (\d+\.\d\d))?$", cell) for cell in cells[1:]]
        if len(numbers) == 5 and all(numbers):
            yield heading, cells[0].replace("*columns:* ", ""), [match.groups() for match in numbers]


@pytest.mark.parametrize("split", [*SPLITS.values(), "boosted_stumps_by_track"])
def test_averages_are_those_of_the_folds(split):
    rows = rows_of(split)
    features = ["published"] if split == "dortmund_features" else FEATURES
    assert [(r["feature"], r["method"]) for r in rows] == [(f, method) for f in features for method in MUSIC_METHODS]
    for row in rows:
        accuracy = fold_values(split, row["feature"], row["method"])
        columns = fold_values(split, row["feature"], row["method"], "columns")
        assert float(row["accuracy"]) == pytest.approx(accuracy.mean(), abs=1e-6)
        assert float(row["std"]) == pytest.approx(accuracy.std(ddof=1), abs=1e-6)
        assert float(row["columns"]) == pytest.approx(columns.mean())


@pytest.mark.parametrize("heading", SPLITS)
def test_tables_are_the_averages(heading):
    rows = rows_of(SPLITS[heading])
    found = [numbers for title, _, numbers in tables() if title == heading]
    accuracy, columns = np.split(np.array(found, dtype=object).reshape(-1, 3), 2)
    best = [max(float(r["accuracy"]) for r in rows if r["feature"] == row["feature"]) for row in rows]
    for row, (stars, mean, deviation), (_, length, _), top in zip(rows, accuracy, columns, best, strict=True):
        assert (mean, deviation) == (f"{float(row['accuracy']):.2f}", f"{float(row['std']):.2f}")
        assert length == f"{float(row['columns']):.2f}"
        assert bool(stars) == (float(row["accuracy"]) == top)


def test_all_features_together():
    rows = rows_of("all_features_by_track")
    accuracies = {row["method"]: fold_values("by_track", "all", row["method"]) for row in rows}
    columns = [fold_values("by_track", "all", method, "columns").mean() for method in accuracies]
    lines = [line.replace("*", "") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    shown = " | ".join(f"{values.mean():.2f} ± {values.std(ddof=1):.2f}" for values in accuracies.values())
    assert f"| all features | {shown} |" in lines
    assert f"| columns | {' | '.join(f'{length:.2f}' for length in columns)} |" in lines
    for row, values, length in zip(rows, accuracies.values(), columns, strict=True):
        assert float(row["accuracy"]) == pytest.approx(values.mean(), abs=1e-6)
        assert float(row["std"]) == pytest.approx(values.std(ddof=1), abs=1e-6)
        assert float(row["columns"]) == length
    mixed = accuracies[MIXED_FEATURES]
    assert not any(corrected_t_test(mixed, values, test_share=1 / 9).verdict for values in accuracies.values())
    tests = {
        (feature, method): corrected_t_test(mixed, fold_values("by_track", feature, method), test_share=1 / 9)
        for feature in FEATURES
        for method in MUSIC_METHODS
    }
    (rival,) = (pair for pair, test in tests.items() if test.verdict < 1)
    assert rival == ("mosc", "one-vs-one/loss-weighted")
    assert stated(PAGE, f"{tests[rival].difference:+.1f}", f"{tests[rival].p_value:.2f}")


def test_published_tables():
    rows = [[value for _, value, _ in numbers] for title, _, numbers in tables() if title == "The paper's numbers"]
    expected = [
        [f"{published_music(measure)[feature.upper(), code]:.2f}" for code in PAPER_CODES]
        for measure in ("accuracy", "code_length")
        for feature in FEATURES
    ]
    assert rows == expected


def test_every_run_has_all_clips():
    for split, features in (("by_track", FEATURES), ("split_freely", FEATURES), ("dortmund_features", ["published"])):
        expected = 1856 if split == "dortmund_features" else 2044
        for feature in features:
            for method in MUSIC_METHODS:
                assert fold_values(split, feature, method, "clips").sum() == expected


def test_soundtracks_are_those_of_the_script():
    listed = re.findall(r"([a-z0-9-]+) \(([a-z0-9.-]+), (\d+) \w+, (\d+) \w+\)", text_of(PAGE))
    assert {name: package for name, package, _, _ in listed} == PACKAGES
    assert sum(int(tracks) for _, _, tracks, _ in listed) == 220
    assert sum(int(clips) for *_, clips in listed) == 2044


def test_significant_differences_are_those_named():
    named = {
        "by_track": {("mosc", "decoc"): "+3.3"},
        "dortmund_features": {
            ("published", "one-vs-rest"): "+8.2",
            ("published", "decoc"): "+8.8",
            ("published", "ecoc-one"): "+5.4",
        },
    }
    for split, expected in named.items():
        found = {}
        for feature in FEATURES if split == "by_track" else ["published"]:
            wolc = fold_values(split, feature, WOLC)
            for rival in RIVALS:
                test = corrected_t_test(wolc, fold_values(split, feature, rival), test_share=1 / 9)
                if test.verdict:
                    found[feature, rival.split("/")[0]] = f"{test.difference:+.1f}"
        assert found == expected
        assert all(stated(PAGE, difference) for difference in found.values())


def test_numbers_in_the_text():
    track, free, stumps = map(mean_accuracies, ("by_track", "split_freely", "boosted_stumps_by_track"))
    lead = track[:, 0] - track[:, -1]
    assert stated(PAGE, f"{lead.min():.1f}", f"{lead.max():.1f}")
    plain = [fold_values("by_track", feature, "sklearn.svm.SVC").mean() for feature in FEATURES]
    assert stated(PAGE, *(f"{accuracy:.1f}" for accuracy in plain))
    for method in (0, -1):
        assert stated(PAGE, *(f"{accuracy:.2f}" for accuracy in stumps[:, method]))
    lower, gained = track - stumps, free - track
    assert stated(PAGE, f"{lower.min():.0f}", f"{lower.max():.0f}")
    for page in (PAGE, GUIDE):
        assert stated(page, f"{gained.min():.0f}", f"{gained.max():.0f}")
    paper = fold_values("by_track", "mnase", "wolc-paper/optimized-weight")
    assert stated(PAGE, f"{paper.mean():.2f}")


def test_numbers_in_the_text_on_the_dortmund_set():
    wolc = fold_values("dortmund_features", "published", WOLC)
    lead = (wolc - fold_values("dortmund_features", "published", RIVALS[0])).mean()
    assert stated(PAGE, f"{lead:+.1f}")
    columns = fold_values("dortmund_features", "published", WOLC, "columns")
    assert (np.sum(columns == 9), np.sum(columns == 36)) == (9, 1)
    assert stated(PAGE, f"{columns.mean():.1f}")
    decodings = [
        fold_values("dortmund_features", "published", f"one-vs-rest/{decoding}").mean()
        for decoding in ("loss-based", "loss-weighted")
    ]
    assert stated(PAGE, *(f"{accuracy:.2f}" for accuracy in decodings))


def test_growth_in_the_text():
    rounds = rows_of("growth")
    first = [float(row["objective"]) for row in rounds if row["round"] == "0"]
    kept = [row for row in rounds if row["kept"] == "True"]
    assert [len(first), len(kept)] == [10, 10]
    assert sum(row["round"] == "0" for row in kept) == 8  # "in eight of ten folds no added column pays"
    last = []
    for fold in range(10):
        objectives = [float(row["objective"]) for row in rounds if int(row["fold"]) == fold]
        assert objectives == sorted(objectives, reverse=True)
        last.append(objectives[-1])
    assert stated(PAGE, f"{np.mean(first):.3f}", f"{np.mean(last):.3f}")
    training = np.mean([float(row["train_accuracy"]) for row in rounds if row["round"] == "0"])
    assert stated(PAGE, f"{100 * training:.1f}")
