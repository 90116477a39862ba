"""What comes out, as text or bytes: features of clips, and genres of files."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc_study.music.frontends import Floats

# Genres that a line shows, the most probable first.
_SHOWN_GENRES = 3


def to_csv(paths: Sequence[str], genres: Sequence[str], names: Sequence[str], values: Floats) -> str:
    """Write a line per clip: its path, its genre, and named values."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["path", "genre", *names])
    lines.writerows([path, genre, *row] for path, genre, row in zip(paths, genres, values.tolist(), strict=True))
    return text.getvalue()


def to_parquet(paths: Sequence[str], genres: Sequence[str], names: Sequence[str], values: Floats) -> bytes:
    """Write the same in the format of Parquet; needs pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError('writing Parquet needs pyarrow: pip install "scikit-ecoc[table]"') from error
    table = pa.table({"path": list(paths), "genre": list(genres), **dict(zip(names, values.T, strict=True))})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def format_predictions(paths: Sequence[str], classes: NDArray[Any], probabilities: Floats, form: str) -> str:
    """Write the genre of each file and the probabilities of all, as "table", "csv" or "json"."""
    genres = [str(genre) for genre in classes]
    best = [genres[index] for index in np.argmax(probabilities, axis=1)]
    if form == "csv":
        return to_csv(paths, best, genres, probabilities)
    if form == "json":
        content = [
            {"path": path, "genre": genre, "probabilities": dict(zip(genres, row, strict=True))}
            for path, genre, row in zip(paths, best, probabilities.tolist(), strict=True)
        ]
        return json.dumps(content, indent=1) + "\n"
    width = max(map(len, paths))
    return "".join(f"{path:<{width}}  {_likely(genres, row)}\n" for path, row in zip(paths, probabilities, strict=True))


def _likely(genres: Sequence[str], probabilities: Floats) -> str:
    """Name the most probable genres."""
    order = np.argsort(-probabilities, kind="stable")[:_SHOWN_GENRES]
    return ", ".join(f"{genres[index]} {100 * probabilities[index]:.0f} %" for index in order)
