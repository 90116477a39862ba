"""What a fitted code predicts: codewords, scores of classes, labels and probabilities."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples, check_is_fitted

from skecoc.classifiers.calibration import probabilities_of
from skecoc.classifiers.costs import AUTO_LABEL, make_rule
from skecoc.classifiers.pairs import PairInsight
from skecoc.data.described import is_dask, refuse_data
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Floats, Response, evaluate_columns
from skecoc.support.errors import refuse_other_arrays

# Number of scores (samples times classes) that are computed at once.
_BLOCK_SCORES = 2**21


class CodePrediction(PairInsight):
    """Methods of fitted classifiers that predict."""

    # What it needs of a classifier.
    n_jobs: int | None
    estimators_: list[BaseEstimator]
    decoder_: Any
    temperature_: float
    calibration_: Floats | None
    _prior: Floats
    _response: Response
    _margin_scale: float

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, an array of shape (n_classes, n_columns); with subclasses (n_rows, n_columns)."""
        return self.decoder_.weights_

    def _decode(self, codewords: NDArray[np.floating]) -> Floats:
        """Score every class for every codeword, ties resolved."""
        return decode(self.decoder_, codewords, self.code_matrix_, self._prior, getattr(self, "row_classes_", None))

    def codewords(self, X: Any) -> Floats:
        """Predict the codeword of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Outputs of the learners: hard labels as -1 and 1, probabilities p as 2p - 1, or margins divided by the
            largest absolute margin of the training samples (so new samples can exceed 1). With several learners,
            margins f become tanh(f).
        """
        check_is_fitted(self)
        refuse_other_arrays(X=X)
        X = self._check_rows(X, reset=False)
        return self._outputs(self.estimators_, X)

    def _outputs(self, learners: list[BaseEstimator], X: Any) -> Floats:
        """Evaluate learners on checked samples; margins are divided by the constant of the fit."""
        outputs = evaluate_columns(learners, X, self._response, n_jobs=self.n_jobs)
        if self._margin_scale != 1.0:
            outputs /= self._margin_scale
        return outputs

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every sample, ties resolved."""
        return self._decode(self.codewords(X))

    def _from_scores(self, X: Any, summarise: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Compute something from the class scores of samples, block by block to bound memory."""
        check_is_fitted(self)
        refuse_other_arrays(X=X)
        block_size = max(1, _BLOCK_SCORES // len(self.classes_))
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) != 2 or shape[0] <= block_size:
            return summarise(self._class_scores(X))
        X = self._check_rows(X, reset=False)
        blocks = (_safe_indexing(X, rows) for rows in gen_batches(_num_samples(X), block_size))
        return np.concatenate([summarise(self._class_scores(block)) for block in blocks])

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every sample; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores of the decoding. With two classes, the score of the second class minus that of the first. Tied scores
            are separated by a tiny amount: ties are broken by the linear-loss score, then by the class prior, then by
            the order of `classes_`.
        """
        if is_dask(X):
            from skecoc.data.partitions import mapped

            check_is_fitted(self)
            n_classes = len(self.classes_)
            return mapped(self, "decision_function", X, np.empty((0, n_classes) if n_classes > 2 else 0))
        return self._from_scores(X, lambda scores: scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(
        self, X: Any, *, cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
    ) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.
        cost_matrix : array-like of shape (n_classes, n_classes), dict or frame, default=None
            Cost of each decision, with a row for each true class and a column for each predicted class, in the order of
            `classes_`; or given by label, as in `skecoc.CostSensitiveClassifier`. The class of lowest expected cost is
            predicted.
        reject : float, default=None
            Reject a sample if its largest probability is below this value or, with a `cost_matrix`, if its lowest
            expected cost is above it.
        reject_label : object, default="auto"
            Label returned for rejected samples; "auto" means "reject" if the classes are strings and -1 if they are
            numbers.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels: the classes of highest score. With costs or rejection, decisions are based on `predict_proba`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skecoc import ECOCClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ECOCClassifier(LogisticRegression(), random_state=0).fit(X, y)
        >>> some = X[[0, 98, 70]]
        >>> model.predict(some)
        array([0, 1, 2])
        >>> model.predict(some, cost_matrix=[[0, 1, 1], [1, 0, 9], [1, 1, 0]])  # predicting 2 for class 1 is expensive
        array([0, 1, 1])
        >>> model.predict(some, reject=0.9)
        array([ 0,  1, -1])
        """
        check_is_fitted(self)
        rule = make_rule(self.classes_, cost_matrix, reject, reject_label)
        if is_dask(X):
            from skecoc.data.partitions import mapped

            options = {"cost_matrix": cost_matrix, "reject": reject, "reject_label": reject_label}
            return mapped(self, "predict", X, rule.labels[:0], **options)
        if cost_matrix is not None or reject is not None:
            return rule.decide(self.predict_proba(X))
        winners = self._from_scores(X, lambda scores: scores.argmax(axis=1))
        return self.classes_[winners]

    def predict_codewords(self, codewords: ArrayLike) -> NDArray[Any]:
        """Predict classes from codewords instead of samples.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Outputs of all columns, as `codewords` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        return self.classes_[self._decode(np.asarray(codewords, dtype=np.float64)).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Softmax of the decoding's scores divided by `temperature_`, calibrated on out-of-fold codewords by
            `calibration_`. The class returned by `predict` always has the largest probability: where calibration would
            rank other classes above it, it shares their total probability equally with them. Logistic weights, the
            default for several learners, give probabilities directly. Without folds (``n_folds=None``, or too many
            samples for folds) only the temperature is fitted, to training codewords, so the probabilities of strong
            learners are overconfident.
        """
        if is_dask(X):
            from skecoc.data.partitions import mapped

            check_is_fitted(self)
            return mapped(self, "predict_proba", X, np.empty((0, len(self.classes_))))
        return self._from_scores(X, lambda scores: probabilities_of(scores, self.temperature_, self.calibration_))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Test samples.
        y : array-like or Dask collection of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; only for samples in memory.

        Returns
        -------
        float
            Accuracy.
        """
        if not is_dask(X):
            refuse_data(self, y=y, sample_weight=sample_weight)
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        from skecoc.data.partitions import score

        check_is_fitted(self)
        return score(self, X, y, sample_weight)

    def learner_shares(self) -> dict[str, Floats]:
        """Return the share of each learner in the decoding of each class.

        Returns
        -------
        dict of str to ndarray of shape (n_classes,)
            Share of the learner's columns in the decoding weights of each class. For decodings without weights, their
            share in the columns with a non-zero entry for the class. The shares of a class sum to 1.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import WOLCClassifier
        >>> model = WOLCClassifier("mixed", random_state=0).fit(*load_iris(return_X_y=True))
        >>> shares = model.learner_shares()
        >>> sorted(shares), float(sum(shares.values())[0].round(6))
        (['boosting', 'logistic', 'stumps', 'svm', 'svm_sharp', 'trees'], 1.0)
        """
        check_is_fitted(self)
        weights = getattr(self.decoder_, "weights_", None)
        weights = (self.code_matrix_ != 0).astype(np.float64) if weights is None else weights
        total = weights.sum(axis=1)
        shares = weights / np.where(total > 0, total, 1.0)[:, None]
        rows = getattr(self, "row_classes_", None)
        if rows is not None:
            shares = np.array([shares[rows == number].mean(axis=0) for number in range(len(self.classes_))])
        names = dict.fromkeys(self.column_learners_.tolist())
        return {name: shares[:, self.column_learners_ == name].sum(axis=1) for name in names}
