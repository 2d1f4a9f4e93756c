"""Processing of one delivery, from its envelope to its one visible outcome; the same for every platform.

Everything visible is stored in ``MessageState`` before it is relied on, so a worker that takes over after a crash edits
the existing messages. This is the outermost error handler: it catches everything, reports it and logs the trace id.
"""

import asyncio
import logging
import re
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import assert_never

from core.model.answer import OPEN_OUTCOMES
from core.model.errors import WENT_WRONG, FootnoteError, LeaseLost, NotFound
from core.model.events import AgentEvent
from core.model.incoming_events import Deletion, Expiry, IncomingChoice, IncomingMessage, MessageRoute
from core.model.inquiry import Choice
from core.model.message_text import too_long
from core.model.records import CheckpointState
from core.model.text import words
from core.ports.inbox import Lease
from core.ports.memory import ParkedInquiry
from core.ports.message_state import CancelReason
from core.ports.platform import Platform
from core.service.actions.questions import free_chosen, keep_chosen
from core.service.actions.wording import CHOICE_GONE, NOT_YOURS_TO_CHOOSE, explanation_text, outcome_text
from core.service.answer_run import (
    AWAY,
    DELETED,
    MOST_RUNS,
    AnswerRun,
    DeliveryServices,
    Events,
    HeldQuestion,
    trace_of,
)
from core.service.attached_files import FileReader, question_about_files
from core.service.channel_settings import visibility_of
from core.service.explanations import asks_why
from core.service.help import HELP_TEXT, SETTINGS_BY_COMMAND
from core.service.incoming import decode_delivery
from core.service.leases import HandBack
from core.service.message_router import AutoAnswerLimiter, MessageRouter
from core.service.message_routing import RoutingDecision
from core.service.question_service import CERTAIN, OpenThread, Question
from core.service.typed_choice import match_typed_choice

HAND_BACK_SECONDS = 1.0  # before deliveries of a platform not connected here are handed back
LAST_WORDS = 3  # more runs to report that it was given up
SLASH_HINT = "I can't run commands from a message that mentions me. Type / in an empty message and choose the command."
_SLASH_COMMAND = re.compile(r"\s*/(?:footnote|kb|ask)\b", re.IGNORECASE)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MessageHandler(DeliveryServices):
    """Handles deliveries for the platforms connected here."""

    async def handle(self, lease: Lease) -> None:
        """Process a delivery to its outcome.

        Raises LeaseLost, HandBack for a platform that is not connected here, and StoreUnavailable or
        PlatformUnavailable when it must be retried.
        """
        if lease.runs >= MOST_RUNS + LAST_WORDS:
            log.error("given_up", extra={"delivery": lease.delivery.id})  # even reporting that failed
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
            await _HeldDelivery(self, lease, platform).handle(incoming)
        except (LeaseLost, *AWAY):
            raise
        except Exception as error:
            log.exception("delivery_failed", extra={"delivery": lease.delivery.id})
            if not isinstance(incoming, Deletion):
                await platform.tell(incoming, str(error) if isinstance(error, FootnoteError) else WENT_WRONG)


