"""A person's answer to a question that the documents did not answer: its states, records and document.

The document's source names the conversation and the message, so that later edits and deletions are followed. Its origin
is the answerer's id, so that it is found and removed when that person is forgotten.
"""

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from core.model.conversation import ThreadKey
from core.model.knowledge import conversation_platform
from core.model.plain_text import one_line
from core.model.records import PERSON, THREAD, Record

ANSWER = "answer "  # prefix of such a document's source
VALID_FOR = timedelta(days=180)  # then its author is asked whether it is still true
ANSWER_WITHIN = timedelta(days=14)  # after that it is shown as unconfirmed
_HEADING = re.compile(r"(?m)^(\s*)(#|[=-]+\s*$)")  # a heading, or the line below one, could name another author


class OfferAction(StrEnum):
    """Buttons about a person's answer. Their values are stored in messages that outlive a restart."""

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
    """A question to one person, with buttons. ``quoted`` is the verbatim text that it is about.

    ``channel`` is where to ask on the platform; empty: in a direct message.
    """

    id: str
    thread: ThreadKey
    person: str  # their qualified id
    text: str
    quoted: str
    actions: tuple[OfferAction, ...]
    channel: str = ""


class AnswerState(StrEnum):
    """States of a question to a person."""

    OPEN = "open"
    ANSWERED = "answered"  # the answerer was asked whether it may be kept
    KEPT = "kept"
    DECLINED = "declined"


@dataclass(frozen=True, kw_only=True)
class PersonAnswer(Record, place="answers/{id}", subject="answer"):
    """A question for which *Ask a person* was pressed. ``id`` is the trace of the bot's answer; no text is kept here.

    ``answerer`` and ``message`` identify the reply that may solve it, of ``size`` words. ``talked``: the asker wrote
    again. ``rival``: two people replied or more was asked, so it is unclear which reply solves it.
    """

    id: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)
    caller: str = ""  # the person who pressed the button
    state: AnswerState = AnswerState.OPEN
    answerer: str = ""
    message: str = ""
    channel: str = ""
    size: int = 0
    rival: bool = False
    talked: bool = False
    changes: int = 0  # number of changes, so that of two concurrent ones only one is saved

    @property
    def key(self) -> ThreadKey:
        """The thread that it is in."""
        return self.thread or ThreadKey("", "", "", "")


@dataclass(frozen=True, kw_only=True)
class LastCall(Record, place="{thread}", subject="called"):
    """The last question in a thread for which a person was called, by the trace of the bot's answer."""

    thread: ThreadKey = field(metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)
    trace: str = ""


@dataclass(frozen=True, kw_only=True)
class WaitingReply(Record, place="answers", subject="waiting", entry="{id}", installation=True):
    """A reply that solves a question unless its asker writes again, and when it was written (epoch)."""

    id: str
    at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Confirmation(Record, place="answers/{id}", subject="confirmation"):
    """A kept answer whose author was asked whether it is still true, and when (epoch)."""

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
    """Return whether it is time to ask the author whether the answer is still true."""
    return bool(dated) and today >= date.fromisoformat(dated) + VALID_FOR


def is_unconfirmed(dated: str, today: date) -> bool:
    """Return whether the answer was not confirmed in time."""
    return bool(dated) and today >= date.fromisoformat(dated) + VALID_FOR + ANSWER_WITHIN


def answer_markdown(question: str, author: str, text: str, *, written: datetime, dated: str, today: date) -> str:
    """Return the document: the question, who answered, and the verbatim text.

    The heading names the author and the state of confirmation, because a source line shows the heading.
    """
    state = ""
    if is_unconfirmed(dated, today):
        state = f", not confirmed since {dated}"
    elif dated > f"{written:%Y-%m-%d}":
        state = f", confirmed {dated}"
    said = _HEADING.sub(r"\1\\\2", "\n".join(text.strip().splitlines()))
    return f"# {one_line(question)}\n\n## Answered by {one_line(author)}{state}\n\n{said}\n"
