"""The platforms that are configured, each opened with what it needs of the open Footnote."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from bot.container import Footnote
from bot.settings import Settings
from core.ports.platform import Platform

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from aiohttp import web
    from pydantic import SecretStr

    from adapters.web.platform import WebPlatform


class Connected(Platform, Protocol):
    """A platform that runs."""

    async def run(self, stop: "asyncio.Event") -> None:
        """Stay connected until ``stop`` is set.

        Raises ConfigurationError for credentials that were never let in; what was connected once is connected again.
        """

    def routes(self) -> "Sequence[web.RouteDef]":
        """What it wants to be called at over HTTP."""

    def waiting_for(self) -> str:
        """Why it cannot be reached by people right now; empty when it can."""


def platforms_of(settings: Settings, footnote: Footnote) -> Iterator[AbstractAsyncContextManager[Connected]]:
    """Each configured platform, to be entered."""
    if settings.has_page:
        yield page(settings, footnote)
    if settings.has_slack:
        yield _slack(settings, footnote)
    if settings.has_discord:
        yield _discord(settings, footnote)


def page(settings: Settings, footnote: Footnote) -> "WebPlatform":
    """The page, with all its screens."""
    from adapters.redis.answer_stream import RedisAnswerStream
    from adapters.redis.web_sessions import RedisWebSessions
    from adapters.web.access.rules import AccessRules
    from adapters.web.ask.conversations import Conversations
    from adapters.web.ask.live_streams import LiveStreams
    from adapters.web.ask.screen import AskScreen
    from adapters.web.ask.turns import Turns
    from adapters.web.pages import Pages
    from adapters.web.platform import WebPlatform

    rules = AccessRules(
        password_hash=revealed(settings.web_password_hash) or "",
        reader_password_hash=revealed(settings.web_reader_password_hash) or "",
        identity_header=settings.web_identity_header,
        proxies=listed(settings.web_proxies),
        admins=listed(settings.web_admins),
        address=settings.web_address,
    )
    pages, stream, actions = Pages(), RedisAnswerStream(footnote.redis), footnote.controls()
    turns = Turns(footnote.postings, footnote.checkpoints, actions)
    live = LiveStreams(stream, turns, pages)
    return WebPlatform(
        rules=rules,
        sessions=RedisWebSessions(footnote.redis),
        audit=footnote.audit,
        controls=actions,
        postings=footnote.postings,
        stream=stream,
        pages=pages,
        live=live,
        screens=[
            AskScreen(
                pages=pages,
                conversations=Conversations(footnote.postings, footnote.clock),
                turns=turns,
                live=live,
                inbox=footnote.inbox,
                actions=actions,
                kb=footnote.governance.desk,
            )
        ],
    )


def _slack(settings: Settings, footnote: Footnote) -> AbstractAsyncContextManager[Connected]:
    from adapters.slack.app import SlackPlatform

    return SlackPlatform(
        bot_token=revealed(settings.slack_bot_token) or "",
        app_token=revealed(settings.slack_app_token),
        signing_secret=revealed(settings.slack_signing_secret),
        inbox=footnote.inbox,
        postings=footnote.postings,
        checkpoints=footnote.checkpoints,
        controls=footnote.controls(),
        parse=footnote.parser.parse_attachment,
        api_url=settings.slack_api_url,
        admin_users=listed(settings.slack_admin_users),
        allowed_bots=listed(settings.slack_allowed_bots),
        kb=footnote.governance.desk,
    )


def _discord(settings: Settings, footnote: Footnote) -> AbstractAsyncContextManager[Connected]:
    from adapters.discord.platform import DiscordPlatform

    return DiscordPlatform(
        token=revealed(settings.discord_bot_token) or "",
        inbox=footnote.inbox,
        postings=footnote.postings,
        checkpoints=footnote.checkpoints,
        controls=footnote.controls(),
        parse=footnote.parser.parse_attachment,
        kb=footnote.governance.desk,
        dev_guild=settings.discord_dev_guild,
        allowed_bots=listed(settings.discord_allowed_bots),
        api_url=settings.discord_api_url,
        gateway_url=settings.discord_gateway_url,
    )


def revealed(secret: "SecretStr | None") -> str | None:
    """A secret's value, for the one who needs it."""
    return secret.get_secret_value() if secret is not None else None


def listed(text: str) -> tuple[str, ...]:
    """The names in a comma-separated setting."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
