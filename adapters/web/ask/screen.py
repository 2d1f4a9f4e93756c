"""Asking: conversations, their answers as they are made, and what can be done with them."""

from dataclasses import dataclass

from aiohttp import web

from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Route, Visitor


@dataclass(frozen=True, slots=True)
class AskScreen:
    """The first screen."""

    pages: Pages
    menu: tuple[MenuEntry, ...] = (MenuEntry("Ask", "/ask"),)

    def routes(self) -> tuple[Route, ...]:
        """Its addresses."""
        return (Route("GET", "/", self._home), Route("GET", "/ask", self._home))

    async def _home(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return self.pages.html(request, visitor, "ask.html")
