"""What every memory promises."""

from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from adapters.stores.redis_checkpoints import RedisCheckpoints
from adapters.stores.redis_feedback import RedisFeedbackBox
from adapters.stores.redis_inbox import RedisInbox
from adapters.stores.redis_journal import RedisJournal
from adapters.stores.redis_memory import RedisMemory
from adapters.testing.inbox import InProcessInbox
from adapters.testing.stores import (
    InProcessCheckpoints,
    InProcessFeedbackBox,
    InProcessJournal,
    InProcessMemory,
    InProcessState,
)
from core.conversation import ThreadKey
from core.errors import LeaseLost
from core.events import Noticed, TracedEvent
from core.ports import Checkpoints, Delivery, Feedback, FeedbackBox, Inbox, Journal, Lease, Memory, ThreadRecord
from tests.contracts.conversations import ANA, BEN, OTHER_THREAD, THREAD, evidence, parked, turn
from tests.contracts.test_inbox import WAIT

EVENT = TracedEvent(1.0, Noticed("hello"))


@dataclass
class Stores:
    memory: Memory
    checkpoints: Checkpoints
    journal: Journal
    feedback: FeedbackBox
    inbox: Inbox


async def leased(stores: Stores, thread: ThreadKey) -> Lease:
    await stores.inbox.put(Delivery("d1", "slack", str(thread), ANA.id, "{}"))
    lease = await stores.inbox.take("worker", WAIT)
    assert lease is not None
    return lease


