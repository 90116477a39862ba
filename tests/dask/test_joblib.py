import dataclasses

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.data.codes import FeatureCodes
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners import regions as region_module
from skecoc.learners import svm as svm_module
from tests.reference.blocks import blobs

X, Y = blobs(400, n_classes=5)


@pytest.fixture
def pickled(monkeypatch):
    """How often this process pickles what columns share."""
    counts = dict.fromkeys(("FeatureCodes", "_Regions", "_Prepared"), 0)
    for kind in (FeatureCodes, region_module._Regions, svm_module._Prepared):

        def reduce(self, kind=kind):
            counts[kind.__name__] += 1
            return kind, tuple(getattr(self, field.name) for field in dataclasses.fields(kind) if field.init)

        monkeypatch.setattr(kind, "__reduce__", reduce)
    return counts


def both(model, client):
    alone = model.fit(X, Y).decision_function(X)
    with joblib.parallel_config(backend="dask", client=client):
        return alone, model.fit(X, Y).decision_function(X)


@pytest.mark.parametrize(
    ("learner", "shared"),
    [(StumpAdaBoostClassifier(10), "FeatureCodes"), (TunedSVMClassifier(C=2.0**14, width=1.0), "_Prepared")],
)
def test_what_columns_share_is_sent_once_not_once_per_column(client, pickled, learner, shared):
    alone, there = both(ECOCClassifier(learner, n_folds=None, random_state=0), client)  # ten columns
    assert np.array_equal(alone, there)
    assert pickled[shared] == 1


@pytest.mark.parametrize(("n_folds", "n_times"), [(None, 1), (3, 4)])
def test_rows_of_any_learner_are_scattered_once_for_all_columns(client, monkeypatch, n_folds, n_times):
    """Columns are trained on all samples, and then without each fold."""
    scattered = []
    scatter = client.scatter

    def counted(data, **options):
        scattered.append(data)
        return scatter(data, **options)

    monkeypatch.setattr(client, "scatter", counted)
    alone, there = both(ECOCClassifier(LogisticRegression(), n_folds=n_folds, random_state=0), client)
    assert np.array_equal(alone, there)
    assert sum(np.shape(data) == X.shape for data in scattered) == n_times


def test_growth_sends_rows_once_per_set_of_columns(client, pickled):
    model = WOLCClassifier(StumpAdaBoostClassifier(10), init="one-vs-rest", n_folds=None, max_iter=2, random_state=0)
    alone, there = both(model, client)
    assert np.array_equal(alone, there)
    assert model.n_iter_ == 3
    assert pickled["FeatureCodes"] + pickled["_Regions"] <= 2 * model.n_iter_
