"""Dependency wiring of ``/kb``: the same in every process and in end-to-end tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.ingestion.consistency import IndexConsistency, OrphanedPassages
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.model.principals import PRINCIPAL_FORMS, PrincipalForm
from core.ports.access import Audit, WebSessions
from core.ports.catalog import BlobStore, Catalog
from core.ports.inbox import Inbox
from core.ports.index import Index
from core.ports.job_store import JobStore, ProposalStore, ScheduleStore, SiteStore
from core.ports.memory import Memory
from core.ports.message_state import MessageStateStore
from core.ports.platform import PlatformCapabilities
from core.ports.sources import FileStores
from core.ports.usage import QuestionLog
from core.retrieval.hybrid import Retriever
from core.service.kb.bases import Bases
from core.service.kb.chat_changes import ChatChanges
from core.service.kb.command_audit import CommandAudit
from core.service.kb.file_origins import FileOrigins
from core.service.kb.item_sources import PlaceWatch
from core.service.kb.job_commands import IndexRepair, JobCommands
from core.service.kb.job_queue import JobQueue
from core.service.kb.proposals import Proposals
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.removals import Removals
from core.service.kb.schedules import Housekeeping, Scheduler, Schedules
from core.service.kb.service import KnowledgeService
from core.service.lost_changes import LostChanges
from core.service.person_answers import PersonAnswers
from core.service.sync.connections import Connections, ConnectLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeDeps:
    """Dependencies of ``/kb`` that the process opens. ``files`` are the stores other than the web that may be read.

    ``connections`` creates what syncs connected sources; None if none can be connected. ``page`` is the web page's
    public address, whose sessions are ``sessions``; empty without a page. ``message_states`` stores changes in chats;
    None if no chat is connected. ``memory`` and ``capabilities``, of the platforms connected here, are for people's
    answers. ``installation`` returns an id that tells this home's folders from those of another home with the same
    stores.
    """

    catalog: Catalog
    index: Index
    retriever: Retriever
    ingestor: Ingestor
    trash: Trash
    originals: Originals
    consistency: IndexConsistency
    jobs: JobStore
    inbox: Inbox
    blobs: BlobStore
    files: FileStores
    schedule_store: ScheduleStore
    proposal_store: ProposalStore
    site_store: SiteStore
    audit: Audit
    clock: Clock
    installation: Callable[[], str]
    questions: QuestionLog | None = None
    lost_changes: LostChanges | None = None
    message_states: MessageStateStore | None = None
    forms: tuple[PrincipalForm, ...] = PRINCIPAL_FORMS
    connections: Callable[[JobQueue], Connections] | None = None
    sessions: WebSessions | None = None
    page: str = ""
    memory: Memory | None = None
    capabilities: Mapping[str, PlatformCapabilities] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WiredKnowledge:
    """The services that handle commands, accept jobs and run periodic work."""

    service: KnowledgeService
    job_queue: JobQueue
    scheduler: Scheduler
    connections: Connections | None = None
    person_answers: PersonAnswers | None = None


def wire_knowledge(deps: KnowledgeDeps) -> WiredKnowledge:
    """Wire ``/kb``. One process may do so several times: the only state is when the trash was swept."""
    jobs, clock, audit = deps.jobs, deps.clock, CommandAudit(deps.audit)
    job_queue = JobQueue(jobs, deps.inbox, deps.blobs, clock, deps.files)
    queries = KnowledgeQueries(
        deps.catalog, deps.index, jobs, deps.inbox, deps.schedule_store, deps.proposal_store, clock
    )
    proposals = Proposals(deps.proposal_store, job_queue, queries, audit, clock, deps.questions)
    schedules = Schedules(deps.schedule_store, job_queue, queries, clock, deps.files)
    repair = IndexRepair(deps.catalog, deps.consistency, deps.originals, job_queue, deps.lost_changes)
    service = KnowledgeService(
        queries=queries,
        job_commands=JobCommands(queries, job_queue, jobs, deps.site_store, audit, repair),
        schedules=schedules,
        removals=Removals(
            deps.catalog,
            deps.index,
            deps.retriever,
            deps.trash,
            deps.site_store,
            job_queue,
            schedules,
            queries,
            deps.proposal_store,
        ),
        bases=Bases(deps.catalog, queries, deps.forms),
        proposals=proposals,
        origins=FileOrigins(deps.catalog, deps.trash, deps.ingestor, deps.installation),
        connect_links=ConnectLinks(deps.sessions, deps.page),
        ingestor=deps.ingestor,
        consistency=deps.consistency,
        audit=audit,
    )
    connections = deps.connections(job_queue) if deps.connections is not None else None
    orphans = OrphanedPassages(index=deps.index, catalog=deps.catalog, clock=clock)
    states = deps.message_states
    changes = ChatChanges(states, deps.catalog, jobs, job_queue, clock) if states is not None else None
    answers = None
    if states is not None and deps.memory is not None:
        answers = PersonAnswers(deps.memory, states, proposals, job_queue, deps.trash, clock, deps.capabilities)
    scheduler = Scheduler(
        schedule_store=deps.schedule_store,
        jobs=jobs,
        job_queue=job_queue,
        proposals=proposals,
        housekeeping=Housekeeping(deps.trash, jobs, clock, orphans),
        clock=clock,
        watch=PlaceWatch(deps.files, deps.site_store),
        chat_changes=changes,
        enqueue_syncs=connections.enqueue_due if connections is not None else None,
        person_answers=answers,
    )
    return WiredKnowledge(service, job_queue, scheduler, connections, answers)
