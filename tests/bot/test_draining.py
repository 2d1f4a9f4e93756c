"""Shutdown after a signal: nothing blocks it, and running work can finish."""

import asyncio

from bot.server import _drain


async def forever() -> None:
    await asyncio.Event().wait()


async def test_what_is_still_opening_and_a_platform_that_hangs_do_not_keep_the_process() -> None:
    stop = asyncio.Event()
    stop.set()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        working, leaving = {group.create_task(asyncio.sleep(0))}, {group.create_task(forever())}
        warming = group.create_task(forever())
        group.create_task(_drain(stop, working, leaving, warming, leave_seconds=0.01))
    assert all(task.cancelled() for task in (*leaving, warming))
    assert not any(task.cancelled() for task in working)


async def test_a_worker_that_does_not_finish_is_cancelled_and_the_platform_hears_it_out() -> None:
    stop, said = asyncio.Event(), []

    async def works() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            said.append("handed back")

    async def listens() -> None:
        while not said:
            await asyncio.sleep(0)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        worker, platform = group.create_task(works()), group.create_task(listens())
        await asyncio.sleep(0)
        stop.set()
        warming = group.create_task(asyncio.sleep(0))
        group.create_task(_drain(stop, {worker}, {platform}, warming, drain_seconds=0.01))
    assert worker.cancelled()
    assert not platform.cancelled()


async def test_nothing_is_cancelled_before_the_signal() -> None:
    task = asyncio.create_task(forever())
    draining = asyncio.create_task(_drain(asyncio.Event(), {task}, {task}, task, drain_seconds=0, leave_seconds=0))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not draining.done()
    assert not task.done()
    for each in (draining, task):
        each.cancel()
    await asyncio.gather(draining, task, return_exceptions=True)
