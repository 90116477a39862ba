"""``fit`` and ``compare`` on a table: a real file in, the exit status and what is said and written checked."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from skecoc.cli import main
from skecoc.cli.console import joined
from skecoc.persistence import load_model
from skecoc.support.errors import InputError
from tests.grids import few
from tests.tables.things import CLASSES, make_things, write_things

pd = pytest.importorskip("pandas")
FAST = ["--method", "one-vs-one", "--folds", "2", "--jobs", "1"]
TABLE = ["things.csv", "--target", "kind"]
OUTPUT = ["-o", "things.skops"]


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """A folder with a table, to work in."""
    write_things(tmp_path / "things.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def card_of(path="things.skops"):
    return load_model(path).card_


def test_the_best_of_several_methods_is_saved(capsys):
    assert main(["fit", *TABLE, *OUTPUT, "--folds", "2", "--jobs", "1"]) == 0
    captured = capsys.readouterr()
    card = card_of()
    methods = [row["method"] for row in card["comparison"]]
    assert {"mixed/logistic-weight", "wolc/optimized-weight", "sklearn/random-forest", "sklearn/boosting"} < set(
        methods
    )
    assert methods[-1] == "sklearn/majority"
    assert card["method"] == methods[0]
    assert card["reason"] in " ".join(captured.out.split())
    assert all(method in captured.out for method in methods[:-1])
    assert "always 'apple'" in captured.out
    assert card["command"] == "skecoc fit things.csv --target kind -o things.skops --folds 2 --jobs 1"
    assert main(["predict", "things.skops", "things.csv", "-o", "out.csv"]) == 0
    assert main(["inspect", "things.skops"]) == 0
    assert card["method"] in capsys.readouterr().out


@pytest.mark.parametrize("method", few(["logistic", "random-forest", "boosting"]))
def test_classifiers_of_scikit_learn_are_models_like_others(method, capsys):
    arguments = ["--method", method, "--folds", "2", "--jobs", "1", "--report", "things.html"]
    assert main(["fit", *TABLE, *OUTPUT, *arguments]) == 0
    assert f"sklearn/{method} is saved, as --method says" in " ".join(capsys.readouterr().out.split())
    assert "Code matrix" not in Path("things.html").read_text(encoding="utf-8")
    assert main(["predict", "things.skops", "things.csv", "-o", "out.csv"]) == 0
    assert main(["inspect", "things.skops"]) == 0
    assert f"sklearn/{method}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("learner", "parameters"),
    few(
        [
            ("logistic C=0.5", {"estimator__logisticregression__C": 0.5}),
            ("random-forest n_estimators=7", {"estimator__n_estimators": 7}),
            ("extra-trees n_estimators=7", {"estimator__n_estimators": 7}),
            ("hist-gradient-boosting max_iter=5", {"estimator__max_iter": 5}),
            ("knn n_neighbors=3", {"estimator__kneighborsclassifier__n_neighbors": 3}),
            ("mlp max_iter=20", {"estimator__mlpclassifier__max_iter": 20}),
        ],
        2,
    ),
)
def test_learners_by_short_names_need_no_trust(learner, parameters, capsys):
    assert main(["fit", *TABLE, *OUTPUT, "--learner", learner, *FAST]) == 0
    model = load_model("things.skops")
    assert parameters.items() <= model.classifier_.get_params().items()
    assert model.card_["learner"] == learner
    assert main(["predict", "things.skops", "things.csv", "-o", "out.csv"]) == 0
    assert "accuracy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "wolk"], "methods: 'wolk' is not known (did you mean 'wolc'"),
        (["--learner", "random-forrest"], "learner: 'random-forrest' is not known (did you mean 'random-forest'?)"),
        (["--learner", "knn n_neighbours=3"], "'knn' has no parameter 'n_neighbours' (did you mean 'n_neighbors'?)"),
        (["--metric", "acuracy"], "metric: 'acuracy' is not known (did you mean 'accuracy'"),
        (["--metric", "r2"], "metric: 'r2' is for regression; expected one for classes"),
        (["--group", "gardn"], "group: 'gardn' is not a column of the table"),
        (["--order", "apple,pear"], "order: expected every class once"),
        (["--method", "mixed", "--learner", "svm"], "learner: mixed has its own learners"),
        (["--method", "sklearn/one-vs-one"], "method: 'sklearn/one-vs-one' is a reference, which is not saved"),
        (["-o", "model.pkl"], "--output: 'model.pkl' does not end in .skops, as files of models do"),
        (["--test", "thing.csv"], "--test='thing.csv': there is no such file (did you mean 'things.csv'?)"),
        (["--report", "things.pdf"], "--report: 'things.pdf' does not end in .html, as pages do"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(arguments, message, capsys):
    assert main(["fit", *TABLE, *OUTPUT, "--folds", "2", "--jobs", "1", *arguments]) == 2
    captured = capsys.readouterr()
    (line,) = [line for line in captured.err.splitlines() if line.startswith("skecoc: error")]
    assert message in line
    assert len(line) < 400
    assert not Path("things.skops").exists()


@pytest.mark.parametrize("words", [["--time-budget", "soon"], ["--time-budget", "-5"], ["--order", "apple"]])
def test_values_that_cannot_be_read(words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["fit", *TABLE, *OUTPUT, *words])
    assert caught.value.code == 2
    assert words[0] in capsys.readouterr().err


def imbalanced(n_rows=200, share=0.92):
    """Write a table most of whose rows are of one class, and return it."""
    random = np.random.default_rng(0)
    kind = np.where(random.random(n_rows) < share, "no", "yes")
    frame = pd.DataFrame({"x": random.normal(size=n_rows) + 1.5 * (kind == "yes"), "kind": kind})
    frame.to_csv("rare.csv", index=False)
    return frame


def test_the_metric_that_matters(capsys):
    imbalanced()
    fit = ["fit", "rare.csv", "--target", "kind", "-o", "rare.skops", "--method", "logistic", "--folds", "2"]
    fit += ["--jobs", "1"]
    assert main([*fit, "--metric", "balanced-accuracy"]) == 0
    plain = card_of("rare.skops")
    assert "balanced accuracy" in capsys.readouterr().out
    assert main([*fit, "--metric", "balanced-accuracy", "--class-weight", "balanced"]) == 0
    weighted = card_of("rare.skops")
    assert weighted["comparison"][0]["score"] > plain["comparison"][0]["score"] + 0.05
    assert weighted["options"]["class_weight"] == "balanced"
    for metric in ("macro-f1", "log-loss", "roc_auc"):
        assert main([*fit, "--metric", metric]) == 0
        assert card_of("rare.skops")["metric"]["name"] == metric


def test_a_model_no_better_than_guessing_gets_a_warning_in_words(capsys):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=80), "kind": random.choice(list("abcd"), 80)})
    frame.to_csv("noise.csv", index=False)
    assert main(["fit", "noise.csv", "--target", "kind", "-o", "noise.skops", *FAST, "--report", "noise.html"]) == 0
    assert "no better than guessing" in " ".join(capsys.readouterr().out.split())
    assert "no better than guessing" in Path("noise.html").read_text(encoding="utf-8")


def test_groups_are_kept_whole():
    """Rows of a person resemble each other, and the class depends on the person alone: without groups it leaks."""
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 6)
    nose = random.normal(size=30)[person] + random.normal(scale=0.01, size=180)
    frame = pd.DataFrame(
        {"nose": nose, "person": person, "kind": np.array(["a", "b"])[random.integers(0, 2, 30)[person]]}
    )
    frame.to_csv("people.csv", index=False)
    fit = ["fit", "people.csv", "--target", "kind", "-o", "people.skops", "--method", "random-forest", "--jobs", "1"]
    assert main([*fit, "--drop", "person"]) == 0
    leaking = card_of("people.skops")["comparison"][0]["score"]
    assert main([*fit, "--group", "person"]) == 0
    kept = card_of("people.skops")
    assert leaking > 0.85
    assert next(row for row in kept["comparison"] if row["is_chosen"])["score"] < 0.75
    assert kept["options"]["group"] == "person"
    assert list(load_model("people.skops").kinds_) == ["nose"]


def ordinal_table():
    """Grades that one number tells, whose names are in another order than they."""
    random = np.random.default_rng(0)
    grade = random.integers(0, 4, 160)
    names = np.array(["poor", "fair", "good", "best"])
    return pd.DataFrame({"x": grade + random.normal(scale=0.5, size=160), "grade": names[grade]}), names


def test_the_order_of_classes(capsys):
    frame, names = ordinal_table()
    frame.to_csv("grades.csv", index=False)
    fit = ["fit", "grades.csv", "--target", "grade", "-o", "g.skops", "--method", "ordinal", "--learner", "logistic"]
    fit += ["--folds", "2", "--jobs", "1"]
    assert main(fit) == 0
    alphabet = card_of("g.skops")["comparison"]
    assert "alphabetical order of the classes" in capsys.readouterr().err
    assert main([*fit, "--order", ",".join(names)]) == 0
    assert "alphabet" not in capsys.readouterr().err
    ordered = card_of("g.skops")["comparison"]
    score = [next(row["score"] for row in rows if row["is_chosen"]) for rows in (alphabet, ordered)]
    assert score[1] > score[0] + 0.05
    kind = pd.CategoricalDtype(names, ordered=True)
    frame.astype({"grade": kind}).to_parquet("grades.parquet")
    fit[1] = "grades.parquet"
    assert main(fit) == 0
    assert "alphabet" not in capsys.readouterr().err
    assert card_of("g.skops")["scores"] == [*card_of("g.skops")["scores"]]
    assert load_model("g.skops").classes_.tolist() == names.tolist()
    assert next(row["score"] for row in card_of("g.skops")["comparison"] if row["is_chosen"]) == score[1]


def test_a_test_file(capsys):
    write_things(Path("new.csv"), n_rows=30, seed=9)
    assert main(["fit", *TABLE, *OUTPUT, *FAST, "--test", "new.csv", "--report", "things.html"]) == 0
    test = card_of()["test"]
    new = pd.read_csv("new.csv")
    assert test["n_rows"] == 30
    assert test["score"] == pytest.approx(np.mean(load_model("things.skops").predict(new) == new["kind"]))
    assert "new.csv" in capsys.readouterr().out
    assert "new.csv" in Path("things.html").read_text(encoding="utf-8")


def test_a_budget_of_time(capsys):
    assert main(["fit", *TABLE, *OUTPUT, "--folds", "2", "--jobs", "1", "--time-budget", "0.001s"]) == 0
    assert [row["method"] for row in card_of()["comparison"]] == ["sklearn/logistic", "sklearn/majority"]
    assert "no time was left for sklearn/random-forest" in capsys.readouterr().err


def test_renaming_a_file_and_its_format_change_nothing():
    make_things().to_parquet("others.parquet")
    make_things().to_excel("others.xlsx", index=False)
    Path("renamed.csv").write_bytes(Path("things.csv").read_bytes())
    found = {}
    for name in ("things.csv", "renamed.csv", "others.parquet", "others.xlsx"):
        assert main(["fit", name, "--target", "kind", *OUTPUT, *FAST]) == 0
        model = load_model("things.skops")
        found[name] = (model.card_["scores"], model.predict_proba(make_things(n_rows=20, seed=3)).tolist())
    assert all(result == found["things.csv"] for result in found.values())


def test_a_wide_table_is_fitted_with_its_columns_ranked(capsys):
    random = np.random.default_rng(0)
    kind = np.arange(60) % 3
    frame = pd.DataFrame(random.normal(size=(60, 500)), columns=[f"c{k}" for k in range(500)])
    frame["c123"] += 4 * kind
    frame.assign(kind=np.array(["a", "b", "c"])[kind]).to_csv("wide.csv", index=False)
    assert main(["fit", "wide.csv", "--target", "kind", "-o", "wide.skops", *FAST]) == 0
    assert main(["inspect", "wide.skops"]) == 0
    assert "a / c: c123" in capsys.readouterr().out


@pytest.mark.parametrize("method", few(["one-vs-one", "wolc", "auto"]))
def test_probabilities_decide_only_among_methods_that_have_them(method, capsys):
    options = ["--metric", "log-loss", "--learner", "logistic", "--folds", "2", "--jobs", "1"]
    assert main(["fit", *TABLE, *OUTPUT, "--method", method, *options]) == 0
    assert "log-loss" in capsys.readouterr().out


def test_defaults_of_compare_leave_out_what_the_options_rule_out(capsys, monkeypatch):
    options = ["--metric", "log-loss", "--class-weight", "balanced", "--learner", "knn", "--folds", "2", "--jobs", "1"]
    assert main(["compare", *TABLE, "--max-rows", "30", *options]) == 0
    said = capsys.readouterr().err
    assert "left out: wolc/optimized-weight (KNeighborsClassifier does not support sample_weight, which" in said
    assert main(["compare", *TABLE, "--methods", "svm", "logistic", *options]) == 2
    assert "methods: sklearn/svm has no probabilities, which the metric needs" in capsys.readouterr().err

    def compared(data_sets, methods, **_):
        raise InputError(f"compared: {methods}")

    monkeypatch.setattr("skecoc.compare.compare", compared)
    assert main(["compare", "--datasets", "iris", "--metric", "log-loss"]) == 2
    said = capsys.readouterr().err
    left_out = "sklearn/output-code"
    assert f"left out: {left_out} ({left_out} has no probabilities, which the metric needs)" in said
    assert left_out not in said.partition("compared: ")[2]


def test_the_command_that_compare_recommends_reads_the_same_table(work, capsys):
    make_things().rename(columns={"kind": "METHOD {x}"}).to_csv("odd.csv", sep="|", index=False)
    options = ["--sep", "bar", "--na", "none", "--drop", "colour", "--folds", "2", "--seed", "3", "--jobs", "1"]
    assert main(["compare", "odd.csv", "--target", "METHOD {x}", "--methods", "logistic", *options]) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1].strip() == (
        "skecoc fit odd.csv --target 'METHOD {x}' --method sklearn/logistic --sep bar --na none --drop colour "
        "--folds 2 --seed 3 -o model.skops"
    )


def test_the_command_that_compare_recommends_keeps_commas_in_the_names_of_classes(capsys):
    make_things().replace({"kind": {"apple": "apple, red"}}).to_csv("commas.csv", index=False)
    order = joined(["apple, red", *CLASSES[1:]])
    options = ["--methods", "ordinal/loss-based", "--order", order, "--learner", "knn", "--folds", "2", "--jobs", "1"]
    assert main(["compare", "commas.csv", "--target", "kind", *options]) == 0
    assert f"--order {shlex.quote(order)} " in capsys.readouterr().out
    assert order.startswith('"apple, red",')


def test_days_are_classes_in_every_format(capsys):
    frame = make_things().drop(columns="kind")
    frame["day"] = pd.to_datetime(np.array(["2024-01-01", "2024-02-01", "2024-03-01"])[np.arange(60) % 3])
    frame.to_csv("days.csv", index=False)
    frame.to_parquet("days.parquet")
    assert main(["fit", "days.csv", "--target", "day", "-o", "days.skops", *FAST]) == 0
    assert load_model("days.skops").classes_.tolist() == ["2024-01-01", "2024-02-01", "2024-03-01"]
    capsys.readouterr()
    assert main(["predict", "days.skops", "days.parquet", "-o", "out.csv"]) == 0
    assert "did not see" not in capsys.readouterr().err


def test_compare_works_like_fit(capsys):
    options = ["--drop", "colour", "--metric", "macro-f1", "--class-weight", "balanced", "--folds", "2", "--jobs", "1"]
    assert main(["fit", *TABLE, *OUTPUT, "--method", "random-forest", *options]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "note:" in line]
    compare = ["compare", *TABLE, "--methods", "random-forest", "logistic", "majority", *options]
    assert main([*compare, "--report", "compare.html"]) == 0
    captured = capsys.readouterr()
    assert [line for line in captured.err.splitlines() if "left out" in line] == notes
    assert "macro-f1" in captured.out
    command = "skecoc fit things.csv --target kind --method"
    assert command in " ".join(captured.out.split())
    assert command in Path("compare.html").read_text(encoding="utf-8")
    assert main([*compare, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    scores = {}
    for record in found["records"]:
        scores.setdefault(record["method"], []).append(record["score"])
    assert scores["sklearn/random-forest"] == card_of()["scores"]


@pytest.mark.nightly
def test_compare_shows_ours_beside_others_by_default(capsys):
    assert main(["compare", *TABLE, "--folds", "2", "--jobs", "1", "--max-rows", "30"]) == 0
    captured = capsys.readouterr()
    for name in ("mixed", "wolc", "random-forest", "boosting", "majority"):
        assert name in captured.out
    assert "methods are compared on 30 of the 60 rows" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["things.csv"], "--target: expected the name of the column of DATA that holds the classes"),
        (["--target", "kind"], "--target needs a DATA file"),
        (["--order", "a,b"], "--order needs a DATA file"),
        (["things.csv", "--target", "kind", "--output", "things.csv"], "--output and data are the same file"),
    ],
)
def test_options_of_compare_that_contradict_each_other(arguments, message, capsys):
    assert main(["compare", *arguments]) == 2
    assert message in capsys.readouterr().err
