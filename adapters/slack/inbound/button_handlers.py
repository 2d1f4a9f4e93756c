"""What people press: choices, quotes, feedback, *Ask a person*, *Share*, *Stop*, shortcuts, and what modals bring back.

A button's value is an id. What it stands for, and whether this person may have it, is looked up here, each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.button_press import Body, Press, who_sent
from adapters.slack.inbound.event_listener import PLATFORM, EventListener, person_id
from adapters.slack.inbound.one_time_actions import PressOutcome
from adapters.slack.kb.handlers import FORM_EXPIRED, ShownReply, SlackKnowledge
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.sanitizer import permit
from adapters.slack.outbound.text import escape, group_call
from core.model.answer import Answer
from core.model.conversation import Person, ThreadKey
from core.model.errors import Busy, FootnoteError, PlatformUnavailable
from core.model.incoming_events import IncomingChoice
from core.model.inquiry import Choice
from core.ports.checkpoints import ParkedInquiry
from core.service.delivery_codec import delivery
from core.service.kb.results import KbResult, RefusalReason, Refused, succeeded

GONE = "This choice has been made already, or its time is over. Ask again if you like."
NOT_YOURS = "Only the person who asked, or an admin, can choose here."
NOT_YOUR_STOP = "Only the person who asked, or an admin, can stop this."
CALLED = "They have been called already; please give them time."
NO_PROPOSALS = "Adding messages to the knowledge is not available here yet."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ButtonHandlers:
    """Does what was pressed."""

    workspace: SlackWorkspace
    event_listener: EventListener
    knowledge: SlackKnowledge | None = None

    # --- checkpoints

    async def choose(self, press: Press) -> bool:
        """A choice of a checkpoint: kept durably, or a text field first. Whether it was kept."""
        checkpoint_id, _, choice_id = press.value.partition(" ")
        found = await self._choosable(press.thread, press.user, checkpoint_id, choice_id)
        if found is None:
            return False
        parked, choice = found
        if choice.asks_text:
            place = {"channel": press.thread.channel, "root": press.thread.thread, "card": press.message_ts}
            kept = {"checkpoint": checkpoint_id, "choice": choice.id, "ephemeral": str(press.ephemeral), **place}
            await self._open(press.trigger, views.narrow(parked.checkpoint.question, kept))
            return False
        made = IncomingChoice(checkpoint_id, choice.id, Person(press.person), press.thread, {"user": press.user})
        return await self._keep_choice(made, f"{press.user}:{press.action_ts}", choice.label)

    async def narrow(self, body: Body) -> tuple[IncomingChoice, str] | None:
        """The text field of a choice was sent; the choice and the card's ``ts`` when it was kept."""
        kept, (team, user) = views.kept_in(body["view"]), who_sent(body)
        thread = ThreadKey(PLATFORM, team, kept.get("channel", ""), kept.get("root", ""))
        found = await self._choosable(thread, user, kept.get("checkpoint", ""), kept.get("choice", ""))
        text = views.typed_value(body["view"], "narrow")
        if found is None or not text:
            return None
        parked, choice = found
        person = Person(person_id(team, user))
        made = IncomingChoice(parked.checkpoint.id, choice.id, person, thread, {"user": user}, text=text)
        was_kept = await self._keep_choice(made, f"{user}:{body['view'].get('id', '')}", f"{choice.label}: {text}")
        return (made, "" if kept.get("ephemeral") == "True" else kept.get("card", "")) if was_kept else None

    async def _choosable(
        self, thread: ThreadKey, user: str, checkpoint_id: str, choice_id: str
    ) -> tuple[ParkedInquiry, Choice] | None:
        """What may be chosen here by this person; None after saying why not."""
        parked = await self.workspace.checkpoints.read(checkpoint_id) if checkpoint_id else None
        choice = parked.checkpoint.choice(choice_id) if parked else None
        if parked is None or choice is None or parked.checkpoint.thread != thread:
            await self.workspace.whisper(thread, user, GONE)
            return None
        person = Person(person_id(thread.space, user))
        if person.id != parked.checkpoint.asker.id and not await self.workspace.is_admin(user):
            await self.workspace.answer_actions.refuse(person, f"choose {choice.id}", checkpoint_id)
            await self.workspace.whisper(thread, user, NOT_YOURS)
            return None
        return parked, choice

    async def _keep_choice(self, made: IncomingChoice, press_id: str, label: str) -> bool:
        thread = str(made.thread)
        chosen = {"chosen": label[:300]}
        await self.workspace.message_states.keep(thread, f"checkpoint:{made.checkpoint}", chosen)
        try:
            return await self.workspace.inbox.put(delivery(f"{PLATFORM}:choice:{made.checkpoint}:{press_id}", made))
        except Busy as busy:
            await self.workspace.whisper(made.thread, made.address["user"], str(busy))
            return False

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
        kept = await self.workspace.message_states.read(str(thread), f"checkpoint:{checkpoint}")
        name = await self.workspace.directory.name(user)
        words = f"{escape(name)} chose *{escape(kept.get('chosen', ''))}*"
        return blocks.settled_card(shown or [blocks.markdown(kept.get("card") or "…")], words)

    # --- of an answer

    async def quotes(self, press: Press) -> None:
        """The exact passages, for the one who asks: as far as they may see them now."""
        reader = await self.workspace.reader(press.thread, press.user)
        try:
            shown = views.quotes(await self.workspace.answer_actions.quotes(press.thread, press.value, reader))
        except FootnoteError as error:
            shown = views.note("Quotes", str(error))
        await self._open(press.trigger, shown)

    async def feedback(self, press: Press) -> None:
        """👍 or 👎; the latter asks for a reason, and for what would be right."""
        word, _, trace_id = press.value.partition(" ")
        helpful = word == blocks.HELPFUL
        if not helpful:
            kept = {"channel": press.thread.channel, "root": press.thread.thread, "trace": trace_id}
            if self.knowledge is not None:
                shown = "" if press.ephemeral else press.message_ts
                kept |= {"shown": shown, "form": await self.knowledge.personal_actions.make(press.person, {})}
            await self._open(press.trigger, views.reason(kept, correctable=self.knowledge is not None))
        await self._rate(press.thread, press.user, trace_id, helpful=helpful)

    async def reason(self, body: Body) -> KbResult | None:
        """Why an answer did not help, and what would have been right; what became of the latter, if it was told."""
        kept, (team, user) = views.kept_in(body["view"]), who_sent(body)
        thread = ThreadKey(PLATFORM, team, kept.get("channel", ""), kept.get("root", ""))
        text, right = views.typed_value(body["view"], "reason"), views.typed_value(body["view"], "answer", "answer")
        if text or right:
            reason = text or f"It should be: {right}"
            await self._rate(thread, user, kept.get("trace", ""), helpful=False, reason=reason)
        if not right or self.knowledge is None:
            return None
        form, person = kept.get("form", ""), person_id(team, user)
        taken = await self.knowledge.personal_actions.take(form, person)
        if taken is not PressOutcome.NOW:
            return Refused(RefusalReason.NOT_DONE, FORM_EXPIRED) if taken is PressOutcome.GONE else None
        shown = kept.get("shown") or kept.get("root", "")
        result = await self.knowledge.correct(thread, user, kept.get("trace", ""), right, shown)
        actions = self.knowledge.personal_actions
        await (actions.mark_done if succeeded(result) else actions.again)(form, person)
        return result

    async def _rate(self, thread: ThreadKey, user: str, trace_id: str, *, helpful: bool, reason: str = "") -> None:
        person = await self.workspace.person(thread.space, user)
        try:
            await self.workspace.answer_actions.rate(thread, trace_id, person, helpful=helpful, reason=reason)
        except FootnoteError as error:
            await self.workspace.whisper(thread, user, str(error))

    async def hand_over(self, press: Press) -> None:
        """Call the channel's configured group, once for each answer."""
        handoff = (await self.workspace.settings(press.thread)).handoff
        group = group_call(handoff)
        if not group:
            await self.workspace.whisper(press.thread, press.user, "No group is set up to be called here.")
            return
        subject = f"handoff:{press.value}"
        if await self.workspace.message_states.read(str(press.thread), subject):
            await self.workspace.whisper(press.thread, press.user, CALLED)
            return
        audience = await self.workspace.audience(press.thread, press.user)
        turn = await self.workspace.answer_actions.turn(press.thread, press.value, audience)
        await self.workspace.message_states.keep(str(press.thread), subject, {"by": press.person})
        name = escape(await self.workspace.directory.name(press.user))
        words = f"{group} {name} asks for a person: “{escape(turn.question[:1_500])}”"
        await self.workspace.say(press.thread, "A person is asked for.", [permit(blocks.section(words), group=handoff)])

    async def share(self, press: Press) -> bool:
        """Show a private answer to the channel, if the channel may read it. Whether it is shown."""
        audience = await self.workspace.audience(press.thread, press.user)
        turn = await self.workspace.answer_actions.turn(press.thread, press.value, audience)
        if turn.asker.id != press.person:
            await self.workspace.answer_actions.refuse(Person(press.person), "share", press.value)
            await self.workspace.whisper(press.thread, press.user, "Only the person who asked can share this.")
            return False
        subject = f"shared:{press.value}"
        if await self.workspace.message_states.read(str(press.thread), subject):
            await self.workspace.whisper(press.thread, press.user, "It is shared already.")
            return False
        await self.workspace.message_states.keep(str(press.thread), subject, {"by": press.person})
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
        return True

    async def stop(self, press: Press) -> None:
        """Our own *Stop*, where Slack shows none: for the one who asked, or an admin."""
        thread = str(press.thread)
        kept = await self.workspace.message_states.read(thread, f"shown:{press.message_ts}")
        if "subject" not in kept:
            await self.workspace.whisper(press.thread, press.user, "There is nothing to stop any more.")
        elif kept.get("asker") != press.person and not await self.workspace.is_admin(press.user):
            await self.workspace.answer_actions.refuse(Person(press.person), "stop", kept["subject"])
            await self.workspace.whisper(press.thread, press.user, NOT_YOUR_STOP)
        else:
            await self.workspace.message_states.request_cancel(thread, kept["subject"], "stopped")

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
