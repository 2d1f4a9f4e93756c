"""A catalog that lost its last changes, and the ledger: restored, still removed, and closed data."""

import asyncio
import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from core.ingestion.change_ledger import ChangeLedger, RecordedCatalog, Subject
from core.model.conversation import Person
from core.model.errors import StoreUnavailable
from core.model.jobs import Job, JobKind
from core.model.knowledge import Document, KnowledgeBase
from core.ports.access import TokenScope
from core.ports.job_store import Every, Schedule
from core.service.api_clients import ApiClients, Unauthenticated
from core.service.lost_changes import LostChanges
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.job_store import InProcessBlobStore, InProcessJobStore
from tests.fakes.memory.processes import InProcessNamedLeases
from tests.fakes.memory.schedule_store import InProcessScheduleStore
from tests.fakes.memory.stores import InProcessApiTokens, InProcessAudit, InProcessCatalog, InProcessMemory

LINK = "https://docs.example/leave"
LEAVE = Document("d1", "handbook", LINK, "Leave", "v1", "text/html", 4, added_by="Ada")
TRAVEL = Document("d2", "handbook", "travel.md", "Travel", "v1", "text/markdown", 2)
NOW = datetime(2026, 11, 28, tzinfo=UTC)


@dataclass
class Redis:
    """What is lost together."""

    catalog: InProcessCatalog = field(default_factory=InProcessCatalog)
    memory: InProcessMemory = field(default_factory=InProcessMemory)
    jobs: InProcessJobStore = field(default_factory=InProcessJobStore)
    schedules: InProcessScheduleStore = field(default_factory=InProcessScheduleStore)
    tokens: InProcessApiTokens = field(default_factory=InProcessApiTokens)


class Process:
    """A process on a Redis and a ledger."""

    def __init__(self, redis: Redis, blobs: InProcessBlobStore) -> None:
        self.redis = redis
        self.ledger = ChangeLedger(blobs)
        self.lost_changes = LostChanges(
            catalog=redis.catalog,
            ledger=self.ledger,
            memory=redis.memory,
            jobs=redis.jobs,
            schedules=redis.schedules,
            leases=InProcessNamedLeases(ManualClock(NOW)),
            tokens=redis.tokens,
            clock=ManualClock(NOW),
        )
        self.catalog = RecordedCatalog(redis.catalog, self.ledger, self.lost_changes.recover)

    async def documents(self) -> list[str]:
        bases = await self.catalog.bases()
        return [one.id for one in await self.catalog.documents(frozenset(base.name for base in bases))]

    async def closed(self) -> dict[str, bool]:
        return {base.name: base.closed for base in await self.catalog.bases()}


@pytest.fixture
def blobs() -> InProcessBlobStore:
    return InProcessBlobStore()


@pytest.fixture
async def process(blobs: InProcessBlobStore) -> Process:
    process = Process(Redis(), blobs)
    await process.catalog.save_base(KnowledgeBase("handbook"))
    await process.catalog.publish(LEAVE)
    return process


async def test_a_base_that_was_removed_and_created_again_keeps_none_of_its_old_documents(
    process: Process, blobs: InProcessBlobStore
) -> None:
    before = copy.deepcopy(process.redis)
    await process.catalog.remove_base("handbook")
    await process.catalog.save_base(KnowledgeBase("handbook"))
    await process.catalog.publish(TRAVEL)
    for lost in (before, Redis(catalog=copy.deepcopy(before.catalog))):
        assert await Process(lost, copy.deepcopy(blobs)).documents() == ["d2"]


async def test_unfinished_jobs_and_schedules_bring_nothing_back_that_was_removed(
    process: Process, blobs: InProcessBlobStore
) -> None:
    ada = Person("slack:T1/U1", "Ada")
    for link in (LINK, "https://docs.example/other"):
        await process.redis.schedules.save_schedule(Schedule("handbook", link, Every.DAILY, ada, NOW))
    await process.redis.jobs.keep(Job("j1", JobKind.INGEST, "handbook", ada, NOW))
    before = copy.deepcopy(process.redis)
    await process.catalog.withdraw("d1")
    after = Process(before, blobs)
    assert await after.documents() == []
    assert [one.link for one in await before.schedules.schedules()] == ["https://docs.example/other"]
    assert await before.jobs.find_canceller("j1") == "footnote"


async def test_notices_a_loss_while_running_at_the_next_check_or_change(
    process: Process, blobs: InProcessBlobStore
) -> None:
    before = copy.deepcopy(process.redis.catalog)
    await process.catalog.publish(TRAVEL)
    vars(process.redis.catalog).update(vars(copy.deepcopy(before)))
    await process.catalog.save_base(KnowledgeBase("board"))
    assert await process.documents() == ["d1", "d2"]
    assert await process.closed() == {"board": False, "handbook": True}
    vars(process.redis.catalog).update(vars(copy.deepcopy(before)))
    assert await process.closed() == {"board": True, "handbook": True}


async def test_an_empty_redis_is_not_filled_unless_somebody_says_so(
    process: Process, blobs: InProcessBlobStore
) -> None:
    another = Process(Redis(), blobs)
    for attempt in (another.catalog.bases(), another.catalog.save_base(KnowledgeBase("default"))):
        with pytest.raises(StoreUnavailable, match="Redis has lost data"):
            await attempt
    await another.lost_changes.restore()
    assert (await another.documents(), await another.closed()) == (["d1"], {"handbook": True})


async def test_a_ledger_that_is_new_or_behind_is_caught_up_and_closes_nothing(process: Process) -> None:
    ledger = InProcessBlobStore()
    assert await Process(process.redis, ledger).closed() == {"handbook": False}
    older = copy.deepcopy(ledger)
    before = copy.deepcopy(process.redis)
    await process.redis.catalog.withdraw("d1")  # a process that died before it could record that
    await process.redis.catalog.publish(TRAVEL)
    assert await Process(process.redis, older).documents() == ["d2"]
    assert await Process(before, older).documents() == ["d2"]


