"""What core needs of the world, in its own words. Adapters implement these; contract suites hold them to it.

Every call may raise ``core.errors.Unavailable`` (or the subclass its adapter names); none blocks the event loop, and
every wait inside an implementation has a deadline.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias, overload

from core.answer import Citation, Claim, ClaimVerdict
from core.conversation import Person, Thread, ThreadKey, Turn
from core.events import TracedEvent
from core.evidence import Evidence, EvidenceLibrary, Grade
from core.ingestion.parsed import Parsed
from core.inquiry import AskBack, Checkpoint, Decision, Inquiry, Plan
from core.knowledge import Document, KnowledgeBase, Passage, Section

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from core.budget import Meter

    Vectors: TypeAlias = npt.NDArray[np.float32]
else:  # numpy costs a tenth of a second, and nobody here touches a number
    Vectors = object


class Clock(Protocol):
    """The time, so that tests can own it."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only ever grow."""


# --- the mind ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restarted:
    """In a stream of draft text: forget what came before, another reasoner begins again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """In place of a draft that was attempted: the evidence does not answer this, or not this alone.

    ``missing`` may say what to look for. ``unclear`` asks back, with the readings that the evidence answers each in its
    own way. Only where ``Inquiry.attempt`` is set. What came before it in the stream is void.
    """

    missing: str = ""
    unclear: AskBack | None = None


DraftPart = str | Restarted | Withheld


@dataclass(frozen=True, slots=True)
class Judgement(Sequence[Grade]):
    """Grades, in order, of a reasoner that said in the same breath how to go on, so that it need not be asked.

    ``decision`` is None where it did not: then ``Reasoner.decide`` is asked, as after grades that come alone.
    """

    grades: tuple[Grade, ...]
    decision: Decision | None = None

    def __len__(self) -> int:
        return len(self.grades)

    @overload
    def __getitem__(self, index: int) -> Grade: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Grade, ...]: ...

    def __getitem__(self, index: int | slice) -> Grade | tuple[Grade, ...]:
        return self.grades[index]


class Reasoner(Protocol):
    """Decides and writes. An LLM and the extractive reasoner are the same to the loop.

    Every method is given the ``meter`` of the inquiry, reports what it uses to it, and raises ``BudgetExhausted``
    (from the meter) before a call that would go over, ``ModelUnavailable`` when it cannot work.
    """

    @property
    def name(self) -> str:
        """Who wrote this: shown with the answer and kept in the trace."""

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: "Meter") -> Plan:
        """Reply, ask back, or search and for what."""

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: "Meter") -> Sequence[Grade]:
        """One grade for each piece of evidence, in order; as a ``Judgement`` it may hold the decision as well."""

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: "Meter") -> Decision:
        """Whether the graded evidence suffices, what is missing, or which readings to offer."""

    def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: "Meter"
    ) -> AsyncIterator[DraftPart]:
        """The answer as Markdown in pieces, with ``[id]`` markers of the given evidence."""

    async def check(self, inquiry: Inquiry, claims: Sequence[Claim], meter: "Meter") -> Sequence[ClaimVerdict]:
        """One verdict for each claim, in order, against the evidence it cites in ``inquiry.library``."""

    async def critique(self, inquiry: Inquiry, answer: str, meter: "Meter") -> str:
        """What of the question the answer leaves open, as a search query; empty when it is complete."""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: "Meter") -> str:
        """The summary, extended by these turns that are about to leave the window."""


class Purse(Protocol):
    """What all answers of a day may cost together, across processes."""

    async def reserve(self, amount: float) -> bool:
        """Set this much of today's budget aside, or say that it is not there. Of many callers none overspends."""

    async def settle(self, reserved: float, spent: float) -> None:
        """Give back what was set aside, and book what was spent."""


# --- knowledge -----------------------------------------------------------------------------------------------------


class Encoder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def name(self) -> str:
        """The model, as the index remembers it."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. Cached and fast: this is on the way of every question."""

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32. For many texts; yields to queries that arrive meanwhile."""

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text under this model, without truncation."""

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads."""


class Reranker(Protocol):
    """Judges query and passage together."""

    @property
    def available(self) -> bool:
        """Whether a model is loaded; without one the fused order stands."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """A probability in [0, 1] for each text, or None when no model is available."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see: always the bases, and one source where it is asked for (its id in the catalogue)."""

    bases: frozenset[str]
    documents: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Legs:
    """The two legs of one search, each best first: (passage, score)."""

    dense: tuple[tuple[Passage, float], ...] = ()
    bm25: tuple[tuple[Passage, float], ...] = ()


