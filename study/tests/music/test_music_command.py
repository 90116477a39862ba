"""`skecoc music`: the four parts, from a folder to genres, and what is said about files that are not audio."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import soundfile
from sklearn.preprocessing import MinMaxScaler
from study.tests.music.conftest import encoded, play
from tests.cli import after_start

from skecoc.cli import main
from skecoc.persistence import load_model, save_model
from skecoc_study import commands as options_module
from skecoc_study.music import extraction as extraction_module
from skecoc_study.music import feature_names
from skecoc_study.music.frontends import RATES
from skecoc_study.music.methods import MIXED_FEATURES, MUSIC_METHODS
from skecoc_study.music.modulation import FEATURES

ONE_JOB = ["--jobs", "1"]
NAIVE = "sklearn.naive_bayes.GaussianNB"  # a quick learner
QUICK_MIXTURE = ["--method", "mixed-features", "--learner", NAIVE, "--folds", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three genres of four clips each, two tracks and two artists per genre."""
    root = tmp_path_factory.mktemp("collection")
    for genre in ("both", "drums", "organ"):
        (root / genre).mkdir()
        for number in range(4):
            parts = [play(kind, seed=number) for kind in ("drums", "organ") if genre in (kind, "both")]
            path = root / genre / f"artist{number // 2}-song{number // 2}@{10 * (number % 2)}.wav"
            soundfile.write(path, np.mean(parts, axis=0), 44100)
    return root


@pytest.fixture(scope="module")
def cache(folder, tmp_path_factory):
    """A cache that knows the folder."""
    path = tmp_path_factory.mktemp("cache")
    assert main(["music", "extract", str(folder), "--cache", str(path), *ONE_JOB]) == 0
    return ["--cache", str(path), *ONE_JOB]


