"""Export to ONNX: the same labels, also of ties, and the same probabilities."""

import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.datasets import list_uci, load_uci
from skecoc.decoding import (
    DECODERS,
    BaseDecoder,
    LossAveragedDecoder,
    LossBasedDecoder,
    LossWeightedDecoder,
    OptimizedWeightDecoder,
    ProbabilisticDecoder,
)
from skecoc.decoding.losses import LOSSES
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import ConstantClassifier, evaluate_columns
from skecoc.onnx import check_export, to_onnx
from skecoc.onnx._learners import coarse_origin
from skecoc.onnx._trees import _search_tree, _step_functions
from tests.grids import grid, nightly

RESPONSES = ["predict_proba", "decision_function", "predict"]


@pytest.fixture(autouse=True)
def one_thread():
    """Keep scikit-learn's boosted trees from starting threads, which costs more than these small fits."""
    with threadpool_limits(1):
        yield


def run(exported, X):
    """Outputs of an exported model that takes one array."""
    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


def assert_exported(model, X, tolerance=1e-6):
    check = check_export(model, to_onnx(model, X), X)
    assert check.n_rows == len(X)
    assert check.n_different_labels == 0
    assert check.largest_difference < tolerance


def blobs(n_classes, n_samples=90, seed=0):
    """Rows of several classes that overlap: to train on, and others to predict."""
    X, y = make_classification(
        2 * n_samples,
        n_features=5,
        n_informative=5,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.8,
        random_state=seed,
    )
    return X[::2], y[::2], X[1::2]


ALL_DECODERS = [
    *(kind() for kind in DECODERS.values()),
    *(kind(loss) for kind in (LossBasedDecoder, LossAveragedDecoder, LossWeightedDecoder) for loss in LOSSES),
    OptimizedWeightDecoder(margin=0.0, l2=0.0),
    ProbabilisticDecoder(invalid_mass=0.01),
]


@pytest.mark.parametrize(("decoder", "n_classes"), grid(ALL_DECODERS, [2, 3, 10]), ids=repr)
def test_every_decoder(decoder, n_classes):
    X, y, new = blobs(n_classes)
    coding = "sparse-random" if n_classes == 10 else "one-vs-one"
    learner = StumpAdaBoostClassifier(5)
    assert_exported(ECOCClassifier(learner, coding=coding, decoding=decoder, random_state=0).fit(X, y), new)


@pytest.mark.parametrize("coding", ["one-vs-one", "one-vs-rest", "ternary-complete"])
def test_decodings_that_suit_learners_with_margins(coding):
    X, y, new = blobs(4)
    assert_exported(ECOCClassifier(LinearSVC(random_state=0), coding=coding).fit(X, y), new)


LEARNERS = [
    StumpAdaBoostClassifier(10),
    TunedSVMClassifier(C=1.0, width=1.0),
    TunedSVMClassifier(C=[1.0, 100.0], width=[0.5, 2.0], random_state=0),
    RegionClassifier(StumpAdaBoostClassifier(5), n_regions=3),
    RegionClassifier(TunedSVMClassifier(C=1.0, width=1.0), n_regions=2),
    RegionClassifier(LogisticRegression(), n_regions=4),
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    SGDClassifier(loss="log_loss"),
    LinearSVC(),
    RidgeClassifier(),
    Perceptron(),
    SVC(),
    SVC(kernel="linear"),
    HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
    DecisionTreeClassifier(max_depth=3),
    RandomForestClassifier(3),
    GradientBoostingClassifier(n_estimators=3),
    GaussianNB(),
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline(MinMaxScaler(), DecisionTreeClassifier(max_depth=3)),
]


@pytest.mark.parametrize(("learner", "n_classes"), grid(LEARNERS, [2, 3, 10]), ids=repr)
def test_every_learner(learner, n_classes):
    X, y, new = blobs(n_classes)
    model = ECOCClassifier(learner, coding="one-vs-rest", decoding="loss-averaged", random_state=0).fit(X, y)
    assert_exported(model, new)


@pytest.mark.parametrize(("learner", "response"), grid(LEARNERS[:8], RESPONSES), ids=repr)
def test_every_response(learner, response):
    X, y, new = blobs(4)
    decoder = LossWeightedDecoder("hinge")
    model = ECOCClassifier(
        learner, coding="one-vs-one", decoding=decoder, response_method=response, random_state=0
    ).fit(X, y)
    assert_exported(model, new)


