"""When the bot speaks up and when it keeps quiet."""

from dataclasses import replace

import pytest

from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage, MessageRoute
from core.model.questions import is_question
from core.service.message_routing import MessageFacts, could_be_answered, route_message

KEY = ThreadKey("paper", "T", "C", "1")


@pytest.mark.parametrize("text", ["", "hello", "How long is a refund?", "the report is late"])
def test_whoever_is_spoken_to_answers(text: str) -> None:
    assert route_message(MessageFacts(text, mentions_us=True)) is MessageRoute.ANSWER
    assert route_message(MessageFacts(text, direct=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "And for enterprise?",
        "how do I change it",
        "what about the other one",
        "explain that more simply",
        "until when",
        "and for how long",
    ],
)
def test_a_follow_up_question_in_our_thread_needs_no_mention(text: str) -> None:
    assert route_message(MessageFacts(text, in_our_thread=True, by_our_asker=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "no, I meant the monthly plan",
        "I meant for Thistledown.",
        "That is wrong",
        "that's not what I asked",
        "wrong!",
        "more details please",
    ],
)
def test_a_correction_an_objection_and_a_wish_for_more_need_no_mention_of_the_asker(text: str) -> None:
    heard = MessageFacts(text, in_our_thread=True, by_our_asker=True)
    assert route_message(heard) is MessageRoute.ANSWER
    assert route_message(replace(heard, by_our_asker=False)) is MessageRoute.KEEP_QUIET
    assert route_message(replace(heard, mentions_others=True)) is MessageRoute.KEEP_QUIET


@pytest.mark.parametrize("text", ["no, the monthly plan", "no, I'm in sales", "nope, im at the quay"])
def test_a_no_with_a_few_words_may_be_meant_for_a_colleague(text: str) -> None:
    heard = MessageFacts(text, in_our_thread=True, by_our_asker=True)
    assert route_message(heard) is MessageRoute.ANSWER_IF_CERTAIN


@pytest.mark.parametrize("text", ["we are a charity, do we get a discount", "I lost my key. who do I call"])
def test_a_question_at_the_end_of_what_the_asker_tells_is_asked(text: str) -> None:
    heard = MessageFacts(text, in_our_thread=True, by_our_asker=True)
    assert route_message(heard) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["I told them, will do", "we moved, which is nice", "fine, is it"])
def test_a_remark_behind_a_comma_asks_nothing(text: str) -> None:
    assert route_message(MessageFacts(text, in_our_thread=True, by_our_asker=True)) is MessageRoute.KEEP_QUIET


@pytest.mark.parametrize("text", ["no worries", "No.", "the wrong one is on my desk", "I mean well", "more on Monday"])
def test_what_the_asker_says_to_others_is_left_alone(text: str) -> None:
    expected = MessageRoute.ANSWER if text == "I mean well" else MessageRoute.KEEP_QUIET
    assert route_message(MessageFacts(text, in_our_thread=True, by_our_asker=True)) is expected


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


# --- where nobody has named us


def _asked_of_all(text: str, **more: bool) -> MessageRoute:
    facts = MessageFacts(text, in_channel=True, answers_unasked=True)
    return route_message(replace(facts, **more))  # type: ignore[arg-type]


def test_a_question_in_a_channel_is_left_alone_unless_an_admin_wants_it_answered() -> None:
    assert route_message(MessageFacts("how long is a refund?", in_channel=True)) is MessageRoute.KEEP_QUIET
    assert _asked_of_all("how long is a refund?") is MessageRoute.ANSWER_IF_CERTAIN


@pytest.mark.parametrize("text", ["lunch is at noon", "thanks!", "mute", "and for enterprise"])
def test_what_is_no_question_in_a_channel_is_left_alone(text: str) -> None:
    assert _asked_of_all(text) is MessageRoute.KEEP_QUIET


def test_a_question_in_a_channel_that_is_put_to_somebody_is_left_alone() -> None:
    assert _asked_of_all("could you look at this?", mentions_others=True) is MessageRoute.KEEP_QUIET


def test_a_new_post_is_answered_where_an_admin_wants_that_whether_or_not_it_is_a_question() -> None:
    post = MessageFacts("My refund has not come", opens_post=True)
    assert route_message(post) is MessageRoute.KEEP_QUIET
    assert route_message(replace(post, answers_posts=True)) is MessageRoute.ANSWER
    assert route_message(replace(post, answers_posts=True, by_moderator=True)) is MessageRoute.KEEP_QUIET
    assert route_message(replace(post, answers_posts=True, mentions_others=True)) is MessageRoute.KEEP_QUIET


def test_a_new_post_is_a_question_like_any_other_where_only_those_are_answered() -> None:
    assert _asked_of_all("how long is a refund?", in_channel=False, opens_post=True) is MessageRoute.ANSWER_IF_CERTAIN
    assert _asked_of_all("My refund has not come", in_channel=False, opens_post=True) is MessageRoute.KEEP_QUIET


def test_where_answers_are_private_nobody_is_answered_unasked() -> None:
    private = ChannelSettings(auto_answer=0.8, reply_style=ReplyStyle.PRIVATE)
    message = IncomingMessage("1", KEY, "how long is a refund?", Person("p", "P"), in_channel=True)
    assert could_be_answered(message, ChannelSettings(auto_answer=0.8))
    assert not could_be_answered(message, private)
    assert not could_be_answered(message, ChannelSettings())
