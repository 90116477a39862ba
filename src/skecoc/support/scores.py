"""Write scores of metrics, p-values and durations as text."""

from dataclasses import dataclass
from types import MappingProxyType

_LABELS = {"macro-f1": "macro-F1", "balanced-accuracy": "balanced accuracy"}
# Metrics that lie between 0 and 1 whatever the data.
_BOUNDED = ("accuracy", "balanced-accuracy", "macro-f1")
_SMALLEST_P = 0.001

#: The significance threshold.
ALPHA = 0.05


@dataclass(frozen=True)
class ScoreFormat:
    """The name of a metric and the format of its values.

    >>> accuracy, f1 = ScoreFormat(), ScoreFormat("macro-f1", in_percent=False)
    >>> accuracy.heading, accuracy.number(0.8312), accuracy.text(0.8312)
    ('accuracy %', '83.1', '83.1 %')
    >>> f1.heading, f1.number(0.8312), f1.text(0.8312)
    ('macro-F1', '0.831', '0.83')
    """

    name: str = "accuracy"
    higher_is_better: bool = True
    in_percent: bool = True

    @property
    def label(self) -> str:
        """The metric's name in a sentence."""
        return _LABELS.get(self.name, self.name)

    @property
    def heading(self) -> str:
        """The metric's name above a column of numbers."""
        return f"{self.label} %" if self.in_percent else self.label

    @property
    def factor(self) -> float:
        """The factor from a value to the number shown."""
        return 100.0 if self.in_percent else 1.0

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are."""
        return 1 if self.higher_is_better else -1

    @property
    def decimals(self) -> int:
        """Decimals of a number in a table."""
        return 1 if self.in_percent else 3

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The smallest and the largest possible value, None where there is none."""
        if self.name in _BOUNDED:
            return 0.0, 1.0
        return (0.0, None) if self.name == "log-loss" else (None, None)

    def number(self, value: float) -> str:
        """Write a value in a table, below `heading`; one that rounds to zero has no sign."""
        return f"{round(self.factor * value, self.decimals) + 0.0:.{self.decimals}f}"

    def text(self, value: float) -> str:
        """Write a value in a sentence."""
        if self.in_percent:
            return f"{self.number(value)} %"
        return f"{value:.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3f}"

    def range(self, low: float, high: float) -> str:
        """Write an interval in a sentence; both ends have the same number of decimals.

        >>> ScoreFormat().range(0.791, 0.862), ScoreFormat("log-loss", False, False).range(0.05, 0.2)
        ('79.1 to 86.2 %', '0.050 to 0.200')
        """
        if self.in_percent:
            return f"{self.number(low)} to {self.number(high)} %"
        is_short = min(abs(low), abs(high)) >= 0.1
        return f"{low:.2f} to {high:.2f}" if is_short else f"{low:.3f} to {high:.3f}"


def p_value_text(p_value: float) -> str:
    """Write a p-value in a table.

    >>> p_value_text(0.0312), p_value_text(0.2), p_value_text(1e-7)
    ('0.031', '0.200', '<0.001')
    """
    return f"<{_SMALLEST_P}" if p_value < _SMALLEST_P else f"{p_value:.3f}"


def p_phrase(p_value: float) -> str:
    """Write a p-value in a sentence.

    >>> p_phrase(0.0312), p_phrase(1e-7)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p < {_SMALLEST_P}" if p_value < _SMALLEST_P else f"p = {p_value:.3f}"


def seconds_text(seconds: float) -> str:
    """Write a duration with two significant digits, whole seconds from ten on.

    >>> seconds_text(0.0123), seconds_text(3.14), seconds_text(123.4)
    ('0.012 s', '3.1 s', '123 s')
    """
    return f"{seconds:.0f} s" if seconds >= 10 else f"{float(f'{seconds:.2g}'):g} s"


#: Formats of the measures of a confusion matrix and of the log-loss, by their names in records.
MEASURES = MappingProxyType(
    {
        "accuracy": ScoreFormat(),
        "balanced_accuracy": ScoreFormat("balanced-accuracy"),
        "macro_precision": ScoreFormat("macro precision"),
        "macro_recall": ScoreFormat("macro recall"),
        "macro_f1": ScoreFormat("macro-f1", in_percent=False),
        "log_loss": ScoreFormat("log-loss", higher_is_better=False, in_percent=False),
    }
)
