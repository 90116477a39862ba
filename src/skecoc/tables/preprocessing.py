"""The numbers that columns become: scaled numbers, indicators, shares of the classes, weights of words.

The encoders of text learn from the classes by cross-fitting: `fit_transform` encodes the rows of a fold by those of the
other folds, `transform` by all rows. They store numbers and text alone, and run no compiled code but NumPy's.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from skecoc.compare.data_sets import MedianImputer, scaled_numbers
from skecoc.tables.dates import DATE_KINDS, DateEncoder

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Objects = NDArray[np.object_]

#: A text column's rarer values share one indicator beyond this many, which bounds the memory that it can take.
MAX_CATEGORIES = 100

# With more classes than this, a share per class would need more features than indicators of the frequent values.
_MAX_CLASSES = 30
_N_FOLDS = 5
# Weight of the prior: this many rows with the class shares of the whole table are added to those of each value.
_PRIOR_ROWS = 2.0
# Values of a category, and words of a column, that are kept.
_MAX_VALUES = 10_000
_MAX_WORDS = 20_000
# Words that become features, those that depend most on the class; more of them where classes have no scores.
_N_CHOSEN, _N_CHOSEN_WITHOUT_SCORES = 100, 300

# Words of two letters or more; Chinese and Japanese are written without spaces, so each character counts.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]{2,30}")


def make_preprocessor(kinds: Mapping[str, str]) -> ColumnTransformer:
    """Choose how typed columns become floats; the transformer is not fitted, and learns from the classes if given any.

    The kinds are those of all columns, in their order. Parameters named `keep_missing` say whether missing numbers and
    dates stay NaN.
    """

    def places(*wanted: str) -> NDArray[np.int64]:
        return np.array([place for place, kind in enumerate(kinds.values()) if kind in wanted], dtype=np.int64)

    numbers = make_pipeline(FunctionTransformer(_floats), scaled_numbers(add_indicators=True))
    durations = make_pipeline(FunctionTransformer(_days), scaled_numbers(add_indicators=True))
    sentences = [
        (f"sentences_{place}", make_pipeline(FunctionTransformer(_strings), SentenceEncoder()), np.array([place]))
        for place in places("sentence")
    ]
    return ColumnTransformer(
        [
            ("numbers", numbers, places("number", "boolean")),
            ("dates", make_pipeline(DateEncoder(), scaled_numbers()), places(*DATE_KINDS, "time")),
            ("durations", durations, places("duration")),
            ("text", make_pipeline(FunctionTransformer(_strings), indicators()), places("text")),
            (
                "categories",
                make_pipeline(FunctionTransformer(_strings), CategoryEncoder(), MinMaxScaler()),
                places("category"),
            ),
            *sentences,
        ],
        sparse_threshold=0.0,
        verbose_feature_names_out=False,
    )


def _floats(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Numbers and booleans, nullable or not, as floats with NaN for missing values."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _days(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Durations as days with NaN for missing values."""
    days = np.empty(frame.shape)
    for place in range(frame.shape[1]):
        days[:, place] = frame.iloc[:, place].to_numpy(dtype="m8[us]") / np.timedelta64(1, "D")
    return days


def _strings(frame: "pd.DataFrame") -> NDArray[np.object_]:
    """Text as an array of Python objects; missing ones as the empty text."""
    return frame.astype(object).where(frame.notna(), "").to_numpy(dtype=object)


def encoded_sources(preprocessor: ColumnTransformer) -> NDArray[np.intp]:
    """Return the column that each feature of a fitted preprocessor comes from; rare values share a feature."""
    sources = [np.empty(0, dtype=np.intp)]
    for _, transformer, places in preprocessor.transformers_:
        if isinstance(transformer, Pipeline) and len(places):
            sources.append(_sources(transformer, np.asarray(places, dtype=np.intp)))
    return np.concatenate(sources)


def _sources(transformer: Any, sources: NDArray[np.intp]) -> NDArray[np.intp]:
    """Follow features with these sources through a fitted transformer."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            sources = _sources(step, sources)
        return sources
    if isinstance(transformer, MedianImputer):
        return np.concatenate([sources, sources[transformer.indicated_]])
    if isinstance(transformer, OneHotEncoder):
        return sources[indicator_sources(transformer)]
    if isinstance(transformer, DateEncoder | CategoryEncoder | SentenceEncoder):
        return sources[transformer.sources_]
    return sources


def words_of(text: str) -> list[str]:
    """List the words of a text, in small letters."""
    return _WORD.findall(text.lower())


def indicators() -> OneHotEncoder:
    """Make indicators of text; a value not seen in training has none, or that of the rare values."""
    return OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False)


def indicator_sources(encoder: OneHotEncoder) -> Integers:
    """Return the column that each indicator comes from; rare values share one."""
    columns = zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    counts = [len(values) if rare is None else len(values) - len(rare) + 1 for values, rare in columns]
    return np.repeat(np.arange(len(counts)), counts)


def _class_indices(y: Any) -> Integers | None:
    """Return the index of each row's class, if they are known and not too many."""
    if y is None:
        return None
    labels, indices = np.unique(np.asarray(y), return_inverse=True)
    return indices.reshape(-1) if 2 <= len(labels) <= _MAX_CLASSES else None


