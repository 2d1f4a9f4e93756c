"""The platforms that are configured, each opened with what it needs of the open Footnote."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from bot.container import Footnote
from bot.roles import ProcessRole
from bot.settings import Settings
from core.ports.platform import Platform
from core.service.leader_lease import NamedLeaderLease, NeverLeader

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from aiohttp import web
    from pydantic import SecretStr


GATEWAY = "discord gateway"  # one connection for each application: with two, everything would be heard twice


class ConnectedPlatform(Platform, Protocol):
    """A platform that runs; where the process only works, over the platform's API alone."""

    async def run(self, stop: "asyncio.Event") -> None:
        """Stay connected until ``stop`` is set.

        Raises ConfigurationError for credentials that were never let in; what was connected once is connected again.
        """

    def routes(self) -> "Sequence[web.RouteDef]":
        """What it wants to be called at over HTTP."""

    def readiness_problem(self) -> str:
        """Why it cannot be reached by people right now; empty when it can."""


def platforms_of(
    settings: Settings, footnote: Footnote, role: ProcessRole, process: str
) -> Iterator[AbstractAsyncContextManager[ConnectedPlatform]]:
    """Each configured platform, to be entered; ``process`` is the name under which leases are taken."""
    if settings.has_page:
        from bot.page import open_page

        yield open_page(settings, footnote)
    if settings.has_slack:
        yield _slack(settings, footnote, role)
    if settings.has_discord:
        yield _discord(settings, footnote, role, process)


def _slack(settings: Settings, footnote: Footnote, role: ProcessRole) -> AbstractAsyncContextManager[ConnectedPlatform]:
    from adapters.slack.platform import SlackPlatform

    return SlackPlatform(
        bot_token=reveal(settings.slack_bot_token) or "",
        app_token=reveal(settings.slack_app_token),
        signing_secret=reveal(settings.slack_signing_secret),
        inbox=footnote.inbox,
        message_states=footnote.message_states,
        user_actions=footnote.user_actions(),
        parse=footnote.parser.parse_attachment,
        api_url=settings.slack_api_url,
        admin_users=split_names(settings.slack_admin_users),
        allowed_bots=split_names(settings.slack_allowed_bots),
        kb=footnote.knowledge_stack.kb_service,
        gaps=footnote.gap_overview(),
        listens=role.listens,
    )


def _discord(
    settings: Settings, footnote: Footnote, role: ProcessRole, process: str
) -> AbstractAsyncContextManager[ConnectedPlatform]:
    from adapters.discord.platform import DiscordPlatform

    return DiscordPlatform(
        token=reveal(settings.discord_bot_token) or "",
        inbox=footnote.inbox,
        message_states=footnote.message_states,
        user_actions=footnote.user_actions(),
        parse=footnote.parser.parse_attachment,
        kb=footnote.knowledge_stack.kb_service,
        dev_guild=settings.discord_dev_guild,
        allowed_bots=split_names(settings.discord_allowed_bots),
        api_url=settings.discord_api_url,
        gateway_url=settings.discord_gateway_url,
        gateway_lease=NamedLeaderLease(footnote.leases, GATEWAY, process) if role.listens else NeverLeader(),
    )


def reveal(secret: "SecretStr | None") -> str | None:
    """A secret's value, for the one who needs it."""
    return secret.get_secret_value() if secret is not None else None


def split_names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated setting."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
