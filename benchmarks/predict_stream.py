"""Read and predict large tables beside pandas, and show that the memory of ``skecoc predict`` does not grow with them.

A model of ten numbers and a text column is fitted to a few rows; tables of 20,000 and of 2,000,000 rows are predicted
by the installed command, in processes of their own whose peak memory the system tells. Beside it, what one would write
by hand with pandas and scikit-learn does the same work on 100,000 rows: one-vs-rest of 40 boosted stumps, with
probabilities, in chunks of as many rows. Speeds are those of further rows, in seconds of the processor, which other
work on the machine disturbs little. Exits with 1 if the large table takes more memory than the small one by more than
a few chunks.

At the end, a table of 300,000 rows is read in this process, by this package and by `pandas.read_csv`, which checks
neither the number of cells of each row nor what follows quotes; the ratio is that of the best of several times.

Run with ``python benchmarks/predict_stream.py [ROWS]``; of these, two million are predicted by default.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COMMAND = Path(sys.executable).parent / "skecoc"
FEW, MANY, BY_HAND, TO_READ, CHUNK = 20_000, 2_000_000, 100_000, 300_000, 10_000
LARGEST_GROWTH = 64.0  # MiB: a few chunks of rows, and what allocators keep
CENTRES = np.random.default_rng(0).normal(size=(4, 10))
COLOURS = np.array(["red", "green", "blue", "grün"])
NUMBERS = [f"x{j}" for j in range(10)]


def write_table(path, n_rows, seed):
    """Write a table piece by piece, so that making it takes no memory either."""
    random = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join([*NUMBERS, "colour", "label"]) + "\n")
        for first in range(0, n_rows, 50_000):
            y = random.integers(4, size=min(50_000, n_rows - first))
            X = CENTRES[y] + random.normal(size=(len(y), 10))
            colours = COLOURS[np.where(random.random(len(y)) < 0.7, y, random.integers(4, size=len(y)))]
            cells = [*np.char.mod("%.4f", X.T), colours, np.char.add("class ", y.astype(str))]
            file.writelines(f"{line}\n" for line in map(",".join, zip(*cells, strict=True)))


def best_seconds(function, n_times=5):
    """Return the least seconds of the processor that a function takes."""
    seconds = []
    for _ in range(n_times):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def measure_reading(folder):
    """Read a table whole and in chunks, by this package and by pandas alone; print seconds and ratios."""
    import pandas as pd

    from skecoc.tables import load_table
    from skecoc.tables.reading import open_table

    path = folder / "read.csv"
    write_table(path, TO_READ, seed=4)
    text = {"colour": str, "label": str}

    def chunks(**options):
        with open_table(path) as table:
            return sum(len(chunk) for chunk in table.chunks(CHUNK, **options))

    cases = [
        ("whole, with types", lambda: load_table(path, target="label"), lambda: pd.read_csv(path)),
        (
            "chunks, numbers as such",
            lambda: chunks(numbers=NUMBERS),
            lambda: sum(map(len, pd.read_csv(path, dtype=text, chunksize=CHUNK))),
        ),
        ("chunks, all text", chunks, lambda: sum(map(len, pd.read_csv(path, dtype=str, chunksize=CHUNK)))),
    ]
    for name, ours, theirs in cases:
        seconds, reference = best_seconds(ours), best_seconds(theirs)
        ratio = f"{seconds / reference:.2f} times as long as pandas ({reference:.2f} s)"
        print(f"reading {TO_READ:,} rows, {name:24s} {seconds:.2f} s, {ratio}", flush=True)


def run(program, *arguments):
    """Run a program; return its seconds by the clock and of the processor, and its peak memory in MiB."""
    start = time.perf_counter()
    process = os.posix_spawn(program, [str(program), *map(str, arguments)], os.environ)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{Path(program).name} {arguments[0]} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def predict_by_hand(train, table, out):
    """Do the same with pandas and scikit-learn; print the seconds of the processor that predicting takes."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"]),
    )
    model = make_pipeline(columns, OneVsRestClassifier(AdaBoostClassifier(n_estimators=40)))
    frame = pd.read_csv(train)
    model.fit(frame, frame["label"])
    start = time.process_time()
    for number, chunk in enumerate(pd.read_csv(table, chunksize=CHUNK)):
        probabilities = model.predict_proba(chunk)
        found = pd.DataFrame(probabilities.round(6), columns=[f"probability_{label}" for label in model.classes_])
        found.insert(0, "label", model.classes_[probabilities.argmax(axis=1)])
        found.to_csv(out, index=False, mode="w" if number == 0 else "a", header=number == 0)
    print(time.process_time() - start)


def measure_by_hand(folder, train):
    """Return the rows that the version by hand predicts in a second of the processor."""
    table, out, seconds = folder / "hand.csv", folder / "hand-out.csv", folder / "seconds.txt"
    write_table(table, BY_HAND, seed=3)
    script = f'"{sys.executable}" "{__file__}" --by-hand "{train}" "{table}" "{out}" > "{seconds}"'
    _, _, peak = run("/bin/sh", "-c", script)
    speed = BY_HAND / float(seconds.read_text())
    print(f"by hand: {BY_HAND:,} rows, {speed:,.0f} rows per second of the processor, peak {peak:.1f} MiB", flush=True)
    return speed


def main(many):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, model, out = (folder / file for file in ("train.csv", "model.skops", "out.csv"))
        write_table(train, 2_000, seed=1)
        method = ("--method", "one-vs-rest/loss-weighted")
        run(COMMAND, "fit", train, "--target", "label", *method, "--jobs", "1", "-o", model)
        by_hand = measure_by_hand(folder, train)
        costs, peaks = [], []
        for n_rows in (FEW, many):
            table = folder / f"{n_rows}.csv"
            write_table(table, n_rows, seed=2)
            seconds, cost, peak = run(COMMAND, "predict", model, table, "-o", out, "--chunk-rows", CHUNK)
            costs.append(cost)
            peaks.append(peak)
            with out.open("rb") as file:
                assert sum(1 for _ in file) == n_rows + 1
            size = table.stat().st_size / 2**20
            print(
                f"skecoc predict: {n_rows:>9,} rows, {size:7.1f} MiB, {seconds:.1f} s by the clock, "
                f"{cost:.1f} s of the processor, peak {peak:.1f} MiB",
                flush=True,
            )
        measure_reading(folder)  # last, as the system counts memory of this process to those that it starts
    speed = (many - FEW) / (costs[1] - costs[0])
    print(f"{speed:,.0f} further rows per second of the processor: {speed / by_hand:.2f} times as many as by hand")
    growth = peaks[1] - peaks[0]
    print(
        f"peak memory grows by {growth:.1f} MiB ({peaks[1] / peaks[0]:.2f} times) for {many / FEW:.0f} times the rows"
    )
    return int(growth > LARGEST_GROWTH)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--by-hand"]:
        predict_by_hand(*sys.argv[2:])
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else MANY))
