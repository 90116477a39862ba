"""Numbers that pages state, and whether a stored result has them.

A number that was measured stands in a block that `make_results.py` writes, in the output of code that a test runs, or
in a section that says where it comes from:

    <!-- source: docs/results/benchmarks/stumps.txt -->   every number of the section is in this file (or: files)
    <!-- given: 95 %, 0.01 -->                            these are choices or definitions, and nobody measured them

Files may be any of the repository; of numbers with more digits, the rounded ones count, also in percent.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts._pages import ROOT, split_page

#: First line of a page that is written as a whole from stored results.
WRITTEN = "<!-- written by scripts/make_results.py -->\n"
UNITS = "times|points?|seconds?|s|ms|minutes?|hours?|[KMG]B|kB|kilobytes|megabytes|gigabytes"
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
# A share, a number with a unit, or one with decimals: what a person takes for a measurement.
_MEASURED = re.compile(
    rf"(?<![\w.,/^])(?:{_NUMBER}(?=\s?%)|{_NUMBER}(?=\s(?:{UNITS})\b)|(?:\d[\d,]*)?\.\d+(?![\w.]))", re.MULTILINE
)
_ANY = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# What is no prose: blocks of results, quoted code, formulas, targets of links, comments.
_NO_PROSE = re.compile(
    r"<!-- results: .*?<!-- end -->|``.*?``|`[^`\n]*`|\$\$.*?\$\$|\$[^$]*\$"
    r"|\]\([^)]*\)|<?https?:\S+|\b10\.\d{4,9}/\S+|^ {4,}\S[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NOTE = re.compile(r"<!-- (?P<kind>source|given): (?P<value>.*?) -->", re.DOTALL)


class Section(NamedTuple):
    """A part of a page below one heading."""

    heading: str
    numbers: list[str]
    sources: list[str]
    given: list[str]


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of a page with the measured numbers of their prose; of pages that a script writes, none."""
    if text.startswith(WRITTEN):
        return
    prose = _NO_PROSE.sub(" ", split_page(text)[1])
    for part in re.split(r"^(?=#{1,6} )", prose, flags=re.MULTILINE):
        notes = {"source": [], "given": []}
        for note in _NOTE.finditer(part):
            notes[note["kind"]] += [value.strip() for value in note["value"].split(", ")]
        numbers = [
            number.rstrip(",") for number in _MEASURED.findall(re.sub(r"<!--.*?-->", " ", part, flags=re.DOTALL))
        ]
        yield Section(part.partition("\n")[0].strip("# "), numbers, notes["source"], notes["given"])


def without_source(section: Section, root: Path = ROOT) -> list[str]:
    """Return the numbers of a section that neither its sources have nor are given."""
    given = {_ANY.search(value)[0].replace(",", "") for value in section.given}
    known = [
        float(n.replace(",", "")) for name in section.sources for n in _ANY.findall((root / name).read_text("utf-8"))
    ]
    return [
        number
        for number in section.numbers
        if number.replace(",", "") not in given and not _is_among(number.replace(",", ""), known)
    ]


def _is_among(number: str, known: list[float]) -> bool:
    """Tell whether a number is one of others, rounded as it is; shares may be fractions there."""
    digits = len(number.partition(".")[2])
    tolerance = 0.5000001 * 10.0**-digits
    return any(abs(value * factor - float(number)) <= tolerance for value in known for factor in (1.0, 100.0))
