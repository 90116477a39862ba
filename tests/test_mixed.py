"""Several learners for one code, in all classifiers: names, codes, growth, weights, frames, what changes nothing."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers.layered import pair_gains
from skecoc.coding import CODINGS, one_vs_one, one_vs_rest
from skecoc.data.folds import assign_folds
from skecoc.datasets import load_uci
from skecoc.decoding import DECODERS
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier, mixed_learners
from skecoc.learners.columns import Column
from skecoc.learners.mixed import MarginColumn, MixedTrainer, ZeroForMissing, resolve_learners
from skecoc.learners.multiclass import MulticlassColumn
from tests.reference.training import Seeded

X, Y = make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0)
STUMPS = StumpAdaBoostClassifier(5)
ALL = [ECOCClassifier, WOLCClassifier, LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier]
GROWN = ALL[1:]


def pool():
    """Return a learner with probabilities, one with margins, and one that is multiclass."""
    return [("stumps", STUMPS), ("svm", LinearSVC()), ("bayes", MulticlassLearner(GaussianNB()))]


def exact_pool():
    """Return learners for which a sample of weight two is exactly two samples."""
    return [("stumps", STUMPS), ("tree", MulticlassLearner(DecisionTreeClassifier(max_depth=4, random_state=0)))]


@pytest.mark.nightly
@parametrize_with_checks(
    [
        ECOCClassifier(exact_pool()),
        WOLCClassifier(exact_pool(), max_iter=2),
        SubclassECOCClassifier(exact_pool()),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- names and parameters


def test_parameters_are_reachable_by_name():
    model = ECOCClassifier(pool())
    assert model.get_params()["svm__C"] == 1.0
    assert model.get_params()["bayes__estimator__var_smoothing"] == 1e-9
    assert "svm" not in model.get_params(deep=False)
    model.set_params(svm__C=7.0, stumps="drop")
    assert dict(model.estimator)["svm"].C == 7.0
    model.fit(X, Y)
    assert set(model.column_learners_) == {"svm", "bayes"}
    copied = clone(model)
    assert copied.get_params()["svm__C"] == 7.0
    assert copied.get_params()["stumps"] == "drop"
    assert model.set_params(svm=LogisticRegression(tol=0.5)).get_params()["svm__tol"] == 0.5
    with pytest.raises(ValueError, match="Invalid parameter 'svn'"):
        model.set_params(svn__C=1)


def test_a_single_learner_keeps_its_parameters():
    model = ECOCClassifier(make_pipeline(StandardScaler(), SVC()))
    assert model.get_params()["estimator__svc__C"] == 1.0
    assert model.set_params(estimator__svc__C=3).estimator[-1].C == 3
    model.set_params(estimator=pool())
    assert model.get_params()["svm__C"] == 1.0


def test_grid_search_over_a_member():
    search = GridSearchCV(ECOCClassifier(pool()), {"svm__C": [0.1, 1.0], "stumps": [STUMPS, "drop"]}, cv=2)
    search.fit(X, Y)
    assert search.best_score_ > 0.6
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ("mixd", "got 'mixd' .did you mean 'mixed'"),
        ([], "list of .name, classifier. that is not empty"),
        ([STUMPS], "estimator must be a classifier, 'mixed' or a list"),
        ([("a", STUMPS), ("a", STUMPS)], "names in estimator must be different"),
        ([("a__b", STUMPS)], "without '__'"),
        ([("a", "drop")], "at least one classifier that is not dropped"),
        ([("a", "dorp")], "'a' in estimator must be a classifier or 'drop', got 'dorp'"),
        ([("a", Ridge())], "'a' in estimator must be a classifier or 'drop', got Ridge"),
        ([("a", GaussianNB)], "'a' in estimator must be a classifier or 'drop', got <class"),
        ([("n_jobs", GaussianNB())], "names in estimator must not be those of parameters, got n_jobs"),
    ],
)
def test_bad_lists(estimator, message):
    for kind in (ECOCClassifier, WOLCClassifier):
        get_tags(kind(estimator))
        with pytest.raises(ValueError, match=message):
            kind(estimator).fit(X, Y)


def test_the_learners_of_mixed():
    names = [name for name, _ in mixed_learners()]
    assert names == ["stumps", "logistic", "svm", "svm_sharp", "trees", "boosting"]
    assert "boosting" not in dict(mixed_learners(n_classes=31))
    assert "svm" not in dict(mixed_learners(n_samples=20_001))
    assert "boosting" not in dict(mixed_learners(n_features=1_001))
    assert list(resolve_learners("mixed", 5, 100)) == names


# ---------------------------------------------------------------- fixed codes


@pytest.mark.parametrize("coding", sorted(CODINGS))
@pytest.mark.parametrize("decoding", ["hamming", "logistic-weight"])
def test_every_coding(coding, decoding):
    model = ECOCClassifier(pool(), coding=coding, decoding=decoding, random_state=0).fit(X[::2], Y[::2])
    n_columns = model.code_matrix_.shape[1] // 3
    for k in (1, 2):
        own = model.code_matrix_[:, k * n_columns : (k + 1) * n_columns]
        np.testing.assert_array_equal(own, model.code_matrix_[:, :n_columns])
    np.testing.assert_array_equal(model.column_learners_, np.repeat(["stumps", "svm", "bayes"], n_columns))
    assert np.abs(model.codewords(X)).max() <= 1.0
    assert model.score(X[1::2], Y[1::2]) > 0.5


@pytest.mark.parametrize("decoding", sorted(DECODERS))
def test_every_decoding(decoding):
    model = ECOCClassifier(pool(), coding="one-vs-one", decoding=decoding, random_state=0).fit(X[::2], Y[::2])
    assert model.score(X[1::2], Y[1::2]) > 0.7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    shares = model.learner_shares()
    assert list(shares) == ["stumps", "svm", "bayes"]
    np.testing.assert_allclose(sum(shares.values()), 1.0)


@pytest.mark.parametrize("response", ["predict", "auto"])
def test_codewords_are_those_of_the_learners_alone(response):
    model = ECOCClassifier(pool(), decoding="hamming", response_method=response, random_state=0).fit(X, Y)
    found = model.codewords(X)
    for k, (_, learner) in enumerate(pool()):
        own = found[:, k * 6 : (k + 1) * 6]
        if isinstance(learner, MulticlassLearner):
            trained = clone(learner).fit(X, Y)
            views = [MulticlassColumn(trained, pattern) for pattern in one_vs_one(4).T]
            output = "predict" if response == "predict" else "predict_proba"
            wanted = MulticlassColumn._outputs_together(views, X, output)
        else:
            alone = ECOCClassifier(learner, decoding="hamming", response_method=response, random_state=0).fit(X, Y)
            wanted = alone.codewords(X)
            if response == "auto" and hasattr(learner, "decision_function") and not hasattr(learner, "predict_proba"):
                wanted = np.tanh(wanted * alone._margin_scale)
        np.testing.assert_allclose(own, wanted, atol=1e-12)


def test_a_member_without_the_wanted_output_is_named():
    with pytest.raises(ValueError, match="'svm' in estimator: response_method='predict_proba' needs a learner"):
        ECOCClassifier(pool(), response_method="predict_proba").fit(X, Y)
    with pytest.raises(ValueError, match="'knn' in estimator, KNeighborsClassifier, does not take it"):
        ECOCClassifier([("knn", KNeighborsClassifier())]).fit(X, Y, sample_weight=np.ones(len(Y)))
    with pytest.raises(ValueError, match="fit parameters of several learners need metadata routing, got depth"):
        ECOCClassifier(pool()).fit(X, Y, depth=3)


def test_weights_are_fitted_to_samples_that_learners_have_not_seen():
    """A learner that remembers its samples is useless here, and only out-of-fold codewords tell."""
    rng = np.random.RandomState(0)
    noise = np.column_stack([X, 10.0 * rng.normal(size=(len(X), 30))])
    learners = [("memory", MulticlassLearner(KNeighborsClassifier(1))), ("bayes", MulticlassLearner(GaussianNB()))]
    for decoding in ("logistic-weight", "optimized-weight"):
        shares = [
            ECOCClassifier(learners, coding="one-vs-rest", decoding=decoding, n_folds=n_folds, random_state=0)
            .fit(noise, Y)
            .learner_shares()["memory"]
            .mean()
            for n_folds in ("auto", None)
        ]
        assert shares[0] < 0.4 < shares[1]


def test_folds_of_a_single_learner():
    seen = ECOCClassifier(DecisionTreeClassifier(random_state=0), decoding="loss-weighted").fit(X, Y)
    held_out = ECOCClassifier(DecisionTreeClassifier(random_state=0), decoding="loss-weighted", n_folds=3).fit(X, Y)
    # A tree is right on all samples that it has seen, so its columns are all alike there.
    used = seen.code_matrix_ != 0
    assert np.ptp(seen.weights_[used]) < 1e-12
    assert np.ptp(held_out.weights_[used]) > 0.01
    assert seen.calibration_ is not None  # a number of folds is for weights, probabilities have them in any case


def test_a_class_of_one_sample_is_kept():
    rows = np.concatenate([np.flatnonzero(Y != 3), np.flatnonzero(Y == 3)[:1]])
    for kind in (ECOCClassifier, WOLCClassifier, LCECOCClassifier):
        model = kind(exact_pool(), random_state=0).fit(X[rows], Y[rows])
        assert len(model.classes_) == 4
        assert np.isfinite(model.decision_function(X)).all()


# ---------------------------------------------------------------- the same for all classifiers


@pytest.mark.parametrize("kind", ALL)
def test_every_classifier_takes_a_list(kind):
    model = kind(pool(), random_state=0).fit(X[::2], Y[::2])
    assert model.score(X[1::2], Y[1::2]) > 0.6
    assert set(model.column_learners_) == {"stumps", "svm", "bayes"}
    assert len(model.column_learners_) == model.code_matrix_.shape[1] == len(model.estimators_)
    kinds = {type(learner) for learner in model.estimators_}
    assert {MarginColumn, MulticlassColumn} <= kinds
    shared = {id(learner.learner) for learner in model.estimators_ if isinstance(learner, MulticlassColumn)}
    assert len(shared) == 1
    again = kind(pool(), random_state=0, n_jobs=2).fit(X[::2], Y[::2])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kind", [ECOCClassifier, WOLCClassifier])
def test_renaming_classes_changes_nothing(kind):
    names = np.array(["d", "b", "a", "c"])
    # Folds are dealt out class by class, so that small differences between them follow the order of classes.
    # Added columns are clustered by seeds that follow from the numbers of their classes.
    rules = {"n_folds": None, "random_state": 0} | ({"max_iter": 0} if kind is WOLCClassifier else {})
    models = [kind(exact_pool(), **rules).fit(X, y) for y in (Y, names[Y])]
    np.testing.assert_array_equal(models[1].predict(X), names[models[0].predict(X)])


@pytest.mark.parametrize("kind", ALL)
def test_repeated_samples_are_samples_of_weight_two(kind):
    counts = np.random.RandomState(0).randint(1, 3, size=len(Y))
    weighted = kind(exact_pool(), random_state=0).fit(X, Y, sample_weight=counts)
    repeated = kind(exact_pool(), random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)


def test_metadata_is_routed_to_each_member():
    with sklearn.config_context(enable_metadata_routing=True):
        learners = [("stumps", clone(STUMPS).set_fit_request(sample_weight=True)), ("knn", KNeighborsClassifier())]
        weight = np.random.RandomState(0).uniform(0.1, 2.0, size=len(Y))
        model = ECOCClassifier(learners, random_state=0).fit(X, Y, sample_weight=weight)
    weighted = ECOCClassifier(STUMPS, random_state=0).fit(X, Y, sample_weight=weight)
    plain = ECOCClassifier(KNeighborsClassifier(), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.codewords(X)[:, :6], weighted.codewords(X))
    np.testing.assert_allclose(model.codewords(X)[:, 6:], plain.codewords(X))


def test_members_see_different_columns_of_a_frame():
    rng = np.random.RandomState(0)
    words = np.array(["red apple", "green pear", "blue plum", "old stone"])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["text"] = np.where(rng.uniform(size=len(Y)) < 0.7, words[Y], "nothing at all")
    numbers = make_pipeline(make_column_transformer((StandardScaler(), list("abcdef"))), LogisticRegression())
    text = make_pipeline(make_column_transformer((TfidfVectorizer(), "text")), LogisticRegression())
    learners = [("numbers", MulticlassLearner(numbers)), ("text", MulticlassLearner(text))]
    for kind in (ECOCClassifier, WOLCClassifier, ECOCOneClassifier, LCECOCClassifier):
        both = kind(learners, random_state=0).fit(frame[::2], Y[::2]).score(frame[1::2], Y[1::2])
        alone = [
            kind([member], random_state=0).fit(frame[::2], Y[::2]).score(frame[1::2], Y[1::2]) for member in learners
        ]
        assert both > max(alone)
        plain = [("numbers", numbers), ("text", text)]  # one pipeline for each column
        assert kind(plain, random_state=0).fit(frame[::2], Y[::2]).score(frame[1::2], Y[1::2]) > max(alone) - 0.02


# ---------------------------------------------------------------- growth


def test_wolc_starts_each_learner_from_the_code_that_suits_it():
    model = WOLCClassifier([*pool(), ("kernel", MulticlassLearner(SVC()))], max_iter=0, random_state=0).fit(X, Y)
    codes = {name: model.code_matrix_[:, model.column_learners_ == name] for name in set(model.column_learners_)}
    np.testing.assert_array_equal(codes["bayes"], one_vs_rest(4))
    for name in ("stumps", "svm", "kernel"):
        np.testing.assert_array_equal(codes[name], one_vs_one(4))
    given = WOLCClassifier(pool(), init="one-vs-rest", max_iter=0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(given.code_matrix_, np.tile(one_vs_rest(4), 3))
    short = WOLCClassifier(pool(), max_columns=12, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(short.code_matrix_[:, :12], np.tile(one_vs_rest(4), 3))
    shorter = WOLCClassifier(pool(), max_columns=11, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(shorter.code_matrix_[:, :9], np.tile(one_vs_rest(4)[:, :3], 3))
    assert WOLCClassifier(pool(), max_columns="auto", max_iter=0).fit(X, Y).code_matrix_.shape[1] <= 36


def two_hard_pairs(n=800, seed=0):
    """Return classes 0 and 1 that only a tree separates, 2 and 3 that only a line does, among noise."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, size=(n, 12))
    y = np.arange(n) % 4
    quarter = (X[:, 0] * X[:, 1] > 0).astype(int)
    slope = (X.sum(axis=1) + 0.05 * rng.normal(size=n) > 0).astype(int)
    y = np.where(y < 2, quarter, 2 + slope)
    X[:, 0] += 4.0 * (y >= 2)
    return X, y


