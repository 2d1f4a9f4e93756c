"""The processes that serve, and the leases by which one of them at a time does a thing."""

from collections.abc import Sequence
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call, texts
from adapters.redis.keys import SERVING, named_lease_key
from core.model.json_codec import from_json, to_json
from core.ports.inbox import NamedLeases, ProcessRegistry, ServingProcess

_NOW = "local told = redis.call('TIME') local now = told[1] * 1000 + math.floor(told[2] / 1000)\n"

# KEYS serving; ARGV name process milliseconds
_ANNOUNCE = (
    _NOW
    + """
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({now + ARGV[3], ARGV[2]}))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""
)

# KEYS serving. Returns the processes that count, and removes those that do not any more.
_SERVING = (
    _NOW
    + """
local found = {}
local all = redis.call('HGETALL', KEYS[1])
for place = 1, #all, 2 do
  local kept = cjson.decode(all[place + 1])
  if kept[1] > now then table.insert(found, kept[2]) else redis.call('HDEL', KEYS[1], all[place]) end
end
return found
"""
)


class RedisProcessRegistry(ProcessRegistry):
    """All processes in one key, which goes when none is left."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._announce = client.register_script(_ANNOUNCE)
        self._serving = client.register_script(_SERVING)

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        """Be known from now on, or still. Raises StoreUnavailable."""
        milliseconds = int(lasting.total_seconds() * 1000)
        async with bounded_call():
            await self._announce(keys=[SERVING], args=[process.name, to_json(process), milliseconds])

    async def live_processes(self) -> Sequence[ServingProcess]:
        """Those that have announced themselves and not run out, by name. Raises StoreUnavailable."""
        async with bounded_call():
            found = texts(await self._serving(keys=[SERVING]))
        return sorted((from_json(ServingProcess, one) for one in found), key=lambda one: one.name)

    async def withdraw(self, name: str) -> None:
        """Be known no more. Raises StoreUnavailable."""
        async with bounded_call():
            await self._client.hdel(SERVING, name)


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
