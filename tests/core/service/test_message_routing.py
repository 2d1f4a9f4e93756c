"""When the bot speaks up and when it keeps quiet."""

from dataclasses import replace

import pytest

from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import OUR_MENTION, IncomingMessage, MessageRoute
from core.service.answer_wish import WEIGHTS, MessageFacts, signals_of, wish_for_answer
from core.service.message_routing import could_be_answered, route_message

KEY = ThreadKey("paper", "T", "C", "1")
ALONE = MessageFacts("", in_our_thread=True, by_last_asker=True, follows_answer=True)  # the asker and we
COLLEAGUE = replace(ALONE, by_last_asker=False)  # who writes right after our answer
COMPANY = replace(ALONE, follows_answer=False, in_company=True)  # the asker, after a colleague


def route(text: str, facts: MessageFacts, **more: bool) -> MessageRoute:
    return route_message(replace(facts, text=text, **more)).route  # type: ignore[arg-type]


def mentioned(wording: str, **more: bool) -> MessageRoute:
    marked = wording.replace("@Footnote", OUR_MENTION)
    facts = MessageFacts(marked.replace(OUR_MENTION, "").strip(" ,:"), marked, mentions_us=True)
    return route_message(replace(facts, **more)).route  # type: ignore[arg-type]


# --- put to us


@pytest.mark.parametrize(
    "wording",
    [
        "@Footnote",
        "@Footnote how long is a refund",
        "@Footnote refund period",
        "hi all. @Footnote, is Frankfurt the standby region?",
        "how long is a refund, @Footnote?",
        "Hey folks, could @Footnote tell us who approves a refund of 300 euros? thanks",
        "@priya @Footnote what happens after 100 failures?",
        "not sure, but @Footnote what happens after 100 failures?",
        "@Footnote @priya what happens after 100 failures?",
        "@Footnote no, I meant the monthly plan",
        "guten Morgen @Footnote, wann verfällt der Urlaub",
    ],
)
def test_a_mention_that_asks_is_answered(wording: str) -> None:
    assert mentioned(wording) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "wording",
    [
        "ask @Footnote later",
        "bob, have you tried what @Footnote says about the cold odometer?",
        "@bob let's not bother @Footnote with it",
        "I used the numbers from @Footnote",
        "@Footnote usually knows, I'm afk",
        "frag doch nachher einfach @Footnote, ich muss los",
        "marta no te preocupes, @Footnote ya me lo explicó",
    ],
)
def test_a_mention_that_only_speaks_of_us_gets_nothing(wording: str) -> None:
    assert mentioned(wording, mentions_others="@bob" in wording) is MessageRoute.KEEP_QUIET


@pytest.mark.parametrize(
    "wording",
    [
        "thanks @Footnote",
        "@Footnote thanks, exactly what I needed",
        "ok no worries @Footnote, thank you anyway",
        "@Footnote you're a star",
        "thanks @Footnote. @bob are you going to quote that to them?",
    ],
)
def test_thanks_to_us_ask_nothing(wording: str) -> None:
    assert mentioned(wording) is MessageRoute.THANKED


@pytest.mark.parametrize(
    "text", ["how long is a refund?", "refund period", "my refund was due on Monday and has not come"]
)
def test_a_direct_message_is_answered(text: str) -> None:
    assert route(text, MessageFacts("", direct=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["brilliant thank you so much", "supi dnake", "got it", "ok", "🎉", "grcias!!"])
def test_thanks_in_a_direct_message_ask_nothing(text: str) -> None:
    assert route(text, MessageFacts("", direct=True)) is MessageRoute.THANKED


def test_a_file_alone_in_a_direct_message_is_answered() -> None:
    assert route("", MessageFacts("", direct=True, has_files=True)) is MessageRoute.ANSWER


def test_a_reply_to_us_is_answered_when_it_asks() -> None:
    for text in ("the reply time on Extended?", "and on Extended"):
        assert route(text, MessageFacts("", wording=text, mentions_us=True)) is MessageRoute.ANSWER
    for text in ("got it", "haha mine is worse", "😮", "spot on, and it cites the right section"):
        assert route(text, MessageFacts("", wording=text, mentions_us=True)) is MessageRoute.THANKED


def test_what_is_asked_with_a_command_or_a_button_is_answered_whatever_it_says() -> None:
    assert route("thanks", MessageFacts("", mentions_us=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "Footnote, what about two small ones?",
        "hey footnote how long is a refund",
        "how long is a refund, footnote?",
        "dear bot, since which release is it 8?",
        "bot, does it cover add-ons?",
        "footnoet, and for renewals?",
    ],
)
def test_our_name_without_a_mention_is_an_address(text: str) -> None:
    assert route(text, COMPANY) is MessageRoute.ANSWER
    assert route(text, MessageFacts("", in_channel=True)) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["the footnote says 14 days", "footnote 3 is wrong", "did footnote answer that?"])
