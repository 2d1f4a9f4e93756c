"""Registration of the application's commands with Discord, only when they change."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord.api.errors import api_call
from adapters.discord.api.ids import person_of
from adapters.discord.inbound.interactions import tell
from adapters.discord.outbound.buttons import Interaction
from core.model.errors import WENT_WRONG, Denied, FootnoteError, NotFound
from core.model.records import Record
from core.ports.access import Audit
from core.ports.message_state import MessageStateStore

NO_ADMIN = "Only an admin of this server (Manage Server) can do that here."
CHANGED = "That command has changed. Type it again to get the new version, or reload Discord."

log = structlog.get_logger(__name__)

AppCommand = app_commands.Command[Any, ..., Any] | app_commands.Group | app_commands.ContextMenu


@dataclass(frozen=True, kw_only=True)
class RegisteredCommands(Record, place="discord/commands/{application}", subject="last", installation=True):
    """The digest of the commands last registered with Discord, and where.

    ``guild`` is the id of the one server they were registered in, or 0 for everywhere.
    """

    application: str
    guild: int = 0
    digest: int = 0


class CommandTree:
    """The commands, for any client's tree. ``dev_guild`` is the only server to register them in."""

    def __init__(
        self,
        commands: Sequence[AppCommand],
        audit: Audit,
        message_states: MessageStateStore,
        dev_guild: str | None = None,
    ) -> None:
        self._commands = tuple(commands)
        self._audit = audit
        self._message_states = message_states
        self._dev_guild = discord.Object(int(dev_guild)) if dev_guild else None

    def register(self, tree: "app_commands.CommandTree[Any]") -> None:
        """Add every command to a client's tree."""
        tree.error(self._report_failure)
        for command in self._commands:
            tree.add_command(command, guild=self._dev_guild)

    async def sync(self, tree: "app_commands.CommandTree[Any]") -> bool:
        """Register the commands with Discord if they changed, and return whether that was needed.

        Remove commands from where they were registered before, because Discord would show both.
        """
        guild = self._dev_guild.id if self._dev_guild else 0
        now = RegisteredCommands(application=str(tree.client.application_id), guild=guild, digest=self._digest(tree))
        try:
            last = await self._message_states.read(now)
            if last != now:
                async with api_call("register my commands"):
                    await tree.sync(guild=self._dev_guild)
                await self._take_away(tree, guild, last)
            # Save again even without changes, so that the record does not expire while we are in use.
            await self._message_states.save(now, was=last if last != now else None)
        except FootnoteError as error:
            log.warning("commands_not_registered", reason=str(error))
            return False
        if last != now:
            log.info("commands_registered", scope=guild or "global")
        return last != now

    async def _take_away(
        self, tree: "app_commands.CommandTree[Any]", guild: int, last: RegisteredCommands | None
    ) -> None:
        """Remove the commands from their earlier scope: one server, or everywhere. A server that we left has none."""
        if guild and (last is None or not last.guild):
            async with api_call("take my commands away"):
                await tree.sync()
        elif last is not None and last.guild not in (0, guild):
            with suppress(NotFound, Denied):
                async with api_call("take my commands away"):
                    await tree.sync(guild=discord.Object(last.guild))

    def _digest(self, tree: "app_commands.CommandTree[Any]") -> int:
        commands = tree.get_commands(guild=self._dev_guild)
        menus = tree.get_commands(guild=self._dev_guild, type=discord.AppCommandType.message)
        shown = [command.to_dict(tree) for command in (*commands, *menus)]
        return int(hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()[:15], 16)

    async def _report_failure(self, interaction: Interaction, error: app_commands.AppCommandError) -> None:
        """Report an error that the command did not handle. Record a refusal for missing permissions."""
        name = interaction.command.qualified_name if interaction.command else ""
        if isinstance(error, app_commands.MissingPermissions):
            person, action = person_of(interaction.user), name.rpartition(" ")[2]
            await self._audit.record(person.id, action, f"/{name}", allowed=False)
            await tell(interaction, NO_ADMIN)
            return
        if isinstance(error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
            log.info("command_of_earlier_version", command=name)  # their Discord client still shows the old version
            await tell(interaction, CHANGED)
            return
        log.error("command_failed", command=name, exc_info=error)
        await tell(interaction, WENT_WRONG)
