"""``footnote ingest`` with concurrent writers and Ctrl-C."""

import asyncio
import io
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from adapters.files.blob_store import FolderBlobStore
from adapters.terminal.ingest_view import IngestClient, ingest_files
from adapters.terminal.job_progress import JobBar
from adapters.terminal.operator import operator
from core.ingestion.ingestor import Change, IngestResult
from core.ingestion.originals import Material
from core.model.document_content import FileContent, ParsedDocument
from core.model.errors import FootnoteError, StoreUnavailable
from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, Job, JobKind, JobProgress, JobStage, JobState
from core.model.knowledge import Passage
from core.ports.index import PassageVectors
from core.ports.sources import PageProgress
from core.service.kb.commands import KbVerb
from core.service.kb.job_queue import job_thread
from core.service.workers import JobWorker
from tests.core.service.kb.knowledge_room import PlainParser, Room, job_in, words

JOB = Job("j", JobKind.INGEST, "base", operator().person, datetime(2026, 1, 1, tzinfo=UTC))


class Screen:
    """A terminal before a room, and what is printed there."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._printed = io.StringIO()

    async def ingests(self, *paths: Path, base: str = "base", connected: bool = True) -> list[IngestResult]:
        console = Console(file=self._printed, width=200)
        files = [(path, path.name) for path in paths]
        return await ingest_files(console, self.ingest_client(connected=connected), files, base)

    def ingest_client(self, *, connected: bool = True) -> IngestClient:
        room = self.room

        def alone() -> JobWorker:
            return JobWorker(name="t", inbox=room.inbox, runner=room.runner({}), tick=room.scheduler.tick)

        return IngestClient(
            kb=room.kb_service,
            jobs=room.jobs,
            worker=room.worker if connected else alone,
            caller=operator(),
        )

    @property
    def shows(self) -> str:
        return self._printed.getvalue()


class ParserInParts(PlainParser):
    """Reads one file, and is held up at another, until it is let go on."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.reached, self.go_on, self._at = asyncio.Event(), asyncio.Event(), at

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        if name == self._at:
            self.reached.set()
            await self.go_on.wait()
        return await super().parse(name, data)


@pytest.fixture
def room() -> Room:
    return Room()