@pytest.mark.parametrize(
    ("model", "learner"),
    grid(
        [
            WOLCClassifier(init="one-vs-rest", tol=0.0, max_iter=3, random_state=0),
            WOLCClassifier.paper(max_iter=3, random_state=0),
            LCECOCClassifier(tol=0.0, max_iter=3, random_state=0),
            ECOCOneClassifier(max_iter=3, random_state=0),
            SubclassECOCClassifier(random_state=0),
        ],
        [None, TunedSVMClassifier(C=10.0, width=1.0), LogisticRegression()],
    ),
    ids=lambda part: type(part).__name__,
)
def test_every_grown_classifier(model, learner):
    X, y, new = blobs(4)
    assert_exported(model.set_params(estimator=learner).fit(X, y), new)


def test_clustered_columns_and_columns_without_weight():
    X, y, new = blobs(6, 200)
    decoder = OptimizedWeightDecoder(0.3, l2=1e-4)
    model = WOLCClassifier(decoding=decoder, tol=0.0, max_iter=4, init="one-vs-rest", random_state=0).fit(X, y)
    assert "clustered" in model.column_kinds_
    assert len(model.used_columns_) < len(model.estimators_)
    assert_exported(model, new)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 6),
    n_features=st.integers(1, 4),
    learner=st.sampled_from([0, 3, 6]),
    decoding=st.sampled_from(sorted(DECODERS)),
    response=st.sampled_from(RESPONSES),
)
def test_random_models_of_integers_where_nearly_everything_ties(
    seed, n_classes, n_features, learner, decoding, response
):
    # Rows of small integers: on thresholds, midway between centres, and with equal codewords.
    rng = np.random.default_rng(seed)
    X, new = rng.integers(-2, 3, (2, 60, n_features)).astype(float)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 60 - n_classes)]
    coding = "dense-random" if n_classes > 3 else "one-vs-one"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ECOCClassifier(
            LEARNERS[learner], coding=coding, decoding=decoding, response_method=response, random_state=seed
        ).fit(X, y)
    # Where votes cancel out, rounding decides which side a learner takes.
    margins = evaluate_columns(model.estimators_, new, "decision_function")
    decided = (np.abs(margins) > 1e-12).all(axis=1)
    assume(decided.any())
    assert_exported(model, new[decided])


@pytest.mark.parametrize("decoding", sorted(DECODERS))
def test_tied_rows_get_the_same_labels(decoding):
    # Every learner repeats one bit of the row, so that all 64 codewords occur: most of them tie.
    bits = (np.arange(64)[:, np.newaxis] >> np.arange(6)) & 1
    matrix = np.array(
        [[1, 1, 1, 0, 0, 0], [-1, 0, 0, 1, 1, 0], [0, -1, 0, -1, 0, 1], [0, 0, -1, 0, -1, -1]], dtype=np.int8
    )
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 64)
    X = np.where(matrix[y] != 0, matrix[y] > 0, bits).astype(float)
    X[::9] = bits[::9]
    model = ECOCClassifier(StumpAdaBoostClassifier(1), coding=matrix, decoding=decoding, response_method="predict").fit(
        X, y
    )
    scores = np.sort(model.decoder_.scores(model.codewords(bits)), axis=1)
    assert (scores[:, -1] - scores[:, -2] < 1e-9).any() or decoding in ("probabilistic", "voting", "logistic-weight")
    assert_exported(model, bits.astype(float))


def test_rows_on_a_threshold_and_just_beyond_it_stay_on_their_sides():
    rng = np.random.default_rng(0)
    X = 1.0 + 1e-9 * rng.integers(0, 50, (200, 3))  # float32 would make one value of all
    y = (X[:, 0] > 1.0 + 2e-8).astype(int) + (X[:, 1] > 1.0 + 3e-8)
    model = ECOCClassifier(StumpAdaBoostClassifier(8)).fit(X, y)
    thresholds = [
        (feature, threshold)
        for learner in model.estimators_
        for feature, threshold in zip(learner.features_, learner.thresholds_, strict=True)
        if feature >= 0
    ]
    new = np.repeat(X[:1], 3 * len(thresholds), axis=0)
    for number, (feature, threshold) in enumerate(thresholds):
        new[3 * number : 3 * number + 3, feature] = threshold, np.nextafter(threshold, 2), np.nextafter(threshold, 0)
    assert len(np.unique(model.codewords(new), axis=0)) > 3
    assert_exported(model, new)


