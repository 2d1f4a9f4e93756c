"""Forms of commands and their options that discord.py does not have in just this way."""

from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands

from adapters.discord.outbound.buttons import Interaction


class PlaceOption(app_commands.Transformer):
    """A channel or category of the server, as its id. Of the kinds that Discord's published description knows."""

    @property
    def type(self) -> discord.AppCommandOptionType:
        """What Discord offers to choose from."""
        return discord.AppCommandOptionType.channel

    @property
    def channel_types(self) -> list[discord.ChannelType]:
        """The types of channels that have settings of their own."""
        kinds = discord.ChannelType
        return [kinds.text, kinds.news, kinds.voice, kinds.forum, kinds.category]

    async def transform(self, interaction: Interaction, value: Any, /) -> int:
        """The id; whether there is such a channel is looked up where it is used."""
        return int(value.id)


def context_menu(
    name: str, callback: Callable[[Interaction, discord.Message], Awaitable[None]]
) -> app_commands.ContextMenu:
    """A command in the menu of every message."""

    async def on_message(interaction: Interaction, message: discord.Message) -> None:
        await callback(interaction, message)

    on_message.__annotations__ = {"interaction": discord.Interaction, "message": discord.Message}
    return app_commands.ContextMenu(name=name, callback=on_message)