@pytest.mark.parametrize("left", [b"", b"1x", None])
async def test_a_damaged_number_of_the_ledger_does_not_hide_a_loss(
    process: Process, blobs: InProcessBlobStore, left: bytes | None
) -> None:
    before = copy.deepcopy(process.redis)
    await process.catalog.publish(TRAVEL)
    name = next(name for name, data in blobs.kept.items() if data.isdigit())
    if left is None:
        del blobs.kept[name]
    else:
        blobs.kept[name] = left
    after = Process(before, blobs)
    assert (await after.documents(), await after.closed()) == (["d1", "d2"], {"handbook": True})


async def test_repair_writes_damaged_entries_of_the_ledger_again(process: Process, blobs: InProcessBlobStore) -> None:
    name = next(name for name, data in blobs.kept.items() if LINK.encode() in data)
    blobs.kept[name] = blobs.kept[name][:-9]
    before = copy.deepcopy(process.redis)
    await process.lost_changes.restore()
    assert process.lost_changes.take_notices() == ("1 record of the ledger was lost and is now restored.",)
    await process.catalog.save_base(KnowledgeBase("board"))
    before.catalog = InProcessCatalog()
    await before.catalog.save_base(KnowledgeBase("handbook"))
    assert await Process(before, blobs).documents() == ["d1"]


async def test_a_revoked_token_stays_revoked(process: Process, blobs: InProcessBlobStore) -> None:
    def clients(of: Process) -> ApiClients:
        return ApiClients(of.redis.tokens, of.catalog, InProcessAudit(), ManualClock(NOW), of.catalog.record_end)

    ada = Person("console:operator", "Ada")
    revoked, secret = await clients(process).create("gone", {TokenScope.ASK}, (), ada)
    _, other = await clients(process).create("stays", {TokenScope.ASK}, (), ada)
    before = copy.deepcopy(process.redis)
    await clients(process).revoke(revoked.id, ada)
    after = Process(before, blobs)
    await after.catalog.bases()
    with pytest.raises(Unauthenticated, match="was revoked"):
        await clients(after).authenticate(secret)
    assert (await clients(after).authenticate(other)).name == "stays"
    assert "1 token revoked again" in after.lost_changes.take_notices()[0]


async def test_a_recovery_killed_at_any_write_ends_in_the_same_state_when_it_begins_again(
    process: Process, blobs: InProcessBlobStore
) -> None:
    before = copy.deepcopy(process.redis)
    await process.catalog.publish(TRAVEL)
    await process.catalog.withdraw("d1")
    await process.catalog.record_end(Subject.PERSON, "slack:T1/U1")
    kills = 0
    for survived in range(100):
        redis, kept = copy.deepcopy(before), copy.deepcopy(blobs)
        fragile = _Fragile(kept, survived)
        try:
            await Process(redis, fragile).catalog.bases()
        except KilledError:
            kills += 1
        else:
            break
        again = Process(redis, kept)
        assert (await again.documents(), await again.closed()) == (["d2"], {"handbook": True})
    assert kills > 3


class KilledError(Exception):
    """The process ends here."""


class _Fragile(InProcessBlobStore):
    """Ends its process after so many writes."""

    def __init__(self, blobs: InProcessBlobStore, survived: int) -> None:
        self.kept = blobs.kept
        self._left = survived

    async def keep(self, name: str, data: bytes) -> None:
        self._die()
        await super().keep(name, data)

    async def forget(self, name: str) -> None:
        self._die()
        await super().forget(name)

    def _die(self) -> None:
        if not self._left:
            raise KilledError
        self._left -= 1


class _SlowCatalog(InProcessCatalog):
    """Tells a number that may be old when it arrives."""

    async def changes(self) -> int:
        number = await super().changes()
        for _ in range(5):
            await asyncio.sleep(0)
        return number


class _SlowBlobs(InProcessBlobStore):
    """The earlier something is kept, the longer it takes."""

    def __init__(self) -> None:
        super().__init__()
        self._turns = 50

    async def keep(self, name: str, data: bytes) -> None:
        self._turns -= 10
        for _ in range(self._turns):
            await asyncio.sleep(0)
        await super().keep(name, data)


async def test_many_changes_and_looks_at_once_are_no_loss(blobs: InProcessBlobStore) -> None:
    process = Process(Redis(catalog=_SlowCatalog()), blobs)
    await process.catalog.save_base(KnowledgeBase("handbook"))
    documents = [replace(TRAVEL, id=f"d{n}", source=f"{n}.md") for n in range(50)]
    for one in documents:
        await asyncio.gather(process.catalog.publish(one), *(process.catalog.bases() for _ in range(5)))
    assert await process.closed() == {"handbook": False}
    assert len(await process.documents()) == 50


async def test_changes_of_one_document_are_recorded_in_the_order_in_which_they_were_made() -> None:
    process = Process(Redis(), _SlowBlobs())
    await process.catalog.compare()
    await asyncio.gather(*(process.catalog.publish(replace(TRAVEL, version=version)) for version in ("v1", "v2")))
    entry = await process.ledger.entry(Subject.DOCUMENT, TRAVEL.id)
    assert entry is not None
    assert entry.document == await process.catalog.document(TRAVEL.id)


async def test_the_ledger_keeps_no_names_of_what_was_removed(process: Process, blobs: InProcessBlobStore) -> None:
    assert any(b"Ada" in data for data in blobs.kept.values())
    await process.catalog.withdraw("d1")
    assert not any(b"Ada" in data or b"Leave" in data for data in blobs.kept.values())
