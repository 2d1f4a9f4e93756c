"""The buttons of a checkpoint's card, and the text field that two of them open.

A choice is stored durably before it is acknowledged. Then the card shows what was chosen.
"""

import asyncio
import re
from dataclasses import dataclass
from functools import partial

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, Press, sender_of
from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS, TRY_AGAIN, report_errors
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.payloads import ChoiceForm, ChoiceValue, FormValues, form_in
from adapters.slack.outbound.text import escape
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable, Unavailable
from core.model.incoming_events import IncomingChoice, ReplyTarget
from core.model.inquiry import Choice
from core.model.records import CheckpointState
from core.ports.memory import ParkedInquiry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckpointListeners:
    """Stores the choices that people press or type at a checkpoint."""

    workspace: SlackWorkspace

    def register(self, app: AsyncApp) -> None:
        """Register the buttons of a card, whose action ids end in a number, and the text field."""
        app.action(re.compile(f"^{blocks.CHOOSE}_"))(self._choose)
        app.view(views.NARROW)(self._submit_text)

    async def _choose(self, ack: Ack, body: Body, respond: Ack) -> None:
        press = Press.of(body)
        kept = False
        async with report_errors(partial(self.workspace.messages.post_privately, press.thread, press.user)):
            pressed = ChoiceValue.decode(press.value)
            try:
                async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                    parked, choice = await self._find(press.thread, press.user, pressed.checkpoint, pressed.choice)
                    if not choice.asks_text:
                        target = ReplyTarget(asker=press.user)
                        made = IncomingChoice(pressed.checkpoint, choice.id, press.person, press.thread, target)
                        kept = await self._keep(made, f"{press.user}:{press.action_ts}", choice.label)
            finally:
                await ack()
            if choice.asks_text:
                await self._ask_text(press, parked, choice)
        if kept:
            card, shown = press.message_ts, list(press.message_blocks)
            ephemeral = respond if press.ephemeral else None  # such a card can be edited only through a press on it
            await self._settle(press.thread, pressed.checkpoint, press.user, card, shown, ephemeral)

    async def _ask_text(self, press: Press, parked: ParkedInquiry, choice: Choice) -> None:
        """Open the text field of a choice. Nothing is stored until it is submitted. Raises ViewNotOpened."""
        form = ChoiceForm(
            checkpoint=parked.checkpoint.id,
            choice=choice.id,
            channel=press.thread.channel,
            root=press.thread.thread,
            card=press.message_ts,
            ephemeral=press.ephemeral,
        )
        await self.workspace.open_view(press.trigger_id, views.narrow(parked.checkpoint.question, choice.label, form))

    async def _submit_text(self, ack: Ack, body: Body) -> None:
        """Store the submitted text before the form closes."""
        form = form_in(ChoiceForm, body["view"])
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                made = await self._keep_text(form, body)
        except (Unavailable, TimeoutError):
            await acknowledge(ack, errors={"narrow": TRY_AGAIN})
            return
        except FootnoteError as error:
            await acknowledge(ack, errors={"narrow": str(error)})
            return
        await ack()
        if made is not None and form.card and not form.ephemeral:
            await self._settle(made.thread, made.checkpoint, made.reply_target.asker, form.card, [], None)

    async def _keep_text(self, form: ChoiceForm, body: Body) -> IncomingChoice | None:
        """Return the choice with the typed text, or None if there is no text or it was already stored."""
        team, user = sender_of(body)
        thread = ThreadKey(PLATFORM, team, form.channel, form.root)
        text = FormValues(body["view"]).text("narrow")
        if not text:
            return None
        parked, choice = await self._find(thread, user, form.checkpoint, form.choice)
        person, target = Person(person_id(team, user)), ReplyTarget(asker=user)
        made = IncomingChoice(parked.checkpoint.id, choice.id, person, thread, target, text=text)
        kept = await self._keep(made, f"{user}:{body['view'].get('id', '')}", f"{choice.label}: {text}")
        return made if kept else None

    async def _find(
        self, thread: ThreadKey, user: str, checkpoint_id: str, choice_id: str
    ) -> tuple[ParkedInquiry, Choice]:
        """Return the choice if this person may make it here. Raises NotFound and Denied."""
        person = Person(person_id(thread.space, user))
        is_admin = partial(self.workspace.access.is_admin, user)
        return await self.workspace.user_actions.questions.find_choice(
            checkpoint_id, choice_id, person, is_admin, thread
        )

    async def _keep(self, made: IncomingChoice, press_id: str, label: str) -> bool:
        delivery_id = f"{PLATFORM}:choice:{made.checkpoint}:{press_id}"
        return await self.workspace.user_actions.questions.enqueue_choice(delivery_id, made, label)

    async def _settle(
        self,
        thread: ThreadKey,
        checkpoint: str,
        user: str,
        ts: str,
        shown: list[blocks.Block],
        respond: Ack | None,
    ) -> None:
        """Replace the card's buttons with the person and their choice, with ``respond`` if the card is ephemeral."""
        web, blank = self.workspace.web, CheckpointState(thread=thread, checkpoint=checkpoint)
        kept = await self.workspace.message_states.read(blank) or blank
        words = f"{escape(await self.workspace.directory.name(user))} chose *{escape(kept.chosen)}*"
        layout = blocks.settled_card(shown or [blocks.markdown(kept.card or "…")], words)
        place = {"channel": thread.channel, "ts": ts, "link_names": False}
        try:
            if respond is None:
                await web.call("chat.update", **place, text="Chosen.", blocks=layout)
            else:
                await web.respond(respond, text="Chosen.", blocks=layout, replace_original=True)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("card_not_settled", reason=str(error))
