"""The learners of a classifier: one, or several by their names, with their parameters, weights and metadata."""

from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.metaestimators import _BaseComposition

from skecoc.learners.columns import ColumnTrainer, Floats, Integers, takes_weights
from skecoc.learners.mixed import MixedTrainer, is_several, resolve_learners
from skecoc.learners.stumps import StumpAdaBoostClassifier


class LearnerComposition(MetaEstimatorMixin, _BaseComposition):
    """What a classifier has whose `estimator` is one learner, a list of (name, learner) or "mixed".

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
        return {"": self._learner()}

    def _trainer(
        self, X: Any, y: Integers, root: int, fit_params: dict[str, Any], folds: Integers | None = None, **settings: Any
    ) -> Any:
        """Return a trainer of the learners that `fit_params` names; further settings are those of `ColumnTrainer`."""
        if is_several(self.estimator):
            learners = {name: learner for name, learner in self._learners().items() if name in fit_params}
            for name in ("response", "clustered_learner"):
                settings.pop(name, None)
            return MixedTrainer(
                learners,
                X,
                y,
                root,
                self.response_method,
                fit_params=fit_params,
                folds=folds,
                n_jobs=self.n_jobs,
                **settings,
            )
        make_trainer = settings.pop("make_trainer", ColumnTrainer)
        return make_trainer(
            self._learner(), X, y, root, fit_params=fit_params[""], folds=folds, n_jobs=self.n_jobs, **settings
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this classifier and, if `deep`, of its learners.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the learner as ``estimator__name``; those of several learners are
            called by the learners' names, such as ``svm__C``, and the learners by their names alone.

        Returns
        -------
        dict
            Values by names.
        """
        has_names = isinstance(self.estimator, list)
        return self._get_params("estimator", deep) if has_names else BaseEstimator.get_params(self, deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this classifier and of its learners.

        Parameters
        ----------
        **params : dict
            Values by the names that `get_params` returns; ``"drop"`` in place of one of several learners leaves it out.

        Returns
        -------
        self
            This classifier.
        """
        if isinstance(params.get("estimator", self.estimator), list):
            return self._set_params("estimator", **params)
        return BaseEstimator.set_params(self, **params)

    def _route(
        self, learners: dict[str, BaseEstimator], weight: Floats | None, fit_params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Collect the arguments of each learner's `fit`, by its name."""
        is_mixed = isinstance(self.estimator, str)  # its learners take weights, and nobody could ask them to
        if _routing_enabled() and not is_mixed:
            given = fit_params if weight is None else {**fit_params, "sample_weight": weight}
            routed = process_routing(self, "fit", **given)
            return {name: dict(routed[name or "estimator"].fit) for name in learners}
        if fit_params and is_several(self.estimator):
            raise ValueError(
                f"fit parameters of several learners need metadata routing, got {', '.join(sorted(fit_params))}"
            )
        for name, learner in learners.items():
            if weight is not None and not takes_weights(learner):
                kind = type(learner).__name__
                which = f"{name!r} in estimator, {kind}," if name else f"the estimator {kind}"
                raise ValueError(f"sample_weight was given, but {which} does not take it")
        weights = {} if weight is None else {"sample_weight": weight}
        return {name: {**fit_params, **weights} for name in learners}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata that this classifier uses and passes on.

        Returns
        -------
        MetadataRouter
            `sample_weight` is used by the decoding and passed on to the learner's `fit`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
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
        tags.input_tags.allow_nan = all(member.allow_nan for member in members)
        return tags
