"""Connections, their states, and what is known of their documents: hashes of Redis under one hash tag."""

from collections.abc import Collection, Mapping, Sequence

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import CONNECTED_ITEMS, CONNECTION_STATES, CONNECTIONS
from core.model.connections import Connection, SyncedItem, SyncState
from core.model.json_codec import from_json, to_json
from core.ports.connection_store import ConnectionStore

_AT_ONCE = 1_000  # items of one call
_LONGEST = 60.0  # seconds, to read all items


class RedisConnectionStore(ConnectionStore):
    """Entries stay until they are taken away."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def save_connection(self, connection: Connection) -> None:
        """Keep it, replacing the earlier one of the same name."""
        async with bounded_call():
            await self._client.hset(CONNECTIONS, connection.name, to_json(connection))

    async def connections(self) -> Sequence[Connection]:
        """All of them, by name."""
        async with bounded_call():
            stored = await self._client.hvals(CONNECTIONS)
        found: list[Connection] = [from_json(Connection, text) for text in stored]
        return sorted(found, key=lambda connection: connection.name)

    async def remove_connection(self, name: str) -> None:
        """Forget a connection, its state and its items."""
        async with bounded_call(), self._client.pipeline(transaction=True) as pipe:
            pipe.hdel(CONNECTIONS, name)
            pipe.hdel(CONNECTION_STATES, name)
            pipe.delete(CONNECTED_ITEMS + name)
            await pipe.execute()

    async def save_state(self, name: str, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        """Keep the state and these items in one step."""
        async with bounded_call(), self._client.pipeline(transaction=True) as pipe:
            if items:
                pipe.hset(CONNECTED_ITEMS + name, items=[part for item in items for part in (item.id, to_json(item))])
            pipe.hset(CONNECTION_STATES, name, to_json(state))
            await pipe.execute()

    async def state(self, name: str) -> SyncState:
        """How far it is; a new state where nothing is kept."""
        async with bounded_call():
            stored = await self._client.hget(CONNECTION_STATES, name)
        state: SyncState = SyncState() if stored is None else from_json(SyncState, stored)
        return state

    async def save_items(self, name: str, items: Collection[SyncedItem]) -> None:
        """Keep these items."""
        some = list(items)
        for start in range(0, len(some), _AT_ONCE):
            pairs = [part for item in some[start : start + _AT_ONCE] for part in (item.id, to_json(item))]
            async with bounded_call():
                await self._client.hset(CONNECTED_ITEMS + name, items=pairs)

    async def remove_items(self, name: str, ids: Collection[str]) -> None:
        """Forget these items."""
        some = list(ids)
        for start in range(0, len(some), _AT_ONCE):
            async with bounded_call():
                await self._client.hdel(CONNECTED_ITEMS + name, *some[start : start + _AT_ONCE])

    async def items(self, name: str) -> Mapping[str, SyncedItem]:
        """All items of a connection, by id; read page by page, as there may be many."""
        found: dict[str, SyncedItem] = {}
        async with bounded_call(deadline=_LONGEST):
            async for field, text in self._client.hscan_iter(CONNECTED_ITEMS + name, count=_AT_ONCE):
                found[str(field)] = from_json(SyncedItem, str(text))
        return found
