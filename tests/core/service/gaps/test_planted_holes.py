"""Two hundred questions with twelve planted gaps, grouped with the packaged model."""

from collections import Counter
from datetime import timedelta

import pytest

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from core.model.json_codec import to_json
from core.service.gaps.report import Gap, GapReport, as_csv
from tests.core.service.gaps.planted import CANARY, EVERYTHING, Planted, lived_in, planted

pytestmark = pytest.mark.live


@pytest.fixture
async def rows() -> list[Planted]:
    rows = planted()
    assert len(rows) == 200
    return rows


@pytest.fixture
async def report(rows: list[Planted]) -> GapReport:
    encoder = SentenceTransformerEncoder()
    try:
        return await (await lived_in(encoder, rows)).analysis.report(timedelta(days=30), EVERYTHING)
    finally:
        await encoder.close()


def hole_of(rows: list[Planted]) -> dict[str, str]:
    return {row.question: row.hole for row in rows}


def in_words(report: GapReport) -> list[Gap]:
    """Return the gaps that were asked about in public."""
    return [gap for gap in report.gaps if gap.examples]


async def test_each_of_twelve_holes_is_one_gap_in_the_main(rows: list[Planted], report: GapReport) -> None:
    """At least six of a planted gap's nine public questions share a group, and most of that group belongs to it."""
    holes = hole_of(rows)
    main = Counter[str]()
    for gap in in_words(report):
        ((hole, count),) = Counter(holes[example.question] for example in gap.examples).most_common(1)
        if count * 2 > len(gap.examples):
            main[hole] = max(main[hole], count)
    wanted = {row.hole for row in rows} - {"-", "+"}
    assert len(wanted) == 12
    assert {hole for hole in wanted if main[hole] >= 6} == wanted


async def test_gaps_are_pure_and_a_dozen_holes_make_no_hundred_gaps(rows: list[Planted], report: GapReport) -> None:
    holes = hole_of(rows)
    shown = [[holes[example.question] for example in gap.examples] for gap in in_words(report)]
    pure = sum(Counter(gap).most_common(1)[0][1] for gap in shown if set(gap) != {"-"})
    of_holes = sum(len(gap) for gap in shown if set(gap) != {"-"})
    assert pure / of_holes > 0.85
    assert sum(set(gap) != {"-"} for gap in shown) <= 20


async def test_what_was_answered_is_no_gap(rows: list[Planted], report: GapReport) -> None:
    answered = {row.question for row in rows if row.hole == "+"}
    assert not answered & {example.question for gap in report.gaps for example in gap.examples}
    assert report.asked == 200
    counted = sum(gap.questions for gap in report.gaps) + report.withheld_questions
    assert counted == 200 - len(answered)


async def test_private_questions_count_and_are_nowhere_in_words(rows: list[Planted], report: GapReport) -> None:
    private = [row.question for row in rows if row.where == "private"]
    everywhere = to_json(report) + as_csv(report)
    assert CANARY not in everywhere
    assert [question for question in private if question in everywhere] == []
    assert sum(gap.private for gap in report.gaps) > 0
