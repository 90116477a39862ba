"""Models as files: all kinds survive the way, and nothing but a model gets in."""

import gzip
import io
import json
import os
import pickle
import sys
import warnings
import zipfile
from importlib import import_module

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skecoc
from skecoc import ECOCClassifier, WOLCClassifier, persistence
from skecoc.datasets import load_uci
from skecoc.decoding import DECODERS, losses
from skecoc.learners import (
    MulticlassLearner,
    RegionClassifier,
    StumpAdaBoostClassifier,
    TunedSVMClassifier,
    mixed,
    mixed_learners,
)
from skecoc.persistence import TRUSTED_TYPES, ModelFileError, allowed, dump_model, load_model, save_model
from skecoc.persistence.allowed import registered_types

X, y = load_uci("iris", return_X_y=True)
X, y = X[::3], y[::3]


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def model():
    return skecoc.ECOCClassifier(random_state=0).fit(X, y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


MODELS = [
    *(skecoc.ECOCClassifier(decoding=decoding, random_state=0) for decoding in DECODERS),
    skecoc.ECOCClassifier(TunedSVMClassifier(tune="ensemble"), coding="decoc", random_state=0),
    skecoc.ECOCClassifier(RegionClassifier(), coding="one-vs-one", random_state=0),
    skecoc.ECOCClassifier(LogisticRegression(), coding=np.array([[1, 0, 1], [-1, 1, 1], [0, -1, -1]]), random_state=0),
    skecoc.ECOCOneClassifier(random_state=0),
    skecoc.LCECOCClassifier(init="one-vs-rest", tol=0.0, max_iter=2, random_state=0),
    skecoc.SubclassECOCClassifier(random_state=0),
    skecoc.WOLCClassifier(TunedSVMClassifier(tune="ensemble"), random_state=0),
    skecoc.WOLCClassifier.paper(random_state=0),
]


@pytest.mark.parametrize(
    "estimator", MODELS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'decoding', '')}"
)
def test_models_of_all_kinds_survive(estimator, path):
    model = make_pipeline(MinMaxScaler(), estimator).fit(X, y)
    save_model(model, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("method", [skecoc.ECOCClassifier, skecoc.WOLCClassifier])
def test_missing_values_and_categories_survive(method, path):
    frame = pd.DataFrame(np.where(X > 6, np.nan, X), columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 5.5, "long", None))
    model = method(random_state=0).fit(frame, y)
    save_model(model, path)
    np.testing.assert_array_equal(load_model(path).predict_proba(frame), model.predict_proba(frame))


@pytest.fixture
def small_mixed(monkeypatch):
    """The learners of "mixed", with few trees."""
    sizes = {"trees": {"estimator__n_estimators": 3}, "boosting": {"estimator__max_iter": 3}}
    small = [(name, learner.set_params(**sizes.get(name, {}))) for name, learner in mixed_learners()]
    monkeypatch.setattr(mixed, "mixed_learners", lambda *_, **__: small)
    return small


PIPELINES = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("machines", make_pipeline(StandardScaler(), SVC())),
    ("trees", MulticlassLearner(make_pipeline(MinMaxScaler(), RandomForestClassifier(3)))),
    ("boosting", HistGradientBoostingClassifier(max_iter=3)),
]


