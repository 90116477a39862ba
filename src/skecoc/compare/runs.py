"""Runs of an experiment: what identifies each, what is recorded of it, and the folds and seeds it is made with."""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from skecoc.compare.methods import GROWN_CODINGS
from skecoc.decoding import DECODERS
from skecoc.support.errors import InputError

Rows = NDArray[np.intp]


class RunKey(NamedTuple):
    """Identity of a run; `response` is "labels", "probabilities", "margins" or "auto"."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"


@dataclass(frozen=True)
class RunRecord:
    """Results of one method on one fold: the identity of the run, and what was measured."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str
    n_train: int
    n_test: int
    n_correct: int
    n_columns: int  # binary learners that `predict` evaluates
    n_trained: int  # binary learners of the code, with those that have no weight and those of rounds not kept
    # Training the columns, evaluating the training samples and fitting the decoder. Methods that share columns each
    # count the whole time of training them, as if each had been trained alone.
    fit_seconds: float
    predict_seconds: float

    @property
    def accuracy(self) -> float:
        """Share of the test samples that were predicted correctly."""
        return self.n_correct / self.n_test

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"

    @property
    def key(self) -> RunKey:
        """Identity of the run."""
        return RunKey(self.data_set, self.repeat, self.fold, self.learner, self.response, self.coding, self.decoding)


@dataclass(frozen=True)
class RoundRecord:
    """One round of the growth of a WOLC code, a point of the convergence figures; round 0 has the initial columns."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    round: int
    n_columns: int
    objective: float  # what the weights minimise
    risk: float  # the part of it that is the paper's risk
    loss: float  # what growth is judged by
    train_accuracy: float
    test_accuracy: float
    kept: bool  # whether the classifier keeps this round


@dataclass(frozen=True)
class Batch:
    """Runs on one fold that share their trained columns, and are therefore done together.

    `variants` are the response and the decoding of each run. The columns of a fixed code serve all of them; those of a
    grown code, or of a decoding that is fitted out of fold, serve one only, so its batches have one variant each.
    """

    data_set: str
    repeat: int
    fold: int
    learner: str
    coding: str
    variants: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Identity of the batch, whichever of its variants are wanted."""
        own = () if shares_columns(self.coding, self.variants[0][1]) else self.variants[0]
        return "/".join((self.data_set, str(self.repeat), str(self.fold), self.learner, self.coding, *own))

    @property
    def keys(self) -> list[RunKey]:
        """The runs of the batch."""
        return [
            RunKey(self.data_set, self.repeat, self.fold, self.learner, response, self.coding, decoding)
            for response, decoding in self.variants
        ]


def shares_columns(coding: str, decoding: str) -> bool:
    """Tell whether the columns of a coding serve several decodings: those of codes fixed before training do.

    Decodings that give probabilities are fitted out of fold, and train columns of their own.
    """
    is_fixed = coding not in GROWN_CODINGS and coding != "sklearn"
    return is_fixed and not getattr(DECODERS.get(decoding), "scores_are_log_probabilities", False)


def batches_of(
    data_set: str,
    repeat: int,
    fold: int,
    learner: str,
    responses: Sequence[str],
    methods: Sequence[str],
) -> list[Batch]:
    """Group the runs of one learner on one fold: one batch per fixed coding, one per run for all others."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for method, response in product(methods, responses):
        coding, decoding = method.split("/")
        own = () if shares_columns(coding, decoding) else (decoding, response)
        groups.setdefault((coding, *own), []).append((response, decoding))
    return [Batch(data_set, repeat, fold, learner, group[0], tuple(variants)) for group, variants in groups.items()]


def split_rows(
    y: NDArray[Any], identity: str, repeat: int, n_folds: int, seed: int, groups: NDArray[Any] | None = None
) -> list[tuple[Rows, Rows]]:
    """Split the rows of a data set into training and test rows of folds, stratified by class, groups kept whole.

    A class with fewer rows than folds is absent from some test parts. Nothing but the arguments decides on the folds,
    so all methods see the same.
    """
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise InputError(f"folds: {n_folds} is more than the {len(np.unique(groups))} groups")
    splitter = kind(n_folds, shuffle=True, random_state=seed_of(seed, "folds", identity, repeat))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        try:
            parts = list(splitter.split(np.zeros(len(y)), y, groups))
        except ValueError as error:
            raise InputError(f"folds: {error}") from error
    if groups is not None and any(len(test) == 0 or len(np.unique(y[train])) < 2 for train, test in parts):
        raise InputError(f"folds: too few groups for {n_folds} folds with two classes in every training part")
    return parts


def seed_of(*identity: str | int) -> int:
    """Hash the identity of a run into a seed in [0, 2**32), so that it does not depend on when or where it is run."""
    digest = hashlib.blake2b(repr(identity).encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return int.from_bytes(digest, "big")
