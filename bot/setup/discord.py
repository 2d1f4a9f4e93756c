"""Discord's part of the setup: the bot's token, the intent to switch on, and the invitation to a server."""

import asyncio
import re
from collections.abc import Sequence

from adapters.discord.manifest import PORTAL
from adapters.discord.preflight import CONTENT, SERVERS, DiscordCheck, preflight
from bot.doctor import check_of
from bot.settings import load_settings
from bot.setup.credentials import Credential, obtain
from bot.setup.dialogue import Dialogue
from bot.setup.saved_settings import SavedSettings
from core.model.health import Check


def set_up(dialogue: Dialogue, saved: SavedSettings) -> bool:
    """Whether the token works and the bot is in a server; what is only useful may be left for later."""
    if not saved.value("DISCORD_BOT_TOKEN"):
        dialogue.heading("The application")
        dialogue.say("New Application, a name, Create.")
        dialogue.link(PORTAL)
    dialogue.heading("The bot token")
    token = obtain(bot_token(), dialogue, saved)
    if not token:
        return False
    dialogue.heading("What it may read")
    _mend(dialogue, token, CONTENT, "it is switched on and saved")
    dialogue.heading("The server")
    return _mend(dialogue, token, SERVERS, "it is in your server")


def _mend(dialogue: Dialogue, token: str, name: str, until: str) -> bool:
    """Show one check until it is in order; False where that is left for later."""
    while True:
        found = next((one for one in asyncio.run(_preflight(token)) if one.name == name), None)
        if found is None:
            return False
        dialogue.show([check_of(found)])
        if found.ok:
            return True
        if found.link:
            dialogue.link(found.link)
        if not dialogue.pause(until):
            return False


async def _preflight(token: str) -> Sequence[DiscordCheck]:
    settings = load_settings()
    return await preflight(token, api_url=settings.discord_api_url, gateway_url=settings.discord_gateway_url)


def bot_token() -> Credential:
    """What the bot answers with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(one) for one in (await _preflight(token))[:1]]

    return Credential(
        setting="DISCORD_BOT_TOKEN",
        name="bot token",
        place="In the application's pages: Bot, Reset Token. It is shown once.",
        shape=re.compile(r"[\w-]{8,}\.[\w-]+\.[\w-]+"),
        looks="has three parts with dots between them, about 70 characters",
        mistaken={"xox": "a token of Slack's", "xapp-": "a token of Slack's"},
        check=check,
    )
