"""The contract of every inbox."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox
from core.model.errors import Busy, LeaseLost
from core.ports.inbox import Delivery, Inbox, Lease
from tests.fakes.memory.inbox import InProcessInbox

WAIT = timedelta(seconds=5)
AT_ONCE = timedelta()
SHORT_LEASE = timedelta(milliseconds=150)
NewInbox = Callable[..., Inbox]


def delivery(name: str, thread: str = "slack/T1/C1/1", person: str = "U1") -> Delivery:
    return Delivery(name, "slack", thread, person, '{"text": "How many days? 日本"}')


async def taken(inbox: Inbox, worker: str = "worker") -> Lease:
    lease = await inbox.take(worker, WAIT)
    assert lease is not None
    return lease


class InboxContract:
    """Override ``new_inbox``: it makes an inbox with ``lease``, ``most_waiting`` and ``most_waiting_each``."""

    @pytest.fixture
    def new_inbox(self) -> NewInbox:
        raise NotImplementedError

    @pytest.fixture
    def inbox(self, new_inbox: NewInbox) -> Inbox:
        return new_inbox()

    async def test_what_was_put_is_taken_whole(self, inbox: Inbox) -> None:
        assert await inbox.put(delivery("d1"))
        lease = await taken(inbox)
        assert lease.delivery == delivery("d1")
        assert lease.runs == 0

    async def test_an_empty_inbox_gives_nothing_after_the_timeout(self, inbox: Inbox) -> None:
        assert await inbox.take("worker", timedelta(milliseconds=50)) is None

    async def test_a_delivery_that_comes_four_times_at_once_is_taken_once(self, inbox: Inbox) -> None:
        put = await asyncio.gather(*(inbox.put(delivery("d1")) for _ in range(4)))
        assert sorted(put) == [False, False, False, True]
        await inbox.complete(await taken(inbox))
        assert not await inbox.put(delivery("d1"))
        assert await inbox.take("worker", timedelta(milliseconds=50)) is None
        assert await inbox.count_waiting() == 0

    async def test_one_who_waits_is_woken_by_a_delivery(self, inbox: Inbox) -> None:
        waiting = asyncio.create_task(inbox.take("worker", WAIT))
        await asyncio.sleep(0.05)
        await inbox.put(delivery("d1"))
        lease = await waiting
        assert lease is not None

    async def test_a_thread_has_one_worker_at_a_time_and_keeps_its_order(self, inbox: Inbox) -> None:
        for name in ("d1", "d2", "d3"):
            await inbox.put(delivery(name))
        order = []
        for _ in range(3):
            lease = await taken(inbox)
            assert await inbox.take("another", timedelta(milliseconds=50)) is None
            order.append(lease.delivery.id)
            await inbox.complete(lease)
        assert order == ["d1", "d2", "d3"]

    async def test_threads_are_worked_on_side_by_side(self, inbox: Inbox) -> None:
        await inbox.put(delivery("d1", "thread 1"))
        await inbox.put(delivery("d2", "thread {2}"))
        assert {(await taken(inbox)).delivery.id, (await taken(inbox)).delivery.id} == {"d1", "d2"}

    async def test_someone_with_many_questions_does_not_keep_others_waiting(self, inbox: Inbox) -> None:
        for number in range(10):
            await inbox.put(delivery(f"mine{number}", f"thread {number}", "U1"))
        await inbox.put(delivery("yours", "thread x", "U2"))
        first, second = await taken(inbox), await taken(inbox)
        assert "yours" in {first.delivery.id, second.delivery.id}

    async def test_a_lease_that_runs_out_gives_the_delivery_to_another(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(lease=SHORT_LEASE)
        await inbox.put(delivery("d1"))
        dead = await taken(inbox, "dies")
        assert await inbox.begin(dead) == 1
        second = await taken(inbox, "takes over")
        assert second.delivery == dead.delivery
        assert second.fence > dead.fence
        assert second.runs == 1

    async def test_a_lease_that_is_renewed_does_not_run_out(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(lease=timedelta(milliseconds=400))
        await inbox.put(delivery("d1"))
        lease = await taken(inbox)
        for _ in range(8):
            await inbox.renew(lease)
            assert await inbox.take("another", timedelta(milliseconds=100)) is None
        await inbox.complete(lease)

    async def test_a_stale_worker_is_refused_everything(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(lease=SHORT_LEASE)
        await inbox.put(delivery("d1"))
        await inbox.put(delivery("d2"))
        stale = await taken(inbox, "slow")
        current = await taken(inbox, "quick")
        stale_calls = (
            inbox.renew(stale),
            inbox.begin(stale),
            inbox.complete(stale),
        )
        for stale_call in stale_calls:
            with pytest.raises(LeaseLost):
                await stale_call
        await inbox.hand_back(stale)
        await inbox.complete(current)
        assert await inbox.count_waiting() == 1

    async def test_what_is_done_cannot_be_held_on_to(self, inbox: Inbox) -> None:
        await inbox.put(delivery("d1"))
        await inbox.put(delivery("d2"))
        lease = await taken(inbox)
        await inbox.complete(lease)
        with pytest.raises(LeaseLost):
            await inbox.renew(lease)
        assert (await taken(inbox)).delivery.id == "d2"

    async def test_what_is_handed_back_is_taken_again_at_once(self, inbox: Inbox) -> None:
        await inbox.put(delivery("d1"))
        lease = await taken(inbox)
        await inbox.hand_back(lease)
        again = await taken(inbox)
        assert again.delivery == lease.delivery
        assert again.fence > lease.fence

    async def test_a_run_counts_when_it_begins_and_only_once_under_a_lease(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(lease=SHORT_LEASE)
        await inbox.put(delivery("d1"))
        for _ in range(3):  # leased but never begun: the worker died while its index was opening
            assert (await taken(inbox, "dies while it opens")).runs == 0
        first = await taken(inbox, "dies at work")
        assert [await inbox.begin(first), await inbox.begin(first)] == [1, 1]
        second = await taken(inbox, "takes over")
        assert second.runs == 1
        assert await inbox.begin(second) == 2

    async def test_giving_back_is_no_run_but_a_lease_that_ran_out_is(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(lease=SHORT_LEASE)
        await inbox.put(delivery("d1"))
        for _ in range(3):
            drained = await taken(inbox)
            assert await inbox.begin(drained) == 1
            await inbox.hand_back(drained)
            await inbox.hand_back(drained)
        await inbox.begin(await taken(inbox, "dies"))
        second = await taken(inbox, "takes over")
        assert await inbox.begin(second) == 2
        await inbox.hand_back(second)
        assert (await taken(inbox)).runs == 1

    async def test_the_next_delivery_has_no_runs(self, inbox: Inbox) -> None:
        await inbox.put(delivery("d1"))
        await inbox.put(delivery("d2"))
        lease = await taken(inbox)
        await inbox.begin(lease)
        await inbox.complete(lease)
        following = await taken(inbox)
        assert (following.delivery.id, following.runs) == ("d2", 0)
        assert following.fence > lease.fence

    async def test_it_counts_what_is_not_done(self, inbox: Inbox) -> None:
        assert await inbox.count_waiting() == 0
        await inbox.put(delivery("d1"))
        await inbox.put(delivery("d2", "thread 2"))
        lease = await taken(inbox)
        assert await inbox.count_waiting() == 2
        await inbox.complete(lease)
        assert await inbox.count_waiting() == 1

    async def test_a_person_with_too_many_waiting_is_told_so_and_others_are_not(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(most_waiting_each=2)
        await inbox.put(delivery("d1"))
        await inbox.put(delivery("d2"))
        with pytest.raises(Busy):
            await inbox.put(delivery("d3"))
        assert not await inbox.put(delivery("d2"))
        assert await inbox.put(delivery("theirs", "thread 2", "U2"))
        await inbox.complete(await taken(inbox))
        await inbox.complete(await taken(inbox))
        assert await inbox.put(delivery("d3"))

    async def test_a_full_inbox_takes_no_more(self, new_inbox: NewInbox) -> None:
        inbox = new_inbox(most_waiting=2)
        await inbox.put(delivery("d1", "thread 1", "U1"))
        await inbox.put(delivery("d2", "thread 2", "U2"))
        with pytest.raises(Busy):
            await inbox.put(delivery("d3", "thread 3", "U3"))
        assert await inbox.count_waiting() == 2

    async def test_several_lanes_share_the_work_and_each_delivery_is_done_once(self, inbox: Inbox) -> None:
        names = {f"d{number}" for number in range(40)}
        for number, name in enumerate(sorted(names)):
            await inbox.put(delivery(name, f"thread {number % 7}", f"U{number % 3}"))
        done: list[str] = []

        async def lane(worker: str) -> None:
            while (lease := await inbox.take(worker, timedelta(milliseconds=300))) is not None:
                done.append(lease.delivery.id)
                await inbox.complete(lease)

        async with asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(lane(f"lane {number}"))
        assert sorted(done) == sorted(names)
        assert await inbox.count_waiting() == 0


class TestInProcessInbox(InboxContract):
    @pytest.fixture
    def new_inbox(self) -> NewInbox:
        return InProcessInbox


@pytest.mark.live
class TestRedisInbox(InboxContract):
    @pytest.fixture
    def new_inbox(self, redis: Redis) -> NewInbox:
        def made(**settings: object) -> RedisInbox:
            return RedisInbox(redis, look_again=timedelta(milliseconds=100), **settings)  # type: ignore[arg-type]

        return made

    async def test_two_processes_share_the_work(self, new_inbox: NewInbox) -> None:
        one, other = new_inbox(), new_inbox()
        for number in range(10):
            await one.put(delivery(f"d{number}", f"thread {number}"))
        busy = await taken(one)  # it now holds the tokens of the other nine in hand
        done = []
        for _ in range(9):
            lease = await taken(other)
            done.append(lease.delivery.id)
            await other.complete(lease)
        await one.complete(busy)
        assert len({busy.delivery.id, *done}) == 10

    async def test_an_inbox_that_is_worked_off_leaves_no_token_and_no_text(
        self, new_inbox: NewInbox, redis: Redis
    ) -> None:
        inbox = new_inbox()
        for number in range(5):
            await inbox.put(delivery(f"d{number}", f"thread {number % 2}"))
            await inbox.put(delivery(f"d{number}", f"thread {number % 2}"))
        for _ in range(5):
            await inbox.complete(await taken(inbox))
        assert await inbox.take("worker", timedelta(milliseconds=400)) is None
        assert await redis.xlen("footnote:inbox") == 0
        left = {key async for key in redis.scan_iter() if key != "footnote:inbox"}
        assert all(key.endswith(":lease") or ":seen:" in key for key in left)
        assert [key for key in left if await redis.ttl(key) < 0] == []

    async def test_it_goes_on_after_the_server_lost_everything(self, new_inbox: NewInbox, redis: Redis) -> None:
        inbox = new_inbox()
        await inbox.put(delivery("d1"))
        await inbox.complete(await taken(inbox))
        await redis.flushall()
        await inbox.put(delivery("d2"))
        assert (await taken(inbox)).delivery.id == "d2"
