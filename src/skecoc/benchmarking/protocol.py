"""Which runs an experiment is made of: data sets, folds, learners, methods, and the seeds of all of them."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from skecoc.benchmarking.methods import GROWN_CODINGS, LEARNERS, PEERS, RESPONSES, check_methods
from skecoc.benchmarking.records import RoundRecord, RunKey, RunRecord
from skecoc.benchmarking.seeds import seed_of
from skecoc.datasets import list_uci
from skecoc.paper.published import DATA_SETS, METHODS
from skecoc.support.errors import InputError

__all__ = [
    "PAPER_DATA_SETS",
    "PAPER_METHODS",
    "PAPER_SETTINGS",
    "PROTOCOLS",
    "Batch",
    "Protocol",
    "RoundRecord",
    "RunKey",
    "RunRecord",
    "batches_of",
    "shares_columns",
    "split_rows",
]

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Batch:
    """Runs on one fold that share their trained columns, and are therefore done together.

    Attributes
    ----------
    data_set, repeat, fold, learner, coding : str or int
        What the runs have in common.
    variants : tuple of (str, str)
        Response and decoding of each run. The columns of a fixed code serve all of them. Those of a grown code serve
        one only, so its batches have one variant each.
    """

    data_set: str
    repeat: int
    fold: int
    learner: str
    coding: str
    variants: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What tells this batch from all others, whichever of its variants are asked for."""
        own = () if shares_columns(self.coding) else self.variants[0]
        return "/".join((self.data_set, str(self.repeat), str(self.fold), self.learner, self.coding, *own))

    @property
    def methods(self) -> list[str]:
        """The methods of the batch, ``coding/decoding``, each once."""
        return list(dict.fromkeys(key.method for key in self.keys))

    @property
    def keys(self) -> list[RunKey]:
        """The runs of the batch."""
        return [
            RunKey(self.data_set, self.repeat, self.fold, self.learner, response, self.coding, decoding)
            for response, decoding in self.variants
        ]


def shares_columns(coding: str) -> bool:
    """Tell whether the columns of a coding serve several decodings.

    Parameters
    ----------
    coding : str
        First part of a method's name.

    Returns
    -------
    bool
        True for codes that are fixed before any column is trained.

    Examples
    --------
    >>> shares_columns("one-vs-one"), shares_columns("wolc"), shares_columns("sklearn")
    (True, False, False)
    """
    return coding not in GROWN_CODINGS and coding != "sklearn"


