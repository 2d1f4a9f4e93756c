"""One question or one pressed choice, from recalling its thread to remembering its answer.

Platforms, the terminal and tests call this. It opens the thread, limits the evidence to the audience, runs the agent,
records every event, parks checkpoints and remembers turns. Callers decide how things look.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace

from core.agent.agent import Agent
from core.agent.checkpoint_resume import resume_inquiry
from core.agent.outcomes import show_sources, stop_run
from core.agent.run import Run
from core.model.answer import Answer, Outcome, UsageCounts
from core.model.channel_settings import where_to_send
from core.model.clock import Clock
from core.model.conversation import Audience, ContextMessage, Person, Thread, ThreadKey
from core.model.errors import Denied, DocumentRejected, NotFound
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    CheckpointReached,
    FinalEvent,
    GenerationStarted,
    Noticed,
    TracedEvent,
)
from core.model.inquiry import AnswerPolicy, Choice, ChoiceId, Inquiry
from core.model.message_text import too_long
from core.model.plain_text import compose
from core.ports.catalog import Catalog
from core.ports.memory import Checkpoints, Memory, ParkedInquiry, ThreadRecord
from core.ports.reasoner import Reasoner
from core.ports.usage import TraceStore
from core.service.actions.wording import CHOICE_GONE, NOT_YOURS_TO_CHOOSE
from core.service.disputes.shown import with_dispute
from core.service.explanations import Explanation, explain_answer
from core.service.follow_ups import suggest_follow_ups
from core.service.question_recorder import QuestionRecorder
from core.service.thread_memory import WINDOW, ThreadMemory, recall_turns
from core.service.typed_choice import match_typed_choice
from core.service.visibility import VisibleBases, still_visible

RECALLED = 3
CERTAIN = 0.6  # default in our threads; see research/routing
MOST_RUNNING = 1_000
BEGINNING = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its place, and the audience of its answer."""

    text: str
    thread: ThreadKey
    asker: Person
    audience: Audience
    policy: AnswerPolicy = field(default_factory=AnswerPolicy)
    bases: frozenset[str] | None = None  # only these bases, if the place or the person limits them
    context: tuple[ContextMessage, ...] = ()
    attachments: tuple[ContextMessage, ...] = ()
    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    fence: int | None = None  # of the lease under which this is answered


@dataclass(frozen=True, slots=True)
class OpenThread:
    """A thread recalled once for all work on one message, with its parked inquiry."""

    record: ThreadRecord = field(default_factory=ThreadRecord)
    parked: ParkedInquiry | None = None


