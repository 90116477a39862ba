"""Audio features for scikit-learn: the public names of `skecoc.music`."""

from skecoc.music import AudioError, ModulationFeatures, feature_names, mfcc, modulation_features, nase, osc

__all__ = ["AudioError", "ModulationFeatures", "feature_names", "mfcc", "modulation_features", "nase", "osc"]
