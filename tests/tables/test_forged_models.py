"""Thousands of forged model files: each is used or refused in one line, and none runs code."""

import copy
import io
import json
import sys
import zipfile
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from skecoc import ECOCClassifier
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import _labelled, _skops, dump_model
from skecoc.reports.model import summarize_model
from skecoc.support.errors import InputError
from skecoc.tables import TableClassifier, TablePredictions, describe_model, fit_table
from skecoc.tables.describe import model_text
from skecoc.tables.model import check_table_model, read_model
from skecoc.tables.reading import open_table
from tests.tables.things import make_things

# What a forged file must not make Python do. Code that is compiled from text is told from modules by its name.
FORBIDDEN = (
    "os.",
    "subprocess.",
    "shutil.",
    "socket.",
    "pickle.find_class",
    "code.__new__",
    "ctypes.dlopen",
)
HARMLESS = ("os.scandir", "os.listdir", "os.stat", "os.walk")
DANGEROUS = [
    ("os", "system"),
    ("posix", "system"),
    ("subprocess", "Popen"),
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("builtins", "open"),
    ("pickle", "loads"),
    ("importlib", "import_module"),
    ("operator", "attrgetter"),
    ("functools", "partial"),
    ("types", "FunctionType"),
    ("numpy", "dtype"),
    ("joblib", "load"),
    ("sklearn.utils._pprint", "_EstimatorPrettyPrinter"),
    ("skecoc.cli", "main"),
    ("forged_trap", "Trap"),
]
LOADERS = ["ObjectNode", "FunctionNode", "TypeNode", "MethodNode", "PartialNode", "ReduceNode", "JsonNode", "DictNode"]
VALUES = [None, True, -1, 10**30, 1.5, "", "text", [], {}, [[]], {"__loader__": "JsonNode"}, float("nan")]

_seen: list[str] = []
_is_watching = False


