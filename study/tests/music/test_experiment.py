"""The music experiment on arrays: splits, runs, tables, growth."""

import csv
import io

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from skecoc import ECOCClassifier
from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import RunRecord, seed_of
from skecoc.learners import MulticlassLearner
from skecoc.reports import to_csv, to_text
from skecoc_study.music.experiment import (
    MusicComparison,
    MusicData,
    choose_folds,
    compare_music,
    split_clips,
)
from skecoc_study.music.methods import MIXED_FEATURES, MUSIC_METHODS, make_mixture, make_music_classifier
from skecoc_study.music.output import growth_csv, growth_picture, music_accuracy_table, music_length_table
from skecoc_study.runs.results import Results

GENRES = np.repeat(["blues", "jazz", "rock"], 12)
TRACKS = np.repeat(np.arange(18), 2)


class Failing(GaussianNB):
    """A learner that cannot be trained."""

    def fit(self, X, y):
        raise ValueError("it does not work")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(3), 12, axis=0)
    return MusicData(
        {"mosc": centres + rng.normal(scale=0.3, size=(36, 3)), "mnase": centres + rng.normal(scale=0.5, size=(36, 3))},
        GENRES,
        TRACKS,
    )


@pytest.fixture(scope="module")
def comparison(data):
    return compare_music(data, learner=GaussianNB(), folds=3, n_jobs=1)


def test_groups_are_never_on_both_sides():
    for repeat in range(3):
        parts = split_clips(GENRES, TRACKS, repeat, folds=3, seed=0)
        assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(36))
        for train, test in parts:
            assert not set(TRACKS[train]) & set(TRACKS[test])
            assert set(GENRES[train]) == set(GENRES[test]) == set(GENRES)


def test_splits_depend_on_seed_and_repeat_only():
    def tests(**change):
        arguments = {"repeat": 0, "folds": 3, "seed": 0, **change}
        return [test.tolist() for _, test in split_clips(GENRES, TRACKS, **arguments)]

    assert tests() == tests()
    assert tests() != tests(seed=1)
    assert tests() != tests(repeat=1)


def test_without_groups_clips_are_split_freely():
    parts = split_clips(GENRES, None, 0, folds=4, seed=0)
    assert [len(test) for _, test in parts] == [9] * 4
    assert any(set(TRACKS[train]) & set(TRACKS[test]) for train, test in parts)


def test_every_method_on_every_feature_and_fold(comparison):
    assert comparison.features == ["mosc", "mnase"]
    assert comparison.methods == list(MUSIC_METHODS)
    accuracy = comparison.values("accuracy")
    assert accuracy.shape == (2, 5, 1, 3)
    assert np.isfinite(accuracy).all()
    assert accuracy.mean() > 0.7
    lengths = comparison.values("n_columns")
    np.testing.assert_array_equal(lengths[:, :3].mean(axis=(2, 3)), [[3, 3, 2]] * 2)
    assert comparison.settings == {
        "clips": 36,
        "genres": 3,
        "groups": 18,
        "learner": "GaussianNB()",
        "folds": 3,
        "repeats": 1,
        "seed": 0,
    }
    assert {run.response for run in comparison.results.runs} == {"auto"}


@pytest.mark.slow
def test_neither_jobs_nor_other_methods_change_a_result(data, comparison):
    alone = compare_music(data, ["wolc"], learner=GaussianNB(), folds=3, n_jobs=2)
    np.testing.assert_array_equal(alone.values("n_correct")[:, 0], comparison.values("n_correct")[:, 4])


def test_accuracies_are_means_over_folds(comparison):
    table = music_accuracy_table(comparison)
    assert [row.name for row in table.rows] == ["MOSC", "MNASE"]
    assert ["/".join(column) for column in table.columns] == table.keys == list(MUSIC_METHODS)
    runs = [run for run in comparison.results.runs if (run.data_set, run.coding) == ("mosc", "decoc")]
    accuracies = [100 * run.n_correct / run.n_test for run in runs]
    assert table.rows[0].cells[2].text == f"{np.mean(accuracies):.2f}"
    assert table.rows[0].cells[2].deviation == f"{np.std(accuracies, ddof=1):.2f}"
    best = max(cell.value for cell in table.rows[0].cells)
    assert all(cell.bold == (cell.value > best - 0.005) for cell in table.rows[0].cells)
    assert "36 clips of 3 genres, 3 folds, 18 groups kept whole" in table.title


def test_code_lengths_are_means_over_folds(comparison):
    table = music_length_table(comparison)
    assert [cell.text for cell in table.rows[1].cells[:3]] == ["3.00", "3.00", "2.00"]
    assert [cell.value for cell in table.rows[1].cells] == comparison.values("n_columns")[1].mean(axis=(1, 2)).tolist()


