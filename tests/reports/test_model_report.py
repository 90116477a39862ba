"""The report of a model: what it says, and what a reader can do with it in a browser."""

import json
import re
from html import escape

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.compare import DataSet
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.reports import model_report
from skecoc.reports.model_report import model_page
from skecoc.tables import describe_model, fit_table
from tests.browser import open_page
from tests.reports.made import LOG_LOSS, make_comparison_rows, make_model, make_test

pd = pytest.importorskip("pandas")
NASTY = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def description():
    """A grown model of vowels, one of which has a name that would break a careless page."""
    bunch = load_uci("vowel")
    X = pd.DataFrame(bunch.data, columns=bunch.feature_names).rename(columns={"F0": NASTY})
    y = np.array([NASTY if label == 0 else f"vowel {label}" for label in bunch.target])
    return describe_model(fit_table(DataSet("vowel.csv", X, y), method="wolc-one-vs-rest", folds=2))


@pytest.fixture(scope="module")
def path(description, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "model.html"
    path.write_text(model_page(description), encoding="utf-8")
    return path


@pytest.fixture
def page(browser, path):
    with open_page(browser, path, viewport={"width": 1200, "height": 900}) as page:
        yield page


def test_the_description_is_plain_data(description):
    json.dumps(description, allow_nan=False)
    assert description["title"] == "Model of vowel.csv"
    held_out = description["held_out"]["comparison"][0]["score"]
    assert f"accuracy {100 * held_out:.1f} %" in description["headline"]


def text_of(html):
    """What a page shows, one space between words."""
    shown = re.sub(r"<(style|script|svg|title).*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", shown).split())


def rows_of(html, table):
    """Texts of a table's rows, the heading first."""
    found = re.search(f'<table class="[^"]*{table}"[^>]*>(.*?)</table>', html, flags=re.DOTALL)[1]
    rows = re.findall("<tr.*?</tr>", found, flags=re.DOTALL)
    return [[text_of(cell) for cell in re.findall("<t[hd].*?</t[hd]>", row, flags=re.DOTALL)] for row in rows]


def test_heat_maps_hold_the_code(path, description):
    page, code = path.read_text(encoding="utf-8"), description["code"]
    signs = {"+": 1, "−": -1, "0": 0}
    heading, *rows = rows_of(page, "heat code")
    assert [row[0] for row in rows] == [escape(name, quote=False) for name in code["rows"]]
    assert [[signs[cell] for cell in row[1:]] for row in rows] == code["matrix"]
    marks = {"initial": "", "simple": "s", "clustered": "c"}
    assert heading == ["Class", *(f"{k}{marks[kind]}" for k, kind in enumerate(code["kinds"], start=1))]
    weights = [row[1:] for row in rows_of(page, "heat weights")[1:]]
    np.testing.assert_allclose(np.array(weights, dtype=float), code["weights"], atol=0.0051)
    assert f'title="{description["classes"][1]} against the rest (initial)">2</th>' in page
    largest = np.unravel_index(np.argmax(code["weights"]), np.shape(code["weights"]))
    side = {1: "plus", -1: "minus"}[code["matrix"][largest[0]][largest[1]]]
    assert f'<td class="{side}" style="--v: 1.0">{np.max(code["weights"]):.2f}</td>' in page


def test_heat_maps_of_long_codes_show_the_columns_with_most_weight(description, monkeypatch):
    monkeypatch.setattr(model_report, "MAX_CELLS", 33)
    page = model_page(description)
    mass = np.array(description["code"]["weights"]).sum(axis=0)
    numbers = [int(text.strip("sc")) - 1 for text in rows_of(page, "heat code")[0][1:]]
    assert len(numbers) == 3
    assert numbers == sorted(numbers)
    assert min(mass[numbers]) >= np.delete(mass, numbers).max()
    assert f"{len(mass) - 3} columns with less weight are not shown" in page
    assert "heat confusion" not in page


def test_hard_pairs_count_what_was_added(description):
    growth = description["growth"]
    assert sum(pair["times"] for pair in growth["hard_pairs"]) == sum(len(row["pairs"]) for row in growth["rounds"])
    assert growth["kept"] > 0
    for kind in ("simple", "clustered"):
        assert sum(pair[kind] for pair in growth["hard_pairs"]) == description["code"]["kinds"].count(kind)


