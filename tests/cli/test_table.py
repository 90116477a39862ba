"""fit, predict and inspect: mostly in this process; where the process itself matters, as the installed command."""

import contextlib
import io
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import fill

import numpy as np
import pytest
import sklearn
from sklearn.naive_bayes import GaussianNB

from skecoc import WOLCClassifier, persistence
from skecoc.cli import main
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import load_model, save_model
from skecoc.support.errors import InputError
from tests.cli import after_start
from tests.cli.test_cli import open_terminal, read_terminal
from tests.tables.things import make_things, write_things

pd = pytest.importorskip("pandas")
COMMAND = Path(sys.executable).parent / "skecoc"
FAST = ["--method", "one-vs-one/loss-weighted", "--folds", "2", "--jobs", "1"]
FIT = ["fit", "things.csv", "--target", "kind", "-o", "things.skops", *FAST]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, a model of it and new rows."""
    folder = tmp_path_factory.mktemp("table")
    write_things(folder / "things.csv")
    write_things(folder / "new.csv", n_rows=25, seed=7)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert main(FIT) == 0
    return folder


@pytest.fixture
def work(folder, tmp_path, monkeypatch):
    """A copy of the folder to work in."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, **options):
    """Run the installed command to its end."""
    return subprocess.run([COMMAND, *arguments], capture_output=True, timeout=120, check=False, **options)


