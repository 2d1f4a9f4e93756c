"""Errors of Redis, none of which waits forever."""

import asyncio
from contextlib import suppress

import pytest
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from adapters.redis.client import Durability, bounded_call, connect
from core.model.errors import ConfigurationError, LeaseLost, StoreUnavailable


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RedisConnectionError("Error 111 connecting to secret-host:6379"), "Redis does not respond."),
        (RedisTimeoutError("Timeout reading from secret-host:6379"), "Redis does not respond."),
        (ConnectionResetError("reset"), "Redis does not respond."),
        (AuthenticationError("invalid username-password pair"), "rejected the credentials"),
        (BusyLoadingError("LOADING"), "still loading"),
        (ResponseError("MISCONF Errors writing to the AOF file: No space left on device"), "Free space on its disk"),
        (ResponseError("WRONGTYPE it is a list"), "WRONGTYPE it is a list"),
        (RedisError("anything else"), "Redis does not respond."),
    ],
)
async def test_every_failure_is_one_clear_line(error: Exception, said: str) -> None:
    with pytest.raises(StoreUnavailable, match=said) as raised:
        async with bounded_call():
            raise error
    assert "secret-host" not in str(raised.value)


async def test_an_operation_that_hangs_is_ended_at_its_deadline() -> None:
    with pytest.raises(StoreUnavailable):
        async with bounded_call(deadline=0.01):
            await asyncio.Event().wait()


async def test_our_own_errors_pass_through() -> None:
    with pytest.raises(LeaseLost):
        async with bounded_call():
            raise LeaseLost("taken over")


async def test_a_cancellation_that_something_inside_swallows_is_not_lost() -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with bounded_call():
            with suppress(asyncio.CancelledError):
                inside.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nobody_at_the_address_is_store_unavailable() -> None:
    client = connect("redis://127.0.0.1:1/0")
    with pytest.raises(StoreUnavailable):
        async with bounded_call():
            await client.ping()
    await client.aclose()


def test_an_address_that_is_none_is_a_configuration_error_that_keeps_the_password() -> None:
    with pytest.raises(ConfigurationError) as raised:
        connect("https://user:s3cret@redis.example")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("told", "lasting"),
    [
        (Durability(append_only=True, fsync="everysec"), True),
        (Durability(append_only=True), True),
        (Durability(append_only=False), False),
        (Durability(append_only=True, fsync="no"), False),
        (Durability(append_only=True, fsync="always", writing=False), False),
    ],
)
def test_only_a_log_that_reaches_the_disk_lasts(told: Durability, lasting: bool) -> None:
    assert told.is_durable is lasting
