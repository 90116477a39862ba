import csv
import hashlib
import math
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skecoc.datasets import _parse_table, list_uci, load_uci

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "uci"


class Expected(NamedTuple):
    shape: tuple[int, int]
    class_counts: dict[str, int]
    content: str  # see content_hash


# Computed from reference copies that were checked against UCI's published files, not from the shipped files.
EXPECTED = {
    "balance": Expected((625, 4), {"B": 49, "L": 288, "R": 288}, "6937577ca6f00f4d"),
    "dermatology": Expected((366, 34), {"1": 112, "2": 61, "3": 72, "4": 49, "5": 52, "6": 20}, "ae81d1339fa4a10b"),
    "ecoli": Expected(
        (336, 7), {"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52}, "d0663b80c7485863"
    ),
    "glass": Expected((214, 9), {"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29}, "3256742543f283d8"),
    "iris": Expected((150, 4), {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}, "0f75823cf48f4afe"),
    "optdigits": Expected(
        (5620, 64),
        {"0": 554, "1": 571, "2": 557, "3": 572, "4": 568, "5": 558, "6": 558, "7": 566, "8": 554, "9": 562},
        "02133376cf244284",
    ),
    "pendigits": Expected(
        (10992, 16),
        {"0": 1143, "1": 1143, "2": 1144, "3": 1055, "4": 1144, "5": 1055, "6": 1056, "7": 1142, "8": 1055, "9": 1055},
        "c5be83dfd16cfeaf",
    ),
    "satimage": Expected(
        (6435, 36), {"1": 1533, "2": 703, "3": 1358, "4": 626, "5": 707, "7": 1508}, "1e899ee5332c4b6d"
    ),
    "segmentation": Expected(
        (2310, 19),
        {"BRICKFACE": 330, "CEMENT": 330, "FOLIAGE": 330, "GRASS": 330, "PATH": 330, "SKY": 330, "WINDOW": 330},
        "efe8ac62bbdecf3a",
    ),
    "thyroid": Expected((215, 5), {"1": 150, "2": 35, "3": 30}, "2f227f9e7410cce2"),
    "vehicle": Expected((846, 18), {"bus": 218, "opel": 212, "saab": 217, "van": 199}, "b412c5eee4e82d8f"),
    "vowel": Expected(
        (990, 10),
        {"0": 90, "1": 90, "10": 90, "2": 90, "3": 90, "4": 90, "5": 90, "6": 90, "7": 90, "8": 90, "9": 90},
        "a42fe9710a42a85c",
    ),
    "wine": Expected((178, 13), {"1": 59, "2": 71, "3": 48}, "3200b1cfb0285c52"),
    "yeast": Expected(
        (1484, 8),
        {
            "CYT": 463,
            "ERL": 5,
            "EXC": 35,
            "ME1": 44,
            "ME2": 51,
            "ME3": 163,
            "MIT": 244,
            "NUC": 429,
            "POX": 20,
            "VAC": 30,
        },
        "aafd277d849480ff",
    ),
}


def content_hash(data, target):
    """First 16 hex digits of a hash that depends on the rows' values and not on their order."""
    # Adding zero makes -0.0 and 0.0 read the same.
    numbers = (np.asarray(data) + 0.0).tolist()
    rows = [",".join([*map(repr, row), label]) for row, label in zip(numbers, target, strict=True)]
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:16]


def as_multiset(rows):
    """Count equal rows, their numbers compared as floats and their missing values as equal."""
    return Counter((*(float(cell) if cell else None for cell in cells), label) for *cells, label in rows)


def test_the_fourteen_names_are_listed():
    assert list_uci() == sorted(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_rows_are_those_of_uci(name):
    expected = EXPECTED[name]
    bunch = load_uci(name)
    assert bunch.data.shape == expected.shape
    assert Counter(bunch.target.tolist()) == expected.class_counts
    assert content_hash(bunch.data, bunch.target) == expected.content


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_bunch_is_complete(name):
    n_samples, n_features = EXPECTED[name].shape
    bunch = load_uci(name)
    assert bunch.data.dtype == np.float64
    assert bunch.target.shape == (n_samples,)
    assert bunch.target.dtype.kind == "U"
    assert len(set(bunch.feature_names)) == n_features
    assert "class" not in bunch.feature_names
    assert bunch.target_names.tolist() == sorted(EXPECTED[name].class_counts)
    assert bunch.frame is None
    assert bunch.filename.endswith(f"{name}.csv.gz")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_description_gives_size_source_and_licence(name):
    description = load_uci(name).DESCR
    (n_samples, n_features), class_counts, _ = EXPECTED[name]
    for line in (f":Rows: {n_samples}", f":Features: {n_features},", f":Classes: {len(class_counts)}"):
        assert line in description
    listed = [line for line in description.splitlines() if line.startswith("- ")]
    assert {(line[2:].split(" (")[0].split(":")[0], int(line.rsplit(": ")[-1])) for line in listed} == set(
        class_counts.items()
    )
    for needed in ("Created by", "Donated by", "CC BY 4.0", "doi.org/10.24432/", "scripts/build_uci.py"):
        assert needed in description


def test_shipped_rows_equal_the_reference_as_multisets():
    if not REFERENCE.is_dir():
        pytest.skip("no folder shared/data/uci with reference files beside the checkout")
    for name in list_uci():
        with (REFERENCE / f"{name}.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        bunch = load_uci(name)
        shipped = (
            [*("" if math.isnan(x) else repr(x) for x in row), label]
            for row, label in zip(bunch.data.tolist(), bunch.target.tolist(), strict=True)
        )
        assert [*bunch.feature_names, "class"] == header, name
        assert as_multiset(shipped) == as_multiset(rows), name


def test_only_eight_ages_are_missing():
    n_missing = {name: int(np.isnan(load_uci(name).data).sum()) for name in list_uci()}
    assert {name: n for name, n in n_missing.items() if n} == {"dermatology": 8}
    dermatology = load_uci("dermatology")
    age = dermatology.feature_names.index("age")
    assert np.isnan(dermatology.data[:, age]).sum() == 8


def test_balance_classes_follow_from_the_features():
    X, y = load_uci("balance", return_X_y=True)
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    np.testing.assert_array_equal(y, np.where(torque > 0, "L", np.where(torque < 0, "R", "B")))


def test_return_x_y_gives_the_same_arrays():
    bunch = load_uci("glass")
    X, y = load_uci("glass", return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_each_call_gives_its_own_arrays():
    first = load_uci("iris")
    first.data[:] = 0
    assert load_uci("iris").data.min() > 0


def test_as_frame_gives_pandas_objects():
    pd = pytest.importorskip("pandas")
    arrays, frames = load_uci("dermatology"), load_uci("dermatology", as_frame=True)
    assert isinstance(frames.data, pd.DataFrame)
    assert list(frames.data.columns) == arrays.feature_names
    np.testing.assert_array_equal(frames.data.to_numpy(), arrays.data)
    assert frames.target.name == "class"
    assert frames.target.tolist() == arrays.target.tolist()
    assert list(frames.frame.columns) == [*arrays.feature_names, "class"]
    X, y = load_uci("dermatology", as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(X, frames.data)
    pd.testing.assert_series_equal(y, frames.target)


def test_as_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_uci("iris").data.shape == (150, 4)
    with pytest.raises(ImportError, match=r'as_frame=True needs pandas: pip install "scikit-ecoc\[table\]"'):
        load_uci("iris", as_frame=True)


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"name='irises' is not known .*; expected one of 'balance', .*'yeast'"):
        load_uci("irises")


def test_importing_and_loading_work_without_optional_packages():
    # scikit-learn itself imports pandas if it can, so absence from sys.modules would prove nothing.
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'pyarrow', 'matplotlib'])); "
        "from skecoc.datasets import load_uci; print(load_uci('iris').data.shape)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "(150, 4)"


def test_package_holds_data_and_description_of_each_set():
    shipped = {entry.name for entry in (files("skecoc.datasets") / "data").iterdir()}
    assert shipped == {f"{name}{suffix}" for name in EXPECTED for suffix in (".csv.gz", ".rst")}


cells = st.none() | st.floats(allow_nan=False)


@given(
    st.integers(1, 5).flatmap(
        lambda n_features: st.lists(
            st.tuples(st.lists(cells, min_size=n_features, max_size=n_features), st.sampled_from("abc")), min_size=1
        )
    )
)
def test_empty_cells_anywhere_become_nan(rows):
    n_features = len(rows[0][0])
    names = [f"f{i}" for i in range(n_features)]
    lines = [",".join(["" if cell is None else repr(cell) for cell in row] + [label]) for row, label in rows]
    feature_names, data, target = _parse_table("\n".join([",".join([*names, "class"]), *lines]) + "\n")
    assert feature_names == names
    expected = [[np.nan if cell is None else cell for cell in row] for row, _ in rows]
    np.testing.assert_array_equal(data, expected)
    assert target.tolist() == [label for _, label in rows]


def test_names_are_found_in_any_case():
    one, two = load_uci("Iris"), load_uci("iris")
    assert (one.DESCR, one.filename) == (two.DESCR, two.filename)
