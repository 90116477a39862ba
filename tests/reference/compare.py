"""Cross-validation and ranks written out plainly, to compare the experiment's own against."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from skecoc.classifiers import ECOCClassifier
from skecoc.compare.trials import seed_of


def average_ranks(scores):
    """One plus the number of better methods, plus half the number of ties, averaged over rows."""
    n_rows, n_methods = len(scores), len(scores[0])
    totals = [0.0] * n_methods
    for row in scores:
        for j in range(n_methods):
            better = sum(row[k] > row[j] for k in range(n_methods))
            tied = sum(row[k] == row[j] for k in range(n_methods) if k != j)
            totals[j] += 1 + better + tied / 2
    return [total / n_rows for total in totals]


def fold_accuracies(name, X, y, coding, decoding, learner, folds, seed):
    """Accuracy of one method on each fold of the first repeat."""
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed_of(seed, "folds", name, 0))
    accuracies = []
    for fold, (train, test) in enumerate(splitter.split(X, y)):
        imputer, scaler = SimpleImputer(strategy="median"), MinMaxScaler()
        X_train = scaler.fit_transform(imputer.fit_transform(X[train]))
        X_test = scaler.transform(imputer.transform(X[test]))
        run_seed = seed_of(seed, "run", name, 0, fold, coding)
        model = ECOCClassifier(learner, coding=coding, decoding=decoding, random_state=run_seed)
        predicted = model.fit(X_train, y[train]).predict(X_test)
        accuracies.append(np.mean(predicted == y[test]))
    return accuracies
