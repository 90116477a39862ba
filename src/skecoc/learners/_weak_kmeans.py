"""K-means from one random start: weak on purpose, and light enough to run for every column of a code.

scikit-learn's `KMeans` finds the same clusters, but starts threads and makes checks that cost many times the work on
the few hundred rows of two classes (`benchmarks/weak_kmeans.py` has the ratio).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def weak_kmeans(
    X: Floats, n_clusters: int, random_state: np.random.RandomState, *, weight: Floats, max_iter: int = 10
) -> Floats:
    """Run k-means from one random start, for a few steps.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows to cluster.
    n_clusters : int
        Number of centres wanted; there are fewer if there are fewer distinct rows.
    random_state : RandomState instance
        Draws the rows that the centres start from, with probabilities proportional to `weight`.
    weight : ndarray of shape (n_samples,)
        Positive weights of the rows.
    max_iter : int, default=10
        Largest number of steps; it stops earlier when no row changes its cluster.

    Returns
    -------
    ndarray of shape (n_centres, n_features)
        The centres. A centre that loses all its rows stays where it was.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> np.sort(weak_kmeans(X, 2, np.random.RandomState(0), weight=np.ones(4)), axis=0).ravel()
    array([0.1, 5.1])
    """
    centres = _distinct_start(X, n_clusters, random_state, weight)
    region = np.full(len(X), -1)
    for _ in range(max_iter):
        previous, region = region, nearest_centre(X, centres)
        if (region == previous).all():
            break
        sums, mass = _sum_regions(X, region, weight, len(centres))
        centres[mass > 0] = sums[mass > 0] / mass[mass > 0, None]
    return centres


def _distinct_start(X: Floats, n_clusters: int, random_state: np.random.RandomState, weight: Floats) -> Floats:
    """Draw distinct rows to start from, each with a probability proportional to its weight.

    Rows are drawn as quantiles along a random direction: so the draw does not depend on the order of the rows, and
    repeating a row equals weighting it.
    """
    order = np.argsort(X @ random_state.standard_normal(X.shape[1]), kind="stable")
    mass = np.cumsum(weight[order])
    draws = random_state.uniform(size=20 * n_clusters) * mass[-1]
    drawn = X[order[np.minimum(np.searchsorted(mass, draws, side="right"), len(X) - 1)]]
    _, first = np.unique(drawn, axis=0, return_index=True)
    return drawn[np.sort(first)[:n_clusters]]


@njit(cache=True, nogil=True)
def nearest_centre(X, centres):  # type: ignore[no-untyped-def]
    """Find the nearest centre of each row, the first one if several are.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    centres : ndarray of shape (n_centres, n_features)
        Centres.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        Index of the centre with the smallest Euclidean distance.
    """
    nearest = np.zeros(X.shape[0], dtype=np.intp)
    for i in range(X.shape[0]):
        smallest = np.inf
        for k in range(centres.shape[0]):
            distance = 0.0
            for j in range(X.shape[1]):
                difference = X[i, j] - centres[k, j]
                distance += difference * difference
            if distance < smallest:
                smallest = distance
                nearest[i] = k
    return nearest


@njit(cache=True, nogil=True)
def _sum_regions(X, region, weight, n_regions):  # type: ignore[no-untyped-def]
    """Sum the weighted rows of each region, and the weights."""
    sums = np.zeros((n_regions, X.shape[1]))
    mass = np.zeros(n_regions)
    for i in range(X.shape[0]):
        mass[region[i]] += weight[i]
        for j in range(X.shape[1]):
            sums[region[i], j] += weight[i] * X[i, j]
    return sums, mass
