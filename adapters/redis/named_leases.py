"""Leases by name: a key with its holder that runs out by itself."""

from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import named_lease_key
from core.ports.named_leases import NamedLeases

# KEYS lease; ARGV holder milliseconds. One that has more time left than a lease lasts was taken before the server's
# clock was set back.
_ACQUIRE = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('PTTL', KEYS[1]) <= 2 * ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

# KEYS lease; ARGV holder
_RELEASE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""


class RedisNamedLeases(NamedLeases):
    """The holder's name is the key's value."""

    def __init__(self, client: Redis) -> None:
        self._acquire = client.register_script(_ACQUIRE)
        self._release = client.register_script(_RELEASE)

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take it, or renew what is held already; False while another holds it. Raises StoreUnavailable."""
        milliseconds = int(lasting.total_seconds() * 1000)
        async with bounded_call():
            return bool(await self._acquire(keys=[named_lease_key(name)], args=[holder, milliseconds]))

    async def release(self, name: str, holder: str) -> None:
        """Let it go; does nothing when it is another's. Raises StoreUnavailable."""
        async with bounded_call():
            await self._release(keys=[named_lease_key(name)], args=[holder])
