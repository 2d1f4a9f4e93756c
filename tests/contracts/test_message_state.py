"""The contract of every message state store: it shares records, and rejects stale workers."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox
from adapters.redis.keys import record_key
from adapters.redis.message_state import RedisMessageStateStore
from core.model.conversation import ThreadKey
from core.model.errors import LeaseLost
from core.model.records import NUMBERED, PERSON, QuestionState, Record
from core.ports.inbox import Delivery, Inbox
from core.ports.message_state import CancelReason, MessageStateStore
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessState

THREAD = ThreadKey("paper", "T", "C", "1 {odd}")
ALICE = "paper:alice"


@dataclass(frozen=True, kw_only=True)
class Sheet(QuestionState):
    """A state of a platform."""

    page: str = ""
    parts: tuple[str, ...] = field(default=(), metadata=NUMBERED)


@dataclass(frozen=True, kw_only=True)
class Note(Record, place="paper/notes", subject="all", entry="{name}"):
    name: str
    person: str = field(default="", metadata=PERSON)


class MessageStateContract:
    """Override ``road``: message states and an inbox on the same store."""

    @pytest.fixture
    async def road(self) -> tuple[MessageStateStore, Inbox]:
        raise NotImplementedError

    async def test_what_changed_is_replaced_and_the_rest_stays(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, _ = road
        first = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1", parts=("a", "b"))
        await store.save(first)
        await store.save(Sheet(thread=THREAD, message="m1", asker=ALICE, checkpoint="c1"))  # by another, meanwhile
        await store.save(replace(first, page="", parts=("a",)), was=first)
        assert await store.read(Sheet(thread=THREAD, message="m1")) == replace(
            first, page="", parts=("a",), checkpoint="c1"
        )
        assert await store.read(Sheet(thread=THREAD, message="m2")) is None

    async def test_of_many_who_exchange_a_record_one_succeeds(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, _ = road
        was = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1", checkpoint="c1")
        await store.save(was)
        nows = [replace(was, page="", outcome=f"by {n}") for n in range(8)]
        kept = await asyncio.gather(*(store.exchange(was, now) for now in nows))
        assert sorted(kept) == [*[False] * 7, True]
        assert await store.read(was) == nows[kept.index(True)]
        assert not await store.exchange(was, replace(was, page="2"))

    async def test_an_exchange_leaves_alone_what_it_does_not_change(
        self, road: tuple[MessageStateStore, Inbox]
    ) -> None:
        store, _ = road
        was = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1")
        await store.save(was)
        await store.save(replace(was, outcome="answered"))
        assert await store.exchange(was, replace(was, page="2"))
        assert await store.read(was) == replace(was, page="2", outcome="answered")

    async def test_an_exchange_without_a_change_does_not_bring_a_removed_record_back(
        self, road: tuple[MessageStateStore, Inbox]
    ) -> None:
        store, _ = road
        was = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1")
        await store.save(was)
        assert await store.exchange(was, was)
        await store.remove(was)
        assert not await store.exchange(was, was)
        assert await store.read(was) is None

    async def test_of_many_who_begin_a_record_one_succeeds(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, _ = road
        blank = Sheet(thread=THREAD, message="m1", asker=ALICE)
        kept = await asyncio.gather(*(store.exchange(blank, replace(blank, page=str(n))) for n in range(8)))
        assert sorted(kept) == [*[False] * 7, True]

    async def test_several_share_an_address_under_names_of_their_own(
        self, road: tuple[MessageStateStore, Inbox]
    ) -> None:
        store, _ = road
        notes = [Note(name=name, person=ALICE) for name in ("one", "two")]
        await store.save(*notes)
        await store.remove(notes[0])
        assert await store.read_entries(Note(name="")) == [notes[1]]
        assert await store.read(notes[0]) is None
        assert await store.read(Note(name="two")) == notes[1]

    async def test_what_is_removed_is_gone(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, _ = road
        state = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1")
        await store.save(state)
        await store.remove(state)
        assert await store.read(state) is None

    async def test_a_request_to_cancel_is_taken_once(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, _ = road
        await store.request_cancel(str(THREAD), "m1", CancelReason.EDITED)
        assert await store.take_cancel(str(THREAD), "m2") is None
        assert await store.take_cancel(str(THREAD), "m1") is CancelReason.EDITED
        assert await store.take_cancel(str(THREAD), "m1") is None

    async def test_a_stale_worker_cannot_keep_anything(self, road: tuple[MessageStateStore, Inbox]) -> None:
        store, inbox = road
        await inbox.put(Delivery("e1", "paper", str(THREAD), "alice", "{}"))
        stale = await inbox.take("first", timedelta(seconds=1))
        assert stale is not None
        first = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1")
        await store.save(first, fence=stale.fence)
        await inbox.hand_back(stale)
        fresh = await inbox.take("second", timedelta(seconds=1))
        assert fresh is not None
        with pytest.raises(LeaseLost):
            await store.save(replace(first, page="2"), fence=stale.fence)
        with pytest.raises(LeaseLost):  # it is refused also where it would change nothing
            await store.save(first, was=first, fence=stale.fence)
        await store.save(replace(first, page="3"), fence=fresh.fence)
        assert await store.read(first) == replace(first, page="3")


class TestInProcess(MessageStateContract):
    @pytest.fixture
    async def road(self) -> tuple[MessageStateStore, Inbox]:
        state = InProcessState()
        return InProcessMessageStateStore(state), InProcessInbox(state)


@pytest.mark.live
class TestRedis(MessageStateContract):
    @pytest.fixture
    async def road(self, redis: Redis) -> tuple[MessageStateStore, Inbox]:
        return RedisMessageStateStore(redis), RedisInbox(redis)

    async def test_a_record_has_its_time_from_its_last_change(self, redis: Redis) -> None:
        store = RedisMessageStateStore(redis, ttl=timedelta(minutes=5))
        state = Sheet(thread=THREAD, message="m1", asker=ALICE, page="1")
        await store.save(state)
        await redis.expire(record_key(str(THREAD), "m1"), 10)
        await store.exchange(state, replace(state, page="2"))
        assert 10 < await redis.ttl(record_key(str(THREAD), "m1")) <= 300
