"""One delivery, from the envelope to its one visible outcome; the same for every platform.

Whatever is visible is kept in ``MessageState`` before it is relied on: a worker that takes over after a crash edits
what is there. The outer edge is here: the one place that catches everything, says so and logs the trace id.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any, assert_never

from core.model.answer import OPEN_OUTCOMES
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
from core.model.incoming_events import Deletion, Expiry, IncomingChoice, IncomingMessage, MessageRoute
from core.model.message_records import CheckpointState
from core.model.message_text import too_long
from core.model.text import words
from core.ports.answer_view import AnswerView, Step, StepState
from core.ports.checkpoints import Checkpoints, ParkedInquiry
from core.ports.daily_budget import DailyBudget
from core.ports.inbox import Inbox, Lease
from core.ports.memory import ThreadRecord
from core.ports.message_state import CancelReason, MessageStateStore
from core.ports.metrics import Metrics, NoMetrics
from core.ports.platform import MessageState, Platform
from core.service.actions.checkpoint_choices import keep_chosen
from core.service.actions.memory_controls import MemoryControls
from core.service.actions.wording import CHOICE_GONE, NOT_YOURS_TO_CHOOSE, explanation_text, outcome_text
from core.service.answer_visibility import visibility_of
from core.service.attached_files import FileReader, question_about_files
from core.service.auto_answer_limiter import AutoAnswerLimiter
from core.service.delivery_codec import decode_delivery
from core.service.event_presenter import EventPresenter
from core.service.explanations import asks_why
from core.service.help import HELP_TEXT, SETTINGS_BY_COMMAND
from core.service.leases import HandBack
from core.service.message_router import MessageRouter
from core.service.message_routing import RoutingDecision
from core.service.question_service import (
    CERTAIN,
    OpenThread,
    Question,
    QuestionService,
    has_turns_to_summarise,
)
from core.service.typed_choice import match_typed_choice

WATCH_SECONDS = 0.4  # how soon a stop, an edit or a deletion is noticed
MOST_RUNS = 8  # a delivery whose runs have killed this many workers is given up, with a word about it
HAND_BACK_SECONDS = 1.0  # before what comes from a platform that is not connected here is offered to others
LAST_WORDS = 3  # more runs to say that it was given up
WARM_SECONDS = 300.0  # an index of a million passages takes about two minutes
WARMING_UP = "I am still starting. I have your question and answer as soon as I am ready."
SLASH_HINT = "I can't run a command from a message that mentions me. Type / in an empty message and choose it there."
_SLASH_COMMAND = re.compile(r"\s*/(?:footnote|kb|ask)\b", re.IGNORECASE)
GIVEN_UP = "I tried this several times without success. Please ask again."
DELETED = "deleted"  # the outcome of a question that was deleted, whatever it was before
AWAY = (StoreUnavailable, PlatformUnavailable)  # the delivery is kept, and tried again when they are back

log = logging.getLogger(__name__)

Events = AsyncGenerator[AgentEvent, None]


@dataclass(frozen=True, slots=True)
class MessageHandler:
    """Handles deliveries for the platforms that are connected here."""

    question_service: QuestionService
    memory_controls: MemoryControls
    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    platforms: Mapping[str, Platform]
    metrics: Metrics = NoMetrics()  # noqa: RUF009 - it has no state
    warming: Callable[[], bool] = lambda: False  # whether index and models are still being opened
    daily_budget: DailyBudget | None = None  # of which what nobody asked for leaves a share

    async def handle(self, lease: Lease) -> None:
        """Bring a delivery to its outcome.

        Raises LeaseLost, HandBack for a platform that is not connected here, and StoreUnavailable or
        PlatformUnavailable when it must be tried again.
        """
        if lease.runs >= MOST_RUNS + LAST_WORDS:
            log.error("given_up", extra={"delivery": lease.delivery.id})  # not even saying so has worked
            return
        try:
            incoming = decode_delivery(lease.delivery)
        except (ValueError, TypeError, KeyError):
            log.exception("unreadable_delivery", extra={"delivery": lease.delivery.id})
            return
        platform = self.platforms.get(lease.delivery.platform)
        if platform is None:
            await asyncio.sleep(HAND_BACK_SECONDS)
            raise HandBack
        try:
            await self._handle(lease, platform, incoming)
        except (LeaseLost, *AWAY):
            raise
        except Exception as error:
            log.exception("delivery_failed", extra={"delivery": lease.delivery.id})
            if not isinstance(incoming, Deletion):
                await platform.tell(incoming, str(error) if isinstance(error, FootnoteError) else WENT_WRONG)

    async def _handle(
        self, lease: Lease, platform: Platform, incoming: IncomingMessage | IncomingChoice | Expiry | Deletion
    ) -> None:
        match incoming:
            case IncomingMessage():
                await self._message(lease, platform, incoming)
            case IncomingChoice():
                await self._choice(lease, platform, incoming)
            case Expiry():
                await self._expiry(lease, platform, incoming)
            case Deletion():
                await self._withdraw(
                    platform, incoming.question, await self._load_state(lease, platform, incoming.question)
                )
            case _:
                assert_never(incoming)

    async def _message(self, lease: Lease, platform: Platform, message: IncomingMessage) -> None:
        message = await platform.complete(message)
        opened = await self.question_service.open_thread(message.thread)
        try:
            decided = await MessageRouter(self.message_states).route(platform, message, opened)
        except NotFound as error:
            await platform.tell(message, str(error))
            return
        log.debug("routed", extra={"delivery": lease.delivery.id, "route": decided.route, "reason": decided.reason})
        match decided.route:
            case MessageRoute.KEEP_QUIET | MessageRoute.THANKED:
                return
            case MessageRoute.ANSWER | MessageRoute.ANSWER_IF_CERTAIN:
                await self._answer_routed(lease, platform, message, opened, decided)
            case MessageRoute.MUTE | MessageRoute.UNMUTE:
                await self.memory_controls.mute(message.thread, muted=decided.route is MessageRoute.MUTE)
                await platform.acknowledge(message, decided.route)
            case MessageRoute.HELP | MessageRoute.SETTINGS | MessageRoute.FORGET_THREAD | MessageRoute.FORGET_ME:
                await platform.tell(message, await self._obey(platform, message, decided.route))
            case _:
                assert_never(decided.route)

    async def _obey(self, platform: Platform, message: IncomingMessage, command: MessageRoute) -> str:
        """Do what a typed command says; what to tell its writer. Raises Denied."""
        if command is MessageRoute.HELP:
            return HELP_TEXT
        if command is MessageRoute.SETTINGS:
            return SETTINGS_BY_COMMAND
        controls = self.memory_controls
        if command is MessageRoute.FORGET_ME:
            return outcome_text(await controls.forget_person(message.asker))
        is_admin = (await platform.permissions(message.asker, message.thread)).is_admin
        return outcome_text(await controls.forget_thread(message.thread, message.asker, is_admin=is_admin))

    async def _answer_routed(
        self,
        lease: Lease,
        platform: Platform,
        message: IncomingMessage,
        opened: OpenThread,
        decided: RoutingDecision,
    ) -> None:
        message_state = await self._load_state(lease, platform, message)
        unasked = decided.route is MessageRoute.ANSWER_IF_CERTAIN
        if message_state.is_settled or (unasked and not await self._may_try(message)):
            return
        if await self._ends_unanswered(lease, platform, message, message_state, unasked=unasked):
            return
        if await self._is_settled_at_once(platform, message, message_state, asked=not unasked):
            return
        await self._answer(lease, platform, message, message_state, opened, decided)

    async def _answer(
        self,
        lease: Lease,
        platform: Platform,
        message: IncomingMessage,
        message_state: MessageState[Any],
        opened: OpenThread,
        decided: RoutingDecision,
    ) -> None:
        """Show its answer; where nobody asked us for one, only a certain one."""
        trace_id = trace_of(lease)
        view = platform.answer_view(message, message_state, trace_id)
        unasked = decided.route is MessageRoute.ANSWER_IF_CERTAIN
        asked = _AskedQuestion(message, message_state, trace_id, opened.record, unasked=unasked)
        if not unasked and not await self._keep_typed_choice(message, opened, trace_id):
            await platform.tell(message, CHOICE_GONE)
            await message_state.settle(message_state.kept)
            return
        events = self._ask(lease, platform, asked, opened)
        if unasked:
            certain = await self._certain(events, lease, trace_id)
            if certain is None:
                return
            events = certain
        await self._show(lease, platform, view, asked, events)

    async def _keep_typed_choice(self, message: IncomingMessage, opened: OpenThread, trace_id: str) -> bool:
        """Keep what a message chooses of the open card, as a button does; False when another choice was made first."""
        parked = opened.parked
        if parked is None or parked.inquiry.id == trace_id or parked.checkpoint.asker.id != message.asker.id:
            return True
        understood = match_typed_choice(message.text, parked.checkpoint)
        if understood is None:
            return True
        card = parked.checkpoint
        try:
            await keep_chosen(self.message_states, card.thread, card.id, understood.choice.label)
        except NotFound:
            return False
        return True

    async def _may_try(self, message: IncomingMessage) -> bool:
        """Whether a question that begins without naming us may cost something now; in our threads it always may."""
        if not (message.in_channel or message.opens_post):
            return True
        admitted = await AutoAnswerLimiter(self.message_states, self.daily_budget).admit(message.thread)
        if not admitted:
            log.info("unasked_not_tried", extra={"place": message.thread.place})
        return admitted

    async def _ends_unanswered(
        self,
        lease: Lease,
        platform: Platform,
        message: IncomingMessage,
        message_state: MessageState[Any],
        *,
        unasked: bool,
    ) -> bool:
        """Whether nothing is to be answered any more: it was deleted, reads otherwise by now, or has had its answer."""
        match await self.message_states.take_cancel(lease.delivery.thread, message.id):
            case CancelReason.DELETED:
                await self._withdraw(platform, message, message_state)
                return True
            case CancelReason.EDITED if not message.edited:  # the edited question waits behind this one
                return True
            case _:
                pass
        if (over := _is_over(message_state, message)) and not unasked:
            await self._answer_late_edit(platform, message, message_state)
        return over

    async def _certain(self, events: Events, lease: Lease, trace_id: str) -> Events | None:
        """The events of an answer that nobody asked us for, once it is there; None where it is better not to speak.

        The run counts before it begins: a message that ends its worker is not tried for ever.
        """
        if self.warming() or await self.inbox.begin(lease) > MOST_RUNS:
            await events.aclose()
            return None
        try:
            first = await anext(events, None)
        except (LeaseLost, *AWAY):
            raise
        except Exception as error:  # noqa: BLE001 - nobody asked: nobody is told
            log.warning("unasked_and_failed", extra={"trace_id": trace_id, "reason": str(error)})
            return None
        return None if first is None else _chain(first, events)

    async def _is_settled_at_once(
        self, platform: Platform, message: IncomingMessage, message_state: MessageState[Any], *, asked: bool
    ) -> bool:
        """Whether it needs no search: it is too long, asks why, or is a command. Unasked, nothing is said to it."""
        if not asked:
            return bool(too_long(message.text))
        if asks_why(message.text):
            await self._explain(platform, message, message_state)
        elif refusal := too_long(message.text):
            await platform.tell(message, refusal)
            await message_state.settle(message_state.kept)
        elif _SLASH_COMMAND.match(message.text):
            await platform.tell(message, SLASH_HINT)
            await message_state.settle(message_state.kept)
        else:
            return False
        return True

    async def _explain(self, platform: Platform, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Tell how the thread's last answer came about: what everybody who reads there may know of it.

        Where answers are for their asker alone, so is that.
        """
        visibility = visibility_of(message, await platform.settings(message.thread))
        asker = message.asker.id if visibility.for_asker_alone else ""
        try:
            audience = await platform.audience(message)
            told = explanation_text(await self.question_service.explain(message.thread, audience, asker=asker))
        except NotFound as error:
            told = str(error)
        await platform.tell(message, told)
        await message_state.settle(message_state.kept)

    async def _answer_late_edit(
        self, platform: Platform, message: IncomingMessage, message_state: MessageState[Any]
    ) -> None:
        """An edit after the answer changes nothing that others have read; its writer may have it answered again, once.

        Not for the same words with another mark or in other capitals.
        """
        if not message.edited or message_state.kept.outcome == DELETED:
            return
        record = (await self.question_service.open_thread(message.thread)).record
        if any(words(turn.question) == words(message.text) for turn in record.turns):
            return
        was_offered = message_state.kept.edited_late
        await message_state.keep(replace(message_state.kept, edited_late=True, late_edit=message))
        if not was_offered:
            await platform.offer_again(message, message_state)

    async def _withdraw(self, platform: Platform, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """The question was deleted: what was posted for it goes too, and a card that waits is answered by nobody."""
        await self.message_states.take_cancel(str(message.thread), message.id)
        if message_state.kept.checkpoint:
            await self.checkpoints.claim(message_state.kept.checkpoint)
        await FileReader(self.message_states).forget(message)
        await platform.withdraw(message, message_state)
        await message_state.settle(message_state.kept, DELETED)

    async def _ask(self, lease: Lease, platform: Platform, asked: "_AskedQuestion", opened: OpenThread) -> Events:
        message = asked.message
        settings = await platform.settings(message.thread)
        audience = await platform.audience(message)
        if visibility_of(message, settings).for_asker_alone:
            audience = replace(audience, public=False)
        leans = _leans_on_thread(message, opened)
        attachments = await FileReader(self.message_states).read(
            platform, message, turns=opened.record.total, fence=lease.fence
        )
        question = Question(
            text=question_about_files(message.text, attachments if leans else ()),
            thread=message.thread,
            asker=message.asker,
            audience=audience,
            policy=settings.policy,
            bases=_bases_to_search(settings.bases, message.bases),
            context=await platform.context(message) if leans else (),
            attachments=attachments,
            trace_id=asked.trace_id,
            fence=lease.fence,
        )
        service, confidence = self.question_service, settings.auto_answer or CERTAIN
        answered = (
            service.answer_if_certain(question, opened, confidence=confidence)
            if asked.unasked
            else service.ask(question, opened)
        )
        async with aclosing(answered) as events:
            async for event in events:
                yield event

    async def _choice(self, lease: Lease, platform: Platform, pressed: IncomingChoice) -> None:
        parked = await self.checkpoints.read(pressed.checkpoint, by=lease.delivery.id)
        question = await self._kept_question(pressed)
        if parked is None or question is None:
            await platform.tell(pressed, CHOICE_GONE)
            return
        message_state = await self._load_state(lease, platform, question)
        if message_state.is_settled:
            return
        choice = parked.checkpoint.choice(pressed.choice)
        if choice is None:
            await platform.tell(pressed, "There is no such choice here.")
            return
        is_admin = await self._chooses_as_admin(platform, pressed, parked)
        if not parked.checkpoint.may_be_answered_by(pressed.person, is_admin=is_admin):
            await platform.tell(pressed, NOT_YOURS_TO_CHOOSE)
            return
        opened = await self._reopen(parked)
        events = self.question_service.choose(
            pressed.checkpoint,
            choice,
            pressed.person,
            text=pressed.text,
            audience=await platform.audience(question),
            is_admin=is_admin,
            by=lease.delivery.id,
            fence=lease.fence,
            opened=opened,
        )
        await self._go_on(lease, platform, question, message_state, opened, events)

    async def _chooses_as_admin(self, platform: Platform, pressed: IncomingChoice, parked: ParkedInquiry) -> bool:
        """Whether a choice of somebody else's is an admin's; looked up for nobody who may choose anyway."""
        if parked.checkpoint.may_be_answered_by(pressed.person, is_admin=False):
            return False
        return (await platform.permissions(pressed.person, pressed.thread)).is_admin

    async def _expiry(self, lease: Lease, platform: Platform, expiry: Expiry) -> None:
        """Close the card, unless somebody chose at the last moment: what nobody chose is not answered."""
        parked = await self.checkpoints.claim(expiry.checkpoint, by=lease.delivery.id)
        message_state = await self._load_state(lease, platform, expiry.question)
        if parked is not None and not message_state.is_settled:
            await platform.close_card(expiry.question, message_state, parked.checkpoint)
            await message_state.settle(message_state.kept)

    async def _reopen(self, parked: ParkedInquiry) -> OpenThread:
        return OpenThread(await self.memory_controls.memory.recall(parked.checkpoint.thread), parked)

    async def _go_on(
        self,
        lease: Lease,
        platform: Platform,
        question: IncomingMessage,
        message_state: MessageState[Any],
        opened: OpenThread,
        events: Events,
    ) -> None:
        """Go on with a parked question where its card stands."""
        trace_id = opened.parked.inquiry.id if opened.parked is not None else trace_of(lease)
        view = platform.answer_view(question, message_state, trace_id)
        asked = _AskedQuestion(question, message_state, trace_id, opened.record)
        await self._show(lease, platform, view, asked, events)

    async def _show(
        self, lease: Lease, platform: Platform, view: AnswerView, asked: "_AskedQuestion", events: Events
    ) -> None:
        """Stream a run into its answer view until it ends in one visible outcome; after that the view shows no more."""
        try:
            await self._show_outcome(lease, platform, view, asked, events)
        finally:
            await view.close()

    async def _show_outcome(
        self, lease: Lease, platform: Platform, view: AnswerView, asked: "_AskedQuestion", events: Events
    ) -> None:
        try:
            try:
                await view.open()
                presenter = EventPresenter(view, asked.trace_id)
                final = await self._until_cancelled(
                    presenter, self._run(presenter, view, events, lease, asked), lease, asked
                )
            except Cancelled as off:
                final = await self._end_cancelled(off.reason, lease, platform, view, asked)
            self.metrics.count_outcome(platform.name, final)
        except (LeaseLost, *AWAY):
            raise
        except (NotFound, Denied) as error:
            await platform.tell(asked.message, str(error))
        except FootnoteError as error:
            await self._fail(platform, view, asked, str(error))
        except Exception:
            log.exception("answer_failed", extra={"trace_id": asked.trace_id})
            await self._fail(platform, view, asked, WENT_WRONG)
        else:
            await self._reflect(platform, asked)
        finally:
            self.question_service.release(asked.trace_id)

    async def _fail(self, platform: Platform, view: AnswerView, asked: "_AskedQuestion", text: str) -> None:
        """Say in the view that it did not work; where the view itself is what fails, to the asker."""
        if asked.message_state.is_settled:  # the outcome stands there already: what failed came after it
            log.warning("failed_after_the_outcome", extra={"trace_id": asked.trace_id, "reason": text})
            return
        try:
            await view.fail(text, asked.trace_id)
        except (LeaseLost, *AWAY):
            raise
        except Exception:
            log.exception("failure_not_shown", extra={"trace_id": asked.trace_id})
            await platform.tell(asked.message, text)

    async def _reflect(self, platform: Platform, asked: "_AskedQuestion") -> None:
        """The thread's summary is of use to later questions: what keeps it from being written harms no answer."""
        if not has_turns_to_summarise(asked.record):
            return
        try:
            await self.question_service.reflect(asked.message.thread, await platform.audience(asked.message))
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - the answer is there; the next question summarises again
            log.warning("not_summarised", extra={"trace_id": asked.trace_id, "reason": str(error)})

    async def _run(
        self, presenter: EventPresenter, view: AnswerView, events: Events, lease: Lease, asked: "_AskedQuestion"
    ) -> FinalEvent | None:
        """Wait until there is an index to look in, count the run, and show it."""
        await self._warm(view)
        if not asked.unasked and await self.inbox.begin(lease) > MOST_RUNS:
            await view.fail(GIVEN_UP, asked.trace_id)
            return None
        async with aclosing(self._keep_checkpoint(events, lease, asked)) as stream:
            return await presenter.show(stream)

    async def _keep_checkpoint(self, events: Events, lease: Lease, asked: "_AskedQuestion") -> Events:
        """Keep what a card's buttons and its expiry will need before the card can be seen."""
        async with aclosing(events) as stream:
            async for event in stream:
                if isinstance(event, CheckpointReached):
                    card = _card(asked.message, event.checkpoint.id)
                    state = replace(asked.message_state.kept, checkpoint=event.checkpoint.id)
                    await asked.message_state.keep(state, replace(card, question=asked.message))
                yield event

    async def _warm(self, view: AnswerView) -> None:
        """While a large index opens, say so, and go on as soon as it is there."""
        if not self.warming():
            return
        await view.step(Step("warming", WARMING_UP, StepState.RUNNING))
        with suppress(TimeoutError):
            async with asyncio.timeout(WARM_SECONDS):
                while self.warming():  # noqa: ASYNC110 - what opens says whether it has, and nothing more
                    await asyncio.sleep(WATCH_SECONDS)
        await view.step(Step("warming", "Warmed up", StepState.DONE))

    async def _until_cancelled(
        self,
        presenter: EventPresenter,
        run: Coroutine[Any, Any, FinalEvent | None],
        lease: Lease,
        asked: "_AskedQuestion",
    ) -> FinalEvent | None:
        """Show the run, watching for a stop from its first moment on.

        Raises Cancelled, with the run cancelled and its stream closed. What comes while the end is being shown cuts
        nothing short: an edited question and a deletion wait in the inbox behind this one.
        """
        showing = asyncio.create_task(run)
        try:
            while not showing.done():
                if not presenter.ending:
                    reason = await self.message_states.take_cancel(lease.delivery.thread, asked.message.id)
                    if reason is not None and not presenter.ending:
                        raise Cancelled(reason)
                await asyncio.wait({showing}, timeout=_until_next_look())
            return showing.result()
        finally:
            showing.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await showing

    async def _end_cancelled(
        self, reason: CancelReason, lease: Lease, platform: Platform, view: AnswerView, asked: "_AskedQuestion"
    ) -> FinalEvent | None:
        """Stopped: offer what was found. Edited: the edited question takes the place over. Deleted: take it away."""
        if reason is CancelReason.DELETED:
            await view.close()
            await self._withdraw(platform, asked.message, asked.message_state)
        if reason is not CancelReason.STOPPED:
            return None
        event = await self.question_service.stop(asked.trace_id, lease.fence)
        presenter = EventPresenter(view, asked.trace_id)
        if isinstance(event, CheckpointReached | AgentCompleted):
            async with aclosing(self._keep_checkpoint(_only(event), lease, asked)) as stream:
                return await presenter.show(stream)
        await view.fail("Stopped, as you asked.", asked.trace_id)
        return None

    async def _load_state(self, lease: Lease, platform: Platform, message: IncomingMessage) -> MessageState[Any]:
        blank = platform.question_state(thread=message.thread, message=message.id, asker=message.asker.id)
        kept = await self.message_states.read(blank)
        return MessageState(self.message_states, kept or blank, lease.fence, lease.delivery.id)

    async def _kept_question(self, pressed: IncomingChoice) -> IncomingMessage | None:
        kept = await self.message_states.read(CheckpointState(thread=pressed.thread, checkpoint=pressed.checkpoint))
        return kept.question if kept is not None else None


async def _chain(first: AgentEvent, events: Events) -> Events:
    async with aclosing(events) as stream:
        yield first
        async for event in stream:
            yield event


class Cancelled(Exception):
    """The question was stopped, edited or deleted while it was worked on."""

    def __init__(self, reason: CancelReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _AskedQuestion:
    message: IncomingMessage
    message_state: MessageState[Any]
    trace_id: str
    record: ThreadRecord  # of its thread, before it is answered
    unasked: bool = False  # put to nobody in particular, and counted as a run already


def trace_of(lease: Lease) -> str:
    """The trace id of a delivery: the same on every attempt, so that a retry replaces rather than adds."""
    return hashlib.sha256(lease.delivery.id.encode()).hexdigest()[:16]


def _card(question: IncomingMessage, checkpoint: str) -> CheckpointState:
    return CheckpointState(thread=question.thread, checkpoint=checkpoint, asker=question.asker.id)


def _leans_on_thread(message: IncomingMessage, opened: OpenThread) -> bool:
    """Whether what others said before matters: we are new to the thread, or it replies to a message there."""
    return not opened.record.total or bool(message.reply_target.about)


def _bases_to_search(of_place: frozenset[str] | None, asked: tuple[str, ...]) -> frozenset[str] | None:
    """Which bases to look in: those of the place, and of them only what the asker names. None: all that are visible."""
    if not asked:
        return of_place
    return frozenset(asked) if of_place is None else of_place & frozenset(asked)


def _is_over(message_state: MessageState[Any], message: IncomingMessage) -> bool:
    """Whether this question has had its last word. While a card waits, the question as edited takes its place."""
    outcome = message_state.kept.outcome
    return bool(outcome) and not (message.edited and outcome in OPEN_OUTCOMES)


def _until_next_look() -> float:
    """Seconds. All who watch look at the same moments, so that one round trip to the store serves them all."""
    return WATCH_SECONDS - asyncio.get_running_loop().time() % WATCH_SECONDS


async def _only(event: AgentEvent) -> Events:
    yield event
