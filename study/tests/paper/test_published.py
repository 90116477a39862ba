"""The paper's numbers are the paper's, and what is said about them is true."""

import csv
import hashlib
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from skecoc.datasets import list_uci, load_uci
from skecoc_study.paper.published import (
    DATA_SETS,
    METHODS,
    WOLC,
    length_column,
    printed_ranks,
    published_accuracy,
    published_code_length,
    published_music,
    recomputed_ranks,
)

SHARED = Path(__file__).parents[4] / "shared"
# SHA-256 of the files with line ends "\n".
CHECKSUMS = {
    "accuracy_adaboost.csv": "4db5ae5790aeca35bd910a0df8a1ee0c751314cbfba082caa390b2ec8b9959ff",
    "accuracy_svm.csv": "72052f1045cf0d04a08eda4c0297c1cf3edf6b880337dc67a611643f3b06c73b",
    "bold.csv": "d55acd95dd2f06d289222820f52fb7f1c9326c2208d2f383db1a1a0770cb72e8",
    "code_length.csv": "815333ca813df6b7e72a00dac406c6fd1acf3979fa68142f3de1974818a34265",
    "datasets.csv": "c08a9044c623dce55418c6c6895ed80b1bb128532998d34b58a7d3688bf77485",
    "music_accuracy.csv": "86e7206a2dea171eeeda37352dd1122964f5e9dc8aa0c1368affd9a75e0f3eb3",
    "music_code_length.csv": "93ba6775dc74ae90a9e7e7b55e884d01108cafde9baf4b56743be996f6c1aff0",
}


def package_text(name):
    return files("skecoc_study.paper").joinpath("published_tables", name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(CHECKSUMS))
def test_files_are_unchanged(name):
    assert hashlib.sha256(package_text(name).encode()).hexdigest() == CHECKSUMS[name]


def test_every_file_has_a_checksum():
    found = {path.name for path in files("skecoc_study.paper").joinpath("published_tables").iterdir()}
    assert found == set(CHECKSUMS)


