"""Whether a reply answers a question, and whether its asker is content."""

import pytest

from core.model.person_answers import PersonAnswer
from core.service.answer_replies import AskerSays, after_asker, after_reply, asker_says, could_answer, is_clear

QUESTION = "How many jobs a day does the build server take?"


@pytest.mark.parametrize(
    "text",
    [
        "The build server has a quota of 40 jobs a day.",
        "Yes, 40 jobs a day.",
        "You can raise it in Settings, under Quota.",
        "Run `make quota` and it prints the number.",
        "Es sind 40 Aufträge am Tag.",
        "> how many?\nForty a day, and ten on weekends.",
        "The limit is described at https://example.com/quota: 40 a day.",
    ],
)
def test_a_statement_could_answer(text: str) -> None:
    assert could_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Good question",
        "Which server do you mean?",
        "Have you tried restarting it?",
        "I'll look into it",
        "let me check with the team",
        "On it!",
        "https://example.com/quota",
        "see https://example.com/quota",
        "not sure, 40 maybe",
        "I think it is 40 jobs",
        "No idea, sorry",
        "same here, I have this problem since Monday",
        "any update on this",
        "lol, just turn it off and on again",
        "It runs on hamsters :joy:",
        "thanks for asking!",
        "You're welcome, hope this helps",
        "@bob knows this",
        "cc @alice @bob",
        "please post the log so that we see more",
        "This is a duplicate of yesterday's question",
        "that worked for me, thanks",
        "> The quota is 40 jobs a day.",
        "word " * 600,
    ],
)
def test_what_is_in_doubt_is_no_answer(text: str) -> None:
    assert not could_answer(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("thanks!", AskerSays.CONTENT),
        ("Thank you Bob, that works", AskerSays.CONTENT),
        ("danke dir", AskerSays.CONTENT),
        ("that did the trick", AskerSays.CONTENT),
        ("works now", AskerSays.CONTENT),
        ("ok", AskerSays.WAITS),
        ("thanks, I'll try", AskerSays.WAITS),
        ("thanks in advance", AskerSays.WAITS),
        ("thanks, but it still fails", AskerSays.GOES_ON),
        ("thanks, and on weekends?", AskerSays.GOES_ON),
        ("that doesn't work", AskerSays.GOES_ON),
        ("we are on version 3", AskerSays.GOES_ON),
    ],
)
def test_only_clear_thanks_are_content(text: str, says: AskerSays) -> None:
    assert asker_says(text) is says


def test_of_one_author_the_longest_reply_counts_and_of_two_none_is_clear() -> None:
    call = PersonAnswer(id="1")
    first = after_reply(call, "bob", "1", "The build server takes 40 jobs a day.")
    assert (first.answerer, first.message, first.rival) == ("bob", "1", False)
    assert after_reply(first, "bob", "2", "And ten on weekends.") == first
    longer = after_reply(first, "bob", "3", "The build server takes 40 jobs a day, and ten of them on weekends.")
    assert longer.message == "3"
    assert after_reply(first, "carol", "4", "The old build server took 30 jobs.").rival


def test_a_further_question_leaves_no_reply_clear_and_a_remark_drops_it() -> None:
    first = after_reply(PersonAnswer(id="1"), "bob", "1", "The build server takes 40 jobs a day.")
    remark, question = after_asker(first, "we are on version 3"), after_asker(first, "and on weekends?")
    assert (remark.message, remark.rival) == ("", False)
    assert (question.message, question.rival) == ("", True)


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("The build server takes 40 jobs a day.", True),
        ("I run 40 jobs a day on my own build server.", False),
        ("Bring an umbrella, it rains all week.", False),
    ],
)
def test_in_silence_only_a_reply_in_the_questions_words_is_clear(text: str, clear: bool) -> None:
    call = after_reply(PersonAnswer(id="1"), "bob", "1", text)
    assert is_clear(call, text, QUESTION) is clear
    assert not is_clear(after_asker(call, "hm, version 3"), text, QUESTION)
