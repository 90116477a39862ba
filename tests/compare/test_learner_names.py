import sys

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from skecoc.compare.methods import LEARNERS, make_learner
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.support.errors import InputError

KINDS = {
    "stumps": StumpAdaBoostClassifier,
    "svm": TunedSVMClassifier,
    "logistic": LogisticRegression,
    "random-forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "hist-gradient-boosting": HistGradientBoostingClassifier,
    "mlp": MLPClassifier,
    "knn": KNeighborsClassifier,
}


@pytest.mark.parametrize("name", KINDS)
def test_short_names(name):
    learner = make_learner(name)
    last = learner[-1] if hasattr(learner, "steps") else learner
    assert type(last) is KINDS[name]


def test_every_short_name_is_tried_here():
    assert set(LEARNERS) == {*KINDS, "lightgbm"}


def test_learners_that_compare_distances_or_sizes_scale_the_features():
    X = np.array([[0.0, 5e5], [0.1, 0.0], [5.0, 5e5], [5.1, 0.0]] * 5)
    y = np.array([0, 0, 1, 1] * 5)
    for name in ("knn", "logistic", "mlp"):
        assert make_learner(f"{name}").fit(X, y).score(X, y) == 1.0


def test_lightgbm_is_found_or_missed_by_name(monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    assert type(make_learner("lightgbm num_leaves=7")) is lightgbm.LGBMClassifier
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match="learner: 'lightgbm' needs LightGBM: pip install lightgbm"):
        make_learner("lightgbm")


def test_import_paths_and_objects():
    assert isinstance(make_learner("sklearn.linear_model.LogisticRegression"), LogisticRegression)
    learner = GaussianNB()
    assert make_learner(learner) is learner


def test_parameters():
    forest = make_learner("random-forest n_estimators=500 max_features=None criterion=entropy")
    assert (forest.n_estimators, forest.max_features, forest.criterion) == (500, None, "entropy")
    assert make_learner("knn n_neighbors=3 weights='distance'")[-1].get_params()["weights"] == "distance"
    assert make_learner("mlp 'hidden_layer_sizes=(20, 10)'")[-1].hidden_layer_sizes == (20, 10)
    assert make_learner("sklearn.naive_bayes.GaussianNB var_smoothing=1e-3").var_smoothing == 1e-3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("stump", "learner: 'stump' is not known (did you mean 'stumps'?); expected stumps, svm, logistic"),
        ("", "learner: '' is not known"),
        (".x", "learner: '.x' is not known"),
        ("no_such_module.Learner", "learner: 'no_such_module.Learner' cannot be imported"),
        ("sklearn.svm.Nothing", "learner: 'sklearn.svm.Nothing' cannot be imported"),
        ("os.path.join", "learner: 'os.path.join' is not a scikit-learn classifier"),
        ("sklearn.linear_model.LinearRegression", "is not a scikit-learn classifier"),
        ("sklearn.ensemble.VotingClassifier", "cannot be made without arguments"),
        ("random-forest n_estimator=5", "'random-forest' has no parameter 'n_estimator' (did you mean 'n_estimators'"),
        ("knn zzz=5", "learner: 'knn' has no parameter 'zzz'; expected one of algorithm, "),
        ("random-forest n_estimators=-5", "learner: The 'n_estimators' parameter of RandomForestClassifier must be an"),
        ("random-forest 500", "learner: '500' of 'random-forest 500' is no parameter; expected NAME PARAMETER=VALUE"),
        ("random-forest 'x", 'learner: "random-forest \'x" cannot be read: No closing quotation'),
    ],
)
def test_learners_that_cannot_be(name, message):
    with pytest.raises(InputError) as caught:
        make_learner(name)
    assert message in str(caught.value)


def test_a_module_that_fails_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "failing_module.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"cannot be imported \(no licence\)"):
        make_learner("failing_module.Learner")