@pytest.mark.skipif(not (SHARED / "published").is_dir(), reason="the published tables are not beside the project")
@pytest.mark.parametrize("name", sorted(set(CHECKSUMS) - {"bold.csv"}))
def test_files_equal_the_published_tables(name):
    assert package_text(name).splitlines() == (SHARED / "published" / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.skipif(not (SHARED / "paper.tex").is_file(), reason="the paper is not beside the project")
@pytest.mark.parametrize(("label", "learner"), [("tab:acc1", "stumps"), ("tab:acc2", "svm")])
def test_bold_type_is_that_of_the_paper(label, learner):
    source = (SHARED / "paper.tex").read_text(encoding="utf-8")
    table = source[source.index(f"label{{{label}}}") :].split(r"\end{tabular}")[0]
    rows = re.findall(r"multirow\{2\}\*\{\{(\w+)\}\}\s*&(.*?)\\\\", table, re.DOTALL)
    ours = {printed: name for name, printed in DATA_SETS.items()}
    published = published_accuracy(learner)
    assert len(rows) == 14
    for printed, cells in rows:
        row = published.data_sets.index(ours[printed])
        numbers = [float(re.search(r"\d+\.\d+", cell)[0]) for cell in cells.split("&")]
        assert numbers == published.mean[row].tolist()
        assert ["textbf" in cell for cell in cells.split("&")] == published.bold[row].tolist()


def test_data_sets_are_those_of_the_library():
    assert set(DATA_SETS) == set(list_uci())


def test_cells_by_hand():
    assert published_accuracy("stumps").cell("vowel", WOLC) == (60.61, 0.82, True)
    assert published_accuracy("stumps").cell("optdigits", "ecoc-one/loss-weighted") == (86.03, 0.0, False)
    assert published_accuracy("svm").cell("dermatology", "one-vs-one/hamming") == (96.93, 0.59, True)
    assert published_code_length().cell("glass", "WOLC-ECOC/SVM") == (12.5, 1.08, False)
    assert published_accuracy("svm").cell("mnist", WOLC) is None
    assert published_accuracy("svm").cell("iris", "lc-ecoc/hamming") is None
    assert published_music("code_length")["MOSC", "ECOC-ONE"] == 14.24
    assert published_music("accuracy")["MNASE", "WOLC-ECOC"] == 52.86


def test_every_method_has_a_code_length():
    headings = {length_column(method, learner) for method in METHODS for learner in ("stumps", "svm")}
    assert headings == set(published_code_length().columns)


@pytest.mark.parametrize(
    ("learner", "method", "rank"),
    [
        ("stumps", WOLC, 2.54),
        ("stumps", "one-vs-one/loss-weighted", 4.57),
        ("svm", WOLC, 4.86),
        ("svm", "one-vs-one/loss-weighted", 4.00),
    ],
)
def test_recomputed_ranks(learner, method, rank):
    ranks = recomputed_ranks(learner)
    assert round(ranks[method], 2) == rank
    assert sum(ranks.values()) == pytest.approx(136)
    best = sorted(ranks.values())
    assert round(best[0] if learner == "svm" else best[1], 2) == (4.00 if learner == "svm" else 4.57)


def test_ranks_of_a_part():
    # Iris, AdaBoost: 94.64 of one-vs-one/hamming is below 96.03 of WOLC-ECOC.
    assert recomputed_ranks("stumps", ["iris", "other"], ["one-vs-one/hamming", WOLC]) == {
        "one-vs-one/hamming": 2.0,
        WOLC: 1.0,
    }
    assert recomputed_ranks("stumps", ["other"]) == {}


def test_the_papers_bold_type_follows_a_two_sample_t_test():
    agreeing = 0
    for learner in ("stumps", "svm"):
        table = published_accuracy(learner)
        for mean, std, bold in zip(table.mean, table.std, table.bold, strict=True):
            best = mean.argmax()
            with np.errstate(divide="ignore", invalid="ignore"):
                p = ttest_ind_from_stats(mean[best], std[best], 10, mean, std, 10).pvalue
            not_worse = np.where(np.isnan(p), mean == mean[best], p > 0.05)  # no deviation, no difference
            agreeing += int((not_worse == bold).sum())
    assert agreeing == 440


def test_errors_of_the_paper_are_printed_as_the_documentation_says():
    for learner, printed in (("stumps", 114.87), ("svm", 109.22)):
        assert sum(printed_ranks(learner).values()) == pytest.approx(printed)  # ranks of 16 methods sum to 136
    lengths = published_code_length()
    assert lengths.cell("vehicle", "DECOC")[0] == 2  # a tree over four classes has three inner nodes
    assert lengths.cell("balance", "ECOC-ONE/HD/Ada")[0] == 8  # growth from three pairs ends with six columns at most
    stumps = published_accuracy("stumps")
    # Ten different splits do not give ten equal accuracies.
    assert not stumps.std[:, stumps.columns.index("one-vs-one/hamming")].any()
    for feature in ("MMFCC", "MOSC", "MNASE"):
        assert published_music("code_length")[feature, "1vs1"] == 45  # nine genres make 36 pairs


def test_sizes_of_table_1_are_right_but_for_two_numbers_of_classes():
    rows = {row["dataset"]: row for row in csv.DictReader(package_text("datasets.csv").splitlines())}
    for name, printed in DATA_SETS.items():
        data, row = load_uci(name), rows[printed]
        assert data.data.shape == (int(row["n"]), int(row["d"]))
        expected = 7 if name in ("glass", "satimage") else len(set(data.target))
        assert int(row["P_in_table"]) == expected
    assert len(set(load_uci("glass").target)) == len(set(load_uci("satimage").target)) == 6


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="learner must be one of stumps, svm"):
        published_accuracy("trees")
    with pytest.raises(ValueError, match="measure must be"):
        published_music("f1")


def test_files_are_plain_csv():
    for name in CHECKSUMS:
        widths = {len(row) for row in csv.reader(package_text(name).splitlines())}
        assert len(widths) == 1
