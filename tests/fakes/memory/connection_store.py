"""Connections in dictionaries, for tests."""

from collections.abc import Collection, Mapping, Sequence

from core.model.connections import Connection, SyncedItem, SyncState
from core.ports.connector import ConnectionStore


class InProcessConnectionStore(ConnectionStore):
    """Keeps everything."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}
        self._states: dict[str, SyncState] = {}
        self._items: dict[str, dict[str, SyncedItem]] = {}

    async def save_connection(self, connection: Connection) -> None:
        """Keep it."""
        self._connections[connection.name] = connection

    async def connections(self) -> Sequence[Connection]:
        """All of them, by name."""
        return sorted(self._connections.values(), key=lambda one: one.name)

    async def remove_connection(self, name: str) -> None:
        """Forget a connection, its state and its items."""
        for kept in (self._connections, self._states, self._items):
            kept.pop(name, None)

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Keep the state and these items."""
        self._states[name] = state
        await self.save_items(name, items)

    async def state(self, name: str) -> SyncState:
        """How far it is."""
        return self._states.get(name, SyncState())

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Keep these items."""
        self._items.setdefault(name, {}).update({item.id: item for item in items})

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Forget these items."""
        for one in ids:
            self._items.get(name, {}).pop(one, None)

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """All items of a connection, by id."""
        return dict(self._items.get(name, {}))
