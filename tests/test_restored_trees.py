"""Trees, boosting and columns of several learners from files: forged ones are refused before they predict."""

import copy
import io
import zipfile

import numpy as np
import pytest
import skops.io
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from sklearn.tree._tree import Tree

from skecoc import ECOCClassifier, persistence
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier
from skecoc.persistence import ModelFileError, dump_model, load_model
from skecoc.persistence.restored import check_restored, unchecked_types

X, y = load_uci("iris", return_X_y=True)
X, y = X[::3], y[::3]


pytestmark = pytest.mark.usefixtures("one_thread")


def boosting(**params):
    return HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, min_samples_leaf=5, random_state=0, **params)


def in_categories():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(6, size=120), rng.normal(size=120)])
    return rows, (rows[:, 0] % 3).astype(int)


@pytest.fixture(scope="module")
def models():
    several = [
        ("stumps", StumpAdaBoostClassifier(5)),
        ("trees", MulticlassLearner(ExtraTreesClassifier(3, random_state=0))),
        ("linear", LinearSVC()),
    ]
    return {
        "forest": ExtraTreesClassifier(3, random_state=0).fit(X, y),
        "boosting": boosting().fit(X, y),
        "categories": boosting(categorical_features=[0]).fit(*in_categories()),
        "columns": ECOCClassifier(several, coding="one-vs-rest", random_state=0).fit(X, y),
        "machine": SVC().fit(X, y),
        "regions": ECOCClassifier(RegionClassifier(StumpAdaBoostClassifier(3)), random_state=0).fit(X, y),
        "linear": LogisticRegression().fit(X, y),
    }


def tree_from(tree, change=lambda nodes: None, n_features=None, **state):
    """Make a tree like another one, but for some of its parts."""
    width, n_classes, n_outputs = tree.__reduce__()[1]
    state = {**tree.__getstate__(), **state}
    state["nodes"] = state["nodes"].copy()
    change(state["nodes"])
    forged = Tree(n_features or width, n_classes, n_outputs)
    forged.__setstate__(state)
    return forged


def node(**fields):
    """Damage the root of a tree of a forest."""

    def damage(model):
        def change(nodes):
            for name, value in fields.items():
                nodes[name][0] = value(nodes) if callable(value) else value

        model.estimators_[1].tree_ = tree_from(model.estimators_[1].tree_, change)

    return damage


def give_a_leaf_a_child(model):
    def change(nodes):
        nodes["right_child"][-1] = 0

    model.estimators_[1].tree_ = tree_from(model.estimators_[1].tree_, change)


def claim_depth(depth):
    def damage(model):
        model.estimators_[1].tree_ = tree_from(model.estimators_[1].tree_, max_depth=depth)

    return damage


def widen_a_tree(model):
    model.estimators_[1].tree_ = tree_from(model.estimators_[1].tree_, n_features=100)


def widen_an_estimator(model):
    widen_a_tree(model)
    model.estimators_[1].n_features_in_ = 100
    model.estimators_[1]._validate_X_predict = np.multiply  # in place of the method that would notice


def forget_classes(model):
    tree = model.estimators_[1].tree_
    forged = Tree(4, np.array([2]), 1)
    forged.__setstate__({**tree.__getstate__(), "values": np.ascontiguousarray(tree.value[:, :, :2])})
    model.estimators_[1].tree_ = forged


def empty_a_tree(model):
    model.estimators_[1].tree_ = Tree(4, np.array([3]), 1)


def set_part(name, value):
    """Replace an attribute of a tree's estimator."""

    def damage(model):
        setattr(model.estimators_[1], name, value)

    return damage


def forget_features(model):
    del model.estimators_[1].n_features_in_


FORESTS = [
    (node(left_child=len), "child that does not come after"),
    (node(right_child=10**9), "child that does not come after"),
    (node(right_child=-2), "child that does not come after"),
    (node(right_child=-1), "child that does not come after"),
    (node(right_child=0), "child that does not come after"),
    (node(right_child=lambda nodes: nodes["left_child"][0]), "two parents"),
    (node(feature=4), "a feature that is not there"),
    (node(feature=-2), "a feature that is not there"),
    (give_a_leaf_a_child, "a leaf of a tree has a child"),
    (claim_depth(0), "deeper than it says"),
    (claim_depth(2**62), "deeper than it says"),
    (widen_a_tree, "other features than its estimator"),
    (widen_an_estimator, "other methods than its type: _validate_X_predict"),
    (forget_classes, "do not fit outputs and classes"),
    (empty_a_tree, "has no nodes"),
    (set_part("tree_", None), "is no tree"),
    (set_part("n_features_in_", 3), "other features"),
    (set_part("n_features_in_", "4"), "no number of features"),
    (set_part("n_outputs_", 2), "do not fit outputs and classes"),
    (set_part("n_classes_", 5), "do not fit outputs and classes"),
    (forget_features, "no number of features"),
]


