"""Stores of the web page and the API: sessions, tokens and live answers."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis

from adapters.redis.client import bounded_call
from adapters.redis.keys import API_TOKENS, live_key, tagged_key
from adapters.redis.pipelines import in_order
from core.model.errors import Busy
from core.model.json_codec import from_json, to_json
from core.ports.access import (
    CHAT_SECONDS,
    CODE_SECONDS,
    ApiToken,
    ApiTokens,
    KeptToken,
    SignInMethod,
    WebSession,
    WebSessions,
)
from core.ports.answer_view import AnswerStream, AnswerUpdate, Updates

_TOKEN_BYTES = 32

# KEYS counter; ARGV seconds
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count
"""


class RedisWebSessions(WebSessions):
    """Session store that keeps each session for ``ttl`` after its last use."""

    def __init__(self, client: Redis, *, ttl: timedelta = timedelta(days=7)) -> None:
        self._client = client
        self._ttl = int(ttl.total_seconds())
        self._count = client.register_script(_COUNT)

    async def begin(self, session: WebSession) -> str:
        """Store a session; return its token."""
        seconds = CHAT_SECONDS if session.method is SignInMethod.CHAT else self._ttl
        return await self._keep("session", session, seconds)

    async def read(self, token: str) -> WebSession | None:
        """Return the session of a token, or None."""
        async with bounded_call():
            kept = await self._client.get(_key("session", token))
        session: WebSession | None = from_json(WebSession, kept) if kept else None
        if session is not None and session.method is not SignInMethod.CHAT:
            async with bounded_call():
                await self._client.expire(_key("session", token), self._ttl)
        return session

    async def end(self, token: str) -> None:
        """Delete the session."""
        async with bounded_call():
            await self._client.delete(_key("session", token))

    async def issue_code(self, session: WebSession) -> str:
        """Return a one-time code for signing in to this session."""
        return await self._keep("sign-in", session, CODE_SECONDS)

    async def take_code(self, code: str) -> WebSession | None:
        """Return and delete the session of a code, or None."""
        async with bounded_call():
            kept = await self._client.getdel(_key("sign-in", code))
        return from_json(WebSession, kept) if kept else None

    async def count(self, what: str, seconds: int) -> int:
        """Count an event; return its number within this many seconds."""
        async with bounded_call():
            return int(await self._count(keys=[tagged_key(f"count:{what}")], args=[seconds]))

    async def _keep(self, what: str, session: WebSession, seconds: int) -> str:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        async with bounded_call():
            await self._client.set(_key(what, token), to_json(session), ex=seconds)
        return token


def _key(what: str, token: str) -> str:
    digest = hashlib.sha256(token.encode(errors="replace")).hexdigest()  # a browser may send any text as its token
    return tagged_key(f"{what}:{digest}")


# KEYS tokens; ARGV id json most
_SAVE = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
"""


class RedisApiTokens(ApiTokens):
    """API token store: one hash with at most ``most`` tokens, without a TTL because it is configuration."""

    def __init__(self, client: Redis, *, most: int = 1_000) -> None:
        self._client = client
        self._most = most
        self._keep = client.register_script(_SAVE)
        self._count = client.register_script(_COUNT)

    async def keep(self, kept: KeptToken) -> None:
        """Store a token in place of the one with this id; if there are too many, drop the one revoked first."""
        async with bounded_call():
            written = await self._keep(keys=[API_TOKENS], args=[kept.token.id, to_json(kept), self._most])
        if written:
            return
        revoked = [one for one in await self.all() if one.revoked_at is not None]
        if not revoked:
            raise Busy(f"There are {self._most} tokens already.", remedy="Revoke some that are no longer needed.")
        async with bounded_call():
            await self._client.hdel(API_TOKENS, revoked[-1].id)
            await self._keep(keys=[API_TOKENS], args=[kept.token.id, to_json(kept), self._most])

    async def find(self, token_id: str) -> KeptToken | None:
        """Return the token with this id, revoked or not."""
        async with bounded_call():
            stored = await self._client.hget(API_TOKENS, token_id)
        return from_json(KeptToken, stored) if stored else None

    async def all(self) -> Sequence[ApiToken]:
        """Return all tokens, newest first."""
        async with bounded_call():
            stored = await self._client.hvals(API_TOKENS)
        found: list[KeptToken] = [from_json(KeptToken, text) for text in stored]
        return sorted((kept.token for kept in found), key=lambda token: token.created_at, reverse=True)

    async def count_use(self, token_id: str, seconds: int) -> int:
        """Count a use of the token; return its uses within this many seconds."""
        async with bounded_call():
            return int(await self._count(keys=[tagged_key(f"api-use:{token_id}")], args=[seconds]))


MOST_UPDATES = 5_000  # of one answer; its end is always kept
_TTL = 15 * 60  # seconds
_AT_ONCE = 500


class RedisAnswerStream(AnswerStream):
    """Live answers: one stream per question, in the hash slot of its thread."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def publish(self, thread: str, subject: str, updates: Sequence[AnswerUpdate]) -> None:
        """Append updates to an answer's stream."""
        key = live_key(thread, subject)
        added = [
            ("XADD", key, "MAXLEN", "~", MOST_UPDATES, "*", "update", to_json(update, AnswerUpdate))
            for update in updates
        ]
        async with bounded_call():
            await in_order(self._client, *added, ("EXPIRE", key, _TTL))

    async def read(self, thread: str, subject: str, after: str = "") -> Updates:
        """Return the updates after this position."""
        start = f"({after}" if after else "-"
        async with bounded_call():
            found: Any = await self._client.xrange(live_key(thread, subject), min=start, count=_AT_ONCE)
        updates = tuple(from_json(AnswerUpdate, fields["update"]) for _, fields in found)
        return Updates(updates, str(found[-1][0]) if found else after)
