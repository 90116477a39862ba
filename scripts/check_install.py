"""Install the wheel and the source archive of a folder, each in an environment of its own, and use the commands there.

    python scripts/check_install.py dist

Compares, fits and predicts a table in a folder that is not the checkout, so that nothing but the installed package is
used. Exits with 1 if a command fails or leaves no predictions.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

COMMANDS = (
    "skecoc --version",
    "skecoc compare flowers.csv --target kind --methods wolc one-vs-one sklearn/random-forest --report report.html",
    "skecoc fit flowers.csv --target kind --method wolc -o flowers.skops",
    "skecoc inspect flowers.skops",
    "skecoc predict flowers.skops flowers.csv -o predicted.csv",
)
MAKE_TABLE = """
from skecoc.datasets import load_uci
flowers = load_uci("iris", as_frame=True).frame
flowers.rename(columns={flowers.columns[-1]: "kind"}).to_csv("flowers.csv", index=False)
"""


def check(archive: Path) -> None:
    """Install an archive with all extras and run the commands beside a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "environment", with_pip=True)
        programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        work = folder / "work"
        work.mkdir()
        run([programs / "python", "-m", "pip", "install", "--quiet", f"{archive}[all]"], work)
        run([programs / "python", "-c", MAKE_TABLE], work)
        for command in COMMANDS:
            program, *arguments = command.split()
            run([programs / program, *arguments], work)
        n_lines = len((work / "predicted.csv").read_text(encoding="utf-8").splitlines())
        if n_lines != 151:
            raise SystemExit(f"{archive.name}: expected 150 predictions and a header, got {n_lines} lines")
        print(f"{archive.name}: installed, and all commands run")


def run(command: list[str | Path], folder: Path) -> None:
    """Run a command in a folder; stop if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    print("$", *command[-6:] if "-c" not in command else ["python", "..."], flush=True)
    done = subprocess.run(command, cwd=folder, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}")


if __name__ == "__main__":
    archives = sorted(Path(sys.argv[1]).resolve().glob("scikit_ecoc-*"))
    if not archives:
        raise SystemExit(f"no archives in {sys.argv[1]}; run make build first")
    for archive in archives:
        check(archive)
