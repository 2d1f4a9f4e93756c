"""When the bot speaks up and when it keeps quiet."""

import pytest

from core.model.incoming_events import MessageRoute
from core.model.text import is_question
from core.service.message_routing import MessageFacts, route_message


@pytest.mark.parametrize("text", ["", "hello", "How long is a refund?", "the report is late"])
def test_whoever_is_spoken_to_answers(text: str) -> None:
    assert route_message(MessageFacts(text, mentions_us=True)) is MessageRoute.ANSWER
    assert route_message(MessageFacts(text, direct=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "text", ["And for enterprise?", "how do I change it", "what about the other one", "explain that more simply"]
)
def test_a_follow_up_question_in_our_thread_needs_no_mention(text: str) -> None:
    assert route_message(MessageFacts(text, in_our_thread=True, by_our_asker=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["Can you send me the customer's address?", "And for enterprise?", "who pays them"])
def test_what_another_person_asks_in_our_thread_may_be_meant_for_a_colleague(text: str) -> None:
    heard = MessageFacts(text, in_our_thread=True)
    assert route_message(heard) is (MessageRoute.ANSWER_IF_CERTAIN if is_question(text) else MessageRoute.KEEP_QUIET)


@pytest.mark.parametrize("text", ["thanks, I'll try that", "I asked Sam, he's on it", "ok", "🎉"])
def test_chatter_in_our_thread_is_left_alone(text: str) -> None:
    assert route_message(MessageFacts(text, in_our_thread=True)) is MessageRoute.KEEP_QUIET


def test_a_question_put_to_somebody_else_is_left_alone() -> None:
    heard = MessageFacts("could you look at this?", in_our_thread=True, mentions_others=True)
    assert route_message(heard) is MessageRoute.KEEP_QUIET


def test_a_question_in_a_thread_that_is_not_ours_is_left_alone() -> None:
    assert route_message(MessageFacts("how long is a refund?")) is MessageRoute.KEEP_QUIET


def test_a_muted_thread_stays_quiet_until_we_are_named() -> None:
    assert route_message(MessageFacts("and for enterprise?", in_our_thread=True, muted=True)) is MessageRoute.KEEP_QUIET
    assert route_message(MessageFacts("and for enterprise?", mentions_us=True, muted=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["mute", "Please mute.", "be quiet", "stop answering please"])
def test_we_can_be_muted(text: str) -> None:
    assert route_message(MessageFacts(text, in_our_thread=True)) is MessageRoute.MUTE
    assert route_message(MessageFacts(text, mentions_us=True)) is MessageRoute.MUTE


def test_we_can_be_unmuted_without_a_mention() -> None:
    assert route_message(MessageFacts("unmute", in_our_thread=True, muted=True)) is MessageRoute.UNMUTE


def test_a_question_about_muting_is_a_question() -> None:
    assert route_message(MessageFacts("how do I mute a noisy alert?", mentions_us=True)) is MessageRoute.ANSWER


def test_words_that_answer_an_open_checkpoint_are_for_us() -> None:
    assert (
        route_message(MessageFacts("the job timeout", in_our_thread=True, answers_checkpoint=True))
        is MessageRoute.ANSWER
    )
