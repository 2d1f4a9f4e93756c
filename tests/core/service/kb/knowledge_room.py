"""An in-process installation for ``/kb``: an admin, a member, a site to fetch from, and a worker that tests step."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from adapters.documents.sources.file_stores import FsspecFileStores
from adapters.documents.web.crawler import WebCrawler
from adapters.documents.web.fetcher import Fetcher
from adapters.terminal.operator import PLATFORM as TERMINAL
from adapters.web.routing import PLATFORM as PAGE
from bot.plugins import principal_forms
from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.ingestion.trash import Trash
from core.model.conversation import Audience, Person, ThreadKey
from core.model.document_content import Block, Conversation, ParsedDocument, TranscriptMessage
from core.model.errors import DocumentRejected, FetchRefused, NotFound
from core.model.incoming_events import FileReference, Permissions
from core.model.jobs import Job
from core.model.principals import PrincipalForm, PrincipalKind
from core.ports.index import Scope
from core.ports.platform import ConversationGone, PlatformCapabilities
from core.ports.sources import FetchResult, PageGone, PageProgress, StoredFile
from core.retrieval.hybrid import Retriever
from core.service.api_clients import API_PLATFORM
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.item_sources import ItemSources
from core.service.kb.job_cards import job_card
from core.service.kb.job_runner import JobRunner
from core.service.kb.results import (
    KbOutcome,
    KbResult,
    ProposalDecided,
    RefusalReason,
    Refused,
    RemovalPreview,
    accepted_jobs,
)
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_layout import lay_out
from core.service.kb.text_spans import line_text
from core.service.kb.wiring import KnowledgeDeps, wire_knowledge
from core.service.kb.wording import outcome_lines
from core.service.workers import JobWorker
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.job_store import InProcessBlobStore, InProcessJobStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.schedule_store import InProcessScheduleStore
from tests.fakes.memory.site_store import InProcessSiteStore
from tests.fakes.memory.stores import InProcessAudit, InProcessCatalog
from tests.fakes.memory.trash_store import InProcessTrashStore
from tests.fakes.memory.web_sessions import InProcessWebSessions

if TYPE_CHECKING:
    from core.ports.memory import Memory
    from core.ports.message_state import MessageStateStore
    from core.service.kb.job_queue import JobQueue
    from core.service.sync.connections import Connections

ADMIN = Person("paper:ada", "Ada")
GRACE = Person("paper:grace", "Grace")
MEMBER = Person("paper:bo", "Bo")
CHANNEL = "paper:channel:T/C"


class PlainParser:
    """Parser of plain text that rejects zero bytes. ``opened`` pauses it in the middle of a job."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.opened = asyncio.Event()
        self.opened.set()

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        await self.opened.wait()
        self.read.append(name)
        if b"\0" in data:
            raise DocumentRejected("This is no text.")
        text = data.decode()
        title = text.splitlines()[0].lstrip("# ") if text.startswith("#") else name
        return ParsedDocument(title, (Block(text, first_line=1),), "text/plain")


class PaperSite(Fetcher):
    """Pages by link; a page's etag is its text."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, str] = {}
        self.broken: set[str] = set()
        self.asked: list[tuple[str, str | None]] = []

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchResult:
        self.asked.append((url, etag))
        if url in self.broken:
            raise FetchRefused("The host replied with 500 Internal Server Error.")
        if url not in self.pages:
            raise PageGone("The host replied with 404 Not Found.")
        text = self.pages[url]
        mark = f'"{hash(text)}"'
        name = url.rsplit("/", 1)[-1] or "index.html"
        if etag == mark:
            return FetchResult(url, 304, "", b"", mark, None, name)
        kind = "text/html" if "<html" in text else "text/plain"
        return FetchResult(url, 200, kind, text.encode(), mark, None, name)


@dataclass
class RecordedPlatform:
    """A platform's capabilities: files and conversations by reference, and job cards."""

    files: dict[str, bytes] = field(default_factory=dict)
    conversations_: dict[str, Conversation] = field(default_factory=dict)
    cards: list[Job] = field(default_factory=list)

    async def download(self, reference: str) -> tuple[str, bytes]:
        if reference not in self.files:
            raise FetchRefused("The file is gone.")
        return reference, self.files[reference]

    async def conversation(self, reference: str) -> Conversation:
        if reference not in self.conversations_:
            raise NotFound("That conversation no longer exists.")
        return self.conversations_[reference]

    async def read_again(self, source: str) -> Conversation:
        for one in self.conversations_.values():
            if one.source == source:
                return one
        raise ConversationGone("That conversation no longer exists.")

    def reference_of(self, thread: ThreadKey) -> str:
        return str(thread)

    async def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        for number, one in enumerate(self.conversations_.values()):
            if number < limit:
                yield one

    async def show(self, job: Job) -> None:
        self.cards.append(job)

    def capabilities(self) -> PlatformCapabilities:
        return PlatformCapabilities(self.download, self, self)


