"""Replies that need no search."""

from datetime import UTC, datetime

import pytest

from core.agent.ungrounded_reply import reason_to_search
from core.model.answer import Citation, Outcome
from core.model.conversation import Audience, ContextMessage, Person, Thread, ThreadKey, Turn
from core.model.inquiry import AnswerPolicy, Inquiry, Reply
from core.model.knowledge import KnowledgeBase
from core.model.profile import Behaviour
from tests.core.agent.fixtures import library, passage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ThreadKey("console", "", "terminal", "t")
ADA = Person("p", "Ada")
PERIOD = passage(1, "Refunds are paid within 14 days of the request.")
TALK = Thread(
    KEY,
    turns=(
        Turn(
            "How long do refunds take?",
            "Refunds are paid within 14 days [1].",
            Outcome.ANSWERED,
            ADA,
            NOW,
            "trace",
            citations=(Citation(1, 1, "p1", "default", "doc1.md", "Document 1", "", "…", 0.8),),
        ),
    ),
)


def doubt(message: str, reply: str, thread: Thread | None = None, behaviour: Behaviour = Behaviour.BALANCED) -> str:
    asked = Inquiry(
        "trace",
        message,
        KEY,
        ADA,
        Audience(),
        NOW,
        policy=AnswerPolicy(behaviour=behaviour),
        bases=(KnowledgeBase("handbook", "How we work at Helio"),),
        library=library(PERIOD).carry_over(),
    )
    return reason_to_search(Reply(reply), asked, thread or Thread(KEY))


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("hi", "Hello, Ada! How can I help you today?"),
        ("Good morning!", "Good morning! Ask me anything about the handbook, and I'll look it up."),
        ("hi there, how are you?", "I'm doing well, thank you! What would you like to know?"),
        ("thanks, that was quick", "You're welcome! Glad I could help."),
        ("perfect, thank you so much", "Happy to help!"),
        ("Danke!", "Gern geschehen! Ich helfe Ihnen gern bei weiteren Fragen."),
        ("Hallo Footnote, wie geht es dir?", "Hallo! Mir geht es gut, danke. Wie kann ich helfen?"),
        ("Bonjour, comment ça va ?", "Bonjour ! Ça va très bien, merci."),
        ("who are you?", "I'm Footnote: I look things up in Helio documents and cite where it says so."),
        (
            "what can you do?",
            "I search your team's documents, answer with their sources, and say when they are silent.",
        ),
        ("what did I ask you before?", "We have not talked about anything yet."),
    ],
)
def test_small_talk_goes_out(message: str, reply: str) -> None:
    assert doubt(message, reply) == ""


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("explain that more simply", "You get your money back within 14 days [1]."),
        ("shorter please", "In short: two weeks [1]."),
        ("can you say that again?", "Refunds are paid within 14 days [1]."),
        ("what did I ask?", "You asked 1 question: how long refunds take."),
        ("summarise this conversation", "1. You asked how long refunds take.\n2. I said: within 14 days."),
        ("what did you say about refunds?", "Refunds are paid within 14 days."),
        ("where does that come from?", "From *Document 1* [1]."),
    ],
)
def test_what_the_conversation_holds_goes_out(message: str, reply: str) -> None:
    assert doubt(message, reply, TALK) == ""


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("What is the limit?", "The limit is 500."),
        ("What is the limit?", "The limit is five hundred."),
        ("Can contractors carry leave over?", "Yes, they can."),
        ("tell me who approves refunds", "They are approved by Finance."),
        ("refund approval", "They are approved by the finance team."),
        ("hi", "Hello! Did you know that the limit is 500?"),
        ("thanks", "You are welcome, and please ask Grace about the rest."),
        ("Wie hoch ist das Limit?", "Das Limit liegt bei fünfhundert."),
        ("Is the limit 500?", "Yes, it is 500."),
    ],
)
def test_a_fact_that_nobody_said_is_searched_for(message: str, reply: str) -> None:
    assert doubt(message, reply)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("And for enterprise?", "Refunds are paid within 14 days."),
        ("How long do refunds take?", "Refunds are paid within 90 days."),
        ("And who pays the refunds?", "Finance pays them."),
        ("Who takes refunds?", "The finance desk takes them."),
        ("explain that more simply", "You get your money back within 30 days."),
        ("explain that more simply", "You get your money back from the Billing desk."),
    ],
)
def test_a_follow_up_may_not_bring_in_what_nobody_said(message: str, reply: str) -> None:
    assert doubt(message, reply, TALK)


def test_what_others_said_around_us_counts_as_said() -> None:
    around = Thread(KEY, context=(ContextMessage("Grace", "The planner died at 9:15 with error 503."),))
    assert doubt("what did Grace say?", "Grace said that the planner died at 9:15 with error 503.", around) == ""
    assert doubt("what did Grace say?", "Grace said that the planner died at 9:15 with error 503.")


def test_a_number_may_come_from_the_evidence_that_the_reply_cites() -> None:
    bare = Thread(KEY, summary="They talked about refunds.")
    assert doubt("explain that more simply", "Within 14 days [1].", bare) == ""
    assert "14" in doubt("explain that more simply", "Within 14 days.", bare)


def test_conservative_behaviour_searches_whatever_names_a_subject() -> None:
    assert doubt("the refund policy", "It is a fine policy.", behaviour=Behaviour.CONSERVATIVE)
    assert doubt("the refund policy", "It is fine.") == ""
    assert doubt("hi", "Hello!", behaviour=Behaviour.CONSERVATIVE) == ""


def test_a_reply_may_name_where_people_meet_it_and_nowhere_else() -> None:
    reply = "Hello! You can ask me here or in Zulip."
    asked = Inquiry("trace", "hi", KEY, ADA, Audience(), NOW)
    assert reason_to_search(Reply(reply), asked, Thread(KEY), "Zulip Matrix") == ""
    assert "Zulip" in reason_to_search(Reply(reply), asked, Thread(KEY))