def test_tables_hold_the_numbers_of_this_comparison_only(comparison):
    for table in (music_accuracy_table(comparison), music_length_table(comparison)):
        assert not any(cell.published for row in table.rows for cell in row.cells)
        assert "paper" not in to_text(table).lower()
        assert not any("paper" in key for key in table.records[0])


def test_csv_holds_both_tables(comparison):
    rows = list(csv.DictReader(io.StringIO(to_csv(music_accuracy_table(comparison)))))
    assert [(row["feature"], row["method"]) for row in rows] == [
        (f, m) for f in ("mosc", "mnase") for m in MUSIC_METHODS
    ]
    for measure, name, scale in (("accuracy", "accuracy", 100), ("n_columns", "columns", 1)):
        means = scale * comparison.values(measure).mean(axis=(2, 3)).ravel()
        np.testing.assert_allclose([float(row[name]) for row in rows], means, rtol=1e-7)


def test_without_wolc_there_are_neither_marks_nor_growth(data):
    found = compare_music(
        MusicData({"all": data.features["mosc"]}, GENRES), ["forest/hamming"], learner="stumps", folds=2
    )
    (cell,) = music_accuracy_table(found).rows[0].cells
    assert cell.mark == ""
    with pytest.raises(InputError, match="expected a method that grows a WOLC code"):
        growth_picture(found)


def test_growth_is_shown_on_mnase(comparison):
    rows = list(csv.DictReader(io.StringIO(growth_csv(comparison))))
    assert {row["data_set"] for row in rows} == {"mnase"}
    for fold in "012":
        objective = [float(row["objective"]) for row in rows if row["fold"] == fold]
        assert objective == sorted(objective, reverse=True)
    picture = growth_picture(comparison)
    assert picture.name == "music-mnase"
    assert picture.svg().startswith("<svg")


def test_marks_tell_what_differs_from_wolc():
    right = {"one-vs-one": [8, 9, 8, 9], "one-vs-rest": [1, 2, 1, 3], "wolc": [5, 5, 6, 5], "decoc": [5, 6, 5, 5]}
    methods = ["one-vs-one/loss-weighted", "one-vs-rest/loss-weighted", "decoc/loss-weighted", "wolc/optimized-weight"]
    runs = [
        RunRecord("mosc", 0, fold, "svm", "probabilities", *method.split("/"), 90, 10, n_correct, 3, 3, 1.0, 0.1)
        for method in methods
        for fold, n_correct in enumerate(right[method.split("/")[0]])
    ]
    settings = {"clips": 40, "genres": 3, "groups": None, "learner": "svm", "folds": 4, "repeats": 1, "seed": 0}
    table = music_accuracy_table(MusicComparison(Results(runs, [], {}), ["mosc"], methods, settings))
    assert [cell.mark for cell in table.rows[0].cells] == ["+", "-", "", ""]
    assert [cell.text for cell in table.rows[0].cells] == ["85.00", "17.50", "52.50", "52.50"]
    assert any("significantly better and worse than WOLC-ECOC" in note for note in table.notes)


def test_deviations_are_over_repeats_if_there_are_several(data):
    found = compare_music(data, ["one-vs-rest/loss-weighted"], learner=GaussianNB(), folds=2, repeats=3)
    table = music_accuracy_table(found)
    deviation = np.std(100 * found.values("accuracy")[0, 0].mean(axis=-1), ddof=1)
    assert table.rows[0].cells[0].deviation == f"{deviation:.2f}"
    assert "3 x 2 folds" in table.title


def test_genres_with_few_groups_are_noted(data):
    few = MusicData({"mosc": data.features["mosc"]}, GENRES, np.where(GENRES == "jazz", TRACKS // 2, TRACKS))
    notes = compare_music(few, ["decoc/hamming"], learner=GaussianNB(), folds=5).notes
    assert "fewer groups than the 5 folds: jazz (3); absent from some test parts" in notes


def test_genres_with_few_clips_are_noted(data):
    rows = np.r_[:24, 33:36]  # all of blues and jazz, three clips of rock
    few = MusicData({"mosc": data.features["mosc"][rows]}, GENRES[rows])
    notes = compare_music(few, ["decoc/hamming"], learner=GaussianNB(), folds=4).notes
    assert notes == ["fewer clips than the 4 folds: rock (3); absent from some test parts"]


def test_plain_values_for_programs(comparison):
    content = comparison.to_dict()
    assert len(content["runs"]) == 30
    assert content["runs"][0]["data_set"] == "mosc"
    assert content["settings"]["groups"] == 18


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "expected at least 2 folds and 1 repeat, got 1 and 1"),
        ({"repeats": 0}, "expected at least 2 folds and 1 repeat"),
        ({"methods": ["nothing"]}, "methods: 'nothing' is not known"),
        ({"methods": ["sklearn/one-vs-one"]}, "'sklearn/one-vs-one' is not for music"),
        ({"learner": "nothing"}, "learner: 'nothing' is not known"),
        ({"learner": "nothing", "methods": ["mixed-features"]}, "learner: 'nothing' is not known"),
        ({"learner": Failing()}, "method 'one-vs-one/loss-weighted' on data set 'mosc': it does not work"),
    ],
)
def test_bad_arguments_are_refused(change, message, data):
    with pytest.raises(InputError, match=message):
        compare_music(data, **{"learner": GaussianNB(), "folds": 2, **change})


