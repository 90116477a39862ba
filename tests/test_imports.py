"""Imports point one way, and the core needs no optional package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import skecoc

ROOT = Path(skecoc.__file__).parent
# A room may import from the rooms named here, and from itself.
ALLOWED = {
    "_registry": set(),
    "coding": {"_registry"},
    "decoding": {"_registry", "coding"},
    "learners": {"_registry", "coding"},
    "growth": {"coding", "decoding", "learners"},
    "classifiers": {"_registry", "coding", "decoding", "learners"},
    "grown": {"classifiers", "growth", "coding", "decoding", "learners"},
    "blocks": {"coding", "decoding", "learners", "growth", "classifiers", "grown"},
    "_dask_blocks": {"blocks"},
    "dask": {"_dask_blocks", "blocks", "learners"},
    "onnx": {"classifiers", "grown", "coding", "decoding", "learners"},
    "_files": set(),
    "datasets": {"_registry"},
    "plotting": {"coding"},
    "audio": {"_files"},
    "experiments": {
        "_files",
        "_registry",
        "coding",
        "decoding",
        "learners",
        "classifiers",
        "grown",
        "datasets",
        "plotting",
    },
    "_restored": {"classifiers", "decoding", "learners"},
    "persistence": {"_files", "_restored"},
    "tabular": {"datasets", "experiments", "classifiers", "grown", "decoding", "persistence"},
    "commands": {"experiments", "tabular", "persistence", "datasets", "classifiers", "grown", "audio"},
    "cli": {"commands", "experiments"},
    "__main__": {"cli"},
    "__init__": {"classifiers", "grown"},
}


def imported_rooms(path):
    """Rooms of this package that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module] if node.module != "skecoc" else [f"skecoc.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("skecoc."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    grown = ("ECOCOneClassifier", "LCECOCClassifier", "SubclassECOCClassifier", "WOLCClassifier")
    rooms = {"ECOCClassifier": "classifiers", "__version__": "__init__", **dict.fromkeys(grown, "grown")}
    found = {rooms.get(name, name) for name in imported_rooms(path)} - {room, "__init__"}
    assert found <= ALLOWED[room]


def test_the_core_works_without_any_optional_package():
    # Blocked rather than looked for in sys.modules: scikit-learn itself imports pandas where it is installed.
    code = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        optional = "pandas pyarrow matplotlib jinja2 polars dask distributed highspy soundfile soxr playwright skops"
        exported = "onnx skl2onnx onnxruntime lightgbm"
        if name.split(".")[0] in optional.split() + exported.split():
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
import skecoc.coding, skecoc.decoding, skecoc.learners
from skecoc import ECOCClassifier
from skecoc.datasets import load_uci
X, y = load_uci("iris", return_X_y=True)
print(ECOCClassifier().fit(X, y).score(X, y) > 0.9, "skecoc.benchmarking" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
