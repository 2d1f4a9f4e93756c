"""Connectors, which read documents from a team's sources together with the permissions that the sources state.

A connector only translates one vendor's API. ``core.service.sync`` stores cursors, compares versions, decides what to
fetch and withdraw, and maps readers to principals. Connectors know nothing about these.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.model.connections import Connection, SyncedItem, SyncState

EVERYONE_IN_SITE = "*"  # group id for everyone who may sign in at the source
PUBLIC = "***"  # group id for published documents: everyone here, unless an admin maps it
ANYONE = "**"  # group id for anyone with the link or on the internet: nobody, unless an admin maps it


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting of a connector, asked by ``footnote connect`` or read from the environment variable ``variable``."""

    name: str
    label: str
    help: str = ""
    variable: str = ""
    secret: bool = False
    required: bool = True
    default: str = ""


@dataclass(frozen=True, slots=True)
class ReaderSet:
    """People and groups of the source, by its own ids. Members of any of them may read."""

    people: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


Readers = tuple[ReaderSet, ...]
"""A reader must be in every one of these sets: in those of a page's space and of every page above it.

Without any set the source states no readers. Nobody is in a set without people and groups.
"""


@dataclass(frozen=True, slots=True)
class SourcePerson:
    """A person in the source. Without a confirmed e-mail address they cannot be matched to a platform's user."""

    id: str
    email: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One document of the source, without its content.

    Attributes:
        id: the source's own, stable across renames and moves.
        version: changes whenever the content or the title does.
        title: its title.
        url: where people open it.
        path: the titles above it, outermost first.
        dated: ISO date of its last change.
        readers: who may read it.
        size: bytes, if the source states it.
        reference: what ``fetch`` needs besides the id, in the connector's own format.
    """

    id: str
    version: str
    title: str
    url: str
    path: tuple[str, ...] = ()
    dated: str = ""
    readers: Readers = ()
    size: int = 0
    reference: str = ""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """One page of changes.

    Attributes:
        items: items that are new or may have changed; an item may occur twice.
        deleted: ids of deleted items.
        cursor: where the next call continues, in this round or the next.
        more: whether this round has more pages.
        whole: whether this round lists everything, so that a missing item may have been deleted.
        places: by name of a place, its unique id; a different id under the same name ends the sync.
        unread: number of further items that Footnote does not read, by kind ("files of type .png").
    """

    items: tuple[SourceItem, ...] = ()
    deleted: tuple[str, ...] = ()
    cursor: str = ""
    more: bool = False
    whole: bool = False
    unread: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of an item. The extension of the file name ``name`` gives the format."""

    id: str
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """The reason, for a person, why one item could not be fetched. Other items of the call are not affected."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """The result of a check: who owns the token, what it may read, and roughly how much there is.

    ``warnings`` name missing permissions and their consequences.
    """

    account: str
    documents: int | None = None
    example: str = ""
    warnings: tuple[str, ...] = ()


class Connector(Protocol):
    """One source, opened with its settings.

    Every method may raise SourceRefused (bad token), RightMissing (missing scope) and SourceUnavailable (no answer, or
    rate limited for longer than a call waits). A failure of one item is a ``FetchFailure``.
    """

    async def check(self) -> SourceCheck:
        """Try the token, its scopes and one document."""

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of changes after ``cursor``, which is empty for the very first call.

        A call with the same cursor, after a crash, returns the same changes or newer ones.
        """

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return the current state of those items that still exist; at most ``ConnectorPlugin.batch`` ids."""

    def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield the contents of at most ``ConnectorPlugin.batch`` items. An item without any no longer exists."""

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return everyone in a group and its nested groups; nobody for ``EVERYONE_IN_SITE`` and ``ANYONE``."""
        return ()

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people, as far as the source discloses them."""
        return ()


Params = Mapping[str, str | Sequence[str]]
"""Query parameters; one with several values is repeated."""


class Http(Protocol):
    """HTTP client for one origin, under the address policy, with retries, rate limits, deadlines and size limits."""

    async def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON at a path. Raises NotFound, SourceRefused, RightMissing, SourceUnavailable."""

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Post JSON and return the JSON response. Raises like ``get``."""

    async def post_form(self, path: str, fields: Mapping[str, str]) -> Any:
        """Post a form and return the JSON response. Raises like ``get``."""

    async def download(self, path: str, params: Params | None = None) -> bytes:
        """Return the bytes at a path. A redirect to another origin is followed without our headers.

        Raises like ``get``. Raises DocumentRejected if the document is too large or the redirect target cannot be
        fetched.
        """


OpenHttp = Callable[[str, Mapping[str, str]], AbstractAsyncContextManager[Http]]
"""Opens a client for an origin (https://example.atlassian.net). The headers are sent only to that origin."""


class ConnectorPlugin(Protocol):
    """A kind of source, found by the entry point group ``footnote.connectors``.

    Attributes:
        name: as in ``footnote connect NAME``; also the scheme of its documents' sources.
        title: its name for people.
        fields: its settings.
        scopes: the exact permissions that its token needs, one a line.
        states_readers: whether the source states readers; if not, an admin states them when connecting.
        batch: how many items ``fetch`` and ``lookup`` accept at once.
    """

    name: str
    title: str
    fields: tuple[SettingField, ...]
    scopes: tuple[str, ...]
    states_readers: bool
    batch: int

    def open(self, settings: Mapping[str, str], http: OpenHttp) -> AbstractAsyncContextManager[Connector]:
        """Open a connector with these settings, including secrets. Raises ConfigurationError if they are invalid."""


class ConnectionStore(Protocol):
    """Store of connections and their documents' states. Raises StoreUnavailable."""

    async def save_connection(self, connection: Connection) -> None:
        """Save a connection, replacing an earlier one with the same name."""

    async def connections(self) -> Sequence[Connection]:
        """Return all connections, by name."""

    async def remove_connection(self, name: str) -> None:
        """Delete a connection, its state and its items."""

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Save the state and these items in one step."""

    async def state(self, name: str) -> SyncState:
        """Return the sync state; a new one if none is stored."""

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Save these items."""

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Delete these items."""

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """Return all items of a connection, by id."""


class SecretBox(Protocol):
    """Encryption of secrets for a store."""

    def seal(self, secret: str) -> str:
        """Return the secret, encrypted."""

    def unseal(self, sealed: str) -> str:
        """Return the decrypted secret. Raises ConfigurationError if it was sealed with another key."""
