"""Slack as a platform plugin: its settings, checks, setup, manifest, and how it is opened."""

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel, SecretStr

from adapters.platform_plugin import (
    ConnectedPlatform,
    PlatformDeps,
    PlatformPlugin,
    SettingsByPlace,
    reveal,
    split_names,
)
from core.model.health import Check, Credential, PlatformSetup, SetupStep, TokenField
from core.model.principals import PrincipalForm, PrincipalKind

_OTHERS = {
    "xoxp-": "a user's token",
    "xoxe": "a configuration token",
    "xoxs-": "a session's token",
}
_BOT = TokenField("SLACK_BOT_TOKEN", "Bot User OAuth Token", "begins with xoxb-")
_APP = TokenField("SLACK_APP_TOKEN", "App-Level Token", "begins with xapp-")


class SlackSettings(BaseModel):
    """The SLACK_… settings. ``.env.example`` explains each one."""

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    api_url: str | None = None
    admin_users: str = ""
    allowed_bots: str = ""


class SlackPlugin(PlatformPlugin[SlackSettings]):
    """One workspace."""

    name = "slack"
    label = "Slack"
    settings = SlackSettings
    principals = (
        PrincipalForm("slack", PrincipalKind.CHANNEL, "CHANNEL", "TEAM"),
        PrincipalForm("slack", PrincipalKind.GROUP, "GROUP", "TEAM"),
        PrincipalForm("slack", PrincipalKind.USER, "USER", "TEAM"),
        PrincipalForm("slack", PrincipalKind.TEAM, "TEAM"),
    )

    def is_configured(self, settings: SlackSettings) -> bool:
        """Return whether there is a bot token."""
        return settings.bot_token is not None

    def open(self, settings: SlackSettings, deps: PlatformDeps) -> AbstractAsyncContextManager[ConnectedPlatform]:
        """Return the workspace. Raises ConfigurationError if it should listen and has no token for that."""
        from adapters.slack.platform import SlackPlatform

        return SlackPlatform(
            bot_token=reveal(settings.bot_token) or "",
            app_token=reveal(settings.app_token),
            signing_secret=reveal(settings.signing_secret),
            inbox=deps.inbox,
            message_states=deps.message_states,
            user_actions=deps.user_actions,
            parse=deps.parse,
            api_url=settings.api_url,
            admin_users=split_names(settings.admin_users),
            allowed_bots=split_names(settings.allowed_bots),
            kb=deps.kb,
            gaps=deps.gaps,
            listens=deps.listens,
        )

    async def checks(self, settings: SlackSettings, chosen: SettingsByPlace) -> Sequence[Check]:
        """Return the checks of tokens, scopes, the connection and events."""
        from adapters.slack.preflight import preflight

        tokens = (settings.bot_token, settings.app_token, settings.signing_secret)
        bot, app, secret = (reveal(token) for token in tokens)
        return [check.as_check() for check in await preflight(bot or "", app, secret, settings.api_url)]

    def setup(self, settings: SlackSettings) -> PlatformSetup:
        """Return three setup steps: the app and its two tokens."""
        from adapters.slack.manifest import creation_link

        steps = (
            SetupStep(
                "app",
                "The app",
                "This link creates the app in Slack. Choose your workspace, then Next and Create.",
                link=creation_link(),
            ),
            SetupStep(
                "bot-token",
                "The bot token",
                "On the app's page, choose Install App, Install to Workspace, and Allow. The token then appears. If"
                " your workspace requires approval, Slack asks an admin first.",
                token=_BOT,
            ),
            SetupStep(
                "app-token",
                "The app token",
                "On the app's page, choose Basic Information, App-Level Tokens, and Generate Token and Scopes."
                " Enter any name, add the scope connections:write, and choose Generate.",
                token=_APP,
            ),
        )
        ask = ("/invite @Footnote", "@Footnote who approves refunds?")
        credentials = (bot_token(settings.api_url), app_token(settings.api_url))
        return PlatformSetup(steps, ask, {one.field.setting: one for one in credentials})

    def manifest(self, settings: SlackSettings, *, http: bool) -> str:
        """Return the app manifest as JSON."""
        from adapters.slack.manifest import manifest

        return manifest("http" if http else "socket")


def bot_token(api_url: str | None = None) -> Credential:
    """Return the bot token as a credential."""

    async def check(token: str) -> Sequence[Check]:
        from adapters.slack.preflight import check_bot_token

        return [one.as_check() for one in await check_bot_token(token, api_url)]

    return Credential(
        field=_BOT,
        shape=re.compile(r"xoxb-[\w-]+"),
        mistaken={"xapp-": "the app token, which comes next", **_OTHERS},
        check=check,
    )


def app_token(api_url: str | None = None) -> Credential:
    """Return the app token, which opens Socket Mode, as a credential."""

    async def check(token: str) -> Sequence[Check]:
        from adapters.slack.preflight import check_app_token

        return [(await check_app_token(token, api_url)).as_check()]

    return Credential(
        field=_APP,
        shape=re.compile(r"xapp-[\w-]+"),
        mistaken={"xoxb-": "the bot token", **_OTHERS},
        check=check,
    )


PLUGIN = SlackPlugin()
