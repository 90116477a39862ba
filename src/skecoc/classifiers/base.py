"""The base of all output-code classifiers: the one way from samples to a fitted code."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from pickle import PicklingError
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import hash as hash_of
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    _check_y,
    _num_samples,
    validate_data,
)
from tqdm import tqdm

from skecoc.classifiers.calibration import calibrate, calibration_samples
from skecoc.classifiers.growth import (
    Calibration,
    GrowingCode,
    Growth,
    GrowthRound,
    StopRules,
    Strategy,
    advance,
    grow,
)
from skecoc.classifiers.picture import draw_code
from skecoc.classifiers.prediction import CodePrediction
from skecoc.coding import resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.bins import MANY_TO_BIN, SAMPLE_ROWS
from skecoc.data.described import TAKING_DATA, DescribedData, described, refuse_data
from skecoc.data.folds import Keys, assign_folds, resolve_folds, sample_keys
from skecoc.data.samples import ArraySamples, BlockSamples, prepare_rows, sample_rows
from skecoc.decoding import DECODERS, decoding_name, resolve_decoder
from skecoc.decoding.scoring import decode
from skecoc.learners.binary import number_columns, set_features
from skecoc.learners.columns import Floats, Integers, Response, TrainedBefore, takes_weights
from skecoc.learners.mixed import LearnerComposition, check_class_weights, is_several
from skecoc.learners.regions import RegionClassifier
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.support.errors import all_or_nothing, is_named, refuse_multilabel, refuse_other_arrays
from skecoc.support.processes import DRAWN_LATER
from skecoc.support.weights import usable_weights, weighted_by_class

#: Value of `coding`, `decoding` and `init` that is resolved by the number of classes, the learner and its outputs.
AUTO = "auto"

#: Seeds are drawn below this.
LARGEST_SEED = np.iinfo(np.int32).max

# How names of the decoder's own parameters begin.
_NESTED = "decoding__"
# Parameters that trained columns depend on; others change which columns are trained, not how.
_OF_COLUMNS = ("estimator", "response_method", "n_folds", "validation_fraction")
# Hint if a meta-estimator has encoded the labels.
_ENCODED = (
    ". scikit-learn has replaced the labels by numbers in the order of the alphabet, as VotingClassifier, "
    "StackingClassifier, BaggingClassifier and cross_val_predict for probabilities do: number the classes in their "
    "order beforehand, such as y = [order.index(label) for label in y], and leave class_order=None"
)


def check_samples(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Check training samples, their labels and, unless they are None, their weights."""
    refuse_other_arrays(X=X, y=y, sample_weight=sample_weight)
    refuse_data(estimator, TAKING_DATA, X=X, y=y, sample_weight=sample_weight)
    X = estimator._check_rows(X, reset=reset)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    refuse_multilabel(y)
    y = _check_y(y, estimator=estimator)
    if y.dtype == object and len({str if isinstance(label, str) else type(label) for label in y}) > 1:
        raise ValueError("y must hold labels of one type, such as all strings or all integers")
    check_classification_targets(y)
    if len(y) != _num_samples(X):
        raise ValueError(f"X and y must have the same number of samples; got {_num_samples(X)} and {len(y)}")
    return X, y, None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)


def keep_samples(
    X: Any, y: NDArray[Any], weight: Floats, fit_params: dict[str, Any]
) -> tuple[Any, NDArray[Any], Floats, dict[str, Any]]:
    """Keep the samples of positive weight only, with what `fit_params` has for each."""
    counted = np.flatnonzero(weight)
    if len(counted) == 0:
        raise ValueError("sample_weight times class_weight must be positive for at least one sample, got only zeros")
    if len(counted) < len(y):
        fit_params = _check_method_params(X, fit_params, indices=counted)
        X, y, weight = _safe_indexing(X, counted), y[counted], weight[counted]
    return X, y, usable_weights(weight), fit_params


