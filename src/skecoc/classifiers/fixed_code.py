"""The method of a code that does not grow: its decoder is fitted, and its probabilities are calibrated."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from skecoc.classifiers.calibration import calibration_samples
from skecoc.classifiers.growing_code import GrowingCode
from skecoc.classifiers.growth import Calibration, Evaluation, Proposal, Strategy
from skecoc.classifiers.weight_fits import rows_for_weights
from skecoc.data.folds import sample_keys, without_last_digits
from skecoc.data.samples import ArraySamples, BlockSamples, Sample
from skecoc.decoding import LossWeightedDecoder, OptimizedWeightDecoder
from skecoc.learners.columns import HELD_OUT, Floats, Integers, evaluate_columns, margin_scale

_UNCALIBRATED = (
    "probabilities are calibrated on training samples, since the learner could not be trained on part of them: {}"
)
_LEVEL_OF_FIT = 8  # of warnings: the line that called `fit`


class _Codewords(NamedTuple):
    """Outputs of all columns for some samples, with the samples' classes and weights."""

    outputs: Floats
    y: Integers
    weight: Floats


class FixedStrategy(Strategy):
    """Fit a decoder to the first code, which stays.

    `choose_decoder` returns the decoder, fitted or not, for a trained code. It is fitted to out-of-fold codewords if it
    `learns_held_out` and there are any, else to those of the training samples. Of learners that bin many samples, the
    sample that blocks draw stands for all, unless a decoder is fitted to sums over all samples.
    """

    is_fixed = True

    def __init__(
        self,
        choose_decoder: Callable[[GrowingCode], Any],
        is_binned: bool,
        learns_held_out: Callable[[Any], bool] = lambda _: False,
        *,
        order_seed: int = 0,
        may_do_without_folds: bool = False,
    ) -> None:
        self.choose_decoder, self.is_binned, self.learns_held_out = choose_decoder, is_binned, learns_held_out
        self.order_seed, self.may_do_without_folds = order_seed, may_do_without_folds
        self._calibration: Calibration | None = None
        self._is_held_out = False

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the decoder; nothing else is measured."""
        decoder = self.choose_decoder(code)
        learns = not hasattr(decoder, "matrix_") and getattr(decoder, "learns_from_codewords", True)
        held_out = self._evaluate_held_out(code)
        reads = learns or code.response == "decision_function"  # whose scale follows from outputs
        if held_out is not None and (not reads or self.learns_held_out(decoder)):
            code.margin_scale, fitted = margin_scale(code.response, held_out.outputs), held_out
        else:
            fitted, calibrated = self._training_codewords(code, decoder, reads=reads)
        if held_out is not None:
            calibrated = self._in_order_of_keys(code, held_out)
        if not hasattr(decoder, "matrix_"):
            _fit(decoder, code, fitted)
        self._calibration = calibrated.outputs / code.margin_scale, calibrated.y, calibrated.weight
        self._is_held_out = held_out is not None
        nothing = np.zeros((code.samples.n_classes,) * 2)
        return Evaluation(decoder, np.nan, nothing, np.nan, np.nan)

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Propose no column."""
        del code, evaluation
        return Proposal([], [])

    def calibration(self, code: GrowingCode, n_columns: int) -> tuple[Calibration, bool]:
        """Return the codewords that were evaluated with the code."""
        del code, n_columns
        if self._calibration is None:
            raise ValueError("there are no codewords before the code is evaluated")
        return self._calibration, self._is_held_out

    def _training_codewords(self, code: GrowingCode, decoder: Any, *, reads: bool) -> tuple[_Codewords, _Codewords]:
        """Evaluate columns on training samples, to fit the decoder and to calibrate probabilities.

        If neither the decoder nor the scale of margins follows from outputs, few samples are evaluated.
        """
        samples = code.samples
        is_margin = code.response == "decision_function"
        keys: Any = None
        if self.is_binned and isinstance(samples, ArraySamples):
            keys = sample_keys(code.trainer.X, code.trainer.root)
        sample = samples.sampled(keys)
        if not reads:
            chosen, weight = calibration_samples(sample.y, sample.weight)
            codes = None if sample.codes is None else sample.codes[:, chosen]
            few = Sample(sample.rows[chosen], sample.y[chosen], weight, codes)
            codewords = _Codewords(code.sampled_outputs(few), few.y, few.weight)
            return codewords, codewords
        if isinstance(samples, BlockSamples):
            if is_margin:
                code.margin_scale = code.trainer.largest_output(code.columns)
            codewords = _Codewords(code.sampled_outputs(sample), sample.y, sample.weight)
            return codewords, codewords
        every = Sample(np.arange(samples.n_samples), samples.y, samples.sample_weight)
        outputs = code.sampled_outputs(every)
        code.margin_scale = margin_scale(code.response, outputs)
        codewords = _Codewords(outputs[sample.rows], sample.y, sample.weight)
        from_all = isinstance(decoder, LossWeightedDecoder | OptimizedWeightDecoder) or not self.is_binned
        return _Codewords(outputs, every.y, every.weight) if from_all else codewords, codewords

    def _evaluate_held_out(self, code: GrowingCode) -> _Codewords | None:
        """Train columns without the samples of each fold, and evaluate them on these samples.

        Samples of classes that are never held out come last, with the outputs of learners that have seen them.
        """
        samples, trainer = code.samples, code.trainer
        if isinstance(samples, BlockSamples) or samples.folds is None:
            return None
        try:
            outputs = trainer.outputs(code.columns, HELD_OUT)
        except Exception as error:  # whatever a learner raises that wants more samples than are left
            if not self.may_do_without_folds:
                raise
            warnings.warn(_UNCALIBRATED.format(error), UserWarning, stacklevel=_LEVEL_OF_FIT)
            return None
        self.rows = np.flatnonzero(samples.folds >= 0)
        rest = np.flatnonzero(~np.isin(samples.y, samples.y[self.rows]))
        if len(rest):
            X = _safe_indexing(trainer.X, rest)
            seen = evaluate_columns(code.learners, X, code.response, n_jobs=trainer.n_jobs)
            outputs, self.rows = np.vstack([outputs, seen]), np.append(self.rows, rest)
        return _Codewords(outputs, samples.y[self.rows], samples.sample_weight[self.rows])

    def _in_order_of_keys(self, code: GrowingCode, held_out: _Codewords) -> _Codewords:
        """Return held-out codewords class by class, in an order that does not depend on that of the samples."""
        keys = sample_keys(without_last_digits(code.trainer.X), self.order_seed)[self.rows]
        order = np.lexsort((keys, held_out.y))
        return _Codewords(held_out.outputs[order], held_out.y[order], held_out.weight[order])


def _fit(decoder: Any, code: GrowingCode, fitted: _Codewords) -> None:
    """Fit a decoder to codewords or, of rows in blocks, to sums over all of them if it can."""
    matrix = code.matrix
    if isinstance(code.samples, BlockSamples):
        if isinstance(decoder, LossWeightedDecoder):
            numbers = matrix.astype(np.float64)
            decoder.fit_sums(code.trainer.count_correct(code.columns, numbers), numbers)
            return
        if isinstance(decoder, OptimizedWeightDecoder):
            every = code.trainer.all_rows(code.columns, code.margin_scale)
            decoder.fit_rows(rows_for_weights(code.samples, every, matrix, decoder, None), matrix)
            return
    groups = {"groups": code.parts} if getattr(decoder, "takes_groups", False) else {}
    decoder.fit(fitted.outputs / code.margin_scale, fitted.y, matrix, fitted.weight, **groups)
