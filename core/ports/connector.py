"""Connectors: read documents where a team keeps them, with the readers that the source states.

A connector only translates one vendor's interface. ``core.service.sync`` keeps cursors, compares versions, decides what
to fetch and to withdraw, and turns readers into rights; no connector needs to know about any of it.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.model.connections import Connection, SyncedItem, SyncState

EVERYONE_IN_SITE = "*"  # in place of a group's id: everyone who may sign in at the source
PUBLIC = "***"  # in place of a group's id: published for everyone; everyone here, unless an admin maps it
ANYONE = "**"  # in place of a group's id: anyone with the link, or on the internet; nobody unless an admin maps it


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting of a connector: asked by ``footnote connect``, or read from the environment as ``variable``."""

    name: str
    label: str
    help: str = ""
    variable: str = ""
    secret: bool = False
    required: bool = True
    default: str = ""


@dataclass(frozen=True, slots=True)
class ReaderSet:
    """People and groups of the source, by its own ids; anyone who is in any of them may read."""

    people: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


Readers = tuple[ReaderSet, ...]
"""A reader is in every one of these sets: a page is read by who may read its space and every page above it.

Without any set the source states no readers. A set without people and groups is read by nobody.
"""


@dataclass(frozen=True, slots=True)
class SourcePerson:
    """Somebody as the source knows them. Without a confirmed e-mail address they cannot be found on a platform."""

    id: str
    email: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One document of the source, without what it says.

    Attributes:
        id: the source's own, which survives renames and moves.
        version: changes whenever the content or the title does.
        title: what people call it.
        url: where a person opens it.
        path: the titles above it, outermost first.
        dated: ISO date of its last change.
        readers: who may read it.
        size: bytes, where the source tells.
        reference: what ``fetch`` needs beside the id, in the connector's own words.
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
        items: what is new or may have changed; the same item may come twice.
        deleted: the ids of what no longer exists.
        cursor: where the next call goes on, in this round or the next one.
        more: whether this round has more pages.
        whole: whether this round lists all there is, so that an item that it does not name may be gone.
        places: what tells a place of this page from another of the same name, by that name: a change ends the sync.
        unread: how many more there are that Footnote does not read, by their kind ("files of type .png").
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
    """What an item says. ``name`` is a file name whose ending tells the format."""

    id: str
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """Why one item could not be fetched, for a person; the others of the same call are not affected."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """What a check found: who owns the token, what it may read, and roughly how much there is.

    ``warnings`` name what the token lacks, and what follows from that.
    """

    account: str
    documents: int | None = None
    example: str = ""
    warnings: tuple[str, ...] = ()


class Connector(Protocol):
    """One source, opened with its settings.

    Every method may raise SourceRefused (the token), RightMissing (its scopes) and SourceUnavailable (no answer, or
    rate limited for longer than a call waits). What fails for one item alone is a ``FetchFailure``.
    """

    async def check(self) -> SourceCheck:
        """Try the token, its scopes and one document."""

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of changes after ``cursor``; empty at the very first call.

        The same cursor may be given again after a crash, and then brings the same changes or newer ones.
        """

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Those of these items that the source still has, as they are now; at most ``ConnectorPlugin.batch`` ids."""

    def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield what these items say, at most ``ConnectorPlugin.batch`` at once. One without any no longer exists."""

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return everyone in a group, those of nested groups too; of ``EVERYONE_IN_SITE`` and ``ANYONE`` nobody."""
        return ()

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people, as far as the source tells of them."""
        return ()


Params = Mapping[str, str | Sequence[str]]
"""Query parameters; one with several values is repeated."""


class Http(Protocol):
    """Calls to one origin, under the address policy: retries, rate limits, deadlines and sizes are settled here."""

    async def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON behind a path. Raises NotFound, SourceRefused, RightMissing, SourceUnavailable."""

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that answers this JSON. Raises as ``get`` does."""

    async def post_form(self, path: str, fields: Mapping[str, str]) -> Any:
        """Return the JSON that answers this form. Raises as ``get`` does."""

    async def download(self, path: str, params: Params | None = None) -> bytes:
        """Return the bytes behind a path; a redirect to another origin is followed without our headers.

        Raises as ``get`` does, and DocumentRejected for more bytes than a document may have, or where the redirect
        does not bring it.
        """


OpenHttp = Callable[[str, Mapping[str, str]], AbstractAsyncContextManager[Http]]
"""Opens calls to an origin (https://example.atlassian.net) with headers that go there and nowhere else."""


class ConnectorPlugin(Protocol):
    """A kind of source, found by the entry point group ``footnote.connectors``.

    Attributes:
        name: as in ``footnote connect NAME``, and the scheme of its documents' sources.
        title: as people call it.
        fields: its settings.
        scopes: the exact rights that its token needs, one a line.
        states_readers: whether the source says who may read; where not, an admin says so at connecting.
        batch: how many items ``fetch`` and ``lookup`` take at once.
    """

    name: str
    title: str
    fields: tuple[SettingField, ...]
    scopes: tuple[str, ...]
    states_readers: bool
    batch: int

    def open(self, settings: Mapping[str, str], http: OpenHttp) -> AbstractAsyncContextManager[Connector]:
        """Open a connector with these settings, secrets included. Raises ConfigurationError for invalid ones."""


class ConnectionStore(Protocol):
    """Keeps connections and what is known of their documents. Raises StoreUnavailable."""

    async def save_connection(self, connection: Connection) -> None:
        """Keep it, replacing the earlier one of the same name."""

    async def connections(self) -> Sequence[Connection]:
        """Return all of them, by name."""

    async def remove_connection(self, name: str) -> None:
        """Forget a connection, its state and its items."""

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Keep the state and these items in one step."""

    async def state(self, name: str) -> SyncState:
        """Return how far it is; a new state where nothing is kept."""

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Keep these items."""

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Forget these items."""

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """Return all items of a connection, by id."""


class SecretBox(Protocol):
    """Encrypts what must not lie open in a store."""

    def seal(self, secret: str) -> str:
        """Return the secret, encrypted."""

    def unseal(self, sealed: str) -> str:
        """Return the inverse of ``seal``. Raises ConfigurationError where the key is another one."""