@pytest.mark.usefixtures("small_mixed")
@pytest.mark.parametrize(
    "estimator",
    [
        skecoc.ECOCClassifier("mixed", random_state=0),
        skecoc.WOLCClassifier("mixed", random_state=0),
        skecoc.ECOCClassifier(PIPELINES, random_state=0),
        skecoc.WOLCClassifier(PIPELINES, random_state=0),
        skecoc.ECOCClassifier(RandomForestClassifier(3), random_state=0),
        skecoc.ECOCClassifier(MulticlassLearner(ExtraTreesClassifier(3)), random_state=0),
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
    ],
    ids=["ecoc-mixed", "wolc-mixed", "ecoc-list", "wolc-list", "ecoc-forest", "ecoc-multiclass", "forest", "boosting"],
)
def test_several_learners_and_trees_survive(estimator, path):
    model = estimator.fit(X, y)
    save_model(model, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def shared_learners(model):
    """List the multiclass learners of all columns, each once."""
    columns = [*model.estimators_, *getattr(model, "_all_learners", [])]
    found = {id(column.learner): column.learner for column in columns if hasattr(column, "learner")}
    return list(found.values())


@pytest.mark.parametrize("kind", [skecoc.ECOCClassifier, skecoc.WOLCClassifier])
def test_the_learner_of_many_columns_is_stored_once(kind, small_mixed, path):
    trees = MulticlassLearner(ExtraTreesClassifier(50, random_state=0))
    model = kind([*small_mixed, ("many", trees)], random_state=0).fit(X, y)
    save_model(model, path)
    names = [name for name, learner in small_mixed if isinstance(learner, MulticlassLearner)]
    assert len(shared_learners(model)) == len(names) + 1  # those of folds are gone
    assert len(shared_learners(load_model(path))) == len(names) + 1
    members = sum(len(dump_model(learner)) for learner in shared_learners(model))
    assert sum(column_name == "many" for column_name in model.column_learners_) >= 3
    assert path.stat().st_size < 2.0 * members
    with zipfile.ZipFile(path) as archive:
        assert archive.read("schema.json").count(b'"TreeNode"') == 3 + 50


def test_a_learner_is_audited_once_however_many_columns_it_has(path, monkeypatch):
    several = [("trees", MulticlassLearner(ExtraTreesClassifier(2, random_state=0)))]
    model = skecoc.ECOCClassifier(several, coding="one-vs-rest", random_state=0).fit(X, y)
    save_model(model, path)
    visits = []
    node = import_module("skops.io._sklearn").TreeNode
    monkeypatch.setattr(
        node, "get_unsafe_set", lambda self: visits.append(id(self)) or super(node, self).get_unsafe_set()
    )
    load_model(path)
    assert len(visits) == 2 * 2  # two trees, when they are loaded and when types are named


def test_types_inside_of_a_shared_learner_are_audited(path):
    several = [("odd", MulticlassLearner(make_pipeline(FunctionTransformer(users_own), SVC())))]
    model = skecoc.ECOCClassifier(several, coding="one-vs-rest", random_state=0).fit(X, y)
    path.write_bytes(persistence._labelled(skops.io.dumps(model)))
    with pytest.raises(ModelFileError, match=r"not trusted, .*users_own"):
        load_model(path)


def test_trusted_types_exist_and_none_is_forgotten():
    for name in TRUSTED_TYPES:
        module, _, attribute = name.rpartition(".")
        assert getattr(import_module(module), attribute).__name__ == attribute
    needed = [
        *DECODERS.values(),
        *(getattr(skecoc, name) for name in skecoc.__all__ if name != "__version__"),
        *losses.LOSSES.values(),
        StumpAdaBoostClassifier,
        TunedSVMClassifier,
        RegionClassifier,
        MulticlassLearner,
    ]
    assert {f"{kind.__module__}.{kind.__name__}" for kind in needed} <= set(TRUSTED_TYPES)


@pytest.fixture
def other_distribution(tmp_path, monkeypatch):
    """A distribution that registers one of its two types, and a function that removes it."""
    module, metadata = tmp_path / "skecoc_study" / "doubling.py", tmp_path / "scikit_ecoc_study-1.dist-info"
    for folder in (module.parent, metadata):
        folder.mkdir()
    (module.parent / "__init__.py").write_text("")  # a package of this name that is installed comes after it
    module.write_text(
        "from sklearn.base import BaseEstimator, TransformerMixin\n"
        "class Doubled(TransformerMixin, BaseEstimator):\n"
        "    def fit(self, X, y=None):\n        return self\n"
        "    def transform(self, X):\n        return 2 * X\n"
        "class Tripled(Doubled):\n    pass\n"
        "def model_types():\n    return [Doubled, __name__ + '.Named']\n"
    )
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: scikit-ecoc-study\nVersion: 1\n")
    points = "[skecoc.model_types]\ndoubling = skecoc_study.doubling:model_types\n"
    (metadata / "entry_points.txt").write_text(points)

    def forget():
        for name in [name for name in sys.modules if name.partition(".")[0] == "skecoc_study"]:
            monkeypatch.delitem(sys.modules, name)
        registered_types.cache_clear()

    def remove():
        patch.undo()
        forget()
        # None stands for a package that is not installed, even if it is.
        monkeypatch.setitem(sys.modules, "skecoc_study", None)
        monkeypatch.setattr(allowed, "entry_points", lambda **_: ())

    forget()
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        yield remove
    forget()


def test_types_are_registered_by_other_distributions(other_distribution, path):
    doubling = import_module("skecoc_study.doubling")
    model = make_pipeline(doubling.Doubled(), skecoc.ECOCClassifier(random_state=0)).fit(X, y)
    save_model(model, path)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))
    assert registered_types() == {"skecoc_study.doubling.Doubled", "skecoc_study.doubling.Named"}
    with pytest.raises(ModelFileError, match=r"it holds skecoc_study\.doubling\.Tripled"):
        save_model(doubling.Tripled(), path)
    model[0].transform = model[1]  # as a forged file might
    with pytest.raises(ModelFileError, match="Doubled has other methods than its type: transform"):
        save_model(model, path)
    other_distribution()
    with pytest.raises(ModelFileError, match=r"model\.skops' needs .* scikit-ecoc-study: pip install") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)
    assert caught.value.untrusted == []  # trusting a type that is not there would not help


