"""`TableClassifier`, a classifier for data frames with columns of any kind, and loading its files safely."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from skecoc.classifiers.wolc import WOLCClassifier
from skecoc.compare.data_sets import leave_missing
from skecoc.compare.trials import fit_weighted, takes_missing
from skecoc.data.described import refuse_data
from skecoc.persistence import ModelFileError, load_model
from skecoc.support.errors import InputError, import_extra
from skecoc.tables.kinds import KINDS, Strays, describe_strays, kinds_of, typed, useless_columns, with_names
from skecoc.tables.preprocessing import make_preprocessor

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

Floats = NDArray[np.float64]


class TableClassifier(ClassifierMixin, BaseEstimator):
    """Classifier for data frames with numbers, dates, categories and text.

    Numbers are scaled to [0, 1]. Missing numbers remain NaN if the classifier supports it; otherwise they are replaced
    by the median, with a missing indicator where they are frequent. Dates are encoded as elapsed days, year, month,
    weekday and hour; text with few values as indicators; text with many values by the shares of the classes; and
    sentences as TF-IDF weights of words. Constant columns and identifiers of rows are ignored. New rows may have the
    columns in any order, and further columns.

    Parameters
    ----------
    classifier : classifier, default=None
        The classifier that is trained on the encoded columns. None means ``WOLCClassifier()``.
    drop : sequence of str, default=()
        Columns to ignore.
    class_order : sequence of labels, default=None
        The class labels in their natural order, for ordinal codes; labels without rows are ignored. None means sorted
        order.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, in the order of `class_order`.
    n_classes_ : int
        Number of classes.
    classifier_ : classifier
        The trained classifier; its classes are indices into `classes_`.
    preprocessor_ : transformer
        The fitted transformer that encodes the columns as numbers.
    kinds_ : dict of str to str
        The columns that are used, with the kind of each.
    left_out_ : dict of str to str
        The columns that are not used, with the reason: "constant", "identifier" or "dropped".
    card_ : dict
        Held-out results and settings of `skecoc.tables.fit_table`; empty if the model was fitted otherwise.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.tables import TableClassifier
    >>> colours = ["red", "blue", "blue", None, "red", "blue"]
    >>> frame = pd.DataFrame({"size": [1.5, 3.5, None, 1.0, 4.0, 3.0], "colour": colours})
    >>> model = TableClassifier(ECOCClassifier()).fit(frame, ["a", "b", "a", "a", "b", "b"])
    >>> model.predict(pd.DataFrame({"colour": ["green", "red"], "size": ["3.9", "1"]})).tolist()
    ['b', 'a']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "classifier": [HasMethods(["fit", "predict"]), None],
        "drop": ["array-like"],
        "class_order": ["array-like", None],
    }

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        drop: Sequence[str] = (),
        class_order: ArrayLike | None = None,
    ) -> None:
        self.classifier = classifier
        self.drop = drop
        self.class_order = class_order

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: "pd.DataFrame", y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Detect the kinds of the columns, and fit the preprocessing and the classifier.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            The table, without the classes.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, passed to the classifier or to the last step of a pipeline.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_data(self, X=X)
        X = with_names(X)
        self.classes_, indices = _number_classes(y, self.class_order)
        self.kinds_, self.left_out_ = choose_columns(X, self.drop)
        values = typed(X, self.kinds_)
        chosen = clone(WOLCClassifier() if self.classifier is None else self.classifier)
        self.preprocessor_ = make_preprocessor(self.kinds_)
        leave_missing(self.preprocessor_, takes_missing(chosen))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.classifier_ = fit_weighted(chosen, self.preprocessor_.fit_transform(values, indices), indices, weights)
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.array(X.columns, dtype=str)  # text is stored as one array, objects one by one
        self.card_: dict[str, Any] = {}
        return self

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def predict(self, X: "pd.DataFrame") -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, any number of columns)
            Rows with at least the columns of `kinds_`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.

        Warns
        -----
        UserWarning
            If a column has values that are not of its kind; they are treated as missing.
        """
        return self.classes_[self.classifier_.predict(self._encoded(X))]

    def predict_proba(self, X: "pd.DataFrame") -> Floats:
        """Estimate the probability of each class for each row.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, any number of columns)
            Rows with at least the columns of `kinds_`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.

        Warns
        -----
        UserWarning
            If a column has values that are not of its kind; they are treated as missing.
        """
        return self.classifier_.predict_proba(self._encoded(X))

    def _encoded(self, X: "pd.DataFrame") -> Floats:
        """Turn the columns of new rows into numbers."""
        check_is_fitted(self)
        strays: dict[str, Strays] = {}
        values = typed(X, self.kinds_, strays)
        for name, found in strays.items():
            message = f"column {name!r}: {describe_strays(found, self.kinds_[name])}"
            warnings.warn(message, UserWarning, stacklevel=3)
        return self.preprocessor_.transform(values)


def _number_classes(y: ArrayLike, order: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in their order, and the index of each row's class."""
    labels = np.asarray(y)
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)  # a model's file holds no arrays of objects
    classes, indices = np.unique(labels, return_inverse=True)
    if order is None:
        return classes, indices
    ordered = np.asarray(order).tolist()
    places = {label: place for place, label in enumerate(ordered)}
    unknown = [label for label in classes.tolist() if label not in places]
    if unknown:
        raise InputError(f"class_order: the label {unknown[0]!r} is not among them; expected all labels in their order")
    if len(places) < len(ordered):
        raise InputError("class_order: a label occurs more than once")
    ranks = np.array([places[label] for label in classes.tolist()])
    by_rank = np.argsort(ranks)
    return classes[by_rank], np.argsort(by_rank)[indices]


