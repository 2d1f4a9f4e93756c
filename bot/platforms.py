"""The platforms that are configured, each opened with what it needs of the open Footnote."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager

from adapters.platform_plugin import ConnectedPlatform, PlatformDeps
from bot.container import Footnote
from bot.page import open_page
from bot.plugins import installed_platforms
from bot.roles import ProcessRole
from bot.settings import Settings
from core.service.gaps.overview import GapOverview


def has_platform(settings: Settings) -> bool:
    """Return whether there is anything to serve: a chat platform, or a page for others than its operator."""
    return settings.has_page or any(plugin.is_configured(settings.of(plugin)) for plugin in installed_platforms())


def open_platforms(
    settings: Settings, footnote: Footnote, role: ProcessRole, process: str
) -> Iterator[AbstractAsyncContextManager[ConnectedPlatform]]:
    """Yield each configured platform, to be entered; ``process`` is the name under which leases are taken."""
    if settings.has_page:
        yield open_page(settings, footnote)
    deps = PlatformDeps(
        inbox=footnote.inbox,
        message_states=footnote.message_states,
        user_actions=footnote.user_actions(),
        parse=footnote.parser.parse_attachment,
        kb=footnote.knowledge_stack.kb_service,
        gaps=GapOverview(footnote.gaps(), footnote.catalog, footnote.audit),
        leases=footnote.leases,
        process=process,
        listens=role.listens,
    )
    for plugin in installed_platforms():
        if plugin.is_configured(settings.of(plugin)):
            yield plugin.open(settings.of(plugin), deps)
