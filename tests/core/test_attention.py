"""When the bot speaks up and when it keeps quiet."""

import pytest

from core.attention import Attention, Heard, attention


@pytest.mark.parametrize("text", ["", "hello", "How long is a refund?", "the report is late"])
def test_whoever_is_spoken_to_answers(text: str) -> None:
    assert attention(Heard(text, mentions_us=True)) is Attention.ANSWER
    assert attention(Heard(text, direct=True)) is Attention.ANSWER


@pytest.mark.parametrize(
    "text", ["And for enterprise?", "how do I change it", "what about the other one", "explain that more simply"]
)
def test_a_follow_up_question_in_our_thread_needs_no_mention(text: str) -> None:
    assert attention(Heard(text, in_our_thread=True, by_our_asker=True)) is Attention.ANSWER


@pytest.mark.parametrize("text", ["thanks, I'll try that", "I asked Sam, he's on it", "ok", "🎉"])
def test_chatter_in_our_thread_is_left_alone(text: str) -> None:
    assert attention(Heard(text, in_our_thread=True)) is Attention.KEEP_QUIET


def test_a_question_put_to_somebody_else_is_left_alone() -> None:
    heard = Heard("could you look at this?", in_our_thread=True, mentions_others=True)
    assert attention(heard) is Attention.KEEP_QUIET


def test_a_question_in_a_thread_that_is_not_ours_is_left_alone() -> None:
    assert attention(Heard("how long is a refund?")) is Attention.KEEP_QUIET


def test_a_muted_thread_stays_quiet_until_we_are_named() -> None:
    assert attention(Heard("and for enterprise?", in_our_thread=True, muted=True)) is Attention.KEEP_QUIET
    assert attention(Heard("and for enterprise?", mentions_us=True, muted=True)) is Attention.ANSWER


@pytest.mark.parametrize("text", ["mute", "Please mute.", "be quiet", "stop answering please"])
def test_we_can_be_muted(text: str) -> None:
    assert attention(Heard(text, in_our_thread=True)) is Attention.MUTE
    assert attention(Heard(text, mentions_us=True)) is Attention.MUTE


def test_we_can_be_unmuted_without_a_mention() -> None:
    assert attention(Heard("unmute", in_our_thread=True, muted=True)) is Attention.UNMUTE


def test_a_question_about_muting_is_a_question() -> None:
    assert attention(Heard("how do I mute a noisy alert?", mentions_us=True)) is Attention.ANSWER


def test_words_that_answer_an_open_checkpoint_are_for_us() -> None:
    assert attention(Heard("the job timeout", in_our_thread=True, answers_checkpoint=True)) is Attention.ANSWER
