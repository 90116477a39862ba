"""The gallery's example runs by itself."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plot_music.py"


@pytest.mark.nightly
def test_the_example_ends_in_a_confusion_matrix(capsys):
    mpl.use("Agg", force=True)
    try:
        names = runpy.run_path(str(EXAMPLE))
    finally:
        plt.close("all")
    matrix = names["display"].confusion_matrix
    assert matrix.sum() == len(names["music"].data)
    assert matrix.trace() > 0.7 * matrix.sum()
    assert "accuracy 0." in capsys.readouterr().out
