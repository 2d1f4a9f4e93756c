"""What is done beside an acknowledgement: bounded, and ended with the platform."""

import asyncio

from adapters.slack.listeners.support import MOST_TASKS, BackgroundTasks


async def test_with_too_many_under_way_a_further_one_is_dropped_and_closing_ends_them_all() -> None:
    tasks, begun, ended = BackgroundTasks(), 0, 0

    async def work() -> None:
        nonlocal begun, ended
        begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            ended += 1

    for _ in range(MOST_TASKS + 1):
        tasks.start(work())
    await asyncio.sleep(0)
    assert begun == MOST_TASKS
    await tasks.close()
    assert ended == MOST_TASKS


async def test_a_task_that_fails_ends_nobody_elses() -> None:
    tasks, done = BackgroundTasks(), asyncio.Event()

    async def fail() -> None:
        raise KeyError("channel")

    async def succeed() -> None:
        done.set()

    tasks.start(fail())
    tasks.start(succeed())
    await done.wait()
    await tasks.close()
