"""A measurement as a page and as lines, and held against what it was before."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bot.demo import SAMPLES
from core.model.errors import ConfigurationError
from research.evaluation.baseline import keep_baseline, lines_of, worse_than
from research.evaluation.case_report import Excerpts, case
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.datasets import CorpusDocument, Query
from research.evaluation.metrics import JudgedAnswer, agent_figures, thresholds
from research.evaluation.report_page import page
from research.evaluation.retrieval import ALL_EVIDENCE, METRICS, PerQuestion, compare_legs
from research.evaluation.runner import DatasetFigures, foreign_to, pool_sets

JUDGED = JudgedAnswer(
    "q", "answered", "answered", True, True, 1.0, 2, 1, 8, 1, 0, 0, 0.1, {"search": 0.01, "grade": 0.02}
)


def leg(*values: float) -> PerQuestion:
    return {name: list(values) for name in (*METRICS, ALL_EVIDENCE)}


def measured(name: str = "set", *, hybrid: float = 0.5, agent: float = 1.0) -> DatasetFigures:
    each = {"bm25": leg(0.25, 0.25), "hybrid": leg(hybrid, hybrid), "agent": leg(agent, agent)}
    figures = {
        **asdict(agent_figures([JUDGED, JUDGED])),
        "by_grade": [asdict(point) for point in thresholds([(8.0, True)], range(1, 11), [3.0])],
        "nowhere_answered": 1,
        "worst": [],
    }
    curve = [asdict(point) for point in thresholds([(0.6, True), (0.2, False)], (0.0, 0.5), [0.1])]
    worst = [
        case("<b>bold</b>?", "first at 3", [{"id": "d", "text": "wanted"}], [{"id": "e", "text": "</div>"}], ["a"])
    ]
    return DatasetFigures(
        name,
        passages=10,
        questions=2,
        several=True,
        legs=compare_legs(each),
        agent=figures,
        curve=curve,
        foreign=1,
        stages={"encode": 3.0, "search": 1.0},
        worst=worst,
        each=each,
    )


def test_the_page_loads_nothing_and_draws_every_plot() -> None:
    shown = page([measured()])
    assert not re.search(r"(?:src|href)=[\"']?(?!#)|@import|url\(", shown.replace('href="#', ""))
    assert shown.count("<svg") == 5  # bars, two curves, two bars of time


def test_what_documents_and_people_say_is_text_on_the_page() -> None:
    shown = page([measured()])
    assert "&lt;b&gt;bold&lt;/b&gt;?" in shown
    assert "<b>bold</b>" not in shown
    assert "&lt;/div&gt;" in shown


def test_draws_the_abstention_curve_only_if_a_question_is_unanswerable() -> None:
    assert "nothing here answers" in page([measured()])
    alone = replace(measured(), foreign=0, agent=None)
    assert "nothing here answers" not in page([alone])


def test_several_searches_are_held_against_one_on_the_same_questions() -> None:
    gap = measured().legs["agent"]["over_one_search"][ALL_EVIDENCE]
    assert (gap["mean"], gap["low"], gap["high"]) == (0.5, 0.5, 0.5)
    assert any("agent over one search, all evidence@10: +0.500" in line for line in lines_of(measured()))


def test_sets_that_need_all_their_evidence_are_pooled_question_by_question() -> None:
    together = pool_sets([measured("a", agent=1.0), measured("b", agent=0.5)])
    assert together is not None
    assert together.questions == 4
    assert together.legs["agent"]["metrics"]["nDCG@10"]["mean"] == 0.75
    assert together.legs["agent"]["over_one_search"]["nDCG@10"]["mean"] == 0.25


def test_one_set_or_a_set_of_single_answers_is_not_pooled() -> None:
    assert pool_sets([measured()]) is None
    assert pool_sets([measured("a"), replace(measured("b"), several=False)]) is None


def test_a_set_holds_its_own_baseline(tmp_path: Path) -> None:
    keep_baseline(tmp_path / "kept" / "baseline.json", [measured()])
    assert worse_than(tmp_path / "kept" / "baseline.json", [measured()]) == []


def test_a_fall_below_the_baseline_is_told_with_the_sets_name(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps({"set": {"agent right answers": 3.0}}), encoding="utf-8")
    assert worse_than(tmp_path / "b.json", [measured()]) == ["set: agent right answers fell from 3.000 to 1.000."]


def test_a_baseline_of_another_set_is_refused(tmp_path: Path) -> None:
    keep_baseline(tmp_path / "b.json", [measured("other")])
    with pytest.raises(ConfigurationError, match="baseline of other"):
        worse_than(tmp_path / "b.json", [measured()])


def test_foreign_questions_come_from_other_sets_or_else_from_the_samples() -> None:
    one = Dataset("one", (Query("q", "one?", {"d": 1}),), (CorpusDocument("d", "", "text"),))
    two = Dataset("two", (Query("q", "two?", {"d": 1}),), (CorpusDocument("d", "", "text"),))
    assert [query.text for query in foreign_to(one, [one, two])] == ["two?"]
    samples = read(SAMPLES / "eval", None)
    assert {query.text for query in foreign_to(one, [one])} <= {query.text for query in samples.queries}
    assert foreign_to(samples, [samples]) == ()


def test_an_excerpt_is_the_part_that_holds_the_answer() -> None:
    parts = Excerpts({"d": ("How many days of leave there are is told here.", "27 days.")})
    assert parts.of("d", Query("q", "How many days of leave?", {"d": 1}, answers=("27 days",))) == "27 days."
    assert parts.of("d", Query("q", "How many days of leave?", {"d": 1})).startswith("How many")
    assert parts.of("gone", Query("q", "?", {"gone": 1})) == ""
