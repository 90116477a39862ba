"""The base of all output-code classifiers: one way to a fitted code, and one to predictions."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import _safe_indexing, check_random_state, gen_batches
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    _check_y,
    _num_samples,
    check_is_fitted,
    validate_data,
)

from skecoc.classifiers.calibration import (
    calibration_samples,
    fit_calibration,
    fit_temperature,
    most_samples,
    probabilities_of,
    smoothing_of,
)
from skecoc.classifiers.costs import AUTO_LABEL, make_rule
from skecoc.classifiers.growing_code import GrowingCode
from skecoc.classifiers.growth import Growth, GrowthRound, StopRules, Strategy, advance, grow
from skecoc.classifiers.order import check_order, own_order, rank_classes, warn_of_alphabet
from skecoc.classifiers.pairs import PairInsight
from skecoc.classifiers.picture import draw_code
from skecoc.classifiers.warm import warm_random_state
from skecoc.coding import resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.bins import MANY_TO_BIN, SAMPLE_ROWS
from skecoc.data.described import DescribedData, described, is_dask, refuse_data
from skecoc.data.folds import Keys, assign_folds, resolve_folds, sample_keys
from skecoc.data.samples import ArraySamples, BlockSamples, prepare_rows, sample_rows
from skecoc.decoding import DECODERS, decoding_name, resolve_decoder
from skecoc.decoding.scoring import decode
from skecoc.learners.binary import number_columns, set_features
from skecoc.learners.columns import Floats, Integers, Response, evaluate_columns, takes_weights
from skecoc.learners.mixed import LearnerComposition, check_class_weights, is_several
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.support.errors import all_or_nothing, is_named, refuse_multilabel, refuse_other_arrays
from skecoc.support.weights import usable_weights, weighted_by_class

#: The library chooses: the coding by classes, samples and learner, the decoding by the code and its outputs.
AUTO = "auto"

#: Seeds are drawn below this.
LARGEST_SEED = np.iinfo(np.int32).max

# How names of the decoder's own parameters begin.
_NESTED = "decoding__"
# Scores that are computed at once: with many classes, so many samples at a time.
_BLOCK_SCORES = 2**21


def _check_labels(y: Any, estimator: BaseEstimator) -> NDArray[Any]:
    """Check that labels are there, one-dimensional and comparable with each other."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    refuse_multilabel(y)
    labels = _check_y(y, estimator=estimator)
    if labels.dtype == object and len({str if isinstance(label, str) else type(label) for label in labels}) > 1:
        raise ValueError("y must hold labels of one type, such as all strings or all integers")
    check_classification_targets(labels)
    return labels


