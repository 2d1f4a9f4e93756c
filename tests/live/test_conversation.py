"""The terminal as dialogue, on the embedded stores, with no model but the packaged one."""

import pytest

from adapters.terminal.operator import OPERATOR
from bot.container import Footnote
from core.model.answer import Outcome
from core.model.conversation import Audience, ThreadKey
from core.model.events import AgentCompleted, RetrievalStarted
from core.service.question_service import Question
from tests.live.conftest import Dialogue

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_a_question_is_answered_with_a_citation_that_can_be_checked(dialogue: Dialogue) -> None:
    shown = await dialogue.say("How long are driver positions kept?")
    assert "kept for 90 days" in shown
    assert "[1] Data protection and security overview" in shown
    assert "page 2" in shown
    assert "Driver positions are kept for 90 days" in await dialogue.say("/quote 1")


async def test_a_follow_up_is_understood_from_the_thread(dialogue: Dialogue) -> None:
    await dialogue.say("How long are driver positions kept?")
    assert "18 months" in await dialogue.say("And the delivery photos?")


@pytest.mark.parametrize("greeting", ["Hello!", "Thanks, that helps!", "good morning"])
async def test_a_greeting_is_answered_without_a_search(dialogue: Dialogue, greeting: str) -> None:
    shown = await dialogue.say(greeting)
    assert "0 searches" in shown
    assert "Searched" not in shown


async def test_what_the_documents_do_not_say_is_not_said(dialogue: Dialogue) -> None:
    shown = await dialogue.say("Does the company pay for dental treatment?")
    assert "I couldn't find this" in shown or "found nothing that answers" in shown


async def test_an_unclear_question_is_asked_back_with_choices_to_press(dialogue: Dialogue) -> None:
    shown = await dialogue.say("How do I configure the timeout?")
    assert "1 " in shown
    checkpoint = dialogue.chat.open_checkpoint
    assert checkpoint is not None
    assert any("job timeout" in choice.label for choice in checkpoint.choices)
    answer = await dialogue.say("the job timeout")
    assert "job_timeout_seconds" in answer
    assert dialogue.chat.open_checkpoint is None


async def test_a_chosen_reading_is_answered_and_no_other(dialogue: Dialogue) -> None:
    await dialogue.say("How do I configure the timeout?")
    answer = await dialogue.say("the connection timeout")
    assert "The connection timeout is 10 seconds" in answer
    assert "job_timeout_seconds" not in answer
    assert "Rate limits" not in answer


async def test_an_older_version_is_not_quoted_without_the_newer_one(dialogue: Dialogue) -> None:
    answer = await dialogue.say("Who approves a refund?")
    assert "The Head of Customer Support" in answer
    assert "Every refund is approved by the Finance lead" not in answer
    assert "Not quoted, another version of it: Refund policy (2024) (2024-03-01)." in " ".join(answer.split())


async def test_what_answers_one_part_of_a_question_is_not_quoted_for_the_other(dialogue: Dialogue) -> None:
    answer = await dialogue.say("What changed in version 5 and who approves a refund?")
    first, second = answer.split("On “who approves a refund?”")
    assert "Refund policy (2026), section" not in first
    assert "Refund policy (2026), section Who approves" in second


async def test_a_thread_goes_on_after_a_new_one_was_begun_elsewhere(dialogue: Dialogue, footnote: Footnote) -> None:
    await dialogue.say("How many days of annual leave do I get?")
    other = Dialogue(footnote)
    other.chat.thread = dialogue.chat.thread
    assert "five days" in await other.say("And how many can I carry over?")


async def test_why_is_told_and_not_searched(dialogue: Dialogue) -> None:
    assert "no answer to explain yet" in await dialogue.say("/why")
    await dialogue.say("How long are driver positions kept?")
    told = await dialogue.say("why?")
    assert "I searched" in told
    assert "counted as evidence" in told
    assert "Wrote a draft" not in told


async def test_the_trace_tells_what_happened(dialogue: Dialogue) -> None:
    await dialogue.say("How long are driver positions kept?")
    shown = await dialogue.say("/trace")
    for step in ("AGENT_STARTED", "AGENT_ROUTING_DECISION", "AGENT_RETRIEVAL_COMPLETED", "AGENT_COMPLETED"):
        assert step in shown


async def test_an_unknown_command_and_an_unknown_quote_say_so(dialogue: Dialogue) -> None:
    assert "There is no command /nonsense" in await dialogue.say("/nonsense")
    assert "no source" in await dialogue.say("/quote 7")


async def test_only_the_named_base_is_read(footnote: Footnote) -> None:
    await footnote.ingestor.ensure_base("empty")
    key = ThreadKey("console", "", "terminal", "only-empty")
    question = Question(
        "How long are driver positions kept?", key, OPERATOR, Audience(unrestricted=True), bases=frozenset({"empty"})
    )
    events = [event async for event in footnote.question_service.ask(question)]
    assert isinstance(events[-1], AgentCompleted)
    assert events[-1].answer.outcome is Outcome.ABSTAINED
    assert any(isinstance(event, RetrievalStarted) for event in events)


async def test_no_step_of_a_scale_is_left_out_between_two_that_are_quoted(dialogue: Dialogue) -> None:
    await dialogue.say("How long do customers have to ask for their money back?")
    await dialogue.say("no, I meant the monthly plan")
    answer = await dialogue.say("and who approves it?")
    steps = ("The support agent who handles the case", "Above €250 and up to €2,000 The Head of", "The Finance lead")
    assert all(step in answer for step in steps), answer


async def test_why_does_not_list_all_that_there_is_where_a_source_was_not_found(dialogue: Dialogue) -> None:
    await dialogue.say("What is the job timeout?")
    await dialogue.say("what is its maximum?")
    why = await dialogue.say("why?")
    assert "(“its” read as job timeout)" in why
    assert "Sources:" not in why
