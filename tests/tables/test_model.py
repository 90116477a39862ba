"""The classifier of tables as an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.persistence import load_model, save_model
from skecoc.support.errors import InputError
from skecoc.tables import TableClassifier
from skecoc.tables.kinds import kinds_of, typed
from skecoc.tables.model import check_table_model, takes_missing
from skecoc.tables.preprocessing import encoded_sources, make_preprocessor
from tests.tables.things import make_messages, make_things


@pytest.fixture(scope="module")
def frame():
    return make_things()


@pytest.fixture(scope="module")
def fitted(frame):
    return TableClassifier(ECOCClassifier(random_state=0)).fit(frame.drop(columns="kind"), frame["kind"])


def test_columns_are_chosen(fitted):
    assert fitted.kinds_ == {
        "weight": "number",
        "größe, cm": "number",
        "colour": "text",
        "picked": "date",
        "ripe": "boolean",
    }
    assert fitted.left_out_ == {"id": "identifier", "unit": "constant"}
    assert fitted.n_features_in_ == 7


def test_labels_of_a_frame_become_text_that_a_file_can_hold(fitted, frame):
    assert fitted.classes_.dtype.kind == "U"
    assert TableClassifier(ECOCClassifier()).fit(frame[["weight"]], frame["ripe"]).classes_.dtype.kind == "b"


def test_it_learns(fitted, frame):
    assert fitted.score(frame, frame["kind"]) > 0.9


def test_columns_may_be_reordered_missing_if_unused_and_beside_others(fitted, frame):
    changed = frame[frame.columns[::-1]].drop(columns=["id", "unit", "kind"]).assign(extra=1)
    np.testing.assert_array_equal(fitted.predict_proba(changed), fitted.predict_proba(frame))


def test_a_missing_column_is_named(fitted, frame):
    with pytest.raises(InputError, match="column 'colour' is missing"):
        fitted.predict(frame.drop(columns="colour"))


def test_text_instead_of_values_gives_the_same(fitted, frame):
    text = frame.astype(object).where(frame.notna(), None).map(lambda cell: cell if cell is None else str(cell))
    np.testing.assert_array_equal(fitted.predict_proba(text), fitted.predict_proba(frame))


def test_unknown_text_counts_for_nothing(fitted, frame):
    row = frame.iloc[[0]]
    encoded = fitted._encoded(row.assign(colour="violet"))
    colours = np.flatnonzero(encoded_sources(fitted.preprocessor_) == list(fitted.kinds_).index("colour"))
    assert encoded[0, colours].tolist() == [0.0] * 4  # red, green, blue and none


def test_dropped_columns_make_no_difference(frame):
    model = TableClassifier(ECOCClassifier(random_state=0), drop=["weight", "id"]).fit(frame, frame["kind"])
    assert model.left_out_ == {"weight": "dropped", "id": "dropped", "unit": "constant"}
    changed = frame.assign(weight=0.0)
    np.testing.assert_array_equal(model.predict_proba(changed), model.predict_proba(frame))


def test_what_cannot_be_fitted(frame):
    with pytest.raises(InputError, match="drop: 'nothing' is not a column of the table"):
        TableClassifier(drop=["nothing"]).fit(frame, frame["kind"])
    with pytest.raises(InputError, match="no column is left to learn from"):
        TableClassifier().fit(frame[["id", "unit"]], frame["kind"])
    with pytest.raises(InputError, match="more than one column is named 'weight'"):
        TableClassifier().fit(frame[["weight", "ripe", "weight"]], frame["kind"])


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_stray_cells_of_new_rows_are_missing_with_a_warning(fitted, frame, method):
    gaps = frame.head(9).assign(weight=None, picked=None)
    cells = ["few", "inf", "-", "heavy", None, "", None, "NaN", float("inf")]
    changed = frame.head(9).assign(weight=cells, picked=["soon", *[None] * 8])
    with pytest.warns(UserWarning, match="as missing") as caught:
        found = getattr(fitted, method)(changed)
    np.testing.assert_array_equal(found, getattr(fitted, method)(gaps))
    assert [str(warning.message) for warning in caught] == [
        "column 'weight': 5 cells hold no finite number (the first 'few' in row 1) and count as missing",
        "column 'picked': 1 cell holds no date (the first 'soon' in row 1) and counts as missing",
    ]
    assert caught[0].filename == __file__


def test_classes_have_the_order_that_is_given(frame):
    y = np.array(["low", "middle", "high"])[np.arange(60) % 3]
    X = pd.DataFrame({"a": np.arange(60) % 3 + 0.1 * np.arange(60) / 60})
    model = TableClassifier(ECOCClassifier(coding="ordinal"), class_order=["low", "middle", "high", "top"]).fit(X, y)
    assert model.classes_.tolist() == ["low", "middle", "high"]
    assert model.classifier_.classes_.tolist() == [0, 1, 2]
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict_proba(X).argmax(axis=1).tolist() == (np.arange(60) % 3).tolist()
    plain = TableClassifier(ECOCClassifier()).fit(X, y)
    assert plain.classes_.tolist() == ["high", "low", "middle"]
    assert plain.predict(X).tolist() == y.tolist()
    with pytest.raises(InputError, match="class_order: the label 'middle' is not among them"):
        TableClassifier(class_order=["low", "high"]).fit(X, y)
    with pytest.raises(InputError, match="class_order: a label occurs more than once"):
        TableClassifier(class_order=["low", "high", "middle", "low"]).fit(X, y)


@pytest.mark.parametrize(
    "classifier",
    [
        ECOCClassifier(LogisticRegression(), n_folds=None),  # four distinct samples are too few to hold some out
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_pipeline("passthrough", LogisticRegression())),
    ],
    ids=["code", "own", "pipeline", "nested"],
)
def test_weights_of_rows_reach_the_classifier(classifier):
    X = pd.DataFrame({"a": [0.0, 1.0, 0.0, 1.0, 0.2, 0.9] * 3})
    y = np.array([0, 1, 1, 0, 0, 1] * 3)
    counts = np.array([5, 5, 1, 1, 1, 1] * 3)
    weighted = TableClassifier(classifier).fit(X, y, sample_weight=counts)
    repeated = TableClassifier(classifier).fit(X.loc[X.index.repeat(counts)], y.repeat(counts))
    if not isinstance(classifier, Pipeline):
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
    assert np.abs(weighted.predict_proba(X) - TableClassifier(classifier).fit(X, y).predict_proba(X)).max() > 0.1


def test_a_classifier_without_weights_is_named():
    X, y = pd.DataFrame({"a": [0.0, 1.0, 0.5, 2.0]}), [0, 1, 0, 1]
    for classifier in (KNeighborsClassifier(1), make_pipeline(StandardScaler(), KNeighborsClassifier(1))):
        with pytest.raises(InputError, match="sample_weight: KNeighborsClassifier takes no weights"):
            TableClassifier(classifier).fit(X, y, sample_weight=[1, 2, 3, 4])


@pytest.mark.parametrize(
    ("classifier", "is_taken"),
    [
        (RandomForestClassifier(2), True),
        (HistGradientBoostingClassifier(max_iter=2), True),
        (LogisticRegression(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (make_pipeline(StandardScaler(), SimpleImputer(), LogisticRegression()), True),
        (make_pipeline(make_pipeline(StandardScaler()), DecisionTreeClassifier()), True),
        (make_pipeline(make_pipeline(StandardScaler()), LogisticRegression()), False),
        (ECOCClassifier(DecisionTreeClassifier()), True),
        (ECOCClassifier(), True),
        (ECOCClassifier(LogisticRegression()), False),
    ],
)
def test_missing_values_stay_where_the_classifier_takes_them(classifier, is_taken, frame):
    assert takes_missing(classifier) == is_taken
    model = TableClassifier(classifier).fit(frame[["weight", "picked"]], frame["kind"])
    assert np.isnan(model._encoded(frame)).any() == is_taken
    assert model.predict(pd.DataFrame({"weight": [None], "picked": [None]}, dtype=object)).shape == (1,)


def test_every_kind_of_column_is_saved_and_loaded(tmp_path):
    messages, y = make_messages(160)
    random = np.random.default_rng(0)
    X = messages.assign(
        town=[f"town {i}" for i in random.integers(0, 60, 160)],
        gaps=np.where(random.random(160) < 0.2, np.nan, y + random.normal(size=160)),
        day=pd.date_range("2023-06-01", periods=160, freq="3D").strftime("%d.%m.%Y"),
        clock=[f"{hour}:30" for hour in random.integers(0, 24, 160)],
        took=pd.to_timedelta(random.integers(1, 99, 160), unit="h"),
        colour=random.choice(["red", "green"], 160),
    )
    model = TableClassifier(ECOCClassifier(), class_order=[3, 2, 1, 0]).fit(X, y)
    assert sorted(model.kinds_.values()) == sorted(
        ["sentence", "number", "category", "number", "date, day first", "time", "duration", "text"]
    )
    save_model(model, tmp_path / "model.skops")
    loaded = check_table_model(load_model(tmp_path / "model.skops"), tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model.score(X, y) > 0.8


def test_parameters_are_those_of_an_estimator(frame):
    model = TableClassifier(ECOCClassifier(LogisticRegression(), random_state=0), drop=["id"])
    assert clone(model).get_params()["classifier__estimator__C"] == 1.0
    default = TableClassifier().fit(frame[["weight", "ripe"]], frame["kind"])
    assert isinstance(default.classifier_, WOLCClassifier)


def test_sources_of_encoded_features():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "many": [f"v{i % 250}" for i in random.permutation(500)],
            "n": np.where(random.random(500) < 0.2, np.nan, random.normal(size=500)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 9, 500), unit="D"),
            "few": random.choice(["a", "b"], 500),
            "took": pd.to_timedelta(random.integers(0, 9, 500), unit="h"),
            "message": make_messages(500)[0]["message"],
        }
    )
    kinds = kinds_of(frame)
    values = typed(frame, kinds)
    for n_classes in (3, 40):
        preprocessor = make_preprocessor(kinds).fit(values, random.permutation(500) % n_classes)
        sources = encoded_sources(preprocessor)
        before = preprocessor.transform(values)
        assert sources.shape == before.shape[1:]
        assert sources[:3].tolist() == [1, 1, 2]
        assert (sources == 0).sum() == (3 if n_classes == 3 else 100)
        for place, name in enumerate(values.columns):
            after = preprocessor.transform(values.assign(**{name: values[name].to_numpy()[::-1]}))
            assert set(sources[(before != after).any(axis=0)]) == {place}