def give(monkeypatch, content):
    """Put something on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_fit_says_what_it_does(work, capsys):
    Path("things.skops").unlink()
    assert main([*FIT, "--report", "things.html"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert {line.split()[0] for line in lines[2:5]} == {
        "one-vs-one/loss-weighted",
        "sklearn/one-vs-one",
        "sklearn/one-vs-rest",
    }
    assert captured.err.splitlines() == [
        "skecoc: note: left out: column 'unit' (the same value in every row)",
        "skecoc: note: left out: column 'id' (identifies the rows)",
        "skecoc: model written to things.skops",
        "skecoc: report written to things.html",
    ]
    assert Path("things.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in work.iterdir()) == ["new.csv", "things.csv", "things.html", "things.skops"]


@pytest.mark.nightly
def test_several_learners_from_table_to_predictions(work, capsys):
    """A model of several learners is fitted, described, written, read and used without any --trust."""
    fit = ["fit", "things.csv", "--target", "kind", "-o", "mixed.skops", "--method", "mixed", "--folds", "2"]
    assert main([*fit, "--jobs", "1", "--report", "mixed.html"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[2:6]} == {
        "mixed/logistic-weight",
        "sklearn/random-forest",
        "sklearn/logistic",
        "always",
    }
    assert main(["inspect", "mixed.skops"]) == 0
    assert "mixed/logistic-weight of stumps, logistic, svm, svm_sharp, trees, boosting" in capsys.readouterr().out
    assert main(["predict", "mixed.skops", "new.csv", "-o", "out.csv"]) == 0
    assert (
        pd.read_csv("out.csv")["label"].tolist() == load_model("mixed.skops").predict(pd.read_csv("new.csv")).tolist()
    )


def test_the_same_command_gives_the_same_model(work):
    before = load_model("things.skops")
    assert main(FIT) == 0
    after = load_model("things.skops")
    new = pd.read_csv("new.csv")
    np.testing.assert_array_equal(after.predict_proba(new), before.predict_proba(new))


def test_predict_writes_what_the_model_says(work, capsys):
    assert main(["predict", "things.skops", "new.csv", "-o", "out.csv", "--keep", "id"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("skecoc: 25 rows predicted, written to out.csv\n")
    assert "accuracy " in captured.err
    new, out = pd.read_csv("new.csv"), pd.read_csv("out.csv")
    model = load_model("things.skops")
    assert out["id"].tolist() == new["id"].tolist()
    assert out["label"].tolist() == model.predict(new).tolist()
    np.testing.assert_allclose(out.iloc[:, 2:], model.predict_proba(new), atol=5e-7)


@pytest.mark.parametrize("rows", ["1", "7", "1000"])
def test_chunks_change_nothing(work, capsysbinary, rows):
    assert main(["predict", "things.skops", "new.csv"]) == 0
    whole = capsysbinary.readouterr()
    assert main(["predict", "things.skops", "new.csv", "--chunk-rows", rows]) == 0
    assert capsysbinary.readouterr() == whole


def test_every_format_in_and_out_by_file_and_stream(work, monkeypatch, capsysbinary):
    assert main(["predict", "things.skops", "new.csv"]) == 0
    expected = capsysbinary.readouterr().out
    make_things(n_rows=25, seed=7).to_parquet("new.parquet")
    give(monkeypatch, Path("new.parquet").read_bytes())
    assert main(["predict", "things.skops", "-"]) == 0
    assert capsysbinary.readouterr().out == expected
    give(monkeypatch, Path("new.csv").read_bytes())
    assert main(["predict", "things.skops", "-", "-o", "-"]) == 0
    assert capsysbinary.readouterr().out == expected
    assert main(["predict", "things.skops", "new.parquet", "-o", "out.parquet"]) == 0
    frame = pd.read_parquet("out.parquet")
    pd.testing.assert_frame_equal(frame, pd.read_csv(io.BytesIO(expected)), check_dtype=False)


def test_fit_from_standard_input_gives_the_same_predictions_as_from_parquet(work, monkeypatch):
    make_things().to_parquet("things.parquet")
    give(monkeypatch, Path("things.csv").read_bytes())
    assert main(["fit", "-", "--target", "kind", "-o", "a.skops", *FAST]) == 0
    assert main(["fit", "things.parquet", "--target", "kind", "-o", "b.skops", *FAST]) == 0
    new = pd.read_csv("new.csv")
    first, second = load_model("a.skops"), load_model("b.skops")
    assert first.kinds_ == second.kinds_
    np.testing.assert_array_equal(first.predict_proba(new), second.predict_proba(new))
    assert first.card_["data"] == "standard input"


def test_labels_are_printed_as_they_were_written(work, capsys):
    rows = [f"{i % 3 + 0.1 * (i % 2)},{'007' if i % 3 == 0 else '7' if i % 3 == 1 else '1e1'}" for i in range(24)]
    Path("odd.csv").write_text("\n".join(["x,kind", *rows]))
    assert main(["fit", "odd.csv", "--target", "kind", "-o", "odd.skops", *FAST]) == 0
    capsys.readouterr()
    assert main(["predict", "odd.skops", "odd.csv", "--no-probabilities"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:4] == ["label", "007", "7", "1e1"]
    assert "accuracy 100.00 % on the 24 rows" in captured.err


def test_dates_as_classes(work, capsys):
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"] * 8)
    pd.DataFrame({"x": [i % 3 + 0.1 * (i % 2) for i in range(24)], "kind": days}).to_parquet("days.parquet")
    assert main(["fit", "days.parquet", "--target", "kind", "-o", "days.skops", *FAST]) == 0
    capsys.readouterr()
    assert main(["predict", "days.skops", "days.parquet", "--no-probabilities"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == ["label", "2024-01-01"]
    assert "accuracy 100.00 % on the 24 rows" in captured.err


@pytest.mark.parametrize("part", ["tables.model.check_table_model", "reports.model_report.model_page"])
def test_fit_writes_nothing_that_could_not_be_used(work, monkeypatch, capsys, part):
    def fail(*_):
        raise InputError("that does not work")

    monkeypatch.setattr(f"skecoc.{part}", fail)
    before = Path("things.skops").read_bytes()
    assert main([*FIT, "--report", "things.html"]) == 2
    assert capsys.readouterr().err.endswith("that does not work\n")
    assert Path("things.skops").read_bytes() == before
    assert not Path("things.html").exists()


def test_inspect_as_text_and_page(work, capsys):
    assert main(["inspect", "things.skops"]) == 0
    assert "for the 3 classes in column 'kind' of things.csv" in capsys.readouterr().out
    assert main(["inspect", "things.skops", "--html", "things.html"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "skecoc: report written to things.html\n")
    assert "Columns that matter for two classes" in Path("things.html").read_text(encoding="utf-8")


def test_inspect_begins_with_what_growth_has_done(work, capsys):
    X, y = load_uci("vehicle", return_X_y=True)
    model = WOLCClassifier(StumpAdaBoostClassifier(5), max_iter=2, random_state=0).fit(X[::3], y[::3])
    save_model(model, "grown.skops")
    assert main(["inspect", "grown.skops"]) == 0
    shown = capsys.readouterr().out
    summary = model.growth_summary()
    assert shown.split("\n\n")[:2] == ["WOLCClassifier for 4 classes", fill(summary, 100, break_on_hyphens=False)]
    for part in ("one-vs-rest and one-vs-one (10 columns)", "column", "because max_iter rounds", "Weights are"):
        assert part in summary
    assert main(["inspect", "grown.skops", "--html", "grown.html"]) == 0
    assert summary in Path("grown.html").read_text(encoding="utf-8")


def test_inspect_takes_other_models_and_predict_does_not(work, capsys):
    save_model(load_model("things.skops").classifier_, "code.skops")
    assert main(["inspect", "code.skops"]) == 0
    assert capsys.readouterr().out.startswith("ECOCClassifier for 3 classes")
    assert main(["predict", "code.skops", "new.csv"]) == 2
    assert "'code.skops' holds a ECOCClassifier, expected a model made by skecoc fit" in capsys.readouterr().err
    save_model(GaussianNB().fit([[0.0], [1.0]], [0, 1]), "bayes.skops")
    assert main(["inspect", "bayes.skops"]) == 2
    assert "a GaussianNB has no code to show" in capsys.readouterr().err


def test_another_version_is_said_and_named_if_loading_fails(work, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(persistence, "__version__", "9.9")
        for module in (sklearn, sklearn.base):
            patch.setattr(module, "__version__", "1.6.0")
        assert main(FIT) == 0
    capsys.readouterr()
    assert main(["predict", "things.skops", "new.csv", "-o", "out.csv"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("skecoc: note: 'things.skops' was saved with skecoc 9.9 (this is ")
    assert said.count("scikit-learn 1.6.0 (this is ") == said.count("1.6.0") == 1

    def fail(*arguments, **options):
        raise AttributeError("no such attribute")

    monkeypatch.setattr("skops.io.loads", fail)
    assert main(["predict", "things.skops", "new.csv", "-o", "out.csv"]) == 2
    assert "'things.skops', saved with skecoc 9.9 and scikit-learn" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "predict", "inspect"])
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"\n  skecoc {command} flowers" in capsys.readouterr().out


class Chatty(GaussianNB):
    """A learner that prints, as some of other libraries do."""

    def fit(self, X, y, sample_weight=None):
        print("training")
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        print("predicting")
        return super().predict_proba(X)


def test_what_learners_print_is_no_result(work, capsys):
    trust = ["--trust", f"{__name__}.Chatty"]
    fit = ["fit", "things.csv", "--target", "kind", "-o", "chatty.skops", *FAST]
    assert main([*fit, "--learner", f"{__name__}.Chatty", *trust]) == 0
    captured = capsys.readouterr()
    assert "training" not in captured.out
    assert "training\n" in captured.err
    assert main(["predict", "chatty.skops", "new.csv", *trust]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 26
    assert "predicting\n" in captured.err


BAD_TABLES = {
    "ragged.csv": b"a,kind\n1,x\n2,y,z\n",
    "short.csv": b"a,b,kind\n1,2,x\n3\n",
    "one-class.csv": b"a,kind\n1,x\n2,x\n3,x\n",
    "one-row-each.csv": b"a,kind\n1,x\n5,y\n3,z\n",
    "empty.csv": b"",
    "no-rows.csv": b"a,kind\n",
    "no-label.csv": b"a,kind\n1,\n2,?\n3,\n4,NA\n",
    "constant.csv": b"a,kind\n1,x\n1,y\n1,x\n1,y\n",
    "not-parquet.parquet": b"a,kind\n1,x\n",
    "table.xlsx": b"PK",
    "table.doc": b"a,kind\n1,x\n2,y\n",
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ragged.csv", "data='ragged.csv' cannot be read as a table: line 3 has 3 cells, but its header has 2"),
        ("short.csv", "line 3 has 1 cell, but its header has 3"),
        ("one-class.csv", "target='kind' has a single class, 'x'"),
        ("one-row-each.csv", "folds: 2 is more than the 1 rows of the largest class"),
        ("empty.csv", "data='empty.csv' is empty"),
        ("no-rows.csv", "has a header but no rows"),
        ("no-label.csv", "target='kind' is missing in all 4 rows of 'no-label.csv'"),
        ("constant.csv", "no column is left to learn from"),
        ("not-parquet.parquet", "data='not-parquet.parquet' cannot be read as a table"),
        ("table.xlsx", "data='table.xlsx' cannot be read as a table: it is not an Excel workbook, as its suffix says"),
        ("table.doc", "has an unknown suffix; expected one of .csv, .tsv, .txt, .xlsx"),
        ("missing.csv", "data='missing.csv': there is no such file"),
    ],
)
def test_bad_tables_are_one_line_and_nothing_is_written(work, capsys, name, message):
    if name in BAD_TABLES:
        Path(name).write_bytes(BAD_TABLES[name])
    before = {path: path.read_bytes() for path in work.iterdir()}
    assert main(["fit", name, "--target", "kind", "-o", "things.skops", *FAST]) == 2
    check_one_line(capsys, message)
    assert {path: path.read_bytes() for path in work.iterdir()} == before


def check_one_line(capsys, message):
    """Check that an error is one line on standard error and nothing else."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("skecoc: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "Kind"], "target='Kind' is not a column of 'things.csv' (did you mean 'kind' or 'id'?)"),
        (["--method", "nothing"], "methods: 'nothing' is not known"),
        (["--learner", "nothing"], "learner: 'nothing' is not known"),
        (["--method", "mixed", "--learner", "svm"], "learner: mixed has its own learners"),
        (["--drop", "nothing"], "drop: 'nothing' is not a column of the table"),
        (["--drop", "weight", "größe, cm", "colour", "picked", "ripe"], "no column is left to learn from"),
        (["-o", "none/model.skops"], "--output: the folder 'none' does not exist"),
        (["-o", "-"], "--output: a model cannot be written to standard output"),
        (["-o", "things.csv"], "--output: 'things.csv' does not end in .skops, as files of models do"),
        (["-o", "model.pkl"], "--output: 'model.pkl' does not end in .skops, as files of models do"),
        (["--report", "things.csv"], "--report: 'things.csv' does not end in .html, as pages do"),
        (["--report", "things.skops"], "--report: 'things.skops' does not end in .html, as pages do"),
        (["--report", "."], "--report: '.' is a folder"),
    ],
)
def test_bad_options_of_fit(work, capsys, arguments, message):
    before = {path: path.read_bytes() for path in work.iterdir()}
    assert main([*FIT, *arguments]) == 2
    check_one_line(capsys, message)
    assert {path: path.read_bytes() for path in work.iterdir()} == before


