import gzip
import io
import json
import sys
import zipfile

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from skecoc.support.errors import InputError
from skecoc.tables import load_table
from skecoc.tables.kinds import kinds_of
from skecoc.tables.readers import ReadingOptions, distinct_names
from skecoc.tables.reading import open_table, read_data_set

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


def write_frame(frame, path):
    """Write a table in the format of its suffix."""
    suffix = path.name.partition(".")[2].lower()
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix in ("feather", "arrow"):
        frame.to_feather(path)
    elif suffix == "xlsx":
        frame.to_excel(path, index=False)
    elif suffix.startswith(("json", "ndjson")):
        frame.to_json(path, orient="records", lines=not suffix.startswith("json."), date_format="iso")
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix.startswith("tsv") else ",")
    return path


def write_as(suffix, tmp_path):
    """Write the flowers in one of the accepted formats."""
    frame = pd.DataFrame({"length": [5.1, 4.9, np.nan], "colour": ["blue", "red", "red"], "species": list("abb")})
    return write_frame(frame, tmp_path / f"flowers{suffix}")


SUFFIXES = [
    ".csv",
    ".CSV",
    ".csv.gz",
    ".CSV.GZ",
    ".tsv",
    ".tsv.gz",
    ".txt",
    ".txt.gz",
    ".parquet",
    ".feather",
    ".arrow",
]
SUFFIXES += [".xlsx", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
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


@pytest.mark.parametrize("name", ["table.doc", "table", "table.gz", "csv", "table.parquet.gz"])
def test_unsupported_suffix(write, name):
    with pytest.raises(ValueError, match=r"unknown suffix; expected one of \.csv, \.tsv, .*\.xlsx, .*, \.csv\.gz"):
        load_table(write(FLOWERS, name), target="species")


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_empty_file(write, name):
    with pytest.raises(ValueError, match=r"path='.*table\..*' is empty"):
        load_table(write("", name), target="y")


def _zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("table.csv", FLOWERS)
    return buffer.getvalue()


ZIP = _zip()
UNPARSABLE = {
    "ragged.csv": b"x,y\n1,a\n2,b,c\n",
    "wide_rows.csv": b"x,y\n1,2,a\n2,3,b\n",
    "wider_rows.csv": b"x,y\n1,1,2,a\n2,1,3,b\n",
    "blank_lines.csv": b"\n\n\n",
    "bad_byte.csv": "x,y\n1,café\n".encode() + b"2,\xe9\n",
    "neither.csv": b"x,y\n1,\xe9\n2,\x81\n",
    "binary.csv": bytes(range(200)),
    "picture.csv": b"\x89PNG\r\n\x1a\n",
    "page.xlsx": b"<html><table></table></html>",
    "packed.csv": b"BZh91AY",
    "archive.xlsx": ZIP,
    "broken.xlsx": b"PK\x03\x04" + b"\x00" * 40,
    "old.xls": b"\xd0\xcf\x11\xe0" + b"\x00" * 40,
    "text.feather": FLOWERS.encode(),
    "cut_off.feather": b"ARROW1" + b"\x00" * 40,
    "text.json": FLOWERS.encode(),
    "array.json": b'[{"x": 1, "y": 2}, \n{"x" 3}]',
    "lines.jsonl": b'{"x": 1, "y": 2}\n{"x": 3, "y"}\n',
    "numbers.json": b"[1, 2]",
    "nothing.json": b"[]",
    "open_quote.csv": b'x,y\n1,"a\n2,b\n',
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
        ("bad_byte.csv", r"line 3 is not UTF-8 \(byte 0xe9\)"),
        ("neither.csv", r"neither UTF-8 nor Windows-1252 \(byte 0x81\); give its encoding"),
        ("binary.csv", r"it is no text \(byte 0x00\)"),
        ("picture.csv", "it is a picture"),
        ("page.xlsx", "it is a web page or XML; save its table as CSV or Excel"),
        ("packed.csv", "compressed by bzip2; unpack it, or compress it by gzip"),
        ("archive.xlsx", "it is an archive; unpack it"),
        ("text.parquet", "it is not a Parquet file, as its suffix says"),
        ("text.feather", "it is not a Feather file, as its suffix says"),
        ("text.json", "line 1 is no JSON: Expecting value"),
        ("array.json", "line 2 is no JSON: Expecting ':' delimiter"),
        ("lines.jsonl", "line 2 is no JSON: Expecting ':' delimiter"),
        ("numbers.json", r'expected objects such as \{"size": 1.5, "kind": "a"\}, one for each row'),
        ("nothing.json", "it holds no rows"),
        ("open_quote.csv", r"line 2: unexpected end of data within quotes \(is a quote missing\?\)"),
    ],
)
def test_what_is_wrong_with_a_file_is_explained(write, name, reason):
    with pytest.raises(ValueError, match=f"{reason}$"):
        load_table(write(UNPARSABLE[name], name), target="y")


