"""``/ask`` and *Answer this*. A question from a command goes through the inbox like any other."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import discord
from discord import app_commands

from adapters.discord.api.ids import base_channel_id, direct_key, key_of, private_key
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    TRY_AGAIN,
    acknowledge,
    asked_by,
    context_menu,
    enqueue,
    report_errors,
    tell,
)
from adapters.discord.inbound.message_parser import file_references
from adapters.discord.inbound.message_words import (
    attachments_of,
    bot_identity,
    command_words,
    mentioned_ids,
    words_of,
)
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.sanitizer import choice
from adapters.discord.outbound.text import clip, escape
from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, NotFound
from core.model.incoming_events import FileReference, IncomingMessage, ReplyMode, ReplyTarget
from core.model.message_text import LONGEST_QUESTION, plain_question
from core.service.channel_settings import AnswerVisibility, answer_visibility

LOOK_SECONDS = 1.0
MOST_NAMED = 10  # people in one question
WHERE = {
    ReplyMode.POST: "I will answer here.",
    ReplyMode.REPLY: "I will answer in a reply to that message.",
    ReplyMode.START: "I will answer in a thread on that message.",
}
NOTHING_TO_ANSWER = "There is nothing in that message to answer."


class AskCommands:
    """Questions asked through commands."""

    def __init__(self, app: DiscordApplication, ordered_queue: OrderedQueue) -> None:
        self._app = app
        self._ordered_queue = ordered_queue

    def commands(self) -> Sequence[app_commands.Command[Any, ..., Any] | app_commands.ContextMenu]:
        """Return the commands to register with Discord."""
        description = "Ask a question of your team's documents"
        ask: app_commands.Command[Any, ..., Any] = app_commands.Command(
            name="ask", description=description, callback=self.ask
        )
        ask.autocomplete("knowledge")(self._complete_base)
        return (ask, context_menu("Answer this", self.answer_this))

    @app_commands.describe(
        question="What do you want to know?",
        private="Answer only to me",
        file="A text file or PDF to read for this question",
        knowledge="Look only in this knowledge base",
    )
    @app_commands.rename(knowledge="kb")
    async def ask(
        self,
        interaction: Interaction,
        question: app_commands.Range[str, 1, LONGEST_QUESTION],
        private: bool | None = None,
        file: discord.Attachment | None = None,
        knowledge: str = "",
    ) -> None:
        """Acknowledge, then put the question into the inbox. ``knowledge`` names the only base to search."""
        async with report_errors(interaction):
            settings = await self._settings_here(interaction) if private is None else None
            visibility = answer_visibility(settings, direct=interaction.guild_id is None, private=private)
            alone = visibility is AnswerVisibility.ASKER
            response = await acknowledge(interaction, alone=alone)
            bases = await self._readable_base(interaction, knowledge, alone=alone) if knowledge.strip() else ()
            files = (FileReference(str(file.id), file.filename, file.size),) if file is not None else ()
            words, thread = await self._words(interaction, question), asked_in(interaction, alone=alone)
            asked = asked_by(interaction, thread, words, alone=alone, response=response)
            target = replace(asked.reply_target, file=file.url if file is not None else "")
            await self._enqueue(interaction, replace(asked, reply_target=target, files=files, bases=bases))

    async def _words(self, interaction: Interaction, typed: str) -> str:
        """Return the typed words with names for ids. Names that cannot be looked up now are left out."""
        people: list[discord.Member] = []
        with suppress(FootnoteError):
            mentioned = mentioned_ids(typed)[:MOST_NAMED]
            people = await self._app.channel_access.members_in(interaction.guild, mentioned)
        return plain_question(command_words(typed, interaction.guild, people))

    async def answer_this(self, interaction: Interaction, message: discord.Message) -> None:
        """Ask another person's message as a question; for the caller only, if answers are private here."""
        async with report_errors(interaction):
            us = bot_identity(interaction.client, interaction.guild)
            text = plain_question(words_of(message, us))
            if not text and not attachments_of(message):
                raise NotFound(NOTHING_TO_ANSWER)
            settings = await self._settings_here(interaction)
            if answer_visibility(settings, direct=interaction.guild_id is None) is not AnswerVisibility.ASKER:
                return await self._answer_for_all(interaction, message, text, settings)
            response, thread = await acknowledge(interaction, alone=True), asked_in(interaction, alone=True)
            asked = asked_by(interaction, thread, text, alone=True, response=response)
            files = tuple(FileReference(one.url, one.filename, one.size) for one in attachments_of(message))
            await self._enqueue(interaction, replace(asked, files=files))
        return None

    async def _answer_for_all(
        self, interaction: Interaction, message: discord.Message, text: str, settings: ChannelSettings | None
    ) -> None:
        """Answer a message in its thread, in reply to it, or in a new thread, by the channel's settings."""
        mode = ReplyMode.START
        if isinstance(interaction.channel, discord.Thread) or interaction.guild_id is None:
            mode = ReplyMode.POST
        elif settings is not None and settings.reply_style is ReplyStyle.CHANNEL:
            mode = ReplyMode.REPLY
        target = ReplyTarget(
            mode=mode,
            channel=str(interaction.channel_id),
            message=str(message.id),
            guild=str(interaction.guild_id or ""),
            asker=str(interaction.user.id),
        )
        await tell(interaction, WHERE[mode])
        thread = key_of(interaction.channel, interaction.guild_id, message.id)
        asked = asked_by(interaction, thread, text, alone=False)
        await self._enqueue(interaction, replace(asked, reply_target=target, files=file_references(message)))

    async def _settings_here(self, interaction: Interaction) -> ChannelSettings | None:
        """Return the settings where the command was used; None if that takes too long, and in direct messages."""
        if interaction.guild_id is None:
            return None
        with suppress(FootnoteError, TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                return await self._app.channel_access.settings(asked_in(interaction, alone=False))
        return None

    async def _readable_base(self, interaction: Interaction, name: str, *, alone: bool) -> tuple[str, ...]:
        """Return the base of this name. Raises NotFound unless every reader of the answer may read the base."""
        thread = asked_in(interaction, alone=alone)
        readers = await (
            self._app.channel_access.audience_of_interaction(interaction)
            if alone or not thread.space
            else self._app.channel_access.audience_of_channel(thread)
        )
        wanted = name.strip().casefold()
        for base in await self._app.user_actions.bases.for_audience(readers):
            if base.name.casefold() == wanted:
                return (base.name,)
        raise NotFound(
            f"There is no knowledge base called “{escape(clip(name.strip(), 60))}” that everyone here can read.",
            remedy="Ask without naming a knowledge base, or choose a private answer.",
        )

    async def _complete_base(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        """Complete the names of bases that the person may read."""
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS):
                bases = await self._app.user_actions.bases.for_audience(
                    await self._app.channel_access.audience_of_interaction(interaction)
                )
        except (FootnoteError, TimeoutError):
            return []
        names = [base.name for base in bases if base.name.casefold().startswith(typed.strip().casefold())]
        return [choice(name, name) for name in names[:25]]

    async def _enqueue(self, interaction: Interaction, incoming: IncomingMessage) -> None:
        if not self._ordered_queue.add(partial(enqueue, self._ordered_queue, interaction, incoming)):
            await tell(interaction, TRY_AGAIN)


def asked_in(interaction: Interaction, *, alone: bool) -> ThreadKey:
    """Return the conversation of a command's question."""
    if interaction.guild_id is None:
        return direct_key(interaction.channel_id or 0)
    channel_id = base_channel_id(interaction.channel) or interaction.channel_id or 0
    if alone:
        return private_key(interaction.guild_id, channel_id, interaction.user.id)
    return key_of(interaction.channel, interaction.guild_id, interaction.id)
