"""Data sets of an experiment: shipped ones by name, what a fold of them is prepared with, and checks before any run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

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

#: The shipped sets with at most 2,310 rows; the three larger ones would take most of the time.
DEFAULT_DATA_SETS = (
    "iris",
    "wine",
    "thyroid",
    "balance",
    "vehicle",
    "dermatology",
    "glass",
    "segmentation",
    "ecoli",
    "yeast",
    "vowel",
)


@dataclass(frozen=True)
class DataSet:
    """A classification problem with a name.

    Parameters
    ----------
    name : str
        What tables call it; it is also part of the seeds of its runs.
    X : ndarray of shape (n_samples, n_features) or pandas.DataFrame
        The samples; numbers may be NaN where a value is missing.
    y : ndarray of shape (n_samples,)
        Class labels.
    preprocessor : transformer, default=None
        Fitted on the training part of each fold, turns X into a dense float array; None stands for median imputation
        and scaling to [0, 1]. `skecoc.tables.as_data_set` makes one for a data frame.
    notes : sequence of str, default=()
        What a reader should know about X, such as columns that are left out.

    Examples
    --------
    >>> DataSet("tiny", np.zeros((2, 1)), np.array(["a", "b"])).name
    'tiny'
    """

    name: str
    X: Any
    y: NDArray[Any]
    preprocessor: Any = None
    notes: Sequence[str] = ()

    def prepared(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """Return the training and test part as numbers, and the preprocessor fitted on the training part."""
        preprocessor = scaled_numbers() if self.preprocessor is None else clone(self.preprocessor)
        X_train = preprocessor.fit_transform(_safe_indexing(self.X, train))
        return X_train, preprocessor.transform(_safe_indexing(self.X, test)), preprocessor


class MedianImputer(TransformerMixin, BaseEstimator):
    """Fill gaps with the median of each column, and columns without any value with 0.

    It does what scikit-learn's `SimpleImputer` does for floats, but is made of nothing except numbers: that one holds
    a `numpy.dtype`, and restoring such an object from a forged file could corrupt memory.
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the medians of the columns of X, of shape (n_samples, n_features)."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.medians_ = np.zeros(X.shape[1])
        filled = ~np.isnan(X).all(axis=0)
        self.medians_[filled] = np.nanmedian(X[:, filled], axis=0)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Fill the gaps of samples of shape (n_samples, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return np.where(np.isnan(X), self.medians_, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def scaled_numbers() -> Pipeline:
    """Impute the median and scale to [0, 1]; a column without any value becomes 0."""
    return make_pipeline(MedianImputer(), MinMaxScaler())


def load_data_sets(names: Sequence[str]) -> list[DataSet]:
    """Load shipped data sets by name, in the order given; repeated names count once.

    Parameters
    ----------
    names : sequence of str
        An `InputError` lists the valid names for one that is not known.

    Returns
    -------
    list of DataSet
        The data sets.

    Examples
    --------
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
    rare = _check_classes(data_set, folds)
    few = f"fewer rows than the {folds} folds in class {spell_out(rare)}: kept, but absent from some folds"
    return [*([f"{data_set.name}: {few}"] if rare else []), *data_set.notes]


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


def _check_classes(data_set: DataSet, folds: int) -> list[str]:
    """Refuse labels that cannot be split; return the classes with fewer samples than folds."""
    name, y = data_set.name, data_set.y
    if y.dtype.kind in "fO" and (y != y).any():  # noqa: PLR0124 (NaN is what differs from itself)
        raise InputError(f"data set {name!r} has rows without a class label")
    if type_of_target(y) not in {"binary", "multiclass"}:
        raise InputError(f"target: data set {name!r} has labels that are not classes, such as {y[0]}")
    counts = Counter(y.tolist())
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
    return sorted(str(label) for label, count in counts.items() if count < folds)