def test_commas_at_the_end_of_rows_do_no_harm(write):
    bunch = load_table(write("x,y\n1,a,\n2,b,\n"), target="y")
    assert bunch.data["x"].tolist() == [1, 2]
    assert bunch.target.tolist() == ["a", "b"]


def test_repeated_columns_are_renamed(write):
    bunch = load_table(write("x,z,x,y,z,x.2,x\n1,2,3,a,4,5,6\n1,2,3,b,4,5,6\n"), target="y")
    assert bunch.feature_names == ["x", "z", "x.3", "z.2", "x.2", "x.4"]
    assert bunch.data.iloc[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert bunch.notes == ["3 columns are named 'x': now 'x', 'x.3', 'x.4'", "2 columns are named 'z': now 'z', 'z.2'"]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_repeated_columns_of_arrow_are_renamed(tmp_path, suffix):
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import feather

    path, table = tmp_path / f"table{suffix}", pa.table([[1, 2], [3, 4], ["a", "b"]], names=["x", "x", "y"])
    pq.write_table(table, path) if suffix == ".parquet" else feather.write_feather(table, path)
    bunch = load_table(path, target="y")
    assert bunch.data.to_dict("list") == {"x": [1, 2], "x.2": [3, 4]}
    assert bunch.notes == ["2 columns are named 'x': now 'x', 'x.2'"]
    with open_table(path) as reader:
        assert pd.concat(reader.chunks(1, ["y", "x.2"])).to_dict("list") == {"y": ["a", "b"], "x.2": [3, 4]}


def test_unnamed_column_as_a_saved_index_has(tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}).to_csv(path)
    bunch = load_table(path, target="y")
    assert bunch.data.to_dict("list") == {"column 1": [0, 1], "x": [1, 2]}
    assert bunch.notes == ["column 1 has no name: now 'column 1'"]


def test_names_that_are_made_up_are_new():
    names, notes = distinct_names(["", "column 1", " ", "a ", "a"])
    assert names == ["column 1.2", "column 1", "column 3", "a", "a.2"]
    assert notes[-1] == "columns 1, 3 have no name: now 'column 1.2', 'column 3'"


@given(st.lists(st.sampled_from(["", "a", "a.2", "column 1", "b"])))
def test_names_are_always_distinct_and_kept_where_they_can_be(given_names):
    names, _ = distinct_names(given_names)
    assert len(set(names)) == len(names) == len(given_names)
    for name in set(given_names) - {""}:
        assert names[given_names.index(name)] == name


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
    ("content", "where"), [("x,y\n1,a\n2,\n3,b\n4,?\n", "2 of 4"), ("x,y\n1,a\n2,NA\n3,b\n", "1 of 3")]
)
def test_rows_without_a_class_are_left_out(write, content, where):
    bunch = load_table(write(content), target="y")
    assert bunch.notes == [f"left out: {where} rows, which have no class in column 'y'"]
    assert bunch.target.tolist() == ["a", "b"]
    assert bunch.data["x"].tolist() == [1, 3]
    assert bunch.data.index.tolist() == bunch.frame.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,\n2,NA\n", r"target='y' is missing in all 2 rows of '.*table\.csv'"),
        ("x,y\n1,a\n2,NA\n", r"has a single class, 'a', in .* besides 1 of 2 rows, which have no class"),
    ],
)
def test_too_few_classes_are_left(write, content, message):
    with pytest.raises(ValueError, match=message):
        load_table(write(content), target="y")