def test_rows_far_from_the_origin():
    X, y, new = blobs(3)
    far = np.array([1e5, -1e5, 0.0, 3e4, 1.0])
    for learner in (TunedSVMClassifier(C=1.0, width=0.5), RegionClassifier(LinearSVC(), random_state=0)):
        model = ECOCClassifier(learner, coding="one-vs-rest", decoding="loss-based").fit(X + far, y)
        assert_exported(model, new + far)


def test_a_row_that_both_classes_have_is_two_support_vectors():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [3.0], [3.0], [0.0], [-1.0]])
    model = ECOCClassifier(TunedSVMClassifier(C=1.0, width=1.0), coding="one-vs-one").fit(X, [0, 1, 0, 1, 2, 2, 0, 0])
    assert len(np.unique(model.estimators_[0].support_vectors_)) < len(model.estimators_[0].support_vectors_)
    assert_exported(model, np.linspace(-1, 4, 11).reshape(-1, 1))


def test_a_class_with_one_row_and_a_column_with_one_side():
    X, y, new = blobs(4)
    y[:] = y % 3
    y[0] = 3
    assert_exported(WOLCClassifier(random_state=0).fit(X, y), new)
    learner = SGDClassifier(loss="log_loss", random_state=0)
    model = ECOCClassifier(learner, coding="one-vs-rest", decoding="euclidean")
    model.partial_fit(X[1:], y[1:], classes=[0, 1, 2, 3])  # no sample of the last class so far
    assert isinstance(model.estimators_[3], ConstantClassifier)
    assert_exported(model, new)


def test_a_learner_without_any_stump():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    model = ECOCClassifier(coding="one-vs-one").fit(X, [0, 1, 1, 0, 2])
    assert model.estimators_[0].n_estimators_ == 0
    assert_exported(model, X)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (["b", "c c", "ä"], ["b", "c c", "ä"]),
        (np.array(["x", "y", "z"], dtype=object), ["x", "y", "z"]),
        (np.array([3, 5, 200], dtype=np.uint8), [3, 5, 200]),
        ([-1.0, 0.0, 7.0], [-1, 0, 7]),
    ],
)
def test_labels_of_every_type(classes, expected):
    X, y, new = blobs(3)
    model = ECOCClassifier().fit(X, np.asarray(classes)[y])
    label, _ = run(to_onnx(model, X), new)
    wanted = np.array(expected)[np.searchsorted(model.classes_, model.predict(new))]
    assert label.tolist() == wanted.tolist()


def test_labels_true_and_false():
    X, y, new = blobs(2)
    model = ECOCClassifier().fit(X, y == 1)
    label, _ = run(to_onnx(model, X), new)
    assert label.tolist() == model.predict(new).astype(int).tolist()


def test_scores_in_place_of_probabilities():
    X, y, new = blobs(4)
    model = WOLCClassifier(random_state=0).fit(X, y)
    _, scores = run(to_onnx(model, X, scores=True), new)
    np.testing.assert_allclose(scores, model.decision_function(new), atol=1e-6)
    two = ECOCClassifier().fit(X, y > 1)
    _, scores = run(to_onnx(two, X, scores=True), new)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], two.decision_function(new), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_called_so_and_compared_with_scores(n_classes):
    X, y, new = blobs(n_classes)
    pipeline = make_pipeline(StandardScaler(), WOLCClassifier(random_state=0))
    for model in (WOLCClassifier(random_state=0).fit(X, y), pipeline.fit(X, y)):
        exported = to_onnx(model, X, scores=True)
        assert [each.name for each in exported.graph.output] == ["label", "scores"]
        check = check_export(model, exported, new)
        assert check.n_different_labels == 0
        assert check.largest_difference < 1e-6
    assert [each.name for each in to_onnx(model, X).graph.output] == ["label", "probabilities"]


