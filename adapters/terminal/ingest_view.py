"""Ingest seen from the terminal: a progress bar, then what was added, updated, unchanged and failed.

The files go the way of every job: one writer at a time for each base, whoever it is. Where another process serves the
same data, it may do the work while this one looks on; where none does, it is done here. So two that write at once wait
for each other, rather than leave a document of which each has written a half.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from adapters.terminal.kb_view import result_text
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Change, Ingestor, IngestResult
from core.ingestion.material import Material
from core.ingestion.trash import Trash
from core.model.errors import FootnoteError, StoreUnavailable
from core.model.jobs import ItemState, Job, JobProgress, JobStage, JobState, pending_sources
from core.ports.job_store import JobStore
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.results import KbResult, accepted_jobs
from core.service.kb.text_spans import count

if TYPE_CHECKING:
    from core.model.knowledge import Document

TOGETHER = 500  # files set aside at a time, as one job
LOOK_SECONDS = 0.1
TURN_SECONDS = 3.0  # that a job has not begun after which somebody else is at the base
SHOWN = 40  # signs of a source beside the bar
ENDING_SECONDS = 3.0  # for what is under way when somebody presses Ctrl-C
WAITING = "Other work on “{base}” comes first: this waits for its turn. footnote kb jobs shows it, kb cancel ends it."


class IngestServices(Protocol):
    """Who does jobs, and tries again where a store is ``away``. A person at a terminal would rather hear of that."""

    @property
    def away(self) -> StoreUnavailable | None:
        """What kept the latest turn of a job from its end."""

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set; cancelled, hand back what is not finished."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the terminal needs to bring files in; ``worker`` does the jobs here, and ``caller`` asks for them."""

    handle: Callable[[KbCommand, Caller], Awaitable[KbResult]]
    ingest: Callable[[AsyncIterable[tuple[str, str, bytes]], str, Caller], Awaitable[KbResult]]
    jobs: JobStore
    trash: Trash
    ingestor: Ingestor
    consistency: IndexConsistency
    worker: Callable[[], IngestServices]
    caller: Caller

    async def base(self, name: str) -> str:
        """The name of this base as it is, whatever the case of its letters; created, on record, when it is new.

        Raises FootnoteError when nothing can be called that.
        """
        there = await self.trash.base(name)
        if there is None:
            made = await self.handle(KbCommand(KbVerb.CREATE, name), self.caller)
            there = await self.trash.base(name)  # another may have been quicker
            if there is None:
                raise FootnoteError(result_text(made))
        return there.name

    async def accept(self, files: AsyncIterator[tuple[str, str, bytes]], base: str) -> Job:
        """A job for (source, name, bytes) each. Raises FootnoteError with the reason why there is none."""
        result = await self.ingest(files, base, self.caller)
        for accepted in accepted_jobs(result):
            if (job := await self.jobs.read(accepted.id)) is not None:
                return job
        raise FootnoteError(result_text(result))


@dataclass(frozen=True, slots=True)
class _RunningWorker:
    """Who does the jobs here, while it runs."""

    worker: IngestServices
    task: "asyncio.Task[None]"

    def check(self) -> None:
        """Raises what went wrong with it: it ended early, or met a store that is away."""
        if self.task.done():
            self.task.result()
        if self.worker.away is not None:
            raise self.worker.away


@dataclass(slots=True)
class _Bar:
    """What is shown while it goes on."""

    console: Console
    progress: Progress
    task: TaskID
    waited: bool = False
    results: list[IngestResult] = field(default_factory=list)

    def add(self, result: IngestResult) -> None:
        self.results.append(result)
        self.progress.update(self.task, completed=len(self.results))

    def show(self, job: Job) -> None:
        over = sum(item.over for item in job.items)
        doing = job.progress.source or job.subject
        shown = doing if len(doing) <= SHOWN else f"…{doing[1 - SHOWN :]}"  # the end of a path tells the most
        words = "Waiting" if job.state is JobState.QUEUED else f"Reading {shown:<{SHOWN}} {within(job.progress)}"
        passages = sum(one.passages for one in self.results) + sum(item.passages for item in job.items)
        self.progress.update(
            self.task, description=words, completed=len(self.results) + over, passages=count(passages, "passage")
        )

    def wait(self, base: str) -> None:
        if not self.waited:
            self.console.print(WAITING.format(base=base), soft_wrap=True)
        self.waited = True


