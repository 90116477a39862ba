"""Classifiers for rows that come in blocks: out of core on one machine, and what those of a cluster share."""

from abc import abstractmethod
from collections.abc import Iterable
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc.blocks.bins import prepare_rows
from skecoc.blocks.outputs import CodedLearners, code_learners, count_correct, evaluate_coded, largest_output
from skecoc.blocks.rows import ArrayBlocks, IterableBlocks, check_features
from skecoc.blocks.sampled import fit_sampled
from skecoc.blocks.samples import BlockSamples
from skecoc.classifiers.base import LARGEST_SEED, BaseCodeClassifier
from skecoc.classifiers.costs import AUTO_LABEL
from skecoc.classifiers.ecoc import ECOCClassifier
from skecoc.classifiers.picture import draw_code
from skecoc.coding import resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import LossWeightedDecoder, OptimizedWeightDecoder
from skecoc.growth.weights import rows_for_weights
from skecoc.growth.wolc import WOLCClassifier, check_regions
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.bins import MANY_TO_BIN, SAMPLE_ROWS, code_values
from skecoc.learners.columns import Column, Floats, resolve_response
from skecoc.learners.composition import LearnerComposition, check_class_weights
from skecoc.learners.mixed import is_several
from skecoc.support.errors import refuse_lazy_frame, refuse_multilabel
from skecoc.support.executor import Blocks, Executor, LocalExecutor
from skecoc.support.weights import ClassWeight

# Numbers of regions are kept in a byte.
_MOST_REGIONS = 255


class BlockwiseClassifier(LearnerComposition, ClassifierMixin, BaseEstimator):
    """Base class of classifiers for blocks: they fit a classifier for samples in memory, which is used for prediction.

    A subclass has the parameters `estimator`, `response_method`, `max_bins`, `sample_size` and `random_state`, and
    defines `_local_model` and `_fit_summed`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), list, str, None],
        "response_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
        "max_bins": [Interval(Integral, 2, 65_536, closed="both"), StrOptions({"auto"})],
        "sample_size": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "class_order": ["array-like", None],
    }

    @abstractmethod
    def _local_model(self) -> BaseCodeClassifier:
        """Return the classifier for samples in memory that is to be fitted."""

    @abstractmethod
    def _fit_summed(self, model: Any, samples: BlockSamples, random_state: np.random.RandomState) -> None:
        """Fit a classifier whose learners are all trained from sums over blocks."""

    def _fit_source(self, executor: Executor, source: Blocks) -> Self:
        """Fit from blocks of rows, wherever they are."""
        learners = self._learners()  # refuses what cannot be trained before rows are read
        check_class_weights(self, {} if isinstance(self.estimator, str) else learners)
        model = self._fit_local(executor, source)
        parameters = {name: value for name, value in vars(self).items() if not _is_fitted(name)}
        fitted = {name: value for name, value in vars(model).items() if _is_fitted(name)}
        # At once: an interrupt leaves an earlier fit as it was, or nothing of it.
        self.__dict__ = {**parameters, **fitted, "model_": model}
        return self

    def _fit_local(self, executor: Executor, source: Blocks) -> BaseCodeClassifier:
        """Fit a classifier for samples in memory from blocks of rows."""
        model: Any = self._local_model()
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        learner = self._learner()
        has_stumps = isinstance(learner, StumpAdaBoostClassifier) and not is_several(self.estimator)
        n_folds, has_several = model._wanted_folds()
        # Decodings of a fixed code that want held-out codewords are fitted to those of the sample.
        is_fixed = isinstance(model, ECOCClassifier)
        is_summed = has_stumps and not (is_fixed and model._learns_held_out(model._decoder()))
        if is_fixed and is_summed:
            n_folds = None  # so many rows are calibrated on as they are; few are fitted where they are put together
        settings = (root, self.max_bins, n_folds)
        rows = prepare_rows(
            executor,
            source,
            *settings,
            has_several=has_several,
            sample_rows=self.sample_size,
            class_weight=self.class_weight,
        )
        model.classes_, model.n_features_in_ = rows.layout.classes, rows.bins.n_features
        model._order_classes()
        if rows.summary.names is not None:
            model.feature_names_in_ = rows.summary.names
        # Few rows have all thresholds, and are soon trained on where they are put together.
        has_own_bins = not isinstance(self.max_bins, str)
        is_small = not has_own_bins and rows.summary.n_rows <= MANY_TO_BIN
        if has_stumps and is_small:
            model.training_samples_ = fit_sampled(model, rows, MANY_TO_BIN)
        elif is_summed:
            samples = BlockSamples(rows, learner, resolve_response(learner, self.response_method))
            self._fit_summed(model, samples, random_state)
            model.training_samples_ = {type(learner).__name__: rows.summary.n_rows}
        else:
            size = SAMPLE_ROWS if has_stumps else self.sample_size
            model.training_samples_ = fit_sampled(model, rows, size, has_own_bins=has_own_bins)
        return model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags

    def to_local(self) -> Any:
        """Return the fitted classifier for samples in memory.

        Returns
        -------
        ECOCClassifier or WOLCClassifier
            The fitted classifier. It does not depend on blocks or clusters, and can be saved like any other.
        """
        check_is_fitted(self)
        return self.model_

    def _local_for(self, X: Any) -> Any:
        """Return the fitted classifier that predicts samples, of which none may lack values, as in training."""
        model = self.to_local()
        check_features(X)
        return model

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, a picture of the code below it."""
        return super()._html_repr() + (draw_code(self) if hasattr(self, "model_") else "")

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, an array of shape (n_classes, n_columns)."""
        return self.to_local().weights_

    @property
    def column_names_(self) -> NDArray[np.str_]:
        """What each column separates, such as "A, B vs C", of shape (n_columns,)."""
        return self.to_local().column_names_

    def predict(
        self, X: Any, *, cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
    ) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self._local_for(X).predict(X, cost_matrix=cost_matrix, reject=reject, reject_label=reject_label)

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._local_for(X).predict_proba(X)

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every sample; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores. With two classes, the score of the second class minus that of the first.
        """
        return self._local_for(X).decision_function(X)


