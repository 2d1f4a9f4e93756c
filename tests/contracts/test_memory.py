"""What every memory promises."""

from dataclasses import dataclass, replace

import pytest
from redis.asyncio import Redis

from adapters.redis.checkpoints import RedisCheckpoints
from adapters.redis.feedback import RedisFeedbackStore
from adapters.redis.inbox import RedisInbox
from adapters.redis.knowledge_records import RedisKnowledgeRecords
from adapters.redis.memory import RedisMemory
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.trace_store import RedisTraceStore
from adapters.testing.inbox import InProcessInbox
from adapters.testing.job_store import InProcessKnowledgeRecords
from adapters.testing.message_state import InProcessMessageStateStore
from adapters.testing.stores import (
    InProcessCheckpoints,
    InProcessFeedbackStore,
    InProcessMemory,
    InProcessState,
    InProcessTraceStore,
)
from core.model.conversation import ThreadKey
from core.model.errors import LeaseLost
from core.model.events import Noticed, TracedEvent
from core.ports.checkpoints import Checkpoints
from core.ports.feedback import Feedback, FeedbackStore
from core.ports.inbox import Delivery, Inbox, Lease
from core.ports.knowledge_records import KnowledgeRecords, Proposal
from core.ports.memory import Memory, ThreadRecord
from core.ports.message_state import MessageStateStore
from core.ports.trace_store import TraceStore
from tests.contracts.conversations import ANA, BEN, NOW, OTHER_THREAD, THREAD, evidence, parked, turn
from tests.contracts.test_inbox import AT_ONCE, WAIT

EVENT = TracedEvent(1.0, Noticed("hello"))


