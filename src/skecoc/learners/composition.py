"""The learners of a classifier: one, or several by their names, with their parameters, weights and metadata."""

from functools import partial
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import _BaseComposition

from skecoc.learners.columns import ColumnTrainer, Floats, Integers, OnFit, takes_weights
from skecoc.learners.mixed import MixedTrainer, check_classifier, is_several, resolve_learners
from skecoc.learners.multiclass import MulticlassLearner
from skecoc.learners.stumps import StumpAdaBoostClassifier

# How names of the learner's own parameters begin.
_NESTED = "estimator__"


class LearnerComposition(MetaEstimatorMixin, _BaseComposition):
    """Mixin of classifiers whose `estimator` is one learner, a list of (name, learner) or "mixed".

    Learners are known by their names; a single one is called "".
    """

    estimator: Any
    n_jobs: int | None
    response_method: str

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
        """Return the trainer of the learners that the parameters of training data name."""
        warm: Any = getattr(self, "_warm", None)
        settings: dict[str, Any] = {
            "response_method": self.response_method,
            "folds": folds,
            "n_jobs": self.n_jobs,
            "verbose": self._joblib_verbosity(),
            "on_fit": on_fit,
            "before": None if warm is None else warm.trained,
        }
        make = partial(_make_trainer, data.rows)
        if is_several(self.estimator):
            learners = {name: learner for name, learner in self._learners().items() if name in data.params}
            given = (data.X, data.y, data.root)
            return MixedTrainer(learners, *given, **settings, fit_params=data.params, make_trainer=make)
        settings.update(fit_params=data.params[""], clustered_learner=clustered_learner)
        return make(self._learner(), data.X, data.y, data.root, **settings)

    def _joblib_verbosity(self) -> int:
        """Return what joblib is told to report."""
        return 0

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
        is_mixed = isinstance(self.estimator, str)  # its learners take weights, and nobody could ask them to
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
        if not isinstance(self.estimator, str):  # the learners of "mixed" are no concern of others
            for name, learner in self._learners().items():
                router.add(method_mapping=mapping, **{name or "estimator": learner})
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            members = [get_tags(learner).input_tags for learner in self._learners().values()]
        except ValueError:  # `fit` says what is wrong with the learners
            return tags
        tags.input_tags.sparse = all(member.sparse for member in members)
        # The learners of "mixed" take missing values, which pipelines do not tell of.
        tags.input_tags.allow_nan = isinstance(self.estimator, str) or all(member.allow_nan for member in members)
        tags.input_tags.categorical = all(member.categorical for member in members)
        return tags


def _make_trainer(rows: Any, learner: BaseEstimator, *given: Any, **settings: Any) -> ColumnTrainer:
    """Return a trainer from sums for stumps if there are rows in blocks, one that trains on samples otherwise."""
    if rows is None or not isinstance(learner, StumpAdaBoostClassifier):
        return ColumnTrainer(learner, *given, **settings)
    from skecoc.learners.summed import SummedTrainer  # compiles more, for samples in blocks only

    settings["rows"] = rows
    return SummedTrainer(learner, *given, **settings)


def _described(name: str, learner: BaseEstimator) -> str:
    """Return what an error message calls a learner."""
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
    """Say that a learner takes no weights, which are given or follow from class_weight."""
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
