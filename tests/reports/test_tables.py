"""One table, five ways to write it."""

from html.parser import HTMLParser

import pytest

from skecoc.reports.tables import Cell, Row, Table, to_csv, to_html, to_latex, to_markdown, to_text

TABLE = Table(
    name="small",
    title="Accuracy in %: a & b",
    corner="data set",
    columns=[("one", "HD"), ("one", "LB"), ("two_b", "HD")],
    keys=["one/hamming", "one/loss-based", "<two>/hamming"],
    rows=[
        Row(
            "iris",
            [
                Cell("91.56", "0.22", "91.11", bold=True, mark="+", value=91.5599),
                Cell("8.10", "0.30", "92.18", published_bold=True, mark="-", value=8.1),
                Cell("75.00", remark="1/2", value=75.0),
            ],
        ),
        Row("wine", [Cell(), Cell(published="94.31"), Cell("70.00", "1.00", value=70.0)]),
    ],
    footer=[Row("rank", [Cell("1.00"), Cell("2.00"), Cell()]), Row("printed", [Cell(published="2.14")] * 3)],
    notes=["A note with * and <b>.", "Another one."],
    records=[{"data_set": "iris, big", "mean": 1 / 3, "bold": True, "n": 3, "none": None}],
)


def test_text():
    lines = to_text(TABLE).splitlines()
    assert lines == [
        "Accuracy in %: a & b",
        "",
        "            one      one   two_b",
        "             HD       LB      HD",
        "--------------------------------",
        "iris     91.56*+   8.10-  75.00",
        "         (0.22)   (0.30)   (1/2)",
        "        [91.11]  [92.18]*",
        "wine         .        .   70.00",
        "                          (1.00)",
        "                 [94.31]",
        "--------------------------------",
        "rank      1.00     2.00       .",
        "printed  [2.14]   [2.14]  [2.14]",
        "",
        "A note with * and <b>.",
        "Another one.",
    ]


def test_deviations_can_be_left_out_of_text():
    lines = to_text(TABLE, with_deviations=False).splitlines()
    assert not any("(" in line for line in lines)
    assert [line for line in lines if line.startswith(("iris", "wine"))] == [
        line for line in to_text(TABLE).splitlines() if line.startswith(("iris", "wine"))
    ]


def test_long_headings_are_broken_after_hyphens_and_long_names_are_cut():
    cells = [Cell("1"), Cell("2")]
    table = Table("t", "Title", "", [("one-vs-one/", "hamming"), ("ab/", "cd")], ["a", "b"], [Row("x" * 50, cells)])
    assert to_text(table).splitlines()[2:] == [
        f"{'':40} one-vs-",
        f"{'':40}    one/  ab/",
        f"{'':40} hamming   cd",
        "-" * 53,
        f"{'x' * 37}...       1    2",
    ]


def test_csv_can_hold_all_digits():
    assert to_csv(TABLE, digits=17).split(",")[-4] == repr(1 / 3)


def test_numbers_are_aligned_in_their_last_digit():
    lines = to_text(TABLE).splitlines()
    assert len({lines[5].index("6*+"), lines[6].index("2)"), lines[7].index("1]")}) == 1


@pytest.mark.parametrize("width", [20, 26, 34, 80])
def test_narrow_text_is_broken_into_blocks(width):
    text = to_text(TABLE, width)
    body = [line for line in text.splitlines() if "." in line and "note" not in line]
    assert max(map(len, body)) <= max(width, 20)
    assert text.count("iris") == {20: 3, 26: 2}.get(width, 1)


def test_csv():
    assert to_csv(TABLE) == 'data_set,mean,bold,n,none\n"iris, big",0.33333333,True,3,\n'
    assert to_csv(Table("t", "", "", [], [], [])) == ""


def test_markdown():
    lines = to_markdown(TABLE).splitlines()
    assert lines[2:6] == [
        "| data set | one<br>HD | one<br>LB | two_b<br>HD |",
        "|---|--:|--:|--:|",
        "| iris | **91.56** ± 0.22 +<br>*91.11* | 8.10 ± 0.30 −<br>***92.18*** | 75.00 (1/2) |",
        "| wine | – | *94.31* | 70.00 ± 1.00 |",
    ]
    assert lines[-2:] == [r"- A note with \* and &lt;b>.", "- Another one."]


def test_latex():
    text = to_latex(TABLE)
    lines = text.splitlines()
    assert r"\caption{\label{tab:small}Accuracy in \%: a \& b. A note with * and <b>. Another one.}" in lines
    assert r"data set & \multicolumn{2}{c}{one} & \multicolumn{1}{c}{two\_b} \\" in lines
    assert r"iris & \textbf{91.56}$^{+}$ & 8.10$^{-}$ & 75.00 \\" in lines
    assert r" & (0.22) & (0.30) & (1/2) \\" in lines
    assert r" & \textit{91.11} & \textit{\textbf{92.18}} &  \\" in lines
    cells = [line.count(" & ") for line in lines if line.startswith(("iris", "wine", "rank", "printed", " & ("))]
    assert set(cells) == {3}
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert text.count("{") == text.count("}")


class Checker(HTMLParser):
    """Collects cells, and checks that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.rows = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.cells.append((tag, dict(attrs), ""))
            self.rows[-1] += int(dict(attrs).get("colspan", 1))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and "td" in self.open:
            tag, attrs, text = self.cells[-1]
            self.cells[-1] = tag, attrs, text + data


def test_html():
    checker = Checker()
    checker.feed(to_html(TABLE))
    assert checker.open == []
    assert checker.rows == [4, 3, 4, 4, 4, 4]  # the second line of the heading is below the corner
    data = [cell for cell in checker.cells if cell[0] == "td"]
    assert data[0][1] == {"data-key": "one/hamming", "data-value": "91.5599"}
    assert data[0][2] == "91.56 ±0.22+ 91.11"
    assert data[2][1]["data-key"] == "<two>/hamming"
    assert data[2][2] == "75.00 (1/2)"
    assert "data-value" not in data[3][1]


def test_html_says_what_marks_mean_and_what_is_bold():
    text = to_html(TABLE)
    assert '<sup title="significantly worse than WOLC-ECOC">−</sup>' in text
    assert "<b>91.56</b>" in text
    assert '<span class="published"><b>92.18</b></span>' in text
    assert "<b>." not in text  # of the note
    assert '<th scope="colgroup" colspan="2">one</th>' in text


def test_a_table_without_footer_and_notes():
    bare = Table("t", "Title", "", [("a",)], ["a"], [Row("r", [Cell("1")])])
    assert "tfoot" not in to_html(bare)
    assert "notes" not in to_html(bare)
    assert to_text(bare) == "Title\n\n  a\n---\nr 1\n"
    assert to_markdown(bare).endswith("| r | 1 |\n")
