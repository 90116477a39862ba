"""A summary of growth in words."""

from typing import Any

import numpy as np

from skecoc.coding.choice import coding_name
from skecoc.learners.mixed import is_several

# Smaller shares of a learner are not worth a number.
_SHOWN = 0.01


def summarize_growth(model: Any) -> str:
    """Say where a fitted code started, what was added, why growth stopped, and what the weights are."""
    n_columns = model.history_[0].n_columns
    reason = model.stop_reason_.replace("no progress for", "no progress was made for")
    return (
        f"Started from {_start(model)} ({_counted(n_columns, 'column')}); {_growth(model)} because {reason}. "
        f"{_weights(model)}."
    )


def _counted(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _name(code: str) -> str:
    """Return the name of an initial code."""
    return "the given code" if code == "init" else code


def _start(model: Any) -> str:
    """Name the codes that growth started from."""
    init = coding_name(model.init, also=["auto"]) if isinstance(model.init, str) else "init"
    if is_several(model.estimator):
        names = dict.fromkeys(model.column_learners_.tolist())
        return f"{_counted(len(names), 'learner')} with {_codes(model, [*names]) if init == 'auto' else _name(init)}"
    if init == "auto":  # without pools
        init = "one-vs-rest"
    codes = [name for name in getattr(model, "pool_shares_", {}) if name != "pairs"]
    return " and ".join(map(_name, codes or [init]))


def _codes(model: Any, learners: list[str]) -> str:
    """Say which learners started from which code."""
    is_initial = model.column_kinds_ == "initial"
    has_zeros = (model.code_matrix_ == 0).any(axis=0)
    by_pairs = [name for name in learners if has_zeros[is_initial & (model.column_learners_ == name)].any()]
    if not by_pairs:
        return "one-vs-rest"
    return f"one-vs-one ({', '.join(by_pairs)}) or one-vs-rest" if len(by_pairs) < len(learners) else "one-vs-one"


def _growth(model: Any) -> str:
    """Say what was added, and what was tried in vain."""
    first, last, tried = (model.history_[number].n_columns for number in (0, model.best_round_, -1))
    if len(model.history_) == 1:
        return "no column was added"
    if model.best_round_ > 0:
        text = f"growth added {_counted(last - first, 'column')} in {_counted(model.best_round_, 'round')}"
        return text + (f", dropped {tried - last} more that did not help," if tried > last else "") + " and stopped"
    rounds = _counted(len(model.history_) - 1, "round")
    text = f"growth tried {_counted(tried - first, 'column')} in {rounds}, but kept none of them: "
    start, best = (choose(record.out_of_fold_accuracy for record in model.history_) for choose in (next, max))
    errors = getattr(model, "standard_errors", 0.0)
    if best > start and errors and not is_several(model.estimator):
        text += f"the best round, {best:.1%} correct out of fold, is not better than the first, {start:.1%}, "
        return text + f"by more than {errors:g} standard errors. Growth stopped"
    return text + "the initial code is the best. Growth stopped"


def _weights(model: Any) -> str:
    """Say what the weights are."""
    decoder, shares = model.decoder_, getattr(model, "pool_shares_", {})
    used, weights = model.code_matrix_ != 0, getattr(decoder, "weights_", None)
    if getattr(decoder, "scores_are_log_probabilities", False):
        of_learners = {name: float(share.mean()) for name, share in model.learner_shares().items()}
        largest_first = sorted(of_learners, key=lambda name: -of_learners[name])
        shown = [f"{name} {100 * of_learners[name]:.0f} %" for name in largest_first if of_learners[name] >= _SHOWN]
        rest = [name for name in largest_first if of_learners[name] < _SHOWN]
        listed = ", ".join(shown) + (f"; {' and '.join(rest)} below 1 %" if rest else "")
        return f"Weights are logistic: {listed}" if len(of_learners) > 1 else "Weights are logistic"
    is_equal = weights is not None and np.allclose(weights * used.sum(axis=1, keepdims=True), used, atol=1e-3)
    if getattr(model, "weights_optimized_", hasattr(decoder, "certificate_") and not is_equal):
        return "Weights are optimised"
    if is_equal:
        return "Weights are equal"
    if shares:
        return "Weights are pooled: " + ", ".join(f"{_name(k)} {100 * share:.3g} %" for k, share in shares.items())
    return f"Decoding is by {type(decoder).__name__}"
