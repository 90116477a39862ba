"""Train the columns of a growing code, with and without each fold of the rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from skecoc.learners import RegionClassifier
from skecoc.learners.columns import (
    ConstantClassifier,
    Response,
    SeededClones,
    column_seeds,
    evaluate_columns,
    seeded_clone,
    shares_rows,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# In place of the number of a fold: no rows are left out.
_NO_FOLD = -1


class Question(NamedTuple):
    """A column to be trained: the side of each class, and whether by a clustering-based learner."""

    pattern: NDArray[np.int8]
    clustered: bool = False


class TrainedColumns(NamedTuple):
    """Learners of some columns and their answers to all training rows, plain and honest, (n_samples, n_columns)."""

    learners: list[BaseEstimator]
    answers: Floats
    honest: Floats


@dataclass
class ColumnTrainer:
    """Trains columns on one set of rows, sharing work between all columns of all rounds.

    Parameters
    ----------
    learner : estimator
        The binary learner; it is cloned, never changed.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Training rows.
    y : ndarray of int of shape (n_samples,)
        Class indices.
    response : {"predict_proba", "decision_function", "predict"}
        How learners answer.
    root : int
        Seed of the whole fit.
    fit_params : mapping
        Further arguments of the learner's `fit`; those with one entry per row are cut to the column's rows.
    folds : ndarray of int of shape (n_samples,) or None
        Fold in which each row is held out for its honest answer; negative means never. None: honest answers are the
        plain ones.
    n_regions : int
        Number of regions of clustering-based learners.
    n_jobs : int or None
        Number of columns trained at once, in threads if the learner shares rows.
    """

    learner: BaseEstimator
    X: Any
    y: Integers
    response: Response
    root: int
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    folds: Integers | None = None
    n_regions: int = 2
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self._seen: Counter[bytes] = Counter()
        self._prepared: dict[bool, Any] = {}
        self._clones: dict[bool, SeededClones] = {}
        # What has been trained, by pattern, kind, seed and fold: tried-out columns and second starts ask again.
        self._trained: dict[tuple[bytes, bool, int, int], BaseEstimator] = {}
        self._held_out: list[tuple[Integers, Any]] = []
        if self.folds is not None:
            for number in range(self.folds.max(initial=-1) + 1):
                rows = np.flatnonzero(self.folds == number)
                self._held_out.append((rows, _safe_indexing(self.X, rows)))

    def anew(self) -> "ColumnTrainer":
        """Return a trainer of the same rows, prepared as they are, to which no question has occurred yet."""
        trainer = copy(self)  # what has been prepared and trained is shared
        trainer._seen = Counter()
        return trainer

    def relabelled(self, y: Integers) -> "ColumnTrainer":
        """Return a trainer of the same rows, prepared as they are, with other class indices."""
        trainer = self.anew()
        trainer.y, trainer._trained = y, {}
        return trainer

    def train(self, questions: Sequence[Question]) -> TrainedColumns:
        """Train one learner per question, and one more per fold, and let them answer all rows."""
        return self._train(questions, self._seen)

    def try_out(self, questions: Sequence[Question]) -> TrainedColumns:
        """Train as `train` would, each question as if it came next, without remembering that it was asked."""
        return self._train(questions, self._seen.copy())

    def _train(self, questions: Sequence[Question], seen: Counter[bytes]) -> TrainedColumns:
        """Train and answer; count the occurrences of patterns in `seen`."""
        matrix = np.column_stack([question.pattern for question in questions])
        seeds = column_seeds(matrix, self.root, seen)
        # Once a learner has been trained and has answered, its parameters and the rows are known to be valid.
        with config_context(skip_parameter_validation=bool(self._trained), assume_finite=bool(self._trained)):
            learners = self._fit(questions, seeds, _NO_FOLD)
            answers = evaluate_columns(learners, self.X, self.response, n_jobs=self.n_jobs)
        if self.folds is None:
            return TrainedColumns(learners, answers, answers)
        with config_context(skip_parameter_validation=True, assume_finite=True):
            return TrainedColumns(learners, answers, self._honest_answers(questions, matrix, seeds, answers))

    def _honest_answers(
        self, questions: Sequence[Question], matrix: NDArray[np.int8], seeds: Sequence[int], answers: Floats
    ) -> Floats:
        """Train without each fold and answer its rows; rows that no fold holds keep their answers."""
        honest = answers.copy()
        for fold, (rows, X) in enumerate(self._held_out):
            partial = self._fit(questions, seeds, fold)
            # A class that takes no part in a column has not been seen by its learner: that answer is honest.
            honest[rows] = np.where(
                matrix[self.y[rows]] != 0,
                evaluate_columns(partial, X, self.response, n_jobs=self.n_jobs),
                honest[rows],
            )
        return honest

    def _fit(self, questions: Sequence[Question], seeds: Sequence[int], fold: int) -> list[BaseEstimator]:
        """Train one learner per question without the rows of a fold, unless it has been trained before."""
        keys = [
            (question.pattern.tobytes(), question.clustered, seed, fold)
            for question, seed in zip(questions, seeds, strict=True)
        ]
        missing = [number for number, key in enumerate(keys) if key not in self._trained]
        shared = shares_rows(self.learner) and self.fit_params.keys() <= {"sample_weight"}
        prefer = "threads" if shared or all(question.clustered for question in questions) else None
        tasks = (self._task(questions[number], seeds[number], fold, shared) for number in missing)
        for number, learner in zip(missing, _run(tasks, self.n_jobs, prefer), strict=True):
            self._trained[keys[number]] = learner
        return [self._trained[key] for key in keys]

    def _task(self, question: Question, seed: int, fold: int, shared: bool) -> Any:
        """Return the call that trains a learner."""
        sides = question.pattern[self.y]
        used = sides if fold == _NO_FOLD or self.folds is None else sides * (self.folds != fold)
        rows = np.flatnonzero(used)
        labels = (sides[rows] > 0).astype(np.intp)
        prepared = self._prepare(question.clustered) if shared or question.clustered else None
        learner = self._untrained(question, seed, fold)
        X = self.X if prepared is None or self.fit_params else None  # a cluster need not send what nobody reads
        return delayed(_fit_one)(learner, X, prepared, rows, labels, dict(self.fit_params))

    def _untrained(self, question: Question, seed: int, fold: int) -> BaseEstimator:
        """Return a learner to be trained; for a fold, one that takes what the search on all rows has found."""
        if fold != _NO_FOLD:
            whole = self._trained[question.pattern.tobytes(), question.clustered, seed, _NO_FOLD]
            if hasattr(whole, "without_search"):
                return whole.without_search()
        if question.clustered not in self._clones:
            self._clones[question.clustered] = SeededClones(self._template(question.clustered))
        return self._clones[question.clustered].make(seed)

    def _template(self, clustered: bool) -> BaseEstimator:
        """Return the learner of a simple or a clustering-based column."""
        if not clustered:
            return self.learner
        return RegionClassifier(self.learner, n_regions=self.n_regions)

    def _prepare(self, clustered: bool) -> Any:
        """Prepare the rows for a kind of learner, once."""
        if clustered not in self._prepared:
            # Region learners see a plain array of float64; if X is one, simple columns have prepared it already.
            is_plain = type(self.X) is np.ndarray and self.X.dtype == np.float64
            shared = {"inner": self._prepared.get(False)} if clustered and is_plain else {}
            # Seeded, since a learner may choose something for all columns here.
            learner = seeded_clone(self._template(clustered), self.root)
            self._prepared[clustered] = learner.prepare_rows(self.X, self.y, **shared)
        return self._prepared[clustered]


def _run(tasks: Iterable[Any], n_jobs: int | None, prefer: str | None) -> Iterable[Any]:
    """Run delayed calls, one after the other if only one may run at once: small fits take less time than joblib."""
    if effective_n_jobs(n_jobs) == 1:
        return (function(*arguments, **keywords) for function, arguments, keywords in tasks)
    return Parallel(n_jobs=n_jobs, prefer=prefer)(tasks)


def _fit_one(
    learner: BaseEstimator, X: Any, prepared: Any, rows: Integers, labels: Integers, params: dict[str, Any]
) -> BaseEstimator:
    """Train a learner on some rows: on prepared ones if there are any, else by its own `fit`."""
    if labels.all() or not labels.any():
        return ConstantClassifier(int(labels.any()))
    cut = _check_method_params(X, params, indices=rows) if params else {}
    if prepared is not None:
        return learner.fit_rows(prepared, rows, labels, **cut)
    return learner.fit(_safe_indexing(X, rows), labels, **cut)
