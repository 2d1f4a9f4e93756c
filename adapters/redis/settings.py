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
    """One JSON object for each place. No time to live: it is configuration.

    Which places there are stands in a set of its own, written first: it may name one too many, and lacks none that was
    written since there is the set.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def read(self, place: str) -> ChosenSettings:
        """Return what was chosen; nothing where nothing was."""
        async with bounded_call():
            stored = await self._client.get(_place_key(place))
        return ChosenSettings.from_mapping(json.loads(stored or "{}"))

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""
        async with bounded_call():
            if values := chosen.to_mapping():
                await self._client.sadd(PLACES, place)
                await self._client.set(_place_key(place), json.dumps(values))
            else:
                await self._client.delete(_place_key(place))
                await self._client.srem(PLACES, place)

    async def places(self) -> Sequence[str]:
        """Every place in which something is chosen."""
        async with bounded_call():
            return texts(await self._client.smembers(PLACES))


class RedisVerifierRecords(VerifierRecords):
    """One hash for all models: a few fields, which a new prompt version adds to."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def read(self, key: str) -> str:
        """Return what is kept; empty where nothing is."""
        async with bounded_call():
            stored = await self._client.hget(VERIFIERS, key)
        return stored.decode() if isinstance(stored, bytes) else stored or ""

    async def keep(self, key: str, result: str) -> None:
        """Keep it."""
        async with bounded_call():
            await self._client.hset(VERIFIERS, key, result)


class RedisAudit(Audit):
    """A stream of the newest ``most`` entries, by the server's order."""

    def __init__(self, client: Redis, *, most: int = 10_000) -> None:
        self._client = client
        self._most = most

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Keep it, with the time."""
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
