"""All classifiers of scikit-learn as files: they need no trust, and forged ones are refused before they predict."""

import copy
import inspect
import io
import re
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestCentroid,
    NearestNeighbors,
    RadiusNeighborsClassifier,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from skecoc import ECOCClassifier, persistence
from skecoc.datasets import load_uci
from skecoc.persistence import ModelFileError, dump_model, load_model, save_model
from skecoc.persistence.restored import check_restored, unchecked_types
from skecoc.tables import TableClassifier
from tests.grids import few
from tests.tables.things import make_things

pytestmark = pytest.mark.usefixtures("one_thread")

X, y = load_uci("iris", return_X_y=True)
X, y = X[::3], np.unique(y[::3], return_inverse=True)[1]

SMALL = {
    "estimator": DecisionTreeClassifier(max_depth=2, random_state=0),
    "base_estimator": LogisticRegression(),
    "estimators": [("a", LogisticRegression()), ("b", DecisionTreeClassifier(random_state=0))],
    "n_estimators": 3,
    "max_iter": 20,
    "random_state": 0,
}
# Several classes for each sample, two classes only, and one that keeps the function which it was tuned by.
OTHERS = {"ClassifierChain", "MultiOutputClassifier", "FixedThresholdClassifier", "TunedThresholdClassifierCV"}
CLASSIFIERS = [kind for name, kind in all_estimators(type_filter="classifier") if name not in OTHERS]


def small(kind):
    """Make a classifier that is trained in no time."""
    known = set(inspect.signature(kind).parameters)
    if "estimator" in known:
        known.discard("base_estimator")  # older versions have the former name beside it
    return kind(**{name: copy.deepcopy(value) for name, value in SMALL.items() if name in known})


