"""Features of music for scikit-learn: the names that `skecoc.music` offers to users."""

from skecoc.music import AudioError, ModulationFeatures, feature_names, mfcc, modulation_features, nase, osc

__all__ = ["AudioError", "ModulationFeatures", "feature_names", "mfcc", "modulation_features", "nase", "osc"]
