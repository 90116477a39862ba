"""Save fitted models to files and load them without running code from the file.

Requires skops: ``pip install "scikit-ecoc[persistence]"``. The file of a model is a zip archive with the description of
the model by skops, its arrays, and ``skecoc.json`` with the versions that wrote it. Only types of scikit-learn, numpy
and scipy that skops trusts, those of `TRUSTED_TYPES`, and those that installed distributions register are loaded. Data
for compiled code is checked before it is used: stumps, support vectors, indicators, and trees, also in forests and
boosting. Search trees of nearest neighbours are not loaded but built again. All classifiers of scikit-learn except
`TunedThresholdClassifierCV` can be loaded; estimators that run other compiled code, such as `KMeans`, must be listed as
trusted.

A distribution registers types of its own by an entry point of the group ``skecoc.model_types``, which names a function
that returns these types or their names.
"""

import hashlib
import json
import os
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.neighbors._base import NeighborsBase

from skecoc import __version__
from skecoc.learners import MulticlassLearner
from skecoc.persistence.allowed import TRUSTED_TYPES, registered_types
from skecoc.persistence.restored import check_restored, rebuild, unchecked_types
from skecoc.persistence.sklearn_parts import require
from skecoc.support.errors import import_extra
from skecoc.support.files import replacement

__all__ = ["TRUSTED_TYPES", "ModelFileError", "dump_model", "load_model", "save_model"]

_FORMAT = "skecoc-model-1"
_LABEL = "skecoc.json"
# How skops is told to load a learner of many columns, in the description of a model.
_LOADER = "SharedObjectNode"
# First bytes of pickles of protocol 2 and later, and of the compressed ones that joblib writes.
_PICKLE_STARTS = (b"\x80", b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"BZh", b"\xfd7zXZ")