def test_classes_that_look_alike_are_pointed_out(write):
    content = "x,y\n1,setosa\n2,SETOSA\n3,setosa \n4,iris virginica\n5,Iris  virginica\n6,other\n"
    assert load_table(write(content), target="y").notes == [
        "classes that differ by case or spaces only: 'SETOSA', 'setosa', 'setosa '",
        "classes that differ by case or spaces only: 'Iris  virginica', 'iris virginica'",
    ]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_an_order_of_the_classes_is_kept(tmp_path, suffix):
    grades = pd.Categorical(["good", None, "bad", "fair"], ["bad", "fair", "good", "best"], ordered=True)
    path = tmp_path / f"table{suffix}"
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": grades})
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    bunch = load_table(path, target="y")
    assert bunch.target.cat.ordered
    assert bunch.target.cat.categories.tolist() == bunch.target_names.tolist() == ["bad", "fair", "good"]
    data_set = read_data_set(path, "y")
    assert data_set.order == ("bad", "fair", "good")
    assert data_set.y.tolist() == ["good", "bad", "fair"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".json", ".feather"])
def test_whole_classes_stay_whole_beside_gaps(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    write_frame(pd.DataFrame({"x": [1.5, 2.5, 3.5], "y": pd.array([1, None, 2], dtype="Int64")}), path)
    labels = load_table(path, target="y").target
    assert labels.tolist() == [1, 2]
    assert labels.dtype == np.int64


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
    [
        (".csv", "pandas", "load_table needs pandas"),
        (".parquet", "pyarrow", "reading Parquet needs pyarrow"),
        (".xlsx", "python_calamine", "reading Excel needs python_calamine"),
    ],
)
def test_absent_extra_is_named(tmp_path, monkeypatch, suffix, module, message):
    path = write_as(suffix, tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'{message}: pip install "scikit-ecoc\[table\]"'):
        load_table(path, target="species")


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_a_file_is_read_under_its_own_name(tmp_path, write):
    path = tmp_path / ("iris.csv" if write == "to_csv" else "iris.parquet")
    getattr(pd.DataFrame({"a": [1.5, 2.5], "label": ["x", "y"]}), write)(path, index=False)
    own = read_data_set(path, "label")
    assert own.name == path.name
    assert own.X.columns.tolist() == ["a"]
    assert own.y.tolist() == ["x", "y"]
    assert own.y.dtype.kind == "U"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), ["2024-01-01", "2024-01-02"]),
        (pd.to_timedelta(["1D", "2D"]), ["1 days 00:00:00", "2 days 00:00:00"]),
        ([b"x", b"\xff"], ["b'x'", "b'\\xff'"]),
        ([True, False], [True, False]),
    ],
)
def test_labels_that_no_model_could_hold_become_text(tmp_path, labels, expected):
    pd.DataFrame({"a": [1.5, 2.5], "label": labels}).to_parquet(tmp_path / "own.parquet")
    y = read_data_set(tmp_path / "own.parquet", "label").y
    assert y.tolist() == expected
    assert y.dtype.kind in "bU"


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        (None, "label", "data='.*own.csv': there is no such file"),
        ("", "label", "data='.*own.csv' is empty"),
        ("a,label\n", "label", "has a header but no rows"),
        ("a,label\n1,x\n2,y\n", "lable", "target='lable' is not a column"),
        ("a,label\n1,x\n2,x\n", "label", "target='label' has a single class"),
        ("a,label\n1,x\n2,\n", "label", "target='label' has a single class"),
        ("a,label\n1,x\n2,y,z,w\n", "label", "data='.*own.csv' cannot be read as a table"),
        ("a,label\n1,x\n2,y\n", None, "target: expected the name of the column"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, content, target, message):
    path = tmp_path / "own.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_data_set(path, target)


