"""The documentation is true: its code runs, its links lead somewhere, and it names what the library has."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import pytest

from skecoc.coding import CODINGS
from skecoc.decoding import DECODERS

ROOT = Path(__file__).resolve().parents[1]
# Without the copies of pages that the site offers for download.
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)]

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<marks>`{3,}|~{3,})\s*(?P<info>.*)$")
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]^]+\]:\s+<?(?P<target>[^\s>]+)>?", re.MULTILINE)
_HTML = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=[\"'](?P<target>[^\"']+)[\"']", re.IGNORECASE)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of a page."""

    info: str
    line: int
    text: str


def split_page(text: str) -> tuple[list[Block], str]:
    """Return the fenced blocks of a page, and the page with those lines blanked."""
    blocks, prose = [], []
    opening: re.Match[str] | None = None
    content: list[str] = []
    first_line = 0
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opening is None:
            if fence is None:
                prose.append(line)
                continue
            opening, content, first_line = fence, [], number + 1
        elif fence and not fence["info"] and fence["marks"].startswith(opening["marks"]):
            blocks.append(Block(opening["info"].strip(), first_line, "\n".join(content) + "\n"))
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


def run_blocks(text: str, filename: str) -> dict[str, object]:
    """Run a page's blocks in order, in one namespace, so that errors name the page's own lines."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in python_blocks(text):
        source = "\n" * (block.line - 1) + block.text
        exec(compile(source, filename, "exec"), namespace)  # noqa: S102
    return namespace


def local_targets(text: str) -> Iterator[str]:
    """Yield the targets of links and images that are not addresses of the web."""
    prose = re.sub(r"`[^`\n]*`", "", split_page(text)[1])
    for pattern in (_LINK, _REFERENCE, _HTML):
        for match in pattern.finditer(prose):
            if not _SCHEME.match(match["target"]):
                yield match["target"]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, spelled as GitHub does."""
    headings = (match["text"] for match in _HEADING.finditer(split_page(text)[1]))
    kept = (re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def broken_targets(page: Path) -> list[str]:
    """Return the local links of a page whose file or heading does not exist."""
    text = page.read_text(encoding="utf-8")
    broken = []
    for target in local_targets(text):
        name, _, anchor = target.partition("#")
        file = (page.parent / name) if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    return broken


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        run_blocks(page.read_text(encoding="utf-8"), page_id(page))
    finally:
        plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_of_the_page_lead_somewhere(page):
    assert broken_targets(page) == []


@pytest.mark.parametrize("page", ["codings_and_decodings.md", "survey.md"])
def test_user_guide_names_every_coding_and_decoding(page):
    text = (ROOT / "docs" / "user_guide" / page).read_text(encoding="utf-8")
    names = [name.replace("-", "_") for name in CODINGS] + [decoder.__name__ for decoder in DECODERS.values()]
    assert [name for name in names if f"`{name}`" not in text] == []


def linked_pages(first: Path) -> set[Path]:
    """Return the Markdown pages that links lead to from a page, step by step."""
    reached, waiting = set(), [first]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = {target.partition("#")[0] for target in local_targets(page.read_text(encoding="utf-8"))}
        pages = {(page.parent / target).resolve() for target in targets if target.endswith(".md")}
        waiting += sorted(target for target in pages - reached - set(waiting) if target.exists())
    return reached


def test_every_page_can_be_reached_from_the_first_one():
    reached = linked_pages(ROOT / "docs" / "index.md")
    # Tables are files beside the results page, which links to the more important ones.
    written = [page for page in PAGES if "docs" in page.parts and "tables" not in page.parts]
    assert [page_id(page) for page in written if page not in reached] == []


def test_pages_are_reached_step_by_step(tmp_path):
    pages = {
        "first": "[a](second.md#title)",
        "second": "# Title\n\n[b](first.md) [c](folder/) [d](missing.md)",
        "alone": "[e](first.md)",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    assert linked_pages(tmp_path / "first.md") == {tmp_path / "first.md", tmp_path / "second.md"}


PAGE = """# A title

```python
x = 1
```

```python no-run
raise RuntimeError("must not run")
```

```text
also not Python
```

  ```python
  y = x + 1
  ```
"""


def test_blocks_run_in_order_in_one_namespace_and_others_do_not():
    namespace = run_blocks(PAGE, "page.md")
    assert (namespace["x"], namespace["y"]) == (1, 2)


def test_an_error_in_a_block_names_the_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as caught:
        run_blocks("text\n\n```python\nx = 1\nx / 0\n```\n", "page.md")
    last = caught.traceback[-1]
    assert (Path(last.path).name, last.lineno + 1) == ("page.md", 5)


def test_a_block_without_end_is_an_error():
    with pytest.raises(ValueError, match="line 2 has no end"):
        run_blocks("text\n```python\nx = 1\n", "page.md")


def test_broken_links_are_found(tmp_path):
    (tmp_path / "there.md").write_text("# Some `code` and, words\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#some-code-and-words) [c](https://example.org/x) [d](#here)\n"
        "[e](missing.md) ![f](missing.png 'title') [g](there.md#nowhere) [h]: text\n\n# Here\n"
        '[ref]: gone.md\n<img src="lost.png"/> `[i](in_code.md)`\n\n```text\n[j](in_block.md)\n```\n',
        encoding="utf-8",
    )
    assert sorted(broken_targets(page)) == ["gone.md", "lost.png", "missing.md", "missing.png", "there.md#nowhere"]
