"""What is visible during the work: a stream if the platform supports one, otherwise a message that is edited."""

import logging
from dataclasses import replace
from typing import Generic

from core.model.errors import PlatformUnavailable
from core.ports.answer_view import Step, StepState
from core.ports.chat import CallRefused, End, NoAnswer, Payload, Refusal, Renderer, Streaming, Work
from core.service.delivery.messages import AnswerMessages
from core.service.delivery.pacing import Pacing, PacingLimits

SOON = 0.2  # seconds until an edit replaces the stream
START = Step("start", "Looking…", StepState.RUNNING)  # the first step of a stream, done when the next appears

log = logging.getLogger(__name__)


class Progress(Generic[Payload]):
    """Shows progress in the first message of an answer, in the background, so a slow platform delays nothing."""

    def __init__(
        self,
        messages: AnswerMessages[Payload],
        renderer: Renderer[Payload],
        streaming: Streaming[Payload] | None,
        limits: PacingLimits,
    ) -> None:
        self._messages = messages
        self._renderer = renderer
        self._streaming = streaming
        self._unsent: dict[str, Step] = {}
        self._sent = 0  # characters of the text that the stream has
        self._is_stale = False  # the stream's text is wrong or unknown; only a full edit corrects it
        self._last: Payload | None = None
        self.work = Work()
        self.final_only = False  # an answer is already shown, or nothing can be: change it only at the end
        self.pacing = Pacing(self._send, self._pause, limits)

    def _pause(self) -> float:
        if self._streaming is not None and self.work.streaming:
            return self._streaming.seconds
        return self._messages.manners.edit_seconds

    def render(self) -> Payload:
        """Return the progress as a message."""
        return self._renderer.progress(self.work, self._messages.place)

    # --- updates

    def step(self, step: Step) -> None:
        """Show or replace a step of the timeline."""
        self.work.steps.pop(step.id, None)
        self.work.steps[step.id] = self._unsent[step.id] = step
        self._request()

    def write(self, text: str) -> None:
        """Show more of the answer."""
        self.work.written += text
        self._request()

    def rewrite(self, reason: str) -> None:
        """Drop the text. A stream cannot do that, so from here on the message is edited."""
        self.work.written = ""
        self._is_stale = True
        self.notice(reason)

    def notice(self, text: str) -> None:
        """Show a notice beside the answer."""
        if text.strip() and text not in self.work.notices:
            self.work.notices.append(text)
            name = f"notice-{len(self.work.notices)}"
            self._unsent[name] = Step(name, text, StepState.DONE)
        self._request()

    def _request(self) -> None:
        if not self.final_only:
            self.pacing.request()

    # --- the stream

    async def start_stream(self) -> str:
        """Start a stream; return its message id, or '' without one. Raises NoAnswer if it may have started."""
        if self._streaming is None:
            return ""
        try:
            message = await self._streaming.start(START)
        except CallRefused as refused:
            log.info("stream_refused", extra={"reason": str(refused)})
            return ""
        self.work.streaming = True
        self._unsent[START.id] = replace(START, state=StepState.DONE)  # sent with the next update
        self.pacing.restart_pause()
        return message

    async def resume(self, message: str) -> None:
        """Continue by editing a message that may be a stream; end the stream first if it still runs."""
        if self._streaming is not None:
            await self._stop(message)
        if not self.final_only:
            self.pacing.request()

    async def leave_stream(self) -> None:
        """End a running stream, and continue by editing its message."""
        if self.work.streaming:
            self.work.streaming = False
            await self._stop(self._messages.kept.first)

    async def _stop(self, message: str) -> None:
        assert self._streaming is not None
        try:
            await self._streaming.stop(message)
        except (CallRefused, PlatformUnavailable) as error:  # it was no stream, or has ended: an edit follows
            log.info("stream_not_ended", extra={"reason": str(error)})

    async def end_stream(self, end: End) -> bool:
        """Return whether the stream could simply end, because it already shows the text of this end."""
        if self._streaming is None or not self.work.streaming or self._is_stale:
            return False
        text = self._streaming.text(self.work.written)
        below = self._streaming.below(end, self.work)
        if below is None or len(text) > self._streaming.longest:
            return False
        steps = tuple(self._unsent.values())
        try:
            await self._streaming.stop(self._messages.kept.first, steps, text[self._sent :], below)
        except (CallRefused, PlatformUnavailable) as error:
            log.info("stream_not_ended", extra={"reason": str(error)})
            self.work.streaming = not (
                isinstance(error, CallRefused) and error.refusal in {Refusal.GONE, Refusal.DENIED}
            )
            return False
        self.work.streaming = False
        return True

    # --- sending

    async def _send(self) -> float:
        """Send what is new; return the seconds until the next try if nothing was sent or more follows, otherwise 0.

        Raises LeaseLost when another worker has taken the question over, and StoreUnavailable when that cannot be
        checked.
        """
        if self.work.streaming and not self._has_unsent():
            return 0.0
        await self._messages.message_state.keep(self._messages.kept)
        try:
            if self.work.streaming and self._is_stale:
                await self.leave_stream()
            if self.work.streaming:
                return await self._append()
            await self._edit()
        except CallRefused as refused:
            log.info("edit_skipped", extra={"reason": str(refused)})
            return refused.after
        return 0.0

    def _has_unsent(self) -> bool:
        return self._is_stale or bool(self._unsent.keys() - {START.id}) or bool(self._new_text())

    def _new_text(self) -> str:
        assert self._streaming is not None
        return self._streaming.text(self.work.written)[self._sent : self._streaming.longest]

    async def _append(self) -> float:
        assert self._streaming is not None
        new, steps = self._new_text(), self._unsent
        self._unsent = {}
        try:
            await self._streaming.append(self._messages.kept.first, tuple(steps.values()), new)
        except CallRefused as refused:
            if refused.refusal is Refusal.LIMITED:  # nothing was accepted: send it with the next piece
                self._unsent = steps | self._unsent
                return refused.after
            log.info("stream_ended_early", extra={"reason": str(refused)})
            self.work.streaming = refused.refusal is Refusal.OTHER  # a running stream must end before an edit
            self._is_stale = refused.refusal is not Refusal.DENIED  # somebody stopped it
            return SOON if self._is_stale else 0.0
        except NoAnswer:  # it may have been accepted: only an edit avoids showing text twice
            self._is_stale = True
            return SOON
        self._sent += len(new)
        return 0.0

    async def _edit(self) -> None:
        payload = self.render()
        if payload == self._last:
            return
        await self._messages.change(payload)
        self._last = payload