class Stores(FsspecFileStores):
    """Files at these addresses; reading one of ``away`` fails. ``asked`` and ``brought`` list them."""

    def __init__(self, allowed: Iterable[str] = ("memory://",), allow_private: frozenset[str] = frozenset()) -> None:
        super().__init__(allowed, allow_private=allow_private)
        self.away: set[str] = set()
        self.asked: list[str] = []
        self.brought: list[str] = []

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        self.asked.append(address)
        if address in self.away:
            raise FetchRefused("This place could not be read.")
        found = await super().read(address, version=version)
        self.brought += [address] if found else []
        return found


class Room:
    """The installation, with methods for people's actions and the worker."""

    def __init__(self, stores: Stores | None = None) -> None:
        self.clock = ManualClock(datetime.now(UTC))
        self.admins = {ADMIN}
        self.index, self.encoder, self.catalog = InProcessIndex(), HashingEncoder(), InProcessCatalog()
        self.parser, self.site, self.platform = PlainParser(), PaperSite(), RecordedPlatform()
        self.jobs, self.trash_store, self.blobs = InProcessJobStore(), InProcessTrashStore(), InProcessBlobStore()
        self.schedule_store, self.site_store = InProcessScheduleStore(), InProcessSiteStore()
        self.proposal_store = InProcessProposalStore()
        self.kept_originals = InProcessBlobStore()
        self.inbox, self.audit = InProcessInbox(clock=self.clock), InProcessAudit()
        self.message_states: MessageStateStore | None = None
        self.memory: Memory | None = None
        self.lent: dict[str, PlatformCapabilities] = {}  # by platforms that are connected
        self.stores = Stores() if stores is None else stores
        self.assemble()

    def assemble(self) -> None:
        """Build the services on these stores."""
        self.retriever = Retriever(self.index, self.encoder, None, self.catalog)
        self.originals = Originals(self.kept_originals)
        self.consistency = IndexConsistency(self.catalog, self.index, self.originals)
        self.ingestor = Ingestor(
            index=self.index,
            encoder=self.encoder,
            catalog=self.catalog,
            parser=self.parser,
            clock=self.clock,
            originals=self.originals,
        )
        self.trash = Trash(
            catalog=self.catalog,
            index=self.index,
            encoder=self.encoder,
            store=self.trash_store,
            blobs=self.blobs,
            clock=self.clock,
            originals=self.originals,
        )
        self.installation = "here"
        self.sessions, self.page = InProcessWebSessions(), "https://notes.example"
        self.connect: Callable[[JobQueue], Connections] | None = None
        self.wire()

    def wire(self) -> None:
        """Build ``/kb``, its queue and its scheduler, as a process does."""
        deps = KnowledgeDeps(
            catalog=self.catalog,
            index=self.index,
            retriever=self.retriever,
            ingestor=self.ingestor,
            trash=self.trash,
            originals=self.originals,
            consistency=self.consistency,
            jobs=self.jobs,
            inbox=self.inbox,
            blobs=self.blobs,
            files=self.stores,
            schedule_store=self.schedule_store,
            proposal_store=self.proposal_store,
            site_store=self.site_store,
            audit=self.audit,
            clock=self.clock,
            message_states=self.message_states,
            memory=self.memory,
            capabilities=self.lent,
            installation=lambda: self.installation,
            connections=self.connect,
            sessions=self.sessions,
            page=self.page,
            forms=(
                *principal_forms(),
                PrincipalForm("paper", PrincipalKind.CHANNEL, "CHANNEL", "TEAM"),
            ),
        )
        wired = wire_knowledge(deps)
        self.kb_service, self.job_queue, self.scheduler = wired.service, wired.job_queue, wired.scheduler
        self.connections, self.person_answers = wired.connections, wired.person_answers
        self.queries, self.proposals = wired.service.queries, wired.service.proposals

    def runner(self, platforms: Mapping[str, PlatformCapabilities] | None = None) -> JobRunner:
        connected = {"paper": self.platform.capabilities()} if platforms is None else platforms
        everywhere = {one: PlatformCapabilities() for one in (TERMINAL, PAGE, API_PLATFORM)}
        capabilities = {**everywhere, **connected}
        return JobRunner(
            jobs=self.jobs,
            ingestor=self.ingestor,
            catalog=self.catalog,
            trash=self.trash,
            site_store=self.site_store,
            item_sources=ItemSources(
                self.catalog,
                self.blobs,
                WebCrawler(self.site),
                capabilities,
                self.originals,
                self.consistency,
                self.stores,
                0,
                self.clock.now,
            ),
            clock=self.clock,
            connections=self.connections,
        )

    def worker(self) -> JobWorker:
        return JobWorker(name="w", inbox=self.inbox, runner=self.runner(), tick=self.scheduler.tick)

    async def works(self) -> None:
        """Let a worker process all waiting jobs."""
        worker = self.worker()
        while (lease := await self.inbox.take("w", timedelta())) is not None:
            await worker.handle(lease)
            await self.inbox.complete(lease)

    async def says(self, verb: KbVerb, by: Person = ADMIN, *, private: bool = True, **given: object) -> KbResult:
        """Send a command."""
        return await self.kb_service.handle(KbCommand(verb, **given), self.caller(by, private=private))  # type: ignore[arg-type]

    def caller(self, by: Person, *, private: bool = True) -> Caller:
        return Caller(
            by,
            Permissions(is_admin=by in self.admins),
            Audience(frozenset({by.id} if private else {CHANNEL})),
            ThreadKey("paper", "T", "C", "t"),
            private=private,
        )

    async def adds(self, base: str = "handbook", **files: str) -> Job:
        """Let the admin add files, and process the job."""
        if await self.trash.base(base) is None:
            await self.says(KbVerb.CREATE, base=base)
        names = {name.replace("_", "."): text.encode() for name, text in files.items()}
        self.platform.files.update(names)
        reply = await self.says(KbVerb.INGEST, base=base, files=tuple(FileReference(name, name) for name in names))
        await self.works()
        return await self.job(job_in(reply).id)

    async def accepts(self, count: int, base: str = "handbook", text: str = "Thirty days.") -> Job:
        """A job of so many files, waiting."""
        if await self.trash.base(base) is None:
            await self.says(KbVerb.CREATE, base=base)
        names = [f"{base}{n}.md" for n in range(count)]
        self.platform.files.update({name: f"# Doc {name}\n\n{text}".encode() for name in names})
        reply = await self.says(KbVerb.INGEST, base=base, files=tuple(FileReference(name, name) for name in names))
        return await self.job(job_in(reply).id)

    async def job(self, job_id: str) -> Job:
        job = await self.jobs.read(job_id)
        assert job is not None
        return job

    def scope(self, *bases: str) -> Scope:
        return Scope(frozenset(bases))

    async def finds(self, query: str, *bases: str) -> list[str]:
        """Return the titles that a search finds in these bases."""
        found = await self.retriever.search(query, Scope(frozenset(bases or ("handbook",))))
        return [hit.passage.title for hit in found.hits]

    async def finds_text(self, query: str, *bases: str) -> list[str]:
        """Return the passages that a search finds in these bases."""
        found = await self.retriever.search(query, Scope(frozenset(bases)))
        return [hit.passage.text for hit in found.hits]