@dataclass
class TrainingData:
    """Checked samples of positive weight that a code is fitted to.

    If there are `rows` in blocks, `X` has some of these, or is None if everything is computed from sums over blocks.
    """

    X: Any
    y: Integers  # class indices; of the sample of `rows` if `X` is None
    weight: Floats
    params: dict[str, dict[str, Any]]  # arguments of each learner's `fit`, by its name; these are trained
    random_state: np.random.RandomState
    root: int  # seed of the whole fit
    rows: BlockSamples | None = None
    keys: Keys | None = None  # hashes of the samples in `X`, if they are from `rows`

    def __post_init__(self) -> None:
        self.for_codings = self.X  # the samples that codings are learnt from
        self.n_samples, self.total_weight = len(self.y), float(self.weight.sum())
        self.prior: Floats  # share of each class in the total weight
        if self.X is None and self.rows is not None:
            rows = self.rows
            self.for_codings, self.prior = rows.sample.X, rows.prior
            self.n_samples, self.total_weight = rows.summary.n_rows, rows.total_weight
        else:
            self.prior = np.bincount(self.y, weights=self.weight) / self.weight.sum()


class Start(NamedTuple):
    """The codes that a fit starts from, which are joined."""

    codings: list[Any]
    learners: list[str]  # name of the learner of each
    why_fixed: str = ""  # why the code does not grow, where the method would grow another one


@dataclass
class WarmStart:
    """Trained columns, what they were trained on, and the random numbers that the fit started from."""

    fingerprint: str | None
    random_numbers: Any
    trained: TrainedBefore = field(default_factory=TrainedBefore)


