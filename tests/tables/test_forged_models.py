"""Thousands of forged model files: each is used or refused in one line, and none runs code."""

import copy
import io
import json
import os
import subprocess
import sys
import zipfile
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier

from skecoc import ECOCClassifier
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import _labelled, _skops, dump_model
from skecoc.tables import TableClassifier, fit_table
from tests.grids import few
from tests.tables.things import make_things, with_text
from tests.tables.watching import ROOT, Watcher

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


@pytest.fixture(scope="module")
def outcome(content, shared, tmp_path_factory):
    """A function that lets a process of its own use a file, and returns "good" or the line that refuses it."""
    folder = tmp_path_factory.mktemp("forged")
    (folder / "forged_trap.py").write_text("class Trap:\n    pass\n")
    path, other = folder / "model.skops", folder / "shared.skops"
    path.write_bytes(content)
    other.write_bytes(pack(shared))
    with Watcher([path, other], folder) as watcher:

        def use(forged):
            path.write_bytes(forged)
            found, seen = watcher.use(path)
            assert seen == []
            return found

        yield use


LEARNERS = [
    KNeighborsClassifier(3),
    GradientBoostingClassifier(n_estimators=1, max_depth=2),
    CalibratedClassifierCV(KNeighborsClassifier(3), method="isotonic", cv=2),
]


@pytest.fixture(scope="module")
def dump(things):
    """A function that saves a small model with a learner, so that thousands of them are loaded in seconds."""
    used = with_text(things.X[["weight", "colour", "picked"]])
    whole = fit_table(things, method="one-vs-rest/loss-based", learner=StumpAdaBoostClassifier(2), folds=2)

    def save(learner):
        model = TableClassifier(ECOCClassifier(learner, coding="one-vs-rest", random_state=0)).fit(used, things.y)
        assert {"sentence", "category", "date"} < set(model.kinds_.values())
        model.card_ = {**whole.card_, "important": {}, "notes": [], "target": "kind"}
        return dump_model(model)

    return save


@pytest.fixture(scope="module")
def content(dump):
    return dump(StumpAdaBoostClassifier(n_estimators=2))


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "skecoc.json"}


@pytest.fixture(scope="module")
def members(content):
    return members_of(content)


@pytest.fixture(scope="module")
def shared(dump):
    """Members of one model that holds all learners."""
    several = {type(learner).__name__: learner for learner in (StumpAdaBoostClassifier(n_estimators=2), *LEARNERS)}
    return members_of(dump(list(several.items())))


