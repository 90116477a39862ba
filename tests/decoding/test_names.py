"""What holds for every decoder that has a name, and the names themselves."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import skecoc.decoding
from skecoc.decoding import DECODERS, BaseDecoder, HammingDecoder, LossBasedDecoder, resolve_decoder
from tests.reference import decoding as reference

CLASSICAL = [
    "attenuated-euclidean",
    "beta-density",
    "euclidean",
    "hamming",
    "inverse-hamming",
    "laplacian",
    "loss-averaged",
    "loss-based",
    "loss-weighted",
    "probabilistic",
]
LEARNING = ["loss-weighted", "probabilistic"]
MATRIX = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
CODEWORDS = np.array([[0.9, 0.4, 0.2], [-0.8, 0.1, 0.6], [0.3, -0.7, -0.5], [0.2, 0.3, -0.1]])
LABELS = np.array([0, 1, 2, 0])


def fitted_scores(name, training, y, matrix, codewords, sample_weight=None):
    return DECODERS[name]().fit(training, y, matrix, sample_weight=sample_weight).scores(codewords)


@pytest.mark.parametrize("name", CLASSICAL)
@settings(max_examples=25, deadline=None)
@given(problem=reference.decoding_problems(), data=st.data())
def test_permuting_classes_permutes_scores(name, problem, data):
    matrix, training, y, codewords = problem
    rows = np.array(data.draw(st.permutations(range(len(matrix)))))
    new_index = np.argsort(rows)
    np.testing.assert_allclose(
        fitted_scores(name, training, new_index[y], matrix[rows], codewords),
        fitted_scores(name, training, y, matrix, codewords)[:, rows],
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", CLASSICAL)
@settings(max_examples=25, deadline=None)
@given(problem=reference.decoding_problems(), data=st.data())
def test_permuting_columns_changes_nothing(name, problem, data):
    matrix, training, y, codewords = problem
    columns = np.array(data.draw(st.permutations(range(matrix.shape[1]))))
    np.testing.assert_allclose(
        fitted_scores(name, training[:, columns], y, matrix[:, columns], codewords[:, columns]),
        fitted_scores(name, training, y, matrix, codewords),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", CLASSICAL)
@settings(max_examples=25, deadline=None)
@given(problem=reference.decoding_problems(), data=st.data())
def test_negating_columns_of_matrix_and_codewords_changes_nothing(name, problem, data):
    matrix, training, y, codewords = problem
    n_columns = matrix.shape[1]
    signs = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n_columns, max_size=n_columns)))
    np.testing.assert_allclose(
        fitted_scores(name, training * signs, y, matrix * signs, codewords * signs),
        fitted_scores(name, training, y, matrix, codewords),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", CLASSICAL)
@settings(max_examples=25, deadline=None)
@given(problem=reference.decoding_problems(), data=st.data())
def test_repeating_rows_equals_weighting_them(name, problem, data):
    matrix, training, y, codewords = problem
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    assume(times.any())
    np.testing.assert_allclose(
        fitted_scores(name, np.repeat(training, times, axis=0), np.repeat(y, times), matrix, codewords),
        fitted_scores(name, training, y, matrix, codewords, sample_weight=times),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", LEARNING)
def test_learning_decoders_depend_on_training_codewords_and_weights(name):
    plain = fitted_scores(name, CODEWORDS, LABELS, MATRIX, CODEWORDS)
    # Class 0's two rows agree on column 0; now one is wrong, and then it weighs more.
    one_wrong = CODEWORDS * np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [-1, 1, 1]])
    changed = fitted_scores(name, one_wrong, LABELS, MATRIX, CODEWORDS)
    weighted = fitted_scores(name, one_wrong, LABELS, MATRIX, CODEWORDS, sample_weight=[1, 1, 1, 5])
    assert np.abs(changed - plain).max() > 1e-3
    assert np.abs(weighted - changed).max() > 1e-3


@pytest.mark.parametrize("name", CLASSICAL)
def test_only_the_learning_decoders_say_that_they_read_training_codewords(name):
    assert DECODERS[name].learns_from_codewords == (name in LEARNING)


@pytest.mark.parametrize("name", sorted(set(CLASSICAL) - set(LEARNING)))
def test_other_decoders_do_not_depend_on_training_codewords(name):
    np.testing.assert_array_equal(
        fitted_scores(name, CODEWORDS, LABELS, MATRIX, CODEWORDS),
        fitted_scores(name, -CODEWORDS[:1], [2], MATRIX, CODEWORDS, sample_weight=[3.0]),
    )


@pytest.mark.parametrize("name", CLASSICAL)
def test_the_nearest_class_of_a_row_of_a_dense_matrix_is_that_row(name):
    matrix = np.array([[1, 1, 1, 1, -1], [-1, -1, 1, -1, -1], [-1, 1, -1, 1, 1], [1, -1, -1, -1, 1]])
    training, y = np.repeat(matrix, 5, axis=0), np.repeat(np.arange(4), 5)
    result = fitted_scores(name, training, y, matrix, matrix)
    np.testing.assert_array_equal(result.argmax(axis=1), np.arange(4))


@pytest.mark.parametrize("name", CLASSICAL)
def test_one_codeword_at_a_time_scores_as_all_together(name):
    decoder = DECODERS[name]().fit(CODEWORDS, LABELS, MATRIX)
    one_by_one = np.vstack([decoder.scores(x[np.newaxis]) for x in CODEWORDS])
    np.testing.assert_allclose(decoder.scores(CODEWORDS), one_by_one, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CLASSICAL)
def test_fit_and_scores_leave_their_input_alone(name):
    training, matrix, weight = CODEWORDS.copy(), np.array(MATRIX, dtype=float), np.ones(4)
    decoder = DECODERS[name]().fit(training, LABELS, matrix, sample_weight=weight)
    first = decoder.scores(training)
    np.testing.assert_array_equal(training, CODEWORDS)
    np.testing.assert_array_equal(matrix, MATRIX)
    np.testing.assert_array_equal(weight, 1.0)
    np.testing.assert_array_equal(decoder.scores(training), first)


@pytest.mark.parametrize("name", CLASSICAL)
def test_clones_are_unfitted_and_fitted_decoders_can_be_pickled(name):
    decoder = DECODERS[name]().fit(CODEWORDS, LABELS, MATRIX)
    copy = clone(decoder)
    assert copy.get_params() == decoder.get_params()
    with pytest.raises(NotFittedError):
        copy.scores(CODEWORDS)
    restored = pickle.loads(pickle.dumps(decoder))  # noqa: S301
    np.testing.assert_array_equal(restored.scores(CODEWORDS), decoder.scores(CODEWORDS))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("loss-based", {"loss": "linear"}),
        ("loss-averaged", {"loss": "linear"}),
        ("loss-weighted", {"loss": "linear"}),
        ("probabilistic", {"invalid_mass": 0.0}),
        ("hamming", {}),
        ("inverse-hamming", {}),
        ("euclidean", {}),
        ("attenuated-euclidean", {}),
        ("laplacian", {}),
        ("beta-density", {}),
    ],
)
def test_parameters(name, parameters):
    assert DECODERS[name]().get_params() == parameters


@pytest.mark.parametrize("name", ["loss-based", "loss-averaged", "loss-weighted"])
def test_set_params_takes_effect_at_the_next_fit(name):
    decoder = DECODERS[name]().set_params(loss="hinge")
    np.testing.assert_array_equal(
        decoder.fit(CODEWORDS, LABELS, MATRIX).scores(CODEWORDS),
        DECODERS[name]("hinge").fit(CODEWORDS, LABELS, MATRIX).scores(CODEWORDS),
    )


@pytest.mark.parametrize("name", CLASSICAL)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matrix": [[1, 2, 0], [-1, 0, 1], [0, -1, -1]]}, "matrix must have entries in"),
        ({"matrix": [[0, 0, 0], [-1, 0, 1], [0, -1, -1]]}, "matrix must have at least one non-zero entry"),
        ({"matrix": [1, -1, 1]}, "matrix must be two-dimensional"),
        ({"codewords": CODEWORDS[:, :2]}, "codewords must have shape"),
        ({"codewords": np.full((4, 3), np.nan)}, "codewords must be finite"),
        ({"y": [0, 1, 2, 3]}, "y must hold indices"),
        ({"y": [0, 1]}, "y must have shape"),
        ({"sample_weight": [1, 1, 1, -1]}, "sample_weight must hold"),
        ({"sample_weight": [0, 0, 0, 0]}, "sample_weight must hold"),
    ],
)
def test_bad_input_is_refused_when_fitting(name, changes, message):
    arguments = {"codewords": CODEWORDS, "y": LABELS, "matrix": MATRIX} | changes
    with pytest.raises(ValueError, match=message):
        DECODERS[name]().fit(**arguments)


@pytest.mark.parametrize("name", CLASSICAL)
@pytest.mark.parametrize("codewords", [CODEWORDS[:, :2], CODEWORDS[0], np.full((4, 3), np.inf)])
def test_bad_codewords_are_refused_when_scoring(name, codewords):
    decoder = DECODERS[name]().fit(CODEWORDS, LABELS, MATRIX)
    with pytest.raises(ValueError, match="codewords must"):
        decoder.scores(codewords)


def test_every_decoding_has_the_name_of_its_class():
    assert set(CLASSICAL) <= set(DECODERS)
    for name, decoder_class in DECODERS.items():
        assert decoder_class.__name__ == name.title().replace("-", "") + "Decoder"
        assert getattr(skecoc.decoding, decoder_class.__name__) is decoder_class
        assert decoder_class.__name__ in skecoc.decoding.__all__


def test_everything_exported_exists():
    assert all(hasattr(skecoc.decoding, name) for name in skecoc.decoding.__all__)


@pytest.mark.parametrize("name", CLASSICAL)
def test_a_name_resolves_to_a_new_decoder(name):
    decoder = resolve_decoder(name)
    assert type(decoder) is DECODERS[name]
    assert resolve_decoder(name) is not decoder


def test_a_decoder_resolves_to_an_unfitted_clone():
    decoder = LossBasedDecoder("hinge").fit(CODEWORDS, LABELS, MATRIX)
    resolved = resolve_decoder(decoder)
    assert resolved is not decoder
    assert resolved.loss == "hinge"
    assert not hasattr(resolved, "matrix_")


def test_any_object_with_the_two_methods_is_a_decoder():
    class Constant:
        def fit(self, codewords, y, matrix, sample_weight=None):
            return self

        def scores(self, codewords):
            return np.zeros((len(codewords), 2))

    own = Constant()
    resolved = resolve_decoder(own)
    assert isinstance(resolved, Constant)
    assert resolved is not own


def test_an_unknown_name_lists_the_valid_ones():
    with pytest.raises(
        ValueError, match=r"decoding='haming' is not known .*; expected one of .*'hamming'.*'probabilistic'"
    ):
        resolve_decoder("haming")


@pytest.mark.parametrize("decoding", [None, 3, ["hamming"], HammingDecoder, BaseDecoder, object()])
def test_other_objects_are_refused(decoding):
    with pytest.raises(ValueError, match="decoding must be a name or a decoder with the methods fit and scores"):
        resolve_decoder(decoding)
