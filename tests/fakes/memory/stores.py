"""The stores' ports in plain dictionaries, for tests and for reading what each port promises.

What belongs together in Redis shares an ``InProcessState`` here: give the same one to the memory, the checkpoints, the
trace store, the inbox and the rest of one test. Nothing expires and nothing outlives the process.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from core.model.answer import UsageCounts
from core.model.channel_settings import ChosenSettings
from core.model.conversation import ThreadKey, Turn
from core.model.errors import Busy, LeaseLost
from core.model.events import AnswerDelta, TracedEvent
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.knowledge import Document, KnowledgeBase
from core.model.record_codec import OWNER, fields_of
from core.ports.access import ApiToken, ApiTokens, Audit, AuditEntry, KeptToken
from core.ports.catalog import Catalog
from core.ports.job_store import Proposal
from core.ports.memory import AskedQuestion, Checkpoints, Feedback, FeedbackStore, Memory, ParkedInquiry, ThreadRecord
from core.ports.message_state import CancelReason
from core.ports.platform import ChannelSettingsStore
from core.ports.usage import AnswerCounts, LoggedQuestion, QuestionLog, TraceStore, UsageBook, UsageRow


@dataclass(slots=True)
class InProcessState:
    """Everything the stores of one test hold."""

    threads: dict[str, ThreadRecord] = field(default_factory=dict)
    fences: dict[str, int] = field(default_factory=dict)
    spoke: dict[str, set[str]] = field(default_factory=dict)  # the threads that each person asked in
    parked: dict[str, ParkedInquiry] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)  # who took which checkpoint
    traces: dict[str, list[TracedEvent]] = field(default_factory=dict)
    traced_people: dict[str, str] = field(default_factory=dict)  # whose trace it is
    traced_threads: dict[str, str] = field(default_factory=dict)  # in which thread it is
    feedback: dict[tuple[str, str], Feedback] = field(default_factory=dict)
    records: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)  # by place and subject, at rest
    owned: dict[str, set[tuple[str, str, str]]] = field(default_factory=dict)  # the records of a person or a thread
    cancel_requests: dict[tuple[str, str], CancelReason] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    questions: dict[str, LoggedQuestion] = field(default_factory=dict)
    in_work: dict[str, str] = field(default_factory=dict)  # whose delivery each thread's lease is for
    drop_waiting: Callable[[str, str], int] = lambda _thread, _person: 0  # of a thread, of a person; the inbox sets it


class InProcessMemory(Memory):
    """Keeps each thread's last ``turns`` turns and ``library`` pieces of cited evidence."""

    def __init__(self, state: InProcessState | None = None, *, turns: int = 60, library: int = 200) -> None:
        self._state = state or InProcessState()
        self._turns = turns
        self._library = library

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """All that is kept of this thread; an empty record when it is new."""
        return self._record(key)

    def _record(self, key: ThreadKey) -> ThreadRecord:
        return self._state.threads.get(str(key), ThreadRecord())

    async def questions_of(self, person_id: str, threads: int) -> Sequence[AskedQuestion]:
        """What this person asked, and was searched for; the newest first."""
        found = {
            key: [
                AskedQuestion(ThreadKey.parse(key), turn.question, turn.at)
                for turn in record.turns
                if turn.asker.id == person_id and turn.rewritten
            ]
            for key, record in self._state.threads.items()
        }
        newest = sorted(filter(None, found.values()), key=lambda asked: asked[-1].at, reverse=True)[:threads]
        return sorted((one for asked in newest for one in asked), key=lambda one: one.at, reverse=True)

    async def remember(
        self, key: ThreadKey, turn: Turn, evidence: Sequence[Evidence], *, fence: int | None = None
    ) -> None:
        """Append a turn, or replace the one of its trace. Raises LeaseLost when ``fence`` is stale."""
        if fence is not None and fence != self._state.fences.get(str(key)):
            raise LeaseLost("Another worker has taken over this thread, so this turn is not stored.")
        self._state.spoke.setdefault(turn.asker.id, set()).add(str(key))
        record = self._record(key)
        known = any(earlier.trace_id == turn.trace_id for earlier in record.turns)
        turns = (
            tuple(turn if earlier.trace_id == turn.trace_id else earlier for earlier in record.turns)
            if known
            else (*record.turns, turn)
        )[-self._turns :]
        items = {item.id: item for item in (*record.library, *evidence)}
        self._state.threads[str(key)] = replace(
            record, turns=turns, total=record.total + (not known), library=self._trim(items, turns)
        )

    def _trim(self, items: Mapping[int, Evidence], turns: Sequence[Turn]) -> EvidenceLibrary:
        cited = {citation.evidence for turn in turns for citation in turn.citations}
        keep = sorted(items, key=lambda number: (number in cited, number))[-self._library :]
        return EvidenceLibrary(tuple(items[number] for number in sorted(keep)))

    async def summarise(self, key: ThreadKey, summary: str, bases: frozenset[str], upto: int) -> None:
        """Replace the summary; it now covers the first ``upto`` turns. One that covers less than before is ignored."""
        record = self._record(key)
        if record.summarised <= upto <= record.total:
            self._state.threads[str(key)] = replace(record, summary=summary, summary_bases=bases, summarised=upto)

    async def mute(self, key: ThreadKey, muted: bool) -> None:
        """Keep quiet in a thread, or speak again."""
        self._state.threads[str(key)] = replace(self._record(key), muted=muted)

    async def forget_thread(self, key: ThreadKey) -> bool:
        """Remove what was said in a thread and all that came of it. Muted stays muted."""
        state, thread = self._state, str(key)
        record = state.threads.pop(thread, ThreadRecord())
        if record.muted:
            state.threads[thread] = ThreadRecord(muted=True)
        for name, parked in list(state.parked.items()):
            if str(parked.checkpoint.thread) == thread:
                self._drop_checkpoint(name)
        self._drop_traces([turn.trace_id for turn in record.turns])
        self._drop_traces([trace for trace, where in state.traced_threads.items() if where == thread])
        self._drop_feedback(lambda word: word.thread == thread)
        self._drop_records(thread)
        self._drop_questions(lambda question: question.thread == thread)
        for address in [address for address in state.cancel_requests if address[0] == thread]:
            del state.cancel_requests[address]
        return bool(state.drop_waiting(thread, "")) or replace(record, muted=False) != ThreadRecord()

    async def forget_person(self, person_id: str) -> int:
        """Remove every turn this person asked and all else that holds their words; how many turns."""
        removed, traces = 0, [trace for trace, owner in self._state.traced_people.items() if owner == person_id]
        for key in self._state.spoke.pop(person_id, set()) & self._state.threads.keys():
            record = self._state.threads[key]
            theirs = [turn.trace_id for turn in record.turns if turn.asker.id == person_id]
            traces += theirs
            self._state.threads[key] = _without(record, person_id)
            removed += len(theirs)
            self._drop_traces(theirs)
        for checkpoint_id, parked in list(self._state.parked.items()):
            if parked.checkpoint.asker.id == person_id:
                self._drop_checkpoint(checkpoint_id)
        self._drop_traces(traces)
        self._drop_feedback(lambda word: person_id in (word.person.id, word.asker))
        self._drop_records(person_id, is_person=True)
        for (place, subject), values in list(self._state.records.items()):
            for name in fields_of(place, subject, values, person_id, traces):
                del values[name]
            if not values:
                del self._state.records[place, subject]
        for name, proposal in list(self._state.proposals.items()):
            if proposal.by.id == person_id:
                del self._state.proposals[name]
        self._drop_questions(lambda question: question.asker == person_id)
        self._state.drop_waiting("", person_id)
        return removed

    def _drop_questions(self, chosen: Callable[[LoggedQuestion], bool]) -> None:
        for question in [question for question in self._state.questions.values() if chosen(question)]:
            del self._state.questions[question.trace_id]

    def _drop_checkpoint(self, checkpoint_id: str) -> None:
        parked = self._state.parked.pop(checkpoint_id, None)
        if parked is not None:
            _close(self._state, parked)
            self._drop_traces([parked.inquiry.id])

    def _drop_traces(self, traces: Sequence[str]) -> None:
        for trace in list(traces):
            self._state.traces.pop(trace, None)
            self._state.traced_people.pop(trace, None)
            self._state.traced_threads.pop(trace, None)
        self._drop_feedback(lambda word: word.trace_id in traces)

    def _drop_feedback(self, chosen: Callable[[Feedback], bool]) -> None:
        for word in [word for word in self._state.feedback.values() if chosen(word)]:
            del self._state.feedback[word.trace_id, word.person.id]

    def _drop_records(self, owner: str, *, is_person: bool = False) -> None:
        """All records of a person or a thread, but those that have become another person's since."""
        for place, subject, entry in self._state.owned.pop(owner, set()):
            kept = self._state.records.get((place, subject), {})
            if entry:
                kept.pop(entry, None)
            elif not is_person or kept.get(OWNER, owner) == owner:
                self._state.records.pop((place, subject), None)
                self._state.cancel_requests.pop((place, subject), None)


