"""A model of the things, fitted once for all tests."""

import pytest

from skecoc.compare import DataSet
from skecoc.persistence import save_model
from skecoc.tables import fit_table
from tests.tables.things import make_things


@pytest.fixture(scope="session")
def things():
    frame = make_things()
    return DataSet("things.csv", frame.drop(columns="kind"), frame["kind"].to_numpy(dtype=str))


@pytest.fixture(scope="session")
def model(things):
    return fit_table(things, target="kind", method="one-vs-one/loss-weighted", folds=3)


@pytest.fixture(scope="session")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "things.skops"
    save_model(model, path)
    return path