def survive(model, path, samples=X):
    """Save and load a model; check that it predicts the same."""
    save_model(model, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(samples), model.predict(samples))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(loaded.predict_proba(samples), model.predict_proba(samples), rtol=1e-9, atol=1e-300)
    return loaded


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", few(CLASSIFIERS, 15), ids=lambda kind: kind.__name__)
def test_classifiers_of_scikit_learn_need_no_trust(kind, tmp_path):
    survive(small(kind).fit(X, y), tmp_path / "alone.skops")
    survive(ECOCClassifier(small(kind), coding="one-vs-rest", random_state=0).fit(X, y), tmp_path / "columns.skops")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "classifier",
    [
        KNeighborsClassifier(3, algorithm="ball_tree", weights="distance", p=3),
        KNeighborsClassifier(3, algorithm="brute"),
        KNeighborsClassifier(1, metric="cosine"),
        RadiusNeighborsClassifier(5.0),
        GradientBoostingClassifier(n_estimators=2, init="zero"),
        GradientBoostingClassifier(n_estimators=2, n_iter_no_change=1, random_state=np.random.RandomState(0)),
        CalibratedClassifierCV(KNeighborsClassifier(), method="isotonic", cv=2),
        GaussianProcessClassifier(kernels.Matern() + kernels.WhiteKernel() * kernels.DotProduct(), optimizer=None),
        BaggingClassifier(KNeighborsClassifier(1), 2, max_features=2, random_state=0),
        MLPClassifier((4,), solver="sgd", max_iter=5, random_state=0),
        MLPClassifier((4,), solver="lbfgs", max_iter=5, random_state=0),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2),
        LabelSpreading(kernel="knn"),
        make_pipeline(StandardScaler(), SVC()),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(OneHotEncoder(handle_unknown="ignore", max_categories=4, drop="first"), LogisticRegression()),
        DummyClassifier(strategy="uniform", random_state=0),
    ],
    ids=lambda model: re.sub(r"\W+", "-", str(model))[:60],
)
def test_options_of_learners_need_no_trust(classifier, tmp_path):
    survive(classifier.fit(X, y), tmp_path / "model.skops")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "classifier",
    [
        KNeighborsClassifier(),
        GradientBoostingClassifier(n_estimators=2),
        MLPClassifier((4,), max_iter=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        DummyClassifier(),
        ECOCClassifier(KNeighborsClassifier(), coding="one-vs-one"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tables_take_any_classifier(classifier, tmp_path):
    frame = make_things()
    model = TableClassifier(classifier).fit(frame.drop(columns="kind"), frame["kind"])
    survive(model, tmp_path / "model.skops", frame)


def test_neighbours_are_stored_without_a_search_tree(tmp_path):
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, y)
    assert b"KDTree" not in dump_model(model)
    assert vars(model)["_tree"] is not None  # saving does not change a model
    loaded = survive(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.kneighbors(X)[1], model.kneighbors(X)[1])
    assert vars(loaded).keys() == vars(model).keys()


def test_names_of_features_are_kept(tmp_path):
    frame = make_things()[["größe, cm"]]
    model = KNeighborsClassifier(3).fit(frame, np.arange(len(frame)) % 2)
    assert survive(model, tmp_path / "model.skops", frame).feature_names_in_.tolist() == ["größe, cm"]


@pytest.mark.parametrize("model", [LocalOutlierFactor(2, novelty=True), GradientBoostingRegressor(n_estimators=1)])
def test_what_is_not_checked_is_named(model):
    model.fit(X, y)
    assert unchecked_types([model]) == {f"{type(model).__module__}.{type(model).__name__}"}


def attribute(value, *path):
    """Replace an attribute of a part, which names and numbers lead to."""

    def damage(model):
        for step in path[:-1]:
            model = getattr(model, step) if isinstance(step, str) else model[step]
        if isinstance(path[-1], str):
            setattr(model, path[-1], value)
        else:
            model[path[-1]] = value

    return damage


def change(*path, to):
    """Replace an attribute by what a function makes of it."""

    def damage(model):
        for step in path[:-1]:
            model = getattr(model, step) if isinstance(step, str) else model[step]
        setattr(model, path[-1], to(getattr(model, path[-1])))

    return damage


def swap_a_tree(model):
    """Let boosting hold a tree of several values, as those of classifiers are."""
    model.estimators_[1, 0] = DecisionTreeClassifier().fit(X, y)


def widen_a_tree(model):
    """Let a tree of boosting look at features that samples do not have, with a check of its own that agrees."""
    model.estimators_[1, 0] = type(model.estimators_[0, 0])().fit(np.tile(X, 25)[:, ::-1], y)


def swap_a_node(model):
    state = model.estimators_[0, 0].tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"]["feature"][0] = 10**6
    model.estimators_[0, 0].tree_.__setstate__(state)


def make_random_state(place):
    generator = np.random.RandomState(0)
    state = generator.get_state(legacy=False)
    state["state"]["pos"] = place
    generator.set_state(state)
    return generator


NEIGHBOURS = [
    (attribute(10**9, "_y", 0), "a class that is not there"),
    (attribute(-1, "_y", 0), "a class that is not there"),
    (change("_y", to=lambda codes: codes[:5]), "other outcomes than samples"),
    (change("_y", to=lambda codes: codes.astype(float)), "other outcomes than samples"),
    (change("_y", to=lambda codes: codes.astype(object)), "other outcomes than samples"),
    (change("_y", to=lambda codes: codes[:, None]), "several for a sample"),
    (change("classes_", to=list), "no classes"),
    (change("classes_", to=lambda classes: classes[::-1]), "other classes than samples"),
    (change("classes_", to=lambda classes: np.append(classes, 9)), "other classes than samples"),
    (change("_fit_X", to=lambda samples: samples.astype(object)), "no numbers"),
    (change("_fit_X", to=lambda samples: samples.astype("U9")), "no numbers"),
    (change("_fit_X", to=lambda samples: samples.ravel()), "no numbers"),
    (change("_fit_X", to=lambda samples: samples.tolist()), "no numbers"),
    (change("_fit_X", to=lambda samples: samples[:, :2]), "other features than samples"),
    (change("_fit_X", to=lambda samples: samples * np.nan), "NaN"),
    (attribute("precomputed", "metric"), "by a distance other than"),
    (attribute(np.add, "metric"), "by a distance other than"),
    (attribute({"w": np.ones(2)}, "metric_params"), "by a distance other than"),
    (attribute(np.add, "weights"), "unknown weights"),
    (attribute("nonsense", "algorithm"), "algorithm"),
    (attribute(0, "leaf_size"), "leaf_size"),
    (attribute(10**9, "n_jobs"), "n_jobs"),
    (attribute(np.abs, "kneighbors"), "other methods than its type"),
]
BOOSTING = [
    (swap_a_tree, "is no tree"),
    (attribute(None, "estimators_", (1, 0)), "is no tree"),
    (widen_a_tree, "different features"),
    (swap_a_node, "a feature that is not there"),
    (change("estimators_", to=lambda trees: trees[:, :2]), "other trees than classes"),
    (change("estimators_", to=lambda trees: trees[:0]), "other trees than classes"),
    (change("estimators_", to=np.ndarray.tolist), "other trees than classes"),
    (change("classes_", to=lambda classes: classes[:2]), "other trees than classes"),
    (attribute(7, "n_trees_per_iteration_"), "other trees than classes"),
    (attribute(None, "_loss"), "does not fit the classes"),
    (attribute(False, "_loss", "is_multiclass"), "does not fit the classes"),
    (attribute(DummyClassifier().fit(X[:30], y[:30]), "init_"), "does not fit the classes"),
    (attribute(DummyClassifier(strategy="uniform").fit(X, y), "init_"), "does not fit the classes"),
    (attribute(np.ones(50) / 50, "init_", "class_prior_"), "does not fit the classes"),
    (attribute(KNeighborsClassifier().fit(X, y), "init_"), "another estimator than a DummyClassifier"),
]
INDICATORS = [
    (attribute([1, 1], "_n_features_outs"), "other indicators than categories"),
    (attribute(["3", "2"], "_n_features_outs"), "other indicators than categories"),
    (attribute(np.arange(10**5).astype("U9"), "categories_", 0), "not there|other indicators"),
    (attribute(["a"], "categories_", 0), "no array"),
    (change("categories_", to=lambda values: values[:1]), "other categories than features"),
    (attribute(np.array([2.0, 1.0]), "categories_", 1), "not in order"),
    (attribute(np.array([2, "a"], dtype=object), "categories_", 1), "not in order"),
    (attribute(np.array([np.nan, 1.0]), "categories_", 1), "not in order"),
    (attribute(np.full(6, 10**6), "_default_to_infrequent_mappings", 0), "other indicators than categories"),
    (attribute(np.full(6, -1), "_default_to_infrequent_mappings", 0), "not there"),
    (attribute(np.zeros(3, int), "_default_to_infrequent_mappings", 0), "not there"),
    (attribute(None, "_infrequent_enabled"), "whether it groups"),
    (attribute(np.array([0, 10**6], dtype=object), "_drop_idx_after_grouping"), "drops a category"),
    (attribute(np.array([0, -1], dtype=object), "_drop_idx_after_grouping"), "drops a category"),
]
CASES = {
    "neighbours": (KNeighborsClassifier(3, algorithm="kd_tree").fit(X, y), NEIGHBOURS),
    "boosting": (GradientBoostingClassifier(n_estimators=2).fit(X, y), BOOSTING),
    "indicators": (
        OneHotEncoder(max_categories=3, drop="first", sparse_output=False).fit(
            np.array([["a", "b", "c", "d", "e", "f"] * 2, [1.0, 2.0] * 6], dtype=object).T
        ),
        INDICATORS,
    ),
    "words": (
        TfidfVectorizer().fit(["red apple", "green pear"]),
        [
            (lambda model: model.vocabulary_.update(apple=10**9), "a column that is not there"),
            (lambda model: model.vocabulary_.update(apple=-1), "a column that is not there"),
            (lambda model: model.vocabulary_.update(apple=0, green=0), "a column that is not there"),
            (lambda model: model.vocabulary_.update(apple="0"), "a column that is not there"),
            (attribute([1], "vocabulary_"), "no dictionary"),
        ],
    ),
    "keys": (
        DictVectorizer().fit([{"a": 1, "b": 2}]),
        [(lambda model: model.vocabulary_.update(a=10**9), "a column that is not there")],
    ),
    "hashes": (
        HashingVectorizer(n_features=16),
        [
            (attribute(0, "n_features"), "out of range"),
            (attribute(2**40, "n_features"), "out of range"),
            (attribute("16", "n_features"), "out of range"),
        ],
    ),
    "random": (
        DummyClassifier(strategy="uniform", random_state=np.random.RandomState(0)).fit(X, y),
        [
            (attribute(make_random_state(10**9), "random_state"), "at a place beyond them"),
            (attribute(make_random_state(-1), "random_state"), "at a place beyond them"),
            (attribute(np.random.Generator(np.random.MT19937()), "random_state"), "in an unknown way"),
        ],
    ),
    "centroids": (NearestCentroid().fit(X, y), [(attribute("precomputed", "metric"), "unknown distance")]),
    "searched": (
        NearestNeighbors().fit(X),
        [(change("_fit_X", to=lambda samples: samples.astype(object)), "no numbers")],
    ),
    "regressor": (
        KNeighborsRegressor().fit(X, y),
        [(change("_y", to=lambda values: values[:5]), "other outcomes than samples")],
    ),
}
FORGED = [
    pytest.param(model, damage, message, id=f"{name}-{number}")
    for name, (model, cases) in CASES.items()
    for number, (damage, message) in enumerate(cases)
]


@pytest.mark.parametrize(("model", "damage", "message"), FORGED)
def test_forged_files_are_refused(model, damage, message, tmp_path):
    check_restored(model)
    forged = copy.deepcopy(model)
    damage(forged)
    path = tmp_path / "forged.skops"
    path.write_bytes(persistence._labelled(persistence._skops().dumps({"deep": [forged]})))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelFileError, match=message) as caught:
            load_model(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_models_as_they_were_trained_pass(name, tmp_path):
    model, _ = CASES[name]
    save_model(model, tmp_path / "model.skops")
    load_model(tmp_path / "model.skops")


@pytest.mark.parametrize("rows", [b"4000000", b"40000000000"])
def test_sizes_that_no_file_has_are_refused(rows, tmp_path):
    """Arrays that say to be larger than the file, or than any memory."""
    forged = io.BytesIO()
    plain = persistence._skops().dumps(KNeighborsClassifier().fit(X, y))
    with zipfile.ZipFile(io.BytesIO(plain)) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            widened = data.replace(b"(50, 4), }" + b" " * len(rows), b"(50%s, 4), }" % rows)
            new.writestr(name, widened)
    assert b"(50" + rows in forged.getvalue()
    path = tmp_path / "forged.skops"
    path.write_bytes(persistence._labelled(forged.getvalue()))
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load_model(path)
