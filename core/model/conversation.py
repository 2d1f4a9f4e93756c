"""Conversations: threads, turns, people, and the audience that limits which evidence may be used."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote, unquote

from core.model.answer import Citation, Outcome
from core.model.principals import channel_principal


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """The key of a conversation. ``space`` is the workspace or guild; empty parts are allowed."""

    platform: str
    space: str
    channel: str
    thread: str

    def __str__(self) -> str:
        return "/".join(quote(part, safe=".-_") for part in (self.platform, self.space, self.channel, self.thread))

    @classmethod
    def parse(cls, text: str) -> "ThreadKey":
        """Return the inverse of ``str``. Raises ValueError unless there are four parts."""
        platform, space, channel, thread = (unquote(part) for part in text.split("/"))
        return cls(platform, space, channel, thread)

    @property
    def place(self) -> str:
        """The channel's qualified id, which settings and grants use."""
        return channel_principal(self.platform, self.space, self.channel)

    @classmethod
    def of_place(cls, place: str) -> "ThreadKey | None":
        """Return the channel of a settings place; None for any other place."""
        platform, _, rest = place.partition(":channel:")
        space, slash, channel = rest.partition("/")
        return cls(platform, space, channel, "") if slash and channel else None


@dataclass(frozen=True, slots=True)
class Person:
    """A person on a platform. ``id`` is qualified (``platform:space/id``), so that ids never collide."""

    id: str
    name: str = ""


# Replaces the name of a forgotten person in work that continues without them: a job, a decision, a schedule.
FORGOTTEN = Person("forgotten", "someone who was forgotten since")


@dataclass(frozen=True, slots=True)
class Audience:
    """The people who will be able to read an answer, as the principals that grants may name.

    A channel, a role, a group or a person is a principal. Everyone in the audience must be allowed to see the evidence.
    So a channel's audience contains the channel and what all its readers share, never what only one reader has.
    """

    principals: frozenset[str] = frozenset()
    unrestricted: bool = False  # the operator at the terminal, who owns the data directory
    public: bool = False  # everyone in the workspace or server may read there
    open_bases: frozenset[str] | None = None  # the only open bases that it may read; None: all of them
    administers: bool = False  # one admin: every base, except mirrored bases not granted to them

    @property
    def is_shared(self) -> bool:
        """Whether the audience is a channel, which may not see what only one person may read."""
        held = self.principals
        return any(":channel:" in one for one in held) and not any(":user:" in one for one in held)


class Role(StrEnum):
    """The author of a message in the surrounding thread: a person or the bot."""

    PERSON = "person"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """An earlier message of a thread that the bot joined, or a file attached to the question.

    ``unread`` says why a file has no text; empty if it has text.
    """

    author: str
    text: str
    role: Role = Role.PERSON
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its outcome, as kept in the thread."""

    question: str
    answer: str
    outcome: Outcome
    asker: Person
    at: datetime
    trace_id: str
    rewritten: str = ""  # the self-contained question that was searched; empty if no search was made
    citations: tuple[Citation, ...] = ()
    knowledge_bases: frozenset[str] = (
        frozenset()
    )  # whose words the answer may carry: its audience is re-checked by these

    @property
    def source_bases(self) -> tuple[str, ...]:
        """The bases that it cites. If it cites nothing, the bases that its words may come from."""
        cited = tuple(dict.fromkeys(citation.knowledge_base for citation in self.citations))
        return cited or tuple(sorted(self.knowledge_bases))

    def readable_by(self, visible: frozenset[str]) -> bool:
        """Return whether all bases that this turn draws on are (still) visible."""
        return self.knowledge_bases <= visible


@dataclass(frozen=True, slots=True)
class Exchange:
    """The parts of a turn that a follow-up refers to: the question, the answer if known, and the cited titles."""

    question: str
    answer: str = ""
    titles: tuple[str, ...] = ()
    is_settled: bool = True  # false if it ended with a question back or a parked inquiry


@dataclass(frozen=True, slots=True)
class Thread:
    """The part of a conversation that the reasoner sees: a summary, recent turns, and older turns recalled."""

    key: ThreadKey
    turns: tuple[Turn, ...] = ()
    summary: str = ""
    summary_bases: frozenset[str] = frozenset()
    recalled: tuple[Turn, ...] = ()
    context: tuple[ContextMessage, ...] = ()
    attachments: tuple[ContextMessage, ...] = ()

    @property
    def last(self) -> Turn | None:
        """The most recent turn, if there is one."""
        return self.turns[-1] if self.turns else None

    def readable_by(self, visible: frozenset[str]) -> "Thread":
        """Return the thread without the turns and the summary that this audience may not read."""
        return replace(
            self,
            turns=tuple(turn for turn in self.turns if turn.readable_by(visible)),
            recalled=tuple(turn for turn in self.recalled if turn.readable_by(visible)),
            summary=self.summary if self.summary_bases <= visible else "",
            summary_bases=self.summary_bases if self.summary_bases <= visible else frozenset(),
        )
