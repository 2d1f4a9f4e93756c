"""What listeners share: what a person reads when one fails, and tasks beside an acknowledgement."""

import asyncio

import pytest

from adapters.slack.listeners.support import MOST_TASKS, TRY_AGAIN, BackgroundTasks, report_errors
from core.model.errors import WENT_WRONG, Denied, StoreUnavailable


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (StoreUnavailable("Redis at localhost:6379 is away."), TRY_AGAIN),
        (Denied("Only admins can do that.", remedy="Ask one of them."), "Only admins can do that. Ask one of them."),
        (TimeoutError(), TRY_AGAIN),
        (KeyError("channel"), WENT_WRONG),
    ],
)
async def test_a_failure_is_one_line_for_the_person_and_ends_there(failure: Exception, words: str) -> None:
    read: list[str] = []

    async def report(text: str) -> None:
        read.append(text)

    async def fail() -> None:
        raise failure

    async with report_errors(report):
        await fail()
    assert read == [words]


async def test_a_report_that_cannot_be_made_ends_there_too() -> None:
    async def report(text: str) -> None:
        raise ConnectionResetError(text)

    async with report_errors(report):
        raise KeyError("channel")


async def test_where_nothing_fails_nothing_is_said() -> None:
    async def report(text: str) -> None:
        raise AssertionError(text)

    done = False
    async with report_errors(report):
        done = True
    assert done


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
