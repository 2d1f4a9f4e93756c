"""What an evaluation counts, on rankings and answers small enough to check by hand."""

from dataclasses import replace

import pytest

from research.evaluation.datasets import Query, grades_from, needs_several, queries_from, spread
from research.evaluation.metrics import (
    Figure,
    JudgedAnswer,
    agent_figures,
    all_evidence,
    bootstrap,
    contains,
    medians,
    paired_difference,
    regressions,
    thresholds,
)

RIGHT = JudgedAnswer("q", "answered", "answered", True, True, 1.0, 2, 1, 8, 1, 0, 0, 0.1)


def test_all_the_evidence_counts_only_when_none_is_missing() -> None:
    assert all_evidence(["a", "b", "c"], {"a": 1, "c": 1}) == 1.0
    assert all_evidence(["a", "b", "c"], {"a": 1, "c": 1}, depth=2) == 0.0


def test_an_answer_contains_the_gold_as_whole_words_whatever_the_case() -> None:
    assert contains("You get 27 Days of leave.", ["27 days"])
    assert contains("You get 127 days.", ["27 days"]) is False


def test_a_reference_answer_in_prose_cannot_be_looked_for_word_for_word() -> None:
    assert contains("anything", ["one two three four five six seven eight nine"]) is None


def test_a_difference_that_is_the_same_for_every_question_has_no_spread() -> None:
    gap = paired_difference([0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    assert (gap.mean, gap.low, gap.high) == (0.25, 0.25, 0.25)


def test_an_interval_holds_its_mean() -> None:
    found = bootstrap([0.0, 1.0, 1.0, 0.0, 1.0])
    assert found.low < found.mean < found.high


def test_differences_of_unlike_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired_difference([1.0], [1.0, 0.0])


def test_wrong_refusals_and_wrong_answers_are_counted_together() -> None:
    refused = replace(RIGHT, outcome="abstained", contains_gold=False)
    invented = replace(RIGHT, expect="abstained", contains_gold=None)
    figures = agent_figures([RIGHT, refused, invented, replace(RIGHT, contains_gold=False)])
    assert figures.wrong_refusals == pytest.approx(1 / 3)
    assert figures.wrong_answers == pytest.approx(2 / 4)
    assert figures.citation_precision == 0.5


def test_a_higher_threshold_refuses_more_and_lets_fewer_through_that_nothing_answers() -> None:
    low, high = thresholds([(0.9, True), (0.4, False)], (0.1, 0.5), foreign=[0.3, 0.6])
    assert (low.precision, low.refused, low.foreign) == (0.5, 0.0, 1.0)
    assert (high.precision, high.refused, high.foreign) == (1.0, 0.5, 0.5)


def test_a_threshold_that_nothing_reaches_has_no_precision() -> None:
    (point,) = thresholds([(0.4, True)], (0.5,))
    assert (point.precision, point.refused, point.foreign) == (None, 1.0, None)


def test_a_stage_has_the_median_of_the_runs_that_have_it() -> None:
    assert medians([{"search": 0.1}, {"search": 0.3, "decide": 0.002}, {"search": 0.2}]) == {
        "search": pytest.approx(200),
        "decide": pytest.approx(2),
    }


def test_a_figure_that_fell_or_is_gone_is_named() -> None:
    now = {"a": Figure(0.9, 1_000), "b": Figure(0.5, 1_000)}
    assert regressions(now, {"a": 0.91, "b": 0.6, "c": 1.0}) == (
        "b fell from 0.600 to 0.500.",
        "c was 1.000 and is not measured any more.",
    )


def test_one_question_that_turns_is_no_regression_and_two_are() -> None:
    assert regressions({"right": Figure(45 / 47, 47)}, {"right": 46 / 47}) == ()
    assert regressions({"right": Figure(44 / 47, 47)}, {"right": 46 / 47}) == ("right fell from 0.979 to 0.936.",)


def test_questions_need_several_documents_when_every_answerable_one_does() -> None:
    two, one, none = Query("a", "?", {"d": 1, "e": 1}), Query("b", "?", {"d": 1}), Query("c", "?", {})
    assert needs_several([two, none])
    assert not needs_several([two, one])
    assert not needs_several([none])


def test_a_question_without_grades_is_kept_only_where_its_outcome_is_known() -> None:
    grades = grades_from(["query-id\tcorpus-id\tscore", "q1\td1\t2", "q2\td1\t0"])
    lines = ['{"_id": "q1", "text": "?"}', '{"_id": "q2", "text": "?"}']
    unanswerable = '{"_id": "q3", "text": "?", "metadata": {"expect": "abstained"}}'
    queries = queries_from([*lines, unanswerable], grades)
    assert [query.id for query in queries] == ["q1", "q3"]
    assert [query.id for query in spread(queries, 1)] == ["q1"]
