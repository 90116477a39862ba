"""Load models for the commands: anything wrong with a file is one line, and nothing of it is run."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skecoc.persistence import ModelFileError, load_model
from skecoc.support.errors import InputError, import_extra
from skecoc.tables.columns import KINDS, typed
from skecoc.tables.model import TableClassifier


def read_model(path: Path, trusted: Sequence[str], say: Callable[[str], None]) -> Any:
    """Load a model of any kind.

    Parameters
    ----------
    path : pathlib.Path
        Its file.
    trusted : sequence of str
        Types that the user trusts beside those of scikit-learn and of this package.
    say : callable
        Takes a note, such as that another version has made the file.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    InputError
        If it cannot be loaded.

    Examples
    --------
    >>> read_model(Path("missing.skops"), [], print)
    Traceback (most recent call last):
    ...
    skecoc.support.errors.InputError: model: 'missing.skops': there is no such file
    """
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
    """Load a model of a table, and try it.

    Parameters
    ----------
    path, trusted, say
        As for `read_model`.

    Returns
    -------
    TableClassifier
        The model.

    Raises
    ------
    InputError
        If it cannot be loaded, is another kind of model, or cannot predict.

    Examples
    --------
    >>> read_table_model(Path("missing.skops"), [], print)
    Traceback (most recent call last):
    ...
    skecoc.support.errors.InputError: model: 'missing.skops': there is no such file
    """
    try:
        import_extra("pandas", "table", "a model of a table")
    except ImportError as error:
        raise InputError(str(error)) from error
    return check_table_model(read_model(path, trusted, say), path)


def check_table_model(model: Any, path: Path) -> TableClassifier:
    """Check that a model is one of a table and able to predict.

    Parameters
    ----------
    model : object
        What a file held.
    path : pathlib.Path
        The file, for messages.

    Returns
    -------
    TableClassifier
        The model.

    Raises
    ------
    InputError
        If it is another kind of model, or cannot predict.

    Examples
    --------
    >>> check_table_model("nothing", Path("nothing.skops"))
    Traceback (most recent call last):
    ...
    skecoc.support.errors.InputError: model: 'nothing.skops' holds a str, expected a model made by skecoc fit
    """
    if not isinstance(model, TableClassifier):
        raise InputError(f"model: '{path}' holds a {type(model).__name__}, expected a model made by skecoc fit")
    try:
        _try(model)
    except Exception as error:  # a forged file may hold anything that skops can write
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"model: '{path}' is damaged: {reason}") from error
    return model


def _try(model: TableClassifier) -> None:
    """Predict a row without values, which must be possible, after a look at what names and classes are."""
    import pandas as pd

    kinds, card = model.kinds_, model.card_
    if not all(isinstance(name, str) and kind in KINDS for name, kind in {**kinds}.items()):
        raise ValueError("its columns have no names or kinds")
    if not isinstance(card, dict) or not isinstance(model.left_out_, dict):
        raise TypeError("its card is missing")
    labels = model.classes_
    if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise ValueError("its classes are not labels")
    # Numpy may hold text of characters that do not exist, which cannot be written and read again.
    names = {str(label).encode().decode() for label in labels}
    if len(names) < len(labels):
        raise ValueError("its classes are not distinct")
    row = pd.DataFrame({name: [None] for name in kinds}, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoded = model.preprocessor_.transform(typed(row, kinds))
        probabilities, predicted = model.classifier_.predict_proba(encoded), model.classifier_.predict(encoded)
    if probabilities.shape != (1, len(labels)) or predicted.shape != (1,) or not np.isfinite(probabilities).all():
        raise ValueError("its probabilities do not fit its classes")
