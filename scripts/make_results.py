"""Make the pages of docs/results from the files stored there, and fill in the numbers that README and guide quote.

A block of a Markdown file that begins with ``<!-- results: name -->`` and ends with ``<!-- end -->`` is written by this
script, from what scripts in benchmarks/ keep in docs/results (`growth.json`, `fixed_codes.json`, `ablation.json`,
`peers.json`, `arena.json`, `choosing.json`, ...). The page arena.md is written as a whole. CI runs it with ``--check``.

    python scripts/make_results.py             # all tables, figures and quoted numbers
    python scripts/make_results.py --check     # exit code 1 if anything is not up to date
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from _arena import arena_blocks, arena_files, arena_row
from _choosing import choosing_blocks
from _growth import growth_blocks, growth_pictures
from _learners import learners_blocks
from _many_classes import many_classes_blocks
from _markdown import table
from _pages import written_pages
from _provenance import provenance_blocks
from _readme import readme_blocks

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "results"
ARENA = FOLDER / "arena.json"
CHOOSING = FOLDER / "choosing.json"
BLOCK = re.compile(r"(<!-- results: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def printed_blocks(folder: Path) -> dict[str, Callable[[], str]]:
    """Make blocks of what the benchmarks printed, as it is: ``printed-stumps``."""
    return {
        f"printed-{path.stem}": lambda path=path: f"```text\n{path.read_text(encoding='utf-8').strip()}\n```\n"
        for path in sorted((folder / "benchmarks").glob("*.txt"))
    }


def in_short(rows: list[list[str]]) -> str:
    """Set the flagship beside the best other method in experiments, for README."""
    header = ["experiment", "sets", "WOLC-ECOC", "best other method by rank", "critical difference of ranks"]
    return table(header, rows)


def blocks() -> dict[str, Callable[[], str]]:
    """Name all blocks and say how they are made."""
    found = growth_blocks() | arena_blocks(ARENA) | choosing_blocks(CHOOSING) | learners_blocks()
    found |= many_classes_blocks() | printed_blocks(FOLDER) | provenance_blocks() | readme_blocks()
    found["in-short"] = lambda: in_short([arena_row(ARENA)])
    return found


def fill(text: str, made: dict[str, Callable[[], str]]) -> str:
    """Write the blocks of a page anew."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"].strip()
        if name not in made:
            raise KeyError(f"no block is called {name!r}; there are {', '.join(made)}")
        return f"{match[1]}{made[name]().strip()}\n{match[3]}"

    return BLOCK.sub(replace, text)


def files(*, with_drawings: bool) -> Iterator[tuple[Path, str]]:
    """Make all files, with figures or, since those depend on matplotlib's version, without."""
    if with_drawings:
        for picture in growth_pictures():
            yield FOLDER / "figures" / f"{picture.name}.svg", picture.svg()
    for path, text in arena_files(ARENA, with_drawings=with_drawings):
        yield FOLDER / path, text
    made = blocks()
    for page in written_pages():
        if page != FOLDER / "arena.md":
            yield page, fill(page.read_text(encoding="utf-8"), made)


def main(make_files: Callable[..., Iterator[tuple[Path, str]]], about: str) -> None:
    """Write what `make_files` yields, or check that it is there."""
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table or a number would change")
    options = parser.parse_args()
    stale = []
    for path, text in make_files(with_drawings=not options.check):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(ROOT)))
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    word = "not up to date" if options.check else "written"
    print("\n".join(f"{name}: {word}" for name in stale) or "all up to date")
    sys.exit(bool(stale) and options.check)


if __name__ == "__main__":
    main(files, __doc__)
