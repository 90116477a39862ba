"""Classifiers for Dask arrays and frames: rows stay on the workers, and only small sums are sent.

They need ``dask[array,dataframe]`` and ``distributed``.
"""

from typing import Any, ClassVar, Self

import dask.array as da
import distributed
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import dask
from skecoc.blocks.classifiers import BlockwiseECOC, BlockwiseWOLC
from skecoc.blocks.memory import check_workers
from skecoc.blocks.partitions import DaskExecutor, is_dask, merged, source_of
from skecoc.blocks.rows import RawBlock, check_features
from skecoc.classifiers.costs import AUTO_LABEL, make_rule
from skecoc.decoding import OptimizedWeightDecoder, resolve_decoder
from skecoc.learners.bins import SAMPLE_ROWS
from skecoc.support.errors import is_named, naming, refuse_multilabel
from skecoc.support.executor import add
from skecoc.support.weights import ClassWeight

__all__ = ["DaskECOCClassifier", "DaskWOLCClassifier"]


class DaskMixin:
    """Fit on Dask collections, and predict lazily."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on the workers of a cluster.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask DataFrame
            Finite numbers, divided by rows into partitions that fit into the memory of a worker. Partitions may be
            empty. They are read twice; if reading is expensive and there is enough memory, call ``X.persist()`` first.
        y : dask array of shape (n_samples,) or dask Series
            Class labels, at least two classes. A partition need not contain all classes.
        sample_weight : dask array of shape (n_samples,) or dask Series, default=None
            Weights of the samples; None means 1 each. Samples of weight zero are dropped, so a class with no other
            samples is not in `classes_`. Other weights must be between 1e-60 and 1e60.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If the collections are divided differently or contain invalid values, or if there is no client.
        MemoryError
            If the memory limit of a worker is too low for the largest partition; this is checked before anything is
            computed, with a warning if the limit may be too low. Also if workers die repeatedly or are all paused.
        ConnectionError
            If the scheduler is lost, or all workers are and none comes back.
        Exception
            Errors that are raised when a partition is read. For these and for invalid values, the message or a note
            contains the number of the partition, counted from 0 as in ``X.partitions``. If fitting fails, the
            classifier is unchanged.
        """
        self._validate_params()  # type: ignore[attr-defined]
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        client = self._connected()
        refuse_multilabel(y)
        source = source_of(X, y, sample_weight)
        with DaskExecutor(client) as executor:
            settings: Any = self
            check_workers(executor.workers(), X, settings.sample_size, is_light=settings._is_light())
            return self._fit_source(executor, source)  # type: ignore[attr-defined]

    def _is_light(self) -> bool:
        """Tell whether workers do without scikit-learn."""
        return False

    def __sklearn_clone__(self) -> Self:
        """Clone all parameters but the client, which cannot be copied and is shared."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        client = parameters.pop("client")
        copied = {name: clone(value, safe=False) for name, value in parameters.items()}
        make: Any = type(self)
        return make(**copied, client=client)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client out of what is pickled."""
        return {**super().__getstate__(), "client": None}  # type: ignore[dict-item]

    def _connected(self) -> distributed.Client:
        """Return the client."""
        client = self.client  # type: ignore[attr-defined]
        if client is not None:
            if client.status == "closed":
                raise ValueError("client must be connected to a cluster, got one that is closed")
        else:
            try:
                client = distributed.get_client()
            except ValueError as error:
                raise ValueError(
                    "client is None and there is no Dask client: create one by distributed.Client(), or pass one"
                ) from error
        if client.status == "connecting":
            raise ConnectionError(f"no connection to the Dask scheduler at {client.scheduler.address}: has it ended?")
        return client

    def predict(
        self, X: Any, *, cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
    ) -> Any:
        """Predict the class of each sample.

        Parameters
        ----------
        X : dask collection, or array-like, of shape (n_samples, n_features)
            Samples to classify.
        cost_matrix : array-like of shape (n_classes, n_classes), dict or frame, default=None
            Cost of each decision, with a row for each true class and a column for each predicted class, in the order of
            `classes_`; or given by label, as in `skecoc.CostSensitiveClassifier`. The class of lowest expected cost is
            predicted.
        reject : float, default=None
            Reject a sample if its largest probability is below this value or, with a `cost_matrix`, if its lowest
            expected cost is above it.
        reject_label : object, default="auto"
            Label returned for rejected samples; "auto" means "reject" if the classes are strings and -1 if they are
            numbers.

        Returns
        -------
        dask array, dask Series or ndarray of shape (n_samples,)
            Class labels; lazy for a Dask collection.
        """
        options = {"cost_matrix": cost_matrix, "reject": reject, "reject_label": reject_label}
        return self._mapped("predict", X, options)

    def predict_proba(self, X: Any) -> Any:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : dask collection, or array-like, of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        dask array, dask DataFrame or ndarray of shape (n_samples, n_classes)
            Probabilities; lazy for a Dask collection.
        """
        return self._mapped("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Score every class for every sample; higher is better.

        Parameters
        ----------
        X : dask collection, or array-like, of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        dask array, dask frame or ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores; lazy for a Dask collection. With two classes, the score of the second class minus that of the first.
        """
        return self._mapped("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : dask collection, or array-like, of shape (n_samples, n_features)
            Test samples.
        y : dask collection, or array-like, of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; only for samples in memory.

        Returns
        -------
        float
            Accuracy.
        """
        if not is_dask(X):
            return float(self.to_local().score(X, y, sample_weight))  # type: ignore[attr-defined]
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for Dask collections")
        model = dask.delayed(self.to_local(), traverse=False)  # type: ignore[attr-defined]
        count = dask.delayed(_count_correct, pure=False, traverse=False)
        counts = [count(block, model) for block in source_of(X, y).handles]
        sums = merged(add, counts)
        no_client = self.client is None  # type: ignore[attr-defined]
        right, total = sums.compute() if no_client else self._connected().compute(sums).result()
        if total == 0:
            raise ValueError("X must have at least one row, got none")
        return float(right / total)

    def _mapped(self, method: str, X: Any, options: dict[str, Any] | None = None) -> Any:
        """Call a method of the fitted classifier for the rows, or lazily for each partition."""
        if not is_dask(X):
            return getattr(self._local_for(X), method)(X, **(options or {}))  # type: ignore[attr-defined]
        model = self.to_local()  # type: ignore[attr-defined]
        _check_width(X, model.n_features_in_)
        example = _evaluate_part(np.empty((0, model.n_features_in_)), model, method, options)
        shared = dask.delayed(model, traverse=False)
        if not isinstance(X, da.Array):
            meta = _labelled(example, X._meta.index[:0], model)
            return X.map_partitions(_evaluate_frame, shared, method, options, meta=meta)
        rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        task = (_evaluate_part, shared, method, options)
        if example.ndim == 1:
            return rows.map_blocks(*task, drop_axis=1, dtype=example.dtype, meta=example)
        chunks = (rows.chunks[0], (example.shape[1],))
        return rows.map_blocks(*task, chunks=chunks, dtype=example.dtype, meta=example)


def _check_width(X: Any, n_features: int) -> None:
    """Check that a collection is two-dimensional and has as many features as the model, if their number is known."""
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got {X.ndim} dimension(s)")
    width = X.shape[1]
    if not np.isnan(width) and width != n_features:
        raise ValueError(f"X must have {n_features} features, as in fit; got {width}")


def _evaluate_part(X: Any, model: Any, method: str, options: dict[str, Any] | None = None) -> NDArray[Any]:
    """Call a method of a fitted classifier for the rows of a partition, which may be empty."""
    if len(X):
        check_features(X)
        outputs: NDArray[Any] = getattr(model, method)(X, **(options or {}))
        return outputs
    if method == "predict":
        return make_rule(model.classes_, **(options or {})).labels[:0]
    wide = method == "predict_proba" or len(model.classes_) > 2
    return np.empty((0, len(model.classes_)) if wide else 0)


def _evaluate_frame(X: Any, model: Any, method: str, options: dict[str, Any] | None = None) -> Any:
    """Call a method of a fitted classifier for the rows of a frame, and keep their index."""
    return _labelled(_evaluate_part(X, model, method, options), X.index, model)


def _labelled(outputs: NDArray[Any], index: Any, model: Any) -> Any:
    """Make a Series of one value per row, or a DataFrame with a column per class."""
    import pandas as pd

    if outputs.ndim == 1:
        return pd.Series(outputs, index=index, dtype=_series_type(outputs, model.classes_))
    return pd.DataFrame(outputs, index=index, columns=model.classes_)


def _series_type(outputs: NDArray[Any], classes: NDArray[Any]) -> Any:
    """Return the type of a Series of outputs: that of strings for labels which are, also if there are no rows."""
    import pandas as pd

    labels = [*classes, *outputs[:1000]]  # a label of samples that are left undecided may be of another type
    is_text = outputs.dtype.kind in "OU" and all(isinstance(label, str) for label in labels)
    return pd.StringDtype() if is_text else outputs.dtype


def _count_correct(block: RawBlock, model: Any) -> tuple[int, int]:
    """Count the rows of a partition that are classified correctly, and all of them."""
    with naming(block.place):
        y = np.asarray(block.y)
        return int((_evaluate_part(block.X, model, "predict") == y).sum()), len(y)


class DaskECOCClassifier(DaskMixin, BlockwiseECOC):
    """`skecoc.ECOCClassifier`, fitted on Dask arrays and frames.

    The data may exceed the memory of any worker. Features are binned once on the workers; all columns are then boosted
    together from histograms that are summed on the cluster. The result does not depend on how rows are divided into
    partitions, and is exactly that of `skecoc.blocks.BlockECOCClassifier` on one machine (with ``"optimized-weight"``
    decoding, up to rounding).

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner or learners, as in `skecoc.ECOCClassifier`; None means
        ``StumpAdaBoostClassifier(n_estimators=40)``. Boosted stumps are trained on all rows. Other learners are trained
        on a sample of the rows, in the process that calls `fit`, and so are the decoding weights of their codes.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        As in `skecoc.ECOCClassifier`. Codings that depend on the data, such as ``"decoc"``, use the sample.
    decoding : str or decoder, default="auto"
        As in `skecoc.ECOCClassifier`. ``"loss-weighted"`` and ``"optimized-weight"`` (with positive `l2`) are fitted to
        all rows, other decodings, such as ``"probabilistic"``, to the sample.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels. "auto" uses the first of these
        methods that the learner has.
    max_bins : int or "auto", default="auto"
        Maximum number of bins of a feature, at most 65,536. A feature with at most this many distinct values has one
        bin per value, and its stumps are exact; other features have bins with about the same number of rows, and only
        thresholds between bins are tried. "auto" means 256 for more than 10,000 rows, as in memory. Up to 10,000 rows
        are collected in memory and `ECOCClassifier` is fitted to them, with all thresholds.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and the choice of the sample.
    client : distributed.Client, default=None
        Client of the cluster; None uses the most recent client.
    sample_size : int, default=32768
        Number of rows of the sample for learners other than boosted stumps; see
        `skecoc.blocks.BlockECOCClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``; classes that are not listed have weight 1. They are multiplied
        with `sample_weight`, so they apply to the learners, the decoding and the probabilities. "balanced" gives every
        class the same total weight; the data are then read once more. A class of weight zero is dropped.
    class_order : array-like of shape (n_classes,), default=None
        The class labels in their natural order, for an ordinal code; None uses sorted order. Other codes refuse it.
    max_columns : int, default=None
        Maximum number of columns, as in `skecoc.ECOCClassifier`.

    Attributes
    ----------
    model_ : ECOCClassifier
        The fitted classifier for samples in memory, as returned by `to_local`. Its fitted attributes (`classes_`,
        `n_classes_`, `code_matrix_`, `estimators_`, `decoder_`, `temperature_`, `n_features_in_`, ...) are also
        attributes of this classifier.
    training_samples_ : dict of str to int
        Number of rows that each learner was trained on (all rows or the sample), by the names in `column_learners_`.

    See Also
    --------
    skecoc.blocks.BlockECOCClassifier : Out-of-core data on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from skecoc.dask import DaskECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = DaskECOCClassifier(random_state=0).fit(X, y)
    ...     model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseECOC._parameter_constraints,
        "client": [distributed.Client, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        coding: Any = "auto",
        decoding: Any = "auto",
        response_method: str = "auto",
        max_bins: int | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        client: distributed.Client | None = None,
        sample_size: int = SAMPLE_ROWS,
        class_weight: ClassWeight = None,
        class_order: Any = None,
        max_columns: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coding = coding
        self.decoding = decoding
        self.response_method = response_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.client = client
        self.sample_size = sample_size
        self.class_weight = class_weight
        self.class_order = class_order
        self.max_columns = max_columns

    def _is_light(self) -> bool:
        is_auto = is_named(self.decoding, "auto")
        return is_auto or not isinstance(resolve_decoder(self.decoding), OptimizedWeightDecoder)


class DaskWOLCClassifier(DaskMixin, BlockwiseWOLC):
    """`skecoc.WOLCClassifier`, fitted on Dask arrays and frames.

    Rows stay on the workers, as with `DaskECOCClassifier`. Growth, including folds, is the same as in
    `skecoc.WOLCClassifier`: columns are trained from histograms that are summed on the cluster, and losses are summed
    in the same way.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner or learners, as in `skecoc.WOLCClassifier`; None means
        ``StumpAdaBoostClassifier(n_estimators=40)``. Boosted stumps are trained on all rows. Other learners are trained
        on a sample of the rows, in the process that calls `fit`; their codes are grown and weighted on the sample.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The initial code, as in `skecoc.WOLCClassifier`. Codings that depend on the data use the sample.
    n_pairs : int, default=None
        Maximum number of columns added per round, one per hard pair of classes.
    max_iter : int, default=None
        Maximum number of rounds that add columns.
    max_columns : int or "auto", default=None
        Maximum number of columns.
    tol : float, default=0.0
        Relative tolerance: fraction by which a round must lower the loss of the best round to make progress.
    standard_errors : float, default=2.0
        Significance threshold: number of standard errors by which the kept round must be better than the first.
    patience : int, default=6
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, array-like of int or "auto", default="auto"
        Numbers of regions of clustering-based columns, at most 255.
    margin : float or "auto", default="auto"
        The margin of the optimised weights, positive; see `skecoc.WOLCClassifier`.
    l2 : float or "auto", default="auto"
        The penalty of the optimised weights, positive; see `skecoc.WOLCClassifier`.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels. "auto" uses the first of these
        methods that the learner has.
    max_bins : int or "auto", default="auto"
        Maximum number of bins of a feature, at most 65,536; see `DaskECOCClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, the sample, folds and clusterings.
    verbose : int, default=0
        If positive, one line is printed per round.
    client : distributed.Client, default=None
        Client of the cluster; None uses the most recent client.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords; None uses no folds. See `skecoc.WOLCClassifier` for details of
        this and the other parameters of growth.
    allow_equal_weights : bool, default=True
        Whether pooled weights may be kept instead of optimised ones; see `skecoc.WOLCClassifier`.
    sample_size : int, default=32768
        Number of rows of the sample for learners other than boosted stumps; see
        `skecoc.blocks.BlockWOLCClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``; classes that are not listed have weight 1. They are multiplied
        with `sample_weight`, so they apply to the learners, the decoding and the probabilities. "balanced" gives every
        class the same total weight; the data are then read once more. A class of weight zero is dropped.
    class_order : array-like of shape (n_classes,), default=None
        The class labels in their natural order, for an ordinal code; None uses sorted order. Other codes refuse it.

    Attributes
    ----------
    model_ : WOLCClassifier
        The fitted classifier for samples in memory, as returned by `to_local`. Its fitted attributes (`classes_`,
        `n_classes_`, `code_matrix_`, `estimators_`, `decoder_`, `history_`, `best_round_`, ...) are also attributes of
        this classifier.
    training_samples_ : dict of str to int
        Number of rows that each learner was trained on (all rows or the sample), by the names in `column_learners_`.

    See Also
    --------
    skecoc.blocks.BlockWOLCClassifier : Out-of-core data on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from skecoc.dask import DaskWOLCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = DaskWOLCClassifier(random_state=0).fit(X, y)
    ...     model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseWOLC._parameter_constraints,
        "client": [distributed.Client, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        init: Any = "auto",
        n_pairs: int | None = None,
        max_iter: int | None = None,
        max_columns: int | str | None = None,
        tol: float = 0.0,
        standard_errors: float = 2.0,
        patience: int = 6,
        n_regions: Any = "auto",
        margin: float | str = "auto",
        l2: float | str = "auto",
        response_method: str = "auto",
        max_bins: int | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        client: distributed.Client | None = None,
        n_folds: int | str | None = "auto",
        allow_equal_weights: bool = True,
        sample_size: int = SAMPLE_ROWS,
        class_weight: ClassWeight = None,
        class_order: Any = None,
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
        self.margin = margin
        self.l2 = l2
        self.response_method = response_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.verbose = verbose
        self.client = client
        self.n_folds = n_folds
        self.allow_equal_weights = allow_equal_weights
        self.sample_size = sample_size
        self.class_weight = class_weight
        self.class_order = class_order
