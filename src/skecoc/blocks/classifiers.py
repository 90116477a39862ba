"""Classifiers for rows that come in blocks: out of core on one machine."""

from collections.abc import Iterable
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval

from skecoc.blocks.executor import Blocks, LocalExecutor
from skecoc.blocks.fitting import ECOCFit, WOLCFit
from skecoc.blocks.rows import ArrayBlocks, IterableBlocks
from skecoc.learners import StumpAdaBoostClassifier


class LocalBlocksMixin:
    """Fit from arrays, from memory-mapped arrays, or from any blocks that can be read again, on this machine."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "directory": [str, PathLike, None],
        "n_jobs": [Integral, None],
    }

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from arrays, which need not fit into memory.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite numbers: a NumPy array, also a memory-mapped one, or anything else that has a shape and gives arrays
            when it is sliced, such as an HDF5 or Zarr data set. It is read twice, block by block.
        y : array of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows; None means 1 each.

        Returns
        -------
        self
            The fitted classifier.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y, weight = (a if a is None or hasattr(a, "shape") else np.asarray(a) for a in (X, y, sample_weight))
        if len(y.shape) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        block_size = cast("int | None", self.block_size)  # type: ignore[attr-defined]
        return self.fit_blocks(ArrayBlocks(X, y, weight, block_size))

    def fit_blocks(self, blocks: Iterable[Any]) -> Self:
        """Fit from blocks of rows.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight)
            Blocks of any size, also empty ones or ones that lack classes. It is read twice, so it must be a list, or
            an object whose ``__iter__`` starts afresh, and not an iterator.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()  # type: ignore[attr-defined]
        with LocalExecutor(self.directory, self.n_jobs) as executor:  # type: ignore[attr-defined]
            return self._fit_source(executor, Blocks(IterableBlocks(blocks)))  # type: ignore[attr-defined]


