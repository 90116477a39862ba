"""A process that uses model files and reports what Python did meanwhile: an audit hook cannot be taken off again."""

import io
import json
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from tests.tables.things import make_things, with_text

ROOT = Path(__file__).resolve().parents[2]
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


def forbidden_action(event, arguments):
    """Name what an audit event stands for if it must not happen while forged files are handled."""
    if event.startswith(FORBIDDEN) and not event.startswith(HARMLESS):
        return event
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        return f"open {arguments[0]}"
    if event == "import" and str(arguments[0]).startswith("forged_trap"):
        return "import of a forged module"
    if event == "exec" and getattr(arguments[0], "co_filename", "").startswith("<string"):
        return "exec of text"
    return None


class AuditHook:
    """Remembers forbidden actions, of any thread, while it watches; it stays until the process ends."""

    def __init__(self):
        self._seen = []
        self._is_watching = False
        sys.addaudithook(self._notice)

    def _notice(self, event, arguments):
        if self._is_watching and (forbidden := forbidden_action(event, arguments)):
            self._seen.append(forbidden)

    def watch(self, action, *arguments):
        """Return what a function returns, and the forbidden actions meanwhile."""
        self._seen, self._is_watching = [], True
        try:
            return action(*arguments), self._seen
        finally:
            self._is_watching = False


def use_model(path, rows):
    """Do what the commands do with a model."""
    from skecoc.reports.model_report import model_text
    from skecoc.support.errors import InputError
    from skecoc.tables import describe_model
    from skecoc.tables.model import check_table_model, read_model
    from skecoc.tables.predicting import TablePredictions
    from skecoc.tables.reading import open_table

    with open_table(io.BytesIO(rows)) as table:
        model = read_model(path, [], lambda note: None)
        with suppress(InputError):
            model_text(describe_model(model))
        predictions = TablePredictions(check_table_model(model, path), table)
        for _ in predictions.chunks(5):
            pass
        predictions.notes()
    describe_model(model)


def outcome(path, rows):
    """Use a file; return "good", or the line that says why it is not."""
    from skecoc.support.errors import InputError

    try:
        use_model(path, rows)
    except InputError as error:
        return str(error)
    return "good"


def serve():
    """Use the files named on standard input; write what came of each, and what was seen, as a line of JSON.

    An empty line begins to watch: the first uses import modules and compile code, or load it.
    """
    warnings.simplefilter("ignore")
    rows = with_text(make_things(n_rows=4, seed=3)).to_csv(index=False).encode()
    # What is printed by others must not come between the lines.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    hook = None
    for line in sys.stdin:
        if line == "\n":
            hook = AuditHook()
            continue
        path = Path(line.rstrip("\n"))
        reply = hook.watch(outcome, path, rows) if hook else (outcome(path, rows), [])
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


class Watcher:
    """The other end of `serve`: starts the process, which finds modules in a folder of traps too."""

    def __init__(self, good_files, traps):
        path = os.pathsep.join(map(str, (traps, ROOT)))
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.tables.watching"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for path in good_files:
            assert self.use(path) == ["good", []]
        self._process.stdin.write("\n")

    def use(self, path):
        """Return what came of using a file, and the forbidden actions meanwhile."""
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the process ended with code {self._process.wait()} when it used {path}"
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with self._process:
            self._process.stdin.close()


if __name__ == "__main__":
    serve()