def test_entry_points_are_read_only_when_they_are_needed(model, path, monkeypatch):
    monkeypatch.setattr(allowed, "registered_types", None)
    monkeypatch.setattr(persistence, "registered_types", None)
    save_model(model, path)
    assert load_model(path).score(X, y) > 0.9


def test_the_file_says_what_made_it(model, path):
    save_model(model, path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("skecoc.json"))["skecoc"] == skecoc.__version__


def test_another_version_is_warned_of(model, path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(persistence, "__version__", "9.9")
        save_model(model, path)
    with pytest.warns(UserWarning, match=f"saved with skecoc 9.9 \\(this is {skecoc.__version__}\\)"):
        assert load_model(path).score(X, y) > 0.9


class Trap:
    """Leaves a trace if it is ever loaded."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("compress", [0, 3])
def test_pickles_are_refused(compress, path):
    joblib.dump(Trap(), path, compress=compress)
    with pytest.raises(ModelFileError, match=r"model\.skops' may be a pickle, which could run any code"):
        load_model(path)
    path.write_bytes(gzip.compress(pickle.dumps(Trap())))
    with pytest.raises(ModelFileError, match="may be a pickle"):
        load_model(path)
    path.write_bytes(pickle.dumps(Trap(), protocol=0))  # text, which no model is
    with pytest.raises(ModelFileError, match="is not a model of skecoc"):
        load_model(path)
    assert not Trap.sprung


def rewrite(path, **members):
    """Replace members of an archive, and leave the rest."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**content, **members}.items():
            archive.writestr(name, data)


def test_changed_files_are_refused(model, path):
    save_model(model, path)
    rewrite(path, **{"schema.json": b"{}"})
    with pytest.raises(ModelFileError, match="has been changed since it was saved"):
        load_model(path)


def test_types_that_are_not_trusted_are_refused_even_with_a_right_checksum(model, path):
    forged = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(
                name,
                data.replace(b'"skecoc.classifiers.ecoc"', b'"subprocess"').replace(b'"ECOCClassifier"', b'"Popen"'),
            )
    path.write_bytes(persistence._labelled(forged.getvalue()))
    with pytest.raises(ModelFileError, match=r"is refused: .*subprocess\.Popen"):
        load_model(path)


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.99])
def test_files_cut_short_are_refused(keep, model, path):
    content = dump_model(model)
    path.write_bytes(content[: int(keep if keep >= 1 else keep * len(content))])
    with pytest.raises(ModelFileError, match="is not a model of skecoc, or damaged"):
        load_model(path)


