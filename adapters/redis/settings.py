"""The settings of places, by id, and the record of who changed what, in Redis."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import AUDIT, tagged_key
from core.model.channel_settings import ChosenSettings
from core.model.json_codec import from_json, to_json
from core.ports.audit import Audit, AuditEntry
from core.ports.channel_settings import ChannelSettingsStore

_PAGE = 1_000  # keys of one step through them all


class RedisChannelSettingsStore(ChannelSettingsStore):
    """One JSON object for each place. No time to live: it is configuration."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def read(self, place: str) -> ChosenSettings:
        """What was chosen; nothing where nothing was."""
        async with bounded_call():
            stored = await self._client.get(_place_key(place))
        return ChosenSettings.from_mapping(json.loads(stored or "{}"))

    async def every(self) -> Mapping[str, ChosenSettings]:
        """What was chosen, by place. It looks at the name of every key there is."""
        before, behind = _place_key("*").split("*")
        async with bounded_call():
            keys = [str(key) async for key in self._client.scan_iter(match=_place_key("*"), count=_PAGE)]
        places = [key.removeprefix(before).removesuffix(behind) for key in keys]
        return {place: await self.read(place) for place in places}

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""
        async with bounded_call():
            if values := chosen.to_mapping():
                await self._client.set(_place_key(place), json.dumps(values))
            else:
                await self._client.delete(_place_key(place))


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
        """The newest entries, newest first."""
        async with bounded_call():
            found: Any = await self._client.xrevrange(AUDIT, count=limit)
        return [from_json(AuditEntry, fields["entry"]) for _, fields in found]


def _place_key(place: str) -> str:
    return tagged_key(f"place:{place}")
