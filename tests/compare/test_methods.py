import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers import ECOCClassifier
from skecoc.compare import DEFAULT_METHODS
from skecoc.compare.methods import (
    CLASSIFIERS,
    MAJORITY,
    PEERS,
    check_methods,
    coding_of,
    count_columns,
    count_trained,
    make_classifier,
    takes_learner,
)
from skecoc.decoding import DECODERS
from skecoc.support.errors import InputError
from skecoc.support.names import METHOD_CODINGS

X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1], [3.0], [3.1]])
y = np.array(["a", "a", "b", "b", "c", "c", "d", "d"])


def test_defaults_and_peers_are_known():
    assert check_methods(DEFAULT_METHODS) == list(DEFAULT_METHODS)
    assert check_methods(list(PEERS)) == list(PEERS)


def test_repeated_names_count_once_in_the_order_given():
    names = ["one-vs-rest/hamming", "one-vs-one/hamming", "one-vs-rest/hamming"]
    assert check_methods(names) == names[:2]


@pytest.mark.parametrize("method", ["", "qqq"])
def test_a_name_of_another_form_is_refused_with_everything_valid(method):
    with pytest.raises(InputError, match=r"methods: .* is not known; expected a coding, coding/decoding") as caught:
        check_methods([method])
    for name in [*METHOD_CODINGS, *DECODERS, *PEERS]:
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("method", "meant"),
    [("wolk", "'wolc'"), ("one-vs-on", "'one-vs-one'"), ("random-forrest", "'random-forest'"), ("Mixed", "'mixed'")],
)
def test_a_misspelt_name_gets_a_short_hint(method, meant):
    with pytest.raises(InputError) as caught:
        check_methods([method])
    assert f"methods: {method!r} is not known (did you mean {meant}" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_short_names():
    assert check_methods(["one-vs-one", "decoc", "ordinal"]) == [
        "one-vs-one/loss-weighted",
        "decoc/loss-weighted",
        "ordinal/loss-weighted",
    ]
    assert check_methods([name.partition("/")[2] for name in CLASSIFIERS]) == list(CLASSIFIERS)


@pytest.mark.parametrize(
    ("method", "part", "valid"),
    [
        ("nothing/hamming", "coding 'nothing'", list(METHOD_CODINGS)),
        ("one-vs-one/nothing", "decoding 'nothing'", DECODERS),
        ("lc-ecoc/nothing", "decoding 'nothing'", DECODERS),
        ("wolc/hamming", "decoding 'hamming'", ["optimized-weight"]),
        ("mixed/optimized-weight", "decoding 'optimized-weight'", ["logistic-weight"]),
    ],
)
def test_an_unknown_part_is_refused_with_the_valid_ones(method, part, valid):
    with pytest.raises(InputError) as caught:
        check_methods([method])
    assert str(caught.value).startswith(f"methods: the {part} of {method!r} is not known")
    assert str(caught.value).endswith(f"; expected one of {', '.join(valid)}")


def test_a_code_that_has_its_own_decoding_needs_no_other():
    assert check_methods(["wolc", "wolc-paper", "wolc/optimized-weight", "mixed", "mixed/logistic-weight"]) == [
        "wolc/optimized-weight",
        "wolc-paper/optimized-weight",
        "mixed/logistic-weight",
    ]


def test_no_methods():
    with pytest.raises(InputError, match="methods: expected at least one"):
        check_methods([])


def test_decodings_of_a_coding_share_their_randomness_and_peers_do_not():
    assert coding_of("forest/hamming") == coding_of("forest/loss-based") == "forest"
    assert coding_of("sklearn/one-vs-one") != coding_of("sklearn/one-vs-rest")
    assert coding_of("sklearn/svm") != coding_of("sklearn/boosting")


def test_mixed_and_classifiers_take_no_learner():
    assert not any(map(takes_learner, ["mixed/logistic-weight", *CLASSIFIERS]))
    others = ["wolc/optimized-weight", "one-vs-one/logistic-weight", "sklearn/one-vs-one", "sklearn/output-code"]
    assert all(map(takes_learner, others))


def test_seeds_reach_nested_parts_of_a_peer():
    learner = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    model = make_classifier("sklearn/one-vs-rest", learner, seed=7)
    assert model.get_params()["estimator__decisiontreeclassifier__random_state"] == 7


def test_an_output_code_classifier_gets_its_parts():
    model = make_classifier("dense-random/loss-based", GaussianNB(), seed=7)
    assert isinstance(model, ECOCClassifier)
    assert (model.coding, model.decoding, model.random_state) == ("dense-random", "loss-based", 7)
    assert isinstance(model.estimator, GaussianNB)


