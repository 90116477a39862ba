"""Columns that are trained and evaluated as a growing code does it."""

from typing import Any, NamedTuple

from skecoc.learners.columns import HELD_OUT, SEEN, ColumnSeeds


class Trained(NamedTuple):
    """Learners of columns, and what they say of samples that they have seen and of those that they have not."""

    learners: list[Any]
    outputs: Any
    out_of_fold: Any


class Seeded:
    """A trainer whose columns get their seeds in the order in which they come."""

    def __init__(self, trainer):
        self.trainer, self.seeds = trainer, ColumnSeeds(trainer.root)

    def fit(self, columns):
        return self.trainer.fit(self.seeds.seeded(columns))

    def train(self, columns, *, tried=False):
        columns = self.seeds.seeded(columns, tried=tried)
        learners, outputs = self.trainer.fit(columns), self.trainer.outputs(columns, SEEN, tried=tried)
        out_of_fold = outputs
        if self.trainer.folds is not None:
            out_of_fold = outputs.copy()
            out_of_fold[self.trainer.folds >= 0] = self.trainer.outputs(columns, HELD_OUT, tried=tried)
        return Trained(learners, outputs, out_of_fold)

    def train_held_out(self, columns, *, tried=False):
        columns = self.seeds.seeded(columns, tried=tried)
        return self.trainer.fit(columns), self.trainer.outputs(columns, HELD_OUT, tried=tried)