def root(name, value):
    """Damage the root of a tree of boosting."""

    def damage(model):
        model._predictors[1][0].nodes[name][0] = value

    return damage


def predictor(name, change):
    """Replace an array of a tree of boosting."""

    def damage(model):
        tree = model._predictors[1][0]
        setattr(tree, name, change(getattr(tree, name)))

    return damage


def attribute(name, value, of=None):
    """Replace an attribute of boosting or of a part of it."""

    def damage(model):
        setattr(getattr(model, of) if of else model, name, value)

    return damage


def make_a_split_of_every_leaf(model):
    model._predictors[0][0].nodes["is_leaf"] = 0


def share_a_child(model):
    nodes = model._predictors[0][0].nodes
    nodes["right"][0] = nodes["left"][0]


def name_a_negative_category(model):
    model._bin_mapper.is_categorical_[1] = 1
    model._bin_mapper.bin_thresholds_[1][0] = -1.0


def lose_a_tree(model):
    model._predictors[1].pop()


def lose_a_class(model):
    model.classes_ = model.classes_[:2]


BOOSTING = [
    (root("left", 1000), "child that does not come after"),
    (root("right", 0), "child that does not come after"),
    (make_a_split_of_every_leaf, "child that does not come after"),
    (share_a_child, "two parents"),
    (root("feature_idx", 4), "a feature that is not there"),
    (root("feature_idx", -1), "a feature that is not there"),
    (root("is_categorical", 1), "takes a number for a category"),
    (predictor("nodes", lambda nodes: nodes[:0]), "no array of nodes"),
    (predictor("nodes", lambda nodes: nodes["value"]), "no array of nodes"),
    (predictor("nodes", lambda nodes: nodes[:, None]), "no array of nodes"),
    (predictor("raw_left_cat_bitsets", lambda sets: sets[:, :4]), "raw_left_cat_bitsets of boosting are no sets"),
    (attribute("n_features_in_", 5), "other features than its trees"),
    (attribute("_n_features", 5), "other features than its trees"),
    (attribute("_in_fit", True), "take samples for bins"),
    (attribute("_bin_mapper", None), "bins of boosting do not fit"),
    (attribute("is_categorical_", np.zeros(2, np.uint8), "_bin_mapper"), "which features are categories"),
    (name_a_negative_category, "category of boosting is out of range"),
    (attribute("n_bins_non_missing_", np.zeros(9, np.uint32), "_bin_mapper"), "bins of boosting do not fit"),
    (attribute("bin_thresholds_", [np.zeros(3)] * 3, "_bin_mapper"), "bins of boosting do not fit"),
    (attribute("bin_thresholds_", [np.zeros(3, int)] * 4, "_bin_mapper"), "no short arrays"),
    (attribute("bin_thresholds_", [np.full(300, -1.0)] * 4, "_bin_mapper"), "no short arrays"),
    (attribute("missing_values_bin_idx_", 256, "_bin_mapper"), "bin of missing values"),
    (attribute("make_known_categories_bitsets", np.abs, "_bin_mapper"), "other methods than its type"),
    (attribute("_preprocess_X", np.abs), "other methods than its type"),
    (attribute("_predictors", None), "no list of trees"),
    (attribute("_predictors", [[None] * 3]), "is no tree"),
    (attribute("n_trees_per_iteration_", 100), "other trees than classes"),
    (attribute("_baseline_prediction", np.zeros((1, 100))), "baseline"),
    (lose_a_tree, "other trees than classes"),
    (lose_a_class, "does not fit the classes"),
]


def set_bitset(index):
    def damage(model):
        tree = next(tree for trees in model._predictors for tree in trees if tree.nodes["is_categorical"].any())
        tree.nodes["bitset_idx"][tree.nodes["is_categorical"] != 0] = index

    return damage


