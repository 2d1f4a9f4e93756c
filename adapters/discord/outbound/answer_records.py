"""What is kept of an answer on Discord: which messages show it, how far it is, and what leads from them back to it."""

from dataclasses import dataclass, field

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import PERSON, THREAD, UNSTORED, ChatQuestionState, Record


@dataclass(frozen=True, kw_only=True)
class DiscordQuestionState(ChatQuestionState):
    """The messages that show one answer, by their ids, and the place they are in."""

    question: IncomingMessage | None = None
    trace: str = ""  # of the answer that is shown
    mode: str = field(default="", metadata={"stored": "manner"})
    first: str = field(default="", metadata={"stored": "message"})
    chosen: str = ""  # who chose what on the card that led here, in words
    token: str = ""  # of the last press on a private card, under which that can be edited
    token_of: str = ""  # the id of that press


@dataclass(frozen=True, kw_only=True)
class AnsweredTrace(Record, place="discord/trace/{trace}", subject="where"):
    """The question behind a trace: a button names only that."""

    trace: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    subject: str = ""  # the question's message
    asker: str = field(default="", metadata=PERSON | {"stored": "asker"})
    private: bool = False
    asked_at: str = ""  # where a question was asked that is answered elsewhere: channel/message


@dataclass(frozen=True, kw_only=True)
class AnswerMessage(Record, place="discord/message/{message}", subject="where"):
    """The conversation that a message of ours belongs to, where it stands in no thread of its own."""

    message: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class QuestionMessage(Record, place="discord/message/{message}", subject="question"):
    """The conversation that somebody's own message belongs to, where its place does not say so."""

    message: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class LatestConversation(Record, place="discord/last/{place}", subject="where", entry="{reader}"):
    """The conversation of a channel that somebody asked in last: ``reader`` is who, or ``anybody`` for all to see."""

    place: str
    reader: str
    thread: ThreadKey | None = field(default=None, metadata=THREAD)
    asker: str = field(default="", metadata=PERSON | UNSTORED)
