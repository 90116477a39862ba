"""Time of our one-start k-means beside scikit-learn's KMeans with the same number of starts and steps.

python benchmarks/weak_kmeans.py
"""

import numpy as np
from _timing import best_times
from sklearn.cluster import KMeans

from skecoc.learners.regions import weak_kmeans


def main() -> None:
    rng = np.random.RandomState(0)
    for n_samples in (100, 1_000, 10_000, 100_000):
        X = rng.normal(size=(n_samples, 18))
        weight = np.ones(n_samples)
        peer = KMeans(2, init="random", n_init=1, max_iter=10, random_state=0)
        ours, theirs = best_times(
            lambda: weak_kmeans(X, 2, np.random.RandomState(0), weight=weight),  # noqa: B023
            lambda: peer.fit(X),  # noqa: B023
        )
        print(f"{n_samples:>7} rows: KMeans takes {theirs / ours:.1f} times as long")


if __name__ == "__main__":
    main()
