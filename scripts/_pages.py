"""README.md and the pages of docs/: fenced blocks, the prose between them, and what their code prints and draws."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MADE = ("_build", "gallery", "generated", "backreferences", "tables")
#: Folder of the figures that the code of pages draws; others come from stored results.
FIGURES = "figures"

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<marks>`{3,}|~{3,})\s*(?P<info>.*)$")
_IMAGE = re.compile(r"\s*!\[[^\]]*\]\((?P<target>(?:\.\./|docs/)*figures/[^)\s]+\.png)\)")


class Block(NamedTuple):
    """A fenced block of a page."""

    info: str
    line: int
    text: str
    follows: str  # the page after the block


def written_pages(folder: Path = ROOT) -> list[Path]:
    """List README.md and the pages of docs/ that people wrote, without those that Sphinx makes."""
    pages = (page for page in sorted((folder / "docs").rglob("*.md")) if not set(MADE) & set(page.parts))
    return [folder / "README.md", *pages]


def split_page(text: str) -> tuple[list[Block], str]:
    """Return the fenced blocks of a page, and the page with those lines blanked."""
    blocks, prose = [], []
    opening: re.Match[str] | None = None
    content: list[str] = []
    first_line = 0
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if opening is None:
            if fence is None:
                prose.append(line)
                continue
            opening, content, first_line = fence, [], number + 1
        elif fence and not fence["info"] and fence["marks"].startswith(opening["marks"]):
            follows = "\n".join(lines[number:])
            blocks.append(Block(opening["info"].strip(), first_line, "\n".join(content) + "\n", follows))
            opening = None
        else:
            content.append(line.removeprefix(opening["indent"]))
        prose.append("")
    if opening is not None:
        raise ValueError(f"the block that begins in line {first_line - 1} has no end")
    return blocks, "\n".join(prose)


def python_blocks(text: str) -> list[Block]:
    """Return the blocks of a page that are to be run: fenced with exactly ``python``."""
    return [block for block in split_page(text)[0] if block.info == "python"]


def shown_output(block: Block) -> str | None:
    """Return what the page says that a block prints: the ``text`` block that follows it at once, if there is one."""
    match = re.match(r"\s*```text\n(.*?)```", block.follows, re.DOTALL)
    return match[1] if match else None


def figure_of(block: Block) -> str | None:
    """Return the target of the image that follows a block at once, or its printed output: the block draws it."""
    match = re.match(r"(?:\s*```text\n(?:(?!```).)*```)?\s*(?=!)", block.follows, re.DOTALL)
    image = _IMAGE.match(block.follows, match.end()) if match else None
    return image["target"] if image else None


class Ran(NamedTuple):
    """A block of a page that has been run."""

    block: Block
    printed: str


def run_page(text: str, filename: str, namespace: dict[str, object] | None = None) -> Iterator[Ran]:
    """Run a page's blocks in order, in one namespace, so that errors name the page's own lines."""
    names: dict[str, object] = {"__name__": "__main__"} if namespace is None else namespace
    for block in python_blocks(text):
        source = "\n" * (block.line - 1) + block.text
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, filename, "exec"), names)
        yield Ran(block, printed.getvalue())