def written(folder: Path, **files: str) -> list[Path]:
    paths = [folder / name.replace("_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return paths


async def test_an_interrupted_ingest_says_what_is_in_and_how_to_go_on(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.", c_md="# C\n\nThree.")
    room.parser = parser = ParserInParts("b.md")
    room.assemble()
    screen = Screen(room)
    work = asyncio.create_task(screen.ingests(*paths))
    await parser.reached.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert "1 added" in screen.shows
    assert "2 files are left. Run the same command again to add them." in screen.shows
    assert [job.state for job in await room.jobs.recent()] == [JobState.CANCELLED]
    assert room.blobs.kept == {}
    parser.go_on.set()
    results = await screen.ingests(*paths)
    assert [(one.source, one.change) for one in results] == [
        ("a.md", Change.UNCHANGED), ("b.md", Change.ADDED), ("c.md", Change.ADDED),
    ]  # fmt: skip


async def test_an_ingest_interrupted_before_anything_is_in_leaves_no_new_base(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, b_md="# B\n\nTwo.")
    await room.ingestor.ensure_base("made before")
    for base in ("new", "made before"):
        room.parser = parser = ParserInParts("b.md")
        room.assemble()
        work = asyncio.create_task(Screen(room).ingests(*paths, base=base))
        await parser.reached.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert [base.name for base in await room.catalog.bases()] == ["made before"]
    assert [entry.action for entry in await room.audit.recent() if entry.target == "new"] == ["kb remove", "kb create"]


class SmallDisk:
    """A disk of its own with room for so many small files."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def has_room_for(self, files: int, *, first: bool = False) -> None:
        options = f"{'' if first else 'remount,'}size={4 * files}k"
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(self.place)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            pytest.skip("a disk of its own may not be mounted here")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    (tmp_path / "disk").mkdir()
    disk = SmallDisk(tmp_path / "disk")
    if shutil.which("mount") is None:
        pytest.skip("there is no mount")
    disk.has_room_for(2, first=True)
    yield disk
    subprocess.run(["umount", str(disk.place)], check=True)


async def test_a_full_disk_ends_an_ingest_with_how_many_are_in_and_leaves_nothing_aside(
    room: Room, tmp_path: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.terminal.ingest_view.TOGETHER", 2)
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.", c_md="# C\n\nThree.", d_md="# D\n\nFour.")
    room.blobs = FolderBlobStore(disk.place / "kept")  # type: ignore[assignment]
    room.assemble()
    await Screen(room).ingests(*paths[:1])
    disk.has_room_for(1)
    with pytest.raises(FootnoteError, match=r"the disk is full.*2 of 4 files are done"):
        await Screen(room).ingests(*paths)
    assert list((disk.place / "kept").iterdir()) == []
    assert {one.title for one in await room.catalog.documents(frozenset({"base"}))} == {"A", "B"}
    disk.has_room_for(2)
    assert [one.change for one in await Screen(room).ingests(*paths)] == [Change.UNCHANGED] * 2 + [Change.ADDED] * 2


async def test_an_original_that_finds_no_room_is_a_failure_and_not_counted_as_added(
    room: Room, tmp_path: Path, disk: SmallDisk
) -> None:
    disk.has_room_for(1)
    room.kept_originals = FolderBlobStore(disk.place / "originals")  # type: ignore[assignment]
    room.assemble()
    results = await Screen(room).ingests(*written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo."))
    assert [(one.change, one.reason.partition(":")[0]) for one in results] == [
        (Change.ADDED, ""), (Change.FAILED, "The file cannot be stored"),
    ]  # fmt: skip
    assert [one.title for one in await room.catalog.documents(frozenset({"base"}))] == ["A"]
    assert await room.index.count(room.scope("base")) == 1


async def test_files_that_are_as_they_were_need_no_turn(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="\0")
    first = await Screen(room).ingests(*paths, tmp_path / "gone.md")
    assert [one.change for one in first] == [Change.FAILED, Change.ADDED, Change.FAILED]
    assert [one.reason for one in first if one.reason] == [
        "It cannot be read: No such file or directory.", "This is no text.",
    ]  # fmt: skip
    jobs = len(await room.jobs.recent())
    again = await Screen(room).ingests(paths[0], base="BASE")
    assert [(one.change, one.passages) for one in again] == [(Change.UNCHANGED, 1)]
    assert len(await room.jobs.recent()) == jobs
    assert [base.name for base in await room.catalog.bases()] == ["base"]


async def test_two_who_write_one_document_take_turns_and_it_is_whole(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.terminal.job_progress.TURN_SECONDS", 0.2)
    room.parser = parser = ParserInParts("rules.md")
    room.assemble()
    await room.says(KbVerb.CREATE, base="base")
    room.platform.files["rules.md"] = b"# Rules\n\nThe words of the channel.\n\n## More\n\nIts end."
    await room.says(KbVerb.INGEST, base="base", files=(FileReference("rules.md", "rules.md"),))
    serving = asyncio.create_task(room.works())
    await parser.reached.wait()
    screen = Screen(room)
    (path,) = written(tmp_path, rules_md="# Rules\n\nThe words of the terminal.\n\n## More\n\nIts end.")
    ingesting = asyncio.create_task(screen.ingests(path))
    async with asyncio.timeout(60):
        while "waits for other work" not in screen.shows:
            await asyncio.sleep(0.02)
    assert "This waits for other work on “base”" in screen.shows
    assert room.inbox.fences[job_thread("base")] == 1
    parser.go_on.set()
    (result,) = await ingesting
    await serving
    assert result.change is Change.UPDATED
    (document,) = await room.catalog.documents(frozenset({"base"}))
    assert await room.index.count() == document.passages == result.passages
    found = await room.retriever.search("words of the terminal", room.scope("base"))
    assert "terminal" in found.hits[0].passage.text


async def test_behind_a_job_that_nobody_can_do_it_waits_until_that_is_cancelled(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.terminal.job_progress.TURN_SECONDS", 0.2)
    monkeypatch.setattr("core.service.workers.HAND_BACK_SECONDS", 0.05)
    await room.says(KbVerb.CREATE, base="base")
    waits = await room.says(KbVerb.INGEST, base="base", files=(FileReference("rules.md", "rules.md"),))
    screen = Screen(room)
    ingesting = asyncio.create_task(screen.ingests(*written(tmp_path, a_md="# A\n\nOne."), connected=False))
    async with asyncio.timeout(60):
        while "waits for other work" not in screen.shows:
            await asyncio.sleep(0.02)
    await room.says(KbVerb.CANCEL, target=job_in(waits).id)
    (result,) = await ingesting
    assert result.change is Change.ADDED


async def test_who_serves_the_data_may_do_the_work_while_the_terminal_looks_on(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, **{f"a{n}_md": f"# A {n}\n\nWords {n}." for n in range(5)})
    stop = asyncio.Event()
    serving = asyncio.create_task(room.worker().run(stop))
    results = await Screen(room).ingests(*paths)
    stop.set()
    await serving
    assert [one.change for one in results] == [Change.ADDED] * 5
    assert len(await room.catalog.documents(frozenset({"base"}))) == 5
    entry, created = await room.audit.recent()
    assert created.action == "kb create"
    assert (entry.actor, entry.action) == ("console:operator", "kb ingest")


async def test_a_store_failure_midway_says_in_one_line_what_is_done_and_how_to_continue(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.", c_md="# C\n\nThree.")
    adding, added = room.index.add, list[str]()

    async def add(passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        if added:
            raise StoreUnavailable("Milvus does not respond.", remedy="Try again.")
        added.append(passages[0].source)
        await adding(passages, vectors)

    with monkeypatch.context() as failing:
        failing.setattr(room.index, "add", add)
        with pytest.raises(StoreUnavailable) as failed:
            await Screen(room).ingests(*paths)
    assert added == ["a.md"]
    assert str(failed.value) == (
        "Milvus does not respond. Try again. 1 of 3 files are done. Run the same command again to add the rest."
    )
    room.clock.advance(120)  # the lease of the turn that failed is over
    results = await Screen(room).ingests(*paths)
    assert [(one.source, one.change) for one in results] == [
        ("a.md", Change.UNCHANGED), ("b.md", Change.ADDED), ("c.md", Change.ADDED),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "shown"),
    [("handbook/leave.md", "handbook/leave.md"), ("a/" * 30 + "b.md", "…" + ("a/" * 30 + "b.md")[-39:])],
)
def test_the_bar_names_a_document_by_its_source(source: str, shown: str) -> None:
    progress = Progress(TextColumn("{task.description}"))
    bar = JobBar(Console(), progress, progress.add_task("Reading"))
    bar.show(replace(JOB, state=JobState.RUNNING, progress=JobProgress(JobStage.PARSING, source)))
    assert progress.tasks[0].description.rstrip() == f"Reading {shown}"


async def test_a_base_that_cannot_be_called_that_is_refused_as_it_is_elsewhere(room: Room, tmp_path: Path) -> None:
    refused = await room.says(KbVerb.CREATE, base="with/slash")
    with pytest.raises(FootnoteError) as raised:
        await Screen(room).ingests(*written(tmp_path, a_md="# A\n\nOne."), base="with/slash")
    assert str(raised.value) == words(refused)
    assert await room.catalog.bases() == []


async def test_a_base_that_the_terminal_creates_is_on_record_as_any_other(room: Room, tmp_path: Path) -> None:
    await Screen(room).ingests(*written(tmp_path, a_md="# A\n\nOne."), base="pier")
    assert [base.name for base in await room.catalog.bases()] == ["pier"]
    created = [entry for entry in await room.audit.recent() if entry.action == "kb create"]
    assert [(entry.allowed, entry.target) for entry in created] == [(True, "pier")]


async def test_a_killed_ingest_given_again_is_the_same_job(room: Room, tmp_path: Path) -> None:
    """The first command dies with its job in line: nobody tells the job, so it waits when the second one comes."""
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.")
    await room.ingestor.ensure_base("base")
    killed = await _accepted(room, paths)
    results = await _given_again(room, paths)
    assert [(one.source, one.change) for one in results] == [("a.md", Change.ADDED), ("b.md", Change.ADDED)]
    assert [(job.id, job.state) for job in await room.jobs.recent()] == [(killed.id, JobState.DONE)]
    assert room.blobs.kept == {}


async def test_what_is_left_of_a_killed_ingest_is_gone_on_with_and_told_once(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.")
    await room.ingestor.ensure_base("base")
    job = await _accepted(room, paths)
    await room.ingestor.ingest(Material("a.md", "a.md", paths[0].read_bytes()), "base")
    await room.jobs.record(job, [replace(job.items[0], state=ItemState.ADDED, passages=1)])
    results = await _given_again(room, paths)
    assert [(one.source, one.change) for one in results] == [("a.md", Change.UNCHANGED), ("b.md", Change.ADDED)]
    assert len(await room.jobs.recent()) == 1


async def test_an_older_job_is_not_gone_on_with_where_a_newer_one_changes_the_same_file(
    room: Room, tmp_path: Path
) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.")
    await room.ingestor.ensure_base("base")
    await _accepted(room, paths)
    written(tmp_path, a_md="# A\n\nTwo.")
    await _accepted(room, paths)
    written(tmp_path, a_md="# A\n\nOne.")
    await Screen(room).ingests(*paths)
    assert len(await room.jobs.recent()) == 3
    (document,) = await room.catalog.documents(frozenset({"base"}))
    (passage,) = await room.index.passages(document.id, document.version, room.scope("base"))
    assert passage.text.endswith("One.")


async def test_a_file_that_a_job_in_line_is_about_to_change_is_read_in_its_turn(room: Room, tmp_path: Path) -> None:
    """It is as the base has it, and would not be for long."""
    paths = written(tmp_path, a_md="# A\n\nOne.")
    await Screen(room).ingests(*paths)
    written(tmp_path, a_md="# A\n\nTwo.")
    await _accepted(room, paths)
    written(tmp_path, a_md="# A\n\nOne.")
    await _given_again(room, paths)
    (document,) = await room.catalog.documents(frozenset({"base"}))
    (passage,) = await room.index.passages(document.id, document.version, room.scope("base"))
    assert passage.text.endswith("One.")


async def _accepted(room: Room, paths: Sequence[Path]) -> Job:
    """The job of a command that has died since."""

    async def files() -> AsyncIterator[FileContent]:
        for path in paths:
            yield FileContent(path.name, path.name, path.read_bytes())

    room.clock.advance(1)
    reply = await room.kb_service.ingest_bytes(files(), "base", operator())
    return await room.job(job_in(reply).id)


async def _given_again(room: Room, paths: Sequence[Path]) -> list[IngestResult]:
    """The same command once more; the job in line is taken up at once, and nothing comes out before it is accepted."""
    room.parser.opened.clear()
    accepted = len(await room.audit.recent())
    ingesting = asyncio.create_task(Screen(room).ingests(*paths))
    async with asyncio.timeout(30):
        while len(await room.audit.recent()) == accepted:
            await asyncio.sleep(0.02)
    room.parser.opened.set()
    return await ingesting
