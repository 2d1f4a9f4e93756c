"""What ``footnote ingest`` says: what would change, what has no text, and how far it is within a long file."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from adapters.terminal.ingest_view import preview_files, report
from adapters.terminal.job_progress import JobBar, job_bar, within
from adapters.terminal.operator import operator
from core.ingestion.ingestor import Change
from core.model.document_content import ParsedDocument
from core.model.errors import NoText
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobProgress, JobStage, JobState
from core.ports.sources import PageProgress
from tests.bot.test_interrupted import Screen, written
from tests.core.service.kb.knowledge_room import PlainParser, Room, card_words


class StubParser(PlainParser):
    """Says of an empty file what the real one says."""

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        if not data.strip():
            raise NoText("This file is empty.")
        return await super().parse(name, data, progress)


@pytest.fixture
def room() -> Room:
    room = Room()
    room.parser = StubParser()
    room.assemble()
    return room


async def test_stubs_without_text_are_listed_and_no_failure(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="", c_md=" \n")
    results = await Screen(room).ingests(*paths)
    assert [one.change for one in results] == [Change.ADDED, Change.SKIPPED, Change.SKIPPED]
    out = io.StringIO()
    report(Console(file=out, width=200), results)
    assert "1 added, 0 updated, 0 unchanged, 2 without text, 0 failed" in out.getvalue()
    assert "b.md  This file is empty." in out.getvalue()


async def test_a_dry_run_says_what_would_change_and_changes_nothing(room: Room, tmp_path: Path) -> None:
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nTwo.")
    screen = Screen(room)
    await screen.ingests(*paths)
    paths = written(tmp_path, a_md="# A\n\nOne.", b_md="# B\n\nMore.", c_md="# C\n\nNew.", d_md="\0", e_md="")
    files = [(path, path.name) for path in paths]
    results = await preview_files(room.kb_service, operator(), files, "base")
    assert [one.change for one in results] == ["unchanged", "updated", "added", "failed", "skipped"]
    assert {one.source for one in await room.catalog.documents(frozenset({"base"}))} == {"a.md", "b.md"}
    assert [one.change for one in await preview_files(room.kb_service, operator(), files[:2], "new")] == [
        "added",
        "added",
    ]
    assert await room.trash.base("new") is None


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (JobProgress(JobStage.EMBEDDING, "a.pdf", 1_200, 5_000), "passage 1,200 of 5,000"),
        (JobProgress(JobStage.RECOGNIZING, "a.pdf", 2, 12), "page 3 of 12 by OCR"),
        (JobProgress(JobStage.PARSING, "a.pdf"), ""),
    ],
)
def test_a_long_file_says_how_far_it_is(progress: JobProgress, said: str) -> None:
    assert within(progress) == said


def test_what_is_read_how_far_it_is_and_how_long_it_takes_fit_into_80_columns() -> None:
    progress = JobProgress(JobStage.EMBEDDING, "handbook/travel/a-long-folder/expenses-2024.pdf", 1_200, 5_000)
    items = tuple(JobItem(ItemKind.FILE, f"{n}.pdf", "a", state=ItemState.ADDED, passages=700) for n in range(3))
    job = Job("1", JobKind.INGEST, "base", operator().person, datetime.now(UTC), items=items, progress=progress)
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with job_bar(console, items=1_240) as bar:
        bar.show(replace(job, state=JobState.RUNNING))
        lines = [Text.from_ansi(line).plain.rstrip() for line in _drawn(bar)]
    assert lines[0] == "Reading …/travel/a-long-folder/expenses-2024.pdf passage 1,200 of 5,000"
    assert "3/1240" in lines[1]
    assert "2,100 passages" in lines[1]
    assert lines[1].endswith("left: -:--:--")


def _drawn(bar: JobBar) -> list[str]:
    paper = Console(file=io.StringIO(), width=80)
    with paper.capture() as captured:
        for one in bar.progress.get_renderables():
            paper.print(one)
    return captured.get().splitlines()


def test_a_card_says_which_page_is_read_and_what_had_no_text() -> None:
    items = (JobItem(ItemKind.FILE, "a.pdf", "a"),)
    job = Job("j", JobKind.INGEST, "base", operator().person, datetime(2026, 1, 1, tzinfo=UTC), items=items)
    running = replace(job, state=JobState.RUNNING, progress=JobProgress(JobStage.RECOGNIZING, "a.pdf", 2, 12))
    assert "a.pdf, reading page 3 of 12 by OCR." in card_words(running)
    skipped = replace(items[0], state=ItemState.SKIPPED, reason="This file is empty.")
    done = replace(job, items=(skipped,)).at_end(datetime(2026, 1, 1, tzinfo=UTC), JobState.DONE, "")
    assert "1 skipped" in card_words(done)
    assert "a.pdf: This file is empty." in card_words(done)
