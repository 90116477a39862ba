"""Plans of experiments: methods by learners by data sets, and how often each is run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Self

from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import LEARNERS, Batch, batches_of, check_methods, takes_learner
from skecoc.datasets import list_uci
from skecoc_study.runs import codings  # noqa: F401 - makes them known, in worker processes too

__all__ = ["Protocol"]


@dataclass(frozen=True)
class Protocol:
    """An experiment: all runs of some methods on some data sets.

    Parameters
    ----------
    name : str
        Name of the experiment.
    data_sets : tuple of str
        Names of data sets of the package.
    settings : tuple of (str, str)
        Pairs of a learner, such as ``"stumps"``, and the outputs that are used: ``"labels"``, ``"probabilities"`` or
        ``"margins"``. All methods are run with every setting and reported separately.
    methods : tuple of str
        Names of methods as in `skecoc.compare.compare`, except ``"mixed"`` and those of scikit-learn.
    n_repeats : int, default=10
        Number of repetitions of the cross-validation.
    n_folds : int, default=10
        Number of folds.
    seed : int, default=0
        Random seed. The seeds of a run are derived from it and from the identity of the run, independently of other
        runs.
    fewer_repeats : mapping of (str, str) to int, default={}
        Smaller numbers of repeats for some pairs of learner and data set.

    Examples
    --------
    >>> from skecoc_study.runs.protocol import Protocol
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
        _check_names("response", [response for _, response in self.settings], ("labels", "probabilities", "margins"))
        object.__setattr__(self, "methods", tuple(check_methods(self.methods)))
        peers = [method for method in self.methods if method.startswith("sklearn/") or not takes_learner(method)]
        if peers:
            raise InputError(f"methods: {peers[0]!r} has a fixed response, which cannot be chosen")
        if self.n_folds < 2 or self.n_repeats < 1:
            raise InputError(
                f"expected at least 2 folds and 1 repeat, got n_folds={self.n_folds}, n_repeats={self.n_repeats}"
            )

    def repeats_of(self, learner: str, data_set: str) -> int:
        """Return the number of repeats of a learner on a data set."""
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
        return {**asdict(self), "fewer_repeats": [[*pair, repeats] for pair, repeats in self.fewer_repeats.items()]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a protocol from what `to_dict` returned, also after a round trip through JSON."""
        changed = {
            "data_sets": tuple(values["data_sets"]),
            "settings": tuple((learner, response) for learner, response in values["settings"]),
            "methods": tuple(values["methods"]),
            "fewer_repeats": {(learner, data_set): number for learner, data_set, number in values["fewer_repeats"]},
        }
        return cls(**{**values, **changed})


def _check_names(what: str, names: Sequence[str], valid: Sequence[str] | Mapping[str, Any]) -> None:
    if not names:
        raise InputError(f"{what}s: expected at least one")
    for name, count in Counter(names).items():
        if name not in valid:
            raise InputError(f"{what}s: {name!r} is not known; expected one of {', '.join(valid)}")
        if count > 1 and what == "data set":
            raise InputError(f"{what}s: {name!r} is given more than once")
