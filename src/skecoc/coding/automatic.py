"""The automatic choice of a coding, by number of classes, number of samples and cost of the learner."""

from collections.abc import Sequence
from typing import Any

from numpy.random import RandomState
from sklearn.pipeline import Pipeline

from skecoc.coding.matrix import CodeMatrix, check_length
from skecoc.coding.random import default_length, dense_random

# Up to so many classes every learner has one-vs-one.
_FEW_CLASSES = 30
# Up to so many classes one-vs-one can be afforded, by the kind of learner.
_MOST_CLASSES = {"slow": _FEW_CLASSES, "linear": 100, "usual": 100, "pairwise": 200}
# Codewords of all training samples, samples times columns, that take two gigabytes.
_MOST_CODEWORDS = 2.5e8
# Learners that take long however few the samples, and are good at the hard problems of compact codes.
_SLOW = ("sklearn.tree.", "sklearn.ensemble.", "sklearn.neural_network.", "lightgbm.", "xgboost.", "catboost.")
# Learners that cannot solve random bipartitions of many classes, but can tell one class from all others.
_LINEAR = ("sklearn.linear_model.", "sklearn.discriminant_analysis.Linear", "sklearn.svm._classes.LinearSVC")
# Learners whose training time grows faster than the number of samples: small problems suit them.
_PAIRWISE = ("sklearn.svm._classes.SVC", "sklearn.svm._classes.NuSVC", "sklearn.gaussian_process.")


def choose_coding(n_classes: int, n_samples: int, learners: Sequence[Any], *, max_columns: int | None = None) -> str:
    """Choose a coding for a number of classes, a number of samples and the learners.

    Up to 30 classes it is one-vs-one, whose binary problems are small and easy. It has P(P-1)/2 columns, so with more
    classes the choice depends on the cost of a column:

    - Learners that are slow even on few samples (trees, ensembles, boosting, neural networks) do not use one-vs-one.
    - Learners that share work between columns, such as boosted stumps, and learners whose training time grows faster
      than the number of samples, such as `SVC`, use one-vs-one for up to 200 classes.
    - Other learners use one-vs-one for up to 100 classes.
    - Several learners together use one-vs-rest for more than 30 classes.

    With more than 30 classes, one-vs-one is not used either if there are more than 250 million entries of codewords
    (samples times columns). Instead of one-vs-one, linear learners use one-vs-rest, since random bipartitions of many
    classes are rarely linearly separable, and other learners use dense-random (with the length of `compact_code`).

    If one-vs-one has more than `max_columns` columns, the coding is one-vs-rest, or dense-random for slow learners and
    where one-vs-rest is too long as well.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_samples : int
        Number of training samples.
    learners : sequence of classifiers
        The binary learners, one or several.
    max_columns : int, default=None
        Maximum number of columns of a learner.

    Returns
    -------
    {"one-vs-one", "dense-random", "one-vs-rest"}
        A name of `CODINGS`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skecoc.coding import choose_coding
    >>> choose_coding(80, 10_000, [LogisticRegression()]), choose_coding(80, 10_000, [DecisionTreeClassifier()])
    ('one-vs-one', 'dense-random')
    """
    n_columns = n_classes * (n_classes - 1) // 2
    if max_columns is not None and n_columns > max_columns:
        is_short = n_classes <= max_columns and (len(learners) > 1 or learner_kind(learners[0]) != "slow")
        return "one-vs-rest" if is_short else "dense-random"
    if n_classes <= _FEW_CLASSES:
        return "one-vs-one"
    if len(learners) > 1:
        return "one-vs-rest"
    kind = learner_kind(learners[0])
    if n_classes <= _MOST_CLASSES[kind] and n_samples * n_columns <= _MOST_CODEWORDS:
        return "one-vs-one"
    return "one-vs-rest" if kind == "linear" else "dense-random"


def compact_code(
    n_classes: int, learner: Any, random_state: int | RandomState | None = None, max_columns: int | None = None
) -> CodeMatrix:
    """Draw the dense random code that ``coding="auto"`` uses for a learner.

    It has ``ceil(10 * log2(P))`` columns for learners that are slow to train, and twice as many for others, which train
    quickly but find random bipartitions of many classes hard.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> [compact_code(40, learner).shape for learner in (DecisionTreeClassifier(), KNeighborsClassifier())]
    [(40, 54), (40, 107)]
    """
    if max_columns is not None:
        check_length(n_classes, max_columns)
    columns_per_bit = 10 if learner_kind(learner) == "slow" else 20
    n_columns = default_length(n_classes, columns_per_bit)
    return dense_random(n_classes, n_columns=min(n_columns, max_columns or n_columns), random_state=random_state)


def learner_kind(learner: Any) -> str:
    """Tell what a learner is like: "slow", "linear", "pairwise" (cheap on few samples) or "usual".

    Of pipelines and searches, the learner inside decides.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> learner_kind(make_pipeline(StandardScaler(), SVC()))
    'pairwise'
    """
    names = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(learner).__mro__]
    if any(name.startswith(_SLOW) for name in names):
        return "slow"
    if any(name.startswith(_LINEAR) for name in names):
        return "linear"
    if hasattr(learner, "prepare_rows") or any(name.startswith(_PAIRWISE) for name in names):
        return "pairwise"
    inner = learner.steps[-1][1] if isinstance(learner, Pipeline) else getattr(learner, "estimator", None)
    return "usual" if inner is None else learner_kind(inner)
