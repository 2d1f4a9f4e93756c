"""Setup on Discord's side: the invite link with its permissions, and the checks for ``doctor``.

The checks use REST only and never identify, so they can run at any time.
"""

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import urlencode

import discord

from adapters.discord.api.errors import api_call
from adapters.discord.api.http import configure_endpoints
from adapters.discord.api.ids import PLATFORM, handoff_role
from adapters.discord.inbound.gateway import NO_CONTENT_REMEDY, intents, log_in, reads_content
from adapters.discord.inbound.identify_limiter import pending_wait
from adapters.discord.outbound.messages import NOBODY
from core.model.channel_settings import ChannelSettings
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.health import PlatformCheck
from core.ports.message_state import MessageStateStore

INVITE = "https://discord.com/oauth2/authorize"
PORTAL = "https://discord.com/developers/applications"
SCOPES = ("bot", "applications.commands")
PERMISSIONS = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
}


def permissions() -> discord.Permissions:
    """Return the permissions that we ask for: not administrator, and nothing that mentions, manages or removes."""
    return discord.Permissions(**dict.fromkeys(PERMISSIONS, True))


def application_id(token: str | None) -> str | None:
    """Return the application's id from the first part of a bot token, or None if it cannot be read."""
    head = (token or "").strip().partition(".")[0]
    try:
        number = base64.b64decode(head + "=" * (-len(head) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return number if number.isdigit() and len(number) > 14 else None


def invite(application: str) -> str:
    """Return the link that adds us to a server."""
    return f"{INVITE}?" + urlencode(
        {"client_id": application, "scope": " ".join(SCOPES), "permissions": permissions().value}
    )


def manifest(token: str | None = None) -> str:
    """Return all steps in the developer portal, with the invite link and without the token."""
    known = application_id(token)
    link = invite(known) if known else invite("APPLICATION_ID")
    lines = [
        f"1. {PORTAL}: New Application.",
        "2. Bot: Reset Token, and put it into .env as DISCORD_BOT_TOKEN.",
        "3. Bot, Privileged Gateway Intents: switch on Message Content Intent. (Server Members and Presence stay off.)",
        "4. Installation: leave Guild Install on, with the scopes " + " and ".join(SCOPES) + ".",
        "5. Open this link and choose your server:",
        f"   {link}",
    ]
    if known is None:
        lines.append("   (APPLICATION_ID is on the General Information page; with DISCORD_BOT_TOKEN set I fill it in.)")
    lines += [
        f"6. Permissions that the link asks for ({permissions().value}): {', '.join(PERMISSIONS.values())}.",
        "7. For a role that *Ask a person* may call: Server Settings, Roles, Allow anyone to @mention this role.",
        "8. footnote doctor, then footnote serve, then mention me in a channel.",
    ]
    return "\n".join(lines)


CHECK_SECONDS = 20.0
CONTENT, SERVERS, SESSIONS = "Discord intents", "Discord servers", "Discord sessions"


async def preflight(
    token: str,
    *,
    api_url: str | None = None,
    gateway_url: str | None = None,
    chosen: Mapping[str, ChannelSettings] | None = None,
) -> list[PlatformCheck]:
    """Check the token, intents, servers, permissions and handoff roles. Stop if the rest would be pointless.

    ``chosen`` maps places to settings. Some need the message content, and some name handoff roles.
    """
    configure_endpoints(api_url, gateway_url)
    settings = [one for place, one in (chosen or {}).items() if place.startswith(f"{PLATFORM}:")]
    reading = sum(one.answers_unasked or one.forum_posts for one in settings)
    roles = frozenset(role for one in settings if (role := handoff_role(one.handoff)) is not None)
    client = discord.Client(intents=intents(content=False), allowed_mentions=NOBODY)
    try:
        await log_in(client, token, CHECK_SECONDS)
        token_check = PlatformCheck("Discord token", ok=True, detail=f"logged in as {client.user}")
        return [token_check, _content(client, reading), *await _servers(client, roles)]
    except PlatformUnavailable as error:
        return [PlatformCheck("Discord", False, error.args[0], error.remedy or "")]
    except FootnoteError as error:
        return [PlatformCheck("Discord token", False, error.args[0], error.remedy or "")]
    finally:
        await client.close()


async def sessions_check(message_states: MessageStateStore) -> PlatformCheck:
    """Check whether a start would connect at once, or wait because there were many. Raises StoreUnavailable."""
    if waits := await pending_wait(message_states):
        return PlatformCheck(
            SESSIONS, ok=False, detail=waits, remedy="Wait, or find out what restarts the bot so often.", fatal=False
        )
    return PlatformCheck(SESSIONS, ok=True, detail="a start connects at once")


def _content(client: discord.Client, reading: int) -> PlatformCheck:
    """Check whether we can read messages that do not mention us. ``reading`` counts the places that need it."""
    if reads_content(client):
        return PlatformCheck(CONTENT, ok=True, detail="message content is on")
    detail = "message content is off: follow-ups that do not mention me cannot be read"
    if reading:
        places = "one place" if reading == 1 else f"{reading} places"
        detail += f", nor new posts and questions, which {places} are set up to have answered"
    return PlatformCheck(CONTENT, ok=False, detail=detail, remedy=NO_CONTENT_REMEDY, fatal=False)


async def _servers(client: discord.Client, handoffs: frozenset[int]) -> list[PlatformCheck]:
    """Check our permissions in each server by role. Single channels may still deny some."""
    async with api_call("look at the servers I am in", CHECK_SECONDS):
        guilds = [guild async for guild in client.fetch_guilds(limit=200)]
    if not guilds:
        link = invite(str(client.application_id))
        remedy = f"Invite the bot: {link}"
        return [PlatformCheck(SERVERS, ok=False, detail="I am in none", remedy=remedy, link=link)]
    checks = [PlatformCheck(SERVERS, ok=True, detail=", ".join(guild.name for guild in guilds[:5]))]
    for guild in guilds[:20]:
        checks += await _server(client, guild.id, handoffs)
    return checks


async def _server(client: discord.Client, guild_id: int, handoffs: frozenset[int]) -> list[PlatformCheck]:
    async with api_call("look at a server", CHECK_SECONDS):
        guild = await client.fetch_guild(guild_id, with_counts=False)
        me = await guild.fetch_member(client.user.id if client.user else 0)
        channels = await guild.fetch_channels()
    missing = [words for name, words in PERMISSIONS.items() if not getattr(me.guild_permissions, name)]
    name = f"Discord, {guild.name}"
    if missing:
        remedy = f"Give my role these permissions, or invite the bot again: {invite(str(client.application_id))}"
        return [PlatformCheck(name, ok=False, detail=f"missing: {', '.join(missing)}", remedy=remedy)]
    checks = [PlatformCheck(name, ok=True, detail="every permission is there")]
    checks += [_missing_permission(name, lacking)] if (lacking := _lacking_somewhere(me, channels)) else []
    checks += [_unmentionable(name, role) for role in guild.roles if role.id in handoffs and not role.mentionable]
    return checks


def _lacking_somewhere(me: discord.Member, channels: object) -> list[str]:
    """List the visible channels that deny us some permission."""
    found: list[str] = []
    for channel in channels if isinstance(channels, list | tuple) else []:
        if isinstance(channel, discord.TextChannel):
            allowed = channel.permissions_for(me)
            lacks = [words for name, words in PERMISSIONS.items() if not getattr(allowed, name)]
            if allowed.view_channel and lacks:
                found.append(f"#{channel.name} ({', '.join(lacks)})")
    return found


def _missing_permission(name: str, where: list[str]) -> PlatformCheck:
    more = f" and {len(where) - 5} more" if len(where) > 5 else ""
    remedy = "Give my role these permissions in the channels where I should answer."
    return PlatformCheck(name, ok=False, fatal=False, detail=f"denied in {'; '.join(where[:5])}{more}", remedy=remedy)


def _unmentionable(name: str, role: discord.Role) -> PlatformCheck:
    remedy = "Server Settings, Roles: allow anyone to @mention it."
    return PlatformCheck(
        name, ok=False, fatal=False, detail=f"*Ask a person* cannot call the role {role.name}", remedy=remedy
    )