def _is_fitted(name: str) -> bool:
    """Tell whether an attribute of this name belongs to a fit."""
    return name.endswith("_") and not name.startswith("_")


class BlockwiseECOC(BlockwiseClassifier):
    """Fits `ECOCClassifier` from blocks."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseClassifier._parameter_constraints,
        "coding": ECOCClassifier._parameter_constraints["coding"],
        "decoding": ECOCClassifier._parameter_constraints["decoding"],
        "max_columns": ECOCClassifier._parameter_constraints["max_columns"],
    }

    def _local_model(self) -> ECOCClassifier:
        return ECOCClassifier(
            self.estimator,
            coding=self.coding,
            decoding=self.decoding,
            response_method=self.response_method,
            n_jobs=getattr(self, "n_jobs", None),
            random_state=self.random_state,
            class_weight=self.class_weight,
            class_order=self.class_order,
            max_columns=self.max_columns,
        )

    def _fit_summed(self, model: ECOCClassifier, samples: BlockSamples, random_state: np.random.RandomState) -> None:
        rows = samples.rows
        sample, y = rows.sample, rows.sample_classes()
        name, coding = model._chosen_coding(rows.n_classes, rows.summary.n_rows, [self._learner()], random_state)
        settings: dict[str, Any] = {
            "sample_weight": sample.mass,
            "ranks": model._ranks,
            "max_columns": self.max_columns,
        }
        matrix = resolve_coding(coding, sample.X, y, rows.n_classes, random_state, **settings)
        learners, coded, scale, calibration = _fit_fixed(samples, matrix)
        counts = rows.cell_counts.reshape(rows.n_classes, -1).sum(axis=1)
        decoder = model._decoder_for(name, matrix, counts, rows.prior, samples.response)
        decoder = _fit_decoder(decoder, samples, matrix, coded, scale, calibration)
        model._keep(matrix, learners, decoder, rows.prior, calibration, response=samples.response, margin_scale=scale)
        model.coding_ = name


def _fit_decoder(
    decoder: Any,
    samples: BlockSamples,
    matrix: CodeMatrix,
    coded: CodedLearners,
    scale: float,
    sampled: tuple[Any, ...],
) -> Any:
    """Fit loss weights and optimised weights to all rows, other decoders to sampled codewords."""
    rows, numbers = samples.rows, matrix.astype(np.float64)
    if isinstance(decoder, LossWeightedDecoder):
        of_cells = np.repeat(numbers, rows.n_folds + 1, axis=0)
        correct = rows.executor.sum(count_correct, rows.coded, message=(coded, of_cells))
        by_class = correct.reshape(rows.n_classes, rows.n_folds + 1, -1).sum(axis=1)
        return decoder.fit_sums(by_class.astype(np.float64), numbers)
    if isinstance(decoder, OptimizedWeightDecoder):
        evaluated = samples.evaluated(coded, scale)
        return decoder.fit_rows(rows_for_weights(rows.executor, evaluated, matrix, decoder, None), matrix)
    codewords, y, weight = sampled
    return decoder.fit(codewords, y, numbers, weight)


def _fit_fixed(samples: BlockSamples, matrix: CodeMatrix) -> tuple[Any, ...]:
    """Fit a code; return its learners, also as blocks evaluate them, the scale of margins, and sampled codewords."""
    rows = samples.rows
    learners, *_ = samples.fit([Column(pattern) for pattern in matrix.T], with_folds=False)
    coded = code_learners(learners, rows.bins, samples.response)
    scale = 1.0
    if samples.response == "decision_function":
        scale = rows.executor.sum(largest_output, rows.coded, message=(coded,), merge=max) or 1.0
    sample = rows.sample
    outputs = evaluate_coded(code_values(sample.X, rows.bins), coded) / scale
    return learners, coded, scale, (outputs, rows.sample_classes(), sample.mass)


class BlockwiseWOLC(BlockwiseClassifier):
    """Fits `WOLCClassifier` from blocks: the same growth, with columns and sums from blocks."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseClassifier._parameter_constraints,
        **{
            name: WOLCClassifier._parameter_constraints[name]
            for name in (
                *("init", "n_pairs", "max_iter", "max_columns", "tol", "standard_errors", "patience", "n_folds"),
                *("n_regions", "allow_equal_weights"),
            )
        },
        "margin": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "l2": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "verbose": ["verbose"],
    }

    def _local_model(self) -> WOLCClassifier:
        if max(check_regions(self.n_regions)) > _MOST_REGIONS:
            raise ValueError(f"n_regions must be at most {_MOST_REGIONS} for samples in blocks, got {self.n_regions!r}")
        names = WOLCClassifier._get_param_names()
        return WOLCClassifier(**{name: getattr(self, name) for name in names if hasattr(self, name)})

    def _fit_summed(self, model: WOLCClassifier, samples: BlockSamples, random_state: np.random.RandomState) -> None:
        rows = samples.rows
        sample = rows.sample
        sampled = (sample.X, rows.sample_classes(), sample.mass)
        codings = model._init_codings(rows.n_classes, rows.summary.n_rows)
        matrices = model._matrices(codings, *sampled, random_state)
        if model._is_taken_as_it_is(rows.summary.n_rows):
            learners, coded, scale, calibration = _fit_fixed(samples, matrices[0])
            decoder = model._decoder_as_it_is(codings[0], matrices[0], rows.summary.n_rows)
            if decoder is not None:
                decoder = _fit_decoder(decoder, samples, matrices[0], coded, scale, calibration)
            kept = (learners, decoder, rows.prior, calibration, samples.response, scale)
            model._keep_as_it_is(codings[0], matrices[0], *kept)
            return
        starts = [("", coding) for coding in codings]
        model._grow(starts, matrices, samples, model._rules(rows.n_classes, rows.summary.n_rows))


