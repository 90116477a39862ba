"""Data sets to compare methods on: included ones by name, their preparation by fold, and checks before any run."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from skecoc.datasets import list_uci, load_uci
from skecoc.support.errors import InputError, spell_out

# Gaps are frequent from this share of the rows on, and this number.
_FREQUENT_GAPS, _FEWEST_GAPS = 0.05, 5


@dataclass(frozen=True)
class DataSet:
    """A classification problem with a name.

    Parameters
    ----------
    name : str
        Name of the data set in tables.
    X : ndarray of shape (n_samples, n_features) or pandas.DataFrame
        The samples; missing numbers are NaN.
    y : ndarray of shape (n_samples,)
        Class labels.
    preprocessor : transformer, default=None
        Transformer that turns X into a dense float array, fitted on the training part of each fold. None means median
        imputation (unless a method supports missing values) and scaling to [0, 1]. `skecoc.tables.as_data_set` makes a
        data set with a preprocessor for a data frame.
    notes : sequence of str, default=()
        Remarks on X, such as ignored columns.
    classes : ndarray of shape (n_classes,), default=None
        Names of the classes in their order, if `y` holds indices into them.
    groups : ndarray of shape (n_samples,), default=None
        Samples of a group are never split between training and test.
    identity : str, default=None
        Name that the seeds of its runs are derived from; None means `name`.
    order : sequence of labels, default=()
        The classes in their natural order, if they have one.
    decimal : str, default="."
        The decimal mark of the file that X comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc.compare import DataSet
    >>> DataSet("tiny", np.zeros((2, 1)), np.array(["a", "b"])).name
    'tiny'
    """

    name: str
    X: Any
    y: NDArray[Any]
    preprocessor: Any = None
    notes: Sequence[str] = ()
    classes: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    identity: str | None = None
    order: Sequence[Any] = ()
    decimal: str = "."

    @property
    def seed_name(self) -> str:
        """Name that the seeds of its runs are derived from."""
        return self.name if self.identity is None else self.identity

    def class_names(self) -> list[str]:
        """Name the classes, in their order."""
        return [str(label) for label in (np.unique(self.y) if self.classes is None else self.classes)]

    def prepared(
        self, train: NDArray[np.intp], test: NDArray[np.intp], *, keep_missing: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Return the training and test part as numbers, and the preprocessor fitted on the training part.

        With `keep_missing`, numbers that are missing stay NaN, for learners that take them.
        """
        for known in _LAST_PREPARED:
            is_same = known.data_set is self and known.keep_missing == keep_missing
            if is_same and np.array_equal(known.train, train):
                return known.parts
        preprocessor = scaled_numbers() if self.preprocessor is None else clone(self.preprocessor)
        leave_missing(preprocessor, keep_missing)
        X_train = preprocessor.fit_transform(_safe_indexing(self.X, train), self.y[train])
        parts = (X_train, preprocessor.transform(_safe_indexing(self.X, test)), preprocessor)
        _LAST_PREPARED.append(_Prepared(self, train, keep_missing, parts))
        return parts


class _Prepared(NamedTuple):
    """The parts that were prepared last, which the next method can use, too."""

    data_set: DataSet
    train: NDArray[np.intp]
    keep_missing: bool
    parts: tuple[NDArray[Any], NDArray[Any], Any]


# With gaps and without.
_LAST_PREPARED: deque[_Prepared] = deque(maxlen=2)


def forget_prepared() -> None:
    """Release the parts that `DataSet.prepared` keeps for the next method, when there is none."""
    _LAST_PREPARED.clear()


def leave_missing(preprocessor: Any, keep_missing: bool) -> None:
    """Set whether a preprocessor that is not fitted leaves missing numbers as they are; not all of them can."""
    names = [name for name in preprocessor.get_params() if name.split("__")[-1] == "keep_missing"]
    preprocessor.set_params(**dict.fromkeys(names, keep_missing))


def are_frequent(is_missing: NDArray[np.bool_]) -> Any:
    """Tell whether a column, or each column of an array, has so many missing values that it gets an indicator.

    These are at least 5 % of the rows, and 5 rows; and as many rows have a value.
    """
    count, n_rows = is_missing.sum(axis=0), len(is_missing)
    least = max(_FEWEST_GAPS, _FREQUENT_GAPS * n_rows)
    return (count >= least) & (n_rows - count >= least)


