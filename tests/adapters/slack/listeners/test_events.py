"""Events of a thread keep their order, and threads do not wait for each other."""

import asyncio

import pytest

from adapters.slack.listeners.events import ThreadOrder, thread_of


async def test_a_later_event_waits_for_the_slower_one_before_it() -> None:
    order, kept, slow = ThreadOrder(), list[str](), asyncio.Event()

    async def take(thread: str, name: str, first: asyncio.Event | None = None) -> None:
        async with order.turn(thread):
            if first is not None:
                await first.wait()
            kept.append(name)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(take("a", "a1", slow))
        group.create_task(take("a", "a2"))
        group.create_task(take("a", "a3"))
        await group.create_task(take("b", "b1"))
        assert kept == ["b1"]
        slow.set()
    assert kept == ["b1", "a1", "a2", "a3"]


async def test_one_that_fails_or_is_given_up_does_not_hold_up_the_next() -> None:
    order = ThreadOrder()
    with pytest.raises(RuntimeError):
        async with order.turn("a"):
            raise RuntimeError
    async with asyncio.timeout(30), order.turn("a"), order.turn("b"):
        pass


def test_a_reply_an_edit_and_a_deletion_belong_to_the_thread_of_their_message() -> None:
    root = {"channel": "C", "ts": "1"}
    reply = {"channel": "C", "ts": "2", "thread_ts": "1"}
    assert thread_of(root) == thread_of(reply) == "C/1"
    assert thread_of({"channel": "C", "subtype": "message_changed", "message": {"ts": "1"}}) == "C/1"
    assert thread_of({"channel": "C", "subtype": "message_deleted", "previous_message": reply}) == "C/1"
