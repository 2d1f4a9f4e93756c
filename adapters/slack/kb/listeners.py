"""Bolt's side of the knowledge: which commands, forms, buttons and menus there are, and how each is acknowledged.

A form is acknowledged when what it brings is kept, so that a person who sees it close can rely on it. Commands and
presses are acknowledged at once: who gave them sees the reply, or that there is none, and can press again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.web_client import Web
from adapters.slack.inbound.button_press import Press, who_sent
from adapters.slack.inbound.commands import SlashCommand
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.command_parser import KB
from adapters.slack.kb.handlers import FormResult, ShownReply, SlackKnowledge, text_reply
from adapters.slack.outbound import blocks
from adapters.slack.outbound.home import Home
from adapters.slack.outbound.sanitizer import acknowledge
from core.model.errors import FootnoteError, Unavailable

TRY_AGAIN = "I cannot reach my memory right now. Please try again in a moment."
WENT_WRONG = "Something went wrong on my side. Please try again."
KEEP_SECONDS = 2.5  # Slack wants its answer within 3

Body = dict[str, Any]
Ack = Callable[..., Awaitable[Any]]
log = structlog.get_logger(__name__)


class KbListeners:
    """Slack's callbacks for ``/kb``: each is acknowledged here, done by ``SlackKnowledge`` and its reply shown."""

    def __init__(self, knowledge: SlackKnowledge, home: Home) -> None:
        """Do what is asked with this; what is pressed on a Home tab is told there."""
        self._knowledge = knowledge
        self._home = home

    def register(self, app: AsyncApp) -> None:
        """Register the command, the form, the menu of bases and the buttons with this app."""
        app.command(KB)(self._command)
        app.view(kb_blocks.FORM)(self._form_listener(self._knowledge.on_submit, "link"))
        app.view(kb_blocks.READERS_FORM)(self._form_listener(self._knowledge.on_readers_submit, "channels"))
        app.options(kb_blocks.BASE)(self._names)
        for action in (kb_blocks.CONFIRM, kb_blocks.PAGE_BACK, kb_blocks.PAGE_ON):
            app.action(re.compile(f"^{action}$"))(self._on_press)
        app.action(re.compile(f"^{kb_blocks.CHOICE}_"))(self._on_press)
        app.action(kb_blocks.CANCEL)(self._cancel)

    async def _command(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        await _show(self._home.workspace.web, respond, await _honestly(self._knowledge.command(SlashCommand.of(body))))

    async def _on_press(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        press = Press.of(body)
        shown = await _honestly(self._knowledge.on_press(press))
        if not press.home:
            await _show(self._home.workspace.web, respond, shown, in_place=True)
        elif shown is not None:
            await _honestly(self._home.publish(press.thread.space, press.user, shown.outcome))

    async def _cancel(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        await _show(self._home.workspace.web, respond, await _honestly(self._knowledge.cancel(Press.of(body))))

    async def _names(self, ack: Ack, body: Body) -> None:
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                found = await self._knowledge.names(body)
        except (FootnoteError, TimeoutError) as error:
            log.info("names_not_found", reason=str(error) or "timeout")
            found = []
        await acknowledge(ack, options=found)

    def _form_listener(
        self, submit: Callable[[Body], Awaitable[FormResult]], field: str
    ) -> Callable[..., Awaitable[None]]:
        """What happens when a form is sent; below ``field`` stands that it could not be kept."""

        async def listener(ack: Ack, body: Body) -> None:
            try:
                async with asyncio.timeout(KEEP_SECONDS):
                    filed = await submit(body)
            except (Unavailable, TimeoutError) as error:
                log.warning("form_not_kept", reason=str(error) or "timeout")
                await acknowledge(ack, errors={field: TRY_AGAIN})
                await _honestly(self._knowledge.reopen(body))
                return
            if filed.errors:
                await acknowledge(ack, errors=filed.errors)
                return
            await ack()
            await self._follow(filed, body)

        return listener

    async def _follow(self, filed: FormResult, body: Body) -> None:
        await _honestly(self._knowledge.follow(filed, who_sent(body)[1]))


async def _honestly(work: Awaitable[ShownReply | None]) -> ShownReply | None:
    """Do it; when it fails, what to say instead."""
    try:
        return await work
    except Unavailable as error:
        log.warning("kb_failed", reason=str(error))
        return text_reply(TRY_AGAIN)
    except FootnoteError as error:
        return text_reply(str(error))
    except Exception:
        log.exception("kb_failed")
        return text_reply(WENT_WRONG)


async def _show(web: Web, respond: Ack, shown: ShownReply | None, *, in_place: bool = False) -> None:
    """Show a reply to the one who asked, which Slack takes for half an hour; ``in_place`` of what stood there."""
    if shown is None:
        return
    words = {"text": blocks.fallback(shown.text), "blocks": shown.blocks, "response_type": "ephemeral"}
    try:
        await web.answer(respond, **words, replace_original=in_place, unfurl_links=False, unfurl_media=False)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        log.info("not_shown", reason=type(error).__name__)
