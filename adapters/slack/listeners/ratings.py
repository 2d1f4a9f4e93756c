"""👍 and 👎 below an answer, and the form that 👎 opens: what was wrong, and what would have been right."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, Press, sender_of
from adapters.slack.kb.forms import FORM_EXPIRED
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.kb.replies import outcome_text
from adapters.slack.listeners.error_reports import ACKNOWLEDGE_SECONDS, TRY_AGAIN, ignore, report_errors
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.form_values import FormValues
from adapters.slack.outbound.payloads import RatingValue, ReasonForm, form_in
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, Unavailable
from core.service.actions.presses import AnswerAction, press_button
from core.service.kb.results import KbResult, RefusalReason, Refused, is_success
from core.service.one_time_actions import PressOutcome

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RatingListeners:
    """Keeps ratings, and proposes corrections where there is knowledge to correct."""

    workspace: SlackWorkspace
    knowledge: SlackKnowledge | None = None

    def register(self, app: AsyncApp) -> None:
        """The two thumbs, which are one element, and the form."""
        app.action(blocks.FEEDBACK)(self._rate)
        app.view(views.REASON)(self._submit_reason)

    async def _rate(self, ack: Ack, body: Body) -> None:
        await ack()
        press = Press.of(body)
        async with report_errors(partial(self.workspace.messages.post_privately, press.thread, press.user)):
            rating = RatingValue.decode(press.value)
            try:
                if not rating.helpful:
                    await self._open_form(press, rating.trace_id)
            finally:
                await self._keep_rating(press.thread, press.user, rating.trace_id, helpful=rating.helpful)

    async def _open_form(self, press: Press, trace_id: str) -> None:
        form = ReasonForm(press.thread.channel, press.thread.thread, trace_id)
        if self.knowledge is not None:
            shown = "" if press.ephemeral else press.message_ts
            form = replace(form, shown=shown, form=await self.knowledge.keep_form(press.person_id))
        await self.workspace.open_view(press.trigger_id, views.reason(form, correctable=self.knowledge is not None))

    async def _submit_reason(self, ack: Ack, body: Body) -> None:
        """What was wrong, and what would be right, is kept before the form closes."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                result = await self._keep_reason(body)
        except (Unavailable, TimeoutError) as error:
            log.warning("form_not_kept", reason=str(error) or "timeout")
            await acknowledge(ack, errors={"reason": TRY_AGAIN})
            async with report_errors(ignore):  # it was told on the form
                await self._reopen(body)
            return
        if result is not None and not is_success(result):
            await acknowledge(ack, errors={"answer": outcome_text(result)})
            return
        await ack()
        if result is not None and self.knowledge is not None:
            (team, user), form = sender_of(body), form_in(ReasonForm, body["view"])
            await self.knowledge.tell([result], ThreadKey(PLATFORM, team, form.channel, form.root), user)

    async def _reopen(self, body: Body) -> None:
        """It took too long: the correction may be sent once more."""
        form = form_in(ReasonForm, body["view"]).form
        if form and self.knowledge is not None:
            await self.knowledge.kept_commands.reopen(form, person_id(*sender_of(body)))

    async def _keep_reason(self, body: Body) -> KbResult | None:
        """Keep why an answer did not help; what became of the correction, if one was given."""
        form, (team, user) = form_in(ReasonForm, body["view"]), sender_of(body)
        thread = ThreadKey(PLATFORM, team, form.channel, form.root)
        values = FormValues(body["view"])
        text, right = values.text("reason"), values.text("answer")
        if text or right:
            reason = text or f"It should be: {right}"
            await self._keep_rating(thread, user, form.trace, helpful=False, reason=reason)
        if not right or self.knowledge is None:
            return None
        person, kept_commands = person_id(team, user), self.knowledge.kept_commands
        taken = await kept_commands.take(await kept_commands.read(form.form, person))
        if taken is not PressOutcome.NOW:
            return Refused(RefusalReason.NOT_DONE, FORM_EXPIRED) if taken is PressOutcome.GONE else None
        result = await self.knowledge.correct(thread, user, form.trace, right, form.shown or form.root)
        await (kept_commands.mark_done if is_success(result) else kept_commands.reopen)(form.form, person)
        return result

    async def _keep_rating(
        self, thread: ThreadKey, user: str, trace_id: str, *, helpful: bool, reason: str = ""
    ) -> None:
        person = await self.workspace.access.person(thread.space, user)
        try:
            pressed = self.workspace.pressed(thread, user, trace_id, person, reason)
            action = AnswerAction.HELPFUL if helpful else AnswerAction.UNHELPFUL
            async with press_button(self.workspace.user_actions.answers, action, pressed):
                pass  # who was not helped has the form already
        except FootnoteError as error:
            await self.workspace.messages.post_privately(thread, user, str(error))
