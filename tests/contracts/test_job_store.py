"""The contracts of every job store and every blob store."""

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
from adapters.redis.kb_stores import RedisJobStore
from core.model.conversation import Person
from core.model.errors import ConfigurationError, DocumentRejected, StoreUnavailable
from core.model.incoming_events import ReplyTarget
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobState
from core.ports.catalog import BlobStore
from core.ports.inbox import Delivery
from core.ports.job_store import JobStore
from tests.adapters.documents.sources.servers import s3_server
from tests.fakes.memory.job_store import InProcessBlobStore, InProcessJobStore

ADA = Person("slack:T1/U1", "Ada")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def _item(source: str, state: ItemState = ItemState.WAITING) -> JobItem:
    return JobItem(ItemKind.LINK, source, source, state=state)


def _job(job_id: str, *sources: str, minutes: int = 0) -> Job:
    items = tuple(_item(source) for source in sources)
    at = NOW + timedelta(minutes=minutes)
    return Job(job_id, JobKind.INGEST, "handbook", ADA, at, items=items, reply_target=ReplyTarget(channel="C1"))


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
        assert await jobs.find_canceller("a") == ""
        assert await jobs.cancel("a", ADA.id)
        assert not await jobs.cancel("a", "another")
        assert not await jobs.cancel("b", ADA.id)
        await jobs.record(replace(job, state=JobState.RUNNING))
        kept = await jobs.read("a")
        assert kept is not None
        assert kept.cancelled_by == await jobs.find_canceller("a") == ADA.id

    async def test_the_newest_come_first(self, jobs: JobStore) -> None:
        for number in (2, 1, 3):
            await jobs.keep(_job(str(number), minutes=number))
        assert [job.id for job in await jobs.recent()] == ["3", "2", "1"]
        assert [job.id for job in await jobs.recent(1)] == ["3"]


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

    async def test_sizes_are_told_of_what_is_there(self, blobs: BlobStore) -> None:
        names = {f"n{size}": b"x" * size for size in range(25)}
        for name, data in names.items():
            await blobs.keep(name, data)
        assert await blobs.sizes(["n0", "n7", "absent"]) == {"n0": 0, "n7": 7}
        assert await blobs.sizes([*names, "absent"]) == {name: len(data) for name, data in names.items()}
        assert await blobs.sizes([]) == {}

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
        with pytest.raises(DocumentRejected, match="footnote doctor"):
            await FolderBlobStore(tmp_path / "kept").keep("a", b"x")


@pytest.mark.live
class TestRedisJobs(JobsContract):
    @pytest.fixture
    def jobs(self, redis: Redis) -> JobStore:
        return RedisJobStore(redis)


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
