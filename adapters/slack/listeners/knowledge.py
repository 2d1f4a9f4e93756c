"""Listeners for ``/kb``: its command, forms, buttons and menus, and how each is acknowledged.

A form is acknowledged once its content is stored, so a form that closes was accepted. Commands and presses are
acknowledged at once. Their sender sees the reply or its absence, and can try again.
"""

import asyncio
import re
from dataclasses import dataclass

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, Press, SlashCommand
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.command_parser import KB
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.kb.replies import KbReply, text_reply
from adapters.slack.listeners.home_tab import HomeTab
from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS, form_listener, report_errors
from adapters.slack.outbound import blocks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.errors import FootnoteError

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class KnowledgeListeners:
    """Acknowledges, calls ``SlackKnowledge``, and shows the reply; for a press on a Home tab, on that tab."""

    workspace: SlackWorkspace
    knowledge: SlackKnowledge
    home_tab: HomeTab

    def register(self, app: AsyncApp) -> None:
        """Register the command, the forms, the menu of bases, and the buttons of replies and job cards."""
        app.command(KB)(self._command)
        forms, announce = self.knowledge.forms, self.knowledge.announce
        app.view(kb_blocks.FORM)(form_listener(forms.submit_add_form, forms.reopen, announce, "link"))
        app.view(kb_blocks.READERS_FORM)(form_listener(forms.submit_readers_form, forms.reopen, announce, "channels"))
        app.options(kb_blocks.BASE)(self._base_options)
        for action in (kb_blocks.CONFIRM, kb_blocks.PAGE_BACK, kb_blocks.PAGE_ON):
            app.action(action)(self._press)
        app.action(re.compile(f"^{kb_blocks.CHOICE}_"))(self._press)
        app.action(kb_blocks.CANCEL)(self._cancel)

    async def _command(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        given = SlashCommand.of(body)
        async with report_errors(lambda text: self._respond(respond, given.user, text_reply(text))):
            await self._respond(respond, given.user, await self.knowledge.command(given))

    async def _press(self, ack: Ack, body: Body, respond: Ack) -> None:
        """Replace the message with the pressed button by the reply."""
        await ack()
        press = Press.of(body)
        if press.on_home_tab:
            async with report_errors(lambda text: self._publish(press, text_reply(text))):
                await self._publish(press, await self.knowledge.press(press))
            return
        async with report_errors(lambda text: self._respond(respond, press.user, text_reply(text), in_place=True)):
            await self._respond(respond, press.user, await self.knowledge.press(press), in_place=True)

    async def _publish(self, press: Press, reply: KbReply | None) -> None:
        if reply is not None:
            await self.home_tab.publish(press.thread.space, press.user, reply.outcome)

    async def _cancel(self, ack: Ack, body: Body, respond: Ack) -> None:
        """Cancel a job. Its card shows that; a failure is reported below."""
        await ack()
        press = Press.of(body)
        async with report_errors(lambda text: self._respond(respond, press.user, text_reply(text))):
            await self.knowledge.cancel(press)

    async def _base_options(self, ack: Ack, body: Body) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                found = await self.knowledge.forms.base_options(body)
        except (FootnoteError, TimeoutError) as error:
            log.info("bases_not_found", reason=str(error) or "timeout")
            found = []
        await acknowledge(ack, options=found)

    async def _respond(self, respond: Ack, user: str, reply: KbReply | None, *, in_place: bool = False) -> None:
        """Show a reply to the caller, which Slack allows for half an hour. ``in_place`` replaces the previous message.

        https://docs.slack.dev/interactivity/handling-user-interaction
        """
        if reply is None:
            return
        words = {"text": blocks.fallback(reply.text), "blocks": reply.blocks, "response_type": "ephemeral"}
        await self.workspace.respond(
            respond, user, **words, replace_original=in_place, unfurl_links=False, unfurl_media=False
        )
