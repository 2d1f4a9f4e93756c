"""What every keeper of jobs, of removals, schedules and proposals, and of bytes set aside promises."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.files.blob_store import FolderBlobStore
from adapters.files.object_store import ObjectBlobStore
from adapters.redis.inbox import RedisInbox
from adapters.redis.job_store import RedisJobStore
from adapters.redis.knowledge_records import RedisKnowledgeRecords
from adapters.testing.job_store import InProcessBlobStore, InProcessJobStore, InProcessKnowledgeRecords
from core.model.conversation import Person
from core.model.errors import Busy, ConfigurationError, DocumentRejected, StoreUnavailable
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobState
from core.model.knowledge import Document, KnowledgeBase
from core.model.sites import Site
from core.ports.blob_store import BlobStore
from core.ports.inbox import Delivery
from core.ports.job_store import JobStore
from core.ports.knowledge_records import Decision, Every, KnowledgeRecords, Proposal, RemovedDocument, Schedule
from tests.adapters.documents.sources.servers import s3_server

ADA = Person("slack:T1/U1", "Ada")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def _item(source: str, state: ItemState = ItemState.WAITING) -> JobItem:
    return JobItem(ItemKind.LINK, source, source, state=state)


def _job(job_id: str, *sources: str, minutes: int = 0) -> Job:
    items = tuple(_item(source) for source in sources)
    at = NOW + timedelta(minutes=minutes)
    return Job(job_id, JobKind.INGEST, "handbook", ADA, at, items=items, address={"channel": "C1"})


class JobsContract:
    """Override ``jobs``."""

    @pytest.fixture
    def jobs(self) -> JobStore:
        raise NotImplementedError

    async def test_a_job_is_read_as_it_was_kept_and_kept_once(self, jobs: JobStore) -> None:
        job = _job("a", "one", "two")
        assert await jobs.keep(job)
        assert not await jobs.keep(replace(_job("a"), base="other"))
        assert await jobs.read("a") == job
        assert await jobs.read("b") is None

    async def test_one_items_outcome_leaves_the_others_as_they_are(self, jobs: JobStore) -> None:
        job = _job("a", "one", "two")
        await jobs.keep(job)
        done = replace(_item("two", ItemState.FAILED), reason="It holds no text.")
        running = replace(job.with_item(done), state=JobState.RUNNING)
        await jobs.record(running, [done])
        assert await jobs.read("a") == running

    async def test_items_that_are_found_on_the_way_stand_in_the_order_they_were_found(self, jobs: JobStore) -> None:
        job = _job("a")
        await jobs.keep(job)
        for number in range(12):
            item = _item(f"page {number}")
            job = job.with_item(item)
            await jobs.record(job, [item])
        kept = await jobs.read("a")
        assert kept is not None
        assert [item.source for item in kept.items] == [f"page {number}" for number in range(12)]

    async def test_a_cancellation_is_not_overwritten_by_who_works_on_the_job(self, jobs: JobStore) -> None:
        job = _job("a", "one")
        await jobs.keep(job)
        assert await jobs.cancelled_by("a") == ""
        assert await jobs.cancel("a", ADA.id)
        assert not await jobs.cancel("a", "another")
        assert not await jobs.cancel("b", ADA.id)
        await jobs.record(replace(job, state=JobState.RUNNING))
        kept = await jobs.read("a")
        assert kept is not None
        assert kept.cancelled_by == await jobs.cancelled_by("a") == ADA.id

    async def test_the_newest_come_first(self, jobs: JobStore) -> None:
        for number in (2, 1, 3):
            await jobs.keep(_job(str(number), minutes=number))
        assert [job.id for job in await jobs.recent()] == ["3", "2", "1"]
        assert [job.id for job in await jobs.recent(1)] == ["3"]


class ShelfContract:
    """Override ``records``."""

    @pytest.fixture
    def records(self) -> KnowledgeRecords:
        raise NotImplementedError

    async def test_a_removal_is_found_until_it_is_forgotten(self, records: KnowledgeRecords) -> None:
        document = Document("d1", "handbook", "a.md", "A", "v1", "text/markdown", 3)
        removed = RemovedDocument(document, KnowledgeBase("handbook", "x", frozenset({"g"})), NOW, ADA.id, "copy")
        later = replace(removed, document=replace(document, id="d2"), at=NOW + timedelta(hours=1))
        await records.keep_removed(removed)
        await records.keep_removed(later)
        assert list(await records.removals()) == [later, removed]
        assert await records.removal("d1") == removed
        await records.forget_removed("d1")
        assert await records.removal("d1") is None

    async def test_schedules_stand_by_when_they_are_due_and_never_takes_one_away(
        self, records: KnowledgeRecords
    ) -> None:
        weekly = Schedule("handbook", "https://a", Every.WEEKLY, ADA, NOW + timedelta(days=7))
        daily = Schedule("handbook", "https://b", Every.DAILY, ADA, NOW + timedelta(days=1), limit=5)
        await records.schedule(weekly)
        await records.schedule(daily)
        assert list(await records.schedules()) == [daily, weekly]
        await records.schedule(replace(daily, every=Every.NEVER))
        assert list(await records.schedules()) == [weekly]

    async def test_a_site_is_kept_with_its_pages_until_it_has_none(self, records: KnowledgeRecords) -> None:
        guide = Site("handbook", "https://b/", 50, {"https://b/x": 0, "https://b/y": 1}, "job1")
        other = Site("handbook", "https://a/", 5, {"https://a/": 0})
        for site in (guide, other, Site("elsewhere", "https://b/", 5, {"https://b/": 0})):
            await records.keep_site(site)
        assert list(await records.sites("handbook")) == [other, guide]
        await records.keep_site(replace(guide, pages={}))
        assert list(await records.sites("handbook")) == [other]

    async def test_a_proposal_waits_until_it_is_decided(self, records: KnowledgeRecords) -> None:
        proposal = Proposal("p1", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW, "https://a")
        await records.propose(proposal)
        assert list(await records.proposals()) == [proposal]
        assert await records.proposal("p1") == proposal
        assert await records.decision("p1") is None
        rejected = Decision("d1", "p1", approved=False, by=ADA, at=NOW)
        assert await records.decide(rejected) == rejected
        assert list(await records.proposals()) == []
        assert list(await records.undone()) == []
        assert await records.proposal("p1") is None
        assert await records.decision("p1") == rejected

    async def test_of_many_decisions_the_first_holds(self, records: KnowledgeRecords) -> None:
        await records.propose(Proposal("p1", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW))
        made = [Decision(f"d{n}", "p1", n % 2 == 0, ADA, NOW, job=_job(f"j{n}") if n % 2 == 0 else None)
                for n in range(8)]  # fmt: skip
        held = await asyncio.gather(*(records.decide(one) for one in made))
        assert len({one.id for one in held if one is not None}) == 1
        assert None not in held
        assert await records.decision("p1") == held[0]

    async def test_what_never_waited_cannot_be_decided(self, records: KnowledgeRecords) -> None:
        assert await records.decide(Decision("d1", "p1", approved=True, by=ADA, at=NOW, job=_job("j1"))) is None
        assert await records.decision("p1") is None
        assert list(await records.undone()) == []

    async def test_an_approval_keeps_its_job_until_that_is_settled(self, records: KnowledgeRecords) -> None:
        for number in (2, 1):
            await records.propose(Proposal(f"p{number}", "", "T/C/1", "Refunds", "# Refunds", ADA, NOW))
            at = NOW + timedelta(minutes=number)
            await records.decide(Decision(f"d{number}", f"p{number}", True, ADA, at, "handbook", _job(f"j{number}")))
        assert [one.job for one in await records.undone()] == [_job("j1"), _job("j2")]
        await records.settle("p1")
        await records.settle("p1")
        await records.settle("never there")
        assert [one.proposal for one in await records.undone()] == ["p2"]
        settled = await records.decision("p1")
        assert settled == Decision("d1", "p1", True, ADA, NOW + timedelta(minutes=1), "handbook")
        assert await records.decide(Decision("late", "p1", approved=False, by=ADA, at=NOW)) == settled

    async def test_one_person_has_ten_proposals_waiting_at_most(self, records: KnowledgeRecords) -> None:
        for number in range(10):
            await records.propose(Proposal(str(number), "", str(number), "x", "x", ADA, NOW))
        with pytest.raises(Busy):
            await records.propose(Proposal("11", "", "11", "x", "x", ADA, NOW))
        await records.propose(Proposal("12", "", "12", "x", "x", Person("slack:T1/U2"), NOW))


class ArchiveContract:
    """Override ``blobs``."""

    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        raise NotImplementedError

    async def test_bytes_are_read_as_they_were_kept_until_they_are_forgotten(self, blobs: BlobStore) -> None:
        name = "removed-../../etc/passwd"
        assert await blobs.read(name) is None
        await blobs.keep(name, b"one")
        await blobs.keep(name, b"two")
        assert await blobs.read(name) == b"two"
        await blobs.forget(name)
        await blobs.forget(name)
        assert await blobs.read(name) is None

    async def test_everything_goes_over_into_another_archive_under_the_same_names(
        self, blobs: BlobStore, tmp_path: Path
    ) -> None:
        for name in ("a", "../b", "ä"):
            await blobs.keep(name, name.encode())
        another = FolderBlobStore(tmp_path / "another")
        if isinstance(blobs, InProcessBlobStore):
            another = InProcessBlobStore()  # type: ignore[assignment]
        async for entry, data in blobs.entries():
            await another.keep_entry(entry, data)
        assert [await another.read(name) for name in ("a", "../b", "ä")] == [b"a", b"../b", "ä".encode()]


class TestInProcessJobs(JobsContract):
    @pytest.fixture
    def jobs(self) -> JobStore:
        return InProcessJobStore()


class TestInProcessShelfRecords(ShelfContract):
    @pytest.fixture
    def records(self) -> KnowledgeRecords:
        return InProcessKnowledgeRecords()


class TestInProcessArchive(ArchiveContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return InProcessBlobStore()


class TestObjectBlobStore(ArchiveContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return ObjectBlobStore(f"memory://{tmp_path}")

    async def test_what_is_old_goes_but_for_what_is_spared(self, blobs: BlobStore) -> None:
        for name in ("a", "b"):
            await blobs.keep(name, b"x")
        assert await blobs.sweep(timedelta(hours=1)) == 0
        assert await blobs.sweep(timedelta(seconds=-1), sparing=["b"]) == 1
        assert [await blobs.read(name) for name in ("a", "b")] == [None, b"x"]

    async def test_an_address_of_no_kind_and_an_entry_of_a_stranger_are_refused(self, blobs: BlobStore) -> None:
        with pytest.raises(ConfigurationError, match="BLOB_STORE_URL"):
            await ObjectBlobStore("nonsense://x").keep("a", b"x")
        with pytest.raises(DocumentRejected):
            await blobs.keep_entry("../../outside", b"x")


class TestS3BlobStore(ArchiveContract):
    @pytest.fixture
    def blobs(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlobStore]:
        pytest.importorskip("s3fs")
        pytest.importorskip("moto")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        with s3_server() as endpoint:
            monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
            import s3fs

            s3fs.S3FileSystem(skip_instance_cache=True).mkdir("footnote")
            yield ObjectBlobStore("s3://footnote/kept")

    async def test_what_is_old_goes_but_for_what_is_spared(self, blobs: BlobStore) -> None:
        for name in ("a", "b"):
            await blobs.keep(name, b"x")
        assert await blobs.sweep(timedelta(hours=1)) == 0
        assert await blobs.sweep(timedelta(seconds=-60), sparing=["b"]) == 1
        assert [await blobs.read(name) for name in ("a", "b")] == [None, b"x"]

    async def test_a_bucket_that_is_not_there_is_an_outage_not_an_empty_store(self, blobs: BlobStore) -> None:
        with pytest.raises((StoreUnavailable, ConfigurationError)):
            await ObjectBlobStore("s3://nowhere/kept").keep("a", b"x")


class TestDiskArchive(ArchiveContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return FolderBlobStore(tmp_path / "kept")

    async def test_what_is_spared_stays_however_old_it_is(self, tmp_path: Path) -> None:
        blobs = FolderBlobStore(tmp_path / "kept")
        for name in ("a", "b"):
            await blobs.keep(name, b"x")
        assert await blobs.sweep(timedelta(seconds=-1), sparing=["b"]) == 1
        assert [await blobs.read(name) for name in ("a", "b")] == [None, b"x"]

    @pytest.mark.parametrize("entry", ["../../outside", "a", "", "/etc/passwd"])
    async def test_an_entry_from_a_strangers_backup_leads_nowhere_else(self, entry: str, tmp_path: Path) -> None:
        with pytest.raises(DocumentRejected):
            await FolderBlobStore(tmp_path / "kept").keep_entry(entry, b"x")
        assert list(tmp_path.iterdir()) == []

    async def test_nothing_leaves_its_folder_and_old_bytes_are_swept(self, tmp_path: Path) -> None:
        blobs = FolderBlobStore(tmp_path / "kept")
        await blobs.keep("../../outside", b"x")
        assert [path.parent.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept"]
        assert await blobs.sweep(timedelta(hours=1)) == 0
        assert await blobs.sweep(timedelta(seconds=-1)) == 1
        assert await blobs.read("../../outside") is None

    async def test_many_who_keep_the_same_at_once_do_not_meet(self, tmp_path: Path) -> None:
        """All of one process, as far as its number goes: so are those in containers that share the folder."""
        blob_stores = [FolderBlobStore(tmp_path / "kept") for _ in range(40)]
        whole = {bytes([number]) * 200_000 for number in range(40)}
        await asyncio.gather(*(blobs.keep("a", data) for blobs, data in zip(blob_stores, whole, strict=True)))
        assert await blob_stores[0].read("a") in whole
        assert len(list((tmp_path / "kept").iterdir())) == 1

    async def test_a_disk_that_takes_nothing_is_one_reason_with_a_remedy(self, tmp_path: Path) -> None:
        (tmp_path / "kept").write_text("a file where the folder should be")
        with pytest.raises(DocumentRejected, match="Make room"):
            await FolderBlobStore(tmp_path / "kept").keep("a", b"x")


@pytest.mark.live
class TestRedisJobs(JobsContract):
    @pytest.fixture
    def jobs(self, redis: Redis) -> JobStore:
        return RedisJobStore(redis)


@pytest.mark.live
class TestRedisShelfRecords(ShelfContract):
    @pytest.fixture
    def records(self, redis: Redis) -> KnowledgeRecords:
        return RedisKnowledgeRecords(redis)


@pytest.mark.live
async def test_two_inboxes_of_different_namespaces_know_nothing_of_each_other(redis: Redis) -> None:
    questions, jobs = RedisInbox(redis, most_waiting_each=1), RedisInbox(redis, namespace="jobs", most_waiting_each=1)
    await questions.put(Delivery("1", "slack", "slack/T/C/t", ADA.id, "{}"))
    await jobs.put(Delivery("1", "slack", "kb/handbook", ADA.id, "job"))
    assert await questions.count_waiting() == await jobs.count_waiting() == 1
    question = await questions.take("w", timedelta(seconds=1))
    job = await jobs.take("w", timedelta(seconds=1))
    assert question is not None
    assert job is not None
    assert (question.delivery.thread, job.delivery.thread) == ("slack/T/C/t", "kb/handbook")
    assert await questions.take("w", timedelta()) is None
    await jobs.complete(job)
    assert (await questions.count_waiting(), await jobs.count_waiting()) == (1, 0)