class LocalBlocksMixin:
    """Fit from arrays, memory-mapped arrays or an iterable of blocks, on this machine."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "directory": [str, PathLike, None],
        "n_jobs": [Integral, None],
    }

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier to arrays, which may be larger than memory.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite numbers: a NumPy array, possibly memory-mapped, or another object with a shape whose slices are
            arrays, such as an HDF5 or Zarr data set. It is read twice, block by block.
        y : array of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows; None means 1 each. Rows of weight zero are dropped, so a class with no other rows is
            not in `classes_`. Other weights must be between 1e-60 and 1e60; weights below 1e-9 of the largest are
            raised to that.

        Returns
        -------
        self
            The fitted classifier.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        refuse_lazy_frame(self, X)
        refuse_multilabel(y)
        X, y, weight = (a if a is None or hasattr(a, "shape") else np.asarray(a) for a in (X, y, sample_weight))
        if len(y.shape) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        block_size = cast("int | None", self.block_size)  # type: ignore[attr-defined]
        return self.fit_blocks(ArrayBlocks(X, y, weight, block_size))

    def fit_blocks(self, blocks: Iterable[Any]) -> Self:
        """Fit the classifier to blocks of rows.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight)
            Blocks of any size; a block may be empty and need not contain all classes. They are read twice, so this must
            be a list or another object that can be iterated over several times, not an iterator.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()  # type: ignore[attr-defined]
        with LocalExecutor(self.directory, self.n_jobs) as executor:  # type: ignore[attr-defined]
            return self._fit_source(executor, Blocks(IterableBlocks(blocks)))  # type: ignore[attr-defined]