@pytest.mark.parametrize("kind", [WOLCClassifier, LCECOCClassifier, ECOCOneClassifier])
def test_growth_takes_for_each_pair_the_learner_that_helps_it(kind):
    X, y = two_hard_pairs()
    learners = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0)), ("line", LogisticRegression())]
    decoding = {"decoding": "loss-weighted"} if kind is LCECOCClassifier else {}
    model = kind(learners, init="one-vs-rest", random_state=0, **decoding).fit(X, y)
    n_initial = model.history_[0].n_columns
    assert n_initial == 8
    added = model.code_matrix_[:, n_initial:].T
    pairs = [tuple(np.flatnonzero(column).tolist()) for column in added]
    whose = dict(zip(pairs, model.column_learners_[n_initial:].tolist(), strict=True))
    assert whose[0, 1] == "tree"
    assert whose.get((2, 3), "line") == "line"
    assert model.history_[model.best_round_].loss < model.history_[0].loss - 0.1
    assert model.score(X, y) > next(model.staged_score(X, y))


def test_a_pair_gets_clustering_based_columns_of_the_learner_that_has_it_already():
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(600, 2))
    y = (np.floor(X[:, 0] * 4) + np.floor(X[:, 1] * 4)).astype(int) % 2
    X[:150] += 5.0
    y[:150] = 2
    learners = [("stumps", STUMPS), ("bayes", MulticlassLearner(GaussianNB()))]
    model = WOLCClassifier(learners, random_state=0).fit(X, y)
    clustered = model.column_kinds_ == "clustered"
    assert clustered.any()
    assert set(model.column_learners_[clustered]) == {"stumps"}  # one fit of a multiclass learner has no regions
    assert all(isinstance(model.estimators_[q], RegionClassifier) for q in np.flatnonzero(clustered))
    start = next(model.staged_score(X, y))
    assert model.score(X, y) > start + 0.1
    assert "stumps" in model.growth_summary()
    # Regions are found by numbers alone.
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 0] > 4, "far", "near")})
    numbers = make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"])), GaussianNB())
    plain = WOLCClassifier([("numbers", numbers)], random_state=0).fit(frame, y)
    assert "clustered" in plain.column_kinds_
    text = make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["c"])), LogisticRegression())
    plain = WOLCClassifier([("text", text)], random_state=0).fit(frame[["c"]], y)
    assert "clustered" not in plain.column_kinds_


