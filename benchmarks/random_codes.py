"""Search for a random code of 100 classes against a loop of plain numpy, and against a single draw.

Printed: the time of 10,000 draws by a loop that measures one draw after the other (a few hundred are timed and
extrapolated) divided by the time of `dense_random(100, n_draws=10_000)`, all of its search included; and the minimum
row distance of one draw as scikit-learn's OutputCodeClassifier makes it, of the best of plain draws, and of ours.
Times are processor seconds of one thread, so that other work on the machine does not count.

    python benchmarks/random_codes.py
"""

from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from skecoc.coding import dense_random, min_row_distance, sparse_random

N_CLASSES = 100
N_DRAWS = 10_000
N_TIMED_DRAWS = 300
N_SEEDS = 20


def output_code_draw(n_classes: int, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw a code as OutputCodeClassifier does: uniform numbers, cut at one half, taken as they come."""
    return np.where(rng.uniform(size=(n_classes, n_columns)) > 0.5, 1.0, -1.0)


def loop_search(n_classes: int, n_columns: int, n_draws: int, seed: int) -> tuple[np.ndarray, float]:
    """Return the best of plain draws, measured one after the other, and the seconds it took."""
    rng = np.random.RandomState(seed)
    pairs = np.triu_indices(n_classes, 1)
    best, best_distance = np.empty((0, 0)), -1.0
    start = process_time()
    for _ in range(n_draws):
        matrix = output_code_draw(n_classes, n_columns, rng)
        distance = (n_columns - matrix @ matrix.T)[pairs].min() / 2
        if distance > best_distance:
            best, best_distance = matrix, distance
    return best, process_time() - start


def print_times() -> None:
    dense_random(N_CLASSES, n_draws=1, random_state=0)  # compile
    start = process_time()
    M = dense_random(N_CLASSES, n_draws=N_DRAWS, random_state=0)
    ours = process_time() - start
    start = process_time()
    dense_random(N_CLASSES, random_state=0)
    default = process_time() - start
    _, seconds = loop_search(*M.shape, N_TIMED_DRAWS, seed=0)
    loop = seconds * N_DRAWS / N_TIMED_DRAWS
    print(f"{N_CLASSES} classes, {M.shape[1]} columns, {N_DRAWS:,} draws")
    print(
        f"  loop of plain numpy {loop:.1f} s (from {N_TIMED_DRAWS} draws), ours {ours:.2f} s, ratio {loop / ours:.1f}"
    )
    print(f"  ours with the default number of draws {default:.2f} s, ratio {loop / default:.1f}")


def print_distances() -> None:
    print("minimum row distance, mean over seeds (a position with a zero counts 1/2)")
    print(f"{'classes':>8} {'columns':>8} {'single draw':>12} {'best of 1000':>13} {'ours':>6} {'sparse ours':>12}")
    for n_classes, n_columns in ((6, 9), (10, 10), (10, 15), (10, 34), (26, 39), (26, 48), (50, 57), (100, 67)):
        rngs = [np.random.RandomState(seed) for seed in range(N_SEEDS)]
        single = [output_code_draw(n_classes, n_columns, rng) for rng in rngs]
        n_seeds = 2 if n_classes > 30 else 5
        best = [loop_search(n_classes, n_columns, 1000, seed)[0] for seed in range(n_seeds)]
        ours = [dense_random(n_classes, n_columns=n_columns, random_state=seed) for seed in range(n_seeds)]
        zeros = [sparse_random(n_classes, n_columns=n_columns, random_state=seed) for seed in range(n_seeds)]
        distances = [np.mean([min_row_distance(M) for M in codes]) for codes in (single, best, ours, zeros)]
        print("{:8d} {:8d} {:12.1f} {:13.1f} {:6.1f} {:12.1f}".format(n_classes, n_columns, *distances))


if __name__ == "__main__":
    with threadpool_limits(1):
        print_times()
        print_distances()
