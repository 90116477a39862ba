"""From a user's blocks to coded rows: two passes over the features, after which they are not read again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.blocks.bins import (
    OTHER_ROWS,
    UNIT,
    Bins,
    Ints,
    Layout,
    class_totals,
    code_block,
    code_values,
    held_out_part,
    is_held_out,
    make_layout,
    training_part,
)
from skecoc.blocks.executor import Blocks, Executor
from skecoc.blocks.regions import StartRows
from skecoc.blocks.rows import RowSummary, merge_summaries, summarise_block
from skecoc.learners.base import Codes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PreparedRows:
    """Coded rows, and what is known about all of them.

    Attributes
    ----------
    executor : Executor
        What holds the blocks.
    seed : int
        Seed of the fit.
    summary : RowSummary
        Summary of the rows as they were given.
    layout : Layout
        How they are coded.
    training, held_out : Blocks of CodedBlock
        The rows to train on, and those that are held out.
    training_weights, held_out_weights : ndarray of int64 of shape (n_classes,)
        Their weights by class, in parts of `UNIT`.
    n_held_out : int
        Number of rows held out.
    """

    executor: Executor
    seed: int
    summary: RowSummary
    layout: Layout
    training: Blocks
    held_out: Blocks
    training_weights: Ints
    held_out_weights: Ints
    n_held_out: int

    @property
    def bins(self) -> Bins:
        """How values are coded."""
        return self.layout.bins

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.layout.classes)

    @property
    def prior(self) -> Floats:
        """Share of each class in the weights of all rows, of shape (n_classes,)."""
        weights = self.training_weights + np.where(self.layout.shared, 0, self.held_out_weights)
        return weights / weights.sum()

    @property
    def held_out_weight(self) -> float:
        """Weight of the rows held out, in parts of the largest weight."""
        return float(self.held_out_weights.sum() / UNIT)

    def held_out_factor(self) -> Floats:
        """Return what weights of rows held out are multiplied by, class by class, so that they sum to 1."""
        return np.full(self.n_classes, 1.0 / self.held_out_weight)

    def training_factor(self, class_weight: str | None) -> Floats:
        """Return what weights of training rows are multiplied by, class by class, so that they sum to 1."""
        weights = self.training_weights / UNIT
        if class_weight == "balanced":
            return 1.0 / (self.n_classes * weights)
        return np.full(self.n_classes, 1.0 / weights.sum())

    def sample_classes(self) -> NDArray[np.intp]:
        """Return the class indices of the sampled rows."""
        return np.searchsorted(self.layout.classes, self.summary.sample.y)

    def start_rows(self) -> StartRows:
        """Return the sampled rows that are trained on, as their bins show them."""
        sample, y = self.summary.sample, self.sample_classes()
        trained = ~is_held_out(sample.keys, y, self.layout) | self.layout.shared[y]
        codes = code_values(sample.X[trained], self.bins).T
        return StartRows(self.bins.centres[codes + self.bins.starts[:-1]], y[trained], sample.mass[trained])

    def calibration_sample(self) -> tuple[Codes, NDArray[np.intp], Floats]:
        """Return codes, class indices and weights of sampled rows that are held out; of all if none are."""
        sample, y = self.summary.sample, self.sample_classes()
        held = is_held_out(sample.keys, y, self.layout)
        taken = held if held.any() else np.ones(len(y), bool)
        return code_values(sample.X[taken], self.bins), y[taken], sample.mass[taken]


def prepare_rows(executor: Executor, source: Blocks, seed: int, max_bins: int, held_out: float) -> PreparedRows:
    """Summarise all blocks, decide on bins, and code the rows.

    Parameters
    ----------
    executor : Executor
        What holds the blocks.
    source : Blocks of RawBlock
        The rows as they were given; read twice.
    seed : int
        Seeds the hash that samples rows and holds rows out.
    max_bins : int
        Largest number of bins of a feature.
    held_out : float
        Share of the rows to hold out.

    Returns
    -------
    PreparedRows
        The coded rows.

    Raises
    ------
    ValueError
        If there are no rows, or rows of one class only, or other rows when they are read again.
    """
    summary: RowSummary | None = executor.sum(summarise_block, source, message=(seed, max_bins), merge=merge_summaries)
    if summary is None:
        raise ValueError("X must have at least one row of positive weight; there are no rows, or all weights are zero")
    if len(summary.labels) < 2:
        raise ValueError("y must hold at least 2 classes, got 1 class")
    layout = make_layout(summary, seed, held_out)
    coded = executor.map(code_block, source, message=(layout,))
    training, apart = executor.map(training_part, coded), executor.map(held_out_part, coded)
    nothing = np.zeros(len(layout.classes), np.int64)
    trained, training_weights = executor.sum(class_totals, training) or (nothing, nothing)
    counts, held_out_weights = executor.sum(class_totals, apart) or (nothing, nothing)
    n_coded = int(trained.sum() + np.where(layout.shared, 0, counts).sum())
    if n_coded != summary.n_rows:
        raise ValueError(f"{OTHER_ROWS}: got {n_coded} rows after {summary.n_rows}")
    return PreparedRows(
        executor,
        seed,
        summary,
        layout,
        training,
        apart,
        training_weights,
        held_out_weights,
        int(counts.sum()),
    )


def feature_attributes(summary: RowSummary) -> dict[str, Any]:
    """Return the attributes of a fitted estimator that tell its features."""
    names = {} if summary.names is None else {"feature_names_in_": summary.names}
    return {"n_features_in_": len(summary.values), **names}