def pack(members):
    """Make a file of members, with a right checksum."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return _labelled(file.getvalue())


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


def typed_nodes(tree):
    """List the nodes whose type is checked; that of a plain value is not."""
    return [part for part, key in nodes_of(tree) if key == "__class__" and part["__loader__"] != "JsonNode"]


def name_type(members, name, forged, loader):
    """Let the description name another type in place of one."""
    tree = json.loads(members["schema.json"])
    for part in typed_nodes(tree):
        if (part["__module__"], part["__class__"]) == name:
            part["__module__"], part["__class__"] = forged
            part["__loader__"] = loader or part["__loader__"]
    return pack({**members, "schema.json": json.dumps(tree)})


def forge_types(members, random):
    """Let the description name types that run code."""
    typed = typed_nodes(json.loads(members["schema.json"]))
    chosen = typed[random.integers(len(typed))]
    forged = DANGEROUS[random.integers(len(DANGEROUS))]
    loader = LOADERS[random.integers(len(LOADERS))] if random.random() < 0.5 else None
    return name_type(members, (chosen["__module__"], chosen["__class__"]), forged, loader)


def spoil(place, way, places, random):
    """Change, drop or exchange a part of a description."""
    part, key = place
    other, other_key = places[random.integers(len(places))]
    if isinstance(part, list) and key >= len(part):
        return
    if way == 0:
        part[key] = copy.deepcopy(VALUES[random.integers(len(VALUES))])
    elif way == 1 and (isinstance(other, dict) or other_key < len(other)):
        part[key] = copy.deepcopy(other.get(other_key) if isinstance(other, dict) else other[other_key])
    elif way == 2 and isinstance(part, dict):
        part.pop(key, None)
    elif way == 3 and isinstance(part.get(key) if isinstance(part, dict) else part[key], int | float):
        part[key] = int(random.integers(-(2**40), 2**40))


def forge_description(members, random):
    """Spoil some parts of the description."""
    tree = json.loads(members["schema.json"])
    places = nodes_of(tree)
    for _ in range(random.integers(1, 4)):
        place = places[random.integers(len(places))]
        spoil(place, random.integers(4), places, random)
    return pack({**members, "schema.json": json.dumps(tree)})


def forge_arrays(members, random, name=None):
    """Change bytes of an array, any unless it is named, or exchange it."""
    names = [name for name in members if name.endswith(".npy")]
    first, other = (names[k] for k in random.integers(len(names), size=2))
    name = name or first
    if random.random() < 0.3:
        return pack({**members, name: members[other]})
    data = bytearray(members[name])
    for place in random.integers(len(data), size=random.integers(1, 6)):
        data[place] = random.integers(256)
    return pack({**members, name: bytes(data)})


def test_the_watcher_sees_what_a_forged_file_might_do(tmp_path):
    (tmp_path / "forged_trap.py").touch()
    code = (
        "import os; from tests.tables.watching import AuditHook\n"
        "def misbehave(): os.system('true'); exec('1'); open('x', 'w').close(); import forged_trap\n"
        "print(AuditHook().watch(misbehave))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "(None, ['os.system', 'exec of text', 'open x', 'import of a forged module'])\n", done.stderr


def test_the_models_themselves_are_good(content, members, shared, outcome):
    assert outcome(content) == "good"
    assert outcome(pack(members)) == "good"
    assert outcome(pack(shared)) == "good"


def places_by_type(tree):
    """List the places of a description by the type of the object that they are in, one for each way from there."""
    found, waiting = {}, [(tree, "", ())]
    while waiting:
        part, owner, way = waiting.pop()
        if isinstance(part, dict) and str(part.get("__loader__")).endswith(("ObjectNode", "TreeNode")):
            owner, way = part["__class__"], ()
        for key in part if isinstance(part, dict) else range(len(part)):
            step = (*way, key if isinstance(part, dict) else "*")
            found.setdefault(owner, {}).setdefault(step, (part, key))
            if isinstance(part[key], dict | list):
                waiting.append((part[key], owner, step))
    return {owner: list(places.values()) for owner, places in sorted(found.items())}


def forge_each_type(members, random):
    """Let each type that the description names be another one."""
    typed = typed_nodes(json.loads(members["schema.json"]))
    for number, name in enumerate(sorted({(part["__module__"], part["__class__"]) for part in typed})):
        loader = LOADERS[number % len(LOADERS)] if random.random() < 0.5 else None
        yield name_type(members, name, DANGEROUS[number % len(DANGEROUS)], loader)


def forge_each_description(members, random):
    """Spoil two places in an object of each type, in two ways."""
    owners = list(places_by_type(json.loads(members["schema.json"])))
    for number, owner in enumerate(owners * 2):
        tree = json.loads(members["schema.json"])
        places = places_by_type(tree)[owner]
        for k in random.permutation(len(places))[:2]:
            spoil(places[k], (number + number // len(owners)) % 4, places, random)
        yield pack({**members, "schema.json": json.dumps(tree)})


def forge_each_array(members, random):
    """Change bytes of an array of each type of object that holds any; tests of these types spoil each attribute."""
    for places in places_by_type(json.loads(members["schema.json"])).values():
        names = [part[key] for part, key in places if key == "file" and part[key].endswith(".npy")]
        if names:
            yield forge_arrays(members, random, names[random.integers(len(names))])


def repeated(forge):
    """Forge forty files at random."""
    return lambda members, random: (forge(pack(members), random) for _ in range(40))


@pytest.mark.parametrize(
    ("forge", "least_refused"),
    few(
        [
            (forge_each_type, 0.95),
            (repeated(flip_bits), 0.95),
            (repeated(cut_and_splice), 0.95),
            (forge_each_description, 0.2),
            (forge_each_array, 0.2),
        ],
        2,
    ),
    ids=["each_type", "flip_bits", "cut_and_splice", "each_description", "each_array"],
)
def test_a_model_of_all_learners_forged_part_by_part_is_used_or_refused_in_one_line(
    forge, least_refused, shared, outcome
):
    found = [outcome(forged) for forged in forge(shared, np.random.default_rng(0))]
    assert len(found) > 15
    assert not [line for line in found if "\n" in line]
    assert sum(line != "good" for line in found) > least_refused * len(found)


@pytest.mark.nightly
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
def test_forged_files_are_used_or_refused_in_one_line(forge, n_files, least_refused, content, members, outcome):
    random = np.random.default_rng(0)
    make = partial(forge, content if forge in (flip_bits, cut_and_splice) else members)
    found = [outcome(make(random)) for _ in range(n_files)]
    assert not [line for line in found if "\n" in line]
    assert sum(line != "good" for line in found) > least_refused * n_files


@pytest.mark.nightly
@pytest.mark.parametrize("classifier", LEARNERS, ids=lambda classifier: type(classifier).__name__)
@pytest.mark.parametrize("forge", [forge_types, forge_description, forge_arrays])
def test_forged_files_of_other_learners_are_used_or_refused_in_one_line(classifier, forge, outcome):
    frame = make_things()
    model = TableClassifier(ECOCClassifier(classifier, coding="one-vs-rest", random_state=0))
    model.fit(frame[["weight", "colour"]], frame["kind"])
    members = members_of(dump_model(model))
    assert outcome(pack(members)) == "good"
    random = np.random.default_rng(0)
    found = [outcome(forge(members, random)) for _ in range(40)]
    assert not [line for line in found if "\n" in line]
    assert sum(line != "good" for line in found) > 4


def test_deep_nesting_is_refused(members, outcome):
    nested = "[" * 100_000 + "]" * 100_000
    for name in ("schema.json", "skecoc.json"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for each, data in {**members, name: nested}.items():
                archive.writestr(each, data)
        forged = file.getvalue() if name == "skecoc.json" else _labelled(file.getvalue())
        assert outcome(forged).startswith("model: ")


def test_files_that_unpack_to_more_than_they_are_are_refused(members, outcome):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", members["schema.json"])
        archive.writestr("zeros.npy", bytes(50_000_000))
    assert "its parts are compressed" in outcome(_labelled(file.getvalue()))


def test_an_array_that_points_beyond_the_features_is_refused(outcome):
    """The one thing that no type check finds: compiled code would write where the file tells it to."""
    model = TableClassifier(ECOCClassifier(StumpAdaBoostClassifier(2), random_state=0))
    frame = make_things()
    model.fit(frame[["weight", "colour"]], frame["kind"])
    model.classifier_.estimators_[0].features_[:] = 2**40
    forged = _labelled(_skops().dumps(model))
    assert "a stump looks at a feature that is not there" in outcome(forged)
