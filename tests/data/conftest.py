"""Rows of tests are few, and yet are trained on by sums over blocks."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def few_rows_stay_in_blocks():
    """Do not put few rows together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skecoc.classifiers.base.MANY_TO_BIN", 0)
        patch.setattr("skecoc.classifiers.ecoc.MANY_TO_BIN", 0)
        yield