def cut(content):
    return content[: len(content) // 2]


def other_types(content):
    """Replace a type by one that runs commands, and make the checksum right again."""
    forged = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(forged, "w") as new:
        for name in set(old.namelist()) - {"skecoc.json"}:
            data = (
                old.read(name)
                .replace(b'"MinMaxScaler"', b'"system"')
                .replace(b'"sklearn.preprocessing._data"', b'"os"')
            )
            new.writestr(name, data)
    return persistence._labelled(forged.getvalue())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (cut, "is not a model of skecoc, or damaged"),
        (lambda content: pickle.dumps(GaussianNB()), "may be a pickle, which could run any code"),
        (lambda content: b"hello", "is not a model of skecoc"),
        (lambda content: b"", "is not a model of skecoc"),
        (
            other_types,
            "is refused: it holds types that are not trusted, os.system; if you trust their code, add --trust",
        ),
        (None, "there is no such file"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "inspect"])
def test_bad_models_are_one_line(work, capsys, command, make, message):
    model = Path("things.skops")
    content = model.read_bytes()
    model.unlink()
    if make is not None:
        model.write_bytes(make(content))
    assert main([command, "things.skops", *(["new.csv", "-o", "out.csv"] if command == "predict" else [])]) == 2
    check_one_line(capsys, message)
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "data='missing.csv': there is no such file"),
        (["new.csv", "-o", "none/out.csv"], "--output: the folder 'none' does not exist"),
        (["new.csv", "-o", "out.xlsx"], "--output: 'out.xlsx' has an unknown suffix"),
        (["new.csv", "-o", "new.csv"], "--output and data are the same file"),
        (["new.csv", "-o", "things.skops"], "'things.skops' has an unknown suffix"),
        (["new.csv", "--keep", "nothing"], "--keep: column 'nothing' is missing in 'new.csv'"),
        (["fewer.csv", "-o", "old.csv"], "column 'colour' is missing in 'fewer.csv'"),
        (["ragged.csv", "-o", "old.csv"], "'ragged.csv' cannot be read as a table: line 27 has 2 cells"),
    ],
)
def test_bad_input_of_predict_leaves_the_old_output(work, capsys, arguments, message):
    new = pd.read_csv("new.csv")
    new.drop(columns="colour").to_csv("fewer.csv", index=False)
    Path("ragged.csv").write_bytes(Path("new.csv").read_bytes() + b"1,2\n")
    Path("old.csv").write_text("old")
    before = {path: path.read_bytes() for path in work.iterdir()}
    assert main(["predict", "things.skops", "--chunk-rows", "2", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("skecoc: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert {path: path.read_bytes() for path in work.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(work, capsys):
    work.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert main(["predict", "things.skops", "new.csv", "-o", "out.csv"]) == 2
    finally:
        work.chmod(stat.S_IRWXU)
    check_one_line(capsys, "--output: no permission to write 'out.csv'")


@pytest.mark.parametrize("module", ["skops.io", "pandas"])
def test_missing_extras_are_named(work, monkeypatch, capsys, module):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["predict", "things.skops", "new.csv", "-o", "out.csv"]) == 2
    assert 'pip install "scikit-ecoc[' in capsys.readouterr().err


@pytest.mark.nightly
def test_the_installed_command_from_table_to_page(tmp_path):
    """What a user does, in processes of their own: fit, predict by pipe and by file, inspect."""
    write_things(tmp_path / "things.csv")
    new = write_things(tmp_path / "new.csv", n_rows=25, seed=7)
    options = ["--target", "kind", "--method", "mixed", "--folds", "2", "--jobs", "1"]
    fitted = run("fit", "things.csv", *options, "-o", "m.skops", cwd=tmp_path)
    assert fitted.returncode == 0
    assert after_start(fitted.stderr).endswith(b"skecoc: model written to m.skops\n")
    assert b"mixed/logistic-weight" in fitted.stdout
    piped = run("predict", "m.skops", "-", cwd=tmp_path, input=new.read_bytes())
    filed = run("predict", "m.skops", "new.csv", "-o", "out.csv", "--chunk-rows", "3", cwd=tmp_path)
    assert (piped.returncode, filed.returncode, filed.stdout) == (0, 0, b"")
    assert (tmp_path / "out.csv").read_bytes() == piped.stdout
    shown = run("inspect", "m.skops", "--html", "m.html", cwd=tmp_path)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, b"", b"skecoc: report written to m.html\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.html", "m.skops", "new.csv", "out.csv", "things.csv"]


@pytest.mark.nightly
def test_processes_end_as_command_line_tools_do(work):
    """A reader that goes away, a full disk, a forged model: exit codes, and never a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    predict = [COMMAND, "predict", "things.skops", "new.csv"]
    with os.fdopen(writing, "w") as stdout:
        gone = subprocess.run(predict, stdout=stdout, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (gone.returncode, after_start(gone.stderr)) == (141, b"")
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as stdout:
            full = subprocess.run(predict, stdout=stdout, stderr=subprocess.PIPE, timeout=120, check=False)
        message = b"skecoc: error: cannot write to standard output: No space left on device\n"
        assert (full.returncode, after_start(full.stderr)) == (2, message)
    Path("things.skops").write_bytes(other_types(Path("things.skops").read_bytes()))
    refused = run("predict", "things.skops", "new.csv")
    assert (refused.returncode, after_start(refused.stderr).count(b"\n")) == (2, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("interrupts_heard")
def test_an_interruption_is_one_line_and_leaves_nothing(work):
    rows = Path("things.csv").read_text(encoding="utf-8").splitlines()
    Path("many.csv").write_text("\n".join([rows[0], *rows[1:] * 2000]), encoding="utf-8")
    terminal, other_side = open_terminal(width=80)
    with subprocess.Popen(
        [COMMAND, "predict", "things.skops", "many.csv", "-o", "out.csv", "--chunk-rows", "50"],
        stderr=other_side,
        start_new_session=True,
    ) as process:
        os.close(other_side)
        read_terminal(terminal, until=b"row")  # the progress bar's unit
        os.killpg(process.pid, signal.SIGINT)
        shown = read_terminal(terminal).decode()
        assert process.wait(timeout=120) == 130
    os.close(terminal)
    assert "Traceback" not in shown
    assert shown.rstrip().endswith("skecoc: interrupted")
    assert sorted(path.name for path in work.iterdir()) == ["many.csv", "new.csv", "things.csv", "things.skops"]


def test_the_file_holds_no_path_of_this_machine(work):
    with zipfile.ZipFile("things.skops") as archive:
        for name in archive.namelist():
            assert str(Path.cwd()).encode() not in archive.read(name)
        label = json.loads(archive.read("skecoc.json"))
    assert label["format"] == "skecoc-model-1"
