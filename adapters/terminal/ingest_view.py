"""Ingest in the terminal: a progress bar, then the files added, updated, unchanged and failed.

Files go through jobs, so that each base has one writer at a time. If another process serves the same data, it may do
the work while this one watches; otherwise this process does it. So concurrent writers wait for each other and never
leave a document that is half one's and half the other's.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from adapters.terminal.job_progress import (
    LOOK_SECONDS,
    JobBar,
    RunningWorker,
    job_bar,
    result_text,
    run_in_background,
    watch_job,
)
from core.ingestion.ingestor import Change, IngestResult
from core.model.document_content import FileContent, NamedFile
from core.model.errors import FootnoteError, StoreUnavailable
from core.model.jobs import ItemState, Job
from core.ports.job_store import JobStore
from core.service.kb.commands import Caller
from core.service.kb.file_origins import FileNaming
from core.service.kb.results import Refused, accepted_jobs
from core.service.kb.service import KnowledgeService
from core.service.kb.text_spans import count

if TYPE_CHECKING:
    from core.service.workers import JobWorker

AnyFile = NamedFile | tuple[Path, str]  # a path with its source; without an origin it counts as uploaded
MISSING_SHOWN = 10
TOGETHER = 500  # files spooled at a time, as one job
ENDING_SECONDS = 3.0  # for work in progress after Ctrl-C


@dataclass(frozen=True, slots=True)
class IngestClient:
    """The services for ingesting from the terminal. ``worker`` runs jobs in this process; ``caller`` requests them."""

    kb: KnowledgeService
    jobs: JobStore
    worker: Callable[[], "JobWorker"]
    caller: Caller

    async def accept(self, files: AsyncIterator[FileContent], base: str) -> Job:
        """Return a job for these files. Raises FootnoteError with the reason if there is none."""
        result = await self.kb.ingest_bytes(files, base, self.caller)
        for accepted in accepted_jobs(result):
            if (job := await self.jobs.read(accepted.id)) is not None:
                return job
        raise FootnoteError(result_text(result))


@dataclass(slots=True)
class _Ingest:
    """The results of the files so far, with the progress bar."""

    bar: JobBar
    results: list[IngestResult] = field(default_factory=list)

    def add(self, result: IngestResult) -> None:
        self.results.append(result)
        self.bar.add(1, result.passages)


@asynccontextmanager
async def base_to_fill(kb: KnowledgeService, name: str, caller: Caller) -> AsyncIterator[str]:
    """Yield the base's exact name, matched ignoring case. A new base is created and audited.

    If this is interrupted, a new base that is still empty is deleted. Raises FootnoteError if the name is not allowed.
    """
    is_new = not await kb.has_base(name)
    there = await kb.require_base(name, caller)
    if isinstance(there, Refused):
        raise FootnoteError(result_text(there))
    try:
        yield there.name
    except (asyncio.CancelledError, Exception):
        if is_new:
            with suppress(FootnoteError):
                await kb.discard_empty_base(there.name, caller)
        raise


async def ingest_files(
    console: Console, client: IngestClient, files: Sequence[AnyFile], base: str, *, quiet: bool = False
) -> list[IngestResult]:
    """Ingest files. A file that cannot be read is one failure.

    If interrupted (Ctrl-C, or a store is down), report what is done and how to continue. Raises errors that affect all
    files: no room to spool them, too many jobs, StoreUnavailable.
    """
    with job_bar(console, items=len(files), quiet=quiet) as bar:
        ingest = _Ingest(bar)
        async with run_in_background(client.worker()) as working:
            try:
                async with base_to_fill(client.kb, base, client.caller) as name:
                    await _ingest_all(client, files, name, ingest, working)
            except asyncio.CancelledError:
                if not quiet:
                    left = len(files) - len(ingest.results)
                    report(console, ingest.results)
                    console.print(f"{left} files are left. Run the same command again to add them.")
                raise
    return ingest.results


async def _ingest_all(
    client: IngestClient, files: Sequence[AnyFile], base: str, ingest: _Ingest, working: RunningWorker
) -> None:
    """Ingest the files in batches. An error that ends this early says how many are done."""
    try:
        for batch in _batches([NamedFile(*file) for file in files]):
            await _ingest_batch(client, batch, base, ingest, working)
    except FootnoteError as error:
        raise _cut_short(error, ingest.results, len(files)) from error


def _cut_short(error: FootnoteError, results: Sequence[IngestResult], files: int) -> FootnoteError:
    """Return the error with the progress so far and how to continue."""
    come = sum(result.change is not Change.FAILED for result in results)
    go_on = f"{come} of {files} files are done. Run the same command again to add the rest."
    kind = StoreUnavailable if isinstance(error, StoreUnavailable) else FootnoteError
    return kind(error.args[0], remedy=f"{error.remedy} {go_on}" if error.remedy else go_on)


def _batches(files: Sequence[NamedFile]) -> Iterator[list[NamedFile]]:
    """Yield batches of files. Two files with the same source, which would be one document, are never in one batch."""
    batch: dict[str, NamedFile] = {}
    for file in files:
        if file[1] in batch or len(batch) == TOGETHER:
            yield list(batch.values())
            batch = {}
        batch[file[1]] = file
    if batch:
        yield list(batch.values())


async def _ingest_batch(
    client: IngestClient, files: Sequence[NamedFile], base: str, ingest: _Ingest, working: RunningWorker
) -> None:
    """Ingest a batch as one job, without its unchanged files."""
    changed = await _changed_files(client, files, base, ingest)
    if not changed:
        return
    job = await client.accept(read_files(changed), base)
    sources = {file.source for file in changed}  # the job of a killed command may have more files
    left = ""
    try:
        job = await watch_job(client.jobs, job, ingest.bar, working)
        left = job.reason or "It was not begun."
    except asyncio.CancelledError:
        with suppress(FootnoteError):
            await client.jobs.cancel(job.id, client.caller.person.id)
            job = await _await_end(client.jobs, job)
        raise
    except StoreUnavailable:
        with suppress(FootnoteError):
            await client.jobs.cancel(job.id, client.caller.person.id)  # the next command ingests the rest
        with suppress(FootnoteError):  # a Redis with a full disk rejects writes but can still be read
            job = await client.jobs.read(job.id) or job
        raise
    finally:
        for result in _results(job, sources, left):
            ingest.add(result)


async def _changed_files(
    client: IngestClient, files: Sequence[NamedFile], base: str, ingest: _Ingest
) -> list[NamedFile]:
    """Return the changed files. Count those already in the base and those that cannot be read."""
    unreadable: set[str] = set()

    def note(_: Path, source: str, error: OSError) -> None:
        unreadable.add(source)
        ingest.add(unreadable_result(source, error))

    unchanged = await client.kb.find_unchanged(read_files(files, note), base, client.caller)
    for document in unchanged.values():
        ingest.add(IngestResult(document.source, Change.UNCHANGED, document.passages))
    return [file for file in files if file.source not in unreadable and file.source not in unchanged]


async def read_files(
    files: Sequence[AnyFile], unreadable: Callable[[Path, str, OSError], None] | None = None
) -> AsyncIterator[FileContent]:
    """Yield the content of one file after another, because together they may exceed the memory.

    Calls ``unreadable`` with the path, source and error of each file that cannot be read (any more), and skips it.
    """
    for path, source, origin in (NamedFile(*file) for file in files):
        try:
            yield FileContent(source, path.name, await asyncio.to_thread(path.read_bytes), origin)
        except OSError as error:
            if unreadable is not None:
                unreadable(path, source, error)


def unreadable_result(source: str, error: OSError) -> IngestResult:
    """Return the result of a file that cannot be read."""
    return IngestResult(source, Change.FAILED, reason=f"It cannot be read: {error.strerror or error}.")


async def _await_end(jobs: JobStore, job: Job) -> Job:
    """Wait for a cancelled job to end. A job that is still queued is returned as it is."""
    until = time.monotonic() + ENDING_SECONDS
    while not job.over and time.monotonic() < until:
        await asyncio.sleep(LOOK_SECONDS)
        job = await jobs.read(job.id) or job
    return job


def _results(job: Job, sources: Collection[str], left: str = "") -> list[IngestResult]:
    """Return the result of each of these files. Unfinished ones are left out, or failed with the reason ``left``."""
    items = [one for one in job.items if one.source in sources]
    made = [
        IngestResult(one.source, Change(one.state.value), one.passages, one.reason, one.notes)
        for one in items
        if one.over
    ]
    waiting = [one for one in items if one.state is ItemState.WAITING]
    return made + [IngestResult(one.source, Change.FAILED, reason=left) for one in waiting if left]


def report_naming(console: Console, naming: FileNaming) -> None:
    """Report the saved name of a folder, and folders that got another name than their own."""
    for one in naming.kept:
        console.print(Text(str(one)), soft_wrap=True)
    for note in naming.notes:
        console.print(Text(note, style="yellow"), soft_wrap=True)


def report_missing(console: Console, sources: Sequence[str]) -> None:
    """Report documents that were indexed from a folder and are no longer in it. Answers still use them."""
    if not sources:
        return
    shown = sources[:MISSING_SHOWN]
    console.print(
        Text(f"No longer in this folder, but still indexed: {count(len(sources), 'document')}.", style="yellow")
    )
    for source in shown:
        console.print(Text.assemble(("  ? ", "yellow"), (source, "bold")))
    rest = len(sources) - len(shown)
    more = f"  … and {rest} more: footnote sources list has all. " if rest else "  "
    console.print(Text(f"{more}Remove one with footnote sources remove SOURCE.", style="dim"), soft_wrap=True)


def report(console: Console, results: Sequence[IngestResult]) -> None:
    """Print the totals, and each failure with its reason."""
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


async def preview_files(
    kb: KnowledgeService, caller: Caller, files: Sequence[AnyFile], base: str
) -> list[IngestResult]:
    """Return how each of these files would come out. The number of passages is known only for unchanged ones."""
    unreadable: dict[Path, IngestResult] = {}

    def note(path: Path, source: str, error: OSError) -> None:
        unreadable[path] = unreadable_result(source, error)

    previewed = iter(await kb.preview_ingest(read_files(files, note), base, caller))
    return [unreadable[path] if path in unreadable else next(previewed) for path, *_ in files]
