"""Data that is described rather than held in memory: blocks of arrays or of an iterable, partitions of a cluster."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, NoReturn

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from skecoc.data.bins import SAMPLE_ROWS
from skecoc.data.blocks import ArrayBlocks, IterableBlocks
from skecoc.data.executor import Executor, LocalExecutor, States
from skecoc.support.errors import import_extra, refuse_multilabel

#: Methods of classifiers that take other data than those in memory.
TAKING_DATA = "fit, and Dask collections in predict, predict_proba, decision_function and score"


class DescribedData(ABC):
    """Samples that stay where they are: an estimator's `fit` takes such an object in place of ``X`` and ``y``."""

    _constraints: ClassVar[dict[str, Any]] = {
        "sample_size": [Interval(Integral, 1, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 65_536, closed="both"), StrOptions({"auto"})],
    }

    def __init__(self, X: Any, y: Any, sample_weight: Any, sample_size: int, max_bins: int | str) -> None:
        self.X, self.y, self.sample_weight = X, y, sample_weight
        self.sample_size, self.max_bins = sample_size, max_bins
        settings = {name: getattr(self, name) for name in self._constraints}
        validate_parameter_constraints(self._constraints, settings, type(self).__name__)

    @abstractmethod
    def _opened(self, n_jobs: int | None, *, is_light: bool) -> AbstractContextManager[tuple[Executor, States]]:
        """Return what applies functions to the blocks, and the blocks.

        `is_light` says that what is applied to blocks of plain arrays needs no scikit-learn.
        """

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(
            f"{type(self).__name__} cannot be divided by samples, so there is no cross-validation of it: hold samples "
            "out when you describe the data, such as skecoc.data.Blocks(X[:n], y[:n])"
        )

    # What scikit-learn asks of samples that it divides.
    __len__ = __getitem__ = _refuse

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(
            f"{type(self).__name__} cannot become an array: only the fit of skecoc's classifiers takes it; fit what "
            "prepares samples, such as the steps of a pipeline, on arrays"
        )

    def __bool__(self) -> bool:
        return True