class BlockECOCClassifier(LocalBlocksMixin, ECOCFit):
    """`ECOCClassifier` with boosted stumps for rows that need not fit into memory.

    Rows are read twice, block by block: once to find labels, the values of features and a sample of rows, and once to
    replace every value by a small integer. After that only these codes are read, from files, one block at a time.
    All columns are boosted together, one pass per round, from histograms that are summed over blocks as integers: the
    result does not depend on how rows are divided into blocks, nor on their order.

    Parameters
    ----------
    estimator : StumpAdaBoostClassifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-one"
        As in `ECOCClassifier`. Codings that read the rows, such as ``"decoc"``, are given the sample.
    decoding : str or decoder, default="loss-weighted"
        As in `ECOCClassifier`. Loss weights and optimised weights (with positive `l2`) are fitted to all rows, other
        decodings that learn, such as ``"probabilistic"``, to the sample.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        How learners answer: by probabilities, margins or hard labels; "auto" means probabilities.
    max_bins : int, default=256
        Largest number of bins of a feature, at most 65,536. A feature with at most so many distinct values has a bin
        for each, and its stumps are exact; others have bins of about equally many rows, and only thresholds between
        bins are tried.
    block_size : int, default=None
        Rows of a block that `fit` takes at a time; None takes about 16 MB of features.
    directory : str or path-like, default=None
        Where the codes and weights of rows are kept during the fit, in a temporary folder. It should not be a file
        system in memory. None leaves that to the system.
    n_jobs : int, default=None
        Number of blocks at the same time, in threads. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and the choice of the sample.

    Attributes
    ----------
    model_ : ECOCClassifier
        The fitted classifier of rows in memory, which predicts; `to_local` returns it. Its fitted attributes
        (`classes_`, `code_matrix_`, `estimators_`, `decoder_`, `temperature_`, `n_features_in_` ...) are also
        attributes of this one.

    See Also
    --------
    skecoc.ECOCClassifier : For rows in memory, and any learner.
    skecoc.dask.DaskECOCClassifier : The same on a cluster.

    Notes
    -----
    The sample holds the 32,768 distinct rows, and of each class the 64, whose features have the smallest hashes: so it
    is the same whatever the blocks, and it is all rows if there are no more.

    Where every feature has at most `max_bins` distinct values, the learners are those of `ECOCClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc.blocks import BlockECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("vehicle", return_X_y=True)
    >>> model = BlockECOCClassifier(block_size=100, random_state=0).fit(X, y)
    >>> other = BlockECOCClassifier(random_state=0).fit_blocks([(X[:500], y[:500]), (X[500:], y[500:])])
    >>> bool(np.array_equal(model.decision_function(X), other.decision_function(X)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ECOCFit._parameter_constraints,
        **LocalBlocksMixin._parameter_constraints,
    }

    def __init__(
        self,
        estimator: StumpAdaBoostClassifier | None = None,
        coding: Any = "one-vs-one",
        decoding: Any = "loss-weighted",
        response_method: str = "auto",
        max_bins: int = 256,
        block_size: int | None = None,
        directory: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.coding = coding
        self.decoding = decoding
        self.response_method = response_method
        self.max_bins = max_bins
        self.block_size = block_size
        self.directory = directory
        self.n_jobs = n_jobs
        self.random_state = random_state


class BlockWOLCClassifier(LocalBlocksMixin, WOLCFit):
    """`WOLCClassifier` with boosted stumps for rows that need not fit into memory.

    Rows are treated as by `BlockECOCClassifier`. A part of them, chosen by a hash of their features, is held out of
    all training: optimised weights are fitted to the answers that these rows get, and growth is judged by them. That
    takes the place of the folds of `WOLCClassifier`, which train every column several times.

    Parameters
    ----------
    estimator : StumpAdaBoostClassifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-rest"
        The code to start from: what `BlockECOCClassifier` takes as `coding`.
    n_pairs : int, default=3
        Largest number of columns that a round adds, one per hard pair of classes.
    max_iter : int, default=None
        Largest number of rounds that add columns; None stands for three times the number of classes.
    max_columns : int, default=None
        Largest number of columns.
    tol : float, default=0.02
        The price of a round: it makes progress if it lowers the loss of the rows held out by more than this share.
    standard_errors : float, default=2.0
        The proof of a round: to make progress it must also lower the loss by more than this many standard errors of
        the difference, taken row by row.
    patience : int, default=2
        Growth stops after this many rounds in a row without progress.
    n_regions : int, default=3
        Number of regions of a clustering-based column.
    validation_fraction : float, default=0.1
        Share of the rows that is held out. Of every class at least one distinct row is held out and one is not; the
        rows of a class that are all equal are both trained on and held out.
    margin : float, default=0.3
        The margin of the optimised weights, positive; see `WOLCClassifier`.
    l2 : float or "auto", default="auto"
        The penalty of the optimised weights, positive; "auto" is 0.1 for up to 1000 rows held out, and 100 divided by
        their number (the sum of their weights) for more.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        How learners answer: by probabilities, margins or hard labels; "auto" means probabilities.
    max_bins : int, default=256
        Largest number of bins of a feature, at most 65,536; see `BlockECOCClassifier`.
    block_size : int, default=None
        Rows of a block that `fit` takes at a time; None takes about 16 MB of features.
    directory : str or path-like, default=None
        Where the codes and weights of rows are kept during the fit.
    n_jobs : int, default=None
        Number of blocks at the same time, in threads. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, the sample, the rows held out, and clusterings.
    verbose : int, default=0
        Above zero, one line is printed per round.

    Attributes
    ----------
    model_ : WOLCClassifier
        The fitted classifier of rows in memory, which predicts; `to_local` returns it. Its fitted attributes
        (`classes_`, `code_matrix_`, `estimators_`, `decoder_`, `history_`, `best_round_` ...) are also attributes of
        this one.

    See Also
    --------
    skecoc.WOLCClassifier : For rows in memory, and any learner.
    skecoc.dask.DaskWOLCClassifier : The same on a cluster.

    Notes
    -----
    All sums but those of the optimised weights are sums of integers. Those depend on how rows are divided into blocks
    by the rounding of floating-point sums alone.

    Clusterings see a row as the middles of its bins, which are its values where bins are exact.

    Examples
    --------
    >>> from skecoc.blocks import BlockWOLCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("segmentation", return_X_y=True)
    >>> model = BlockWOLCClassifier(block_size=500, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WOLCFit._parameter_constraints,
        **LocalBlocksMixin._parameter_constraints,
    }

    def __init__(
        self,
        estimator: StumpAdaBoostClassifier | None = None,
        init: Any = "one-vs-rest",
        n_pairs: int = 3,
        max_iter: int | None = None,
        max_columns: int | None = None,
        tol: float = 0.02,
        standard_errors: float = 2.0,
        patience: int = 2,
        n_regions: int = 3,
        validation_fraction: float = 0.1,
        margin: float = 0.3,
        l2: float | str = "auto",
        response_method: str = "auto",
        max_bins: int = 256,
        block_size: int | None = None,
        directory: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.init = init
        self.n_pairs = n_pairs
        self.max_iter = max_iter
        self.max_columns = max_columns
        self.tol = tol
        self.standard_errors = standard_errors
        self.patience = patience
        self.n_regions = n_regions
        self.validation_fraction = validation_fraction
        self.margin = margin
        self.l2 = l2
        self.response_method = response_method
        self.max_bins = max_bins
        self.block_size = block_size
        self.directory = directory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
