"""Small results with known numbers."""

from itertools import product

from skecoc.compare.experiments import RoundRecord, RunRecord
from skecoc_study.paper.published import METHODS, PAPER_RESPONSES
from skecoc_study.runs.results import Results

WOLC = "wolc/optimized-weight"
STUMPS = ("stumps", PAPER_RESPONSES["stumps"])
SVM = ("svm", PAPER_RESPONSES["svm"])
FEW = ["one-vs-one/hamming", "one-vs-rest/hamming", WOLC]


def make_run(data_set, method, repeat, fold, n_correct, *, setting=("stumps", "labels"), n_columns=4, **changes):
    coding, decoding = method.split("/")
    values = {"n_train": 90, "n_test": 10, "n_trained": n_columns + 1, "fit_seconds": 0.25, "predict_seconds": 0.01}
    return RunRecord(
        data_set,
        repeat,
        fold,
        *setting,
        coding,
        decoding,
        n_correct=n_correct,
        n_columns=n_columns,
        **{**values, **changes},
    )


def make_results(correct, *, setting=("stumps", "labels"), n_columns=None, meta=None):
    """Results from numbers of correctly predicted samples of ten, ``{data set: {method: [[folds], ...repeats]}}``."""
    runs = [
        make_run(data_set, method, repeat, fold, n, setting=setting, n_columns=(n_columns or {}).get(method, 4))
        for data_set, methods in correct.items()
        for method, repeats in methods.items()
        for repeat, folds in enumerate(repeats)
        for fold, n in enumerate(folds)
        if n is not None
    ]
    return Results(runs, [], meta or {})


def make_many(data_sets=("dermatology", "iris", "vehicle"), settings=(STUMPS, SVM)):
    """All sixteen methods on some data sets, 3 x 2 folds, every number different."""
    runs = []
    for (s, setting), (d, data_set), (m, method) in product(
        enumerate(settings), enumerate(data_sets), enumerate(METHODS)
    ):
        for repeat, fold in product(range(3), range(2)):
            # A spread of its own for every method, so that no two are equal by accident.
            n_correct = 500 + 23 * m + 31 * d - 11 * s + (m * 7 + repeat * 13 + fold * 5) % 17
            sizes = {"n_train": 1000, "n_test": 1000, "fit_seconds": (m + 1) * (d + 1) / 100}
            runs.append(make_run(data_set, method, repeat, fold, n_correct, setting=setting, n_columns=3 + m, **sizes))
    return Results(runs, make_rounds("dermatology") + make_rounds("vehicle"), {"notes": ["a note"]})


def make_rounds(data_set, coding="wolc", setting=("stumps", "labels"), lengths=(3, 2)):
    """Rounds of as many runs as there are lengths; the last but one of each is kept."""
    return [
        RoundRecord(
            data_set,
            0,
            fold,
            *setting,
            coding,
            number,
            4 + 3 * number,
            objective=0.5**number + fold,
            risk=0.5 ** (1 + number),
            loss=0.25,
            train_accuracy=0.75 + 0.125 * number,
            test_accuracy=0.5 + 0.125 * number,
            gap=1e-4,
            kept=number == length - 2,
            optimized=number == length - 2,
        )
        for fold, length in enumerate(lengths)
        for number in range(length)
    ]