def test_single_precision_rows():
    X, y, new = (array.astype(np.float32) for array in blobs(4))
    model = WOLCClassifier(random_state=0).fit(X, y)
    exported = to_onnx(model, X)
    label, probabilities = run(exported, new)
    assert probabilities.dtype == np.float32
    np.testing.assert_array_equal(label, model.predict(new))
    np.testing.assert_allclose(probabilities, model.predict_proba(new), atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_pipeline_by_skl2onnx_itself(kind):
    X, y, new = blobs(4)
    labels = np.array(["a", "b", "c", "d"])[y]
    model = make_pipeline(StandardScaler(), WOLCClassifier(random_state=0)).fit(X.astype(kind), labels)
    exported = skl2onnx.to_onnx(model, X[:1].astype(kind), options={"zipmap": False})
    label, probabilities = run(exported, new.astype(kind))
    np.testing.assert_array_equal(label, model.predict(new.astype(kind)))
    np.testing.assert_allclose(probabilities, model.predict_proba(new.astype(kind)), atol=1e-5)


def test_options_of_skl2onnx():
    X, y, new = (array.astype(np.float32) for array in blobs(3))
    model = ECOCClassifier().fit(X, np.array(["a", "b", "c"])[y.astype(int)])
    wanted = model.predict_proba(new)
    _, maps = run(skl2onnx.to_onnx(model, X[:1]), new)
    np.testing.assert_allclose(pd.DataFrame(maps)[["a", "b", "c"]], wanted, atol=1e-6)
    _, *columns = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": "columns"}), new)
    np.testing.assert_allclose(np.column_stack(columns), wanted, atol=1e-6)
    number, _ = run(skl2onnx.to_onnx(model, X[:1], options={id(model): {"zipmap": False, "nocl": True}}), new)
    np.testing.assert_array_equal(model.classes_[number], model.predict(new))
    options = {id(model): {"zipmap": False, "output_class_labels": True}}
    _, _, names = run(skl2onnx.to_onnx(model, X[:1], options=options), new)
    np.testing.assert_array_equal(names, ["a", "b", "c"])


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: CalibratedClassifierCV(model, cv=3),
        lambda model: CalibratedClassifierCV(model, cv=3, ensemble=False),
        lambda model: GridSearchCV(model, {"decoding": ["hamming", "loss-based"]}, cv=2),
    ],
)
def test_inside_other_meta_estimators(wrap):
    X, y, new = blobs(3)
    model = wrap(ECOCClassifier()).fit(X, y)
    label, probabilities = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), new)
    np.testing.assert_array_equal(label, model.predict(new))
    np.testing.assert_allclose(probabilities, model.predict_proba(new), atol=1e-6)


def test_frames_are_taken_by_their_columns():
    X, y, new = blobs(3)
    names = list("vwxyz")
    frame, other = pd.DataFrame(X, columns=names), pd.DataFrame(new, columns=names)
    assert_exported(ECOCClassifier().fit(frame, y), other)
    for table in (frame, other):
        table["kind"] = np.where(table["v"] > 0, "large", "small")
    encode = make_column_transformer((StandardScaler(), ["v", "w"]), (OneHotEncoder(), ["kind"]))
    assert_exported(make_pipeline(encode, ECOCClassifier()).fit(frame, y), other)


@pytest.mark.parametrize(
    ("names", "inputs"),
    [
        (["sepal length (cm)", "b c", "x+y", "ä", "z"], ["sepal_length__cm_", "b_c", "x+y", "ä", "z"]),
        (["0", "1", "2", "3", "4"], ["_0", "_1", "_2", "_3", "_4"]),
        (["label", "probabilities", "scores", "X", "z"], ["label1", "probabilities1", "scores", "X", "z"]),
    ],
)
def test_columns_whose_names_are_no_identifiers(names, inputs):
    X, y, new = blobs(3)
    frame, other = pd.DataFrame(X, columns=names), pd.DataFrame(new, columns=names)
    model = ECOCClassifier().fit(frame, y)
    exported = to_onnx(model, frame)
    assert [(each.name, each.doc_string) for each in exported.graph.input] == list(zip(inputs, names, strict=True))
    assert_exported(model, other)


