"""Check what ``make build`` made: the wheel holds the package and the data that its commands read, nothing else.

Usage: python scripts/check_wheel.py FOLDER
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

# Code, and data by the module that reads them.
EXPECTED = re.compile(
    r"skecoc/([a-z_]+/)*[a-z_]+\.py"
    r"|skecoc/py\.typed"
    r"|skecoc/datasets/data/[a-z]+\.(csv\.gz|rst)"
    r"|skecoc/reports/templates/[a-z]+\.(html\.jinja|css|js)"
    r"|scikit_ecoc-[^/]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
# What the source archive must hold, to be built and tested.
NEEDED = ("pyproject.toml", "Makefile", "README.md", "LICENSE", "src/skecoc/__init__.py", "tests/conftest.py")


def main(folder: Path) -> int:
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    problems = [f"{wheel.name} should not hold {name}" for name in names if not EXPECTED.fullmatch(name)]
    with tarfile.open(archive) as files:
        held = {name.partition("/")[2] for name in files.getnames()}
    problems += [f"{archive.name} lacks {name}" for name in NEEDED if name not in held]
    summary = f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 2**20:.1f} MiB"
    print(*problems, summary, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
