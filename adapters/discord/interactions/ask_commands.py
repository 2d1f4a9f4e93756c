"""``/ask`` and *Answer this*: a question that comes by a command goes through the inbox like any other."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import discord
from discord import app_commands

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.identifiers import base_channel_id, direct_key, key_of, person_of, private_key
from adapters.discord.inbound.interaction_responses import LOOK_UP_SECONDS, acknowledge, report_errors, tell
from adapters.discord.inbound.message_parser import MOST_FILES, ourselves, readable
from adapters.discord.inbound.options import context_menu
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.outbound.buttons import Press
from adapters.discord.outbound.sanitizer import choice
from adapters.discord.outbound.text import clip, plain
from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, NotFound
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.reply_target import ReplyMode, ReplyTarget
from core.service.actions.user_actions import UserActions
from core.service.answer_visibility import AnswerVisibility, answer_visibility

LONGEST_QUESTION = 2_000
LOOK_SECONDS = 1.0
WHERE = {
    ReplyMode.POST: "I will answer that here.",
    ReplyMode.REPLY: "I will answer that in reply to it.",
    ReplyMode.START: "I will answer that in a thread on it.",
}
NOTHING_TO_ANSWER = "There is nothing in that message that I could answer."


class AskCommands:
    """Questions that are asked by a command."""

    def __init__(self, user_actions: UserActions, readers: ChannelAccess, ordered_queue: OrderedQueue) -> None:
        self._user_actions = user_actions
        self._readers = readers
        self._ordered_queue = ordered_queue

    def commands(self) -> "Sequence[app_commands.Command[Any, ..., Any] | app_commands.ContextMenu]":
        """What is registered with Discord."""
        description = "Ask a question of your team's documents"
        ask: app_commands.Command[Any, ..., Any] = app_commands.Command(
            name="ask", description=description, callback=_ask_callback(self)
        )
        ask.autocomplete("knowledge")(self._complete_base)
        return (ask, context_menu("Answer this", self.answer_this))

    async def ask(
        self, press: Press, question: str, private: bool | None, file: discord.Attachment | None, base: str = ""
    ) -> None:
        """Acknowledge, then put the question into the inbox; ``base`` names the only knowledge base to look in."""
        async with report_errors(press):
            settings = await self._settings_here(press) if private is None else None
            visibility = answer_visibility(settings, direct=press.guild_id is None, private=private)
            alone = visibility is AnswerVisibility.ASKER
            response = await acknowledge(press, alone=alone)
            bases = await self._readable_base(press, base, alone=alone) if base.strip() else ()
            files = (FileReference(str(file.id), file.filename, file.size),) if file is not None else ()
            asked = _question(press, question, response, alone=alone)
            target = replace(asked.reply_target, file=file.url if file is not None else "")
            self._enqueue(press, replace(asked, reply_target=target, files=files, bases=bases))

    async def answer_this(self, press: Press, message: discord.Message) -> None:
        """Somebody else's message as the question: for the one who asks alone, where answers are private."""
        async with report_errors(press):
            text = readable(message, ourselves(press.client.user.id if press.client.user else 0, press.guild))
            if not text and not message.attachments:
                return await tell(press, NOTHING_TO_ANSWER)
            settings = await self._settings_here(press)
            if answer_visibility(settings, direct=press.guild_id is None) is not AnswerVisibility.ASKER:
                return await self._answer_for_all(press, message, text, settings)
            asked = _question(press, text, await acknowledge(press, alone=True), alone=True)
            files = tuple(FileReference(one.url, one.filename, one.size) for one in message.attachments[:MOST_FILES])
            self._enqueue(press, replace(asked, files=files))
        return None

    async def _answer_for_all(
        self, press: Press, message: discord.Message, text: str, settings: ChannelSettings | None
    ) -> None:
        """Answer a message where it stands: there, in reply to it or in a thread on it, as the channel is set up."""
        mode = ReplyMode.START
        if isinstance(press.channel, discord.Thread) or press.guild_id is None:
            mode = ReplyMode.POST
        elif settings is not None and settings.reply_style is ReplyStyle.CHANNEL:
            mode = ReplyMode.REPLY
        target = ReplyTarget(
            mode=mode,
            channel=str(press.channel_id),
            message=str(message.id),
            guild=str(press.guild_id or ""),
            asker=str(press.user.id),
        )
        await tell(press, WHERE[mode])
        files = message.attachments[:MOST_FILES]
        asked = IncomingMessage(
            id=str(press.id),
            thread=key_of(press.channel, press.guild_id, message.id),
            text=text,
            asker=person_of(press.user),
            reply_target=target,
            mentions_us=True,
            direct=press.guild_id is None,
            files=tuple(FileReference(str(one.id), one.filename, one.size) for one in files),
        )
        self._enqueue(press, asked)

    async def _settings_here(self, press: Press) -> ChannelSettings | None:
        """What applies where a command was used; None where nobody can tell in time, and in direct messages."""
        if press.guild_id is None:
            return None
        with suppress(FootnoteError, TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                return await self._readers.settings(asked_in(press, alone=False))
        return None

    async def _readable_base(self, press: Press, name: str, *, alone: bool) -> tuple[str, ...]:
        """The base of this name. Raises NotFound unless everybody who will read the answer may read it."""
        thread = asked_in(press, alone=alone)
        readers = await (
            self._readers.of_interaction(press) if alone or not thread.space else self._readers.of_place(thread)
        )
        wanted = name.strip().casefold()
        for base in await self._user_actions.bases.for_audience(readers):
            if base.name.casefold() == wanted:
                return (base.name,)
        raise NotFound(
            f"There is no knowledge base called “{plain(clip(name.strip(), 60))}” that everybody here may read.",
            remedy="Ask without naming one, or for your eyes only.",
        )

    async def _complete_base(self, press: Press, typed: str) -> list[app_commands.Choice[str]]:
        """Names of bases that the one who types may read."""
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS):
                bases = await self._user_actions.bases.for_audience(await self._readers.of_interaction(press))
        except (FootnoteError, TimeoutError):
            return []
        names = [base.name for base in bases if base.name.casefold().startswith(typed.strip().casefold())]
        return [choice(name, name) for name in names[:25]]

    def _enqueue(self, press: Press, incoming: IncomingMessage) -> None:
        async def keep() -> None:
            await self._ordered_queue.put(f"discord:{press.id}", incoming, busy=lambda text: tell(press, text))

        self._ordered_queue.add(keep)