@dataclass(frozen=True, slots=True)
class _HeldDelivery:
    """One delivery under its lease."""

    services: DeliveryServices
    lease: Lease
    platform: Platform

    async def handle(self, incoming: IncomingMessage | IncomingChoice | Expiry | Deletion) -> None:
        """Handle a message, a choice, an expiry or a deletion."""
        match incoming:
            case IncomingMessage():
                await self._message(incoming)
            case IncomingChoice():
                await self._choice(incoming)
            case Expiry():
                await self._expiry(incoming)
            case Deletion():
                await (await self._load(incoming.question)).withdraw()
            case _:
                assert_never(incoming)

    async def _load(self, message: IncomingMessage) -> HeldQuestion:
        return await HeldQuestion.load(self.services, self.lease, self.platform, message)

    async def _message(self, message: IncomingMessage) -> None:
        message = await self.platform.complete(message)
        opened = await self.services.question_service.open_thread(message.thread)
        try:
            decided = await MessageRouter(self.services.message_states).route(self.platform, message, opened)
        except NotFound as error:
            await self.platform.tell(message, str(error))
            return
        reasons = {"route": decided.route, "reason": decided.reason}
        log.debug("routed", extra={"delivery": self.lease.delivery.id, **reasons})
        if self.services.person_answers is not None and not message.direct:
            await self.services.person_answers.hear(message)
        match decided.route:
            case MessageRoute.KEEP_QUIET | MessageRoute.THANKED:
                return
            case MessageRoute.ANSWER | MessageRoute.ANSWER_IF_CERTAIN:
                await self._answer_routed(message, opened, decided)
            case MessageRoute.MUTE | MessageRoute.UNMUTE:
                muted = decided.route is MessageRoute.MUTE
                await self.services.memory_controls.mute(message.thread, muted=muted)
                await self.platform.acknowledge(message, decided.route)
            case MessageRoute.HELP | MessageRoute.SETTINGS | MessageRoute.FORGET_THREAD | MessageRoute.FORGET_ME:
                await self.platform.tell(message, await self._obey(message, decided.route))
            case _:
                assert_never(decided.route)

    async def _obey(self, message: IncomingMessage, command: MessageRoute) -> str:
        """Run a typed command; return the reply to its writer. Raises Denied."""
        if command is MessageRoute.HELP:
            return HELP_TEXT
        if command is MessageRoute.SETTINGS:
            return SETTINGS_BY_COMMAND
        controls = self.services.memory_controls
        if command is MessageRoute.FORGET_ME:
            return outcome_text(await controls.forget_person(message.asker))
        is_admin = (await self.platform.permissions(message.asker, message.thread)).is_admin
        return outcome_text(await controls.forget_thread(message.thread, message.asker, is_admin=is_admin))

    # --- a question

    async def _answer_routed(self, message: IncomingMessage, opened: OpenThread, decided: RoutingDecision) -> None:
        asked = await self._load(message)
        unasked = decided.route is MessageRoute.ANSWER_IF_CERTAIN
        if asked.message_state.is_settled or (unasked and not await self._may_try(message)):
            return
        if await self._ends_unanswered(asked, unasked=unasked):
            return
        if await self._is_settled_at_once(asked, unasked=unasked):
            return
        await self._answer(asked, opened, unasked=unasked)

    async def _answer(self, asked: HeldQuestion, opened: OpenThread, *, unasked: bool) -> None:
        """Show the question's answer; if nobody asked us for one, only a certain answer."""
        trace_id = trace_of(self.lease)
        view = self.platform.answer_view(asked.message, asked.message_state, trace_id)
        typed = None if unasked else _typed_choice(asked.message, opened, trace_id)
        card = None
        if typed is not None and opened.parked is not None:
            try:
                card = await self._keep_typed(typed, opened.parked)
            except NotFound:  # another choice was made first
                await asked.settle_with(CHOICE_GONE)
                return
        events = self._ask(asked, opened, trace_id, unasked=unasked)
        if unasked:
            certain = await self._certain(events, trace_id)
            if certain is None:
                return
            events = certain
        if refusal := await self._limit_reached(asked.message, opened, trace_id):
            await events.aclose()
            if not unasked:
                await asked.settle_with(refusal)
            return
        await AnswerRun(asked, view, trace_id, opened.record, unasked=unasked).show(events)
        if card is not None and await self.services.checkpoints.read(card.checkpoint) is not None:
            await free_chosen(self.services.message_states, card)  # it failed before it took the checkpoint

    async def _limit_reached(self, message: IncomingMessage, opened: OpenThread, trace_id: str) -> str:
        """Count this answer once; return the message for its asker if today's limit is reached."""
        limits = self.services.answer_limits
        if limits is None:
            return ""
        if _typed_choice(message, opened, trace_id) is not None:  # it continues a question that was counted
            return ""
        return await limits.refusal(message, (await self.platform.settings(message.thread)).policy.limits)

    async def _keep_typed(self, typed: Choice, parked: ParkedInquiry) -> CheckpointState:
        """Store a typed choice of the open card, as a button does. Raises NotFound if another was made first."""
        card = parked.checkpoint
        return await keep_chosen(self.services.message_states, card.thread, card.id, typed.label)

    async def _may_try(self, message: IncomingMessage) -> bool:
        """Return whether an unaddressed new question may cost something now. In our threads it always may."""
        if not (message.in_channel or message.opens_post):
            return True
        limiter = AutoAnswerLimiter(self.services.message_states, self.services.daily_budget)
        admitted = await limiter.admit(message.thread)
        if not admitted:
            log.info("unasked_not_tried", extra={"place": message.thread.place})
        return admitted

    async def _ends_unanswered(self, asked: HeldQuestion, *, unasked: bool) -> bool:
        """Return whether no answer is needed: the question was deleted, edited since, or already answered."""
        match await self.services.message_states.take_cancel(self.lease.delivery.thread, asked.message.id):
            case CancelReason.DELETED:
                await asked.withdraw()
                return True
            case CancelReason.EDITED if not asked.message.edited:  # the edited question is queued behind this one
                return True
            case _:
                pass
        if (over := _is_over(asked)) and not unasked:
            await self._answer_late_edit(asked)
        return over

    async def _certain(self, events: Events, trace_id: str) -> Events | None:
        """Return the events of an unasked answer once it is certain; None if silence is better.

        The run is counted before it starts, so a message that kills its worker is not retried forever.
        """
        if self.services.warming() or await self.services.inbox.begin(self.lease) > MOST_RUNS:
            await events.aclose()
            return None
        try:
            first = await anext(events, None)
        except (LeaseLost, *AWAY):
            raise
        except Exception as error:  # noqa: BLE001 - nobody asked, so nobody is told
            log.warning("unasked_and_failed", extra={"trace_id": trace_id, "reason": str(error)})
            return None
        return None if first is None else _chain(first, events)

    async def _is_settled_at_once(self, asked: HeldQuestion, *, unasked: bool) -> bool:
        """Return whether the message needs no search: too long, a "why", or a command. Unasked, never reply."""
        text = asked.message.text
        if unasked:
            return bool(too_long(text))
        if asks_why(text):
            await asked.settle_with(await self._explanation(asked.message))
        elif refusal := too_long(text):
            await asked.settle_with(refusal)
        elif _SLASH_COMMAND.match(text):
            await asked.settle_with(SLASH_HINT)
        else:
            return False
        return True

    async def _explanation(self, message: IncomingMessage) -> str:
        """Return how the thread's last answer came about, limited to what all its readers may know.

        If only the asker sees answers there, the explanation covers only this asker's.
        """
        visibility = visibility_of(message, await self.platform.settings(message.thread))
        asker = message.asker.id if visibility.for_asker_alone else ""
        try:
            audience = await self.platform.audience(message)
            return explanation_text(await self.services.question_service.explain(message.thread, audience, asker=asker))
        except NotFound as error:
            return str(error)

    async def _answer_late_edit(self, asked: HeldQuestion) -> None:
        """Offer the writer of a late edit a new answer, once; the visible answer stays.

        Edits of only punctuation or capitals are ignored.
        """
        message, kept = asked.message, asked.message_state.kept
        if not message.edited or kept.outcome == DELETED:
            return
        record = (await self.services.question_service.open_thread(message.thread)).record
        if any(words(turn.question) == words(message.text) for turn in record.turns):
            return
        await asked.message_state.keep(replace(kept, edited_late=True, late_edit=message))
        if not kept.edited_late:
            await self.platform.offer_again(message, asked.message_state)

    async def _ask(self, asked: HeldQuestion, opened: OpenThread, trace_id: str, *, unasked: bool) -> Events:
        message, platform = asked.message, self.platform
        settings = await platform.settings(message.thread)
        audience = await platform.audience(message)
        if visibility_of(message, settings).for_asker_alone:
            audience = replace(audience, public=False)
        # Earlier messages of others matter if we are new to the thread, or the message replies to one of them.
        leans = not opened.record.total or bool(message.reply_target.about)
        attachments = await FileReader(self.services.message_states).read(
            platform, message, turns=opened.record.total, fence=self.lease.fence
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
            trace_id=trace_id,
            fence=self.lease.fence,
        )
        service, confidence = self.services.question_service, settings.auto_answer or CERTAIN
        answered = (
            service.answer_if_certain(question, opened, confidence=confidence)
            if unasked
            else service.ask(question, opened)
        )
        async with aclosing(answered) as events:
            async for event in events:
                yield event

    # --- a card

    async def _choice(self, pressed: IncomingChoice) -> None:
        """Continue a parked question where its card is."""
        parked = await self.services.checkpoints.read(pressed.checkpoint, by=self.lease.delivery.id)
        blank = CheckpointState(thread=pressed.thread, checkpoint=pressed.checkpoint)
        card = await self.services.message_states.read(blank)
        if parked is None or card is None or card.question is None:
            await self.platform.tell(pressed, CHOICE_GONE)
            return
        asked = await self._load(card.question)
        if asked.message_state.is_settled:
            return
        choice = parked.checkpoint.choice(pressed.choice)
        if choice is None:
            await self.platform.tell(pressed, "There is no such choice here.")
            return
        is_admin = await self._chooses_as_admin(pressed, parked)
        if not parked.checkpoint.may_be_answered_by(pressed.person, is_admin=is_admin):
            await self.platform.tell(pressed, NOT_YOURS_TO_CHOOSE)
            return
        record = await self.services.memory_controls.memory.recall(parked.checkpoint.thread)
        events = self.services.question_service.choose(
            pressed.checkpoint,
            choice,
            pressed.person,
            text=pressed.text,
            audience=await self.platform.audience(asked.message),
            is_admin=is_admin,
            by=self.lease.delivery.id,
            fence=self.lease.fence,
            opened=OpenThread(record, parked),
        )
        trace_id = parked.inquiry.id
        view = self.platform.answer_view(asked.message, asked.message_state, trace_id)
        await AnswerRun(asked, view, trace_id, record).show(events)

    async def _chooses_as_admin(self, pressed: IncomingChoice, parked: ParkedInquiry) -> bool:
        """Return whether somebody other than the asker chooses as an admin. Looks up nobody who may choose anyway."""
        if parked.checkpoint.may_be_answered_by(pressed.person, is_admin=False):
            return False
        return (await self.platform.permissions(pressed.person, pressed.thread)).is_admin

    async def _expiry(self, expiry: Expiry) -> None:
        """Close an expired card, unless somebody chose at the last moment. The question gets no answer."""
        parked = await self.services.checkpoints.claim(expiry.checkpoint, by=self.lease.delivery.id)
        asked = await self._load(expiry.question)
        if parked is not None and not asked.message_state.is_settled:
            await self.platform.close_card(asked.message, asked.message_state, parked.checkpoint)
            await asked.settle()


def _typed_choice(message: IncomingMessage, opened: OpenThread, trace_id: str) -> Choice | None:
    """Return the choice that a message makes of an open card that waits for its writer."""
    parked = opened.parked
    if parked is None or parked.inquiry.id == trace_id or parked.checkpoint.asker.id != message.asker.id:
        return None
    return match_typed_choice(message.text, parked.checkpoint)


async def _chain(first: AgentEvent, events: Events) -> Events:
    async with aclosing(events) as stream:
        yield first
        async for event in stream:
            yield event


def _bases_to_search(of_place: frozenset[str] | None, asked: tuple[str, ...]) -> frozenset[str] | None:
    """Return the place's bases, limited to those the asker names. None: all visible bases."""
    if not asked:
        return of_place
    return frozenset(asked) if of_place is None else of_place & frozenset(asked)


def _is_over(asked: HeldQuestion) -> bool:
    """Return whether this question has its final outcome. While a card waits, an edited question replaces it."""
    outcome = asked.message_state.kept.outcome
    return bool(outcome) and not (asked.message.edited and outcome in OPEN_OUTCOMES)
