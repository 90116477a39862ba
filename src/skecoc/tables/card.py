"""What is written down about the training of a model: plain values that its file carries."""

import platform
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

import skecoc
from skecoc.tables.evaluation import Evaluation
from skecoc.tables.importance import important_columns

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Bins of the calibration table.
N_BINS = 10


def make_card(evaluation: Evaluation) -> dict[str, Any]:
    """Sum up held-out results.

    Parameters
    ----------
    evaluation : Evaluation
        What cross-validation gave.

    Returns
    -------
    dict
        Plain values: ``comparison`` (one dictionary per method), ``confusion`` (array of shape (n_classes, n_classes),
        rows are the true classes), ``calibration`` (see `calibration_bins`), ``important`` (see
        `skecoc.tables.importance.important_columns`; empty if it was not counted) and ``versions``.

    Examples
    --------
    >>> half = np.full((1, 2), 0.5)
    >>> labels = np.array([0, 1])
    >>> shown = Evaluation(["a/b"], half, half, half, labels, labels, np.array([0, 0]), np.eye(2), None, [])
    >>> make_card(shown)["confusion"].tolist()
    [[1, 0], [1, 0]]
    """
    labels = np.arange(len(evaluation.classes))
    counts = evaluation.pair_counts
    return {
        "comparison": _comparison(evaluation),
        "confusion": confusion_matrix(evaluation.truth, evaluation.predicted, labels=labels),
        "calibration": calibration_bins(evaluation.probabilities, evaluation.truth),
        "important": {} if counts is None else important_columns(counts),
        "versions": {
            "scikit-ecoc": skecoc.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "Python": platform.python_version(),
        },
    }


def _comparison(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Average every method over the folds."""
    return [
        {
            "method": method,
            "accuracy": float(evaluation.accuracy[k].mean()),
            "std": float(evaluation.accuracy[k].std(ddof=1)),
            "columns": float(evaluation.n_columns[k].mean()),
            "fit_seconds": float(np.median(evaluation.fit_seconds[k])),
        }
        for k, method in enumerate(evaluation.methods)
    ]


def calibration_bins(probabilities: Floats, truth: Integers) -> dict[str, Any]:
    """Compare how sure a model is with how often it is right.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Probabilities of held-out rows.
    truth : ndarray of int of shape (n_rows,)
        Class indices.

    Returns
    -------
    dict
        ``n_rows``, ``confidence`` and ``accuracy``: arrays of shape (`N_BINS`,) with the number of rows whose largest
        probability lies in each tenth of [0, 1], the mean of these probabilities, and the share of rows whose class
        has it. Empty bins are 0.

    Examples
    --------
    >>> bins = calibration_bins(np.array([[0.9, 0.1], [0.08, 0.92], [0.45, 0.55]]), np.array([0, 0, 1]))
    >>> bins["n_rows"].tolist()
    [0, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    >>> bins["accuracy"].tolist()[-1]
    0.5
    """
    best = probabilities.argmax(axis=1)
    sure = probabilities[np.arange(len(truth)), best]
    places = np.minimum((sure * N_BINS).astype(np.intp), N_BINS - 1)
    n_rows = np.bincount(places, minlength=N_BINS)
    divisor = np.maximum(n_rows, 1)
    return {
        "n_rows": n_rows,
        "confidence": np.bincount(places, weights=sure, minlength=N_BINS) / divisor,
        "accuracy": np.bincount(places, weights=best == truth, minlength=N_BINS) / divisor,
    }
