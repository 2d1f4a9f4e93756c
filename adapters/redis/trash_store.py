"""What was removed, in one hash of Redis by document. The copies lie in the blob store."""

from collections.abc import Sequence

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import REMOVED
from core.model.json_codec import from_json, to_json
from core.ports.trash_store import RemovedDocument, TrashStore


class RedisTrashStore(TrashStore):
    """Entries stay until they are forgotten: ``Trash.sweep`` sees to that."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def keep_removal(self, removed: RemovedDocument) -> None:
        """Keep it in place of an earlier one of the same key."""
        async with bounded_call():
            await self._client.hset(REMOVED, removed.key, to_json(removed))

    async def removals(self) -> Sequence[RemovedDocument]:
        """Everything that is kept, the latest first."""
        async with bounded_call():
            stored = await self._client.hvals(REMOVED)
        found: list[RemovedDocument] = [from_json(RemovedDocument, text) for text in stored]
        return sorted(found, key=lambda removed: removed.at, reverse=True)

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """The removal of this document; what was replaced is no removal."""
        async with bounded_call():
            stored = await self._client.hget(REMOVED, document_id)
        removed: RemovedDocument | None = None if stored is None else from_json(RemovedDocument, stored)
        return removed

    async def forget_removal(self, key: str) -> None:
        """It was restored, or its time is over."""
        async with bounded_call():
            await self._client.hdel(REMOVED, key)
