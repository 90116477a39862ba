"""Tables as people have them, given to the commands: each gives the model and the predictions of the plain file."""

import contextlib
import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from skecoc.cli import main
from skecoc.datasets import load_uci

pd = pytest.importorskip("pandas")
FAST = ["--method", "one-vs-one/loss-weighted", "--folds", "2", "--jobs", "1"]
SEMICOLONS = "cells are separated by semicolons"
COMMAS = "numbers have decimal commas, such as '5,1' in column 'sepal länge'"


def make_flowers():
    """Iris with what makes tables hard to read: letters beyond ASCII, gaps, large numbers, money and shares."""
    iris = load_uci("iris")
    frame = pd.DataFrame(iris.data, columns=["sepal länge", "sepal width", "petal length", "petal width"])
    # Three decimals: an ambiguous group of digits.
    frame["area"] = (1 + frame["petal length"] * frame["petal width"] / 10).round(3)
    frame["seeds"] = (frame["petal width"] * 10_000 + 1_000).round().astype(int)
    frame["price"] = (frame["petal length"] * 1_000).round(2)
    frame["share"] = (frame["sepal width"] / 100).round(4)
    frame.loc[::9, "sepal width"] = np.nan
    frame["kind"] = np.array(["rot", "grün", "blau"])[np.unique(iris.target, return_inverse=True)[1]]
    return frame.iloc[::2].reset_index(drop=True)


FLOWERS = make_flowers()


def swap(text):
    """Turn points into commas and commas into points."""
    return text.translate(str.maketrans(",.", ".,"))


def people_write(frame):
    """Write numbers as people do."""
    frame = frame.copy()
    frame["seeds"] = frame["seeds"].map("{:,}".format)
    frame["price"] = frame["price"].map("${:,.2f}".format)
    frame["share"] = (frame["share"] * 100).map("{:.2f}%".format)
    return frame


def germans_write(frame):
    """Write numbers as people do who have decimal commas."""
    people = people_write(frame).assign(price=frame["price"].map("{:,.2f} €".format))
    numbers = people.drop(columns="kind").map(lambda cell: swap(str(cell)), na_action="ignore")
    return numbers.assign(kind=people["kind"])


def as_text(frame, encoding="utf-8", **options):
    return frame.to_csv(index=False, **options).encode(encoding)


def packed(frame, writer, **options):
    buffer = io.BytesIO()
    getattr(frame, writer)(buffer, **options)
    return buffer.getvalue()