def _without(record: ThreadRecord, person_id: str) -> ThreadRecord:
    """The thread without this person's turns, and without what may hold their words."""
    turns = tuple(turn for turn in record.turns if turn.asker.id != person_id)
    cited = {citation.evidence for turn in turns for citation in turn.citations}
    total = record.total - (len(record.turns) - len(turns))
    return replace(
        record,
        turns=turns,
        total=total,
        summary="",
        summary_bases=frozenset(),
        summarised=max(0, total - len(turns)),
        library=EvidenceLibrary(tuple(item for item in record.library if item.id in cited)),
    )


def _close(state: InProcessState, parked: ParkedInquiry) -> None:
    thread = str(parked.checkpoint.thread)
    record = state.threads.get(thread, ThreadRecord())
    if record.open_checkpoint == parked.checkpoint.id:
        state.threads[thread] = replace(record, open_checkpoint="")


class InProcessCheckpoints(Checkpoints):
    """Where parked inquiries rest."""

    def __init__(self, state: InProcessState | None = None) -> None:
        self._state = state or InProcessState()

    async def park(self, parked: ParkedInquiry) -> None:
        """Keep it, and make it the thread's open checkpoint; an earlier open one of the thread is closed."""
        checkpoint = parked.checkpoint
        record = self._state.threads.get(str(checkpoint.thread), ThreadRecord())
        if record.open_checkpoint != checkpoint.id:
            self._state.parked.pop(record.open_checkpoint, None)
        self._state.parked[checkpoint.id] = parked
        self._state.taken.pop(checkpoint.id, None)
        self._state.threads[str(checkpoint.thread)] = replace(record, open_checkpoint=checkpoint.id)

    async def read(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Look without taking; None when it is unknown or taken by another than ``by``."""
        if self._state.taken.get(checkpoint_id, by) != by:
            return None
        return self._state.parked.get(checkpoint_id)

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Take it, once; the same ``by`` gets it again."""
        parked = self._state.parked.get(checkpoint_id)
        claimant = by or f"claim {len(self._state.taken)}"
        if parked is None or self._state.taken.setdefault(checkpoint_id, claimant) != claimant:
            return None
        _close(self._state, parked)
        return parked

    async def due(self, now: datetime) -> Sequence[str]:
        """Ids of those whose expiry has passed and that nobody took, the longest waiting first."""
        late = [
            parked.checkpoint
            for parked in self._state.parked.values()
            if parked.checkpoint.expires_at <= now and parked.checkpoint.id not in self._state.taken
        ]
        return [checkpoint.id for checkpoint in sorted(late, key=lambda checkpoint: checkpoint.expires_at)]


class InProcessTraceStore(TraceStore):
    """Keeps the events of every trace."""

    def __init__(self, state: InProcessState | None = None) -> None:
        self._state = state or InProcessState()
        self._counts: Counter[str] = Counter()

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Append events to a trace; streamed text is not among them."""
        kept = [event for event in events if not isinstance(event.event, AnswerDelta)]
        if kept:
            self._state.traces.setdefault(trace_id, []).extend(kept)
            if person_id:
                self._state.traced_people[trace_id] = person_id
            if thread:
                self._state.traced_threads[trace_id] = thread

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """All events of a trace, in order; empty when unknown."""
        return list(self._state.traces.get(trace_id, ()))

    async def count(self, added: UsageCounts) -> None:
        """Add these to the counts."""
        self._counts.update(added.to_mapping())

    async def counts(self) -> UsageCounts:
        """Every counter by name."""
        return UsageCounts.from_mapping(self._counts)


class InProcessCatalog(Catalog):
    """Which bases and documents there are."""

    def __init__(self) -> None:
        self._bases: dict[str, KnowledgeBase] = {}
        self._index = ""
        self._changes = 0
        self._documents: dict[str, Document] = {}

    async def bases(self) -> Sequence[KnowledgeBase]:
        """All bases, by name."""
        return sorted(self._bases.values(), key=lambda base: base.name)

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""
        self._bases[base.name] = base
        self._changes += 1

    async def remove_base(self, name: str) -> None:
        """Forget a base and the entries of its documents."""
        self._bases.pop(name, None)
        self._documents = {key: one for key, one in self._documents.items() if one.knowledge_base != name}
        self._changes += 1

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """The documents of these bases, by base and title."""
        found = [document for document in self._documents.values() if document.knowledge_base in bases]
        return sorted(found, key=lambda document: (document.knowledge_base, document.title, document.id))

    async def document(self, document_id: str) -> Document | None:
        """One document at its visible version."""
        return self._documents.get(document_id)

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one; what it replaced."""
        earlier = self._documents.get(document.id)
        self._documents[document.id] = document
        self._changes += 1
        return earlier

    async def republish(self, document: Document) -> bool:
        """Replace what is known of a document at its visible version; False where another version is visible."""
        there = self._documents.get(document.id)
        if there is None or there.version != document.version:
            return False
        self._documents[document.id] = document
        self._changes += 1
        return True

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once; what it was."""
        earlier = self._documents.pop(document_id, None)
        self._changes += earlier is not None
        return earlier

    async def changes(self) -> int:
        """How often bases and documents were changed, ever."""
        return self._changes

    async def count_change(self, at_least: int = 0) -> int:
        """Count a change that was made elsewhere; the new number."""
        self._changes = max(self._changes + 1, at_least)
        return self._changes

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """The visible version of each of these documents; invisible ones are absent."""
        return {name: self._documents[name].version for name in document_ids if name in self._documents}

    async def index_identity(self) -> str:
        """Which index the passages are in."""
        return self._index

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""
        self._index = identity


class InProcessFeedbackStore(FeedbackStore):
    """Keeps what people thought of answers, the newest ``most``."""

    def __init__(self, state: InProcessState | None = None, *, most: int = 10_000) -> None:
        self._state = state or InProcessState()
        self._most = most

    async def keep(self, feedback: Feedback) -> Feedback | None:
        """Keep it; the person's earlier word on the same answer, which it replaces. Without a time, it is of now."""
        kept = replace(feedback, at=feedback.at or datetime.now(UTC))
        earlier = self._state.feedback.get((kept.trace_id, kept.person.id))
        self._state.feedback[kept.trace_id, kept.person.id] = kept
        for old in self._by_age()[: -self._most]:
            del self._state.feedback[old.trace_id, old.person.id]
        return earlier

    async def all(self) -> AsyncIterator[Feedback]:
        """Everything kept, oldest first."""
        for feedback in self._by_age():
            yield feedback

    def _by_age(self) -> list[Feedback]:
        return sorted(self._state.feedback.values(), key=lambda kept: kept.at.timestamp() if kept.at else 0.0)


class InProcessQuestionLog(QuestionLog):
    """Keeps how questions ended, the newest ``most``."""

    def __init__(self, state: InProcessState | None = None, *, most: int = 20_000) -> None:
        self._kept = (state or InProcessState()).questions
        self._most = most

    async def keep(self, question: LoggedQuestion) -> None:
        """Keep it, replacing what was kept of the same trace."""
        earlier = self._kept.get(question.trace_id)
        self._kept[question.trace_id] = replace(question, corrected=earlier is not None and earlier.corrected)
        for old in self._by_age()[: -self._most]:
            del self._kept[old.trace_id]

    async def mark_corrected(self, trace_id: str) -> None:
        """Note that somebody corrected this answer, if it is kept."""
        if trace_id in self._kept:
            self._kept[trace_id] = replace(self._kept[trace_id], corrected=True)

    async def since(self, moment: datetime) -> AsyncIterator[LoggedQuestion]:
        """Those asked at this moment or later, oldest first."""
        for question in self._by_age():
            if question.at >= moment:
                yield question

    def _by_age(self) -> list[LoggedQuestion]:
        return sorted(self._kept.values(), key=lambda question: question.at)


class InProcessChannelSettingsStore(ChannelSettingsStore):
    """Settings of places."""

    def __init__(self) -> None:
        self._chosen: dict[str, ChosenSettings] = {}

    async def read(self, place: str) -> ChosenSettings:
        """What was chosen; nothing where nothing was."""
        return self._chosen.get(place, ChosenSettings())

    async def places(self) -> Sequence[str]:
        """Those in which something is chosen."""
        return tuple(self._chosen)

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen."""
        self._chosen[place] = chosen
        if chosen == ChosenSettings():
            del self._chosen[place]


class InProcessApiTokens(ApiTokens):
    """Tokens of the API, at most ``most``."""

    def __init__(self, *, most: int = 1_000) -> None:
        self._kept: dict[str, KeptToken] = {}
        self._uses: Counter[str] = Counter()
        self._most = most

    async def keep(self, kept: KeptToken) -> None:
        """Keep it, replacing the one of this id; in place of the longest revoked one where there are too many."""
        if kept.token.id not in self._kept and len(self._kept) >= self._most:
            revoked = [one for one in await self.all() if one.revoked_at is not None]
            if not revoked:
                raise Busy(f"There are {self._most} tokens already.", remedy="Revoke some that are no longer needed.")
            del self._kept[revoked[-1].id]
        self._kept[kept.token.id] = kept

    async def find(self, token_id: str) -> KeptToken | None:
        """The one of this id, revoked or not."""
        return self._kept.get(token_id)

    async def all(self) -> Sequence[ApiToken]:
        """All of them, the newest first."""
        return sorted((kept.token for kept in self._kept.values()), key=lambda one: one.created_at, reverse=True)

    async def count_use(self, token_id: str, seconds: int) -> int:
        """How often it was used; no time passes here."""
        self._uses[token_id] += 1
        return self._uses[token_id]


class InProcessAudit(Audit):
    """The newest ``most`` entries."""

    def __init__(self, *, most: int = 10_000) -> None:
        self._entries: list[AuditEntry] = []
        self._most = most

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Keep it, with the time."""
        self._entries.append(AuditEntry(datetime.now(UTC), actor, action, target, allowed, detail))
        del self._entries[: -self._most]

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """The newest entries, newest first."""
        return self._entries[::-1][:limit]


class InProcessAnswerCounts(AnswerCounts):
    """Counts of one day, which never ends."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.counted: dict[str, list[str]] = {}

    async def take(self, most: Sequence[tuple[str, int]], question: str) -> str:
        if question in self.counted:
            return ""
        for name, number in most:
            if self.counts[name] >= number:
                return name
        self.counted[question] = [name for name, _ in most]
        self.counts.update(self.counted[question])
        return ""

    async def give_back(self, question: str) -> None:
        self.counts.subtract(self.counted.pop(question, []))


class InProcessUsageBook(UsageBook):
    """A list of what was booked, added up when it is read."""

    def __init__(self) -> None:
        self.booked: list[UsageRow] = []

    async def book(self, used: UsageRow) -> None:
        self.booked.append(used)

    async def rows(self, days: Sequence[str]) -> Sequence[UsageRow]:
        sums: dict[tuple[str, str, str], UsageRow] = {}
        for one in self.booked:
            key = (one.day, one.place, one.base)
            if one.day in days:
                sums[key] = sums[key].plus(one) if key in sums else one
        return list(sums.values())