@pytest.fixture(scope="module")
def model(folder, cache, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "genres.skops"
    assert main(["music", "train", str(folder), *cache, "-o", str(path), *QUICK_MIXTURE]) == 0
    return path


def run(capsys, *arguments):
    """Run the command; return the exit code, what it printed, and what it said."""
    code = main(["music", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(("feature", "size"), [("all", 332), ("mnase", 108)])
def test_extract_writes_a_table(feature, size, folder, cache, tmp_path, capsys):
    for suffix, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        path = tmp_path / f"features.{suffix}"
        code, out, err = run(capsys, "extract", folder, *cache, "--feature", feature, "--output", path)
        assert (code, out, err) == (0, "", "skecoc: 12 clips of 3 genres, analysed at 44100 Hz\n")
        table = read(path)
        assert list(table.columns) == ["path", "genre", *feature_names(feature, 44100)]
        assert len(table) == 12
        assert table.shape[1] == size + 2
        assert table["path"].iloc[0] == "both/artist0-song0@0.wav"
        assert table["genre"].tolist() == ["both"] * 4 + ["drums"] * 4 + ["organ"] * 4


def test_a_second_run_analyses_nothing(folder, cache, capsys, monkeypatch):
    monkeypatch.setattr(extraction_module, "modulation_features", lambda *args: pytest.fail("a clip was analysed"))
    assert run(capsys, "extract", folder, *cache)[0] == 0


def test_the_users_cache_is_used_unless_told_otherwise(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert run(capsys, "extract", folder, "--no-cache", "--output", tmp_path / "f.csv", *ONE_JOB)[0] == 0
    assert not (tmp_path / "xdg").exists()
    assert run(capsys, "extract", folder, *ONE_JOB)[0] == 0
    assert len(list((tmp_path / "xdg").rglob("*.npz"))) == 12


def test_the_rate_can_be_chosen(folder, tmp_path, capsys):
    arguments = ["--rate", "22050", "--feature", "mosc", "--no-cache", "--output", tmp_path / "f.csv", *ONE_JOB]
    assert "analysed at 22050 Hz" in run(capsys, "extract", folder, *arguments)[2]
    assert pd.read_csv(tmp_path / "f.csv").shape == (12, 106)


def test_an_interrupted_extraction_says_how_to_go_on(folder, tmp_path, capsys, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(extraction_module, "modulation_features", interrupted)
    code, _, err = run(capsys, "extract", folder, "--cache", tmp_path, *ONE_JOB)
    assert code == 130
    assert f"finished files are stored in {tmp_path}" in err


def test_compare_prints_both_tables(folder, cache, capsys):
    options = ["--learner", NAIVE, "--folds", "2", "--group-by", "track"]
    code, out, err = run(capsys, "compare", folder, *cache, *options)
    assert (code, err) == (0, "")
    assert out.startswith(f"Accuracy in %: 12 clips of 3 genres, 2 folds, 6 groups kept whole, learner {NAIVE}")
    assert all(
        len(re.findall(rf"^{name} +[\d.]+", out, re.MULTILINE)) == 2 for name in ("MMFCC", "MOSC", "MNASE", "ALL")
    )
    assert out.count(" ecoc-one ") == out.count(" wolc ") == out.count(" features\n") == 2  # headings are broken
    assert out.count("All feature sets mixed: ") == 1
    assert "[" not in out  # no number of anybody else's
    assert not any(word in out.lower() for word in ("paper", "dortmund", "published"))


def test_small_genres_have_fewer_folds(folder, cache, capsys):
    arguments = ["compare", folder, *cache, "--learner", NAIVE, "--features", "mosc", "--methods", "decoc/hamming"]
    note = "4 folds instead of {}, as genres have few clips: both (4), drums (4), organ (4)"
    for folds, asked in (([], 10), (["--folds", "7"], 7)):
        code, out, err = run(capsys, *arguments, *folds)
        assert (code, err) == (0, "")
        assert out.startswith("Accuracy in %: 12 clips of 3 genres, 4 folds, learner")
        assert note.format(asked) in out
    _, out, err = run(capsys, *arguments, "--format", "csv")
    assert err == f"skecoc: note: {note.format(10)}\n"  # where the table has no place for it
    _, out, _ = run(capsys, *arguments, "--group-by", "artist")
    assert "2 folds instead of 10, as genres have few groups" in out
    _, out, _ = run(capsys, *arguments, "--folds", "4")
    assert "instead" not in out


def test_features_are_mixed_in_one_method(folder, cache, capsys):
    arguments = ["compare", folder, *cache, "--folds", "2", "--features", "mosc", "--learner", NAIVE]
    arguments += ["--methods", "one-vs-rest/hamming", "mixed-features", "--format"]
    rows = list(csv.DictReader(io.StringIO(run(capsys, *arguments, "csv")[1])))
    assert [(row["feature"], row["method"]) for row in rows] == [
        ("mosc", "one-vs-rest/hamming"),
        ("all", "mixed-features/logistic-weight"),
    ]
    # All three sets and their union are members, whatever else is compared: three pairs of genres for each.
    assert float(rows[1]["columns"]) == 12


def test_train_says_how_good_the_model_is(folder, cache, tmp_path, capsys):
    report, options = tmp_path / "genres.html", ["--feature", "mmfcc", "--method", "one-vs-one/hamming"]
    options += ["--learner", "stumps", "--group-by", "track"]
    path = tmp_path / "genres.skops"
    code, out, err = run(capsys, "train", folder, *cache, "-o", path, *options, "--report", report)
    assert code == 0
    assert err.splitlines() == [
        "skecoc: note: 2 folds instead of 5, as genres have few groups: both (2), drums (2), organ (2)",
        f"skecoc: 12 clips of 3 genres, analysed at 44100 Hz; model written to {path}",
        f"skecoc: report written to {report}",
    ]
    found = re.fullmatch(
        r"one-vs-one/hamming: held-out accuracy (\S+) % \(95 % interval (\S+) to (\S+) %, 2 folds, 6 groups kept "
        r"whole\); always 'both', the largest genre: 33.3 %\n",
        out,
    )
    accuracy, low, high = map(float, found.groups())
    assert 0 <= low <= accuracy <= high <= 100
    compared = ["compare", folder, *cache, "--features", "mmfcc", "--methods", "one-vs-one/hamming", *options[4:]]
    (row,) = csv.DictReader(io.StringIO(run(capsys, *compared, "--folds", "2", "--format", "csv")[1]))
    assert accuracy == pytest.approx(float(row["accuracy"]), abs=0.05)
    page = report.read_text()
    assert f"{accuracy:.1f}" in page
    assert all(text in page for text in ("drums", "organ", "one-vs-one/hamming", "mmfcc (112 numbers)"))
    assert not any(word in page for word in ("Dortmund", str(tmp_path), str(folder)))


def test_all_features_are_mixed_by_default(folder, cache, tmp_path, capsys):
    path = tmp_path / "genres.skops"
    code, out, _ = run(capsys, "train", folder, *cache, "-o", path, "--folds", "2")
    assert code == 0
    assert out.startswith("mixed-features/logistic-weight: held-out accuracy ")
    assert main(["inspect", str(path)]) == 0  # nothing in it has to be trusted
    out = capsys.readouterr().out
    assert "mixed-features/logistic-weight" in out
    assert "Confused most" in out or "No held-out row" in out
    assert all(member in out for member in ("mmfcc", "mosc", "mnase", "logistic"))


def test_a_model_that_guesses_is_warned_of(tmp_path, capsys):
    for genre, seeds in (("one", (0, 2, 4)), ("two", (1, 3, 5))):
        (tmp_path / genre).mkdir()
        for seed in seeds:
            soundfile.write(tmp_path / genre / f"{seed}.wav", play("drums", seed, seconds=1.0), 44100)
    options = ["--no-cache", *ONE_JOB, "--learner", NAIVE, "--method", "one-vs-rest/hamming"]
    code, out, err = run(capsys, "train", tmp_path, "-o", tmp_path / "m.skops", *options)
    assert code == 0
    assert "the largest genre: 50.0 %" in out
    assert re.search(r"warning: the model is (no better|not certain to be better) than always predicting 'one'", err)


def test_compare_in_other_formats(folder, cache, tmp_path, capsys):
    arguments = ["compare", folder, *cache, "--learner", "stumps", "--folds", "2", "--features", "mosc", "all"]
    arguments += ["--methods", "decoc/loss-weighted", "wolc"]
    rows = list(csv.DictReader(io.StringIO(run(capsys, *arguments, "--format", "csv")[1])))
    assert [(row["feature"], row["method"].split("/")[0]) for row in rows] == [
        ("mosc", "decoc"),
        ("mosc", "wolc"),
        ("all", "decoc"),
        ("all", "wolc"),
    ]
    content = json.loads(run(capsys, *arguments, "--format", "json")[1])
    assert len(content["runs"]) == 8
    accuracy = np.mean([run["n_correct"] / run["n_test"] for run in content["runs"][:4:2]])
    assert float(rows[0]["accuracy"]) == pytest.approx(100 * accuracy)
    assert run(capsys, *arguments, "--format", "markdown", "--output", tmp_path / "t.md")[1] == ""
    assert (tmp_path / "t.md").read_text().count("| MOSC |") == 2


def test_compare_draws_the_growth(folder, cache, tmp_path, capsys):
    arguments = ["compare", folder, *cache, "--learner", "stumps", "--folds", "2", "--features", "mnase"]
    starts = {"svg": b"<svg", "png": b"\x89PNG", "csv": b"data_set,repeat,fold"}
    for suffix, start in starts.items():
        path = tmp_path / f"growth.{suffix}"
        assert run(capsys, *arguments, "--methods", "wolc", "--convergence", path)[0] == 0
        assert path.read_bytes().startswith(start)


def test_train_and_predict(folder, model, cache, capsys):
    files = sorted(folder.rglob("*.wav"))
    code, out, err = run(capsys, "predict", model, *files, *cache)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 12
    right = sum(line.split()[1] == path.parent.name for line, path in zip(lines, files, strict=True))
    assert right >= 11
    assert lines[0].startswith(f"{files[0]}  ")
    assert lines[0].count(" %") == 3


def test_folders_are_predicted_with_all_below_them(folder, model, cache, tmp_path, capsys):
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    clips = sorted(folder.rglob("*.wav"))
    shutil.copy(clips[0], tmp_path / "new" / "deep" / "a.WAV")
    shutil.copy(clips[5], tmp_path / "new" / "b.wav")
    shutil.copy(clips[5], tmp_path / "new" / ".hidden.wav")
    (tmp_path / "new" / "cover.jpg").write_bytes(b"jpeg")
    given = [tmp_path / "none", clips[9], tmp_path / "new", tmp_path / "new" / "b.wav"]
    code, out, err = run(capsys, "predict", model, *given, *cache)
    assert (code, err) == (0, f"skecoc: left out: '{tmp_path / 'none'}' holds no audio\n")
    expected = [clips[9], tmp_path / "new" / "b.wav", tmp_path / "new" / "deep" / "a.WAV"]
    assert [line.split("  ")[0] for line in out.splitlines()] == list(map(str, expected))
    assert [line.split("  ")[-1].split()[0] for line in out.splitlines()] == ["organ", "drums", "both"]
    code, _, err = run(capsys, "predict", model, *given, *cache, "--on-error", "raise")
    assert (code, err) == (2, f"skecoc: error: '{tmp_path / 'none'}' holds no audio\n")


def test_damaged_files_make_no_noise(folder, model, tmp_path):
    whole = encoded(play("drums", 0), "MP3")
    (tmp_path / "cut.mp3").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "broken.mp3").write_text("this is no music\n" * 100)
    (tmp_path / "damaged.mp3").write_bytes(whole[:3000] + bytes(3000) + whole[6000:])
    arguments = ["music", "predict", str(model), str(tmp_path), "--no-cache", "--jobs", "2"]
    done = subprocess.run([sys.executable, "-m", "skecoc", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "cut.mp3"))
    said = after_start(done.stderr).splitlines()
    assert said[:2] == [
        f"skecoc: left out: '{tmp_path / 'broken.mp3'}' is text, not audio",
        f"skecoc: left out: '{tmp_path / 'damaged.mp3'}' is damaged or cut off",
    ]
    assert len(said) == 4
    assert "shorter than their headers tell, perhaps cut off or damaged: " in said[3]
    assert said[3].endswith("cut.mp3' (50 % missing)") or "% missing" in said[3]


def test_predictions_for_programs(folder, model, cache, tmp_path, capsys):
    files = sorted(folder.rglob("*.wav"))[::4]
    rows = list(csv.DictReader(io.StringIO(run(capsys, "predict", model, *files, *cache, "--format", "csv")[1])))
    content = json.loads(run(capsys, "predict", model, *files, *cache, "--format", "json")[1])
    for row, entry, path in zip(rows, content, files, strict=True):
        assert row["path"] == entry["path"] == str(path)
        probabilities = {genre: float(row[genre]) for genre in ("both", "drums", "organ")}
        assert probabilities == pytest.approx(entry["probabilities"])
        assert sum(probabilities.values()) == pytest.approx(1.0)
        assert row["genre"] == entry["genre"] == max(probabilities, key=probabilities.get)
    assert run(capsys, "predict", model, *files, *cache, "--format", "json", "--output", tmp_path / "p.json")[1] == ""
    assert json.loads((tmp_path / "p.json").read_text()) == content


@pytest.mark.nightly
def test_jobs_do_not_change_the_model(folder, model, cache, tmp_path):
    path, files = tmp_path / "again.skops", sorted(map(str, folder.rglob("*.wav")))
    assert main(["music", "train", str(folder), *cache[:2], "--jobs", "2", "-o", str(path), *QUICK_MIXTURE]) == 0
    np.testing.assert_array_equal(load_model(path).predict_proba(files), load_model(model).predict_proba(files))


def test_without_skops_nothing_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    code, _, err = run(capsys, "train", "missing", "-o", tmp_path / "m")
    assert (code, err.count("\n")) == (2, 1)
    assert "saving and loading models needs skops" in err


def test_the_model_tells_nothing_of_the_machine(model, cache):
    with zipfile.ZipFile(model) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert cache[1].encode() not in content


@pytest.fixture
def messy(folder, tmp_path):
    """The folder with files in it that are not audio."""
    root = tmp_path / "messy"
    shutil.copytree(folder, root)
    (root / "drums" / "empty.mp3").touch()
    (root / "drums" / "cover.jpg").write_bytes(b"jpeg")
    soundfile.write(root / "organ" / "not-finite.wav", np.full(1000, np.nan), 44100, subtype="FLOAT")
    soundfile.write(root / "organ" / "short.wav", play("organ", 0, seconds=1.0), 44100)
    return root


def test_what_is_not_audio_is_named_and_left_out(messy, cache, tmp_path, capsys):
    code, _, err = run(capsys, "extract", messy, *cache, "--output", tmp_path / "f.csv")
    assert code == 0
    said = err.splitlines()
    assert any(line.startswith("skecoc: left out: '") and line.endswith("empty.mp3' is empty") for line in said)
    assert any("cover.jpg' is not an audio file" in line for line in said)
    assert any("not-finite.wav': signal must hold finite samples" in line for line in said)
    assert any(
        line.startswith("skecoc: note: shorter than one texture window of 5.9 s") and "short.wav" in line
        for line in said
    )
    assert said[-1] == "skecoc: 13 clips of 3 genres, analysed at 44100 Hz"
    assert len(pd.read_csv(tmp_path / "f.csv")) == 13


def test_what_is_not_audio_can_be_refused(messy, cache, capsys):
    code, _, err = run(capsys, "extract", messy, *cache, "--on-error", "raise")
    assert (code, err.count("\n")) == (2, 1)
    assert "holds what is not audio: " in err
    for name in ("drums/empty.mp3", "drums/cover.jpg"):
        (messy / name).unlink()
    code, _, err = run(capsys, "extract", messy, *cache, "--on-error", "raise")
    assert (code, err.count("\n")) == (2, 1)
    assert "not-finite.wav" in err


def test_predict_goes_on_after_a_file_that_is_not_audio(messy, model, cache, capsys):
    files = [messy / "drums" / "empty.mp3", messy / "drums" / "artist0-song0@0.wav"]
    code, out, err = run(capsys, "predict", model, *files, *cache)
    assert (code, len(out.splitlines())) == (0, 1)
    assert err == f"skecoc: left out: '{files[0]}' is empty\n"
    code, out, err = run(capsys, "predict", model, *files, *cache, "--on-error", "raise")
    assert (code, out, err) == (2, "", f"skecoc: error: '{files[0]}' is empty\n")
    many = [messy / "drums" / f"empty{number}.mp3" for number in range(12)]
    for path in many:
        path.touch()
    code, _, err = run(capsys, "predict", model, *many, *cache, "--on-error", "raise")
    assert (code, err.count("is empty"), err.endswith(" and 2 more\n")) == (2, 10, True)
    code, out, err = run(capsys, "predict", model, files[0], *cache)
    assert (code, out) == (2, "")
    assert err.endswith("skecoc: error: none of the files can be read\n")


def test_the_dortmund_set_is_checked(folder, tmp_path, cache, capsys):
    code, _, err = run(capsys, "extract", folder, *cache, "--dortmund")
    assert code == 2
    assert "has none of the folders alternative, blues" in err
    shutil.copytree(folder / "drums", tmp_path / "jazz")
    shutil.copytree(folder / "organ", tmp_path / "rock")
    code, _, err = run(capsys, "extract", tmp_path, *cache, "--dortmund")
    assert code == 0
    assert "note: not the published Dortmund set: there is no folder alternative" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "missing"], "folder='missing' is not a folder"),
        (["extract", "empty"], "must hold a folder per genre, at least two with audio; found none"),
        (["extract", "FOLDER", "--no-cache"], "--no-cache needs --output"),
        (
            ["extract", "FOLDER", "--output", "f.xls"],
            "--output: expected a name that ends in .csv or .parquet, got 'f.xls'",
        ),
        (["extract", "FOLDER", "--output", "none/f.csv"], "--output: the folder 'none' does not exist"),
        (["extract", "FOLDER", "--cache", "file/x"], "--cache: cannot make the folder 'file/x'"),
        (["compare", "missing", "--methods", "nothing"], "methods: 'nothing' is not known"),
        (["compare", "missing", "--methods", "sklearn/one-vs-one"], "'sklearn/one-vs-one' is not for music"),
        (["compare", "FOLDER", "--learner", "nothing"], "learner: 'nothing' is not known"),
        (["compare", "FOLDER", "--convergence", "f.gif"], "--convergence: expected a name that ends in .svg or .png"),
        (
            ["compare", "FOLDER", "--convergence", "f.svg", "--methods", "decoc/hamming"],
            "--convergence: expected a method that grows a WOLC code",
        ),
        (["compare", "missing", "--methods", "mixed-feature"], "methods: 'mixed-feature' is not known"),
        (["compare", "FOLDER", "--output", "none/t.txt"], "--output: the folder 'none' does not exist"),
        (["train", "FOLDER", "-o", "none/m"], "--output: the folder 'none' does not exist"),
        (["train", "missing", "-o", "m", "--method", "random-10/hamming"], "ECOCClassifier cannot be saved: it holds"),
        (["train", "missing", "-o", "m", "--method", "sklearn/one-vs-one"], "'sklearn/one-vs-one' is not for music"),
        (["train", "FOLDER", "-o", "m", "--learner", "sklearn.svm.OneClassSVM"], "is not a scikit-learn classifier"),
        (["train", "missing", "-o", "m", "--method", "mixed", "--learner", "stumps"], "mixed has its own learners"),
        (
            ["train", "missing", "-o", "m", "--method", "mixed-features", "--feature", "mosc"],
            "--feature: mixed-features",
        ),
        (["train", "missing", "-o", "m.html", "--report", "m.html"], "--report and --output are the same file"),
        (["train", "missing", "-o", "m", "--report", "none/r.html"], "--report: the folder 'none' does not exist"),
        (["predict", "missing.skops", "a.wav"], "'missing.skops': there is no such file"),
        (["predict", "file", "a.wav"], "'file' is not a model of skecoc"),
        (["predict", "scaler.skops", "a.wav"], "is a model, but was not written by `skecoc music train`"),
        (["predict", "MODEL", "a.wav", "--output", "none/p"], "--output: the folder 'none' does not exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, folder, model, cache, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    save_model(MinMaxScaler().fit([[0.0], [1.0]]), tmp_path / "scaler.skops")
    arguments = [{"FOLDER": str(folder), "MODEL": str(model)}.get(word, word) for word in arguments]
    quick = [] if {"--cache", "--no-cache"} & set(arguments) else cache
    code, out, err = run(capsys, *arguments, *quick)
    assert (code, out) == (2, "")
    assert err.startswith("skecoc: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_help(capsys):
    assert main(["music"]) == 0
    assert "skecoc music predict genres.skops new/*.mp3 more" in capsys.readouterr().out
    for part in ("extract", "compare", "train", "predict"):
        with pytest.raises(SystemExit) as caught:
            main(["music", part, "--help"])
        assert caught.value.code == 0


def test_names_in_the_help_are_those_of_the_library():
    assert tuple(FEATURES) == options_module.FEATURES
    assert tuple(RATES) == options_module.RATES
    assert (*MUSIC_METHODS, MIXED_FEATURES) == options_module.DEFAULT_METHODS


def test_help_loads_no_audio_and_no_classifier():
    program = (
        "import sys\nimport skecoc_study.commands\n"
        "print(*(name for name in sys.modules if name.startswith(('skecoc.', 'skecoc_study.'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "skecoc_study.commands" in loaded
    assert not any(name.startswith(("skecoc_study.music", "skecoc.tables", "skecoc.reports")) for name in loaded)


def test_nothing_of_the_paper_is_loaded(folder, tmp_path):
    program = """
import sys
from skecoc.cli import main
from skecoc_study import commands as options_module

try:
    main(["music", "--help"])
except SystemExit as end:
    assert end.code == 0
assert main(["music", "extract", *sys.argv[1:]]) == 0
print(*sorted(name for name in sys.modules if name.split(".")[:2] == ["skecoc_study", "paper"]), file=sys.stderr)
"""
    arguments = [str(folder), "--no-cache", "--output", str(tmp_path / "f.csv"), *ONE_JOB]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert after_start(done.stderr).splitlines() == ["skecoc: 12 clips of 3 genres, analysed at 44100 Hz", ""]
