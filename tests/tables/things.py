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


TEMPLATES = [
    ["my card was declined at {p} {d}", "the payment of {n} euros failed {d}", "why was i charged {n} twice at {p}"],
    ["i forgot my password {d}", "the app says my password is wrong {d}", "please reset my account from {p}"],
    ["where is the parcel i ordered {d}", "my order {n} has not arrived in {p}", "delivery to {p} is {n} days late"],
    ["i want to return the {o} i bought {d}", "the {o} is broken", "please refund {n} euros for the {o} from {p}"],
]
FILLERS = ["hello", "please", "thanks", "today", "very", "angry", "again", "still", "really", "just", "could", "you"]
PLACES, DAYS = ["berlin", "the shop", "paris", "home"], ["today", "yesterday", "last week", "on monday"]
OBJECTS = ["shoes", "phone", "lamp", "jacket", "book"]


def make_messages(n_rows=120, seed=0):
    """Make short messages of four classes, and a number that tells nothing."""
    random = np.random.default_rng(seed)
    y = np.arange(n_rows) % 4
    messages = []
    for label in y:
        text = random.choice(TEMPLATES[label]).format(
            p=random.choice(PLACES), d=random.choice(DAYS), o=random.choice(OBJECTS), n=random.integers(2, 99)
        )
        words = [word for word in text.split() if random.random() > 0.2]
        messages.append(" ".join([*random.choice(FILLERS, 3), *words]))
    return pd.DataFrame({"message": messages, "noise": random.normal(size=n_rows).round(3)}), y


def with_text(frame):
    """Add a column of sentences, and one of more towns than have an indicator each."""
    return frame.assign(message=make_messages(len(frame))[0]["message"], town=[f"town {i % 45}" for i in frame.index])
