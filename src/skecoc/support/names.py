"""The names of codings, decodings, learners, methods and metrics, as plain text: ``--help`` loads no more than this.

The registries with what each name stands for have these names, in this order.
"""

from pathlib import Path

#: Codings of `skecoc.coding`.
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
)

#: Decodings of `skecoc.decoding`.
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

#: Codes of `skecoc.compare` that grow: added columns depend on the decoding.
GROWN_CODINGS = ("ecoc-one", "lc-ecoc", "subclass-ecoc", "wolc", "wolc-one-vs-rest", "wolc-paper", "mixed")

#: All that a method of `skecoc.compare` may begin with; random-10 is the paper's random code, dense with ten columns.
METHOD_CODINGS = (*CODINGS, "random-10", *GROWN_CODINGS)

#: Binary learners of `skecoc.compare` that have a short name.
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

#: scikit-learn's multiclass strategies, which take a binary learner.
STRATEGIES = ("sklearn/one-vs-one", "sklearn/one-vs-rest", "sklearn/output-code")

#: scikit-learn's multiclass classifiers, which take none; the last one always predicts the most frequent class.
CLASSIFIERS = (
    "sklearn/random-forest",
    "sklearn/extra-trees",
    "sklearn/boosting",
    "sklearn/svm",
    "sklearn/logistic",
    "sklearn/majority",
)

#: Metrics that have a name of their own.
METRICS = ("accuracy", "balanced-accuracy", "macro-f1", "log-loss")

#: The methods that `skecoc.compare.compare` uses by default: grown and classical codes, `OutputCodeClassifier` and a
#: random forest.
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

#: Data sets that the package includes.
DATA_SETS = tuple(
    sorted(file.name.partition(".")[0] for file in (Path(__file__).parents[1] / "datasets" / "data").glob("*.csv.gz"))
)

#: The data sets that ``skecoc compare`` uses by default: all included ones with at most 2,310 rows.
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
