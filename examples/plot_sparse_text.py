# ruff: noqa: D205, D400
"""
Sparse text with a hundred topics
=================================

Sparse matrices are passed to the learner unchanged. In the many features of text, a linear learner can separate almost
any bipartition of the topics, so a compact code comes close to one-vs-rest with fewer learners.
"""

# %%
# Texts
# -----
# A generated corpus: every topic has its own words, and all topics share common ones. Words are drawn with Zipf's
# frequencies.
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier

from skecoc import ECOCClassifier
from skecoc.coding import dense_random

rng = np.random.default_rng(0)
n_topics, n_words = 100, 5000
syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
words = np.array(["".join(rng.choice(syllables, 3)) for _ in range(n_words)])
frequency = 1.0 / np.arange(1, n_words + 1)
frequency /= frequency.sum()
topic_words = rng.integers(0, n_words, (n_topics, 25))


def write(topic, length=30):
    """Write a text about a topic: one word in four is the topic's own."""
    chosen = rng.choice(n_words, length, p=frequency)
    own = rng.random(length) < 0.25
    chosen[own] = rng.choice(topic_words[topic], own.sum())
    return " ".join(words[chosen])


numbers = np.repeat(np.arange(n_topics), 20)
topics = np.array([f"topic {number:02d}" for number in numbers])
texts = [write(number) for number in numbers]
train, test, y_train, y_test = train_test_split(texts, topics, test_size=0.5, stratify=topics, random_state=0)
print(train[0])
vectorizer = TfidfVectorizer(sublinear_tf=True)
X_train, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
print(f"{X_train.shape[1]} features, {X_train.nnz / X_train.shape[0]:.0f} of them in a text")

# %%
# Compact codes against one-vs-rest
# ---------------------------------
# A hundred classes need at least seven columns. Further columns increase the distances of the rows, so that several
# outputs may be wrong.
learner = LogisticRegression(C=30.0)


def fit_and_score(model):
    """Return the accuracy on the test texts and the seconds that fitting took."""
    start = perf_counter()
    model.fit(X_train, y_train)
    seconds = perf_counter() - start
    return model.score(X_test, y_test), seconds


rest_accuracy, rest_seconds = fit_and_score(OneVsRestClassifier(learner))
print(f"one-vs-rest, 100 learners: accuracy {rest_accuracy:.3f}")
lengths = [10, 20, 40, 67]
accuracies = []
for n_columns in lengths:
    matrix = dense_random(n_topics, n_columns=n_columns, n_draws=10, random_state=0)
    code = ECOCClassifier(learner, coding=matrix, decoding="loss-based")
    accuracy, seconds = fit_and_score(code)
    accuracies.append(accuracy)
    print(f"{n_columns} columns: accuracy {accuracy:.3f}, {seconds / rest_seconds:.2f} of the time of one-vs-rest")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(lengths, accuracies, "o-", color="#2b6cb0", label="dense random code")
axes.plot(n_topics, rest_accuracy, "s", color="#d8822b", markersize=8, label="one-vs-rest")
axes.set(xlabel="columns (logistic regressions)", ylabel="test accuracy", title="100 topics, sparse text")
axes.legend(frameon=False)
plt.show()

# %%
# Important words of a column
# ---------------------------
# A column is a linear model of the words: words with a positive coefficient belong to topics on its +1 side.
vocabulary = vectorizer.get_feature_names_out()
coefficients = code.estimators_[0].coef_.ravel()
for place in np.argsort(-np.abs(coefficients))[:8]:
    word = vocabulary[place]
    owners = [topic for topic in range(n_topics) if word in words[topic_words[topic]]]
    sides = ", ".join(f"{code.classes_[topic]} ({code.code_matrix_[topic, 0]:+d})" for topic in owners)
    print(f"{word} {coefficients[place]:+.1f}: {sides}")