def cut_bitsets(name):
    def damage(model):
        tree = next(tree for trees in model._predictors for tree in trees if tree.nodes["is_categorical"].any())
        setattr(tree, name, getattr(tree, name)[:0])

    return damage


CATEGORIES = [
    (set_bitset(1000), "fewer than its nodes name"),
    (cut_bitsets("raw_left_cat_bitsets"), "raw_left_cat_bitsets of boosting are fewer"),
    (cut_bitsets("binned_left_cat_bitsets"), "binned_left_cat_bitsets of boosting are fewer"),
    (attribute("is_categorical_", np.zeros(2, np.uint8), "_bin_mapper"), "takes a number for a category"),
]


def column(number, name, value):
    """Replace an attribute of a column; columns 3 to 5 are those of trees, 6 to 8 those of linear machines."""

    def damage(model):
        setattr(model.estimators_[number], name, value)

    return damage


def forge_a_shared_tree(model):
    node(feature=4)(model.estimators_[3].learner.estimator_)


def put_a_tree_in_place_of_a_forest(model):
    learner = model.estimators_[3].learner
    learner.estimator_ = learner.estimator_.estimators_[0].tree_


def hide_wide_stumps(model):
    stumps = model.estimators_[0]
    stumps.n_features_in_ = 100
    model.estimators_[6].learner = stumps


COLUMNS = [
    (column(3, "pattern", np.array([1, -1], np.int8)), "classes that the column does not have"),
    (column(3, "pattern", [1, -1, -1]), "no column of a code"),
    (column(3, "pattern", np.array([1, -1, 5], np.int8)), "no column of a code"),
    (column(3, "learner", MulticlassLearner(ExtraTreesClassifier())), "not trained on class indices"),
    (column(3, "learner", StumpAdaBoostClassifier()), "not multiclass"),
    (column(6, "response", "_predict_proba_lr"), "evaluated in an unknown way"),
    (column(6, "learner", None), "has no learner"),
    (attribute("_response", "_margins"), "evaluated in an unknown way"),
    (put_a_tree_in_place_of_a_forest, "belongs to no decision tree"),
    (forge_a_shared_tree, "a feature that is not there"),
    (hide_wide_stumps, "different features"),
]

MACHINE = [
    (attribute("kernel", "precomputed"), "other things than its support vectors"),
    (attribute("kernel", np.add), "other things than its support vectors"),
    (attribute("_impl", "epsilon_svr"), "other things than its support vectors"),
    (attribute("_sparse", True), "other things than its support vectors"),
    (attribute("_probA", np.zeros(3)), "one half of its probabilities"),
    (attribute("_validate_for_predict", np.abs), "other methods than its type"),
]


def lose_a_region(model):
    model.estimators_[0].estimators_.pop()


def disguise_stumps(model):
    disguised = LogisticRegression()
    disguised.n_estimators_, disguised.features_ = 1, np.array([10**6])
    model.estimators_[0].estimators_[0] = disguised


REGIONS = [(lose_a_region, "other learners than centres"), (disguise_stumps, "are no stumps")]

outside = csr_matrix(np.ones((1, 4)))
outside.indices = np.array([0, 1, 2, 10**6], dtype=np.int32)
LINEAR = [
    (attribute("coef_", outside), "indices|index"),
    (attribute("coef_", coo_matrix(np.ones((1, 4)))), "not compressed"),
]

CASES = {
    "forest": FORESTS,
    "boosting": BOOSTING,
    "categories": CATEGORIES,
    "columns": COLUMNS,
    "machine": MACHINE,
    "regions": REGIONS,
    "linear": LINEAR,
}


