"""Time two callables in turn, so that both see the same machine, and give the ratio of their best times."""

from collections.abc import Callable
from time import perf_counter


def best_times(first: Callable[[], object], second: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """Run both callables alternately and return the best time of each, in seconds."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for which, run in enumerate((first, second)):
            start = perf_counter()
            run()
            best[which] = min(best[which], perf_counter() - start)
    return best[0], best[1]
