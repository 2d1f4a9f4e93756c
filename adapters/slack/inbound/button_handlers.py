"""What people press: choices, quotes, feedback, *Ask a person*, *Share*, *Stop*, shortcuts, and what modals bring back.

A button's value is an id. What it stands for, and whether this person may have it, is looked up here, each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.button_press import Body, Press, who_sent
from adapters.slack.inbound.event_listener import PLATFORM, EventListener, person_id
from adapters.slack.inbound.one_time_actions import PressOutcome
from adapters.slack.kb.handlers import FORM_EXPIRED, ShownReply, SlackKnowledge
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.payloads import ChoiceForm, ChoiceValue, FollowUpValue, RatingValue, ReasonForm, form_in
from adapters.slack.outbound.sanitizer import permit
from adapters.slack.outbound.text import escape, group_call
from core.model.answer import Answer
from core.model.conversation import Person, ThreadKey, Turn
from core.model.errors import FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingChoice, IncomingMessage
from core.model.inquiry import Choice
from core.model.message_records import CheckpointState
from core.model.reply_target import ReplyTarget
from core.ports.checkpoints import ParkedInquiry
from core.service.actions.wording import NOBODY_TO_CALL, explanation_text
from core.service.kb.results import KbResult, RefusalReason, Refused, succeeded

NO_PROPOSALS = "Adding messages to the knowledge is not available here yet."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ButtonHandlers:
    """Carries out the actions of buttons, menus and forms."""

    workspace: SlackWorkspace
    event_listener: EventListener
    knowledge: SlackKnowledge | None = None

    # --- checkpoints

    async def choose(self, press: Press) -> bool:
        """A choice of a checkpoint: kept durably, or a text field first. Whether it was kept."""
        pressed = ChoiceValue.decode(press.value)
        parked, choice = await self._find_choice(press.thread, press.user, pressed.checkpoint, pressed.choice)
        if choice.asks_text:
            kept = ChoiceForm(
                checkpoint=pressed.checkpoint,
                choice=choice.id,
                channel=press.thread.channel,
                root=press.thread.thread,
                card=press.message_ts,
                ephemeral=press.ephemeral,
            )
            await self._open(press.trigger, views.narrow(parked.checkpoint.question, kept))
            return False
        target = ReplyTarget(asker=press.user)
        made = IncomingChoice(pressed.checkpoint, choice.id, Person(press.person), press.thread, target)
        return await self._keep_choice(made, f"{press.user}:{press.action_ts}", choice.label)

    async def narrow(self, body: Body) -> tuple[IncomingChoice, str] | None:
        """The text field of a choice was sent; the choice and the card's ``ts`` when it was kept."""
        kept, (team, user) = form_in(ChoiceForm, body["view"]), who_sent(body)
        thread = ThreadKey(PLATFORM, team, kept.channel, kept.root)
        text = views.typed_value(body["view"], "narrow")
        if not text:
            return None
        parked, choice = await self._find_choice(thread, user, kept.checkpoint, kept.choice)
        person = Person(person_id(team, user))
        made = IncomingChoice(parked.checkpoint.id, choice.id, person, thread, ReplyTarget(asker=user), text=text)
        was_kept = await self._keep_choice(made, f"{user}:{body['view'].get('id', '')}", f"{choice.label}: {text}")
        return (made, "" if kept.ephemeral else kept.card) if was_kept else None

    async def _find_choice(
        self, thread: ThreadKey, user: str, checkpoint_id: str, choice_id: str
    ) -> tuple[ParkedInquiry, Choice]:
        """What may be chosen here by this person. Raises NotFound and Denied."""
        person = Person(person_id(thread.space, user))
        is_admin = partial(self.workspace.is_admin, user)
        return await self.workspace.user_actions.choices.find(checkpoint_id, choice_id, person, is_admin, thread)

    async def _keep_choice(self, made: IncomingChoice, press_id: str, label: str) -> bool:
        delivery_id = f"{PLATFORM}:choice:{made.checkpoint}:{press_id}"
        return await self.workspace.user_actions.choices.enqueue(delivery_id, made, label)

    async def settle(
        self, thread: ThreadKey, checkpoint: str, user: str, card_ts: str, shown: list[blocks.Block]
    ) -> None:
        """Put what was chosen in place of the card's buttons."""
        layout = await self.settle_card(thread, checkpoint, user, shown)
        try:
            await self.workspace.web.patiently(
                "chat.update", channel=thread.channel, ts=card_ts, text="Chosen.", blocks=layout, link_names=False
            )
        except (Refusal, PlatformUnavailable) as error:
            log.info("card_not_settled", reason=str(error))

    async def settle_card(
        self, thread: ThreadKey, checkpoint: str, user: str, shown: list[blocks.Block]
    ) -> list[blocks.Block]:
        """The card without its buttons, with who chose what."""
        blank = CheckpointState(thread=thread, checkpoint=checkpoint)
        kept = await self.workspace.message_states.read(blank) or blank
        name = await self.workspace.directory.name(user)
        words = f"{escape(name)} chose *{escape(kept.chosen)}*"
        return blocks.settled_card(shown or [blocks.markdown(kept.card or "…")], words)

    # --- of an answer

    async def quotes(self, press: Press) -> None:
        """The exact passages, for the one who asks: as far as they may see them now."""
        reader = await self.workspace.reader(press.thread, press.user)
        try:
            shown = views.quotes(await self.workspace.user_actions.answers.quotes(press.thread, press.value, reader))
        except FootnoteError as error:
            shown = views.note("Quotes", str(error))
        await self._open(press.trigger, shown)

    async def why(self, press: Press) -> None:
        """How the answer came about, for the one who asks: as far as they may read what it is made of."""
        reader = await self.workspace.reader(press.thread, press.user)
        try:
            told = explanation_text(
                await self.workspace.user_actions.answers.explain(press.thread, reader, press.value)
            )
        except FootnoteError as error:
            told = str(error)
        await self._open(press.trigger, views.note("Why", told))

    async def ask_follow_up(self, press: Press) -> None:
        """Ask what was suggested below an answer, as whoever presses. Raises NotFound, AlreadyDone and Busy."""
        pressed = FollowUpValue.decode(press.value)
        person = await self.workspace.person(press.thread.space, press.user)
        reader = await self.workspace.reader(press.thread, press.user)
        asking = self.workspace.user_actions.follow_ups.ask(
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
            await self.event_listener.put_suggested(message)

    async def feedback(self, press: Press) -> None:
        """👍 or 👎; the latter asks for a reason, and for what would be right."""
        rating = RatingValue.decode(press.value)
        if not rating.helpful:
            kept = ReasonForm(press.thread.channel, press.thread.thread, rating.trace_id)
            if self.knowledge is not None:
                shown = "" if press.ephemeral else press.message_ts
                kept = replace(kept, shown=shown, form=await self.knowledge.personal_actions.make(press.person))
            await self._open(press.trigger, views.reason(kept, correctable=self.knowledge is not None))
        await self._rate(press.thread, press.user, rating.trace_id, helpful=rating.helpful)

    async def reason(self, body: Body) -> KbResult | None:
        """Why an answer did not help, and what would have been right; what became of the latter, if it was told."""
        kept, (team, user) = form_in(ReasonForm, body["view"]), who_sent(body)
        thread = ThreadKey(PLATFORM, team, kept.channel, kept.root)
        text, right = views.typed_value(body["view"], "reason"), views.typed_value(body["view"], "answer", "answer")
        if text or right:
            reason = text or f"It should be: {right}"
            await self._rate(thread, user, kept.trace, helpful=False, reason=reason)
        if not right or self.knowledge is None:
            return None
        form, person = kept.form, person_id(team, user)
        personal_actions = self.knowledge.personal_actions
        taken = await personal_actions.take(await personal_actions.read(form, person))
        if taken is not PressOutcome.NOW:
            return Refused(RefusalReason.NOT_DONE, FORM_EXPIRED) if taken is PressOutcome.GONE else None
        shown = kept.shown or kept.root
        result = await self.knowledge.correct(thread, user, kept.trace, right, shown)
        await (personal_actions.mark_done if succeeded(result) else personal_actions.reopen)(form, person)
        return result

    async def _rate(self, thread: ThreadKey, user: str, trace_id: str, *, helpful: bool, reason: str = "") -> None:
        person = await self.workspace.person(thread.space, user)
        try:
            await self.workspace.user_actions.ratings.rate(thread, trace_id, person, helpful=helpful, reason=reason)
        except FootnoteError as error:
            await self.workspace.whisper(thread, user, str(error))

    async def hand_over(self, press: Press) -> None:
        """Call the channel's configured group, once for each answer. Raises NotFound and AlreadyDone."""
        handoff = (await self.workspace.settings(press.thread)).handoff
        group = group_call(handoff)
        if not group:
            raise NotFound(NOBODY_TO_CALL)
        audience = await self.workspace.audience(press.thread, press.user)
        person = Person(press.person)
        async with self.workspace.user_actions.handoff.hand_over(press.thread, press.value, person, audience) as turn:
            name = escape(await self.workspace.directory.name(press.user))
            words = f"{group} {name} asks for a person: “{escape(turn.question[:1_500])}”"
            call = permit(blocks.section(words), group=handoff)
            await self.workspace.say(press.thread, "A person is asked for.", [call])

    async def share(self, press: Press) -> bool:
        """Show a private answer to the channel; True when it is shown. Raises NotFound, Denied and AlreadyDone."""
        audience = partial(self.workspace.audience, press.thread, press.user)
        person = Person(press.person)
        async with self.workspace.user_actions.sharing.share(press.thread, press.value, person, audience) as turn:
            await self._show_shared(press, turn)
        return True

    async def _show_shared(self, press: Press, turn: Turn) -> None:
        answer = Answer(turn.outcome, turn.answer, turn.citations)
        parts = blocks.answer_parts(answer)
        name = escape(await self.workspace.directory.name(press.user))
        asked = blocks.context(f"{name} asked: “{escape(turn.question[:300])}”")
        for part in parts[:-1]:
            await self.workspace.say(press.thread, turn.answer, [blocks.answer_part(part, answer)])
        foot = blocks.sources(turn.citations)
        if turn.citations:
            shown = [blocks.button("Show quotes", blocks.QUOTES, press.value)]
            foot.append({"type": "actions", "block_id": "footnote_answer", "elements": shown})
        last = [asked, blocks.answer_part(parts[-1], answer), *foot, blocks.feedback(press.value)]
        await self.workspace.say(press.thread, turn.answer, last)

    async def stop(self, press: Press) -> None:
        """Our own *Stop*, where Slack shows none: for the one who asked, or an admin. Raises NotFound and Denied."""
        await self.workspace.stop(SlackQuestionState(thread=press.thread, message=press.value), press.user)

    # --- shortcuts

    async def answer_this(self, body: Body) -> str:
        """Answer a message that somebody else wrote; what to tell the presser, if anything."""
        thread, person, said = await self._shortcut(body)
        us = await self.workspace.directory.identity()
        if said.get("user") == us.user:
            return "That is a message of mine. Pick one that asks something."
        if not said.get("text"):
            return "There is no text in that message."
        place = {"channel": thread.channel, "channel_type": "", "type": "app_mention"}
        event = {**said, **place, "user": body["user"]["id"], "bot_id": None, "bot_profile": None}
        message = self.event_listener.message(event, thread.space, us)
        if message is None:
            return "I cannot answer that message."
        subject = f"{message.id}:{body.get('action_ts', '')}"
        turned = await self.event_listener.put_asked(message, subject, person)
        return turned.told

    async def add_to_knowledge(self, body: Body) -> str | ShownReply:
        """Propose a message for the knowledge; what to tell the presser."""
        thread, person, _ = await self._shortcut(body)
        if self.knowledge is None:
            return NO_PROPOSALS
        return await self.knowledge.propose(thread, person)

    async def _shortcut(self, body: Body) -> tuple[ThreadKey, Person, Mapping[str, Any]]:
        said: Mapping[str, Any] = body.get("message") or {}
        root = str(said.get("thread_ts") or said.get("ts") or "")
        team = str(body["team"]["id"])
        thread = ThreadKey(PLATFORM, team, str(body["channel"]["id"]), root)
        return thread, await self.workspace.person(team, str(body["user"]["id"])), said

    async def _open(self, trigger: str, view: views.View) -> None:
        """Open a modal for the presser; a trigger that has run out cannot be helped."""
        try:
            await self.workspace.web.eagerly("views.open", trigger_id=trigger, view=view)
        except (Refusal, PlatformUnavailable) as error:
            log.info("view_not_opened", reason=str(error))
