"""Tables in Markdown and a sentence about ranks, for the scripts that write pages."""

from collections.abc import Sequence

from skecoc.compare.statistics import nemenyi_critical_difference


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a Markdown table whose first column holds names."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def ranks_differ(n_methods: int, n_sets: int) -> str:
    """Say how far apart average ranks must be to differ significantly."""
    difference = nemenyi_critical_difference(n_methods, n_sets)
    return f"Average ranks differ significantly (Nemenyi's test at 5 %) when they are {difference:.1f} apart."
