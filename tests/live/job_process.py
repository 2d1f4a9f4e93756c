"""A process that brings documents in and says what it is doing, to be killed: ``python -m tests.live.job_process``."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from adapters.documents.web.crawler import WebCrawler
from adapters.documents.web.fetcher import Fetcher
from adapters.redis.inbox import RedisInbox
from adapters.terminal.operator import PLATFORM as TERMINAL
from adapters.terminal.operator import operator
from bot.container import Footnote, open_footnote
from bot.knowledge_stack import JOBS, rules_of
from core.ingestion.ingestor import Ingestor, IngestResult, Progress, Retire
from core.ingestion.originals import Material
from core.model.document_content import FileContent
from core.model.jobs import JobStage
from core.model.knowledge import Document
from core.ports.index import Index
from core.ports.platform import PlatformCapabilities
from core.service.kb.item_sources import ItemSources
from core.service.kb.job_runner import JobRunner
from core.service.workers import JobWorker
from tests.core.service.kb.knowledge_room import job_in
from tests.live.conftest import settings_for

DOCUMENTS = 4
SECTIONS = 50


class Telling(Ingestor):
    """Says on standard output what it does, before it does it: how many documents it has done, and the stage."""

    def __init__(self, ingestor: Ingestor, job_id: str) -> None:
        self._job_id = job_id
        self._done = 0
        super().__init__(
            index=_Retiring(ingestor.index, self._tell),  # type: ignore[arg-type]
            encoder=ingestor.encoder,
            catalog=ingestor.catalog,
            parser=ingestor.parser,
            clock=ingestor.clock,
            originals=ingestor.originals,
        )

    def _tell(self, stage: str) -> None:
        sys.stdout.write(f"{self._job_id} {self._done} {stage}\n")
        sys.stdout.flush()

    async def ingest(
        self,
        material: Material,
        base: str,
        progress: Progress = lambda *_: None,
        *,
        still_ours: Callable[[], Awaitable[None]] | None = None,
        retire: Retire | None = None,
        moved_from: Document | None = None,
    ) -> IngestResult:
        def tell(stage: JobStage, done: int, total: int) -> None:
            self._tell(stage)
            progress(stage, done, total)

        ingested = await super().ingest(
            material, base, tell, still_ours=still_ours, retire=retire, moved_from=moved_from
        )
        self._done += 1
        return ingested


class _Retiring:
    """The index, which says that an old version is about to go, and waits a little to be killed there."""

    def __init__(self, index: Index, tell: Callable[[str], None]) -> None:
        self._index = index
        self._tell = tell

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        self._tell("retiring")
        await asyncio.sleep(1)
        return await self._index.remove(document, keep_version=keep_version)


def worker(footnote: Footnote, ingestor: Ingestor | None = None) -> JobWorker:
    """A worker whose leases run out soon after it dies."""
    kept = footnote.knowledge_stack
    runner = JobRunner(
        jobs=kept.deps.jobs,
        ingestor=ingestor or kept.deps.ingestor,
        catalog=kept.deps.catalog,
        trash=kept.deps.trash,
        site_store=kept.deps.site_store,
        item_sources=ItemSources(
            kept.deps.catalog,
            kept.deps.blobs,
            WebCrawler(Fetcher(rules_of(kept.settings))),
            {TERMINAL: PlatformCapabilities()},
            kept.deps.originals,
            kept.deps.consistency,
            kept.deps.files,
        ),
        clock=kept.deps.clock,
    )
    inbox = RedisInbox(footnote.redis, namespace=JOBS, lease=timedelta(seconds=4), look_again=timedelta(seconds=1))
    return JobWorker(name="killed", inbox=inbox, runner=runner, tick=kept.scheduler.tick, lanes=1)


async def documents(edition: str) -> AsyncIterator[FileContent]:
    """Documents of many sections, all of this edition."""
    for number in range(DOCUMENTS):
        sections = (
            f"## Rule {section} of volume {number}\n\nIn the {edition} edition rule {section} of volume {number} says "
            f"that parcel {section * 7919 % 1000} leaves at gate {section * 31 % 97}, whatever the weather may be.\n"
            for section in range(SECTIONS)
        )
        yield FileContent(
            f"volume{number}.md", f"volume{number}.md", f"# Volume {number}\n\n{''.join(sections)}".encode()
        )


async def main(home: Path, base: str) -> None:
    """Accept one job and work on it."""
    async with open_footnote(settings_for(home)) as footnote:
        await footnote.ingestor.ensure_base(base)
        reply = await footnote.knowledge_stack.kb_service.ingest_bytes(documents("second"), base, operator())
        await worker(footnote, Telling(footnote.ingestor, job_in(reply).id)).run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
