"""Who a message pings, by Discord's rules, and which ``allowed_mentions`` the bot may send at all.

A mention in the content pings only when ``allowed_mentions`` lets it; mentions in embeds and in code never do.
Source: the platform's "Allowed Mentions Object" section.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.refusal import Refusal, invalid_form
from tests.fakes.discord.world import Member, Message, Role

if TYPE_CHECKING:
    from tests.fakes.discord.world import World

Json = dict[str, Any]
PingKind = Literal["user", "role", "everyone"]

CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYONE = re.compile(r"@(?:everyone|here)\b")


@dataclass
class Mentioned:
    users: list[Member] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    everyone: bool = False


@dataclass(frozen=True)
class Ping:
    """Somebody who was really notified by one of the bot's messages: a user, a role, or everyone."""

    kind: PingKind
    who: str
    message: Message


def mentioned(
    world: World, text: str, allowed: Json | None, *, author: Member, replied_to: Message | None = None
) -> Mentioned:
    """The users, roles and "everyone" that this text notifies. Without ``allowed`` everything is live."""
    shown = CODE.sub(" ", text)
    found = Mentioned()
    for user_id in dict.fromkeys(map(int, USER.findall(shown))):
        if user_id in world.members and _allows(allowed, "users", user_id):
            found.users.append(world.members[user_id])
    anyone = world.may(author, Permission.MENTION_EVERYONE)
    for role_id in dict.fromkeys(map(int, ROLE.findall(shown))):
        role = world.roles.get(role_id)
        if role is not None and (role.mentionable or anyone) and _allows(allowed, "roles", role_id):
            found.roles.append(role)
    found.everyone = bool(anyone and EVERYONE.search(shown) and _allows(allowed, "everyone", 0))
    if replied_to is not None and (allowed is None or allowed.get("replied_user")):
        found.users += [replied_to.author] if replied_to.author not in found.users else []
    return found


def _allows(allowed: Json | None, kind: str, snowflake: int) -> bool:
    if allowed is None:
        return True
    listed = [int(item) for item in allowed.get(kind) or ()] if kind != "everyone" else []
    return kind in (allowed.get("parse") or ()) or snowflake in listed


def check(allowed: Json | None, *, permitted_roles: set[int], where: str = "allowed_mentions") -> None:
    """Refuses what Discord refuses; records as a violation what would leave mentions alive.

    Raises:
        Refusal: ``parse`` and an explicit list name the same kind, or the message may ping somebody
            other than the permitted role.
    """
    if allowed is None:
        raise invalid_form(where, "MENTIONS_ALIVE", "Must be present, so that no mention is live.")
    parse = allowed.get("parse") or ()
    for kind in ("users", "roles"):
        if kind in parse and allowed.get(kind):
            raise invalid_form(where, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", f"parse:[{kind}] and {kind}: [ids]")
    roles = {int(role) for role in allowed.get("roles") or ()}
    if parse or allowed.get("users") or allowed.get("replied_user") or not roles <= permitted_roles:
        raise Refusal(
            400,
            50035,
            "Invalid Form Body",
            errors={where: {"_errors": [{"code": "MENTIONS_ALIVE", "message": "Must allow nobody."}]}},
            violation=f"{where}: {allowed} would ping",
        )