def choose_columns(X: "pd.DataFrame", drop: Sequence[str] = ()) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns to learn from with their kinds, and the others with the reason."""
    X = with_names(X)
    unknown = [name for name in drop if name not in X.columns]
    if unknown:
        raise InputError(f"drop: {unknown[0]!r} is not a column of the table")
    kinds = {name: kind for name, kind in kinds_of(X).items() if name not in drop}
    left_out = {**dict.fromkeys(drop, "dropped"), **useless_columns(X, kinds)}
    kinds = {name: kind for name, kind in kinds.items() if name not in left_out}
    if not kinds:
        raise InputError("no column is left to learn from: all are constant, identifiers or dropped")
    return kinds, left_out


def read_model(path: Path, trusted: Sequence[str], say: Callable[[str], None]) -> Any:
    """Load a model of any kind and report warnings; an InputError says what is wrong with the file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = load_model(path, trusted=trusted)
        except ModelFileError as error:
            hint = f"; if you trust their code, add --trust {' '.join(error.untrusted)}" if error.untrusted else ""
            raise InputError(f"model: {error}{hint}") from error
        except ImportError as error:
            raise InputError(str(error)) from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(message)
    return model


def read_table_model(path: Path, trusted: Sequence[str], say: Callable[[str], None]) -> TableClassifier:
    """Load a model of a table, and try it; see `read_model` and `check_table_model`."""
    try:
        import_extra("pandas", "table", "a model of a table")
    except ImportError as error:
        raise InputError(str(error)) from error
    return check_table_model(read_model(path, trusted, say), path)


def check_table_model(model: Any, path: Path) -> TableClassifier:
    """Refuse an object that is not a model of a table, or cannot predict; `path` is its file, for messages."""
    if not isinstance(model, TableClassifier):
        raise InputError(f"model: '{path}' holds a {type(model).__name__}, expected a model made by skecoc fit")
    try:
        _try(model)
    except Exception as error:  # a forged file may hold anything that skops can write
        raise InputError(f"model: '{path}' is damaged: {named_reason(error)}") from error
    return model


def named_reason(error: Exception) -> str:
    """Describe any error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _try(model: TableClassifier) -> None:
    """Check names and classes, and predict a row without values."""
    kinds, card = model.kinds_, model.card_
    if not all(isinstance(name, str) and kind in KINDS for name, kind in {**kinds}.items()):
        raise ValueError("its columns have no names or kinds")
    if not isinstance(card, dict) or not isinstance(model.left_out_, dict):
        raise TypeError("its card is missing")
    labels = model.classes_
    if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise ValueError("its classes are not labels")
    # NumPy text may hold lone surrogates, which cannot be encoded.
    names = {str(label).encode().decode() for label in labels}
    if len(names) < len(labels):
        raise ValueError("its classes are not distinct")
    if not np.array_equal(model.classifier_.classes_, np.arange(len(labels))):
        raise ValueError("its classifier was not trained on these classes")
    row = pd.DataFrame(np.full((1, len(kinds)), np.nan), columns=list(kinds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoded = model.preprocessor_.transform(typed(row, kinds))
        predicted = model.classifier_.predict(encoded)
        if hasattr(model.classifier_, "predict_proba"):
            probabilities = model.classifier_.predict_proba(encoded)
        else:
            probabilities = np.zeros((1, len(model.classifier_.classes_)))
    if probabilities.shape != (1, len(labels)) or predicted.shape != (1,) or not np.isfinite(probabilities).all():
        raise ValueError("its probabilities do not fit its classes")
