"""Train a model of genres: cross-validation first, then one fit to all clips, and a record of what was found."""

import platform
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

import skecoc
from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import common_measures
from skecoc.compare.statistics import corrected_t_test, interval_of_folds
from skecoc_study.music.experiment import MusicComparison, MusicData, compare_music
from skecoc_study.music.folders import Collection
from skecoc_study.music.frontends import Floats
from skecoc_study.music.methods import (
    ALL,
    DEFAULT_LEARNER,
    MIXED_FEATURES,
    WOLC,
    check_music_methods,
    has_own_learners,
    make_music_classifier,
)
from skecoc_study.music.modulation import FEATURES
from skecoc_study.music.transformer import ModulationFeatures


@dataclass(frozen=True)
class Recipe:
    """What a model is made of; the learner is None for the method's usual one."""

    method: str
    feature: str = ALL
    learner: str | None = None
    seed: int = 0

    def classifier(self, music: Collection | None = None) -> Any:
        """Build the unfitted classifier; without music, one that shows what its file would hold."""
        sizes = {name: 1 if music is None else music.feature(name).shape[1] for name in FEATURES}
        return make_music_classifier(self.method, self.learner, self.seed, sizes)


def choose_recipe(method: str | None, feature: str, learner: str | None, seed: int) -> Recipe:
    """Complete what a user has named: all features mixed unless there is a learner or one feature, then WOLC-ECOC.

    >>> choose_recipe(None, "all", None, 0).method, choose_recipe(None, "mosc", None, 0).method
    ('mixed-features/logistic-weight', 'wolc/optimized-weight')
    """
    if method is None:
        method = MIXED_FEATURES if learner is None and feature == ALL else WOLC
    (method,) = check_music_methods([method])
    if method == MIXED_FEATURES and feature != ALL:
        raise InputError(f"--feature: mixed-features has all of them, got {feature!r}")
    if has_own_learners(method) and learner is not None:
        raise InputError(
            f"learner: {method.partition('/')[0]} has its own learners; leave out the method or the learner"
        )
    return Recipe(method, feature, learner, seed)


