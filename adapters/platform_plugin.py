"""What a package gives Footnote to bring a chat platform: one `PlatformPlugin` behind an entry point.

The entry point is in the group `footnote.platforms` and names an instance. Its module is imported by every command, so
that it imports the platform's own libraries only inside of its methods.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pydantic import BaseModel, SecretStr

from core.model.health import Check, PlatformSetup
from core.model.principals import PrincipalForm
from core.ports.platform import Platform

if TYPE_CHECKING:
    from aiohttp import web

    from core.model.channel_settings import ChannelSettings
    from core.ports.inbox import Inbox, NamedLeases
    from core.ports.message_state import MessageStateStore
    from core.service.actions.user_actions import UserActions
    from core.service.attached_files import Parse
    from core.service.gaps.overview import GapOverview
    from core.service.kb.service import KnowledgeService

S = TypeVar("S", bound=BaseModel)
SettingsByPlace = Callable[[], Awaitable[Mapping[str, "ChannelSettings"]]]


class ConnectedPlatform(Platform, Protocol):
    """A platform that runs; in a process that only works, over the platform's API alone."""

    async def run(self, stop: asyncio.Event) -> None:
        """Stay connected until ``stop`` is set, and reconnect what was connected once.

        Raises ConfigurationError for credentials that the platform never accepted.
        """

    def routes(self) -> "Sequence[web.RouteDef]":
        """Return the HTTP routes at which the platform is called."""

    def readiness_problem(self) -> str:
        """Return why people cannot reach it right now; empty when they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformDeps:
    """What a process of ``footnote serve`` gives a platform.

    ``listens`` is False in a worker: it answers what another process received. ``leases`` elects one of several
    processes, each under its name ``process``.
    """

    inbox: "Inbox"
    message_states: "MessageStateStore"
    user_actions: "UserActions"
    parse: "Parse"
    kb: "KnowledgeService"
    gaps: "GapOverview"
    leases: "NamedLeases"
    process: str
    listens: bool


class PlatformPlugin(ABC, Generic[S]):
    """A chat platform: what it needs to be configured, checked, set up and opened.

    Attributes:
        name: begins every id of the platform ("name:space/id") and, in capitals, its settings.
        label: what people call it.
        settings: a model whose field ``bot_token`` is the setting NAME_BOT_TOKEN. Each field needs a default.
        principals: whom a knowledge base can be for there.
    """

    name: str
    label: str
    settings: type[S]
    principals: tuple[PrincipalForm, ...] = ()

    @abstractmethod
    def is_configured(self, settings: S) -> bool:
        """Return whether the platform is to be served."""

    @abstractmethod
    def open(self, settings: S, deps: PlatformDeps) -> AbstractAsyncContextManager[ConnectedPlatform]:
        """Return the platform, to be entered. Raises ConfigurationError if a setting is missing."""

    async def checks(self, settings: S, chosen: SettingsByPlace) -> Sequence[Check]:
        """Return what ``footnote doctor`` reports; ``chosen`` returns the settings of places that chose any."""
        return ()

    async def store_checks(self, message_states: "MessageStateStore") -> Sequence[Check]:
        """Return what ``footnote doctor`` reports of what the platform keeps. Raises StoreUnavailable."""
        return ()

    def setup(self, settings: S) -> PlatformSetup | None:
        """Return the steps of ``footnote setup`` and of the page's setup, or None if there are none."""
        return None

    def manifest(self, settings: S, *, http: bool) -> str:
        """Return what to paste or to do at the platform; ``http`` if it calls us, instead of a connection of ours."""
        return ""


def reveal(secret: SecretStr | None) -> str | None:
    """Return a secret's value."""
    return secret.get_secret_value() if secret is not None else None


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated setting."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
