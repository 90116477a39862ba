"""Classifiers of any learners for rows in blocks: stumps come from sums over all rows, others see a sample of them.

The sample is in memory, and the code grows and is weighted there as it does for rows in memory. If it holds all rows,
the classifier is the one for rows in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator

from skecoc.blocks.bins import PreparedRows
from skecoc.blocks.samples import BlockSamples
from skecoc.classifiers import ECOCClassifier
from skecoc.classifiers.base import BaseCodeClassifier
from skecoc.growth.wolc import WOLCClassifier
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.bins import smallest_keys
from skecoc.learners.columns import (
    ALL_SAMPLES,
    Column,
    ColumnTrainer,
    Floats,
    Integers,
    resolve_response,
    takes_weights,
)
from skecoc.learners.folds import Keys
from skecoc.learners.mixed import is_several
from skecoc.support.weights import usable_weights


@dataclass
class SummedTrainer(ColumnTrainer):
    """Boosts stumps from sums over all rows; the samples that it evaluates them on are some of these."""

    rows: PreparedRows | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is None or self.response is None:
            raise ValueError("stumps that are boosted from sums need rows and a way to be evaluated")
        self._source = BlockSamples(self.rows, self.learner, self.response)

    def _has_bins(self) -> bool:
        """Leave the samples as they are: bins are those of all rows."""
        return False

    def _fit(self, columns: Sequence[Column], seeds: Sequence[int], fold: int) -> list[BaseEstimator]:
        """Boost one learner per column without the rows of a fold, unless it has been; those of all folds together."""
        places = [
            (column.pattern.tobytes(), column.n_regions, seed) for column, seed in zip(columns, seeds, strict=True)
        ]
        missing = [number for number, place in enumerate(places) if (*place, fold) not in self._trained]
        if missing:
            folds = [*([ALL_SAMPLES] if fold == ALL_SAMPLES else []), *range(len(self.held_out.rows))]
            left_out = [[] if number == ALL_SAMPLES else self._source.held_out[number] for number in folds]
            wanted = [columns[number] for number in missing], [seeds[number] for number in missing]
            for number, learners in zip(folds, self._source.fit_without(*wanted, left_out), strict=True):
                self._trained.update(
                    {(*places[m], number): learner for m, learner in zip(missing, learners, strict=True)}
                )
            self.on_fit()
        return [self._trained[*place, fold] for place in places]


def _make_trainer(rows: PreparedRows, learner: BaseEstimator, *arguments: Any, **settings: Any) -> ColumnTrainer:
    """Return a trainer from sums for stumps, one that trains on the sample for other learners."""
    is_summed = isinstance(learner, StumpAdaBoostClassifier)
    make = partial(SummedTrainer, rows=rows) if is_summed else ColumnTrainer
    return make(learner, *arguments, **settings)


class SampledRows(NamedTuple):
    """Rows to train on in memory."""

    X: Any  # a frame if features have names
    y: Integers
    weight: Floats
    keys: Keys
    is_all: bool  # whether these are all rows


def sample_rows(rows: PreparedRows, size: int) -> SampledRows:
    """Take all rows if there are no more than `size`; else so many distinct ones, and some of every class.

    All rows stand as often as they were given, equal ones with the same weight. Distinct ones have weights, by which
    every class has the share that it has in all rows.
    """
    summary = rows.summary
    keys, labels, X, mass, counts = summary.sample
    y = np.searchsorted(rows.layout.classes, labels)
    is_all = summary.n_rows <= size
    if is_all:
        taken, weight = np.repeat(np.arange(len(y)), counts), np.repeat(mass / counts, counts)
    else:
        taken = smallest_keys(keys, y, size)
        weight = mass[taken] * (rows.prior / np.bincount(y[taken], mass[taken]))[y[taken]] * mass[taken].sum()
    return SampledRows(_named(X[taken], summary.names), y[taken], usable_weights(weight), keys[taken], is_all)


def _named(X: Floats, names: Any) -> Any:
    """Return features as a frame if they have names: learners check these when they predict."""
    if names is None or find_spec("pandas") is None:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=names)


class _Sampled(BaseCodeClassifier):
    """A classifier that is fitted to some of the rows, with folds and stumps from all of them."""

    rows: PreparedRows
    keys: Keys

    def _assign_folds(self, X: Any, y: Integers, seed: int) -> tuple[Integers | None, bool]:
        del X, seed
        layout = self.rows.layout
        folds = None if layout.folds is None else layout.folds.assign(self.keys, y)
        return folds if folds is not None and (folds >= 0).any() else None, layout.is_single

    def _trainer(self, *arguments: Any, **settings: Any) -> Any:
        learner = self._learner()
        if not is_several(self.estimator) and isinstance(learner, StumpAdaBoostClassifier):
            settings.setdefault("response", resolve_response(learner, self.response_method))
        return super()._trainer(*arguments, **settings, make_trainer=partial(_make_trainer, self.rows))


class _SampledECOC(_Sampled, ECOCClassifier):
    """`ECOCClassifier`, fitted to some of the rows."""


class _SampledWOLC(_Sampled, WOLCClassifier):
    """`WOLCClassifier`, fitted to some of the rows."""


def fit_sampled(
    model: BaseCodeClassifier, rows: PreparedRows, size: int, *, has_own_bins: bool = False
) -> dict[str, int]:
    """Fit a classifier that knows its classes and features; return how many rows each learner was trained on.

    `has_own_bins` says that bins are not those of rows in memory, so that stumps are boosted from sums in any case.
    """
    sampled, summary = sample_rows(rows, size), rows.summary
    learners = model._learners(rows.n_classes, len(sampled.y), rows.bins.n_features)
    if summary.is_weighted:
        params = model._route(learners, sampled.weight, {}, is_given=summary.is_given)
    else:
        params = {
            name: {"sample_weight": sampled.weight} if takes_weights(learner) and not sampled.is_all else {}
            for name, learner in learners.items()
        }
    fitted = model
    if has_own_bins or not sampled.is_all:
        kind = _SampledWOLC if isinstance(model, WOLCClassifier) else _SampledECOC
        fitted = kind(**model.get_params(deep=False))
        fitted.__dict__.update(vars(model), rows=rows, keys=sampled.keys)
    # Weights that nobody has given are not for learners to request.
    with config_context(enable_metadata_routing=summary.is_given and get_config()["enable_metadata_routing"]):
        fitted._fit_code(sampled.X, sampled.y, sampled.weight, params)
    model.__dict__.update({name: value for name, value in vars(fitted).items() if name not in {"rows", "keys"}})
    names = dict.fromkeys(model.column_learners_.tolist()) if not is_several(model.estimator) else learners
    n_sampled = summary.n_rows if sampled.is_all else len(sampled.y)
    return {
        name: summary.n_rows if isinstance(learners.get(name, learners.get("")), StumpAdaBoostClassifier) else n_sampled
        for name in names
    }
