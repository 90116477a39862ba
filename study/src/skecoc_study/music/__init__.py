"""Features of music: MFCC, OSC and NASE, their modulation spectra, and a scikit-learn transformer.

Reading files and resampling need the ``audio`` extra: ``pip install "scikit-ecoc-study[audio]"``. Signals at 22.05 or
44.1 kHz need no extra.
"""

from skecoc_study.music.clips import AudioError
from skecoc_study.music.folders import load_audio_folder, load_dortmund
from skecoc_study.music.frontends import mfcc, nase, osc
from skecoc_study.music.modulation import feature_names, modulation_features
from skecoc_study.music.transformer import ModulationFeatures

__all__ = [
    "AudioError",
    "ModulationFeatures",
    "feature_names",
    "load_audio_folder",
    "load_dortmund",
    "mfcc",
    "model_types",
    "modulation_features",
    "nase",
    "osc",
]


def model_types() -> list[type]:
    """Return the types that model files of music hold (entry point group ``skecoc.model_types``)."""
    return [ModulationFeatures]
