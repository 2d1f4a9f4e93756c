"""Slack's part of the setup: make the app by one link, install it, take its two tokens."""

import re
from collections.abc import Sequence

from adapters.slack.manifest import creation_link
from adapters.slack.preflight import check_app_token, check_bot_token
from bot.doctor import check_of
from bot.settings import load_settings
from bot.setup.credentials import Credential, obtain
from bot.setup.dialogue import Dialogue
from bot.setup.saved_settings import SavedSettings
from core.model.health import Check

_OTHERS = {
    "xoxp-": "a user's token",
    "xoxe": "a configuration token",
    "xoxs-": "a session's token",
}


def set_up(dialogue: Dialogue, saved: SavedSettings) -> bool:
    """Whether both tokens are there and work."""
    if not saved.value("SLACK_BOT_TOKEN"):
        dialogue.heading("The app")
        dialogue.say("This link makes it at Slack. Choose your workspace, then Next and Create.")
        dialogue.link(creation_link())
    dialogue.heading("The bot token")
    if not obtain(bot_token(), dialogue, saved):
        return False
    dialogue.heading("The app token")
    return bool(obtain(app_token(), dialogue, saved))


def bot_token() -> Credential:
    """What the bot answers with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(one) for one in await check_bot_token(token, load_settings().slack_api_url)]

    return Credential(
        setting="SLACK_BOT_TOKEN",
        name="Bot User OAuth Token",
        place="In the app's pages: Install App, Install to Workspace. Then it stands on that page.",
        shape=re.compile(r"xoxb-[\w-]+"),
        looks="begins with xoxb-",
        mistaken={"xapp-": "the app token, which comes next", **_OTHERS},
        check=check,
    )


def app_token() -> Credential:
    """What Socket Mode connects with."""

    async def check(token: str) -> Sequence[Check]:
        return [check_of(await check_app_token(token, load_settings().slack_api_url))]

    return Credential(
        setting="SLACK_APP_TOKEN",
        name="App-Level Token",
        place="In the app's pages: Basic Information, App-Level Tokens, Generate, with connections:write.",
        shape=re.compile(r"xapp-[\w-]+"),
        looks="begins with xapp-",
        mistaken={"xoxb-": "the bot token", **_OTHERS},
        check=check,
    )
