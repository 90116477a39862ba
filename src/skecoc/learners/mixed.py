"""The learners of a classifier: one, or several by their names.

`LearnerComposition` gives a classifier its learners, with their parameters, sample weights and metadata; `MixedTrainer`
trains columns by several learners, each by the learner that it names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    TransformerMixin,
    is_classifier,
    is_clusterer,
    is_regressor,
)
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples

from skecoc.learners.binary import has_missing, may_take_missing, number_columns
from skecoc.learners.columns import (
    ALL_SAMPLES,
    HELD_OUT,
    MISSING,
    RESPONSES,
    SEEN,
    Column,
    ColumnTrainer,
    Floats,
    Integers,
    LearnerColumn,
    OnFit,
    Response,
    Samples,
    TrainedBefore,
    Trainer,
    evaluate_columns,
    takes_weights,
)
from skecoc.learners.multiclass import MulticlassLearner, MulticlassTrainer
from skecoc.learners.regions import RegionClassifier
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.support.errors import did_you_mean

#: The name of the library's own list of learners.
MIXED = "mixed"
#: In place of a learner: this member is left out.
DROP = "drop"

# Boosting fits one tree per class and iteration, so it is left out with more classes than this.
_MOST_CLASSES_OF_BOOSTING = 30
# A tree of boosting looks at all features in every node, which takes most of the time where there are very many.
_MOST_FEATURES_OF_BOOSTING = 1_000
# The time of support vector machines grows with the square of the samples, so they are left out with more.
_MOST_SAMPLES_OF_SVM = 20_000
# How names of the learner's own parameters begin.
_NESTED = "estimator__"


class LearnerComposition(MetaEstimatorMixin, _BaseComposition):
    """Mixin of classifiers whose `estimator` is one learner, a list of (name, learner) or "mixed".

    Learners are known by their names; a single one is called "".
    """

    estimator: Any
    n_jobs: int | None
    response_method: str
    verbose: int
    _grows: ClassVar[bool]

    def _learner(self) -> BaseEstimator:
        """Return the binary learner, the default one if none is given; of several, the first."""
        if is_several(self.estimator):
            return next(iter(resolve_learners(self.estimator).values()))
        return StumpAdaBoostClassifier() if self.estimator is None else self.estimator

    def _learners(
        self, n_classes: int | None = None, n_samples: int | None = None, n_features: int | None = None
    ) -> dict[str, BaseEstimator]:
        """Return the learners by their names; a single one is called ""."""
        if is_several(self.estimator):
            learners = resolve_learners(self.estimator, n_classes, n_samples, n_features)
            taken = sorted(learners.keys() & BaseEstimator.get_params(self, deep=False).keys())
            if taken:
                raise ValueError(f"names in estimator must not be those of parameters, got {', '.join(taken)}")
            return learners
        return {"": check_classifier(self._learner(), "estimator")}

    def _trainer(self, data: Any, folds: Integers | None, *, clustered_learner: Any, on_fit: OnFit) -> Any:
        """Return the trainer of the learners for which the training data have parameters."""
        warm: Any = getattr(self, "_warm", None)
        settings: dict[str, Any] = {
            "response_method": self.response_method,
            "folds": folds,
            "n_jobs": self.n_jobs,
            "verbose": 0 if self._grows else self.verbose,  # codes that grow report their rounds
            "on_fit": on_fit,
            "before": None if warm is None else warm.trained,
        }
        if is_several(self.estimator):
            learners = {name: learner for name, learner in self._learners().items() if name in data.params}
            settings.update(fit_params=data.params, rows=data.rows)
            return MixedTrainer(learners, data.X, data.y, data.root, **settings)
        settings.update(fit_params=data.params[""], clustered_learner=clustered_learner)
        return _make_trainer(data.rows, self._learner(), data.X, data.y, data.root, **settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this classifier and, if `deep`, of its learners.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the learner, as ``estimator__name``. With several learners, their
            parameters have the name of the learner as prefix, such as ``svm__C``, and the learners are included by
            their names.

        Returns
        -------
        dict
            Parameter values by name.
        """
        has_names = isinstance(self.estimator, list)
        return self._get_params("estimator", deep) if has_names else BaseEstimator.get_params(self, deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this classifier and of its learners.

        Parameters
        ----------
        **params : dict
            Parameter values, with the names of `get_params`. ``"drop"`` instead of one of several learners omits it.
            With ``estimator=None``, ``estimator__name`` sets `estimator` to the default learner with this parameter.

        Returns
        -------
        self
            This classifier.

        Examples
        --------
        >>> from skecoc import ECOCClassifier
        >>> ECOCClassifier().set_params(estimator__n_estimators=100)
        ECOCClassifier(estimator=StumpAdaBoostClassifier(n_estimators=100))
        """
        self._check_nested(params)
        estimator = params.get("estimator", self.estimator)
        nested = {name: value for name, value in params.items() if name.startswith(_NESTED)}
        if nested and estimator is None:
            own = {name.removeprefix(_NESTED): value for name, value in nested.items()}
            learner = StumpAdaBoostClassifier().set_params(**own)
            params = {name: value for name, value in params.items() if name not in nested} | {"estimator": learner}
        elif isinstance(estimator, str) and any("__" in name and not name.startswith("decoding__") for name in params):
            raise ValueError(
                f"the learners of estimator={estimator!r} have no parameters to set; set estimator to the list that "
                "skecoc.learners.mixed_learners() returns, then a learner's parameter such as stumps__n_estimators"
            )
        elif nested and isinstance(estimator, list):
            raise ValueError(
                f"{next(iter(nested))} is a parameter of a single learner; with several, it is named by the learner, "
                "such as svm__C"
            )
        if isinstance(estimator, list):
            return self._set_params("estimator", **params)
        return BaseEstimator.set_params(self, **params)

    def _check_nested(self, params: dict[str, Any]) -> None:
        """Check parameters of other parts than the learners."""

    def _route(
        self,
        learners: dict[str, BaseEstimator],
        weight: Floats | None,
        fit_params: dict[str, Any],
        method: str = "fit",
        *,
        is_given: bool = True,
    ) -> dict[str, dict[str, Any]]:
        """Collect the arguments of each learner's `fit`, or another method, by its name.

        Weights that are not given but follow from `class_weight` need no request of a learner.
        """
        is_mixed = isinstance(self.estimator, str)  # its learners take weights, and users cannot request them
        own = {} if weight is None else {"sample_weight": weight}
        if not is_mixed:
            check_class_weights(self, learners)
        if _routing_enabled() and not is_mixed and (is_given or fit_params):
            routed = process_routing(self, method, **fit_params, **(own if is_given else {}))
            added = {} if is_given else own
            for name, learner in learners.items() if added else ():
                _check_reached(_described(name, learner), learner, method, [*fit_params])
            return {name: {**routed[name or "estimator"][method], **added} for name in learners}
        if fit_params and is_several(self.estimator):
            raise ValueError(
                f"fit parameters of several learners need metadata routing, got {', '.join(sorted(fit_params))}"
            )
        for name, learner in learners.items():
            if weight is not None and not takes_weights(learner):
                raise ValueError(_no_weights(_described(name, learner), is_given))
        return {name: {**fit_params, **own} for name in learners}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of this object.

        Returns
        -------
        MetadataRouter
            `sample_weight` is used by the decoding and passed to the `fit` of the learners. Weights that result from
            `class_weight` are passed to the learners even if they do not request `sample_weight`, with one exception:
            learners that route metadata themselves, such as pipelines and searches, must request it if other metadata
            is passed.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if hasattr(self, "partial_fit"):
            mapping.add(caller="partial_fit", callee="partial_fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        if not isinstance(self.estimator, str):  # the learners of "mixed" are not parameters
            for name, learner in self._learners().items():
                router.add(method_mapping=mapping, **{name or "estimator": learner})
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            members = [get_tags(learner).input_tags for learner in self._learners().values()]
        except ValueError:  # `fit` raises it again
            return tags
        of_all = tags.input_tags
        of_all.sparse = of_all.allow_nan = of_all.categorical = True
        for member in members:
            of_all.sparse &= member.sparse
            # The learners of "mixed" take missing values, which tags of pipelines do not tell.
            of_all.allow_nan &= member.allow_nan or isinstance(self.estimator, str)
            of_all.categorical &= member.categorical
        return tags


def _make_trainer(rows: Any, learner: BaseEstimator, *given: Any, **settings: Any) -> ColumnTrainer:
    """Return a trainer for one learner: of stumps on rows in blocks, it trains from sums over them."""
    if rows is None or not isinstance(learner, StumpAdaBoostClassifier):
        return ColumnTrainer(learner, *given, **settings)
    from skecoc.learners.summed import SummedTrainer  # compiles more, for samples in blocks only

    settings["rows"] = rows
    return SummedTrainer(learner, *given, **settings)


def _described(name: str, learner: BaseEstimator) -> str:
    kind = type(learner).__name__
    return f"{name!r} in estimator, {kind}," if name else f"the estimator {kind}"


def _check_reached(which: str, learner: BaseEstimator, method: str, others: list[str]) -> None:
    """Refuse weights of classes for a learner that would not pass them on, since it routes other metadata."""
    routing = get_routing_for_object(learner)
    if not isinstance(routing, MetadataRouter):
        if not takes_weights(learner):
            raise ValueError(_no_weights(which, is_given=False))
    elif not routing.consumes(method, ["sample_weight"]):
        raise ValueError(
            f"class_weight reaches learners as sample_weight, and with {', '.join(sorted(others))} given as well, "
            f"{which} has to request it: call set_{method}_request(sample_weight=True) of the classifier within it"
        )


def _no_weights(which: str, is_given: bool) -> str:
    if is_given:
        return f"sample_weight was given, but {which} does not take it"
    return (
        f"class_weight needs learners that support sample_weight, which {which} does not: choose another learner, "
        "oversample rare classes before fit, or omit class_weight and use predict(X, cost_matrix=...)"
    )


def check_class_weights(owner: BaseEstimator, learners: dict[str, BaseEstimator]) -> None:
    """Refuse weights of classes within a binary learner, which knows nothing of them."""
    for learner in learners.values():
        sides = {0, 1} if not isinstance(learner, MulticlassLearner) else None
        for name, value in learner.get_params(deep=True).items():
            is_dict = name.rpartition("__")[2] == "class_weight" and isinstance(value, dict)
            if is_dict and (value.keys() - sides if sides else any(isinstance(label, str) for label in value)):
                raise ValueError(
                    f"{name}={value!r} of {type(learner).__name__} cannot be used: a binary learner knows the sides 0 "
                    f"and 1 of its column, not the classes. Give it as class_weight of {type(owner).__name__}"
                )


def is_several(estimator: Any) -> bool:
    """Tell whether `estimator` stands for several learners: a list, or "mixed"."""
    return isinstance(estimator, str | list)


def check_classifier(learner: Any, argument: str, alternative: str = "") -> Any:
    """Return a learner that predicts classes; raise a ValueError that names the kind of any other estimator."""
    is_class = isinstance(learner, type)
    if is_class or not hasattr(learner, "fit"):
        hint = f"; {learner.__name__}() makes one" if is_class else ""
        raise ValueError(f"{argument} must be a classifier{alternative}, got {learner!r}{hint}")
    if isinstance(learner, MulticlassLearner):
        check_classifier(learner.estimator, f"the estimator of {argument}")
    kind = "regressor" if is_regressor(learner) else "clusterer" if is_clusterer(learner) else ""
    has_methods = is_classifier(learner) or any(hasattr(learner, method) for method in RESPONSES)
    if hasattr(learner, "transform") and not has_methods:
        kind = "transformer, which may come before a classifier in make_pipeline"
    if kind:
        name = type(learner).__name__
        raise ValueError(f"{argument} must be a classifier{alternative}, got {learner!r}; {name} is a {kind}")
    return learner


def resolve_learners(
    estimator: Any, n_classes: int | None = None, n_samples: int | None = None, n_features: int | None = None
) -> dict[str, BaseEstimator]:
    """Return the learners that `estimator` stands for, by name, without those that are dropped.

    >>> resolve_learners([("a", StumpAdaBoostClassifier()), ("b", "drop")])
    {'a': StumpAdaBoostClassifier()}
    """
    if isinstance(estimator, str):
        if estimator != MIXED:
            raise ValueError(
                f"estimator must be a classifier, a list of (name, classifier) or 'mixed', got "
                f"{estimator!r}{did_you_mean(estimator, [MIXED])}"
            )
        return dict(mixed_learners(n_classes, n_samples=n_samples, n_features=n_features))
    pairs = list(estimator)
    well_formed = all(isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs)
    if not pairs or not well_formed:
        raise ValueError("estimator must be a classifier, 'mixed' or a list of (name, classifier) that is not empty")
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names) or any("__" in name or not name for name in names):
        raise ValueError(f"names in estimator must be different, not empty and without '__', got {names}")
    learners = {name: learner for name, learner in pairs if not (isinstance(learner, str) and learner == DROP)}
    if not learners:
        raise ValueError("estimator must have at least one classifier that is not dropped")
    for name, learner in learners.items():
        check_classifier(learner, f"{name!r} in estimator", " or 'drop'")
    return learners


def mixed_learners(
    n_classes: int | None = None, *, n_samples: int | None = None, n_features: int | None = None
) -> list[tuple[str, BaseEstimator]]:
    """Return the learners of ``estimator="mixed"``, the fastest first.

    Boosted stumps are trained column by column, and also by regions if the code grows. The others are multiclass
    learners that are fitted once: logistic regression, two support vector machines with ``C=1`` and ``C=100`` (these
    three scale the features), extra trees, and gradient boosting with small trees.

    Parameters
    ----------
    n_classes : int, default=None
        Number of classes. With more than 30, gradient boosting is omitted, since it trains one tree per class and
        iteration.
    n_samples : int, default=None
        Number of training samples. With more than 20,000, the support vector machines are omitted.
    n_features : int, default=None
        Number of features. With more than 1,000, gradient boosting is omitted.

    Returns
    -------
    list of (str, estimator)
        Named learners, for the parameter `estimator`.

    Examples
    --------
    >>> from skecoc.learners import mixed_learners
    >>> [name for name, _ in mixed_learners()]
    ['stumps', 'logistic', 'svm', 'svm_sharp', 'trees', 'boosting']
    """
    learners: list[tuple[str, BaseEstimator]] = [
        ("stumps", StumpAdaBoostClassifier()),
        ("logistic", _scaled(LogisticRegression(max_iter=1000))),
    ]
    if n_samples is None or n_samples <= _MOST_SAMPLES_OF_SVM:
        learners += [("svm", _scaled(SVC(C=1.0))), ("svm_sharp", _scaled(SVC(C=100.0)))]
    learners.append(("trees", MulticlassLearner(ExtraTreesClassifier(n_estimators=200))))
    if (n_classes or 0) <= _MOST_CLASSES_OF_BOOSTING and (n_features or 0) <= _MOST_FEATURES_OF_BOOSTING:
        boosting = HistGradientBoostingClassifier(max_leaf_nodes=8, early_stopping=False)
        learners.append(("boosting", MulticlassLearner(boosting)))
    return learners


def _scaled(estimator: BaseEstimator) -> MulticlassLearner:
    """Return a multiclass learner that scales its features, and takes a missing value for the mean of its feature."""
    return MulticlassLearner(make_pipeline(StandardScaler(), ZeroForMissing(), estimator))


class ZeroForMissing(TransformerMixin, BaseEstimator):
    """Replaces missing values by zero, which is the mean of a scaled feature; all others stay as they are."""

    def fit(self, X: Any, y: Any = None) -> "ZeroForMissing":  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, X: Any) -> Any:
        """Return samples without missing values."""
        if issparse(X):
            return X  # which are not scaled to mean zero
        values = np.asarray(X)
        is_missing = np.isnan(values)
        return np.where(is_missing, 0.0, values) if is_missing.any() else values

    def __sklearn_is_fitted__(self) -> bool:
        return True


class MarginColumn(LearnerColumn):
    """Trained learner of a column with margins or labels, in a code that also has learners with probabilities.

    Margins f become tanh(f), labels -1 and 1.

    Parameters
    ----------
    learner : classifier
        The trained learner.
    response : {"decision_function", "predict"}
        How it is evaluated.
    """

    def __init__(self, learner: BaseEstimator, response: Response) -> None:
        self.learner = learner
        self.response = response

    @staticmethod
    def _outputs_together(learners: Sequence["MarginColumn"], X: Any, response: Response) -> Floats:
        """Evaluate columns, learners of one kind in one pass."""
        outputs = np.empty((_num_samples(X), len(learners)))
        kinds: dict[Response, list[int]] = {}
        for q, column in enumerate(learners):
            kinds.setdefault("predict" if response == "predict" else column.response, []).append(q)
        for kind, members in kinds.items():
            outputs[:, members] = squash(evaluate_columns([learners[q].learner for q in members], X, kind), kind)
        return outputs


def squash(outputs: Floats, response: Response) -> Floats:
    """Bound margins by their hyperbolic tangent, so that they compare with probabilities; others stay."""
    return np.tanh(outputs) if response == "decision_function" else outputs


def _check_missing(learners: Mapping[str, BaseEstimator], X: Any) -> None:
    """Refuse missing values if some learners do not take them, by name."""
    plain = {name: getattr(learner, "_weighted_learner", learner) for name, learner in learners.items()}
    refusing = [name for name, learner in plain.items() if not may_take_missing(learner)]
    if refusing and has_missing(X):
        raise ValueError(
            f"X holds missing values (NaN), which {', '.join(map(repr, refusing))} in estimator cannot take; {MISSING}"
        )


class MixedTrainer:
    """Trains columns as other trainers do, each by the learner that it names, and puts all outputs on one scale."""

    def __init__(
        self,
        learners: Mapping[str, BaseEstimator],
        X: Any,
        y: Integers,
        root: int,
        response_method: str = "auto",
        *,
        fit_params: Mapping[str, Mapping[str, Any]] | None = None,
        folds: Integers | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_fit: OnFit = lambda: None,
        rows: Any = None,
        before: TrainedBefore | None = None,
    ) -> None:
        """`fit_params` has the arguments of each learner's `fit`; `rows` are the samples in blocks, if they are."""
        _check_missing(learners, X)
        self.X, self.y, self.root, self.folds, self.n_jobs = X, y, root, folds, n_jobs
        self.response: Response = "predict" if response_method == "predict" else "predict_proba"
        self.learner_names, self._on_fit = tuple(learners), on_fit
        # Seconds until all folds are trained, and seconds of one fit, of each learner; copies share them.
        self._seconds_left: dict[str, float] = {}
        self._seconds_per_fit: dict[str, float] = {}
        self._n_fits: Counter[str] = Counter()
        self.trainers: dict[str, Trainer] = {}
        for name, learner in learners.items():
            settings: dict[str, Any] = {
                "fit_params": (fit_params or {}).get(name, {}),
                "folds": folds,
                "n_jobs": n_jobs,
                "verbose": verbose,
                "on_fit": partial(self._count_fit, name),
                "before": None if before is None else before.members.setdefault(name, TrainedBefore()),
            }
            if isinstance(learner, MulticlassLearner):
                self.trainers[name] = MulticlassTrainer(learner, X, y, root, self.response, **settings)
            else:
                settings.update(response_method=response_method, clustered_learner=RegionClassifier(learner))
                self.trainers[name] = _make_trainer(rows, learner, X, y, root, **settings)

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the time until all folds are trained, once every learner has been trained on all samples."""
        return sum(self._seconds_left.values()) if self._seconds_left else None

    def _count_fit(self, name: str) -> None:
        self._n_fits[name] += 1
        if self._seconds_left:
            left = self._seconds_left.get(name, 0.0) - self._seconds_per_fit.get(name, 0.0)
            self._seconds_left[name] = max(left, 0.0)
        self._on_fit()

    @property
    def clusterable(self) -> frozenset[str]:
        """The names of the learners that can be trained by regions: none if no column holds numbers."""
        by_column = [name for name, trainer in self.trainers.items() if trainer.clusterable]
        return frozenset(by_column if len(number_columns(self.X)) else [])

    def relabelled(self, y: Integers) -> "MixedTrainer":
        """Return a trainer of the same samples, as they are prepared, with other class indices."""
        trainer = copy(self)
        trainer.y, trainer.trainers = y, {name: own.relabelled(y) for name, own in self.trainers.items()}
        return trainer

    def fit(self, columns: Sequence[Column], without_fold: int = ALL_SAMPLES) -> list[BaseEstimator]:
        """Train columns on all samples, or without those of a fold, and return their learners."""
        learners: list[Any] = [None] * len(columns)
        n_folds = 0 if self.folds is None or self._seconds_left else int(self.folds.max(initial=-1)) + 1
        seconds_left = {}
        for name, places, own in self._by_learner(columns):
            trainer, n_before, started = self.trainers[name], self._n_fits[name], perf_counter()
            found = trainer.fit(own, without_fold)
            seconds = perf_counter() - started
            if n_folds:
                seconds_left[name] = seconds * n_folds
                self._seconds_per_fit[name] = seconds / max(1, self._n_fits[name] - n_before)
            response = trainer.respond(found, f"{name!r} in estimator: ")
            for q, learner in zip(places, found, strict=True):
                learners[q] = learner if response == self.response else MarginColumn(learner, response)
        self._seconds_left.update(seconds_left)
        return learners

    def outputs(self, columns: Sequence[Column], samples: Samples = SEEN, *, tried: bool = False) -> Floats:
        """Evaluate columns on samples that learners have seen, or on held-out ones; see `Trainer`."""
        n_held_out = 0 if self.folds is None else int((self.folds >= 0).sum())
        outputs = np.empty((n_held_out if samples == HELD_OUT and n_held_out else len(self.y), len(columns)))
        for name, places, own in self._by_learner(columns):
            found = self.trainers[name].outputs(own, samples, tried=tried)
            outputs[:, places] = squash(found, self.trainers[name].response or self.response)
        return outputs

    def _by_learner(self, columns: Sequence[Column]) -> Iterator[tuple[str, list[int], list[Column]]]:
        """Yield each learner that has columns, their places and the columns."""
        for name in self.trainers:
            places = [q for q, column in enumerate(columns) if column.learner == name]
            if places:
                yield name, places, [columns[q] for q in places]
