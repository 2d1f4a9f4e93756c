"""The application's registered commands, for everywhere and for the one server, and every time they were replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import limits
from tests.fakes.discord.refusal import unknown

if TYPE_CHECKING:
    from tests.fakes.discord.world import World

Json = dict[str, Any]

CHAT_INPUT, USER_MENU, MESSAGE_MENU = 1, 2, 3
SUBCOMMAND, SUBCOMMAND_GROUP = 1, 2


@dataclass(frozen=True)
class Sync:
    """One bulk overwrite: ``guild_id`` is None for the global commands."""

    guild_id: int | None
    names: tuple[str, ...]


class Commands:
    """Commands by scope. A command that is sent again under its name and type keeps its id."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.scopes: dict[int | None, list[Json]] = {None: []}
        self.syncs: list[Sync] = []

    def listed(self, guild_id: int | None) -> list[Json]:
        return self.scopes.setdefault(guild_id, [])

    def overwrite(self, guild_id: int | None, definitions: list[Json]) -> list[Json]:
        limits.commands(definitions)
        self.scopes[guild_id] = [self._registered(guild_id, definition) for definition in definitions]
        self.syncs.append(Sync(guild_id, tuple(definition["name"] for definition in definitions)))
        return self.scopes[guild_id]

    def upsert(self, guild_id: int | None, definition: Json) -> Json:
        kept = [other for other in self.listed(guild_id) if not _same(other, definition)]
        limits.commands([*kept, definition])
        registered = self._registered(guild_id, definition)
        self.scopes[guild_id] = [*kept, registered]
        return registered

    def change(self, guild_id: int | None, command_id: int, changes: Json) -> Json:
        """Some fields of one command, which keeps its id even under a new name."""
        before = self.get(guild_id, command_id)
        self.listed(guild_id).remove(before)
        after = self.upsert(guild_id, before | changes)
        after["id"] = before["id"]
        return after

    def get(self, guild_id: int | None, command_id: int) -> Json:
        for command in self.listed(guild_id):
            if int(command["id"]) == command_id:
                return command
        raise unknown("application command", 10063)

    def remove(self, guild_id: int | None, command_id: int) -> None:
        self.listed(guild_id).remove(self.get(guild_id, command_id))

    def _registered(self, guild_id: int | None, definition: Json) -> Json:
        same = [other for other in self.listed(guild_id) if _same(other, definition)]
        permissions = definition.get("default_member_permissions")
        registered = {"type": CHAT_INPUT, "description": "", "nsfw": False, "contexts": None} | definition
        registered |= {
            "id": same[0]["id"] if same else str(self.world.ids.next()),
            "application_id": str(self.world.application_id),
            "version": str(self.world.ids.next()),
            "default_member_permissions": None if permissions is None else str(permissions),
        }
        if guild_id is not None:
            registered["guild_id"] = str(guild_id)
        return registered

    def find(self, name: str, kind: int = CHAT_INPUT) -> Json:
        """A command as a person in the server sees it: the server's own hides the global one of that name.

        Raises:
            LookupError: no such command is registered.
        """
        everywhere = [*self.listed(self.world.guild_id), *self.listed(None)]
        for command in everywhere:
            if command["name"] == name and command["type"] == kind:
                return command
        known = sorted(f"{command['name']}" for command in everywhere if command["type"] == kind)
        raise LookupError(f"no command {name!r} is registered; there are {known}")


def _same(one: Json, other: Json) -> bool:
    return one["name"] == other["name"] and (one.get("type") or 1) == (other.get("type") or 1)


def descend(command: Json, path: list[str]) -> list[Json]:
    """The chain from a command to the subcommand named by ``path``. Raises LookupError when it is not there."""
    chain = [command]
    for name in path:
        options = chain[-1].get("options") or []
        found = [o for o in options if o["name"] == name and o["type"] in (SUBCOMMAND, SUBCOMMAND_GROUP)]
        if not found:
            raise LookupError(f"/{command['name']} has no subcommand {name!r}; it has {[o['name'] for o in options]}")
        chain.append(found[0])
    return chain