def with_missing(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)


def test_learners_that_take_no_missing_values_are_named():
    X, y = load_iris(return_X_y=True)
    learners = [("stumps", STUMPS), ("logistic", LogisticRegression()), ("bayes", MulticlassLearner(GaussianNB()))]
    for model in (ECOCClassifier(learners), WOLCClassifier(learners)):
        with pytest.raises(ValueError, match=r"'logistic', 'bayes' in estimator cannot take; make a pipeline of"):
            model.fit(with_missing(X), y)
    imputing = [("stumps", STUMPS), ("logistic", make_pipeline(SimpleImputer(), LogisticRegression()))]
    assert ECOCClassifier(imputing, random_state=0).fit(with_missing(X), y).score(with_missing(X), y) > 0.9


def test_mixed_takes_missing_values_and_scaled_features_without_them_stay():
    X, y = load_iris(return_X_y=True)
    learners = [member for member in mixed_learners() if member[0] in ("stumps", "logistic", "svm")]
    model = ECOCClassifier(learners, random_state=0).fit(with_missing(X), y)
    assert model.score(with_missing(X), y) > 0.9
    assert get_tags(ECOCClassifier("mixed")).input_tags.allow_nan
    assert ZeroForMissing().transform(X) is X
    np.testing.assert_array_equal(ZeroForMissing().transform([[np.nan, 2.0]]), [[0.0, 2.0]])