def test_missing_optional_dependency_is_an_input_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="load_table needs pandas"):
        read_data_set(tmp_path / "own.csv", "label")


WILD = pd.DataFrame(
    {
        "count": [1, 2, 3, 4],
        "gaps": [1.0, np.nan, 3.0, 4.0],
        "length": [5.1, 4.9, -0.25, 1e-7],
        "colour": ["blue", "NA", None, "?"],
        "flag": [True, False, True, False],
        "some": pd.array([True, None, False, True], dtype="boolean"),
        "price": ["$1,234.50", "$2", "($3)", "€ 4"],
        "share": ["45%", "5 %", "N/A", "100%"],
        "people": ["12,345", "1,234,567", "5", "0"],
        "code": ["a1", "7", "8", "9"],
        "digits": ["1", "2", "3", "5"],
        "kind": ["x", "y", "x", "y"],
    }
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet", ".feather", ".jsonl", ".json.gz"])
def test_a_table_is_the_same_in_every_format(tmp_path, suffix):
    """As far as models can see: the kinds of columns, the values and the gaps."""
    bunch = load_table(write_frame(WILD, tmp_path / f"wild{suffix}"), target="kind")
    frame = bunch.data
    kinds = kinds_of(frame)
    assert [kinds[name] for name in ("count", "gaps", "length", "price", "share", "people", "digits")] == ["number"] * 7
    assert [kinds[name] for name in ("flag", "some", "colour", "code")] == ["boolean", "boolean", "text", "text"]
    assert frame["count"].dtype.kind == frame["people"].dtype.kind == frame["digits"].dtype.kind == "i"
    assert frame["people"].tolist() == [12345, 1234567, 5, 0]
    assert frame["price"].tolist() == [1234.5, 2, -3, 4]
    np.testing.assert_array_equal(frame["share"], [0.45, 0.05, np.nan, 1])
    np.testing.assert_array_equal(frame["gaps"].to_numpy(float), WILD["gaps"])
    np.testing.assert_allclose(frame["length"].to_numpy(float), WILD["length"], rtol=1e-12)
    assert frame["colour"].isna().tolist() == [False, True, True, True]
    assert frame["some"].isna().tolist() == [False, True, False, False]
    assert frame["code"].tolist() == ["a1", "7", "8", "9"]
    assert bunch.target.tolist() == ["x", "y", "x", "y"]
    examples = (
        "'$1,234.50' as 1234.5 (column 'price'), '45%' as 0.45 (column 'share'), '12,345' as 12345 (column 'people')"
    )
    assert bunch.notes == [f"read as numbers: {examples}"]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet", ".feather", ".jsonl"])
def test_chunks_are_the_same_in_every_format(tmp_path, suffix):
    path = write_frame(WILD, tmp_path / f"wild{suffix}")
    numbers = ["gaps", "price", "share", "people", "code"]
    with open_table(path) as table:
        chunks = list(table.chunks(2, ["colour", *numbers], numbers))
    assert [len(chunk) for chunk in chunks] == [2, 2]
    frame = pd.concat(chunks)
    assert frame.index.tolist() == [0, 1, 2, 3]
    assert frame["price"].tolist() == [1234.5, 2, -3, 4]
    assert frame["people"].tolist() == [12345, 1234567, 5, 0]
    assert frame["code"].tolist() == ["a1", 7, 8, 9]
    assert frame["colour"].isna().tolist() == [False, True, True, True]
    np.testing.assert_array_equal(frame["share"].astype(float), [0.45, 0.05, np.nan, 1])
    np.testing.assert_array_equal(frame["gaps"].astype(float), WILD["gaps"])


NAMES = "größe,prix €,kind\n5.1,naïve,a\n4.9,œuf,b\n"


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_are_guessed(write, encoding, name, packed):
    content = NAMES.encode(encoding)
    path = write(gzip.compress(content), "table.csv.gz") if packed else write(content)
    bunch = load_table(path, target="kind")
    assert bunch.feature_names == ["größe", "prix €"]
    assert bunch.data["prix €"].tolist() == ["naïve", "œuf"]
    assert bunch.notes == ([f"the text is taken for {name}, as it is not UTF-8"] if name else [])


def test_a_given_encoding_is_taken(write):
    path = write("größe,kind\n5,ä\n4,ß\n".encode("cp437"))
    assert load_table(path, target="kind").target.tolist() != ["ä", "ß"]
    bunch = load_table(path, target="kind", encoding="CP437")
    assert bunch.target.tolist() == ["ä", "ß"]
    assert bunch.notes == []
    with pytest.raises(ValueError, match=r"its text is not cp1253 \(byte 0xd2\)"):
        load_table(write(b"x,y\n1,\xd2\n"), target="y", encoding="cp1253")


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", None)])
@pytest.mark.parametrize("name", ["table.csv", "table.txt"])
def test_separators_are_guessed(write, mark, word, name):
    rows = [["a, b", "note; more", "kind"], ["1", "x; y, z|\t", "p"], ["2", "'", "q"], ["3", "two\nlines", "p"]]
    text = "\n".join(mark.join(f'"{cell}"' for cell in row) for row in rows)
    bunch = load_table(write(text, name), target="kind")
    assert bunch.feature_names == ["a, b", "note; more"]
    assert bunch.data["note; more"].tolist() == ["x; y, z|\t", "'", "two\nlines"]
    assert bunch.notes == ([f"cells are separated by {word}"] if word else [])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b\n1,5;2\n1,6;3\n", ["a", "b"]),
        ("a|b,c;d\n1|2,3;4\n1|2,3;4\n", ["a|b", "c;d"]),
        ("a,b\tc\n1,2\t3\n4,5,6\t7\n", ["a,b", "c"]),
        ("only\nx,y\n", ["only"]),
        ("a,b\n1,2\n3,4,5\n", ["a", "b"]),
        ("a;b\n", ["a", "b"]),
        ("a\tb;c\n1,5\t2\n", ["a", "b;c"]),
    ],
)
def test_rows_of_equal_length_tell_what_separates_cells(text, columns):
    with open_table(io.BytesIO(text.encode())) as table:
        assert table.columns == columns


