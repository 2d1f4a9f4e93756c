"""Which layout the data in Redis has: older data is carried over, and newer data is not touched.

1, which is written nowhere, and 2 are those of versions before 1.0; everything of them is read as it is. 3 is 1.0's:
its bases have readers that an older version does not know of, so an older version must not open it.
"""

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.export import is_empty
from adapters.redis.keys import SCHEMA as SCHEMA_KEY
from core.model.errors import ConfigurationError

SCHEMA = 3


async def check_schema(client: Redis) -> int:
    """Return the data's layout; empty stores get this version's. Raises ConfigurationError if it is a newer one's."""
    async with bounded_call():
        found = int(await client.get(SCHEMA_KEY) or 1)
    if found > SCHEMA:
        raise ConfigurationError(
            f"The data in Redis was written by a newer Footnote: its schema is {found}, and this one knows {SCHEMA}.",
            remedy="Upgrade Footnote, or set REDIS_URL (or FOOTNOTE_HOME) to another place.",
        )
    if found < SCHEMA and await is_empty(client):
        await mark_schema(client)
        return SCHEMA
    return found


async def mark_schema(client: Redis) -> None:
    """Make the data this version's: older ones refuse it from now on. Raises StoreUnavailable."""
    async with bounded_call():
        await client.set(SCHEMA_KEY, SCHEMA)
