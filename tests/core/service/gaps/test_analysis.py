"""Gaps: which questions count, who sees them, and with what details."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.model.answer import Outcome
from core.model.conversation import Person
from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase
from core.ports.usage import QuestionVector
from core.service.gaps.analysis import Reader
from core.service.gaps.digest import GapOverview
from core.service.gaps.report import GapReason, GapReport, Trend
from tests.core.service.gaps.planted import BOARD, EVERYTHING, HANDBOOK, House
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.stores import InProcessAudit, InProcessMemory

DAY = timedelta(days=1)
MONTH = 30 * DAY
PARKING = "Where may I park?"


@pytest.fixture
async def house() -> House:
    house = House(HashingEncoder())
    await house.furnish()
    return house


async def report_of(house: House, reader: Reader = EVERYTHING) -> GapReport:
    return await house.analysis.report(MONTH, reader)


async def test_the_same_question_of_many_people_is_one_gap(house: House) -> None:
    for number in range(3):
        await house.asks(PARKING, by=f"slack:T/U{number}", ago=(number + 1) * DAY)
    await house.asks("How do I unjam the franking machine?")
    first, second = (await report_of(house)).gaps
    assert (first.title, first.questions, first.people) == (PARKING, 3, 3)
    assert first.places == (("slack:channel:T/C1", 3),)
    assert (first.last_at - first.first_at) == 2 * DAY
    assert [near.document for near in first.nearest] == [HANDBOOK]
    assert second.questions == 1


async def test_every_way_not_to_be_answered_well_is_a_reason(house: House) -> None:
    await house.asks("aaa bbb", outcome=Outcome.ABSTAINED)
    await house.asks("ccc ddd", outcome=Outcome.PARKED)
    await house.dislikes(await house.asks("eee fff", outcome=Outcome.ANSWERED))
    await house.log.mark_corrected((await house.asks("ggg hhh", outcome=Outcome.ANSWERED)).trace_id)
    for fine in (Outcome.ANSWERED, Outcome.CLARIFIED, Outcome.REFUSED, Outcome.FAILED):
        await house.asks("iii jjj", outcome=fine)
    gaps = (await report_of(house)).gaps
    assert {gap.title: set(gap.reasons) for gap in gaps} == {
        "aaa bbb": {GapReason.ABSTAINED},
        "ccc ddd": {GapReason.UNANSWERED},
        "eee fff": {GapReason.DISLIKED},
        "ggg hhh": {GapReason.CORRECTED},
    }


async def test_only_the_period_counts(house: House) -> None:
    await house.asks(PARKING, ago=31 * DAY)
    assert (await report_of(house)).asked == 0


@pytest.mark.parametrize(
    ("days_ago", "trend"),
    [((1, 2), Trend.NEW), ((1, 2, 3, 20), Trend.RISING), ((1, 20), Trend.STEADY), ((1, 20, 25), Trend.FALLING)],
)
async def test_a_trend_is_the_second_half_against_the_first(
    house: House, days_ago: tuple[int, ...], trend: Trend
) -> None:
    for days in days_ago:
        await house.asks(PARKING, ago=days * DAY)
    (gap,) = (await report_of(house)).gaps
    assert gap.trend is trend
    assert sum(gap.weeks) == len(days_ago)
    assert len(gap.weeks) == 5


async def test_a_title_is_never_a_private_question(house: House) -> None:
    await house.asks(PARKING, private=True)
    await house.asks("Where may I park my car?")
    (gap,) = (await report_of(house)).gaps
    assert gap.title == "Where may I park my car?"
    assert (gap.questions, gap.private) == (2, 1)
    assert [example.question for example in gap.examples] == ["Where may I park my car?"]
    assert gap.places == (("slack:channel:T/C1", 1),)


async def test_what_two_people_asked_in_private_is_counted_and_not_shown(house: House) -> None:
    for number in range(2):
        await house.asks(PARKING, by=f"slack:T/U{number}", private=True)
    report = await report_of(house)
    assert report.gaps == ()
    assert (report.withheld_gaps, report.withheld_questions) == (1, 2)


async def test_what_the_operator_asked_is_shown_to_the_operator_alone(house: House) -> None:
    asked = await house.asks(PARKING)
    await house.log.keep(replace(asked, for_operator=True))
    report = await report_of(house)
    assert (report.gaps, report.withheld_questions) == ((), 1)
    (gap,) = (await report_of(house, replace(EVERYTHING, is_operator=True))).gaps
    assert (gap.title, gap.private) == (PARKING, 0)


async def test_what_three_people_asked_in_private_is_shown_without_words(house: House) -> None:
    for number in range(3):
        await house.asks(PARKING, by=f"slack:T/U{number}", private=True)
    (gap,) = (await report_of(house)).gaps
    assert (gap.title, gap.examples, gap.places) == ("", (), ())
    assert gap.people == 3
    assert not gap.can_be_drafted


async def test_documents_that_a_reader_may_not_see_are_not_named(house: House) -> None:
    await house.asks(PARKING, nearest=(BOARD, HANDBOOK))
    await house.asks("aaa bbb", outcome=Outcome.ANSWERED, cited=(BOARD,), conflicts=((BOARD, HANDBOOK),))
    report = await report_of(house, Reader(frozenset({"handbook"})))
    (gap,) = report.gaps
    assert [near.document for near in gap.nearest] == [HANDBOOK]
    assert (report.most_cited, report.conflicts) == ((), ())
    assert [use.document for use in report.never_cited] == [HANDBOOK]


async def test_an_admin_in_chat_is_told_no_title_of_a_connected_source(house: House) -> None:
    await house.catalog.save_base(KnowledgeBase("board", grants=frozenset({"slack:user:T/U9"}), connection="wiki"))
    await house.asks(PARKING, nearest=(BOARD, HANDBOOK))
    overview = GapOverview(house.analysis, house.catalog, InProcessAudit())
    (line,) = await overview.lines(Person("slack:T/U1", "Ada"), is_admin=True, workspace=("slack", "T"))
    assert HANDBOOK.title in line
    assert BOARD.title not in line


async def test_a_reader_of_one_workspace_sees_nothing_of_another(house: House) -> None:
    await house.asks(PARKING, space="T")
    await house.asks(PARKING, space="OTHER")
    report = await report_of(house, replace(EVERYTHING, workspaces=frozenset({("slack", "T")})))
    assert report.asked == 1
    assert [gap.questions for gap in report.gaps] == [1]


async def test_documents_are_counted_and_old_ones_that_are_cited_are_named(house: House) -> None:
    for _ in range(2):
        await house.asks("aaa bbb", outcome=Outcome.ANSWERED, cited=(BOARD,))
    report = await report_of(house)
    assert [(use.document, use.cited) for use in report.most_cited] == [(BOARD, 2)]
    assert [use.document for use in report.never_cited] == [HANDBOOK]
    assert [(use.document, use.dated) for use in report.stale_cited] == [(BOARD, "2023-05-01")]


async def test_a_document_that_is_gone_is_in_no_list(house: House) -> None:
    await house.asks(PARKING, cited=(HANDBOOK,), conflicts=((BOARD, HANDBOOK),))
    await house.catalog.withdraw(HANDBOOK.id)
    report = await report_of(house)
    assert report.gaps[0].nearest == ()
    assert (report.most_cited, report.conflicts) == ((), ())


async def test_conflicts_are_counted_whichever_of_the_two_came_first(house: House) -> None:
    await house.asks("aaa", outcome=Outcome.ANSWERED, conflicts=((HANDBOOK, BOARD),))
    await house.asks("bbb", outcome=Outcome.ANSWERED, conflicts=((BOARD, HANDBOOK),))
    (conflict,) = (await report_of(house)).conflicts
    assert conflict.documents == (HANDBOOK, BOARD)
    assert conflict.answers == 2


async def test_weeks_count_how_questions_ended_and_what_they_took(house: House) -> None:
    await house.asks("aaa", ago=DAY, seconds=1.0)
    await house.dislikes(await house.asks("bbb", ago=DAY, outcome=Outcome.ANSWERED, seconds=3.0))
    await house.asks("ccc", ago=10 * DAY, outcome=Outcome.FAILED)
    *_, before, last = (await report_of(house)).weeks
    assert (last.asked, last.answered, last.abstained, last.disliked) == (2, 1, 1, 1)
    assert last.seconds_median == 2.0
    assert last.cost == pytest.approx(0.002)
    assert (before.asked, before.failed) == (1, 1)


async def test_vectors_of_another_model_are_counted_apart(house: House) -> None:
    old = await house.asks(PARKING, ago=3 * DAY)
    assert old.vector is not None
    await house.log.keep(replace(old, vector=QuestionVector("another model", old.vector.numbers)))
    await house.asks(PARKING)
    report = await report_of(house)
    assert [gap.questions for gap in report.gaps] == [1]
    assert report.ungrouped == 1


async def test_what_a_forgotten_person_asked_is_in_no_report(house: House) -> None:
    await house.asks(PARKING, by="slack:T/U1")
    await house.asks(PARKING, by="slack:T/U2")
    await InProcessMemory(house.state).forget_person("slack:T/U1")
    assert [gap.people for gap in (await report_of(house)).gaps] == [1]


async def test_a_gap_is_found_by_its_id_as_long_as_its_oldest_question_is_kept(house: House) -> None:
    first = await house.asks(PARKING, ago=3 * DAY)
    await house.asks(PARKING)
    assert (await house.analysis.gap(first.trace_id, MONTH, EVERYTHING)).questions == 2
    with pytest.raises(NotFound):
        await house.analysis.gap("unknown", MONTH, EVERYTHING)
