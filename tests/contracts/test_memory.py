"""The contract of every memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox
from adapters.redis.kb_stores import RedisProposalStore
from adapters.redis.keys import record_key
from adapters.redis.memory import RedisCheckpoints, RedisMemory
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.question_log import RedisFeedbackStore
from adapters.redis.usage import RedisTraceStore
from core.model.conversation import Person, ThreadKey
from core.model.errors import LeaseLost
from core.model.events import Noticed, TracedEvent
from core.model.incoming_events import IncomingMessage
from core.model.records import CheckpointState, QuestionState, Record
from core.ports.inbox import Delivery, Inbox, Lease
from core.ports.job_store import Proposal, ProposalStore
from core.ports.memory import AskedQuestion, Checkpoints, Feedback, FeedbackStore, Memory, ThreadRecord
from core.ports.message_state import CancelReason, MessageStateStore
from core.ports.usage import TraceStore
from tests.contracts.conversations import ANA, BEN, NOW, OTHER_THREAD, THREAD, evidence, parked, turn
from tests.contracts.records import WORDS, product_types, sample
from tests.contracts.test_inbox import AT_ONCE, WAIT
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import (
    InProcessCheckpoints,
    InProcessFeedbackStore,
    InProcessMemory,
    InProcessState,
    InProcessTraceStore,
)

EVENT = TracedEvent(1.0, Noticed("hello"))


@dataclass
class Stores:
    memory: Memory
    checkpoints: Checkpoints
    trace_store: TraceStore
    feedback: FeedbackStore
    inbox: Inbox
    message_states: MessageStateStore
    proposals: ProposalStore

    async def ask(self, name: str, thread: ThreadKey, person: str) -> None:
        await self.inbox.put(Delivery(name, "slack", str(thread), person, '{"text": "How many days?"}'))

    async def put_at_rest(self, place: str, subject: str, values: Mapping[str, str]) -> None:
        """Write a record's fields as they stand at rest, and nothing beside."""
        raise NotImplementedError

    async def at_rest(self, place: str, subject: str) -> Mapping[str, str]:
        raise NotImplementedError

    async def waiting(self) -> list[str]:
        """Take the waiting deliveries, one thread after the other."""
        found = []
        while (lease := await self.inbox.take("worker", AT_ONCE)) is not None:
            found.append(lease.delivery.id)
            await self.inbox.complete(lease)
        return found


@dataclass
class InProcessStores(Stores):
    state: InProcessState

    async def put_at_rest(self, place: str, subject: str, values: Mapping[str, str]) -> None:
        self.state.records[place, subject] = dict(values)

    async def at_rest(self, place: str, subject: str) -> Mapping[str, str]:
        return self.state.records.get((place, subject), {})


@dataclass
class RedisStores(Stores):
    redis: Redis

    async def put_at_rest(self, place: str, subject: str, values: Mapping[str, str]) -> None:
        await self.redis.hset(record_key(place, subject), mapping=dict(values))  # type: ignore[arg-type]

    async def at_rest(self, place: str, subject: str) -> Mapping[str, str]:
        return {str(name): str(value) for name, value in (await self.redis.hgetall(record_key(place, subject))).items()}


