"""The application's commands as Discord knows them: registered when they have changed, and what is none is told so."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord.api.errors import api_call
from adapters.discord.api.ids import person_of
from adapters.discord.inbound.interaction_responses import WENT_WRONG, tell
from adapters.discord.outbound.buttons import Interaction
from core.model.errors import FootnoteError
from core.model.records import Record
from core.ports.audit import Audit
from core.ports.message_state import MessageStateStore

NO_ADMIN = "Only an admin of this server (Manage Server) can do that here."
CHANGED = "That command has changed. Type it anew to see what it is now; if you do not, reload Discord."

log = structlog.get_logger(__name__)

AppCommand = app_commands.Command[Any, ..., Any] | app_commands.Group | app_commands.ContextMenu


@dataclass(frozen=True, kw_only=True)
class RegisteredCommands(Record, place="discord/commands/{application}", subject="{scope}", installation=True):
    """Which commands were registered with Discord last, as a number that changes with any of them."""

    application: str
    scope: str
    digest: int = 0


class CommandTree:
    """These commands, in the tree of whatever client is connected. ``dev_guild`` is the one server to register in."""

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
        """Put every command into a client's tree."""
        tree.error(self._report_failure)
        for command in self._commands:
            tree.add_command(command)

    async def sync(self, tree: "app_commands.CommandTree[Any]") -> bool:
        """Register them with Discord if they are not what was registered last; whether that was needed."""
        scope = f"guild:{self._dev_guild.id}" if self._dev_guild else "global"
        registered = RegisteredCommands(application=str(tree.client.application_id), scope=scope, digest=_digest(tree))
        try:
            if await self._message_states.read(registered) == registered:
                return False
            async with api_call("register my commands"):
                if self._dev_guild is not None:
                    tree.copy_global_to(guild=self._dev_guild)
                await tree.sync(guild=self._dev_guild)
            await self._message_states.save(registered)
        except FootnoteError as error:
            log.warning("commands_not_registered", reason=str(error))
            return False
        log.info("commands_registered", scope=scope)
        return True

    async def _report_failure(self, interaction: Interaction, error: app_commands.AppCommandError) -> None:
        """What a command's own handling did not catch; who lacks the rights is refused on record."""
        name = interaction.command.qualified_name if interaction.command else ""
        if isinstance(error, app_commands.MissingPermissions):
            person, action = person_of(interaction.user), name.rpartition(" ")[2]
            await self._audit.record(person.id, action, f"/{name}", allowed=False)
            await tell(interaction, NO_ADMIN)
            return
        if isinstance(error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
            log.info("command_of_earlier_version", command=name)  # what their Discord still shows is not there any more
            await tell(interaction, CHANGED)
            return
        log.error("command_failed", command=name, exc_info=error)
        await tell(interaction, WENT_WRONG)


def _digest(tree: "app_commands.CommandTree[Any]") -> int:
    shown = [command.to_dict(tree) for command in tree.get_commands()]
    shown += [command.to_dict(tree) for command in tree.get_commands(type=discord.AppCommandType.message)]
    return int(hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()[:15], 16)
