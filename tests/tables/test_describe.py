"""What is said about a model, as data and as text."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers import wolc
from skecoc.datasets import load_uci
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.reports.model_report import model_text, scores_text
from skecoc.support.errors import InputError
from skecoc.tables import describe_model
from tests.reports.made import ACCURACY, LOG_LOSS, MACRO_F1, make_model, make_test


@pytest.fixture(scope="module")
def grown():
    X, y = load_uci("vowel", return_X_y=True)
    model = WOLCClassifier(init="one-vs-rest", max_iter=4, tol=0.0, random_state=0)
    return make_pipeline(MinMaxScaler(), model).fit(X[::4], y[::4])


def test_everything_is_plain_data(model, grown):
    for each in (model, grown):
        json.dumps(describe_model(each), allow_nan=False)


def test_held_out_results_agree_with_each_other(model):
    held_out = describe_model(model)["held_out"]
    confusion = np.array(held_out["confusion"])
    np.testing.assert_array_equal(confusion, model.card_["confusion"])
    for place, row in enumerate(held_out["classes"]):
        assert row["rows"] == 20
        assert row["recall"] == pytest.approx(confusion[place, place] / 20)
        assert row["precision"] == pytest.approx(confusion[place, place] / confusion[:, place].sum())
    assert sum(pair["rows"] for pair in held_out["confused"]) == 60 - np.trace(confusion)
    assert sum(row["rows"] for row in held_out["calibration"]["bins"]) == 60


def test_confused_pairs_count_both_directions_and_come_in_order(model):
    model_card = {**model.card_, "confusion": np.array([[5, 2, 0], [4, 6, 1], [0, 0, 9]])}
    before, model.card_ = model.card_, model_card
    confused = describe_model(model)["held_out"]["confused"]
    model.card_ = before
    classes = [str(label) for label in model.classes_]
    assert [(pair["first"], pair["second"], pair["rows"], pair["of"]) for pair in confused] == [
        (classes[0], classes[1], 6, 18),
        (classes[1], classes[2], 1, 20),
    ]


def test_growth_says_what_was_added_for_whom(grown):
    classifier, growth = grown[-1], describe_model(grown)["growth"]
    assert len(growth["rounds"]) == len(classifier.history_)
    added = [pair["added"] for row in growth["rounds"][: growth["kept"]] for pair in row["pairs"]]
    assert ["initial"] * 11 + added == classifier.column_kinds_.tolist()
    assert added
    for row, record in zip(growth["rounds"], classifier.history_, strict=True):
        pairs = [(pair["first"], pair["second"]) for pair in row["pairs"]]
        assert pairs == [(str(classifier.classes_[i]), str(classifier.classes_[j])) for i, j in record.pairs]


def test_important_columns_have_names(model):
    pairs = describe_model(model)["important"]
    assert len(pairs) == 3
    assert {column["name"] for pair in pairs for column in pair["columns"]} <= set(model.kinds_)
    best = [pair["columns"][0]["name"] for pair in pairs]
    assert set(best) & {"weight", "picked", "colour"}
    assert all(column["drop"] > 0 for pair in pairs for column in pair["columns"])


def test_parts_of_a_class_are_numbered():
    X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    y = np.repeat(["outer", "inner", "outer"], 20)
    model = SubclassECOCClassifier(random_state=0).fit(X, y)
    code = describe_model(model)["code"]
    names = ["inner", "outer (1)", "outer (2)"] if len(model.row_classes_) == 3 else ["inner", "outer"]
    assert code["rows"] == names


def test_other_models_have_nothing_to_show():
    with pytest.raises(InputError, match="a LogisticRegression has no code to show"):
        describe_model(LogisticRegression())
    with pytest.raises(InputError, match="a ECOCClassifier has no code to show"):
        describe_model(ECOCClassifier())


def test_any_classifier_of_a_table_is_described():
    model = make_model(classifier=RandomForestClassifier(3), learner="", method="sklearn/random-forest")
    description = describe_model(model)
    assert [description[name] for name in ("code", "learners", "certificate", "growth")] == [None] * 4
    assert description["classifier"] == "RandomForestClassifier"
    text = model_text(description)
    assert text.startswith("sklearn/random-forest, for the 3 classes in column 'kind' of fruit.csv (60 rows)\n")
    assert "Code:" not in text
    assert "precision %" in text


def test_classes_are_those_of_the_table_whatever_the_classifier_calls_them():
    model = make_model(["x", "y", "z"])
    model.classifier_.classes_ = np.arange(3)
    description = describe_model(model)
    assert description["classes"] == description["code"]["rows"] == ["x", "y", "z"]


@pytest.mark.parametrize(
    "damage",
    [
        {"confusion": np.zeros((2, 2))},
        {"confusion": "text"},
        {"calibration": {}},
        {"comparison": [1]},
        {"important": {"pairs": [[0, 99]], "separated": [1], "columns": [[0]], "drops": [[1]]}},
        {"n_rows": "many"},
        {"versions": 7},
        {"comparison": []},
        {"metric": {"name": "accuracy"}, "comparison": [{"method": "a", "score": 1.0, "is_chosen": True}]},
        {"comparison": [{"method": "a", "accuracy": float("nan")}]},
        {"test": {"data": "later.csv"}},
    ],
)
def test_a_damaged_record_is_one_line(model, damage):
    before, model.card_ = model.card_, {**model.card_, **damage}
    try:
        with pytest.raises(InputError, match="the model's record is damaged") as caught:
            describe_model(model)
    finally:
        model.card_ = before
    assert "\n" not in str(caught.value)


def test_text_of_a_model_of_a_table(model):
    text = model_text(describe_model(model))
    assert text.startswith("one-vs-one/loss-weighted of stumps, for the 3 classes in column 'kind' of things.csv")
    for part in ("sklearn/one-vs-rest", "precision %", "Confused most", "Code: 3 rows x 3 columns, all of them used"):
        assert part in text
    assert "Left out: unit (constant), id (identifier)" in text or "Left out: id (identifier), unit (constant)" in text
    assert text.endswith("\n")


def test_text_shows_short_codes_and_spells_out_what_a_terminal_would_obey():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b\x1b[2J", "\u6885\n"]
    lines = model_text(describe_model(ECOCClassifier().fit(X, y))).splitlines()
    assert lines[2:] == [
        "Code: 3 rows x 3 columns, all of them used",
        "  a        ++0",
        "  b\\x1b[2J -0+",
        "  \u6885\\n     0--",  # this character is as wide as two letters
    ]
    assert "+" not in model_text(describe_model(ECOCClassifier(coding="dense-random").fit(*many_classes())))


def many_classes():
    return np.arange(120.0)[:, None], np.repeat(np.arange(40), 3)


def test_text_of_a_code_that_did_not_grow():
    X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    model = WOLCClassifier(random_state=0).fit(X, np.repeat(["a", "b", "c"], 20))
    assert len(model.history_) == 1
    text = model_text(describe_model(model))
    assert text.split("\n\n")[1].replace("\n", " ") == model.growth_summary()
    assert "(6 columns); no column was added because the loss reached its target." in text.replace("\n", " ")
    assert "round" not in text


def test_text_of_a_grown_code_begins_with_what_happened(grown):
    classifier, text = grown[-1], model_text(describe_model(grown))
    title, summary, *parts = text.split("\n\n")
    assert title == "WOLCClassifier for 11 classes"
    assert summary.replace("\n", " ") == describe_model(grown)["growth"]["summary"] == classifier.growth_summary()
    assert f"growth added {(classifier.column_kinds_ != 'initial').sum()} columns in" in summary
    assert max(len(line) for line in summary.splitlines()) <= 100
    table = next(part for part in parts if "then added for" in part)
    assert f" {classifier.best_round_}* " in table
    assert "out-of-fold accuracy %" in table
    assert ", 6 more\n" in table  # a round adds a column for each of 11 pairs, of which 5 are named
    assert "nan" not in text.lower()


def test_the_kept_round_is_shown_however_late_it_is(grown):
    description = describe_model(grown)
    row = {**description["growth"]["rounds"][0], "loss": None}
    rounds = [{**row, "round": number} for number in range(30)]
    growth = {**description["growth"], "rounds": rounds, "kept": 20}
    text = model_text({**description, "growth": growth})
    assert " 20* " in text
    assert "... and 9 more" in text
    assert "loss" not in text.split("then added for")[0].splitlines()[-1]  # not measured


def test_a_round_of_which_nothing_was_measured(monkeypatch):
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 0)
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 2)
    X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    model = WOLCClassifier(random_state=0).fit(X, np.repeat(["a", "b", "c"], 20))
    description = describe_model(model)
    (row,) = description["growth"]["rounds"]
    assert [row[name] for name in ("loss", "accuracy", "out_of_fold_accuracy")] == [None] * 3
    text = model_text(description).replace("\n", " ")
    assert "no column was added because there are too many samples and columns to grow one-vs-one" in text


def test_text_of_a_comparison_marks_the_chosen_and_ends_in_the_reason():
    model = make_model("abc", warnings=["It is no better than guessing."], test=make_test(3))
    table, legend, said, warnings = scores_text(describe_model(model)).split("\n\n")
    assert table.splitlines() == [
        "                         macro-F1    +/-       p  columns  fit s",
        "----------------------------------------------------------------",
        "mixed/logistic-weight       0.830* 0.021       -     54.0   1.25",
        "sklearn/random-forest       0.800  0.030   0.312        -   0.20",
        "one-vs-one/loss-weighted    0.710  0.025  <0.001      3.0   0.10",
        "always 'b'                  0.210  0.001  <0.001        -   0.00",
    ]
    assert "5 folds," in legend
    assert said.replace("\n", " ") == (
        "mixed/logistic-weight: macro-F1 0.83 (95 % interval 0.79 to 0.86) on held-out rows; always predicting 'b' "
        "would have 0.21. On the 30 rows of later.csv: macro-F1 0.77 (95 % interval 0.70 to 0.83). "
        "mixed/logistic-weight has the highest macro-F1 of the four methods that were compared."
    )
    assert warnings == "Warning: It is no better than guessing.\n"


@pytest.mark.parametrize(
    ("metric", "line", "headline"),
    [
        (ACCURACY, ["accuracy", "%", "+/-"], "accuracy 83.0 % (95 % interval 79.0 to 86.0 %) on"),
        (LOG_LOSS, ["log-loss", "+/-", "p"], "log-loss 0.83 (95 % interval 0.79 to 0.86) on"),
        ({**MACRO_F1, "name": "roc_auc_ovr"}, ["roc_auc_ovr", "+/-", "p"], "roc_auc_ovr 0.83 (95 %"),
    ],
)
def test_text_names_the_metric(metric, line, headline):
    text = scores_text(describe_model(make_model("abc", metric=metric)))
    assert text.split()[: len(line)] == line
    assert headline in text.replace("\n", " ")
    assert ("less is better" in text) == (metric is LOG_LOSS)


def test_text_of_a_comparison_on_some_of_the_rows_says_so():
    options = {"class_weight": "balanced", "group": "patient", "order": ["c", "b", "a"], "compared_rows": 30}
    assert "over 5 folds of 30 rows," in scores_text(describe_model(make_model("abc", options=options)))
    text = model_text(describe_model(make_model(options=options)))
    for line in ("Class weight: balanced", "Rows kept together: those with the same patient"):
        assert f"\n{line}\n" in text
    assert "\nOrder of the classes: c, b, a\n" in text


def test_what_a_terminal_would_obey_is_spelt_out_of_a_comparison():
    text = scores_text(describe_model(make_model(["a", "b\x1b[2J", "c"], warnings=["\x07"], reason="\x9b")))
    assert not set(text) & {"\x1b", "\x07", "\x9b"}
    assert "always 'b\\x1b[2J'" in text


def test_a_long_class_is_cut_in_a_sentence():
    text = scores_text(describe_model(make_model(["a", "b" * 100, "c"])))
    assert f"always predicting '{'b' * 37}...' would" in text.replace("\n", " ")


def test_text_of_a_model_has_its_score_measures_and_command():
    text = model_text(describe_model(make_model(test=make_test(3), warnings=["Beware."])))
    title, warnings, said, table, _, measures = text.split("\n\n")[:6]
    assert title.startswith("mixed/logistic-weight of stumps, logistic, for the 3 classes")
    assert warnings == "Warning: Beware."
    assert said.startswith("mixed/logistic-weight: macro-F1 0.83 (95 % interval 0.79 to 0.86)")
    assert "0.830*" in table
    assert measures.splitlines()[-2:] == [
        "macro-F1                    0.800      0.770",
        "log-loss                    0.512      0.600",
    ]
    assert "\nTo repeat this:\n  skecoc fit fruit.csv --target kind --metric macro-f1 -o fruit.skops\n" in text


def test_text_of_many_columns_names_the_first():
    text = model_text(describe_model(make_model(columns=[f"column {k}" for k in range(70)])))
    assert "column 59 (number), and 10 more" in text.replace("\n  ", " ")


LEARNERS = [("stumps", StumpAdaBoostClassifier(3)), ("bayes", MulticlassLearner(GaussianNB()))]


@pytest.fixture(scope="module")
def several():
    """A code that has grown by columns of two learners."""
    X, y = load_uci("vehicle", return_X_y=True)
    rules = {"init": "one-vs-rest", "max_iter": 3, "tol": 0.0}
    return WOLCClassifier(LEARNERS, **rules, random_state=0).fit(X[::3], y[::3])


def test_learners_say_how_much_they_count_for_each_class(several):
    description = describe_model(several)
    json.dumps(description, allow_nan=False)
    learners, shares = description["learners"], several.learner_shares()
    is_grown = several.column_kinds_ != "initial"
    assert is_grown.any()
    for place, member in enumerate(learners["members"]):
        own = several.column_learners_ == member["name"]
        assert (member["columns"], member["added"]) == (own.sum(), (own & is_grown).sum())
        assert member["share"] == pytest.approx(shares[member["name"]].mean())
        np.testing.assert_allclose([row["shares"][place] for row in learners["classes"]], shares[member["name"]])
    assert [row["name"] for row in learners["classes"]] == description["classes"]
    assert learners["are_weights"]
    assert description["code"]["learners"] == several.column_learners_.tolist()


def test_growth_of_several_learners_says_whose_columns_were_added(several):
    growth = describe_model(several)["growth"]
    pairs = [pair for row in growth["rounds"][: growth["kept"]] for pair in row["pairs"]]
    is_grown = several.column_kinds_ != "initial"
    assert [pair["learner"] for pair in pairs] == several.column_learners_[is_grown].tolist()
    for pair, column in zip(pairs, several.code_matrix_[:, is_grown].T, strict=True):
        assert {pair["first"], pair["second"]} == {str(label) for label in several.classes_[column != 0]}
    text = model_text(describe_model(several))
    assert f"{pairs[0]['first']}/{pairs[0]['second']} ({pairs[0]['learner']}" in text


def test_certificates_of_solved_weights_are_shown(several, grown):
    found = several.decoder_.certificate_
    assert describe_model(several)["certificate"] == {
        name: getattr(found, name) for name in ("objective", "lower_bound", "gap", "log_loss")
    }
    line = f"Weights: objective {found.objective:.4g}, relative gap to the optimum at most {found.gap:.1e}"
    assert f"{line}; mean log-loss {found.log_loss:.4g}\n" in model_text(describe_model(several))
    X, y = load_uci("iris", return_X_y=True)
    optimized = ECOCClassifier(decoding="optimized-weight").fit(X, y)
    certificate = describe_model(optimized)["certificate"]
    assert certificate["gap"] == optimized.decoder_.certificate_.gap
    assert "log-loss" not in model_text(describe_model(optimized))
    assert describe_model(ECOCClassifier().fit(X, y))["certificate"] is None


def test_text_of_several_learners():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "c", "c"]
    model = ECOCClassifier(LEARNERS, coding="one-vs-rest", decoding="hamming", random_state=0).fit(X, y)
    assert model_text(describe_model(model)).split("\n\n")[2].splitlines() == [
        "Learners: how many columns each has, and how much it counts, in % of the columns that a class takes part in",
        "            stumps  bayes",
        "-------------------------",
        "columns        3      3",
        "all classes   50.0   50.0",
        "-------------------------",
        "a             50.0   50.0",
        "b             50.0   50.0",
        "c             50.0   50.0",
    ]


def test_text_of_many_classes_shows_those_whose_learners_are_most_unusual(several):
    description = describe_model(several)
    members = description["learners"]["members"]
    shares = [[0.5, 0.5]] * 40
    shares[7], shares[30] = [0.9, 0.1], [0.0, 1.0]
    classes = [{"name": f"class {k}", "shares": row, "unusual": abs(row[0] - 0.5)} for k, row in enumerate(shares)]
    learners = {"members": members, "classes": classes, "are_weights": True}
    part = next(
        part for part in model_text({**description, "learners": learners}).split("\n\n") if part.startswith("Learners")
    )
    shown = [line.split("  ")[0] for line in part.splitlines() if line.startswith("class ")]
    assert shown == ["class 30", "class 7", "class 0", "class 1", "class 2"]
    assert part.endswith("Shown are the 5 of 40 classes that differ most from the mean.")


def test_tables_of_many_learners_are_broken_into_parts(several):
    description = describe_model(several)
    member = description["learners"]["members"][0]
    learners = {
        "members": [{**member, "name": f"a long name {k}"} for k in range(12)],
        "classes": [{"name": "only", "shares": [1 / 12] * 12, "unusual": 0.0}],
        "are_weights": True,
    }
    text = model_text({**description, "learners": learners})
    assert text.count("all classes") > 1
    parts = [part for part in text.split("\n\n") if "all classes" in part]
    assert max(len(line) for part in parts for line in part.splitlines()) <= 100
    assert all(f"a long name {k}" in text for k in range(12))


def test_a_single_learner_is_not_listed(model, grown):
    for each in (model, grown):
        description = describe_model(each)
        assert description["learners"] is None
        assert set(description["code"]["learners"]) == {""}
        assert "Learners:" not in model_text(description)


@pytest.mark.parametrize("names", [["stumps", "bayes"], ["a"] * 3 + ["b"] * 40])
def test_learners_that_do_not_fit_the_code_are_damage(several, names):
    before, several.column_learners_ = several.column_learners_, np.array(names)
    try:
        with pytest.raises(InputError, match="the model's record is damaged"):
            describe_model(several)
    finally:
        several.column_learners_ = before
