"""Music as numbers: MFCC, OSC and NASE, how they move in time, and a scikit-learn transformer for both.

Needs the ``audio`` extra to read files and to resample: ``pip install "scikit-ecoc[audio]"``. Signals at 22.05 or
44.1 kHz need nothing but the package itself.
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
