"""Names that ``--help`` lists, as plain text: the registries themselves would load numpy and scikit-learn."""

#: Codings, of `skecoc.compare.methods`.
CODINGS = (
    "one-vs-rest",
    "one-vs-one",
    "exhaustive",
    "ternary-complete",
    "ordinal",
    "hadamard",
    "dense-random",
    "sparse-random",
    "decoc",
    "forest",
    "random-10",
    "ecoc-one",
    "lc-ecoc",
    "subclass-ecoc",
    "wolc",
    "wolc-one-vs-rest",
    "wolc-paper",
    "mixed",
)

#: Decodings, of `skecoc.decoding`.
DECODINGS = (
    "hamming",
    "inverse-hamming",
    "euclidean",
    "attenuated-euclidean",
    "loss-based",
    "loss-averaged",
    "laplacian",
    "beta-density",
    "probabilistic",
    "voting",
    "loss-weighted",
    "optimized-weight",
    "logistic-weight",
)

#: Binary learners that have a short name, of `skecoc.compare.named_learners`.
LEARNERS = (
    "stumps",
    "svm",
    "logistic",
    "random-forest",
    "extra-trees",
    "hist-gradient-boosting",
    "lightgbm",
    "mlp",
    "knn",
)

#: scikit-learn's multiclass strategies, of `skecoc.compare.methods`.
STRATEGIES = ("sklearn/one-vs-one", "sklearn/one-vs-rest", "sklearn/output-code")

#: scikit-learn's multiclass classifiers, of `skecoc.compare.methods`.
CLASSIFIERS = (
    "sklearn/random-forest",
    "sklearn/extra-trees",
    "sklearn/boosting",
    "sklearn/svm",
    "sklearn/logistic",
    "sklearn/majority",
)

#: Metrics that have a name of their own, of `skecoc.compare.metrics`.
METRICS = ("accuracy", "balanced-accuracy", "macro-f1", "log-loss")

#: What is compared by default, of `skecoc.compare.methods`.
DEFAULT_METHODS = (
    "mixed/logistic-weight",
    "wolc/optimized-weight",
    "one-vs-one/hamming",
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-based",
    "dense-random/hamming",
    "dense-random/loss-based",
    "sparse-random/loss-based",
    "hadamard/loss-based",
    "decoc/loss-weighted",
    "forest/loss-weighted",
    "sklearn/output-code",
    "sklearn/random-forest",
)

#: What is compared by default on a table of the user's.
TABLE_METHODS = (
    "mixed",
    "wolc",
    "one-vs-one",
    "one-vs-rest",
    "random-forest",
    "boosting",
    "svm",
    "logistic",
    "majority",
)

#: Shipped data sets, of `skecoc.datasets`.
DATA_SETS = (
    "balance",
    "dermatology",
    "ecoli",
    "glass",
    "iris",
    "optdigits",
    "pendigits",
    "satimage",
    "segmentation",
    "thyroid",
    "vehicle",
    "vowel",
    "wine",
    "yeast",
)

#: Data sets that are compared on by default, of `skecoc.compare`.
DEFAULT_DATA_SETS = (
    "iris",
    "wine",
    "thyroid",
    "balance",
    "vehicle",
    "dermatology",
    "glass",
    "segmentation",
    "ecoli",
    "yeast",
    "vowel",
)