def test_the_page_begins_with_what_happened(path, description):
    text = path.read_text(encoding="utf-8")
    growth = description["growth"]["summary"]
    added = sum(kind != "initial" for kind in description["code"]["kinds"])
    assert growth.startswith("Started from one-vs-rest (11 columns); growth added ")
    assert f" {added} columns in {description['growth']['kept']} round" in growth
    assert " stopped because " in growth
    assert ". Weights are " in growth
    assert f'<p class="growth">{growth}</p>' in text
    assert text.index(growth) < text.index("<h2")
    assert "nan" not in re.sub(r"<(svg|style|script).*?</\1>", "", text, flags=re.DOTALL).lower()


def test_what_was_not_measured_is_not_shown(path, description):
    def headings(html):
        return re.findall("<th[^>]*>([^<]*)</th>", html[html.index('<table class="rounds">') :])[2:4]

    page = path.read_text(encoding="utf-8")
    assert headings(page) == ["Loss", "Out-of-fold accuracy %"]
    assert "Training accuracy" not in page
    rounds = [{**row, "accuracy": 0.5, "loss": None} for row in description["growth"]["rounds"]]
    other = model_page({**description, "growth": {**description["growth"], "rounds": rounds}})
    assert headings(other) == ["Training accuracy %", "Out-of-fold accuracy %"]
    assert "columns: training accuracy from 0.5 to 0.5; out-of-fold accuracy from " in other
    assert "columns: loss from " in page


def test_a_code_that_did_not_grow_says_so():
    X, y = load_uci("iris", return_X_y=True)
    page = model_page(describe_model(WOLCClassifier(max_iter=0, random_state=0).fit(X, y)))
    assert "one-vs-one (6 columns); no column was added because max_iter rounds were made; next: " in page
    assert "All rounds" not in page


def test_a_plain_classifier_has_a_page_too(browser, tmp_path):
    X, y = load_uci("iris", return_X_y=True)
    description = describe_model(ECOCClassifier(decoding="hamming").fit(X, y))
    assert description["important"] is description["held_out"] is None
    path = tmp_path / "plain.html"
    path.write_text(model_page(description), encoding="utf-8")
    with open_page(browser, path) as page:
        assert page.locator("h2").all_inner_texts() == ["Code matrix", "Settings and versions"]


