"""What results depend on besides the request: the versions at work, and the machine."""

import os
import platform
from importlib.metadata import version

import skecoc

#: Packages whose versions may change a result.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "piqp")


def versions() -> dict[str, str]:
    """Return the versions of this package, of Python and of the packages that compute.

    Returns
    -------
    dict of str to str
        Name and version.

    Examples
    --------
    >>> sorted(versions())[:3]
    ['numba', 'numpy', 'piqp']
    """
    return {
        "skecoc": skecoc.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def machine() -> dict[str, str | int]:
    """Describe the machine: system, architecture and number of cores.

    Returns
    -------
    dict of str to str or int
        Plain values.

    Examples
    --------
    >>> sorted(machine())
    ['architecture', 'cores', 'processor', 'system']
    """
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
    }


def _processor() -> str:
    """Name the processor as well as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        models = []
    return models[0] if models else platform.processor()
