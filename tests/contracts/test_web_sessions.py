"""The contract of every web session store."""

import asyncio
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from adapters.redis.web_stores import RedisWebSessions
from core.model.conversation import Person
from core.ports.access import CHAT_SECONDS, SignInMethod, WebSession, WebSessions
from tests.fakes.memory.web_sessions import InProcessWebSessions

ADA = WebSession(Person("web:user/ada", "ada"), SignInMethod.PROXY, is_admin=True, csrf="c")


class WebSessionsContract:
    """Override ``sessions``."""

    @pytest.fixture
    def sessions(self) -> WebSessions:
        raise NotImplementedError

    async def test_a_session_is_found_by_its_token_until_it_is_ended(self, sessions: WebSessions) -> None:
        token = await sessions.begin(ADA)
        assert await sessions.read(token) == ADA
        assert await sessions.read(token) == ADA
        await sessions.end(token)
        assert await sessions.read(token) is None

    async def test_a_token_nobody_was_given_is_nobodys(self, sessions: WebSessions) -> None:
        for token in ("guessed", "\udcff", "x" * 10_000):
            assert await sessions.read(token) is None
        assert await sessions.take_code("guessed") is None

    async def test_of_many_who_use_a_code_one_gets_in(self, sessions: WebSessions) -> None:
        code = await sessions.issue_code(ADA)
        got = await asyncio.gather(*(sessions.take_code(code) for _ in range(8)))
        assert [one for one in got if one is not None] == [ADA]

    async def test_two_sessions_have_two_tokens(self, sessions: WebSessions) -> None:
        assert await sessions.begin(ADA) != await sessions.begin(ADA)

    async def test_what_happens_is_counted_apart(self, sessions: WebSessions) -> None:
        assert [await sessions.count("a", 60) for _ in range(3)] == [1, 2, 3]
        assert await sessions.count("b", 60) == 1


class TestInProcessWebSessions(WebSessionsContract):
    @pytest.fixture
    def sessions(self) -> WebSessions:
        return InProcessWebSessions()


@pytest.mark.live
class TestRedisWebSessions(WebSessionsContract):
    @pytest.fixture
    def sessions(self, redis: Redis) -> WebSessions:
        return RedisWebSessions(redis)

    async def test_who_reads_the_store_finds_no_token_in_it(self, redis: Redis) -> None:
        sessions = RedisWebSessions(redis)
        secrets = [await sessions.begin(ADA), await sessions.issue_code(ADA)]
        everything = [str(key) + str(await redis.get(key)) async for key in redis.scan_iter()]
        assert len(everything) == 2
        assert not [one for one in everything for secret in secrets if secret in one]

    async def test_a_session_from_a_chat_ends_after_its_time_however_often_it_is_read(self, redis: Redis) -> None:
        sessions = RedisWebSessions(redis)
        token = await sessions.begin(replace(ADA, method=SignInMethod.CHAT))
        await sessions.read(token)
        (ttl,) = [await redis.ttl(key) async for key in redis.scan_iter()]
        assert 0 < ttl <= CHAT_SECONDS
        await sessions.read(await sessions.begin(ADA))
        assert max([await redis.ttl(key) async for key in redis.scan_iter()]) > CHAT_SECONDS

    async def test_every_key_runs_out(self, redis: Redis) -> None:
        sessions = RedisWebSessions(redis)
        await sessions.begin(ADA)
        await sessions.issue_code(ADA)
        await sessions.count("a", 60)
        assert [await redis.ttl(key) > 0 async for key in redis.scan_iter()] == [True] * 3
