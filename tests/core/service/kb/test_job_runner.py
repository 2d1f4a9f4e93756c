"""Jobs under kills, cancellation, lost leases and concurrent people."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from core.ingestion.ingestor import BATCH
from core.model.errors import LeaseLost
from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, Job, JobStage, JobState
from core.model.knowledge import Passage
from core.ports.index import PassageVectors, Scope, Vectors
from core.ports.platform import PlatformCapabilities
from core.service.kb.commands import KbVerb
from core.service.kb.job_queue import job_thread
from core.service.kb.job_runner import LOOK_SECONDS, MOST_ATTEMPTS
from core.service.kb.results import is_success
from core.service.leases import hold
from tests.core.service.kb.knowledge_room import ADMIN, Room, card_words, job_in, words

HANDBOOK = Scope(frozenset({"handbook"}))


@pytest.fixture
def room() -> Room:
    return Room()


async def _nothing() -> None:
    """A guard for a lease that we hold."""


async def test_a_killed_job_goes_on_with_the_first_item_that_has_no_outcome(room: Room) -> None:
    job = await room.accepts(4)
    working = asyncio.create_task(room.runner().work(job.id, _nothing))
    while len(room.parser.read) < 2:
        await asyncio.sleep(0)
    room.parser.opened.clear()
    await asyncio.sleep(0.01)
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    half = await room.job(job.id)
    done = sum(item.over for item in half.items)
    assert half.state is JobState.RUNNING
    assert 1 <= done < 4
    room.parser.opened.set()
    room.parser.read.clear()
    await room.runner().work(job.id, _nothing)
    assert len(room.parser.read) == 4 - done
    ended = await room.job(job.id)
    assert ended.state is JobState.DONE
    assert ended.counts == {ItemState.ADDED: 4}


async def test_until_the_new_version_is_whole_the_old_one_is_what_is_found(room: Room) -> None:
    await room.adds(refunds_md="# Refunds\n\nThirty days.")
    room.platform.files["refunds.md"] = b"# Refunds\n\nSixty days."
    reply = await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("refunds.md", "refunds.md"),))

    async def lost() -> None:
        raise LeaseLost("Another worker has taken this base over.")

    with pytest.raises(LeaseLost):
        await room.runner().work(job_in(reply).id, lost)  # a stale worker: all is written, nothing becomes visible
    assert await room.index.count() == 2
    documents = await room.catalog.documents(frozenset({"handbook"}))
    hits = (await room.retriever.search("days", HANDBOOK)).hits
    assert [hit.passage.text for hit in hits] == ["Thirty days."]
    assert len(documents) == 1
    await room.works()
    hits = (await room.retriever.search("days", HANDBOOK)).hits
    assert [hit.passage.text for hit in hits] == ["Sixty days."]
    assert await room.index.count() == 1


async def test_a_job_is_cancelled_before_the_next_item_and_what_is_done_stays(room: Room) -> None:
    job = await room.accepts(3)
    room.parser.opened.clear()
    working = asyncio.create_task(room.runner().work(job.id, _nothing))
    while (await room.job(job.id)).state is not JobState.RUNNING:
        await asyncio.sleep(0)
    reply = await room.says(KbVerb.CANCEL, target=job.id)
    assert is_success(reply)
    await working
    ended = await room.job(job.id)
    assert ended.state is JobState.CANCELLED
    assert ended.cancelled_by == ADMIN.id
    assert ended.counts == {ItemState.WAITING: 3}
    assert await room.index.count() == 0
    assert "Cancelled" in card_words(ended)
    assert not is_success(await room.says(KbVerb.CANCEL, target=job.id))


async def test_a_job_that_is_cancelled_while_it_waits_never_begins(room: Room) -> None:
    job = await room.accepts(2)
    await room.says(KbVerb.CANCEL, target=job.id)
    await room.works()
    assert (await room.job(job.id)).state is JobState.CANCELLED
    assert room.parser.read == []


async def test_two_jobs_of_one_base_never_work_at_the_same_time(room: Room) -> None:
    await room.accepts(2)
    await room.accepts(2, "other")
    await room.accepts(2)
    first = await room.inbox.take("a", timedelta())
    second = await room.inbox.take("b", timedelta())
    assert first is not None
    assert second is not None
    assert {first.delivery.thread, second.delivery.thread} == {job_thread("handbook"), job_thread("other")}
    assert await room.inbox.take("c", timedelta()) is None


async def test_a_long_job_lets_another_persons_go_first_after_a_while(room: Room) -> None:
    long, short = await room.accepts(5), await room.accepts(1, "handbook", "Sixty days.")
    runner = room.runner()
    turn = await runner.work(long.id, _nothing, seconds=0)
    assert turn is not None
    assert not turn.over
    assert turn.turn == 1
    worker = room.worker()
    lease = await room.inbox.take("w", timedelta())
    assert lease is not None
    assert lease.delivery.body == long.id
    worker.runner = _Impatient(runner)  # type: ignore[assignment]
    await worker.handle(lease)
    await room.inbox.complete(lease)
    following = await room.inbox.take("w", timedelta())
    assert following is not None
    assert following.delivery.body == short.id
    await room.inbox.hand_back(following)
    await room.works()
    ended = await room.job(long.id)
    assert ended.state is JobState.DONE
    assert ended.turn > 1


class _Impatient:
    """A runner whose turns are over at once."""

    def __init__(self, runner: object) -> None:
        self._runner = runner

    async def is_ours(self, job_id: str) -> bool:
        return True

    async def work(self, job_id: str, guard: object) -> object:
        return await self._runner.work(job_id, guard, seconds=0)  # type: ignore[attr-defined]


async def test_the_card_shows_the_stages_and_always_the_end(room: Room) -> None:
    job = await room.accepts(1)
    room.parser.opened.clear()
    working = asyncio.create_task(room.runner().work(job.id, _nothing))
    while not room.platform.cards:
        await asyncio.sleep(0)
    room.clock.advance(5)
    while room.platform.cards[-1].progress.stage is not JobStage.PARSING:
        await asyncio.sleep(0.01)
    room.parser.opened.set()
    await working
    assert room.platform.cards[0].state is JobState.RUNNING
    assert room.platform.cards[-1].state is JobState.DONE


async def test_the_card_is_edited_at_a_bounded_rate(room: Room) -> None:
    job = await room.accepts(10)
    await room.runner().work(job.id, _nothing)
    assert len(room.platform.cards) == 2  # no time has passed: its beginning and its end


async def test_a_card_that_cannot_be_shown_stops_nothing(room: Room) -> None:
    job = await room.accepts(2)

    class Torn:
        async def show(self, job: Job) -> None:
            raise RuntimeError("the message is gone")

    capabilities = PlatformCapabilities(room.platform.download, None, Torn())
    await room.runner({"paper": capabilities}).work(job.id, _nothing)
    assert (await room.job(job.id)).counts == {ItemState.ADDED: 2}


async def test_a_fault_in_one_item_is_one_failure_and_says_nothing_of_its_inside(room: Room) -> None:
    job = await room.accepts(2)

    async def breaks(reference: str) -> tuple[str, bytes]:
        if reference == "handbook0.md":
            raise KeyError("xoxb-secret")
        return await room.platform.download(reference)

    await room.runner({"paper": PlatformCapabilities(breaks)}).work(job.id, _nothing)
    ended = await room.job(job.id)
    assert ended.counts == {ItemState.FAILED: 1, ItemState.ADDED: 1}
    assert "xoxb" not in card_words(ended)
    assert "Please retry" in card_words(ended)


async def test_a_job_that_stops_every_worker_is_given_up(room: Room) -> None:
    job = await room.accepts(1)
    room.parser.opened.clear()
    for _ in range(MOST_ATTEMPTS):
        working = asyncio.create_task(room.runner().work(job.id, _nothing))
        await asyncio.sleep(0.01)
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
    ended = await room.runner().work(job.id, _nothing)
    assert ended is not None
    assert ended.state is JobState.FAILED
    assert "several times" in ended.reason


async def test_a_job_of_a_platform_that_is_not_connected_here_is_left_to_others(room: Room) -> None:
    job = await room.accepts(1)
    assert not await room.runner({}).is_ours(job.id)
    assert await room.runner().is_ours(job.id)
    await room.jobs.cancel(job.id, "x")
    assert await room.runner({}).is_ours(job.id)  # ending it needs no platform


async def test_a_worker_that_loses_its_lease_stops_and_leaves_no_outcome(room: Room) -> None:
    job = await room.accepts(1)
    lease = await room.inbox.take("w", timedelta())
    assert lease is not None
    room.inbox._lines[lease.delivery.thread].held = False  # it ran out, and another took the base over
    other = await room.inbox.take("other", timedelta())
    assert other is not None
    await hold(room.inbox, room.worker().handle, lease)
    assert (await room.job(job.id)).counts == {ItemState.WAITING: 1}
    await hold(room.inbox, room.worker().handle, other)
    assert (await room.job(job.id)).counts == {ItemState.ADDED: 1}


async def test_a_job_whose_base_was_removed_ends_without_bringing_anything_back(room: Room) -> None:
    job = await room.accepts(2)
    await room.says(KbVerb.REMOVE, base="handbook", confirmed=True)
    await room.works()
    ended = await room.job(job.id)
    assert ended.state is JobState.CANCELLED
    assert "removed" in ended.reason
    assert await room.index.count() == 0


async def test_who_loses_the_lease_after_the_new_version_is_visible_records_no_outcome(room: Room) -> None:
    job = await room.accepts(1)
    looks = 0

    async def lost_at_the_end() -> None:
        nonlocal looks
        looks += 1
        if await room.catalog.documents(frozenset({"handbook"})):
            raise LeaseLost("Another worker has taken this base over.")

    with pytest.raises(LeaseLost):
        await room.runner().work(job.id, lost_at_the_end)
    assert looks == 2
    assert (await room.job(job.id)).counts == {ItemState.WAITING: 1}


def _long(edition: str, changed: int = -1) -> bytes:
    """A document of a hundred passages, one of which may differ."""
    text = "parcels gates and harbours " * 40
    return b"# Rules\n\n" + b"".join(
        f"## Rule {n}\n\nRule {n} speaks of {edition if n == changed else 'all'} {text}.\n\n".encode()
        for n in range(100)
    )


async def test_a_job_that_is_cancelled_between_two_batches_leaves_nothing_of_what_it_wrote(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.platform.files["rules.md"] = _long("first")
    reply = await room.says(KbVerb.INGEST, base="handbook", files=(FileReference("rules.md", "rules.md"),))
    written: list[int] = []
    add = room.index.add

    async def cancelled_after_the_first(passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        await add(passages, vectors)
        written.append(await room.index.count())
        if len(written) == 1:
            await room.says(KbVerb.CANCEL, target=job_in(reply).id)
            await asyncio.sleep(LOOK_SECONDS * 1.5)  # it is looked for between two batches, and seldom

    room.index.add = cancelled_after_the_first  # type: ignore[method-assign]
    await room.works()
    assert (await room.job(job_in(reply).id)).state is JobState.CANCELLED
    assert written == [BATCH]
    assert await room.index.count() == 0


async def test_only_what_has_changed_is_encoded_again(room: Room) -> None:
    encoded: list[str] = []
    encode = room.encoder.encode_passages

    async def counted(texts: Sequence[str]) -> Vectors:
        encoded.extend(texts)
        return await encode(texts)

    room.encoder.encode_passages = counted  # type: ignore[method-assign]
    await room.adds(rules_md=_long("first").decode())
    assert len(encoded) == 200  # each passage, and its one sentence
    encoded.clear()
    await room.adds(rules_md=_long("second", changed=70).decode())
    assert len(encoded) == 2


async def test_a_job_that_was_kept_but_never_put_in_line_is_put_there_later(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.platform.files["a.md"] = b"# A\n\nWords."
    lost = room.job_queue.create_job(
        kind=(await room.accepts(1)).kind, base="handbook", caller=room.caller(ADMIN), subject="a"
    )
    await room.jobs.keep(lost)
    await room.works()
    assert (await room.job(lost.id)).state is JobState.QUEUED
    room.clock.advance(61)
    await room.scheduler.tick()
    await room.works()
    assert (await room.job(lost.id)).state is JobState.DONE


async def test_who_has_many_jobs_waiting_is_asked_to_wait(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    replies = [await room.says(KbVerb.INGEST, base="handbook", target=f"https://docs.example/{n}") for n in range(22)]
    assert [is_success(reply) for reply in replies] == [True] * 20 + [False] * 2
    assert "wait until" in words(replies[-1])


async def test_a_job_that_is_known_is_not_put_in_line_again(room: Room) -> None:
    job = await room.accepts(1)
    await room.works()
    again = await room.job_queue.accept(replace(job, turn=7))
    assert again.id == job.id
    assert await room.inbox.count_waiting() == 0