class Index(Protocol):
    """Holds passages with their vectors and their lexical index. Filters inside the query, never after it."""

    async def search(self, text: str, vector: "Vectors", scope: Scope, limit: int) -> Legs:
        """Both legs together, at most ``limit`` of each. ``vector`` is (dimension,). An empty scope finds nothing."""

    async def add(self, passages: Sequence[Passage], vectors: "Vectors") -> None:
        """Insert or replace by passage id. Searchable on return."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, "Vectors"]:
        """The vectors of those passages that are already there, so that they need not be encoded again."""

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all but one version's; how many there were."""

    async def section(self, section_id: str, scope: Scope) -> Section | None:
        """The section put together from its passages, if the scope may see it."""

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """All passages of one version of a document, in reading order."""

    @property
    def identity(self) -> str:
        """Which index this is, once it is open: no other one, on whatever server, has the same. Empty where unknown."""

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """Of each document (by id) how many passages of exactly this version there are; of none, nothing is said."""

    async def count(self, scope: Scope | None = None) -> int:
        """How many passages there are; of everything when scope is None."""

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Every document id present, with its versions: for cleaning up after an interrupted ingest.

        It looks at every passage, which takes seconds where there are many: once at the start or once a day.
        """

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents; how many passages there were.

        Which are stale is for the caller to know: those of ``versions``, read first, that the catalogue does not
        publish, of documents that nobody writes meanwhile. An ingest begun again after a crash writes the very rows
        that the dead one left, so that an index cannot tell the two apart.
        """


class Parser(Protocol):
    """Turns the bytes of a file into text with headings and places."""

    async def parse(self, name: str, data: bytes) -> Parsed:
        """The document's text. Raises DocumentRejected with the reason when it cannot become knowledge."""


class Catalogue(Protocol):
    """What is on the shelves: bases, documents, and which version of each is the visible one.

    ``publish`` is the one step that makes a new version visible: a search drops hits whose version is not the
    published one.
    """

    async def bases(self) -> Sequence[KnowledgeBase]:
        """All bases, by name."""

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""

    async def remove_base(self, name: str) -> None:
        """Forget a base and the entries of its documents."""

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """The documents of these bases, by base and title."""

    async def document(self, document_id: str) -> Document | None:
        """One document at its visible version."""

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one, in one step; what it replaced."""

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once; what it was."""

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """The visible version of each of these documents; invisible ones are absent."""

    async def index_identity(self) -> str:
        """Which index the passages of these documents are in (``Index.identity``); empty where nobody has said."""

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""


# --- memory --------------------------------------------------------------------------------------------------------


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


class Memory(Protocol):
    """Keeps each thread. Bounded: a number of turns and a time to live; keys of one thread share a hash tag."""

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """All that is kept of this thread; an empty record when it is new."""

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
        feedback, feedback of others on their questions, and proposals of theirs that wait.
        """


@dataclass(frozen=True, slots=True)
class Parked:
    """An inquiry at rest, with the checkpoint it waits at."""

    checkpoint: Checkpoint
    inquiry: Inquiry


class Checkpoints(Protocol):
    """Where parked inquiries rest."""

    async def park(self, parked: Parked) -> None:
        """Keep it, and make it the thread's open checkpoint; an earlier open one of the thread is closed."""

    async def read(self, checkpoint_id: str, *, by: str = "") -> Parked | None:
        """Look without taking; None when it is unknown or taken (by another than ``by``)."""

    async def claim(self, checkpoint_id: str, *, by: str = "") -> Parked | None:
        """Take it, once: of many callers exactly one gets it.

        ``by`` names the claimant (a delivery's id): for a day the same one gets it again, so that a worker which takes
        over after a crash can go on.
        """

    async def due(self, now: datetime) -> Sequence[str]:
        """Ids of those whose expiry has passed and that nobody took."""


