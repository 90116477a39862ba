"""The paper's experiment: its methods, data sets and settings, and how their results are arranged."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from skecoc.benchmarking.protocol import Protocol
from skecoc.benchmarking.results import Results, SettingSummary, summarize_setting
from skecoc.paper.published import DATA_SETS, METHODS, WOLC

#: The sixteen methods and the fourteen data sets of the paper, in its order.
PAPER_METHODS: tuple[str, ...] = tuple(METHODS)
PAPER_DATA_SETS: tuple[str, ...] = tuple(DATA_SETS)

#: Learners and responses. The paper's reference library hands on hard labels; probabilities are what the codes can make
#: of the same learners. Margins of support vector machines are not compared: each column has its own penalty and width,
#: so the scales of its margins say nothing.
PAPER_SETTINGS: tuple[tuple[str, str], ...] = (
    ("stumps", "labels"),
    ("stumps", "probabilities"),
    ("svm", "probabilities"),
)

#: The experiments that have a name. "paper" is the paper's, but for the three large sets with the support vector
#: machine, which are split once instead of ten times.
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "paper": Protocol(
            "paper",
            PAPER_DATA_SETS,
            PAPER_SETTINGS,
            PAPER_METHODS,
            fewer_repeats={("svm", name): 1 for name in ("satimage", "optdigits", "pendigits")},
        ),
        "quick": Protocol(
            "quick",
            ("dermatology", "iris", "ecoli", "wine", "glass", "thyroid"),
            PAPER_SETTINGS,
            PAPER_METHODS,
            n_repeats=2,
            n_folds=3,
        ),
    }
)


def paper_summary(
    results: Results, learner: str, response: str, methods: Sequence[str] = PAPER_METHODS
) -> SettingSummary:
    """Compare the paper's methods (or others) in one setting with WOLC-ECOC, data sets in the paper's order."""
    data_sets = in_order(results.data_sets(learner, response), PAPER_DATA_SETS)
    return summarize_setting(results, learner, response, methods, data_sets=data_sets, control=WOLC)


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Sort names, each once: those of a known order first, then others by name."""
    position = {name: rank for rank, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (position.get(name, len(position)), name))
