"""A person's answer to a question that the documents did not answer: its states, its records, and its document.

The document's source names the conversation and the message, so that edits and deletions there are followed; its origin
is the answerer's id, so that it is found and removed when they are forgotten.
"""

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from core.model.conversation import ThreadKey
from core.model.knowledge import conversation_platform
from core.model.plain_text import one_line
from core.model.records import PERSON, THREAD, Record

ANSWER = "answer "  # the source of such a document begins with it
VALID_FOR = timedelta(days=180)  # then its author is asked whether it still holds
ANSWER_WITHIN = timedelta(days=14)  # after that it is shown as not confirmed
_HEADING = re.compile(r"(?m)^(\s*)(#|[=-]+\s*$)")  # or the line below one: a heading could name another author


class OfferAction(StrEnum):
    """A button about a person's answer; its value is kept in buttons that outlive a restart."""

    SOLVED = "solved"
    KEEP = "keep"
    NOT_THIS = "not-this"
    STILL_TRUE = "still-true"
    REMOVE = "remove"


OFFER_LABELS = {
    OfferAction.SOLVED: "That answers it",
    OfferAction.KEEP: "Keep it",
    OfferAction.NOT_THIS: "Not this",
    OfferAction.STILL_TRUE: "Still true",
    OfferAction.REMOVE: "Remove",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A question to one person, with buttons. ``quoted`` is the text that it is about, word for word.

    ``channel`` is where on the platform it is asked; empty: in a direct message.
    """

    id: str
    thread: ThreadKey
    person: str  # their qualified id
    text: str
    quoted: str
    actions: tuple[OfferAction, ...]
    channel: str = ""


class AnswerState(StrEnum):
    """How far a question to a person is."""

    OPEN = "open"
    ANSWERED = "answered"  # and the answerer was asked whether it may be kept
    KEPT = "kept"
    DECLINED = "declined"


@dataclass(frozen=True, kw_only=True)
class PersonAnswer(Record, place="answers/{id}", subject="answer"):
    """A question for which *Ask a person* was pressed. ``id`` is the trace of our answer; no words are kept here.

    ``answerer`` and ``message`` name the reply that may solve it, of ``size`` words; ``talked``: the asker went
    on; ``rival``: two people replied, or more was asked, so that it is unclear which reply solves it.
    """

    id: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)
    caller: str = ""  # the person who pressed
    state: AnswerState = AnswerState.OPEN
    answerer: str = ""
    message: str = ""
    channel: str = ""
    size: int = 0
    rival: bool = False
    talked: bool = False
    changes: int = 0  # how often it was changed: of two at once one is kept

    @property
    def key(self) -> ThreadKey:
        """The thread that it is in."""
        return self.thread or ThreadKey("", "", "", "")


@dataclass(frozen=True, kw_only=True)
class LastCall(Record, place="{thread}", subject="called"):
    """The last question in a thread for which a person was called, by the trace of our answer."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str = ""


@dataclass(frozen=True, kw_only=True)
class WaitingReply(Record, place="answers", subject="waiting", entry="{id}", installation=True):
    """A reply that solves a question unless its asker goes on, and when it was written (epoch)."""

    id: str
    at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Confirmation(Record, place="answers/{id}", subject="confirmation"):
    """A kept answer whose author was asked whether it still holds, and when (epoch)."""

    id: str
    owner: str = field(default="", metadata=PERSON)
    document: str = ""
    at: float = 0.0


def answer_source(conversation: str, message: str) -> str:
    """Return the source of the document that keeps this message of a conversation."""
    return f"{ANSWER}{conversation} {message}"


def is_answer(source: str) -> bool:
    """Return whether a document keeps a person's answer."""
    return source.startswith(ANSWER) and bool(conversation_platform(source))  # "answer key.pdf" is a file


def answer_place(source: str) -> tuple[str, str]:
    """Return the conversation and the message that a kept answer comes from."""
    conversation, _, message = source.removeprefix(ANSWER).rpartition(" ")
    return conversation, message


def is_due(dated: str, today: date) -> bool:
    """Return whether its author is to be asked whether an answer still holds."""
    return bool(dated) and today >= date.fromisoformat(dated) + VALID_FOR


def is_unconfirmed(dated: str, today: date) -> bool:
    """Return whether nobody has said in time that it still holds."""
    return bool(dated) and today >= date.fromisoformat(dated) + VALID_FOR + ANSWER_WITHIN


def answer_markdown(question: str, author: str, text: str, *, written: datetime, dated: str, today: date) -> str:
    """Return the document: the question, who answered, and the text word for word.

    The author is in the heading because a source line shows that, and so is what became of the confirmation.
    """
    state = ""
    if is_unconfirmed(dated, today):
        state = f", not confirmed since {dated}"
    elif dated > f"{written:%Y-%m-%d}":
        state = f", confirmed {dated}"
    said = _HEADING.sub(r"\1\\\2", "\n".join(text.strip().splitlines()))
    return f"# {one_line(question)}\n\n## Answered by {one_line(author)}{state}\n\n{said}\n"
