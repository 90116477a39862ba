"""One run of an experiment written out plainly: everything trained anew, by the public estimators."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, ECOCOneClassifier, WOLCClassifier
from skecoc.coding import dense_random
from skecoc.compare.trials import seed_of
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier

LEARNERS = {"stumps": StumpAdaBoostClassifier, "svm": TunedSVMClassifier}
RESPONSES = {"labels": "predict", "probabilities": "predict_proba", "margins": "decision_function"}


def fold_rows(name, repeat, fold, n_folds, seed):
    """Training rows and labels, test rows and labels of a fold, imputed and scaled to [0, 1]."""
    bunch = load_uci(name)
    X, y = bunch.data, np.asarray(bunch.target)
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed_of(seed, "folds", name, repeat))
    train, test = list(splitter.split(X, y))[fold]
    imputer, scaler = SimpleImputer(strategy="median"), MinMaxScaler()
    X_train = scaler.fit_transform(imputer.fit_transform(X[train]))
    return X_train, y[train], scaler.transform(imputer.transform(X[test])), y[test]


def classifier_of(key, seed):
    """The unfitted classifier of a run."""
    run_seed = seed_of(seed, "run", key.data_set, key.repeat, key.fold, key.coding)
    options = {"response_method": RESPONSES[key.response], "random_state": run_seed}
    learner = LEARNERS[key.learner]()
    if key.coding == "wolc":
        return WOLCClassifier(learner, **options)
    if key.coding == "ecoc-one":
        return ECOCOneClassifier(learner, decoding=key.decoding, **options)
    coding = key.coding
    if coding == "random-10":
        coding = dense_random(len(load_uci(key.data_set).target_names), n_columns=10, random_state=run_seed)
    return ECOCClassifier(learner, coding=coding, decoding=key.decoding, **options)


def run_alone(key, n_folds, seed):
    """Number of test samples that are predicted correctly, and the trained classifier."""
    X_train, y_train, X_test, y_test = fold_rows(key.data_set, key.repeat, key.fold, n_folds, seed)
    classifier = classifier_of(key, seed).fit(X_train, y_train)
    return int(np.sum(classifier.predict(X_test) == y_test)), classifier
