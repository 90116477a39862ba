"""Features on disk, so that no clip is ever analysed twice."""

import hashlib
import os
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from skecoc.music.modulation import FEATURE_VERSION, feature_slices
from skecoc.music.spectra import Floats
from skecoc.support.files import replacement


@dataclass(frozen=True)
class ClipFeatures:
    """What is known of a clip.

    Attributes
    ----------
    values : ndarray of shape (n_features,)
        Its features, all of them if they come from a cache.
    is_short : bool
        Whether it is shorter than a texture window.
    """

    values: Floats
    is_short: bool


class FeatureCache:
    """A folder of features, found by content: moving or renaming audio loses nothing, changing it is noticed.

    Parameters
    ----------
    folder : str or path-like
        Where the files are; it is made when it is needed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = FeatureCache(folder)
    ...     cache.save(b"digest", 44100, ClipFeatures(np.zeros(332), False))
    ...     found = cache.load(b"digest", 44100), cache.load(b"digest", 22050)
    >>> found[0].values.shape, found[1]
    ((332,), None)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def _path(self, digest: bytes, rate: int) -> Path:
        """Name the file of a clip by its content, the settings, and the version of the features."""
        key = hashlib.sha256(f"{FEATURE_VERSION} {rate} ".encode() + digest).hexdigest()
        return self.folder / key[:2] / f"{key[2:]}.npz"

    def load(self, digest: bytes, rate: int) -> ClipFeatures | None:
        """Look a clip up.

        Parameters
        ----------
        digest : bytes
            Hash of its content.
        rate : {22050, 44100}
            The sample rate it is analysed at.

        Returns
        -------
        ClipFeatures or None
            All its features; None if they are not there, or the file is damaged.
        """
        try:
            with np.load(BytesIO(self._path(digest, rate).read_bytes()), allow_pickle=False) as file:
                features = ClipFeatures(file["values"].astype(np.float64, copy=False), bool(file["is_short"]))
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        is_whole = features.values.shape == (feature_slices(rate)["all"].stop,) and np.isfinite(features.values).all()
        return features if is_whole else None

    def save(self, digest: bytes, rate: int, features: ClipFeatures) -> None:
        """Keep a clip's features; whoever reads at the same time sees all of them or nothing.

        Parameters
        ----------
        digest : bytes
            Hash of its content.
        rate : {22050, 44100}
            The sample rate it was analysed at.
        features : ClipFeatures
            All its features.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        path = self._path(digest, rate)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()
        np.savez(content, values=features.values, is_short=np.array(features.is_short))
        with replacement(path) as file:
            file.write(content.getvalue())


def default_cache_folder() -> Path:
    """Return the folder that the command line keeps features in.

    Returns
    -------
    pathlib.Path
        ``skecoc/music`` in the user's folder for caches.

    Examples
    --------
    >>> default_cache_folder().parts[-2:]
    ('skecoc', 'audio')
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "skecoc" / "audio"
