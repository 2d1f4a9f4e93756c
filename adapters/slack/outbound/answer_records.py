"""What is kept of an answer in Slack: which messages show it, how far it is, and what leads from them back to it."""

from dataclasses import dataclass, field

from core.model.conversation import ThreadKey
from core.model.records import PERSON, THREAD, AnswerStage, ChatQuestionState, Record


@dataclass(frozen=True, kw_only=True)
class SlackQuestionState(ChatQuestionState):
    """The messages that show one answer, by their ``ts``. ``channel`` is kept of a direct message alone."""

    stage: AnswerStage = field(default=AnswerStage.UNSEEN, metadata={"stored": "state"})
    first: str = field(default="", metadata={"stored": "ts"})
    channel: str = field(default="", metadata={"stored": "direct"})
    edit: str = ""  # the delivery of the last edit that called it off


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
