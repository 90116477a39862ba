"""Time two callables in turn, so that both see the same machine, and give the ratio of their best times."""

from collections.abc import Callable
from time import process_time


def best_times(first: Callable[[], object], second: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """Run both callables alternately and return the best processor time of each, which other work disturbs little."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for which, run in enumerate((first, second)):
            start = process_time()
            run()
            best[which] = min(best[which], process_time() - start)
    return best[0], best[1]
