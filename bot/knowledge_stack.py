"""The part of the composition root that governs the knowledge: its service, its jobs, and the worker that does them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.documents.sources.file_stores import FsspecFileStores
from adapters.documents.web.crawler import WebCrawler
from adapters.documents.web.fetcher import Fetcher, Rules
from adapters.files.blob_store import FolderBlobStore
from adapters.files.object_store import ObjectBlobStore
from adapters.redis.inbox import RedisInbox
from adapters.redis.job_store import RedisJobStore
from adapters.redis.proposal_store import RedisProposalStore
from adapters.redis.schedule_store import RedisScheduleStore
from adapters.redis.site_store import RedisSiteStore
from adapters.redis.trash_store import RedisTrashStore
from adapters.terminal.ingest_view import Terminal
from adapters.terminal.operator import operator
from bot.settings import Settings
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.ingestion.orphans import OrphanedPassages
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.ports.audit import Audit
from core.ports.blob_store import BlobStore
from core.ports.catalog import Catalog
from core.ports.encoder import Encoder
from core.ports.file_stores import FileStores
from core.ports.index import Index
from core.ports.platform_capabilities import PlatformCapabilities
from core.ports.question_log import QuestionLog
from core.retrieval.hybrid import Retriever
from core.service.kb.bases import Bases
from core.service.kb.command_audit import CommandAudit
from core.service.kb.housekeeping import Housekeeping
from core.service.kb.index_repair import IndexRepair
from core.service.kb.item_sources import ItemSources
from core.service.kb.job_commands import JobCommands
from core.service.kb.job_queue import JobQueue
from core.service.kb.job_runner import JobRunner
from core.service.kb.job_worker import JobWorker
from core.service.kb.place_watch import PlaceWatch
from core.service.kb.proposals import Proposals
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.removals import Removals
from core.service.kb.scheduler import Scheduler
from core.service.kb.schedules import Schedules
from core.service.kb.service import KnowledgeService
from core.service.kb.uploads import Uploads

if TYPE_CHECKING:
    from redis.asyncio import Redis

JOBS = "jobs"  # the inbox's namespace


@dataclass(frozen=True, slots=True)
class KnowledgeStack:
    """Everything that is open around ``/kb``."""

    kb_service: KnowledgeService
    queries: KnowledgeQueries
    scheduler: Scheduler
    jobs: RedisJobStore
    inbox: RedisInbox
    proposal_store: RedisProposalStore
    blobs: BlobStore
    site_store: RedisSiteStore
    trash: Trash
    catalog: Catalog
    ingestor: Ingestor
    clock: Clock
    rules: Rules
    stores: FileStores
    originals: Originals
    consistency: IndexConsistency
    blob_stores: Mapping[str, BlobStore]  # by the names that a backup has them under

    def worker(self, name: str, platforms: Mapping[str, PlatformCapabilities], *, lanes: int = 2) -> JobWorker:
        """Who does the jobs in this process, with what these platforms lend."""
        item_sources = ItemSources(
            self.catalog,
            self.blobs,
            WebCrawler(Fetcher(self.rules)),
            platforms,
            originals=self.originals,
            consistency=self.consistency,
            stores=self.stores,
        )
        runner = JobRunner(
            jobs=self.jobs,
            ingestor=self.ingestor,
            catalog=self.catalog,
            trash=self.trash,
            site_store=self.site_store,
            item_sources=item_sources,
            clock=self.clock,
        )
        return JobWorker(name=name, inbox=self.inbox, runner=runner, tick=self.scheduler.tick, lanes=lanes)

    def terminal_worker(self) -> JobWorker:
        """Who does jobs in a command's process, without any platform."""
        return self.worker(f"terminal-{os.getpid()}", {})

    def terminal(self) -> Terminal:
        """What brings files in from the terminal, in turn with everybody else who writes to a base."""
        return Terminal(
            kb=self.kb_service,
            jobs=self.jobs,
            worker=self.terminal_worker,
            caller=operator(),
        )


