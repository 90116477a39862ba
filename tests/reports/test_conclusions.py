"""What a comparison comes to: tests against the best, and a recommendation."""

import numpy as np
import pytest

from skecoc.compare.statistics import corrected_t_test, holm, interval_half_width
from skecoc.reports.comparison import conclude, p_values_of
from tests.reports.made import LOG_LOSS, make_comparison

METHODS = ["one-vs-one/hamming", "wolc/optimized-weight", "sklearn/logistic"]
# The second is best; the first is behind by less than a standard error, the third by far.
SCORES = np.array([[0.81, 0.84, 0.79, 0.84, 0.80], [0.82, 0.83, 0.82, 0.84, 0.81], [0.6, 0.61, 0.62, 0.61, 0.6]])
COMMAND = "skecoc fit fruit.csv --target kind --method {method} -o fruit.skops"


def concluded(seconds=(0.1, 30.0, 0.01), scores=SCORES, methods=METHODS, **changes):
    return conclude(make_comparison([scores], methods, seconds=list(seconds), **changes))


def test_methods_are_tested_against_the_best_with_holms_correction():
    (p_values,) = p_values_of(make_comparison([SCORES], METHODS))
    found = [corrected_t_test(SCORES[1], SCORES[k], 0.25).p_value for k in (0, 2)]
    assert [p_values[0], p_values[2]] == holm(found).tolist()
    assert p_values[1] is None
    assert p_values[0] > 0.05 > p_values[2]


@pytest.mark.parametrize("seconds", [(0.1, 30.0, 0.01), (0.1, 0.9, 0.01), (40.0, 30.0, 0.01)])
def test_recommended_is_the_best_as_it_is_of_fit(seconds):
    found = concluded(seconds, fit_command=COMMAND)
    assert found.recommended == "wolc/optimized-weight"
    assert found.command == "skecoc fit fruit.csv --target kind --method wolc/optimized-weight -o fruit.skops"
    assert found.in_full == f"{found.sentence.removesuffix('.')}; to fit it:"
    without = concluded(seconds)
    assert (without.command, without.in_full) == ("", without.sentence)


def test_the_sentence_gives_the_price_of_the_best():
    assert concluded().sentence == (
        "Recommended: wolc/optimized-weight, with the highest accuracy on fruit.csv, 82.4 %; one-vs-one/hamming is not "
        "significantly worse; fitting takes 30 s, and 0.1 s for one-vs-one/hamming."
    )
    for seconds in [(0.1, 0.9, 0.01), (40.0, 30.0, 0.01)]:  # less than a second is not worth a word
        assert concluded(seconds).sentence.endswith("82.4 %; one-vs-one/hamming is not significantly worse.")


def test_what_cannot_be_saved_is_not_recommended():
    methods = ["one-vs-one/hamming", "sklearn/one-vs-one", "sklearn/logistic"]
    found = concluded(methods=methods, fit_command=COMMAND)
    p_value = p_values_of(make_comparison([SCORES], methods))[0][0]
    assert found.sentence == (
        "Recommended: one-vs-one/hamming, the best of those that can be saved, whose accuracy on fruit.csv, 81.6 %, is "
        f"not significantly below the 82.4 % of sklearn/one-vs-one (p = {p_value:.3f})."
    )
    assert found.command == "skecoc fit fruit.csv --target kind --method one-vs-one/hamming -o fruit.skops"
    worse = concluded(methods=["sklearn/logistic", "sklearn/one-vs-one"], scores=SCORES[[2, 1]])
    assert "is significantly below the 82.4 % of sklearn/one-vs-one (p < 0.001)" in worse.sentence


def test_others_are_said_to_be_worse_or_not():
    found = concluded((0.1, 0.1, 0.1))
    assert found.recommended == "wolc/optimized-weight"
    assert found.sentence == (
        "Recommended: wolc/optimized-weight, with the highest accuracy on fruit.csv, 82.4 %; one-vs-one/hamming is not "
        "significantly worse."
    )
    assert concluded(scores=SCORES[[1, 2, 2]]).sentence.endswith("82.4 %; all others are significantly worse.")
    alone = concluded([1.0], SCORES[:1], METHODS[:1])
    assert alone.sentence == "Recommended: one-vs-one/hamming, with the highest accuracy on fruit.csv, 81.6 %."


def test_of_a_loss_the_lowest_is_best():
    found = concluded((0.1, 0.1, 0.1), metric=LOG_LOSS)
    assert found.sentence.startswith("Recommended: sklearn/logistic, with the lowest log-loss on fruit.csv, 0.61;")
    methods = ["one-vs-one/hamming", "sklearn/one-vs-one", "sklearn/logistic"]
    saved = concluded(scores=-SCORES + 1, methods=methods, metric=LOG_LOSS)
    assert "is not significantly above the 0.18 of sklearn/one-vs-one" in saved.sentence


def test_nothing_is_recommended_that_is_no_better_than_guessing():
    methods = ["one-vs-one/hamming", "sklearn/majority", "sklearn/logistic"]
    found = concluded(methods=methods, fit_command=COMMAND)
    assert found.sentence == "No method is significantly better than always predicting the most frequent class."
    assert (found.recommended, found.command) == ("", "")
    better = concluded(scores=SCORES[[1, 2, 0]], methods=methods)
    assert better.recommended


def test_many_methods_are_counted():
    scores = np.vstack([SCORES[1]] * 6 + [SCORES[2]])
    found = concluded([0.1] * 7, scores, [f"m/{k}" for k in range(7)])
    assert found.sentence.endswith("; 5 of the 6 others are not significantly worse.")
    assert concluded([0.1] * 6, scores[:6], [f"m/{k}" for k in range(6)]).sentence.endswith(
        "; the others are not significantly worse."
    )


def test_several_data_sets_are_concluded_by_ranks():
    ordered = [[[0.9] * 2, [0.8] * 2, [0.7] * 2]]
    two = conclude(make_comparison(ordered * 2, METHODS))
    assert two.sentence == (
        "one-vs-one/hamming has the best average rank over 2 data sets, 1.00; by Nemenyi's test at 5 % it does not "
        "differ significantly from wolc/optimized-weight and sklearn/logistic."
    )
    many = conclude(make_comparison(ordered * 20, METHODS))
    assert many.sentence.endswith("1.00; by Nemenyi's test at 5 % it differs significantly from all others.")
    tied = conclude(make_comparison([[[0.5] * 2] * 3] * 2, METHODS))
    assert tied.sentence == (
        "one-vs-one/hamming, wolc/optimized-weight and sklearn/logistic share the best average rank over 2 data sets, "
        "2.00."
    )
    alone = conclude(make_comparison([[[0.5] * 2]] * 2, METHODS[:1]))
    assert alone.sentence == "one-vs-one/hamming has the best average rank over 2 data sets, 1.00."


def test_the_interval_of_a_mean_is_that_of_the_t_test():
    test = corrected_t_test(SCORES[0], np.zeros(5), 0.25)
    half = interval_half_width(SCORES[0].std(ddof=1), 5, 0.25)
    np.testing.assert_allclose([test.low, test.high], SCORES[0].mean() + half * np.array([-1, 1]))
