import pickle

import dask.array as da
import distributed
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import dask
from dask import dataframe as dd
from skecoc import (
    CostSensitiveClassifier,
    ECOCClassifier,
    ECOCOneClassifier,
    LCECOCClassifier,
    SubclassECOCClassifier,
    WOLCClassifier,
)
from skecoc.data import Blocks, Partitions
from skecoc.data.partitions import source_of
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import load_model, save_model
from tests.grids import few
from tests.reference.blocks import (
    blobs,
    divided,
    ecoc_in_blocks,
    ecoc_in_partitions,
    wolc_in_blocks,
    wolc_in_partitions,
)

STUMPS = StumpAdaBoostClassifier(5)
GROWTH = {"random_state": 0, "init": "one-vs-rest", "max_iter": 2, "n_pairs": 1, "n_regions": 2}
N_ROWS = 1500
X, Y = blobs(N_ROWS)
X, Y = X[np.argsort(Y, kind="stable")], np.sort(Y)  # so that partitions lack classes
DIVISIONS = {"one": (1500,), "three": (500, 500, 500), "uneven and empty": (3, 0, 997, 500)}


def arrays(chunks):
    return da.from_array(X, chunks=(chunks, 5)), da.from_array(Y, chunks=(chunks,))


def blocks(chunks):
    return divided(X, Y, np.cumsum(chunks)[:-1].tolist())


@pytest.fixture(scope="module")
def local_code():
    return ecoc_in_blocks(STUMPS, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def local_wolc():
    return wolc_in_blocks(STUMPS, **GROWTH).fit_blocks(blocks(DIVISIONS["three"]))


@pytest.mark.parametrize("chunks", DIVISIONS.values(), ids=DIVISIONS)
def test_any_division_of_an_array_gives_the_very_result_of_one_machine(client, local_code, chunks):
    model = ecoc_in_partitions(STUMPS, random_state=0).fit(*arrays(chunks))
    assert type(model) is ECOCClassifier
    assert np.array_equal(model.decision_function(X), local_code.decision_function(X))


def test_wolc_on_a_cluster_is_bit_for_bit_that_of_the_same_blocks_on_one_machine(client, local_wolc):
    model = wolc_in_partitions(STUMPS, **GROWTH).fit(*arrays(DIVISIONS["three"]))
    assert type(model) is WOLCClassifier
    assert np.array_equal(model.code_matrix_, local_wolc.code_matrix_)
    assert np.array_equal(model.decision_function(X), local_wolc.decision_function(X))


@pytest.mark.nightly
def test_wolc_of_another_division_predicts_the_same(client, local_wolc):
    model = wolc_in_partitions(STUMPS, **GROWTH).fit(*arrays(DIVISIONS["uneven and empty"]))
    assert np.array_equal(model.code_matrix_, local_wolc.code_matrix_)
    assert np.array_equal(model.predict(X), local_wolc.predict(X))


def test_predictions_of_arrays_are_lazy_and_those_of_the_local_model(client, local_code):
    model = local_code
    rows = da.from_array(X, chunks=((700, 0, 800), (2, 3)))  # divided by features, too
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(rows)
        assert isinstance(lazy, da.Array)
        expected = getattr(local_code, method)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        assert np.array_equal(lazy.compute(), expected)
    assert np.array_equal(model.predict(X), local_code.predict(X))
    assert model.score(rows, da.from_array(Y, chunks=400)) == pytest.approx(local_code.score(X, Y))


def test_clones_and_copies_know_nothing_of_the_data(client):
    model = ECOCClassifier(STUMPS, random_state=0).fit(Partitions(*arrays((1500,)), client=client))
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert repr(clone(model)) == repr(model)
    kept = [value for name, value in vars(model).items() if isinstance(value, Partitions | distributed.Client)]
    assert kept == []


def test_collections_that_are_given_as_they_are_are_fitted_on_the_cluster(client, local_code):
    model = ECOCClassifier(STUMPS, random_state=0).fit(*arrays(DIVISIONS["three"]))
    assert model.training_samples_ == {"StumpAdaBoostClassifier": N_ROWS}
    assert np.array_equal(model.decision_function(X), local_code.decision_function(X))


@pytest.mark.parametrize("kind", [LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier])
def test_other_methods_are_fitted_to_the_sample(client, kind):
    model = kind(STUMPS, random_state=0).fit(*arrays(DIVISIONS["uneven and empty"]))
    local = kind(STUMPS, random_state=0).fit(Blocks(X, Y))
    assert np.array_equal(model.code_matrix_, local.code_matrix_)
    assert np.array_equal(model.predict(X), local.predict(X))


def test_frames_with_labels_and_weights(client):
    names = list("abcde")
    labels = np.array(["ash", "beech", "oak", "yew"])[Y]
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS) / 2
    frame = pd.DataFrame(X, columns=names, index=np.arange(N_ROWS) * 2)
    frame["label"], frame["weight"] = labels, weight
    parts = dd.from_pandas(frame, npartitions=3)
    model = ecoc_in_partitions(STUMPS, random_state=0).fit(parts[names], parts["label"], parts["weight"])
    expected = ecoc_in_blocks(STUMPS, random_state=0).fit(frame[names], labels, weight)
    assert model.feature_names_in_.tolist() == names
    found = model.predict(parts[names])
    assert isinstance(found, dd.Series)
    computed = found.compute()
    assert computed.index.equals(frame.index)
    assert np.array_equal(computed.to_numpy(), expected.predict(frame[names]))
    probabilities = model.predict_proba(parts[names]).compute()
    assert probabilities.columns.tolist() == ["ash", "beech", "oak", "yew"]
    assert np.array_equal(probabilities.to_numpy(), expected.predict_proba(frame[names]))
    unknown = ecoc_in_partitions(STUMPS, random_state=0).fit(parts[names].values, parts["label"].values)
    assert unknown.n_features_in_ == 5  # arrays whose numbers of rows Dask does not know


