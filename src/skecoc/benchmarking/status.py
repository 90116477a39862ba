"""How far an experiment is, and how long the rest takes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from skecoc.benchmarking.data import DataSet, load_data_sets
from skecoc.benchmarking.protocol import Batch, Protocol
from skecoc.benchmarking.store import Store

#: Batches of one kind take about the same time: data set, learner and coding.
Kind = tuple[str, str, str]

#: Seconds that every batch takes, whatever its size.
_LEAST_SECONDS = 0.04


@dataclass(frozen=True)
class Status:
    """How far an experiment is.

    Attributes
    ----------
    counts : dict of (str, str, str) to (int, int)
        For each learner, response and data set: runs done, and runs in total.
    seconds_left : float
        Estimated time that the missing runs take one worker.
    n_claimed : int
        Number of batches of runs that processes are at right now.
    """

    counts: dict[tuple[str, str, str], tuple[int, int]]
    seconds_left: float
    n_claimed: int

    @property
    def n_done(self) -> int:
        """Number of runs done."""
        return sum(done for done, _ in self.counts.values())

    @property
    def n_total(self) -> int:
        """Number of runs of the experiment."""
        return sum(total for _, total in self.counts.values())


def status(protocol: Protocol, store: Store) -> Status:
    """Tell how far an experiment is.

    Parameters
    ----------
    protocol : Protocol
        The experiment.
    store : Store
        Its results; they are only read.

    Returns
    -------
    Status
        Runs done and in total, and the time left.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> protocol = Protocol("mine", ("iris",), (("stumps", "labels"),), ("one-vs-one/hamming",), 1, 3)
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.sqlite")) as store:
    ...     status(protocol, store).counts
    {('stumps', 'labels', 'iris'): (0, 3)}
    """
    done = store.done()
    clock = Clock(load_data_sets(protocol.data_sets), store)
    totals: Counter[tuple[str, str, str]] = Counter()
    found: Counter[tuple[str, str, str]] = Counter()
    missing = []
    for batch in protocol.batches():
        kinds = [(key.learner, key.response, key.data_set) for key in batch.keys]
        is_done = [key in done for key in batch.keys]
        totals.update(kinds)
        found.update(kind for kind, there in zip(kinds, is_done, strict=True) if there)
        if not all(is_done):
            missing.append(batch)
    counts = {kind: (found[kind], total) for kind, total in totals.items()}
    return Status(counts, clock.seconds_of_all(Counter(map(kind_of, missing))), store.n_claimed())


def kind_of(batch: Batch) -> Kind:
    """Return what the time of a batch depends on most.

    Parameters
    ----------
    batch : Batch
        The batch.

    Returns
    -------
    tuple of (str, str, str)
        Its data set, learner and coding.
    """
    return batch.data_set, batch.learner, batch.coding


class Clock:
    """Estimates the seconds of batches: measured where possible, guessed from the data's size where not.

    Parameters
    ----------
    data_sets : iterable of DataSet
        The data sets of the batches.
    store : Store
        Where batches that have been run are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.sqlite")) as store:
    ...     clock = Clock(load_data_sets(["iris"]), store)
    >>> clock.add(("iris", "svm", "decoc"), 0.25)
    >>> clock.seconds(("iris", "svm", "decoc"))
    0.25
    """

    def __init__(self, data_sets: Iterable[DataSet], store: Store) -> None:
        self._sizes = {data_set.name: (len(data_set.y), len(set(data_set.y.tolist()))) for data_set in data_sets}
        self._counts: Counter[Kind] = Counter()
        self._totals: dict[Kind, float] = {}
        for kind, count, mean in store.seconds_of_batches():
            if kind[0] in self._sizes:
                self._counts[kind], self._totals[kind] = count, count * mean

    def add(self, kind: Kind, seconds: float) -> None:
        """Take the time of a batch into account.

        Parameters
        ----------
        kind : tuple of (str, str, str)
            Its data set, learner and coding.
        seconds : float
            What it took.
        """
        self._counts[kind] += 1
        self._totals[kind] = self._totals.get(kind, 0.0) + seconds

    def seconds(self, kind: Kind) -> float:
        """Estimate the seconds of a batch.

        Parameters
        ----------
        kind : tuple of (str, str, str)
            Its data set, learner and coding.

        Returns
        -------
        float
            The mean of batches of this kind. If there is none yet: a guess from the size of the data, scaled by what
            batches of the same learner took.
        """
        return self.seconds_of_all({kind: 1})

    def seconds_of_all(self, numbers: dict[Kind, int]) -> float:
        """Estimate the seconds of many batches, one after the other.

        Parameters
        ----------
        numbers : dict of (str, str, str) to int
            How many there are of each kind.

        Returns
        -------
        float
            Their total.
        """
        means = {kind: self._totals[kind] / count for kind, count in self._counts.items()}
        ratios: dict[str, list[float]] = {}
        for kind, mean in means.items():
            ratios.setdefault(kind[1], []).append(mean / self._guess(kind))
        scales = {learner: median(values) for learner, values in ratios.items()}
        return sum(
            number * (means[kind] if kind in means else self._guess(kind) * scales.get(kind[1], 1.0))
            for kind, number in numbers.items()
        )

    def _guess(self, kind: Kind) -> float:
        """Guess the seconds of a batch: a number of columns times the cost of one that uses all rows."""
        data_set, learner, coding = kind
        n_rows, n_classes = self._sizes[data_set]
        # A column of one-vs-one has few rows; a grown code trains many columns, some with and without held-out rows.
        columns = {"one-vs-one": 2, "decoc": 2, "random-10": 10, "ecoc-one": 2 * n_classes, "wolc": 5 * n_classes}
        of_column = 5e-7 * n_rows**2 if learner == "svm" else 2e-6 * n_rows
        return _LEAST_SECONDS + columns.get(coding, n_classes) * of_column
