"""Columns as people have them behind this package's preprocessor and behind skrub's TableVectorizer.

Four generated tables: customers (numbers, gaps that mean something, towns of many values, dates), tickets (short
messages and a few numbers), shops (several categories of many values), and all of these together. A random forest and
logistic regression are cross-validated behind both; printed are accuracies, the ratio of errors (ours / skrub's) and
the ratio of the times to prepare the columns of the training rows and to transform the others.

Run with ``python benchmarks/columns.py [ROWS]``, 2,000 by default; skrub is left out if it is not installed.
"""

import importlib.util
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from skecoc.compare.data_sets import leave_missing
from skecoc.tables.kinds import typed
from skecoc.tables.model import choose_columns, takes_missing
from skecoc.tables.preprocessing import make_preprocessor

N_CLASSES, FOLDS = 4, 4
TOPICS = ["card payment charge declined invoice", "password login account reset access", "parcel delivery order late"]
TOPICS = [topic.split() for topic in [*TOPICS, "return refund broken exchange money"]]
COMMON = [f"word{i}" for i in range(600)]
LEARNERS = {
    "forest": RandomForestClassifier(100, random_state=0),
    "logistic": LogisticRegression(max_iter=1000),
}


def customers(y, random):
    """Numbers, gaps that depend on the class, a town and a date."""
    n_rows = len(y)
    age = 40 + 8 * (y == 1) + random.normal(scale=12, size=n_rows)
    income = np.where(random.random(n_rows) < 0.1 + 0.4 * (y == 2), np.nan, random.lognormal(10, 0.4, n_rows))
    season = pd.to_timedelta((365 * random.random(n_rows) + 90 * (y == 3)) % 365, unit="D").floor("D")
    since = pd.Timestamp("2019-01-01") + season + pd.to_timedelta(365 * random.integers(0, 5, n_rows), unit="D")
    town = random.integers(0, 30, n_rows) * 4 + np.where(
        random.random(n_rows) < 0.5, y, random.integers(4, size=n_rows)
    )
    return {
        "age": age.round(1),
        "income": income.round(2),
        "since": since.strftime("%m/%d/%Y"),
        "town": np.char.add("town ", town.astype(str)).astype(object),
    }


def tickets(y, random):
    """Messages of common words, some of them about the topic of the class."""
    weights = 1 / np.arange(1, len(COMMON) + 1)
    messages = []
    for label in y:
        words = random.choice(COMMON, 4 + random.integers(10), p=weights / weights.sum())
        topic = TOPICS[label if random.random() < 0.8 else random.integers(N_CLASSES)]
        words[: random.integers(0, 3)] = random.choice(topic)
        messages.append(" ".join(random.permutation(words)))
    return {"message": messages, "length": [len(message) for message in messages]}


def shops(y, random):
    """Three categories of many values, each of which tells a little."""
    columns = {}
    for name, n_values in (("brand", 60), ("model", 300), ("seller", 1000)):
        share = random.dirichlet(np.full(n_values, 0.5), N_CLASSES)
        columns[name] = [f"{name} {random.choice(n_values, p=share[label])}" for label in y]
    return columns


def make_tables(n_rows):
    """Yield the names, columns and classes of the tables."""
    makers = {"customers": [customers], "tickets": [tickets], "shops": [shops], "all": [customers, tickets, shops]}
    for number, (name, parts) in enumerate(makers.items()):
        random = np.random.default_rng(number)
        y = random.integers(N_CLASSES, size=n_rows)
        yield name, pd.DataFrame({key: value for part in parts for key, value in part(y, random).items()}), y


def by_skecoc(learner, train, y, test):
    """Encode training and test rows as `TableClassifier` does."""
    kinds, _ = choose_columns(train)
    values = typed(train, kinds)
    preprocessor = make_preprocessor(kinds)
    leave_missing(preprocessor, takes_missing(learner))
    return preprocessor.fit_transform(values, y), preprocessor.transform(typed(test, kinds))


def by_skrub(learner, train, y, test):
    """Encode training and test rows as `skrub.tabular_pipeline` does."""
    import skrub

    pipeline = skrub.tabular_pipeline(learner)[:-1]
    return pipeline.fit_transform(train, y), pipeline.transform(test)


def measure(prepare, learner, X, y):
    """Return the accuracy of a learner and the seconds that its columns took to prepare."""
    accuracies, seconds = [], 0.0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        start = time.process_time()
        X_train, X_test = prepare(learner, X.iloc[train], y[train], X.iloc[test])
        seconds += time.process_time() - start
        accuracies.append(learner.fit(X_train, y[train]).score(X_test, y[test]))
    return float(np.mean(accuracies)), seconds / FOLDS


def main(n_rows):
    warnings.simplefilter("ignore")
    ways = {"skecoc": by_skecoc}
    if importlib.util.find_spec("skrub"):
        ways["skrub"] = by_skrub
    print(f"{'table':10} {'learner':9}" + "".join(f" {way + ' %':>9} {'s':>6}" for way in ways) + "  errors   time")
    for name, X, y in make_tables(n_rows):
        for label, learner in LEARNERS.items():
            found = [measure(prepare, learner, X, y) for prepare in ways.values()]
            line = f"{name:10} {label:9}" + "".join(f" {100 * score:9.1f} {seconds:6.2f}" for score, seconds in found)
            if len(found) > 1:
                (ours, our_time), (theirs, their_time) = found
                line += f" {(1 - ours) / (1 - theirs):7.2f} {our_time / their_time:6.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