def _question(press: Press, text: str, response: str, *, alone: bool) -> IncomingMessage:
    """What was asked by a command that was acknowledged; ``response`` is the message that the answer will fill."""
    target = ReplyTarget(
        mode=ReplyMode.PRIVATE if alone else ReplyMode.RESPONSE,
        channel=str(press.channel_id),
        message=str(press.id),
        guild=str(press.guild_id or ""),
        asker=str(press.user.id),
        token=press.token,
        response=response,
    )
    return IncomingMessage(
        id=str(press.id),
        thread=asked_in(press, alone=alone),
        text=text,
        asker=person_of(press.user),
        reply_target=target,
        mentions_us=True,
        direct=press.guild_id is None,
        private=alone,
    )


def asked_in(press: Press, *, alone: bool) -> ThreadKey:
    """The conversation that a command's question belongs to."""
    if press.guild_id is None:
        return direct_key(press.channel_id or 0)
    channel_id = base_channel_id(press.channel) or press.channel_id or 0
    if alone:
        return private_key(press.guild_id, channel_id, press.user.id)
    return key_of(press.channel, press.guild_id, press.id)


def _ask_callback(commands: AskCommands) -> Callable[..., Any]:
    @app_commands.describe(
        question="What do you want to know?",
        private="Answer only to me",
        file="A text file or PDF to read for this question",
        knowledge="Look only in this knowledge base",
    )
    @app_commands.rename(knowledge="kb")
    async def ask(
        interaction: discord.Interaction,
        question: app_commands.Range[str, 1, LONGEST_QUESTION],
        private: bool | None = None,
        file: discord.Attachment | None = None,
        knowledge: str = "",
    ) -> None:
        await commands.ask(interaction, question, private, file, knowledge)

    return ask
