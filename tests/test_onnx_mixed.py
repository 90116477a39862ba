"""Export of several learners for one code: a shared learner is written once, and outputs are on one scale."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.learners.mixed import MarginColumn
from skecoc.learners.multiclass import MulticlassColumn
from skecoc.onnx import check_export, to_onnx
from tests.grids import few, grid
from tests.test_onnx import OwnLearner, blobs, run

# Everything is in double precision but what skl2onnx's own converters compute.
DOUBLE, SINGLE = 1e-9, 1e-5


@pytest.fixture(autouse=True)
def one_thread():
    """Keep boosted trees from starting threads, which costs more than these small fits."""
    with threadpool_limits(1):
        yield


def scaled(estimator):
    return MulticlassLearner(make_pipeline(StandardScaler(), estimator))


def members():
    """Learners of every kind of column."""
    return [
        ("logistic", scaled(LogisticRegression())),
        ("svm", MulticlassLearner(SVC())),
        ("trees", MulticlassLearner(ExtraTreesClassifier(20))),
        ("line", LinearSVC()),
        ("stumps", StumpAdaBoostClassifier(5)),
    ]


def assert_exported(model, X, tolerance=DOUBLE):
    exported = to_onnx(model, X)
    check = check_export(model, exported, X)
    assert check.n_rows == len(X)
    assert check.n_different_labels == 0
    assert check.largest_difference < tolerance
    return exported


@pytest.mark.parametrize(
    ("coding", "decoding"),
    grid(["one-vs-one", "one-vs-rest", "sparse-random"], ["logistic-weight", "loss-weighted", "hamming"]),
)
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_several_learners(n_classes, coding, decoding):
    if n_classes == 2 and coding == "sparse-random":
        coding = [[1, -1], [-1, 1]]  # a column for each side
    X, y, new = blobs(n_classes)
    model = ECOCClassifier(members(), coding=coding, decoding=decoding, random_state=0).fit(X, y)
    assert {type(column) for column in model.estimators_} >= {MarginColumn, MulticlassColumn}
    if decoding == "hamming":
        # Only signs count. Where the votes of trees are even, rounding decides which side they take, here and there.
        new = new[(np.abs(model.codewords(new)) > 1e-9).all(axis=1)]
        assert len(new) >= 5
    assert_exported(model, new)


def test_even_votes_of_trees_change_nothing_where_outputs_count_by_their_size():
    X, y, new = blobs(3)
    model = ECOCClassifier(members(), coding="one-vs-rest", decoding="logistic-weight", random_state=0).fit(X, y)
    assert (np.abs(model.codewords(new)) < 1e-9).any()
    assert_exported(model, new)


def test_labels_of_several_learners():
    X, y, new = blobs(4)
    model = ECOCClassifier(
        members(), coding="one-vs-rest", decoding="loss-weighted", response_method="predict", random_state=0
    ).fit(X, y)
    assert_exported(model, new)


MULTICLASS = [
    (LogisticRegression(), DOUBLE),
    (LinearDiscriminantAnalysis(), DOUBLE),
    (SVC(C=100.0), DOUBLE),
    (SVC(kernel="linear"), DOUBLE),
    (NuSVC(nu=0.3), DOUBLE),
    (make_pipeline(StandardScaler(), SVC()), DOUBLE),
    (LinearSVC(), DOUBLE),
    (RidgeClassifier(), DOUBLE),
    (Perceptron(), DOUBLE),
    (DecisionTreeClassifier(max_depth=3), DOUBLE),
    (RandomForestClassifier(10), DOUBLE),
    (ExtraTreesClassifier(10), DOUBLE),
    (HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5), DOUBLE),
    (GaussianNB(), DOUBLE),
    (KNeighborsClassifier(), DOUBLE),
    (GradientBoostingClassifier(n_estimators=3), SINGLE),
]


@pytest.mark.parametrize("response", ["auto", "predict"])
@pytest.mark.parametrize(("case", "n_classes"), grid(MULTICLASS, [2, 3, 6]), ids=repr)
def test_every_multiclass_learner(case, n_classes, response):
    estimator, tolerance = case
    X, y, new = blobs(n_classes)
    learners = [("one", MulticlassLearner(estimator))]
    # Columns of all kinds: pairs of classes in either order, and sides of several.
    pairs = np.array([[1, -1]]).T if n_classes == 2 else np.pad([[1, -1], [-1, 1]], ((0, n_classes - 2), (0, 0)))
    matrix = np.hstack([pairs, 2 * np.eye(n_classes, dtype=int) - 1])
    model = ECOCClassifier(
        learners, coding=matrix, decoding="loss-based", response_method=response, random_state=0
    ).fit(X, y)
    assert_exported(model, new, tolerance)


@pytest.mark.parametrize("estimator", [SVC(), make_pipeline(StandardScaler(), LogisticRegression())], ids=repr)
def test_a_multiclass_learner_that_is_trained_column_by_column(estimator):
    X, y, new = blobs(3)
    assert_exported(ECOCClassifier(MulticlassLearner(estimator), random_state=0).fit(X, y), new)


@pytest.mark.parametrize(
    "model",
    [
        WOLCClassifier(init="one-vs-rest", tol=0.0, max_iter=3, random_state=0),
        LCECOCClassifier(tol=0.0, max_iter=2, random_state=0),
        ECOCOneClassifier(max_iter=2, random_state=0),
        SubclassECOCClassifier(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_grown_classifier(model):
    X, y, new = blobs(4)
    assert_exported(model.set_params(estimator=members()).fit(X, y), new)


@pytest.mark.parametrize("n_classes", few([4, 2]))
def test_the_library_s_own_list(n_classes):
    X, y, new = blobs(n_classes)
    model = WOLCClassifier("mixed", random_state=0).fit(X, y)
    assert model.temperature_ == 1.0
    exported = assert_exported(model, new)
    probabilities = run(exported, new)[1]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_a_shared_learner_is_written_once():
    X, y, _ = blobs(6)
    trees = [("trees", MulticlassLearner(ExtraTreesClassifier(5))), ("forest", MulticlassLearner(GaussianNB()))]
    few, many = (
        ECOCClassifier(trees, coding=coding, random_state=0).fit(X, y) for coding in ("one-vs-rest", "one-vs-one")
    )
    assert (len(few.estimators_), len(many.estimators_)) == (12, 30)
    graphs = [to_onnx(model, X).graph for model in (few, many)]
    for graph in graphs:
        assert [node.op_type for node in graph.node].count("TreeEnsembleRegressor") == 1
        assert len([node for node in graph.node if node.op_type == "ArgMax"]) <= 2  # of the code, and of one learner
    sizes = [len(graph.SerializeToString()) for graph in graphs]
    assert sizes[1] < 1.3 * sizes[0]


def test_members_that_prediction_does_not_use_are_not_written():
    X, y, new = blobs(4)
    learners = [("own", MulticlassLearner(OwnLearner())), ("stumps", StumpAdaBoostClassifier(5))]
    model = WOLCClassifier(learners, init="one-vs-rest", max_iter=0, random_state=0).fit(X, y)
    unused = np.flatnonzero(model.column_learners_ == "own")
    model.decoder_.weights_[:, unused] = 0.0
    model.used_columns_ = np.setdiff1d(model.used_columns_, unused)
    assert_exported(model, new)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (OwnLearner(), "'bad' in estimator: OwnLearner cannot be exported to ONNX"),
        (MulticlassLearner(OwnLearner()), "'bad' in estimator: OwnLearner cannot be exported to ONNX"),
        (MulticlassLearner(SVC(kernel="poly")), "'bad' in estimator: margins of SVC cannot be exported"),
        (SVC(kernel="poly"), "'bad' in estimator: margins of SVC cannot be exported"),
        (
            MulticlassLearner(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2, categorical_features=[0])),
            "'bad' in estimator: HistGradientBoostingClassifier with categorical features cannot be exported",
        ),
    ],
    ids=repr,
)
def test_a_member_that_cannot_be_exported_is_named(learner, message):
    X = np.random.default_rng(0).integers(0, 4, (60, 2)).astype(float)
    model = ECOCClassifier([("stumps", StumpAdaBoostClassifier(2)), ("bad", learner)], random_state=0)
    model.fit(X, np.arange(60) % 3)
    with pytest.raises(NotImplementedError, match=message):
        to_onnx(model, X)


def test_missing_values_where_trees_take_them():
    X, y, new = blobs(3)
    X[::7, 0], new[::5, 1] = np.nan, np.nan
    boosting = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5)
    learners = [("trees", MulticlassLearner(RandomForestClassifier(10))), ("boosting", MulticlassLearner(boosting))]
    assert_exported(ECOCClassifier(learners, random_state=0).fit(X, y), new)