@pytest.mark.parametrize(
    ("counts", "asked", "expected"),
    [
        ([6, 6, 6], 10, 6),
        ([6, 300, 300], 10, 6),
        ([12, 12, 12], 10, 10),
        ([3, 3], 10, 3),
        ([3, 12, 12], 10, 5),  # for the sake of a very small genre, five are enough
        ([3, 12, 12], 4, 4),
        ([1, 12, 12], 10, 5),
        ([2, 2], 2, 2),
    ],
)
def test_folds_are_as_many_as_genres_allow(counts, asked, expected):
    genres = np.repeat([f"genre{k}" for k in range(len(counts))], counts)
    folds, notes = choose_folds(genres, None, asked, repeats=2, seed=0)
    assert folds == expected
    assert len(split_clips(genres, None, 0, folds, seed=0)) == expected
    assert any(note.startswith(f"{expected} folds instead of {asked}") for note in notes) == (expected < asked)
    assert any("absent from some test parts" in note for note in notes) == (min(counts) < expected)
    assert any(note.startswith("a single clip: genre0") for note in notes) == (min(counts) == 1)


@pytest.mark.parametrize("asked", [2, 4, 10])
@pytest.mark.parametrize("n_artists", [2, 3, 7])
def test_folds_are_as_many_as_artists_allow(asked, n_artists):
    genres = np.repeat(["a", "b", "c"], 14)
    for artists in (np.arange(42) % n_artists, np.arange(42) % n_artists + 100 * np.repeat([0, 1, 2], 14)):
        folds, notes = choose_folds(genres, artists, asked, repeats=1, seed=0)
        assert folds == min(asked, n_artists)
        assert len(notes) == (folds < asked)
        for train, test in split_clips(genres, artists, 0, folds, seed=0):
            assert not set(artists[train]) & set(artists[test])


def test_artists_that_cannot_be_divided_otherwise_reduce_folds():
    genres = np.array(["a"] * 5 + ["b"])
    groups = np.array([0, 1, 2, 3, 4, 4])  # without group 4, genre b is gone and a is alone
    with pytest.raises(InputError, match="too few groups for 2 folds"):
        choose_folds(genres, groups, 5, repeats=1, seed=0)


def test_one_clip_of_each_genre_is_too_few():
    with pytest.raises(InputError, match="expected at least two clips of a genre"):
        choose_folds(np.array(["a", "b"]), None, 10, 1, 0)


@pytest.fixture(scope="module")
def mixture(data):
    return compare_music(data, ["one-vs-rest/loss-weighted", "mixed-features"], learner=GaussianNB(), folds=3, n_jobs=1)


def test_feature_sets_are_mixed_once(mixture):
    assert mixture.features == ["mosc", "mnase", "all"]
    assert mixture.methods[1] == MIXED_FEATURES
    accuracy = mixture.values("accuracy")
    np.testing.assert_array_equal(np.isfinite(accuracy).all(axis=(2, 3)), [[True, False], [True, False], [False, True]])
    table = music_accuracy_table(mixture)
    assert [row.name for row in table.rows] == ["MOSC", "MNASE", "ALL"]
    assert [[bool(cell.text) for cell in row.cells] for row in table.rows] == [
        [True, False],
        [True, False],
        [False, True],
    ]
    assert [len(row) for row in (table.records, music_length_table(mixture).records)] == [3, 3]
    (note,) = (note for note in table.notes if note.startswith("All feature sets mixed: "))
    assert f"one-vs-rest/loss-weighted on MOSC with {100 * accuracy[0, 0].mean():.2f}." in note


