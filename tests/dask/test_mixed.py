"""Several learners on a cluster: stumps from sums on the workers, other learners from the sample."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from dask import dataframe as dd
from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.learners import StumpAdaBoostClassifier
from tests.grids import few
from tests.reference.blocks import blobs, ecoc_in_blocks, ecoc_in_partitions, wolc_in_blocks, wolc_in_partitions

LEARNERS = [("stumps", StumpAdaBoostClassifier(5)), ("bayes", GaussianNB())]
X, Y = blobs(1500)
X, Y = X[np.argsort(Y, kind="stable")], np.sort(Y)  # so that partitions lack classes
PARTS = da.from_array(X, chunks=(400, 5)), da.from_array(Y, chunks=400)


@pytest.mark.parametrize(
    ("of_cluster", "of_machine"),
    [
        (ecoc_in_partitions, ecoc_in_blocks),
        pytest.param(wolc_in_partitions, wolc_in_blocks, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("sample_size", few([300, 5000]))
def test_several_learners_are_those_of_one_machine(client, of_cluster, of_machine, sample_size):
    settings = {"estimator": LEARNERS, "random_state": 0, "sample_size": sample_size}
    if of_cluster is wolc_in_partitions:
        settings |= {"max_iter": 1, "n_pairs": 2}
    model = of_cluster(**settings).fit(*PARTS)
    expected = of_machine(**settings).fit(X, Y)
    assert type(model) in (ECOCClassifier, WOLCClassifier)
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert np.array_equal(model.predict(PARTS[0]).compute(), expected.predict(X))
    assert model.training_samples_ == expected.training_samples_
    assert model.training_samples_["stumps"] == 1500
    assert (model.training_samples_["bayes"] < 1500) == (sample_size == 300)


def test_any_learner_takes_frames_and_can_be_trained_by_the_workers(client):
    frame = pd.DataFrame(X, columns=list("abcde"))
    parts = dd.from_pandas(frame.assign(label=Y), npartitions=3)
    expected = ECOCClassifier(LogisticRegression(), random_state=0).fit(frame, Y)
    with parallel_config("dask", client=client):
        model = ecoc_in_partitions(LogisticRegression(), random_state=0).fit(parts[list("abcde")], parts["label"])
    assert (model.predict(parts[list("abcde")]).compute().to_numpy() == expected.predict(frame)).mean() >= 0.995
    assert model.training_samples_ == {"LogisticRegression": 1500}


def test_what_cannot_be_trained_is_refused_before_rows_are_read(client):
    with pytest.raises(ValueError, match=r"estimator must be a classifier.*LinearRegression\(\)"):
        wolc_in_partitions(LinearRegression()).fit(*PARTS)