def conversation(text: str, *, source: str = "T/C/1", title: str = "Refunds?", at: int = 0) -> Conversation:
    when = datetime(2026, 1, 5, 9, 0, tzinfo=UTC) + timedelta(minutes=at)
    said = (TranscriptMessage("Bo", when, "How long do refunds take?"), TranscriptMessage("Ada", when, text))
    return Conversation(source, title, said, f"https://chat.example/{source}")


def again(caller: Caller, **changes: object) -> Caller:
    return replace(caller, **changes)  # type: ignore[arg-type]


def job_in(result: KbResult) -> JobSummary:
    """Return the first job of a command."""
    jobs = accepted_jobs(result)
    assert jobs, words(result)
    return jobs[0]


def asked_in(result: KbResult) -> KbCommand:
    """Return the command that confirms a removal."""
    assert isinstance(result, RemovalPreview), words(result)
    return result.confirm.command


def words(result: KbResult) -> str:
    """Return the text of a result."""
    if isinstance(result, ProposalDecided):
        return f"{words(result.outcome)}\n{words(result.remaining)}"
    if not isinstance(result, KbOutcome):
        return "\n".join(line_text(line) for part in lay_out(result).parts for line in part.lines)
    return "\n".join([*map(_card_text, accepted_jobs(result)), *outcome_lines(result)])


def card_words(job: Job) -> str:
    """Return the text of a job's card."""
    return _card_text(summarize_job(job))


def _card_text(job: JobSummary) -> str:
    card = job_card(job)
    return "\n".join([*map(line_text, card.lines), card.footer])


def denied(result: KbResult) -> bool:
    """Return whether the command was denied."""
    return isinstance(result, Refused) and result.reason is RefusalReason.DENIED
