"""Predictions in chunks: the same whatever the chunks and the format, and what there is to say about a table."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skecoc import ECOCClassifier
from skecoc.support.errors import InputError
from skecoc.tables import TableClassifier, load_table
from skecoc.tables.kinds import kinds_of, useless_columns
from skecoc.tables.model import check_table_model
from skecoc.tables.predicting import TablePredictions
from skecoc.tables.reading import open_table
from skecoc.tables.writing import make_writer
from tests.tables.things import CLASSES, make_things


def as_stream(frame):
    return io.BytesIO(frame.to_csv(index=False).encode())


def predict(model, source, n_rows=1000, **options):
    """Predict a whole table; return the output and the notes."""
    with open_table(source) as table:
        predictions = TablePredictions(model, table, **options)
        chunks = list(predictions.chunks(n_rows))
    empty = pd.DataFrame(columns=predictions.columns)
    return pd.concat(chunks) if chunks else empty, predictions.notes()


@pytest.fixture(scope="module")
def new():
    return make_things(n_rows=25, seed=7)


def test_labels_and_probabilities(model, new):
    output, notes = predict(model, as_stream(new))
    classes = sorted(CLASSES)
    assert output.columns.tolist() == ["label", *(f"probability_{label}" for label in classes)]
    np.testing.assert_array_equal(output["label"], model.predict(new))
    np.testing.assert_allclose(output.iloc[:, 1:], model.predict_proba(new), atol=5e-7)
    share = 100 * np.mean(output["label"] == new["kind"])
    assert notes[1:] == [f"accuracy {share:.2f} % on the 25 rows with a class in column 'kind'"]


@pytest.mark.parametrize("n_rows", [1, 7, 25])
def test_chunks_change_nothing(model, new, n_rows):
    whole, notes = predict(model, as_stream(new))
    parts, same = predict(model, as_stream(new), n_rows)
    pd.testing.assert_frame_equal(parts, whole)
    assert same == notes


def test_parquet_gives_the_same_as_csv(model, new, tmp_path):
    path = tmp_path / "new.parquet"
    new.to_parquet(path)
    pd.testing.assert_frame_equal(predict(model, path, 4)[0], predict(model, as_stream(new))[0])


def test_classes_only_and_columns_to_keep(model, new):
    output, _ = predict(model, as_stream(new), probabilities=False, keep=["id", "größe, cm"])
    assert output.columns.tolist() == ["id", "größe, cm", "label"]
    assert output["id"].tolist() == new["id"].astype(str).tolist()
    np.testing.assert_array_equal(output["label"], model.predict(new))


def test_what_there_is_to_say(model, new):
    changed = new.assign(colour=["violet", "pink"] * 12 + ["red"], extra=1, kind=["apple", None, "plum"] * 8 + [None])
    _, notes = predict(model, as_stream(changed), 3)
    assert notes[0] == "columns that the model does not use: 'extra'"
    assert notes[1] == "cells without a value, by column: 'weight' (4)"
    assert notes[2] == "column 'colour': 24 cells hold what training did not see, such as 'violet', 'pink'"
    assert notes[3].endswith("on the 16 rows with a class in column 'kind'")
    assert notes[4] == "8 rows have a class that training did not see, such as 'plum'"


def test_classes_count_as_right_whatever_their_type(new):
    model = TableClassifier(ECOCClassifier(random_state=0)).fit(
        new[["weight"]], new["weight"].rank().gt(12).astype(int)
    )
    model.card_ = {"target": "kind"}
    kind = pd.Series(model.predict(new).astype(float)).where(new.index > 2)
    _, notes = predict(model, as_stream(new[["weight"]].assign(kind=kind)))
    assert notes[1:] == ["accuracy 100.00 % on the 22 rows with a class in column 'kind'"]


def test_no_rows(model, new):
    output, notes = predict(model, as_stream(new.iloc[:0]))
    assert len(output) == 0
    assert notes == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns=["ripe"]), "column 'ripe' is missing in <stream>"),
        (
            lambda frame: frame.rename(columns={"weight": "Weight"}),
            r"column 'weight' is missing in <stream> \(did you mean 'Weight'\?\)",
        ),
        (lambda frame: frame.drop(columns=["ripe", "colour"]), "columns 'colour', 'ripe' are missing"),
    ],
)
def test_tables_that_do_not_fit(model, new, change, message):
    with pytest.raises(InputError, match=message):
        predict(model, as_stream(change(new)))


@pytest.mark.parametrize("n_rows", [1, 4, 100])
def test_cells_that_cannot_be_used_are_missing(model, new, n_rows):
    bad = new.astype(object)
    bad.loc[2, "weight"] = "few"
    bad.loc[[5, 6], "weight"] = ["inf", "heavy"]
    bad.loc[7, "ripe"] = "perhaps"
    bad.loc[9, "picked"] = "never"
    gaps = new.astype({"weight": float}).astype(object)
    gaps.loc[[2, 5, 6], "weight"] = gaps.loc[7, "ripe"] = gaps.loc[9, "picked"] = None
    found, notes = predict(model, as_stream(bad), n_rows)
    expected, _ = predict(model, as_stream(gaps))
    pd.testing.assert_frame_equal(found, expected)
    assert notes[:4] == [
        "column 'weight': 3 cells hold no finite number (the first 'few' in row 3) and count as missing",
        "column 'picked': 1 cell holds no date (the first 'never' in row 10) and counts as missing",
        "column 'ripe': 1 cell holds no true or false (the first 'perhaps' in row 8) and counts as missing",
        "cells without a value, by column: 'weight' (7), 'colour' (2), 'picked' (1), 'ripe' (1)",
    ]


def test_columns_to_keep_must_be_there(model, new):
    with pytest.raises(InputError, match="--keep: column 'nothing' is missing"):
        predict(model, as_stream(new), keep=["nothing"])


def test_predictions_get_names_that_no_kept_column_has(model, new):
    expected, _ = predict(model, as_stream(new))
    table = new.assign(label="x", probability_apple="y", predicted_label="z")
    output, notes = predict(model, as_stream(table), keep=["label", "probability_apple", "predicted_label"])
    assert output.columns.tolist() == [
        *("label", "probability_apple", "predicted_label", "predicted_label.2", "predicted_probability_apple"),
        *("probability_pear", "probability_Äpfel & <b>"),
    ]
    assert output["label"].eq("x").all()
    assert output["predicted_label.2"].tolist() == expected["label"].tolist()
    assert output["predicted_probability_apple"].tolist() == expected["probability_apple"].tolist()
    assert notes[0] == (
        "columns of the table are kept by these names, so predictions are: 'label' as 'predicted_label.2', "
        "'probability_apple' as 'predicted_probability_apple'"
    )


def test_names_stay_where_nothing_is_kept_by_them(model, new):
    output, notes = predict(model, as_stream(new.assign(label="x")), keep=["id"])
    assert output.columns.tolist()[:2] == ["id", "label"]
    assert notes[0] == "columns that the model does not use: 'label'"


def test_a_classifier_without_probabilities_writes_classes(new):
    model = TableClassifier(make_pipeline(StandardScaler(), SVC())).fit(new[["weight", "colour"]], new["kind"])
    output, notes = predict(check_table_model(model, Path("m.skops")), as_stream(new[["weight", "colour"]]))
    assert output.columns.tolist() == ["label"]
    np.testing.assert_array_equal(output["label"], model.predict(new))
    assert notes[:1] == ["a Pipeline gives no probabilities: only classes are written"]


def test_a_defect_far_down_is_found_when_it_is_reached(model, new):
    stream = io.BytesIO(new.to_csv(index=False).encode() + b"1,2\n")
    with open_table(stream) as table:
        chunks = TablePredictions(model, table).chunks(5)
        assert [len(next(chunks)) for _ in range(4)] == [5, 5, 5, 5]
        with pytest.raises(InputError, match="line 27 has 2 cells, but its header has 8"):
            list(chunks)


def test_errors_of_a_model_name_the_rows(model, new, monkeypatch):
    def broken(X):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(model.classifier_, "predict_proba", broken, raising=False)
    with pytest.raises(InputError, match="the model fails on rows 1 to 25: oh"):
        predict(model, as_stream(new))


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs"]), min_size=1, max_size=8)
VALUES = {
    "numbers": st.floats(-1e9, 1e9) | st.none(),
    "whole": st.integers(-1000, 1000),
    "booleans": st.booleans() | st.none(),
    "text": st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=4) | st.none(),
    "words": st.sampled_from(["red", "NA", "1", "1.0", "01", "true", "2024-01-31", "", "nan", None]),
    "days": st.dates().map(str),
}


@st.composite
def tables(draw):
    """A table of a few columns of any kind, and as many new rows of the same kinds."""
    n_rows, n_new = draw(st.integers(4, 12)), draw(st.integers(1, 6))
    names = draw(
        st.lists(NAMES.filter(lambda name: name.strip() == name != "target"), min_size=1, max_size=4, unique=True)
    )
    columns = {}
    for name in names:
        values = VALUES[draw(st.sampled_from(sorted(VALUES)))]
        columns[name] = draw(st.lists(values, min_size=n_rows + n_new, max_size=n_rows + n_new))
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    return frame.iloc[:n_rows], frame.iloc[n_rows:].reset_index(drop=True)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tables())
def test_any_table_survives_the_file_and_any_chunks(pair):
    """Fitted from CSV, predicted from CSV in one piece and row by row: all the same, or one line says why not."""
    train, new = pair
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.csv")
        train.assign(target=np.arange(len(train)) % 2).to_csv(path, index=False)
        X, y = load_table(path, target="target", return_X_y=True)
    try:
        model = TableClassifier(ECOCClassifier(random_state=0)).fit(X, y)
    except InputError:
        assert not choose_columns_of(X)
        return
    outcomes = []
    for n_rows in (1, 100):
        try:
            outcomes.append(predict(model, as_stream(new), n_rows)[0].to_csv())
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def choose_columns_of(X):
    """Return the columns that are neither constant nor identifiers."""
    return set(X.columns) - useless_columns(X, kinds_of(X)).keys()


@pytest.mark.parametrize("name", ["out.csv", "out.CSV", "out.csv.gz", "out.tsv", "out.parquet"])
@pytest.mark.parametrize("n_rows", [2, 100])
def test_every_format_can_be_read_again(model, new, tmp_path, name, n_rows):
    path = tmp_path / name
    with open_table(as_stream(new)) as table, path.open("wb") as file:
        predictions = TablePredictions(model, table, keep=["id"])
        with make_writer(file, path, predictions.columns) as write:
            for chunk in predictions.chunks(n_rows):
                write(chunk)
    with open_table(path) as table:
        found = pd.concat(table.chunks(1000))
    expected, _ = predict(model, as_stream(new), keep=["id"])
    assert found.columns.tolist() == expected.columns.tolist()
    assert found["id"].tolist() == expected["id"].tolist()
    assert found["label"].tolist() == expected["label"].tolist()
    np.testing.assert_array_equal(found.iloc[:, 2:].astype(float), expected.iloc[:, 2:])


def test_columns_that_are_kept_have_the_types_of_the_table(model, new, tmp_path):
    path, out = tmp_path / "new.parquet", tmp_path / "out.parquet"
    late = pd.array([None] * 20 + [True] * 5, dtype="boolean")
    whole = pd.array([None, 2**60 + 1] * 12 + [3], dtype="Int64")
    new.assign(late=late, whole=whole).to_parquet(path)
    with open_table(path) as table, out.open("wb") as file:
        predictions = TablePredictions(model, table, keep=["late", "whole", "picked"])
        with make_writer(file, out, predictions.columns, predictions.types) as write:
            for chunk in predictions.chunks(4):
                write(chunk)
    found, given = (pd.read_parquet(each, dtype_backend="pyarrow") for each in (out, path))
    pd.testing.assert_frame_equal(found[predictions.keep], given[predictions.keep])