def _watch(event, arguments):
    """Write down what must not happen while forged files are handled."""
    if not _is_watching:
        return
    if event.startswith(FORBIDDEN) and not event.startswith(HARMLESS):
        _seen.append(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        _seen.append(f"open {arguments[0]}")
    if event == "import" and str(arguments[0]).startswith("forged_trap"):
        _seen.append("import of a forged module")
    if event == "exec" and getattr(arguments[0], "co_filename", "").startswith("<string"):
        _seen.append("exec of text")


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Watch what Python does; a module that would leave a trace lies where it would be found."""
    (tmp_path / "forged_trap.py").write_text("class Trap:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    if not hasattr(sys, "_skecoc_watched"):
        sys.addaudithook(_watch)
        sys._skecoc_watched = True
    yield
    assert _seen == []
    assert "forged_trap" not in sys.modules


@pytest.fixture(scope="module")
def content(things):
    """A small model, so that thousands of them are loaded in seconds."""
    learner = StumpAdaBoostClassifier(n_estimators=2)
    used = things.X[["weight", "colour"]]
    model = TableClassifier(ECOCClassifier(learner, "one-vs-rest", random_state=0)).fit(used, things.y)
    whole = fit_table(things, method="one-vs-rest/loss-based", learner=learner, folds=2)
    model.card_ = {**whole.card_, "important": {}, "notes": [], "target": "kind"}
    return dump_model(model)


@pytest.fixture(scope="module")
def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "skecoc.json"}


def pack(members):
    """Make a file of members, with a right checksum."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return _labelled(file.getvalue())


ROWS = make_things(n_rows=4, seed=3).to_csv(index=False).encode()


def use(path):
    """Do what the commands do with a model."""
    with open_table(io.BytesIO(ROWS)) as table:
        model = read_model(path, [], lambda note: None)
        with suppress(InputError):
            description = describe_model(model)
            model_text(description)
            summarize_model(description)
        predictions = TablePredictions(check_table_model(model, path), table)
        for _ in predictions.chunks(5):
            pass
        predictions.notes()
    describe_model(model)


def outcome(content, path):
    """Use a file; return whether it is good, or the line that says why it is not."""
    global _is_watching  # noqa: PLW0603
    path.write_bytes(content)
    _is_watching = True
    try:
        use(path)
    except InputError as error:
        return str(error)
    finally:
        _is_watching = False
    return "good"


def flip_bits(content, random):
    """Change a few bits anywhere."""
    data = bytearray(content)
    for place in random.integers(len(data), size=random.integers(1, 4)):
        data[place] ^= 1 << random.integers(8)
    return bytes(data)


def cut_and_splice(content, random):
    """Cut the end off, or leave out, repeat or exchange a piece."""
    first, last = np.sort(random.integers(len(content), size=2))
    pieces = content[:first], content[first:last], content[last:]
    choices = [
        content[:first],
        pieces[0] + pieces[2],
        b"".join(pieces[k] for k in (0, 1, 1, 2)),
        b"".join(pieces[::-1]),
    ]
    return choices[random.integers(len(choices))]


def nodes_of(tree):
    """List all places of a description: the container and the key or number."""
    found, waiting = [], [tree]
    while waiting:
        part = waiting.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            found.append((part, key))
            if isinstance(part[key], dict | list):
                waiting.append(part[key])
    return found


def forge_types(members, random):
    """Let the description name types that run code."""
    tree = json.loads(members["schema.json"])
    # Where the value is plain, its type is not looked at; and of equal parts only the first is.
    typed = [part for part, key in nodes_of(tree) if key == "__class__" and part["__loader__"] != "JsonNode"]
    chosen = typed[random.integers(len(typed))]
    name, forged = (chosen["__module__"], chosen["__class__"]), DANGEROUS[random.integers(len(DANGEROUS))]
    loader = LOADERS[random.integers(len(LOADERS))] if random.random() < 0.5 else None
    for part in typed:
        if (part["__module__"], part["__class__"]) == name:
            part["__module__"], part["__class__"] = forged
            part["__loader__"] = loader or part["__loader__"]
    return pack({**members, "schema.json": json.dumps(tree)})


def forge_description(members, random):
    """Change, drop or exchange parts of the description."""
    tree = json.loads(members["schema.json"])
    places = nodes_of(tree)
    for _ in range(random.integers(1, 4)):
        part, key = places[random.integers(len(places))]
        other, other_key = places[random.integers(len(places))]
        if isinstance(part, list) and key >= len(part):
            continue
        way = random.integers(4)
        if way == 0:
            part[key] = copy.deepcopy(VALUES[random.integers(len(VALUES))])
        elif way == 1 and (isinstance(other, dict) or other_key < len(other)):
            part[key] = copy.deepcopy(other.get(other_key) if isinstance(other, dict) else other[other_key])
        elif way == 2 and isinstance(part, dict):
            part.pop(key, None)
        elif way == 3 and isinstance(part.get(key) if isinstance(part, dict) else part[key], int | float):
            part[key] = int(random.integers(-(2**40), 2**40))
    return pack({**members, "schema.json": json.dumps(tree)})


def forge_arrays(members, random):
    """Change bytes of arrays, or exchange arrays."""
    names = [name for name in members if name.endswith(".npy")]
    name, other = (names[k] for k in random.integers(len(names), size=2))
    if random.random() < 0.3:
        return pack({**members, name: members[other]})
    data = bytearray(members[name])
    for place in random.integers(len(data), size=random.integers(1, 6)):
        data[place] = random.integers(256)
    return pack({**members, name: bytes(data)})


def test_the_model_itself_is_good(content, members, tmp_path, watched):
    assert outcome(content, tmp_path / "model.skops") == "good"
    assert outcome(pack(members), tmp_path / "model.skops") == "good"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("forge", "n_files", "least_refused"),
    [
        (flip_bits, 1200, 0.95),
        (cut_and_splice, 1200, 0.95),
        (forge_types, 250, 0.95),
        # Many changes do no harm, such as those of a number that nothing depends on.
        (forge_description, 250, 0.2),
        (forge_arrays, 250, 0.2),
    ],
)
def test_forged_files_are_used_or_refused_in_one_line(
    forge, n_files, least_refused, content, members, tmp_path, watched
):
    random = np.random.default_rng(0)
    make = partial(forge, content if forge in (flip_bits, cut_and_splice) else members)
    found = [outcome(make(random), tmp_path / "model.skops") for _ in range(n_files)]
    assert not [line for line in found if "\n" in line]
    assert sum(line != "good" for line in found) > least_refused * n_files


def test_deep_nesting_is_refused(members, tmp_path, watched):
    nested = "[" * 100_000 + "]" * 100_000
    for name in ("schema.json", "skecoc.json"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for each, data in {**members, name: nested}.items():
                archive.writestr(each, data)
        forged = file.getvalue() if name == "skecoc.json" else _labelled(file.getvalue())
        assert outcome(forged, tmp_path / "model.skops").startswith("model: ")


def test_files_that_unpack_to_more_than_they_are_are_refused(members, tmp_path, watched):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", members["schema.json"])
        archive.writestr("zeros.npy", bytes(50_000_000))
    assert "its parts are compressed" in outcome(_labelled(file.getvalue()), tmp_path / "model.skops")


def test_an_array_that_points_beyond_the_features_is_refused(content, tmp_path, watched):
    """The one thing that no type check finds: compiled code would write where the file tells it to."""
    model = TableClassifier(ECOCClassifier(StumpAdaBoostClassifier(2), random_state=0))
    frame = make_things()
    model.fit(frame[["weight", "colour"]], frame["kind"])
    model.classifier_.estimators_[0].features_[:] = 2**40
    forged = _labelled(_skops().dumps(model))
    assert "a stump looks at a feature that is not there" in outcome(forged, tmp_path / "model.skops")