def check_samples(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Check training samples, their labels and, unless they are None, their weights."""
    refuse_other_arrays(X=X, y=y, sample_weight=sample_weight)
    X = estimator._check_rows(X, reset=reset)
    y = _check_labels(y, estimator)
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

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.y) if self.rows is None or self.X is not None else self.rows.summary.n_rows

    @property
    def telling(self) -> Any:
        """The samples that codings learn from."""
        return self.rows.sample.X if self.rows is not None and self.X is None else self.X

    @property
    def prior(self) -> Floats:
        """Share of each class in the weight of all samples."""
        if self.rows is not None and self.X is None:
            return self.rows.prior
        return np.bincount(self.y, weights=self.weight) / self.weight.sum()


def as_doubles(X: Any) -> Any:
    """Return an array or sparse matrix of wider floats, which few learners take, in float64; others as they are."""
    with np.errstate(over="ignore"):  # learners refuse infinity
        return X.astype(np.float64) if X.dtype.kind == "f" and X.dtype.itemsize > 8 else X


class BaseCodeClassifier(PairInsight, LearnerComposition, ClassifierMixin, BaseEstimator):
    """What all output-code classifiers share: checks, learners, fitted attributes, codewords and decoding.

    A subclass has the parameters `estimator`, `response_method`, `n_jobs`, `random_state`, `verbose` and
    `class_weight`, and defines `_fit_code`.
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
            self.__dict__.pop("training_samples_", None)  # of an earlier fit
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
            random_state = warm_random_state(self, X, class_index, weight, params)
            root = int(random_state.randint(LARGEST_SEED))
            self._fit_code(TrainingData(X, class_index, weight, params, random_state, root))

    def _fit_described(self, data: DescribedData, fit_params: dict[str, Any]) -> None:
        """Read described data, and fit a code to all rows, to sums over them, or to a sample of them."""
        learners = self._learners()  # refuses what cannot be trained before rows are read
        check_class_weights(self, {} if isinstance(self.estimator, str) else learners)
        if fit_params:
            given = ", ".join(sorted(fit_params))
            raise ValueError(f"{type(data).__name__} takes no fit parameters of learners, got {given}")
        if getattr(self, "warm_start", False):
            raise ValueError(f"warm_start=True needs samples in memory, got {type(data).__name__}")
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        learner = self._learner()
        has_stumps = isinstance(learner, StumpAdaBoostClassifier) and not is_several(self.estimator)
        is_summed = has_stumps and self._is_summable()
        n_folds, has_several = self._wanted_folds()
        # So many rows of a fixed code are calibrated on as they are; few are fitted where they are put together.
        n_folds = None if is_summed and not self._grows else n_folds
        with data.opened(self.n_jobs, is_light=self._is_light()) as (executor, source):
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
            self._order_classes()
            n_rows, has_own_bins = rows.summary.n_rows, not isinstance(data.max_bins, str)
            is_small = not has_own_bins and n_rows <= MANY_TO_BIN
            if is_summed and not is_small:
                y, weight = rows.sample_classes(), rows.sample.mass
                self._fit_code(TrainingData(None, y, weight, {"": {}}, random_state, root, rows))
                self.training_samples_ = {type(learner).__name__: n_rows}
                return
            # Few rows have all thresholds, and are soon trained on where they are put together.
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
            if self._boosts_sums and (has_own_bins or not sampled.is_all):
                training.rows, training.keys = rows, sampled.keys
            # Learners need not request weights that nobody has given.
            with config_context(enable_metadata_routing=is_given and get_config()["enable_metadata_routing"]):
                self._fit_code(training)
            self.training_samples_ = {
                name or type(own).__name__: n_rows
                if training.rows is not None and isinstance(own, StumpAdaBoostClassifier)
                else len(sampled.y)
                for name, own in learners.items()
            }

    # The one way from samples to a fitted code; a code of fixed length is one that grows by no round.

    #: Whether the code may grow, and whether stumps are boosted from sums if samples are in blocks.
    _grows: ClassVar[bool] = False
    _boosts_sums: ClassVar[bool] = True

    def _fit_code(self, data: TrainingData) -> None:
        """Make the first code, train its columns, grow it, and keep what the method has chosen."""
        n_classes, names = len(self.classes_), [*data.params]
        self._check_params(data.params)
        starts = self._starts(names, n_classes, data.n_samples, data.random_state)
        matrices = self._matrices([coding for _, coding in starts], data)
        folds, is_single = self._folds(data, sum(matrix.shape[1] for matrix in matrices))
        total_weight = float(data.weight.sum()) if data.rows is None or data.X is not None else data.rows.total_weight
        strategy = self._strategy(data, total_weight)
        has_regions = not strategy.is_fixed and (data.X is None or len(number_columns(data.X)) > 0)
        with self._progress() as bar:
            trainer = self._trainer(
                data,
                np.minimum(folds, 0) if folds is not None and is_single else folds,
                clustered_learner=self._clustered_learner() if has_regions else None,
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
                    keys=sample_keys(data.X, data.root) if strategy.only_held_out else None,
                    # Blocks keep single precision; several learners may be surer than it can tell.
                    dtype=np.float32 if is_one else np.float64,
                )
            code = self._first_code(samples, trainer, matrices, [name for name, _ in starts], strategy)
            growth = grow(code, strategy, self._rules(n_classes, data.n_samples), partial(self._report_round, bar))
        n_columns = growth.n_columns
        calibration, held_out = strategy.calibration(code, n_columns)
        self._keep(
            code.matrix[:, :n_columns],
            code.learners[:n_columns],
            growth.decoder,
            data.prior,
            calibration,
            held_out=held_out,
            response=code.response,
            margin_scale=code.margin_scale,
            column_learners=code.column_learners[:n_columns],
        )
        self._keep_growth(growth, strategy, [coding for _, coding in starts])

    def _check_params(self, params: dict[str, dict[str, Any]]) -> None:
        """Refuse arguments of learners' `fit` that the method cannot pass on."""

    @abstractmethod
    def _starts(
        self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState
    ) -> list[tuple[str, Any]]:
        """List the codings to start from, each with the name of its learner."""

    @abstractmethod
    def _strategy(self, data: TrainingData, total_weight: float) -> Strategy:
        """Return the method."""

    def _rules(self, n_classes: int, n_samples: int) -> StopRules:
        """Return when growth ends."""
        del n_classes, n_samples
        return StopRules(0)

    def _first_code(
        self, samples: Any, trainer: Any, matrices: list[CodeMatrix], names: list[str], strategy: Strategy
    ) -> GrowingCode:
        """Train the columns to start from."""
        code = GrowingCode(samples, trainer, is_fixed=strategy.is_fixed)
        code.start(matrices, names)
        return code

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        """Set fitted attributes of the method."""

    def _is_summable(self) -> bool:
        """Tell whether a code of boosted stumps can be fitted from sums over blocks of rows alone."""
        return False

    def _is_light(self) -> bool:
        """Tell whether workers of a cluster do without scikit-learn."""
        return False

    def _clustered_learner(self) -> BaseEstimator | None:
        """Return the learner of clustering-based columns, if the method has any."""
        return None

    def _progress(self) -> AbstractContextManager[Any]:
        """Return what shows progress, if anything."""
        return nullcontext()

    def _report_round(self, bar: Any, number: int, record: GrowthRound) -> None:
        """Say how a round went."""

    def _most_columns(self, n_classes: int) -> int | None:
        """Return the largest number of columns."""
        del n_classes
        return getattr(self, "max_columns", None)

    def _matrices(self, codings: list[Any], data: TrainingData) -> list[CodeMatrix]:
        """Make the codes to start from."""
        n_classes = len(self.classes_)
        made: dict[Any, CodeMatrix] = {}  # learners share a code, also one that is drawn at random
        keys = [coding if isinstance(coding, str) else id(coding) for coding in codings]
        most = self._most_columns(n_classes)
        # Codes that are chosen automatically fit together, if they can; of one code every learner has as many columns.
        each = None if most is None or len(set(keys)) > 1 else most // len(codings)
        for key, coding in zip(keys, codings, strict=True):
            if key not in made:
                settings: dict[str, Any] = {
                    "sample_weight": data.weight,
                    "argument": self._coding_argument,
                    "ranks": self._ranks,
                    "max_columns": each,
                }
                made[key] = resolve_coding(coding, data.telling, data.y, n_classes, data.random_state, **settings)
        matrices = [made[key] for key in keys]
        n_columns = sum(matrix.shape[1] for matrix in matrices)
        if most is not None and n_columns > most:
            raise ValueError(f"{self._coding_argument} has {n_columns} columns, more than max_columns={most}")
        return matrices

    #: The parameter that names the coding.
    _coding_argument: ClassVar[str] = "init"

    def _order_classes(self, order: list[Any] | None = None) -> None:
        """Keep the place of each class in the order that is given, or that `y` brings along, for an ordinal code.

        It is None if there is no order, and for other codes, of which meta-estimators may have replaced the labels.
        """
        given = getattr(self, "class_order", None)
        parameter = "coding" if hasattr(self, "coding") else "init"
        code = getattr(self, parameter, None)
        is_ordinal = is_named(code, "ordinal")
        if given is not None and not is_ordinal:
            used = repr(code) if isinstance(code, str) else "a function" if callable(code) else "a code matrix"
            raise ValueError(f'class_order needs {parameter}="ordinal", other codes have no order; got {used}')
        order = order if given is None else check_order(given)
        self._ranks = rank_classes(self.classes_, order) if is_ordinal and order is not None else None
        if is_ordinal and order is None:
            warn_of_alphabet(self.classes_, stacklevel=5)  # the line that called `fit`

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        """Return `n_folds`, None for no out-of-fold codewords, and whether "auto" is that of several learners."""
        return self.n_folds, is_several(self.estimator)

    def _folds(self, data: TrainingData, n_columns: int) -> tuple[Integers | None, bool]:
        """Return the fold of each sample, None for no out-of-fold codewords, and whether all are held out at once."""
        del n_columns
        return self._assign_folds(data, data.X, data.root)

    def _assign_folds(self, data: TrainingData, X: Any, seed: int) -> tuple[Integers | None, bool]:
        """Return folds by the hashes of samples, or those that all rows have in blocks."""
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
        calibration: tuple[NDArray[np.floating], Integers, Floats],
        *,
        response: Response,
        margin_scale: float = 1.0,
        column_learners: list[str] | None = None,
        held_out: bool = False,
    ) -> None:
        """Set the fitted attributes that every code has.

        `calibration` holds codewords, classes and weights; `held_out` says whether the codewords are out of fold.
        """
        self.code_matrix_, self.estimators_, self.decoder_ = matrix, learners, decoder
        self.decoding_ = decoding_name(decoder)
        self._prior, self._response, self._margin_scale = prior, response, margin_scale
        if is_several(self.estimator) and column_learners is not None:
            self.column_learners_ = np.array(column_learners)
        else:
            self.column_learners_ = np.full(len(learners), type(self._learner()).__name__)
        codewords, y, weight = calibration
        self.temperature_, self.calibration_ = 1.0, None
        if getattr(decoder, "scores_are_log_probabilities", False):
            return
        most = {"most": most_samples(len(self.classes_))} if held_out else {}
        samples, sample_weight = calibration_samples(y, weight, **most)
        scores, y = self._decode(codewords[samples]), y[samples]
        smoothing = {"smoothing": smoothing_of(scores, y, sample_weight)} if held_out else {}
        self.temperature_ = fit_temperature(scores, y, sample_weight, **smoothing)
        if held_out:
            self.calibration_ = fit_calibration(scores, y, sample_weight, self.temperature_, **smoothing)

    def _is_binned(self) -> bool:
        """Tell whether the one learner bins many samples, as blocks do."""
        return not is_several(self.estimator) and hasattr(self._learner(), "bin_rows")

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def _row_classes(self) -> Integers | None:
        """Class index of each row of the code matrix; None if there is one row per class."""
        return None

    def _decoder(self) -> Any:
        """Return the decoder that is to be fitted.

        Probabilities of columns follow weights of classes, and margins of any size compare; loss weights do neither.
        """
        is_auto = is_named(self.decoding, AUTO)
        default = "logistic-weight" if is_several(self.estimator) else "probabilistic"
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

    def _decode(self, codewords: NDArray[np.floating]) -> Floats:
        """Score every class for every codeword, ties resolved."""
        return decode(self.decoder_, codewords, self.code_matrix_, self._prior, self._row_classes)

    def learner_shares(self) -> dict[str, Floats]:
        """Return the share of each learner in the decoding of each class.

        Returns
        -------
        dict of str to ndarray of shape (n_classes,)
            Share of the learner's columns in the decoding weights of each class. For decodings without weights, their
            share in the columns with a non-zero entry for the class. The shares of a class sum to 1.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import WOLCClassifier
        >>> model = WOLCClassifier("mixed", random_state=0).fit(*load_iris(return_X_y=True))
        >>> shares = model.learner_shares()
        >>> sorted(shares), float(sum(shares.values())[0].round(6))
        (['boosting', 'logistic', 'stumps', 'svm', 'svm_sharp', 'trees'], 1.0)
        """
        check_is_fitted(self)
        weights = getattr(self.decoder_, "weights_", None)
        weights = (self.code_matrix_ != 0).astype(np.float64) if weights is None else weights
        total = weights.sum(axis=1)
        shares = weights / np.where(total > 0, total, 1.0)[:, None]
        if self._row_classes is not None:
            rows = self._row_classes
            shares = np.array([shares[rows == number].mean(axis=0) for number in range(len(self.classes_))])
        names = dict.fromkeys(self.column_learners_.tolist())
        return {name: shares[:, self.column_learners_ == name].sum(axis=1) for name in names}

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check the shape and the feature names of X; the learner checks its values."""
        refuse_data(self, X)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0 or len(X.columns) == 0:
                raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
            return X
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        return as_doubles(checked)

    def codewords(self, X: Any) -> Floats:
        """Predict the codeword of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Outputs of the learners: hard labels as -1 and 1, probabilities p as 2p - 1, or margins divided by the
            largest absolute margin of the training samples (so new samples can exceed 1). With several learners,
            margins f become tanh(f).
        """
        check_is_fitted(self)
        refuse_other_arrays(X=X)
        X = self._check_rows(X, reset=False)
        return self._outputs(self.estimators_, X)

    def _outputs(self, learners: list[BaseEstimator], X: Any) -> Floats:
        """Evaluate learners on checked samples; margins are divided by the constant of the fit."""
        outputs = evaluate_columns(learners, X, self._response, n_jobs=self.n_jobs)
        if self._margin_scale != 1.0:
            outputs /= self._margin_scale
        return outputs

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every sample, ties resolved."""
        return self._decode(self.codewords(X))

    def _from_scores(self, X: Any, summarise: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Compute something from the class scores of samples, so many at a time that memory is bounded."""
        check_is_fitted(self)
        refuse_other_arrays(X=X)
        block_size = max(1, _BLOCK_SCORES // len(self.classes_))
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) != 2 or shape[0] <= block_size:
            return summarise(self._class_scores(X))
        X = self._check_rows(X, reset=False)
        blocks = (_safe_indexing(X, rows) for rows in gen_batches(_num_samples(X), block_size))
        return np.concatenate([summarise(self._class_scores(block)) for block in blocks])

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every sample; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores of the decoding. With two classes, the score of the second class minus that of the first. Tied scores
            are separated by a tiny amount: ties are broken by the linear-loss score, then by the class prior, then by
            the order of `classes_`.
        """
        if is_dask(X):
            return self._mapped("decision_function", X)
        return self._from_scores(X, lambda scores: scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(
        self, X: Any, *, cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
    ) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
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
            Class labels: the classes of highest score. With costs or rejection, decisions are based on `predict_proba`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skecoc import ECOCClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ECOCClassifier(LogisticRegression(), random_state=0).fit(X, y)
        >>> some = X[[0, 98, 70]]
        >>> model.predict(some)
        array([0, 1, 2])
        >>> model.predict(some, cost_matrix=[[0, 1, 1], [1, 0, 9], [1, 1, 0]])  # predicting 2 for class 1 is expensive
        array([0, 1, 1])
        >>> model.predict(some, reject=0.9)
        array([ 0,  1, -1])
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._mapped("predict", X, cost_matrix=cost_matrix, reject=reject, reject_label=reject_label)
        if cost_matrix is not None or reject is not None:
            rule = make_rule(self.classes_, cost_matrix, reject, reject_label)
            return rule.decide(self.predict_proba(X))
        winners = self._from_scores(X, lambda scores: scores.argmax(axis=1))
        return self.classes_[winners]

    def predict_codewords(self, codewords: ArrayLike) -> NDArray[Any]:
        """Predict classes from codewords instead of samples.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Outputs of all columns, as `codewords` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        return self.classes_[self._decode(np.asarray(codewords, dtype=np.float64)).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Softmax of the decoding's scores divided by `temperature_`, calibrated on out-of-fold codewords by
            `calibration_`. The class returned by `predict` always has the largest probability: where calibration would
            rank other classes above it, it shares their total probability equally with them. Logistic weights, the
            default for several learners, give probabilities directly. Without folds (``n_folds=None``, or too many
            samples for folds) only the temperature is fitted, to training codewords, so the probabilities of strong
            learners are overconfident.
        """
        if is_dask(X):
            return self._mapped("predict_proba", X)
        return self._from_scores(X, self._probabilities)

    def _mapped(self, method: str, X: Any, **options: Any) -> Any:
        """Call a method for each partition of a Dask collection, lazily."""
        from skecoc.data.partitions import mapped

        check_is_fitted(self)
        return mapped(self, method, X, options)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Test samples.
        y : array-like or Dask collection of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; only for samples in memory.

        Returns
        -------
        float
            Accuracy.
        """
        if not is_dask(X):
            return float(super().score(X, y, sample_weight))
        from skecoc.data.partitions import score

        check_is_fitted(self)
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for Dask collections")
        return score(self, X, y)

    def _probabilities(self, scores: Floats) -> Floats:
        """Turn class scores, ties resolved, into probabilities."""
        return probabilities_of(scores, self.temperature_, self.calibration_)
