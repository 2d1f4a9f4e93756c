"""What is kept of an answer in Slack: which messages show it, how far it is, and what leads from them back to it."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.model.conversation import ThreadKey
from core.model.message_records import QuestionState
from core.model.records import NUMBERED, PERSON, THREAD, Record


class AnswerStage(StrEnum):
    """How far an answer is, as far as it is visible."""

    UNSEEN = ""
    OPEN = "open"  # its first message is being posted, or stands there
    PRIVATE = "private"  # its asker alone was told that it comes
    CONCLUDING = "concluding"  # its end is being shown
    OFFERED = "offered"  # a card waits for a choice
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class SlackQuestionState(QuestionState):
    """The messages that show one answer, by their ``ts``."""

    state: AnswerStage = AnswerStage.UNSEEN
    ts: str = ""  # the first
    parts: tuple[str, ...] = field(default=(), metadata=NUMBERED)  # those that follow it, of a long one
    cards: tuple[str, ...] = ()  # earlier first messages: cards that led on to what stands there now
    direct: str = ""  # the direct message in which it was said, where its place took none
    direct_ts: tuple[str, ...] = ()
    edit: str = ""  # the delivery of the last edit that called it off

    @property
    def is_worked_on(self) -> bool:
        """From its first sign until a card or the answer stands there; again after a choice."""
        return self.state in {AnswerStage.OPEN, AnswerStage.PRIVATE, AnswerStage.CONCLUDING}


@dataclass(frozen=True, kw_only=True)
class VisibleAnswer(Record, place="{thread}", subject="shown:{ts}"):
    """Which question a message of ours is the answer to: a stop names only that message."""

    thread: ThreadKey = field(metadata=THREAD)
    ts: str
    subject: str = ""  # the question's message
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})


@dataclass(frozen=True, kw_only=True)
class CurrentAnswer(Record, place="{thread}", subject="current"):
    """The question that was answered last in a thread: a stop may name only that thread."""

    thread: ThreadKey = field(metadata=THREAD)
    subject: str = ""
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})


@dataclass(frozen=True, kw_only=True)
class LatestInChannel(Record, place="{channel}", subject="latest"):
    """The thread in which somebody was answered last in a channel; ``channel`` is the key of a thread without one."""

    channel: ThreadKey
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    trace: str = ""
    asker: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class PartnersMentioned(Record, place="{channel}", subject="partners", installation=True):
    """That an answer in a channel said that people of another organization read it."""

    channel: ThreadKey
    at: float = 0.0  # seconds since the epoch


@dataclass(frozen=True, kw_only=True)
class LatestOfPerson(Record, place="{channel}", subject="latest:{asker}"):
    """The thread in which one person was answered last in a channel: commands cannot name one."""

    channel: ThreadKey
    asker: str = field(metadata=PERSON)
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    trace: str = ""
