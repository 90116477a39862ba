"""Names of a package that are loaded when they are first used, so that parts of it can be used without the others."""

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str], subpackages: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package, given the modules where its names are.

    Subpackages are loaded when they are first used, too.

    >>> load, names = lazily(__name__, {"pairwise": "itertools"})
    >>> list(load("pairwise")("abc"))
    [('a', 'b'), ('b', 'c')]
    """

    def load(name: str) -> Any:
        if name in subpackages:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *homes, *subpackages})
