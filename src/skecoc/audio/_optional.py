"""Import what only the ``audio`` extra installs, where it is used."""

from importlib import import_module
from types import ModuleType


def import_audio_extra(module: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Parameters
    ----------
    module : {"soundfile", "soxr"}
        The module to import.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If it is not installed.

    Examples
    --------
    >>> import_audio_extra("soundfile").__name__
    'soundfile'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'reading audio needs {module}: pip install "scikit-ecoc[audio]"') from error
