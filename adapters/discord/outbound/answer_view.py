"""One answer in the making on Discord: a message that changes as the work goes, then the answer in as many as it takes.

``core.service.delivery.pacing`` says when to edit. Every id is kept before it is relied on, and every edit first makes
sure that no other worker has taken the question over.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import structlog

from adapters.discord.api.errors import RequestRefused
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_index import AnswerIndex
from adapters.discord.outbound.answer_messages import AnswerMessages, Pauses, Render
from adapters.discord.outbound.answer_records import AnswerStage, DiscordQuestionState
from adapters.discord.outbound.edit_versions import EditVersions, Superseded
from adapters.discord.outbound.layouts import Extras
from adapters.discord.outbound.messages import Messages
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import answer_parts, clip, escape
from core.model.answer import Answer
from core.model.errors import Denied, FootnoteError, NotFound
from core.model.incoming_events import IncomingMessage
from core.model.inquiry import Checkpoint
from core.model.reply_target import ReplyMode
from core.ports.answer_view import Step
from core.ports.platform import MessageState
from core.service.delivery.pacing import LIMITS, Pacing, PacingLimits

PACE_SECONDS = 1.2  # between two edits
MOST_PIECES = 50
PAUSES = Pauses()
NOT_DIRECTLY = (
    "I answer directly here, and cannot write to you. Allow direct messages from members of this server, and ask again."
)

log = structlog.get_logger(__name__)


class DiscordAnswerView:
    """Shows one question's answer."""

    def __init__(
        self,
        *,
        message: IncomingMessage,
        message_state: MessageState[DiscordQuestionState],
        trace_id: str,
        messages: Messages,
        answer_index: AnswerIndex,
        edit_versions: EditVersions,
        connected: Callable[[], Awaitable[None]],
        extras: Callable[[], Awaitable[Extras]],
        seconds: float = PACE_SECONDS,
        limits: PacingLimits = LIMITS,
        pauses: Pauses = PAUSES,
    ) -> None:
        self._message = message
        self._target = message.reply_target
        self._message_state = message_state
        self._trace_id = trace_id
        self._answer_index = answer_index
        self._edit_versions = edit_versions
        self._connected = connected
        self._extras = extras
        self._pacing = Pacing(self._edit, lambda: seconds, limits)
        self._answer_messages = AnswerMessages(
            message_state=message_state,
            target=self._target,
            question=message.text,
            messages=messages,
            on_moved=self._note_redirect,
            on_unanswered=self._pacing.expect_late_edit,
            pauses=pauses,
        )
        self._steps: dict[str, Step] = {}
        self._written = ""
        self._notices: list[str] = []
        self._superseded = False

    # --- while it goes

    async def open(self) -> None:
        """Show that the question was heard, in its place; or take up what an earlier worker showed.

        Raises Superseded when the question reads otherwise meanwhile; nothing more is then shown here.
        """
        await self._connected()
        if not self._message_state.kept.outcome:  # what is parked goes on, whatever became of its wording
            try:
                await self._edit_versions.check(self._message)
            except Superseded:
                self._superseded = True
                raise
        await self._answer_index.keep(self._trace_id, self._message)
        if chosen := self._message_state.kept.chosen:
            self._notices.append(escape(chosen))
        await self._message_state.keep(
            replace(self._message_state.kept, stage=AnswerStage.WORKING, question=self._message, trace=self._trace_id)
        )
        await self._pacing.run(lambda: self._answer_messages.open(self._progress_views))
        await self._remember_messages()

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        self._steps.pop(step.id, None)
        self._steps[step.id] = step
        self._pacing.request()

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        self._written += text
        self._pacing.request()

    async def rewrite(self, reason: str) -> None:
        """Forget the text shown so far."""
        self._written = ""
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""
        if text.strip() and text not in self._notices:
            self._notices.append(text)
        self._pacing.request()

    async def _progress_views(self) -> list[SanitizedView]:
        question = self._question_line()
        return [layouts.progress_layout(self._steps, self._written, self._notices, self._trace_id, question=question)]

    def _question_line(self) -> str:
        """The question, where the answer does not stand below it, and who can see this, where that is only one."""
        apart = (ReplyMode.RESPONSE, ReplyMode.PRIVATE, ReplyMode.DIRECT)
        if self._answer_messages.mode not in apart and self._target.mode not in apart:
            return ""
        alone = "\n-# visible to you only" if self._message.private else ""
        return f"> {escape(clip(self._message.text, 300))}{alone}"

    def _with_place(self, render: Render) -> Render:
        """With where it was asked, where the answer had to go to the asker directly."""

        async def render_with_place() -> Sequence[SanitizedView]:
            views = await render()
            if self._target.guild and self._answer_messages.mode is ReplyMode.DIRECT is not self._target.mode:
                views[0].add_item(Text(f"-# asked in <#{self._target.channel}>", mentions=True))
            return views

        return render_with_place

    async def _edit(self) -> float:
        """Show the work as it is now, unless the question is another worker's by now."""
        await self._message_state.keep(replace(self._message_state.kept, stage=AnswerStage.WORKING))
        await self._answer_messages.change(self._progress_views)
        return 0.0

    # --- the end

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """The text in as many messages as it takes; the last has the sources and the buttons."""
        trace_id = trace_id or self._trace_id
        parts = answer_parts(answer.text, answer.citations)
        if len(parts) > MOST_PIECES:
            parts = (*parts[: MOST_PIECES - 1], "… The rest would not end: ask for a part of it.")
        extras = await self._extras()

        async def render() -> list[SanitizedView]:
            above = [(self._question_line(), tuple(dict.fromkeys([*self._notices, *answer.notices])))]
            above += [("", ())] * (len(parts) - 1)  # of a long answer its first message has them
            question, notices = above[-1]
            last = replace(extras, question=question)
            return [
                *(layouts.answer_part(part, answer.citations, *above[n]) for n, part in enumerate(parts[:-1])),
                layouts.answer_layout(parts[-1], answer, trace_id, last, notices=notices),
            ]

        await self._end(render, trace_id, answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Show a checkpoint's card."""
        trace_id = trace_id or self._trace_id  # what is shown again begins no run that would say its own

        async def render() -> list[SanitizedView]:
            return [
                layouts.checkpoint_card(checkpoint, answer, trace_id, self._notices, question=self._question_line())
            ]

        await self._end(render, trace_id, answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """Say that it did not work.

        Nothing is said of a wording that is not the question's any more: the place belongs to the later one.
        """
        if not self._superseded:
            await self._end(_failure(message, trace_id), trace_id)

    async def close(self) -> None:
        """Show nothing that still waits."""
        await self._pacing.stop()

    async def _end(self, render: Render, trace_id: str, outcome: str = "") -> None:
        """Show the end in the first place that takes it, as the last edit."""
        await self._pacing.finish(lambda: self._show_end(render, trace_id))
        await self._remember_messages()
        await self._message_state.settle(self._message_state.kept, outcome)

    async def _show_end(self, render: Render, trace_id: str) -> None:
        """Show the end. Where no place takes it, say so; else the log has it."""
        await self._message_state.keep(replace(self._message_state.kept, stage=AnswerStage.ENDING))
        try:
            await self._answer_messages.conclude(self._with_place(render))
        except (NotFound, Denied) as error:
            await self._say_why_not(error, trace_id)
        except RequestRefused as error:
            await self._say_refused(error, trace_id)

    async def _say_refused(self, error: RequestRefused, trace_id: str) -> None:
        """The answer itself is what is refused: that much may be said."""
        try:
            await self._answer_messages.conclude(self._with_place(_failure(str(error), trace_id)))
        except (NotFound, Denied, RequestRefused) as again:
            await self._say_why_not(again, trace_id)

    async def _say_why_not(self, error: FootnoteError, trace_id: str) -> None:
        """Who asked where answers are private, and cannot be written to, hears of it there; else the log has it."""
        log.warning("end_not_shown", trace_id=trace_id, reason=str(error))
        if self._target.mode is ReplyMode.DIRECT and self._target.guild:
            with suppress(NotFound, Denied, RequestRefused):
                await self._answer_messages.post_beside_question(layouts.failure_layout(NOT_DIRECTLY, trace_id))

    async def _remember_messages(self) -> None:
        """A reply to any part of it goes on with this conversation, where it stands in no thread of its own."""
        if self._answer_messages.mode in (ReplyMode.REPLY, ReplyMode.DIRECT, ReplyMode.RESPONSE):
            for posted in self._answer_messages.message_ids:
                await self._answer_index.keep_message(posted, self._message)

    def _note_redirect(self, because: str) -> None:
        """It goes to the asker directly: they hear why."""
        self._notices.append(f"I could not answer where you asked. {because}")


def _failure(message: str, trace_id: str) -> Render:
    async def render() -> list[SanitizedView]:
        return [layouts.failure_layout(message, trace_id)]

    return render