class MedianImputer(TransformerMixin, BaseEstimator):
    """Impute missing values by the median of each column, or by 0 in columns without any value.

    It works like scikit-learn's `SimpleImputer` for floats, but stores only numbers: `SimpleImputer` contains a
    `numpy.dtype`, and loading such an object from a forged file could corrupt memory.

    Parameters
    ----------
    keep_missing : bool, default=False
        Whether to keep missing values, except in columns without any value.
    add_indicators : bool, default=False
        Whether to append a missing indicator for each column with many missing values, unless these are kept. Columns
        with missing values in the same rows share an indicator.
    """

    def __init__(self, keep_missing: bool = False, add_indicators: bool = False) -> None:
        self.keep_missing = keep_missing
        self.add_indicators = add_indicators

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the medians of the columns of X, of shape (n_samples, n_features)."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        is_missing = np.isnan(X)
        has_gaps, is_empty = is_missing.any(axis=0), is_missing.all(axis=0)
        self.medians_ = np.where(is_empty, 0.0, np.nan)
        if not self.keep_missing:
            self.medians_[~has_gaps] = np.median(X[:, ~has_gaps], axis=0)
            has_some = has_gaps & ~is_empty
            self.medians_[has_some] = np.nanmedian(X[:, has_some], axis=0)  # takes long: column by column
        indicated: dict[bytes, int] = {}
        if self.add_indicators and not self.keep_missing:
            for place in np.flatnonzero(are_frequent(is_missing)):
                indicated.setdefault(is_missing[:, place].tobytes(), int(place))
        self.indicated_ = np.array(list(indicated.values()), dtype=np.int64)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Fill the gaps of samples of shape (n_samples, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        is_missing = np.isnan(X)
        filled = np.where(is_missing, self.medians_, X)
        return np.hstack([filled, is_missing[:, self.indicated_]]) if len(self.indicated_) else filled

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def scaled_numbers(*, add_indicators: bool = False) -> Pipeline:
    """Impute the median and scale to [0, 1]; a column without any value becomes 0."""
    return make_pipeline(MedianImputer(add_indicators=add_indicators), MinMaxScaler())


def load_data_sets(names: Sequence[str]) -> list[DataSet]:
    """Load data sets of the package by name, in the given order; repeated names are loaded once.

    Parameters
    ----------
    names : sequence of str
        Names of data sets. For an unknown name, an `InputError` lists the valid names.

    Returns
    -------
    list of DataSet
        The data sets.

    Examples
    --------
    >>> from skecoc.compare import load_data_sets
    >>> [data_set.X.shape for data_set in load_data_sets(["iris", "wine"])]
    [(150, 4), (178, 13)]
    """
    valid = list_uci()
    for name in names:
        if name not in valid:
            raise InputError(f"datasets: {name!r} is not known; expected one of {', '.join(valid)}")
    bunches = {name: load_uci(name) for name in names}
    return [DataSet(name, bunch.data, np.asarray(bunch.target)) for name, bunch in bunches.items()]


def check_data_set(data_set: DataSet, folds: int) -> list[str]:
    """Refuse a data set that cannot be cross-validated, and return what a reader should know about it."""
    _check_numbers(data_set)
    name, y = data_set.name, data_set.y
    check_labels(name, y)
    values, sizes = np.unique(y, return_counts=True)
    labels = values if data_set.classes is None else data_set.classes[values]
    counts = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
    if len(counts) == 1:
        raise InputError(f"data set {name!r} has one class only ({next(iter(counts))}), expected two or more")
    if folds > len(y):
        raise InputError(f"folds: {folds} is more than the {len(y)} rows of data set {name!r}")
    if folds > max(counts.values()):
        raise InputError(
            f"folds: {folds} is more than the {max(counts.values())} rows of the largest class of "
            f"data set {name!r}; is the target a class label?"
        )
    if sorted(counts.values())[-2] < 2:
        raise InputError(f"data set {name!r} has only one class with two rows or more, expected two such classes")
    rare = sorted(str(label) for label, count in counts.items() if count < folds)
    few = f"fewer rows than the {folds} folds in class {spell_out(rare)}: kept, but absent from some folds"
    return [*data_set.notes, *([f"{name}: {few}"] if rare else [])]


def _check_numbers(data_set: DataSet) -> None:
    """Refuse data without samples, without columns or with infinite values."""
    name, X = data_set.name, data_set.X
    if len(X) == 0:
        raise InputError(f"data set {name!r} has no rows")
    if X.shape[1] == 0:
        raise InputError(f"data set {name!r} has no columns to learn from")
    if data_set.preprocessor is not None:
        return
    try:
        infinite = np.flatnonzero(np.isinf(np.asarray(X, dtype=np.float64)).any(axis=0))
    except (ValueError, TypeError) as error:
        raise InputError(f"data set {name!r} has values that are no numbers, and no preprocessor: {error}") from error
    if len(infinite):
        raise InputError(f"data set {name!r} has infinite values in column {spell_out(infinite.tolist())}")


def check_labels(name: str, y: NDArray[Any]) -> None:
    """Refuse labels that are missing, or no classes."""
    if y.dtype.kind in "fO" and (y != y).any():  # noqa: PLR0124 (NaN is what differs from itself)
        raise InputError(f"data set {name!r} has rows without a class label")
    if type_of_target(y) not in {"binary", "multiclass"}:
        raise InputError(f"target: data set {name!r} has labels that are not classes, such as {y[0]}")
