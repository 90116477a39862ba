"""The documentation's site is whole: it builds without a warning, every name can be looked up, every example runs."""

import inspect
import pkgutil
import runpy
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import skecoc
from tests.browser import NAMES, launch
from tests.grids import nightly

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "gallery", "generated", "backreferences")
# The example of a cluster, which shows nothing, has a test of its own.
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
QUICK_EXAMPLES = {"plot_code_matrices"}


def public_objects():
    """Pairs of a full name and what it stands for, of everything in an `__all__`."""
    for module in [skecoc, *map(import_module, module_names())]:
        for name in getattr(module, "__all__", ()):
            if name != "__version__":
                yield f"{module.__name__}.{name}", getattr(module, name)


def module_names():
    """Names of the package's public modules."""
    names = (module.name for module in pkgutil.walk_packages(skecoc.__path__, "skecoc."))
    return [name for name in names if not any(part.startswith("_") for part in name.split("."))]


@cache
def configuration():
    """What `docs/conf.py` defines."""
    pytest.importorskip("sphinx", reason="the site needs Sphinx")
    path = list(sys.path)
    try:
        return runpy.run_path(str(DOCS / "conf.py"))
    finally:
        sys.path[:] = path


def test_every_public_name_is_in_the_reference():
    contents = configuration()["CONTENTS"]
    documented = [
        getattr(import_module(module), name)
        for module, kinds in contents.items()
        for names in kinds.values()
        for name in names
    ]
    missing = [name for name, value in public_objects() if not any(value is other for other in documented)]
    assert missing == []


def test_names_become_links_only_where_they_are_meant():
    is_link = configuration()["is_link"]
    assert [name for name in ("WOLCClassifier", "hadamard", "plot_weights", "skecoc.coding") if not is_link(name)] == []
    assert [name for name in ("compare", "fit", "sklearn.svm.SVC", "skecoc.json") if is_link(name)] == []


@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES if example.stem in QUICK_EXAMPLES]
    + nightly(example for example in EXAMPLES if example.stem not in QUICK_EXAMPLES),
    ids=lambda path: path.stem,
)
def test_example_of_the_gallery_runs(example, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()) or plt.close("all"))
    try:
        runpy.run_path(str(example))
    finally:
        plt.close("all")
    assert shown


@pytest.mark.nightly
def test_site_builds_without_warnings_and_fits_its_window(tmp_path):
    """The gallery's examples are not run here: that is another test's business."""
    contents = configuration()["CONTENTS"]
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns(*MADE))
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "CONTRIBUTING.md", tmp_path)
    site = tmp_path / "html"
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-b", "html"]
    command = [sys.executable, "-m", "sphinx", *options, str(tmp_path / "docs"), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    check_reference(site, contents)
    check_gallery(site)
    if any(map(shutil.which, NAMES)):
        check_width(site, ["index", "user_guide/growth", "comparison", "api/generated/skecoc.WOLCClassifier"])


def check_reference(site, contents):
    """Every public name has an entry that can be linked to, and docstrings link to each other."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for kind in inventory.data if kind.startswith("py:") for name in inventory.data[kind]}
    listed = {f"{module}.{name}" for module, kinds in contents.items() for names in kinds.values() for name in names}
    assert sorted(listed - known) == []
    page = (site / "api" / "generated" / "skecoc.WOLCClassifier.html").read_text(encoding="utf-8")
    assert 'href="skecoc.learners.RegionClassifier.html' in page
    assert inspect.getdoc(skecoc.WOLCClassifier).splitlines()[0] in page


def check_gallery(site):
    """Every example that draws has a page, and pages of the guide link to it."""
    for example in (ROOT / "examples").glob("plot_*.py"):
        assert (site / "gallery" / f"{example.stem}.html").is_file()
    assert 'href="../gallery/plot_probabilities.html"' in (site / "how_to" / "costs.html").read_text(encoding="utf-8")


def check_width(site, pages):
    """No page is wider than the window, not even on a telephone."""
    with launch() as browser:
        for width in (390, 1300):
            tab = browser.new_context(offline=True, viewport={"width": width, "height": 900}).new_page()
            for page in pages:
                tab.goto((site / f"{page}.html").as_uri())
                assert tab.evaluate("document.documentElement.scrollWidth") <= width, page
                assert tab.locator("h1").count() == 1