class Journal(Protocol):
    """Keeps the events of every trace for a time, for ``trace`` and ``why``."""

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace, which is forgotten with this person, and with this thread (a key, as text)."""

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """All events of a trace, in order; empty when unknown."""

    async def count(self, counters: Mapping[str, int]) -> None:
        """Add to named counters (outcomes, searches by answer, quick paths)."""

    async def counters(self) -> Mapping[str, int]:
        """The counters' values."""


# --- the road in ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something a platform delivered. ``id`` is the delivery's own id: the same id again is a no-op.

    ``thread`` orders: deliveries of one thread are worked on one after another. ``body`` is JSON that only the
    platform's adapter reads.
    """

    id: str
    platform: str
    thread: str
    person: str
    body: str
    kind: str = "message"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one thread's oldest delivery, until it expires. ``fence`` grows with every new holder."""

    delivery: Delivery
    fence: int
    attempt: int  # 1 at first; more when an earlier worker did not finish
    notes: Mapping[str, str] = field(default_factory=dict)  # what earlier attempts left: a placeholder's message id
    token: str = ""  # the inbox's own handle


class Inbox(Protocol):
    """The durable queue between platforms and workers: at least once, ordered within a thread, parallel across."""

    async def put(self, delivery: Delivery) -> bool:
        """Keep it durably; False when this id was there before. Raises Busy when the person has too many waiting."""

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        """The next delivery of a thread nobody works on, fairly between people; None after ``timeout``."""

    async def renew(self, lease: Lease) -> None:
        """Extend the lease. Raises LeaseLost when another holds the thread."""

    async def note(self, lease: Lease, name: str, value: str) -> None:
        """Leave something for a worker that may take over. Raises LeaseLost."""

    async def done(self, lease: Lease) -> None:
        """The delivery has had its outcome. Raises LeaseLost."""

    async def hand_back(self, lease: Lease) -> None:
        """Give it up unfinished; it is taken again at once, and this attempt does not count."""

    async def waiting(self) -> int:
        """How many deliveries are not done."""


class Postings(Protocol):
    """What we have posted in a thread, and what was called off: small values with a time to live.

    ``subject`` is the id of the question's message. Values let a worker that takes over, an edited question, a pressed
    button or an expiry find and edit what is already visible, rather than post a second time.
    """

    async def read(self, thread: str, subject: str) -> Mapping[str, str]:
        """Everything kept for a subject."""

    async def keep(
        self, thread: str, subject: str, values: Mapping[str, str], *, fence: int | None = None, person: str = ""
    ) -> None:
        """Add or replace values. Raises LeaseLost when ``fence`` is given and stale.

        A subject belongs to whom it was first kept for: to ``person``, or where that is empty to whoever's delivery
        is worked on under ``fence``. It is forgotten with that person, and with the thread.
        """

    async def take(self, thread: str, subject: str, name: str, leaving: Mapping[str, str] | None = None) -> str:
        """One value of a subject, read and removed in one step: of many callers exactly one gets it, the others "".

        Whoever gets it leaves these values in that same step, so that nobody sees it taken without them.
        """

    async def call_off(self, thread: str, subject: str, reason: str) -> None:
        """Ask whoever works on this subject to stop: ``stopped``, ``edited`` or ``deleted``."""

    async def called_off(self, thread: str, subject: str) -> str:
        """The reason why this subject was called off, taken: the next call says nothing. Empty when it was not."""


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


class FeedbackBox(Protocol):
    """Keeps what people thought of answers."""

    async def keep(self, feedback: Feedback) -> None:
        """Keep it, replacing the person's earlier word on the same answer."""

    def all(self) -> AsyncIterator[Feedback]:
        """Everything kept, oldest first."""


# --- a place's settings, and who changed what ----------------------------------------------------------------------


class Preferences(Protocol):
    """Settings of one place (a channel or category, by id), as the admins there chose them."""

    async def read(self, place: str) -> Mapping[str, str]:
        """What was chosen; empty where nothing was."""

    async def write(self, place: str, values: Mapping[str, str]) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something an admin did, or somebody was denied."""

    at: datetime
    actor: str
    action: str
    target: str
    allowed: bool
    detail: str = ""


class Audit(Protocol):
    """The record of what people with more rights did, or tried without them. Bounded; the oldest go first."""

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Keep it, with the time."""

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """The newest entries, newest first."""
