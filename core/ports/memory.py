"""Memory of threads: turns, parked inquiries, and feedback on answers."""

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
    """The memory of a thread: its stored turns, oldest first, and the summary of the first ``summarised`` turns."""

    turns: tuple[Turn, ...] = ()
    summary: str = ""
    summary_bases: frozenset[str] = frozenset()
    summarised: int = 0  # number of the thread's turns, counted from the first ever, that the summary covers
    total: int = 0  # number of turns the thread has ever had
    library: EvidenceLibrary = field(default_factory=EvidenceLibrary)
    muted: bool = False
    open_checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A person's question and its thread, without the answer, which some may no longer read."""

    thread: ThreadKey
    question: str
    at: datetime


class Memory(Protocol):
    """Store of threads, bounded by a number of turns and a time to live. Keys of one thread share a hash tag."""

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """Return everything stored for this thread; an empty record if it is new."""

    async def questions_of(self, person_id: str, threads: int) -> Sequence[AskedQuestion]:
        """Return this person's questions in the last ``threads`` threads where they asked, newest first.

        Only questions that were searched for: no greetings, and no questions that the bot answered with a question.
        """

    async def remember(
        self, key: ThreadKey, turn: Turn, evidence: Sequence[Evidence], *, fence: int | None = None
    ) -> None:
        """Append a turn and the evidence it cited. The same trace id replaces that turn.

        Raises LeaseLost if ``fence`` is not the thread's current one.
        """

    async def summarise(self, key: ThreadKey, summary: str, bases: frozenset[str], upto: int) -> None:
        """Replace the summary. It now covers the first ``upto`` turns."""

    async def mute(self, key: ThreadKey, muted: bool) -> None:
        """Mute the bot in a thread, or unmute it."""

    async def forget_thread(self, key: ThreadKey) -> bool:
        """Delete everything about a thread. Return whether there was anything.

        This covers its turns, summary and evidence, its checkpoints and traces, feedback on its answers, records about
        its messages, and questions that wait there. Work in progress is completed.
        """

    async def forget_person(self, person_id: str) -> int:
        """Delete every turn that this person asked, and everything else with their words. Return how many turns.

        Like ``forget_thread``, but only for this person, in all threads. Also deletes the summaries of threads they
        spoke in, their feedback, others' feedback on their questions, their waiting proposals, and their sessions on
        the page. Jobs, decisions, schedules, removals and tokens continue without a name. The audit log is not changed.
        """


@dataclass(frozen=True, slots=True)
class ParkedInquiry:
    """A parked inquiry with the checkpoint at which it waits."""

    checkpoint: Checkpoint
    inquiry: Inquiry


class Checkpoints(Protocol):
    """Store of parked inquiries."""

    async def park(self, parked: ParkedInquiry) -> None:
        """Save an inquiry, and make it the thread's open checkpoint. An earlier open one of the thread is closed."""

    async def read(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Return the parked inquiry without claiming it; None if it is unknown or claimed (by another than ``by``)."""

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Claim a parked inquiry. Of many callers exactly one gets it.

        ``by`` identifies the claimant (a delivery's id). For a day the same claimant gets it again, so that a worker
        that takes over after a crash can continue.
        """

    async def due(self, now: datetime) -> Sequence[str]:
        """Return the ids of expired checkpoints that nobody claimed."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's rating of an answer. Only a person's last rating of an answer counts."""

    trace_id: str
    person: Person
    helpful: bool
    reason: str = ""
    question: str = ""
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    at: datetime | None = None
    asker: str = ""  # id of the person who asked; it is forgotten with them too
    thread: str = ""  # key of the question's thread, as text


class FeedbackStore(Protocol):
    """Store of feedback on answers."""

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Save feedback. Return the feedback of this person on this answer that it replaces; None without one."""

    def all(self) -> AsyncIterator[Feedback]:
        """Yield all feedback, oldest first."""
