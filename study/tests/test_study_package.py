"""The study asks for exactly its own version of the library, and imports public names of it alone."""

import ast
import tomllib
from importlib import import_module
from importlib.metadata import entry_points, requires
from pathlib import Path

import pytest
from tests.cli.test_startup import HEAVY, run_python

import skecoc
import skecoc_study

ROOT = Path(skecoc_study.__file__).parent
PROJECT = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_needs_exactly_its_own_version_of_the_library():
    assert skecoc_study.__version__ == skecoc.__version__
    (needed,) = (name for name in PROJECT["dependencies"] if name.startswith("scikit-ecoc"))
    assert needed.partition("]")[2] == f"=={skecoc.__version__}"
    assert needed in [name.replace(" ", "") for name in requires("scikit-ecoc-study")]


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_it_imports_public_names_alone(path):
    private = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            if node.module.partition(".")[0] == "skecoc":
                public = getattr(import_module(node.module), "__all__", ())
                private += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in public]
        elif isinstance(node, ast.Import):
            private += [alias.name for alias in node.names if alias.name.startswith("skecoc.")]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "skecoc":
            private += [f"skecoc.{node.attr}"] if node.attr not in skecoc.__all__ else []
    assert private == []


def test_names_of_the_study_are_reached_by_its_own_name_alone():
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    assert 'import_module("skecoc.' not in code


def test_entry_points_are_those_of_the_project():
    for group, named in PROJECT["entry-points"].items():
        installed = {entry.name: entry for entry in entry_points(group=group)}
        assert {name: installed[name].value for name in named} == named
        assert all(callable(installed[name].load()) for name in named)


@pytest.mark.parametrize(
    "words", [["music"], ["music", "--help"], ["reproduce", "--help"], ["report", "--help"]], ids=" ".join
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