def test_our_name_within_a_sentence_is_no_address(text: str) -> None:
    assert route(text, COMPANY) is MessageRoute.KEEP_QUIET


# --- the asker, while only we two talk


@pytest.mark.parametrize(
    "text",
    [
        "And for enterprise?",
        "how do I change it",
        "what about the other one",
        "until when",
        "we are a charity, do we get a discount",
        "are you sure?",
        "no, I meant the monthly plan",
        "That is wrong",
        "that's not what I asked",
        "more details please",
        "and Depot",
        "the archive too",
        "et à temps partiel",
        "nein, ich meinte den timeout für jobs",
        "perdón, quería decir el de conexión",
    ],
)
def test_a_follow_up_of_the_asker_needs_no_mention(text: str) -> None:
    assert route(text, ALONE) is MessageRoute.ANSWER
    assert route(text, ALONE, mentions_others=True) is MessageRoute.KEEP_QUIET


@pytest.mark.parametrize(
    "text",
    [
        "I told them, will do",
        "no worries",
        "the wrong one is on my desk",
        "nice city by the way, was there in June",
        "done, posted there",
        "moved it and deleted the mail",
        "Priya this is the case I told you about",
        "bob, is that right?",
        "```$ bp queue depth```",
    ],
)
def test_a_remark_of_the_asker_is_left_alone(text: str) -> None:
    assert route(text, ALONE) is MessageRoute.KEEP_QUIET


def test_the_answer_to_our_question_back_is_for_us() -> None:
    assert route("my laptop has stopped", ALONE) is MessageRoute.KEEP_QUIET
    assert route("my laptop has stopped", ALONE, asked_back=True) is MessageRoute.ANSWER


@pytest.mark.parametrize(
    "text",
    ["never mind, found it", "hat sich erledigt", "laisse tomber", "da igual", "what a surprise", "ok I'll tell them"],
)
def test_what_ends_the_matter_asks_nothing(text: str) -> None:
    assert route(text, ALONE) is MessageRoute.KEEP_QUIET
    assert route(text, MessageFacts("", direct=True)) is MessageRoute.THANKED


def test_words_of_our_answer_make_a_follow_up_of_a_sentence() -> None:
    answered = replace(ALONE, answered="How long is a refund? 14 days for monthly plans, 45 for annual ones [1].")
    assert route("the annual plans are through a partner", answered) is MessageRoute.ANSWER
    assert route("the weather is through the roof", answered) is MessageRoute.KEEP_QUIET


def test_every_signal_has_a_weight() -> None:
    assert signals_of("and for enterprise?", ALONE) <= WEIGHTS.keys()
    assert wish_for_answer({"asks by its words"}) > wish_for_answer(()) > wish_for_answer({"closes"})


# --- once others write


@pytest.mark.parametrize("facts", [COMPANY, replace(COMPANY, by_last_asker=False)], ids=["the asker", "a colleague"])
@pytest.mark.parametrize(
    "text",
    [
        "are you sure it makes the trip?",
        "bob, didn't you change that last sprint?",
        "oh, did anything break?",
        "when was that",
        "with which railcard?",
        "Um welche Uhrzeit?",
        "Tuesday morning, before the handover?",
        "shall we tell the customer?",
        "and Depot",
        "no, I meant the monthly plan",
    ],
)
def test_people_who_talk_to_each_other_are_left_alone(facts: MessageFacts, text: str) -> None:
    assert route(text, facts) is MessageRoute.KEEP_QUIET


def test_a_question_that_is_put_to_nobody_is_answered_if_certain() -> None:
    for facts in (COMPANY, replace(COMPANY, by_last_asker=False)):
        decided = route_message(replace(facts, text="in which languages is the training offered?"))
        assert decided.route is MessageRoute.ANSWER_IF_CERTAIN


def test_a_colleague_who_asks_right_after_our_answer_may_lean_on_it() -> None:
    assert route("how many vehicles does that include?", COLLEAGUE) is MessageRoute.ANSWER_IF_CERTAIN
    assert route("which day was your taxi?", COLLEAGUE) is MessageRoute.KEEP_QUIET


