"""What is written down about every run of an experiment."""

from dataclasses import dataclass
from typing import NamedTuple


class RunKey(NamedTuple):
    """What tells one run from all others."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"


@dataclass(frozen=True)
class RunRecord:
    """What one method did on one fold: the smallest piece of a result.

    Attributes
    ----------
    data_set, repeat, fold, learner, response, coding, decoding : str or int
        What the run is. `response` is how the binary learners answered: "labels", "probabilities" or "margins".
    n_train, n_test, n_correct : int
        Rows to learn from, rows to predict, and how many of those were predicted rightly.
    n_columns : int
        Binary learners that prediction asks.
    n_trained : int
        Binary learners of the code, those without weight included; of a grown code, those of rounds that were not
        kept, too.
    fit_seconds : float
        Time of training the columns, answering the training rows and fitting the decoder. Methods that share columns
        each count the whole time of training them, as if each had been trained alone.
    predict_seconds : float
        Time of answering the test rows and decoding them, counted in the same way.
    """

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str
    n_train: int
    n_test: int
    n_correct: int
    n_columns: int
    n_trained: int
    fit_seconds: float
    predict_seconds: float

    @property
    def accuracy(self) -> float:
        """Share of the test rows that were predicted rightly."""
        return self.n_correct / self.n_test

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"

    @property
    def key(self) -> RunKey:
        """What the run is."""
        return RunKey(self.data_set, self.repeat, self.fold, self.learner, self.response, self.coding, self.decoding)


@dataclass(frozen=True)
class RoundRecord:
    """One round of the growth of a WOLC code: a point of the convergence figures.

    Attributes
    ----------
    data_set, repeat, fold, learner, response, coding : str or int
        The run that the round belongs to.
    round : int
        Its number, from 0, which has the initial columns only.
    n_columns : int
        Length of the code in this round.
    objective, risk, loss : float
        What the weights minimise, the part of it that is the paper's risk, and what growth is judged by.
    train_accuracy, test_accuracy : float
        Share of the training and of the test rows that this round's code predicts rightly.
    kept : bool
        Whether this is the round that the classifier keeps.
    """

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    round: int
    n_columns: int
    objective: float
    risk: float
    loss: float
    train_accuracy: float
    test_accuracy: float
    kept: bool
