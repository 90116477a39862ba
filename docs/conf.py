"""How Sphinx builds the documentation: ``make docs``."""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import GenericAlias
from typing import Any

import matplotlib as mpl
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

import skecoc

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
mpl.use("Agg")

# -- What the API reference holds --------------------------------------------------------------------------------------

#: The modules of the API reference, as ``api/index.md`` lists them.
MODULES = re.findall(
    r"^   (skecoc[\w.]*)$", (Path(__file__).parent / "api" / "index.md").read_text("utf-8"), re.MULTILINE
)


def public_names(module_name: str) -> dict[str, list[str]]:
    """Sort the public names of a module into classes, functions, aliases of types and data."""
    module = import_module(module_name)
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
    constants = [name for name in vars(module) if name.isupper() and name != "TYPE_CHECKING"]
    names = getattr(module, "__all__", [name for name in (*defined, *constants) if not name.startswith("_")])
    kinds: dict[str, list[str]] = {"classes": [], "functions": [], "types": [], "data": []}
    for name in sorted(set(names) - {"__version__"}, key=str.lower):
        kinds[kind_of(getattr(module, name))].append(name)
    return kinds


def kind_of(value: Any) -> str:
    """Tell whether something is a class, a function, an alias of a type, or data."""
    if isinstance(value, GenericAlias):
        return "types"
    return "classes" if inspect.isclass(value) else "functions" if inspect.isroutine(value) else "data"


def contents_of(modules: list[str]) -> dict[str, dict[str, list[str]]]:
    """List the public names of modules, classes and functions only where they come first."""
    contents: dict[str, dict[str, list[str]]] = {}
    seen: set[Any] = set()
    for module in modules:
        contents[module] = public_names(module)
        for kind in ("classes", "functions"):
            values = {name: getattr(import_module(module), name) for name in contents[module][kind]}
            contents[module][kind] = [name for name, value in values.items() if value not in seen]
            seen.update(values.values())
    return contents


CONTENTS = contents_of(MODULES)
#: Full name of every public class and function by its last part; of equal ones that of the earlier module.
FULL_NAMES = {
    name: f"{module}.{name}"
    for module in reversed(MODULES)
    for kind in ("classes", "functions")
    for name in CONTENTS[module][kind]
}

# -- Project -----------------------------------------------------------------------------------------------------------

project = "scikit-ecoc"
author = "The scikit-ecoc developers"
copyright = author  # noqa: A001 - the name that Sphinx knows
release = skecoc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "_extensions", "api/templates", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["api/templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# -- API reference -----------------------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_context = {"contents": CONTENTS}
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

# -- Gallery -----------------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all are run
    "ignore_pattern": r"dask_cluster\.py$",  # starts processes of its own and has nothing to show
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "api/backreferences",
    "doc_module": ("skecoc",),
    "download_all_examples": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "default_thumb_file": str(Path(__file__).parent / "figures" / "code_matrices.png"),
}

# -- Pages -------------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "scikit-ecoc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {name: [] for name in ("index", "tutorial", "results/*", "comparison", "contributing")}


# -- Names become links ------------------------------------------------------------------------------------------------


def link_public_name(app: Sphinx, env: BuildEnvironment, node: Any, contnode: Any) -> nodes.Node | None:
    """Resolve a class or function that a docstring names by its last part or by the module that defines it."""
    full_name = FULL_NAMES.get(node["reftarget"].rpartition(".")[2])
    if node.get("refdomain") != "py" or full_name is None:
        return None
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", full_name, node, contnode)


def adapt_links(app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Let links to examples, as they are in the repository, lead to the gallery."""
    source[0] = re.sub(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)", r"](/gallery/\1.rst)", source[0])


class LinkCode(SphinxTransform):
    """Turn inline code that is a public name into a link to the API reference."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Wrap the code of a page; what docstrings have between single backticks is code."""
        for quoted in list(self.document.findall(nodes.title_reference)):
            quoted.replace_self(nodes.literal("", quoted.astext()))
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if not isinstance(literal.parent, nodes.title | nodes.reference | addnodes.pending_xref) and is_link(name):
                target = FULL_NAMES.get(name, name)
                reference = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=target, refdoc=self.env.docname, refwarn=False
                )
                literal.replace_self(reference)
                reference += literal


def is_link(name: str) -> bool:
    """Tell a public name from a plain word: `compare` may be a command, `hadamard` is a function."""
    if name.startswith("skecoc."):
        return Path(name).suffix not in {".toml", ".html", ".json"}
    plain_word = name.islower() and "_" not in name and name not in CONTENTS["skecoc.coding"]["functions"]
    return name in FULL_NAMES and not plain_word


def escape_trailing_underscores(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    obj: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Keep names of fitted attributes outside of code from being taken for links: ``shape (n_features_in_,)``."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"(?<=[\s(-])(\w*[a-z])_(?=[\s,.;)]|$)", r"\1\\_", part) for part in parts[::2]]
            lines[number] = "`".join(parts)


def skip_inherited(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Leave out what scikit-learn and named tuples add to every class, and what its docstring lists already."""
    origin = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__module__", None) or ""
    is_foreign = origin.startswith(("sklearn", "collections")) or type(obj).__name__ == "_tuplegetter"
    is_listed = isinstance(obj, property) and name.endswith("_")  # a fitted attribute: the class's docstring has it
    is_routing = name.startswith("set_") and name.endswith("_request")
    return True if is_foreign or is_listed or is_routing else None


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("source-read", adapt_links)
    app.connect("missing-reference", link_public_name)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-docstring", escape_trailing_underscores, priority=900)  # after numpydoc
    app.add_transform(LinkCode)