def test_columns_in_another_order_are_found_by_their_names():
    X, y, new = blobs(3)
    names = ["a b", "b", "1", "d", "e"]
    frame, other = pd.DataFrame(X, columns=names), pd.DataFrame(new, columns=names)
    model = make_pipeline(make_column_transformer((StandardScaler(), ["1", "a b"])), ECOCClassifier()).fit(frame, y)
    check = check_export(model, to_onnx(model, frame), other[names[::-1]])
    assert check.n_different_labels == 0
    assert check.largest_difference < 1e-6


@pytest.mark.parametrize(
    ("names", "scores", "message"),
    [
        (["a b", "a_b", "c", "d", "e"], False, r"X must have columns whose names differ .* got 'a b' and 'a_b'"),
        (["_1", "1", "c", "d", "e"], False, r"X must have columns whose names differ .* got '_1' and '1'"),
        (["a", "a", "c", "d", "e"], False, r"X must have columns whose names differ .* got 'a' and 'a'"),
        (range(5), False, r"X must have columns whose names are strings .* got 0"),
        (["", "b", "c", "d", "e"], False, r"X must have columns whose names are strings .* got ''"),
        (["scores", "b", "c", "d", "e"], True, r"X must have no column called 'scores'"),
    ],
)
def test_columns_that_cannot_be_inputs_are_refused(names, scores, message):
    X, y, _ = blobs(3)
    model = ECOCClassifier().fit(X, y)
    with pytest.raises(ValueError, match=message):
        to_onnx(model, pd.DataFrame(X, columns=names), scores=scores)


def test_rows_to_check_have_the_columns_that_the_export_takes():
    X, y, _ = blobs(3)
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    model = ECOCClassifier().fit(frame, y)
    with pytest.raises(ValueError, match=r"X must have the columns .* missing: \['w'\]"):
        check_export(model, to_onnx(model, frame), frame.drop(columns="w"))
    with pytest.raises(ValueError, match=r"X must be a frame with the columns .* 'z'\]"):
        check_export(model, to_onnx(model, frame), X)
    with pytest.raises(ValueError, match=r"X must be an array"):
        check_export(model, to_onnx(model, X), frame)


def test_integer_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 3)), rng.integers(0, 3, 60)
    model = ECOCClassifier().fit(X, y)
    assert_exported(model, X)
    label, _ = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), X)
    np.testing.assert_array_equal(label, model.predict(X))


def test_missing_values_where_the_learner_takes_them():
    X, y, new = blobs(3)
    rng = np.random.default_rng(0)
    for rows in (X, new):
        rows[rng.random(rows.shape) < 0.2] = np.nan
    model = ECOCClassifier(HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)).fit(X, y)
    assert_exported(model, new)


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("model", [ECOCClassifier(), LCECOCClassifier(n_pairs=3, max_iter=3, random_state=0)], ids=repr)
def test_missing_values_of_stumps_and_regions(model, seen):
    X, y, new = blobs(4)
    rng = np.random.default_rng(0)
    for rows in (X, new) if seen else (new,):
        rows[rng.random(rows.shape) < 0.3] = np.nan
    model = clone(model).fit(X, y)
    assert len(np.unique(model.predict(new))) > 1
    assert_exported(model, new)


@pytest.mark.skipif(
    tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 31),
    reason="older runtimes crash on trees without rows",
)
def test_no_rows_give_no_labels():
    X, y, _ = blobs(3)
    label, probabilities = run(to_onnx(WOLCClassifier(random_state=0).fit(X, y), X), X[:0])
    assert label.shape == (0,)
    assert probabilities.shape == (0, 3)


class NearestDecoder(BaseDecoder):
    def _scores(self, codewords):
        return codewords @ self.matrix_.T


class OwnLearner(GaussianNB):
    """A learner that skl2onnx has never heard of."""


def categorical_boosting():
    return HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2, categorical_features=[0])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ECOCClassifier(decoding=NearestDecoder()), "NearestDecoder cannot be exported.*HammingDecoder"),
        (ECOCClassifier(OwnLearner()), "OwnLearner cannot be exported"),
        (ECOCClassifier(RegionClassifier(OwnLearner())), "OwnLearner cannot be exported"),
        (ECOCClassifier(SVC(kernel="poly"), decoding="hamming"), "margins of SVC cannot be exported"),
        (ECOCClassifier(categorical_boosting()), "categorical features cannot be exported"),
    ],
)
def test_what_cannot_be_exported_is_named(model, message):
    X = np.random.default_rng(0).integers(0, 4, (60, 2)).astype(float)
    model.fit(X, np.arange(60) % 3)
    with pytest.raises(NotImplementedError, match=message):
        to_onnx(model, X)


