"""Connections, how far each is synced, and the box that keeps their secrets."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from core.model.connections import Connection, SyncedItem, SyncState


class ConnectionStore(Protocol):
    """Keeps connections and what is known of their documents. Raises StoreUnavailable."""

    async def save_connection(self, connection: Connection) -> None:
        """Keep it, replacing the earlier one of the same name."""

    async def connections(self) -> Sequence[Connection]:
        """All of them, by name."""

    async def remove_connection(self, name: str) -> None:
        """Forget a connection, its state and its items."""

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Keep the state and these items in one step."""

    async def state(self, name: str) -> SyncState:
        """How far it is; a new state where nothing is kept."""

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Keep these items."""

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Forget these items."""

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """All items of a connection, by id."""


class SecretBox(Protocol):
    """Encrypts what must not lie open in a store."""

    def seal(self, secret: str) -> str:
        """The secret, encrypted."""

    def unseal(self, sealed: str) -> str:
        """The inverse of ``seal``. Raises ConfigurationError where the key is another one."""
