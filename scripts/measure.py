"""Measure again what README and documentation state, and record which code did.

Every measurement is a command. Those in benchmarks/ keep JSON files in docs/results, or print lines that go to
docs/results/benchmarks. docs/results/provenance.json says of each the command, commit, date, versions and files. Then
`make results` makes all pages from the stored files.

    python scripts/measure.py --list
    python scripts/measure.py stumps arena      # measure these two
    python scripts/measure.py --all             # hours
    python scripts/measure.py --record arena --commit 1a2b3c4   # its files were made elsewhere, by this commit

Run it on a clean checkout: changes that are not committed are refused, since nobody could repeat what they measured.
"""

import argparse
import datetime as dt
import hashlib
import json
import os
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PROVENANCE = "provenance.json"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm")


class Measurement(NamedTuple):
    """A command, what it is about, and the files of docs/results that it leaves."""

    about: str
    command: str
    files: tuple[str, ...]

    @property
    def prints(self) -> str | None:
        """Return the file that keeps what the command prints, if that is its result."""
        return next((name for name in self.files if name.startswith("benchmarks/")), None)


def _kept(about: str, script: str, name: str, options: str = "", flag: str = "--out") -> Measurement:
    """Describe a script of benchmarks/ that keeps a JSON file."""
    command = f"python benchmarks/{script}.py {options} {flag} docs/results/{name}.json"
    return Measurement(about, " ".join(command.split()), (f"{name}.json",))


def _printed(about: str, script: str, *options: str) -> Measurement:
    """Describe a script of benchmarks/ whose printed lines are kept; it may be run several times, by other options."""
    commands = [f"python benchmarks/{script}.py {option}".strip() for option in options or ("",)]
    return Measurement(about, " && ".join(commands), (f"benchmarks/{script}.txt",))


# The methods that finish within minutes at full size.
_FULL_SIZE = (
    "python benchmarks/many_classes.py --size full --output docs/results/many_classes.json --only stumps/auto "
    "logistic/auto logistic/OneVsRestClassifier lightgbm/auto lightgbm/alone tree/alone"
)

#: Everything that is measured.
MEASUREMENTS: dict[str, Measurement] = {
    "ablation": _kept("what each choice of WOLC-ECOC is worth", "ablation", "ablation"),
    "arena": _kept("compared with ordinary classifiers", "arena", "arena"),
    "choosing": _kept(
        "which classifier for how many samples and classes", "choosing", "choosing", "--samples 300 1000 5000 20000"
    ),
    "fixed_codes": _kept("optimised weights on fixed codes", "fixed_codes", "fixed_codes"),
    "growth": _kept("WOLC-ECOC beside one-vs-one and one-vs-rest", "growth", "growth"),
    "learners_and_codings": _kept(
        "every learner with four codings", "learners_and_codings", "learners_and_codings", flag="--output"
    ),
    "many_classes": Measurement(
        "a thousand classes",
        f"python benchmarks/many_classes.py --size quick --output docs/results/many_classes.json && {_FULL_SIZE}",
        ("many_classes.json",),
    ),
    "mixed_decoders": _kept("decoders of several learners", "mixed_decoders", "mixed_decoders"),
    "peers": _kept("WOLC-ECOC beside scikit-learn's meta-estimators", "wolc_peers", "peers"),
    "probabilities": _kept("log-loss beside calibration", "probabilities", "probabilities", flag="--output"),
    "agreement": _printed("fits from blocks and in memory", "agreement"),
    "columns": _printed("columns of tables beside skrub", "columns"),
    "ensembles": _printed("one-vs-one of stumps beside scikit-learn's", "ensembles"),
    "many_codings": _printed(
        "codes for many classes",
        "many_codings",
        "",
        "--coding one-vs-one --learner stumps logistic --data clouds clusters hierarchy",
    ),
    "meta_estimators": _printed("time beside scikit-learn's meta-estimators", "meta_estimators"),
    "onnx_converters": _printed("ONNX converters beside skl2onnx's", "onnx_converters"),
    "onnx_export": _printed("models as ONNX graphs", "onnx_export"),
    "output_code_accuracy": _printed("random codes beside OutputCodeClassifier", "output_code_accuracy"),
    "ow": _printed("speed of optimised weights", "ow"),
    "ow_accuracy": _printed("accuracy of optimised weights", "ow_accuracy"),
    "ow_many_classes": _printed("optimised weights with many classes", "ow_many_classes"),
    "ow_masters": _printed("solvers for optimised weights", "ow_masters"),
    "predict_stream": _printed("prediction of large files", "predict_stream"),
    "random_codes": _printed("search for random codes", "random_codes"),
    "scale": _printed("memory and time of fits from blocks", "scale"),
    "startup": _printed("start of the command line", "startup"),
    "stumps": _printed("boosted stumps beside AdaBoostClassifier", "stumps"),
    "stumps_scaling": _printed("time and memory of boosted stumps", "stumps_scaling"),
    "svm": _printed("the tuned RBF machine beside GridSearchCV(SVC)", "svm"),
    "weak_kmeans": _printed("k-means of one start beside KMeans", "weak_kmeans"),
    "wide_tables": _printed("fits of tables of many columns", "wide_tables"),
    "wolc": _printed("time of WOLC-ECOC", "wolc"),
}


