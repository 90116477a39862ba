"""The paper's experiment is planned, and its results arranged, as the paper has them."""

import json
from collections import Counter

from study.tests.runs.synthetic import make_many, make_run

from skecoc.datasets import list_uci, load_uci
from skecoc_study.paper.published import METHODS, WOLC, WOLC_PAPER
from skecoc_study.paper.reproduction import PROTOCOLS
from skecoc_study.paper.summaries import paper_summary
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.results import Results


def runs_of(protocol):
    return [key for batch in protocol.batches() for key in batch.keys]


def test_the_papers_experiment_has_its_methods_sets_and_numbers_of_runs():
    protocol = PROTOCOLS["paper"]
    names = {"one-vs-one": "1vs1", "one-vs-rest": "1vsALL", "random-10": "Random", "ecoc-one": "ECOC-ONE"}
    decodings = {"hamming": "HD", "loss-based": "LB", "loss-weighted": "LW", "optimized-weight": "OW"}
    codings, decoded = zip(*(method.split("/") for method in METHODS), strict=True)
    assert [f"{names.get(c, c.upper())}/{decodings[d]}" for c, d in zip(codings, decoded, strict=True)] == [
        *(f"{c}/{d}" for c in ("1vs1", "1vsALL", "Random", "ECOC-ONE", "DECOC") for d in ("HD", "LB", "LW")),
        "WOLC/OW",
    ]
    assert sorted(protocol.data_sets) == sorted(list_uci())
    counts = Counter((key.learner, key.response, key.data_set) for key in runs_of(protocol))
    for (learner, _, data_set), count in counts.items():
        is_large = len(load_uci(data_set).target) > 2310
        assert count == 17 * 10 * ((1 if is_large else 4) if learner == "svm" else 10)
    assert {kind[:2] for kind in counts} == set(protocol.settings)


def test_the_quick_experiment_is_two_by_three_on_six_sets_with_both_learners():
    protocol = PROTOCOLS["quick"]
    assert (protocol.n_repeats, protocol.n_folds, len(protocol.data_sets)) == (2, 3, 6)
    assert {learner for learner, _ in protocol.settings} == {"stumps", "svm"}
    assert protocol.methods == (*METHODS, WOLC_PAPER)


def test_named_experiments_survive_json():
    for protocol in PROTOCOLS.values():
        assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol


def test_a_summary_is_in_the_papers_order_and_compares_with_wolc():
    data_sets = ("zoo", "vehicle", "iris", "dermatology", "abalone")
    summary = paper_summary(make_many(data_sets), "stumps", "labels")
    assert summary.methods == list(METHODS)
    assert summary.data_sets == ["dermatology", "iris", "vehicle", "abalone", "zoo"]
    assert (summary.control_ahead[:, summary.methods.index(WOLC)] == 0).all()
    assert summary.against_control.any()


def test_methods_that_the_paper_lacks_are_other_methods():
    runs = [make_run("iris", method, 0, 0, 5) for method in (WOLC, "lc-ecoc/hamming")]
    summary = paper_summary(Results(runs, [], {}), "stumps", "labels")
    assert summary.missing_methods == [method for method in METHODS if method != WOLC]
    assert summary.other_methods == ["lc-ecoc/hamming"]
