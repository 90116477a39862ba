"""The order of classes: given, of ordered categories, or that of the sorted labels."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.blocks import BlockECOCClassifier, BlockWOLCClassifier
from skecoc.classifiers.order import own_order
from skecoc.coding import ordinal, resolve_coding

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
    model = ECOCClassifier(LOGISTIC, "ordinal", classes=NAMES).fit(X, NAMES[NUMBERS])
    assert model.classes_.tolist() == ["best", "fair", "good", "poor"]
    np.testing.assert_array_equal(model.code_matrix_, expected)


@pytest.mark.parametrize(
    ("parameters", "y"),
    [
        ({"classes": NAMES}, NAMES[NUMBERS]),
        ({"classes": [*NAMES, "unheard of"]}, NAMES[NUMBERS].astype(object)),
        ({}, as_series(NUMBERS)),
        ({}, pd.Categorical(NAMES[NUMBERS], [*NAMES, "unheard of"], ordered=True)),
        ({}, pl.Series(NAMES[NUMBERS].tolist(), dtype=pl.Enum(NAMES.tolist()))),
        ({"classes": NAMES}, as_series(NUMBERS).cat.reorder_categories(NAMES[::-1], ordered=True)),
    ],
    ids=["given", "given-more", "pandas", "pandas-more", "polars", "given-wins"],
)
def test_text_with_an_order_is_as_good_as_numbers(parameters, y):
    plain = ECOCClassifier(LOGISTIC, "ordinal").fit(X, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ECOCClassifier(LOGISTIC, "ordinal", **parameters).fit(X, y)
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
    for parameters, y in (({"classes": list(NAMES)}, NAMES[NUMBERS]), ({}, as_series(NUMBERS))):
        model = method(LOGISTIC, init="ordinal", max_iter=0, random_state=0, **parameters).fit(X, y)
        np.testing.assert_array_equal(model.code_matrix_[np.searchsorted(model.classes_, NAMES)], plain.code_matrix_)
        assert np.mean(model.predict(X) == NAMES[plain.predict(X)]) > 0.97  # other folds


@pytest.mark.parametrize("method", [BlockECOCClassifier, BlockWOLCClassifier])
def test_blocks_take_the_order(method):
    name = "coding" if method is BlockECOCClassifier else "init"
    further = {} if method is BlockECOCClassifier else {"max_iter": 0}
    for max_bins in ("auto", 16):  # put together, and boosted from sums
        settings = {name: "ordinal", "classes": NAMES, "max_bins": max_bins, "random_state": 0, **further}
        model = method(**settings).fit(X, NAMES[NUMBERS])
        np.testing.assert_array_equal(model.code_matrix_[np.searchsorted(model.classes_, NAMES)], ordinal(4))


def test_the_order_survives_pipelines_searches_and_cross_validation():
    pipeline = make_pipeline(StandardScaler(), ECOCClassifier(LOGISTIC, "ordinal"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(pipeline, X, as_series(NUMBERS))
    np.testing.assert_array_equal(scores, cross_val_score(pipeline, X, NUMBERS))
    search = GridSearchCV(pipeline, {"ecocclassifier__classes": [NAMES, NAMES[::-1]]}).fit(X, NAMES[NUMBERS])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores.mean(), atol=0.02)


def test_only_text_without_an_order_warns():
    with pytest.warns(UserWarning, match=r"best < fair < good < poor.*classes=\[...\]") as caught:
        ECOCClassifier(LOGISTIC, "ordinal").fit(X, NAMES[NUMBERS])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="alphabetical order"):
        LCECOCClassifier(LOGISTIC, init="ordinal", max_iter=0).fit(X, pd.Series(NAMES[NUMBERS], dtype="category"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ECOCClassifier(LOGISTIC, "ordinal").fit(X, NUMBERS)
        ECOCClassifier(LOGISTIC, "one-vs-one").fit(X, NAMES[NUMBERS])
        ECOCClassifier(LOGISTIC, "ordinal").fit(X, np.where(NUMBERS > 1, "high", "low"))


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (NAMES[:3], "classes must name every class of y, missing: best"),
        (["poor", "fair", "poor", "good", "best"], "every label once, got poor more than once"),
        ([NAMES], "at least 2 labels in their order"),
        (["poor"], "at least 2 labels"),
        ([0, 1, 2, 3], "missing: best, fair, good, poor"),
    ],
)
def test_classes_are_checked(classes, message):
    with pytest.raises(ValueError, match=message):
        ECOCClassifier(LOGISTIC, "ordinal", classes=classes).fit(X, NAMES[NUMBERS])


def test_only_ordinal_codes_compare_classes_with_the_labels():
    model = ECOCClassifier(LOGISTIC, "one-vs-one", classes=NAMES)
    plain = ECOCClassifier(LOGISTIC, "one-vs-one")
    y = NAMES[NUMBERS]
    np.testing.assert_array_equal(
        *(cross_val_predict(each, X, y, cv=2, method="predict_proba") for each in (model, plain))
    )
    voting = VotingClassifier([("code", model), ("tree", DecisionTreeClassifier(max_depth=2))], voting="soft")
    assert voting.fit(X, y).score(X, y) > 0.5
    model.fit(X, NUMBERS)
    with pytest.raises(ValueError, match="every label once"):  # a list that is wrong for any code
        model.set_params(classes=["low", "low"]).fit(X, y)


def test_labels_that_have_become_numbers_are_explained():
    y = NAMES[NUMBERS]
    model = ECOCClassifier(LOGISTIC, "ordinal", classes=NAMES)
    explained = r"missing: 0, 1, 2, 3\. scikit-learn has replaced the labels by numbers.*and leave classes=None"
    with pytest.raises(ValueError, match=explained):
        cross_val_predict(model, X, y, cv=2, method="predict_proba")
    with pytest.raises(ValueError, match=explained):
        VotingClassifier([("code", model)]).fit(X, y)
    with pytest.raises(ValueError, match="missing: other") as caught:
        model.fit(X, np.where(y == "best", "other", y))
    assert "scikit-learn" not in str(caught.value)
    with pytest.raises(ValueError, match="missing: 0") as caught:
        model.set_params(classes=[3, 1, 2]).fit(X, NUMBERS)
    assert "scikit-learn" not in str(caught.value)
    # What the message says to do.
    order = NAMES.tolist()
    numbers = [order.index(label) for label in y]
    model.set_params(classes=None)
    held_out = cross_val_predict(model, X, numbers, cv=2, method="predict_proba")
    np.testing.assert_array_equal(held_out.argmax(axis=1), cross_val_predict(model, X, numbers, cv=2))
    assert np.mean(held_out.argmax(axis=1) == NUMBERS) > 0.6


@pytest.mark.parametrize("name", ["ORDINAL ", " Ordinal", "ordinal_"])
def test_the_alphabet_is_warned_of_however_the_coding_is_written(name):
    with pytest.warns(UserWarning, match="alphabetical order"):
        ECOCClassifier(LOGISTIC, name).fit(X, NAMES[NUMBERS])
    model = ECOCClassifier(LOGISTIC, name, classes=NAMES).fit(X, NAMES[NUMBERS])
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
