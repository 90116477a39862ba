"""How long the command line takes to start, to compile and to fit a small table, each beside what it builds on.

Times are those of processes of their own, best of several in turn, of the clock on the wall: run this while nothing
else keeps the processors busy. Exits with 1 if a target is missed.

Run with ``python benchmarks/startup.py``.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REPEATS = 3
MOST_SECONDS_OF_HELP, MOST_SECONDS_OF_COMPILATION, LARGEST_RATIO_OF_JOBS = 0.3, 4.0, 1.1
HELP = ("--version", "--help", "fit --help", "predict --help", "compare --help", "inspect --help")
METHODS = ("mixed", "wolc")
MEANS = {
    "Adelie": (38.8, 18.3, 190.0, 3700.0),
    "Chinstrap": (48.8, 18.4, 196.0, 3733.0),
    "Gentoo": (47.5, 15.0, 217.0, 5076.0),
}


def seconds(*arguments, folder=None, **environment):
    """Time a process of Python."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begin


def best(commands, repeats=REPEATS, **options):
    """Time commands in turn; return the best time of each."""
    times = [[seconds(*command, **options) for command in commands] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def write_table(path):
    """Write a table of the size of the penguins: 344 rows, 7 columns with text and gaps, 3 classes."""
    rng = np.random.default_rng(0)
    islands = ("Biscoe", "Dream", "Torgersen")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["species", "island", "bill_length", "bill_depth", "flipper", "mass", "sex", "year"])
        for species in np.repeat(list(MEANS), (152, 68, 124)):
            sizes = rng.normal(MEANS[species], (2.7, 1.1, 6.5, 450.0)).round(1)
            cells = ["" if rng.random() < 0.01 else size for size in sizes]
            writer.writerow(
                [species, rng.choice(islands), *cells, rng.choice(["male", "female"]), 2007 + rng.integers(3)]
            )


def fit_command(method, *options):
    """Return the command that fits the table."""
    return ["-m", "skecoc", "fit", "table.csv", "--target", "species", "-o", "m.skops", "--method", method, *options]


def show_help():
    """Time --version and --help beside Python alone and beside scikit-learn; return the longest time."""
    commands = [["-c", "pass"], ["-c", "import sklearn"], *(["-m", "skecoc", *words.split()] for words in HELP)]
    python, sklearn, *ours = best(commands)
    print(f"{'':>18}{'seconds':>9}{'/ python':>10}{'/ import sklearn':>18}")
    for words, taken in zip(("python", "import sklearn", *HELP), (python, sklearn, *ours), strict=True):
        print(f"{words:>18}{taken:9.2f}{taken / python:10.1f}{taken / sklearn:18.2f}")
    return max(ours)


def show_compilation(folder):
    """Time the first fit with nothing compiled beside the second; return the longest compilation."""
    loading = best([["-c", "import skecoc.compare"]])[0]
    print(f"\n{'fit':>18}{'first s':>9}{'second s':>10}{'compiling s':>13}{'/ import skecoc':>17}")
    longest = 0.0
    for method in METHODS:
        with tempfile.TemporaryDirectory() as cache:
            first, second = (
                seconds(*fit_command(method, "--jobs", "1"), folder=folder, NUMBA_CACHE_DIR=cache) for _ in range(2)
            )
        print(f"{method:>18}{first:9.1f}{second:10.1f}{first - second:13.1f}{(first - second) / loading:17.1f}")
        longest = max(longest, first - second)
    return longest


def show_jobs(folder):
    """Time fits with the default number of jobs beside one; return the largest ratio."""
    print(f"\n{'fit':>18}{'default s':>11}{'one job s':>11}{'ratio':>8}")
    largest = 0.0
    for method in METHODS:
        default, one = best([fit_command(method), fit_command(method, "--jobs", "1")], folder=folder)
        print(f"{method:>18}{default:11.1f}{one:11.1f}{default / one:8.2f}")
        largest = max(largest, default / one)
    return largest


def main():
    """Print all times; return the exit status."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table.csv")
        checks = [
            ("longest --help or --version, seconds", show_help(), MOST_SECONDS_OF_HELP),
            ("longest compilation, seconds", show_compilation(folder), MOST_SECONDS_OF_COMPILATION),
            ("largest ratio of default jobs to one", show_jobs(folder), LARGEST_RATIO_OF_JOBS),
        ]
    print()
    for label, value, target in checks:
        print(f"{label}: {value:.2f} (at most {target}): {'ok' if value <= target else 'MISSED'}")
    return 0 if all(value <= target for _, value, target in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
