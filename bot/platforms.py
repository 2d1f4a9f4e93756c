"""The platforms that are configured, each opened with what it needs of the open Footnote."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from adapters.platform import Platform
from bot.config import Settings
from bot.wiring import Footnote

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from aiohttp import web


class Connected(Platform, Protocol):
    """A platform that runs."""

    async def run(self, stop: "asyncio.Event") -> None:
        """Stay connected until ``stop`` is set."""

    def routes(self) -> "Sequence[web.RouteDef]":
        """What it wants to be called at over HTTP."""

    def waiting_for(self) -> str:
        """Why it cannot be reached by people right now; empty when it can."""


def platforms_of(settings: Settings, footnote: Footnote) -> Iterator[AbstractAsyncContextManager[Connected]]:
    """Each configured platform, to be entered."""
    return iter(())
