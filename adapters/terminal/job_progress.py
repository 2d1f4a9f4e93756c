"""Jobs in the terminal: run here or by another process that serves the same data, with their progress.

``footnote ingest`` and ``footnote kb …`` follow their jobs with the same loop and bar.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
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

from core.model.errors import StoreUnavailable
from core.model.jobs import Job, JobProgress, JobStage, JobState
from core.model.json_codec import to_json
from core.model.plain_text import remove_controls
from core.ports.job_store import JobStore
from core.service.kb.job_cards import job_card, job_state
from core.service.kb.results import KbOutcome, KbResult, ProposalDecided
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_layout import lay_out
from core.service.kb.text_spans import line_text
from core.service.kb.wording import outcome_lines

if TYPE_CHECKING:
    from core.service.workers import JobWorker

LOOK_SECONDS = 0.1
TURN_SECONDS = 3.0  # a job still queued after this long waits for another job of the base
SHOWN = 40  # characters of a source beside the bar
WAITING = "This waits for other work on “{base}”. footnote kb jobs lists it, and footnote kb cancel cancels it."


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """The worker of this process, while it runs. A person would rather see its error than a retry."""

    worker: "JobWorker"
    task: "asyncio.Task[None]"

    def check(self) -> None:
        """Raise the worker's error: it ended early, or a store does not answer."""
        if self.task.done():
            self.task.result()
        if self.worker.away is not None:
            raise self.worker.away


@asynccontextmanager
async def run_in_background(worker: "JobWorker") -> AsyncIterator[RunningWorker]:
    """Run jobs in this process during the context. On an exception, unfinished jobs, possibly others', are released."""
    stop = asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    try:
        yield RunningWorker(worker, task)
    except BaseException:
        task.cancel()
        raise
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)


@dataclass(slots=True)
class JobBar:
    """The progress bar of jobs. ``items_before`` and ``passages_before`` count what is finished already."""

    console: Console
    progress: Progress
    task: TaskID
    waited: bool = False
    items_before: int = 0
    passages_before: int = 0
    job: Job | None = None  # the job shown last

    def show(self, job: Job) -> None:
        """Print the job's current state."""
        self.job = job
        passages = self.passages_before + sum(item.passages for item in job.items)
        over = self.items_before + sum(item.over for item in job.items)
        words = f"{_doing(job):<{SHOWN}}"
        self.progress.update(self.task, description=words, completed=over, passages=f"{passages:,} passages")

    def begin(self, job: Job) -> None:
        """Start with another job. The total of a job that finds items on the way is unknown."""
        self.job = job
        self.progress.update(self.task, total=len(job.items) if job.listed else None)

    def add(self, items: int, passages: int) -> None:
        """Count finished items and passages."""
        self.items_before += items
        self.passages_before += passages
        self.progress.update(self.task, completed=self.items_before)

    def wait(self, base: str) -> None:
        """Say, once, that other work comes first."""
        if not self.waited:
            self.console.print(WAITING.format(base=base), soft_wrap=True)
        self.waited = True


class _TwoLines(Progress):
    """A bar with the current item on a line above it, because both do not fit side by side in 80 columns."""

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            yield Text(task.description, no_wrap=True, overflow="ellipsis")
        yield self.make_tasks_table(self.tasks)


@contextmanager
def job_bar(console: Console, *, items: int | None = None, quiet: bool = False) -> Iterator[JobBar]:
    """Yield the bar and remove it afterwards. Nothing is shown without a terminal."""
    columns = (
        SpinnerColumn(),
        BarColumn(24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[passages]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:", markup=False),
        TimeRemainingColumn(),
    )
    with _TwoLines(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        yield JobBar(console, progress, progress.add_task("Waiting", total=items, passages=""))


async def watch_job(jobs: JobStore, job: Job, bar: JobBar, working: RunningWorker) -> Job:
    """Wait until any process has finished the job, and return it. Raises what ``RunningWorker.check`` raises."""
    began = time.monotonic()
    while not job.over:
        working.check()
        await asyncio.wait({working.task}, timeout=LOOK_SECONDS)
        job = await jobs.read(job.id) or job
        bar.show(job)
        if job.state is JobState.QUEUED and time.monotonic() - began > TURN_SECONDS:
            bar.wait(job.base)
    return job


async def follow_jobs(
    console: Console,
    accepted: Sequence[JobSummary],
    jobs: JobStore,
    worker: Callable[[], "JobWorker"],
    *,
    quiet: bool = False,
) -> list[Job]:
    """Run jobs here until any process has finished these, show each, and return them.

    Raises StoreUnavailable with the progress so far and how to continue.
    """
    ended: list[Job] = []
    with job_bar(console, quiet=quiet) as bar:
        async with run_in_background(worker()) as working:
            for one in accepted:
                job = await jobs.read(one.id)
                if job is None:
                    continue  # so old that it is no longer stored
                bar.begin(job)
                try:
                    ended.append(await watch_job(jobs, job, bar, working))
                except StoreUnavailable as error:
                    raise _cut_short(error, bar.job or job) from error
                if not quiet:
                    console.print(Text(job_text(ended[-1])))
    return ended


def _cut_short(error: StoreUnavailable, job: Job) -> StoreUnavailable:
    """Return the error with the progress so far and how to continue."""
    come = f"{sum(item.over for item in job.items)} of {len(job.items)} are done"
    go_on = f"Job {job.id} waits, {come}: footnote serve goes on with it, or the same command, which repeats nothing."
    return StoreUnavailable(error.args[0], remedy=f"{error.remedy} {go_on}" if error.remedy else go_on)


def _doing(job: Job) -> str:
    """Return the current action and its source. A long path is cut at the front, since its end says the most."""
    doing = job.progress.source
    if job.state is JobState.QUEUED:
        return "Waiting"
    if not doing:
        return job_state(summarize_job(job))
    shown = doing if len(doing) <= SHOWN else f"…{doing[1 - SHOWN :]}"
    return f"Reading {shown:<{SHOWN}} {within(job.progress)}"


def within(now: JobProgress) -> str:
    """Return the progress within a slow file."""
    match now.stage:
        case JobStage.EMBEDDING:
            return f"passage {now.done:,} of {now.total:,}"
        case JobStage.RECOGNIZING:
            return f"page {now.done + 1:,} of {now.total:,} by OCR"
        case _:
            return ""


PROPOSALS = "footnote kb proposals"  # the command that lists proposals in the terminal


def result_text(result: KbResult) -> str:
    """Return a result in plain lines, without its jobs' cards, which are shown as they run."""
    if isinstance(result, ProposalDecided):
        return "\n".join([result_text(result.outcome), result_text(result.remaining)]).strip()
    if isinstance(result, KbOutcome):
        lines = outcome_lines(result)
    else:
        lines = [line_text(line) for part in lay_out(result, PROPOSALS).parts for line in part.lines]
    return "\n".join(remove_controls(line) for line in lines if line.strip())


def result_json(result: KbResult) -> Any:
    """Return a result as JSON data. ``kind`` is its type."""
    return json.loads(to_json(result))


def job_text(job: Job) -> str:
    """Return the current state of a job, in plain lines."""
    card = job_card(summarize_job(job))
    return "\n".join(map(remove_controls, [*map(line_text, card.lines), card.footer]))
