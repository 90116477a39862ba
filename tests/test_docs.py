"""The documentation is true: its code runs, its links lead somewhere, and it names what the library has."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from scripts._pages import figure_of, python_blocks, run_page, shown_output, split_page, written_pages

from skecoc.coding import CODINGS
from skecoc.decoding import DECODERS
from tests.grids import nightly

ROOT = Path(__file__).resolve().parents[1]
PAGES = written_pages()
# Of the guide, a list of pages and one of references show nothing.
GUIDE_PAGES = [
    ROOT / "docs" / "tutorial.md",
    *(page for page in PAGES if page.parent.name == "user_guide" and page.stem not in {"index", "references"}),
]

_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]^]+\]:\s+<?(?P<target>[^\s>]+)>?", re.MULTILINE)
_HTML = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=[\"'](?P<target>[^\"']+)[\"']", re.IGNORECASE)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)


def run_blocks(text: str, filename: str) -> dict[str, object]:
    """Run a page's blocks and return the names they define."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for _ in run_page(text, filename, namespace):
        pass
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


def same_words(printed: str, shown: str) -> bool:
    """Compare texts word by word; numbers may differ a little between versions and machines, "..." is any words."""
    words = _words(printed)
    first, *others = (_words(part) for part in shown.split("..."))
    if not others:
        return _are_alike(words, first)
    if not _are_alike(words[: len(first)], first):
        return False
    start = len(first)
    *middle, last = others
    for part in middle:
        places = range(start, len(words) - len(part) + 1)
        start = next((place for place in places if _are_alike(words[place : place + len(part)], part)), None)
        if start is None:
            return False
        start += len(part)
    return start <= len(words) - len(last) and _are_alike(words[len(words) - len(last) :], last)


def _words(text: str) -> list[str]:
    """Split a text into numbers and what is between them and spaces."""
    return re.findall(r"[-+]?\d+(?:\.\d+)?|[^\s\d]+", text)


def _are_alike(first: list[str], second: list[str]) -> bool:
    """Tell whether as many words are the same, or close numbers."""
    return len(first) == len(second) and all(
        one == two or _are_close(one, two) for one, two in zip(first, second, strict=True)
    )


def _are_close(first: str, second: str) -> bool:
    """Tell whether both are numbers that differ by at most two hundredths, or by five in a hundred."""
    try:
        values = float(first), float(second)
    except ValueError:
        return False
    return math.isclose(*values, rel_tol=0.05, abs_tol=0.02)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("a 1.00 b c 2", True),
        ("a ... c 2", True),
        ("a 1 b ...", True),
        ("... b ... 2", True),
        ("a 1 b", False),
        ("a 1 b c 3", False),
        ("b ...", False),
        ("a ... c b ...", False),
        ("... 2 c 2", False),
    ],
)
def test_shown_words(shown, expected):
    assert same_words("a 1.01 b c 2\n", shown) is expected


# Pages that run for more than two seconds show at length what other tests hold.
LONG_PAGES = {
    *("README.md", "index.md", "choose_a_code.md", "imbalanced_classes.md", "many_classes.md", "command_line.md"),
    *("codings_and_decodings.md", "deployment.md", "growth.md", "mixed.md", "optimized_weights.md", "scaling.md"),
    *("batches.md", "choosing.md", "costs.md", "pipelines_and_search.md", "speed.md"),
}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in LONG_PAGES]
    + nightly(page for page in PAGES if page.name in LONG_PAGES),
    ids=page_id,
)
def test_code_of_the_page_runs_prints_what_is_shown_and_draws_its_figures(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        for ran in run_page(page.read_text(encoding="utf-8"), page_id(page)):
            shown = shown_output(ran.block)
            if shown is not None:
                assert same_words(ran.printed, shown), ran.printed
            if figure_of(ran.block):
                assert plt.get_fignums(), f"the block of line {ran.block.line} draws nothing"
            plt.close("all")
    finally:
        plt.close("all")


@pytest.mark.parametrize("page", GUIDE_PAGES, ids=page_id)
def test_page_of_the_guide_has_a_figure_that_its_own_code_draws(page):
    assert any(map(figure_of, python_blocks(page.read_text(encoding="utf-8"))))


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
    written = [page for page in PAGES if "docs" in page.parts]
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
