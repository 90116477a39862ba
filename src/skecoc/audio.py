"""Audio features for scikit-learn: the same as in `skecoc.music`, without its functions that list folders."""

from skecoc.music import AudioError, ModulationFeatures, feature_names, mfcc, modulation_features, nase, osc

__all__ = ["AudioError", "ModulationFeatures", "feature_names", "mfcc", "modulation_features", "nase", "osc"]