def test_damaged_bytes_are_noticed(model, path):
    content = bytearray(dump_model(model))
    for position in (200, len(content) // 2, len(content) - 400):
        damaged = content.copy()
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load_model(path)


def test_descriptions_that_make_no_sense_are_refused(path):
    forged = io.BytesIO()
    with zipfile.ZipFile(forged, "w") as archive:
        archive.writestr("schema.json", json.dumps({"__loader__": "nothing"}))
    path.write_bytes(persistence._labelled(forged.getvalue()))
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load_model(path)


@pytest.mark.parametrize("label", [{}, {"format": "other"}, [], "text", {"format": "skecoc-model-1", "skecoc": 3}])
def test_labels_of_other_origin_are_refused(label, model, path):
    save_model(model, path)
    rewrite(path, **{"skecoc.json": json.dumps(label)})
    with pytest.raises(ModelFileError, match=r"is not a model of skecoc|format that this version does not know"):
        load_model(path)


def test_other_files_are_refused(path, tmp_path):
    for content in (b"RIFF....WAVE", b"hello", bytes(1000)):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is not a model of skecoc"):
            load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ModelFileError, match="is not a model of skecoc"):
        load_model(path)
    path.write_bytes(skops.io.dumps(MinMaxScaler()))
    with pytest.raises(ModelFileError, match="is not a model of skecoc"):
        load_model(path)
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)


def test_messages_are_one_line(model, path):
    path.write_bytes(persistence._labelled(skops.io.dumps(FunctionTransformer(os.system))))
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def users_own(X):
    return X


def test_a_model_that_could_not_be_loaded_is_not_saved(path):
    with pytest.raises(ModelFileError, match=r"FunctionTransformer cannot be saved: it holds .*users_own"):
        save_model(FunctionTransformer(users_own).fit(X), path)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save_model(FunctionTransformer(lambda X: X).fit(X), path)
    assert not path.exists()


def test_a_failed_save_leaves_the_old_file(model, path, monkeypatch):
    path.write_text("old")

    def full_disk(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(persistence.Path, "replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_model(model, path)
    assert [entry.name for entry in path.parent.iterdir()] == ["model.skops"]
    assert path.read_text() == "old"


def test_without_skops_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install \"scikit-ecoc\[persistence\]\""):
        dump_model(model)


def test_estimators_that_nobody_checks_are_loaded_only_if_they_are_trusted(path):
    # Compiled code takes the arrays of its centres as they are.
    name = "sklearn.cluster._kmeans.KMeans"
    model = KMeans(2, n_init=1, random_state=0).fit([[0.0], [1.0]])
    with pytest.raises(ModelFileError, match="KMeans cannot be saved: it holds sklearn") as caught:
        save_model(model, path)
    assert caught.value.untrusted == [name]
    save_model(model, path, trusted=[name])
    with pytest.raises(ModelFileError, match="is refused: it holds types that are not trusted"):
        load_model(path)
    assert load_model(path, trusted=[name]).predict([[0.9]]).shape == (1,)


@pytest.mark.parametrize(
    "saved",
    [
        RandomForestClassifier(3, random_state=0),
        ECOCClassifier(LogisticRegression(max_iter=1000)),
        WOLCClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))], max_iter=1),
    ],
    ids=["forest", "one learner", "several learners"],
)
def test_another_scikit_learn_is_warned_of_once(saved, path, monkeypatch):
    """Not once per learner, as scikit-learn itself would."""
    saved = clone(saved).fit(X, y)
    with monkeypatch.context() as patch:
        for module in (sklearn, sklearn.base):
            patch.setattr(module, "__version__", "1.6.1")
        save_model(saved, path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_model(path).predict(X)
    assert [str(warning.message).split(" (")[0] for warning in caught] == [
        f"{str(path)!r} was saved with scikit-learn 1.6.1"
    ]


def test_a_model_whose_arrays_do_not_fit_is_not_saved(path):
    model = SVC().fit(np.eye(4), [0, 1, 0, 1])
    model._dual_coef_ = model._dual_coef_[:, :1]
    with pytest.raises(ModelFileError, match="SVC cannot be saved: _dual_coef_ of an SVM does not fit"):
        save_model(model, path)
    assert not path.exists()