@dataclass(frozen=True)
class Evaluation:
    """Held-out results of the method that a model is made by."""

    comparison: MusicComparison
    genres: NDArray[Any]  # the classes
    truth: NDArray[np.intp]  # of all clips, as their places among the genres
    predicted: NDArray[np.intp]
    probabilities: Floats

    @property
    def accuracies(self) -> Floats:
        """Accuracy of each fold."""
        return self.comparison.values("accuracy").ravel()

    @property
    def accuracy(self) -> float:
        """Mean accuracy of the folds."""
        return float(self.accuracies.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the accuracy.

        The wider one of two: that of the folds' mean, which share training clips and may hold several clips of a
        track, and that of so many clips, which knows that few of them prove little even if all are correct.
        """
        return interval_of_folds(self.accuracies, len(self.truth))

    @property
    def majority(self) -> tuple[str, float]:
        """The largest genre, and the share of the clips that it has."""
        counts = np.bincount(self.truth)
        return str(self.genres[counts.argmax()]), float(counts.max() / len(self.truth))

    def headline(self) -> str:
        """Say in one line how good the model is."""
        low, high = self.interval
        genre, share = self.majority
        settings = self.comparison.settings
        kept = "" if settings["groups"] is None else f", {settings['groups']} groups kept whole"
        return (
            f"held-out accuracy {100 * self.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f} %, "
            f"{settings['folds']} folds{kept}); always {genre!r}, the largest genre: {100 * share:.1f} %"
        )

    def warnings(self) -> list[str]:
        """Say so if the model may be no better than guessing."""
        genre, share = self.majority
        if self.interval[0] > share:
            return []
        verdict = "not certain to be better" if self.accuracy > share else "no better"
        return [f"the model is {verdict} than always predicting {genre!r}, the largest genre"]


def evaluate(
    music: Collection,
    recipe: Recipe,
    groups: NDArray[Any] | None = None,
    *,
    folds: int = 5,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Evaluation:
    """Cross-validate a method on the folds and with the seeds of `compare_music`."""
    blocks = {name: music.feature(name) for name in FEATURES}
    comparison = compare_music(
        MusicData({recipe.feature: music.feature(recipe.feature)}, music.genres, groups, blocks),
        [recipe.method],
        learner=recipe.learner,
        folds=folds,
        seed=recipe.seed,
        n_jobs=n_jobs,
        show_progress=show_progress,
        keep_predictions=True,
    )
    genres, truth = np.unique(music.genres, return_inverse=True)
    predicted = np.empty(len(truth), dtype=np.intp)
    probabilities = np.empty((len(truth), len(genres)))
    for part in comparison.held_out:
        predicted[part.rows] = part.predicted
        probabilities[part.rows] = part.probabilities
    return Evaluation(comparison, genres, truth, predicted, probabilities)


def fit_model(music: Collection, recipe: Recipe, n_jobs: int | None = None) -> Pipeline:
    """Train a model on all clips, which predicts genres of audio files."""
    scaler, classifier = MinMaxScaler(), recipe.classifier(music)
    X = scaler.fit_transform(music.feature(recipe.feature))
    try:
        # The model's file tells nothing of this machine: neither the number of jobs nor the cache is a part of it.
        with parallel_config(n_jobs=n_jobs):
            classifier.fit(X, music.genres)
    except ValueError as error:
        raise InputError(f"cannot train {recipe.method!r}: {error}") from error
    features = ModulationFeatures(recipe.feature, rate=music.rate).fit([])
    return Pipeline([("features", features), ("scale", scaler), ("classify", classifier)])


def make_card(
    music: Collection, recipe: Recipe, found: Evaluation, classifier: Any, group_by: str = ""
) -> dict[str, Any]:
    """Sum up what is known of a model, as plain values that its file carries and its report shows."""
    genre, share = found.majority
    settings = found.comparison.settings
    members = dict.fromkeys(map(str, getattr(classifier, "column_learners_", [])))
    names = [recipe.feature] if recipe.feature != ALL else list(FEATURES)
    return {
        "data": music.root.resolve().name,
        "target": "genre",
        "n_rows": len(found.truth),
        "class_counts": np.bincount(found.truth),
        "columns": {f"{name} ({music.feature(name).shape[1]} numbers)": "modulation spectra" for name in names},
        "method": recipe.method,
        "learner": recipe.learner or (", ".join(members) if len(members) > 1 else DEFAULT_LEARNER),
        "folds": settings["folds"],
        "seed": recipe.seed,
        "notes": list(found.comparison.notes),
        "metric": {"name": "accuracy", "higher_is_better": True, "in_percent": True},
        "comparison": _compared(recipe, found),
        "interval": list(found.interval),
        "scores": found.accuracies.tolist(),
        "reason": "No other method was tried; skecoc music compare compares several.",
        "warnings": found.warnings(),
        "majority": {"class": genre, "share": share},
        "measures": common_measures(found.truth, found.predicted, found.probabilities, len(found.genres)),
        "confusion": confusion_matrix(found.truth, found.predicted, labels=np.arange(len(found.genres))),
        "important": {},
        "command": "",
        "test": None,
        "options": {"class_weight": "", "group": group_by, "order": [], "compared_rows": len(found.truth)},
        "versions": {
            "scikit-ecoc": skecoc.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "Python": platform.python_version(),
        },
    }


def _compared(recipe: Recipe, found: Evaluation) -> list[dict[str, Any]]:
    """Compare the method with always predicting the largest genre."""
    by_fold = [
        np.mean(found.truth[part.rows] == np.bincount(found.truth).argmax()) for part in found.comparison.held_out
    ]
    test = corrected_t_test(by_fold, found.accuracies, test_share=1 / (len(by_fold) - 1))
    own = {
        "method": recipe.method,
        "score": found.accuracy,
        "std": float(found.accuracies.std(ddof=1)),
        "accuracy": found.accuracy,
        "columns": float(found.comparison.values("n_columns").mean()),
        "fit_seconds": float(np.median(found.comparison.values("fit_seconds"))),
        "difference": 0.0,
        "p_value": None,
        "is_chosen": True,
        "is_baseline": False,
    }
    guessing = {
        "method": "sklearn/majority",
        "score": float(np.mean(by_fold)),
        "std": float(np.std(by_fold, ddof=1)),
        "accuracy": float(np.mean(by_fold)),
        "columns": None,
        "fit_seconds": 0.0,
        "difference": float(np.mean(by_fold)) - found.accuracy,
        "p_value": test.p_value,
        "is_chosen": False,
        "is_baseline": True,
    }
    return [own, guessing]
