import gzip
import sys

import numpy as np
import pytest

from skecoc.tables import load_table

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FLOWERS = "length,colour,species\n5.1,blue,a\n4.9,red,b\n,red,b\n"


@pytest.fixture
def write(tmp_path):
    """Write a text or bytes into a file of the given name and return its path."""

    def write_file(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def write_as(suffix, tmp_path):
    """Write the flowers in one of the accepted formats."""
    path = tmp_path / f"flowers{suffix}"
    if suffix == ".parquet":
        frame = pd.DataFrame({"length": [5.1, 4.9, np.nan], "colour": ["blue", "red", "red"], "species": list("abb")})
        frame.to_parquet(path)
    elif suffix.lower() == ".csv.gz":
        path.write_bytes(gzip.compress(FLOWERS.encode()))
    else:
        path.write_text(FLOWERS.replace(",", "\t") if suffix == ".tsv" else FLOWERS)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".csv.gz", ".CSV.GZ", ".tsv", ".parquet"])
def test_every_format_gives_the_same_table(suffix, tmp_path):
    path = write_as(suffix, tmp_path)
    bunch = load_table(path, target="species")
    assert bunch.feature_names == ["length", "colour"]
    assert list(bunch.data.columns) == ["length", "colour"]
    assert bunch.data["length"].dtype == np.float64
    np.testing.assert_array_equal(bunch.data["length"], [5.1, 4.9, np.nan])
    assert bunch.data["colour"].tolist() == ["blue", "red", "red"]
    assert bunch.target.tolist() == ["a", "b", "b"]
    assert bunch.target.name == "species"
    assert bunch.target_names.tolist() == ["a", "b"]
    assert list(bunch.frame.columns) == ["length", "colour", "species"]
    assert bunch.filename == str(path)
    assert "3 rows, 2 features" in bunch.DESCR


def test_return_x_y_and_a_path_as_text(write):
    path = str(write(FLOWERS))
    bunch = load_table(path, target="species")
    X, y = load_table(path, target="species", return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)


def test_any_column_can_be_the_target(write):
    bunch = load_table(write(FLOWERS), target="colour")
    assert bunch.feature_names == ["length", "species"]
    assert bunch.target.tolist() == ["blue", "red", "red"]


def test_numeric_classes_stay_numbers(write):
    bunch = load_table(write("x,y\n1,10\n2,9\n3,10\n"), target="y")
    assert bunch.target_names.tolist() == [9, 10]


def test_byte_order_mark_and_blanks_after_commas_are_left_out(write):
    bunch = load_table(write("\ufeffspecies, length\na, 1\n b, 2\n"), target="species")
    assert bunch.target.tolist() == ["a", "b"]
    assert bunch.feature_names == ["length"]


def test_parquet_column_names_become_text(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({0: [1.0, 2.0], 1: ["a", "b"]}).to_parquet(path)
    assert load_table(path, target="1").feature_names == ["0"]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path='.*nothing\.csv': there is no such file"):
        load_table(tmp_path / "nothing.csv", target="y")


def test_folder(tmp_path):
    with pytest.raises(ValueError, match=r"path='.*' is a folder; expected a file"):
        load_table(tmp_path, target="y")


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.gz", "csv"])
def test_unsupported_suffix(write, name):
    with pytest.raises(ValueError, match=r"unknown suffix; expected one of \.csv, \.csv\.gz, \.tsv, \.parquet"):
        load_table(write(FLOWERS, name), target="species")


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_empty_file(write, name):
    with pytest.raises(ValueError, match=r"path='.*table\..*' is empty"):
        load_table(write("", name), target="y")


UNPARSABLE = {
    "ragged.csv": b"x,y\n1,a\n2,b,c\n",
    "wide_rows.csv": b"x,y\n1,2,a\n2,3,b\n",
    "wider_rows.csv": b"x,y\n1,1,2,a\n2,1,3,b\n",
    "blank_lines.csv": b"\n\n\n",
    "latin1.csv": b"x,y\n1,caf\xe9\n2,b\n",
    "open_quote.csv": b'x,y\n1,"a\n2,b\n',
    "not_gzip.csv.gz": b"x,y\n1,a\n2,b\n",
    "cut_off.csv.gz": gzip.compress(b"x,y\n1,a\n2,b\n")[:-12],
    "short_row.csv": b"x,y\n1,a\n2\n",
    "damaged.csv.gz": gzip.compress(FLOWERS.encode())[:12] + b"\xff" * 30,
    "text.parquet": FLOWERS.encode(),
    "cut_off.parquet": b"PAR1" + b"\x00" * 40 + b"PAR1",
}


@pytest.mark.parametrize("name", UNPARSABLE)
def test_unparsable_file(write, name):
    with pytest.raises(ValueError, match=rf"path='.*{name}' cannot be read as a table: \S"):
        load_table(write(UNPARSABLE[name], name), target="y")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wide_rows.csv", "line 2 has 3 cells, but its header has 2"),
        ("short_row.csv", "line 3 has 1 cell, but its header has 2"),
        ("latin1.csv", r"line 2 is not UTF-8 \(byte 0xe9\)"),
        ("open_quote.csv", r"line 2: unexpected end of data within quotes \(is a quote missing\?\)"),
    ],
)
def test_what_is_wrong_with_a_file_is_explained(write, name, reason):
    with pytest.raises(ValueError, match=f"{reason}$"):
        load_table(write(UNPARSABLE[name]), target="y")


