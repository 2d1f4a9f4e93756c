"""Slack's part of the setup: make the app by one link, install it, take its two tokens."""

import re
from collections.abc import Sequence

from adapters.slack.manifest import creation_link
from adapters.slack.preflight import check_app_token, check_bot_token
from bot.doctor import check_of
from bot.settings import load_settings
from bot.setup.credentials import Credential
from bot.setup.platform_setup import PlatformSetup
from core.model.health import Check
from core.model.setup_steps import SetupStep, TokenField

_OTHERS = {
    "xoxp-": "a user's token",
    "xoxe": "a configuration token",
    "xoxs-": "a session's token",
}
_BOT = TokenField("SLACK_BOT_TOKEN", "Bot User OAuth Token", "begins with xoxb-")
_APP = TokenField("SLACK_APP_TOKEN", "App-Level Token", "begins with xapp-")


def platform_setup() -> PlatformSetup:
    """Three steps: the app, and both tokens."""
    steps = (
        SetupStep(
            "app",
            "The app",
            "This link makes it at Slack. Choose your workspace, then Next and Create.",
            link=creation_link(),
        ),
        SetupStep(
            "bot-token",
            "The bot token",
            "In the app's pages: Install App, Install to Workspace, Allow. The token then appears on that page. "
            "Where apps need an admin's approval, Slack asks for it there.",
            token=_BOT,
        ),
        SetupStep(
            "app-token",
            "The app token",
            "In the app's pages: Basic Information, App-Level Tokens, Generate Token and Scopes. Any name, "
            "Add Scope connections:write, Generate.",
            token=_APP,
        ),
    )
    ask = ("/invite @Footnote", "@Footnote who approves refunds?")
    return PlatformSetup(steps, ask, {one.field.setting: one for one in (bot_token(), app_token())})


def bot_token() -> Credential:
    """What the bot answers with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(one) for one in await check_bot_token(token, load_settings().slack_api_url)]

    return Credential(
        field=_BOT,
        shape=re.compile(r"xoxb-[\w-]+"),
        mistaken={"xapp-": "the app token, which comes next", **_OTHERS},
        check=check,
    )


def app_token() -> Credential:
    """What Socket Mode connects with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(await check_app_token(token, load_settings().slack_api_url))]

    return Credential(
        field=_APP,
        shape=re.compile(r"xapp-[\w-]+"),
        mistaken={"xoxb-": "the bot token", **_OTHERS},
        check=check,
    )
