"""Parts of experiments with more than one learner, or on other data than `compare` takes.

A `Batch` is some runs on one fold that share their trained columns; `run_batch` trains and tests them, and
`run_classifier` one that is not among the methods. Folds and seeds follow from the identity of a run, so that the same
run has the same result in any experiment.
"""

from skecoc.compare.data_sets import check_data_set
from skecoc.compare.methods import LEARNERS, add_codings, check_methods, make_classifier, make_learner, takes_learner
from skecoc.compare.metrics import common_measures
from skecoc.compare.trials import (
    Batch,
    BatchOutcome,
    Fold,
    RoundRecord,
    RunKey,
    RunRecord,
    batches_of,
    run_batch,
    run_classifier,
    seed_of,
    split_rows,
    warning_notes,
)
from skecoc.support.processes import interrupts_remembered, results_of, run_all

__all__ = [
    "LEARNERS",
    "Batch",
    "BatchOutcome",
    "Fold",
    "RoundRecord",
    "RunKey",
    "RunRecord",
    "add_codings",
    "batches_of",
    "check_data_set",
    "check_methods",
    "common_measures",
    "interrupts_remembered",
    "make_classifier",
    "make_learner",
    "results_of",
    "run_all",
    "run_batch",
    "run_classifier",
    "seed_of",
    "split_rows",
    "takes_learner",
    "warning_notes",
]
