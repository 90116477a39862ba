"""Accuracy of dense random codes beside scikit-learn's OutputCodeClassifier, same learner and number of columns.

10-fold on the 14 UCI sets. `OutputCodeClassifier(code_size=1.5)` draws one code at random and decodes to the nearest
codeword; ours searches for a large minimum distance and decodes by the logistic loss. Printed: accuracies, wins and
average ranks.

    python benchmarks/output_code_accuracy.py
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.multiclass import OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier
from skecoc.coding import dense_random
from skecoc.datasets import list_uci, load_uci
from skecoc.decoding import LossBasedDecoder

LEARNERS = {
    "logistic": LogisticRegression(max_iter=200),
    "tree of depth 5": DecisionTreeClassifier(max_depth=5, random_state=0),
}


def accuracies(name: str, learner: object, repeats: int = 3) -> tuple[float, float]:
    """Give both accuracies on a data set, averaged over codes drawn with several seeds."""
    data = load_uci(name)
    n_columns = int(1.5 * len(data.target_names))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    means = []
    for seed in range(repeats):
        code = dense_random(len(data.target_names), n_columns=n_columns, random_state=seed)
        ours = ECOCClassifier(learner, coding=code, decoding=LossBasedDecoder("logistic"), random_state=seed)
        theirs = OutputCodeClassifier(learner, code_size=1.5, random_state=seed)
        means.append(
            [
                cross_val_score(make_pipeline(SimpleImputer(), MinMaxScaler(), model), data.data, data.target, cv=folds)
                for model in (ours, theirs)
            ]
        )
    first, second = 100 * np.mean(means, axis=(0, 2))
    return float(first), float(second)


def main() -> None:
    for learner_name, learner in LEARNERS.items():
        table = np.array(Parallel(n_jobs=-1)(delayed(accuracies)(name, learner) for name in list_uci()))
        print(f"\n{learner_name}: {'ours':>8} {'OutputCodeClassifier':>22}")
        for name, (ours, theirs) in zip(list_uci(), table, strict=True):
            print(f"  {name:<14} {ours:8.2f} {theirs:22.2f}")
        ranks = rankdata(-table, axis=1).mean(axis=0)
        print(f"  {'average':<14} {table[:, 0].mean():8.2f} {table[:, 1].mean():22.2f}")
        print(f"  {'average rank':<14} {ranks[0]:8.2f} {ranks[1]:22.2f}")


if __name__ == "__main__":
    main()
