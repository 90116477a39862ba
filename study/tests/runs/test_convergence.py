"""Figures of growth without objective, training accuracy or columns."""

from dataclasses import replace

import numpy as np
from study.tests.runs.synthetic import make_rounds

from skecoc_study.runs.convergence import OUT_OF_FOLD, convergence_alt, convergence_picture, summarize_convergence
from skecoc_study.runs.results import Results


def test_growth_without_objective_and_training_accuracy():
    rounds = [replace(record, objective=np.nan, risk=np.nan, train_accuracy=np.nan) for record in make_rounds("iris")]
    results, setting = Results([], rounds, {}), ("iris", "stumps", "labels")
    left, right = convergence_picture(results, *setting).figure.axes
    lines = {line.get_label(): line for line in left.lines}
    assert lines.keys() == {OUT_OF_FOLD, "mean round kept"}
    assert list(lines[OUT_OF_FOLD].get_ydata()) == [0.25] * 3
    assert left.get_ylabel() == OUT_OF_FOLD
    assert [line.get_label() for line in right.lines] == ["test rows", "mean round kept"]
    alt = convergence_alt(summarize_convergence(results, *setting))
    assert (
        "The out-of-fold log-loss goes from 0.25 to 0.25; the test accuracy in % goes from 50.0 to 68.8. 1 of the runs"
        in alt
    )
    lost = Results([], [replace(record, loss=np.nan) for record in rounds], {})
    assert "rounds 0 to 2. The test accuracy in % goes from" in convergence_alt(summarize_convergence(lost, *setting))
