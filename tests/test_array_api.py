"""Arrays of other libraries: converted as by scikit-learn, and refused clearly where it is set to dispatch to them."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("array_api_strict")

# SciPy reads SCIPY_ARRAY_API when it is imported, so that another process is needed.
SCRIPT = """
import array_api_strict as xp
import numpy as np
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from skecoc import ECOCClassifier, SubclassECOCClassifier

learner = LinearDiscriminantAnalysis()
X, y = load_iris(return_X_y=True)
other_X, other_y = xp.asarray(X), xp.asarray(y)


def failure(call, *args):
    try:
        call(*args)
    except (TypeError, ValueError) as error:
        return error
    return None


with config_context(array_api_dispatch=True):
    assert learner.fit(other_X, other_y).predict(other_X).__array_namespace__() is xp
    for peer in (OneVsOneClassifier(learner), OneVsRestClassifier(learner), OutputCodeClassifier(learner)):
        assert failure(peer.fit, other_X, other_y) is not None, peer  # once these take them, output codes should
for model in (ECOCClassifier(learner, random_state=0), SubclassECOCClassifier(learner)):
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(other_X, other_y).decision_function(other_X), expected, atol=1e-9)
    with config_context(array_api_dispatch=True):
        np.testing.assert_allclose(model.fit(X, y).decision_function(X), expected, atol=1e-9)
        for name, call, args in [
            ("X", model.fit, (other_X, y)),
            ("y", model.fit, (X, other_y)),
            ("sample_weight", model.fit, (X, y, xp.ones(150))),
            ("X", model.predict, (other_X,)),
            ("X", model.codewords, (other_X,)),
        ]:
            error = failure(call, *args)
            assert isinstance(error, TypeError), (name, error)
            assert str(error).startswith(f"{name} must be a NumPy array"), error
            assert f"numpy.asarray({name})" in str(error), error
print("checked")
"""


def test_other_arrays_are_converted_or_refused():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "checked\n", done.stderr
