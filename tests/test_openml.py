"""Sets of OpenML: what benchmarks/openml.py makes of small copies in its format. Nothing here needs a network."""

import gzip
import hashlib
import importlib
import io
import json
import re
import sys
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest

pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("LogisticRegression", "WOLC stumps")


class Response(io.BytesIO):
    """What urlopen returns: a compressed body."""

    def info(self):
        return {"Content-Encoding": "gzip"}


class Server:
    """OpenML's answers for a few sets, by their number; everything else is out of reach."""

    def __init__(self):
        self.answers = {}
        self.errors = {}
        self.asked = []

    def add(self, number, name, columns, rows, *, target="class", ignored=()):
        """Serve a set: columns are names with a tuple of categories, or None for numbers; None is a missing cell."""
        lines = [f"@RELATION {name}"]
        features = []
        for k, (column, categories) in enumerate(columns.items()):
            kind = "REAL" if categories is None else "{" + ",".join(categories) + "}"
            lines.append(f"@ATTRIBUTE {column} {kind}")
            features.append(
                {
                    "index": str(k),
                    "name": column,
                    "data_type": "numeric" if categories is None else "nominal",
                    "is_target": str(column == target).lower(),
                    "is_ignore": str(column in ignored).lower(),
                    "is_row_identifier": "false",
                    "number_of_missing_values": str(sum(row[k] is None for row in rows)),
                }
                | ({} if categories is None else {"nominal_value": list(categories)})
            )
        lines += ["@DATA", *(",".join("?" if cell is None else str(cell) for cell in row) for row in rows)]
        arff = ("\n".join(lines) + "\n").encode()
        about = {
            "id": str(number),
            "name": name,
            "version": "1",
            "description": "made for a test",
            "format": "ARFF",
            "file_id": str(number),
            "url": f"https://www.openml.org/data/v1/download/{number}/{name}.arff",
            "md5_checksum": hashlib.md5(arff, usedforsecurity=False).hexdigest(),
            "status": "active",
        }
        qualities = [{"name": "NumberOfInstances", "value": str(len(rows))}]
        self.answers |= {
            ("description", number): json.dumps({"data_set_description": about}).encode(),
            ("features", number): json.dumps({"data_features": {"feature": features}}).encode(),
            ("qualities", number): json.dumps({"data_qualities": {"quality": qualities}}).encode(),
            ("download", number): arff,
        }

    def urlopen(self, request, *_, **__):
        url = request.full_url
        self.asked.append(url)
        found = re.search(r"/(features|qualities|download)/(\d+)", url) or re.search(r"/json/(data)/(\d+)$", url)
        kind, number = found[1].replace("data", "description"), int(found[2])
        if number in self.errors:
            raise HTTPError(url, *self.errors[number], hdrs=None, fp=io.BytesIO())
        if (kind, number) not in self.answers:
            raise URLError("[Errno -2] Name or service not known")
        return Response(gzip.compress(self.answers[kind, number]))