class BaseCodeClassifier(CodePrediction, LearnerComposition, ClassifierMixin, BaseEstimator):
    """What all output-code classifiers share: checks, learners, the way to a fitted code, and predictions.

    A subclass has the parameters `estimator`, `response_method`, `n_jobs`, `random_state`, `verbose` and
    `class_weight`, and defines `_start` and `_strategy`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit"), list, str, None],
        "response_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Fit the binary learners and the decoder.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), Dask collection or described data
            Training samples. Data frames and sparse matrices are passed to the learner unchanged. Dask collections are
            fitted on the cluster where their partitions are, without being loaded. `skecoc.data.Blocks` and
            `skecoc.data.Partitions` describe samples that need not fit into memory, with their labels and weights.
        y : array-like of shape (n_samples,), or Dask collection
            Class labels: numbers or strings, at least two classes. None with described data.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, used by the learners and the decoding; a sample of weight two counts as two samples. Samples
            of weight zero are dropped first, so a class with no other samples is not in `classes_`. Extreme weights
            (all below 1e-60, or some above 1e60) are rescaled by a common factor. If the mean weight on one side of a
            column is at most a millionth of the column's mean weight, no learner is trained and the other side is
            always predicted.
        **fit_params : dict
            Further arguments of the learner's `fit`; with metadata routing enabled, those that it requests. With
            several learners, metadata routing must be enabled.

        Returns
        -------
        self
            The fitted classifier. If fitting fails or is interrupted, the classifier is unchanged.
        """
        with all_or_nothing(self):
            data = described(self, X, y, sample_weight)
            if data is None:
                self._fit_arrays(X, y, sample_weight, fit_params)
            else:
                self._fit_described(data, fit_params)
        return self

    def _fit_arrays(self, X: Any, y: Any, sample_weight: ArrayLike | None, fit_params: dict[str, Any]) -> None:
        """Check and weight samples in memory, and fit a code to them."""
        order = own_order(y)
        X, y, weight = check_samples(self, X, y, sample_weight, reset=True)
        if self.class_weight is not None:
            weight = weighted_by_class(weight, y, self.class_weight)
        if weight is not None:
            X, y, weight, fit_params = keep_samples(X, y, weight, fit_params)
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y must hold at least 2 classes with positive sample_weight, got 1 class")
        self._order_classes(order)
        learners = self._learners(len(self.classes_), len(y), X.shape[1])
        params = self._route(learners, weight, fit_params, is_given=sample_weight is not None)
        # Learners need not request weights that follow from class_weight alone.
        is_own = weight is not None and sample_weight is None and not fit_params
        with config_context(enable_metadata_routing=get_config()["enable_metadata_routing"] and not is_own):
            weight = np.ones(len(y)) if weight is None else weight
            random_state = self._warm_random_state(X, class_index, weight, params)
            root = int(random_state.randint(LARGEST_SEED))
            self._fit_code(TrainingData(X, class_index, weight, params, random_state, root))

    def _fit_described(self, data: DescribedData, fit_params: dict[str, Any]) -> None:
        """Read described data, and fit a code to all rows, to sums over them, or to a sample of them."""
        learners = self._learners()  # refuses what cannot be trained before rows are read
        self._is_ordinal()
        check_class_weights(self, {} if isinstance(self.estimator, str) else learners)
        if fit_params:
            given = ", ".join(sorted(fit_params))
            raise ValueError(f"{type(data).__name__} takes no fit parameters of learners, got {given}")
        if getattr(self, "warm_start", False):
            raise ValueError(f"warm_start=True needs samples in memory, got {type(data).__name__}")
        self.__dict__.pop("_warm", None)  # columns of an earlier fit, to other samples
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        learner = self._learner()
        has_stumps = isinstance(learner, StumpAdaBoostClassifier) and not is_several(self.estimator)
        is_summed = has_stumps and self._is_summable()
        n_folds, has_several = self._wanted_folds()
        # A code of stumps that does not grow is calibrated on training rows. Few rows are gathered in memory, and then
        # divided into folds by `_folds`.
        n_folds = None if is_summed and not self._grows else n_folds
        with data._opened(self.n_jobs, is_light=self._is_light()) as (executor, source):
            rows = prepare_rows(
                executor,
                source,
                root,
                data.max_bins,
                n_folds,
                has_several=has_several,
                sample_rows=data.sample_size,
                class_weight=self.class_weight,
            )
            self.classes_ = rows.layout.classes
            set_features(self, rows.bins.n_features, rows.summary.names)
            self._order_classes(own_order(data.y))
            n_rows, has_own_bins = rows.summary.n_rows, not isinstance(data.max_bins, str)
            is_small = not has_own_bins and n_rows <= MANY_TO_BIN
            if is_summed and not is_small:
                y, weight = rows.sample_classes(), rows.sample.mass
                self._fit_code(TrainingData(None, y, weight, {"": {}}, random_state, root, rows))
                return
            # Few rows are gathered in memory, where stumps can use every threshold.
            size = MANY_TO_BIN if has_stumps and is_small else SAMPLE_ROWS if has_stumps else data.sample_size
            sampled = sample_rows(rows, size)
            learners = self._learners(rows.n_classes, len(sampled.y), rows.bins.n_features)
            is_given = rows.summary.is_given
            params: dict[str, dict[str, Any]] = {name: {} for name in learners}
            if rows.summary.is_weighted:
                params = self._route(learners, sampled.weight, {}, is_given=is_given)
            elif not sampled.is_all:
                weights = {"sample_weight": sampled.weight}
                params = {name: weights if takes_weights(own) else {} for name, own in learners.items()}
            training = TrainingData(sampled.X, sampled.y, sampled.weight, params, random_state, root)
            boosts = any(isinstance(own, StumpAdaBoostClassifier) for own in learners.values())
            if self._boosts_sums and boosts and (has_own_bins or not sampled.is_all):
                training.rows, training.keys = rows, sampled.keys
            # Only weights that the user has given need a metadata request.
            with config_context(enable_metadata_routing=is_given and get_config()["enable_metadata_routing"]):
                self._fit_code(training)

    # What differs between classifiers.

    #: Whether the code may grow, and whether it may have clustering-based columns.
    _grows: ClassVar[bool] = False
    _clusters: ClassVar[bool] = False
    #: Whether stumps are boosted from sums if samples are in blocks.
    _boosts_sums: ClassVar[bool] = True
    #: The parameter that names the coding.
    _coding_argument: ClassVar[str] = "init"
    #: What "auto" means for the decoding of one learner, unless the code and its outputs decide.
    _default_decoding: ClassVar[str] = "probabilistic"

    @abstractmethod
    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        """Choose the codings to start from, for learners of these names."""

    @abstractmethod
    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        """Return the method, and when growth ends."""

    def _first_code(
        self, samples: Any, trainer: Any, matrices: list[CodeMatrix], names: list[str], strategy: Strategy
    ) -> GrowingCode:
        """Train the columns to start from."""
        code = GrowingCode(samples, trainer, is_fixed=strategy.is_fixed)
        code.start(matrices, names)
        return code

    def _report_round(self, bar: Any, number: int, record: GrowthRound, code: GrowingCode) -> None:
        """Report a round of growth to the user."""

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        """Set fitted attributes of the method."""

    def _is_summable(self) -> bool:
        """Tell whether a code of boosted stumps can be fitted from sums over blocks of rows alone."""
        return False

    def _is_light(self) -> bool:
        """Tell whether workers of a cluster need no scikit-learn."""
        return False

    def _most_columns(self, n_classes: int) -> int | None:
        del n_classes
        return getattr(self, "max_columns", None)

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        """Return `n_folds`, None for no out-of-fold codewords, and whether "auto" is that of several learners."""
        return self.n_folds, is_several(self.estimator)

    # The one way from samples to a fitted code; a code of fixed length is one that grows by no round.

    def _fit_code(self, data: TrainingData) -> None:
        """Make the first code, train its columns, grow it, and keep what the method has chosen."""
        n_classes = len(self.classes_)
        further = sorted(data.params.get("", {}).keys() - {"sample_weight"})
        if self._clusters and further:
            raise ValueError(f"clustering-based columns only support the fit parameter sample_weight, got {further}")
        start = self._start([*data.params], n_classes, data.n_samples, data.random_state)
        matrices, n_columns = self._matrices(start.codings, data)
        folds, is_single = (None, False) if start.why_fixed else self._folds(data, n_columns, data.X, data.root)
        strategy, rules = self._strategy(data, start)
        has_regions = self._clusters and not strategy.is_fixed and (data.X is None or len(number_columns(data.X)) > 0)
        # A bar takes a semaphore, which a process that is killed would leave behind.
        shows_bar = self._grows and self.verbose == 1
        with tqdm(unit=" learners", delay=DRAWN_LATER) if shows_bar else nullcontext() as bar:
            trainer = self._trainer(
                data,
                np.minimum(folds, 0) if folds is not None and is_single else folds,
                clustered_learner=RegionClassifier(self._learner()) if has_regions else None,
                on_fit=(lambda: None) if bar is None else lambda: advance(bar, trainer),
            )
            if data.rows is not None and data.X is None:
                samples: ArraySamples | BlockSamples = data.rows
            else:
                is_one = strategy.only_held_out and not is_several(self.estimator)
                samples = ArraySamples(
                    data.y,
                    data.weight,
                    n_classes,
                    folds,
                    only_held_out=strategy.only_held_out,
                    keys=None if strategy.is_fixed else sample_keys(data.X, data.root),
                    # Blocks keep single precision; probabilities of several learners may be closer to 1 than that.
                    dtype=np.float32 if is_one else np.float64,
                )
            code = self._first_code(samples, trainer, matrices, start.learners, strategy)
            growth = grow(code, strategy, rules, partial(self._report_round, bar))
        n_columns = growth.n_columns
        self._keep(
            code.matrix[:, :n_columns],
            code.learners[:n_columns],
            growth.decoder,
            data.prior,
            strategy.calibration(code, growth),
            response=code.response,
            margin_scale=code.margin_scale,
            column_learners=code.column_learners[:n_columns],
        )
        self.training_samples_ = {}
        for name, learner in self._learners().items():
            if name in data.params:
                is_summed = data.rows is not None and isinstance(learner, StumpAdaBoostClassifier)
                n_samples = data.rows.summary.n_rows if data.rows is not None and is_summed else len(data.y)
                self.training_samples_[name or type(learner).__name__] = n_samples
        self._keep_growth(growth, strategy, start.codings)

    def _matrices(self, codings: list[Any], data: TrainingData) -> tuple[list[CodeMatrix], int]:
        """Make the codes to start from, and count their columns."""
        n_classes = len(self.classes_)
        made: dict[Any, CodeMatrix] = {}  # learners share a code, also one that is drawn at random
        keys = [coding if isinstance(coding, str) else id(coding) for coding in codings]
        most = self._most_columns(n_classes)
        # If all learners share one code, each may have an equal part of the columns.
        each = None if most is None or len(set(keys)) > 1 else most // len(codings)
        matrices, n_columns = [], 0
        for key, coding in zip(keys, codings, strict=True):
            if key not in made:
                settings: dict[str, Any] = {
                    "sample_weight": data.weight,
                    "argument": self._coding_argument,
                    "ranks": self._ranks,
                    "max_columns": each,
                }
                made[key] = resolve_coding(coding, data.for_codings, data.y, n_classes, data.random_state, **settings)
            matrices.append(made[key])
            n_columns += made[key].shape[1]
        if most is not None and n_columns > most:
            raise ValueError(f"{self._coding_argument} has {n_columns} columns, more than max_columns={most}")
        return matrices, n_columns

    def _is_ordinal(self) -> bool:
        """Tell whether the code has an order of classes; refuse `class_order` if not."""
        code = getattr(self, self._coding_argument, None)
        is_ordinal = is_named(code, "ordinal")
        if getattr(self, "class_order", None) is not None and not is_ordinal:
            used = repr(code) if isinstance(code, str) else "a function" if callable(code) else "a code matrix"
            raise ValueError(
                f'class_order needs {self._coding_argument}="ordinal", other codes have no order; got {used}'
            )
        return is_ordinal

    def _order_classes(self, order: list[Any] | None = None) -> None:
        """Set `_ranks`, the rank of each class for an ordinal code: by `class_order`, or by the order of `y`.

        They are None for other codes, and if there is no order.
        """
        given, is_ordinal = getattr(self, "class_order", None), self._is_ordinal()
        order = order if given is None else check_order(given)
        self._ranks = rank_classes(self.classes_, order) if is_ordinal and order is not None else None
        if is_ordinal and order is None:
            labels = self.classes_
            if len(labels) > 2 and all(isinstance(label, str | bytes) for label in labels):
                warnings.warn(
                    f"the ordinal code uses the alphabetical order of the classes ({' < '.join(map(str, labels))}); "
                    "set class_order=[...] or pass an ordered categorical y for another order",
                    UserWarning,
                    stacklevel=5,  # the line that called `fit`
                )

    def _folds(self, data: TrainingData, n_columns: int, X: Any, seed: int) -> tuple[Integers | None, bool]:
        """Return the fold of each sample, by its hash, and whether all are held out at once.

        Folds are None for no out-of-fold codewords.
        """
        del n_columns
        if data.rows is None:
            wanted, has_several = self._wanted_folds()
            n_folds, is_single = resolve_folds(wanted, len(data.y), has_several=has_several)
            folds = None if n_folds is None else assign_folds(X, data.y, n_folds, seed, is_single=is_single)
        else:
            rule, is_single = data.rows.layout.folds, data.rows.layout.is_single
            folds = None if rule is None or data.keys is None else rule.assign(data.keys, data.y)
        has_folds = folds is not None and (folds >= 0).any()
        return folds if has_folds else None, is_single

    def _keep(
        self,
        matrix: CodeMatrix,
        learners: list[BaseEstimator],
        decoder: Any,
        prior: Floats,
        calibration: Calibration,
        *,
        response: Response,
        margin_scale: float = 1.0,
        column_learners: list[str] | None = None,
    ) -> None:
        """Set the fitted attributes that every code has."""
        self.code_matrix_, self.estimators_, self.decoder_ = matrix, learners, decoder
        self.decoding_ = decoding_name(decoder)
        self._prior, self._response, self._margin_scale = prior, response, margin_scale
        if is_several(self.estimator) and column_learners is not None:
            self.column_learners_ = np.array(column_learners)
        else:
            self.column_learners_ = np.full(len(learners), type(self._learner()).__name__)
        codewords, y, weight, held_out, scores = calibration
        self.temperature_, self.calibration_ = 1.0, None
        if getattr(decoder, "scores_are_log_probabilities", False):
            return
        samples, sample_weight = calibration_samples(y, weight, len(self.classes_) if held_out else None)
        if scores is None:
            scores = decode(decoder, codewords[samples], matrix, prior, getattr(self, "row_classes_", None))
        else:
            scores = scores[samples]
        self.temperature_, self.calibration_ = calibrate(scores, y[samples], sample_weight, held_out=held_out)

    def _is_binned(self) -> bool:
        """Tell whether the one learner bins many samples, as blocks do."""
        return not is_several(self.estimator) and hasattr(self._learner(), "_bin_rows")

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _decoder(self) -> Any:
        """Return the decoder that is to be fitted.

        "auto" is one that calibrates columns: unlike loss weights, it suits weighted classes and margins whose scales
        differ.
        """
        is_auto = is_named(self.decoding, AUTO)
        default = "logistic-weight" if is_several(self.estimator) else self._default_decoding
        return resolve_decoder(default if is_auto else self.decoding, also=(AUTO,))

    def _check_nested(self, params: dict[str, Any]) -> None:
        """Refuse parameters of a decoding that has only a name, and say which decoder takes them."""
        decoding = params.get("decoding", getattr(self, "decoding", None))
        nested = {name.removeprefix(_NESTED): value for name, value in params.items() if name.startswith(_NESTED)}
        if not nested or not isinstance(decoding, str):
            return
        is_auto = is_named(decoding, AUTO)
        kinds = [*DECODERS.values()] if is_auto else [type(resolve_decoder(decoding))]
        fitting = [kind.__name__ for kind in kinds if nested.keys() <= kind().get_params().keys()]
        given = ", ".join(f"{name}={value!r}" for name, value in nested.items())
        hint = f"pass a decoder, such as decoding={fitting[0]}({given})" if fitting else f"no decoder takes {given}"
        if not fitting and not is_auto:
            hint = f"{kinds[0].__name__} has no {' and '.join(nested)} either"
        raise ValueError(f"{_NESTED}{next(iter(nested))} cannot be set where decoding is the name {decoding!r}: {hint}")

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, a picture of the code below it."""
        return super()._html_repr() + (draw_code(self) if hasattr(self, "column_learners_") else "")

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check the shape and the feature names of X; the learner checks its values."""
        refuse_data(self, TAKING_DATA, X=X)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0 or len(X.columns) == 0:
                raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
            return X
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        if X.dtype.kind == "f" and X.dtype.itemsize > 8:  # few learners take wider floats
            with np.errstate(over="ignore"):  # learners refuse infinity
                return X.astype(np.float64)
        return X

    def _warm_random_state(self, *data: Any) -> np.random.RandomState:
        """Return random numbers for a fit, and set or delete what the classifier keeps: `_warm`.

        The earlier fit's columns, and its random numbers, are kept if data, learners, folds and seed are the same.
        """
        if not getattr(self, "warm_start", False):
            self.__dict__.pop("_warm", None)
            return check_random_state(self.random_state)
        seed = self.random_state
        data = tuple(np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part for part in data)
        parameters = {name: getattr(self, name) for name in _OF_COLUMNS if hasattr(self, name)}
        try:
            fingerprint = str(
                hash_of((parameters, id(seed) if isinstance(seed, np.random.RandomState) else seed, data))
            )
        except (AttributeError, PicklingError, TypeError):  # of a learner that cannot be pickled
            fingerprint = None
        before: WarmStart | None = self.__dict__.get("_warm")
        if before is not None and fingerprint is not None and before.fingerprint == fingerprint:
            random_state = np.random.RandomState()
            random_state.set_state(before.random_numbers)
            return random_state
        random_state = check_random_state(self.random_state)
        self._warm = WarmStart(fingerprint, random_state.get_state())
        return random_state


