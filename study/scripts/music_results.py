"""Run the experiment on music, and store the results in study/results/music.

    python study/scripts/game_music.py FOLDER                             # collect the clips
    python study/scripts/music_results.py FOLDER --dortmund features.csv  # run and store
    python study/scripts/make_study_results.py                            # write the tables of the pages

Each command of `COMMANDS` writes one JSON file to FOLDER/out; commands whose file exists are not run again. The
Dortmund set's own features are a table with the columns ``id``, ``feature1`` to ``feature42`` and ``class``. Without
``--dortmund`` the stored results on them stay as they are.
"""

import argparse
import csv
import io
import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from _music import FOLDER as STORED
from game_music import PACKAGES
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skecoc_study.music import ModulationFeatures, load_audio_folder
from skecoc_study.music.experiment import split_clips
from skecoc_study.music.extraction import FeatureCache
from skecoc_study.music.folders import read_collection
from skecoc_study.music.modulation import FEATURES, feature_slices

FOLDS, SEED = 10, 0
PLAIN_SVM = "sklearn/svm"
GROWTH_FEATURE = "mnase"
#: Clips that are written as MP3, and how strongly they are compressed: 128, 192 and 320 kbit/s.
N_ENCODED, COMPRESSION_LEVELS = 60, (0.65, 0.4, 0.0)
_MUSIC = "music compare {clips} --cache {cache}"
_DORTMUND_METHODS = (
    "one-vs-one/loss-weighted one-vs-rest/loss-weighted one-vs-rest/loss-based decoc/loss-weighted "
    "ecoc-one/loss-weighted wolc"
)
#: What is run: the name of the stored file, and the arguments of `skecoc`.
COMMANDS = {
    "by_track": f"{_MUSIC} --group-by track",
    "boosted_stumps_by_track": f"{_MUSIC} --group-by track --learner stumps",
    "all_features_by_track": (
        f"{_MUSIC} --group-by track --features all --methods one-vs-one/loss-weighted wolc mixed-features"
    ),
    "paper_settings_by_track": f"{_MUSIC} --group-by track --features {GROWTH_FEATURE} --methods wolc-paper",
    "split_freely": _MUSIC,
    "dortmund_features": (
        f"compare {{dortmund}} --target class --drop id --learner svm --folds {FOLDS} --methods {_DORTMUND_METHODS}"
    ),
}


def main() -> int:
    """Run what has not been run, and store everything; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="the folder that scripts/game_music.py filled")
    parser.add_argument("--dortmund", type=Path, metavar="TABLE", help="the Dortmund set's own features")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (default: 1)")
    options = parser.parse_args()
    outputs = options.folder / "out"
    outputs.mkdir(exist_ok=True)
    for name, command in COMMANDS.items():
        made = outputs / f"{name}.json"
        if not made.exists() and (options.dortmund or "{dortmund}" not in command):
            code = run(command, options, made)
            if code:
                return code
    if not (outputs / "plain_svm_by_track.json").exists():
        content = {"runs": list(plain_svm(options.folder))}
        (outputs / "plain_svm_by_track.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    STORED.mkdir(parents=True, exist_ok=True)
    for name, text in stored_files(outputs):
        (STORED / name).write_text(text, encoding="utf-8")
        print(f"written: {STORED / name}")
    for name, rows in {"soundtracks": soundtracks, "encoders": encoders}.items():
        (STORED / f"{name}.csv").write_text(to_csv(rows(options.folder)), encoding="utf-8")
    return 0


def run(command: str, options: argparse.Namespace, made: Path) -> int:
    """Run `skecoc` and keep its output; return the exit code."""
    arguments = [
        word.format(clips=options.folder / "clips", cache=options.folder / "cache", dortmund=options.dortmund)
        for word in shlex.split(command)
    ]
    arguments += ["--jobs", str(options.jobs), "--format", "json", "--output", str(made)]
    print(shlex.join(["skecoc", *arguments]), flush=True)
    return subprocess.run([sys.executable, "-m", "skecoc", *arguments], check=False).returncode


def plain_svm(folder: Path) -> Iterator[dict[str, Any]]:
    """Cross-validate scikit-learn's SVC without any search, on the folds by track that all codes have."""
    music = read_collection(folder / "clips", say=print, cache=FeatureCache(folder / "cache"), n_jobs=1)
    splits = split_clips(music.genres, music.tracks, 0, FOLDS, SEED)
    for feature in FEATURES:
        X = music.feature(feature)
        for fold, (train, test) in enumerate(splits):
            model = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X[train], music.genres[train])
            n_correct = int(np.sum(model.predict(X[test]) == music.genres[test]))
            yield {
                "data_set": feature,
                "method": PLAIN_SVM,
                "fold": fold,
                "n_test": len(test),
                "n_correct": n_correct,
                "n_columns": "",
            }


