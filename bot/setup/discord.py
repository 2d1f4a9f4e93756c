"""Discord's part of the setup: the bot's token, the intent to switch on, and the invitation to a server."""

import re
from collections.abc import Awaitable, Callable, Sequence

from adapters.discord.manifest import PORTAL
from adapters.discord.preflight import CONTENT, SERVERS, DiscordCheck, preflight
from bot.doctor import check_of
from bot.settings import load_settings
from bot.setup.credentials import Credential
from bot.setup.platform_setup import Finding, PlatformSetup
from core.model.health import Check
from core.model.setup_steps import SetupStep, TokenField

_BOT = TokenField("DISCORD_BOT_TOKEN", "bot token", "has three parts with dots between them, about 70 characters")


def platform_setup() -> PlatformSetup:
    """Four steps: the application, its token, the intent, and the server."""
    steps = (
        SetupStep("app", "The application", "New Application, a name, Create.", link=PORTAL),
        SetupStep(
            "bot-token",
            "The bot token",
            "In the application's pages: Bot, Reset Token. It is shown once.",
            token=_BOT,
        ),
        SetupStep("intent", "What it may read", until="it is switched on and saved", optional=True),
        SetupStep("server", "The server", until="it is in your server"),
    )
    ask = ("@Footnote who approves refunds?",)
    return PlatformSetup(
        steps, ask, {_BOT.setting: bot_token()}, {"intent": _finding(CONTENT), "server": _finding(SERVERS)}
    )


def _finding(name: str) -> Callable[[str], Awaitable[Finding | None]]:
    async def find(token: str) -> Finding | None:
        found = next((one for one in await _preflight(token) if one.name == name), None)
        return None if found is None else Finding(check_of(found), found.link)

    return find


async def _preflight(token: str) -> Sequence[DiscordCheck]:
    settings = load_settings()
    return await preflight(token, api_url=settings.discord_api_url, gateway_url=settings.discord_gateway_url)


def bot_token() -> Credential:
    """What the bot answers with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(one) for one in (await _preflight(token))[:1]]

    return Credential(
        field=_BOT,
        shape=re.compile(r"[\w-]{8,}\.[\w-]+\.[\w-]+"),
        mistaken={"xox": "a token of Slack's", "xapp-": "a token of Slack's"},
        check=check,
    )