def posted(thread: ThreadKey, message: str, asker: Person = ANA) -> QuestionState:
    return QuestionState(thread=thread, message=message, asker=asker.id, outcome="answered")


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

    async def test_what_somebody_asked_comes_newest_first_and_is_theirs_alone(self, stores: Stores) -> None:
        later = NOW + timedelta(hours=1)
        await stores.memory.remember(OTHER_THREAD, replace(turn("t1"), rewritten="how many"), [])
        await stores.memory.remember(THREAD, replace(turn("t2"), at=later, rewritten="how many"), [])
        await stores.memory.remember(THREAD, replace(turn("t3", asker=BEN), rewritten="how many"), [])
        await stores.memory.remember(THREAD, turn("t4"), [])  # a greeting: nothing was looked up
        assert await stores.memory.questions_of(ANA.id, 5) == [
            AskedQuestion(THREAD, turn("t2").question, later),
            AskedQuestion(OTHER_THREAD, turn("t1").question, NOW),
        ]
        assert [one.thread for one in await stores.memory.questions_of(BEN.id, 5)] == [THREAD]
        assert len(await stores.memory.questions_of(ANA.id, 1)) == 1
        await stores.memory.forget_person(ANA.id)
        assert await stores.memory.questions_of(ANA.id, 5) == []
        assert len(await stores.memory.questions_of(BEN.id, 5)) == 1

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

    async def test_forgetting_a_thread_deletes_resumed_checkpoints_and_failed_runs(self, stores: Stores) -> None:
        await stores.checkpoints.park(parked("c1"))
        await stores.checkpoints.claim("c1", by="press")
        await stores.trace_store.record("t-failed", [EVENT], person_id=ANA.id, thread=str(THREAD))
        await stores.trace_store.record("t-other", [EVENT], person_id=ANA.id, thread=str(OTHER_THREAD))
        await stores.memory.forget_thread(THREAD)
        assert await stores.checkpoints.read("c1", by="press") is None
        assert not await stores.trace_store.trace("t-failed")
        assert await stores.trace_store.trace("t-other") == [EVENT]

    async def test_forgetting_a_thread_takes_what_was_posted_and_what_waits_there(self, stores: Stores) -> None:
        here, there = posted(THREAD, "m1"), posted(OTHER_THREAD, "m9")
        card = CheckpointState(thread=THREAD, checkpoint="c1", asker=ANA.id, chosen="Search on")
        for record in (here, there, card):
            await stores.message_states.save(record)
        await stores.message_states.request_cancel(str(THREAD), "m1", CancelReason.STOPPED)
        await stores.message_states.request_cancel(str(THREAD), "m7", CancelReason.STOPPED)
        await stores.ask("d1", THREAD, ANA.id)
        await stores.ask("d2", THREAD, BEN.id)
        await stores.ask("d3", OTHER_THREAD, ANA.id)
        assert await stores.memory.forget_thread(THREAD)
        assert await stores.message_states.read(here) is None
        assert await stores.message_states.read(card) is None
        for message in ("m1", "m7"):
            assert await stores.message_states.take_cancel(str(THREAD), message) is None
        assert await stores.message_states.read(there)
        assert await stores.inbox.count_waiting() == 1
        assert not await stores.inbox.put(Delivery("d1", "slack", str(THREAD), ANA.id, "{}"))  # delivered again: over
        assert await stores.waiting() == ["d3"]

    async def test_forgetting_a_person_takes_what_was_posted_for_them_and_what_of_theirs_waits(
        self, stores: Stores
    ) -> None:
        hers, his = posted(THREAD, "m1", ANA), posted(THREAD, "m2", BEN)
        await stores.message_states.save(hers, his)
        await stores.ask("d3", THREAD, BEN.id)
        await stores.ask("d4", THREAD, ANA.id)
        await stores.ask("d5", OTHER_THREAD, ANA.id)
        await stores.memory.forget_person(ANA.id)
        assert await stores.message_states.read(hers) is None
        assert await stores.message_states.read(his) == his
        assert await stores.waiting() == ["d3"]
        assert await stores.inbox.count_waiting() == 0

    async def test_a_record_that_has_become_anothers_stays_when_the_first_is_forgotten(self, stores: Stores) -> None:
        for asker in (ANA, BEN):
            await stores.message_states.save(posted(THREAD, "m1", asker))
        await stores.memory.forget_person(ANA.id)
        assert await stores.message_states.read(posted(THREAD, "m1")) == posted(THREAD, "m1", BEN)
        await stores.memory.forget_person(BEN.id)
        assert await stores.message_states.read(posted(THREAD, "m1")) is None

    @pytest.mark.parametrize("kind", product_types(), ids=lambda kind: kind.__name__)
    async def test_every_type_of_record_is_forgotten_with_each_of_its_owners(
        self, stores: Stores, kind: type[Record]
    ) -> None:
        hers, others = sample(kind, ANA.id, THREAD), sample(kind, BEN.id, OTHER_THREAD)
        apart = hers.address != others.address
        for by_person in (True, False):
            owners = hers.owners.people if by_person else hers.owners.threads
            await stores.message_states.save(hers, *([others] if apart else []))
            assert await stores.message_states.read(hers)
            if by_person:
                await stores.memory.forget_person(ANA.id)
            else:
                await stores.memory.forget_thread(THREAD)
            assert (await stores.message_states.read(hers) is None) == bool(owners)
            assert not apart or await stores.message_states.read(others)

    async def test_a_person_is_forgotten_where_the_first_version_did_not_say_whose_a_record_is(
        self, stores: Stores
    ) -> None:
        channel, longer = "slack/T1/C1/", f"{ANA.id}9"
        await stores.trace_store.record("t1", [EVENT], person_id=ANA.id)
        await stores.put_at_rest(channel, "latest", {"thread": str(THREAD), "trace": "t1"})
        for person in (ANA.id, longer):
            await stores.put_at_rest(channel, f"latest:{person}", {"thread": str(THREAD)})
            await stores.put_at_rest(f"slack/kb/{person}", "offer", {"open": "yes"})
        await stores.put_at_rest(str(THREAD), "shared:t1", {"by": ANA.id})
        await stores.put_at_rest("discord/last/C1", "where", {ANA.id: str(THREAD), longer: str(THREAD)})
        await stores.memory.forget_person(ANA.id)
        assert not await stores.at_rest(channel, f"latest:{ANA.id}")
        assert not await stores.at_rest(f"slack/kb/{ANA.id}", "offer")
        assert not await stores.at_rest(str(THREAD), "shared:t1")
        assert await stores.at_rest(channel, "latest") == {"thread": str(THREAD)}
        assert await stores.at_rest("discord/last/C1", "where") == {longer: str(THREAD)}
        assert await stores.at_rest(channel, f"latest:{longer}")
        assert await stores.at_rest(f"slack/kb/{longer}", "offer")

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
            await stores.proposals.keep_proposal(Proposal(name, "", name, "Days", "Thirty.", person, NOW))
        await stores.memory.forget_person(ANA.id)
        assert [proposal.id for proposal in await stores.proposals.proposals()] == ["p2"]