def split_rows(y: NDArray[Any], data_set: str, repeat: int, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Split the rows of a data set into folds, stratified by class.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class labels. A class with fewer rows than folds is absent from some test parts.
    data_set : str
        Name of the data set.
    repeat : int
        Number of the repeat.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the experiment. Nothing but these arguments decides on the folds, so all methods see the same.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        Training and test rows of each fold.

    Examples
    --------
    >>> folds = split_rows(np.repeat([0, 1], 6), "tiny", 0, n_folds=3, seed=0)
    >>> [(len(train), len(test)) for train, test in folds]
    [(8, 4), (8, 4), (8, 4)]
    """
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed_of(seed, "folds", data_set, repeat))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(np.zeros(len(y)), y))


def batches_of(
    data_set: str,
    repeat: int,
    fold: int,
    learner: str,
    responses: Sequence[str],
    methods: Sequence[str],
) -> list[Batch]:
    """Arrange the runs of one learner on one fold so that those with common columns are together.

    Parameters
    ----------
    data_set : str
        Name of the data set.
    repeat, fold : int
        The fold.
    learner : str
        Name of the learner.
    responses : sequence of str
        How the learner is to answer.
    methods : sequence of str
        Full names ``coding/decoding``.

    Returns
    -------
    list of Batch
        One per fixed coding; one per method and response for all others.

    Examples
    --------
    >>> methods = ["one-vs-one/hamming", "wolc/optimized-weight", "one-vs-one/loss-based"]
    >>> [batch.variants for batch in batches_of("iris", 0, 0, "stumps", ["labels"], methods)]
    [(('labels', 'hamming'), ('labels', 'loss-based')), (('labels', 'optimized-weight'),)]
    """
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for method, response in product(methods, responses):
        coding, decoding = method.split("/")
        own = () if shares_columns(coding) else (decoding, response)
        groups.setdefault((coding, *own), []).append((response, decoding))
    return [Batch(data_set, repeat, fold, learner, group[0], tuple(variants)) for group, variants in groups.items()]


@dataclass(frozen=True)
class Protocol:
    """An experiment: all runs of some methods on some data sets.

    Parameters
    ----------
    name : str
        What it is called.
    data_sets : tuple of str
        Names of shipped data sets.
    settings : tuple of (str, str)
        Learner and response of each: all methods are run with every setting, and reported apart.
    methods : tuple of str
        Names that `skecoc.benchmarking.methods.check_methods` accepts.
    n_repeats : int, default=10
        How often the rows are split anew.
    n_folds : int, default=10
        Number of folds.
    seed : int, default=0
        Folds, random codes and learners derive their seeds from this one and from what the run is, so results depend
        neither on order or parallelism nor on what else is run.
    fewer_repeats : mapping of (str, str) to int, default={}
        For some pairs of learner and data set, a number of repeats below `n_repeats`.

    Raises
    ------
    InputError
        If a name is not known (the message lists the valid ones) or a number is out of range.

    Examples
    --------
    >>> protocol = Protocol("mine", ("iris",), (("stumps", "labels"),), ("one-vs-one/hamming", "wolc"), 1, 3)
    >>> len(list(protocol.batches()))
    6
    """

    name: str
    data_sets: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    methods: tuple[str, ...]
    n_repeats: int = 10
    n_folds: int = 10
    seed: int = 0
    fewer_repeats: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_names("data set", self.data_sets, list_uci())
        _check_names("learner", [learner for learner, _ in self.settings], LEARNERS)
        _check_names("response", [response for _, response in self.settings], list(RESPONSES)[1:])
        object.__setattr__(self, "methods", tuple(check_methods(self.methods)))
        peers = [method for method in self.methods if method in PEERS]
        if peers:
            raise InputError(f"methods: {peers[0]!r} cannot be told how its learners answer")
        if self.n_folds < 2 or self.n_repeats < 1:
            raise InputError(
                f"expected at least 2 folds and 1 repeat, got n_folds={self.n_folds}, n_repeats={self.n_repeats}"
            )

    def repeats_of(self, learner: str, data_set: str) -> int:
        """Return how often a data set is split anew for a learner."""
        return min(self.n_repeats, self.fewer_repeats.get((learner, data_set), self.n_repeats))

    def batches(self) -> Iterator[Batch]:
        """Enumerate all batches of runs that share columns."""
        responses: dict[str, list[str]] = {}
        for learner, response in self.settings:
            responses.setdefault(learner, []).append(response)
        for learner, data_set in product(responses, self.data_sets):
            for repeat, fold in product(range(self.repeats_of(learner, data_set)), range(self.n_folds)):
                yield from batches_of(data_set, repeat, fold, learner, responses[learner], self.methods)

    def to_dict(self) -> dict[str, Any]:
        """Describe the protocol by plain values, which `from_dict` understands."""
        fewer = [[*pair, repeats] for pair, repeats in self.fewer_repeats.items()]
        return {**asdict(self), "fewer_repeats": fewer}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a protocol from what `to_dict` returned, also after a way through JSON."""
        fewer = {(learner, data_set): repeats for learner, data_set, repeats in values["fewer_repeats"]}
        changed = {
            "data_sets": tuple(values["data_sets"]),
            "settings": tuple((learner, response) for learner, response in values["settings"]),
            "methods": tuple(values["methods"]),
            "fewer_repeats": fewer,
        }
        return cls(**{**values, **changed})


def _check_names(what: str, names: Sequence[str], valid: Sequence[str] | Mapping[str, Any]) -> None:
    """Check that there are names, and that all are known."""
    if not names:
        raise InputError(f"{what}s: expected at least one")
    for name, count in Counter(names).items():
        if name not in valid:
            raise InputError(f"{what}s: {name!r} is not known; expected one of {', '.join(valid)}")
        if count > 1 and what == "data set":
            raise InputError(f"{what}s: {name!r} is given more than once")


#: The sixteen methods and the fourteen data sets of the paper, in its order.
PAPER_METHODS: tuple[str, ...] = tuple(METHODS)
PAPER_DATA_SETS: tuple[str, ...] = tuple(DATA_SETS)

#: Learners and their ways to answer. The paper's reference library hands on hard labels; probabilities are what the
#: codes can make of the same learners. Margins of support vector machines are not compared: each column has its own
#: penalty and width, so the scales of its margins say nothing.
PAPER_SETTINGS: tuple[tuple[str, str], ...] = (
    ("stumps", "labels"),
    ("stumps", "probabilities"),
    ("svm", "probabilities"),
)

#: The experiments that have a name. "paper" is the paper's, but for the three large sets with the support vector
#: machine, which are split once instead of ten times.
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "paper": Protocol(
            "paper",
            PAPER_DATA_SETS,
            PAPER_SETTINGS,
            PAPER_METHODS,
            fewer_repeats={("svm", name): 1 for name in ("satimage", "optdigits", "pendigits")},
        ),
        "quick": Protocol(
            "quick",
            ("dermatology", "iris", "ecoli", "wine", "glass", "thyroid"),
            PAPER_SETTINGS,
            PAPER_METHODS,
            n_repeats=2,
            n_folds=3,
        ),
    }
)
