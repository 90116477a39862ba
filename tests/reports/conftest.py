import pytest

from tests.browser import launch
from tests.reports.made import make_comparison


@pytest.fixture
def comparison():
    """A comparison of two data sets, three methods and two folds with known numbers."""
    scores = [
        [[0.9, 0.8], [0.8, 0.9], [0.5, 0.5]],  # the first two tie at 85 %
        [[0.2, 0.4], [0.6, 0.8], [0.7, 0.7004]],  # 70 % and 70.02 % print alike
    ]
    return make_comparison(
        scores,
        ["one-vs-one/hamming", "dense-random/loss-weighted", "sklearn/random-forest"],
        columns=[3, 5, 0],
        names=["iris", "<b>&.csv"],
        notes=["<b>&.csv: a note"],
    )


@pytest.fixture(scope="module")
def browser():
    with launch() as browser:
        yield browser