def test_columns_of_categories_cannot_be_exported():
    X, y, _ = blobs(3)
    frame = pd.DataFrame({"kind": pd.Categorical(np.where(X[:, 0] > 0, "a", "b")), "size": X[:, 1]})
    with pytest.raises(NotImplementedError, match=r"categories cannot be exported.*pipeline"):
        to_onnx(ECOCClassifier().fit(frame, y), frame)


def test_other_models_and_old_versions_are_refused():
    X, y, _ = blobs(3)
    with pytest.raises(ValueError, match=r"model must be an output-code classifier .* got LogisticRegression"):
        to_onnx(LogisticRegression().fit(X, y), X)
    with pytest.raises(ValueError, match=r"target_opset must be at least 18 .* got 15"):
        to_onnx(ECOCClassifier().fit(X, y), X, target_opset=15)
    assert to_onnx(ECOCClassifier().fit(X, y), X, target_opset=18).opset_import[0].version <= 18


def test_without_the_extra_the_message_says_what_to_install():
    code = "import sys; sys.modules['skl2onnx'] = None; import skecoc.onnx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "scikit-ecoc[onnx]"' in done.stderr.splitlines()[-1]


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_step_functions_and_search_trees_equal_stumps_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n_stumps = rng.integers(1, 12)
    thresholds = np.where(rng.random(n_stumps) < 0.2, np.inf, rng.integers(0, 5, n_stumps))
    owners, votes = rng.integers(0, 3, n_stumps), rng.normal(size=n_stumps)
    steps, models, values = _step_functions(thresholds, owners, votes)
    left, right, place = _search_tree(len(steps))
    for x in np.arange(-1, 6, 0.5):
        node = 0
        while left[node]:
            node = left[node] if x <= steps[place[node]] else right[node]
        signed = np.where(x <= thresholds, votes, -votes)
        np.testing.assert_allclose(values[place[node]], [signed[owners == model].sum() for model in models], atol=1e-12)


def test_search_trees_are_balanced():
    left, right, _ = _search_tree(100)
    depth = np.zeros(201, dtype=int)
    for node in np.flatnonzero(left):
        depth[[left[node], right[node]]] = depth[node] + 1
    assert depth.max() == 7  # the least with 101 leaves


@given(st.integers(0, 10**6))
def test_the_origin_is_near_the_points_and_has_few_digits(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 8, (5, 3)) + rng.integers(-1000, 1000, 3)
    origin = coarse_origin(points.astype(float))
    assert (np.abs(points - origin) <= 16).all()
    np.testing.assert_array_equal(origin, np.rint(origin))


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [StumpAdaBoostClassifier(), TunedSVMClassifier(C=10.0, width=1.0), LogisticRegression(tol=0.01)],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize(
    "model",
    [ECOCClassifier(random_state=0), WOLCClassifier(max_iter=2, random_state=0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("names", [["glass", "dermatology"], *nightly([list_uci()])], ids=["two", "all"])
def test_parity_on_the_uci_sets(names, model, learner):
    for name in names:
        data = load_uci(name)
        X, y = np.nan_to_num(MinMaxScaler().fit_transform(data.data)), data.target
        some = slice(None, None, max(1, len(X) // 250))
        model.set_params(estimator=learner).fit(X[some], y[some])
        label, scores = run(to_onnx(model, X, scores=True), X)
        expected = model.decision_function(X)
        np.testing.assert_allclose(scores, expected, rtol=0.0, atol=1e-5, err_msg=name)
        best = np.sort(expected, axis=1)[:, -2:]
        different = label != model.predict(X)
        # Where scores tie and their second keys differ by just the tolerance, rounding decides.
        assert (name, different[best[:, 1] - best[:, 0] > 1e-9].sum()) == (name, 0)
        assert different.mean() < 0.01
