"""Who talks where: threads, turns, people, and the audience that bounds the evidence."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote, unquote

from core.model.answer import Citation, Outcome
from core.model.principals import channel_principal


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Where one conversation lives. ``space`` is the workspace or guild; empty parts are allowed."""

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
        """The channel, qualified: the id under which settings and grants know it."""
        return channel_principal(self.platform, self.space, self.channel)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone on a platform. ``id`` is qualified (``platform:space/id``), so that two platforms never collide."""

    id: str
    name: str = ""


# Stands where somebody who was forgotten is named in work that goes on without them: a job, a decision, a schedule.
FORGOTTEN = Person("forgotten", "someone who was forgotten since")


@dataclass(frozen=True, slots=True)
class Audience:
    """Who will be able to read an answer, as the principals that grants may name.

    A channel, a role, a group or a person is a principal. Everybody in the audience must be allowed to see the
    evidence, so a channel's audience holds the channel itself and what all its readers share, never what one has.
    """

    principals: frozenset[str] = frozenset()
    unrestricted: bool = False  # the operator at the terminal, who owns the data directory anyway
    public: bool = False  # everybody of the workspace or server may read there: what is said there is no secret
    open_bases: frozenset[str] | None = None  # of the bases that are open to everyone only these; None: all
    administers: bool = False  # an admin's eyes alone: every base, but of a source's mirrored ones only those granted

    @property
    def is_shared(self) -> bool:
        """Whether a place reads along: what one person alone may read is not for it."""
        held = self.principals
        return any(":channel:" in one for one in held) and not any(":user:" in one for one in held)


class Role(StrEnum):
    """Whether a message of the surrounding thread was a person's or ours."""

    PERSON = "person"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """An earlier message of the thread we were pulled into, or a file that hangs on the question.

    ``unread`` says why a file has no text; empty where it has.
    """

    author: str
    text: str
    role: Role = Role.PERSON
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its outcome, as the thread remembers it."""

    question: str
    answer: str
    outcome: Outcome
    asker: Person
    at: datetime
    trace_id: str
    rewritten: str = ""  # the self-contained question that was searched for; empty when nothing was
    citations: tuple[Citation, ...] = ()
    knowledge_bases: frozenset[str] = (
        frozenset()
    )  # whose words the answer may carry: its audience is re-checked by these

    @property
    def source_bases(self) -> tuple[str, ...]:
        """The bases that it cites; where it cites nothing, those that its words may come from."""
        cited = tuple(dict.fromkeys(citation.knowledge_base for citation in self.citations))
        return cited or tuple(sorted(self.knowledge_bases))

    def readable_by(self, visible: frozenset[str]) -> bool:
        """Return whether nothing in this turn comes from a base that is not visible (any more)."""
        return self.knowledge_bases <= visible


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn as a follow-up leans on it: the question, the answer where it is known, the titles it cited."""

    question: str
    answer: str = ""
    titles: tuple[str, ...] = ()
    is_settled: bool = True  # false where it was asked back, or parked, and left at that


@dataclass(frozen=True, slots=True)
class Thread:
    """What the reasoner is shown of a conversation: a summary, recent turns, and older ones recalled."""

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
        """Return the same thread without any turn or summary that this audience may not read."""
        return replace(
            self,
            turns=tuple(turn for turn in self.turns if turn.readable_by(visible)),
            recalled=tuple(turn for turn in self.recalled if turn.readable_by(visible)),
            summary=self.summary if self.summary_bases <= visible else "",
            summary_bases=self.summary_bases if self.summary_bases <= visible else frozenset(),
        )
