"""Classifiers for Dask arrays and frames: rows stay with the workers, and only small sums travel.

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
            Finite numbers, divided by rows into partitions that each fit into a worker's memory. Some may be empty.
            They are read twice; where that is expensive and memory suffices, call ``X.persist()`` first.
        y : dask array of shape (n_samples,) or dask Series
            Class labels, at least two classes. A partition may lack some.
        sample_weight : dask array of shape (n_samples,) or dask Series, default=None
            Weights of the samples; None means 1 each. Samples of weight zero are dropped: a class that has no others is
            not among `classes_`. Others must be from 1e-60 to 1e60.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If collections are not divided alike, hold values that cannot be used, or there is no client.
        MemoryError
            If a worker's memory limit is below what the largest partition takes, before anything is computed (a warning
            says if the limit may be too little); or if workers die one after the other, or are all paused.
        ConnectionError
            If the scheduler is lost.
        Exception
            What a partition raises when it is read. Here and if its values cannot be used, the message or a note says
            which one, counted from 0 as in ``X.partitions``. Whatever is raised, an earlier fit stays as it was.
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
                    "client is None and there is no Dask client: make one by distributed.Client(), or give one"
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
            What decisions cost: a row for each true class, a column for each decision, in the order of `classes_`; or
            by label, as in `skecoc.CostSensitiveClassifier`. The class of least expected cost is predicted then.
        reject : float, default=None
            Leave samples undecided whose largest probability is less than this, or, with a `cost_matrix`, whose least
            expected cost is more.
        reject_label : object, default="auto"
            What is returned for these: "auto" means "reject" if classes are strings and -1 if they are numbers.

        Returns
        -------
        dask array, dask Series or ndarray of shape (n_samples,)
            Class labels; of a Dask collection, not computed yet.
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
            Probabilities; of a Dask collection, not computed yet.
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
            Scores; of a Dask collection, not computed yet. With two classes, the second class's minus the first's.
        """
        return self._mapped("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : dask collection, or array-like, of shape (n_samples, n_features)
            Rows.
        y : dask collection, or array-like, of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; only for rows in memory.

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

    Rows may exceed the memory of any worker. They are coded once where they are; all columns are then boosted together
    from histograms, which are summed on the cluster. The result is the same, bit for bit, however rows are divided
    into partitions, and it is that of `skecoc.blocks.BlockECOCClassifier` on one machine (with ``"optimized-weight"``
    decoding, up to the rounding of sums).

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, or several of them, as in `skecoc.ECOCClassifier`. None stands for
        ``StumpAdaBoostClassifier(n_estimators=40)``. Boosted stumps are trained from all rows. Other learners are
        trained in the process that calls `fit` from the sample, and so are the weights of their codes.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        As in `ECOCClassifier`. Codings that read the rows, such as ``"decoc"``, are given a sample.
    decoding : str or decoder, default="auto"
        As in `ECOCClassifier`. Loss weights and optimised weights (with positive `l2`) are fitted to all rows, other
        decodings that learn, such as ``"probabilistic"``, to a sample.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels; "auto" takes the first of these
        that the learner has.
    max_bins : int or "auto", default="auto"
        Largest number of bins of a feature, at most 65,536. A feature with at most so many distinct values has a bin
        for each, and its stumps are exact; others have bins of about equally many rows, and only thresholds between
        bins are tried. "auto" means 256 with more than 10,000 rows, as in memory. Up to so many are put together and
        trained on with all thresholds by `ECOCClassifier` itself.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and the choice of the sample.
    client : distributed.Client, default=None
        The cluster; None takes the client that was made last.
    sample_size : int, default=32768
        Number of rows of the sample that learners other than boosted stumps are trained on; see
        `skecoc.blocks.BlockECOCClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by their labels; classes without one count 1. They are multiplied into `sample_weight`
        and so reach learners, decoding weights, growth and probabilities alike. "balanced" gives every class the same
        total weight, for which samples are read once more; a class of weight zero is left out.
    classes : array-like of shape (n_classes,), default=None
        The class labels in their order, for an ordinal code; None stands for the order of the sorted labels.
    max_columns : int, default=None
        Largest number of columns, as in `skecoc.ECOCClassifier`.

    Attributes
    ----------
    model_ : ECOCClassifier
        The fitted classifier for samples in memory; `to_local` returns it. Its fitted attributes (`classes_`,
        `code_matrix_`, `estimators_`, `decoder_`, `temperature_`, `n_features_in_` ...) are also attributes of this
        one.
    training_samples_ : dict of str to int
        Number of rows that each learner was trained on, by the names of `column_learners_`: all rows or the sample.

    See Also
    --------
    skecoc.blocks.BlockECOCClassifier : The same on one machine, out of core.

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
        coding: Any = "auto",
        decoding: Any = "auto",
        response_method: str = "auto",
        max_bins: int | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        client: distributed.Client | None = None,
        sample_size: int = SAMPLE_ROWS,
        class_weight: ClassWeight = None,
        classes: Any = None,
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
        self.classes = classes
        self.max_columns = max_columns

    def _is_light(self) -> bool:
        is_auto = is_named(self.decoding, "auto")
        return is_auto or not isinstance(resolve_decoder(self.decoding), OptimizedWeightDecoder)


class DaskWOLCClassifier(DaskMixin, BlockwiseWOLC):
    """`skecoc.WOLCClassifier`, fitted on Dask arrays and frames.

    Rows stay where they are, as with `DaskECOCClassifier`. Growth is that of `skecoc.WOLCClassifier`, folds included:
    columns come from histograms that are summed on the cluster, and so do the losses that growth is judged by.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, or several of them, as in `skecoc.WOLCClassifier`. None stands for
        ``StumpAdaBoostClassifier(n_estimators=40)``. Boosted stumps are trained from all rows. Other learners are
        trained in the process that calls `fit` from the sample; codes with such learners grow, and their weights are
        fitted, on the sample.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The code to start from, as in `skecoc.WOLCClassifier`; codings that read the rows are given a sample.
    n_pairs : int, default=None
        Largest number of columns that a round adds, one per hard pair of classes.
    max_iter : int, default=None
        Largest number of rounds that add columns.
    max_columns : int or "auto", default=None
        Largest number of columns.
    tol : float, default=0.0
        Relative tolerance: by which share of the loss a round must be better than the best one to make progress.
    standard_errors : float, default=2.0
        Significance threshold: by how many standard errors the kept round must be better than the first one.
    patience : int, default=6
        Growth stops after this many rounds in a row without progress.
    n_regions : int, array-like of int or "auto", default="auto"
        Numbers of regions of clustering-based columns, at most 255.
    validation_fraction : float, default="deprecated"
        Has no effect: out-of-fold codewords have taken the place of samples that were held out.
    margin : float or "auto", default="auto"
        The margin of the optimised weights, positive; see `skecoc.WOLCClassifier`.
    l2 : float or "auto", default="auto"
        The penalty of the optimised weights, positive; see `skecoc.WOLCClassifier`.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels; "auto" takes the first of these
        that the learner has.
    max_bins : int or "auto", default="auto"
        Largest number of bins of a feature, at most 65,536; see `DaskECOCClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, the sample, folds and clusterings.
    verbose : int, default=0
        Above zero, one line is printed per round.
    client : distributed.Client, default=None
        The cluster; None takes the client that was made last.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords; None does without. These parameters are those of
        `skecoc.WOLCClassifier`, which says more about them.
    allow_equal_weights : bool, default=True
        Whether pooled weights may stay in place of optimised ones; see `skecoc.WOLCClassifier`.
    sample_size : int, default=32768
        Number of rows of the sample that learners other than boosted stumps are trained on; see
        `skecoc.blocks.BlockWOLCClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by their labels; classes without one count 1. They are multiplied into `sample_weight`
        and so reach learners, decoding weights, growth and probabilities alike. "balanced" gives every class the same
        total weight, for which samples are read once more; a class of weight zero is left out.
    classes : array-like of shape (n_classes,), default=None
        The class labels in their order, for an ordinal code; None stands for the order of the sorted labels.

    Attributes
    ----------
    model_ : WOLCClassifier
        The fitted classifier for samples in memory; `to_local` returns it. Its fitted attributes (`classes_`,
        `code_matrix_`, `estimators_`, `decoder_`, `history_`, `best_round_` ...) are also attributes of this one.
    training_samples_ : dict of str to int
        Number of rows that each learner was trained on, by the names of `column_learners_`: all rows or the sample.

    See Also
    --------
    skecoc.blocks.BlockWOLCClassifier : The same on one machine, out of core.

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
        init: Any = "auto",
        n_pairs: int | None = None,
        max_iter: int | None = None,
        max_columns: int | str | None = None,
        tol: float = 0.0,
        standard_errors: float = 2.0,
        patience: int = 6,
        n_regions: Any = "auto",
        validation_fraction: float | str = "deprecated",
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
        classes: Any = None,
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
        self.random_state = random_state
        self.verbose = verbose
        self.client = client
        self.n_folds = n_folds
        self.allow_equal_weights = allow_equal_weights
        self.sample_size = sample_size
        self.class_weight = class_weight
        self.classes = classes
