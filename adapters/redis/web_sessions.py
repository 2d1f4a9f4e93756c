"""Sessions of the page in Redis: under the hash of their token, so that who reads the store cannot sign in with it."""

import hashlib
import secrets
from datetime import timedelta

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import tagged_key
from core.model.json_codec import from_json, to_json
from core.ports.web_sessions import CHAT_SECONDS, CODE_SECONDS, SignInMethod, WebSession, WebSessions

_TOKEN_BYTES = 32

# KEYS counter; ARGV seconds
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count
"""


class RedisWebSessions(WebSessions):
    """Each session for ``ttl`` after it was last used."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=7)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())
        self._count = client.register_script(_COUNT)

    async def begin(self, session: WebSession) -> str:
        """Keep it, and its token."""
        seconds = CHAT_SECONDS if session.method is SignInMethod.CHAT else self._ttl
        return await self._keep("session", session, seconds)

    async def read(self, token: str) -> WebSession | None:
        """Whose token this is; None where it is nobody's."""
        async with bounded_call():
            kept = await self._client.get(_key("session", token))
        session: WebSession | None = from_json(WebSession, kept) if kept else None
        if session is not None and session.method is not SignInMethod.CHAT:
            async with bounded_call():
                await self._client.expire(_key("session", token), self._ttl)
        return session

    async def end(self, token: str) -> None:
        """Sign out."""
        async with bounded_call():
            await self._client.delete(_key("session", token))

    async def issue_code(self, session: WebSession) -> str:
        """A code that signs in as this, once."""
        return await self._keep("sign-in", session, CODE_SECONDS)

    async def take_code(self, code: str) -> WebSession | None:
        """What the code stands for, taken."""
        async with bounded_call():
            kept = await self._client.getdel(_key("sign-in", code))
        return from_json(WebSession, kept) if kept else None

    async def count(self, what: str, seconds: int) -> int:
        """How often this was counted within this many seconds, this time included."""
        async with bounded_call():
            return int(await self._count(keys=[tagged_key(f"count:{what}")], args=[seconds]))

    async def _keep(self, what: str, session: WebSession, seconds: int) -> str:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        async with bounded_call():
            await self._client.set(_key(what, token), to_json(session), ex=seconds)
        return token


def _key(what: str, token: str) -> str:
    digest = hashlib.sha256(token.encode(errors="replace")).hexdigest()  # a browser may send anything as its token
    return tagged_key(f"{what}:{digest}")
