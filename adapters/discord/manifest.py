"""What to click to get us into a server: the invite link, its permissions, and the intent to switch on."""

import base64
import binascii
from urllib.parse import urlencode

import discord

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
    """What we ask for: no administrator, nothing that mentions, manages or removes."""
    return discord.Permissions(**dict.fromkeys(PERMISSIONS, True))


def application_id(token: str | None) -> str | None:
    """The application's id, which the first part of a bot token is; None where it cannot be read."""
    head = (token or "").strip().partition(".")[0]
    try:
        number = base64.b64decode(head + "=" * (-len(head) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return number if number.isdigit() and len(number) > 14 else None


def invite(application: str) -> str:
    """The link that adds us to a server."""
    return f"{INVITE}?" + urlencode(
        {"client_id": application, "scope": " ".join(SCOPES), "permissions": permissions().value}
    )


def manifest(token: str | None = None) -> str:
    """All there is to do in the developer portal, in order, with the invite link. The token itself is not shown."""
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
