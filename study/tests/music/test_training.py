"""Training on features of music: held-out results, the model, and its record."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from skecoc.cli.plugins import InputError
from skecoc.persistence import load_model, save_model
from skecoc.tables import calibration_bins, describe_model
from skecoc_study.music.experiment import MusicData, compare_music
from skecoc_study.music.folders import Collection
from skecoc_study.music.modulation import FEATURES, feature_slices
from skecoc_study.music.training import Evaluation, choose_recipe, evaluate, fit_model, make_card

NAIVE = "sklearn.naive_bayes.GaussianNB"


@pytest.fixture(scope="module")
def music():
    """A collection whose genres differ a little in every feature set; 20, 10 and 10 clips."""
    rng = np.random.default_rng(0)
    genres = np.repeat(["blues", "jazz", "rock"], [20, 10, 10])
    values = rng.normal(size=(40, feature_slices(22050)["all"].stop))
    for place, name in enumerate(FEATURES):
        values[:, feature_slices(22050)[name].start] += 3 * (genres == np.unique(genres)[place])
    tracks = np.repeat(np.arange(20).astype(str), 2)
    return Collection(Path("/home/me/my music"), np.arange(40).astype(str), genres, tracks, tracks, values, 22050)


@pytest.fixture(scope="module")
def found(music):
    return evaluate(music, choose_recipe(None, "mosc", NAIVE, 0), folds=4, n_jobs=1)


def test_held_out_accuracy_is_that_of_compare(music, found):
    compared = compare_music(
        MusicData({"mosc": music.feature("mosc")}, music.genres), ["wolc"], learner=NAIVE, folds=4, n_jobs=1
    )
    np.testing.assert_array_equal(found.accuracies, compared.values("accuracy").ravel())
    assert found.accuracy == pytest.approx((found.truth == found.predicted).mean())
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert found.majority == ("blues", 0.5)
    assert f"held-out accuracy {100 * found.accuracy:.1f} %" in found.headline()
    assert found.headline().endswith("always 'blues', the largest genre: 50.0 %")


class Known(Evaluation):
    """An evaluation of two genres, ten clips in each fold, of which so many are predicted correctly."""

    def __init__(self, *right):
        object.__setattr__(self, "right", np.array(right))
        truth = np.tile([0, 1], 5 * len(right))
        is_right = np.concatenate([np.arange(10) < count for count in right])
        super().__init__(None, np.array(["a", "b"]), truth, np.where(is_right, truth, 1 - truth), None)

    @property
    def accuracies(self):
        return self.right / 10


def test_intervals_know_how_few_clips_there_are():
    low, high = Known(10, 10, 10).interval
    assert high == 1.0
    assert low == pytest.approx(30 / (30 + 1.959964**2))  # Wilson's, with all of 30 correct
    even = Known(8, 8, 8, 8).interval
    spread = Known(6, 10, 6, 10).interval
    assert spread[0] < even[0] < 0.8 < even[1] < spread[1] <= 1.0


@pytest.mark.parametrize(
    ("right", "warning"),
    [([9, 9, 9, 9], None), ([6, 6, 6, 7], "not certain to be better"), ([4, 5, 5, 4], "no better")],
)
def test_guessing_is_said_in_words(right, warning):
    warnings = Known(*right).warnings()
    assert len(warnings) == (warning is not None)
    assert not warning or f"the model is {warning} than always predicting 'a'" in warnings[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((None, "all", None), ("mixed-features/logistic-weight", "all", None)),
        ((None, "all", "stumps"), ("wolc/optimized-weight", "all", "stumps")),
        ((None, "mosc", None), ("wolc/optimized-weight", "mosc", None)),
        (("mixed-features", "all", "stumps"), ("mixed-features/logistic-weight", "all", "stumps")),
        (("mixed", "mosc", None), ("mixed/logistic-weight", "mosc", None)),
    ],
)
def test_what_is_trained_unless_told_otherwise(arguments, expected):
    recipe = choose_recipe(*arguments, 0)
    assert (recipe.method, recipe.feature, recipe.learner) == expected


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(InputError, match="--feature: mixed-features has all of them, got 'mosc'"):
        choose_recipe("mixed-features", "mosc", None, 0)
    with pytest.raises(InputError, match="learner: mixed has its own learners"):
        choose_recipe("mixed", "all", "svm", 0)


@pytest.mark.parametrize(
    "learner", ["stumps", *(pytest.param(own, marks=pytest.mark.nightly) for own in (None, NAIVE))]
)
def test_a_mixture_is_saved_and_loaded_without_trust(learner, music, tmp_path):
    model = fit_model(music, choose_recipe("mixed-features", "all", learner, 0), n_jobs=1)
    save_model(model, tmp_path / "model.skops")
    X = music.values[::3]
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again[1:].predict_proba(X), model[1:].predict_proba(X))


def test_the_record_has_all_that_a_report_needs(music, found):
    recipe = choose_recipe(None, "mosc", NAIVE, 0)
    model = fit_model(music, recipe, n_jobs=1)
    card = make_card(music, recipe, found, model[-1], "track")
    np.testing.assert_array_equal(card["confusion"], confusion_matrix(found.truth, found.predicted))
    assert card["data"] == "my music"
    assert "/home" not in str(card)
    own, guessing = card["comparison"]
    assert (own["method"], own["is_chosen"], own["p_value"]) == ("wolc/optimized-weight", True, None)
    assert own["score"] == own["accuracy"] == found.accuracy
    assert (guessing["is_baseline"], guessing["columns"]) == (True, None)
    assert guessing["score"] == pytest.approx(0.5)
    assert guessing["difference"] == pytest.approx(0.5 - found.accuracy)
    assert card["measures"]["accuracy"] == pytest.approx(found.accuracy)
    assert card["options"]["group"] == "track"
    model[0].card_ = {**card, "calibration": calibration_bins(found.probabilities, found.truth)}
    description = describe_model(model)
    assert description["table"]["columns"] == [("mosc (104 numbers)", "modulation spectra")]
    assert description["held_out"]["confusion"] == card["confusion"].tolist()
    assert description["classes"] == ["blues", "jazz", "rock"]
