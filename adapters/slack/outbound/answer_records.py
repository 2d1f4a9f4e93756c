"""Records of an answer in Slack: the messages that show it, its stage, and lookups from a message to its question."""

from dataclasses import dataclass, field

from core.model.conversation import ThreadKey
from core.model.records import PERSON, THREAD, AnswerStage, ChatQuestionState, Record


@dataclass(frozen=True, kw_only=True)
class SlackQuestionState(ChatQuestionState):
    """The messages that show one answer, by their ``ts``. ``channel`` is stored for a direct message only."""

    stage: AnswerStage = field(default=AnswerStage.UNSEEN, metadata={"stored": "state"})
    first: str = field(default="", metadata={"stored": "ts"})
    channel: str = field(default="", metadata={"stored": "direct"})
    edit: str = ""  # delivery id of the latest edit that cancelled the work


@dataclass(frozen=True, kw_only=True)
class VisibleAnswer(Record, place="{thread}", subject="shown:{ts}"):
    """The question that a message of ours answers. A stop names only that message."""

    thread: ThreadKey = field(metadata=THREAD)
    ts: str
    subject: str = ""  # the question's message
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})


@dataclass(frozen=True, kw_only=True)
class CurrentAnswer(Record, place="{thread}", subject="current"):
    """The latest question answered in a thread. A stop may name only the thread."""

    thread: ThreadKey = field(metadata=THREAD)
    subject: str = ""
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})


@dataclass(frozen=True, kw_only=True)
class LatestInChannel(Record, place="{channel}", subject="latest"):
    """The thread of the latest answer in a channel. ``channel`` is a thread key without a thread."""

    channel: ThreadKey
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    trace: str = ""
    asker: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class PartnersMentioned(Record, place="{channel}", subject="partners", installation=True):
    """The record that an answer told a channel that people of another organization read it."""

    channel: ThreadKey
    at: float = 0.0  # seconds since the epoch


@dataclass(frozen=True, kw_only=True)
class LatestOfPerson(Record, place="{channel}", subject="latest:{asker}"):
    """The thread of one person's latest answer in a channel, because a command names no thread."""

    channel: ThreadKey
    asker: str = field(metadata=PERSON)
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    trace: str = ""
