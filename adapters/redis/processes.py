"""Registry of serving processes, and leases that let one process at a time do a task."""

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

# KEYS serving. Returns the live processes, and removes expired ones.
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
    """Registry of all processes in one hash, which expires with the last one."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._announce = client.register_script(_ANNOUNCE)
        self._serving = client.register_script(_SERVING)

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        """Register the process or renew its registration. Raises StoreUnavailable."""
        milliseconds = int(lasting.total_seconds() * 1000)
        async with bounded_call():
            await self._announce(keys=[SERVING], args=[process.name, to_json(process), milliseconds])

    async def live_processes(self) -> Sequence[ServingProcess]:
        """Return the registered, unexpired processes, by name. Raises StoreUnavailable."""
        async with bounded_call():
            found = texts(await self._serving(keys=[SERVING]))
        return sorted((from_json(ServingProcess, one) for one in found), key=lambda one: one.name)

    async def withdraw(self, name: str) -> None:
        """Remove the registration. Raises StoreUnavailable."""
        async with bounded_call():
            await self._client.hdel(SERVING, name)


# KEYS lease; ARGV holder milliseconds. A lease with more time left than a lease lasts predates a clock that was set
# back.
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
    """Lease store; the key's value is the holder's name."""

    def __init__(self, client: Redis) -> None:
        self._acquire = client.register_script(_ACQUIRE)
        self._release = client.register_script(_RELEASE)

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Acquire or renew a lease; return False while another process holds it. Raises StoreUnavailable."""
        milliseconds = int(lasting.total_seconds() * 1000)
        async with bounded_call():
            return bool(await self._acquire(keys=[named_lease_key(name)], args=[holder, milliseconds]))

    async def release(self, name: str, holder: str) -> None:
        """Release a lease; do nothing if another process holds it. Raises StoreUnavailable."""
        async with bounded_call():
            await self._release(keys=[named_lease_key(name)], args=[holder])
