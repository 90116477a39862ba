"""`skecoc reproduce` of Tables V and VI and Figure 8, on audio of one's own."""

import csv
import io
import sys
from dataclasses import replace

import pytest

from skecoc.cli import main
from skecoc_study.music.methods import MUSIC_METHODS
from skecoc_study.paper.published import METHODS, published_music
from skecoc_study.paper.reproduction import _FIGURE_METHODS, PROTOCOLS

ONE_JOB = ["--jobs", "1"]


@pytest.fixture(scope="module")
def cache(music_folder, tmp_path_factory):
    """The user's cache folder, which knows the clips."""
    root = tmp_path_factory.mktemp("cache")
    assert main(["music", "extract", str(music_folder), "--cache", str(root / "skecoc" / "audio"), *ONE_JOB]) == 0
    return root


@pytest.fixture
def clips(music_folder, cache, monkeypatch):
    """A folder of clips, and quicker settings of --quick."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setitem(PROTOCOLS, "quick", replace(PROTOCOLS["quick"], n_repeats=2, n_folds=2, seed=3))
    return music_folder


def reproduce(*arguments):
    return main(["reproduce", *map(str, arguments), *ONE_JOB])


def compare(clips, *arguments):
    """Run `music compare` with the same settings."""
    splits = ["--folds", "2", "--repeats", "2", "--seed", "3"]
    assert main(["music", "compare", str(clips), *splits, *map(str, arguments), *ONE_JOB]) == 0


@pytest.mark.parametrize(
    ("target", "measure", "number"), [("table5", "accuracy", "accuracy"), ("table6", "code_length", "columns")]
)
def test_a_table_has_the_numbers_of_music_compare_beside_the_papers(target, measure, number, clips, tmp_path, capsys):
    assert reproduce(target, "--clips", clips, "--quick", "--output", tmp_path) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "tables" / f"{target}.txt").read_text()
    assert "the Dortmund set; other music cannot be compared with it" in printed
    compare(clips, "--methods", *MUSIC_METHODS, "--format", "csv")
    expected = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = list(csv.DictReader((tmp_path / "tables" / f"{target}.csv").read_text().splitlines()))
    assert len(found) == len(expected) == 15
    published = published_music(measure)
    for row, other in zip(found, expected, strict=True):
        assert all(row[key] == other[key] for key in ("feature", "method", number))
        paper = published[row["feature"].upper(), METHODS[row["method"]].split("/")[0]]
        assert float(row[f"published_{measure}"]) == paper
        assert f"[{paper:.2f}]" in printed


def test_figure_8_is_the_growth_that_music_compare_draws(clips, tmp_path, capsys):
    assert reproduce("fig8", "--clips", clips, "--quick", "--output", tmp_path) == 0
    assert "fig8.svg" in capsys.readouterr().err
    for ending in ("svg", "csv"):
        path = tmp_path / f"growth.{ending}"
        compare(clips, "--features", "mnase", "--methods", _FIGURE_METHODS[0], "--convergence", path)
        assert (tmp_path / "figures" / f"fig8.{ending}").read_bytes() == path.read_bytes()


def test_a_set_that_is_not_dortmund_is_refused(clips, tmp_path, capsys):
    assert reproduce("table5", "--clips", clips, "--dortmund", "--output", tmp_path) == 2
    assert "has none of the folders alternative, blues" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table5"], "the paper's recordings (the Dortmund set) cannot be passed on; give a folder with one folder of"),
        (["fig8"], "--clips FOLDER"),
        (["table6", "--clips", "missing"], "--clips: 'missing' is not a folder"),
        (["table2", "--clips", "."], "--clips and --dortmund are for table5, table6, fig8 only, got table2"),
        (["--dortmund"], "--clips and --dortmund are for table5, table6, fig8 only, got all"),
        (["table5", "--status"], "table5: its runs are not stored, so there is no --status"),
        (["fig8", "--clips", ".", "--backend", "dask"], "fig8: runs on music are local"),
    ],
)
def test_bad_options_are_one_line_before_any_work(arguments, message, tmp_path, capsys):
    assert reproduce(*arguments, "--output", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "out").exists()


def test_a_figure_that_cannot_be_drawn_is_refused_before_any_work(music_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("skecoc_study.music.reproduction.compare_folder", lambda *_: pytest.fail("work was done"))
    assert reproduce("fig8", "--clips", music_folder, "--output", tmp_path) == 2
    assert "matplotlib" in capsys.readouterr().err