@pytest.mark.parametrize("text", ["thanks, I'll try that", "I asked Sam, he's on it", "ok", "🎉"])
def test_chatter_in_our_thread_is_left_alone(text: str) -> None:
    assert route(text, COLLEAGUE) is MessageRoute.KEEP_QUIET


def test_a_question_in_a_thread_that_is_not_ours_is_left_alone() -> None:
    assert route("how long is a refund?", MessageFacts("")) is MessageRoute.KEEP_QUIET


def test_a_choice_is_for_us_whoever_has_written() -> None:
    assert route("the job timeout", COMPANY, chooses=True) is MessageRoute.ANSWER


# --- commands


def test_a_muted_thread_stays_quiet_until_we_are_named() -> None:
    assert route("and for enterprise?", ALONE, muted=True) is MessageRoute.KEEP_QUIET
    assert mentioned("@Footnote and for enterprise?", muted=True) is MessageRoute.ANSWER


@pytest.mark.parametrize("text", ["mute", "Please mute.", "be quiet", "stop answering please"])
def test_we_can_be_muted_without_a_mention(text: str) -> None:
    assert route(text, COLLEAGUE) is MessageRoute.MUTE
    assert mentioned(f"@Footnote {text}") is MessageRoute.MUTE


def test_we_can_be_unmuted_without_a_mention() -> None:
    assert route("unmute", ALONE, muted=True) is MessageRoute.UNMUTE


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("help", MessageRoute.HELP),
        ("Hilfe!", MessageRoute.HELP),
        ("forget", MessageRoute.FORGET_THREAD),
        ("forget me", MessageRoute.FORGET_ME),
        ("settings", MessageRoute.SETTINGS),
    ],
)
def test_the_words_of_the_help_work_when_they_are_put_to_us(text: str, command: MessageRoute) -> None:
    assert mentioned(f"@Footnote {text}") is command
    assert route(text, MessageFacts("", direct=True)) is command
    assert route(text, COMPANY) is MessageRoute.KEEP_QUIET


def test_a_question_about_a_command_is_a_question() -> None:
    assert mentioned("@Footnote how do I mute a noisy alert?") is MessageRoute.ANSWER
    assert mentioned("@Footnote help me with refunds") is MessageRoute.ANSWER


# --- where nobody has named us

UNASKED = MessageFacts("", in_channel=True, answers_unasked=True)


def test_a_question_in_a_channel_is_left_alone_unless_an_admin_wants_it_answered() -> None:
    assert route("how long is a refund?", UNASKED, answers_unasked=False) is MessageRoute.KEEP_QUIET
    assert route("how long is a refund?", UNASKED) is MessageRoute.ANSWER_IF_CERTAIN


@pytest.mark.parametrize("text", ["lunch is at noon", "thanks!", "mute", "and for enterprise", "bob, is that right?"])
def test_what_is_no_question_to_all_in_a_channel_is_left_alone(text: str) -> None:
    assert route(text, UNASKED) is MessageRoute.KEEP_QUIET


def test_a_question_in_a_channel_that_is_put_to_somebody_is_left_alone() -> None:
    assert route("could you look at this?", UNASKED, mentions_others=True) is MessageRoute.KEEP_QUIET


def test_answers_every_new_post_if_an_admin_chose_that() -> None:
    post = MessageFacts("My refund has not come", opens_post=True)
    assert route_message(post).route is MessageRoute.KEEP_QUIET
    assert route(post.text, post, answers_posts=True) is MessageRoute.ANSWER
    assert route(post.text, post, answers_posts=True, by_moderator=True) is MessageRoute.KEEP_QUIET
    assert route(post.text, post, answers_posts=True, mentions_others=True) is MessageRoute.KEEP_QUIET


def test_a_new_post_is_a_question_like_any_other_where_only_those_are_answered() -> None:
    post = replace(UNASKED, in_channel=False, opens_post=True)
    assert route("how long is a refund?", post) is MessageRoute.ANSWER_IF_CERTAIN
    assert route("My refund has not come", post) is MessageRoute.KEEP_QUIET


def test_where_answers_are_private_nobody_is_answered_unasked() -> None:
    private = ChannelSettings(auto_answer=0.8, reply_style=ReplyStyle.PRIVATE)
    message = IncomingMessage("1", KEY, "how long is a refund?", Person("p", "P"), in_channel=True)
    assert could_be_answered(message, ChannelSettings(auto_answer=0.8))
    assert not could_be_answered(message, private)
    assert not could_be_answered(message, ChannelSettings())