@dataclass(slots=True, kw_only=True)
class QuestionService:
    """Answers questions and takes choices. Stores no conversation itself.

    The ``reasoner`` writes thread summaries. Without a ``recorder`` no question log is kept.
    """

    agent: Agent
    reasoner: Reasoner
    memory: Memory
    checkpoints: Checkpoints
    trace_store: TraceStore
    catalog: Catalog
    clock: Clock
    recorder: QuestionRecorder | None = None
    _beginning: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BEGINNING))
    _running: dict[str, Run] = field(default_factory=dict)  # by trace, until they end or can no longer be stopped

    @property
    def _bases(self) -> VisibleBases:
        return VisibleBases(self.catalog)

    @property
    def _threads(self) -> ThreadMemory:
        return ThreadMemory(self.memory, self._bases, self.clock)

    async def open_thread(self, key: ThreadKey) -> OpenThread:
        """Recall a thread, with its open checkpoint if it has one. Raises StoreUnavailable."""
        record = await self.memory.recall(key)
        parked = await self.checkpoints.read(record.open_checkpoint) if record.open_checkpoint else None
        return OpenThread(record, parked)

    async def ask(self, question: Question, opened: OpenThread | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Stream the events of one question; the last is its outcome. ``opened``: its thread, if already open.

        If the asker's checkpoint is open in the thread, the message may be its answer; a notice says how it was
        understood. Raises DocumentRejected if the question is too long.
        """
        if refusal := too_long(question.text):
            raise DocumentRejected(refusal)
        opened = opened or await self.open_thread(question.thread)
        parked = opened.parked
        if parked is not None and parked.inquiry.id != question.trace_id:  # not its own, left by a killed run
            events = self._while_parked(question, opened.record, parked)
        else:
            events = self._pursue_new(question, opened.record)
        async with aclosing(events) as stream:
            async for event in stream:
                yield event

    async def answer_if_certain(
        self, question: Question, opened: OpenThread | None = None, *, confidence: float = CERTAIN
    ) -> AsyncGenerator[AgentEvent, None]:
        """Stream the events of an unaddressed question if its answer is certain; otherwise none.

        ``confidence`` is the minimum for the answer. Below it, nothing is shown, asked back or remembered, but the
        reasoner's usage counts.
        """
        record = (opened or await self.open_thread(question.thread)).record
        inquiry = await self._inquiry(question, record)
        unasked = replace(inquiry.policy, checkpoints=frozenset(), sources_first=False)
        agent = self.agent.without_shortcut()
        run = agent.run(replace(inquiry, policy=unasked), self._thread(question, record))
        found: list[AgentEvent] = []
        async with aclosing(agent.pursue(run)) as events:
            async for event in events:
                if isinstance(event, GenerationStarted) and _best_grade(run) < confidence:
                    await self._record_usage(run)  # writing and checking it would be wasted
                    return
                found.append(event)
        last = found[-1] if found else None
        if not isinstance(last, AgentCompleted) or last.answer.confidence < confidence:
            await self._record_usage(run)
            return
        found[-1] = await _finished(run, last)
        for event in found:
            await self._settle(run, event, question.fence)
            yield event

    async def _while_parked(
        self, question: Question, record: ThreadRecord, parked: ParkedInquiry
    ) -> AsyncGenerator[AgentEvent, None]:
        mine = question.asker.id == parked.checkpoint.asker.id
        understood = match_typed_choice(question.text, parked.checkpoint) if mine else None
        if understood is not None:
            yield Noticed(f"I take that as your answer to “{parked.checkpoint.question}”: {understood.label}.")
            events = self.choose(
                parked.checkpoint.id,
                understood,
                question.asker,
                audience=question.audience,
                by=question.trace_id,
                fence=question.fence,
                opened=OpenThread(record, parked),
            )
        else:
            if mine:
                await self.checkpoints.claim(parked.checkpoint.id)
                yield Noticed(f"I take that as a new question and set “{parked.checkpoint.question}” aside.")
            events = self._pursue_new(question, record)
        async with aclosing(events) as stream:
            async for event in stream:
                yield event

    async def _pursue_new(self, question: Question, record: ThreadRecord) -> AsyncGenerator[AgentEvent, None]:
        async with AsyncExitStack() as stack:
            # Start a few at a time, until each shows its first step. Otherwise fifty questions at once would all be
            # half started, and the last one's first sign would come twice as late.
            async with self._beginning:
                run = self._pursue(
                    await self._inquiry(question, record), self._thread(question, record), question.fence
                )
                events = await stack.enter_async_context(aclosing(run))
                first = await anext(events)
            yield first
            async for event in events:
                yield event

    async def _inquiry(self, question: Question, record: ThreadRecord) -> Inquiry:
        bases = await self._bases.for_audience(question.audience, question.bases)
        scope = frozenset(base.name for base in bases)
        return Inquiry(
            id=question.trace_id,
            question=compose(question.text).strip(),
            thread=question.thread,
            asker=question.asker,
            audience=question.audience,
            started_at=self.clock.now(),
            policy=question.policy,
            bases=bases,
            more_in_private=await self._bases.has_more_in_private(question.audience),
            library=record.library.readable_by(scope).carry_over(),
            notices=tuple(
                f"I could not read *{one.author}*: {one.unread}" for one in question.attachments if one.unread
            ),
        )

    async def choose(
        self,
        checkpoint_id: str,
        choice: Choice,
        person: Person,
        *,
        text: str = "",
        audience: Audience | None = None,
        is_admin: bool = False,
        by: str = "",
        fence: int | None = None,
        opened: OpenThread | None = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Stream what follows from a choice. Raises NotFound when it was taken or expired, Denied for another person.

        The audience is looked up again, and evidence that it may no longer see is removed. ``by`` identifies the press:
        if another worker retries it after a crash, it continues. ``opened``: the thread with this checkpoint, if known.
        """
        parked = opened.parked if opened is not None else await self.checkpoints.read(checkpoint_id, by=by)
        if parked is None:
            raise NotFound(CHOICE_GONE)
        if not parked.checkpoint.may_be_answered_by(person, is_admin=is_admin):
            raise Denied(NOT_YOURS_TO_CHOOSE)
        taken = await self.checkpoints.claim(checkpoint_id, by=by)
        if taken is None:
            raise NotFound("A choice has already been made here.", remedy="The answer is in the thread.")
        bases = await self._bases.for_audience(audience or taken.inquiry.audience, taken.inquiry.scope)
        scope = frozenset(base.name for base in bases)
        library = (await still_visible(taken.inquiry.library, self.catalog)).readable_by(scope)
        now_visible = replace(taken, inquiry=replace(taken.inquiry, bases=bases, library=library))
        inquiry = resume_inquiry(now_visible, choice, text)
        if scope != taken.inquiry.scope:  # notes of earlier searches may come from a base that is now hidden
            inquiry = replace(inquiry, searches=(), missing="")
        record = opened.record if opened is not None else await self.memory.recall(inquiry.thread)
        thread = Thread(inquiry.thread, record.turns[-WINDOW:], record.summary, record.summary_bases)
        events = (
            self._shown_sources(inquiry, fence) if choice.id == ChoiceId.SHOW else self._pursue(inquiry, thread, fence)
        )
        async with aclosing(events) as stream:
            async for event in stream:
                yield event

    async def stop(self, trace_id: str, fence: int | None = None) -> AgentEvent | None:
        """Return how a cancelled run ends: a checkpoint over what it had found, or only that it stopped.

        Returns None when no such run was in progress here. Call it after the run's stream is closed.
        """
        run = self._running.pop(trace_id, None)
        if run is None:
            return None
        event = stop_run(run)
        await self._settle(run, event, fence)
        return event

    def release(self, trace_id: str) -> None:
        """Release a cancelled run that nobody will stop, which holds the question and its evidence."""
        self._running.pop(trace_id, None)

    async def explain(self, key: ThreadKey, audience: Audience, *, asker: str = "") -> Explanation:
        """Return how the thread's last answer came about, as in ``explain_answer``. Raises NotFound."""
        visible = await self._bases.names(audience)
        return await explain_answer(self.memory, self.trace_store, key, visible, asker=asker)

    async def last_trace(self, key: ThreadKey) -> str:
        """Return the trace id of the thread's last turn; empty when there is none."""
        record = await self.memory.recall(key)
        return record.turns[-1].trace_id if record.turns else ""

    async def reflect(self, key: ThreadKey, audience: Audience) -> None:
        """Extend the thread's summary by the turns that left the window. Call it after the answer is shown.

        ``audience`` is who reads the thread now; the summary leaves out what they may not read.
        """
        await self._threads.summarise(key, audience, self.reasoner, self.agent.meter())

    def _thread(self, question: Question, record: ThreadRecord) -> Thread:
        recent, older = record.turns[-WINDOW:], record.turns[:-WINDOW]
        return Thread(
            question.thread,
            recent,
            record.summary,
            record.summary_bases,
            recall_turns(older, question.text, RECALLED),
            question.context,
            question.attachments,
        )

    async def _shown_sources(self, inquiry: Inquiry, fence: int | None) -> AsyncGenerator[AgentEvent, None]:
        """Show the sources that were requested first, and park again with only the answer left to choose."""
        run = self.agent.run(inquiry, Thread(inquiry.thread))
        event = show_sources(run)
        await self._settle(run, event, fence)
        yield event

    async def _pursue(self, inquiry: Inquiry, thread: Thread, fence: int | None) -> AsyncGenerator[AgentEvent, None]:
        run = self.agent.run(inquiry, thread)
        while len(self._running) >= MOST_RUNNING:
            del self._running[next(iter(self._running))]
        self._running[inquiry.id] = run
        try:
            async with aclosing(self.agent.pursue(run)) as events:
                async for found in events:
                    event = await _finished(run, found)
                    await self._settle(run, event, fence)
                    yield event
        except (asyncio.CancelledError, GeneratorExit):  # a person may have stopped it, and will see what it found
            raise
        except BaseException:
            self.release(inquiry.id)
            raise
        self.release(inquiry.id)

    async def _settle(self, run: Run, event: AgentEvent, fence: int | None) -> None:
        """Store an event before anybody sees it."""
        inquiry = run.inquiry
        if not isinstance(event, AnswerDelta):
            traced = TracedEvent(self.clock.now().timestamp(), event)
            if isinstance(event, AgentStarted | FinalEvent):
                # Only the first and the last event record the owner. They are a minute apart, and the trace is
                # kept for days. Recording it with each of a dozen events doubled the cost.
                whose = {"person_id": inquiry.asker.id, "thread": str(inquiry.thread)}
                await self.trace_store.record(inquiry.id, [traced], **whose)
            else:
                await self.trace_store.record(inquiry.id, [traced])
        match event:
            case CheckpointReached():
                await self.checkpoints.park(ParkedInquiry(event.checkpoint, inquiry))
                await self._remember(run, event.answer, fence)
                await self._record(run, event.answer)
            case AgentCompleted():
                await self._remember(run, event.answer, fence)
                await self._record(run, event.answer)
            case AgentFailed():
                await self.trace_store.count(UsageCounts({Outcome.FAILED: 1}))
                await self._record(run, None)
            case _:
                pass

    async def _record(self, run: Run, answer: Answer | None) -> None:
        if self.recorder is not None:
            await self.recorder.record(run, answer)

    async def _record_usage(self, run: Run) -> None:
        if self.recorder is not None:
            await self.recorder.record_usage(run)

    async def _remember(self, run: Run, answer: Answer, fence: int | None) -> None:
        await self._threads.remember(run, answer, fence)
        await self.trace_store.count(UsageCounts.of_answer(answer))


def _best_grade(run: Run) -> float:
    """Return the best grade of a run's evidence, in [0, 1]. No answer made of it can be more certain."""
    return max((item.grade.score / 10 for item in run.inquiry.library.items_found() if item.grade), default=0.0)


async def _finished(run: Run, event: AgentEvent) -> AgentEvent:
    """Return the event; add to an answer its sources' dispute, its channel's contact, and follow-ups."""
    event = await with_dispute(run, event)
    if isinstance(event, AgentCompleted) and event.answer.is_rateable:
        sends = where_to_send(run.inquiry.policy.instructions, run.inquiry.standalone)
        event = replace(event, answer=replace(event.answer, notices=(*event.answer.notices, *sends)))
    if not isinstance(event, AgentCompleted) or not run.inquiry.policy.follow_ups:
        return event
    return replace(event, answer=replace(event.answer, follow_ups=await suggest_follow_ups(run, event.answer)))
