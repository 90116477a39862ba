"""Features of music: MFCC, OSC and NASE, their modulation spectra, and a scikit-learn transformer.

Reading files and resampling need the ``audio`` extra: ``pip install "scikit-ecoc[audio]"``. Signals at 22.05 or 44.1
kHz need no extra.
"""

from skecoc.music.clips import AudioError
from skecoc.music.folders import load_audio_folder, load_dortmund
from skecoc.music.frontends import mfcc, nase, osc
from skecoc.music.modulation import feature_names, modulation_features
from skecoc.music.transformer import ModulationFeatures

__all__ = [
    "AudioError",
    "ModulationFeatures",
    "feature_names",
    "load_audio_folder",
    "load_dortmund",
    "mfcc",
    "modulation_features",
    "nase",
    "osc",
]
