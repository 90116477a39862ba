"""The page of public names is complete: what it lists exists, and what users reach is on it."""

import ast
import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest
from scripts._pages import python_blocks
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

import skecoc
from skecoc.decoding import DECODERS, BaseDecoder

ROOT = Path(__file__).resolve().parents[1]
API = ROOT / "docs" / "api"
PAGE = (API / "names.md").read_text("utf-8")
# What scikit-learn's estimators have.
USUAL = {
    *("fit", "partial_fit", "predict", "predict_proba", "decision_function", "staged_predict", "transform"),
    *("get_feature_names_out", "set_output"),
    *(name for kind in (BaseEstimator, ClassifierMixin, TransformerMixin) for name in dir(kind)),
}
# Pages that users read, without those on the paper, which look into the library.
GUIDE = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "user_guide").glob("*.md")),
    *sorted((ROOT / "docs" / "how_to").glob("*.md")),
]


def rows_of(heading):
    """Names in both columns of the table below a heading, row by row."""
    table = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    return [tuple(re.findall(r"`([\w.]+)`", cell) for cell in row) for row in rows]


LISTED = {
    modules[0]: names
    for heading in ("What modules hold", "What other distributions build on")
    for modules, names in rows_of(heading)
}
CLASSES = {
    name: value
    for module, names in LISTED.items()
    for name in names
    if inspect.isclass(value := getattr(import_module(module), name))
}
ESTIMATORS = {name: kind for name, kind in CLASSES.items() if hasattr(kind, "fit")}


def methods_listed(name):
    """Methods and properties that the page lists for an estimator."""
    decoders = [decoder.__name__ for decoder in (BaseDecoder, *DECODERS.values())]
    return {
        method
        for kinds, methods in rows_of("What estimators have beyond scikit-learn's methods")
        if name in (kinds or decoders)
        for method in methods
    }


def methods_of(kind):
    """Public methods of a class, and its properties that are not fitted attributes."""
    attributes = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {
        name
        for name, value in attributes.items()
        if not name.endswith(("_", "_request")) and (callable(value) or hasattr(value, "__get__"))
    }


def imports_of(code):
    """Pairs of a module of the library and a name, of all that some code imports from it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "skecoc":
            yield from ((node.module, alias.name) for alias in node.names)


def test_the_page_and_the_reference_have_the_same_modules():
    modules = re.findall(r"^   (skecoc[\w.]*)$", (API / "index.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(modules) == sorted(LISTED)


@pytest.mark.parametrize("module", LISTED)
def test_the_page_lists_what_the_module_says_is_public(module):
    public = set(import_module(module).__all__) - {"__version__"}
    assert sorted(LISTED[module]) == sorted(public)
    assert all(hasattr(import_module(module), name) for name in public)


def test_every_public_name_of_any_module_is_on_the_page():
    modules = [module.name for module in pkgutil.walk_packages(skecoc.__path__, "skecoc.")]
    modules = [name for name in modules if not any(part.startswith("_") for part in name.split("."))]
    on_page = [getattr(import_module(module), name) for module, names in LISTED.items() for name in names]
    missing = [
        f"{module}.{name}"
        for module in modules
        for name in getattr(import_module(module), "__all__", ())
        if not any(getattr(import_module(module), name) is value for value in on_page)
    ]
    assert missing == []


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_the_guide_uses_public_names_alone(page):
    found = {pair for block in python_blocks(page.read_text("utf-8")) for pair in imports_of(block.text)}
    assert [pair for pair in sorted(found) if pair[1] not in LISTED.get(pair[0], ())] == []


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_use_public_names_alone(example):
    found = set(imports_of(example.read_text("utf-8")))
    assert [pair for pair in sorted(found) if pair[1] not in LISTED.get(pair[0], ())] == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_methods_of_estimators_are_those_of_scikit_learn_or_listed(name):
    own = methods_of(ESTIMATORS[name])
    assert own - USUAL - methods_listed(name) == set()
    assert methods_listed(name) <= own
    undocumented = [method for method in methods_listed(name) if not getattr(ESTIMATORS[name], method).__doc__]
    assert undocumented == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_after_the_first_are_keywords(name):
    kinds = [parameter.kind for parameter in inspect.signature(ESTIMATORS[name]).parameters.values()]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[1:])


@pytest.mark.parametrize("name", [name for name, kind in ESTIMATORS.items() if issubclass(kind, ClassifierMixin)])
def test_classifiers_count_their_classes(name):
    assert re.search(r"^ +n_classes_ : int$|`n_classes_`", ESTIMATORS[name].__doc__, re.MULTILINE)