class TestInProcessMemory(MemoryContract):
    @pytest.fixture
    def stores(self) -> Stores:
        state = InProcessState()
        return InProcessStores(
            InProcessMemory(state, turns=4, library=3),
            InProcessCheckpoints(state),
            InProcessTraceStore(state),
            InProcessFeedbackStore(state),
            InProcessInbox(state),
            InProcessMessageStateStore(state),
            InProcessProposalStore(state),
            state,
        )


@pytest.mark.live
class TestRedisMemory(MemoryContract):
    @pytest.fixture
    def stores(self, redis: Redis) -> Stores:
        return RedisStores(
            RedisMemory(redis, turns=4, library=3),
            RedisCheckpoints(redis),
            RedisTraceStore(redis),
            RedisFeedbackStore(redis),
            RedisInbox(redis),
            RedisMessageStateStore(redis),
            RedisProposalStore(redis),
            redis,
        )

    async def test_nothing_of_a_person_is_left_in_any_key_or_value(self, stores: Stores, redis: Redis) -> None:
        words = "the unspeakable question"
        await stores.ask("d1", THREAD, ANA.id)
        lease = await stores.inbox.take("worker", WAIT)
        assert lease is not None
        said = IncomingMessage("m1", THREAD, words, ANA)
        card = CheckpointState(thread=THREAD, checkpoint="c1", asker=ANA.id, question=said)
        await stores.message_states.save(posted(THREAD, "m1"), card, fence=lease.fence)
        theirs = [kind for kind in product_types() if not kind.of_installation]
        await stores.message_states.save(*(sample(kind, ANA.id, THREAD) for kind in theirs))
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
        kept = [
            text for text in left if WORDS in text and "all-postings" not in text
        ]  # the thread's index, of no words
        assert kept == []

    async def test_every_key_about_a_conversation_has_an_end(self, stores: Stores, redis: Redis) -> None:
        await stores.memory.remember(THREAD, turn("t1", cites=(1,)), [evidence(1)])
        await stores.memory.mute(OTHER_THREAD, muted=True)
        await stores.checkpoints.park(parked("c1"))
        await stores.trace_store.record("t1", [EVENT], person_id=ANA.id)
        keys = [key async for key in redis.scan_iter() if key != "footnote:checkpoints:due"]
        assert len(keys) > 8
        assert [key for key in keys if await redis.ttl(key) < 0] == []


async def _everything(redis: Redis, key: str) -> str:
    """Return a key with everything stored there, as text."""
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
