"""Measure again what pages of the study state, and record which code did: see scripts/measure.py.

python study/scripts/measure_study.py --list
python study/scripts/measure_study.py paper_stumps
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from measure import ROOT, Measurement, main

RESULTS = ROOT / "study" / "results"


def _paper(about: str, *targets: str) -> Measurement:
    """Describe a part of the paper's experiment; all parts are kept in the same two files."""
    commands = [f"skecoc reproduce {target} --output skecoc-results" for target in targets]
    commands.append("skecoc report skecoc-results --output study/results --compact")
    return Measurement(f"the paper's experiment: {about}", " && ".join(commands), ("runs.csv.gz", "rounds.csv.gz"))


def _music(about: str, options: str, *names: str) -> Measurement:
    """Describe a part of the experiment on music, whose clips are collected first."""
    collect, run = (f"python study/scripts/{name}.py skecoc-music" for name in ("game_music", "music_results"))
    return Measurement(
        f"music: {about}", f"{collect} && {run} {options}".strip(), tuple(f"music/{name}.csv" for name in names)
    )


#: Everything that is measured.
MEASUREMENTS = {
    "paper_stumps": _paper("boosted stumps", "table2", "fig6", "fig7"),
    "paper_svm": _paper("support vector machines on the 11 smaller sets", "table3"),
    "paper_svm_large": _paper("support vector machines on three large sets, methods other than WOLC-ECOC", "table3"),
    "as_printed": Measurement(
        "the algorithm as printed",
        "python study/benchmarks/as_printed.py --out study/results/as_printed.json",
        ("as_printed.json",),
    ),
    "audio": Measurement(
        "features of music beside librosa", "python study/benchmarks/audio.py", ("benchmarks/audio.txt",)
    ),
    "music": _music(
        "soundtracks of games",
        "",
        *("all_features_by_track", "boosted_stumps_by_track", "by_track", "encoders", "growth"),
        *("paper_settings_by_track", "plain_svm_by_track", "soundtracks", "split_freely"),
    ),
    "music_dortmund": _music("features of the Dortmund set", "--dortmund features.csv", "dortmund_features"),
}

if __name__ == "__main__":
    sys.exit(main(MEASUREMENTS, RESULTS))
