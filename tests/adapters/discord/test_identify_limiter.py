"""The limit on identify calls, which survives restarts and slows a crash loop."""

import asyncio
import time
from contextlib import suppress

from structlog.testing import capture_logs

from adapters.discord.inbound.identify_limiter import DAY, PACES, SLOWEST, IdentifyLimiter, IdentifyTimes
from adapters.discord.preflight import sessions_check
from tests.fakes.memory.message_state import InProcessMessageStateStore


def most_in_a_day() -> int:
    """Return how often a process that restarts immediately can identify in a day."""
    count, at = 0, 0.0
    while at < DAY:
        count += 1
        at += next((gap for most, gap in PACES if count < most), SLOWEST)
    return count


def test_no_loop_reaches_a_third_of_the_daily_limit() -> None:
    assert most_in_a_day() < 200


async def test_the_first_identifications_do_not_wait() -> None:
    identify_limiter = IdentifyLimiter(InProcessMessageStateStore())
    assert await identify_limiter.wait(initial=True) == 0


async def test_a_restart_knows_of_the_identifications_before_it() -> None:
    kept = InProcessMessageStateStore()
    await kept.save(IdentifyTimes(times=(time.time() - 1, time.time() - 2)))
    hasty = IdentifyLimiter(kept, paces=((1, 0.0),), slowest=1.2)
    assert await hasty.wait(initial=True) > 0


async def test_times_of_another_day_or_to_come_do_not_count() -> None:
    kept = InProcessMessageStateStore()
    await kept.save(IdentifyTimes(times=(time.time() - DAY - 10, time.time() + 999)))
    assert await IdentifyLimiter(kept, paces=((1, 0.0),)).wait(initial=True) == 0
    now = await kept.read(IdentifyTimes())
    assert now is not None
    assert len(now.times) == 1


async def test_a_wait_is_said_once_with_how_long_it_is() -> None:
    kept = InProcessMessageStateStore()
    now = time.time()
    await kept.save(IdentifyTimes(times=tuple(now - number for number in range(70))))
    limiter = IdentifyLimiter(kept)
    with capture_logs() as logs:
        for _ in range(2):  # the connection gives up and tries again meanwhile
            waiting = asyncio.create_task(limiter.wait(initial=True))
            while not limiter.problem():
                await asyncio.sleep(0)
            assert "starts in 5 minutes, because 70 were started" in limiter.problem()
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
    assert [one["event"] for one in logs] == ["discord_session_delayed"]
    assert limiter.problem() == ""
    check = await sessions_check(kept)
    assert not check.ok
    assert "starts in 5 minutes" in check.detail
    assert (await sessions_check(InProcessMessageStateStore())).ok
