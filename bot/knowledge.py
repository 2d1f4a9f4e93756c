"""The part of the composition root that governs the knowledge: its desk, its jobs, and the worker that does them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.accepting import Acceptance
from adapters.console.ingesting import Terminal
from adapters.console.operator import operator
from adapters.documents.web.fetcher import Fetcher, Rules
from adapters.index_repair import IndexRepair
from adapters.jobs import JobRunner, JobWorker
from adapters.knowledge_desk import PlatformSeams
from adapters.librarian import KnowledgeDesk
from adapters.materials import Materials
from adapters.stores.disk_archive import DiskArchive
from adapters.stores.redis_inbox import RedisInbox
from adapters.stores.redis_jobs import RedisJobs
from adapters.stores.redis_shelf import RedisShelfRecords
from bot.config import Settings
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor
from core.ingestion.leftovers import Leftovers
from core.ingestion.originals import Originals
from core.ingestion.shelves import Shelves
from core.ports import Audit, Catalogue, Clock, Encoder, Index
from core.retrieval.hybrid import Retriever

if TYPE_CHECKING:
    from redis.asyncio import Redis

JOBS = "jobs"  # the inbox's namespace


@dataclass(frozen=True, slots=True)
class Governance:
    """Everything that is open around ``/kb``."""

    desk: KnowledgeDesk
    jobs: RedisJobs
    inbox: RedisInbox
    acceptance: Acceptance
    archive: DiskArchive
    records: RedisShelfRecords
    shelves: Shelves
    catalogue: Catalogue
    ingestor: Ingestor
    clock: Clock
    rules: Rules
    originals: Originals
    consistency: IndexConsistency

    def worker(self, name: str, platforms: Mapping[str, PlatformSeams], *, lanes: int = 2) -> JobWorker:
        """Who does the jobs in this process, with what these platforms lend."""
        materials = Materials(
            self.catalogue,
            self.archive,
            Fetcher(self.rules),
            platforms,
            originals=self.originals,
            consistency=self.consistency,
        )
        runner = JobRunner(
            jobs=self.jobs,
            ingestor=self.ingestor,
            catalogue=self.catalogue,
            shelves=self.shelves,
            records=self.records,
            materials=materials,
            clock=self.clock,
        )
        return JobWorker(name=name, inbox=self.inbox, runner=runner, tick=self.acceptance.tick, lanes=lanes)

    def terminal(self) -> Terminal:
        """What brings files in from the terminal, in turn with everybody else who writes to a base."""
        return Terminal(
            ingest=self.desk.ingest_bytes,
            jobs=self.jobs,
            shelves=self.shelves,
            ingestor=self.ingestor,
            consistency=self.consistency,
            worker=lambda: self.worker(f"terminal-{os.getpid()}", {}),
            caller=operator(),
        )


def governance(
    settings: Settings,
    *,
    redis: "Redis",
    index: Index,
    encoder: Encoder,
    retriever: Retriever,
    catalogue: Catalogue,
    ingestor: Ingestor,
    audit: Audit,
    clock: Clock,
    originals: Originals,
) -> Governance:
    """Put together what ``/kb`` needs of what is open."""
    jobs, inbox, records = RedisJobs(redis), RedisInbox(redis, namespace=JOBS), RedisShelfRecords(redis)
    archive = DiskArchive(Path(settings.home) / "kept")
    shelves = Shelves(
        catalogue=catalogue,
        index=index,
        encoder=encoder,
        records=records,
        archive=archive,
        clock=clock,
        originals=originals,
    )
    consistency = IndexConsistency(catalogue, index)
    leftovers = Leftovers(index=index, catalogue=catalogue, clock=clock)
    acceptance = Acceptance(jobs, inbox, archive, shelves, records, clock, leftovers)
    return Governance(
        desk=KnowledgeDesk(
            catalogue, index, retriever, acceptance, audit, repair=IndexRepair(consistency, originals, acceptance)
        ),
        jobs=jobs,
        inbox=inbox,
        acceptance=acceptance,
        archive=archive,
        records=records,
        shelves=shelves,
        catalogue=catalogue,
        ingestor=ingestor,
        clock=clock,
        rules=rules_of(settings),
        originals=originals,
        consistency=consistency,
    )


def rules_of(settings: Settings) -> Rules:
    """Where links may be fetched from, as configured."""
    return Rules(
        allow_hosts=_names(settings.fetch_allow_hosts),
        deny_hosts=_names(settings.fetch_deny_hosts),
        allow_private=_names(settings.fetch_allow_private),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in text.split(",") if name.strip())
