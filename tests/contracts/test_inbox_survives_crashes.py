"""Workers and platforms die between any two commands: no delivery is lost, and each thread keeps its order.

A seeded simulation against the real server. Every worker has a fuse: after some number of commands its client dies in
the middle of whatever the inbox was doing, before or after the server has heard the command, and another worker takes
its place. The renewal of waiting tokens is out of reach here (it comes after two minutes), so what is shown to lose
nothing is the protocol itself.
"""

import asyncio
import random
from collections import defaultdict
from datetime import timedelta
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.inbox import RedisInbox
from core.model.errors import LeaseLost
from core.ports.inbox import Delivery

pytestmark = pytest.mark.live

THREADS, EACH, WORKERS, MOST_COMMANDS = 5, 8, 4, 40
LEASE, LOOK_AGAIN, TAKE = timedelta(milliseconds=60), timedelta(milliseconds=20), timedelta(milliseconds=100)


class Killed(Exception):
    """The process is gone."""


class Fuse:
    """Counts commands down to a death."""

    def __init__(self, chance: random.Random) -> None:
        self.left = chance.randint(1, MOST_COMMANDS)
        self.heard = chance.random() < 0.5  # whether the server still hears the last command

    async def burn(self, command: Any) -> Any:
        self.left -= 1
        if self.left > 0:
            return await command
        if self.left == 0 and self.heard:
            await command
        else:
            command.close()
        raise Killed


class MortalPipeline(Pipeline):
    fuse: Fuse

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        done: list[Any] = await self.fuse.burn(super().execute(raise_on_error))
        return done


class MortalRedis(Redis):
    """A client whose process dies when its fuse runs out."""

    fuse: Fuse

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        command = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        return await self.fuse.burn(command)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> MortalPipeline:
        pipeline = MortalPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.fuse = self.fuse
        return pipeline


class World:
    def __init__(self, url: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.url = url
        self.taken: dict[str, list[int]] = defaultdict(list)  # by thread, the deliveries in the order they were taken
        self.finished: list[tuple[str, int]] = []
        self.over = asyncio.Event()

    def client(self) -> MortalRedis:
        client = cast("MortalRedis", MortalRedis.from_url(self.url, decode_responses=True))
        client.fuse = Fuse(self.chance)
        return client

    async def worked_off(self, redis: Redis) -> None:
        """Wait until every queue is empty, then stop the workers."""
        left = THREADS
        try:
            while left:
                await asyncio.sleep(0.02)
                left = sum([await redis.llen(f"footnote:{{thread {thread}}}:queue") for thread in range(THREADS)])
        finally:
            self.over.set()

    async def put_all(self) -> None:
        """Put like a platform that redelivers until its delivery is acknowledged."""
        for number in range(EACH):
            for thread in range(THREADS):
                delivery = Delivery(f"d{number}", "slack", f"thread {thread}", f"U{thread % 3}", str(number))
                put = False
                while not put:
                    put = await self.put(delivery)

    async def put(self, delivery: Delivery) -> bool:
        async with self.client() as client:
            try:
                await RedisInbox(client).put(delivery)
            except Killed:
                return False
        return True

    async def work(self) -> None:
        while not self.over.is_set():
            async with self.client() as client:
                try:
                    await self.live(RedisInbox(client, lease=LEASE, look_again=LOOK_AGAIN))
                except Killed:
                    continue

    async def live(self, inbox: RedisInbox) -> None:
        while not self.over.is_set():
            lease = await inbox.take("worker", TAKE)
            if lease is None:
                continue
            thread, number = lease.delivery.thread, int(lease.delivery.body)
            self.taken[thread].append(number)
            try:
                await self.finish(inbox, lease)
                self.finished.append((thread, number))
            except LeaseLost:
                continue

    async def finish(self, inbox: RedisInbox, lease: Any) -> None:
        fate = self.chance.random()
        if fate < 0.15:
            await asyncio.sleep(LEASE.total_seconds() * 1.5)  # too slow: another takes over meanwhile
        if fate < 0.3:
            await inbox.renew(lease)
        if fate > 0.9:
            await inbox.hand_back(lease)
            return
        await inbox.complete(lease)


@pytest.mark.parametrize("seed", range(6))
async def test_whoever_dies_whenever_everything_is_done_in_order(
    valkey: EmbeddedValkey, redis: Redis, seed: int
) -> None:
    world = World(valkey.url, seed)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(world.work())
        await world.put_all()
        await world.worked_off(redis)

    assert {thread: sorted(set(numbers)) for thread, numbers in world.taken.items()} == {
        f"thread {thread}": list(range(EACH)) for thread in range(THREADS)
    }
    for thread, numbers in world.taken.items():
        assert numbers == sorted(numbers), f"{thread} was not worked on in order"


async def test_a_delivery_whose_put_died_half_way_is_found_without_being_delivered_again(
    redis: Redis,
) -> None:
    inbox = RedisInbox(redis)
    await inbox.put(Delivery("d1", "slack", "thread 1", "U1", "{}"))
    await redis.delete("footnote:inbox")  # as if its token had never been added
    lease = await RedisInbox(redis, overdue=timedelta()).take("worker", timedelta(seconds=3))
    assert lease is not None
    assert lease.delivery.id == "d1"


async def test_what_was_admitted_but_never_put_does_not_count_for_ever(
    redis: Redis,
) -> None:
    await redis.zadd("footnote:waiting", {'["thread 1", "d1", "U1"]': 1.0})
    await redis.zadd("footnote:{person:U1}:waiting", {'["thread 1", "d1", "U1"]': 1.0})
    inbox = RedisInbox(redis, overdue=timedelta())
    await inbox.take("worker", timedelta())
    assert await inbox.count_waiting() == 0
    assert await redis.zcard("footnote:{person:U1}:waiting") == 0