def test_the_page_draws_calibration_and_growth(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg ") == 3
    assert all(f'id="{name}-figure_1"' in text for name in ("scores", "calibration", "growth"))


def test_the_same_model_gives_the_same_page(description, path):
    assert model_page(description) == path.read_text(encoding="utf-8")


def test_two_classes_are_chosen_and_their_columns_come_in_order(page, description):
    hard, *_, easy = description["important"]
    items = page.locator("#pair ol .name")
    assert items.all_inner_texts() == [column["name"] for column in hard["columns"]]
    for box, chosen in (("#first-class", easy["second"]), ("#second-class", easy["first"])):
        page.locator(box).select_option(str(description["classes"].index(chosen)))
    assert items.all_inner_texts() == [column["name"] for column in easy["columns"]]
    values = [float(text) for text in page.locator("#pair ol .value").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    sentence = f"rows of {easy['second']} and {easy['first']}, {round(100 * easy['separated'], 1):.1f} %"
    assert sentence in page.locator("#pair .sentence").inner_text()
    widths = [bar["width"] for bar in (each.bounding_box() for each in page.locator("#pair .bar").all())]
    assert widths == sorted(widths, reverse=True)


def test_the_same_class_twice_is_no_pair(page):
    page.locator("#first-class").select_option("3")
    page.locator("#second-class").select_option("3")
    assert page.locator("#pair .sentence").inner_text() == "Choose two different classes."
    assert page.locator("#pair li").count() == 0


def test_a_pair_that_was_not_counted_says_so(browser, description, tmp_path):
    kept = description["important"][0]
    path = tmp_path / "fewer.html"
    path.write_text(model_page({**description, "important": [kept]}), encoding="utf-8")
    with open_page(browser, path) as page:
        assert "Shown are the 1 pairs" in page.locator("#pairs ~ p.soft").first.inner_text()
        other = next(name for name in description["classes"] if name not in (kept["first"], kept["second"]))
        page.locator("#first-class").select_option(str(description["classes"].index(other)))
        assert "nothing was counted for them" in page.locator("#pair .sentence").inner_text()


def test_the_method_that_is_kept_is_marked(page, description):
    assert page.locator("table.comparison tr.chosen").count() == 1
    kept = next(row["method"] for row in description["held_out"]["comparison"] if row["is_chosen"])
    assert page.locator("table.comparison tr.chosen th").inner_text() == f"{kept} kept"


def test_a_click_on_a_heading_sorts(page, description):
    recall = page.locator("table.classes thead button").nth(3)
    names = page.locator("table.classes tbody th")
    recall.click()
    ordered = sorted(description["held_out"]["classes"], key=lambda row: row["recall"])
    assert names.first.inner_text() in [row["name"] for row in ordered if row["recall"] == ordered[0]["recall"]]
    recall.click()
    assert names.first.inner_text() in [row["name"] for row in ordered if row["recall"] == ordered[-1]["recall"]]


def test_colours_of_the_heat_maps(page):
    def brightness(cell):
        colour = cell.evaluate("cell => getComputedStyle(cell).backgroundColor")
        return sum(float(part) for part in colour.split("(")[1].rstrip(")").replace("srgb ", "").split()[:3])

    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    cells = {side: page.locator(f"table.code td.{side}").first for side in ("plus", "minus", "zero")}
    assert [cell.inner_text() for cell in cells.values()] == ["+", "−", "0"]
    assert brightness(cells["zero"]) > max(brightness(cells["plus"]), brightness(cells["minus"]))


def test_every_figure_and_table_says_what_it_shows(page):
    figures = page.locator('svg[role="img"]').evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert len(figures) == 3
    assert all(len(text) > 20 for text in figures)
    for table in page.locator("table").all():
        assert table.locator('th[scope="row"]').count() == table.locator("tbody tr").count()
    assert page.locator("#pairs ~ p select").count() == page.locator("#pairs ~ p label").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_in_light_and_dark(browser, path, scheme):
    with open_page(browser, path, viewport={"width": 390, "height": 800}, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(int(part) for part in paper[4:-1].split(",")) > 380) == (scheme == "light")


def test_controls_are_not_printed_but_the_pair_is(page):
    page.emulate_media(media="print")
    assert page.locator("nav, .controls").locator("visible=true").count() == 0
    assert page.locator("#pair ol").is_visible()
    assert page.locator("table.weights").is_visible()


def test_several_learners_are_shown_with_their_shares(browser, tmp_path):
    X, y = load_uci("vehicle", return_X_y=True)
    learners = [("stumps", StumpAdaBoostClassifier(3)), (NASTY, MulticlassLearner(GaussianNB()))]
    rules = {"init": "one-vs-rest", "max_iter": 3, "tol": 0.0}
    model = WOLCClassifier(learners, **rules, random_state=0).fit(X[::3], y[::3])
    description = describe_model(model)
    added = {name for pair in description["growth"]["hard_pairs"] for name in pair["learners"]}
    assert added == set(model.column_learners_[model.column_kinds_ != "initial"].tolist())
    assert dict(description["facts"])["Weights"].startswith(f"objective {model.decoder_.certificate_.objective:.4g}, ")
    path = tmp_path / "several.html"
    path.write_text(model_page(description), encoding="utf-8")
    with open_page(browser, path) as page:
        assert page.locator("h2").all_inner_texts()[0] == "Learners"
        assert page.locator("table.learners tbody th").all_inner_texts() == ["stumps", NASTY]
        shares = [int(text) for text in page.locator("table.shares tbody td").all_inner_texts()]
        expected = 100 * np.column_stack(list(model.learner_shares().values()))
        np.testing.assert_allclose(np.reshape(shares, (4, 2)), expected, atol=0.51)
        assert "Learners" in page.locator("table.hard-pairs thead").inner_text()


def page_of(model):
    return model_page(describe_model(model))


def test_the_page_begins_with_score_baseline_interval_reason_and_warnings():
    text = text_of(page_of(make_model(warnings=["It is no better than guessing."], test=make_test(3))))
    top = text[: text.index("Methods Measures Classes")]
    assert top == (
        "Model of fruit.csv It is no better than guessing. mixed/logistic-weight: macro-F1 0.83 (95 % interval 0.79 to "
        "0.86) on held-out rows; always predicting &#39;b&#39; would have 0.21. On the 30 rows of later.csv: macro-F1 "
        "0.77 (95 % interval 0.70 to 0.83). mixed/logistic-weight has the highest macro-F1 of the four methods that "
        "were compared. "
    )


def test_methods_have_p_values_and_dashes_and_the_majority_comes_last():
    assert [row[:5] for row in rows_of(page_of(make_model()), "comparison")[1:]] == [
        ["mixed/ logistic-weight kept", "0.830", "0.021", "–", "54.0"],
        ["sklearn/ random-forest", "0.800", "0.030", "0.312", "–"],
        ["one-vs-one/ loss-weighted", "0.710", "0.025", "&lt;0.001", "3.0"],
        ["always &#39;b&#39;", "0.210", "0.001", "&lt;0.001", "–"],
    ]


def test_the_bar_of_the_chosen_method_is_its_interval():
    alt = re.search(r'aria-label="(mixed/logistic-weight: 0.83[^"]*)"', page_of(make_model()))[1]
    assert alt.startswith("mixed/logistic-weight: 0.83, 0.79 to 0.86; sklearn/random-forest: 0.80, 0.74 to 0.86;")
    assert "majority" not in alt


@pytest.mark.parametrize(("score", "is_drawn"), [(0.21, False), (0.69, True)])
def test_the_majority_is_a_line_where_it_is_in_sight(score, is_drawn):
    rows = [{**row, "score": score} if row["is_baseline"] else row for row in make_comparison_rows()]
    assert ("<title>majority class</title>" in page_of(make_model(comparison=rows))) == is_drawn


def test_measures_stand_beside_those_of_the_test_file():
    page = page_of(make_model(test=make_test(3)))
    assert rows_of(page, "measures")[1:] == [
        ["Accuracy %", "80.0", "75.0"],
        ["Balanced accuracy %", "80.0", "75.0"],
        ["Macro precision %", "80.0", "74.0"],
        ["Macro recall %", "80.0", "75.0"],
        ["Macro-F1", "0.800", "0.770"],
        ["Log-loss", "0.512", "0.600"],
    ]
    assert "Test file: later.csv" in page
    assert page.count('<table class="sortable classes">') == page.count("heat confusion") == 2
    assert page_of(make_model()).count("heat confusion") == 1


def test_a_loss_is_said_to_be_better_if_it_is_less():
    text = text_of(page_of(make_model(metric=LOG_LOSS)))
    assert "Of log-loss, less is better." in text
    assert "Metric log-loss, less is better" in text


def test_a_model_without_a_code_has_a_page_without_its_sections():
    page = page_of(make_model(classifier=RandomForestClassifier(3), learner="", method="sklearn/random-forest"))
    sections = re.findall("<h2[^>]*>([^<]*)</h2>", page)
    assert sections == [
        "Methods on held-out rows", "Measures", "Classes", "Confusion", "Calibration", "Columns of the table", "Notes",
        "To repeat this", "Settings and versions",
    ]  # fmt: skip
    assert "Binary learner" not in page


def test_the_command_and_the_options_are_shown():
    options = {"class_weight": "balanced", "group": "patient", "order": ["c", "a"], "compared_rows": 30}
    text = text_of(page_of(make_model(options=options, command="skecoc fit a.csv --target b -o c.skops")))
    assert "To repeat this skecoc fit a.csv --target b -o c.skops" in text
    for part in (
        "Class weight balanced",
        "the same patient",
        "Order of the classes c, a",
        "folds of 30 of the 60 rows",
    ):
        assert part in text
    assert "To repeat this" not in page_of(make_model(command=""))


def test_long_lists_are_folded_and_short_ones_are_not():
    short = page_of(make_model())
    assert "<details>" not in short
    names, columns = [f"class {k}" for k in range(30)], [f"column {k}" for k in range(61)]
    forest = RandomForestClassifier(3)
    page = page_of(make_model(names, forest, columns, notes=[f"note {k}" for k in range(9)]))
    assert re.findall("<summary>(.*)</summary>", page) == [
        "All 30 classes",
        "All 30 classes",
        "All 61 columns",
        "9 notes",
    ]
    assert "Used: 61 (number 61)." in text_of(page)
    assert "Hardest to recognise" in page


def test_no_control_character_reaches_the_page():
    nasty = "\x1b[2Jx\x07\x9b"
    model = make_model([f"a{nasty}", "b", "c"], columns=(f"size{nasty}", "weight"), notes=[nasty], data=f"d{nasty}.csv")
    page = page_of(model)
    assert not set(page) & {"\x1b", "\x07", "\x9b"}
    assert page.count("\\x1b[2Jx\\x07\\x9b") > 5
