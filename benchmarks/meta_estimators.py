"""Fit and predict times of ECOCClassifier over scikit-learn's multiclass meta-estimators, same base learner.

Hamming decoding throughout, without the folds that probabilities are calibrated on. Printed: our processor time divided
by theirs for `fit` (wanted: at most 1.1) and theirs divided by ours for `predict` (wanted: at least 3 against
OneVsOneClassifier with 10 or more classes).

    python benchmarks/meta_estimators.py
"""

import numpy as np
from _timing import best_times
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier
from skecoc.datasets import load_uci

LEARNERS = {
    "logistic": LogisticRegression(max_iter=500),
    "linear SVM": LinearSVC(random_state=0),
    "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
    "naive Bayes": GaussianNB(),
}


def peers(learner: object, n_classes: int) -> dict[str, tuple[object, object]]:
    """Give the coding of ours and scikit-learn's estimator that ask the same questions."""
    drawn = OutputCodeClassifier(learner, code_size=1.5, random_state=0)
    code_book = drawn.fit(np.arange(n_classes).reshape(-1, 1), np.arange(n_classes)).code_book_
    return {
        "OneVsOneClassifier": ("one-vs-one", OneVsOneClassifier(learner)),
        "OneVsRestClassifier": ("one-vs-rest", OneVsRestClassifier(learner)),
        "OutputCodeClassifier": (np.where(code_book > 0, 1, -1), drawn),
    }


def main() -> None:
    print(f"{'data':<10} {'learner':<16} {'against':<22} {'fit ours/theirs':>16} {'predict theirs/ours':>20}")
    slowest: dict[str, list[float]] = {}
    for name in ("vowel", "optdigits", "pendigits"):
        data = load_uci(name)
        X = MinMaxScaler().fit_transform(data.data)
        n_classes = len(np.unique(data.target))
        for learner_name, learner in LEARNERS.items():
            for peer, (coding, theirs) in peers(learner, n_classes).items():
                ours = ECOCClassifier(learner, coding=coding, decoding="hamming", n_folds=None, random_state=0)
                fit = best_times(lambda: ours.fit(X, data.target), lambda: theirs.fit(X, data.target), repeats=3)  # noqa: B023
                predict = best_times(lambda: ours.predict(X), lambda: theirs.predict(X))  # noqa: B023
                ratios = fit[0] / fit[1], predict[1] / predict[0]
                print(f"{name:<10} {learner_name:<16} {peer:<22} {ratios[0]:>16.2f} {ratios[1]:>20.1f}", flush=True)
                slowest.setdefault(peer, []).append(ratios[0])
                slowest.setdefault(peer + " predict", []).append(ratios[1])
    for peer in ("OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"):
        print(
            f"{peer}: fit at most {max(slowest[peer]):.2f} (median {np.median(slowest[peer]):.2f}) of theirs, "
            f"predict at least {min(slowest[peer + ' predict']):.1f} times as fast"
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