def _folds(indices: Integers) -> Integers:
    """Assign rows to folds, so that each class is spread over all of them."""
    shuffled = np.random.RandomState(0).permutation(len(indices))
    by_class = shuffled[np.argsort(indices[shuffled], kind="stable")]
    folds = np.empty(len(indices), dtype=np.intp)
    folds[by_class] = np.arange(len(indices)) % _N_FOLDS
    return folds


def _totals(groups: Integers, classes: Integers, shape: tuple[int, ...], weights: Floats | None = None) -> Floats:
    """Add up weights, of which there are 1 for each pair by default, by group and class."""
    places = groups * shape[-1] + classes
    return np.bincount(places, weights, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)


class CategoryEncoder(TransformerMixin, BaseEstimator):
    """Turn values of many different ones into the shares of the classes among the rows that have them.

    The shares of rare values are drawn towards those of all rows, which values not seen in training get. Without
    classes, or with more than 30, frequent values get indicators instead.
    """

    def fit(self, X: Objects, y: Any = None) -> Self:
        """Learn the shares; X holds text of shape (n_rows, n_columns)."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Objects, y: Any = None) -> Floats:
        """Learn the shares, and encode each row by those of the other folds."""
        self.n_features_in_ = X.shape[1]
        classes = _class_indices(y)
        if classes is None:
            self.indicators_: OneHotEncoder | None = indicators().fit(X)
            self.sources_ = indicator_sources(self.indicators_)
            return self.indicators_.transform(X)
        self.indicators_ = None
        n_classes = int(classes.max()) + 1
        self.prior_ = np.bincount(classes) / len(classes)
        self.values_: list[list[str]] = []
        self.shares_: list[Floats] = []
        self.sources_ = np.repeat(np.arange(X.shape[1]), n_classes)
        folds = _folds(classes)
        return np.hstack([self._fit_column(column, classes, folds) for column in X.T])

    def _fit_column(self, column: Objects, classes: Integers, folds: Integers) -> Floats:
        """Learn the shares of one column, and return it encoded by those of the other folds."""
        values, groups, counts = np.unique(column, return_inverse=True, return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[:_MAX_VALUES])
        n_kept, n_classes = len(kept), len(self.prior_)
        numbers = np.full(len(values), n_kept)
        numbers[kept] = np.arange(n_kept)
        groups = numbers[groups.reshape(-1)]
        by_fold = _totals(folds * (n_kept + 1) + groups, classes, (_N_FOLDS, n_kept + 1, n_classes))
        by_fold[:, n_kept] = 0  # rare values share the prior
        total = by_fold.sum(axis=0)
        self.values_.append([str(value) for value in values[kept]])
        self.shares_.append(self._shares(total))
        return self._shares(total - by_fold)[folds, groups]

    def _shares(self, counts: Floats) -> Floats:
        """Turn counts of classes into shares."""
        return (counts + _PRIOR_ROWS * self.prior_) / (counts.sum(axis=-1, keepdims=True) + _PRIOR_ROWS)

    def transform(self, X: Objects) -> Floats:
        """Turn text of shape (n_rows, n_columns) into numbers."""
        check_is_fitted(self)
        if self.indicators_ is not None:
            return self.indicators_.transform(X)
        encoded = []
        for column, values, shares in zip(X.T, self.values_, self.shares_, strict=True):
            numbers = {value: number for number, value in enumerate(values)}
            # The last shares are those of all other values.
            encoded.append(shares[[numbers.get(value, len(values)) for value in column]])
        return np.hstack(encoded)


class _Weights(NamedTuple):
    """Weights of words in rows: the entries of a sparse matrix."""

    rows: Integers
    words: Integers
    entries: Floats


class SentenceEncoder(TransformerMixin, BaseEstimator):
    """Turn one column of sentences into TF-IDF weights of words, and a score for each class.

    The words are the 100 that depend most on the class. The scores are those of naive Bayes with all words that occur
    in two rows or more; with more than 30 classes there are none of them, and 300 words.
    """

    def fit(self, X: Objects, y: Any = None) -> Self:
        """Learn which words count; X holds text of shape (n_rows, 1)."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Objects, y: Any = None) -> Floats:
        """Learn which words count, and encode each row by scores of the other folds."""
        self.n_features_in_ = 1
        texts = X[:, 0]
        rows_with: dict[str, int] = {}
        for text in texts:
            for word in set(words_of(text)):
                rows_with[word] = rows_with.get(word, 0) + 1
        repeated = [word for word, count in rows_with.items() if count > 1]
        known = sorted(repeated, key=lambda word: (-rows_with[word], word))[:_MAX_WORDS]
        self.vocabulary_ = " ".join(known)  # one text: a list of them would make a file slow to read
        frequencies = np.array([rows_with[word] for word in known], dtype=np.float64)
        self.idf_ = np.log((1 + len(texts)) / (1 + frequencies)) + 1
        weights = self._weigh(texts)
        classes = _class_indices(y)
        targets = classes if y is None or classes is not None else np.unique(y, return_inverse=True)[1].reshape(-1)
        self._choose_words(weights, targets, _N_CHOSEN_WITHOUT_SCORES if classes is None else _N_CHOSEN)
        words = self._word_features(weights, len(texts))
        self.scorer_: Floats | None = None
        self.scaler_: MinMaxScaler | None = None
        if classes is not None:
            scores = self._fit_scores(weights, classes)
            self.scaler_ = MinMaxScaler().fit(scores)
            words = np.hstack([words, self.scaler_.transform(scores)])
        self.sources_ = np.zeros(words.shape[1], dtype=np.int64)
        return words

    def _weigh(self, texts: Objects) -> _Weights:
        """Compute TF-IDF weights, whose squares add up to 1 in each row with a known word."""
        numbers = {word: number for number, word in enumerate(self.vocabulary_.split())}
        found = [[numbers[word] for word in words_of(text) if word in numbers] for text in texts]
        rows = np.repeat(np.arange(len(found)), [len(words) for words in found])
        words = np.fromiter((word for each in found for word in each), dtype=np.intp, count=len(rows))
        entries, counts = np.unique(rows * max(len(numbers), 1) + words, return_counts=True)
        rows, words = np.divmod(entries, max(len(numbers), 1))
        values = (1 + np.log(counts)) * self.idf_[words]
        norms = np.sqrt(np.bincount(rows, values**2, minlength=len(found)))
        return _Weights(rows, words, values / norms[rows])

    def _choose_words(self, weights: _Weights, classes: Integers | None, n_chosen: int) -> None:
        """Choose the words whose weights depend most on the class, by the chi-squared statistic."""
        n_words = len(self.idf_)
        strength = np.bincount(weights.words, weights.entries, minlength=n_words)
        if classes is not None and n_words:
            n_classes = int(classes.max()) + 1
            observed = _totals(weights.words, classes[weights.rows], (n_words, n_classes), weights.entries)
            expected = strength[:, None] * (np.bincount(classes) / len(classes))
            strength = ((observed - expected) ** 2 / expected).sum(axis=1)
        self.chosen_ = np.sort(np.argsort(-strength, kind="stable")[:n_chosen])

    def _word_features(self, weights: _Weights, n_rows: int) -> Floats:
        """Return the weights of the chosen words."""
        places = np.full(len(self.idf_), -1)
        places[self.chosen_] = np.arange(len(self.chosen_))
        columns = places[weights.words]
        is_chosen = columns >= 0
        features = np.zeros((n_rows, len(self.chosen_)))
        features[weights.rows[is_chosen], columns[is_chosen]] = weights.entries[is_chosen]
        return features

    def _fit_scores(self, weights: _Weights, classes: Integers) -> Floats:
        """Learn the log-odds of each word for each class, and return scores of the rows by those of the other folds."""
        n_words, n_classes, folds = len(self.idf_), int(classes.max()) + 1, _folds(classes)
        groups = folds[weights.rows] * n_words + weights.words
        by_fold = _totals(groups, classes[weights.rows], (_N_FOLDS, n_words, n_classes), weights.entries)
        total = by_fold.sum(axis=0)
        self.scorer_ = _log_odds(total)
        scores = np.empty((len(classes), n_classes))
        for fold in range(_N_FOLDS):
            is_inside = folds[weights.rows] == fold
            inside = _Weights(*(part[is_inside] for part in weights))
            scores[folds == fold] = _score(inside, _log_odds(total - by_fold[fold]), len(classes))[folds == fold]
        return scores

    def transform(self, X: Objects) -> Floats:
        """Turn text of shape (n_rows, 1) into numbers."""
        check_is_fitted(self)
        weights = self._weigh(X[:, 0])
        words = self._word_features(weights, len(X))
        if self.scorer_ is None or self.scaler_ is None:
            return words
        return np.hstack([words, self.scaler_.transform(_score(weights, self.scorer_, len(X)))])


def _log_odds(totals: Floats) -> Floats:
    """Turn weights of words by class into log-odds of each class, compared with the mean of all classes."""
    shares = (totals + 1) / (totals + 1).sum(axis=0, keepdims=True)
    logs = np.log(shares)
    return logs - logs.mean(axis=1, keepdims=True)


def _score(weights: _Weights, scorer: Floats, n_rows: int) -> Floats:
    """Add up the log-odds of the words of each row."""
    return np.column_stack(
        [np.bincount(weights.rows, weights.entries * word_scores[weights.words], n_rows) for word_scores in scorer.T]
    )
