"""Delivery of one answer on every chat platform: first sign, progress, end, and recovery after a crash.

Each stage is stored before it is relied on. Before every edit, the delivery checks that no other worker has taken the
question over. A worker that takes over edits the existing messages, and searches for one that was posted but not
stored.
"""

import logging
from dataclasses import replace
from typing import Any, Generic

from core.model.answer import Answer
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import ReplyMode
from core.model.inquiry import Checkpoint
from core.model.records import AnswerStage, ChatQuestionState
from core.ports.answer_view import Step
from core.ports.chat import (
    CallRefused,
    Concluded,
    DeliveryHooks,
    End,
    Failed,
    Manners,
    NoAnswer,
    Offered,
    PartKey,
    Payload,
    Refusal,
    Renderer,
    Streaming,
    Superseded,
    Surface,
)
from core.ports.platform import MessageState
from core.service.delivery.messages import AnswerMessages
from core.service.delivery.pacing import LIMITS, PacingLimits
from core.service.delivery.progress import Progress

log = logging.getLogger(__name__)


class AnswerDelivery(Generic[Payload]):
    """``core.ports.answer_view.AnswerView`` over one platform's surface. ``mode`` is the question's reply mode."""

    def __init__(
        self,
        *,
        surface: Surface[Payload],
        renderer: Renderer[Payload],
        hooks: DeliveryHooks[Payload],
        manners: Manners,
        message_state: MessageState[Any],
        trace_id: str,
        mode: ReplyMode = ReplyMode.POST,
        streaming: Streaming[Payload] | None = None,
        limits: PacingLimits = LIMITS,
    ) -> None:
        self._surface = surface
        self._renderer = renderer
        self._hooks = hooks
        self._manners = manners
        self._message_state = message_state
        self._trace_id = trace_id
        self._messages = AnswerMessages(surface, renderer, hooks, manners, message_state, mode)
        self._progress = Progress(self._messages, renderer, streaming, limits)
        self._pacing = self._progress.pacing
        self._messages.on_unanswered = self._pacing.expect_late_edit
        self._is_superseded = False

    @property
    def _kept(self) -> ChatQuestionState:
        return self._messages.kept

    @property
    def _is_blind(self) -> bool:
        return self._messages.place.mode in self._manners.blind

    # --- the beginning

    async def open(self) -> None:
        """Show the first sign, or resume what an earlier worker or choice left."""
        try:
            said = await self._hooks.prepare()
        except Superseded:
            self._is_superseded = True
            raise
        self._progress.work.notices += said
        stage = self._kept.stage
        if stage is AnswerStage.OFFERED and self._manners.keeps_card and self._kept.first:
            await self._leave_card()
        if self._is_blind:
            await self._open_blindly(stage)
            return
        if self._surface.home is not None and self._kept.mode:  # the answer moved: show nothing more in its old place
            self._progress.final_only = True
            return
        if stage is AnswerStage.OFFERED and self._manners.keeps_card:
            await self._begin()
        elif self._kept.first or await self._find_lost(stage):
            await self._resume(stage)
        else:
            await self._begin()
        await self._hooks.remember(self._messages.place, self._kept.messages)
        await self._hooks.shown(None)

    async def _leave_card(self) -> None:
        """Remove the choices from the card that led here, unless that was done when the choice was made."""
        try:
            if (payload := await self._hooks.left_card()) is not None:
                await self._messages.close_card(payload)
        except PlatformUnavailable as error:
            log.info("card_not_settled", extra={"reason": str(error)})

    async def _begin(self) -> None:
        """Post a first sign below all earlier messages, as a stream if possible."""
        kept = self._kept
        if self._manners.keeps_card and kept.first:
            kept = replace(kept, cards=(*kept.cards, kept.first), first="")
        await self._message_state.keep(self._hooks.opening(replace(kept, stage=AnswerStage.WORKING)))
        try:
            if message := await self._progress.start_stream():
                await self._messages.keep_id(0, message)
                return
        except NoAnswer:
            if await self._find_lost(AnswerStage.WORKING):
                await self._progress.resume(self._kept.first)
                return
        await self._show_sign()

    async def _resume(self, stage: AnswerStage) -> None:
        """Resume the existing first message. If it may already hold an answer, change it only at the end."""
        is_done = stage is AnswerStage.DONE and not self._manners.optional_sign
        self._progress.final_only = stage is AnswerStage.ENDING or is_done
        kept = self._kept if self._progress.final_only else replace(self._kept, stage=AnswerStage.WORKING)
        await self._message_state.keep(self._hooks.opening(kept), *self._hooks.beside(kept.first))
        if self._manners.optional_sign:
            await self._show_sign()
        else:
            await self._progress.resume(kept.first)

    async def _show_sign(self) -> None:
        if self._progress.final_only:
            return
        shown = await self._pacing.run(lambda: self._messages.show_sign(self._progress.render))
        self._progress.final_only = not shown and not self._manners.optional_sign  # the end tries other places

    async def _find_lost(self, stage: AnswerStage) -> bool:
        """Return whether a first message is found that an earlier worker was about to post when it stopped."""
        if stage not in {AnswerStage.WORKING, AnswerStage.ENDING}:
            return False
        known = (*self._kept.cards, *self._kept.messages)
        found = await self._surface.find(self._messages.place, PartKey(0), known)
        if found:
            await self._messages.keep_id(0, found)
        return bool(found)

    async def _open_blindly(self, stage: AnswerStage) -> None:
        """Tell the asker once that the answer is coming; this cannot be verified later."""
        self._progress.final_only = True
        if stage not in {AnswerStage.UNSEEN, AnswerStage.OFFERED}:
            return
        await self._message_state.keep(self._hooks.opening(replace(self._kept, stage=AnswerStage.PRIVATE)))
        try:
            await self._messages.post_or_plain(self._progress.render(), PartKey(0))
        except CallRefused as refused:
            log.info("no_first_sign", extra={"reason": str(refused)})

    # --- in between

    async def step(self, step: Step) -> None:
        """Show or replace a step of the timeline."""
        self._progress.step(step)

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        self._progress.write(text)

    async def rewrite(self, reason: str) -> None:
        """Forget the text shown so far."""
        self._progress.rewrite(reason)

    async def notice(self, text: str) -> None:
        """Show a notice beside the answer."""
        self._progress.notice(text)

    # --- the end

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Replace everything shown so far with the whole answer, its sources and buttons."""
        await self._end(Concluded(answer, trace_id or self._trace_id), answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Show a checkpoint's card. A card that is shown again starts no run that would name its trace."""
        await self._end(Offered(checkpoint, answer, trace_id or self._trace_id), answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """Show a failure. If the question was edited again, it belongs to the newer delivery, and nothing is shown."""
        if not self._is_superseded:
            await self._end(Failed(message, trace_id), "")

    async def close(self) -> None:
        """Drop updates that wait, and let an edit in flight finish before the next one."""
        await self._pacing.stop()

    async def _end(self, end: End, outcome: str) -> None:
        """Show the end in the first place that accepts it, as the last edit, and store that it is there."""
        await self._hooks.ending(end, self._progress.work)
        if self._is_blind:
            await self.close()
            await self._show_end(end)
        else:
            await self._pacing.finish(lambda: self._show_end(end))
        await self._hooks.remember(self._messages.place, self._kept.messages)
        stage = AnswerStage.OFFERED if isinstance(end, Offered) else AnswerStage.DONE
        await self._message_state.settle(replace(self._kept, stage=stage), outcome)
        await self._hooks.shown(end)

    async def _show_end(self, end: End) -> None:
        """Show the end. Calling it again edits the same messages."""
        resumed = self._kept.stage is AnswerStage.ENDING
        await self._message_state.keep(replace(self._kept, stage=AnswerStage.ENDING))
        if await self._progress.end_stream(end):
            return
        streamed = self._progress.work.streaming
        await self._progress.leave_stream()
        self._progress.work.streaming = streamed
        try:
            await self._conclude(end, resumed=resumed)
        except CallRefused as refused:
            await self._say_why_not(refused, end)
        finally:
            self._progress.work.streaming = False

    async def _conclude(self, end: End, *, resumed: bool) -> None:
        work = self._progress.work
        await self._messages.conclude(lambda place: self._renderer.end(end, work, place), resumed=resumed)

    async def _say_why_not(self, refused: CallRefused, end: End) -> None:
        """Log that no place accepts the end. If the answer itself is rejected, try to show a failure instead."""
        log.warning("end_not_shown", extra={"trace_id": end.trace_id, "reason": str(refused)})
        if refused.refusal is Refusal.REJECTED:
            try:
                await self._conclude(Failed(str(refused), end.trace_id), resumed=False)
            except CallRefused as again:
                log.warning("end_not_shown", extra={"trace_id": end.trace_id, "reason": str(again)})
            else:
                return
        if (last_words := self._hooks.last_words(end.trace_id)) is not None:
            await self._messages.say(*last_words)

    # --- later

    async def close_card(self, card: Checkpoint) -> None:
        """Remove the choices from an expired card, in its place. Raises PlatformUnavailable."""
        await self._messages.close_card(self._renderer.closed_card(card))

    async def withdraw(self) -> None:
        """Remove everything that was posted. Idempotent. Raises PlatformUnavailable."""
        await self._messages.withdraw()
