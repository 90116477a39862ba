"""From a user's table to a model that knows what it is worth."""

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from tqdm import tqdm

from skecoc.benchmarking.data import DataSet, check_data_set
from skecoc.benchmarking.methods import PEERS, check_methods, make_classifier, make_learner
from skecoc.classifiers import ECOCClassifier
from skecoc.persistence import ModelFileError, dump_model
from skecoc.support.errors import InputError
from skecoc.support.processes import interrupts_remembered
from skecoc.tables.card import make_card
from skecoc.tables.columns import stray_cells, suspicious_columns, typed
from skecoc.tables.evaluation import evaluate
from skecoc.tables.model import TableClassifier, choose_columns

if TYPE_CHECKING:
    import pandas as pd

# Rows of each class, and classes, of the small model that is saved as a rehearsal.
_REHEARSAL_ROWS, _REHEARSAL_CLASSES = 20, 3
_MAX_NAMES = 5
_REASONS = {"constant": "the same value in every row", "identifier": "only numbers or names the rows"}


def fit_table(
    data_set: DataSet,
    *,
    target: str = "label",
    method: str = "wolc",
    learner: str | BaseEstimator = "stumps",
    drop: Sequence[str] = (),
    folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    trusted: Sequence[str] = (),
    show_progress: bool = False,
) -> TableClassifier:
    """Cross-validate a method on a table, then train it on all rows.

    Parameters
    ----------
    data_set : DataSet
        A frame of shape (n_rows, n_columns) and the labels; `skecoc.benchmarking.data.load_own` reads one.
    target : str, default="label"
        Name of the column that held the labels, for reports.
    method : str, default="wolc"
        ``coding/decoding`` or ``wolc`` and its kin, as `skecoc.benchmarking.compare` knows them.
    learner : str or classifier, default="stumps"
        The binary learner: ``"stumps"``, ``"svm"``, an import path, or a classifier.
    drop : sequence of str, default=()
        Columns to leave out.
    folds : int, default=5
        Number of folds, at least 2.
    seed : int, default=0
        Seed of everything random.
    n_jobs : int, default=None
        How many things are done at the same time; it changes no result.
    trusted : sequence of str, default=()
        Types that the model may hold beside those of scikit-learn and of this package: see
        `skecoc.persistence.save_model`.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    TableClassifier
        Its `card_` holds the held-out results (see `skecoc.tables.card.make_card`) and ``data``, ``target``,
        ``n_rows``, ``class_counts``, ``method``, ``learner``, ``folds``, ``seed`` and ``notes``.

    Raises
    ------
    InputError
        A ValueError: an argument or the table is not usable, or the model could not be saved.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": np.arange(30.0) % 7, "unit": "cm"})
    >>> data_set = DataSet("things.csv", frame, np.where(frame["size"] > 3, "big", "small"))
    >>> model = fit_table(data_set, folds=3)
    >>> model.card_["comparison"][0]["accuracy"], model.left_out_
    (1.0, {'unit': 'constant'})
    """
    (method,) = check_methods([method])
    if method in PEERS:
        raise InputError(f"method: {method!r} is a reference, not a method of this package; see skecoc compare")
    estimator = make_learner(learner)
    kinds, left_out = choose_columns(data_set.X, drop)
    values = DataSet(data_set.name, typed(data_set.X, kinds), data_set.y)
    notes = [*check_data_set(values, folds), *_column_notes(data_set.X, kinds, left_out)]
    _rehearse(data_set, estimator, drop, trusted)
    found = evaluate(values, method, estimator, folds=folds, seed=seed, n_jobs=n_jobs, show_progress=show_progress)
    if show_progress:
        tqdm.write("fitting the model to all rows", file=sys.stderr)
    model = _fit_all(data_set, make_classifier(method, estimator, seed), drop, n_jobs)
    model.card_ = {
        "data": data_set.name,
        "target": target,
        "n_rows": len(data_set.y),
        "class_counts": np.bincount(found.truth),
        "method": method,
        "learner": str(learner),
        "folds": folds,
        "seed": seed,
        "notes": notes + found.warnings,
        **make_card(found),
    }
    return model


def _fit_all(data_set: DataSet, classifier: Any, drop: Sequence[str], n_jobs: int | None) -> TableClassifier:
    """Train a classifier on all rows."""
    model = TableClassifier(classifier.set_params(n_jobs=n_jobs), drop=list(drop))
    with interrupts_remembered() as check_interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of was said of the folds
        try:
            model.fit(data_set.X, data_set.y)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"the model cannot be fitted to all rows: {error}") from error
        check_interrupt()
    for part in (classifier, model.classifier_):
        part.set_params(n_jobs=None)  # a file must not decide how many cores its readers use
        if callable(getattr(part, "coding", None)):
            part.set_params(coding=model.classifier_.code_matrix_)  # a file holds no functions
    return model


def _rehearse(data_set: DataSet, learner: BaseEstimator, drop: Sequence[str], trusted: Sequence[str]) -> None:
    """Refuse a learner that could not be saved, before all the work is done."""
    classes = np.unique(data_set.y)[:_REHEARSAL_CLASSES]
    rows = np.concatenate([np.flatnonzero(data_set.y == label)[:_REHEARSAL_ROWS] for label in classes])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TableClassifier(ECOCClassifier(learner, "one-vs-rest", "hamming", random_state=0), drop=list(drop))
            model.fit(data_set.X.iloc[rows], data_set.y[rows])
    except Exception:  # noqa: BLE001 (too few rows for this learner: then it is tried when all is done)
        return
    check_storable(model, trusted)


def check_storable(model: Any, trusted: Sequence[str] = ()) -> bytes:
    """Turn a model into the content of a file, or say why that cannot be.

    Parameters
    ----------
    model : estimator
        A fitted model.
    trusted : sequence of str, default=()
        Types that are trusted beside those of scikit-learn and of this package.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    InputError
        If the model holds types that are not trusted, or something that cannot be saved, or skops is not installed.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> len(check_storable(GaussianNB())) > 0
    True
    """
    try:
        return dump_model(model, trusted=trusted)
    except ModelFileError as error:
        if not error.untrusted:
            raise InputError(f"learner: {error}") from error
        names = " ".join(error.untrusted)
        raise InputError(
            f"learner: the model would hold types that are not trusted: {names}; if you trust their code, add "
            f"--trust {names} (here, and to predict and inspect)"
        ) from error
    except ImportError as error:
        raise InputError(str(error)) from error


def _column_notes(frame: "pd.DataFrame", kinds: dict[str, str], left_out: dict[str, str]) -> list[str]:
    """Say which columns were left out, and which ones a reader should have a look at."""
    notes = []
    for reason, explanation in _REASONS.items():
        names = [name for name, found in left_out.items() if found == reason]
        if names:
            notes.append(f"left out: column{'s' if len(names) > 1 else ''} {_spell_out(names)} ({explanation})")
    for name, reason in stray_cells(frame, kinds).items():
        notes.append(f"column {name!r} is taken as text: {reason}")
    for name, reason in suspicious_columns(frame, kinds).items():
        notes.append(f"column {name!r} may be an identifier ({reason}); --drop leaves it out")
    return notes


def _spell_out(names: Sequence[str]) -> str:
    """Join names, the first few only."""
    shown = ", ".join(map(repr, names[:_MAX_NAMES]))
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more"
