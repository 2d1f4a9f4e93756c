"""``/footnote``: help, why, mute, forget, and the settings of a place."""

import asyncio
from typing import Any

import discord
from discord import app_commands

from adapters.discord.api.ids import PLATFORM, base_channel_id, direct_key, guild_key, person_of
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    PlaceOption,
    acknowledge,
    is_admin,
    report_errors,
    tell,
)
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.text import markdown, markdown_lines
from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.principals import channel_principal
from core.service.actions.wording import THIS_THREAD, ThreadForgotten, explanation_text, outcome_text
from core.service.help import HELP
from core.service.kb.text_spans import Line, code, plain, strong

NOT_ANSWERED = "I have not answered anything here that I can explain."
NOT_A_THREAD = "Use this in a thread where I answered, or in a direct message to me."
COMMANDS_HELP: Line = (
    code("/ask"),
    plain(" asks from anywhere, privately if you like. In any message's menu, under "),
    strong("Apps"),
    plain(", "),
    strong("Answer this"),
    plain(" answers it and "),
    strong("Add to knowledge base"),
    plain(" proposes it as something to know."),
)


class FootnoteCommands:
    """The command group ``/footnote``."""

    def __init__(self, app: DiscordApplication, settings: ChannelSettingsMenus) -> None:
        self._app = app
        self._settings = settings

    def group(self) -> app_commands.Group:
        """Return the group to register with Discord."""
        group = app_commands.Group(name="footnote", description="Help, explanations and settings")

        def add(name: str, description: str, callback: Any) -> None:
            group.add_command(app_commands.Command(name=name, description=description, callback=callback))

        add("help", "How to ask questions, and other commands", self._help)
        add("why", "Explain my last answer here", self._why)
        add("mute", "Stay silent in this thread until someone mentions me", self._mute)
        add("unmute", "Answer in this thread again", self._unmute)
        add("forget", "Delete what I stored about this thread or your questions", self._forget)
        add("settings", "For admins: settings of a channel or category", self._show_settings)
        return group

    async def _help(self, interaction: Interaction) -> None:
        async with report_errors(interaction):
            await tell(interaction, markdown_lines([*HELP, COMMANDS_HELP]))

    async def _why(self, interaction: Interaction) -> None:
        async with report_errors(interaction):
            await acknowledge(interaction, alone=True)
            audience = await self._app.channel_access.audience_of_interaction(interaction)
            thread = await self._conversation_of(interaction)
            if thread is None:
                raise NotFound(NOT_ANSWERED)
            explanation = await self._app.user_actions.answers.explain(thread, audience)
            await tell(interaction, markdown(explanation_text(explanation)))

    async def _conversation_of(self, interaction: Interaction) -> ThreadKey | None:
        """Return the conversation that a command refers to: this thread, or the latest one in a channel."""
        if interaction.guild_id is None:
            return direct_key(interaction.channel_id or 0)
        channel_id = base_channel_id(interaction.channel) or interaction.channel_id or 0
        if isinstance(interaction.channel, discord.Thread):
            return guild_key(interaction.guild_id, channel_id, interaction.channel.id)
        place = channel_principal(PLATFORM, str(interaction.guild_id), str(channel_id))
        return await self._app.answer_index.latest_in(place, person_of(interaction.user).id)

    async def _mute(self, interaction: Interaction) -> None:
        await self._set_muted(interaction, muted=True)

    async def _unmute(self, interaction: Interaction) -> None:
        await self._set_muted(interaction, muted=False)

    async def _set_muted(self, interaction: Interaction, *, muted: bool) -> None:
        async with report_errors(interaction):
            if interaction.guild_id is not None and not isinstance(interaction.channel, discord.Thread):
                raise NotFound(NOT_A_THREAD)
            async with asyncio.timeout(LOOK_UP_SECONDS):
                thread = await self._conversation_of(interaction)
                if thread is None:
                    raise NotFound(NOT_A_THREAD)
                outcome = await self._app.user_actions.memory.mute(thread, muted=muted)
            await tell(interaction, outcome_text(outcome, _name_of(interaction, thread)), mentions=True)

    @app_commands.describe(what="This thread, or everything you asked")
    @app_commands.choices(
        what=[
            app_commands.Choice(name="this thread", value="thread"),
            app_commands.Choice(name="everything I asked", value="me"),
        ]
    )
    async def _forget(self, interaction: Interaction, what: str = "thread") -> None:
        async with report_errors(interaction):
            await acknowledge(interaction, alone=True)
            person = person_of(interaction.user)
            memory = self._app.user_actions.memory
            if what == "me":
                return await tell(interaction, outcome_text(await memory.forget_person(person)))
            thread = await self._conversation_of(interaction)
            if thread is None:
                raise NotFound(outcome_text(ThreadForgotten(was_kept=False), "this channel"))
            outcome = await memory.forget_thread(thread, person, is_admin=is_admin(interaction))
            await tell(interaction, outcome_text(outcome, _name_of(interaction, thread)), mentions=True)
        return None

    @app_commands.describe(place="A channel or category; this channel if you leave it out")
    @app_commands.checks.has_permissions(manage_guild=True)
    async def _show_settings(
        self, interaction: Interaction, place: app_commands.Transform[int, PlaceOption] | None = None
    ) -> None:
        await self._settings.show(interaction, place)


def _name_of(interaction: Interaction, thread: ThreadKey) -> str:
    """Name the conversation that a command referred to. A thread outside which the command was given is a link."""
    if interaction.guild_id is None:
        return "this conversation"
    if isinstance(interaction.channel, discord.Thread):
        return THIS_THREAD
    return f"<#{thread.thread}>" if thread.thread.isdecimal() else "the questions you asked here privately"
