"""The buttons below an answer, *Stop*, and the form behind 👎: what was wrong and what the right answer is.

A button's value is an id. Its meaning and the person's permission are looked up on each press.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.api.sanitizer import permit
from adapters.slack.inbound.event_listener import EventListener
from adapters.slack.inbound.interactions import Ack, Body, Press, sender_of
from adapters.slack.kb.forms import FORM_EXPIRED, FormResult
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.kb.replies import SlackKeptCommand, outcome_text
from adapters.slack.listeners.support import form_listener, report_errors, show_in_modal
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.payloads import FollowUpValue, FormValues, RatingValue, ReasonForm, form_in
from adapters.slack.outbound.text import escape, group_call
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.answer import Answer
from core.model.conversation import ThreadKey, Turn
from core.model.errors import FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyTarget
from core.model.person_answers import OfferAction
from core.service.actions.presses import AnswerButton, HandedOver, OwnerTold, PressResult, Shared, press_button
from core.service.actions.wording import GONE, NOBODY_TO_CALL, TOLD_OWNER
from core.service.kb.results import is_success
from core.service.one_time_use import PressOutcome
from core.service.person_answers import OfferPress
from core.service.standing_answers.checks import toggle_notices
from core.service.standing_answers.notices import MUTED, UNMUTED

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AnswerButtonListeners:
    """Acknowledges a press at once, and reports a failure only to the presser."""

    workspace: SlackWorkspace
    event_listener: EventListener
    knowledge: SlackKnowledge

    def register(self, app: AsyncApp) -> None:
        """Register each button by its action id. Ids of suggested questions end in a number."""
        app.action(blocks.QUOTES)(self._listener(self._shown(AnswerButton.QUOTES, views.QUOTES_TITLE)))
        app.action(blocks.WHY)(self._listener(self._shown(AnswerButton.WHY, "Why")))
        app.action(blocks.HANDOFF)(self._listener(self._done(AnswerButton.HANDOFF)))
        app.action(blocks.OWNER)(self._listener(self._done(AnswerButton.OWNER)))
        app.action(blocks.STOP)(self._listener(self._stop))
        app.action(blocks.MUTE_NOTICES)(self._listener(self._mute_notices))
        app.action(re.compile(f"^{blocks.FOLLOW_UP}_"))(self._listener(self._ask_follow_up))
        app.action(f"{blocks.OFFER}_{OfferAction.SOLVED}")(self._listener(self._decide_answer))
        app.action(re.compile(f"^{blocks.OFFER}_"))(self._listener(self._decide_answer, removes=True))
        app.action(blocks.SHARE)(self._listener(self._done(AnswerButton.SHARE), removes=True))
        app.action(blocks.AGAIN)(self._listener(self._ask_again, removes=True))
        app.action(blocks.FEEDBACK)(self._listener(self._rate))  # both thumbs are one element
        app.view(views.REASON)(form_listener(self._keep_reason, self._reopen, self.knowledge.announce, "reason"))

    def _listener(
        self, work: Callable[[Press], Awaitable[None]], *, removes: bool = False
    ) -> Callable[..., Awaitable[None]]:
        """Return a button's listener. With ``removes``, it deletes the button's message after the work."""

        async def listener(ack: Ack, body: Body, respond: Ack) -> None:
            await ack()
            press = Press.of(body)
            async with report_errors(partial(self.workspace.messages.post_privately, press.thread, press.user)):
                await work(press)
                if removes:
                    await self._remove(respond)

        return listener

    async def _remove(self, respond: Ack) -> None:
        try:
            await self.workspace.web.respond(respond, delete_original=True)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("pressed_message_stays", reason=str(error))

    def _press(self, action: AnswerButton, press: Press) -> AbstractAsyncContextManager[PressResult]:
        pressed = self.workspace.pressed(press.thread, press.user, press.value, press.person)
        return press_button(self.workspace.user_actions.answers, action, pressed)

    def _shown(self, action: AnswerButton, title: str) -> Callable[[Press], Awaitable[None]]:
        """Show the result of this button to the presser. Raises ViewNotOpened."""

        async def show(press: Press) -> None:
            async def view() -> views.View:
                async with self._press(action, press) as outcome:
                    return views.of_press(outcome)

            await show_in_modal(self.workspace, press.trigger_id, title, view)

        return show

    def _done(self, action: AnswerButton) -> Callable[[Press], Awaitable[None]]:
        """Run this button's action in the thread. Raises NotFound, Denied, AlreadyDone and Busy."""

        async def do(press: Press) -> None:
            calls = action is AnswerButton.HANDOFF
            handoff = (await self.workspace.settings(press.thread)).handoff if calls else ""
            if calls and not group_call(handoff):
                raise NotFound(NOBODY_TO_CALL)
            async with self._press(action, press) as outcome:
                match outcome:
                    case HandedOver(turn):
                        await self._call_person(press, turn, handoff)
                    case Shared(turn):
                        await self._post_shared(press, turn)
                    case OwnerTold():
                        await self.workspace.messages.post_privately(press.thread, press.user, TOLD_OWNER)
                    case _:
                        raise TypeError(f"{action} is shown in a form.")

        return do

    async def _ask_follow_up(self, press: Press) -> None:
        """Ask a suggested question on behalf of the presser. Raises NotFound, AlreadyDone and Busy."""
        pressed = FollowUpValue.decode(press.value)
        person = await self.workspace.access.person(press.thread.space, press.user)
        reader = await self.workspace.access.reader(press.thread, press.user)
        asking = self.workspace.user_actions.answers.ask_follow_up(
            press.thread, pressed.trace_id, pressed.number, person, reader
        )
        async with asking as suggested:
            message = IncomingMessage(
                id=f"{press.message_ts}:{pressed.trace_id}:{pressed.number}",
                thread=press.thread,
                text=suggested.question,
                asker=person,
                reply_target=ReplyTarget(channel=press.thread.channel, message=press.message_ts, asker=press.user),
                mentions_us=True,
                direct=press.thread.channel.startswith("D"),
                private=press.ephemeral,
                suggested=True,
            )
            await self.event_listener.put_follow_up(message)

    async def _ask_again(self, press: Press) -> None:
        """Ask an edited question again after its answer, once and only for its writer.

        Raises NotFound, Denied, AlreadyDone and Busy.
        """
        state = SlackQuestionState(thread=press.thread, message=press.value)
        person = await self.workspace.access.person(press.thread.space, press.user)
        async with self.workspace.user_actions.questions.repeat(state, person) as edited:
            named = replace(edited, id=f"{edited.id}:again", asker=person)
            again = replace(named, edited=False, mentions_us=True, suggested=True)
            await self.event_listener.put_follow_up(again)

    async def _decide_answer(self, press: Press) -> None:
        """Run the pressed action on a person's answer. Raises NotFound, Denied and AlreadyDone."""
        workspace, answers = self.workspace, self.workspace.user_actions.person_answers
        if answers is None:
            raise NotFound(GONE)
        thread = await answers.thread_of(press.value) or press.thread
        action = OfferAction(press.action.removeprefix(f"{blocks.OFFER}_"))
        pressed = OfferPress(action, press.value, await workspace.caller(thread, press.user))
        if action is OfferAction.KEEP:
            audience = await workspace.access.audience(thread, press.user)
            pressed = replace(pressed, bases=(await workspace.settings(thread)).bases, public=audience.public)
        said = await answers.press(pressed)
        await workspace.messages.post_privately(press.thread, press.user, said)

    async def _call_person(self, press: Press, turn: Turn, group: str) -> None:
        """Mention the channel's configured group."""
        name = escape(await self.workspace.directory.name(press.user))
        words = f"{group_call(group)} {name} would like a person to answer: “{escape(turn.question[:1_500])}”"
        call = permit(blocks.section(words), group=group)
        solved = blocks.offer_row([OfferAction.SOLVED], press.value)
        await self.workspace.messages.post(press.thread, f"{name} would like a person to answer.", [call, solved])

    async def _post_shared(self, press: Press, turn: Turn) -> None:
        answer = Answer(turn.outcome, turn.answer, turn.citations)
        parts = blocks.answer_parts(answer)
        name = escape(await self.workspace.directory.name(press.user))
        asked = blocks.context(f"{name} asked: “{escape(turn.question[:300])}”")
        for part in parts[:-1]:
            await self.workspace.messages.post(press.thread, turn.answer, [blocks.answer_part(part, answer)])
        foot = blocks.sources(turn.citations)
        if turn.citations:
            shown = [blocks.quotes_button(press.value)]
            foot.append({"type": "actions", "block_id": "footnote_answer", "elements": shown})
        last = [asked, blocks.answer_part(parts[-1], answer), *foot, blocks.feedback(press.value)]
        await self.workspace.messages.post(press.thread, turn.answer, last)

    async def _stop(self, press: Press) -> None:
        """Handle our own *Stop* button, for the asker or an admin. Raises NotFound and Denied."""
        await self.workspace.stop(SlackQuestionState(thread=press.thread, message=press.value), press.user)

    async def _mute_notices(self, press: Press) -> None:
        """Turn the presser's notices of changed answers off, or on again."""
        muted = await toggle_notices(self.workspace.message_states, press.person)
        await self.workspace.messages.post_privately(press.thread, press.user, MUTED if muted else UNMUTED)

    # --- ratings, and corrections if there is knowledge to correct

    async def _rate(self, press: Press) -> None:
        rating = RatingValue.decode(press.value)
        try:
            if not rating.helpful:
                await self._open_form(press, rating.trace_id)
        finally:
            await self._keep_rating(press.thread, press.user, rating.trace_id, helpful=rating.helpful)

    async def _open_form(self, press: Press, trace_id: str) -> None:
        kept = await self.knowledge.kept_commands.keep(SlackKeptCommand(person=press.person_id))
        shown = "" if press.ephemeral else press.message_ts
        form = ReasonForm(press.thread.channel, press.thread.thread, trace_id, shown, kept)
        await self.workspace.open_view(press.trigger_id, views.reason(form))

    async def _reopen(self, body: Body) -> None:
        """Let the correction be submitted again, because the first attempt took too long."""
        form = form_in(ReasonForm, body["view"]).form
        if form:
            await self.knowledge.kept_commands.reopen(form, person_id(*sender_of(body)))

    async def _keep_reason(self, body: Body) -> FormResult:
        """Store why an answer did not help, and propose the correction if there is one."""
        form, (team, user) = form_in(ReasonForm, body["view"]), sender_of(body)
        thread = ThreadKey(PLATFORM, team, form.channel, form.root)
        values = FormValues(body["view"])
        text, right = values.text("reason"), values.text("answer")
        if text or right:
            reason = text or f"It should be: {right}"
            await self._keep_rating(thread, user, form.trace, helpful=False, reason=reason)
        if not right:
            return FormResult()
        person, kept_commands = person_id(team, user), self.knowledge.kept_commands
        taken = await kept_commands.take(await kept_commands.read(form.form, person))
        if taken is not PressOutcome.NOW:
            return FormResult({"answer": FORM_EXPIRED} if taken is PressOutcome.GONE else {})
        result = await self.knowledge.correct(thread, user, form.trace, right, form.shown or form.root)
        if not is_success(result):
            await kept_commands.reopen(form.form, person)
            return FormResult({"answer": outcome_text(result)})
        await kept_commands.mark_done(form.form, person)
        return FormResult(results=(result,), place=thread)

    async def _keep_rating(
        self, thread: ThreadKey, user: str, trace_id: str, *, helpful: bool, reason: str = ""
    ) -> None:
        person = await self.workspace.access.person(thread.space, user)
        try:
            pressed = self.workspace.pressed(thread, user, trace_id, person, reason)
            action = AnswerButton.HELPFUL if helpful else AnswerButton.UNHELPFUL
            async with press_button(self.workspace.user_actions.answers, action, pressed):
                pass  # after a bad rating, the form is already open
        except FootnoteError as error:
            await self.workspace.messages.post_privately(thread, user, str(error))
