"""The fourteen UCI data sets of the experiments in the WOLC-ECOC paper."""

import gzip
from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skecoc.support.errors import import_extra, resolve_name

__all__ = ["list_uci", "load_uci"]

_DATA = files("skecoc.datasets") / "data"
_FILES = {file.name.removesuffix(".csv.gz"): file for file in _DATA.iterdir() if file.name.endswith(".csv.gz")}


def list_uci() -> list[str]:
    """List the names of the UCI data sets that are included in the package.

    Returns
    -------
    list of str
        The fourteen names that :func:`load_uci` accepts, in alphabetical order.

    Examples
    --------
    >>> from skecoc.datasets import list_uci
    >>> list_uci()[:3]
    ['balance', 'dermatology', 'ecoli']
    """
    return sorted(_FILES)


@overload
def load_uci(name: str, *, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...
@overload
def load_uci(name: str, *, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...
def load_uci(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Bunch | tuple[Any, Any]:
    """Load one of the UCI data sets that are included in the package.

    Parameters
    ----------
    name : str
        Name of the data set; see :func:`list_uci`.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a bunch.
    as_frame : bool, default=False
        Whether to return ``data`` as a pandas DataFrame and ``target`` as a pandas Series (needs the ``table`` extra).

    Returns
    -------
    :class:`~sklearn.utils.Bunch` or tuple
        With ``return_X_y=True`` the tuple ``(data, target)``, otherwise a bunch with

        data : ndarray of shape (n_samples, n_features) or DataFrame
            The features as float64. Missing values are NaN (only eight ages in ``"dermatology"``).
        target : ndarray of shape (n_samples,) or Series
            The class labels as strings, spelled as in the UCI repository.
        feature_names : list of str
            Names of the features, length n_features.
        target_names : ndarray of shape (n_classes,)
            The class labels, sorted as in ``classes_`` of a fitted classifier.
        frame : DataFrame of shape (n_samples, n_features + 1) or None
            Features and class together; None unless ``as_frame=True``.
        DESCR : str
            Description of the data: source, citation and known problems.
        filename : str
            Path of the data file.

    Notes
    -----
    The UCI Machine Learning Repository licenses these data sets under CC BY 4.0. Please cite the donors of a data set
    if you publish results on it; its ``DESCR`` contains the citation.

    Examples
    --------
    >>> from skecoc.datasets import load_uci
    >>> load_uci("vehicle").target_names
    array(['bus', 'opel', 'saab', 'van'], dtype='<U4')
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> X[0], str(y[0])
    (array([5.1, 3.5, 1.4, 0.2]), 'Iris-setosa')
    """
    path = resolve_name("name", name, _FILES)
    feature_names, data, target = _parse_table(gzip.decompress(path.read_bytes()).decode("utf-8"))
    bunch = Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        target_names=np.unique(target),
        frame=None,
        DESCR=(_DATA / path.name.replace(".csv.gz", ".rst")).read_text(encoding="utf-8"),
        filename=str(path),
    )
    if as_frame:
        pd = import_extra("pandas", "table", "as_frame=True")
        bunch.data = pd.DataFrame(data, columns=feature_names)
        bunch.target = pd.Series(target, name="class")
        bunch.frame = bunch.data.assign(**{"class": bunch.target})
    return (bunch.data, bunch.target) if return_X_y else bunch


def _parse_table(text: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.str_]]:
    """Return feature names, numbers and labels of a CSV text whose last column is the class."""
    # numpy's fast reader takes no empty cells; the second pass replaces every other one of several in a row.
    text = text.replace("\n,", "\nnan,").replace(",,", ",nan,").replace(",,", ",nan,")
    header, *lines = text.splitlines()
    parts = [line.rpartition(",") for line in lines]
    data = np.loadtxt([numbers for numbers, _, _ in parts], delimiter=",", dtype=np.float64, ndmin=2)
    target = np.array([label for _, _, label in parts])
    return header.split(",")[:-1], data, target
