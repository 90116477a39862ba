"""The order of classes: given, of ordered categories, or that of the sorted labels."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.classifiers.base import own_order
from skecoc.coding import ordinal, resolve_coding
from tests.reference.blocks import ecoc_in_blocks, wolc_in_blocks

NAMES = np.array(["poor", "fair", "good", "best"])  # sorted: best, fair, good, poor


def grades(n_samples=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    return X, np.digitize(X[:, 0] + 0.4 * rng.normal(size=n_samples), [-0.7, 0.0, 0.7])


def as_series(numbers):
    return pd.Series(pd.Categorical(NAMES[numbers], NAMES, ordered=True), index=np.arange(len(numbers)) + 7)


X, NUMBERS = grades()
LOGISTIC = LogisticRegression(C=0.3)


def test_rows_of_the_ordinal_code_follow_the_order():
    expected = [[1, 1, 1], [1, -1, -1], [1, 1, -1], [-1, -1, -1]]  # of best, fair, good, poor
    np.testing.assert_array_equal(resolve_coding("ordinal", None, None, 4, ranks=np.array([3, 1, 2, 0])), expected)
    np.testing.assert_array_equal(resolve_coding("ordinal", None, None, 4), ordinal(4))
    np.testing.assert_array_equal(resolve_coding(ordinal(4), None, None, 4, ranks=np.array([3, 1, 2, 0])), ordinal(4))
    model = ECOCClassifier(LOGISTIC, coding="ordinal", class_order=NAMES).fit(X, NAMES[NUMBERS])
    assert model.classes_.tolist() == ["best", "fair", "good", "poor"]
    np.testing.assert_array_equal(model.code_matrix_, expected)


@pytest.mark.parametrize(
    ("parameters", "y"),
    [
        ({"class_order": NAMES}, NAMES[NUMBERS]),
        ({"class_order": [*NAMES, "unheard of"]}, NAMES[NUMBERS].astype(object)),
        ({}, as_series(NUMBERS)),
        ({}, pd.Categorical(NAMES[NUMBERS], [*NAMES, "unheard of"], ordered=True)),
        ({}, pl.Series(NAMES[NUMBERS].tolist(), dtype=pl.Enum(NAMES.tolist()))),
        ({"class_order": NAMES}, as_series(NUMBERS).cat.reorder_categories(NAMES[::-1], ordered=True)),
    ],
    ids=["given", "given-more", "pandas", "pandas-more", "polars", "given-wins"],
)
def test_text_with_an_order_is_as_good_as_numbers(parameters, y):
    plain = ECOCClassifier(LOGISTIC, coding="ordinal").fit(X, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ECOCClassifier(LOGISTIC, coding="ordinal", **parameters).fit(X, y)
    places = np.searchsorted(model.classes_, NAMES)
    np.testing.assert_array_equal(model.code_matrix_[places], plain.code_matrix_)
    np.testing.assert_array_equal(model.codewords(X), plain.codewords(X))
    np.testing.assert_array_equal(model.decision_function(X)[:, places], plain.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), NAMES[plain.predict(X)])
    # Calibration adds samples up class by class.
    np.testing.assert_allclose(model.predict_proba(X)[:, places], plain.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("method", [WOLCClassifier, LCECOCClassifier, ECOCOneClassifier])
def test_grown_codes_start_from_the_order(method):
    plain = method(LOGISTIC, init="ordinal", max_iter=0, random_state=0).fit(X, NUMBERS)
    for parameters, y in (({"class_order": list(NAMES)}, NAMES[NUMBERS]), ({}, as_series(NUMBERS))):
        model = method(LOGISTIC, init="ordinal", max_iter=0, random_state=0, **parameters).fit(X, y)
        np.testing.assert_array_equal(model.code_matrix_[np.searchsorted(model.classes_, NAMES)], plain.code_matrix_)
        assert np.mean(model.predict(X) == NAMES[plain.predict(X)]) > 0.97  # other folds


@pytest.mark.parametrize("method", [ecoc_in_blocks, wolc_in_blocks])
def test_blocks_take_the_order(method):
    name = "coding" if method is ecoc_in_blocks else "init"
    further = {} if method is ecoc_in_blocks else {"max_iter": 0}
    for max_bins in ("auto", 16):  # put together, and boosted from sums
        settings = {name: "ordinal", "class_order": NAMES, "max_bins": max_bins, "random_state": 0, **further}
        model = method(**settings).fit(X, NAMES[NUMBERS])
        np.testing.assert_array_equal(model.code_matrix_[np.searchsorted(model.classes_, NAMES)], ordinal(4))


def test_the_order_survives_pipelines_searches_and_cross_validation():
    pipeline = make_pipeline(StandardScaler(), ECOCClassifier(LOGISTIC, coding="ordinal"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(pipeline, X, as_series(NUMBERS))
    np.testing.assert_array_equal(scores, cross_val_score(pipeline, X, NUMBERS))
    search = GridSearchCV(pipeline, {"ecocclassifier__class_order": [NAMES, NAMES[::-1]]}).fit(X, NAMES[NUMBERS])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores.mean(), atol=0.02)


def test_only_text_without_an_order_warns():
    with pytest.warns(UserWarning, match=r"best < fair < good < poor.*class_order=\[...\]") as caught:
        ECOCClassifier(LOGISTIC, coding="ordinal").fit(X, NAMES[NUMBERS])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="alphabetical order"):
        LCECOCClassifier(LOGISTIC, init="ordinal", max_iter=0).fit(X, pd.Series(NAMES[NUMBERS], dtype="category"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ECOCClassifier(LOGISTIC, coding="ordinal").fit(X, NUMBERS)
        ECOCClassifier(LOGISTIC, coding="one-vs-one").fit(X, NAMES[NUMBERS])
        ECOCClassifier(LOGISTIC, coding="ordinal").fit(X, np.where(NUMBERS > 1, "high", "low"))


@pytest.mark.parametrize(
    ("class_order", "message"),
    [
        (NAMES[:3], "class_order must name every class of y, missing: best"),
        (["poor", "fair", "poor", "good", "best"], "every label once, got poor more than once"),
        ([NAMES], "at least 2 labels in their order"),
        (["poor"], "at least 2 labels"),
        ([0, 1, 2, 3], "missing: best, fair, good, poor"),
    ],
)
def test_the_order_is_checked(class_order, message):
    with pytest.raises(ValueError, match=message):
        ECOCClassifier(LOGISTIC, coding="ordinal", class_order=class_order).fit(X, NAMES[NUMBERS])


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (ECOCClassifier(), "coding=\"ordinal\", other codes have no order; got 'auto'"),
        (ECOCClassifier(coding="one-vs-one"), "coding=\"ordinal\", .* got 'one-vs-one'"),
        (ECOCClassifier(coding=ordinal(4)), 'coding="ordinal", .* got a code matrix'),
        (ECOCClassifier(coding=ordinal(4).tolist()), 'coding="ordinal", .* got a code matrix'),
        (ECOCClassifier(coding=lambda X, y: ordinal(4)), 'coding="ordinal", .* got a function'),
        (WOLCClassifier(), "init=\"ordinal\", .* got 'auto'"),
        (LCECOCClassifier(), "init=\"ordinal\", .* got 'one-vs-rest'"),
        (ECOCOneClassifier(init=ordinal(4)), 'init="ordinal", .* got a code matrix'),
        (ecoc_in_blocks(coding="one-vs-rest"), "coding=\"ordinal\", .* got 'one-vs-rest'"),
        (wolc_in_blocks(), "init=\"ordinal\", .* got 'auto'"),
    ],
)
def test_codes_without_an_order_refuse_one(classifier, message):
    with pytest.raises(ValueError, match=f"class_order needs {message}"):
        classifier.set_params(class_order=NAMES).fit(X, NAMES[NUMBERS])
    assert not hasattr(classifier, "classes_")
    y = as_series(NUMBERS)  # an order that labels bring along is no mistake
    assert classifier.set_params(class_order=None, estimator=GaussianNB()).fit(X, y).n_classes_ == 4


def test_partial_fit_refuses_an_order_too():
    model = ECOCClassifier(GaussianNB(), coding="one-vs-one", class_order=NAMES)
    with pytest.raises(ValueError, match="class_order needs"):
        model.partial_fit(X, NAMES[NUMBERS])


def test_labels_that_have_become_numbers_are_explained():
    y = NAMES[NUMBERS]
    model = ECOCClassifier(LOGISTIC, coding="ordinal", class_order=NAMES)
    explained = r"missing: 0, 1, 2, 3\. scikit-learn has replaced the labels by numbers.*and leave class_order=None"
    with pytest.raises(ValueError, match=explained):
        cross_val_predict(model, X, y, cv=2, method="predict_proba")
    with pytest.raises(ValueError, match=explained):
        VotingClassifier([("code", model)]).fit(X, y)
    with pytest.raises(ValueError, match="missing: other") as caught:
        model.fit(X, np.where(y == "best", "other", y))
    assert "scikit-learn" not in str(caught.value)
    with pytest.raises(ValueError, match="missing: 0") as caught:
        model.set_params(class_order=[3, 1, 2]).fit(X, NUMBERS)
    assert "scikit-learn" not in str(caught.value)
    # What the message says to do.
    order = NAMES.tolist()
    numbers = [order.index(label) for label in y]
    model.set_params(class_order=None)
    held_out = cross_val_predict(model, X, numbers, cv=2, method="predict_proba")
    np.testing.assert_array_equal(held_out.argmax(axis=1), cross_val_predict(model, X, numbers, cv=2))
    assert np.mean(held_out.argmax(axis=1) == NUMBERS) > 0.6


@pytest.mark.parametrize("name", ["ORDINAL ", " Ordinal", "ordinal_"])
def test_the_alphabet_is_warned_of_however_the_coding_is_written(name):
    with pytest.warns(UserWarning, match="alphabetical order"):
        ECOCClassifier(LOGISTIC, coding=name).fit(X, NAMES[NUMBERS])
    model = ECOCClassifier(LOGISTIC, coding=name, class_order=NAMES).fit(X, NAMES[NUMBERS])
    np.testing.assert_array_equal(model.code_matrix_[np.searchsorted(model.classes_, NAMES)], ordinal(4))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_one_column_keeps_its_order(library):
    order = ["poor", "fair", "good"]
    kind = pd.CategoricalDtype(order, ordered=True) if library is pd else pl.Enum(order)
    frame = (
        library.DataFrame({"grade": library.Series("grade", ["good", "poor"], dtype=kind)})
        if library is pl
        else (pd.DataFrame({"grade": pd.Series(["good", "poor"], dtype=kind)}))
    )
    assert own_order(frame) == order