def test_a_mixture_of_sets_is_a_code_of_one_member_each(data, mixture):
    """The runs are those of the classifier itself on the columns side by side, scaled."""
    X = np.hstack([data.features["mosc"], data.features["mnase"]])
    for run, (train, test) in zip(
        [run for run in mixture.results.runs if run.coding == "mixed-features"],
        split_clips(data.genres, data.groups, 0, 3, 0),
        strict=True,
    ):
        seed = seed_of(0, "run", "all", 0, run.fold, "mixed-features")
        scaler = MinMaxScaler().fit(X[train])
        classifier = make_mixture(GaussianNB(), {"mosc": 3, "mnase": 3}, seed)
        classifier.fit(scaler.transform(X[train]), GENRES[train])
        assert set(classifier.column_learners_) == {"mosc", "mnase", "all"}
        assert run.n_correct == np.sum(classifier.predict(scaler.transform(X[test])) == GENRES[test])


def test_all_features_stand_beside_their_mixture(data):
    both = MusicData({**data.features, "all": np.hstack(list(data.features.values()))}, GENRES, TRACKS)
    found = compare_music(both, ["mixed-features", "decoc/hamming"], learner=GaussianNB(), folds=2)
    assert found.features == ["mosc", "mnase", "all"]
    assert np.isfinite(found.values("accuracy")[2]).all()


def test_a_member_sees_its_own_columns_only():
    rng = np.random.default_rng(0)
    X = np.hstack([np.repeat(np.eye(3), 10, axis=0) + 0.1 * rng.normal(size=(30, 3)), rng.normal(size=(30, 2))])
    y = np.repeat([0, 1, 2], 10)
    (_, first), (_, second), (_, both) = make_mixture(SVC(), {"good": 3, "noise": 2}, 0).estimator
    changed = X.copy()
    changed[:, 3:] = 0.0
    np.testing.assert_array_equal(first.fit(X, y).predict_proba(X), first.predict_proba(changed))
    assert first.score(X, y) == 1.0
    assert second.fit(X, y).score(X, y) < 0.9
    assert (both.fit(X, y).predict_proba(X) != both.predict_proba(changed)).any()


@pytest.mark.parametrize(
    ("learner", "names", "is_multiclass"),
    [
        (None, ["mosc", "mnase", "all", "logistic"], True),
        ("svm", ["mosc", "mnase", "all"], True),
        ("stumps", ["mosc", "mnase", "all"], False),
        ("sklearn.ensemble.RandomForestClassifier", ["mosc", "mnase", "all"], True),
    ],
)
def test_members_of_a_mixture(learner, names, is_multiclass):
    classifier = make_music_classifier(MIXED_FEATURES, learner, 0, {"mosc": 3, "mnase": 3})
    assert [name for name, _ in classifier.estimator] == names
    assert all(isinstance(member, MulticlassLearner) == is_multiclass for _, member in classifier.estimator)


def test_a_learner_that_a_method_does_not_take_is_noted(data, monkeypatch):
    quick = ECOCClassifier(GaussianNB(), coding="one-vs-rest", decoding="hamming")
    monkeypatch.setattr("skecoc_study.music.methods.make_classifier", lambda *args: quick)
    one = MusicData({"mosc": data.features["mosc"]}, GENRES)
    found = compare_music(one, ["mixed", "decoc/hamming"], learner=GaussianNB(), folds=2)
    assert found.notes[0] == "learner GaussianNB() is not for mixed, which has learners of its own"
    assert compare_music(one, ["decoc/hamming"], learner=GaussianNB(), folds=2).notes == []


def test_learners_without_probabilities_are_taken(data):
    found = compare_music(data, ["one-vs-rest/hamming"], learner="sklearn.svm.LinearSVC", folds=2)
    assert found.values("accuracy").mean() > 0.7


def test_too_few_clips_are_refused(data):
    with pytest.raises(InputError, match="folds: "):
        split_clips(GENRES, None, 0, folds=13, seed=0)
    with pytest.raises(InputError, match="too few groups"):
        split_clips(np.repeat(["a", "b"], 4), np.repeat([0, 1], 4), 0, folds=2, seed=0)


@pytest.mark.parametrize(
    ("features", "groups", "message"),
    [
        ({}, None, "features: expected at least one"),
        ({"mosc": np.zeros((3, 2))}, None, "'mosc' must have 36 rows, got shape"),
        ({"mosc": np.full((36, 2), np.nan)}, None, "'mosc' has values that are not finite"),
        ({"mosc": np.zeros((36, 2))}, np.zeros(3), "groups: expected one per clip, 36, got 3"),
    ],
)
def test_data_that_do_not_fit_together_are_refused(features, groups, message):
    with pytest.raises(InputError, match=message):
        MusicData(features, GENRES, groups)
