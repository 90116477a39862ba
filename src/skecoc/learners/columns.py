"""Train one binary learner per column of a code matrix, and ask it for answers.

A column's learner is any scikit-learn classifier. It is trained on the rows whose classes take part in the column,
with label 1 on the column's +1 side and 0 on its -1 side.

**Sharing work between columns.** A learner that can reuse work on ``X`` for every column of one fit defines two
methods, and is then trained through them instead of `fit`:

``prepare_rows(X, y=None)``
    Check ``X`` (and, where a learner uses them, the class indices ``y`` of the whole problem) once and return whatever
    can be shared. It must not change the learner.
``fit_rows(prepared, rows, y, sample_weight=None)``
    Train on ``X[rows]`` (all rows if ``rows`` is None), exactly as ``fit(X[rows], y, sample_weight)`` would. Columns
    are trained in threads, so it must only read ``prepared``.

It may also define the static method ``outputs_together(learners, X, response)``, which gives the answers of several
trained learners of its class in one pass over ``X``, or the method ``outputs(X, response)``, which gives its own
outputs as `evaluate_columns` wants them.

**Training again on fewer rows.** A learner that searches for parameters may define ``without_search()``, which returns
an unfitted clone of a trained one with the parameters it has found. Held-out parts of the rows are then answered by
learners that search no more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from functools import partial
from hashlib import blake2b
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, validate_data

Response = Literal["predict_proba", "decision_function", "predict"]
Floats = NDArray[np.float64]

#: What ``response_method="auto"`` tries, in this order.
RESPONSES: tuple[Response, ...] = ("predict_proba", "decision_function", "predict")


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """The learner of a column whose training rows all lie on one side: it always answers that side.

    Parameters
    ----------
    side : {0, 1}
        The side that every row is answered with.
    """

    def __init__(self, side: int) -> None:
        self.side = side

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: the answer is known."""
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Answer the side, for each row of ``X``."""
        return np.full(_num_samples(X), self.side)

    def predict_proba(self, X: Any) -> Floats:
        """Answer the side with probability one, for each row of ``X``."""
        return np.tile([1.0 - self.side, float(self.side)], (_num_samples(X), 1))

    def decision_function(self, X: Any) -> Floats:
        """Answer the side with a margin of one, for each row of ``X``."""
        return np.full(_num_samples(X), 2.0 * self.side - 1.0)


def column_seeds(matrix: NDArray[np.int8], root: int, seen: Counter[bytes] | None = None) -> list[int]:
    """Give every column a seed of its own that depends on nothing but what the column is.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_columns)
        Code matrix whose columns are to be trained.
    root : int
        Seed of the whole fit.
    seen : Counter, default=None
        How often each sign pattern has occurred in columns trained earlier in the same fit; updated in place.

    Returns
    -------
    list of int
        One seed per column, from the root, the column's pattern up to sign and how often the pattern occurred
        before: so a result does not depend on the order of training, and a repeated column is trained afresh.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.array([[1, -1, 1], [-1, 1, 1], [-1, 1, -1]], dtype=np.int8)
    >>> first, repeated, other = column_seeds(M, root=0)
    >>> first == repeated, [first, other] == column_seeds(M[:, [0, 2]], root=0)
    (False, True)
    """
    seen = Counter() if seen is None else seen
    seeds = []
    for column in matrix.T:
        sign = column[np.flatnonzero(column)[0]]
        pattern = (column * sign).astype(np.int8).tobytes()
        digest = blake2b(f"{root}/{seen[pattern]}/".encode() + pattern, digest_size=4).digest()
        seeds.append(int.from_bytes(digest, "big") >> 1)  # 31 bits: some learners take no larger seed
        seen[pattern] += 1
    return seeds


def seeded_clone(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Clone a learner and give a seed to each ``random_state``, nested ones too, that is None."""
    return SeededClones(estimator).make(seed)