@dataclass
class Stores:
    memory: Memory
    checkpoints: Checkpoints
    trace_store: TraceStore
    feedback: FeedbackStore
    inbox: Inbox
    message_states: MessageStateStore
    proposals: KnowledgeRecords

    async def ask(self, name: str, thread: ThreadKey, person: str) -> None:
        await self.inbox.put(Delivery(name, "slack", str(thread), person, '{"text": "How many days?"}'))

    async def waiting(self) -> list[str]:
        """What is taken now, of one thread after the other."""
        found = []
        while (lease := await self.inbox.take("worker", AT_ONCE)) is not None:
            found.append(lease.delivery.id)
            await self.inbox.complete(lease)
        return found


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
        await stores.trace_store.record("t1", [EVENT], person_id=ANA.id)
        await stores.feedback.keep(Feedback("t1", BEN, helpful=True))
        assert await stores.memory.forget_thread(THREAD)
        assert await stores.memory.recall(THREAD) == ThreadRecord()
        assert await stores.checkpoints.read("c1") is None
        assert not await stores.trace_store.trace("t1")
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
            await stores.trace_store.record(trace, [EVENT], person_id=person.id)
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
        assert not await stores.trace_store.trace("t1")
        assert not await stores.trace_store.trace("t-failed")
        assert await stores.trace_store.trace("t2") == [EVENT]
        assert [(word.trace_id, word.person) async for word in stores.feedback.all()] == [("t2", BEN)]
        assert await stores.memory.forget_person(ANA.id) == 0

    async def test_forgetting_a_thread_reaches_checkpoints_that_were_taken_and_runs_that_failed(
        self, stores: Stores
    ) -> None:
        await stores.checkpoints.park(parked("c1"))
        await stores.checkpoints.claim("c1", by="press")
        await stores.trace_store.record("t-failed", [EVENT], person_id=ANA.id, thread=str(THREAD))
        await stores.trace_store.record("t-other", [EVENT], person_id=ANA.id, thread=str(OTHER_THREAD))
        await stores.memory.forget_thread(THREAD)
        assert await stores.checkpoints.read("c1", by="press") is None
        assert not await stores.trace_store.trace("t-failed")
        assert await stores.trace_store.trace("t-other") == [EVENT]

    async def test_forgetting_a_thread_takes_what_was_posted_and_what_waits_there(self, stores: Stores) -> None:
        here, there = str(THREAD), str(OTHER_THREAD)
        for thread, subject in ((here, "m1"), (here, "checkpoint:c1"), (there, "m9")):
            await stores.message_states.keep(thread, subject, {"question": "How many days?"})
        await stores.message_states.request_cancel(here, "m1", "stopped")
        await stores.ask("d1", THREAD, ANA.id)
        await stores.ask("d2", THREAD, BEN.id)
        await stores.ask("d3", OTHER_THREAD, ANA.id)
        assert await stores.memory.forget_thread(THREAD)
        assert not await stores.message_states.read(here, "m1")
        assert not await stores.message_states.read(here, "checkpoint:c1")
        assert not await stores.message_states.take_cancel(here, "m1")
        assert await stores.message_states.read(there, "m9")
        assert await stores.inbox.count_waiting() == 1
        assert not await stores.inbox.put(Delivery("d1", "slack", here, ANA.id, "{}"))  # delivered again: over
        assert await stores.waiting() == ["d3"]

    async def test_forgetting_a_person_takes_what_was_posted_for_them_and_what_of_theirs_waits(
        self, stores: Stores
    ) -> None:
        thread = str(THREAD)
        for name, person, subject in (("d1", ANA.id, "m1"), ("d2", BEN.id, "m2")):
            await stores.ask(name, THREAD, person)
            lease = await stores.inbox.take("worker", WAIT)
            assert lease is not None
            await stores.message_states.keep(thread, subject, {"question": "How many days?"}, fence=lease.fence)
            await stores.message_states.keep(
                thread, "m1", {"outcome": "answered"}, fence=lease.fence
            )  # hers, also when he
            await stores.inbox.complete(lease)
        await stores.message_states.keep(thread, "m3", {"by": ANA.id}, person=ANA.id)
        await stores.ask("d3", THREAD, BEN.id)
        await stores.ask("d4", THREAD, ANA.id)
        await stores.ask("d5", OTHER_THREAD, ANA.id)
        await stores.memory.forget_person(ANA.id)
        kept = [subject for subject in ("m1", "m2", "m3") if await stores.message_states.read(thread, subject)]
        assert kept == ["m2"]
        assert dict(await stores.message_states.read(thread, "m2")) == {"question": "How many days?"}
        assert await stores.waiting() == ["d3"]
        assert await stores.inbox.count_waiting() == 0

    async def test_what_was_posted_for_one_stays_when_another_who_pressed_there_is_forgotten(
        self, stores: Stores
    ) -> None:
        thread = str(THREAD)
        for name, person in (("d1", ANA.id), ("d2", BEN.id)):
            await stores.ask(name, THREAD, person)
            lease = await stores.inbox.take("worker", WAIT)
            assert lease is not None
            await stores.message_states.keep(thread, "m1", {name: "kept"}, fence=lease.fence)
            await stores.inbox.complete(lease)
        await stores.memory.forget_person(BEN.id)
        assert dict(await stores.message_states.read(thread, "m1")) == {"d1": "kept", "d2": "kept"}
        await stores.memory.forget_person(ANA.id)
        assert not await stores.message_states.read(thread, "m1")

    async def test_a_person_is_forgotten_where_nobody_said_whose_a_note_is(self, stores: Stores) -> None:
        """Where somebody was last answered, who shared what, whose record a place is: kept without an owner."""
        channel, longer = "slack/T1/C1/", f"{ANA.id}9"
        await stores.trace_store.record("t1", [EVENT], person_id=ANA.id)
        await stores.message_states.keep(channel, "latest", {"thread": str(THREAD), "trace": "t1"})
        for person in (ANA.id, longer):
            await stores.message_states.keep(channel, f"latest:{person}", {"thread": str(THREAD)})
            await stores.message_states.keep(f"slack/kb/{person}", "offer", {"open": "yes"})
        await stores.message_states.keep(str(THREAD), "shared:t1", {"by": ANA.id})
        await stores.message_states.keep("discord/last/C1", "where", {ANA.id: str(THREAD), longer: str(THREAD)})
        await stores.memory.forget_person(ANA.id)
        assert not await stores.message_states.read(channel, f"latest:{ANA.id}")
        assert not await stores.message_states.read(f"slack/kb/{ANA.id}", "offer")
        assert not await stores.message_states.read(str(THREAD), "shared:t1")
        assert dict(await stores.message_states.read(channel, "latest")) == {"thread": str(THREAD)}
        assert dict(await stores.message_states.read("discord/last/C1", "where")) == {longer: str(THREAD)}
        assert await stores.message_states.read(channel, f"latest:{longer}")
        assert await stores.message_states.read(f"slack/kb/{longer}", "offer")

    async def test_what_is_being_worked_on_is_left_to_come_to_its_end(self, stores: Stores) -> None:
        lease = await leased(stores, THREAD)
        await stores.ask("d2", THREAD, ANA.id)
        await stores.memory.forget_person(ANA.id)
        await stores.memory.forget_thread(THREAD)
        await stores.memory.remember(THREAD, turn("t1"), [], fence=lease.fence)
        await stores.inbox.complete(lease)
        assert await stores.waiting() == []
        assert (await stores.memory.recall(THREAD)).total == 1

    async def test_whose_a_trace_is_need_be_said_only_once(self, stores: Stores) -> None:
        for trace, thread in (("t1", THREAD), ("t2", OTHER_THREAD)):
            await stores.trace_store.record(trace, [EVENT], person_id=ANA.id, thread=str(thread))
            await stores.trace_store.record(trace, [EVENT])
        await stores.memory.forget_thread(THREAD)
        assert not await stores.trace_store.trace("t1")
        await stores.memory.forget_person(ANA.id)
        assert not await stores.trace_store.trace("t2")

    async def test_feedback_is_forgotten_with_whose_question_it_repeats(self, stores: Stores) -> None:
        await stores.memory.remember(THREAD, turn("t1"), [])
        await stores.feedback.keep(Feedback("t1", BEN, helpful=True, question="How many days?"))
        hers = Feedback("long gone", BEN, helpful=True, question="How many?", asker=ANA.id, thread=str(THREAD))
        await stores.feedback.keep(hers)
        await stores.feedback.keep(Feedback("his", BEN, helpful=True, asker=BEN.id, thread=str(OTHER_THREAD)))
        await stores.memory.forget_person(ANA.id)
        assert [word.trace_id async for word in stores.feedback.all()] == ["his"]
        await stores.memory.forget_thread(OTHER_THREAD)
        assert [word async for word in stores.feedback.all()] == []

    async def test_proposals_that_wait_are_taken_back_with_who_made_them(self, stores: Stores) -> None:
        for name, person in (("p1", ANA), ("p2", BEN)):
            await stores.proposals.propose(Proposal(name, "", name, "Days", "Thirty.", person, NOW))
        await stores.memory.forget_person(ANA.id)
        assert [proposal.id for proposal in await stores.proposals.proposals()] == ["p2"]