def git(*arguments: str) -> str:
    """Run git in the checkout and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def measure(wanted: Measurement, results: Path) -> float:
    """Run a measurement and keep its files in a folder; return the seconds it took."""
    begin = time.monotonic()
    printed = ""
    for file in wanted.files:
        if file.endswith(".json"):  # scripts add to what is there
            (results / file).unlink(missing_ok=True)
    for command in wanted.command.split(" && "):
        program, *arguments = command.split()
        done = subprocess.run(
            [str(Path(sys.executable).with_name(program)), *arguments],
            cwd=ROOT,
            check=False,
            text=True,
            stdout=subprocess.PIPE if wanted.prints else None,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        if wanted.prints:
            print(done.stdout, end="", flush=True)
            printed += done.stdout
            path = results / wanted.prints
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(printed, encoding="utf-8")
        if done.returncode:
            print(f"{command}: exit code {done.returncode}", file=sys.stderr)
    return time.monotonic() - begin


def _today() -> str:
    """Return the date, as in 2026-11-18."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def record(name: str, wanted: Measurement, results: Path, commit: str, seconds: float | None) -> None:
    """Write down which commit made the files of a measurement, when, how and with which versions.

    Files that were made elsewhere, without `seconds`, get the date of their commit.
    """
    path = results / PROVENANCE
    entries: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    files = {
        file: {"sha256": hashlib.sha256((results / file).read_bytes()).hexdigest()} for file in sorted(wanted.files)
    }
    entries[name] = {
        "about": wanted.about,
        "command": wanted.command,
        "commit": git("rev-parse", commit),
        "date": git("show", "-s", "--format=%cs", commit) if seconds is None else _today(),
        "seconds": None if seconds is None else round(seconds),
        "versions": {"python": sys.version.split()[0]} | installed(),
        "files": files,
    }
    path.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def installed() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main(measurements: dict[str, Measurement], results: Path) -> int:
    """Measure what is named; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", choices=[*measurements, []], metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every measurement")
    parser.add_argument("--list", action="store_true", help="print all names and commands")
    parser.add_argument("--record", action="store_true", help="measure nothing; the files are there")
    parser.add_argument("--commit", default="HEAD", help="with --record: the commit that made the files")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name}: {wanted.about}\n    {wanted.command}" for name, wanted in measurements.items()))
        return 0
    if not options.record and git("status", "--porcelain", "--untracked-files=no", "src", "benchmarks", "study"):
        parser.error("src/, benchmarks/ or study/ have changes that are not committed")
    for name in measurements if options.all else options.names:
        seconds = None if options.record else measure(measurements[name], results)
        record(name, measurements[name], results, options.commit, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(MEASUREMENTS, RESULTS))
