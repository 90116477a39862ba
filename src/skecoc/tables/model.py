"""A classifier that takes a table as people have it: numbers, text, dates and gaps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from skecoc.growth import WOLCClassifier
from skecoc.support.errors import InputError
from skecoc.tables.columns import kinds_of, typed, useless_columns
from skecoc.tables.preprocessing import make_preprocessor

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class TableClassifier(ClassifierMixin, BaseEstimator):
    """Classifier of the rows of a data frame.

    Columns are known by their names: new rows may have them in any order, and others beside them. Numbers, booleans
    and dates are imputed by their median and scaled to [0, 1]; text becomes indicators, of which unknown values have
    none, or that of the rare values if a column has more than 100 values. Columns that are constant or only number or
    name the rows are left out.

    Parameters
    ----------
    classifier : classifier, default=None
        What is trained on the numbers that the columns become. None stands for ``WOLCClassifier()``.
    drop : sequence of str, default=()
        Columns to leave out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    classifier_ : classifier
        The trained classifier.
    preprocessor_ : transformer
        What turns the columns into numbers.
    kinds_ : dict of str to str
        The columns that are used, and what each holds.
    left_out_ : dict of str to str
        The columns that are not used, and why: "constant", "identifier" or "dropped".
    card_ : dict
        What is known of the training, such as held-out results; empty unless `skecoc.tables.fit_table` has made the
        model.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from skecoc import ECOCClassifier
    >>> colours = ["red", "blue", "blue", None, "red", "blue"]
    >>> frame = pd.DataFrame({"size": [1.5, 3.5, None, 1.0, 4.0, 3.0], "colour": colours})
    >>> model = TableClassifier(ECOCClassifier()).fit(frame, ["a", "b", "a", "a", "b", "b"])
    >>> model.predict(pd.DataFrame({"colour": ["green", "red"], "size": ["3.9", "1"]})).tolist()
    ['b', 'a']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "classifier": [HasMethods(["fit", "predict"]), None],
        "drop": ["array-like"],
    }

    def __init__(self, classifier: BaseEstimator | None = None, drop: Sequence[str] = ()) -> None:
        self.classifier = classifier
        self.drop = drop

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: "pd.DataFrame", y: ArrayLike) -> Self:
        """Learn what the columns hold, and train the classifier.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            The table, without the classes.
        y : array-like of shape (n_rows,)
            Class labels.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        InputError
            A ValueError: a column to drop is not there, no column is left, or a cell is infinite.
        """
        self.kinds_, self.left_out_ = choose_columns(X, self.drop)
        values = typed(X, self.kinds_)
        self.preprocessor_ = make_preprocessor(values).fit(values)
        chosen = WOLCClassifier() if self.classifier is None else self.classifier
        labels = np.asarray(y)
        if labels.dtype == object and all(isinstance(label, str) for label in labels):
            labels = labels.astype(str)  # frames hold text as objects, of which a file would know nothing
        self.classifier_ = clone(chosen).fit(self.preprocessor_.transform(values), labels)
        self.classes_ = self.classifier_.classes_
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.card_: dict[str, Any] = {}
        return self

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
        """
        return self.classifier_.predict(self._encoded(X))

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
        """
        return self.classifier_.predict_proba(self._encoded(X))

    def _encoded(self, X: "pd.DataFrame") -> Floats:
        """Turn the columns of new rows into numbers."""
        check_is_fitted(self)
        return self.preprocessor_.transform(typed(X, self.kinds_))


def choose_columns(X: "pd.DataFrame", drop: Sequence[str] = ()) -> tuple[dict[str, str], dict[str, str]]:
    """Choose the columns to learn from.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
        The table, without the classes.
    drop : sequence of str, default=()
        Columns to leave out.

    Returns
    -------
    kinds : dict of str to str
        The columns to use, and what each holds.
    left_out : dict of str to str
        The others, and why: "dropped", "constant" or "identifier".

    Raises
    ------
    InputError
        If a column to drop is not there, or none is left.

    Examples
    --------
    >>> import pandas as pd
    >>> choose_columns(pd.DataFrame({"a": [1.5, 0.5, 1.0], "b": [0, 0, 0], "c": [1, 1, 2]}), drop=["c"])
    ({'a': 'number'}, {'c': 'dropped', 'b': 'constant'})
    """
    unknown = [name for name in drop if name not in X.columns]
    if unknown:
        raise InputError(f"drop: {unknown[0]!r} is not a column of the table")
    kinds = {name: kind for name, kind in kinds_of(X).items() if name not in drop}
    left_out = {**dict.fromkeys(drop, "dropped"), **useless_columns(X, kinds)}
    kinds = {name: kind for name, kind in kinds.items() if name not in left_out}
    if not kinds:
        raise InputError("no column is left to learn from: all are constant, identifiers or dropped")
    return kinds, left_out


def encoded_sources(preprocessor: Any) -> NDArray[np.intp]:
    """Tell which column each encoded feature comes from.

    Parameters
    ----------
    preprocessor : ColumnTransformer
        A fitted transformer of `skecoc.tables.preprocessing.make_preprocessor`.

    Returns
    -------
    ndarray of int of shape (n_encoded_features,)
        Positions of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": ["red", "blue", "red", "green"], "size": [1.5, 0.5, 1.0, 0.0]})
    >>> encoded_sources(make_preprocessor(frame).fit(frame)).tolist()  # numbers come first
    [1, 0, 0, 0]
    """
    sources: list[int] = []
    for name, transformer, positions in preprocessor.transformers_:
        if name == "text" and len(positions):
            counts = _indicator_counts(transformer[-1])
            sources += [place for place, count in zip(positions, counts, strict=True) for _ in range(count)]
        elif name in ("numbers", "dates"):
            sources += list(positions)
    return np.array(sources, dtype=np.intp)


def _indicator_counts(encoder: Any) -> list[int]:
    """Count the indicators of each column; rare values share one."""
    rare = encoder.infrequent_categories_
    return [
        len(categories) if few is None else len(categories) - len(few) + 1
        for categories, few in zip(encoder.categories_, rare, strict=True)
    ]
