"""Tokens of the API in Redis: by id, with the hash of their secret. Who reads the store cannot use them."""

from collections.abc import Sequence

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import API_TOKENS, tagged_key
from core.model.errors import Busy
from core.model.json_codec import from_json, to_json
from core.ports.api_tokens import ApiToken, ApiTokens, KeptToken

# KEYS tokens; ARGV id json most
_KEEP = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
"""

# KEYS counter; ARGV seconds
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count
"""


class RedisApiTokens(ApiTokens):
    """One hash, of at most ``most`` tokens. No time to live: it is configuration."""

    def __init__(self, client: Redis, *, most: int = 1_000) -> None:
        self._client = client
        self._most = most
        self._keep = client.register_script(_KEEP)
        self._count = client.register_script(_COUNT)

    async def keep(self, kept: KeptToken) -> None:
        """Keep it, replacing the one of this id; in place of the longest revoked one where there are too many."""
        async with bounded_call():
            written = await self._keep(keys=[API_TOKENS], args=[kept.token.id, to_json(kept), self._most])
        if written:
            return
        revoked = [one for one in await self.all() if one.revoked_at is not None]
        if not revoked:
            raise Busy(f"There are {self._most} tokens already.", remedy="Revoke those that nobody needs.")
        async with bounded_call():
            await self._client.hdel(API_TOKENS, revoked[-1].id)
            await self._keep(keys=[API_TOKENS], args=[kept.token.id, to_json(kept), self._most])

    async def find(self, token_id: str) -> KeptToken | None:
        """The one of this id, revoked or not."""
        async with bounded_call():
            stored = await self._client.hget(API_TOKENS, token_id)
        found: KeptToken | None = from_json(KeptToken, stored) if stored else None
        return found

    async def all(self) -> Sequence[ApiToken]:
        """All of them, the newest first."""
        async with bounded_call():
            stored = await self._client.hvals(API_TOKENS)
        found: list[KeptToken] = [from_json(KeptToken, text) for text in stored]
        return sorted((kept.token for kept in found), key=lambda token: token.created_at, reverse=True)

    async def count_use(self, token_id: str, seconds: int) -> int:
        """How often it was used within this many seconds, this time included."""
        async with bounded_call():
            return int(await self._count(keys=[tagged_key(f"api-use:{token_id}")], args=[seconds]))
