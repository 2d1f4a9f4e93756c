"""One run of an answer, shown from its first event to its one visible outcome, or cancelled.

This is the outermost error handler of an answer. Every failure is shown in the view or, if that fails, to the asker.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from core.model.errors import (
    WENT_WRONG,
    Denied,
    FootnoteError,
    LeaseLost,
    NotFound,
    PlatformUnavailable,
    StoreUnavailable,
)
from core.model.events import AgentCompleted, AgentEvent, CheckpointReached, FinalEvent
from core.model.incoming_events import IncomingMessage
from core.model.records import CheckpointState
from core.ports.answer_view import AnswerView, Step, StepState
from core.ports.inbox import Inbox, Lease
from core.ports.memory import Checkpoints, ThreadRecord
from core.ports.message_state import CancelReason, MessageStateStore
from core.ports.platform import MessageState, Platform
from core.ports.usage import DailyBudget, Metrics, NoMetrics
from core.service.actions.user_actions import MemoryControls
from core.service.attached_files import FileReader
from core.service.event_presenter import EventPresenter
from core.service.message_router import AnswerLimits
from core.service.person_answers import PersonAnswers
from core.service.question_service import QuestionService
from core.service.thread_memory import has_turns_to_summarise

WATCH_SECONDS = 0.4  # how soon a stop, an edit or a deletion is noticed
MOST_RUNS = 8  # after killing this many workers, a delivery is given up with a message
WARM_SECONDS = 300.0  # an index of a million passages takes about two minutes
WARMING_UP = "I am still starting. I have received your question and will answer as soon as I am ready."
GIVEN_UP = "I tried this several times without success. Please ask again."
DELETED = "deleted"  # the outcome of every deleted question
AWAY = (StoreUnavailable, PlatformUnavailable)  # the delivery is kept and retried when they are back

log = logging.getLogger(__name__)

Events = AsyncGenerator[AgentEvent, None]


@dataclass(frozen=True, slots=True)
class DeliveryServices:
    """The services that process deliveries."""

    question_service: QuestionService
    memory_controls: MemoryControls
    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    platforms: Mapping[str, Platform]
    metrics: Metrics = NoMetrics()  # noqa: RUF009 - it has no state
    warming: Callable[[], bool] = lambda: False  # whether index and models are still being opened
    daily_budget: DailyBudget | None = None  # unasked answers leave a share of it
    person_answers: PersonAnswers | None = None  # None where no knowledge bases are managed
    answer_limits: AnswerLimits | None = None


@dataclass(frozen=True, slots=True)
class HeldQuestion:
    """The question of one delivery, with its stored state."""

    services: DeliveryServices
    lease: Lease
    platform: Platform
    message: IncomingMessage
    message_state: MessageState[Any]

    @classmethod
    async def load(
        cls, services: DeliveryServices, lease: Lease, platform: Platform, message: IncomingMessage
    ) -> "HeldQuestion":
        """Load the stored state of this message's question. Raises StoreUnavailable."""
        blank = platform.question_state(thread=message.thread, message=message.id, asker=message.asker.id)
        kept = await services.message_states.read(blank)
        state = MessageState(services.message_states, kept or blank, lease.fence, lease.delivery.id)
        return cls(services, lease, platform, message, state)

    async def settle_with(self, text: str) -> None:
        """Tell the asker this as the final outcome."""
        await self.platform.tell(self.message, text)
        await self.settle()

    async def settle(self, outcome: str = "") -> None:
        """Store that this delivery has its outcome."""
        await self.message_state.settle(self.message_state.kept, outcome)

    async def withdraw(self) -> None:
        """Remove what was posted for a deleted question, and claim its waiting card so that nobody answers it."""
        services, message = self.services, self.message
        await services.message_states.take_cancel(str(message.thread), message.id)
        if self.message_state.kept.checkpoint:
            await services.checkpoints.claim(self.message_state.kept.checkpoint)
        await FileReader(services.message_states).forget(message)
        await self.platform.withdraw(message, self.message_state)
        await self.settle(DELETED)

    async def keep_checkpoint(self, events: Events) -> Events:
        """Store what a card's buttons and expiry need, before the card becomes visible."""
        async with aclosing(events) as stream:
            async for event in stream:
                if isinstance(event, CheckpointReached):
                    message, checkpoint = self.message, event.checkpoint.id
                    card = CheckpointState(
                        thread=message.thread, checkpoint=checkpoint, asker=message.asker.id, question=message
                    )
                    await self.message_state.keep(replace(self.message_state.kept, checkpoint=checkpoint), card)
                yield event