class TestInProcessMemory(MemoryContract):
    @pytest.fixture
    def stores(self) -> Stores:
        state = InProcessState()
        return Stores(
            InProcessMemory(state, turns=4, library=3),
            InProcessCheckpoints(state),
            InProcessTraceStore(state),
            InProcessFeedbackStore(state),
            InProcessInbox(state),
            InProcessMessageStateStore(state),
            InProcessKnowledgeRecords(state),
        )


@pytest.mark.live
class TestRedisMemory(MemoryContract):
    @pytest.fixture
    def stores(self, redis: Redis) -> Stores:
        return Stores(
            RedisMemory(redis, turns=4, library=3),
            RedisCheckpoints(redis),
            RedisTraceStore(redis),
            RedisFeedbackStore(redis),
            RedisInbox(redis),
            RedisMessageStateStore(redis),
            RedisKnowledgeRecords(redis),
        )

    async def test_nothing_of_a_person_is_left_in_any_key_or_value(self, stores: Stores, redis: Redis) -> None:
        words = "the unspeakable question"
        await stores.ask("d1", THREAD, ANA.id)
        lease = await stores.inbox.take("worker", WAIT)
        assert lease is not None
        await stores.message_states.keep(str(THREAD), "m1", {"question": words}, fence=lease.fence)
        await stores.memory.remember(THREAD, replace(turn("t1"), question=words), [], fence=lease.fence)
        await stores.checkpoints.park(parked("c1"))
        await stores.trace_store.record("t1", [TracedEvent(1.0, Noticed(words))], person_id=ANA.id)
        await stores.feedback.keep(Feedback("t1", BEN, helpful=True, question=words, asker=ANA.id))
        await stores.inbox.complete(lease)
        await stores.inbox.put(Delivery("d2", "slack", str(THREAD), ANA.id, words))
        await stores.memory.forget_person(ANA.id)
        await stores.waiting()
        left = [await _everything(redis, key) async for key in redis.scan_iter()]
        assert not [text for text in left if words in text or ANA.id in text]

    async def test_every_key_about_a_conversation_has_an_end(self, stores: Stores, redis: Redis) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
        await stores.memory.mute(OTHER_THREAD, muted=True)
        await stores.checkpoints.park(parked("c1"))
        await stores.trace_store.record("t1", [EVENT], person_id=ANA.id)
        keys = [key async for key in redis.scan_iter() if key != "footnote:checkpoints:due"]
        assert len(keys) > 8
        assert [key for key in keys if await redis.ttl(key) < 0] == []


async def _everything(redis: Redis, key: str) -> str:
    """A key with all that is kept there, as text."""
    match await redis.type(key):
        case "hash":
            held: object = await redis.hgetall(key)
        case "list":
            held = await redis.lrange(key, 0, -1)
        case "zset":
            held = await redis.zrange(key, 0, -1)
        case "stream":
            held = await redis.xrange(key)
        case _:
            held = await redis.get(key)
    return f"{key} {held}"