NAMES = list("abcde")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A folder of six Parquet files, uneven, with labels that are strings, weights, and columns that are not used."""
    folder = tmp_path_factory.mktemp("table")
    frame = pd.DataFrame(X, columns=NAMES)
    frame["label"], frame["weight"] = np.array(["ash", "beech", "oak", "yew"])[Y], np.arange(N_ROWS) % 3 / 2
    frame["name"] = "a long text that nobody needs"
    frame = frame.sample(frac=1.0, random_state=0, ignore_index=True)
    for number, rows in enumerate(np.split(np.arange(N_ROWS), [10, 300, 310, 800, 1200])):
        frame.iloc[rows].to_parquet(folder / f"part-{number}.parquet")
    return folder, frame


@pytest.mark.parametrize("reader", few([{}, {"filesystem": "arrow"}]), ids=["fsspec", "arrow"])
def test_columns_of_one_table_of_files_are_divided_alike(client, table, reader):
    folder, frame = table
    expected = ecoc_in_blocks(STUMPS, random_state=0).fit(frame[NAMES], frame["label"], frame["weight"])
    read = dd.read_parquet(folder, **reader)
    for parts in (read, read[read["a"] < np.inf]):
        model = ecoc_in_partitions(STUMPS, random_state=0).fit(parts[NAMES], parts["label"], parts["weight"])
        assert np.array_equal(model.decision_function(frame[NAMES]), expected.decision_function(frame[NAMES]))
        assert model.score(parts[NAMES], parts["label"]) == pytest.approx(expected.score(frame[NAMES], frame["label"]))


def test_partitions_of_files_are_those_that_the_frame_says_it_has(table):
    folder, frame = table
    parts = dd.read_parquet(folder)
    blocks = dask.compute(*source_of(parts[NAMES], parts["label"]).handles, scheduler="synchronous")
    assert [len(block.y) for block in blocks] == [10, 290, 10, 490, 400, 300]
    assert [len(block.X) for block in blocks] == [10, 290, 10, 490, 400, 300]
    assert [block.place for block in blocks][4] == "partition 4"
    assert np.array_equal(np.concatenate([block.X for block in blocks]), frame[NAMES].to_numpy())


@pytest.mark.parametrize("kind", few(["string", "category of integers", "category of strings", "integer"], 2))
def test_predicted_labels_can_be_written_to_files(client, table, tmp_path, kind):
    frame = table[1]
    numbers = frame["label"].astype("category").cat.codes
    labels = numbers if "integer" in kind else frame["label"]
    labels = labels.astype("category") if "category" in kind else labels
    parts = dd.from_pandas(frame.assign(label=labels), npartitions=3)
    model = ecoc_in_partitions(STUMPS, random_state=0).fit(parts[NAMES], parts["label"])
    lazy = model.predict(parts[NAMES])
    assert lazy.dtype == lazy.compute().dtype == (numbers.dtype if "integer" in kind else "string")
    parts.assign(predicted=lazy).to_parquet(tmp_path / "predicted")
    written = pd.read_parquet(tmp_path / "predicted")
    assert written["predicted"].tolist() == model.predict(written[NAMES]).tolist()
    none = model.predict(parts[parts["a"] > np.inf][NAMES])  # partitions without rows
    assert none.compute().dtype == lazy.dtype


def test_methods_for_samples_in_memory_refuse_collections_by_name(local_code, table):
    rows, labels = arrays((1500,))
    for call in (
        lambda: local_code.codewords(rows),
        lambda: local_code.pair_report(rows, labels),
        lambda: ECOCClassifier(GaussianNB()).partial_fit(rows, labels, classes=[0, 1, 2, 3]),
        lambda: local_code.predict(Blocks(X, Y)),
    ):
        with pytest.raises(
            ValueError, match=r"X must be in memory, got (Array|Blocks): .*; ECOCClassifier takes other data in fit"
        ):
            call()
    with pytest.raises(ValueError, match=r"y must be in memory, got Array: call y.compute\(\); Stump.* takes no other"):
        STUMPS.fit(X, labels)
    with pytest.raises(ValueError, match="warm_start=True needs samples in memory, got Partitions"):
        WOLCClassifier(STUMPS, warm_start=True).fit(rows, labels)


def test_labels_and_weights_of_samples_in_memory_are_not_loaded(local_code):
    labels, costly = arrays((1500,))[1], CostSensitiveClassifier(GaussianNB())
    fitted = CostSensitiveClassifier(GaussianNB()).fit(X, Y)
    for name, call in (
        ("y", lambda: ECOCClassifier(GaussianNB()).partial_fit(X, labels, classes=[0, 1, 2, 3])),
        ("y", lambda: local_code.score(X, labels)),
        ("y", lambda: local_code.pair_report(X, labels)),
        ("y", lambda: costly.fit(X, labels)),
        ("y", lambda: fitted.score(X, labels)),
        ("y", lambda: fitted.mean_cost(X, labels)),
        ("sample_weight", lambda: STUMPS.fit(X, Y == 0, labels)),
        ("sample_weight", lambda: local_code.score(X, Y, labels)),
    ):
        with pytest.raises(ValueError, match=rf"^{name} must be in memory, got Array: call {name}.compute\(\)"):
            call()


def test_models_are_saved_like_any_other(local_code, tmp_path):
    pytest.importorskip("skops")
    save_model(local_code, tmp_path / "model.skops")
    assert np.array_equal(load_model(tmp_path / "model.skops").predict(X), local_code.predict(X))


def test_bad_collections_are_named(client):
    rows, labels = arrays((500, 1000))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    for wrong, message in [
        ((X, labels), "X must be a Dask array or DataFrame if y or sample_weight is a Dask collection, got ndarray"),
        ((rows, None, labels), "y must be given"),
        ((rows[:, 0], labels), "X must be two-dimensional"),
        ((frame, dd.from_pandas(pd.Series(Y), npartitions=3)), "y must have as many partitions as X"),
        ((frame, Y), "y must be a Dask collection"),
        ((rows, labels[:250]), r"y must have shape \(1500,\), got \(250,\)"),
        ((rows, Y[:250]), r"y must have shape \(1500,\), got \(250,\)"),
        ((rows, labels, labels[:250]), r"sample_weight must have shape \(1500,\)"),
        ((rows, labels[:, None]), "y must be one-dimensional"),
        ((rows, da.stack([labels, labels], axis=1)), "got a multilabel"),
        ((frame, dd.from_pandas(pd.Series(Y, dtype="string").where(Y > 0), npartitions=2)), "some are missing"),
        ((rows, da.where(labels > 0, np.nan, 0.0)), "y must hold class labels"),
    ]:
        with pytest.raises(ValueError, match=message):
            ecoc_in_partitions(STUMPS).fit(*wrong)


def test_rows_that_do_not_fit_the_model_are_refused_before_they_are_computed(local_code):
    model = local_code
    rows, labels = arrays((1500,))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    for method in ("predict", "predict_proba", "decision_function"):
        for wrong in (rows[:, 0], frame[0]):
            with pytest.raises(ValueError, match="X must be two-dimensional"):
                getattr(model, method)(wrong)
        for wrong in (rows[:, :4], frame[[0, 1]]):
            with pytest.raises(ValueError, match="X must have 5 features, as in fit"):
                getattr(model, method)(wrong)
    with pytest.raises(ValueError, match="X must have at least one row"):
        model.score(rows[:0], labels[:0])


def test_missing_values_are_refused_in_training(client):
    broken = X.copy()
    broken[700, 1] = np.nan
    _, labels = arrays(DIVISIONS["three"])
    with pytest.raises(ValueError, match="X contains NaN"):
        ECOCClassifier(STUMPS).fit(da.from_array(broken, chunks=(500, 5)), labels)


def test_a_closed_client_is_refused(cluster):
    with distributed.Client(cluster, set_as_default=False) as given:
        pass
    with pytest.raises(ValueError, match="client must be connected"):
        ECOCClassifier(STUMPS).fit(Partitions(*arrays((1500,)), client=given))


def test_without_a_client_there_is_a_hint():
    with pytest.raises(ValueError, match=r"distributed\.Client\(\)"):
        ecoc_in_partitions().fit(*arrays((1500,)))


def test_balanced_weights_are_those_of_one_machine(client):
    rows = slice(0, 1200)  # classes of unequal sizes
    samples, labels = da.from_array(X[rows], chunks=(500, 5)), da.from_array(Y[rows], chunks=(500,))
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 1200)
    model = ecoc_in_partitions(STUMPS, class_weight="balanced", random_state=0)
    local = ecoc_in_blocks(STUMPS, class_weight="balanced", random_state=0)
    model.fit(samples, labels, sample_weight=da.from_array(weight, chunks=500))
    local.fit(X[rows], Y[rows], sample_weight=weight)
    assert np.array_equal(model.decision_function(X), local.decision_function(X))
    np.testing.assert_allclose(model._prior, 1.0 / len(np.unique(Y)), rtol=1e-6)
    assert model.class_weight == "balanced"


def test_a_class_of_weight_zero_is_left_out_on_a_cluster(client):
    samples, labels = arrays(DIVISIONS["three"])
    model = ecoc_in_partitions(STUMPS, class_weight={Y[0].item(): 0}, random_state=0).fit(samples, labels)
    assert model.classes_.tolist() == [label for label in np.unique(Y).tolist() if label != Y[0]]
    with pytest.raises(ValueError, match="class_weight must have labels of y as keys"):
        ecoc_in_partitions(STUMPS, class_weight={"no": 1}).fit(samples, labels)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_costs_and_rejection_are_those_of_the_local_model(client, local_code, kind):
    samples, labels = arrays(DIVISIONS["uneven and empty"])
    model = ecoc_in_partitions(STUMPS, random_state=0).fit(samples, labels)
    lazy = samples if kind == "array" else dd.from_pandas(pd.DataFrame(X), npartitions=3)
    first, second, *_ = np.unique(Y).tolist()
    for options in ({"reject": 0.7}, {"cost_matrix": {first: {second: 9}}}, {"reject": 0.7, "reject_label": "no"}):
        expected = local_code.predict(X, **options)
        assert np.asarray(model.predict(lazy, **options).compute()).tolist() == expected.tolist()
        assert model.predict(X, **options).tolist() == expected.tolist()


def test_predictions_need_no_samples_that_nobody_has_given():
    text = pd.DataFrame({"letter": np.array(list("abc"))[np.arange(60) % 3], "x": np.arange(60) % 3 + 0.5})
    y = np.arange(60) % 3
    codes = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["letter"]), ("passthrough", ["x"]))
    model = ECOCClassifier(make_pipeline(codes, LogisticRegression()), random_state=0).fit(text, y)
    parts = dd.from_pandas(text, npartitions=3)
    assert np.array_equal(model.predict(parts).compute(), y)
    positive = X[::10] - X.min() + 1
    inverted = make_pipeline(FunctionTransformer(np.reciprocal), LogisticRegression())
    model = ECOCClassifier(inverted, random_state=0).fit(positive, Y[::10])
    rows = da.from_array(positive, chunks=(50, 5))
    assert np.array_equal(model.predict_proba(rows).compute(), model.predict_proba(positive))


def test_sparse_partitions_are_predicted():
    rows = da.from_array(X[::10], chunks=(50, 5)).map_blocks(sparse.csr_array)
    model = ECOCClassifier(LogisticRegression(), random_state=0).fit(sparse.csr_array(X[::10]), Y[::10])
    assert np.array_equal(model.predict(rows).compute(), model.predict(sparse.csr_array(X[::10])))


def test_costs_around_a_code_work_on_collections(client):
    rows, labels = arrays(DIVISIONS["three"])
    model = CostSensitiveClassifier(ECOCClassifier(STUMPS, random_state=0), reject=0.6).fit(rows, labels)
    described = clone(model).fit(Blocks(X, Y))
    assert model.estimator_.training_samples_ == {"StumpAdaBoostClassifier": N_ROWS}
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(rows)
        assert isinstance(lazy, da.Array)
        expected = getattr(described, method)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        assert np.array_equal(lazy.compute(), expected)
    assert model.score(rows, labels) == pytest.approx(described.score(X, Y))
    with pytest.raises(ValueError, match="CostSensitiveClassifier takes other data in fit"):
        model.mean_cost(rows, labels)
