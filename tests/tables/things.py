"""A table as people have it: numbers, text, dates, booleans, gaps, Unicode names, useless columns."""

import numpy as np
import pandas as pd

CLASSES = ["apple", "pear", "Äpfel & <b>"]


def make_things(n_rows=60, seed=0):
    """Make a table whose classes its columns tell, more or less."""
    random = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    frame = pd.DataFrame(
        {
            "id": np.arange(n_rows) + 100,
            "weight": (y + random.normal(scale=0.4, size=n_rows)).round(3),
            "größe, cm": random.integers(0, 5, n_rows),
            "colour": np.where(random.random(n_rows) < 0.7, np.array(["red", "green", "blue"])[y], "red"),
            "picked": pd.to_datetime("2024-01-01") + pd.to_timedelta(random.integers(0, 40, n_rows) + 30 * y, unit="D"),
            "ripe": random.random(n_rows) < 0.3 + 0.3 * (y == 1),
            "unit": "kg",
        }
    )
    frame.loc[::7, "weight"] = np.nan
    frame.loc[3::11, "colour"] = None
    frame["kind"] = np.array(CLASSES)[y]
    return frame


def write_things(path, **arguments):
    """Write the table as CSV or Parquet, by the ending of the path."""
    frame = make_things(**arguments)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path
