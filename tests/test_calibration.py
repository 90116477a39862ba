"""Probabilities: their calibration on held-out codewords, and that it leaves predictions as they are."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skecoc import (
    ECOCClassifier,
    ECOCOneClassifier,
    LCECOCClassifier,
    SubclassECOCClassifier,
    WOLCClassifier,
)
from skecoc.classifiers import calibration
from skecoc.classifiers.calibration import (
    calibration_samples,
    fit_calibration,
    fit_temperature,
    give_lead,
    probabilities_of,
)
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import load_model, save_model

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def scored():
    """Scores of 240 samples of four classes, of which the first two are often confused and the last is rare."""
    random = np.random.default_rng(0)
    y = random.choice(4, 240, p=[0.4, 0.3, 0.25, 0.05])
    scores = random.normal(size=(240, 4)) + 1.5 * np.eye(4)[y]
    scores[:, :2] += 0.5 * random.normal(size=(240, 1))
    return scores, y, random.integers(1, 4, 240).astype(float)


def fitted(scores, y, weight):
    temperature = fit_temperature(scores, y, weight)
    return temperature, fit_calibration(scores, y, weight, temperature)


@pytest.mark.parametrize("many", [False, True])
def test_the_fit_is_that_of_a_general_solver(scored, monkeypatch, many):
    """The loss written out sample by sample, from another start, without gradients."""
    scores, y, weight = (part[:60] for part in scored)
    if many:
        monkeypatch.setattr(calibration, "_MOST_CLASSES_OF_MATRIX", 3)
    temperature, found = fitted(scores, y, weight)
    assert found.shape == ((2, 4) if many else (5, 4))
    logits = (scores - scores.mean(axis=1, keepdims=True)) / temperature

    def factors_of(parameters):
        return np.diag(parameters[:4]) if many else parameters[:16].reshape(4, 4)

    def loss(parameters):
        factors, biases = factors_of(parameters), parameters[-4:]
        mean = 0.0
        for row, label, share in zip(logits, y, weight / weight.sum(), strict=True):
            target = 0.99 * np.eye(4)[label] + 0.0025
            mean -= share * target @ log_softmax(row @ factors + biases)
        change = ((factors - np.eye(4)) ** 2).sum() + (biases**2).sum()
        return mean + 0.5 * 20 * (4 / 60) ** 2 * change

    start = np.random.default_rng(1).normal(size=found.size)
    expected = minimize(loss, start, method="BFGS", options={"gtol": 1e-6}).x
    np.testing.assert_allclose(found.ravel(), expected, atol=2e-4)


def test_scores_that_say_nothing_leave_the_shares_of_classes():
    y, weight = np.repeat([0, 1], [300, 100]), np.ones(400)
    scores = 1e-3 * np.random.default_rng(0).normal(size=(400, 2))
    found = fit_calibration(scores, y, weight, 1.0)
    probabilities = softmax(found[-1])
    np.testing.assert_allclose(probabilities[1], 0.25 * 0.99 + 0.005, atol=0.005)
    assert found[-1].sum() == pytest.approx(0, abs=1e-6)


def test_few_samples_keep_the_temperature_alone(scored):
    scores, y, _ = scored
    rows = np.concatenate([np.flatnonzero(y == label)[:3] for label in range(4)])
    _, found = fitted(scores[rows], y[rows], np.ones(len(rows)))
    np.testing.assert_allclose(found[:-1], np.eye(4), atol=0.1)
    np.testing.assert_allclose(found[-1], 0, atol=0.1)
    _, more = fitted(*scored)
    assert np.abs(more - np.vstack([np.eye(4), np.zeros(4)])).max() > 0.2


def test_repeated_samples_count_as_weights_and_only_ratios_matter(scored):
    scores, y, weight = scored
    temperature, expected = fitted(scores, y, weight)
    repeats = weight.astype(int)
    order = np.random.default_rng(2).permutation(repeats.sum())
    for given in (
        (np.repeat(scores, repeats, axis=0)[order], np.repeat(y, repeats)[order], np.ones(len(order))),
        (scores, y, 1e-3 * weight),
        (scores, y, 1e6 * weight),
    ):
        again, found = fitted(*given)
        assert again == pytest.approx(temperature, rel=1e-5)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_names_of_classes_and_the_scale_of_scores_do_not_matter(scored):
    scores, y, weight = scored
    expected = probabilities_of(scores, *fitted(scores, y, weight))
    names = np.array([2, 0, 3, 1])
    renamed = np.empty_like(scores)
    renamed[:, names] = scores
    found = probabilities_of(renamed, *fitted(renamed, names[y], weight))
    np.testing.assert_allclose(found[:, names], expected, atol=1e-4)
    shifted = 1000 * scores + np.random.default_rng(3).normal(size=(240, 1))
    np.testing.assert_allclose(probabilities_of(shifted, *fitted(shifted, y, weight)), expected, atol=1e-4)


def test_the_winner_keeps_the_highest_probability(scored):
    scores, y, weight = scored
    temperature, found = fitted(scores, y, weight)
    found[-1] += [0, 3, 0, 0]  # would call nearly everything class 1
    probabilities = probabilities_of(scores, temperature, found)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    logits = (scores - scores.mean(axis=1, keepdims=True)) / temperature @ found[:-1] + found[-1]
    plain = softmax(logits, axis=1)
    is_same = plain.argmax(axis=1) == scores.argmax(axis=1)
    np.testing.assert_allclose(probabilities[is_same], plain[is_same])
    overruled = np.sort(probabilities[~is_same], axis=1)
    assert len(overruled) > 50
    np.testing.assert_allclose(overruled[:, -1], overruled[:, -2], rtol=1e-6)


def test_a_winner_that_is_overruled_shares_with_the_classes_above_it():
    """The others keep what they have; where several are above the winner, all of these share."""
    given = np.array([[0.6, 0.1, 0.25, 0.05], [0.4, 0.1, 0.375, 0.125], [0.3, 0.5, 0.1, 0.1]])
    found = give_lead(given, np.array([1, 1, 1]))
    np.testing.assert_allclose(found[0], [0.35, 0.35, 0.25, 0.05])
    np.testing.assert_allclose(found[1], [0.875 / 3, 0.875 / 3, 0.875 / 3, 0.125])
    np.testing.assert_allclose(found[2], given[2])
    # No other probabilities that put the winner first have a smaller expected log-loss.
    random = np.random.default_rng(0).dirichlet(np.ones(4), 20_000)
    random = random[random.argmax(axis=1) == 1]
    for row, best in zip(given, found, strict=True):
        assert (-np.log(random) @ row).min() >= -np.log(best) @ row


def test_scores_without_bound_have_probabilities():
    scores = np.array([[1e300, -1e300, 0.0], [0.0, 1e300, -1e300]])
    found = probabilities_of(scores, 1e-9, np.vstack([2 * np.eye(3), [0.0, 0.5, 0.0]]))
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 1, 0]], atol=1e-12)


def test_many_samples_and_classes_are_thinned_out():
    y = np.repeat(np.arange(1000), 100)
    assert len(calibration_samples(y, np.ones(100_000), 3)[0]) == 32_768
    rows, weight = calibration_samples(y, np.ones(100_000), 1000)
    assert len(rows) == 2**20 // 1000
    assert len(np.unique(y[rows])) == 1000
    assert weight.sum() == pytest.approx(100_000)


def test_one_vs_one_has_good_probabilities_of_digits():
    """The log-loss was 1.39 when one temperature was fitted to training codewords."""
    X, y = load_digits(return_X_y=True)
    model = ECOCClassifier(coding="one-vs-one", random_state=0).fit(X[::2], y[::2])
    probabilities = model.predict_proba(X[1::2])
    assert log_loss(y[1::2], probabilities) < 0.35
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X[1::2]))


@pytest.mark.parametrize("name", ["vehicle", "glass"])
def test_probabilities_are_no_worse_than_those_of_calibrated_classifiers(name):
    X, y = load_uci(name, return_X_y=True)
    y = np.unique(y, return_inverse=True)[1]
    learner = ECOCClassifier(GaussianNB(), coding="one-vs-one", random_state=0)
    ours = learner.fit(X[::2], y[::2]).predict_proba(X[1::2])
    theirs = CalibratedClassifierCV(learner, cv=5).fit(X[::2], y[::2]).predict_proba(X[1::2])
    rows = np.arange(len(ours)), y[1::2]
    worse = np.log(theirs[rows]) - np.log(ours[rows])
    assert worse.mean() < 2 * worse.std() / np.sqrt(len(worse))


@pytest.mark.parametrize(
    "model",
    [
        ECOCClassifier(GaussianNB(), coding="one-vs-one"),
        ECOCClassifier(GaussianNB(), coding="dense-random", decoding="hamming", random_state=0),
        LCECOCClassifier(random_state=0),
        WOLCClassifier(random_state=0),
        ECOCOneClassifier(random_state=0),
        SubclassECOCClassifier(LogisticRegression(max_iter=500), decoding="loss-weighted", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_is_calibrated_out_of_fold(model):
    model.fit(X_IRIS[::2], Y_IRIS[::2])
    assert model.calibration_.shape == (4, 3)
    probabilities = model.predict_proba(X_IRIS)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X_IRIS))
    assert log_loss(Y_IRIS[1::2], probabilities[1::2]) < 0.35


def test_without_folds_there_is_a_temperature_alone():
    model = ECOCClassifier(GaussianNB(), n_folds=None).fit(X_IRIS, Y_IRIS)
    assert model.calibration_ is None
    scores = model.decision_function(X_IRIS) / model.temperature_
    np.testing.assert_allclose(model.predict_proba(X_IRIS), softmax(scores, axis=1))


@pytest.fixture(scope="module")
def of_many_classes():
    X, y = make_blobs(560, centers=70, cluster_std=0.7, random_state=0)
    return ECOCClassifier(StumpAdaBoostClassifier(5), coding="one-vs-rest", random_state=0).fit(X, y), X


def test_model_files_keep_the_calibration(of_many_classes, tmp_path):
    few = ECOCClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    for model, X in ((few, X_IRIS), of_many_classes):
        save_model(model, tmp_path / "model.ecoc")
        again = load_model(tmp_path / "model.ecoc")
        np.testing.assert_array_equal(again.calibration_, model.calibration_)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature_", 0.0),
        ("temperature_", np.nan),
        ("temperature_", "1"),
        ("calibration_", np.eye(3)),
        ("calibration_", np.full((4, 3), np.inf)),
        ("calibration_", np.ones((4, 3), dtype=int)),
        ("calibration_", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]),
    ],
)
def test_forged_calibrations_are_refused(name, value, tmp_path):
    model = ECOCClassifier(GaussianNB()).fit(X_IRIS, Y_IRIS)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=name):
        save_model(model, tmp_path / "model.ecoc")


def test_exported_models_are_calibrated(of_many_classes):
    pytest.importorskip("skl2onnx")
    from skecoc.onnx import check_export, to_onnx

    overruled = ECOCClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    overruled.calibration_[-1] += [0.0, 2.0, 0.0]
    for model, X in ((overruled, X_IRIS), of_many_classes):
        found = check_export(model, to_onnx(model, X), X)
        assert found.n_different_labels == 0
        assert found.largest_difference < 1e-6


def test_logistic_weights_of_subclasses_are_fitted_out_of_fold():
    """Trees are right on all samples that they have seen: weights fitted to these would be sure of anything."""
    X, y = load_uci("vehicle", return_X_y=True)
    model = SubclassECOCClassifier(DecisionTreeClassifier(random_state=0), random_state=0).fit(X[::4], y[::4])
    assert log_loss(y[1::4], model.predict_proba(X[1::4])) < 1.2


def test_many_samples_that_are_all_right_may_be_sure():
    """A thousandth of a label is spread over four classes: else no sample would pass a threshold of 0.99."""
    X, y = make_blobs(2000, centers=4, cluster_std=0.3, random_state=3)
    model = ECOCClassifier(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) == 1.0
    assert (model.predict(X[1::2], reject=0.99) >= 0).all()


def test_samples_of_small_weights_are_thinned_out_as_well():
    y, weight = np.repeat([0, 1], 5_000), np.full(10_000, 1e-4)
    samples, sample_weight = calibration_samples(y, weight)
    assert len(samples) == 300
    np.testing.assert_allclose(sample_weight.sum(), 1.0)
    np.testing.assert_array_equal(np.bincount(y[samples]), [150, 150])


def test_subclasses_without_held_out_samples_have_a_temperature_alone():
    X, y = np.repeat(np.eye(3), 10, axis=0), np.repeat([0, 1, 2], 10)  # one distinct sample of each class
    model = SubclassECOCClassifier(GaussianNB(), decoding="hamming", random_state=0).fit(X, y)
    assert model.calibration_ is None
    assert ECOCClassifier(GaussianNB(), decoding="hamming", random_state=0).fit(X, y).calibration_ is None
