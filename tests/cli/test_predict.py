"""What comes out of ``skecoc predict``, and what learners of scikit-learn need for it: nothing."""

import copy
import io
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skecoc import ECOCClassifier
from skecoc.cli import console, main
from skecoc.cli.predict import _standard_output
from skecoc.persistence import load_model, save_model
from skecoc.support import files
from skecoc.tables import TableClassifier
from tests.tables.things import make_things, write_things

FAST = ["--method", "one-vs-rest/loss-based", "--folds", "2", "--jobs", "1"]
PREDICT = ["predict", "things.skops", "new.csv"]


@pytest.fixture(scope="module")
def model():
    frame = make_things()
    classifier = ECOCClassifier(LogisticRegression(), coding="one-vs-rest", random_state=0)
    model = TableClassifier(classifier).fit(frame.drop(columns="kind"), frame["kind"])
    model.card_ = {"target": "kind"}
    return model


@pytest.fixture
def work(model, tmp_path, monkeypatch):
    """A folder with a model and new rows, to work in."""
    monkeypatch.chdir(tmp_path)
    save_model(model, "things.skops")
    write_things(Path("new.csv"), n_rows=25, seed=7)
    return tmp_path


def test_cells_that_cannot_be_used_are_missing_and_counted(work, capsys):
    new = pd.read_csv("new.csv").astype(object)
    new.loc[3, "weight"], new.loc[20, "weight"], new.loc[5, "picked"] = "?", "inf", "soon"
    n_gaps = int(new["weight"].isna().sum()) + 2
    new.to_csv("bad.csv", index=False)
    new.loc[[3, 20], "weight"] = new.loc[5, "picked"] = None
    new.to_csv("new.csv", index=False)
    assert main(["predict", "things.skops", "bad.csv", "-o", "bad_out.csv", "--chunk-rows", "10"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("skecoc: note: ") for line in lines[:2]] == [
        "column 'weight': 1 cell holds no finite number (the first 'inf' in row 21) and counts as missing",
        "column 'picked': 1 cell holds no date (the first 'soon' in row 6) and counts as missing",
    ]
    assert f"cells without a value, by column: 'weight' ({n_gaps})" in lines[2]
    assert main([*PREDICT, "-o", "out.csv"]) == 0
    assert Path("bad_out.csv").read_bytes() == Path("out.csv").read_bytes()


def test_predictions_never_take_the_name_of_a_column_that_is_kept(work, capsys, model):
    new = make_things(n_rows=25, seed=7).rename(columns={"kind": "label"})
    new.to_csv("new.csv", index=False)
    model = copy.copy(model)
    model.card_ = {"target": "label"}
    save_model(model, "things.skops")
    assert main([*PREDICT, "--keep", "label", "-o", "out.csv"]) == 0
    out = pd.read_csv("out.csv")
    assert out.columns[:2].tolist() == ["label", "predicted_label"]
    assert out["label"].tolist() == new["label"].tolist()
    assert out["predicted_label"].tolist() == model.predict(new).tolist()
    error = capsys.readouterr().err
    assert "predictions are: 'label' as 'predicted_label'\n" in error
    assert f"accuracy {100 * np.mean(out['label'] == out['predicted_label']):.2f} % on the 25 rows" in error


def test_all_columns_can_be_kept_as_they_are_written(work, capsys):
    Path("new.csv").write_text(Path("new.csv").read_text().replace("kg", "007"))
    assert main([*PREDICT, "--keep-all", "-o", "out.csv"]) == 0
    given = Path("new.csv").read_text().splitlines()
    found = Path("out.csv").read_text().splitlines()
    assert all(new.startswith(f"{old},") for old, new in zip(given, found, strict=True))
    assert pd.read_csv("out.csv").columns[-4] == "label"
    with pytest.raises(SystemExit):
        main([*PREDICT, "--keep-all", "--keep", "id"])
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.fixture
def dangerous(work):
    """A model and rows of people who think of spreadsheets and terminals."""
    frame = make_things()
    names = {"apple": "=cmd|' /C calc'!A0", "pear": "\x1b[2Jpear\u202e", "Äpfel & <b>": "-5"}
    classifier = ECOCClassifier(LogisticRegression(), coding="one-vs-rest", random_state=0)
    model = TableClassifier(classifier).fit(frame[["weight", "colour"]], frame["kind"].map(names))
    model.card_ = {"target": "kind"}
    save_model(model, "things.skops")
    new = frame[["weight", "colour"]].assign(**{"@note": "+1+1", "\x1b]0;x\x07": "=A1"})
    new.to_csv("new.csv", index=False)
    return model, new


def test_formulas_are_escaped_on_request_and_pointed_out_otherwise(dangerous, capsys):
    model, _ = dangerous
    assert main([*PREDICT, "--keep", "@note", "weight", "-o", "out.csv"]) == 0
    assert "a spreadsheet would run '@note', \"=cmd|' /C calc'!A0\" as a formula; --escape-formulas" in (
        capsys.readouterr().err
    )
    plain = pd.read_csv("out.csv", dtype=str)
    assert set(plain["label"]) == set(model.classes_)
    assert main([*PREDICT, "--keep", "@note", "weight", "--escape-formulas", "-o", "out.csv"]) == 0
    assert "formula" not in capsys.readouterr().err
    escaped = pd.read_csv("out.csv", dtype=str)
    assert escaped.columns[:3].tolist() == ["'@note", "weight", "label"]
    assert escaped["'@note"].eq("'+1+1").all()
    assert escaped["weight"].tolist() == plain["weight"].tolist()
    assert set(escaped["label"]) == {"'=cmd|' /C calc'!A0", "\x1b[2Jpear\u202e", "-5"}


def test_no_control_character_reaches_a_terminal(dangerous, capsys):
    assert main([*PREDICT, "-o", "out.csv"]) == 0
    assert main([*PREDICT, "--keep", "\x1b[31m", "-o", "out.csv"]) == 2
    error = capsys.readouterr().err
    assert r"\x1b]0;x\x07" in error
    assert not [mark for mark in error if not mark.isprintable() and mark != "\n"]
    console.deliver("a\tb\n\x1b[2J\x9b31m\r\u202eé\u00a0\u200d\n")
    assert capsys.readouterr().out == "a\tb\n\\x1b[2J\\x9b31m\\r\\u202eé\u00a0\u200d\n"


def test_predictions_on_a_terminal_spell_out_what_it_would_obey(monkeypatch):
    class Terminal(io.StringIO):
        encoding = "ascii"

        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    with _standard_output() as file:
        file.write("label\n\x1b[2Jpear\u202e é\n".encode())
        file.flush()
    assert terminal.getvalue() == "label\n\\x1b[2Jpear\\u202e \\xe9\n"


def test_predictions_in_a_pipe_are_as_they_are(dangerous, capsysbinary):
    assert main(PREDICT) == 0
    assert "\x1b[2Jpear\u202e".encode() in capsysbinary.readouterr().out


@pytest.mark.parametrize("name", ["out.tsv", "out.tsv.gz", "out.csv.gz", "out.parquet"])
def test_every_format_has_the_same_cells(work, name):
    assert main([*PREDICT, "--keep", "id", "-o", "out.csv"]) == 0
    assert main([*PREDICT, "--keep", "id", "-o", name]) == 0
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    options = {"sep": "\t"} if ".tsv" in name else {}
    pd.testing.assert_frame_equal(read(name, **options).astype(str), pd.read_csv("out.csv").astype(str))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "learner",
    [
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "sklearn.gaussian_process.GaussianProcessClassifier",
    ],
)
def test_learners_of_scikit_learn_need_no_trust(work, learner, capsys):
    make_things(n_rows=30).to_csv("things.csv", index=False)
    fit = ["fit", "things.csv", "--target", "kind", "-o", "m.skops", *FAST, "--learner", learner]
    assert main(fit) == 0
    assert main(["predict", "m.skops", "new.csv", "-o", "out.csv"]) == 0
    new = pd.read_csv("new.csv")
    assert pd.read_csv("out.csv")["label"].tolist() == load_model("m.skops").predict(new).tolist()
    assert "trust" not in capsys.readouterr().err


