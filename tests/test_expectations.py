"""What someone who knows scikit-learn expects of every classifier: parameters, names, and clear errors."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVC
from sklearn.tree import DecisionTreeClassifier

import skecoc
from skecoc import ECOCClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.coding import dense_random, exhaustive, one_vs_one, one_vs_rest, row_distances
from skecoc.coding.matrix import shorten
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier, mixed_learners
from tests.reference.blocks import ecoc_in_blocks, wolc_in_blocks

X, Y = load_iris(return_X_y=True)
NAMES = [name for name in skecoc.__all__ if name.endswith("Classifier") and name != "CostSensitiveClassifier"]
LOCAL = [getattr(skecoc, name) for name in NAMES]
ALL = [*LOCAL, ecoc_in_blocks, wolc_in_blocks]


@pytest.mark.parametrize("kind", ALL)
def test_the_default_learner_has_parameters(kind):
    model = kind().set_params(estimator__n_estimators=3, random_state=0)
    assert model.estimator.get_params() == {**StumpAdaBoostClassifier().get_params(), "n_estimators": 3}
    assert model.random_state == 0
    assert model.get_params()["estimator__n_estimators"] == 3
    expected = kind(StumpAdaBoostClassifier(3), random_state=0).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(clone(model).fit(X, Y).decision_function(X), expected)


def test_parameters_of_the_default_learner_beside_others():
    assert ECOCClassifier().get_params()["estimator"] is None
    both = ECOCClassifier(LogisticRegression()).set_params(estimator=None, estimator__n_estimators=3)
    assert both.estimator.n_estimators == 3
    assert ECOCClassifier().set_params(estimator=LogisticRegression(), estimator__C=2.0).estimator.C == 2.0
    model = ECOCClassifier()
    with pytest.raises(ValueError, match="Invalid parameter 'n_trees' for estimator StumpAdaBoostClassifier"):
        model.set_params(estimator__n_trees=3)
    assert model.estimator is None


def test_a_search_sets_parameters_of_the_default_learner():
    search = GridSearchCV(ECOCClassifier(), {"estimator__n_estimators": [1, 20]}, cv=3).fit(X, Y)
    counts = [learner.n_estimators for learner in search.best_estimator_.estimators_]
    assert counts == [search.best_params_["estimator__n_estimators"]] * 3


@pytest.mark.parametrize("name", ["estimator__n_estimators", "stumps__n_estimators"])
@pytest.mark.parametrize("kind", ALL)
def test_parameters_of_mixed_learners_say_what_to_do(kind, name):
    with pytest.raises(ValueError, match=r"mixed_learners\(\) returns, then .* stumps__n_estimators"):
        kind("mixed").set_params(**{name: 3})
    assert (
        kind("mixed").set_params(estimator=mixed_learners(), stumps__n_estimators=3).estimator[0][1].n_estimators == 3
    )


def test_parameters_of_several_learners_go_by_their_names():
    model = ECOCClassifier([("linear", LogisticRegression())])
    with pytest.raises(ValueError, match="estimator__C is a parameter of a single learner; with several, it is named"):
        model.set_params(estimator__C=3.0)
    assert model.set_params(linear__C=3.0).estimator[0][1].C == 3.0


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("ovo", "one-vs-one"),
        ("OvR", "one-vs-rest"),
        ("ova", "one-vs-rest"),
        ("one-vs-all", "one-vs-rest"),
        ("one_vs_one", "one-vs-one"),
        ("One vs Rest", "one-vs-rest"),
        ("HADAMARD", "hadamard"),
    ],
)
def test_other_spellings_of_codings(given, meant):
    model = ECOCClassifier(coding=given, random_state=0).fit(X, Y)
    assert model.coding == given
    assert model.coding_ == meant
    expected = ECOCClassifier(coding=meant, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.code_matrix_, expected.code_matrix_)
    for kind in (WOLCClassifier, LCECOCClassifier):
        grown = kind(init=given, max_iter=0, random_state=0).fit(X, Y)
        assert f"Started from {meant} (" in grown.growth_summary()


def test_other_spellings_of_decodings():
    models = [ECOCClassifier(decoding=name).fit(X, Y) for name in ("Loss_Based", "loss-based")]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            ECOCClassifier(coding="one-vs-on"),
            r"coding='one-vs-on' .* \(did you mean 'one-vs-one' or .*one of 'auto',",
        ),
        (ECOCClassifier(coding="Auta"), r"coding='Auta' is not known \(did you mean 'auto'\?\)"),
        (ECOCClassifier(decoding="haming"), r"decoding='haming' .* \(did you mean 'hamming'.*one of 'auto', 'att"),
        (WOLCClassifier(init="hadamart"), r"init='hadamart' .* \(did you mean 'hadamard'\?\); expected one of 'auto',"),
        (
            LCECOCClassifier(init="hadamart"),
            r"init='hadamart' .* \(did you mean 'hadamard'\?\); expected one of 'd",
        ),
        (WOLCClassifier(init=[[1], [-1]]), "init must have one row per class: expected 3 rows, got 2"),
    ],
)
def test_near_misses_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    "y",
    [
        np.eye(3, dtype=int)[Y],
        np.eye(3, dtype=int)[Y].tolist(),
        [["a", "b"] if label else ["a"] for label in Y],
        pd.Series([{"a", "b"} if label else {"a"} for label in Y]),
        pd.DataFrame(np.eye(3, dtype=int)[Y]),
    ],
    ids=["indicator", "lists", "ragged", "sets", "frame"],
)
def test_multilabel_targets_are_refused_by_that_word(kind, y):
    with pytest.raises(ValueError, match="y must have one class per sample, got a multilabel"):
        kind().fit(X, y)


def test_a_column_of_labels_is_no_multilabel_target():
    with pytest.warns(UserWarning, match="column-vector"):
        assert list(ECOCClassifier().fit(X, Y[:, None].tolist()).classes_) == [0, 1, 2]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Ridge(), r"estimator must be a classifier, got Ridge\(\); Ridge is a regressor"),
        (make_pipeline(StandardScaler(), Ridge()), r"got Pipeline\(.*Ridge\(\).*; Pipeline is a regressor"),
        ([("a", LogisticRegression()), ("b", Ridge())], "'b' in estimator must be .*Ridge is a regressor"),
        ([("a", MulticlassLearner(Ridge()))], "the estimator of 'a' in estimator must be .*Ridge is a regressor"),
        (LogisticRegression, r"must be a classifier, got <class .*; LogisticRegression\(\) makes one"),
    ],
)
def test_what_is_no_classifier_is_refused(kind, estimator, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        kind(estimator).fit(X, Y)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_learner_gets_the_weights_that_it_requests_and_the_splitter_its_groups(wanted):
    weight = np.where(Y == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=wanted)
        model = ECOCClassifier(learner).set_fit_request(sample_weight=True)
        model.fit(X, Y, sample_weight=weight)
        result = cross_validate(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model),
            X,
            Y,
            cv=GroupKFold(3),
            scoring=get_scorer("accuracy").set_score_request(sample_weight=True),
            params={"sample_weight": weight, "groups": np.arange(len(Y)) // 5},
            return_indices=True,
        )
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            ECOCClassifier(LogisticRegression()).fit(X, Y, sample_weight=weight)
    alone = LogisticRegression().fit(X[Y < 2], Y[Y < 2] == 0, sample_weight=weight[Y < 2] if wanted else None)
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_, rtol=1e-6)
    np.testing.assert_allclose(model._prior, [5 / 7, 1 / 7, 1 / 7])  # which is counted with the weights in any case
    for train, test in zip(*result["indices"].values(), strict=True):
        assert not set(train // 5) & set(test // 5)


VOWEL = load_uci("vowel", return_X_y=True)


def far_apart(matrix):
    """Tell whether every two rows are on opposite sides of some column."""
    return all((matrix[i] * matrix[j] == -1).any() for i in range(len(matrix)) for j in range(i))


@pytest.mark.parametrize("max_columns", [4, 7, 11, 25])
@pytest.mark.parametrize(
    "coding", ["auto", "exhaustive", "hadamard", "dense-random", dense_random(11, n_columns=40, random_state=1)]
)
def test_every_coding_that_can_is_made_to_fit(coding, max_columns):
    settings = {"max_columns": max_columns, "n_folds": None, "random_state": 0}
    model = ECOCClassifier(StumpAdaBoostClassifier(5), coding=coding, **settings).fit(*VOWEL)
    n_columns = len(model.estimators_)
    expected = {"auto": min(11, max_columns), "hadamard": min(15, max_columns)}
    assert n_columns == (expected.get(coding, max_columns) if isinstance(coding, str) else max_columns)
    assert far_apart(model.code_matrix_)


@pytest.mark.parametrize("coding", ["auto", "exhaustive", "hadamard", "dense-random"])
def test_a_limit_that_is_high_enough_changes_no_code(coding):
    X, y = (part[::5] for part in VOWEL)
    codes = [
        ECOCClassifier(GaussianNB(), coding=coding, max_columns=limit, random_state=0, n_folds=None)
        .fit(X, y)
        .code_matrix_
        for limit in (10_000, None)
    ]
    np.testing.assert_array_equal(*codes)


def test_a_code_is_shortened_as_by_trying_all_subsets():
    """Of the exhaustive code of five classes, no three or four other columns are less close."""
    full = exhaustive(5)

    def closeness(columns):
        return (4.0 ** -row_distances(full[:, columns])[np.triu_indices(5, 1)]).sum()

    for n_columns in (3, 4):
        taken = shorten(full, n_columns)
        best = min(closeness(list(columns)) for columns in combinations(range(full.shape[1]), n_columns))
        own = (4.0 ** -row_distances(taken)[np.triu_indices(5, 1)]).sum()
        assert own == pytest.approx(best)
        assert far_apart(taken)
    assert shorten(full, 2) is None
    assert shorten(one_vs_one(5), 9) is None
    np.testing.assert_array_equal(shorten(one_vs_rest(5), 4), one_vs_rest(5)[:, :4])


def test_forests_have_fewer_trees_and_slow_learners_random_codes():
    tree = DecisionTreeClassifier(random_state=0)
    lengths = [
        ECOCClassifier(tree, coding="forest", max_columns=n).fit(*VOWEL).code_matrix_.shape[1] for n in (10, 25, 35)
    ]
    assert lengths == [10, 20, 30]
    assert ECOCClassifier(tree, max_columns=20).fit(*VOWEL).coding_ == "dense-random"
    assert ECOCClassifier(max_columns=20).fit(*VOWEL).coding_ == "one-vs-rest"
    assert ECOCClassifier(max_columns=55).fit(*VOWEL).coding_ == "one-vs-one"


@pytest.mark.parametrize("kind", [ECOCClassifier, WOLCClassifier, LCECOCClassifier])
def test_the_columns_of_several_learners_count_together(kind):
    learners = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    name = "coding" if kind is ECOCClassifier else "init"
    model = kind(learners, max_columns=13, random_state=0, **{name: "dense-random"}).fit(*VOWEL)
    assert np.unique(model.column_learners_[:12], return_counts=True)[1].tolist() == [6, 6]
    assert len(model.estimators_) <= 13


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            ECOCClassifier(coding="ovo", max_columns=20),
            "coding='one-vs-one' has 55 columns, and max_columns=20 .*'one-vs-rest', 'decoc'",
        ),
        (
            ECOCClassifier(coding="ovr", max_columns=9),
            r"'one-vs-rest' has 11 columns, .*short enough are 'dense-random'$",
        ),
        (
            ECOCClassifier(coding=one_vs_one(11), max_columns=20),
            "coding has 55 columns, and max_columns=20 of them cannot",
        ),
        (WOLCClassifier(init="one-vs-one", max_columns=20), "init='one-vs-one' has 55 columns, and max_columns=20"),
        *(
            (
                kind(max_columns=3),
                "max_columns must leave every learner at least 4 columns to separate 11 classes, got 3",
            )
            for kind in (ECOCClassifier, WOLCClassifier, LCECOCClassifier, ecoc_in_blocks)
        ),
    ],
)
def test_codes_that_cannot_be_so_short_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*VOWEL)


def test_growth_starts_from_what_fits():
    for init, n_columns in (("auto", 8), ("exhaustive", 8), ("sparse-random", 14)):
        model = WOLCClassifier(init=init, max_columns=n_columns, max_iter=1, random_state=0).fit(*VOWEL)
        assert len(model.estimators_) == n_columns


@pytest.mark.parametrize("kind", [WOLCClassifier, LCECOCClassifier])
@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), QuadraticDiscriminantAnalysis(reg_param=0.1), NuSVC(nu=0.1)]
)
def test_learners_that_want_some_samples_grow(kind, learner):
    assert kind(learner, random_state=0).fit(X, Y).score(X, Y) > 0.9


class _NeverSure(GaussianNB):
    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)


@pytest.mark.parametrize("kind", LOCAL)
def test_a_learner_that_returns_nan_is_named(kind):
    with pytest.raises(ValueError, match="predict_proba of _NeverSure returned NaN for"):
        kind(_NeverSure(), random_state=0).fit(X, Y)


def test_strings_of_numpy_are_strings():
    names = [np.str_("a"), "b", "c"]
    labels = np.array([names[label] for label in Y], dtype=object)
    assert ECOCClassifier(GaussianNB()).fit(X, labels).classes_.tolist() == ["a", "b", "c"]


def test_the_name_of_an_automatic_decoding_has_no_parameters_however_it_is_spelt():
    with pytest.raises(ValueError, match=r"decoding=LossBasedDecoder\(loss='hinge'\)"):
        ECOCClassifier(decoding="Auto").set_params(decoding__loss="hinge")
