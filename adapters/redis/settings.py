"""Settings of channels by id, results of control claims by model, and the audit log, in Redis."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import AUDIT, PLACES, VERIFIERS, tagged_key
from core.model.channel_settings import ChosenSettings
from core.model.json_codec import from_json, to_json
from core.ports.access import Audit, AuditEntry
from core.ports.platform import ChannelSettingsStore
from core.ports.reasoner import VerifierRecords


class RedisChannelSettingsStore(ChannelSettingsStore):
    """Channel settings store: one JSON object per place, without a TTL because it is configuration.

    A set, which is written first, lists the places. It may contain a place without settings, but misses none that was
    written since the set exists.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def read(self, place: str) -> ChosenSettings:
        """Return the chosen settings, empty by default."""
        async with bounded_call():
            stored = await self._client.get(_place_key(place))
        return ChosenSettings.from_mapping(json.loads(stored or "{}"))

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace the chosen settings; an empty object restores the defaults."""
        async with bounded_call():
            if values := chosen.to_mapping():
                await self._client.sadd(PLACES, place)
                await self._client.set(_place_key(place), json.dumps(values))
            else:
                await self._client.delete(_place_key(place))
                await self._client.srem(PLACES, place)

    async def places(self) -> Sequence[str]:
        """Return every place with chosen settings."""
        async with bounded_call():
            return texts(await self._client.smembers(PLACES))


class RedisVerifierRecords(VerifierRecords):
    """Verifier results of all models in one hash; a new prompt version adds fields."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def read(self, key: str) -> str:
        """Return the stored result, or ""."""
        async with bounded_call():
            stored = await self._client.hget(VERIFIERS, key)
        return stored.decode() if isinstance(stored, bytes) else stored or ""

    async def keep(self, key: str, result: str) -> None:
        """Store the result."""
        async with bounded_call():
            await self._client.hset(VERIFIERS, key, result)


class RedisAudit(Audit):
    """Audit log: a stream of the newest ``most`` entries, in the server's order."""

    def __init__(self, client: Redis, *, most: int = 10_000) -> None:
        self._client = client
        self._most = most

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Store an entry with the current time."""
        entry = AuditEntry(datetime.now(UTC), actor, action, target, allowed, detail)
        async with bounded_call():
            await self._client.xadd(AUDIT, {"entry": to_json(entry)}, maxlen=self._most, approximate=False)

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """Return the newest entries, newest first."""
        async with bounded_call():
            found: Any = await self._client.xrevrange(AUDIT, count=limit)
        return [from_json(AuditEntry, fields["entry"]) for _, fields in found]


def _place_key(place: str) -> str:
    return tagged_key(f"place:{place}")
