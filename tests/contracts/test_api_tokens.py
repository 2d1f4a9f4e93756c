"""The contract of every store of API tokens."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.web_stores import RedisApiTokens
from core.model.errors import Busy
from core.ports.access import ApiToken, ApiTokens, KeptToken, TokenScope
from tests.fakes.memory.stores import InProcessApiTokens

NOW = datetime(2026, 3, 2, tzinfo=UTC)
TOKEN = ApiToken(
    "AAAA2222",
    "the wiki’s bot",
    frozenset(TokenScope),
    frozenset({"handbook"}),
    NOW,
    "console:operator",
    90,
    public=True,
)


def kept(number: int, *, revoked: bool = False) -> KeptToken:
    at = NOW + timedelta(minutes=number)
    return KeptToken(
        replace(TOKEN, id=f"T{number}", created_at=at, revoked_at=at if revoked else None), f"digest {number}"
    )


class ApiTokensContract:
    """Override ``tokens``: a store of at most three."""

    @pytest.fixture
    def tokens(self) -> ApiTokens:
        raise NotImplementedError

    async def test_a_token_comes_back_whole(self, tokens: ApiTokens) -> None:
        await tokens.keep(KeptToken(TOKEN, "digest"))
        assert await tokens.find(TOKEN.id) == KeptToken(TOKEN, "digest")
        assert list(await tokens.all()) == [TOKEN]

    async def test_an_unknown_one_is_none(self, tokens: ApiTokens) -> None:
        assert await tokens.find("AAAA2222") is None

    async def test_kept_again_it_is_replaced(self, tokens: ApiTokens) -> None:
        await tokens.keep(kept(1))
        await tokens.keep(kept(1, revoked=True))
        assert [token.revoked_at is not None for token in await tokens.all()] == [True]

    async def test_the_newest_comes_first(self, tokens: ApiTokens) -> None:
        for number in (1, 3, 2):
            await tokens.keep(kept(number))
        assert [token.id for token in await tokens.all()] == ["T3", "T2", "T1"]

    async def test_a_full_store_refuses_and_gives_up_only_what_is_revoked(self, tokens: ApiTokens) -> None:
        for number in (1, 2, 3):
            await tokens.keep(kept(number))
        with pytest.raises(Busy):
            await tokens.keep(kept(4))
        await tokens.keep(kept(2, revoked=True))
        await tokens.keep(kept(4))
        assert {token.id for token in await tokens.all()} == {"T1", "T3", "T4"}

    async def test_uses_are_counted_by_token(self, tokens: ApiTokens) -> None:
        assert [await tokens.count_use("T1", 60) for _ in range(3)] == [1, 2, 3]
        assert await tokens.count_use("T2", 60) == 1


class TestInProcessApiTokens(ApiTokensContract):
    @pytest.fixture
    def tokens(self) -> ApiTokens:
        return InProcessApiTokens(most=3)


@pytest.mark.live
class TestRedisApiTokens(ApiTokensContract):
    @pytest.fixture
    def tokens(self, redis: Redis) -> ApiTokens:
        return RedisApiTokens(redis, most=3)

    async def test_a_count_ends_with_its_time(self, tokens: ApiTokens, redis: Redis) -> None:
        await tokens.count_use("T1", 60)
        (key,) = await redis.keys("footnote:{api-use:T1}*")
        assert 0 < await redis.ttl(key) <= 60
