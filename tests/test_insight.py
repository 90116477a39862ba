"""What fitted classifiers tell: names of columns, confused pairs, importances of features, and a picture."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skecoc
from skecoc import ECOCClassifier, LCECOCClassifier, SubclassECOCClassifier
from skecoc.classifiers.pairs import shuffled, shuffled_scores
from skecoc.coding import one_vs_rest
from skecoc.coding.matrix import column_names
from skecoc.datasets import load_uci
from tests.reference.blocks import ecoc_in_blocks

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [name for name in skecoc.__all__ if name.endswith("Classifier") and name != "CostSensitiveClassifier"]
KINDS = [getattr(skecoc, name) for name in NAMES]
X, Y = load_uci("vehicle", return_X_y=True)


def three_classes(n_samples=300, seed=0):
    """Make classes of which feature 0 separates "a" from the others, and feature 1 "b" from "c"; feature 2 is noise."""
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n_samples) % 3]
    features = rng.normal(size=(n_samples, 3))
    features[:, 0] += 10.0 * (y == "a")
    features[:, 1] += 10.0 * (y == "b")
    return features, y


def test_names_of_columns_by_hand():
    matrix = np.array([[1, 1, 0, 1], [-1, 1, 1, -1], [-1, -1, 0, -1], [-1, -1, -1, 1]])
    assert column_names(matrix, ["A", "B", "C", "D"]) == ["A vs B, C, D", "A, B vs C, D", "B vs D", "A, D vs B, C"]
    letters = "ABCDEFGHIJKLMN"
    assert column_names(one_vs_rest(14)[:, [2]], letters) == ["C vs rest"]
    assert column_names(-one_vs_rest(14)[:, [2]], letters) == ["rest vs C"]
    half = np.repeat([1, -1], 7)[:, None]
    assert column_names(half, letters) == ["A, B, C, D, E and 2 more vs rest"]
    half[0] = 0
    assert column_names(half, letters) == ["B, C, D, E, F and 1 more vs H, I, J, K, L and 2 more"]


@pytest.mark.parametrize("kind", [*KINDS, ecoc_in_blocks])
def test_every_classifier_names_its_columns(kind):
    assert not hasattr(kind(), "column_names_")
    model = kind(random_state=0).fit(X, Y)
    assert model.column_names_.shape == (model.code_matrix_.shape[1],)
    assert model.column_names_.dtype.kind == "U"


def test_columns_of_pairs_of_regions_and_of_several_learners_are_named():
    model = ECOCClassifier(coding="ovo").fit(X, Y)
    assert model.column_names_.tolist()[:2] == ["bus vs opel", "bus vs saab"]
    grown = LCECOCClassifier(max_iter=4, tol=0.0, patience=4, random_state=0).fit(X, Y)
    is_clustered = grown.column_kinds_ == "clustered"
    assert is_clustered.any()
    np.testing.assert_array_equal(np.char.endswith(grown.column_names_, " / regions"), is_clustered)
    several = ECOCClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())], coding="ovr").fit(X, Y)
    assert several.column_names_[[0, 4]].tolist() == ["bayes: bus vs opel, saab, van", "tree: bus vs opel, saab, van"]


def test_subclasses_are_numbered():
    features = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    y = np.repeat(["outer", "inner", "outer"], 20)
    model = SubclassECOCClassifier(DecisionTreeClassifier(max_depth=1), random_state=0).fit(features, y)
    assert model.row_classes_.tolist() == [0, 1, 1]
    assert {"outer (1)", "outer (2)"} <= set(re.findall(r"outer \(\d\)|inner", " ".join(model.column_names_)))


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_confused_as_the_confusion_matrix_says(kind):
    model = kind(random_state=0).fit(X[::2], Y[::2])
    confusion = confusion_matrix(Y[1::2], model.predict(X[1::2]))
    report = model.pair_report(X[1::2], Y[1::2])
    index = {label: number for number, label in enumerate(model.classes_)}
    found = [(index[pair.first], index[pair.second]) for pair in report]
    for pair, (i, j) in zip(report, found, strict=True):
        assert (pair.first_as_second, pair.second_as_first) == (confusion[i, j], confusion[j, i])
        assert pair.n_samples == confusion[i].sum() + confusion[j].sum()
        assert pair.n_confused > 0
        assert 1 <= len(pair.columns) <= 5
    counts = [pair.n_confused for pair in report]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == confusion.sum() - confusion.trace()


def test_contributions_of_columns_by_hand():
    """With linear loss and labels as outputs, the lead of class i over j gains (M_iq - M_jq) x_q by column q."""
    features, y = three_classes()
    matrix = [[1, 1], [-1, 1], [-1, -1]]
    learner = DecisionTreeClassifier(max_depth=1)
    model = ECOCClassifier(learner, coding=matrix, decoding="loss-based", response_method="predict").fit(features, y)
    ((pair_a, *_), (pair_b, *_)) = (
        report.columns for report in model.pair_report(features, y, pairs=[("a", "b"), ("b", "c")], n_columns=1)
    )
    assert pair_a == (0, "a vs b, c", 1.0, 1.0)  # the second column says the same of both
    assert (pair_b.column, pair_b.name) == (1, "a, b vs c")
    outputs = model.codewords(features)
    lead = {"b": 2 * outputs[y == "b"], "c": -2 * outputs[y == "c"]}
    signs = (np.array(matrix[1]) - np.array(matrix[2])) / 2
    means = np.mean([(part * signs).mean(axis=0) for part in lead.values()], axis=0)
    assert pair_b.share == pytest.approx(means[1] / np.abs(means).sum())
    assert pair_b.correct == pytest.approx(np.mean([(part[:, 1] > 0).mean() for part in lead.values()]))


def test_a_column_that_misleads_has_a_negative_share():
    features, y = three_classes()
    model = ECOCClassifier(LogisticRegression(), coding="one-vs-rest", decoding="loss-based").fit(features, y)
    shifted = features.copy()
    shifted[:, 1] = 10.0 - shifted[:, 1]  # "b" and "c" change places
    (pair,) = model.pair_report(shifted, y, pairs=[("b", "c")])
    assert all(column.share < 0 for column in pair.columns if "a vs" not in column.name)


def test_reports_print_and_become_frames():
    model = ECOCClassifier().fit(X[::2], Y[::2])
    report = model.pair_report(X[1::2], Y[1::2], pairs=2, n_columns=3)
    assert len(report) == 2
    assert str(report).startswith(f"opel and saab: {report[0].n_confused} of {report[0].n_samples} samples confused")
    assert "opel vs saab: " in str(report)
    frame = report.to_frame()
    assert len(frame) == sum(len(pair.columns) for pair in report)
    assert frame["n_confused"].iloc[0] == report[0].n_confused
    features, y = three_classes()
    assert str(ECOCClassifier().fit(features, y).pair_report(features, y)) == "No two classes are confused."


@pytest.mark.parametrize("kind", KINDS)
def test_the_feature_that_separates_a_pair_is_found(kind):
    features, y = three_classes()
    model = kind(random_state=0).fit(features, y)
    found = model.pair_importances(*three_classes(150, 1), random_state=0)
    assert len(found) == 3
    by_pair = {(pair.first, pair.second): pair.importances_mean for pair in found}
    assert by_pair["b", "c"].argmax() == 1
    assert by_pair["b", "c"][1] > 0.3
    assert np.abs(by_pair["b", "c"][[0, 2]]).max() < 0.2
    assert by_pair["a", "c"].argmax() == 0
    assert [pair.separated for pair in found] == sorted(pair.separated for pair in found)


def test_importances_are_those_of_shuffling_by_hand():
    features, y = three_classes(60)
    model = ECOCClassifier(GaussianNB()).fit(features, y)
    (found,) = model.pair_importances(features, y, pairs=[("b", "c")], n_repeats=3, random_state=5)
    random = np.random.RandomState(5)
    in_pair = y != "a"

    def separated(samples):
        scores = model.decision_function(samples)[in_pair]
        lead = scores[:, 1] - scores[:, 2]
        return np.mean(np.where(y[in_pair] == "b", lead, -lead) > 0)

    assert found.separated == separated(features)
    for feature in range(3):
        drops = []
        for _ in range(3):
            changed = features.copy()
            changed[:, feature] = features[random.permutation(60), feature]
            drops.append(separated(features) - separated(changed))
        assert found.importances_mean[feature] == pytest.approx(np.mean(drops))
        assert found.importances_std[feature] == pytest.approx(np.std(drops))


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csr_array])
def test_importances_of_frames_and_sparse_matrices_are_those_of_arrays(container):
    features, y = three_classes(90)
    given = container(features)
    learner = LogisticRegression()
    found, expected = (
        ECOCClassifier(learner).fit(samples, y).pair_importances(samples, y, random_state=0)
        for samples in (given, features)
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.importances_mean, other.importances_mean)
    changed = shuffled(given, np.array([1]), np.random.RandomState(0))
    assert type(changed) is type(given)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_features_are_shuffled_as_dense_ones(make, monkeypatch):
    dense = sparse.random(40, 6, density=0.3, random_state=0).toarray()
    given = make(dense)
    monkeypatch.setattr(sparse.csr_array, "tolil", None)  # all samples again for each shuffle
    monkeypatch.setattr(sparse.csc_matrix, "tolil", None)
    for features in ([2], [0, 5], [1, 2, 3]):
        found, expected = (shuffled(X, np.array(features), np.random.RandomState(1)) for X in (given, dense))
        assert found.format == "csr"
        np.testing.assert_array_equal(found.toarray(), expected)
    np.testing.assert_array_equal(given.toarray(), dense)
    groups = [np.array([0]), np.array([1, 2])]
    found, expected = (
        np.array(list(shuffled_scores(lambda rows: rows @ np.ones((6, 2)), X, groups, 3, np.random.RandomState(1))))
        for X in (given, dense)
    )
    np.testing.assert_allclose(found, expected)


def test_importances_print_and_become_frames():
    features, y = three_classes(60)
    frame = pd.DataFrame(features, columns=["first", "second", "noise"])
    found = ECOCClassifier().fit(frame, y).pair_importances(frame, y, pairs=[("c", "b")], random_state=0)
    assert re.match(r"c and b: 100.0% separated\n   0\.\d+ ± 0\.\d+  second", str(found))
    table = found.to_frame()
    assert table["feature"].tolist() == ["first", "second", "noise"]
    np.testing.assert_array_equal(table["importance"], found[0].importances_mean)


@pytest.mark.parametrize("method", ["pair_report", "pair_importances"])
def test_bad_pairs_and_labels_are_named(method):
    features, y = three_classes(60)
    with pytest.raises(NotFittedError):
        getattr(ECOCClassifier(), method)(features, y)
    ask = getattr(ECOCClassifier().fit(features, y), method)
    with pytest.raises(ValueError, match="pairs: 'd' is not a class"):
        ask(features, y, pairs=[("a", "d")])
    with pytest.raises(ValueError, match="pairs must be a number or a list of pairs of two different labels, got 'ab'"):
        ask(features, y, pairs=["ab"])
    with pytest.raises(ValueError, match="pairs must be an integer of at least 1, got 0"):
        ask(features, y, pairs=0)
    with pytest.raises(ValueError, match="y must hold classes that the model knows, got 'e'"):
        ask(features, np.where(y == "a", "e", y))
    with pytest.raises(ValueError, match="same number of samples; got 60 and 59"):
        ask(features, y[1:])


class _Checker(HTMLParser):
    """Collects the texts of a page, and the tags that are open at its end."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def picture(model):
    """Return the picture in a model's HTML as a tree."""
    page = model._repr_html_()
    assert page.count("<svg xmlns") == 1
    return ET.fromstring(page[page.index("<svg xmlns") : page.index("</svg>", page.index("<svg xmlns")) + 6])  # noqa: S314


