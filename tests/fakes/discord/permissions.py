"""Discord's permission bits and the documented way to work out what a member may do in a channel.

Source: the platform's "Permissions" page (bit positions, the order in which overwrites apply).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Permission(IntFlag):
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


EVERYTHING = (1 << 53) - 1
ORDINARY = (
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)


def named(names: Iterable[str]) -> int:
    """The bits of permissions by their names, e.g. ``("manage_guild",)``."""
    bits = 0
    for name in names:
        bits |= Permission[name.upper()]
    return bits


@dataclass
class Overwrite:
    """What one role or member is allowed or denied in one channel, on top of their roles."""

    id: int
    of_member: bool
    allow: int = 0
    deny: int = 0

    def payload(self) -> dict[str, object]:
        return {
            "id": str(self.id),
            "type": int(self.of_member),
            "allow": str(self.allow),
            "deny": str(self.deny),
        }


def resolve(
    base: int, member_id: int, role_ids: Iterable[int], everyone_id: int, overwrites: Mapping[int, Overwrite]
) -> int:
    """Channel permissions: everyone's overwrite, then the roles' together, then the member's own."""
    if base & Permission.ADMINISTRATOR:
        return EVERYTHING
    allowed = _applied(base, [overwrites[everyone_id]] if everyone_id in overwrites else [])
    allowed = _applied(allowed, [overwrites[role] for role in role_ids if role in overwrites])
    allowed = _applied(allowed, [overwrites[member_id]] if member_id in overwrites else [])
    return allowed if allowed & Permission.VIEW_CHANNEL else 0


def _applied(bits: int, overwrites: list[Overwrite]) -> int:
    for overwrite in overwrites:
        bits &= ~overwrite.deny
    for overwrite in overwrites:
        bits |= overwrite.allow
    return bits