def test_commas_at_the_end_of_rows_do_no_harm(write):
    bunch = load_table(write("x,y\n1,a,\n2,b,\n"), target="y")
    assert bunch.data["x"].tolist() == [1, 2]
    assert bunch.target.tolist() == ["a", "b"]


def test_repeated_column_in_text(write):
    with pytest.raises(ValueError, match=r"more than one column named 'x', 'z'$"):
        load_table(write("x,z,x,y,z\n1,2,3,a,4\n1,2,3,b,4\n"), target="y")


def test_repeated_column_in_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "table.parquet"
    pq.write_table(pa.table([[1, 2], [3, 4], ["a", "b"]], names=["x", "x", "y"]), path)
    with pytest.raises(ValueError, match=r"more than one column named 'x'|cannot be read as a table: .*x"):
        load_table(path, target="y")


def test_unnamed_column_as_a_saved_index_has(tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}).to_csv(path)
    with pytest.raises(ValueError, match=r"column 1 has no name; name it or remove it"):
        load_table(path, target="y")


def test_missing_target_lists_the_columns(write):
    with pytest.raises(
        ValueError,
        match=r"target='class' is not a column of '.*table\.csv'; its columns are 'length', 'colour', 'species'$",
    ):
        load_table(write(FLOWERS), target="class")


@pytest.mark.parametrize("target", ["Species", "SPECIES", "specie", "spceies"])
def test_misspelt_target_gets_a_suggestion(write, target):
    with pytest.raises(ValueError, match=rf"target='{target}' .* \(did you mean 'species'\?\)"):
        load_table(write(FLOWERS), target=target)


def test_many_columns_are_listed_in_part(write):
    header = ",".join(f"f{i}" for i in range(50))
    with pytest.raises(ValueError, match=r"'f18', 'f19' and 30 more$"):
        load_table(write(f"{header}\n{header}\n"), target="class")


@pytest.mark.parametrize(
    ("content", "where"), [("x,y\n1,a\n2,\n3,b\n4,\n", "2 of 4"), ("x,y\n1,a\n2,NA\n3,b\n", "1 of 3")]
)
def test_missing_classes(write, content, where):
    with pytest.raises(ValueError, match=rf"target='y' is missing in {where} rows of '.*table\.csv'"):
        load_table(write(content), target="y")


@pytest.mark.parametrize("label", ["'a'", "7"])
def test_target_with_one_class(write, label):
    rows = f"x,y\n1,{label}\n2,{label}\n".replace("'", "")
    with pytest.raises(ValueError, match=rf"target='y' has a single class, {label}, in .*; expected at least two"):
        load_table(write(rows), target="y")


def test_target_of_compound_values(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": [1, 2], "label": [[1], [2]]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"target='label' .* holds lists or other compound values"):
        load_table(path, target="label")


def test_no_feature_columns(write):
    with pytest.raises(ValueError, match=r"has no feature columns besides target='y'"):
        load_table(write("y\na\nb\n"), target="y")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_no_rows(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    frame = pd.DataFrame({"x": [], "y": []})
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"has a header but no rows"):
        load_table(path, target="y")


@pytest.mark.parametrize(
    ("suffix", "module", "message"),
    [(".csv", "pandas", "load_table needs pandas"), (".parquet", "pyarrow", "reading Parquet needs pyarrow")],
)
def test_absent_extra_is_named(tmp_path, monkeypatch, suffix, module, message):
    path = write_as(suffix, tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'{message}: pip install "scikit-ecoc\[table\]"'):
        load_table(path, target="species")
