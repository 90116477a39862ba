"""ECOCClassifier: scikit-learn's contract, equivalence with its meta-estimators, and invariances."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers.base import LARGEST_SEED
from skecoc.classifiers.calibration import calibration_samples
from skecoc.classifiers.ecoc import choose_decoding
from skecoc.coding import CODINGS, one_vs_one, one_vs_rest
from skecoc.data.folds import assign_folds, without_last_digits
from skecoc.datasets import load_uci
from skecoc.decoding import DECODERS, LossBasedDecoder
from skecoc.persistence import load_model, save_model
from tests.grids import grid

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
Y_LONG = np.arange(900) % 3


@parametrize_with_checks([ECOCClassifier()])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks(
    [
        ECOCClassifier(LogisticRegression(), coding="one-vs-rest", decoding="hamming"),
        ECOCClassifier(DecisionTreeClassifier(max_depth=3), response_method="predict", random_state=0),
        ECOCClassifier(RidgeClassifier(), coding="dense-random", decoding="loss-based", random_state=0),
    ],
)
def test_estimator_checks_of_other_learners(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("coding", "decoding"), grid(sorted(CODINGS), sorted(DECODERS)))
def test_every_coding_works_with_every_decoding(coding, decoding):
    model = ECOCClassifier(GaussianNB(), coding=coding, decoding=decoding, random_state=0).fit(X_IRIS, Y_IRIS)
    assert model.score(X_IRIS, Y_IRIS) > 0.9
    probabilities = model.predict_proba(X_IRIS)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X_IRIS))
    np.testing.assert_array_equal(model.classes_[model.decision_function(X_IRIS).argmax(axis=1)], model.predict(X_IRIS))


FIVE_SETS = ["vehicle", "segmentation", "vowel", "wine", "glass"]


@pytest.mark.parametrize("name", FIVE_SETS)
def test_one_vs_one_with_hamming_equals_scikit_learn_away_from_ties(name):
    data = load_uci(name)
    X = MinMaxScaler().fit_transform(data.data)
    learner = LogisticRegression(max_iter=1000)  # a tree's own ties depend on which of two classes comes first
    ours = ECOCClassifier(learner, coding="one-vs-one", decoding="hamming", response_method="predict").fit(
        X, data.target
    )
    theirs = OneVsOneClassifier(learner).fit(X, data.target)
    votes = -ours.decoder_.scores(ours.codewords(X))
    untied = np.sort(votes, axis=1)[:, 0] < np.sort(votes, axis=1)[:, 1]
    assert untied.mean() > 0.5
    np.testing.assert_array_equal(ours.predict(X)[untied], theirs.predict(X)[untied])


@pytest.mark.parametrize("name", FIVE_SETS)
def test_one_vs_rest_with_linear_loss_on_margins_equals_scikit_learn(name):
    data = load_uci(name)
    X = MinMaxScaler().fit_transform(data.data)
    learner = LogisticRegression(max_iter=1000)
    ours = ECOCClassifier(
        learner, coding="one-vs-rest", decoding=LossBasedDecoder("linear"), response_method="decision_function"
    )
    theirs = OneVsRestClassifier(learner).fit(X, data.target)
    np.testing.assert_array_equal(ours.fit(X, data.target).predict(X), theirs.predict(X))


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC(), DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function", "predict"])
def test_codewords_are_the_learners_own_answers(learner, response):
    if not hasattr(learner, response):
        with pytest.raises(ValueError, match=f"response_method='{response}' needs a learner"):
            ECOCClassifier(learner, response_method=response).fit(X_IRIS, Y_IRIS)
        return
    model = ECOCClassifier(learner, response_method=response, random_state=0).fit(X_IRIS, Y_IRIS)
    answers = np.column_stack(
        [
            est.predict_proba(X_IRIS)[:, 1] * 2 - 1
            if response == "predict_proba"
            else est.decision_function(X_IRIS)
            if response == "decision_function"
            else est.predict(X_IRIS) * 2 - 1
            for est in model.estimators_
        ]
    )
    scale = np.abs(answers).max() if response == "decision_function" else 1.0
    np.testing.assert_allclose(model.codewords(X_IRIS), answers / scale, atol=1e-12)


def test_auto_prefers_probabilities_then_margins_then_labels():
    assert ECOCClassifier(LogisticRegression()).fit(X_IRIS, Y_IRIS)._response == "predict_proba"
    assert ECOCClassifier(Perceptron(), decoding="hamming").fit(X_IRIS, Y_IRIS)._response == "decision_function"


def test_margin_scale_is_frozen_at_fit():
    model = ECOCClassifier(LinearSVC(random_state=0), decoding="hamming").fit(X_IRIS, Y_IRIS)
    assert np.abs(model.codewords(X_IRIS)).max() == pytest.approx(1.0)
    assert np.abs(model.codewords(10 * X_IRIS)).max() > 1.0
    np.testing.assert_array_equal(model.codewords(X_IRIS[:5]), model.codewords(X_IRIS)[:5])


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(4)), st.sampled_from(["hamming", "loss-weighted", "laplacian", "loss-based"]))
def test_renaming_classes_renames_predictions(order, decoding):
    X, y = make_classification(120, 6, n_informative=4, n_classes=4, n_clusters_per_class=1, random_state=3)
    names = np.array(list("abcd"))[list(order)]
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    plain = ECOCClassifier(learner, coding="one-vs-rest", decoding=decoding).fit(X, y)
    renamed = ECOCClassifier(learner, coding="one-vs-rest", decoding=decoding).fit(X, names[y])
    tied = _is_tied(plain, X)
    np.testing.assert_array_equal(names[plain.predict(X)][~tied], renamed.predict(X)[~tied])


def _is_tied(model, X):
    """Rows where score, linear-loss score and prior leave it to the order of the classes."""
    scores = np.sort(model.decision_function(X), axis=1)
    return scores[:, -1] - scores[:, -2] < 1e-9


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_permuting_and_negating_columns_changes_nothing(order, negated):
    X, y = make_classification(100, 6, n_informative=4, n_classes=4, n_clusters_per_class=1, random_state=1)
    M = one_vs_one(4)
    other = M[:, list(order)] * np.where(negated, -1, 1)
    plain, changed = (
        ECOCClassifier(LogisticRegression(), coding=coding, decoding="loss-based").fit(X, y) for coding in (M, other)
    )
    np.testing.assert_allclose(plain.decision_function(X), changed.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("decoding", ["hamming", "loss-weighted", "probabilistic"])
def test_repeating_rows_equals_sample_weight(decoding):
    rng = np.random.default_rng(0)
    repeats = rng.integers(0, 4, len(Y_IRIS))
    model = ECOCClassifier(GaussianNB(), decoding=decoding)
    weighted = clone(model).fit(X_IRIS, Y_IRIS, sample_weight=repeats)
    repeated = clone(model).fit(np.repeat(X_IRIS, repeats, axis=0), np.repeat(Y_IRIS, repeats))
    np.testing.assert_allclose(weighted.predict_proba(X_IRIS), repeated.predict_proba(X_IRIS), rtol=1e-5)


@pytest.mark.parametrize("learner", [None, RandomForestClassifier(5), DecisionTreeClassifier(max_features=1)])
def test_results_do_not_depend_on_n_jobs(learner):
    first, second = (
        ECOCClassifier(learner, coding="dense-random", n_jobs=n_jobs, random_state=7).fit(X_IRIS, Y_IRIS)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(first.code_matrix_, second.code_matrix_)
    np.testing.assert_array_equal(first.decision_function(X_IRIS), second.decision_function(X_IRIS))


def test_n_jobs_changes_nothing_under_another_configuration():
    with sklearn.config_context(enable_metadata_routing=True):
        learner = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        weight = np.linspace(1, 2, len(Y_IRIS))
        first, second = (
            ECOCClassifier(learner, n_jobs=n_jobs).fit(X_IRIS, Y_IRIS, sample_weight=weight).predict_proba(X_IRIS)
            for n_jobs in (None, 2)
        )
    np.testing.assert_array_equal(first, second)


def test_seeds_reach_only_unset_random_states():
    free = ECOCClassifier(DecisionTreeClassifier(max_features=1), random_state=0).fit(X_IRIS, Y_IRIS)
    assert len({est.random_state for est in free.estimators_}) == 3
    fixed = ECOCClassifier(DecisionTreeClassifier(random_state=5), random_state=0).fit(X_IRIS, Y_IRIS)
    assert {est.random_state for est in fixed.estimators_} == {5}


def test_frames_reach_the_learners_unconverted():
    frame = pd.DataFrame(X_IRIS, columns=list("abcd"))
    model = ECOCClassifier(LogisticRegression()).fit(frame, Y_IRIS)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.estimators_[0].feature_names_in_) == list("abcd")
    plain = ECOCClassifier(LogisticRegression()).fit(X_IRIS, Y_IRIS)
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X_IRIS))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("learner", [None, LogisticRegression(), DecisionTreeClassifier(random_state=0)])
def test_polars_and_pandas_give_what_arrays_give(learner, recwarn):
    expected = ECOCClassifier(learner).fit(X_IRIS, Y_IRIS).predict(X_IRIS)
    for frame in (pd.DataFrame(X_IRIS, columns=list("abcd")), pl.DataFrame(X_IRIS, schema=list("abcd"))):
        model = ECOCClassifier(learner).fit(frame, Y_IRIS)
        np.testing.assert_array_equal(model.predict(frame), expected)
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_frame_columns_of_text_reach_a_pipeline():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame({"size": X_IRIS[:, 2], "shape": np.array(["round", "flat", "long"])[Y_IRIS]})
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["shape"]), remainder="passthrough")
    model = ECOCClassifier(make_pipeline(encode, LogisticRegression())).fit(frame, Y_IRIS)
    assert model.score(frame, Y_IRIS) == 1.0


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_rows_give_what_dense_ones_give(container):
    learner = LogisticRegression()
    dense = ECOCClassifier(learner).fit(X_IRIS, Y_IRIS)
    thin = ECOCClassifier(learner).fit(container(X_IRIS), Y_IRIS)
    np.testing.assert_allclose(dense.predict_proba(X_IRIS), thin.predict_proba(container(X_IRIS)), rtol=1e-4)


def test_sparse_rows_that_the_learner_does_not_take():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        ECOCClassifier(GaussianNB()).fit(sparse.csr_matrix(X_IRIS), Y_IRIS)


def test_two_classes_follow_scikit_learn():
    X, y = X_IRIS[:100, :2], np.array(["no", "yes"])[Y_IRIS[:100]]
    for coding in ("one-vs-one", "one-vs-rest", "dense-random"):
        model = ECOCClassifier(LogisticRegression(), coding=coding, random_state=0).fit(X, y)
        assert model.decision_function(X).shape == (100,)
        np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
        np.testing.assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))


def test_a_class_with_a_single_row_fits():
    y = Y_IRIS.copy()
    y[0] = 3
    for learner in (None, LogisticRegression(), KNeighborsClassifier()):
        assert ECOCClassifier(learner).fit(X_IRIS, y).score(X_IRIS, y) > 0.9


def test_a_class_without_weight_leaves_constant_columns():
    weight = (Y_IRIS != 1).astype(float)
    model = ECOCClassifier(GaussianNB()).fit(X_IRIS, Y_IRIS, sample_weight=weight)
    assert set(model.predict(X_IRIS)) <= {0, 2}


def test_one_decoding_parameter_can_be_searched():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ECOCClassifier(LogisticRegression(), decoding=LossBasedDecoder())),
        {
            "ecocclassifier__decoding__loss": ["hinge", "exponential"],
            "ecocclassifier__estimator__C": [0.1, 1.0],
            "ecocclassifier__coding": ["one-vs-rest", "one-vs-one"],
        },
        cv=2,
    ).fit(X_IRIS, Y_IRIS)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 8


def test_pickle_clone_and_html():
    model = ECOCClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X_IRIS), model.predict_proba(X_IRIS))
    assert not hasattr(clone(model), "code_matrix_")
    assert "ECOCClassifier" in model._repr_html_()


def test_weights_exist_only_with_a_weighted_decoding():
    assert ECOCClassifier(decoding="loss-weighted").fit(X_IRIS, Y_IRIS).weights_.shape == (3, 3)
    assert not hasattr(ECOCClassifier(decoding="hamming").fit(X_IRIS, Y_IRIS), "weights_")


def test_training_probabilities_are_neither_certain_nor_flat():
    model = ECOCClassifier(decoding="hamming").fit(X_IRIS, Y_IRIS)  # the training codewords are perfect
    top = model.predict_proba(X_IRIS).max(axis=1)
    assert top.max() < 0.9999
    assert top.mean() > 0.7


@pytest.mark.parametrize("decoding", ["hamming", "loss-weighted"])
@pytest.mark.parametrize("factor", [1e-3, 1 / 150, 100.0])
def test_only_ratios_of_sample_weights_matter(decoding, factor):
    X, y = X_IRIS[:, :2], Y_IRIS
    model = ECOCClassifier(GaussianNB(), decoding=decoding)
    plain = clone(model).fit(X[::2], y[::2], sample_weight=np.ones(75)).predict_proba(X)
    scaled = clone(model).fit(X[::2], y[::2], sample_weight=np.full(75, factor)).predict_proba(X)
    # A weight counts as so many samples: a total of 7,500 instead of 75 makes probabilities a little surer.
    np.testing.assert_allclose(plain, scaled, atol=0.03)


def test_temperature_rows_come_from_every_class_whatever_the_order():
    for order in (np.argsort(Y_LONG, kind="stable"), np.arange(900)):
        rows, weight = calibration_samples(Y_LONG[order], np.ones(900))
        np.testing.assert_array_equal(np.bincount(Y_LONG[order][rows]), [100, 100, 100])
        assert weight.sum() == pytest.approx(900)


def test_tiny_answers_decide_all_the_same():
    class Timid(GaussianNB):
        def predict_proba(self, X):
            return 0.5 + 1e-12 * (super().predict_proba(X) - 0.5)

    bold, timid = (
        ECOCClassifier(learner, decoding="loss-based").fit(X_IRIS, Y_IRIS) for learner in (GaussianNB(), Timid())
    )
    assert (bold.predict(X_IRIS) == timid.predict(X_IRIS)).mean() > 0.98


def test_a_learner_that_has_its_methods_only_after_fit():
    learner = StackingClassifier([("bayes", GaussianNB())], cv=2)
    assert ECOCClassifier(learner).fit(X_IRIS, Y_IRIS).score(X_IRIS, Y_IRIS) > 0.9


# Of each code, the decodings of probabilities, margins and labels.
RULE = {
    "one-vs-rest": ("loss-based", "loss-based", "loss-weighted"),
    "one-vs-one": ("probabilistic", "voting", "loss-weighted"),
    "decoc": ("probabilistic", "probabilistic", "loss-weighted"),
    "ternary-complete": ("probabilistic", "probabilistic", "loss-weighted"),
    "exhaustive": ("loss-weighted", "loss-weighted", "loss-weighted"),
    "hadamard": ("loss-weighted", "loss-weighted", "loss-weighted"),
}
FOUR = make_classification(120, n_informative=4, n_classes=4, n_clusters_per_class=1, random_state=0)
WITHOUT_WARNING = pytest.mark.filterwarnings("error")


@WITHOUT_WARNING
@pytest.mark.parametrize(
    ("coding", "place_and_response"),
    grid(list(RULE), [*enumerate(["predict_proba", "decision_function", "predict"]), (0, "auto")]),
)
def test_auto_is_the_decoding_of_the_rule(coding, place_and_response):
    place, response_method = place_and_response
    X, y = FOUR
    settings = {"response_method": response_method, "random_state": 0}
    model = ECOCClassifier(LogisticRegression(), coding=coding, **settings).fit(X, y)
    assert model.decoding_ == RULE[coding][place]
    spelled_out = ECOCClassifier(LogisticRegression(), coding=coding, decoding=RULE[coding][place], **settings).fit(
        X, y
    )
    assert (spelled_out.coding_, spelled_out.decoding_) == (coding, model.decoding_)
    np.testing.assert_array_equal(model.decision_function(X), spelled_out.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), spelled_out.predict_proba(X))
    again = model._with_decoding("auto", response_method, model.codewords(X), y, margin_scale=model._margin_scale)
    assert again.decoding_ == model.decoding_
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X))


def test_columns_of_many_classes_are_not_calibrated():
    assert [choose_decoding(one_vs_one(n), "predict_proba") for n in (30, 31)] == ["probabilistic", "loss-weighted"]
    assert [choose_decoding(one_vs_one(n), "decision_function") for n in (30, 31)] == ["voting", "hamming"]


def test_the_rule_looks_at_the_matrix_not_at_its_name():
    for coding, expected in ((one_vs_one(4), "voting"), (-one_vs_rest(4), "loss-based")):
        model = ECOCClassifier(RidgeClassifier(), coding=coding).fit(*FOUR)
        assert (model.coding_, model.decoding_) == ("custom", expected)
    own = ECOCClassifier(RidgeClassifier(), decoding=LossBasedDecoder("hinge")).fit(*FOUR)
    assert own.decoding_ == "loss-based"


@WITHOUT_WARNING
@pytest.mark.parametrize(
    "learner", [LinearSVC(random_state=0), SVC(), RidgeClassifier()], ids=lambda x: type(x).__name__
)
def test_learners_with_margins_are_as_good_as_in_scikit_learn(learner):
    X, y = load_uci("vowel", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    ours = ECOCClassifier(learner, n_folds=None).fit(X[train], y[train]).score(X[test], y[test])
    assert ours >= OneVsOneClassifier(learner).fit(X[train], y[train]).score(X[test], y[test]) - 0.02
    each = ECOCClassifier(learner, coding="one-vs-rest", n_folds=None).fit(X[train], y[train])
    theirs = OneVsRestClassifier(learner).fit(X[train], y[train])
    np.testing.assert_array_equal(each.predict(X[test]), theirs.predict(X[test]))


@pytest.mark.parametrize("coding", ["one-vs-one", "one-vs-rest", "ternary-complete"])
def test_weights_and_jobs_and_files_of_a_learner_with_margins(coding, tmp_path):
    X, y = FOUR
    weight = np.random.RandomState(0).randint(1, 4, len(y))
    model = ECOCClassifier(RidgeClassifier(), coding=coding, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-8)
    in_two = clone(model).set_params(n_jobs=2).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.decision_function(X), in_two.decision_function(X))
    save_model(weighted, tmp_path / "model.skops")
    restored = load_model(tmp_path / "model.skops")
    assert restored.decoding_ == weighted.decoding_
    np.testing.assert_array_equal(weighted.predict_proba(X), restored.predict_proba(X))


@pytest.mark.parametrize("coding", sorted(CODINGS))
def test_two_classes_with_every_coding_and_decoding(coding):
    X, y = X_IRIS[50:], Y_IRIS[50:]
    for decoding in sorted(DECODERS):
        model = ECOCClassifier(GaussianNB(), coding=coding, decoding=decoding, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.predict_proba(X).shape == (100, 2)


class _NeedsMetadata(GaussianNB):
    def fit(self, X, y, sample_weight=None, tint=None):
        self.tint_ = tint
        self.weight_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_fit_params_are_cut_to_the_column():
    tint = np.arange(len(Y_IRIS))
    model = ECOCClassifier(_NeedsMetadata(), coding="one-vs-one").fit(X_IRIS, Y_IRIS, tint=tint)
    np.testing.assert_array_equal(model.estimators_[0].tint_, tint[Y_IRIS < 2])


def test_metadata_routing():
    weight = np.linspace(1, 2, len(Y_IRIS))
    with sklearn.config_context(enable_metadata_routing=True):
        deaf = ECOCClassifier(_NeedsMetadata().set_fit_request(sample_weight=False, tint=True))
        deaf.fit(X_IRIS, Y_IRIS, sample_weight=weight, tint=weight)
        assert deaf.estimators_[0].weight_ is None
        np.testing.assert_array_equal(deaf.estimators_[0].tint_, weight[Y_IRIS < 2])
        keen = ECOCClassifier(_NeedsMetadata().set_fit_request(sample_weight=True, tint=False))
        keen.fit(X_IRIS, Y_IRIS, sample_weight=weight)
        np.testing.assert_array_equal(keen.estimators_[0].weight_, weight[Y_IRIS < 2])
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="tint"):
            ECOCClassifier(_NeedsMetadata().set_fit_request(sample_weight=True)).fit(
                X_IRIS, Y_IRIS, sample_weight=weight, tint=weight
            )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coding": "one-vs-none"}, "coding='one-vs-none' is not known .*; expected one of 'auto', 'decoc'"),
        ({"decoding": "haming"}, "decoding='haming' is not known .*; expected one of .*'hamming'"),
        ({"coding": [[1, -1], [1, -1], [-1, 1]]}, "coding .*rows 0, 1 are equal"),
        ({"coding": [[1, 1], [1, -1], [1, 0]]}, "coding .*column.* 0"),
        ({"coding": [[1, 2], [1, -1], [-1, 0]]}, "coding .*-1, 0"),
        ({"coding": one_vs_rest(4)}, "coding .*3"),
        ({"coding": 3}, "coding"),
        ({"decoding": 3}, "decoding"),
        ({"response_method": "probabilities"}, "response_method"),
        ({"estimator": "stumps"}, "estimator"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ECOCClassifier(**parameters).fit(X_IRIS, Y_IRIS)


def test_bad_data_is_named():
    with pytest.raises(ValueError, match="y must hold at least 2 classes"):
        ECOCClassifier().fit(X_IRIS, np.zeros(150))
    with pytest.raises(ValueError, match=r"X .*NaN"):
        ECOCClassifier(LogisticRegression()).fit(np.where(X_IRIS > 7, np.nan, X_IRIS), Y_IRIS)
    with pytest.raises(ValueError, match=r"X .*infinity"):
        ECOCClassifier(LogisticRegression()).fit(np.where(X_IRIS > 7, np.inf, X_IRIS), Y_IRIS)
    with pytest.raises(ValueError, match="0 sample"):
        ECOCClassifier().fit(np.empty((0, 3)), [])
    with pytest.raises(ValueError, match="at least one sample"):
        ECOCClassifier().fit(pd.DataFrame({"a": []}), [])
    with pytest.raises(ValueError, match="y is None"):
        ECOCClassifier().fit(X_IRIS, None)
    with pytest.raises(ValueError, match="labels of one type"):
        ECOCClassifier().fit(X_IRIS, np.array(["a", 1] * 75, dtype=object))
    with pytest.raises(ValueError, match="same number of samples"):
        ECOCClassifier().fit(X_IRIS, Y_IRIS[:-1])
    with pytest.raises(ValueError, match="sample_weight was given, but the estimator KNeighborsClassifier"):
        ECOCClassifier(KNeighborsClassifier()).fit(X_IRIS, Y_IRIS, sample_weight=np.ones(150))
    model = ECOCClassifier(LogisticRegression()).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((1, 4), np.nan))
    with pytest.raises(ValueError, match="features"):
        model.predict(X_IRIS[:, :3])


def test_codings_learnt_from_the_data_heed_sample_weight():
    rng = np.random.default_rng(0)
    repeats = rng.integers(0, 3, len(Y_IRIS))
    weighted = ECOCClassifier(GaussianNB(), coding="decoc").fit(X_IRIS, Y_IRIS, sample_weight=repeats)
    repeated = ECOCClassifier(GaussianNB(), coding="decoc").fit(
        np.repeat(X_IRIS, repeats, axis=0), np.repeat(Y_IRIS, repeats)
    )
    np.testing.assert_array_equal(weighted.code_matrix_, repeated.code_matrix_)
    np.testing.assert_allclose(weighted.predict_proba(X_IRIS), repeated.predict_proba(X_IRIS), rtol=1e-5)


class _Kept(ECOCClassifier):
    """Remembers what probabilities are calibrated on."""

    def _keep(self, matrix, learners, decoder, prior, calibration, **settings):
        self.kept_, self.held_out_ = calibration[:3], calibration.is_held_out
        super()._keep(matrix, learners, decoder, prior, calibration, **settings)


@pytest.mark.parametrize("decoding", ["hamming", "loss-weighted"])
def test_probabilities_are_calibrated_on_out_of_fold_codewords(decoding):
    """They are those of classifiers that were fitted without the fold; what the decoding learns does not change."""
    model = _Kept(GaussianNB(), coding="one-vs-rest", decoding=decoding, random_state=3).fit(X_IRIS, Y_IRIS)
    plain = _Kept(GaussianNB(), coding="one-vs-rest", decoding=decoding, random_state=3, n_folds=None).fit(
        X_IRIS, Y_IRIS
    )
    assert (model.held_out_, plain.held_out_) == (True, False)
    seed = int(np.random.RandomState(3).randint(LARGEST_SEED))
    folds = assign_folds(without_last_digits(X_IRIS), Y_IRIS, 3, seed)
    expected = np.empty((150, 3))
    for fold in range(3):
        others = GaussianNB()
        seen, held_out = folds != fold, folds == fold
        for q in range(3):
            others.fit(X_IRIS[seen], Y_IRIS[seen] == q)
            expected[held_out, q] = 2 * others.predict_proba(X_IRIS[held_out])[:, 1] - 1
    codewords, y, weight = model.kept_
    assert (np.diff(y) >= 0).all()
    assert (weight == 1).all()
    for label in range(3):
        found, wanted = codewords[y == label], expected[label == Y_IRIS]
        np.testing.assert_allclose(found[np.lexsort(found.T)], wanted[np.lexsort(wanted.T)], atol=1e-12)
    np.testing.assert_array_equal(
        model.decoder_.scores(model.codewords(X_IRIS)), plain.decoder_.scores(plain.codewords(X_IRIS))
    )


def test_a_learner_that_folds_leave_too_few_samples_does_without_them():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1, 2, 3], 2)
    learner = KNeighborsClassifier(4)  # three of the four samples of a column would be left
    with pytest.warns(UserWarning, match="calibrated on training samples.*part of them: Expected n_neighbors") as found:
        model = _Kept(learner, coding="one-vs-one").fit(X, y)
    assert [warning.filename for warning in found] == [__file__]
    assert not model.held_out_
    plain = _Kept(learner, coding="one-vs-one", n_folds=None).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(ValueError, match="n_neighbors"):
        _Kept(learner, coding="one-vs-one", n_folds=2).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"), pytest.warns(UserWarning, match="calibrated on training"):
        _Kept(KNeighborsClassifier(5), coding="one-vs-one").fit(X, y)


class _Wanting(GaussianNB):
    """Wants some samples, in its own words, and counts how often it is trained."""

    n_fits = 0

    def __init__(self, least=90, error=RuntimeError):
        super().__init__()
        self.least, self.error = least, error

    def fit(self, X, y):
        type(self).n_fits += 1
        if len(X) < self.least:
            raise self.error("too few")
        return super().fit(X, y)


@pytest.mark.parametrize("error", [RuntimeError, ValueError, np.linalg.LinAlgError])
def test_whatever_a_learner_of_a_fold_raises_the_fit_goes_on_with_a_warning(error):
    with pytest.warns(UserWarning, match="since the learner could not be trained on part of them: too few"):
        model = _Kept(_Wanting(error=error), coding="one-vs-one", decoding="hamming").fit(X_IRIS, Y_IRIS)
    plain = _Kept(GaussianNB(), coding="one-vs-one", decoding="hamming", n_folds=None).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model.predict_proba(X_IRIS), plain.predict_proba(X_IRIS))
    assert model.calibration_ is None


def test_an_error_on_all_samples_is_raised_by_the_first_fit_and_an_interrupt_always():
    _Wanting.n_fits = 0
    with pytest.raises(ValueError, match="too few"):
        ECOCClassifier(_Wanting(1000, ValueError), coding="one-vs-one").fit(X_IRIS, Y_IRIS)
    assert _Wanting.n_fits == 1
    with pytest.raises(KeyboardInterrupt):
        ECOCClassifier(_Wanting(error=KeyboardInterrupt), coding="one-vs-one").fit(X_IRIS, Y_IRIS)


def test_weights_of_few_columns_do_not_depend_on_the_order_of_samples():
    X, y = make_classification(3000, 8, n_informative=6, n_classes=4, weights=[0.6, 0.2, 0.1, 0.1], random_state=0)
    order = np.random.RandomState(1).permutation(3000)
    model = ECOCClassifier(max_columns=3, random_state=0).fit(X, y)
    assert model.decoding_ == "optimized-weight"
    again = ECOCClassifier(max_columns=3, random_state=0).fit(X[order], y[order])
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-4)


def test_folds_do_not_make_a_fit_random():
    fits = [ECOCClassifier(GaussianNB(), coding="one-vs-one").fit(X_IRIS, Y_IRIS) for _ in range(2)]
    np.testing.assert_array_equal(*(model.predict_proba(X_IRIS) for model in fits))


@pytest.mark.parametrize("name", ["Auto", "AUTO ", "auto"])
def test_auto_may_be_written_in_any_way(name):
    X, y = X_IRIS[::3], Y_IRIS[::3]
    own = ECOCClassifier(GaussianNB(), coding=name, decoding=name).fit(X, y)
    assert (own.coding_, own.decoding_) == ("one-vs-one", "probabilistic")
    batches = ECOCClassifier(GaussianNB(), coding=name, decoding=name).partial_fit(X, y, classes=[0, 1, 2])
    assert (batches.coding_, batches.decoding_) == ("one-vs-one", "loss-based")
    for method, parameter in ((WOLCClassifier, "init"), (SubclassECOCClassifier, "decoding")):
        usual, other = (method(GaussianNB(), random_state=0, **{parameter: word}).fit(X, y) for word in ("auto", name))
        np.testing.assert_array_equal(other.predict_proba(X), usual.predict_proba(X))
    with pytest.raises(ValueError, match="expected one of 'auto'"):
        ECOCClassifier(GaussianNB(), coding="automatic").fit(X, y)


class FailsLater(LogisticRegression):
    """Trains some columns, then raises what it is told to."""

    left, error = 0, None

    def fit(self, X, y, sample_weight=None):
        if type(self).left == 0:
            raise type(self).error
        type(self).left -= 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize(
    "model",
    [
        ECOCClassifier(FailsLater(), n_folds=3),
        LCECOCClassifier(FailsLater()),
        ECOCOneClassifier(FailsLater()),
        WOLCClassifier(FailsLater(), warm_start=True),
        SubclassECOCClassifier(FailsLater()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_failed_fit_leaves_the_classifier_as_it_was(monkeypatch, model, error):
    X, y = X_IRIS, Y_IRIS
    monkeypatch.setattr(FailsLater, "error", error)
    monkeypatch.setattr(FailsLater, "left", 1)
    model = clone(model)
    with pytest.raises(type(error)):
        model.fit(X, y)
    assert vars(model).keys() == model.get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        model.predict(X)
    monkeypatch.setattr(FailsLater, "left", 10_000)
    before = dict(vars(model.fit(X, y)))
    expected = model.predict_proba(X)
    monkeypatch.setattr(FailsLater, "left", 1)
    with pytest.raises(type(error)):
        model.fit(pd.DataFrame(X[:, :3], columns=list("abc")), np.where(y == 0, "first", "other"))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(X), expected)