def test_learners_of_other_libraries_need_trust_and_a_wrong_one_is_one_line(work, capsys):
    pytest.importorskip("lightgbm")
    make_things().to_csv("things.csv", index=False)
    learner = ["--learner", "lightgbm.LGBMClassifier", "--trust", "lightgbm.LGBMClassifier"]
    assert main(["fit", "things.csv", "--target", "kind", "-o", "m.skops", *FAST, *learner]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("skecoc: error: learner: the model would hold types that are not trusted: ")
    assert "add --trust collections.OrderedDict lightgbm.basic.Booster lightgbm.sklearn.LGBMClassifier" in captured.err


def test_what_is_heavy_is_loaded_when_it_is_used():
    code = "import sys; before = set(sys.modules); import skecoc.cli.console; shared = set(sys.modules)\n"
    code += "import skecoc.cli.predict; print(sorted(set(sys.modules) - shared))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['skecoc.cli.predict']"


def test_what_a_killed_run_leaves_is_gone_after_the_next(work, monkeypatch):
    """A real command, killed in the middle of many rows, and the next one."""
    header, *rows = Path("new.csv").read_text().splitlines()
    Path("many.csv").write_text("\n".join([header, *rows * 2000]))
    command = [Path(sys.executable).parent / "skecoc", "predict", "things.skops", "many.csv", "-o", "out.csv"]
    with subprocess.Popen([*command, "--chunk-rows", "1"], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(work.glob(".skecoc-*")):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert len(list(work.glob(".skecoc-*"))) == 1
    monkeypatch.setattr(files, "_cleaned", set())  # as in a new process
    assert main([*PREDICT, "-o", "out.csv"]) == 0
    assert sorted(path.name for path in work.iterdir()) == ["many.csv", "new.csv", "out.csv", "things.skops"]
