"""A loop that is blocked is noticed while it is, with the place; one that waits is left alone."""

import asyncio
import threading

from prometheus_client import REGISTRY

from bot.supervision import LoopWatch


def hold_up(noticed: threading.Event) -> None:
    assert noticed.wait(60)


async def test_what_blocks_the_loop_is_named_while_it_does_and_counted() -> None:
    noticed, stacks, before = threading.Event(), list[str](), _counted()

    def report(stack: str) -> None:
        stacks.append(stack)
        noticed.set()

    with LoopWatch(asyncio.get_running_loop(), report):
        hold_up(noticed)
        while _counted() == before:
            await asyncio.sleep(0.01)
    assert "in hold_up" in stacks[0]


async def test_a_loop_that_waits_is_not_blocked() -> None:
    stacks: list[str] = []
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    with LoopWatch(loop, stacks.append):
        threading.Timer(0.5, lambda: loop.call_soon_threadsafe(asked.set)).start()
        await asked.wait()
    assert stacks == []


def _counted() -> float:
    return REGISTRY.get_sample_value("footnote_loop_blocked_seconds_count") or 0.0
