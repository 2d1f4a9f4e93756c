"""Schema version of the data in Redis: older data is still read, newer data is refused.

Versions before 1.0 used 1 (which is not stored) and 2; their data is read unchanged. 1.0 uses 3: its bases have readers
that an older version ignores, so an older version must not open it.
"""

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.export import is_empty
from adapters.redis.keys import SCHEMA as SCHEMA_KEY
from core.model.errors import ConfigurationError

SCHEMA = 3


async def check_schema(client: Redis) -> int:
    """Return the data's schema; mark an empty store with this version's. Raises ConfigurationError if it is newer."""
    async with bounded_call():
        found = int(await client.get(SCHEMA_KEY) or 1)
    if found > SCHEMA:
        raise ConfigurationError(
            f"The data in Redis was written by a newer Footnote: its schema is {found}, and this one knows {SCHEMA}.",
            remedy="Upgrade Footnote, or set REDIS_URL or FOOTNOTE_HOME to another place.",
        )
    if found < SCHEMA and await is_empty(client):
        await mark_schema(client)
        return SCHEMA
    return found


async def mark_schema(client: Redis) -> None:
    """Store this version's schema, which older versions refuse. Raises StoreUnavailable."""
    async with bounded_call():
        await client.set(SCHEMA_KEY, SCHEMA)
