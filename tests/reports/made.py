"""Records of models and comparisons as the commands make them, with numbers that a test can know."""

import numpy as np
import pandas as pd

from skecoc import ECOCClassifier
from skecoc.compare import Comparison, Record
from skecoc.tables import TableClassifier

ACCURACY = {"name": "accuracy", "higher_is_better": True, "in_percent": True}
MACRO_F1 = {"name": "macro-f1", "higher_is_better": True, "in_percent": False}
LOG_LOSS = {"name": "log-loss", "higher_is_better": False, "in_percent": False}
METHODS = {
    # method: score, deviation, columns, seconds, p-value
    "mixed/logistic-weight": (0.83, 0.021, 54.0, 1.25, None),
    "sklearn/random-forest": (0.8, 0.03, None, 0.2, 0.3125),
    "one-vs-one/loss-weighted": (0.71, 0.025, 3.0, 0.1, 0.00004),
    "majority": (0.21, 0.001, None, 0.001, 0.0),
}


def make_comparison_rows(methods=METHODS, chosen="mixed/logistic-weight"):
    """What a record says about each method, the majority class last."""
    best = methods[chosen][0]
    return [
        {
            "method": method,
            "score": score,
            "std": std,
            "accuracy": score + 0.05,
            "columns": columns,
            "fit_seconds": seconds,
            "difference": score - best,
            "p_value": p_value,
            "is_chosen": method == chosen,
            "is_baseline": method == "majority",
        }
        for method, (score, std, columns, seconds, p_value) in methods.items()
    ]


def make_confusion(n_classes, rows=20):
    """Counts of rows: every fifth is taken for the next class."""
    wrong = rows // 5
    return (rows - wrong) * np.eye(n_classes, dtype=int) + wrong * np.roll(np.eye(n_classes, dtype=int), 1, axis=1)


def make_card(classes, **changes):
    """The record that `skecoc.tables.fit_table` leaves in a model."""
    classes = list(classes)
    confusion = make_confusion(len(classes))
    measures = dict.fromkeys(("accuracy", "balanced_accuracy", "macro_precision", "macro_recall", "macro_f1"), 0.8)
    return {
        "data": "fruit.csv",
        "target": "kind",
        "n_rows": int(confusion.sum()),
        "class_counts": confusion.sum(axis=1),
        "method": "mixed/logistic-weight",
        "learner": "stumps, logistic",
        "folds": 5,
        "seed": 0,
        "notes": ["left out: column 'id' (identifies the rows)"],
        "metric": dict(MACRO_F1),
        "comparison": make_comparison_rows(),
        "interval": [0.79, 0.86],
        "scores": [0.8, 0.82, 0.83, 0.84, 0.86],
        "reason": "mixed/logistic-weight has the highest macro-F1 of the four methods that were compared.",
        "warnings": [],
        "majority": {"class": classes[1], "share": 0.4},
        "measures": {**measures, "log_loss": 0.512},
        "confusion": confusion,
        "calibration": {
            "n_rows": np.array([0, 0, 0, 0, 0, 10, 10, 10, 10, 20]),
            "confidence": np.array([0, 0, 0, 0, 0, 0.55, 0.65, 0.75, 0.85, 0.97]),
            "accuracy": np.array([0, 0, 0, 0, 0, 0.5, 0.6, 0.8, 0.9, 0.95]),
        },
        "important": {},
        "command": "skecoc fit fruit.csv --target kind --metric macro-f1 -o fruit.skops",
        "test": None,
        "options": {"class_weight": "", "group": "", "order": [], "compared_rows": int(confusion.sum())},
        "versions": {"scikit-ecoc": "1.0", "Python": "3.12"},
        **changes,
    }


def make_test(n_classes, **changes):
    """What a record says about a test file."""
    confusion = make_confusion(n_classes, rows=10)
    measures = {"accuracy": 0.75, "balanced_accuracy": 0.75, "macro_precision": 0.74, "macro_recall": 0.75}
    return {
        "data": "later.csv",
        "n_rows": int(confusion.sum()),
        "score": 0.77,
        "interval": [0.7, 0.83],
        "measures": {**measures, "macro_f1": 0.77, "log_loss": 0.6},
        "confusion": confusion,
        **changes,
    }


def make_model(classes=("a", "b", "c"), classifier=None, columns=("size", "weight"), **changes):
    """A small model of a table, an output code unless a classifier is given, with a made record."""
    y = np.repeat(list(classes), 4)
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: np.repeat(np.arange(len(classes)), 4) + random.normal(size=len(y)) for name in columns})
    model = TableClassifier(ECOCClassifier() if classifier is None else classifier).fit(frame, y)
    model.card_ = make_card(model.classes_.tolist(), **changes)
    return model


def make_comparison(scores, methods, *, columns=None, seconds=None, metric=ACCURACY, fit_command="", **changes):
    """A comparison with scores of shape (n_data_sets, n_methods, n_folds), each in the interval [0, 1]."""
    scores = np.asarray(scores, dtype=float)
    n_data_sets, n_methods, folds = scores.shape
    columns = columns or [3] * n_methods
    seconds = seconds or [0.5] * n_methods
    names = changes.pop("names", ["fruit.csv", *(f"data {k}" for k in range(1, n_data_sets))])
    records = [
        Record(
            data_set=name,
            method=method,
            repeat=0,
            fold=fold,
            n_train=80,
            n_test=20,
            score=float(scores[i, j, fold]),
            accuracy=float(scores[i, j, fold]),
            n_columns=columns[j],
            fit_seconds=seconds[j],
            predict_seconds=0.25,
        )
        for i, name in enumerate(names)
        for fold in range(folds)
        for j, method in enumerate(methods)
    ]
    settings = {"learner": "stumps", "folds": folds, "repeats": 1, "seed": 0, "metric": metric["name"]}
    settings |= {"higher_is_better": metric["higher_is_better"], "in_percent": metric["in_percent"]}
    return Comparison(
        records=records,
        data_sets=[{"name": name, "n_rows": 100, "n_features": 4, "n_classes": 3} for name in names],
        methods=list(methods),
        settings={**settings, "fit_command": fit_command},
        **{"notes": [], **changes},
    )
