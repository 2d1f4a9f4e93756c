"""Suggested follow-ups: from unused evidence, answerable, and asked once."""

from dataclasses import replace

import pytest

from core.model.answer import FollowUp
from core.model.channel_settings import ChannelSettings, ChosenSettings, channel_settings
from core.model.conversation import Audience
from core.model.errors import AlreadyDone, ModelUnavailable, NotFound
from core.model.inquiry import AnswerPolicy
from core.model.knowledge import Passage
from core.service.follow_ups import follow_up_on
from tests.core.harness import ALICE, BOB, Harness, Told, user_actions

ON = AnswerPolicy(follow_ups=True)
STAFF = Audience(frozenset({"staff"}))
LEAVE = (
    "Annual leave is 27 days in each calendar year, and five of them may be carried over.",
    "Parental leave is 20 weeks, fully paid, for every new parent, whichever parent they are.",
    "Sick leave: tell your lead by ten in the morning on the first day that you are ill.",
    "A sabbatical of three months can be taken after five years; it is leave without pay.",
)


@pytest.fixture
async def harness() -> Harness:
    harness = Harness()
    await harness.knows(*LEAVE, title="Leave", grants=STAFF.principals)
    return harness


async def asked(harness: Harness, question: str = "How much annual leave is there?", **more: object) -> Told:
    harness.script.enqueue("compose", _citing_the_first)
    return await harness.asks(question, audience=STAFF, policy=ON, **more)  # type: ignore[arg-type]


def _citing_the_first(_inquiry: object, _thread: object, evidence: tuple[object, ...]) -> str:
    return f"It is 27 days [{evidence[0].id}]."  # type: ignore[attr-defined]


async def test_nothing_is_suggested_unless_it_is_switched_on(harness: Harness) -> None:
    harness.script.enqueue("compose", _citing_the_first)
    told = await harness.asks("How much annual leave is there?", audience=STAFF)
    assert told.answer.follow_ups == ()
    assert not AnswerPolicy().follow_ups
    chosen = ChosenSettings.from_mapping({"follow_ups": "yes"})
    assert channel_settings(ChannelSettings(), chosen).policy.follow_ups


async def test_two_sections_that_were_found_and_not_used_are_suggested(harness: Harness) -> None:
    told = await asked(harness)
    (used,) = told.answer.citations
    suggested = told.answer.follow_ups
    assert len(suggested) == 2
    assert used.place not in {one.label.removeprefix("More on: ") for one in suggested}
    assert all(one.question.startswith("What does “Leave” say about “Section ") for one in suggested)
    assert all(len(one.label) <= 40 for one in suggested)


async def test_what_its_passage_does_not_answer_is_not_suggested(harness: Harness) -> None:
    harness.script.enqueue("grade", 8)  # of the question itself
    harness.script.always("grade", 2)
    assert (await asked(harness)).answer.follow_ups == ()


async def test_what_an_earlier_answer_of_the_thread_was_from_is_not_suggested_again(harness: Harness) -> None:
    first = await asked(harness)
    pressed = first.answer.follow_ups[0]
    second = await asked(harness, pressed.question)
    cited = {one.place.partition(",")[0] for told in (first, second) for one in told.answer.citations}
    assert not cited & {one.label.removeprefix("More on: ") for one in second.answer.follow_ups}


async def test_an_answer_comes_without_suggestions_where_making_them_fails(harness: Harness) -> None:
    harness.script.enqueue("grade", 8, ModelUnavailable("It is away."))
    told = await asked(harness)
    assert told.text == "It is 27 days [1]."
    assert told.answer.follow_ups == ()


async def test_a_suggestion_is_asked_once_and_by_who_may_read_the_answer(harness: Harness) -> None:
    told, thread, act = await asked(harness), harness.key("t"), user_actions(harness)
    async with act.answers.ask_follow_up(thread, told.trace_id, 1, BOB, STAFF) as suggested:
        assert suggested == told.answer.follow_ups[0]
    with pytest.raises(AlreadyDone):
        async with act.answers.ask_follow_up(thread, told.trace_id, 1, ALICE, STAFF):
            pass
    async with act.answers.ask_follow_up(thread, told.trace_id, 2, ALICE, STAFF) as suggested:
        assert suggested == told.answer.follow_ups[1]
    for trace, number, reader in ((told.trace_id, 3, STAFF), (told.trace_id, 0, STAFF), ("0" * 16, 1, STAFF)):
        with pytest.raises(NotFound):
            async with act.answers.ask_follow_up(thread, trace, number, ALICE, reader):
                pass
    with pytest.raises(NotFound):
        async with act.answers.ask_follow_up(thread, told.trace_id, 1, ALICE, Audience(frozenset({"strangers"}))):
            pass


async def test_a_press_that_could_not_be_put_in_line_can_be_made_again(harness: Harness) -> None:
    told, thread, act = await asked(harness), harness.key("t"), user_actions(harness)
    with pytest.raises(ModelUnavailable):
        async with act.answers.ask_follow_up(thread, told.trace_id, 1, ALICE, STAFF):
            raise ModelUnavailable("The line is full.")
    async with act.answers.ask_follow_up(thread, told.trace_id, 1, ALICE, STAFF) as suggested:
        assert suggested == told.answer.follow_ups[0]


async def test_what_was_suggested_to_somebody_is_forgotten_with_them(harness: Harness) -> None:
    told, thread, act = await asked(harness), harness.key("t"), user_actions(harness)
    await harness.memory.forget_person(ALICE.id)
    with pytest.raises(NotFound):
        async with act.answers.ask_follow_up(thread, told.trace_id, 1, ALICE, STAFF):
            pass


TEXT = "Refunds are paid to the card that was charged, and we take no fee for that."
GERMAN = "Die Erstattung wird auf die Karte gebucht, mit der bezahlt wurde, und das ist für Sie kostenlos."


@pytest.mark.parametrize(
    ("heading", "text", "expected"),
    [
        (
            "How it is paid",
            TEXT,
            FollowUp("More on: How it is paid", "What does “Refunds” say about “How it is paid”?"),
        ),
        ("10.2. Credits", TEXT, FollowUp("More on: Credits", "What does “Refunds” say about “Credits”?")),
        ("Can I have it in cash?", TEXT, FollowUp("Can I have it in cash?", "Can I have it in cash?")),
        ("Karten", GERMAN, FollowUp("Mehr zu: Karten", "Was steht in „Refunds“ zu „Karten“?")),
    ],
)
def test_a_question_is_made_of_a_heading_in_the_language_of_its_text(
    heading: str, text: str, expected: FollowUp
) -> None:
    assert follow_up_on(passage(heading, text)) == expected


@pytest.mark.parametrize("heading", ["Overview", "Leave", "3.1", "", "x" * 100])
async def test_a_heading_that_names_no_topic_is_not_suggested(heading: str) -> None:
    harness = Harness()
    headings = ("Annual leave", heading, "Sick leave", heading)
    await harness.knows(*LEAVE, title="Leave", grants=STAFF.principals, headings=headings)
    labels = {one.label for one in (await asked(harness)).answer.follow_ups}
    assert labels
    assert labels <= {"More on: Annual leave", "More on: Sick leave"}


def passage(heading: str, text: str) -> Passage:
    made = Passage("p1", "default", "d9", "v1", "s9", 0, "Refunds", text)
    return replace(made, heading=(heading,) if heading else ())
