"""Tables read piece by piece: the same rows whatever the pieces, and every defect named."""

import csv
import gc
import gzip
import io

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from skecoc.tables import text
from skecoc.tables.readers import MISSING_WORDS, ReadingOptions
from skecoc.tables.reading import open_table, separator_hint

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

# What a cell may hold: separators, quotes, line breaks and letters of any script, but no lone surrogate.
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


def as_csv(rows):
    """Write rows as the standard library does."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


@settings(max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=8), st.integers(1, 9))
def test_chunks_of_any_size_hold_all_cells(rows, n_rows):
    with open_table(io.BytesIO(as_csv([("a", "b"), *rows]))) as table:
        chunks = list(table.chunks(n_rows))
    assert all(len(chunk) == n_rows for chunk in chunks[:-1])
    found = [cells for chunk in chunks for cells in chunk.to_numpy().tolist()]
    # Blanks at the beginning of a cell count only within quotes, which the writer does not set for them alone.
    expected = [[None if _bare(cell) in MISSING_WORDS else _bare(cell) for cell in row] for row in rows]
    assert [[None if pd.isna(cell) else cell for cell in row] for row in found] == expected
    assert [index for chunk in chunks for index in chunk.index] == list(range(len(rows)))


def _bare(cell):
    """Return a cell as it is read: without blanks at its beginning, unless quotes keep them."""
    return cell if any(mark in cell for mark in ',"\r\n') else cell.lstrip(" ")


def test_columns_are_chosen_and_ordered():
    with open_table(io.BytesIO(b"a,b,c\n1,2,3\n")) as table:
        (chunk,) = table.chunks(10, ["c", "a"])
    assert chunk.to_dict("list") == {"c": ["3"], "a": ["1"]}


def test_parquet_chunks_and_indexes(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"])}, index=pd.Index([7, 8, 9], name="key"))
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    with open_table(path) as table:
        assert table.columns == ["a", "b"]
        chunks = list(table.chunks(2, ["b", "a"]))
    assert [chunk.to_numpy().tolist() for chunk in chunks] == [[["x", 1], ["y", 2]], [["x", 3]]]
    assert [list(chunk.index) for chunk in chunks] == [[0, 1], [2]]


def test_whole_numbers_of_parquet_stay_whole_beside_gaps(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": pd.array([1, 2**60 + 1, None, 3], dtype="Int64")}).to_parquet(path)
    for n_rows in (2, 4):
        with open_table(path) as table:
            cells = [cell for chunk in table.chunks(n_rows) for cell in chunk["a"]]
        assert [str(cell) for cell in cells if not pd.isna(cell)] == ["1", "1152921504606846977", "3"]


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_separators_are_named(mark, word):
    assert separator_hint([f"a{mark}b"]).startswith(f"; its header has {word} between names")
    assert separator_hint(["a", f"b{mark}c"]) == separator_hint(["a"]) == ""


def test_a_stream_may_be_text_packed_text_or_parquet():
    buffer = io.BytesIO()
    pd.DataFrame({"a": ["1"]}).to_parquet(buffer)
    for content in (b"a\n1\n", gzip.compress(b"a\n1\n"), buffer.getvalue()):
        for stream in (io.BytesIO(content), io.BufferedReader(io.BytesIO(content))):
            with open_table(stream) as table:
                assert pd.concat(table.chunks(5)).to_dict("list") == {"a": ["1"]}


def test_an_empty_stream_is_refused():
    with pytest.raises(ValueError, match="path=<stream> is empty"):
        open_table(io.BytesIO(b""))


def test_blank_lines_and_cells_at_the_end_do_no_harm():
    with open_table(io.BytesIO(b"\n\na,b\n\n1,2,,\n   \n3,4\n\n")) as table:
        assert pd.concat(table.chunks(5)).to_numpy().tolist() == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'a,b\n1,"2\n3"\n4\n', "line 4 has 1 cell, but its header has 2"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, but its header has 2"),
        ("a,b\nä,ü\n".encode() + b"3,\xff\n", r"line 3 is not UTF-8 \(byte 0xff\)"),
        ("a,b\nä,ü\n".encode() + b"1,2\n" * 70_000 + b"3,\xe9\n", r"line 70003 is not UTF-8 \(byte 0xe9\)"),
        (b'a,b\n1,"2\n', "line 2: unexpected end of data"),
        (b'a,b\n1,"2"3\n', "line 2: text follows a closing quote"),
        (b'a,b\n1,"' + b"x" * 200_000, "line 2: unexpected end of data"),
    ],
)
def test_defects_are_named(content, message):
    with pytest.raises(ValueError, match=message), open_table(io.BytesIO(content)) as table:
        list(table.chunks(1000))


def test_rows_may_be_long_up_to_a_bound(monkeypatch):
    content = b'a,b\n1,2\n1,"' + b"x" * 3_000_000 + b'"\n'
    with open_table(io.BytesIO(content)) as table:
        assert pd.concat(table.chunks(10))["b"].str.len().tolist() == [1, 3_000_000]
    monkeypatch.setattr(text, "_LONGEST_ROW", 2_000_000)
    with (
        pytest.raises(ValueError, match=r"line 3: a row of more than 2,000,000 bytes \(is a quote missing\?\)"),
        open_table(io.BytesIO(content)) as table,
    ):
        list(table.chunks(10))


def read_by_the_standard_library(content, width):
    """Return the rows that the standard library finds, down to the first that is not right; None stands for that."""
    found = []
    reader = csv.reader(io.StringIO(content, newline=""), strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if not any(row) and len(row) <= 1:
                continue
            if len(row) < width or any(row[width:]):
                return [*found, None]
            found.append(row[:width])
    except csv.Error:
        found.append(None)
    return found


@settings(max_examples=300)
@given(st.text('ab,,,"""\r\n\n ', max_size=60), st.integers(1, 20))
def test_rows_are_those_of_the_standard_library(content, block):
    """Any text, well-formed or not, in blocks of any size: the same rows, and the same one is the first bad one."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK", block)
        with open_table(io.BytesIO(b"x,y\n" + content.encode())) as table:
            try:
                for chunk in table.chunks(3):
                    found += chunk.to_numpy().tolist()
            except ValueError:
                found.append(None)
    expected = read_by_the_standard_library(content, 2)
    assert [row and [None if pd.isna(cell) else cell for cell in row] for row in found] == [
        row and [cell or None for cell in row] for row in expected
    ]


def test_numbers_are_read_as_such_where_a_chunk_has_no_other_cells():
    content = b"a,b\n1,2\n3.5,\nx,true\n4,true\n"
    with open_table(io.BytesIO(content)) as table:
        first, second = table.chunks(2, numbers=["a", "b"])
    assert first.to_numpy().tolist()[0] == [1.0, 2.0]
    assert second["a"].tolist() == ["x", 4.0]
    assert [str(cell).lower() for cell in second["b"]] == ["true", "true"]
    assert not pd.api.types.is_bool_dtype(second["b"].dtype)


def test_a_file_is_closed_even_if_its_header_is_refused(tmp_path, recwarn):
    path = tmp_path / "bad.csv"
    path.write_text('"a,b')
    with pytest.raises(ValueError, match="unexpected end of data"):
        open_table(path)
    gc.collect()
    assert [warning for warning in recwarn if warning.category is ResourceWarning] == []


def test_a_given_encoding_is_checked_line_by_line():
    with (
        pytest.raises(ValueError, match=r"line 3 is not UTF-8 \(byte 0xe9\)"),
        open_table(io.BytesIO(b"a,b\n1,2\n3,\xe9\n"), ReadingOptions(encoding="utf-8")) as table,
    ):
        list(table.chunks(10))


def test_the_first_letter_that_is_not_ascii_tells_the_encoding_wherever_it_is():
    content = b"a,b\n" + b"1,2\n" * 100_000 + b"3,gr\xfcn\n"
    with open_table(io.BytesIO(content)) as table:
        assert table.notes == []
        assert pd.concat(table.chunks(50_000))["b"].iloc[-1] == "grün"
        assert table.notes == ["the text is taken for Windows-1252, as it is not UTF-8"]


@given(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]), st.integers(1, 9))
def test_rows_are_the_same_in_every_encoding(encoding, block):
    content = 'size,kind\n1,"grün, €"\n2,naïve\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK", block)
        patch.setattr(text, "_HEAD", 40)
        with open_table(io.BytesIO(content.encode(encoding))) as table:
            assert table.columns == ["size", "kind"]
            assert pd.concat(table.chunks(5))["kind"].tolist() == ["grün, €", "naïve"]
            assert table.notes == [] or "utf-16" in encoding or "utf-32" in encoding


def test_a_line_by_which_excel_names_the_separator_is_no_header():
    with open_table(io.BytesIO(b"sep=;\na;b,c\n1;2\n3\n")) as table:
        assert table.columns == ["a", "b,c"]
        with pytest.raises(ValueError, match="line 4 has 1 cell"):
            list(table.chunks(5))


def test_chunks_have_decimal_commas_and_strays_among_them():
    content = "id;size;price;share;note\n" + "1;5,1;1.234,50 €;45%;a,b\n2;4;7;5%;c\n3;x;(2);1%;d\n"
    with open_table(io.BytesIO(content.encode())) as table:
        assert table.decimal == ","
        first, second = table.chunks(2, ["size", "price", "share", "note"], ["size", "price", "share"])
        notes = table.notes
    assert first.to_dict("list") == {
        "size": [5.1, 4],
        "price": [1234.5, 7],
        "share": [0.45, 0.05],
        "note": ["a,b", "c"],
    }
    assert second.to_dict("list") == {"size": ["x"], "price": [-2], "share": [0.01], "note": ["d"]}
    assert notes == [
        "cells are separated by semicolons",
        "numbers have decimal commas, such as '5,1' in column 'size'",
        "read as numbers: '1.234,50 €' as 1234.5 (column 'price'), '45%' as 0.45 (column 'share')",
    ]


@pytest.mark.parametrize(("usual", "expected"), [(None, 1234), (".", 1234), (",", 1.234)])
def test_the_usual_mark_settles_what_a_file_leaves_open(usual, expected):
    with open_table(io.BytesIO(b'a,b\n"1,234",x\n'), ReadingOptions(usual_decimal=usual)) as table:
        assert pd.concat(table.chunks(5, numbers=["a"]))["a"].tolist() == [expected]
        assert table.decimal == (usual or ".")
        assert len(table.notes) == 1
    with open_table(io.BytesIO(b'a,b\n"1,234",0.5\n'), ReadingOptions(usual_decimal=usual)) as table:
        assert pd.concat(table.chunks(5, numbers=["a"]))["a"].tolist() == [1234]


def test_a_column_with_marks_of_its_own_has_them_in_every_chunk():
    content = b"a;b;c\n5,1;0,2;1,234.5\n5,1;0,2;1,234\n"
    with open_table(io.BytesIO(content)) as table:
        chunks = list(table.chunks(1, numbers=["a", "b", "c"]))
    assert [chunk["c"].tolist() for chunk in chunks] == [[1234.5], [1234.0]]


def test_text_and_a_kept_column_can_be_read_as_numbers_later():
    with open_table(io.BytesIO(b"a;b\n5,1;x\n")) as table:
        (chunk,) = table.chunks(5)
        assert chunk["a"].tolist() == ["5,1"]
        assert table.as_numbers(chunk["a"]).tolist() == [5.1]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 100])
def test_lines_are_counted_across_blank_ones_and_breaks_in_cells(n_rows):
    content = b'a,b\n\n1,"2\r\n3\n\r4"\n\n5,6,,\n"7\r",8\n9\n'
    with open_table(io.BytesIO(content)) as table, pytest.raises(ValueError, match="line 11 has 1 cell"):
        list(table.chunks(n_rows))
