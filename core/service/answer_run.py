"""One run of an answer: shown in its view from the first event to the one visible outcome, or called off.

The outer edge of an answer is here: whatever goes wrong is said in the view or, where that fails, to the asker.
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
MOST_RUNS = 8  # a delivery whose runs have killed this many workers is given up, with a word about it
WARM_SECONDS = 300.0  # an index of a million passages takes about two minutes
WARMING_UP = "I am still starting. I have your question and answer as soon as I am ready."
GIVEN_UP = "I tried this several times without success. Please ask again."
DELETED = "deleted"  # the outcome of a question that was deleted, whatever it was before
AWAY = (StoreUnavailable, PlatformUnavailable)  # the delivery is kept, and tried again when they are back

log = logging.getLogger(__name__)

Events = AsyncGenerator[AgentEvent, None]


@dataclass(frozen=True, slots=True)
class DeliveryServices:
    """What deliveries are worked off with."""

    question_service: QuestionService
    memory_controls: MemoryControls
    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    platforms: Mapping[str, Platform]
    metrics: Metrics = NoMetrics()  # noqa: RUF009 - it has no state
    warming: Callable[[], bool] = lambda: False  # whether index and models are still being opened
    daily_budget: DailyBudget | None = None  # of which what nobody asked for leaves a share
    person_answers: PersonAnswers | None = None  # None where no knowledge is managed
    answer_limits: AnswerLimits | None = None


@dataclass(frozen=True, slots=True)
class HeldQuestion:
    """The question of one delivery, with what is kept of it."""

    services: DeliveryServices
    lease: Lease
    platform: Platform
    message: IncomingMessage
    message_state: MessageState[Any]

    @classmethod
    async def load(
        cls, services: DeliveryServices, lease: Lease, platform: Platform, message: IncomingMessage
    ) -> "HeldQuestion":
        """Return the question of this message as it is kept. Raises StoreUnavailable."""
        blank = platform.question_state(thread=message.thread, message=message.id, asker=message.asker.id)
        kept = await services.message_states.read(blank)
        state = MessageState(services.message_states, kept or blank, lease.fence, lease.delivery.id)
        return cls(services, lease, platform, message, state)

    async def settle_with(self, text: str) -> None:
        """Say this to the asker, as all there is to say."""
        await self.platform.tell(self.message, text)
        await self.settle()

    async def settle(self, outcome: str = "") -> None:
        """Keep that this delivery has its outcome."""
        await self.message_state.settle(self.message_state.kept, outcome)

    async def withdraw(self) -> None:
        """Remove what was posted for a deleted question; a card that waits is answered by nobody."""
        services, message = self.services, self.message
        await services.message_states.take_cancel(str(message.thread), message.id)
        if self.message_state.kept.checkpoint:
            await services.checkpoints.claim(self.message_state.kept.checkpoint)
        await FileReader(services.message_states).forget(message)
        await self.platform.withdraw(message, self.message_state)
        await self.settle(DELETED)

    async def keep_checkpoint(self, events: Events) -> Events:
        """Keep what a card's buttons and its expiry will need before the card can be seen."""
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
    """Shows the run that answers a question. ``record`` is its thread before that is answered.

    ``unasked``: the question was put to nobody in particular, and is counted as a run already.
    """

    asked: HeldQuestion
    view: AnswerView
    trace_id: str
    record: ThreadRecord
    unasked: bool = False

    async def show(self, events: Events) -> None:
        """Show it until it ends in one visible outcome; after that the view shows no more."""
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
        """Say in the view that it did not work; where the view itself is what fails, to the asker."""
        if self.asked.message_state.is_settled:  # the outcome is shown already: what failed came after it
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
        """Summarise the thread for later questions. What prevents that harms no answer."""
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
        """Wait until there is an index to look in, count the run, and show it."""
        await self._warm()
        if not self.unasked and await self.asked.services.inbox.begin(self.asked.lease) > MOST_RUNS:
            await self.view.fail(GIVEN_UP, self.trace_id)
            return None
        async with aclosing(self.asked.keep_checkpoint(events)) as stream:
            return await presenter.show(stream)

    async def _warm(self) -> None:
        """While a large index opens, say so, and go on as soon as it is there."""
        warming = self.asked.services.warming
        if not warming():
            return
        await self.view.step(Step("warming", WARMING_UP, StepState.RUNNING))
        with suppress(TimeoutError):
            async with asyncio.timeout(WARM_SECONDS):
                while warming():  # noqa: ASYNC110 - what opens says whether it has, and nothing more
                    await asyncio.sleep(WATCH_SECONDS)
        await self.view.step(Step("warming", "Warmed up", StepState.DONE))

    async def _until_cancelled(
        self, presenter: EventPresenter, run: Coroutine[Any, Any, FinalEvent | None]
    ) -> FinalEvent | None:
        """Show the run, watching for a stop from its first moment on.

        Raises Cancelled, with the run cancelled and its stream closed. What comes while the end is being shown cuts
        nothing short: an edited question and a deletion wait in the inbox behind this one.
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
        """Offer what was found if stopped; let the edited question take over; remove all if deleted."""
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
    """The question was stopped, edited or deleted while it was worked on."""

    def __init__(self, reason: CancelReason) -> None:
        super().__init__(reason)
        self.reason = reason


def trace_of(lease: Lease) -> str:
    """Return the trace id of a delivery: the same on every attempt, so that a retry replaces rather than adds."""
    return hashlib.sha256(lease.delivery.id.encode()).hexdigest()[:16]


def _until_next_look() -> float:
    """Seconds. All who watch look at the same moments, so that one round trip to the store serves them all."""
    return WATCH_SECONDS - asyncio.get_running_loop().time() % WATCH_SECONDS


async def _only(event: AgentEvent) -> Events:
    yield event