def own_order(y: Any) -> list[Any] | None:
    """Return the order of the labels of an ordered categorical of pandas, or an Enum of polars; None for others.

    >>> import pandas as pd
    >>> own_order(pd.Categorical(["good", "bad"], ["bad", "fair", "good"], ordered=True))
    ['bad', 'fair', 'good']
    """
    if not hasattr(y, "dtype") and len(getattr(y, "columns", ())) == 1:  # a frame of one column
        y = y[y.columns[0]]
    dtype = getattr(y, "dtype", None)
    is_ordered = getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum"
    if not is_ordered or dtype is None:
        return None
    if not getattr(getattr(y, "cat", None), "known", True):
        raise ValueError("y is ordered, and Dask does not know its categories: pass y.cat.as_known()")
    return list(dtype.categories)


def check_order(class_order: Any) -> list[Any]:
    """Check that `class_order` lists labels, each once, and return them.

    >>> check_order(("low", "high"))
    ['low', 'high']
    """
    shape = np.shape(class_order)
    labels = list(class_order)
    if len(shape) != 1 or len(labels) < 2:
        raise ValueError(f"class_order must list at least 2 labels in their order, got shape {shape}")
    if len(set(labels)) < len(labels):
        repeated = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise ValueError(f"class_order must name every label once, got {', '.join(repeated)} more than once")
    return labels


def _are_numbers(labels: Iterable[Any], n_numbers: int | None = None) -> bool:
    """Tell whether all labels are whole numbers, from 0 to less than some number if there is one."""
    return all(isinstance(label, Integral) and (n_numbers is None or 0 <= int(label) < n_numbers) for label in labels)


def rank_classes(classes: NDArray[Any], order: Sequence[Any]) -> Integers:
    """Return the rank of each class in an order, which may contain labels without samples.

    >>> rank_classes(np.array(["bad", "fair", "good"]), ["good", "unknown", "fair", "bad"])
    array([2, 1, 0])
    """
    places = {label: place for place, label in enumerate(order)}
    missing = [str(label) for label in classes if label not in places]
    if missing:
        hint = _ENCODED if _are_numbers(classes, len(places)) and not _are_numbers(order) else ""
        raise ValueError(f"class_order must name every class of y, missing: {', '.join(missing)}{hint}")
    return np.argsort(np.argsort([places[label] for label in classes]))