def test_a_tsv_file_with_commas_gets_a_note(write):
    assert load_table(write(FLOWERS, "table.tsv"), target="species").notes == ["cells are separated by commas"]


@pytest.mark.parametrize("sep", ["^", "tab", "\\t", "\t", "semicolon", ";", "pipe", "Commas"])
def test_separators_can_be_given(write, sep):
    mark = {"tab": "\t", "\\t": "\t", "semicolon": ";", "pipe": "|", "Commas": ","}.get(sep, sep)
    bunch = load_table(write(f"a{mark}b\n1{mark}x\n2{mark}y\n"), target="b", sep=sep)
    assert bunch.data["a"].tolist() == [1, 2]
    assert bunch.notes == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": "ab"}, "sep='ab' cannot separate cells; expected comma, semicolon, tab, bar, pipe or another single"),
        ({"sep": ""}, "sep='' cannot separate cells"),
        ({"sep": "a"}, "sep='a' cannot separate cells"),
        ({"sep": '"'}, "sep='\"' cannot separate cells"),
        ({"decimal": ";"}, "decimal=';' cannot be a mark within numbers; expected comma or point"),
        ({"decimal": ""}, "decimal='' cannot be a mark"),
        (
            {"thousands": "x"},
            "thousands='x' cannot be a mark within numbers; expected comma, point, space or apostrophe",
        ),
        ({"decimal": ",", "thousands": "comma"}, "decimal=',' and thousands='comma' are the same mark"),
        ({"encoding": "klingon"}, "encoding='klingon' is not known; expected one such as utf-8, utf-16 or latin-1"),
        ({"encoding": "base64"}, "encoding='base64' is not known"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        ReadingOptions(**options)


def test_quoted_decimal_commas(write):
    bunch = load_table(write('a,b,c,y\n"5,1","1.234,5",7,p\n"4,9","2",8,q\n'), target="y")
    assert bunch.data.to_dict("list") == {"a": [5.1, 4.9], "b": [1234.5, 2.0], "c": [7, 8]}
    assert bunch.decimal == ","
    assert bunch.notes == [
        "numbers have decimal commas, such as '5,1' in column 'a'",
        "read as numbers: '1.234,5' as 1234.5 (column 'b')",
    ]


@pytest.mark.parametrize(
    ("other", "expected"), [("7", [12345, 6]), ('"0,5"', [12.345, 6]), ("0.5", [12345, 6]), ('"a,b"', [12345, 6])]
)
def test_a_single_group_of_digits_is_thousands_unless_the_file_shows_decimal_commas(write, other, expected):
    bunch = load_table(write(f'a,b,y\n"12,345",{other},p\n6,{other},q\n'), target="y")
    assert bunch.data["a"].tolist() == expected


def test_marks_can_be_given(write):
    path = write('a,b,y\n"12,345","1 234.5",p\n6,7,q\n')
    assert load_table(path, target="y", decimal="comma").data["a"].tolist() == [12.345, 6]
    assert load_table(path, target="y", thousands=",").data["a"].tolist() == [12345, 6]
    assert load_table(path, target="y", thousands="space").data["b"].tolist() == [1234.5, 7]
    assert load_table(path, target="y", thousands="space").data["a"].tolist() == ["12,345", "6"]
    assert load_table(path, target="y", thousands=".").data["a"].tolist() == [12.345, 6]


def test_words_for_nothing_can_be_added(write, tmp_path):
    text = "a,b,y\n1,-,p\n-999,x,q\n3,?,p\n4,x,none\n"
    bunch = load_table(write(text), target="y", na=["-", "-999", "none"])
    np.testing.assert_array_equal(bunch.data["a"], [1, np.nan, 3])
    assert bunch.data["b"].isna().tolist() == [True, False, True]
    assert bunch.target.tolist() == ["p", "q", "p"]
    frame = pd.DataFrame({"b": ["-", "x", "x"], "y": ["p", "q", "p"]})
    for suffix in (".parquet", ".xlsx", ".json"):
        bunch = load_table(write_frame(frame, tmp_path / f"own{suffix}"), target="y", na="-")
        assert bunch.data["b"].isna().tolist() == [True, False, False]
    frame["b"] = pd.Categorical(frame["b"])
    bunch = load_table(write_frame(frame, tmp_path / "category.parquet"), target="y", na="-")
    assert bunch.data["b"].isna().tolist() == [True, False, False]
    assert bunch.data["b"].cat.categories.tolist() == ["x"]


@pytest.mark.parametrize(
    ("made", "named", "what"),
    [
        (".csv.gz", ".csv", "compressed"),
        (".csv", ".csv.gz", "not compressed"),
        (".xlsx", ".csv", "an Excel workbook"),
        (".parquet", ".xlsx", "a Parquet file"),
        (".feather", ".parquet", "a Feather file"),
        (".xlsx", ".json.gz", "an Excel workbook"),
    ],
)
def test_a_wrong_suffix_does_no_harm(tmp_path, made, named, what):
    path = tmp_path / f"other{named}"
    path.write_bytes(write_as(made, tmp_path).read_bytes())
    bunch = load_table(path, target="species")
    assert bunch.data["colour"].tolist() == ["blue", "red", "red"]
    assert bunch.notes == [f"the file is {what}, though its suffix is {named}"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_stream_of_any_format(tmp_path, suffix):
    content = write_as(suffix, tmp_path).read_bytes()
    for stream in (io.BytesIO(content), io.BufferedReader(io.BytesIO(content))):
        bunch = load_table(stream, target="species")
        assert bunch.data["colour"].tolist() == ["blue", "red", "red"]
        assert bunch.notes == (["cells are separated by tabs"] if "tsv" in suffix else [])


def test_a_stream_of_arrow_batches():
    import pyarrow as pa

    buffer, table = io.BytesIO(), pa.table({"x": [1, 2], "y": ["a", "b"]})
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    assert load_table(io.BytesIO(buffer.getvalue()), target="y").data["x"].tolist() == [1, 2]


@pytest.fixture
def workbook(tmp_path):
    """A workbook as people have it: a title, a gap, sheets, dates, and numbers that are text."""
    path = tmp_path / "book.xlsx"
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-01", None, "2024-03-01"]),
            "size": ["5,1", 4.9, 3],
            "mixed": [1, "x", 2.5],
            "kind": ["a", "b", "a"],
        }
    )
    with pd.ExcelWriter(path) as writer:
        frame.to_excel(writer, sheet_name="First", index=False, startrow=3, startcol=1)
        writer.book["First"]["A1"] = "Things of 2024"
        frame.head(2).to_excel(writer, sheet_name="Other", index=False)
    return path


