"""Starting the command line: what is loaded for --help, the line that comes first, and the names that help lists."""

import os
import subprocess
import sys

import numpy as np
import pytest

import skecoc
from skecoc import coding
from skecoc.cli import console, main
from skecoc.coding import CODINGS
from skecoc.compare import DEFAULT_DATA_SETS, DEFAULT_METHODS, methods
from skecoc.compare.methods import LEARNERS
from skecoc.compare.metrics import find_metric
from skecoc.datasets import list_uci
from skecoc.decoding import DECODERS
from skecoc.support import names
from skecoc.tables.preparation import MOST_COMPARED_ROWS
from tests.grids import few
from tests.tables.things import write_things

#: What takes long to load.
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "joblib", "numba", "tqdm"}
FAST = ["--target", "kind", "-o", "m.skops", "--method", "one-vs-rest/hamming", "--folds", "2", "--jobs", "1"]


def run_python(code, folder, **environment):
    """Run Python in a process of its own, in a folder."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


@pytest.mark.parametrize(
    "words",
    [["--version"], ["--help"], *([name, "--help"] for name in ("fit", "compare", "predict", "inspect"))],
    ids=" ".join,
)
def test_help_loads_nothing_heavy(words, tmp_path):
    code = f"""
import atexit, sys
atexit.register(lambda: print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr))
from skecoc.cli import main
sys.exit(main({words!r}))
"""
    done = run_python(code, tmp_path)
    assert "skecoc" in done.stdout
    assert HEAVY & set(done.stderr.split()) == set()


@pytest.mark.parametrize(
    ("words", "line"),
    few(
        [
            (["fit", "things.csv", *FAST], "reading things.csv"),
            (["predict", "m.skops", "missing.csv"], "error: "),
            (
                ["compare", "--datasets", "iris", "--methods", "one-vs-rest/hamming", "--folds", "2"],
                "reading data sets",
            ),
            (["predict", "m.skops", "-"], "reading standard input"),
            (["inspect", "m.skops"], "error: "),
        ],
        2,
    ),
    ids=["fit", "predict-missing", "compare", "predict", "inspect"],
)
def test_the_first_line(words, line, tmp_path):
    """A process that is started says at once what it reads, unless an error or help is all that follows."""
    write_things(tmp_path / "things.csv")
    done = subprocess.run(
        [sys.executable, "-m", "skecoc", *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr.startswith(f"skecoc: {line}")


@pytest.mark.parametrize("words", few([["fit", "things.csv", *FAST], ["predict", "m.skops", "things.csv"]]))
def test_the_first_line_comes_before_anything_heavy_is_loaded(words, tmp_path):
    write_things(tmp_path / "things.csv")
    code = f"""
import sys
from skecoc import cli
cli.say = lambda message: print(message, *sorted({HEAVY!r} & sys.modules.keys()))
cli.main({words!r})
"""
    assert run_python(code, tmp_path).stdout.splitlines()[0] == "reading things.csv"


@pytest.mark.nightly
def test_compilation_is_told_of_when_there_is_any(tmp_path):
    """The first process compiles, the next one finds what that has left on disk."""
    write_things(tmp_path / "things.csv")
    code = f"from skecoc.cli import main; main({['fit', 'things.csv', *FAST]!r})"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    told = [run_python(code, tmp_path, **cache).stderr.count("skecoc: compiling, once: about") for _ in range(2)]
    assert told == [1, 0]


def test_in_a_process_that_has_loaded_everything_no_line_is_needed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_things(tmp_path / "things.csv")
    assert main(["fit", "things.csv", *FAST]) == 0
    assert "reading" not in capsys.readouterr().err


def test_names_in_help_are_those_of_the_registries():
    assert (
        f"codings: {', '.join(names.METHOD_CODINGS)}; decodings: {', '.join(names.DECODINGS)}"
        == methods.describe_parts()
    )
    assert list(names.CODINGS) == list(CODINGS)
    assert list(names.DECODINGS) == list(DECODERS)
    assert list(names.LEARNERS) == list(LEARNERS)
    assert list(names.STRATEGIES) == list(methods.STRATEGIES)
    assert list(names.CLASSIFIERS) == list(methods.CLASSIFIERS)
    assert names.DEFAULT_METHODS == DEFAULT_METHODS
    assert tuple(methods.check_methods(names.DEFAULT_METHODS)) == names.DEFAULT_METHODS
    assert [find_metric(name).name for name in names.METRICS] == list(names.METRICS)
    assert console.MAX_ROWS == MOST_COMPARED_ROWS
    assert list(names.DATA_SETS) == list_uci()
    assert names.DEFAULT_DATA_SETS == DEFAULT_DATA_SETS


def test_a_name_stands_for_the_part_of_that_name():
    assert {name: type(decoder()).__name__ for name, decoder in DECODERS.items()} == {
        name: f"{name.title().replace('-', '')}Decoder" for name in names.DECODINGS
    }
    y = np.repeat(np.arange(4), 6)
    X = np.arange(24.0)[:, None]
    for name in names.CODINGS:
        function = getattr(coding, name.replace("-", "_"))
        expected = {
            "decoc": lambda f: f(X, y),
            "forest": lambda f: f(X, y),
            "dense-random": lambda f: f(4, random_state=0),
            "sparse-random": lambda f: f(4, random_state=0),
        }.get(name, lambda f: f(4))(function)
        np.testing.assert_array_equal(coding.CODINGS[name](X, y, 4, 0, None), expected)


def test_the_package_lists_and_loads_its_classifiers(tmp_path):
    assert set(skecoc.__all__) <= set(dir(skecoc))
    code = """
import pickle, sys
import skecoc
assert "sklearn" not in sys.modules
model = skecoc.WOLCClassifier()
assert type(pickle.loads(pickle.dumps(model))) is skecoc.WOLCClassifier
from skecoc import *
assert ECOCClassifier is skecoc.ECOCClassifier is skecoc.classifiers.ECOCClassifier
assert skecoc.coding.one_vs_rest(3).shape == (3, 3)
print(*(name for name in skecoc.__all__ if getattr(skecoc, name) is None))
"""
    assert run_python(code, tmp_path).stdout == "\n"
    with pytest.raises(AttributeError, match="module 'skecoc' has no attribute 'nothing'"):
        skecoc.nothing  # noqa: B018