def test_gains_of_a_pair_by_hand():
    margins = np.zeros(4)
    outputs = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    gains = pair_gains(margins, outputs, np.ones(4))
    # Three of four: the best factor is log 3, the loss the entropy of a quarter.
    assert gains[0] == pytest.approx(4 * np.log(2) - (3 * np.log(4 / 3) + np.log(4)), abs=1e-6)
    assert gains[1] == pytest.approx(0.0, abs=1e-9)
    assert pair_gains(margins, outputs, 2 * np.ones(4))[0] == pytest.approx(2 * gains[0], abs=1e-6)


def test_without_folds_the_paper_s_growth_takes_several_learners_too():
    model = WOLCClassifier.paper(estimator=exact_pool(), max_iter=3, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.8
    assert set(model.column_learners_) == {"stumps", "tree"}


def test_mixed_learns_and_beats_its_members():
    X, y = load_uci("vehicle", return_X_y=True)
    model = WOLCClassifier("mixed", random_state=0).fit(X[::2], y[::2])
    members = dict(mixed_learners())
    alone = {**members, "stumps": ECOCClassifier(members["stumps"])}
    scores = [learner.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for learner in alone.values()]
    assert model.score(X[1::2], y[1::2]) > max(scores) - 0.01
    assert sum(model.group_shares_.values()) == pytest.approx(1.0)
    assert list(model.group_shares_) == list(members)
    certificate = model.decoder_.certificate_
    assert certificate.gap <= 1e-3
    assert certificate.lower_bound <= certificate.objective


def test_two_classes():
    model = WOLCClassifier(exact_pool(), random_state=0).fit(X, Y % 2)
    assert model.decision_function(X).shape == (len(X),)
    assert model.score(X, Y % 2) > 0.8


# ---------------------------------------------------------------- the trainer


def test_columns_keep_their_order_whoever_trains_them():
    folds = assign_folds(X, Y, 3, 0)
    trainer = MixedTrainer(dict(pool()), X, Y, 0, folds=folds)
    columns = [
        Column(pattern, learner=name)
        for pattern, name in zip(one_vs_one(4).T, ["bayes", "svm", "stumps"] * 2, strict=True)
    ]
    trained = Seeded(trainer).train(columns)
    for q, column in enumerate(columns):
        alone = Seeded(MixedTrainer(dict(pool()), X, Y, 0, folds=folds)).train([column])
        np.testing.assert_allclose(trained.outputs[:, q], alone.outputs[:, 0], atol=1e-12)
        np.testing.assert_allclose(trained.out_of_fold[:, q], alone.out_of_fold[:, 0], atol=1e-12)
    assert [type(learner).__name__ for learner in trained.learners[:3]] == [
        "MulticlassColumn",
        "MarginColumn",
        "StumpAdaBoostClassifier",
    ]


def test_the_time_left_is_known_once_every_learner_has_been_trained_and_ends_at_nothing():
    seen = []
    folds = assign_folds(X, Y, 3, 0)
    learners = {"trees": MulticlassLearner(ExtraTreesClassifier(30)), "stumps": STUMPS}
    trainer = MixedTrainer(learners, X, Y, 0, folds=folds, on_fit=lambda: seen.append(trainer.seconds_left))
    columns = [Column(pattern, learner=name) for name in learners for pattern in one_vs_rest(4).T]
    Seeded(trainer).train_held_out(columns)
    assert seen[:5] == [None] * 5  # one fit of trees, four of stumps
    left = seen[5:]
    assert len(left) == 3 * 5
    assert left[0] > 0
    assert all(later <= earlier for earlier, later in pairwise(left))
    assert left[-1] == pytest.approx(0.0, abs=1e-9)


def test_the_time_left_counts_the_fits_of_all_groups_of_classes():
    seen = []
    learners = {"trees": MulticlassLearner(ExtraTreesClassifier(10))}
    folds = assign_folds(X, Y, 3, 0)
    trainer = MixedTrainer(learners, X, Y, 0, folds=folds, on_fit=lambda: seen.append(trainer.seconds_left))
    pattern = one_vs_rest(4)[:, 0]
    divisions = [None, np.array([0, 1, 1, 1], dtype=np.int8)]
    columns = [Column(pattern, learner="trees", groups=groups) for groups in divisions]
    Seeded(trainer).train_held_out(columns)
    assert seen[:2] == [None] * 2
    assert len(seen) == 2 + 3 * 2
    assert seen[-2] > 0
    assert seen[-1] == pytest.approx(0.0, abs=1e-9)


# ---------------------------------------------------------------- what a review has found


def test_easy_samples_do_not_make_probabilities_of_0_and_1():
    rng = np.random.RandomState(0)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    y = np.arange(1500) % 3
    X = centres[y] + 0.8 * rng.normal(size=(1500, 2))
    learners = [("bayes", MulticlassLearner(GaussianNB())), ("svm", MulticlassLearner(SVC()))]
    model = WOLCClassifier(learners, random_state=0).fit(X[:90], y[:90])
    assert model.score(X[90:], y[90:]) > 0.98
    assert log_loss(y[90:], model.predict_proba(X[90:])) < 0.06


@pytest.mark.parametrize("kind", [ECOCClassifier, WOLCClassifier, LCECOCClassifier])
def test_a_rare_class_does_not_win_by_default(kind):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y[rng.permutation(600)[:12]] = 2
    model = kind([("stumps", StumpAdaBoostClassifier())], random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_logistic_weights_of_one_learner_are_fitted_out_of_fold():
    X_train, X_test, y_train, y_test = X[::2], X[1::2], Y[::2], Y[1::2]
    tree = DecisionTreeClassifier(random_state=0)
    found = ECOCClassifier(tree, decoding="logistic-weight").fit(X_train, y_train)
    seen = ECOCClassifier(tree, decoding="logistic-weight", n_folds=None).fit(X_train, y_train)
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (found, seen)]
    assert losses[0] < losses[1] / 2


@pytest.mark.parametrize("kind", [ECOCClassifier, LCECOCClassifier, ECOCOneClassifier])
def test_a_weight_of_ten_counts_as_ten_samples_in_logistic_weights(kind):
    parameters = {} if kind is ECOCClassifier else {"max_iter": 0}
    models = [
        kind(STUMPS, decoding="logistic-weight", random_state=0, **parameters).fit(X, Y, np.full(len(Y), weight))
        for weight in (1.0, 10.0)
    ]
    one, ten = (model.decoder_.certificate_.objective for model in models)
    assert ten > 5 * one


@pytest.mark.parametrize("routing", [False, True])
def test_pipelines_take_weights_in_every_kind_of_column(routing):
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(400, 2))
    y = (np.floor(X[:, 0] * 2) + np.floor(X[:, 1] * 2)).astype(int) % 2
    X[:100] += 5.0
    y[:100] = 2
    weight = rng.uniform(0.5, 2.0, size=len(y))
    with sklearn.config_context(enable_metadata_routing=routing):
        scaler, line = StandardScaler(), LogisticRegression()
        if routing:
            scaler.set_fit_request(sample_weight=True)
            line.set_fit_request(sample_weight=True)
        for estimator in ([("line", make_pipeline(scaler, line))], make_pipeline(scaler, line)):
            model = WOLCClassifier(estimator, max_iter=3, patience=3, random_state=0).fit(X, y, sample_weight=weight)
            assert model.history_[-1].n_columns > model.history_[0].n_columns
        mixed = WOLCClassifier([("a", MulticlassLearner(SVC()))], random_state=0)
        if routing:
            mixed.estimator[0][1].set_fit_request(sample_weight=True)
        assert mixed.fit(X, y, sample_weight=weight).score(X, y) > 0.5


