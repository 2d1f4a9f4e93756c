"""The interface of a chat platform package: one `PlatformPlugin` behind an entry point.

The entry point is in the group `footnote.platforms` and names an instance. Every command imports its module, so the
module must import the platform's own libraries only inside its methods.
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
    from core.service.gaps.digest import GapOverview
    from core.service.kb.service import KnowledgeService

S = TypeVar("S", bound=BaseModel)
SettingsByPlace = Callable[[], Awaitable[Mapping[str, "ChannelSettings"]]]


class ConnectedPlatform(Platform, Protocol):
    """A running platform. In a worker process, it only uses the platform's API."""

    async def run(self, stop: asyncio.Event) -> None:
        """Stay connected until ``stop`` is set, and reconnect after a lost connection.

        Raises ConfigurationError for credentials that the platform never accepted.
        """

    def routes(self) -> "Sequence[web.RouteDef]":
        """Return the HTTP routes that the platform calls."""

    def readiness_problem(self) -> str:
        """Return why people cannot reach the platform now, or an empty string if they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformDeps:
    """What a ``footnote serve`` process passes to a platform.

    ``listens`` is False in a worker, which answers what another process received. ``leases`` elects one of several
    processes. ``process`` is this process's name in the election.
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
    """A chat platform: its settings, checks, setup and opening.

    Attributes:
        name: prefix of every id of the platform ("name:space/id") and, in capitals, of its settings.
        label: the name people use.
        settings: a model whose field ``bot_token`` is the setting NAME_BOT_TOKEN. Each field needs a default.
        principals: kinds of principals that a knowledge base can be granted to.
    """

    name: str
    label: str
    settings: type[S]
    principals: tuple[PrincipalForm, ...] = ()

    @abstractmethod
    def is_configured(self, settings: S) -> bool:
        """Return whether the platform should be served."""

    @abstractmethod
    def open(self, settings: S, deps: PlatformDeps) -> AbstractAsyncContextManager[ConnectedPlatform]:
        """Return the platform as a context manager. Raises ConfigurationError if a setting is missing."""

    async def checks(self, settings: S, chosen: SettingsByPlace) -> Sequence[Check]:
        """Return the platform's checks for ``footnote doctor``. ``chosen`` returns settings by place."""
        return ()

    async def store_checks(self, message_states: "MessageStateStore") -> Sequence[Check]:
        """Return the checks of the platform's stored state for ``footnote doctor``. Raises StoreUnavailable."""
        return ()

    def setup(self, settings: S) -> PlatformSetup | None:
        """Return the setup steps for ``footnote setup`` and the web page, or None if there are none."""
        return None

    def manifest(self, settings: S, *, http: bool) -> str:
        """Return what to paste or do at the platform. ``http`` means that it calls us, not that we connect to it."""
        return ""


def reveal(secret: SecretStr | None) -> str | None:
    """Return a secret's value."""
    return secret.get_secret_value() if secret is not None else None


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated setting."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
