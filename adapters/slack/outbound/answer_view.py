"""One answer in the making, in Slack: a stream where Slack takes one, else a message that is edited.

What is visible is a message whose ``ts`` is kept in the ``MessageState``. A worker that takes over edits that message;
when the crash came between posting and keeping, the message is found by its metadata, or as ours without any (a stream
that never ended). The end always replaces what was streamed by the whole answer, so that no text is lost or doubled.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from adapters.slack.api.errors import OutcomeUnknown, RequestRefused, reason_in_words
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_messages import AnswerMessages, NowhereToPost, SlackQuestion, Workspace
from adapters.slack.outbound.answer_records import (
    AnswerStage,
    CurrentAnswer,
    LatestInChannel,
    LatestOfPerson,
    SlackQuestionState,
    VisibleAnswer,
)
from adapters.slack.outbound.text import Escaper, escape
from core.model.answer import Answer, Outcome
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.inquiry import Checkpoint
from core.model.message_records import CheckpointState
from core.ports.answer_view import Step, StepState
from core.ports.platform import MessageState
from core.service.answer_visibility import AnswerVisibility, answer_visibility
from core.service.delivery.pacing import LIMITS, Pacing, PacingLimits

STREAM_SECONDS = 0.8  # between two pieces of one stream
EDIT_SECONDS = 1.5  # between two edits of one placeholder
CHECK_SECONDS = 0.2  # between two checks of whether one more call is within the rate limit
MOST_STREAMED = 9_000  # characters shown live; a message fails near 13,200, and the end shows all of it anyway
QUICK_SECONDS = 5.0  # an answer that follows a new question so soon needs no word of what it answers
_STREAM_OVER = {"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}  # there is none to end
START = Step("start", "Looking…", StepState.RUNNING)  # the first task of a stream, over when there is another

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class SlackAnswerView:
    """Shows one answer. Calls come one at a time; ``Pacing`` sends what they leave to be shown."""

    workspace: Workspace
    question: SlackQuestion
    message_state: MessageState[SlackQuestionState]
    trace_id: str
    limits: PacingLimits = LIMITS
    _offers_handoff: bool = False
    _streaming: bool = False  # the message is a stream that has not ended
    _is_stale: bool = False  # what the message shows is wrong or unknown: only an edit of the whole mends it
    _is_private: bool = False
    _final_only: bool = False  # an answer stands there already: change it only at the end
    _told_directly: bool = False  # no place took the end, so the asker has it as a direct message
    _text: str = ""  # everything written, escaped
    _sent_length: int = 0  # characters of it that the stream has
    _escaper: Escaper = field(default_factory=Escaper)
    _steps: dict[str, Step] = field(default_factory=dict)
    _unsent_steps: dict[str, Step] = field(default_factory=dict)
    _notices: list[str] = field(default_factory=list)
    _opened_at: float = field(default_factory=time.monotonic)
    _pacing: Pacing = field(init=False)

    def __post_init__(self) -> None:
        self._pacing = Pacing(self._send, lambda: STREAM_SECONDS if self._streaming else EDIT_SECONDS, self.limits)

    @property
    def web(self) -> WebClient:
        """The Web API."""
        return self.workspace.web

    @property
    def _messages(self) -> AnswerMessages:
        return AnswerMessages(self.workspace, self.question, self.message_state, self.trace_id)

    # --- the beginning

    async def open(self) -> None:
        """Show the first sign, or take up what an earlier worker or an earlier choice left."""
        settings = await self.workspace.settings(self.question.thread)
        self._offers_handoff = bool(settings.handoff)
        visibility = answer_visibility(settings, direct=self.question.direct, private=self.question.private or None)
        self._is_private = visibility is AnswerVisibility.ASKER
        state = self.message_state.kept.state
        if state is AnswerStage.OFFERED:
            await self._settle_card()
        if self._is_private:
            await self._open_privately(state)
            return
        found = "" if state is AnswerStage.OFFERED else self.message_state.kept.ts
        if not found and state is AnswerStage.OPEN:  # it was about to be posted when an earlier worker went away
            found = await self._messages.find("0")
        if found:
            await self._resume(found, state)
        else:
            await self._begin()
        await self.workspace.sessions.show(self.question.thread, "processing", self.question.text)

    async def _begin(self) -> None:
        kept = self.message_state.kept
        cards = (*kept.cards, *filter(None, [kept.ts]))
        await self.message_state.keep(replace(kept, state=AnswerStage.OPEN, ts="", cards=cards))
        if await self._start_stream():
            return
        try:
            await self._record_shown(await self._messages.post(self._placeholder(), "Looking…", "0"))
        except NowhereToPost as error:
            log.warning("no_sign_shown", trace_id=self.trace_id, reason=str(error))
            self._final_only = True  # there is nothing to edit: the end finds a way

    async def _resume(self, ts: str, state: AnswerStage) -> None:
        await self._record_shown(ts)
        self._final_only = state in {AnswerStage.DONE, AnswerStage.CONCLUDING}
        with suppress(RequestRefused, PlatformUnavailable):  # it was no stream, or it is over: an edit does the rest
            await self.web.call(
                "chat.stopStream", channel=self.question.channel, ts=ts, metadata=self._messages.metadata()
            )
        if not self._final_only:
            await self._edit_now()

    async def _open_privately(self, state: AnswerStage) -> None:
        if state in {AnswerStage.UNSEEN, AnswerStage.OFFERED}:
            await self.message_state.keep(replace(self.message_state.kept, state=AnswerStage.PRIVATE))
            await self._messages.post_privately(
                [blocks.context("Looking that up. The answer will be visible to you only.")], "Looking…"
            )

    async def _start_stream(self) -> bool:
        """Whether a stream shows now. When no answer came, one that may have been begun is looked for."""
        if self.question.suggested or not self.web.rate_limiter.try_acquire("chat.startStream"):
            return False  # what stands above the answer, a stream cannot show
        arguments: dict[str, Any] = {
            "channel": self.question.channel,
            "thread_ts": self.question.root,
            "task_display_mode": "timeline",
            "chunks": [blocks.task(START)],
        }
        if not self.question.direct:
            arguments |= {"recipient_user_id": self.question.user, "recipient_team_id": self.question.thread.space}
        if not self.workspace.sessions.available_in(self.question.channel):
            row = blocks.stop_row(self.message_state.kept.message)
            arguments["chunks"].append({"type": "blocks", "blocks": [row]})
        try:
            answer = await self.web.call_once("chat.startStream", **arguments)
        except RequestRefused as refusal:
            log.info("stream_refused", reason=refusal.error)
            return False
        except OutcomeUnknown:
            found = await self._messages.find("0")
            if found:
                await self._resume(found, AnswerStage.OPEN)
            return bool(found)
        await self._record_shown(str(answer["ts"]))
        self._streaming = True
        self._unsent_steps[START.id] = replace(START, state=StepState.DONE)  # it goes out with what comes next
        self._pacing.restart_pause()
        return True

    async def _record_shown(self, ts: str) -> None:
        """Keep what is visible, and whose it is: a stop names only the message."""
        thread, subject, asker = self.question.thread, self.message_state.kept.message, self.question.asker.id
        await self.message_state.keep(
            replace(self.message_state.kept, ts=ts),
            VisibleAnswer(thread=thread, ts=ts, subject=subject, asker=asker),
            CurrentAnswer(thread=thread, subject=subject, asker=asker),
        )

    # --- in between

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        self._steps[step.id] = step
        self._unsent_steps[step.id] = step
        self._flush()

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        self._text += self._escaper.push(text)
        self._flush()

    async def rewrite(self, reason: str) -> None:
        """Forget the text: a stream cannot, so from here on the message is edited."""
        self._text, self._escaper = "", Escaper()
        self._notices.append(reason)
        if self._shows_progress:
            await self._edit_now()

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""
        self._notices.append(text)
        number = f"notice-{len(self._notices)}"
        self._unsent_steps[number] = Step(number, text, StepState.DONE)
        self._flush()

    def _flush(self) -> None:
        """Have what is new sent in its turn: a slow Slack does not slow the work."""
        if self._shows_progress:
            self._pacing.request()

    @property
    def _shows_progress(self) -> bool:
        return not (self._is_private or self._final_only)

    @property
    def _has_unsent(self) -> bool:
        return bool(self._unsent_steps.keys() - {START.id}) or self._sent_length < min(len(self._text), MOST_STREAMED)

    async def _edit_now(self) -> None:
        """Edit the whole message out of turn; where that fails, the next edit, or the end, shows it."""
        self._is_stale = True
        with suppress(FootnoteError):
            if await self._pacing.run(self._send):
                self._pacing.request()

    async def _send(self) -> float:
        """Send what is new; after how many seconds to try again where it was not sent or more is to follow.

        Raises LeaseLost when another worker has taken the question over, and StoreUnavailable when nobody can tell.
        """
        if not (self._has_unsent or self._is_stale):
            return 0.0
        await self.message_state.keep(self.message_state.kept)
        if self._streaming and self._is_stale:
            await self._leave_stream()
        method = "chat.appendStream" if self._streaming else "chat.update"
        if not self.web.rate_limiter.try_acquire(method):
            return CHECK_SECONDS
        return await self._append_to_stream() if self._streaming else await self._edit_placeholder()

    async def _append_to_stream(self) -> float:
        new = self._text[self._sent_length : MOST_STREAMED]
        chunks: list[dict[str, Any]] = [blocks.task(step) for step in self._unsent_steps.values()]
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        steps, self._unsent_steps = self._unsent_steps, {}
        try:
            await self.web.call_once(
                "chat.appendStream", channel=self.question.channel, ts=self.message_state.kept.ts, chunks=chunks
            )
        except RequestRefused as refusal:
            if refusal.retry_after:  # nothing was taken: it goes with the next piece
                self._unsent_steps = steps | self._unsent_steps
                return refusal.retry_after
            log.info("stream_ended_early", reason=refusal.error)
            self._streaming = refusal.error not in _STREAM_OVER  # one that goes on has to end before an edit
            self._is_stale = refusal.error != "stopped_by_user"
            return CHECK_SECONDS if self._is_stale else 0.0
        except OutcomeUnknown:  # it may have been taken: only an edit can tell no text twice
            self._is_stale = True
            return CHECK_SECONDS
        self._sent_length += len(new)
        return 0.0

    async def _leave_stream(self) -> None:
        """End the stream and go on by editing its message."""
        self._streaming = False
        try:
            await self.web.call("chat.stopStream", channel=self.question.channel, ts=self.message_state.kept.ts)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("stream_not_ended", reason=str(error))

    async def _edit_placeholder(self) -> float:
        self._unsent_steps = {}
        self._sent_length = len(self._text)
        self._is_stale = True
        try:
            await self.web.call_once(
                "chat.update",
                channel=self.question.channel,
                ts=self.message_state.kept.ts,
                text="Looking…",
                blocks=self._placeholder(),
                link_names=False,
            )
        except RequestRefused as refusal:
            log.info("edit_skipped", reason=str(refusal))
            return refusal.retry_after
        self._is_stale = False
        return 0.0

    def _placeholder(self) -> list[blocks.Block]:
        shown = self._text[:MOST_STREAMED]
        going = blocks.progress_blocks(self._steps.values(), shown, self._notices, self.message_state.kept.message)
        return [*self.question.heading, *going]

    # --- the end

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """The whole answer with its sources and buttons, in place of everything streamed."""
        parts = blocks.answer_parts(answer)
        foot = blocks.foot(answer, trace_id, handoff=self._offers_handoff, private=self._is_private)
        partners = "" if self._is_private else await self.workspace.partner_notice(self.question.thread)
        above = [*await self._heading(), *blocks.notice_lines([*filter(None, [partners]), *self._notices], answer)]
        layouts = [[blocks.answer_part(part, answer)] if part.strip() else [] for part in parts]
        layouts[-1] += foot
        layouts[0] = [*above, *layouts[0]]
        same_text = len(parts) == 1 and self._text.strip() == parts[0].strip()
        streamed = same_text and not above and not blocks.has_links(parts[0], answer)
        await self._remember_latest()
        await self._finish(layouts, answer.text, AnswerStage.DONE, answer.outcome, below=foot if streamed else None)
        if partners:
            await self.workspace.keep_partners_mentioned(self.question.thread)
        status = "suspended" if answer.outcome is Outcome.PARKED else "active"
        await self.workspace.sessions.show(self.question.thread, status)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Show a checkpoint's card."""
        layout = [*await self._heading(), *blocks.card(checkpoint, answer, self._notices, trace_id)]
        words = escape(checkpoint.message)[:1_500]
        card = CheckpointState(
            thread=self.question.thread, checkpoint=checkpoint.id, asker=self.question.asker.id, card=words
        )
        await self.message_state.store.save(card, fence=self.message_state.fence)
        await self._remember_latest()
        await self._finish([layout], checkpoint.message, AnswerStage.OFFERED, answer.outcome)
        await self.workspace.sessions.show(self.question.thread, "suspended")

    async def _heading(self) -> list[blocks.Block]:
        """Whose question it is, where that stands in no message or others have written since."""
        question = self.question
        if question.suggested or question.direct or self._is_private:
            return question.heading
        is_quick = question.root == question.ts and time.monotonic() - self._opened_at < QUICK_SECONDS
        if is_quick or not await self._messages.others_wrote():
            return []
        return [blocks.asked_line(await self.workspace.name_of(question.user), question.text)]

    async def fail(self, message: str, trace_id: str) -> None:
        """Say that it did not work, under which trace; what was written so far stays."""
        written = self._text[: blocks.PART]
        layout = [blocks.markdown(written)] if written.strip() and self._streaming else []
        layout = [*self.question.heading, *layout]
        layout += [blocks.section(escape(message)), blocks.context(f"trace {trace_id}")]
        await self._finish([layout], message, AnswerStage.DONE, "")
        await self.workspace.sessions.show(self.question.thread, "active")

    async def close(self) -> None:
        """Send nothing more of what waits; a piece that is under way comes before whatever is shown next."""
        await self._pacing.stop()

    async def _finish(
        self,
        layouts: Sequence[list[blocks.Block]],
        text: str,
        state: AnswerStage,
        outcome: str,
        *,
        below: list[blocks.Block] | None = None,
    ) -> None:
        """Show these messages, the first in place of what stands there. Kept ids are edited, never posted again.

        ``below`` is what is missing when the stream shows the very text already: then it simply ends.
        """
        if self._is_private:
            await self.close()
            await self._finish_privately(layouts, text)
        else:
            await self._pacing.finish(lambda: self._finish_in_place(layouts, text, below))
        await self.message_state.settle(replace(self.message_state.kept, state=state), outcome)

    async def _finish_privately(self, layouts: Sequence[list[blocks.Block]], text: str) -> None:
        """Nothing tells whether the asker was shown it already, so a retry shows it again rather than not at all."""
        for layout in layouts:
            if not await self._messages.post_privately(layout, blocks.fallback(text)):
                await self._messages.post_directly(
                    layouts, blocks.fallback(text), "Slack does not show you a private message there"
                )
                return

    async def _finish_in_place(
        self, layouts: Sequence[list[blocks.Block]], text: str, below: list[blocks.Block] | None
    ) -> None:
        if self._told_directly:
            return
        resumed = self.message_state.kept.state is AnswerStage.CONCLUDING
        await self.message_state.keep(replace(self.message_state.kept, state=AnswerStage.CONCLUDING))
        try:
            if not (below and await self._end_stream(below)):
                await self._show_first(layouts[0], blocks.fallback(text), resumed=resumed)
            for number, layout in enumerate(layouts[1:], 1):
                await self._show_part(number, layout, blocks.fallback(text), resumed=resumed)
        except NowhereToPost as nowhere:
            self._told_directly = True
            await self._messages.post_directly(layouts, blocks.fallback(text), reason_in_words(str(nowhere)))

    async def _end_stream(self, below: list[blocks.Block]) -> bool:
        """Whether the stream could end as it is, with the rest of the text and the blocks below it."""
        if (
            not self._streaming
            or self._is_stale
            or not self.workspace.sessions.available_in(self.question.channel)
            or len(self._text) > MOST_STREAMED
        ):
            return False
        new = self._text[self._sent_length :]
        chunks: list[dict[str, Any]] = [blocks.task(step) for step in self._unsent_steps.values()]
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        try:
            await self.web.call(
                "chat.stopStream",
                channel=self.question.channel,
                ts=self.message_state.kept.ts,
                chunks=chunks or None,
                blocks=below,
                metadata=self._messages.metadata(),
            )
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("stream_not_ended", reason=str(error))
            self._streaming = not (isinstance(error, RequestRefused) and error.error in _STREAM_OVER)
            return False
        self._streaming = False
        return True

    async def _show_first(self, layout: list[blocks.Block], text: str, *, resumed: bool) -> None:
        """The first message as it stays: the stream is ended, then the message shows the whole answer.

        A message that cannot be edited any more gives way to a new one: of two, one would be a stub.
        """
        if self._streaming:
            await self._leave_stream()
        ts = self.message_state.kept.ts
        if ts and await self._messages.update(ts, layout, text, "0"):
            return
        if ts:
            with suppress(PlatformUnavailable):  # a stub that stays for now holds no answer up
                await self._messages.remove(ts)
        await self._record_shown(await self._messages.post(layout, text, "0", resumed=resumed))

    async def _show_part(self, number: int, layout: list[blocks.Block], text: str, *, resumed: bool) -> None:
        """A further message of a long answer, counted from 1."""
        parts = self.message_state.kept.parts
        if number <= len(parts) and await self._messages.update(parts[number - 1], layout, text, str(number)):
            return
        posted = await self._messages.post(layout, text, str(number), resumed=resumed)
        await self.message_state.keep(
            replace(self.message_state.kept, parts=(*parts[: number - 1], posted, *parts[number:]))
        )

    async def _settle_card(self) -> None:
        """Take the buttons off the card that led here: what was chosen stands there instead."""
        ts, checkpoint = self.message_state.kept.ts, self.message_state.kept.checkpoint
        card = CheckpointState(thread=self.question.thread, checkpoint=checkpoint)
        card = await self.message_state.store.read(card) or card
        if not ts or card.chosen:  # it was replaced when the button was pressed
            return
        layout = [blocks.markdown(card.card or "…"), blocks.context("Continued below.")]
        try:
            await self._messages.update(ts, layout, "Continued below.", "0")
        except PlatformUnavailable as error:
            log.info("card_not_settled", reason=str(error))

    async def _remember_latest(self) -> None:
        """Where this person was last answered in this channel: commands cannot name a thread."""
        channel, thread, asker = channel_key(self.question.thread), self.question.thread, self.question.asker.id
        await self.message_state.store.save(
            LatestInChannel(channel=channel, thread=thread, trace=self.trace_id, asker=asker),
            LatestOfPerson(channel=channel, thread=thread, trace=self.trace_id, asker=asker),
        )


def channel_key(thread: ThreadKey) -> ThreadKey:
    """The key under which things about a whole channel are kept beside its threads."""
    return replace(thread, thread="")