class MemoryContract:
    """Override ``stores``: a memory of four turns and three pieces of evidence, beside what it forgets with."""

    @pytest.fixture
    def stores(self) -> Stores:
        raise NotImplementedError

    async def test_a_new_thread_is_an_empty_record(self, stores: Stores) -> None:
        assert await stores.memory.recall(THREAD) == ThreadRecord()

    async def test_turns_come_back_whole_and_in_order(self, stores: Stores) -> None:
        first, second = (
            turn("t1", cites=(1,)),
            turn("t2", asker=BEN, cites=(2, 1), answer='"quoted" \\ and\nlined 日本'),
        )
        await stores.memory.remember(THREAD, first, [evidence(1)])
        await stores.memory.remember(THREAD, second, [evidence(2)])
        record = await stores.memory.recall(THREAD)
        assert record.turns == (first, second)
        assert record.library.items == (evidence(1), evidence(2))
        assert record.total == 2
        assert await stores.memory.recall(OTHER_THREAD) == ThreadRecord()

    async def test_the_same_trace_again_replaces_its_turn(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1", answer="Looking …"), [])
        await stores.memory.remember(THREAD, turn("t2"), [])
        await stores.memory.remember(THREAD, turn("t1", answer="Thirty."), [])
        record = await stores.memory.recall(THREAD)
        assert [kept.answer for kept in record.turns] == ["Thirty.", "Thirty days [1]."]
        assert record.total == 2

    async def test_only_the_last_turns_are_kept_but_all_are_counted(self, stores: Stores) -> None:
        for number in range(6):
            await stores.memory.remember(THREAD, turn(f"t{number}"), [])
        record = await stores.memory.recall(THREAD)
        assert [kept.trace_id for kept in record.turns] == ["t2", "t3", "t4", "t5"]
        assert record.total == 6

    async def test_a_full_library_gives_up_what_no_kept_turn_cites_oldest_first(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1), evidence(2), evidence(3)])
        await stores.memory.remember(THREAD, turn("t2", cites=(4,)), [evidence(4)])
        record = await stores.memory.recall(THREAD)
        assert [item.id for item in record.library] == [1, 3, 4]

    async def test_a_full_library_of_cited_evidence_gives_up_the_oldest(self, stores: Stores) -> None:
        for number in (1, 2, 3, 4):
            await stores.memory.remember(THREAD, turn(f"t{number}", cites=(number,)), [evidence(number)])
        assert [item.id for item in (await stores.memory.recall(THREAD)).library] == [2, 3, 4]

    async def test_a_summary_covers_the_turns_it_says(self, stores: Stores) -> None:
        for number in range(3):
            await stores.memory.remember(THREAD, turn(f"t{number}"), [])
        await stores.memory.summarise(THREAD, "Ana asked twice.", frozenset({"handbook", "sales"}), 2)
        record = await stores.memory.recall(THREAD)
        assert (record.summary, record.summary_bases) == ("Ana asked twice.", frozenset({"handbook", "sales"}))
        assert record.summarised == 2

    async def test_a_summary_that_comes_too_late_is_ignored(self, stores: Stores) -> None:
        for number in range(3):
            await stores.memory.remember(THREAD, turn(f"t{number}"), [])
        await stores.memory.summarise(THREAD, "newer", frozenset(), 2)
        await stores.memory.summarise(THREAD, "older", frozenset(), 1)
        await stores.memory.summarise(THREAD, "of turns forgotten meanwhile", frozenset(), 9)
        assert (await stores.memory.recall(THREAD)).summary == "newer"

    async def test_a_thread_is_muted_until_it_is_unmuted(self, stores: Stores) -> None:
        await stores.memory.mute(THREAD, muted=True)
        assert (await stores.memory.recall(THREAD)).muted
        await stores.memory.mute(THREAD, muted=False)
        assert not (await stores.memory.recall(THREAD)).muted

    async def test_a_stale_worker_cannot_write(self, stores: Stores) -> None:
        stale = await leased(stores, THREAD)
        await stores.inbox.hand_back(stale)
        current = await stores.inbox.take("another", WAIT)
        assert current is not None
        await stores.memory.remember(THREAD, turn("t1", answer="current"), [], fence=current.fence)
        with pytest.raises(LeaseLost):
            await stores.memory.remember(THREAD, turn("t1", answer="stale"), [evidence(1)], fence=stale.fence)
        record = await stores.memory.recall(THREAD)
        assert [kept.answer for kept in record.turns] == ["current"]
        assert not record.library.items

    async def test_a_fence_of_a_thread_that_nobody_ever_held_is_stale(self, stores: Stores) -> None:
        with pytest.raises(LeaseLost):
            await stores.memory.remember(THREAD, turn("t1"), [], fence=1)

    async def test_forgetting_a_thread_leaves_nothing_of_it(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
        await stores.memory.remember(OTHER_THREAD, turn("t2"), [])
        await stores.memory.summarise(THREAD, "summary", frozenset(), 1)
        await stores.checkpoints.park(parked("c1"))
        await stores.journal.record("t1", [EVENT], person_id=ANA.id)
        await stores.feedback.keep(Feedback("t1", BEN, helpful=True))
        assert await stores.memory.forget_thread(THREAD)
        assert await stores.memory.recall(THREAD) == ThreadRecord()
        assert await stores.checkpoints.read("c1") is None
        assert not await stores.journal.trace("t1")
        assert [word async for word in stores.feedback.all()] == []
        assert (await stores.memory.recall(OTHER_THREAD)).total == 1
        assert not await stores.memory.forget_thread(THREAD)

    async def test_a_muted_thread_stays_muted_when_it_is_forgotten(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1"), [])
        await stores.memory.mute(THREAD, muted=True)
        await stores.memory.forget_thread(THREAD)
        assert await stores.memory.recall(THREAD) == ThreadRecord(muted=True)

    async def test_forgetting_a_person_takes_their_words_everywhere_and_leaves_the_others(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
        await stores.memory.remember(THREAD, turn("t2", asker=BEN, cites=(2,)), [evidence(2)])
        await stores.memory.remember(OTHER_THREAD, turn("t3"), [])
        await stores.memory.summarise(THREAD, "Ana asked about leave.", frozenset(), 1)
        await stores.checkpoints.park(parked("hers", thread=OTHER_THREAD))
        await stores.checkpoints.park(parked("his", asker=BEN))
        for trace, person in (("t1", ANA), ("t2", BEN), ("t-failed", ANA)):
            await stores.journal.record(trace, [EVENT], person_id=person.id)
        for trace, person in (("t1", ANA), ("t2", ANA), ("t2", BEN)):
            await stores.feedback.keep(Feedback(trace, person, helpful=False))

        assert await stores.memory.forget_person(ANA.id) == 2

        record = await stores.memory.recall(THREAD)
        assert [kept.trace_id for kept in record.turns] == ["t2"]
        assert [item.id for item in record.library] == [2]
        assert (record.summary, record.summarised, record.total) == ("", 0, 1)
        assert record.open_checkpoint == "his"
        assert await stores.memory.recall(OTHER_THREAD) == ThreadRecord()
        assert await stores.checkpoints.read("hers") is None
        assert not await stores.journal.trace("t1")
        assert not await stores.journal.trace("t-failed")
        assert await stores.journal.trace("t2") == [EVENT]
        assert [(word.trace_id, word.person) async for word in stores.feedback.all()] == [("t2", BEN)]
        assert await stores.memory.forget_person(ANA.id) == 0


class TestInProcessMemory(MemoryContract):
    @pytest.fixture
    def stores(self) -> Stores:
        state = InProcessState()
        return Stores(
            InProcessMemory(state, turns=4, library=3),
            InProcessCheckpoints(state),
            InProcessJournal(state),
            InProcessFeedbackBox(state),
            InProcessInbox(state),
        )


@pytest.mark.live
class TestRedisMemory(MemoryContract):
    @pytest.fixture
    def stores(self, redis: Redis) -> Stores:
        return Stores(
            RedisMemory(redis, turns=4, library=3),
            RedisCheckpoints(redis),
            RedisJournal(redis),
            RedisFeedbackBox(redis),
            RedisInbox(redis),
        )

    async def test_every_key_about_a_conversation_has_an_end(self, stores: Stores, redis: Redis) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
        await stores.memory.mute(OTHER_THREAD, muted=True)
        await stores.checkpoints.park(parked("c1"))
        await stores.journal.record("t1", [EVENT], person_id=ANA.id)
        keys = [key async for key in redis.scan_iter() if key != "footnote:checkpoints:due"]
        assert len(keys) > 8
        assert [key for key in keys if await redis.ttl(key) < 0] == []
