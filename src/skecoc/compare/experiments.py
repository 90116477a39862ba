"""What experiments are built with that compare methods by more than one learner, or on other data than `compare` does.

A `Batch` is some runs on one fold that share their trained columns; `run_batch` trains and tests them. Folds and seeds
follow from the identity of a run, so that the same run has the same result in any experiment.
"""

from skecoc.compare.data_sets import check_data_set
from skecoc.compare.methods import check_methods, coding_of, make_classifier, takes_learner
from skecoc.compare.metrics import common_measures
from skecoc.compare.named_learners import LEARNERS, make_learner
from skecoc.compare.runs import Batch, RoundRecord, RunKey, RunRecord, batches_of, seed_of, split_rows
from skecoc.compare.trials import BatchOutcome, Fold, round_records, run_batch, run_record, try_classifier
from skecoc.support.processes import interrupts_remembered, results_of, run_all

__all__ = [
    "LEARNERS",
    "Batch",
    "BatchOutcome",
    "Fold",
    "RoundRecord",
    "RunKey",
    "RunRecord",
    "batches_of",
    "check_data_set",
    "check_methods",
    "coding_of",
    "common_measures",
    "interrupts_remembered",
    "make_classifier",
    "make_learner",
    "results_of",
    "round_records",
    "run_all",
    "run_batch",
    "run_record",
    "seed_of",
    "split_rows",
    "takes_learner",
    "try_classifier",
]
