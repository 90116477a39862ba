"""What becomes of the columns of a file: dates, sentences, categories, gaps and stray cells, by the commands."""

import re

import numpy as np
import pytest

from skecoc.cli import main
from skecoc.persistence import load_model
from tests.tables.things import make_messages, make_things

pd = pytest.importorskip("pandas")
FAST = ["--method", "one-vs-one/loss-weighted", "--folds", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)


def fit(frame, capsys, name="table.csv"):
    """Write a table whose classes are in its column `kind`, fit a model, and return it, its accuracy and the notes."""
    frame.to_csv(name, index=False) if name.endswith(".csv") else frame.to_parquet(name)
    assert main(["fit", name, "--target", "kind", "-o", "model.skops", *FAST]) == 0
    captured = capsys.readouterr()
    line = next(line for line in captured.out.splitlines() if line.startswith("one-vs-one/loss-weighted"))
    accuracy = float(re.search(r"\d+\.\d+", line)[0])
    return load_model("model.skops"), accuracy, [line for line in captured.err.splitlines() if "note" in line]


def predict(frame, capsys):
    """Predict a table by the command, and return the labels."""
    frame.to_csv("new.csv", index=False)
    assert main(["predict", "model.skops", "new.csv", "-o", "out.csv"]) == 0
    capsys.readouterr()
    return pd.read_csv("out.csv")["label"].tolist()


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("%Y-%m-%d", "date"),
        ("%m/%d/%y", "date, month first"),
        ("%d.%m.%Y", "date, day first"),
        ("%Y/%m/%d", "date"),
        ("%b %d, %Y", "date"),
    ],
)
def test_dates_tell_the_season_however_they_are_written(capsys, written, kind):
    days = pd.Series(pd.date_range("2019-01-01", "2023-12-31", freq="11D"))
    days = days.sample(frac=1, random_state=0, ignore_index=True)
    frame = pd.DataFrame(
        {"day": days.dt.strftime(written), "kind": np.where(days.dt.month.isin([6, 7, 8]), "summer", "-")}
    )
    model, accuracy, notes = fit(frame, capsys)
    assert (model.kinds_, notes) == ({"day": kind}, [])
    assert accuracy > 95
    new = pd.DataFrame({"day": pd.to_datetime(["2024-07-04", "2024-03-04", "2025-12-05"]).strftime(written)})
    assert predict(new, capsys) == ["summer", "-", "-"]
    assert main(["inspect", "model.skops"]) == 0


def test_times_of_day(capsys):
    minutes = np.random.default_rng(0).integers(0, 1440, 90)
    clock = [f"{m // 60}:{m % 60:02}" for m in minutes]
    model, accuracy, _ = fit(pd.DataFrame({"at": clock, "kind": np.where(minutes < 720, "am", "pm")}), capsys)
    assert model.kinds_ == {"at": "time"}
    assert accuracy > 95
    assert predict(pd.DataFrame({"at": ["3:07", "15:07", "3:07 pm"]}), capsys) == ["am", "pm", "pm"]


def test_sentences_are_learnt_from(capsys):
    frame, y = make_messages(160)
    kinds = np.array(["payment", "access", "delivery", "return"])[y]
    model, accuracy, notes = fit(frame.assign(kind=kinds), capsys)
    assert (model.kinds_, notes) == ({"message": "sentence", "noise": "number"}, [])
    assert accuracy > 75  # 25 by guessing
    new = pd.DataFrame({"message": ["My password is wrong", "the parcel has not arrived, again!"], "noise": [0, 0]})
    assert predict(new, capsys) == ["access", "delivery"]


def test_names_that_differ_in_every_row_are_left_out(capsys):
    frame = make_things()[["weight", "kind"]].assign(name=[f"Ada{i} Smith{i * 7}" for i in range(60)])
    model, _, notes = fit(frame, capsys)
    assert model.left_out_ == {"name": "identifier"}
    assert notes == ["skecoc: note: left out: column 'name' (identifies the rows)"]


def test_categories_of_many_values(capsys):
    random = np.random.default_rng(0)
    town = random.integers(0, 80, 600)
    frame = pd.DataFrame({"town": [f"town {i}" for i in town], "kind": np.array(["a", "b", "c"])[town % 3]})
    model, accuracy, _ = fit(frame, capsys)
    assert model.kinds_ == {"town": "category"}
    assert accuracy > 85
    assert predict(pd.DataFrame({"town": ["town 3", "town 4", "town 5"]}), capsys) == ["a", "b", "c"]
    assert len(predict(pd.DataFrame({"town": ["nowhere", None]}), capsys)) == 2


def test_stray_cells_are_missing(capsys):
    frame = make_things().astype({"weight": object}).drop(columns=["id", "unit"])
    frame["picked"] = frame["picked"].dt.strftime("%d.%m.%Y")
    frame.loc[[1, 2], "weight"] = ["few", "inf"]
    frame.loc[9, "picked"] = "soon"
    model, _, notes = fit(frame, capsys)
    assert notes == [
        "skecoc: note: column 'weight': 2 cells hold no finite number (the first 'few' in row 2) and count as missing",
        "skecoc: note: column 'picked': 1 cell holds no date (the first 'soon' in row 10) and counts as missing",
    ]
    assert model.kinds_["weight"] == "number"
    new = frame.head(4).drop(columns="kind")
    gaps = predict(new.assign(weight=None, picked=None), capsys)
    assert (
        predict(new.assign(weight=["?", "inf", "", "heavy"], picked=["?", "", "31.2.2024", "12/31/2024"]), capsys)
        == gaps
    )


def test_the_same_table_as_csv_and_parquet_gives_the_same_model(capsys):
    frame = make_things().assign(
        message=make_messages(60)[0]["message"],
        town=pd.Categorical([f"town {i * 7 % 45}" for i in range(60)]),
        number=np.arange(60.0),
        code=pd.array([*range(0, 118, 2), None], dtype="Int64"),
    )
    first, _, said = fit(frame, capsys)
    second, _, again = fit(frame, capsys, "table.parquet")
    assert first.left_out_ == second.left_out_ == {"id": "identifier", "number": "identifier", "unit": "constant"}
    assert (first.kinds_, said) == (second.kinds_, again)
    pd.testing.assert_series_equal(
        pd.Series(first.predict_proba(frame).ravel()), pd.Series(second.predict_proba(frame).ravel()), check_exact=True
    )


def test_gaps_stay_where_the_learner_takes_them(capsys):
    frame = make_things()[["weight", "kind"]]
    frame.to_csv("table.csv", index=False)
    trees = ["--learner", "sklearn.tree.DecisionTreeClassifier"]
    assert main(["fit", "table.csv", "--target", "kind", "-o", "model.skops", *FAST, *trees]) == 0
    encoded = load_model("model.skops")._encoded(frame)
    assert np.isnan(encoded[:, 0]).tolist() == frame["weight"].isna().tolist()
    capsys.readouterr()
    assert predict(frame.head(8)[["weight"]], capsys)
