"""Types that model files may hold, and the estimators of scikit-learn that are safe to predict with."""

from functools import cache
from importlib.metadata import entry_points

from sklearn import calibration
from sklearn._loss import loss as losses
from sklearn._loss._loss import CyExponentialLoss, CyHalfBinomialLoss, CyHalfMultinomialLoss

from skecoc.decoding import DECODERS
from skecoc.decoding.losses import LOSSES

_LOSSES = (CyExponentialLoss, CyHalfBinomialLoss, CyHalfMultinomialLoss)
_KERNELS = [
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "Exponentiation",
    "ExpSineSquared",
    "Matern",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
]

# Types of scikit-learn that skops, or an older version of it, does not trust. Compiled code follows the indices in
# arrays of `Tree` and `TreePredictor`, so `check_restored` checks these. The others compute with Python and numpy
# alone; what they hold is checked itself.
_SKLEARN_TYPES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    *(f"{losses.__name__}.{name}" for name in ("ExponentialLoss", "HalfBinomialLoss", "HalfMultinomialLoss")),
    # Older versions of scikit-learn have these in another module.
    *(f"{loss.__module__}.{loss.__qualname__}" for loss in _LOSSES),
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    *("sklearn.calibration._TemperatureScaling" for _ in range(hasattr(calibration, "_TemperatureScaling"))),
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(f"sklearn.gaussian_process.kernels.{name}" for name in _KERNELS),
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._bunch.Bunch",
    # Scorers of older versions hold these; only metadata routing reads them.
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)

#: Types of this package that a model file may contain, in addition to the types that skops trusts.
TRUSTED_TYPES = (
    *(f"{decoder.__module__}.{decoder.__qualname__}" for decoder in DECODERS.values()),
    *(f"{loss.__module__}.{loss.__qualname__}" for loss in LOSSES.values()),
    "skecoc.classifiers.costs.CostSensitiveClassifier",
    "skecoc.classifiers.ecoc.ECOCClassifier",
    "skecoc.decoding.logistic.LogisticCertificate",
    "skecoc.decoding.optimized.decoder.Certificate",
    "skecoc.compare.data_sets.MedianImputer",
    "skecoc.tables.dates.DateEncoder",
    "skecoc.tables.preprocessing.CategoryEncoder",
    "skecoc.tables.preprocessing.SentenceEncoder",
    "skecoc.tables.preprocessing._days",
    "skecoc.tables.preprocessing._floats",
    "skecoc.tables.preprocessing._strings",
    "skecoc.classifiers.layered.LCECOCClassifier",
    "skecoc.classifiers.one.ECOCOneClassifier",
    "skecoc.classifiers.subclass.SubclassECOCClassifier",
    "skecoc.classifiers.wolc.WOLCClassifier",
    "skecoc.classifiers.growth.GrowthRound",
    "skecoc.classifiers.batches.Batches",
    "skecoc.learners.columns.ConstantClassifier",
    "skecoc.learners.mixed.MarginColumn",
    "skecoc.learners.mixed.ZeroForMissing",
    "skecoc.learners.multiclass.MulticlassColumn",
    "skecoc.learners.multiclass.MulticlassLearner",
    "skecoc.learners.regions.RegionClassifier",
    "skecoc.learners.stumps.StumpAdaBoostClassifier",
    "skecoc.learners.svm.TunedSVMClassifier",
    "skecoc.tables.model.TableClassifier",
    *_SKLEARN_TYPES,
)

# Modules of scikit-learn whose estimators predict by Python and numpy alone, or are checked. Others pass arrays of a
# file to compiled code unchecked.
_PLAIN_MODULES = {
    "calibration",
    "compose",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "feature_extraction",
    "feature_selection",
    "frozen",
    "gaussian_process",
    "impute",
    "isotonic",
    "kernel_approximation",
    "linear_model",
    "model_selection",
    "multiclass",
    "multioutput",
    "naive_bayes",
    "neural_network",
    "pipeline",
    "preprocessing",
    "semi_supervised",
    "svm",
    "tree",
}
_PLAIN_CLASSES = (
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.neighbors._classification.KNeighborsClassifier",
    "sklearn.neighbors._classification.RadiusNeighborsClassifier",
    "sklearn.neighbors._nearest_centroid.NearestCentroid",
    "sklearn.neighbors._regression.KNeighborsRegressor",
    "sklearn.neighbors._regression.RadiusNeighborsRegressor",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
)
# The number of their trees, which compiled code relies on, is checked for classifiers only.
_COMPILED_CLASSES = ("sklearn.ensemble._gb.GradientBoostingRegressor",)


@cache
def registered_types() -> frozenset[str]:
    """Return the names of types that other distributions register, by functions that return these names or types."""
    types = [kind for entry in entry_points(group="skecoc.model_types") for kind in entry.load()()]
    return frozenset(kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}" for kind in types)


def is_plain(name: str) -> bool:
    """Tell by the name of its type whether an estimator runs no compiled code on unchecked arrays."""
    return name in _PLAIN_CLASSES or (name.split(".")[1] in _PLAIN_MODULES and name not in _COMPILED_CLASSES)
