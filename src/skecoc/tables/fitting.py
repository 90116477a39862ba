"""Fit a model to a user's table: compare methods on held-out rows, and train the best one on all rows."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.class_weight import compute_sample_weight
from tqdm import tqdm

from skecoc.classifiers import ECOCClassifier
from skecoc.compare.cross_validation import Budget, cross_validate
from skecoc.compare.data_sets import DataSet
from skecoc.compare.methods import (
    CLASSIFIERS,
    MAJORITY,
    STRATEGIES,
    check_methods,
    coding_of,
    default_methods,
    learner_names,
    make_classifier,
    make_learner,
    takes_learner,
    why_not,
)
from skecoc.compare.metrics import Metric, find_metric
from skecoc.persistence import ModelFileError, dump_model
from skecoc.support.errors import InputError, spell_out
from skecoc.support.processes import interrupts_remembered, thread_pools
from skecoc.tables.card import make_card, match_classes, score_on
from skecoc.tables.model import TableClassifier
from skecoc.tables.preparation import MOST_COMPARED_ROWS, PreparedTable, limit_rows, prepare_table

#: References for a named method with a binary learner: scikit-learn's own strategies with the same learner.
REFERENCES = ("sklearn/one-vs-one", "sklearn/one-vs-rest")
#: References for a named method with learners of its own: classifiers that are fast on any table.
OWN_REFERENCES = ("sklearn/random-forest", "sklearn/logistic")
#: The method that stands for the best of `default_methods`.
AUTO = "auto"

# Trained classifiers of the first folds are kept to measure the importance of columns.
_KEPT_FOLDS = 2
# Rows on which the time of a method is measured first, if time is limited.
_SAMPLE_ROWS = 500
# Rows of each class, and classes, of the small model that is saved as a rehearsal.
_REHEARSAL_ROWS, _REHEARSAL_CLASSES = 20, 3


def fit_table(
    data_set: DataSet,
    *,
    target: str = "label",
    method: str | None = None,
    learner: str | BaseEstimator | None = None,
    metric: str = "accuracy",
    class_weight: str | None = None,
    drop: Sequence[str] = (),
    group: str | None = None,
    order: Sequence[str] = (),
    test: DataSet | None = None,
    time_budget: float | None = None,
    max_rows: int = MOST_COMPARED_ROWS,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    trusted: Sequence[str] = (),
    command: str = "",
    show_progress: bool = False,
) -> TableClassifier:
    """Compare methods on a table by cross-validation, then fit the best one to all rows.

    Parameters
    ----------
    data_set : DataSet
        The table: a frame of shape (n_rows, n_columns) and the labels.
    target : str, default="label"
        Name of the label column, for reports.
    method : str, default=None
        None or ``"auto"`` compares ``mixed`` (several learners for one code), codes of boosted stumps, a random forest,
        gradient boosting and logistic regression, or, if `learner` is given, codes of this learner, and selects the
        best. Otherwise the name of a method of `skecoc.compare.compare`.
    learner : str or classifier, default=None
        The binary learner: a short name such as ``"stumps"`` or ``"random-forest"``, also with parameters
        (``"random-forest n_estimators=500"``), an import path, or a classifier. None means ``"stumps"``. Not for
        ``mixed`` and the classifiers of scikit-learn, which have their own learners.
    metric : str, default="accuracy"
        The metric that selects the best method: ``"accuracy"``, ``"balanced-accuracy"``, ``"macro-f1"``,
        ``"log-loss"``, or the name of a scikit-learn scorer.
    class_weight : {"balanced"}, default=None
        "balanced" gives all classes the same total weight in training.
    drop : sequence of str, default=()
        Columns to ignore.
    group : str, default=None
        A column of groups, such as patients: the rows of a group are never split between training and test. The column
        is not a feature.
    order : sequence of str, default=()
        The classes from the lowest to the highest, for ordinal codes. The default is the order of an ordered
        categorical column, otherwise numerical or alphabetical order.
    test : DataSet, default=None
        Further rows to test the final model on.
    time_budget : float, default=None
        Time limit in seconds. Methods that would take longer than the remaining time are skipped. A run that has
        started is not stopped, and the first method is always tried.
    max_rows : int, default=10_000
        Maximum number of rows to compare methods on; the final model is fitted to all rows.
    folds : int, default=5
        Number of folds, at least 2.
    seed : int, default=0
        Random seed.
    n_jobs : int, default=None
        Number of parallel jobs. It does not change the result.
    trusted : sequence of str, default=()
        Further types that the model may contain; see `skecoc.persistence.save_model`.
    command : str, default=""
        The command line that repeats the fit, for reports.
    show_progress : bool, default=False
        Whether to show a progress bar on standard error.

    Returns
    -------
    TableClassifier
        The fitted model. Its `card_` contains the held-out results (``comparison``, ``reason``, ``confusion``,
        ``calibration``, ``important``), the settings, ``notes`` and ``warnings``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skecoc.compare import DataSet
    >>> from skecoc.tables import fit_table
    >>> frame = pd.DataFrame({"size": np.arange(30.0) % 7, "unit": "cm"})
    >>> data_set = DataSet("things.csv", frame, np.where(frame["size"] > 3, "big", "small"))
    >>> model = fit_table(data_set, method="wolc", folds=3)
    >>> model.card_["comparison"][0]["accuracy"], model.left_out_
    (1.0, {'unit': 'constant'})
    """
    budget = Budget(time_budget)
    if class_weight not in (None, "balanced"):
        raise InputError(f"class_weight: expected 'balanced' or None, got {class_weight!r}")
    estimator = make_learner("stumps" if learner is None else learner)
    chosen = None if method in (None, AUTO) else _check_method(str(method), learner)
    table = prepare_table(
        data_set, drop=drop, group=group, order=order, folds=folds, methods=[] if chosen is None else [chosen]
    )
    scored_by = find_metric(metric, len(table.classes))
    if chosen is None:
        n_features = table.data_set.X.shape[1]
        methods = default_methods(len(table.classes), n_features, has_learner=learner is not None)
    else:
        methods = list(dict.fromkeys([chosen, *(REFERENCES if takes_learner(chosen) else OWN_REFERENCES)]))
    methods = _usable_methods(methods, chosen, estimator, scored_by, class_weight)
    if test is not None:
        match_classes(test, table.classes)  # an error now, not after the work
    if learner is not None:
        _rehearse(data_set, ECOCClassifier(clone(estimator), coding="one-vs-rest", decoding="hamming"), table, trusted)
    values, about_rows = limit_rows(table.data_set, max_rows, seed)
    notes = [*table.notes, *about_rows]
    sample, _ = limit_rows(values, _SAMPLE_ROWS, seed)
    found = cross_validate(
        [values],
        [MAJORITY, *methods],
        estimator,
        scored_by,
        folds=folds,
        seed=seed,
        class_weight=class_weight,
        kept_folds=_KEPT_FOLDS,
        budget=budget,
        sample=None if sample is values else sample,
        n_rows=len(data_set.y),
        n_jobs=n_jobs,
        show_progress=show_progress,
    )
    skipped = [name for name in methods if name not in found.methods]
    if skipped:
        notes.append(f"no time was left for {spell_out(skipped)}")
    best = found.best(methods if chosen is None else [chosen])
    if show_progress:
        tqdm.write(f"fitting {found.methods[best]} to all rows", file=sys.stderr)
    classifier = make_classifier(found.methods[best], estimator, seed)
    model = _fit_all(data_set, classifier, table, class_weight, n_jobs)
    learners = "" if found.methods[best] in CLASSIFIERS else learner_names(model.classifier_, "stumps")
    if learner is not None:
        learners = str(learner)
    model.card_ = {
        "data": data_set.name,
        "target": target,
        "decimal": data_set.decimal,
        "n_rows": len(data_set.y),
        "class_counts": np.bincount(table.data_set.y, minlength=len(table.classes)),
        "method": found.methods[best],
        "learner": learners,
        "folds": folds,
        "seed": seed,
        "command": command,
        "notes": notes + found.notes,
        "options": {
            "class_weight": class_weight or "",
            "group": group or "",
            "order": [str(label) for label in table.classes] if order else [],
            "compared_rows": len(values.y),
        },
        **make_card(found, best, scored_by, values, was_named=chosen is not None),
        "test": None if test is None else score_on(model, test, scored_by),
    }
    return model


def _check_method(method: str, learner: str | BaseEstimator | None) -> str:
    """Return the full name of a method that a model can be made of."""
    (method,) = check_methods([method])
    if method in STRATEGIES or method == MAJORITY:
        raise InputError(f"method: {method!r} is a reference, which is not saved; see skecoc compare")
    if learner is not None and not takes_learner(method):
        raise InputError(
            f"learner: {coding_of(method)} has its own learners; leave out either the method or the learner"
        )
    return method


def _usable_methods(
    methods: Sequence[str], chosen: str | None, learner: BaseEstimator, metric: Metric, class_weight: str | None
) -> list[str]:
    """Leave out methods without the probabilities or weights that are wanted; refuse the one that was named."""
    wanted = {"probabilities": metric.needs_probabilities, "weights": class_weight is not None}
    reasons = {method: why_not(method, learner, **wanted) for method in methods}
    if chosen is not None and reasons[chosen]:
        raise InputError(f"method: {reasons[chosen]}")
    usable = [method for method, reason in reasons.items() if not reason]
    if not usable:
        raise InputError(f"learner: {reasons[methods[0]]}")
    if usable == [chosen]:  # instead of references that were left out
        usable += [name for name in OWN_REFERENCES if name != chosen]
    return usable


def _fit_all(
    data_set: DataSet, classifier: Any, table: PreparedTable, class_weight: str | None, n_jobs: int | None
) -> TableClassifier:
    """Train a classifier on all rows."""
    has_jobs = "n_jobs" in classifier.get_params()
    if has_jobs:
        classifier.set_params(n_jobs=n_jobs)
    model = TableClassifier(classifier, drop=table.drop, class_order=table.classes)
    weights = None if class_weight is None else compute_sample_weight(class_weight, table.labels)
    # The threads of gradient boosting would wait for one another on busy cores.
    with thread_pools().limit(limits=1), interrupts_remembered() as check_interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the folds gave the same warnings
        try:
            model.fit(data_set.X, table.labels, sample_weight=weights)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"the model cannot be fitted to all rows: {error}") from error
        check_interrupt()
    for part in (classifier, model.classifier_):
        if has_jobs:
            part.set_params(n_jobs=None)  # a file must not decide how many cores its readers use
        if callable(getattr(part, "coding", None)):
            part.set_params(coding=model.classifier_.code_matrix_)  # a file holds no functions
    return model


def _rehearse(data_set: DataSet, classifier: BaseEstimator, table: PreparedTable, trusted: Sequence[str]) -> None:
    """Refuse a learner that cannot be saved before the work is done: fit it to a few rows and try."""
    some = table.classes[:_REHEARSAL_CLASSES]
    rows = np.concatenate([np.flatnonzero(table.labels == label)[:_REHEARSAL_ROWS] for label in some])
    model = TableClassifier(classifier, drop=table.drop)
    with thread_pools().limit(limits=1), warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        with suppress(Exception):  # too few rows for this learner: saving is tried at the end
            model.fit(data_set.X.iloc[rows], table.labels[rows])
    if hasattr(model, "classifier_"):
        check_storable(model, trusted)


def check_storable(model: Any, trusted: Sequence[str] = ()) -> bytes:
    """Return the content of a model's file, or raise an InputError that says why it cannot be saved."""
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