@pytest.fixture
def openml(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("openml")
    module.loaded.cache_clear()
    yield module
    module.loaded.cache_clear()


@pytest.fixture
def server(openml, monkeypatch):
    """Put four sets on a server and, as if they belonged there, on the script's list."""
    made = Server()
    fetcher = importlib.import_module("sklearn.datasets._openml")
    monkeypatch.setattr(fetcher, "urlopen", made.urlopen)
    monkeypatch.setattr(fetcher.time, "sleep", lambda _: None)
    rng = np.random.default_rng(0)
    # Numbers and categories with gaps, a category that looks like a number, an ignored copy of the label, and a class
    # that is declared, but has no rows.
    rows = []
    for k in range(90):
        label = "abc"[k % 3]
        rows.append(
            [
                None if k % 10 == 0 else round(rng.normal(k % 3, 0.3), 3),
                k,
                None if k % 7 == 0 else ("red", "'dark blue'")[k % 2],
                k % 4,
                label,
                label,
            ]
        )
    columns = {
        "size": None,
        "weight": None,
        "colour": ("red", "'dark blue'"),
        "code": "0123",
        "copy": "abcd",
        "class": "abcd",
    }
    made.add(101, "flowers", columns, rows, ignored=("copy",))
    # Classes that are numbers, one of them with a single row.
    points = rng.normal(size=(81, 2)).round(3)
    classes = [*np.arange(80) % 4 + 1, 7]
    numbers = [[*point, label] for point, label in zip(points, classes, strict=True)]
    made.add(102, "Digits", {"x": None, "y": None, "label": "12347"}, numbers, target="label")
    # Numeric labels that OpenML does not call nominal.
    made.add(103, "plain", {"x": None, "class": None}, [[k % 3 + k / 100, k % 3] for k in range(60)])
    made.add(104, "two", {"x": None, "class": "ab"}, [[k, "ab"[k % 2]] for k in range(20)])
    monkeypatch.setattr(
        openml,
        "SETS",
        {
            "flowers": openml.Listed(101, 90, 4, 3),
            "digits": openml.Listed(102, 81, 2, 5),
            "gone": openml.Listed(105, 60, 1, 3),
        },
    )
    return made


@pytest.fixture
def run(openml, monkeypatch, tmp_path, capsys):
    """Run the script; return its exit code, and what it prints and reports."""

    def call(*arguments, methods=METHODS):
        folders = ["--data-home", str(tmp_path / "cache"), "--out", str(tmp_path / "openml.json")]
        chosen = ["--methods", *methods] if methods else []
        monkeypatch.setattr(sys, "argv", ["openml.py", *arguments, *chosen, *folders])
        code = openml.main()
        return code, *capsys.readouterr()

    return call


@pytest.mark.usefixtures("server")
def test_sets_are_measured_as_those_of_the_arena(run, tmp_path, monkeypatch):
    code, printed, reported = run("--sets", "flowers", "digits", "103")
    assert (code, reported) == (0, "")
    kept = json.loads((tmp_path / "openml.json").read_text())
    assert kept["settings"] == {"folds": 3, "max_rows": 2500, "inner_folds": 5, "max_table_rows": 30000}
    assert list(kept["sets"]) == ["flowers", "digits", "openml-103"]
    # Two numbers, red, dark blue and missing, and four codes.
    assert kept["sets"]["flowers"] == {"rows": 60, "features": 9, "classes": 3}
    assert kept["sets"]["digits"]["classes"] == 4
    assert len(kept["runs"]) == 3 * 3 * len(METHODS)
    first = kept["runs"][0]
    assert (first["set"], first["repeat"], first["fold"]) == ("flowers", 0, 0)
    assert {"method", "accuracy", "log_loss", "fit", "predict"} < set(first)
    assert "flowers: 90 rows, 4 features, 3 classes" in printed
    assert re.search(r"^log-loss +Logistic", printed, re.MULTILINE)
    assert "means and average ranks over 3 of 3 sets" in printed
    assert "critical difference of average ranks (Nemenyi, 5 %): 1.13" in printed
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    script = importlib.import_module("_arena")
    made = dict(script.arena_files(tmp_path / "openml.json", with_drawings=True))
    assert "| flowers | 60 | 3 |" in made[Path("arena.md")]
    assert len(made) == 3


def test_a_run_is_taken_up_again_without_a_network(run, server, openml, monkeypatch):
    assert run("--sets", "flowers", "--fetch-only")[0] == 0
    assert len(server.asked) == 4
    server.answers.clear()
    calls = []
    # The warm-up measures, too, but on a shipped set.
    monkeypatch.setattr(sys.modules["arena"], "measured", lambda method, _: calls.append(method) or RESULT)
    code, printed, _ = run("--sets", "flowers", methods=METHODS[:1])
    assert (code, len(calls)) == (0, 1 + 3)
    assert "critical difference" not in printed
    openml.loaded.cache_clear()
    assert run("--sets", "flowers", "--repeats", "2")[0] == 0
    assert len(calls) == 4 + 2 + 3 + 6
    assert len(server.asked) == 4


RESULT = {"accuracy": 90.0, "log_loss": 0.5, "fit": 1.0, "predict": 0.1}


@pytest.mark.usefixtures("server")
def test_columns_are_what_openml_declares(openml, tmp_path):
    table = openml.loaded("flowers", tmp_path)
    cells, is_number = openml.cells(table.X)
    assert is_number == [True, True, False, False]
    assert set(cells[:, 2]) == {"red", "dark blue", ""}
    assert set(cells[:, 3]) == {"0", "1", "2", "3"}
    assert np.isnan(cells[:, 0].astype(float)).sum() == 9
    assert sorted(set(table.y)) == ["a", "b", "c"]
    for X, y, X_test, y_test in openml.splits(tmp_path, "flowers", 3, 0):
        assert X.shape == (60, 9)
        assert X_test.shape == (30, 9)
        assert np.isfinite(X).all()
        assert np.isfinite(X_test).all()
        assert set(y) == set(y_test) == {"a", "b", "c"}


@pytest.mark.usefixtures("server")
def test_large_tables_are_reduced_and_classes_of_one_row_left_out(openml, tmp_path, monkeypatch):
    assert len(openml.loaded("digits", tmp_path).y) == 80
    openml.loaded.cache_clear()
    monkeypatch.setattr(openml, "MAX_TABLE_ROWS", 41)
    table = openml.loaded("digits", tmp_path)
    assert 40 <= len(table.y) <= 41
    assert set(table.y) == {"1", "2", "3", "4"}
    assert (table.n_rows, table.n_classes) == (81, 5)
    openml.loaded.cache_clear()
    np.testing.assert_array_equal(openml.loaded("digits", tmp_path).X, table.X)


def test_a_set_out_of_reach_is_named_and_the_others_are_measured(run, server, tmp_path):
    code, printed, reported = run("--sets", "gone", "106", "flowers", methods=METHODS[:1])
    assert code == 1
    assert "gone (OpenML 105): cannot reach openml.org ([Errno -2] Name or service not known)" in reported
    assert "--sets gone --fetch-only --data-home FOLDER" in reported
    assert "openml-106 (OpenML 106): cannot reach openml.org" in reported
    assert "not measured, see above: gone, openml-106" in reported
    assert "over 1 of 1 sets" in printed
    assert list(json.loads((tmp_path / "openml.json").read_text())["sets"]) == ["flowers"]
    server.errors = {105: (503, "Service Unavailable"), 106: (412, "Precondition Failed")}
    (tmp_path / "openml.json").unlink()
    code, printed, reported = run("--sets", "gone", "106")
    assert (code, printed) == (1, "")
    assert "gone (OpenML 105): OpenML answered 503 Service Unavailable" in reported
    assert (
        "openml-106 (OpenML 106): OpenML's data cannot be used: OpenMLError: Dataset with data_id 106 not found."
        in reported
    )
    assert not (tmp_path / "openml.json").exists()


def test_something_else_under_the_number_is_refused(run, server, openml, monkeypatch):
    monkeypatch.setitem(openml.SETS, "gone", openml.Listed(103, 60, 1, 4))
    code, _, reported = run("--sets", "gone", "--fetch-only")
    assert code == 1
    assert "gone (OpenML 103): OpenML has something else under this number (" in reported
    assert "name plain, expected gone; classes 3, expected 4" in reported
    assert "`--sets 103` runs it as it is, under the name openml-103" in reported
    assert "openml-104 (OpenML 104): it has 2 classes" in run("--sets", "104")[2]
    server.add(107, "none", {"x": None, "y": "abc"}, [[k, "abc"[k % 3]] for k in range(9)])
    assert "OpenML names no single column as its target" in run("--sets", "107")[2]


def test_a_damaged_file_is_reported(run, server):
    server.answers["download", 101] += b"9,9,red,1,a,a\n"
    with pytest.warns(RuntimeWarning, match="Invalid cache"):
        code, _, reported = run("--sets", "flowers", "--fetch-only")
    assert code == 1
    assert "flowers (OpenML 101): OpenML's data cannot be used: ValueError: " in reported
    assert "md5 checksum" in reported


def test_the_list_is_printed_and_other_names_are_refused(run, openml, capsys):
    code, printed, _ = run("--list")
    assert code == 0
    assert len(printed.splitlines()) == 1 + len(openml.SETS)
    assert re.search(r"^shuttle +40685 +58,000 +9 +7  rare classes$", printed, re.MULTILINE)
    with pytest.raises(SystemExit):
        run("--sets", "iris")
    assert "'iris' is neither in the list" in capsys.readouterr().err


def test_lightgbm_may_be_missing(openml, monkeypatch, capsys):
    assert openml.usable_methods(None) == list(openml.METHODS)
    monkeypatch.setattr(openml.importlib.util, "find_spec", lambda _: None)
    assert openml.usable_methods(None) == [method for method in openml.METHODS if method != "LightGBM"]
    assert "pip install lightgbm" in capsys.readouterr().err
    assert openml.usable_methods(["LightGBM"]) == ["LightGBM"]


def test_no_set_is_one_that_defaults_were_chosen_on(openml):
    folds = importlib.import_module("_folds")

    def simple(name):
        return re.sub(r"[^a-z0-9]", "", name.lower())

    # The names that OpenML has for some of them.
    others = {"balancescale", "segment", "newthyroid", "waveform5000", "vertebracolumn", "dna"}
    known = {simple(name) for name in (*folds.real_sets(), *folds.SYNTHETIC)} | others
    assert not known & {simple(name) for name in openml.SETS}
    assert len({listed.data_id for listed in openml.SETS.values()}) == len(openml.SETS)
    assert min(listed.classes for listed in openml.SETS.values()) >= 3


def test_the_page_has_the_same_list(openml):
    page = (ROOT / "docs" / "results" / "other_data.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| \[(\S+)\]\(https://www.openml.org/d/(\d+)\) \| (.*?) \|$", page, re.MULTILINE)
    listed = [
        (name, str(about.data_id), f"{about.rows:,} | {about.features} | {about.classes} | {about.about}".rstrip())
        for name, about in openml.SETS.items()
    ]
    assert [(name, number, row.rstrip()) for name, number, row in found] == listed