class BlockECOCClassifier(LocalBlocksMixin, BlockwiseECOC):
    """`ECOCClassifier` for out-of-core data.

    The data are read twice, block by block: first to find the labels, the values of features and a sample of rows, then
    to bin every feature. After that, only the bin numbers are read from temporary files, one block at a time. All
    columns are boosted together, with one pass per round, from histograms that are summed over blocks as integers. The
    result therefore depends neither on the blocks nor on the order of the rows.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner or learners, as in `ECOCClassifier`; None means ``StumpAdaBoostClassifier(n_estimators=40)``.
        Boosted stumps are trained on all rows. Other learners are trained in memory on a sample of the rows, and so are
        the decoding weights of their codes.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        As in `ECOCClassifier`. Codings that depend on the data, such as ``"decoc"``, use the sample.
    decoding : str or decoder, default="auto"
        As in `ECOCClassifier`. ``"loss-weighted"`` and ``"optimized-weight"`` (with positive `l2`) are fitted to all
        rows, other decodings, such as ``"probabilistic"``, to the 32,768 distinct rows of the sample, and
        ``"logistic-weight"`` to their out-of-fold codewords.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels. "auto" uses the first of these
        methods that the learner has.
    max_bins : int or "auto", default="auto"
        Maximum number of bins of a feature, at most 65,536. A feature with at most this many distinct values has one
        bin per value, and its stumps are exact; other features have a bin for each frequent value and bins with about
        the same number of rows for the rest, and only thresholds between bins are tried. "auto" means 256 for more than
        10,000 rows, as in memory. Up to 10,000 rows are collected in memory and `ECOCClassifier` is fitted to them,
        with all thresholds.
    block_size : int, default=None
        Number of rows per block in `fit`; None means about 16 MB of features.
    directory : str or path-like, default=None
        Directory for temporary files with the binned rows during the fit. It should not be a file system in memory.
        None uses the default of the system.
    n_jobs : int, default=None
        Number of threads that process blocks, and of learners trained in parallel on the sample. It does not change
        the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and the choice of the sample.
    sample_size : int, default=32768
        Number of distinct rows of the sample for learners other than boosted stumps, in addition to 64 rows of every
        class. If the data have no more rows, `ECOCClassifier` is fitted to all of them, in the order of their hashes;
        learners that depend on the order of rows, such as random forests, then differ from those of data in memory.
        Otherwise, if the learner supports sample weights, sampled rows are weighted such that every class has its
        share in all rows.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``; classes that are not listed have weight 1. They are multiplied
        with `sample_weight`, so they apply to the learners, the decoding and the probabilities. "balanced" gives every
        class the same total weight; the data are then read once more. A class of weight zero is dropped.
    class_order : array-like of shape (n_classes,), default=None
        The class labels in their natural order, for an ordinal code; None uses sorted order. Other codes refuse it.
    max_columns : int, default=None
        Maximum number of columns, as in `ECOCClassifier`.

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
    skecoc.ECOCClassifier : For data in memory.
    skecoc.dask.DaskECOCClassifier : For data on a Dask cluster.

    Notes
    -----
    The sample consists of the 32,768 distinct rows, and the 64 rows of each class, whose features have the smallest
    hashes, so it does not depend on the blocks; it contains all rows if there are no more. With a larger `sample_size`,
    the sample is larger; with a smaller one, learners are trained on a part of it. "mixed" means the learners that
    `skecoc.learners.mixed_learners` returns for the number of rows they are trained on.

    Unless `max_bins` is given, the stumps are exactly those of `ECOCClassifier`, and the probabilities are the same up
    to rounding. Optimised weights agree up to the tolerance of their solver; decodings that are fitted to the sample
    agree for up to 32,768 distinct rows.

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
        **BlockwiseECOC._parameter_constraints,
        **LocalBlocksMixin._parameter_constraints,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        coding: Any = "auto",
        decoding: Any = "auto",
        response_method: str = "auto",
        max_bins: int | str = "auto",
        block_size: int | None = None,
        directory: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
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
        self.block_size = block_size
        self.directory = directory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.sample_size = sample_size
        self.class_weight = class_weight
        self.class_order = class_order
        self.max_columns = max_columns


class BlockWOLCClassifier(LocalBlocksMixin, BlockwiseWOLC):
    """`WOLCClassifier` for out-of-core data.

    Rows are processed as in `BlockECOCClassifier`. Growth, including folds, is the same as in `WOLCClassifier`: columns
    are trained from histograms that are summed over blocks, and losses are summed in the same way.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner or learners, as in `skecoc.WOLCClassifier`; None means
        ``StumpAdaBoostClassifier(n_estimators=40)``. Boosted stumps are trained on all rows. Other learners are trained
        in memory on a sample of the rows; their codes are grown and weighted on the sample.
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
        Maximum number of bins of a feature, at most 65,536; see `BlockECOCClassifier`.
    block_size : int, default=None
        Number of rows per block in `fit`; None means about 16 MB of features.
    directory : str or path-like, default=None
        Directory for temporary files with the binned rows during the fit.
    n_jobs : int, default=None
        Number of threads that process blocks, and of learners trained in parallel on the sample. It does not change
        the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, the sample, folds and clusterings.
    verbose : int, default=0
        If positive, one line is printed per round.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords; None uses no folds. See `skecoc.WOLCClassifier` for details of
        this and the other parameters of growth.
    allow_equal_weights : bool, default=True
        Whether pooled weights may be kept instead of optimised ones; see `skecoc.WOLCClassifier`.
    sample_size : int, default=32768
        Number of distinct rows of the sample for learners other than boosted stumps, in addition to 64 rows of every
        class. If the data have no more rows, `WOLCClassifier` is fitted to all of them, in the order of their hashes;
        learners that depend on the order of rows, such as random forests, then differ from those of data in memory.
        Otherwise, if the learner supports sample weights, sampled rows are weighted such that every class has its
        share in all rows.
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
    skecoc.WOLCClassifier : For data in memory.
    skecoc.dask.DaskWOLCClassifier : For data on a Dask cluster.

    Notes
    -----
    The result is that of `skecoc.WOLCClassifier` and does not depend on the blocks, unless `max_bins` is given. Up to
    10,000 rows are collected in memory and fitted by `WOLCClassifier`. For more rows, all sums except those of the
    optimised weights are sums of integers. The codewords that weights are fitted to are collected in memory if they
    have at most 2^24 entries (rows times columns); decision values are then exactly the same. Otherwise, they differ by
    rounding.

    For clustering, each value is replaced by the mean of the sampled values in its bin.

    Examples
    --------
    >>> from skecoc.blocks import BlockWOLCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("wine", return_X_y=True)
    >>> model = BlockWOLCClassifier(block_size=50, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseWOLC._parameter_constraints,
        **LocalBlocksMixin._parameter_constraints,
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
        block_size: int | None = None,
        directory: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
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
        self.block_size = block_size
        self.directory = directory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.n_folds = n_folds
        self.allow_equal_weights = allow_equal_weights
        self.sample_size = sample_size
        self.class_weight = class_weight
        self.class_order = class_order