class SeededClones:
    """Makes any number of seeded clones of a learner, as `seeded_clone` would.

    Parameters
    ----------
    estimator : estimator
        The learner; it is not changed.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self._unfitted = clone(estimator)
        self._unset = _unset_seeds(estimator)
        # A copy of a clone that has not been fitted is another clone, made faster; of numbers, a shallow copy will do.
        is_flat = all(isinstance(value, int | float | str | None) for value in vars(self._unfitted).values())
        self._copy = copy if is_flat else deepcopy

    def make(self, seed: int) -> BaseEstimator:
        """Return a clone with a seed for each ``random_state`` that is None."""
        learner = self._copy(self._unfitted)
        return learner.set_params(**dict.fromkeys(self._unset, seed)) if self._unset else learner


def _unset_seeds(estimator: BaseEstimator) -> list[str]:
    """Name the parameters that are a ``random_state`` and None."""
    parameters = estimator.get_params(deep=True)
    names = (name for name in parameters if name == "random_state" or name.endswith("__random_state"))
    return sorted(name for name in names if parameters[name] is None)


def shares_rows(estimator: BaseEstimator) -> bool:
    """Tell whether a learner can share work on X between the columns of one fit."""
    return hasattr(estimator, "prepare_rows") and hasattr(estimator, "fit_rows")


def fit_columns(
    estimator: BaseEstimator,
    X: Any,
    y: NDArray[np.intp],
    matrix: NDArray[np.int8],
    seeds: Sequence[int],
    *,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[BaseEstimator]:
    """Train one clone of a learner for each column of a code matrix.

    Parameters
    ----------
    estimator : estimator
        The binary learner; it is cloned, never changed.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Training rows, passed to the learner as they are.
    y : ndarray of int of shape (n_samples,)
        Class indices, rows of `matrix`.
    matrix : ndarray of int8 of shape (n_classes, n_columns)
        Code matrix.
    seeds : sequence of int of length n_columns
        One seed per column, for every ``random_state`` of the learner that is None.
    fit_params : mapping, default=None
        Further arguments of the learner's `fit`; those with one entry per row are cut to the column's rows.
    n_jobs : int, default=None
        Number of columns trained at once, as in joblib.
    verbose : int, default=0
        Passed to joblib.

    Returns
    -------
    list of estimators of length n_columns
        The trained learners.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skecoc.coding import one_vs_one
    >>> X, y = load_iris(return_X_y=True)
    >>> learners = fit_columns(LogisticRegression(), X[:, 2:], y, one_vs_one(3), seeds=[0, 1, 2])
    >>> evaluate_columns(learners, X[[0, 60, 120], 2:], "predict")
    array([[ 1.,  1.,  1.],
           [-1., -1.,  1.],
           [-1., -1., -1.]])
    """
    params = dict(fit_params or {})
    if shares_rows(estimator) and params.keys() <= {"sample_weight"}:
        # A learner may choose something for all columns here; its seed must not depend on their order.
        rows = seeded_clone(estimator, min(seeds)).prepare_rows(X, y)
        train, prefer = delayed(_fit_shared_column), "threads"
    else:
        train, prefer, rows = delayed(_fit_column), None, X
    clones = SeededClones(estimator)
    tasks = (train(clones.make(seed), rows, y, column, params) for seed, column in zip(seeds, matrix.T, strict=True))
    return list(Parallel(n_jobs=n_jobs, prefer=prefer, verbose=verbose)(tasks))


def _column_rows(
    y: NDArray[np.intp], column: NDArray[np.int8], weight: NDArray[Any] | None
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp], int | None]:
    """Find a column's rows (None: all of them), their labels 0 and 1, and the only side that has weight, if so."""
    sides = column[y]
    rows = None if column.all() else np.flatnonzero(sides)
    labels = (sides if rows is None else sides[rows]) > 0
    weighted = labels if weight is None else labels[(weight if rows is None else weight[rows]) > 0]
    only_side = None if weighted.any() and not weighted.all() else int(weighted.any())
    return rows, labels.astype(np.intp), only_side


def _fit_column(
    learner: BaseEstimator, X: Any, y: NDArray[np.intp], column: NDArray[np.int8], params: dict[str, Any]
) -> BaseEstimator:
    """Train one learner by its own `fit` on the column's rows of X."""
    rows, labels, only_side = _column_rows(y, column, params.get("sample_weight"))
    if only_side is not None:
        return ConstantClassifier(only_side)
    if rows is None:
        return learner.fit(X, labels, **params)
    return learner.fit(_safe_indexing(X, rows), labels, **_check_method_params(X, params, indices=rows))


def _fit_shared_column(
    learner: BaseEstimator,
    prepared: Any,
    y: NDArray[np.intp],
    column: NDArray[np.int8],
    params: dict[str, Any],
) -> BaseEstimator:
    """Train one learner on rows that were prepared once for all columns."""
    weight = params.get("sample_weight")
    rows, labels, only_side = _column_rows(y, column, weight)
    if only_side is not None:
        return ConstantClassifier(only_side)
    if weight is not None and rows is not None:
        weight = weight[rows]
    return learner.fit_rows(prepared, rows, labels, sample_weight=weight)