@pytest.mark.parametrize("kind", [*KINDS, ecoc_in_blocks])
def test_the_html_of_a_fitted_classifier_shows_its_code(kind):
    assert "skecoc-code" not in kind()._repr_html_()
    model = kind(random_state=0).fit(X, Y)
    cells = [path.get("d").count("M") for path in picture(model).iter(f"{SVG}path")]
    assert sum(cells) == np.count_nonzero(model.code_matrix_)
    titles = [group.find("{*}title").text for group in picture(model).iter(f"{SVG}g")]
    assert titles == model.column_names_.tolist()
    assert "sk-top-container" in model._repr_html_()
    assert "skecoc-code" in model._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")


def test_class_names_are_escaped_and_large_codes_cut():
    names = np.array(["<script>alert(1)</script>", "a & b", "'\""])
    model = ECOCClassifier().fit(X[:300], names[np.arange(300) % 3])
    checker = _Checker()
    checker.feed(model._repr_html_().split('<div class="skecoc-code"')[1])
    assert "script" not in checker.tags
    assert {"a & b", "'\""} <= set(checker.texts)
    many = ECOCClassifier().fit(X[:800], np.arange(800) % 40)
    groups = list(picture(many).iter(f"{SVG}g"))
    assert len(groups) == 60
    texts = [text.text for text in picture(many).iter(f"{SVG}text")]
    assert texts == [*map(str, range(30)), "…", "…"]
    assert len(many._repr_html_()) < 100_000