def knowledge_stack(
    settings: Settings,
    *,
    redis: "Redis",
    index: Index,
    encoder: Encoder,
    retriever: Retriever,
    catalog: Catalog,
    ingestor: Ingestor,
    audit: Audit,
    clock: Clock,
    kept_originals: BlobStore,
    questions: QuestionLog,
) -> KnowledgeStack:
    """Put together what ``/kb`` needs of what is open."""
    jobs, inbox, site_store = RedisJobStore(redis), RedisInbox(redis, namespace=JOBS), RedisSiteStore(redis)
    schedule_store, proposal_store = RedisScheduleStore(redis), RedisProposalStore(redis)
    blobs = blob_store(settings, "kept")
    originals = Originals(kept_originals)
    trash = Trash(
        catalog=catalog,
        index=index,
        encoder=encoder,
        store=RedisTrashStore(redis),
        blobs=blobs,
        clock=clock,
        originals=originals,
    )
    consistency, stores = IndexConsistency(catalog, index), stores_of(settings)
    job_queue = JobQueue(jobs, inbox, blobs, clock, stores)
    queries = KnowledgeQueries(catalog, index, jobs, inbox, schedule_store, proposal_store, clock)
    recorded = CommandAudit(audit)
    proposals = Proposals(proposal_store, job_queue, queries, recorded, clock, questions)
    schedules = Schedules(schedule_store, job_queue, queries, clock, stores)
    repair = IndexRepair(catalog, consistency, originals, job_queue)
    kb_service = KnowledgeService(
        queries=queries,
        job_commands=JobCommands(queries, job_queue, jobs, site_store, recorded, repair),
        schedules=schedules,
        removals=Removals(catalog, index, retriever, trash, site_store, job_queue, schedules, queries),
        bases=Bases(catalog, queries),
        proposals=proposals,
        uploads=Uploads(ingestor, consistency, jobs),
        audit=recorded,
    )
    orphans = OrphanedPassages(index=index, catalog=catalog, clock=clock)
    housekeeping = Housekeeping(trash, jobs, clock, orphans)
    watch = PlaceWatch(stores, site_store)
    return KnowledgeStack(
        kb_service=kb_service,
        queries=queries,
        scheduler=Scheduler(schedule_store, jobs, job_queue, proposals, housekeeping, clock, watch),
        jobs=jobs,
        inbox=inbox,
        proposal_store=proposal_store,
        blobs=blobs,
        site_store=site_store,
        trash=trash,
        catalog=catalog,
        ingestor=ingestor,
        clock=clock,
        rules=rules_of(settings),
        stores=stores,
        originals=originals,
        consistency=consistency,
        blob_stores={"kept": blobs, "originals": kept_originals},
    )


def blob_store(settings: Settings, what: str) -> BlobStore:
    """Where bytes of this kind are set aside: with the others below BLOB_STORE_URL, or in the data directory.

    A folder that machines share (a path, or file://) is written as our own folder is: each file whole, and on the disk.
    """
    url = settings.blob_store_url or str(settings.home)
    if "://" in url and not url.startswith("file://"):
        return ObjectBlobStore(f"{url.rstrip('/')}/{what}")
    return FolderBlobStore(Path(url.removeprefix("file://")).expanduser() / what)


def rules_of(settings: Settings) -> Rules:
    """Where links may be fetched from, as configured."""
    return Rules(
        allow_hosts=_names(settings.fetch_allow_hosts),
        deny_hosts=_names(settings.fetch_deny_hosts),
        allow_private=_names(settings.fetch_allow_private),
    )


def stores_of(settings: Settings) -> FsspecFileStores:
    """The places whose files may be read, as configured: beginnings of addresses, with commas between them."""
    allowed = [one.strip() for one in settings.source_addresses.split(",") if one.strip()]
    return FsspecFileStores(allowed, allow_private=_names(settings.fetch_allow_private))


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in text.split(",") if name.strip())
