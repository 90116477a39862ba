"""Arrays from files: what does not fit together never reaches compiled code."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.datasets import load_uci
from skecoc.learners import RegionClassifier
from skecoc.persistence.restored import check_restored, unchecked_types


@pytest.fixture(scope="module")
def models():
    X, y = load_uci("iris", return_X_y=True)
    frame = pd.DataFrame({"kind": pd.Categorical(np.where(X[:, 0] > 5.5, "long", "short")), "width": X[:, 1]})
    return {
        "stumps": ECOCClassifier(random_state=0).fit(X[::3], y[::3]),
        "categories": ECOCClassifier(random_state=0).fit(frame[::3], y[::3]),
        "regions": ECOCClassifier(RegionClassifier(), random_state=0).fit(X[::3], y[::3]),
        "machines": ECOCClassifier(SVC(), response_method="predict", random_state=0).fit(X[::3], y[::3]),
        "weights": WOLCClassifier(random_state=0).fit(X[::3], y[::3]),
    }


def set_feature(model):
    model.estimators_[1].features_[0] = 4


def set_negative_feature(model):
    model.estimators_[1].features_[0] = -2


def shorten(model):
    model.estimators_[0].thresholds_ = model.estimators_[0].thresholds_[:-1]


def change_type(model):
    model.estimators_[0].features_ = model.estimators_[0].features_.astype(float)


def make_a_list(model):
    model.estimators_[0].alphas_ = model.estimators_[0].alphas_.tolist()


def count_more(model):
    model.estimators_[0].n_estimators_ += 1


def widen_one_column(model):
    model.estimators_[2].n_features_in_ = 100
    model.estimators_[2].features_[0] = 99


def number_sides(model):
    model.estimators_[0].missing_left_ = model.estimators_[0].missing_left_.astype(np.int64)


def cut_sides(model):
    model.estimators_[0].missing_left_ = model.estimators_[0].missing_left_[:-1]


def invent_a_category(model):
    model.estimators_[1].features_[0] = model.estimators_[1].features_.max() + 1000


def lose_a_column(model):
    model.estimators_[0].categories_ = model.estimators_[0].categories_[1:]


def forget_features(model):
    del model.estimators_[0].n_features_in_


def cut_centres(model):
    model.estimators_[0].centres_ = model.estimators_[0].centres_[:, :2]


def hide_in_a_region(model):
    region = next(learner for each in model.estimators_ for learner in each.estimators_ if learner is not None)
    region.features_[0] = 1_000_000


def cut_tie_shares(model):
    model.decoder_.tie_shares_ = model.decoder_.tie_shares_[:1]


def hide_in_a_stage(model):
    model._stages[0].tie_shares_ = np.zeros((3, 3))


def add_vectors(model):
    machine = model.estimators_[0]
    machine.support_vectors_ = np.repeat(machine.support_vectors_, 1000, axis=0)


def count_more_vectors(model):
    model.estimators_[0]._n_support = model.estimators_[0]._n_support * 1000


def cut_coefficients(model):
    model.estimators_[0]._dual_coef_ = model.estimators_[0]._dual_coef_[:, :1]


def cut_indices(model):
    model.estimators_[0].support_ = model.estimators_[0].support_[:1]


def forget_intercepts(model):
    model.estimators_[0]._intercept_ = np.zeros(0)


def make_floats_of_counts(model):
    model.estimators_[0]._n_support = model.estimators_[0]._n_support.astype(float)


def lengthen_probabilities(model):
    model.estimators_[0]._probA = np.zeros(7)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("stumps", set_feature),
        ("stumps", set_negative_feature),
        ("stumps", shorten),
        ("stumps", change_type),
        ("stumps", make_a_list),
        ("stumps", count_more),
        ("stumps", widen_one_column),
        ("stumps", forget_features),
        ("categories", invent_a_category),
        ("categories", lose_a_column),
        ("stumps", number_sides),
        ("stumps", cut_sides),
        ("regions", cut_centres),
        ("regions", hide_in_a_region),
        ("machines", add_vectors),
        ("machines", count_more_vectors),
        ("machines", cut_coefficients),
        ("machines", cut_indices),
        ("machines", forget_intercepts),
        ("machines", make_floats_of_counts),
        ("machines", lengthen_probabilities),
        ("weights", cut_tie_shares),
        ("weights", hide_in_a_stage),
    ],
)
def test_damage_is_found_wherever_it_hides(models, name, damage):
    check_restored(models[name])
    damaged = copy.deepcopy(models[name])
    damage(damaged)
    for holder in (damaged, [damaged], {"a": (damaged,)}, np.array([damaged], dtype=object)):
        with pytest.raises(ValueError, match=r"stump|feature|centres|tie_shares_|SVM"):
            check_restored(holder)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2, 0, 1, 2, 0]])
@pytest.mark.parametrize("machine", [SVC(), SVC(kernel="linear", probability=True), OneClassSVM(), SVR()])
def test_machines_as_they_were_trained_pass(machine, labels):
    rows = np.random.default_rng(0).normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn is about to drop `probability`
        check_restored(machine.fit(rows, labels * 4))


def test_anything_else_passes_also_circles():
    circle = [1, "text", None, ECOCClassifier(), RegionClassifier()]
    circle.append(circle)
    check_restored(circle)


def test_estimators_that_hand_arrays_to_compiled_code_are_named():
    chained = make_pipeline(StandardScaler(), PCA(1), KMeans(2), KernelDensity())
    found = unchecked_types({"a": [chained]})
    assert found == {"sklearn.cluster._kmeans.KMeans", "sklearn.neighbors._kde.KernelDensity"}


def test_text_that_is_none_is_refused():
    model = ECOCClassifier().fit(*load_uci("iris", return_X_y=True))
    model.column_learners_ = np.array([2**31 - 1] * 3, dtype="u4").view("U1")
    with pytest.raises(ValueError, match="an array of text holds something else"):
        check_restored(model)