class Blocks(DescribedData):
    """Samples in memory-mapped arrays, or in blocks that an iterable yields, which need not fit into memory.

    An estimator's `fit` takes it in place of ``X`` and ``y``. Samples are read twice, block by block: first to find the
    labels, the values of features and a sample of the rows, then to bin every feature. After that, only the bin numbers
    are read from temporary files. Boosted stumps are trained on all rows, from sums over blocks that depend neither on
    the blocks nor on the order of the rows; other learners are trained in memory on a sample of the rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features) or iterable of (X, y) or (X, y, sample_weight)
        Finite numbers: a NumPy array, possibly memory-mapped, or another object with a shape whose slices are arrays,
        such as an HDF5 or Zarr data set. Or, if `y` is None, blocks of any size; a block may be empty and need not
        contain all classes. An iterable is read twice, so it must be a list or another object that can be iterated over
        several times, not an iterator.
    y : array of shape (n_samples,), default=None
        Class labels; None if `X` is an iterable of blocks.
    sample_weight : array of shape (n_samples,), default=None
        Weights of the samples. Samples of weight zero are dropped, so a class with no other samples is not in
        `classes_`. Other weights must be between 1e-60 and 1e60; weights below 1e-9 of the largest are raised to that.
    block_size : int, default=None
        Number of rows per block of arrays; None means about 16 MB of features.
    directory : str or path-like, default=None
        Directory for temporary files with the binned rows during the fit. It should not be a file system in memory.
        None uses the default of the system.
    sample_size : int, default=32768
        Number of distinct rows of the sample for learners other than boosted stumps, in addition to 64 rows of every
        class.
    max_bins : int or "auto", default="auto"
        Maximum number of bins of a feature, at most 65,536. A feature with at most this many distinct values has one
        bin per value, and its stumps are exact. "auto" means 256 for more than 10,000 rows, as in memory; up to 10,000
        rows are collected in memory and have all thresholds.

    Notes
    -----
    The sample consists of the 32,768 distinct rows, and the 64 rows of each class, whose features have the smallest
    hashes, so it does not depend on the blocks; it contains all rows if there are no more. With a larger `sample_size`,
    the sample is larger; with a smaller one, learners are trained on a part of it. If the learner supports sample
    weights, sampled rows are weighted such that every class has its share in all rows. The fitted attribute
    `training_samples_` says how many rows each learner was trained on.

    Unless `max_bins` is given, the fitted stumps are exactly those of the same rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.data import Blocks
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("vehicle", return_X_y=True)
    >>> model = ECOCClassifier(random_state=0).fit(Blocks(X, y, block_size=100))
    >>> other = ECOCClassifier(random_state=0).fit(Blocks([(X[:500], y[:500]), (X[500:], y[500:])]))
    >>> bool(np.array_equal(model.decision_function(X), other.decision_function(X)))
    True
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **DescribedData._constraints,
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "directory": [str, PathLike, None],
    }

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        block_size: int | None = None,
        directory: Any = None,
        sample_size: int = SAMPLE_ROWS,
        max_bins: int | str = "auto",
    ) -> None:
        self.block_size, self.directory = block_size, directory
        super().__init__(X, y, sample_weight, sample_size, max_bins)
        if y is None:
            if sample_weight is not None or block_size is not None or hasattr(X, "shape"):
                raise ValueError("y must be given, unless X is an iterable of blocks (X, y) or (X, y, sample_weight)")
            self._source: Any = IterableBlocks(X)
            return
        refuse_multilabel(y)
        X, y, weight = (a if a is None or hasattr(a, "shape") else np.asarray(a) for a in (X, y, sample_weight))
        if len(y.shape) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._source = ArrayBlocks(X, y, weight, block_size)

    @contextmanager
    def _opened(self, n_jobs: int | None, *, is_light: bool = False) -> Iterator[tuple[Executor, States]]:
        """Return what applies functions to the blocks, and the blocks."""
        del is_light
        with LocalExecutor(self.directory, n_jobs) as executor:
            yield executor, States(self._source)


class Partitions(DescribedData):
    """Samples in the partitions of a Dask cluster.

    An estimator's `fit` takes it in place of ``X`` and ``y``; Dask collections that are given to `fit` as they are
    become one. Samples stay on the workers, and are read twice; if reading is expensive and there is enough memory,
    call ``X.persist()`` first. The fit is that of `Blocks`, on the cluster.

    Parameters
    ----------
    X : dask array of shape (n_samples, n_features) or dask DataFrame
        Finite numbers, divided by rows into partitions that fit into the memory of a worker. Partitions may be empty.
    y : dask array of shape (n_samples,) or dask Series
        Class labels. A partition need not contain all classes.
    sample_weight : dask array of shape (n_samples,) or dask Series, default=None
        Weights of the samples, as in `Blocks`.
    client : distributed.Client, default=None
        Client of the cluster; None uses the most recent client.
    sample_size : int, default=32768
        Number of distinct rows of the sample for learners other than boosted stumps, which are trained in the process
        that calls `fit`; see `Blocks`.
    max_bins : int or "auto", default="auto"
        Maximum number of bins of a feature; see `Blocks`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.data import Partitions
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = ECOCClassifier(random_state=0).fit(Partitions(X, y, client=client))
    ...     bool((model.predict(X) == y).mean().compute() > 0.95)
    True
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        client: Any = None,
        sample_size: int = SAMPLE_ROWS,
        max_bins: int | str = "auto",
    ) -> None:
        super().__init__(X, y, sample_weight, sample_size, max_bins)
        self.client = client
        if y is None:
            raise ValueError("y must be given, got None")
        refuse_multilabel(y)

    @contextmanager
    def _opened(self, n_jobs: int | None, *, is_light: bool = False) -> Iterator[tuple[Executor, States]]:
        """Return what applies functions to the partitions, and the partitions."""
        import_extra("distributed", "dask", "fitting samples in partitions")
        from skecoc.data.partitions import DaskExecutor, connected, source_of
        from skecoc.data.worker_memory import check_workers

        del n_jobs
        client = connected(self.client)
        source = source_of(self.X, self.y, self.sample_weight)
        with DaskExecutor(client) as executor:
            check_workers(executor.workers(), self.X, self.sample_size, is_light=is_light)
            yield executor, source


def is_dask(X: Any) -> bool:
    """Tell whether something is a Dask collection."""
    return "dask" in sys.modules and bool(sys.modules["dask"].is_dask_collection(X))


def refuse_data(estimator: Any, where_taken: str = "", /, **given: Any) -> None:
    """Refuse data that are not in memory, by name; `where_taken` has the methods of the estimator that take them."""
    for name, data in given.items():
        if not isinstance(data, DescribedData) and not is_dask(data):
            continue
        hint = f"call {name}.compute()" if is_dask(data) else "pass arrays, such as a part of the samples"
        kind = type(estimator).__name__
        raise ValueError(
            f"{name} must be in memory, got {type(data).__name__}: {hint}"
            + (f"; {kind} takes other data in {where_taken}" if where_taken else f"; {kind} takes no other data")
        )


def described(estimator: Any, X: Any, y: Any, sample_weight: Any) -> DescribedData | None:
    """Return the described data that `fit` was given, as such or as Dask collections; None for data in memory."""
    if isinstance(X, DescribedData):
        if y is not None or sample_weight is not None:
            raise ValueError(f"y and sample_weight must be given to {type(X).__name__}, not to fit")
        return X
    if not any(map(is_dask, (X, y, sample_weight))):
        return None
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    return Partitions(X, y, sample_weight=sample_weight)
