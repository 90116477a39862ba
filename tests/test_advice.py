"""Errors that say what to do."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.decoding import LossBasedDecoder
from skecoc.learners import MulticlassLearner
from skecoc.plotting import (
    plot_code_matrix,
    plot_convergence,
    plot_learner_shares,
    plot_reliability,
    plot_risk_coverage,
    plot_weights,
)

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)
GROWN = [WOLCClassifier, LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier]


@pytest.mark.parametrize("method", GROWN)
@pytest.mark.parametrize("several", [False, True])
def test_values_that_learners_have_not_seen(method, several):
    rng = np.random.default_rng(0)
    kinds = np.array([f"{label}{place}" for label, place in zip(Y, rng.integers(25, size=len(Y)), strict=True)])
    learner = make_pipeline(OneHotEncoder(), LogisticRegression())
    estimator = [("logistic", MulticlassLearner(learner))] if several else learner
    with pytest.raises(ValueError, match=r'unknown categories.*held out.*handle_unknown="ignore".*n_folds=None'):
        method(estimator, random_state=0).fit(kinds[:, None], Y)


def test_missing_values_of_a_single_learner():
    missing = X.copy()
    missing[0, 0] = np.nan
    for model in (ECOCClassifier(SVC()), WOLCClassifier(SVC())):
        with pytest.raises(ValueError, match=r"(?s)contains NaN.*make_pipeline\(SimpleImputer\(\), learner\)"):
            model.fit(missing, Y)
    model = ECOCClassifier(make_pipeline(SimpleImputer(), SVC())).fit(missing, Y)
    assert model.score(missing, Y) > 0.9


@pytest.mark.parametrize(
    ("learner", "kind"),
    [(StandardScaler(), "a transformer"), (make_pipeline(StandardScaler()), "a transformer"), (KMeans(2), "a cluster")],
)
def test_what_is_no_classifier(learner, kind):
    for estimator in (learner, [("a", learner)]):
        with pytest.raises(ValueError, match=rf"must be a classifier.*{kind}"):
            ECOCClassifier(estimator).fit(X, Y)


def test_parameters_of_a_decoding_that_has_a_name():
    for decoding in ("auto", "loss-based"):
        with pytest.raises(ValueError, match=re.escape("decoding=LossBasedDecoder(loss='hinge')")):
            ECOCClassifier(decoding=decoding).set_params(decoding__loss="hinge")
    with pytest.raises(ValueError, match="HammingDecoder has no loss either"):
        ECOCClassifier(decoding="hamming").set_params(decoding__loss="hinge")
    with pytest.raises(ValueError, match="no decoder takes lose='hinge'"):
        ECOCClassifier().set_params(decoding__lose="hinge")
    model = ECOCClassifier("mixed").set_params(decoding=LossBasedDecoder(), decoding__loss="hinge")
    assert model.decoding.loss == "hinge"


def test_weights_of_classes_whose_labels_a_meta_estimator_replaces():
    names = np.array(["bus", "car", "van"])[Y]
    model = BaggingClassifier(ECOCClassifier(LogisticRegression(), class_weight={"bus": 2}))
    with pytest.raises(ValueError, match=r"got 'bus'\. Some meta-estimators, such as BaggingClassifier, replace"):
        model.fit(X, names)
    with pytest.raises(ValueError, match=r"got 'truck'$"):
        ECOCClassifier(class_weight={"truck": 2}).fit(X, names)


def test_names_of_columns_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ECOCClassifier().column_names_  # noqa: B018
    assert not hasattr(ECOCClassifier(), "column_names_")


@pytest.mark.parametrize("plot", [plot_reliability, plot_risk_coverage])
def test_plots_of_probabilities_need_them(plot):
    with pytest.raises(ValueError, match=r"predict_proba, which LinearSVC does not have; CalibratedClassifierCV and"):
        plot(LinearSVC().fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        plot(ECOCClassifier(), X, Y)
    with pytest.raises(NotFittedError):
        plot({"a": make_pipeline(StandardScaler(), ECOCClassifier())}, X, Y)


def test_plots_look_at_the_last_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), WOLCClassifier(max_iter=1, random_state=0)).fit(X, Y)
    code = model[-1]
    np.testing.assert_array_equal(plot_code_matrix(model).images[0].get_array(), code.code_matrix_)
    np.testing.assert_array_equal(plot_weights(model)[0].images[0].get_array(), code.code_matrix_)
    assert len(plot_learner_shares(model).patches) == 3
    _, accuracies = plot_convergence(model, X, Y)
    drawn = {line.get_label(): line.get_ydata() for line in accuracies.lines}
    np.testing.assert_array_equal(drawn["test"], [*code.staged_score(model[:-1].transform(X), Y)])
    with pytest.raises(NotFittedError):
        plot_convergence(make_pipeline(StandardScaler(), WOLCClassifier()), X, Y)