def test_a_sheet_with_a_title(workbook):
    bunch = load_table(workbook, target="kind")
    assert bunch.feature_names == ["when", "size", "mixed"]
    assert bunch.data["when"].dtype.kind == "M"
    assert bunch.data["size"].tolist() == [5.1, 4.9, 3]
    assert bunch.data["mixed"].tolist() == ["1", "x", "2.5"]
    assert bunch.notes == [
        "of 2 sheets, the first one is read, 'First'",
        "the columns are named by row 4 of the sheet",
        "numbers have decimal commas, such as '5,1' in column 'size'",
    ]


@pytest.mark.parametrize("sheet", ["Other", "2"])
def test_a_sheet_by_name_or_number(workbook, sheet):
    bunch = load_table(workbook, target="kind", sheet=sheet)
    assert len(bunch.data) == 2
    assert "sheet" not in " ".join(bunch.notes)


def test_a_sheet_that_is_not_there(workbook, write):
    with pytest.raises(
        ValueError, match=r"it has no sheet='other' \(did you mean 'Other'\?\); its sheets are 'First', 'Oth"
    ):
        load_table(workbook, target="kind", sheet="other")
    with pytest.raises(ValueError, match="it has no sheet='3'"):
        load_table(workbook, target="kind", sheet="3")
    assert load_table(write(FLOWERS), target="species", sheet="3").notes == [
        "sheet does not apply to a file of this kind"
    ]