async def ingest_files(
    console: Console, terminal: Terminal, files: Sequence[tuple[Path, str]], base: str, *, quiet: bool = False
) -> list[IngestResult]:
    """Bring files in: (path, source name) each. A file that cannot be read is one failure.

    Stopped in the middle (Ctrl-C, or a store is away), it says what is in and how to go on. Raises what keeps all files
    from being taken in: no room to set them aside, too many jobs, StoreUnavailable.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[passages]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:", markup=False),
        TimeRemainingColumn(),
    )
    stop = asyncio.Event()
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        bar = _Bar(console, progress, progress.add_task("Reading", total=len(files), passages=""))
        worker = terminal.worker()
        working = _RunningWorker(worker, asyncio.create_task(worker.run(stop)))
        try:
            base = await terminal.base(base)
            for batch in _batches(files):
                await _together(terminal, batch, base, bar, working)
        except asyncio.CancelledError:
            if not quiet:
                report(console, bar.results)
                console.print(f"{len(files) - len(bar.results)} files are left: the same command goes on with them.")
            working.task.cancel()  # it may be at something of others, and hands that back
            raise
        except StoreUnavailable as error:
            working.task.cancel()
            raise _cut_short(error, bar.results, len(files)) from error
        finally:
            stop.set()
            await asyncio.gather(working.task, return_exceptions=True)
    return bar.results


def within(now: JobProgress) -> str:
    """How far it is within a file that takes its time."""
    match now.stage:
        case JobStage.EMBEDDING:
            return f"passage {now.done:,} of {now.total:,}"
        case JobStage.RECOGNIZING:
            return f"page {now.done + 1:,} of {now.total:,} by OCR"
        case _:
            return ""


def _cut_short(error: StoreUnavailable, results: Sequence[IngestResult], files: int) -> StoreUnavailable:
    """The failure with what is in and how to go on."""
    come = sum(result.change is not Change.FAILED for result in results)
    go_on = f"{come} of {files} files are in and cost nothing again: the same command goes on with the rest."
    return StoreUnavailable(error.args[0], remedy=f"{error.remedy} {go_on}" if error.remedy else go_on)


def _batches(files: Sequence[tuple[Path, str]]) -> Iterator[list[tuple[Path, str]]]:
    """A few files at a time, no two of one source: those would be one document."""
    batch: dict[str, tuple[Path, str]] = {}
    for file in files:
        if file[1] in batch or len(batch) == TOGETHER:
            yield list(batch.values())
            batch = {}
        batch[file[1]] = file
    if batch:
        yield list(batch.values())


async def _together(
    terminal: Terminal, files: Sequence[tuple[Path, str]], base: str, bar: _Bar, working: _RunningWorker
) -> None:
    """One job of a few files; what is as it was needs none."""
    changed = await _changed_files(terminal, files, base, bar)
    if not changed:
        return
    job = await terminal.accept(_read_files(changed), base)
    sources = {source for _, source in changed}  # a killed command's job may have more of them
    try:
        job = await _watch_job(terminal.jobs, job, bar, working)
    except asyncio.CancelledError:
        with suppress(FootnoteError):
            await terminal.jobs.cancel(job.id, terminal.caller.person.id)
            job = await _await_end(terminal.jobs, job)
        for result in _results(job, sources):
            bar.add(result)
        raise
    except StoreUnavailable:
        with suppress(FootnoteError):
            await terminal.jobs.cancel(job.id, terminal.caller.person.id)  # the next command brings the rest in anew
            job = await terminal.jobs.read(job.id) or job
        for result in _results(job, sources):
            bar.add(result)
        raise
    for result in _results(job, sources, left=job.reason or "It was not begun."):
        bar.add(result)


async def _changed_files(
    terminal: Terminal, files: Sequence[tuple[Path, str]], base: str, bar: _Bar
) -> list[tuple[Path, str]]:
    """The files with something new to say, those whose passages the index has lost, and those that a job in line has.

    What stands in the base of such a file now is not what stands there when its turn comes.
    """
    pending = pending_sources(base, await terminal.jobs.recent())
    changed: list[tuple[Path, str]] = []
    known: dict[str, tuple[tuple[Path, str], Document]] = {}
    for path, source in files:
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            bar.add(IngestResult(source, Change.FAILED, reason=f"It cannot be read: {error.strerror or error}."))
            continue
        there = await terminal.ingestor.find_unchanged(Material(source=source, name=path.name, data=data), base)
        if there is None or source in pending:
            changed.append((path, source))
        else:
            known[there.id] = (path, source), there
    lost = {one.document.id for one in await terminal.consistency.incomplete([there for _, there in known.values()])}
    for name, (file, there) in known.items():
        if name in lost:
            changed.append(file)
        else:
            bar.add(IngestResult(there.source, Change.UNCHANGED, there.passages))
    return changed


async def _read_files(files: Sequence[tuple[Path, str]]) -> AsyncIterator[tuple[str, str, bytes]]:
    """Each file as it is set aside, one after the other: together they may be more than there is memory."""
    for path, source in files:
        with suppress(OSError):  # it could be read a moment ago
            yield source, path.name, await asyncio.to_thread(path.read_bytes)


async def _watch_job(jobs: JobStore, job: Job, bar: _Bar, working: _RunningWorker) -> Job:
    """The job when it is over, whoever does it."""
    began = time.monotonic()
    while not job.over:
        working.check()
        await asyncio.wait({working.task}, timeout=LOOK_SECONDS)
        job = await jobs.read(job.id) or job
        bar.show(job)
        if job.state is JobState.QUEUED and time.monotonic() - began > TURN_SECONDS:
            bar.wait(job.base)
    return job


async def _await_end(jobs: JobStore, job: Job) -> Job:
    """A job that was cancelled, once it is over; or as it is, where it stands in line and ends when it is taken up."""
    until = time.monotonic() + ENDING_SECONDS
    while not job.over and time.monotonic() < until:
        await asyncio.sleep(LOOK_SECONDS)
        job = await jobs.read(job.id) or job
    return job


def _results(job: Job, sources: Collection[str], left: str = "") -> list[IngestResult]:
    """How each of these files came out; those that did not are left out, or failed for the reason given."""
    items = [one for one in job.items if one.source in sources]
    made = [
        IngestResult(one.source, Change(one.state.value), one.passages, one.reason, one.notes)
        for one in items
        if one.over
    ]
    waiting = [one for one in items if one.state is ItemState.WAITING]
    return made + [IngestResult(one.source, Change.FAILED, reason=left) for one in waiting if left]


def report(console: Console, results: Sequence[IngestResult]) -> None:
    """The totals, and each failure with its reason."""
    counts = Counter(result.change for result in results)
    passages = sum(result.passages for result in results)
    console.print(
        Text.assemble(
            (f"{counts[Change.ADDED]} added", "green"),
            f", {counts[Change.UPDATED]} updated, {counts[Change.UNCHANGED]} unchanged, ",
            f"{counts[Change.SKIPPED]} without text, " if counts[Change.SKIPPED] else "",
            (f"{counts[Change.FAILED]} failed", "red" if counts[Change.FAILED] else ""),
            f"; {count(passages, 'passage')}.",
        )
    )
    for result in results:
        if result.change is Change.FAILED:
            console.print(Text.assemble(("  ✗ ", "red"), (result.source, "bold"), f"  {result.reason}"))
        if result.change is Change.SKIPPED:
            console.print(Text.assemble(("  - ", "dim"), (result.source, "bold"), f"  {result.reason}"))
        for note in result.notes:
            console.print(Text.assemble(("  ! ", "yellow"), (result.source, "bold"), f"  {note}"))