@pytest.mark.parametrize(
    ("method", "kind", "n_columns"),
    [
        ("sklearn/one-vs-one", OneVsOneClassifier, 6),
        ("sklearn/one-vs-rest", OneVsRestClassifier, 4),
        ("sklearn/output-code", OutputCodeClassifier, 6),
        ("one-vs-one/hamming", ECOCClassifier, 6),
        ("one-vs-rest/hamming", ECOCClassifier, 4),
    ],
)
def test_kinds_and_columns(method, kind, n_columns):
    model = make_classifier(method, GaussianNB(), seed=0)
    assert type(model) is kind
    assert count_columns(model.fit(X, y)) == n_columns


@pytest.mark.parametrize(
    ("method", "kind", "response", "expected"),
    [
        ("ecoc-one/hamming", ECOCOneClassifier, "labels", "predict"),
        ("lc-ecoc/loss-based", LCECOCClassifier, "probabilities", "predict_proba"),
        ("subclass-ecoc/hamming", SubclassECOCClassifier, "margins", "decision_function"),
        ("wolc/optimized-weight", WOLCClassifier, "auto", "auto"),
        ("wolc-paper/optimized-weight", WOLCClassifier, "auto", "predict"),
        ("wolc-paper/optimized-weight", WOLCClassifier, "probabilities", "predict_proba"),
        ("one-vs-one/hamming", ECOCClassifier, "labels", "predict"),
    ],
)
def test_kinds_seeds_and_responses(method, kind, response, expected):
    model = make_classifier(method, GaussianNB(), seed=5, response=response)
    assert type(model) is kind
    assert (model.random_state, model.response_method) == (5, expected)
    if not method.startswith("wolc"):
        assert model.decoding == method.split("/")[1]


def test_mixed_brings_its_learners():
    model = make_classifier("mixed/logistic-weight", GaussianNB(), seed=5)
    assert model.get_params() == WOLCClassifier("mixed", random_state=5).get_params()


def test_mixed_cannot_be_told_how_its_learners_predict():
    with pytest.raises(InputError, match="methods: 'mixed/logistic-weight' has a fixed response"):
        make_classifier("mixed/logistic-weight", GaussianNB(), seed=0, response="labels")


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("sklearn/random-forest", RandomForestClassifier),
        ("sklearn/extra-trees", ExtraTreesClassifier),
        ("sklearn/boosting", HistGradientBoostingClassifier),
        ("sklearn/svm", SVC),
        ("sklearn/logistic", LogisticRegression),
    ],
)
def test_classifiers_are_seeded_and_have_no_columns(method, kind):
    model = make_classifier(method, GaussianNB(), seed=3)
    last = model[-1] if method in ("sklearn/svm", "sklearn/logistic") else model
    assert type(last) is kind
    assert last.random_state == 3
    model.fit(X, y)
    assert count_columns(model) == count_trained(model) == 0


def test_the_classifiers_of_features_on_any_scale_scale_them():
    for method in ("sklearn/svm", "sklearn/logistic"):
        model = make_classifier(method, GaussianNB(), seed=0)
        assert np.array_equal(model.fit(X, y).predict(X), model.fit(1e6 * X, y).predict(1e6 * X))
    assert make_classifier("sklearn/svm", GaussianNB(), seed=0)[-1].C == 100


def test_the_majority_class_is_a_method():
    model = make_classifier(MAJORITY, GaussianNB(), seed=0).fit(X, ["b"] * 5 + ["a"] * 3)
    assert model.predict(X[:2]).tolist() == ["b", "b"]
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[3 / 8, 5 / 8]])


def test_the_codes_of_wolc_start_differently():
    kinds = ("wolc", "wolc-one-vs-rest", "wolc-paper")
    models = [make_classifier(f"{kind}/optimized-weight", GaussianNB(), seed=0) for kind in kinds]
    assert [model.init for model in models] == ["auto", "one-vs-rest", "one-vs-rest"]
    assert [getattr(model.decoding, "margin", model.decoding) for model in models] == ["auto", "auto", 0.0]


def test_the_random_code_of_ten_columns_depends_on_the_seed_alone():
    codes = [make_classifier("random-10/hamming", GaussianNB(), seed).fit(X, y).code_matrix_ for seed in (1, 1, 2)]
    assert codes[0].shape == (4, 10)
    assert np.array_equal(codes[0], codes[1])
    assert not np.array_equal(codes[0], codes[2])


def test_columns_without_weight_are_not_counted():
    model = make_classifier("wolc/optimized-weight", GaussianNB(), seed=0)
    model.code_matrix_, model.used_columns_ = np.ones((3, 9)), np.array([0, 4])
    assert count_columns(model) == 2


def test_peers_and_their_learners_are_seeded():
    learner = DecisionTreeClassifier()
    model = make_classifier("sklearn/output-code", learner, seed=3)
    assert model.random_state == model.estimator.random_state == 3
    assert learner.random_state is None
