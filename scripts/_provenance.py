"""The table of docs/results/sources.md: every stored result, the command that made it, and with which code."""

import json
from collections.abc import Callable

from _markdown import table
from measure import PROVENANCE, RESULTS


def stored_results() -> str:
    """List what is stored: command, commit, date."""
    entries = json.loads((RESULTS / PROVENANCE).read_text(encoding="utf-8"))
    rows = [
        [
            entry["about"],
            f"`{entry['command']}`",
            ", ".join(f"[{name.rpartition('/')[2]}]({name})" for name in sorted(entry["files"])),
            f"`{entry['commit'][:7]}`",
            entry["date"],
        ]
        for _, entry in sorted(entries.items())
    ]
    return table(["result", "made by", "stored in", "commit", "date"], rows)


def provenance_blocks() -> dict[str, Callable[[], str]]:
    """Name the block and say how it is made."""
    return {"provenance": stored_results}
