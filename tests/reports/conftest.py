import numpy as np
import pytest

from skecoc.benchmarking import Comparison, Record


@pytest.fixture
def comparison():
    """A comparison of two data sets, three methods and two folds with known numbers."""
    accuracy = np.array(
        [
            [[0.9, 0.8], [0.8, 0.9], [0.5, 0.5]],  # the first two tie at 85 %
            [[0.2, 0.4], [0.6, 0.8], [0.7, 0.7004]],  # 70 % and 70.02 % print alike
        ]
    )
    methods = ["one-vs-one/hamming", "dense-random/loss-weighted", "sklearn/output-code"]
    records = [
        Record(name, method, 0, fold, 8, 4, float(accuracy[i, j, fold]), 3 + i + j + fold, 0.5 + fold, 0.25)
        for i, name in enumerate(["iris", "<b>&.csv"])
        for fold in range(2)
        for j, method in enumerate(methods)
    ]
    return Comparison(
        records=records,
        data_sets=[
            {"name": "iris", "n_rows": 12, "n_features": 4, "n_classes": 3},
            {"name": "<b>&.csv", "n_rows": 12, "n_features": 2, "n_classes": 5},
        ],
        methods=methods,
        settings={"learner": "stumps", "folds": 2, "repeats": 1, "seed": 0},
        notes=["<b>&.csv: a note"],
    )