@pytest.mark.parametrize(
    ("name", "damage", "problem"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_forged_models_are_refused(models, name, damage, problem):
    check_restored(models[name])
    forged = copy.deepcopy(models[name])
    damage(forged)
    for holder in (forged, {"a": [forged]}):
        with pytest.raises(ValueError, match=problem):
            check_restored(holder)


@pytest.mark.parametrize(
    ("name", "damage", "problem"),
    [("forest", *FORESTS[0]), ("forest", *FORESTS[12]), ("boosting", *BOOSTING[4]), ("columns", *COLUMNS[9])],
)
def test_forged_files_are_refused(models, name, damage, problem, tmp_path):
    forged = copy.deepcopy(models[name])
    damage(forged)
    path = tmp_path / "forged.skops"
    dump_model(models[name])
    path.write_bytes(persistence._labelled(skops.io.dumps(forged)))
    with pytest.raises(ModelFileError, match=f"forged.skops', saved with .*, cannot be loaded: .*{problem}"):
        load_model(path)


def rewritten(content, kind, change):
    """Change all arrays of some number of dimensions and fields in the content of a file."""
    forged = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data))
                if kind(array):
                    buffer = io.BytesIO()
                    np.save(buffer, change(array))
                    data = buffer.getvalue()
            new.writestr(name, data)
    return persistence._labelled(forged.getvalue())


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (lambda array: array.ndim == 3, lambda values: values[:-1]),
        (lambda array: array.ndim == 3, lambda values: values[:, :, :2]),
        (lambda array: array.ndim == 3, lambda values: values.astype("float32")),
        (lambda array: array.dtype.names, lambda nodes: nodes["feature"]),
        (lambda array: array.dtype.names, lambda nodes: nodes[:1]),
        (lambda array: array.dtype.names, lambda nodes: nodes[:0]),
    ],
)
def test_arrays_that_trees_copy_are_refused(models, kind, change, tmp_path):
    path = tmp_path / "forged.skops"
    path.write_bytes(rewritten(skops.io.dumps(models["forest"]), kind, change))
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load_model(path)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(3, max_leaf_nodes=4),
        DecisionTreeClassifier(ccp_alpha=0.01),
        DecisionTreeClassifier(max_depth=1),
        ExtraTreeClassifier(),
        DecisionTreeRegressor(),
        IsolationForest(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3, early_stopping=True, n_iter_no_change=1),
        HistGradientBoostingRegressor(max_iter=3),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_as_they_were_trained_pass(estimator, n_classes):
    taken = y != y[-1] if n_classes == 2 else np.full(len(y), True)
    labels = np.unique(y, return_inverse=True)[1]
    check_restored(estimator.fit(X[taken], labels[taken]))


def test_trees_of_several_outputs_and_missing_values_pass():
    labels = np.unique(y, return_inverse=True)[1]
    check_restored(RandomForestClassifier(3).fit(X, np.column_stack([labels, labels > 0])))
    missing = np.where(np.arange(X.size).reshape(X.shape) % 7, X, np.nan)
    check_restored([DecisionTreeClassifier().fit(missing, y), boosting().fit(missing, y)])
    check_restored([DecisionTreeClassifier(), boosting(), DecisionTreeClassifier().fit(X, np.zeros(len(X)))])


def test_boosting_that_cannot_be_checked_must_be_trusted(models):
    assert unchecked_types(models["boosting"]) == set()
    prefix = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting."
    assert unchecked_types([models["categories"]]) == {f"{prefix}HistGradientBoostingClassifier"}
    older = GradientBoostingRegressor(n_estimators=2).fit(X, np.arange(len(X)))
    assert unchecked_types(older) == {"sklearn.ensemble._gb.GradientBoostingRegressor"}
    with pytest.raises(ModelFileError, match=r"it holds .*sklearn\.ensemble\._gb\.GradientBoostingRegressor"):
        dump_model(older)


def test_trees_and_bins_are_refused_in_pipelines(models):
    tree = models["forest"].estimators_[0]
    check_restored(make_pipeline(StandardScaler(), tree))
    with pytest.raises(ValueError, match="belongs to no decision tree"):
        check_restored([tree, Pipeline([("tree", tree.tree_)])])
    mapper = copy.deepcopy(models["boosting"]._bin_mapper)
    check_restored([mapper, type(mapper)()])
    mapper.is_categorical_ = mapper.is_categorical_[:1]
    with pytest.raises(ValueError, match="which features are categories"):
        check_restored(Pipeline([("bins", mapper)]))


def test_stumps_behind_a_selection_of_features_pass():
    learner = make_pipeline(SelectKBest(k=2), StumpAdaBoostClassifier(3))
    several = [("alone", learner), ("multiclass", MulticlassLearner(make_pipeline(SelectKBest(k=3), SVC())))]
    for estimator in (learner, several):
        check_restored(ECOCClassifier(estimator, random_state=0).fit(X, y))
