"""Tables as files: every cell comes back as it was, in any format, and none is run by a spreadsheet."""

import csv
import gc
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skecoc.support.errors import InputError
from skecoc.tables.reading import open_table
from skecoc.tables.writing import make_writer, output_suffix, runs_in_spreadsheets


def written(frame, name="out.csv", **options):
    """Write a frame in one piece; return the content of the file."""
    file = io.BytesIO()
    with make_writer(file, Path(name), list(frame.columns), **options) as write:
        write(frame)
    return file.getvalue()


def reference(frame, separator=","):
    """What the csv module writes, cell by cell."""
    text = io.StringIO(newline="")
    cells = frame.astype(object).where(frame.notna(), "")
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([frame.columns, *cells.to_numpy().tolist()])
    return text.getvalue().encode("utf-8", "surrogatepass")


CELLS = st.text(st.sampled_from('ab ,;\t"\n=é'), max_size=4)


@given(st.lists(st.tuples(CELLS, st.floats() | st.none(), st.integers(), CELLS | st.none()), max_size=5))
def test_cells_are_written_as_the_csv_module_does(rows):
    frame = pd.DataFrame(rows, columns=["a,b", "number", "whole", "text"]).astype({"whole": object, "text": object})
    assert written(frame) == reference(frame)
    assert written(frame, "out.tsv") == reference(frame, "\t")
    assert gzip.decompress(written(frame, "out.csv.gz")) == reference(frame)
    assert gzip.decompress(written(frame, "out.tsv.gz")) == reference(frame, "\t")


def test_a_column_alone_may_have_empty_cells():
    frame = pd.DataFrame({"a": ["x", None, "y"]}, dtype=object)
    assert written(frame) == b'a\nx\n""\ny\n' == reference(frame)


def test_cells_with_line_breaks_of_any_kind_are_quoted():
    frame = pd.DataFrame({"a": ["x\ry", "\r\n", "\ud800"], "b": 1}, dtype=object)
    assert written(frame) == b'a,b\n"x\ry",1\n"\r\n",1\n\xed\xa0\x80,1\n'
    assert list(csv.reader(io.StringIO(written(frame[:2]).decode(), newline="")))[1:] == [["x\ry", "1"], ["\r\n", "1"]]


@given(st.lists(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), min_size=1, max_size=6))
def test_probabilities_are_written_without_exponents_and_read_as_they_were(rows):
    values = (np.array(rows) / 1e6).round(6)
    lines = written(pd.DataFrame(values, columns=list("abc")), probabilities="abc").decode().splitlines()[1:]
    assert [[float(cell) for cell in line.split(",")] for line in lines] == values.tolist()
    plain = [np.format_float_positional(value, trim="0") for value in values.ravel()]
    assert ",".join(lines).split(",") == plain


def test_other_numbers_are_written_in_full():
    frame = pd.DataFrame(
        {"a": [0.1234567, 0.5], "b": [-0.0, 1.0], "c": [0.5, np.nan], "d": [1.5, 1e-9], "e": [0.5, 0.25]}
    )
    assert written(frame).splitlines()[1:] == [b"0.1234567,-0.0,0.5,1.5,0.5", b"0.5,1.0,,1e-09,0.25"]


RUN = ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "-", "-2+3", "＝1", "-1e", "+1 000a"]
PLAIN = ["", "a", "a=1", "-5", "+5", "-1.5", "-1,5", "-1.234,5", "+.5", "-1e-5", "-5%", "'=1", " =1", "5-3"]


def test_what_a_spreadsheet_runs():
    assert [cell for cell in RUN + PLAIN if runs_in_spreadsheets(cell)] == RUN


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_formulas_are_escaped_in_cells_and_names(name):
    separator = "\t" if name == "out.tsv" else ","
    frame = pd.DataFrame({"=a": RUN + PLAIN, "b": -5, "-c": -0.5}).astype({"=a": object})
    expected = frame.assign(**{"=a": [f"'{cell}" for cell in RUN] + PLAIN}).set_axis(
        ["'=a", "b", "'-c"], axis="columns"
    )
    assert written(frame, name, escape_formulas=True) == written(expected, name)
    assert written(frame, name).startswith(separator.join(frame.columns).encode() + b"\n=1+1" + separator.encode())


def test_parquet_has_no_formulas(tmp_path):
    frame = pd.DataFrame({"a": ["=1"]})
    assert pd.read_parquet(io.BytesIO(written(frame, "out.parquet", escape_formulas=True)))["a"].tolist() == ["=1"]


def test_unknown_suffixes_are_refused():
    with pytest.raises(
        InputError, match=r"--output: 'a.xlsx' has an unknown suffix; expected one of .csv, .csv.gz, .tsv"
    ):
        output_suffix(Path("a.xlsx"))
    assert [output_suffix(Path(name)) for name in ("a.CSV", "b.tsv.gz", "/dev/null")] == [".csv", ".tsv.gz", ".csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_table_without_rows_can_be_read_again(name, tmp_path):
    path = tmp_path / name
    with path.open("wb") as file, make_writer(file, path, ["label", "probability_a"]):
        pass
    with open_table(path) as table:
        assert table.columns == ["label", "probability_a"]
        assert list(table.chunks(5)) == [] or len(next(iter(table.chunks(5)), [])) == 0


def test_columns_of_parquet_may_begin_empty_and_have_gaps_later(tmp_path):
    path = tmp_path / "out.parquet"
    with path.open("wb") as file, make_writer(file, path, ["a", "b"]) as write:
        write(pd.DataFrame({"a": [None, None], "b": [1, 2]}))
        write(pd.DataFrame({"a": ["x", None], "b": [3.0, np.nan]}))
    found = pd.read_parquet(path)
    assert found["a"].dropna().tolist() == ["x"]
    assert found["b"].dropna().tolist() == [1, 2, 3]


def test_a_column_that_changes_its_kind_is_one_line(tmp_path):
    path = tmp_path / "out.parquet"
    with path.open("wb") as file, make_writer(file, path, ["a"]) as write:
        write(pd.DataFrame({"a": [1]}))
        with pytest.raises(InputError, match="does not hold the same kind of values throughout"):
            write(pd.DataFrame({"a": ["x"]}))


@pytest.mark.parametrize("name", ["out.csv.gz", "out.parquet"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_writers_that_are_left_by_an_error_are_quiet(name, tmp_path):
    def fail():
        with (tmp_path / name).open("wb") as file, make_writer(file, Path(name), ["a"]) as write:
            write(pd.DataFrame({"a": [1]}))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    gc.collect()
