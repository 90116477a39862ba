"""Tests of the command line."""

STARTING = ("skecoc: reading ", "skecoc: compiling, once")


def after_start(error):
    """Return what a process of its own has written to standard error without the lines that tell of its start."""
    if isinstance(error, bytes):
        return after_start(error.decode()).encode()
    return "".join(line for line in error.splitlines(keepends=True) if not line.startswith(STARTING))