# Files, and how the notes on each begin.
WILD = {
    "windows.csv": (as_text(FLOWERS, "cp1252"), ["the text is taken for Windows-1252, as it is not UTF-8"]),
    "utf16.csv": (as_text(FLOWERS, "utf-16"), ["the text is taken for UTF-16, as it is not UTF-8"]),
    "bom.csv": (as_text(FLOWERS, "utf-8-sig"), []),
    "tabs.txt": (as_text(FLOWERS, sep="\t"), ["cells are separated by tabs"]),
    "bars.csv": (as_text(FLOWERS, sep="|"), ["cells are separated by bars"]),
    "excel.csv": (
        as_text(FLOWERS, "cp1252", sep=";", decimal=","),
        ["the text is taken for Windows-1252, as it is not UTF-8", SEMICOLONS, COMMAS],
    ),
    "quoted.csv": (as_text(FLOWERS, decimal=","), [COMMAS]),
    "people.csv": (
        as_text(people_write(FLOWERS)),
        ["read as numbers: '3,000' as 3000 (column 'seeds'), '$1,400.00' as"],
    ),
    "germans.csv": (
        as_text(germans_write(FLOWERS), sep=";"),
        [
            SEMICOLONS,
            COMMAS,
            "read as numbers: '3.000' as 3000 (column 'seeds'), '1.400,00 €' as 1400 (column 'price')",
        ],
    ),
    "packed.csv.gz": (gzip.compress(as_text(FLOWERS)), []),
    "packed.csv": (gzip.compress(as_text(FLOWERS)), ["the file is compressed, though its suffix is .csv"]),
    "question.csv": (as_text(FLOWERS, na_rep="?"), []),
    "book.xlsx": (packed(FLOWERS, "to_excel", index=False), []),
    "text.xlsx": (packed(people_write(FLOWERS), "to_excel", index=False), ["read as numbers: '3,000' as 3000"]),
    "book.csv": (
        packed(FLOWERS, "to_excel", index=False),
        ["the file is an Excel workbook, though its suffix is .csv"],
    ),
    "lines.jsonl": (packed(FLOWERS, "to_json", orient="records", lines=True), []),
    "array.json": (packed(FLOWERS, "to_json", orient="records"), []),
    "columns.parquet": (packed(FLOWERS, "to_parquet"), []),
    "columns.feather": (packed(FLOWERS, "to_feather"), []),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The model of the plain file, and what it predicts."""
    folder = tmp_path_factory.mktemp("plain")
    FLOWERS.to_csv(folder / "plain.csv", index=False)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert main(["fit", "plain.csv", "--target", "kind", "-o", "plain.skops", *FAST]) == 0
        assert main(["predict", "plain.skops", "plain.csv", "-o", "plain-out.csv"]) == 0
    return folder


@pytest.fixture
def work(plain, tmp_path, monkeypatch):
    """A folder with the plain file, its model and its predictions, to work in."""
    for path in plain.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notes_of(capsys):
    """Return the notes that a command has printed, without those on columns."""
    lines = capsys.readouterr().err.splitlines()
    found = [line.removeprefix("skecoc: note: ") for line in lines if line.startswith("skecoc: note: ")]
    return [note for note in found if not note.startswith(("column ", "left out: column", "accuracy", "cells without"))]


def check_notes(found, expected):
    assert len(found) == len(expected), found
    for note, start in zip(found, expected, strict=True):
        assert note.startswith(start)


@pytest.mark.parametrize("name", WILD)
def test_fit_and_predict_as_from_the_plain_file(work, capsys, name):
    content, notes = WILD[name]
    Path(name).write_bytes(content)
    assert main(["fit", name, "--target", "kind", "-o", "wild.skops", *FAST]) == 0
    check_notes(notes_of(capsys), notes)
    assert main(["predict", "wild.skops", "plain.csv", "-o", "model.csv"]) == 0
    assert Path("model.csv").read_bytes() == Path("plain-out.csv").read_bytes()
    capsys.readouterr()
    assert main(["predict", "plain.skops", name, "-o", "rows.csv", "--chunk-rows", "30"]) == 0
    check_notes(notes_of(capsys), notes)
    assert Path("rows.csv").read_bytes() == Path("plain-out.csv").read_bytes()


@pytest.mark.parametrize(
    "name", ["excel.csv", "utf16.csv", "book.xlsx", "lines.jsonl", "columns.feather", "packed.csv.gz"]
)
def test_standard_input_is_known_by_its_first_bytes(work, capsys, monkeypatch, name):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WILD[name][0])))
    assert main(["predict", "plain.skops", "-", "-o", "out.csv"]) == 0
    assert Path("out.csv").read_bytes() == Path("plain-out.csv").read_bytes()
    check_notes(notes_of(capsys), WILD[name][1])


def test_compare_reads_what_fit_reads(work, capsys):
    content, notes = WILD["germans.csv"]
    Path("germans.csv").write_bytes(content)
    options = ["--methods", "one-vs-one/hamming", "--folds", "2", "--jobs", "1", "--format", "csv"]
    assert main(["compare", "germans.csv", "--target", "kind", *options]) == 0
    captured = capsys.readouterr()
    for note in notes:
        assert f"skecoc: note: {note}" in captured.err
    assert captured.out.count("one-vs-one/hamming") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--sep", "ab"],
            "--sep='ab' cannot separate cells; expected comma, semicolon, tab, bar, pipe or another single",
        ),
        (["--decimal", "x"], "--decimal='x' cannot be a mark within numbers; expected comma or point"),
        (
            ["--thousands", "xx"],
            "--thousands='xx' cannot be a mark within numbers; expected comma, point, space or apostrophe",
        ),
        (["--decimal", ",", "--thousands", ","], "--decimal=',' and thousands=',' are the same mark"),
        (["--encoding", "utf-9"], "--encoding='utf-9' is not known; expected one such as utf-8, utf-16 or latin-1"),
        (["--encoding", "ascii", "--sep", "tab"], "target='kind' is not a column of"),
    ],
)
@pytest.mark.parametrize("command", [["fit"], ["compare"], ["predict", "plain.skops"]])
def test_bad_options_are_refused_in_one_line(work, capsys, command, options, message):
    target = [] if command[0] == "predict" else ["--target", "kind"]
    if command[0] == "predict" and message.startswith("target"):
        message = (
            "columns 'sepal länge', 'sepal width', 'petal length', 'petal width', 'area' and 3 more are missing in"
        )
    output = [] if command[0] == "compare" else ["-o", "out.skops" if command[0] == "fit" else "out.csv"]
    assert main([*command, "plain.csv", *target, *output, *options]) == 2
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("skecoc: note: ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"skecoc: error: {message}")
    assert not Path("out.skops").exists()


def test_options_override_guesses(work, capsys):
    rows = [["length", "width", "area", "kind"]]
    rows += [[f"1,{i:03}", f"{i % 7 + 1}'000", "-", "abc"[i % 3]] for i in range(12)]
    rows[1][2] = "3,5"
    Path("own.txt").write_bytes("\n".join("^".join(row) for row in rows).encode("utf-16-le"))
    options = ["--sep", "^", "--decimal", "point", "--thousands", ",", "--encoding", "utf-16-le", "--na", "-", "3,5"]
    assert main(["fit", "own.txt", "--target", "kind", "-o", "own.skops", *options, *FAST]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "skecoc: note: read as numbers: '1,000' as 1000 (column 'length'), \"1'000\" as 1000 (column 'width')",
        "skecoc: note: left out: column 'area' (the same value in every row)",
    ]


def test_sheets_are_chosen(work, capsys):
    with pd.ExcelWriter("book.xlsx") as writer:
        pd.DataFrame({"about": ["flowers"]}).to_excel(writer, sheet_name="Read me", index=False)
        FLOWERS.to_excel(writer, sheet_name="Data", index=False)
    fit = ["fit", "book.xlsx", "--target", "kind", "-o", "wild.skops", *FAST]
    assert main(fit) == 2
    assert "target='kind' is not a column of 'book.xlsx'; its columns are 'about'" in capsys.readouterr().err
    assert main([*fit, "--sheet", "Daten"]) == 2
    assert "it has no sheet='Daten'" in capsys.readouterr().err
    for sheet in ("Data", "2"):
        assert main([*fit, "--sheet", sheet]) == 0
        assert main(["predict", "wild.skops", "book.xlsx", "--sheet", sheet, "-o", "out.csv"]) == 0
        assert Path("out.csv").read_bytes() == Path("plain-out.csv").read_bytes()


def test_columns_and_classes_that_need_a_remark(work, capsys):
    frame = FLOWERS.rename(columns={"area": "price"})
    frame.loc[:3, "kind"] = ["Rot", "rot ", None, "?"]
    frame.to_csv("odd.csv")
    assert main(["fit", "odd.csv", "--target", "kind", "-o", "odd.skops", *FAST]) == 0
    assert [line.removeprefix("skecoc: note: ") for line in capsys.readouterr().err.splitlines()[:4]] == [
        "2 columns are named 'price': now 'price', 'price.2'",
        "column 1 has no name: now 'column 1'",
        "left out: 2 of 75 rows, which have no class in column 'kind'",
        "classes that differ by case or spaces only: 'Rot', 'rot', 'rot '",
    ]


def test_a_model_remembers_its_decimal_mark(work, capsys):
    """Three decimals and nothing else: a new file does not tell, but the table that the model was fitted to did."""
    few = FLOWERS[["area", "kind"]]
    few.to_csv("few.csv", index=False, sep=";", decimal=",")
    assert main(["fit", "few.csv", "--target", "kind", "-o", "few.skops", *FAST]) == 0
    Path("new.csv").write_text("area;kind\n1,234;a\n", encoding="utf-8")
    Path("same.csv").write_text("area\n1.234\n", encoding="utf-8")
    outputs = []
    for options in (["new.csv"], ["same.csv", "--decimal", "point"], ["new.csv", "--decimal", "point"]):
        capsys.readouterr()
        assert main(["predict", "few.skops", *options]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


def test_columns_that_are_kept_are_also_read_as_numbers(work):
    Path("excel.csv").write_bytes(WILD["excel.csv"][0])
    assert main(["predict", "plain.skops", "excel.csv", "-o", "out.csv", "--keep", "petal length", "price"]) == 0
    out, expected = pd.read_csv("out.csv"), pd.read_csv("plain-out.csv")
    assert out["petal length"].tolist()[0] == "1,4"
    pd.testing.assert_frame_equal(out.drop(columns=["petal length", "price"]), expected)
