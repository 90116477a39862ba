"""Parameters of tests that repeat themselves: a few of them in every run, all of them nightly."""

from itertools import product

import pytest


def nightly(values):
    """Mark parameters as nightly."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def few(values, n=1):
    """The first values in every run, the others nightly; a tuple has a value for each name."""
    values = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*value, marks=() if number < n else pytest.mark.nightly) for number, value in enumerate(values)
    ]


def grid(rows, columns):
    """All pairs of values, nightly but for some in which each value occurs."""
    quick = [(k % len(rows), k % len(columns)) for k in range(max(len(rows), len(columns)))]
    return [
        pytest.param(row, column, marks=() if (i, j) in quick else pytest.mark.nightly)
        for (i, row), (j, column) in product(enumerate(rows), enumerate(columns))
    ]
