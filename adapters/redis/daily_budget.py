"""The day's budget in Redis: reserved in one call, so that a hundred questions at once cannot overspend it."""

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import tagged_key
from core.model.clock import Clock
from core.ports.usage import DailyBudget

_TTL = 3 * 24 * 3600  # seconds: yesterday's book is of no use the day after tomorrow

# KEYS day; ARGV amount budget ttl
_RESERVE = """
local spent = tonumber(redis.call('GET', KEYS[1]) or '0')
if spent + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return 0 end
redis.call('INCRBYFLOAT', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""


class RedisDailyBudget(DailyBudget):
    """A budget for each day (UTC)."""

    def __init__(self, client: Redis, clock: Clock, budget: float) -> None:
        self._client = client
        self._clock = clock
        self._budget = budget
        self._reserve = client.register_script(_RESERVE)

    async def reserve(self, amount: float) -> bool:
        """Set this much of today's budget aside, or say that it is not there."""
        async with bounded_call():
            return bool(await self._reserve(keys=[self._today()], args=[f"{amount:.9f}", self._budget, _TTL]))

    async def spent_share(self) -> float:
        """How much of today's budget is spent or set aside: 0 for nothing, 1 for all."""
        async with bounded_call():
            spent = float(await self._client.get(self._today()) or 0.0)
        return spent / self._budget if self._budget else 1.0

    async def settle(self, reserved: float, spent: float) -> None:
        """Give back what was set aside, and book what was spent."""
        async with bounded_call():
            await self._client.incrbyfloat(self._today(), spent - reserved)

    def _today(self) -> str:
        return tagged_key(f"spent:{self._clock.now().date().isoformat()}")
