"""Import what only the ``table`` extra installs, where it is used."""

from importlib import import_module
from types import ModuleType


def import_table_extra(module: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Parameters
    ----------
    module : {"pandas", "pyarrow.parquet"}
        The module to import.
    purpose : str
        What needs it, for the error message.

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
    >>> import_table_extra("pandas", "load_table").__name__
    'pandas'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "scikit-ecoc[table]"') from error
