import gzip

import pytest
from scripts.build_uci import RECIPES, Recipe, agrees_with, build_rows, shortest_number, write_table

from skecoc.datasets import list_uci, load_uci


def test_recipes_are_those_of_the_shipped_sets():
    assert sorted(RECIPES) == list_uci()
    for name, recipe in RECIPES.items():
        assert list(recipe.features) == load_uci(name).feature_names


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("1.0", "1"), ("0.50", "0.5"), (".28", "0.28"), ("-0.000", "0"), ("-1.5894573E-8", "-1.5894573e-08")],
)
def test_numbers_are_written_shortly_without_changing(cell, expected):
    assert shortest_number(cell) == expected
    assert float(expected) == float(cell)


def test_rows_are_read_from_every_file_of_a_recipe(tmp_path):
    (tmp_path / "first.dat").write_text("@relation r\n@data\n7, 1.50, 15, 2\n8, 2.0, 15, 1\n\n")
    (tmp_path / "second.dat").write_text("9  3  4  2 \n")
    recipe = Recipe(
        ("first.dat", "second.dat"),
        ("width", "age"),
        n_leading=1,
        classes={"2": "two"},
        placeholders={("age", 1): "15"},
    )
    assert build_rows(recipe, tmp_path) == [["1.5", "15", "two"], ["2", "", "1"], ["3", "4", "two"]]


def test_a_source_that_has_changed_is_refused(tmp_path):
    (tmp_path / "raw.dat").write_text("1,2,a\n")
    with pytest.raises(ValueError, match=r"raw\.dat: expected rows of 4 cells"):
        build_rows(Recipe(("raw.dat",), ("x", "y", "z")), tmp_path)
    with pytest.raises(ValueError, match=r"raw\.dat: row 0 of y should be 15"):
        build_rows(Recipe(("raw.dat",), ("x", "y"), placeholders={("y", 0): "15"}), tmp_path)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        write_table(tmp_path / f"{name}.csv.gz", ["x", "class"], [["1", "a"], ["", "b"]])
    packed = (tmp_path / "first.csv.gz").read_bytes()
    assert packed == (tmp_path / "second.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4)  # no time in the header
    assert gzip.decompress(packed) == b"x,class\n1,a\n,b\n"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("x,class\n2.50,b\n1.0,a\n1,a\n,b\n", True),  # another order and spelling
        ("x,class\n2.5,b\n1,a\n,b\n", False),  # a repeated row once only
        ("x,class\n2.5,b\n1,a\n1,b\n,b\n", False),  # another class
        ("x,class\n2.5,b\n1,a\n1,a\n0,b\n", False),  # a value for a missing one
        ("z,class\n2.5,b\n1,a\n1,a\n,b\n", False),  # another name
    ],
)
def test_check_compares_multisets_of_rows(tmp_path, reference, expected):
    path = tmp_path / "reference.csv"
    path.write_text(reference)
    rows = [["1", "a"], ["1", "a"], ["2.5", "b"], ["", "b"]]
    assert agrees_with(path, ["x", "class"], rows) is expected
