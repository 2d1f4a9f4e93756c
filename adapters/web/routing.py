"""Building blocks of screens: routes with the permission each requires, and menu entries."""

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
MULTIPART = web.RequestKey("multipart", MultipartForm)  # a form with files, read up to its CSRF token


class Right(StrEnum):
    """Permissions that a route may require."""

    ANYBODY = "anybody"  # anyone signed in, whatever their link opens
    READER = "reader"
    CONNECTIONS = "connections"  # an admin, possibly signed in by a link that opens only this
    ADMIN = "admin"
    OPERATOR = "operator"  # the person who runs this machine, signed in by the terminal's link


@dataclass(frozen=True, slots=True)
class Visitor:
    """The visitor of a page, according to their current session."""

    person: Person
    audience: Audience
    is_admin: bool
    csrf: str
    connects_only: bool = False  # an admin who signed in by a link from a chat

    def may(self, right: Right) -> bool:
        """Return whether they have this permission."""
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
        """Return ``is_admin``, in the async form that answer actions expect."""
        return self.is_admin

    @property
    def is_operator(self) -> bool:
        """Whether the visitor runs this machine and so owns the data directory."""
        return self.audience.unrestricted

    def thread(self, name: str) -> ThreadKey:
        """Return the key of a conversation of this visitor, which nobody else's page leads to."""
        return ThreadKey(PLATFORM, "", self.person.id, name)

    def caller(self) -> Caller:
        """Return the visitor as a ``/kb`` caller, who is the only reader of the result."""
        permissions = Permissions(is_admin=self.is_admin, principals=self.audience.principals)
        return Caller(self.person, permissions, self.audience, self.thread("kb"))


Handler = Callable[[web.Request, Visitor], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Route:
    """One route of the page. Every change is a POST."""

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
    """A group of related pages."""

    @property
    def menu(self) -> Sequence[MenuEntry]:
        """The entries in the navigation."""

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
