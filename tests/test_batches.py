"""partial_fit: the learners' own, decoding from outputs that are out of sample, and clear refusals."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import ECOCClassifier
from skecoc.classifiers.batches import Batches
from skecoc.coding import one_vs_rest
from skecoc.learners.columns import ConstantClassifier
from skecoc.persistence import load_model, save_model

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
SGD = SGDClassifier(random_state=0)
LOG = SGDClassifier(loss="log_loss", random_state=0)
LEARNERS = [SGD, LOG, GaussianNB(), MLPClassifier((4,), random_state=0), Perceptron(), BernoulliNB(), MultinomialNB()]


def in_batches(model, X, y, n_batches=10, **params):
    """Fit to batches that each hold samples of all classes."""
    for start in range(n_batches):
        rows = slice(start, None, n_batches)
        own = {name: value[rows] for name, value in params.items()}
        model.partial_fit(X[rows], y[rows], classes=np.unique(y), **own)
    return model


@parametrize_with_checks(
    [ECOCClassifier(GaussianNB()), ECOCClassifier(GaussianNB(), coding="one-vs-rest", decoding="loss-based")]
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("coding", ["one-vs-rest", "one-vs-one"])
def test_columns_are_the_learners_own_partial_fit(learner, coding):
    model = ECOCClassifier(learner, coding=coding, random_state=0)
    alone = None
    for start in range(0, 150, 25):  # classes come one after the other
        rows = np.arange(start, start + 25)
        X, y = X_IRIS[rows], Y_IRIS[rows]
        model.partial_fit(X, y, classes=[0, 1, 2])
        if alone is None:
            alone = [sklearn.clone(own) for own in model._batches.learners]
        for own, pattern in zip(alone, model.code_matrix_.T, strict=True):
            taken = pattern[y] != 0
            if taken.any():
                own.partial_fit(X[taken], (pattern[y[taken]] > 0).astype(int), classes=[0, 1])
        probabilities = model.predict_proba(X_IRIS)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X_IRIS))
    assert len(model.estimators_) == len(alone)
    method = "predict_proba" if hasattr(alone[0], "predict_proba") else "decision_function"
    for own, other in zip(model.estimators_, alone, strict=True):
        np.testing.assert_array_equal(getattr(own, method)(X_IRIS), getattr(other, method)(X_IRIS))


def test_naive_bayes_in_batches_is_naive_bayes_at_once_in_any_order():
    whole = ECOCClassifier(GaussianNB()).fit(X_IRIS, Y_IRIS)
    model = in_batches(ECOCClassifier(GaussianNB()), X_IRIS, Y_IRIS)
    other = in_batches(ECOCClassifier(GaussianNB()), X_IRIS[::-1], Y_IRIS[::-1], 5)
    # The smoothing of variances is that of the first batch.
    np.testing.assert_allclose(model.codewords(X_IRIS), whole.codewords(X_IRIS), atol=1e-8)
    np.testing.assert_allclose(other.codewords(X_IRIS), whole.codewords(X_IRIS), atol=1e-8)
    np.testing.assert_array_equal(model.code_matrix_, whole.code_matrix_)


def test_columns_are_constant_until_both_sides_have_been_seen():
    model = ECOCClassifier(GaussianNB(), coding="one-vs-one").partial_fit(X_IRIS[:50], Y_IRIS[:50], classes=[0, 1, 2])
    assert all(isinstance(learner, ConstantClassifier) for learner in model.estimators_)
    np.testing.assert_array_equal(model.codewords(X_IRIS[:1]), [[1, 1, 0]])  # 0 against 1, 0 against 2, 1 against 2
    np.testing.assert_array_equal(model.predict(X_IRIS), 0)
    model.partial_fit(X_IRIS[50:100], Y_IRIS[50:100])
    assert isinstance(model.estimators_[0], GaussianNB)
    np.testing.assert_array_equal(model.codewords(X_IRIS[:1])[0, 1:], [1, 1])
    assert set(model.predict(X_IRIS)) == {0, 1}


def test_what_is_kept_is_out_of_sample_and_bounded():
    batches = Batches.before([None, None], 2)
    batches.keep(np.zeros((3, 2)), np.array([0, 0, 1]), np.ones(3), is_seen=True)
    batches.keep(np.ones((1, 2)), np.array([0]), np.ones(1), is_seen=False)
    np.testing.assert_array_equal(batches.outputs[:, 0], [0, 0, 1])  # one of class 0 had been learnt and is replaced
    np.testing.assert_array_equal(batches.y, [0, 1, 0])
    numbers = np.repeat(np.arange(700.0)[:, None], 2, axis=1)
    batches.keep(numbers, np.zeros(700, int), np.ones(700), is_seen=False)
    np.testing.assert_array_equal(np.bincount(batches.y), [500, 1])
    np.testing.assert_array_equal(batches.outputs[batches.y == 0, 0], np.arange(200, 700))


def test_weights_of_decoding_follow_from_outputs_before_a_batch_is_learnt():
    X, y = load_digits(return_X_y=True)
    model = in_batches(
        ECOCClassifier(GaussianNB(), coding="one-vs-rest", decoding="loss-weighted"), X[:500], y[:500], 4
    )
    before = model.codewords(X[500:600])
    model.partial_fit(X[500:600], y[500:600])
    np.testing.assert_array_equal(model._batches.outputs[-100:], before)
    assert not model._batches.is_seen.any()
    correct = np.array(
        [np.mean(model._batches.outputs[model._batches.y == k] * one_vs_rest(10)[k] > 0, 0) for k in range(10)]
    )
    np.testing.assert_allclose(model.weights_, correct / correct.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("learner", [SGD, Perceptron(random_state=0)], ids=["sgd", "perceptron"])
@pytest.mark.parametrize(("coding", "peer"), [("one-vs-one", OneVsOneClassifier), ("one-vs-rest", OneVsRestClassifier)])
def test_margins_are_decoded_as_by_scikit_learn(learner, coding, peer):
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = np.arange(900), np.arange(900, 1797)
    own = in_batches(ECOCClassifier(learner, coding=coding), X[train], y[train], 6)
    other = in_batches(peer(learner), X[train], y[train], 6)
    np.testing.assert_array_equal(own.predict(X[test]), other.predict(X[test]))


def test_fit_starts_afresh_and_partial_fit_goes_on_after_fit():
    plain = ECOCClassifier(LOG, random_state=0).fit(X_IRIS, Y_IRIS)
    model = in_batches(ECOCClassifier(LOG, random_state=0), X_IRIS, Y_IRIS).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model.decision_function(X_IRIS), plain.decision_function(X_IRIS))
    learner = deepcopy(plain.estimators_[0])
    decoder, temperature = plain.decoder_, plain.temperature_
    plain.partial_fit(X_IRIS[40:60], Y_IRIS[40:60])
    assert (plain.decoder_, plain.temperature_) == (decoder, temperature)
    learner.partial_fit(X_IRIS[40:60], (Y_IRIS[40:60] == 0).astype(int))
    np.testing.assert_array_equal(plain.estimators_[0].coef_, learner.coef_)
    assert not np.array_equal(plain.decision_function(X_IRIS), model.decision_function(X_IRIS))


def test_jobs_pickles_and_model_files_make_no_difference(tmp_path):
    model = in_batches(ECOCClassifier(SGD, random_state=0), X_IRIS[:120], Y_IRIS[:120])
    save_model(model, tmp_path / "model.skops")
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301
    loaded = load_model(tmp_path / "model.skops")
    parallel = deepcopy(model).set_params(n_jobs=2)
    with parallel_config(backend="threading"):
        for other in (model, pickled, loaded, parallel):
            other.partial_fit(X_IRIS[100:], Y_IRIS[100:])
            np.testing.assert_array_equal(other.predict_proba(X_IRIS), model.predict_proba(X_IRIS))


def test_weights_count_as_repetition_and_zeros_are_dropped():
    weight = np.random.RandomState(0).randint(0, 4, 150)
    model = ECOCClassifier(GaussianNB(), coding="one-vs-rest")
    in_batches(model, X_IRIS, Y_IRIS, 5, sample_weight=weight)
    repeated = ECOCClassifier(GaussianNB(), coding="one-vs-rest")
    for start in range(5):
        rows = np.repeat(np.arange(start, 150, 5), weight[start::5])
        repeated.partial_fit(X_IRIS[rows], Y_IRIS[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(model.codewords(X_IRIS), repeated.codewords(X_IRIS), atol=1e-7)
    with pytest.raises(ValueError, match="weight"):
        model.partial_fit(X_IRIS, Y_IRIS, sample_weight=np.zeros(150))


def test_sparse_frames_text_and_routed_weights():
    pandas = pytest.importorskip("pandas")
    names = np.array(["setosa", "versicolor", "virginica"])[Y_IRIS]
    frame = pandas.DataFrame(X_IRIS, columns=list("abcd"))
    model = ECOCClassifier(MultinomialNB())
    for start in range(5):
        model.partial_fit(frame[start::5], names[start::5], classes=np.unique(names))
    plain = in_batches(ECOCClassifier(MultinomialNB()), sparse.csr_matrix(X_IRIS), Y_IRIS, 5)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X_IRIS))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_partial_fit_request(sample_weight=True)
        weighted = in_batches(ECOCClassifier(asking), X_IRIS, Y_IRIS, sample_weight=np.arange(150))
    same = in_batches(ECOCClassifier(GaussianNB()), X_IRIS, Y_IRIS, sample_weight=np.arange(150))
    np.testing.assert_array_equal(weighted.predict_proba(X_IRIS), same.predict_proba(X_IRIS))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coding": "decoc"}, "coding must be 'auto', a code matrix or one of dense-random"),
        ({"coding": " decoc"}, "got decoc"),
        ({"coding": "Forest_"}, "got forest"),
        ({"coding": lambda X, y: one_vs_rest(3)}, "got a function"),
        ({"decoding": "optimized-weight"}, "decoding must be 'auto' or one of hamming"),
        ({"decoding": "logistic-weight"}, "loss-weighted"),
    ],
)
def test_what_depends_on_all_data_is_refused(parameters, message):
    model = ECOCClassifier(GaussianNB(), **parameters)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])
    usual = ECOCClassifier(GaussianNB())
    model.set_params(coding="auto", decoding="auto").partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])
    usual.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.predict_proba(X_IRIS), usual.predict_proba(X_IRIS))


def test_classes_are_checked():
    model = ECOCClassifier(GaussianNB())
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="got 2"):
        model.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1])
    model.partial_fit(X_IRIS, Y_IRIS, classes=[2, 1, 0])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="y must hold labels of the classes that partial_fit was given first, got 7"):
        model.partial_fit(X_IRIS[:1], [7])
    ordered = ECOCClassifier(GaussianNB(), coding="ordinal", class_order=[2, 0, 1]).partial_fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(ordered.code_matrix_, [[1, -1], [1, 1], [-1, -1]])


@pytest.mark.parametrize(
    ("learner", "reason"),
    [(None, "StumpAdaBoostClassifier lacks"), (LogisticRegression(), "lacks"), ("mixed", "a single learner")],
)
def test_the_method_is_there_only_if_the_learner_has_it(learner, reason):
    model = ECOCClassifier(learner)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X_IRIS, Y_IRIS)
    assert reason in str(caught.value.__cause__)


def test_weights_of_classes_are_those_of_samples():
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    model = in_batches(ECOCClassifier(GaussianNB(), class_weight=weights), X_IRIS, Y_IRIS)
    weight = np.array([1.0, 3.0, 0.5])[Y_IRIS]
    plain = in_batches(ECOCClassifier(GaussianNB()), X_IRIS, Y_IRIS, sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X_IRIS), plain.predict_proba(X_IRIS))
    with pytest.raises(ValueError, match="class_weight='balanced'"):
        ECOCClassifier(GaussianNB(), class_weight="balanced").partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])


@pytest.mark.parametrize("learner", [SGD, GaussianNB()], ids=["sgd", "bayes"])
def test_a_first_batch_that_cannot_be_learnt_leaves_nothing(learner):
    model = ECOCClassifier(learner, random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X_IRIS * np.nan, Y_IRIS, classes=[0, 1, 2])
    assert vars(model).keys() == model.get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        model.predict(X_IRIS)
    model.partial_fit(X_IRIS[:100, :3], Y_IRIS[:100], classes=[0, 1])  # other features and classes
    plain = ECOCClassifier(learner, random_state=0).partial_fit(X_IRIS[:100, :3], Y_IRIS[:100], classes=[0, 1])
    np.testing.assert_array_equal(model.predict_proba(X_IRIS[:, :3]), plain.predict_proba(X_IRIS[:, :3]))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("is_fitted", [False, True], ids=["batches", "fit"])
def test_a_later_batch_that_cannot_be_learnt_changes_nothing(learner, is_fitted):
    models = [ECOCClassifier(learner, coding="one-vs-one", random_state=0) for _ in range(2)]
    for model in models:
        if is_fitted:
            model.fit(X_IRIS, Y_IRIS)
        else:
            in_batches(model, X_IRIS, Y_IRIS, 3)
    broken = X_IRIS[:120].copy()
    broken[-1] = np.nan  # a sample of class 2: the column of 0 against 1 could be learnt
    with pytest.raises(ValueError, match="NaN"):
        models[0].partial_fit(broken, Y_IRIS[:120])
    for _ in range(2):
        np.testing.assert_array_equal(*(model.predict_proba(X_IRIS) for model in models))
        for model in models:
            model.partial_fit(X_IRIS[20:], Y_IRIS[20:])


def test_the_decoding_is_named():
    assert in_batches(ECOCClassifier(GaussianNB()), X_IRIS, Y_IRIS).decoding_ == "loss-based"
    assert in_batches(ECOCClassifier(SGD, coding="one-vs-one"), X_IRIS, Y_IRIS).decoding_ == "hamming"
    assert in_batches(ECOCClassifier(SGD, decoding="Loss_Weighted"), X_IRIS, Y_IRIS).decoding_ == "loss-weighted"
    model = ECOCClassifier(LOG, decoding="loss-weighted", random_state=0).fit(X_IRIS, Y_IRIS)
    assert model.partial_fit(X_IRIS, Y_IRIS).decoding_ == "loss-weighted"


def test_a_batch_of_classes_without_weight_is_passed_over():
    model = ECOCClassifier(GaussianNB(), class_weight={2: 0.0})
    with pytest.raises(ValueError, match="class_weight must not be 0 for all classes of the first batch"):
        model.partial_fit(X_IRIS[100:], Y_IRIS[100:], classes=[0, 1, 2])
    model.partial_fit(X_IRIS, Y_IRIS, classes=[0, 1, 2])
    expected = model.predict_proba(X_IRIS)
    for further in ({}, {"sample_weight": np.ones(50)}):
        np.testing.assert_array_equal(
            model.partial_fit(X_IRIS[100:], Y_IRIS[100:], **further).predict_proba(X_IRIS), expected
        )
    with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
        model.partial_fit(X_IRIS[100:], Y_IRIS[100:], sample_weight=np.zeros(50))
