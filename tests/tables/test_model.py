"""The classifier of tables as an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.support.errors import InputError
from skecoc.tables import TableClassifier
from skecoc.tables.preprocessing import encoded_sources, make_preprocessor
from tests.tables.things import make_things


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
    with pytest.raises(InputError, match="row 2: column 'a' holds 'inf', expected a finite number"):
        TableClassifier().fit(pd.DataFrame({"a": [1.0, np.inf, 0.0]}), [0, 1, 0])


def test_parameters_are_those_of_an_estimator(frame):
    model = TableClassifier(ECOCClassifier(LogisticRegression(), random_state=0), drop=["id"])
    assert clone(model).get_params()["classifier__estimator__C"] == 1.0
    default = TableClassifier().fit(frame[["weight", "ripe"]], frame["kind"])
    assert isinstance(default.classifier_, WOLCClassifier)


def test_sources_of_encoded_features():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "many": [f"v{i % 250}" for i in range(500)],
            "n": random.normal(size=500),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 9, 500), unit="D"),
            "few": random.choice(["a", "b"], 500),
        }
    )
    preprocessor = make_preprocessor(frame).fit(frame)
    sources = encoded_sources(preprocessor)
    assert sources.tolist() == [1, 2, *[0] * 100, 3, 3]
    before = preprocessor.transform(frame)
    for place, name in enumerate(frame.columns):
        after = preprocessor.transform(frame.assign(**{name: frame[name].to_numpy()[::-1]}))
        assert set(sources[(before != after).any(axis=0)]) == {place}
