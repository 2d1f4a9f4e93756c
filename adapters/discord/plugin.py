"""Discord as a platform plugin: its settings, checks, setup, manifest, and how it is opened."""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr

from adapters.platform_plugin import (
    ConnectedPlatform,
    PlatformDeps,
    PlatformPlugin,
    SettingsByPlace,
    reveal,
    split_names,
)
from core.model.health import Check, Credential, Finding, PlatformSetup, SetupStep, TokenField
from core.model.principals import PrincipalForm, PrincipalKind

if TYPE_CHECKING:
    from core.model.health import PlatformCheck
    from core.ports.message_state import MessageStateStore

GATEWAY = "discord gateway"  # one connection per application: with two, every event would arrive twice
_BOT = TokenField("DISCORD_BOT_TOKEN", "bot token", "has three parts with dots between them, about 70 characters")


class DiscordSettings(BaseModel):
    """The DISCORD_… settings. ``.env.example`` explains each one."""

    bot_token: SecretStr | None = None
    api_url: str | None = None
    gateway_url: str | None = None
    dev_guild: str | None = None
    allowed_bots: str = ""


class DiscordPlugin(PlatformPlugin[DiscordSettings]):
    """One application."""

    name = "discord"
    label = "Discord"
    settings = DiscordSettings
    principals = (
        PrincipalForm("discord", PrincipalKind.CHANNEL, "CHANNEL", "SERVER", numeric=True),
        PrincipalForm("discord", PrincipalKind.ROLE, "ROLE", "SERVER", numeric=True),
        PrincipalForm("discord", PrincipalKind.USER, "USER", numeric=True),
        PrincipalForm("discord", "guild", "SERVER", numeric=True),
    )

    def is_configured(self, settings: DiscordSettings) -> bool:
        """Return whether there is a bot token."""
        return settings.bot_token is not None

    def open(self, settings: DiscordSettings, deps: PlatformDeps) -> AbstractAsyncContextManager[ConnectedPlatform]:
        """Return the application. Of all listening processes, the one with the lease opens the gateway."""
        from adapters.discord.platform import DiscordPlatform
        from core.service.leases import NamedLeaderLease, NeverLeader

        return DiscordPlatform(
            token=reveal(settings.bot_token) or "",
            inbox=deps.inbox,
            message_states=deps.message_states,
            user_actions=deps.user_actions,
            parse=deps.parse,
            kb=deps.kb,
            dev_guild=settings.dev_guild,
            allowed_bots=split_names(settings.allowed_bots),
            api_url=settings.api_url,
            gateway_url=settings.gateway_url,
            gateway_lease=NamedLeaderLease(deps.leases, GATEWAY, deps.process) if deps.listens else NeverLeader(),
        )

    async def checks(self, settings: DiscordSettings, chosen: SettingsByPlace) -> Sequence[Check]:
        """Return the checks of token, intents, servers and permissions, including those that channel settings need."""
        from adapters.discord.preflight import preflight

        found = await preflight(
            reveal(settings.bot_token) or "",
            api_url=settings.api_url,
            gateway_url=settings.gateway_url,
            chosen=await chosen(),
        )
        return [check.as_check() for check in found]

    async def store_checks(self, message_states: "MessageStateStore") -> Sequence[Check]:
        """Return the check whether a start would connect at once. Raises StoreUnavailable."""
        from adapters.discord.preflight import sessions_check

        return [(await sessions_check(message_states)).as_check()]

    def setup(self, settings: DiscordSettings) -> PlatformSetup:
        """Return four setup steps: the application, its token, the intent, and the server."""
        from adapters.discord.preflight import CONTENT, PORTAL, SERVERS

        steps = (
            SetupStep(
                "app", "The application", "Choose New Application, enter a name, and choose Create.", link=PORTAL
            ),
            SetupStep(
                "bot-token",
                "The bot token",
                "On the application's page, choose Bot, then Reset Token. Discord shows the token once.",
                token=_BOT,
            ),
            SetupStep("intent", "What it may read", until="it is switched on and saved", optional=True),
            SetupStep("server", "The server", until="it is in your server"),
        )
        return PlatformSetup(
            steps,
            ("@Footnote who approves refunds?",),
            {_BOT.setting: bot_token(settings)},
            {"intent": _finding(settings, CONTENT), "server": _finding(settings, SERVERS)},
        )

    def manifest(self, settings: DiscordSettings, *, http: bool) -> str:
        """Return the steps in the developer portal, with the invite link."""
        from adapters.discord.preflight import manifest

        return manifest(reveal(settings.bot_token))


def bot_token(settings: DiscordSettings | None = None) -> Credential:
    """Return the bot token as a credential."""

    async def check(token: str) -> Sequence[Check]:
        return [one.as_check() for one in (await _preflight(settings or DiscordSettings(), token))[:1]]

    return Credential(field=_BOT, shape=re.compile(r"[\w-]{8,}\.[\w-]+\.[\w-]+"), mistaken={}, check=check)


def _finding(settings: DiscordSettings, name: str) -> Callable[[str], Awaitable[Finding | None]]:
    async def find(token: str) -> Finding | None:
        found = next((one for one in await _preflight(settings, token) if one.name == name), None)
        return None if found is None else Finding(found.as_check(), found.link)

    return find


async def _preflight(settings: DiscordSettings, token: str) -> "Sequence[PlatformCheck]":
    from adapters.discord.preflight import preflight

    return await preflight(token, api_url=settings.api_url, gateway_url=settings.gateway_url)


PLUGIN = DiscordPlugin()
