"""The part of the composition root for the knowledge: its service, its jobs, and the job worker."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from adapters.connectors.registry import connector_plugin
from adapters.documents.sources.connections import require_drivers
from adapters.documents.sources.file_stores import FsspecFileStores
from adapters.files.secret_box import FernetBox
from adapters.redis.inbox import RedisInbox
from adapters.redis.kb_stores import (
    RedisConnectionStore,
    RedisJobStore,
    RedisProposalStore,
    RedisScheduleStore,
    RedisSiteStore,
    RedisTrashStore,
)
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.web_stores import RedisWebSessions
from adapters.terminal.operator import operator
from bot.home import installation_id
from bot.plugins import principal_forms
from bot.settings import Settings
from bot.stores import blob_store
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.ports.access import Audit
from core.ports.catalog import BlobStore, Catalog
from core.ports.index import Encoder, Index
from core.ports.memory import Memory
from core.ports.platform import PlatformCapabilities
from core.ports.usage import QuestionLog
from core.retrieval.hybrid import Retriever
from core.service.kb.job_queue import JobQueue
from core.service.kb.schedules import Scheduler
from core.service.kb.service import KnowledgeService
from core.service.kb.wiring import KnowledgeDeps, wire_knowledge
from core.service.lost_changes import LostChanges
from core.service.person_answers import PersonAnswers
from core.service.sync.connections import Connections
from core.service.sync.documents import SyncedDocuments
from core.service.sync.engine import SyncEngine
from core.service.sync.rights import ReaderClasses

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from redis.asyncio import Redis

    from adapters.documents.web.fetcher import Rules
    from adapters.terminal.ingest_view import IngestClient
    from core.ports.connector import Http
    from core.service.workers import JobWorker

JOBS = "jobs"  # the inbox's namespace


@dataclass(frozen=True, slots=True)
class KnowledgeStack:
    """The services behind ``/kb`` in this process."""

    deps: KnowledgeDeps
    kb_service: KnowledgeService
    scheduler: Scheduler
    connections: Connections
    person_answers: PersonAnswers
    settings: Settings

    def worker(self, name: str, platforms: Mapping[str, PlatformCapabilities], *, lanes: int = 2) -> "JobWorker":
        """Return the job worker of this process, with these platforms' capabilities."""
        from adapters.documents.web.crawler import WebCrawler
        from adapters.documents.web.fetcher import Fetcher
        from adapters.terminal.operator import PLATFORM as TERMINAL
        from adapters.web.routing import PLATFORM as PAGE
        from core.service.api_clients import API_PLATFORM
        from core.service.kb.item_sources import ItemSources
        from core.service.kb.job_runner import JobRunner
        from core.service.workers import JobWorker

        deps = self.deps
        # Jobs from the terminal, the page and API clients bring their bytes along, so any process can run them.
        served_everywhere = {name: PlatformCapabilities() for name in (TERMINAL, PAGE, API_PLATFORM)}
        item_sources = ItemSources(
            deps.catalog,
            deps.blobs,
            WebCrawler(Fetcher(rules_of(self.settings))),
            {**served_everywhere, **platforms},
            deps.originals,
            deps.consistency,
            deps.files,
        )
        runner = JobRunner(
            jobs=deps.jobs,
            ingestor=deps.ingestor,
            catalog=deps.catalog,
            trash=deps.trash,
            site_store=deps.site_store,
            item_sources=item_sources,
            clock=deps.clock,
            connections=self.connections,
        )
        return JobWorker(name=name, inbox=deps.inbox, runner=runner, tick=self.scheduler.tick, lanes=lanes)

    def terminal_worker(self) -> "JobWorker":
        """Return the job worker of a command's process, without platforms."""
        return self.worker(f"terminal-{os.getpid()}", {})

    def ingest_client(self) -> "IngestClient":
        """Return the ingest client of the terminal, which waits its turn among all writers of a base."""
        from adapters.terminal.ingest_view import IngestClient

        return IngestClient(
            kb=self.kb_service,
            jobs=self.deps.jobs,
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
    lost_changes: LostChanges,
    memory: Memory,
    capabilities: Mapping[str, PlatformCapabilities],
) -> KnowledgeStack:
    """Build the services behind ``/kb`` from what is open."""
    blobs, originals = blob_store(settings, "kept"), Originals(kept_originals)
    trash = Trash(
        catalog=catalog,
        index=index,
        encoder=encoder,
        store=RedisTrashStore(redis),
        blobs=blobs,
        clock=clock,
        originals=originals,
    )
    deps = KnowledgeDeps(
        catalog=catalog,
        index=index,
        retriever=retriever,
        ingestor=ingestor,
        trash=trash,
        originals=originals,
        consistency=IndexConsistency(catalog, index, originals),
        jobs=RedisJobStore(redis),
        inbox=RedisInbox(redis, namespace=JOBS),
        blobs=blobs,
        files=stores_of(settings),
        schedule_store=RedisScheduleStore(redis),
        proposal_store=RedisProposalStore(redis),
        site_store=RedisSiteStore(redis),
        audit=audit,
        clock=clock,
        installation=partial(installation_id, settings.home),
        questions=questions,
        lost_changes=lost_changes,
        message_states=RedisMessageStateStore(redis),
        forms=principal_forms(),
        sessions=RedisWebSessions(redis),
        page=settings.web_address if settings.has_page else "",
        memory=memory,
        capabilities=capabilities,
    )
    connect = partial(_connections, settings, RedisConnectionStore(redis), deps)
    wired = wire_knowledge(replace(deps, connections=connect))
    assert wired.connections is not None
    assert wired.person_answers is not None
    return KnowledgeStack(
        deps=deps,
        kb_service=wired.service,
        scheduler=wired.scheduler,
        connections=wired.connections,
        person_answers=wired.person_answers,
        settings=settings,
    )