def stored_files(outputs: Path) -> Iterator[tuple[str, str]]:
    """Make the files to store from the JSON files of all commands."""
    for name in [*COMMANDS, "plain_svm_by_track"]:
        path = outputs / f"{name}.json"
        if path.exists():
            content = json.loads(path.read_text(encoding="utf-8"))
            yield f"{name}.csv", to_csv(fold_rows(content.get("runs") or content["records"]))
    rounds = json.loads((outputs / "by_track.json").read_text(encoding="utf-8"))["rounds"]
    yield "growth.csv", to_csv([growth_row(record) for record in rounds if record["data_set"] == GROWTH_FEATURE])


def fold_rows(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say of every method on every fold how many clips it predicted correctly, and with how many columns."""
    rows = [
        {
            "feature": run["data_set"],
            "method": run.get("method") or f"{run['coding']}/{run['decoding']}",
            "fold": run["fold"],
            "clips": run["n_test"],
            "correct": run["n_correct"] if "n_correct" in run else round(run["accuracy"] * run["n_test"]),
            "columns": run["n_columns"],
        }
        for run in runs
    ]
    order = {key: k for k, key in enumerate(dict.fromkeys((row["feature"], row["method"]) for row in rows))}
    return sorted(rows, key=lambda row: (order[row["feature"], row["method"]], row["fold"]))


def growth_row(record: dict[str, Any]) -> dict[str, Any]:
    """Say what a round of WOLC-ECOC has come to."""
    return {
        "fold": record["fold"],
        "round": record["round"],
        "columns": record["n_columns"],
        "loss": f"{record['loss']:.6g}",
        "test_accuracy": f"{record['test_accuracy']:.6g}",
        "kept": record["kept"],
    }


def soundtracks(folder: Path) -> list[dict[str, Any]]:
    """Count the tracks and clips of every soundtrack, and name its package."""
    music = load_audio_folder(folder / "clips")
    clips = Counter(music.target.tolist())
    tracks = Counter(track.partition("/")[0] for track in set(music.tracks.tolist()))
    rows = []
    for name, package in PACKAGES.items():
        (file,) = sorted((folder / "packages").glob(f"{package}_*.deb"))[-1:]
        row = {"soundtrack": name, "package": package, "version": file.stem.split("_")[1].replace("%3a", ":")}
        rows.append(row | {"tracks": tracks[name], "clips": clips[name]})
    return rows


def encoders(folder: Path) -> list[dict[str, Any]]:
    """Write clips as MP3 and read them again; say by how much features change, in units of their deviation."""
    paths = sorted((folder / "clips").rglob("*.flac"))
    paths = [paths[k] for k in np.linspace(0, len(paths) - 1, N_ENCODED).astype(int)]
    clips = [soundfile.read(path, dtype="float32") for path in paths]
    seconds = sum(len(samples) / rate for samples, rate in clips)
    analyses = {rate: ModulationFeatures("all", rate=rate) for rate in (44_100, 22_050)}
    originals = {rate: features.fit_transform(paths) for rate, features in analyses.items()}
    rows = []
    for level in COMPRESSION_LEVELS:
        files = [io.BytesIO() for _ in clips]
        for file, (samples, rate) in zip(files, clips, strict=True):
            soundfile.write(file, samples, rate, format="MP3", compression_level=level, bitrate_mode="CONSTANT")
        kbits = 8e-3 * sum(len(file.getvalue()) for file in files) / seconds
        for rate, features in analyses.items():
            for file in files:
                file.seek(0)
            change, deviation = np.abs(features.transform(files) - originals[rate]), originals[rate].std(axis=0)
            for feature in FEATURES:
                part = feature_slices(rate)[feature]
                varies = deviation[part] > 0  # the contrast of a single bin is always 0
                median = np.median(change[:, part][:, varies] / deviation[part][varies])
                row = {"kbit_per_second": f"{kbits:.0f}", "rate": rate, "feature": feature}
                rows.append(row | {"median_change": f"{median:.2g}"})
    return rows


def to_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Write rows as CSV."""
    text = io.StringIO()
    lines = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