def test_json_as_pandas_writes_it_and_as_people_do(write):
    frame = pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})
    texts = [frame.to_json(), frame.to_json(orient="records", indent=2), frame.to_json(orient="records", lines=True)]
    texts.append(json.dumps(frame.to_dict("list")))
    texts.append('\ufeff\n{"x": 1.5, "y": "a"}\r\n\r\n{"y": "b", "x": 2.5}')
    for text in texts:
        bunch = load_table(write(text, "table.json"), target="y")
        assert bunch.data.to_dict("list") == {"x": [1.5, 2.5]}
        assert bunch.target.tolist() == ["a", "b"]


def test_json_records_may_lack_keys(write):
    text = '{"y": "a", "n": 1}\n{"y": "b", "flag": true}\n{"y": "a", "n": "2,5", "flag": null}\n'
    frame = load_table(write(text, "table.jsonl"), target="y").data
    assert list(frame.columns) == ["n", "flag"]
    np.testing.assert_array_equal(frame["n"], [1, np.nan, 2.5])
    assert frame["flag"].tolist() == [pd.NA, True, pd.NA]


@pytest.mark.parametrize("write_frame", ["write_parquet", "write_ipc"])
def test_text_of_polars(tmp_path, write_frame):
    polars = pytest.importorskip("polars")
    path = tmp_path / ("table.parquet" if write_frame == "write_parquet" else "table.arrow")
    getattr(polars.DataFrame({"a": ["5,1", None], "b": ["?", "x"], "y": ["p", "q"]}), write_frame)(path)
    bunch = load_table(path, target="y")
    np.testing.assert_array_equal(bunch.data["a"], [5.1, np.nan])
    assert bunch.data["b"].isna().tolist() == [True, False]
    with open_table(path) as table:
        (chunk,) = table.chunks(5, ["a"], ["a"])
    assert chunk["a"].tolist()[0] == 5.1
