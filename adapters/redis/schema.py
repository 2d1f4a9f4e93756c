"""Which layout the data in Redis has: older data is carried over, and newer data is not touched.

1, which is written nowhere, is the first version's; everything of it is read as it stands.
"""

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import SCHEMA as SCHEMA_KEY
from core.model.errors import ConfigurationError

SCHEMA = 2


async def check_schema(client: Redis) -> None:
    """See that the data is ours to write. Raises ConfigurationError where a newer Footnote wrote it."""
    async with bounded_call():
        found = int(await client.get(SCHEMA_KEY) or 1)
        if found < SCHEMA:
            await client.set(SCHEMA_KEY, SCHEMA)
    if found > SCHEMA:
        raise ConfigurationError(
            f"The data in Redis was written by a newer Footnote: its schema is {found}, and this one knows {SCHEMA}.",
            remedy="Upgrade Footnote, or set REDIS_URL (or FOOTNOTE_HOME) to another place.",
        )
