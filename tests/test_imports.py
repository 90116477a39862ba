"""Imports point down: exactly these edges exist between subpackages, and the library needs no optional package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import skecoc

ROOT = Path(skecoc.__file__).parent
# What each subpackage or module imports from, exactly. The library comes first, then what people do with it, then the
# command line.
EDGES = {
    "support": set(),
    "coding": {"support"},
    "decoding": {"support"},
    "data": {"support"},
    "learners": {"support", "data"},
    "classifiers": {"support", "coding", "decoding", "data", "learners"},
    "__init__": {"classifiers", "support"},
    "datasets": {"support"},
    "plotting": {"coding", "classifiers"},
    "persistence": {"support", "decoding", "learners", "classifiers"},
    "onnx": {"support", "decoding", "learners", "classifiers"},
    "compare": {"support", "coding", "decoding", "learners", "classifiers", "datasets"},
    "reports": {"support", "plotting", "compare"},
    "tables": {"support", "data", "decoding", "classifiers", "plotting", "persistence", "compare"},
    "cli": {"support", "compare", "reports", "tables"},
    "__main__": {"cli"},
}
LIBRARY = (
    "support",
    "coding",
    "decoding",
    "data",
    "learners",
    "classifiers",
    "datasets",
    "plotting",
    "persistence",
    "onnx",
)
# What the package itself offers comes from `classifiers`, but for these.
OWN = ("support", "__version__")


def imported(path):
    """Yield the modules of this package that a file imports, and the names it takes from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "skecoc":
                names = [alias.name for alias in node.names]
                yield from (
                    (f"skecoc.{name if name in EDGES or name in OWN else 'classifiers'}", name) for name in names
                )
            elif node.module.startswith("skecoc."):
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("skecoc."))


def subpackage(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def found_edges():
    edges = {}
    for path in sorted(ROOT.rglob("*.py")):
        own = subpackage(path)
        targets = {module.split(".")[1] for module, _ in imported(path)} - {own, "__version__"}
        edges.setdefault(own, set()).update(targets)
    return edges


def test_exactly_these_edges_exist():
    assert found_edges() == EDGES


def test_imports_form_no_cycle_and_the_library_imports_nothing_of_the_application():
    order, left = [], {name: set(targets) for name, targets in EDGES.items()}
    while left:
        free = sorted(name for name, targets in left.items() if not targets & left.keys())
        assert free, f"a cycle among {sorted(left)}"
        order += free
        left = {name: targets for name, targets in left.items() if name not in free}
    assert all(EDGES[name] <= set(LIBRARY) for name in LIBRARY)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_private_names_stay_in_their_subpackage(path):
    crossing = [
        (module, name)
        for module, name in imported(path)
        if module.split(".")[1] != subpackage(path)
        and any(part.startswith("_") for part in (*module.split(".")[2:], name))
        and name != "__version__"
    ]
    assert crossing == []


def test_the_core_works_without_any_optional_package():
    # Blocked rather than looked for in sys.modules: scikit-learn itself imports pandas where it is installed.
    code = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        optional = "pandas pyarrow matplotlib jinja2 polars dask distributed highspy soundfile soxr playwright skops"
        exported = "onnx skl2onnx onnxruntime lightgbm clarabel"
        if name.split(".")[0] in optional.split() + exported.split():
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
import skecoc.coding, skecoc.decoding, skecoc.learners, skecoc.data
from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.datasets import load_uci
X, y = load_uci("iris", return_X_y=True)
print(ECOCClassifier().fit(X, y).score(X, y) > 0.9, WOLCClassifier.paper().fit(X, y).score(X, y) > 0.9)
print("skecoc.compare" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]
