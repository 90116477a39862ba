"""Decision values of fixed fits: a change of results must be meant."""

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

STORED = Path(__file__).parent / "reference" / "decision_values.npz"
SCRIPT = run_path(str(Path(__file__).parents[1] / "scripts" / "decision_values.py"))
SETS = ("glass", "vehicle")
# Kernels of stumps sum integers or in a fixed order, so these do not depend on the machine.
EXACT = [
    *(f"{name}/ecoc/stumps/{response}" for name in SETS for response in SCRIPT["RESPONSES"]),
    *(f"{name}/block-ecoc/loss-weighted" for name in SETS),
    *(f"coding/{name}/ecoc-stumps" for name in ("decoc", "exhaustive", "forest", "hadamard", "sparse-random")),
    *(f"decoding/{name}/ecoc-stumps" for name in ("hamming", "loss-averaged", "voting", "attenuated-euclidean")),
    *("nan/ecoc-stumps", "sparse/ecoc-stumps", "weights/ecoc-stumps", "class-weights/balanced/ecoc-stumps"),
    *("two-classes/ecoc-stumps", "folds/none/ecoc-stumps", "ordinal/ecoc-stumps", "learner/alone/stumps"),
    *("blocks/many/size-5000-bins-16/ecoc", "blocks/few/own-bins-weights/ecoc", "blocks/few/iterated/ecoc"),
    "large/ecoc-stumps",
]
# Weights that are optimised up to a gap, or learners of other libraries: these may differ in a few samples.
CLOSE = [
    *(f"{name}/{method}/stumps/predict_proba" for name in SETS for method in ("one", "layered", "subclass", "wolc")),
    *("vehicle/wolc/logistic/predict_proba", "glass/block-wolc", "vehicle/block-wolc"),
    *(f"decoding/{name}/ecoc-stumps" for name in ("probabilistic", "logistic-weight", "optimized-weight")),
    *("nan/wolc-stumps", "sparse/wolc-stumps", "weights/wolc-stumps", "class-weights/and-weights/wolc-stumps"),
    *("two-classes/wolc-stumps", "folds/none/wolc-stumps", "ordinal/wolc-stumps", "large/wolc-stumps"),
    *("several/ecoc", "several/wolc", "several/only-multiclass/wolc", "several/nan/ecoc", "growth/paper/wolc"),
    *("proba/ecoc-stumps", "proba/wolc-stumps", "codewords/wolc-tree", "batches/auto/ecoc-sgd"),
    *("warm/wolc-stumps", "warm/one-stumps", "costs/wrapped/predict_proba/ecoc", "learner/alone/regions-of-stumps"),
    *("many/101/compact-tree-fixed/wolc", "many/one-vs-one-fixed/predict_proba/wolc-stumps"),
    "many/32/several/ecoc",
    *("blocks/many/size-5000-bins-auto/wolc", "blocks/few/own-bins/wolc", "blocks/few/several-own-bins/ecoc"),
]
# Labels: one number for each sample.
LABELS = ["costs/matrix-and-reject/ecoc", "costs/by-label/wolc", "staged/wolc-stumps"]
FILES = ["file/ecoc-stumps", "file/wolc-stumps"]
ONNX = ["onnx/ecoc-stumps", "onnx/wolc-stumps"]
DASK = ["dask/few/frames-own-bins-weights/ecoc", "dask/few/own-bins/wolc"]

pytestmark = pytest.mark.usefixtures("one_thread")


def needing(names, package):
    """Skip fits where a package is not installed."""
    missing = pytest.mark.skipif(find_spec(package) is None, reason=f"needs {package}")
    return [pytest.param(name, marks=missing) for name in names]


@pytest.fixture(scope="module")
def fits():
    return SCRIPT["fits"]()


@pytest.fixture(scope="module")
def stored():
    with np.load(STORED) as values:
        yield values


@pytest.mark.parametrize("name", EXACT)
def test_fixed_fits_decide_as_before(fits, stored, name):
    np.testing.assert_allclose(fits[name](), stored[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [*CLOSE, *needing(DASK, "distributed")])
def test_fits_that_depend_on_the_machine_decide_almost_as_before(fits, stored, name):
    found, before = fits[name](), stored[name]
    assert found.shape == before.shape
    assert agreement(found, before) > 0.95


@pytest.mark.parametrize("name", [*needing(FILES, "skops"), *needing(ONNX, "onnxruntime")])
def test_models_that_are_stored_or_exported_estimate_probabilities_almost_as_before(fits, stored, name):
    found, before = fits[name]()[:, -4:], stored[name][:, -4:]
    assert agreement(found, before) > 0.95
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_those_of_before(fits, stored, name):
    assert np.mean(fits[name]() == stored[name]) > 0.95


def agreement(found, before):
    """Return the share of samples whose class was the best before, or as good: single precision makes ties."""
    if found.ndim == 1:
        return np.mean((found > 0) == (before > 0))
    chosen = np.take_along_axis(before, found.argmax(axis=1)[:, np.newaxis], axis=1)
    return np.mean(chosen[:, 0] >= before.max(axis=1) - 1e-5)


def test_the_stored_fits_are_those_of_the_script(fits, stored):
    assert set(stored) == set(fits)