def _connections(
    settings: Settings, store: RedisConnectionStore, deps: KnowledgeDeps, job_queue: JobQueue
) -> Connections:
    """Return the service that syncs connected sources, with the storage of their secrets."""
    key = settings.footnote_secret_key.get_secret_value() if settings.footnote_secret_key else ""
    documents = SyncedDocuments(deps.catalog, deps.ingestor, deps.originals)
    return Connections(
        store=store,
        engine=SyncEngine(store, documents, ReaderClasses(deps.catalog), deps.clock),
        plugins=connector_plugin,
        http=partial(_open_http, settings),
        box=FernetBox(settings.home, key),
        catalog=deps.catalog,
        ingestor=deps.ingestor,
        jobs=deps.jobs,
        job_queue=job_queue,
        audit=deps.audit,
        clock=deps.clock,
        forms=deps.forms,
    )


def _open_http(settings: Settings, origin: str, headers: Mapping[str, str]) -> "AbstractAsyncContextManager[Http]":
    """Open an HTTP client for one origin, under the same rules as for links."""
    from adapters.connectors.http import opener

    return opener(rules_of(settings))(origin, headers)


def rules_of(settings: Settings) -> "Rules":
    """Return the configured rules for fetching links."""
    from adapters.documents.web.fetcher import Rules, credential_of

    return Rules(
        allow_hosts=_names(settings.fetch_allow_hosts),
        deny_hosts=_names(settings.fetch_deny_hosts),
        allow_private=_names(settings.fetch_allow_private),
        credential=credential_of(settings.fetch_credential.get_secret_value() if settings.fetch_credential else ""),
    )


def stores_of(settings: Settings) -> FsspecFileStores:
    """Return the configured file stores. SOURCE_ADDRESSES has the allowed address prefixes, separated by commas."""
    allowed = [one.strip() for one in settings.source_addresses.split(",") if one.strip()]
    return FsspecFileStores(
        allowed,
        allow_private=_names(settings.fetch_allow_private),
        drivers=require_drivers(_names(settings.source_drivers)),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in text.split(",") if name.strip())