@dataclass(slots=True)
class AnswerRun:
    """Shows the run that answers a question. ``record`` is its thread before the answer.

    ``unasked``: the question was addressed to nobody in particular, and already counts as a run.
    """

    asked: HeldQuestion
    view: AnswerView
    trace_id: str
    record: ThreadRecord
    unasked: bool = False

    async def show(self, events: Events) -> None:
        """Show the run until it ends in one visible outcome, then close the view."""
        try:
            await self._show_outcome(events)
        finally:
            await self.view.close()

    async def _show_outcome(self, events: Events) -> None:
        services, platform, message = self.asked.services, self.asked.platform, self.asked.message
        try:
            try:
                await self.view.open()
                presenter = EventPresenter(self.view, self.trace_id)
                final = await self._until_cancelled(presenter, self._run(presenter, events))
            except Cancelled as off:
                final = await self._end_cancelled(off.reason)
            await self._give_back(final)
            services.metrics.count_outcome(platform.name, final)
        except (LeaseLost, *AWAY):
            raise
        except (NotFound, Denied) as error:
            await platform.tell(message, str(error))
        except FootnoteError as error:
            await self._fail(str(error))
        except Exception:
            log.exception("answer_failed", extra={"trace_id": self.trace_id})
            await self._fail(WENT_WRONG)
        else:
            await self._reflect()
        finally:
            services.question_service.release(self.trace_id)

    async def _give_back(self, final: FinalEvent | None) -> None:
        """Count no answer where nothing was looked up, or what was came to nothing."""
        limits = self.asked.services.answer_limits
        answered = isinstance(final, AgentCompleted) and final.answer.is_rateable
        if limits is not None and not (answered or isinstance(final, CheckpointReached)):
            await limits.give_back(self.asked.message)

    async def _fail(self, text: str) -> None:
        """Show the failure in the view or, if the view itself fails, tell the asker."""
        if self.asked.message_state.is_settled:  # the outcome is already visible; something failed after it
            log.warning("failed_after_the_outcome", extra={"trace_id": self.trace_id, "reason": text})
            return
        await self._give_back(None)
        try:
            await self.view.fail(text, self.trace_id)
        except (LeaseLost, *AWAY):
            raise
        except Exception:
            log.exception("failure_not_shown", extra={"trace_id": self.trace_id})
            await self.asked.platform.tell(self.asked.message, text)

    async def _reflect(self) -> None:
        """Summarise the thread for later questions. A failure here does not affect the answer."""
        if not has_turns_to_summarise(self.record):
            return
        platform, message = self.asked.platform, self.asked.message
        try:
            await self.asked.services.question_service.reflect(message.thread, await platform.audience(message))
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - the answer is there; the next question summarises again
            log.warning("not_summarised", extra={"trace_id": self.trace_id, "reason": str(error)})

    async def _run(self, presenter: EventPresenter, events: Events) -> FinalEvent | None:
        """Wait for the index to open, count the run, and show it."""
        await self._warm()
        if not self.unasked and await self.asked.services.inbox.begin(self.asked.lease) > MOST_RUNS:
            await self.view.fail(GIVEN_UP, self.trace_id)
            return None
        async with aclosing(self.asked.keep_checkpoint(events)) as stream:
            return await presenter.show(stream)

    async def _warm(self) -> None:
        """Wait while a large index opens, and show a step that says so."""
        warming = self.asked.services.warming
        if not warming():
            return
        await self.view.step(Step("warming", WARMING_UP, StepState.RUNNING))
        with suppress(TimeoutError):
            async with asyncio.timeout(WARM_SECONDS):
                while warming():  # noqa: ASYNC110 - the index only offers a flag to poll
                    await asyncio.sleep(WATCH_SECONDS)
        await self.view.step(Step("warming", "Warmed up", StepState.DONE))

    async def _until_cancelled(
        self, presenter: EventPresenter, run: Coroutine[Any, Any, FinalEvent | None]
    ) -> FinalEvent | None:
        """Show the run, and watch for cancellation from the start.

        Raises Cancelled after cancelling the run and closing its stream. A request that arrives while the end is shown
        interrupts nothing: an edited question or a deletion waits in the inbox behind this one.
        """
        states, thread = self.asked.services.message_states, self.asked.lease.delivery.thread
        showing = asyncio.create_task(run)
        try:
            while not showing.done():
                if not presenter.ending:
                    reason = await states.take_cancel(thread, self.asked.message.id)
                    if reason is not None and not presenter.ending:
                        raise Cancelled(reason)
                await asyncio.wait({showing}, timeout=_until_next_look())
            return showing.result()
        finally:
            showing.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await showing

    async def _end_cancelled(self, reason: CancelReason) -> FinalEvent | None:
        """End a cancelled run: offer what was found if stopped, yield to an edited question, remove all if deleted."""
        if reason is CancelReason.DELETED:
            await self.view.close()
            await self.asked.withdraw()
        if reason is not CancelReason.STOPPED:
            return None
        event = await self.asked.services.question_service.stop(self.trace_id, self.asked.lease.fence)
        if isinstance(event, CheckpointReached | AgentCompleted):
            async with aclosing(self.asked.keep_checkpoint(_only(event))) as stream:
                return await EventPresenter(self.view, self.trace_id).show(stream)
        await self.view.fail("Stopped, as you asked.", self.trace_id)
        return None


class Cancelled(Exception):
    """The question was stopped, edited or deleted while it was processed."""

    def __init__(self, reason: CancelReason) -> None:
        super().__init__(reason)
        self.reason = reason


def trace_of(lease: Lease) -> str:
    """Return the trace id of a delivery. It is the same on every attempt, so a retry replaces the trace."""
    return hashlib.sha256(lease.delivery.id.encode()).hexdigest()[:16]


def _until_next_look() -> float:
    """Return the seconds until the next poll. All runs poll at the same moments and share one store round trip."""
    return WATCH_SECONDS - asyncio.get_running_loop().time() % WATCH_SECONDS


async def _only(event: AgentEvent) -> Events:
    yield event
