"""Modulation spectral features as a scikit-learn transformer."""

import os
import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc_study.music.clips import AudioError, as_clips, choose_rate, listing
from skecoc_study.music.extraction import FeatureCache, extract, read_rates
from skecoc_study.music.frontends import RATES, Floats
from skecoc_study.music.modulation import FEATURE_CHOICES, feature_names


class ModulationFeatures(TransformerMixin, BaseEstimator):
    """Transformer for audio clips: features by modulation spectral analysis of MFCC, OSC or NASE.

    Reading files and resampling need the ``audio`` extra: ``pip install "scikit-ecoc-study[audio]"``.

    Parameters
    ----------
    feature : {"mmfcc", "mosc", "mnase", "all"}, default="all"
        The front end: mel-frequency cepstral coefficients (`mfcc`), octave-based spectral contrast (`osc`), the
        normalised audio spectral envelope (`nase`), or all three.
    rate : {22050, 44100} or None, default=None
        The sample rate that clips are resampled to. None chooses it in `fit`: 44,100 if all clips have at least this
        rate, otherwise 22,050, for which frequencies above 11 kHz are not analysed and there are fewer features.
    array_rate : int or None, default=None
        Sample rate of clips that are arrays without a rate.
    on_error : {"raise", "nan"}, default="raise"
        What to do if clips cannot be read: raise an `AudioError` that names them, or warn and return rows of NaN.
    cache_dir : str, path-like or None, default=None
        Folder for a cache of the features of every clip, identified by content and settings; None means no cache.
    n_jobs : int, default=None
        Number of clips analysed in parallel threads with joblib. It does not change the result.
    verbose : int, default=0
        If positive, a progress bar is shown.

    Attributes
    ----------
    rate_ : int
        The sample rate that clips are analysed at.
    card_ : dict
        Held-out results and settings; only in the pipeline of a model written by ``skecoc music train``.

    See Also
    --------
    modulation_features : Function for a single signal.
    skecoc_study.music.load_audio_folder : Paths and genres of a folder of music.

    Notes
    -----
    A clip is a path, an open binary file, a pair ``(array, rate)``, or an array. Arrays have shape (n_samples,) or
    (n_samples, n_channels) and contain floats with full scale 1, or integers with the full scale of their type. `X` can
    be a list, an array of paths, a column of a frame, or a matrix with one signal per row.

    Channels are averaged. A clip shorter than one texture window, 5.9 s, is repeated frame by frame until it fills
    one, and a warning names it.

    References
    ----------
    C.-H. Lee, J.-L. Shih, K.-M. Yu and H.-S. Lin. Automatic music genre classification based on modulation spectral
    analysis of spectral and cepstral features. IEEE Transactions on Multimedia 11(4), 670-682, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc_study.music import ModulationFeatures
    >>> rng = np.random.default_rng(0)
    >>> clips = [(0.1 * rng.normal(size=10 * 44100), 44100), (np.zeros(10 * 48000), 48000)]
    >>> features = ModulationFeatures("mosc").fit(clips)
    >>> features.transform(clips).shape, features.rate_
    ((2, 112), 44100)
    >>> features.get_feature_names_out()[2]
    'mosc_valley_100-200hz_contrast_mean'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "feature": [StrOptions(set(FEATURE_CHOICES))],
        "rate": [Options(Integral, set(RATES)), None],
        "array_rate": [Interval(Integral, 1, None, closed="left"), None],
        "on_error": [StrOptions({"raise", "nan"})],
        "cache_dir": [str, os.PathLike, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        feature: str = "all",
        *,
        rate: int | None = None,
        array_rate: int | None = None,
        on_error: str = "raise",
        cache_dir: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.feature = feature
        self.rate = rate
        self.array_rate = array_rate
        self.on_error = on_error
        self.cache_dir = cache_dir
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Choose the sample rate.

        Parameters
        ----------
        X : sequence of clips
            The clips. Only their headers are read, or nothing if `rate` is given.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
            The fitted transformer.
        """
        if hasattr(X, "__next__"):  # nothing would be left of it for `transform`
            raise ValueError("X must be a list of clips; an iterator can be read only once")
        if self.rate is not None:
            self.rate_ = int(self.rate)
            return self
        rates, errors = read_rates(as_clips(X, self.array_rate))
        if self.on_error == "raise":
            _refuse(errors, len(rates) + len(errors))
        self.rate_ = choose_rate(rates)
        return self

    def transform(self, X: Any) -> Floats:
        """Compute the features of clips.

        Parameters
        ----------
        X : sequence of clips
            The clips.

        Returns
        -------
        ndarray of shape (n_clips, n_features)
            The features, one row per clip.
        """
        check_is_fitted(self)
        clips = as_clips(X, self.array_rate)
        if self.on_error == "raise":  # headers show most of what cannot be read before any work
            _refuse(read_rates(clips)[1], len(clips))
        found = extract(
            clips,
            self.feature,
            self.rate_,
            cache=None if self.cache_dir is None else FeatureCache(self.cache_dir),
            n_jobs=self.n_jobs,
            show_progress=self.verbose > 0,
        )
        if self.on_error == "raise":
            _refuse(found.errors, len(clips))
        unreadable = [_unreadable(found.errors, len(clips))] if found.errors else []
        for message in [*unreadable, *found.remarks(clips)]:
            warnings.warn(message, UserWarning, stacklevel=3)
        return found.values

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the features.

        Parameters
        ----------
        input_features : object, default=None
            Ignored: clips have no features.

        Returns
        -------
        ndarray of str of shape (n_features,)
            Names of the features: front end, coefficient (or modulation subband in Hz) and statistic.
        """
        check_is_fitted(self)
        return np.array(feature_names(self.feature, self.rate_), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether the sample rate has been chosen."""
        return hasattr(self, "rate_")

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that the input is a list of clips, not a matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags


def _refuse(errors: dict[int, str], n_clips: int) -> None:
    """Raise an error that names the clips that cannot be read, if there are any."""
    if errors:
        raise AudioError(_unreadable(errors, n_clips))


def _unreadable(errors: dict[int, str], n_clips: int) -> str:
    return f"{len(errors)} of {n_clips} clips cannot be read: {listing(list(errors.values()))}"
