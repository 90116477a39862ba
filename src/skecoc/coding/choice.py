"""Which code: a name, a matrix or a function is resolved, or a coding is chosen for the data and the learner."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from skecoc.coding.discriminant import decoc, forest
from skecoc.coding.fixed import exhaustive, hadamard, one_vs_one, one_vs_rest, ordinal, ternary_complete
from skecoc.coding.matrix import CodeMatrix, Indices, check_code_matrix, check_length, shorten
from skecoc.coding.random import default_length, dense_random, sparse_random
from skecoc.support.errors import full_name, plain_name

#: A coding as `CODINGS` holds it: ``f(X, y, n_classes, random_state, sample_weight) -> matrix``.
NamedCoding = Callable[[Any, Indices, int, int | RandomState | None, ArrayLike | None], CodeMatrix]


def _from_classes(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that needs the number of classes alone."""
    return lambda X, y, n_classes, random_state, sample_weight: coding(n_classes)  # noqa: ARG005


def _from_seed(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that needs the number of classes and a seed."""
    return lambda X, y, n_classes, seed, sample_weight: coding(n_classes, random_state=seed)  # noqa: ARG005


def _from_data(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that reads the data."""
    return lambda X, y, n_classes, seed, sample_weight: coding(X, y, sample_weight=sample_weight)  # noqa: ARG005


#: The codings by the names that `coding` accepts; see `resolve_coding`.
CODINGS: Mapping[str, NamedCoding] = MappingProxyType(
    {
        "one-vs-rest": _from_classes(one_vs_rest),
        "one-vs-one": _from_classes(one_vs_one),
        "exhaustive": _from_classes(exhaustive),
        "ternary-complete": _from_classes(ternary_complete),
        "ordinal": _from_classes(ordinal),
        "hadamard": _from_classes(hadamard),
        "dense-random": _from_seed(dense_random),
        "sparse-random": _from_seed(sparse_random),
        "decoc": _from_data(decoc),
        "forest": _from_data(forest),
    }
)

# Other words for codings.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("ovo", "one-versus-one", "one-against-one", "all-pairs", "pairwise"), "one-vs-one"),
        **dict.fromkeys(("ovr", "ova", "one-vs-all"), "one-vs-rest"),
        **dict.fromkeys(("one-versus-rest", "one-versus-all", "one-against-rest", "one-against-all"), "one-vs-rest"),
    }
)

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


def coding_name(name: str, *, argument: str = "coding", also: Sequence[str] = ()) -> str:
    """Return the name in `CODINGS` that is meant; names in `also` are accepted too.

    >>> coding_name("ovo"), coding_name("Sparse_Random"), coding_name("Auto", also=["auto"])
    ('one-vs-one', 'sparse-random', 'auto')
    """
    plain = plain_name(name)
    return plain if plain in also else full_name(argument, name, CODINGS, short=_OTHER_NAMES, also=also)


def resolve_coding(
    coding: str | ArrayLike | Callable[[Any, Indices], ArrayLike],
    X: Any,
    y: Indices,
    n_classes: int,
    random_state: int | RandomState | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    argument: str = "coding",
    ranks: Indices | None = None,
    max_columns: int | None = None,
) -> CodeMatrix:
    """Turn a name of `CODINGS`, a code matrix or a function ``f(X, y)`` that returns one into a valid code matrix.

    Parameters
    ----------
    coding : str, array-like of shape (n_classes, n_columns) or callable
        The coding, as in `skecoc.ECOCClassifier`, except "auto".
    X : {array-like, sparse matrix, frame} of shape (n_samples, n_features) or None
        The samples; only for codings that depend on the data.
    y : ndarray of int of shape (n_samples,) or None
        Their class indices.
    n_classes : int
        Number of classes.
    random_state : int, RandomState instance or None, default=None
        Seed of random codings.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples; only for codings that depend on the data.
    argument : str, default="coding"
        Name of the coding in error messages.
    ranks : ndarray of int of shape (n_classes,), default=None
        Position of each class in the order of the classes, for ``"ordinal"``.
    max_columns : int, default=None
        Maximum number of columns. Random codes and forests are generated with at most this length; from other codes,
        columns are selected that separate all classes.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        A valid code matrix.

    Raises
    ------
    ValueError
        If the coding is invalid, or too long and cannot be shortened.

    Examples
    --------
    >>> from skecoc.coding import resolve_coding
    >>> resolve_coding(lambda X, y: [[1], [-1]], None, None, 2).tolist()
    [[1], [-1]]
    """
    if isinstance(coding, str):
        name = coding_name(coding, argument=argument)
        made: Any = None
        if max_columns is not None:
            made = _short_code(name, X, y, n_classes, random_state, sample_weight, max_columns)
        if made is None:
            made = CODINGS[name](X, y, n_classes, random_state, sample_weight)
        if ranks is not None and name == "ordinal":
            made = made[ranks]
    elif callable(coding):
        made = coding(X, y)
    elif isinstance(coding, list | tuple) or hasattr(coding, "__array__"):
        made = coding
    else:
        raise ValueError(
            f"{argument} must be a name, a code matrix of shape (n_classes, n_columns) or a callable f(X, y), "
            f"got {type(coding).__name__}"
        )
    matrix = check_code_matrix(made, n_classes, argument=argument)
    return matrix if max_columns is None else _within(matrix, coding, max_columns, argument)


def _short_code(
    name: str,
    X: Any,
    y: Indices,
    n_classes: int,
    random_state: int | RandomState | None,
    sample_weight: ArrayLike | None,
    max_columns: int,
) -> CodeMatrix | None:
    """Make a named code of at most some length, if it can be made of any length and would be longer."""
    check_length(n_classes, max_columns)
    if name == "dense-random" and default_length(n_classes) > max_columns:
        return dense_random(n_classes, n_columns=max_columns, random_state=random_state)
    if name == "sparse-random" and default_length(n_classes, 15) > max_columns:
        return sparse_random(n_classes, n_columns=max_columns, random_state=random_state)
    if name == "forest" and n_classes - 1 <= max_columns < 3 * (n_classes - 1):
        return forest(X, y, n_trees=max_columns // (n_classes - 1), sample_weight=sample_weight)
    return None


def _within(matrix: CodeMatrix, coding: Any, max_columns: int, argument: str) -> CodeMatrix:
    """Choose columns of a code that is too long, or say which codings are short enough."""
    n_classes, n_columns = matrix.shape
    check_length(n_classes, max_columns)
    shorter = matrix if n_columns <= max_columns else shorten(matrix, max_columns)
    if shorter is not None:
        return shorter
    lengths = {"one-vs-rest": n_classes, "decoc": n_classes - 1, "dense-random": 1}
    fitting = ", ".join(repr(name) for name, length in lengths.items() if length <= max_columns)
    which = f"{argument}={coding!r}" if isinstance(coding, str) else argument
    raise ValueError(
        f"{which} has {n_columns} columns, and max_columns={max_columns} of them cannot separate all classes; "
        f"short enough are {fitting}"
    )


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
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(learner).__mro__]
    if any(name.startswith(_SLOW) for name in kinds):
        return "slow"
    if any(name.startswith(_LINEAR) for name in kinds):
        return "linear"
    if hasattr(learner, "_prepare_rows") or any(name.startswith(_PAIRWISE) for name in kinds):
        return "pairwise"
    inner = learner.steps[-1][1] if isinstance(learner, Pipeline) else getattr(learner, "estimator", None)
    return "usual" if inner is None else learner_kind(inner)
