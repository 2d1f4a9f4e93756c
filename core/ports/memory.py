"""What is kept of threads: turns, parked inquiries, and what people thought of answers."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.model.answer import Citation
from core.model.conversation import Person, ThreadKey, Turn
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.inquiry import Checkpoint, Inquiry


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """What memory holds of a thread: all kept turns oldest first, the summary of those before ``summarised``."""

    turns: tuple[Turn, ...] = ()
    summary: str = ""
    summary_bases: frozenset[str] = frozenset()
    summarised: int = 0  # how many of the thread's turns, ever, the summary covers
    total: int = 0  # how many turns the thread has had, ever
    library: EvidenceLibrary = field(default_factory=EvidenceLibrary)
    muted: bool = False
    open_checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What somebody asked, and where; without its answer, which not everybody may read any more."""

    thread: ThreadKey
    question: str
    at: datetime


class Memory(Protocol):
    """Keeps each thread. Bounded: a number of turns and a time to live; keys of one thread share a hash tag."""

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """Return all that is kept of this thread; an empty record when it is new."""

    async def questions_of(self, person_id: str, threads: int) -> Sequence[AskedQuestion]:
        """Return what this person asked in the threads in which they asked last, at most so many; the newest first.

        Only what was searched for: no greetings, and nothing that was asked back.
        """

    async def remember(
        self, key: ThreadKey, turn: Turn, evidence: Sequence[Evidence], *, fence: int | None = None
    ) -> None:
        """Append a turn and the evidence it cited. The same trace id again replaces that turn.

        Raises LeaseLost when ``fence`` is not the thread's current one.
        """

    async def summarise(self, key: ThreadKey, summary: str, bases: frozenset[str], upto: int) -> None:
        """Replace the summary; it now covers the first ``upto`` turns."""

    async def mute(self, key: ThreadKey, muted: bool) -> None:
        """Keep quiet in a thread, or speak again."""

    async def forget_thread(self, key: ThreadKey) -> bool:
        """Remove everything about a thread; whether there was anything.

        That is its turns, summary and evidence, its checkpoints and traces, feedback on its answers, what is noted of
        its messages, and questions that wait there. What is being worked on at this moment comes to its end.
        """

    async def forget_person(self, person_id: str) -> int:
        """Remove every turn this person asked, and all else that holds their words; how many turns.

        As ``forget_thread``, but theirs alone and in all threads; also the summaries of threads they spoke in, their
        feedback, feedback of others on their questions, proposals of theirs that wait, and their sessions on the page.
        Jobs, decisions, schedules, removals and tokens go on, with nobody's name in them. The audit is not touched.
        """


@dataclass(frozen=True, slots=True)
class ParkedInquiry:
    """An inquiry at rest, with the checkpoint it waits at."""

    checkpoint: Checkpoint
    inquiry: Inquiry


class Checkpoints(Protocol):
    """Where parked inquiries rest."""

    async def park(self, parked: ParkedInquiry) -> None:
        """Keep it, and make it the thread's open checkpoint; an earlier open one of the thread is closed."""

    async def read(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Look without taking; None when it is unknown or taken (by another than ``by``)."""

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Take it, once: of many callers exactly one gets it.

        ``by`` names the claimant (a delivery's id): for a day the same one gets it again, so that a worker which takes
        over after a crash can go on.
        """

    async def due(self, now: datetime) -> Sequence[str]:
        """Ids of those whose expiry has passed and that nobody took."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's word on an answer. The last one of a person on an answer counts."""

    trace_id: str
    person: Person
    helpful: bool
    reason: str = ""
    question: str = ""
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    at: datetime | None = None
    asker: str = ""  # whose question it was, by id; it is forgotten with them too
    thread: str = ""  # the key of the thread it was asked in, as text


class FeedbackStore(Protocol):
    """Keeps what people thought of answers."""

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Keep it; the person's earlier word on the same answer, which it replaces. None where it is their first."""

    def all(self) -> AsyncIterator[Feedback]:
        """Yield everything kept, oldest first."""