class ModelFileError(ValueError):
    """Raised if a model cannot be loaded from a file or saved to one; the message is one line.

    The attribute `untrusted` lists the names of types that are not trusted, if these are the reason.
    """

    def __init__(self, message: str, untrusted: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.untrusted = list(untrusted)


def save_model(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> None:
    """Save a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package or of scikit-learn, or a pipeline of them.
    path : str or path-like
        The file to write. An existing file is replaced only if saving succeeds.
    trusted : sequence of str, default=()
        Names of further types that the model may contain, such as those of another library's learner.

    Raises
    ------
    ModelFileError
        If the model contains an object that could not be loaded again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> from skecoc.persistence import load_model, save_model
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(ECOCClassifier().fit(X, y), Path(folder, "iris.skops"))
    ...     load_model(Path(folder, "iris.skops")).score(X, y) > 0.9
    True
    """
    content = dump_model(model, trusted=trusted)
    with replacement(Path(path)) as file:
        file.write(content)


def dump_model(model: Any, *, trusted: Sequence[str] = ()) -> bytes:
    """Return the content of the file that `save_model` writes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package or of scikit-learn, or a pipeline of them.
    trusted : sequence of str, default=()
        Names of further types that the model may contain.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    ModelFileError
        If the model contains an object that could not be loaded again.

    Examples
    --------
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> from skecoc.persistence import dump_model
    >>> dump_model(ECOCClassifier().fit(*load_uci("iris", return_X_y=True)))[:2]
    b'PK'
    """
    skops = _skops()
    try:
        content = skops.dumps(model)
    except Exception as error:  # another library's estimator may have any state
        raise ModelFileError(f"{type(model).__name__} cannot be saved: {_one_line(error)}") from error
    foreign = _foreign_types({*skops.get_untrusted_types(data=content), *unchecked_types(model)}, trusted)
    if foreign:
        raise ModelFileError(f"{type(model).__name__} cannot be saved: it holds {', '.join(foreign)}", foreign)
    try:
        check_restored(model)
    except ValueError as error:  # better now than when it is loaded
        raise ModelFileError(f"{type(model).__name__} cannot be saved: {_one_line(error)}") from error
    return _labelled(content)


def load_model(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Load a model that was saved by `save_model`.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str, default=()
        Names of further types that may be loaded, such as those of another library's learner. Only list types that you
        trust: loading may run their code.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        A ValueError: if the file is missing, a pickle, damaged, changed, not written by `save_model`, or contains types
        that are not trusted. No code of the file is run.

    Warns
    -----
    UserWarning
        If the file was written by another version of this package or of scikit-learn.

    Examples
    --------
    >>> from skecoc.persistence import load_model
    >>> load_model("missing.skops")
    Traceback (most recent call last):
    ...
    skecoc.persistence.ModelFileError: 'missing.skops': there is no such file
    """
    name = repr(str(path))
    content = _read(Path(path), name)
    label = _check_label(content, name)
    origin = " and ".join(f"{key} {label[key]}" for key in _versions())
    other = [f"{key} {label[key]} (this is {version})" for key, version in _versions().items() if label[key] != version]
    if other:
        warnings.warn(f"{name} was saved with {' and '.join(other)}", UserWarning, stacklevel=2)
    skops = _skops()
    try:
        found = skops.get_untrusted_types(data=content)
        foreign = _foreign_types(found, trusted)
        if not foreign:
            with warnings.catch_warnings():
                # Every learner would warn on its own of what is said above.
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                model = skops.loads(content, trusted=found)
            check_restored(model)
            foreign = _foreign_types(unchecked_types(model), trusted)
            if not foreign:
                rebuild(model)
    except Exception as error:  # skops checks types, not whether the rest of a description makes sense
        raise ModelFileError(f"{name}, saved with {origin}, cannot be loaded: {_one_line(error)}") from error
    if any(kind.startswith("skecoc_study.") for kind in foreign) and find_spec("skecoc_study") is None:
        raise ModelFileError(f"{name} needs the distribution scikit-ecoc-study: pip install scikit-ecoc-study")
    if foreign:
        names = ", ".join(foreign)
        raise ModelFileError(f"{name} is refused: it holds types that are not trusted, {names}", foreign)
    return model


def _skops() -> ModuleType:
    skops = import_extra("skops.io", "persistence", "saving and loading models")
    _register_states()
    return skops


def _register_states() -> None:
    """Tell skops to leave out the search trees of neighbours, and to store and audit a learner of many columns once.

    Otherwise skops would describe, store and audit a shared learner once per column.
    """
    audit, general, utils = (import_module(f"skops.io.{name}") for name in ("_audit", "_general", "_utils"))
    key = (_LOADER, import_module("skops.io._protocol").PROTOCOL)
    if key in audit.NODE_TYPE_MAPPING:
        return
    plain = general.ObjectNode

    def get_unsafe_set(node: Any) -> set[str]:
        if not hasattr(node, "_found_unsafe"):
            node._found_unsafe = plain.get_unsafe_set(node)
        return set(node._found_unsafe)

    def names(part: Any) -> dict[str, Any]:
        return {"__class__": type(part).__name__, "__module__": type(part).__module__}

    def state_of_learner(learner: MulticlassLearner, context: Any) -> dict[str, Any]:
        # Described in full the first time; an object that it has met before, skops loads by its number.
        is_known = -id(learner) in context.memo  # positive numbers are those of skops
        context.memo[-id(learner)] = learner
        state = names(learner) if is_known else general.object_get_state(learner, context)
        return {**state, "__loader__": _LOADER}

    def state_of_neighbours(estimator: NeighborsBase, context: Any) -> dict[str, Any]:
        kept = {name: value for name, value in estimator.__getstate__().items() if name != "_tree"}
        return {**names(estimator), "__loader__": "ObjectNode", "content": utils.get_state(kept, context)}

    utils._get_state.register(MulticlassLearner)(state_of_learner)
    utils._get_state.register(NeighborsBase)(state_of_neighbours)
    audit.NODE_TYPE_MAPPING[key] = type(_LOADER, (plain,), {"get_unsafe_set": get_unsafe_set})


def _foreign_types(found: Iterable[str], trusted: Sequence[str]) -> list[str]:
    """Return those of the types that skops does not trust which may not be loaded."""
    foreign = set(found) - {*TRUSTED_TYPES, *trusted}
    return sorted(foreign - registered_types()) if foreign else []


def _versions() -> dict[str, str]:
    return {"skecoc": __version__, "scikit-learn": sklearn.__version__}


def _labelled(content: bytes) -> bytes:
    """Add what made the file, and a checksum of the rest."""
    file = BytesIO(content)
    label = {"format": _FORMAT, **_versions(), "sha256": _checksum(content)}
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(_LABEL, json.dumps(label, indent=1))
    return file.getvalue()


def _read(path: Path, name: str) -> bytes:
    """Read a file that looks like a model."""
    if path.is_dir():
        raise ModelFileError(f"{name} is a folder, expected a model's file")
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(f"{name}: there is no such file") from error
    except OSError as error:
        raise ModelFileError(f"{name} cannot be read: {error.strerror}") from error
    if content.startswith(_PICKLE_STARTS):
        raise ModelFileError(f"{name} may be a pickle, which could run any code; expected a model saved by skecoc")
    return content


def _check_label(content: bytes, name: str) -> dict[str, str]:
    """Return what made a file; refuse files of other origin, and those that have changed."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            # Models are stored without compression: an archive must not unpack to more than it is.
            members = archive.infolist()
            is_stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
            total = sum(member.file_size for member in members)
            require(is_stored and total <= len(content), "its parts are compressed")
            label = json.loads(archive.read(_LABEL))
        is_known = label["format"] == _FORMAT and all(isinstance(label[key], str) for key in (*_versions(), "sha256"))
        is_whole = is_known and label["sha256"] == _checksum(content)
    except Exception as error:  # damaged archives fail in many ways
        raise ModelFileError(f"{name} is not a model of skecoc, or damaged: {_one_line(error)}") from error
    if not is_known:
        raise ModelFileError(f"{name} has a format that this version does not know")
    if not is_whole:
        raise ModelFileError(f"{name} has been changed since it was saved")
    return dict(label)


def _checksum(content: bytes) -> str:
    """Hash the names and contents of all members of an archive but the label."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for member in sorted(set(archive.namelist()) - {_LABEL}):
            data = archive.read(member)
            digest.update(f"{member}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
