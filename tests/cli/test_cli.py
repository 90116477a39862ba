"""The command line, mostly in this process; where the process itself matters, as the installed command."""

import argparse
import csv
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import skecoc
from skecoc import cli
from skecoc.cli import main
from skecoc.cli.plugins import InputError, deliver
from skecoc.datasets import list_uci
from tests.cli import after_start
from tests.grids import few

COMMAND = Path(sys.executable).parent / "skecoc"
TINY = ["compare", "--methods", "one-vs-one/hamming", "one-vs-rest/loss-based", "--datasets", "iris", "--folds", "2"]
ONE_JOB = ["--jobs", "1"]


@pytest.fixture
def own_file(tmp_path):
    """A user's table with text, a gap and a row counter."""
    path = tmp_path / "own.csv"
    lines = [f"{i},{'red' if i < 10 else 'blue'},{i % 7 or ''},{'yes' if i < 10 else 'no'}" for i in range(20)]
    path.write_text("\n".join(["id,colour,size,label", *lines]))
    return path


def run(*arguments):
    """Run the installed command to its end."""
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_table(capsys):
    assert main([*TINY, *ONE_JOB]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = {line.split()[0]: line.split()[1:] for line in captured.out.splitlines() if "/" in line[:12]}
    assert set(rows) == {"one-vs-one/hamming", "one-vs-rest/loss-based"}
    assert [row[3] for row in rows.values()] == ["3.0", "3.0"]
    assert sum("*" in row[0] for row in rows.values()) == 1
    assert "\n\nRecommended: one-vs-" in captured.out


def test_json_and_csv_agree(capsys):
    assert main([*TINY, *ONE_JOB, "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert main([*TINY, *ONE_JOB, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["accuracy"]) for row in rows] == [cell["accuracy"] for cell in content["cells"]]
    settings = {
        "learner": "stumps",
        "folds": 2,
        "repeats": 1,
        "seed": 0,
        "metric": "accuracy",
        "fit_command": "",
        "class_weight": "",
    }
    assert content["settings"] == {**settings, "higher_is_better": True, "in_percent": True}
    assert len(content["records"]) == 4


def test_a_users_file_alone_and_beside_shipped_data(own_file, capsys):
    arguments = ["compare", str(own_file), "--methods", "one-vs-rest/loss-based", "--target", "label"]
    assert main([*arguments, *ONE_JOB, "--format", "json"]) == 0
    captured = capsys.readouterr()
    (cell,) = json.loads(captured.out)["cells"]
    assert (cell["data_set"], cell["accuracy"]) == ("own.csv", 1.0)
    assert captured.err == "skecoc: note: left out: column 'id' (identifies the rows)\n"
    assert main([*arguments, *ONE_JOB, "--format", "csv", "--datasets", "iris"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["own.csv", "iris"]


def test_output_and_report_are_files(tmp_path, capsys):
    output, report = tmp_path / "out.csv", tmp_path / "report.html"
    assert main([*TINY, *ONE_JOB, "--format", "csv", "--output", str(output), "--report", str(report)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"skecoc: report written to {report}\n"
    assert output.read_text().startswith("data_set,method,accuracy")
    assert report.read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "report.html"]


def test_a_learner_that_some_methods_do_without(capsys):
    methods = ["--methods", "sklearn/logistic", "one-vs-rest/hamming", "--learner", "sklearn.naive_bayes.GaussianNB"]
    assert main([*TINY, *ONE_JOB, *methods]) == 0
    captured = capsys.readouterr()
    assert captured.err == (
        "skecoc: note: the learner, sklearn.naive_bayes.GaussianNB, is not that of sklearn/logistic\n"
    )
    rows = {line.split()[0]: line.split() for line in captured.out.splitlines() if "/" in line[:12]}
    assert [rows[name][4] for name in ("sklearn/logistic", "one-vs-rest/hamming")] == ["-", "3.0"]


def test_another_learner(capsys):
    assert main([*TINY, *ONE_JOB, "--learner", "sklearn.naive_bayes.GaussianNB", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["learner"] == "sklearn.naive_bayes.GaussianNB"


def test_all_data_sets(monkeypatch, capsys):
    loaded = []
    monkeypatch.setattr("skecoc.compare.load_data_sets", lambda names: loaded.extend(names) or [])
    assert main(["compare", "--datasets", "all"]) == 2
    assert loaded == list_uci()
    assert capsys.readouterr().err == "skecoc: error: datasets: expected at least one data set\n"


def test_help_and_version(capsys):
    for arguments in [["--help"], ["compare", "--help"], ["--version"]]:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
    out = capsys.readouterr().out
    assert f"skecoc {skecoc.__version__}\n" in out
    assert "loss-weighted" in out
    assert main([]) == 0
    assert "compare" in capsys.readouterr().out


def loaded_modules(code, folder):
    """Run Python in a process of its own; return the modules of this package that it has loaded at the end."""
    ours = "name for name in sys.modules if name.startswith(('skecoc.', 'skecoc_study'))"
    code = f"{code}\nprint('loaded', *sorted({ours}))"
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    return finished.stdout.splitlines()[-1].split()[1:]


@pytest.mark.nightly
def test_commands_load_nothing_of_the_paper(own_file):
    code = """
import sys
from skecoc.cli import main
fast = ["--folds", "2", "--jobs", "1"]
fit = ["fit", "own.csv", "--target", "label", "-o", "m.skops", "--method", "one-vs-rest/hamming", "--report", "f.html"]
assert main([*fit, *fast]) == 0
assert main(["predict", "m.skops", "own.csv"]) == 0
assert main(["inspect", "m.skops", "--html", "i.html"]) == 0
compare = ["compare", "--datasets", "iris", "--methods", "one-vs-rest/hamming", "--report", "c.html"]
assert main([*compare, *fast]) == 0
"""
    loaded = loaded_modules(code, own_file.parent)
    assert {"skecoc.cli.fit", "skecoc.cli.predict", "skecoc.cli.inspect", "skecoc.cli.compare"} <= set(loaded)
    assert [name for name in loaded if name.startswith("skecoc_study")] == []


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_command_is_loaded_when_it_is_given(option, tmp_path):
    code = f"""
import sys
from skecoc.cli import main
try:
    main(["{option}"])
except SystemExit:
    pass
"""
    loaded = loaded_modules(code, tmp_path)
    # What other distributions add may use `skecoc.cli.plugins`.
    assert set(cli_modules := [name for name in loaded if name.startswith("skecoc.cli.")]) <= {
        "skecoc.cli.console",
        "skecoc.cli.plugins",
    }
    assert option == "--help" or cli_modules == ["skecoc.cli.console"]
    above = ("skecoc.tables", "skecoc.compare", "skecoc.reports")
    assert [name for name in loaded if name.startswith(above)] == []


def test_every_command_is_known_by_its_module():
    commands = argparse.ArgumentParser().add_subparsers()
    for name in cli._COMMANDS:
        import_module(f"skecoc.cli.{name}").add_command(commands.add_parser)
    assert set(commands.choices) == set(cli._COMMANDS)


@pytest.mark.parametrize("name", ["reproduce", "report", "music"])
def test_a_command_of_a_distribution_that_is_not_installed_says_how_to_get_it(name, monkeypatch, capsys):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: [])
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{name!r} is a command of the study, which is not installed: pip install scikit-ecoc-study" in error


def test_other_distributions_add_commands(monkeypatch, capsys):
    def add_greet(add_parser):
        parser = add_parser("greet", help="say hello")
        parser.add_argument("name")
        parser.set_defaults(run=greet)

    def greet(options):
        if options.name == "nobody":
            raise InputError("name: nobody is there")
        deliver(f"Hello {options.name}!\n")

    entry = SimpleNamespace(name="greet", load=lambda: add_greet)
    added = {"skecoc.commands": [entry]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: added.get(group, []))
    assert main(["greet", "Ada"]) == 0
    assert capsys.readouterr().out == "Hello Ada!\n"
    assert main(["greet", "nobody"]) == 2
    assert capsys.readouterr().err == "skecoc: error: name: nobody is there\n"
    with pytest.raises(SystemExit):
        main(["gret"])
    assert "'gret' is not a command (did you mean 'greet'?)" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "say hello" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "nothing"], "methods: 'nothing' is not known"),
        (["--methods", "nothing/hamming"], "methods: the coding 'nothing' of 'nothing/hamming' is not known"),
        (["--methods", "one-vs-one/nothing"], "expected one of hamming,"),
        (["--datasets", "nothing"], "datasets: 'nothing' is not known; expected one of balance,"),
        (["missing.csv", "--target", "label"], "data='missing.csv': there is no such file"),
        (["own.csv"], "--target: expected the name of the column of DATA"),
        (["--target", "label"], "--target needs a DATA file"),
        (["own.csv", "--target", "lable"], "target='lable' is not a column of 'own.csv'"),
        (["one-class.csv", "--target", "label"], "target='label' has a single class"),
        (["empty.csv", "--target", "label"], "data='empty.csv' is empty"),
        (["no-rows.csv", "--target", "label"], "data='no-rows.csv' has a header but no rows"),
        (["no-label.csv", "--target", "label"], "target='label' is missing in all 4 rows"),
        (["own.csv", "--target", "label", "--folds", "21"], "folds: 21 is more than the 20 rows"),
        (["--datasets", "iris", "--folds", "51"], "folds: 51 is more than the 50 rows of the largest class"),
        (["--datasets", "vowel", "--methods", "ternary-complete/hamming"], "'ternary-complete/hamming' on data set"),
        (["--output", "none/out.txt"], "--output: the folder 'none' does not exist"),
        (["--report", "none/report.html"], "--report: the folder 'none' does not exist"),
        (["--report", "."], "--report: '.' is a folder"),
        (["--output", "same.html", "--report", "same.html"], "--output and --report are the same file"),
        (["--learner", "nothing"], "learner: 'nothing' is not known"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, own_file, monkeypatch, capsys):
    monkeypatch.chdir(own_file.parent)
    Path("one-class.csv").write_text("a,label\n1,x\n2,x\n")
    Path("empty.csv").touch()
    Path("no-rows.csv").write_text("a,label\n")
    Path("no-label.csv").write_text("a,label\n1,\n2,NA\n3,\n4,?\n")
    before = sorted(Path().iterdir())
    assert main(["compare", *ONE_JOB, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("skecoc: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--folds", "1"], "argument --folds: expected a whole number, at least 2, got '1'"),
        (["compare", "--folds", "five"], "argument --folds: expected a whole number"),
        (["compare", "--repeats", "0"], "argument --repeats: expected a whole number, at least 1"),
        (["compare", "--jobs", "0"], "argument --jobs: expected a whole number, at least 1"),
        (["compare", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["compare", "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["compare", "--methods"], "argument --methods: expected at least one argument"),
        (["compare", "--nothing"], "unrecognized arguments: --nothing"),
        (["nothing"], "'nothing' is not a command; expected compare, fit,"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("skecoc: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_report_without_jinja2_is_refused_before_any_work(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("skecoc.reports.templating.find_spec", lambda name: None)
    monkeypatch.setattr("skecoc.compare.compare", lambda *a, **k: pytest.fail("work was done"))
    assert main([*TINY, "--report", str(tmp_path / "report.html")]) == 2
    assert "pip install 'scikit-ecoc[report]'" in capsys.readouterr().err


def test_a_defect_is_not_hidden(monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("skecoc.compare.compare", broken)
    with pytest.raises(ZeroDivisionError):
        main(TINY)


@pytest.mark.slow
def test_the_installed_command_gives_the_same_with_two_jobs(capsys):
    assert main([*TINY, *ONE_JOB]) == 0
    finished = run(*TINY, "--jobs", "2")
    assert finished.returncode == 0
    outputs = [
        re.sub(r"\d+\.\d{3}$", "", text, flags=re.MULTILINE) for text in (finished.stdout, capsys.readouterr().out)
    ]
    assert outputs[0] == outputs[1]  # but for the seconds, which are last
    # No terminal: no progress bar.
    assert after_start(finished.stderr) == ""


def test_the_module_runs_as_the_command():
    arguments = [sys.executable, "-m", "skecoc", "compare", "--datasets", "nothing"]
    finished = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 2
    assert after_start(finished.stderr).startswith("skecoc: error: datasets: 'nothing' is not known")
    assert "Traceback" not in finished.stderr


def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        finished = subprocess.run(
            [COMMAND, *TINY, *ONE_JOB], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert finished.returncode == 141
    assert after_start(finished.stderr) == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_behind_standard_output_is_one_line():
    with Path("/dev/full").open("w") as stdout:
        finished = subprocess.run(
            [COMMAND, *TINY, *ONE_JOB], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert finished.returncode == 2
    assert after_start(finished.stderr) == "skecoc: error: cannot write to standard output: No space left on device\n"


def open_terminal(width):
    """Open a pseudo-terminal of so many columns; return its two sides."""
    terminal, other_side = pty.openpty()
    termios.tcsetwinsize(terminal, (24, width))
    return terminal, other_side


def read_terminal(terminal, until=None):
    """Read what a process shows on a pseudo-terminal, to its end or until a word appears."""
    shown = b""
    while until is None or until not in shown:
        readable, _, _ = select.select([terminal], [], [], 120)
        assert readable, f"nothing more after {shown!r}"
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        shown += part
    return shown


def test_a_terminal_shows_progress_and_a_table_that_fits():
    terminal, other_side = open_terminal(width=30)
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([COMMAND, *TINY, *ONE_JOB], stdout=other_side, stderr=other_side, env=environment) as process:
        os.close(other_side)
        shown = read_terminal(terminal).decode()
        assert process.wait(timeout=120) == 0
    os.close(terminal)
    assert "4/4" in shown
    table = shown[shown.index("one-vs-") :]
    assert sum(line.startswith("one-vs-one/hamming") for line in table.splitlines()) > 1


@pytest.mark.usefixtures("interrupts_heard")
@pytest.mark.parametrize("jobs", few(["2", "1"]))
def test_an_interruption_is_one_line(jobs, tmp_path):
    """Ctrl-C reaches all processes of the terminal's foreground group at once."""
    arguments = ["compare", "--datasets", "all", "--folds", "50", "--jobs", jobs, "--report", tmp_path / "report.html"]
    terminal, other_side = open_terminal(width=80)
    with subprocess.Popen(
        [COMMAND, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=other_side,
        start_new_session=True,
    ) as process:
        os.close(other_side)
        read_terminal(terminal, until=b"run")  # the progress bar's unit
        os.killpg(process.pid, signal.SIGINT)
        shown = read_terminal(terminal).decode()
        assert process.wait(timeout=120) == 130
    os.close(terminal)
    assert "Traceback" not in shown
    assert shown.rstrip().endswith("skecoc: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fti", "x.csv"], "'fti' is not a command (did you mean 'fit'"),
        (["compare", "x.csv", "--method", "wolc"], "unrecognized arguments: --method wolc (see skecoc compare --help)"),
    ],
)
def test_unknown_commands_and_options(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