@pytest.mark.nightly
def test_the_learners_of_mixed_take_weights_with_routing_enabled():
    with sklearn.config_context(enable_metadata_routing=True):
        model = ECOCClassifier("mixed", coding="one-vs-rest", random_state=0).fit(X, Y, sample_weight=np.ones(len(Y)))
    plain = ECOCClassifier("mixed", coding="one-vs-rest", random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_the_bar_says_how_long_it_will_take(capsys):
    WOLCClassifier(
        [("trees", MulticlassLearner(ExtraTreesClassifier(50))), ("stumps", STUMPS)], verbose=1, random_state=0
    ).fit(X, Y)
    assert " s left" in capsys.readouterr().err


def test_another_decoding_keeps_the_names_of_learners():
    model = ECOCClassifier(exact_pool(), coding="one-vs-rest", decoding="hamming", random_state=0).fit(X, Y)
    other = model._with_decoding("loss-based", "auto", model.codewords(X), Y, margin_scale=1.0)
    np.testing.assert_array_equal(other.column_learners_, model.column_learners_)


def test_growth_that_finds_no_learner_to_help_says_so():
    model = LCECOCClassifier([("bayes", GaussianNB())], random_state=0).fit(*load_uci("iris", return_X_y=True))
    assert model.stop_reason_ in {
        "no learner lowers the loss of a hard pair",
        "no progress for as many rounds as patience allows",
    }
