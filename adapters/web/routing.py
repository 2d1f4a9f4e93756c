"""What a screen is made of: routes, each with the right it takes, and its place in the navigation."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from aiohttp import web

from adapters.web.access.forms import MultipartForm
from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.service.kb.commands import Caller

PLATFORM = "web"
MULTIPART = web.RequestKey("multipart", MultipartForm)  # a form with files, read up to its token


class Right(StrEnum):
    """What one must be for a route."""

    ANYBODY = "anybody"  # who is signed in, whatever their link opens
    READER = "reader"
    CONNECTIONS = "connections"  # an admin, who may have come by a link that opens nothing else
    ADMIN = "admin"
    OPERATOR = "operator"  # who runs this machine, and came by the link from its terminal


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks for a page, as their session says, looked up now."""

    person: Person
    audience: Audience
    is_admin: bool
    csrf: str
    connects_only: bool = False  # an admin who came by a link from a chat

    def may(self, right: Right) -> bool:
        """Whether they have this right."""
        match right:
            case Right.ANYBODY:
                return True
            case Right.CONNECTIONS:
                return self.is_admin
            case Right.OPERATOR:
                return self.is_operator
            case Right.READER | Right.ADMIN:
                return not self.connects_only and (self.is_admin or right is Right.READER)

    async def may_administer(self) -> bool:
        """As the actions of answers ask for it, where a platform has to look it up."""
        return self.is_admin

    @property
    def is_operator(self) -> bool:
        """Whether it is who runs this machine: the data directory is theirs anyway."""
        return self.audience.unrestricted

    def thread(self, name: str) -> ThreadKey:
        """Return a conversation of theirs: nobody else's page leads to it."""
        return ThreadKey(PLATFORM, "", self.person.id, name)

    def caller(self) -> Caller:
        """Them, as ``/kb`` knows a caller: alone with what they see."""
        permissions = Permissions(is_admin=self.is_admin, principals=self.audience.principals)
        return Caller(self.person, permissions, self.audience, self.thread("kb"))


Handler = Callable[[web.Request, Visitor], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Route:
    """One address of the page. What changes something is a POST."""

    method: str
    path: str
    handler: Handler
    right: Right = Right.READER


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A screen's place in the navigation."""

    label: str
    path: str
    right: Right = Right.READER


class Screen(Protocol):
    """Some pages that belong together."""

    @property
    def menu(self) -> Sequence[MenuEntry]:
        """What the navigation shows of it."""

    def routes(self) -> Sequence[Route]:
        """Its addresses."""
