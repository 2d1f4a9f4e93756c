"""Export of Footnote's data in Redis, key by key, as JSON that any Redis or Valkey version can import.

Transient keys are left out: leases, deliveries waiting for an answer, the ids of a day's deliveries. Jobs are exported
with their queue, because each item of a job runs once however often it is started. The catalog's documents are left
out, because a backup stores them in pairs with their passages.
"""

import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import DOCUMENTS, HELD, HOMES, INBOX, INDEX, PREFIX, SCHEMA, SERVING, VERSIONS, WAITING

Kind = Literal["string", "hash", "list", "set", "zset", "stream"]
_PAGE = 500
_OF_A_MOMENT = re.compile(
    rf"{PREFIX}:\{{(?!kb/)[^}}]*\}}:(lease|queue|notes|called-off:.*|seen:.*)|{PREFIX}:\{{kb/[^}}]*\}}:lease"
    rf"|{PREFIX}:\{{person:[^}}]*\}}:waiting(-.*)?|{re.escape(INBOX)}|{re.escape(WAITING)}"
    rf"|{SERVING}|{HELD}.*"
)
_WITH_THE_PASSAGES = (DOCUMENTS, VERSIONS, HOMES, INDEX, SCHEMA)


@dataclass(frozen=True, slots=True)
class KeptKey:
    """One key. ``value`` depends on its kind: text, pairs or a list. ``expires_at`` is in seconds since the epoch."""

    name: str
    kind: Kind
    value: Any
    expires_at: float | None = None


async def exported_keys(client: Redis) -> AsyncIterator[KeptKey]:
    """Yield every key worth keeping; concurrent writes are allowed. Raises StoreUnavailable."""
    names: set[str] = set()
    async with bounded_call(deadline=600):
        async for name in client.scan_iter(match=f"{PREFIX}:*", count=_PAGE):
            if not _OF_A_MOMENT.fullmatch(name) and not name.startswith(_WITH_THE_PASSAGES):
                names.add(name)
    for name in sorted(names):
        async with bounded_call():
            kind = str(await client.type(name))
            left = int(await client.pttl(name))
            value = None if kind == "none" else await _value(client, name, kind)
        if value:
            yield KeptKey(name, kind, value, time.time() + left / 1000 if left > 0 else None)  # type: ignore[arg-type]


async def import_key(client: Redis, kept: KeptKey) -> None:
    """Write a key as exported, replacing the current one; skip it if it has expired."""
    if kept.expires_at is not None and kept.expires_at <= time.time():
        return
    async with bounded_call(), client.pipeline(transaction=True) as pipe:
        pipe.delete(kept.name)
        match kept.kind:
            case "string":
                pipe.set(kept.name, kept.value)
            case "hash":
                pipe.hset(kept.name, mapping=dict(kept.value))
            case "list":
                pipe.rpush(kept.name, *kept.value)
            case "set":
                pipe.sadd(kept.name, *kept.value)
            case "zset":
                pipe.zadd(kept.name, dict(kept.value))
            case "stream":
                for entry, fields in kept.value:
                    pipe.xadd(kept.name, dict(fields), id=entry)
        if kept.expires_at is not None:
            pipe.pexpireat(kept.name, int(kept.expires_at * 1000))
        await pipe.execute()


async def is_empty(client: Redis) -> bool:
    """Return whether there is no data except the schema version and index identity. Raises StoreUnavailable."""
    async with bounded_call(deadline=60):
        async for name in client.scan_iter(match=f"{PREFIX}:*", count=_PAGE):
            if name not in (SCHEMA, INDEX):
                return False
    return True


async def _value(client: Any, name: str, kind: str) -> Any:
    match kind:
        case "string":
            return await client.get(name)
        case "hash":
            return sorted((await client.hgetall(name)).items())
        case "list":
            return await client.lrange(name, 0, -1)
        case "set":
            return sorted(await client.smembers(name))
        case "zset":
            return await client.zrange(name, 0, -1, withscores=True)
        case _:
            return [(entry, sorted(fields.items())) for entry, fields in await client.xrange(name)]