def resolve_response(estimator: BaseEstimator, response_method: str) -> Response:
    """Decide how a learner answers: by probabilities, margins or labels.

    Parameters
    ----------
    estimator : estimator
        The binary learner.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        The caller's wish; "auto" takes the first of the others that the learner has.

    Returns
    -------
    {"predict_proba", "decision_function", "predict"}
        The method to call.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> resolve_response(LinearSVC(), "auto")
    'decision_function'
    """
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    for method in RESPONSES:
        if method in wanted and hasattr(estimator, method):
            return method
    raise ValueError(
        f"response_method={response_method!r} needs a learner with the method "
        f"{' or '.join(repr(name) for name in wanted)}, which {type(estimator).__name__} has not"
    )


def evaluate_columns(
    learners: Sequence[BaseEstimator], X: Any, response: Response, *, n_jobs: int | None = None
) -> Floats:
    """Ask every learner about every row.

    Parameters
    ----------
    learners : sequence of estimators of length n_columns
        Trained by `fit_columns`.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Rows to answer.
    response : {"predict_proba", "decision_function", "predict"}
        Probabilities p are answered as 2p - 1, margins as they are, labels as -1 and 1.
    n_jobs : int, default=None
        Number of columns asked at once, in threads.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        One answer per row and column; positive means the column's +1 side.
    """
    kinds = _by_kind(learners)
    answers = np.empty((_num_samples(X), len(learners)))
    alone = []
    for kind, members in kinds.items():
        together = _answering_together(kind, response)
        if together is None:
            alone += members
        elif len(kinds) == 1:
            return together(list(learners), X)
        else:
            answers[:, members] = together([learners[q] for q in members], X)
    for q, answer in zip(alone, _answers_alone([learners[q] for q in alone], X, response, n_jobs), strict=True):
        answers[:, q] = answer
    return answers


def _answers_alone(
    learners: Sequence[BaseEstimator], X: Any, response: Response, n_jobs: int | None
) -> Iterable[Floats]:
    """Ask learners one by one, in threads if more than one may run at once."""
    if len(learners) < 2 or effective_n_jobs(n_jobs) == 1:
        return (_answer_column(learner, X, response) for learner in learners)
    tasks = (delayed(_answer_column)(learner, X, response) for learner in learners)
    return Parallel(n_jobs=n_jobs, prefer="threads")(tasks)


def _by_kind(learners: Sequence[BaseEstimator]) -> dict[type, list[int]]:
    """Group the numbers of the columns by the class of their learner."""
    groups: dict[type, list[int]] = {}
    for q, learner in enumerate(learners):
        groups.setdefault(type(learner), []).append(q)
    return groups


def _answering_together(kind: type, response: Response) -> Callable[[list[BaseEstimator], Any], Floats] | None:
    """Find a way to answer all learners of a class in one pass over X, if there is one."""
    if hasattr(kind, "outputs_together"):
        return partial(kind.outputs_together, response=response)
    if response == "predict_proba" and kind is LogisticRegression:
        return lambda learners, X: np.tanh(_linear_margins(learners, X) / 2.0)
    inherited = getattr(kind, "decision_function", None) is LinearClassifierMixin.decision_function
    return _linear_margins if response == "decision_function" and inherited else None


def _linear_margins(learners: list[BaseEstimator], X: Any) -> Floats:
    """Answer all linear learners by one matrix product."""
    rows = validate_data(learners[0], X, accept_sparse="csr", reset=False)
    coefficients = np.vstack([np.reshape(learner.coef_, (1, -1)) for learner in learners])
    intercepts = [np.ravel(learner.intercept_)[0] for learner in learners]
    margins = safe_sparse_dot(rows, coefficients.T, dense_output=True)
    margins += intercepts
    return margins


def _answer_column(learner: BaseEstimator, X: Any, response: Response) -> Floats:
    """Ask one learner about every row."""
    if hasattr(learner, "outputs"):
        return learner.outputs(X, response)
    answer = getattr(learner, response)(X)
    if response == "predict_proba":
        return 2.0 * answer[:, 1] - 1.0
    return 2.0 * answer - 1.0 if response == "predict" else np.ravel(answer)
