"""The knowledge as it is governed, over the stores of a scene: the real service, the real jobs, and pages on paper."""

from collections.abc import Sequence

from adapters.documents.web.crawler import WebCrawler
from adapters.testing.inbox import InProcessInbox
from adapters.testing.job_store import InProcessBlobStore, InProcessJobStore
from adapters.testing.proposal_store import InProcessProposalStore
from adapters.testing.schedule_store import InProcessScheduleStore
from adapters.testing.site_store import InProcessSiteStore
from adapters.testing.trash_store import InProcessTrashStore
from core.ingestion.ingestor import Ingestor
from core.ingestion.trash import Trash
from core.ports.audit import Audit
from core.ports.index import Scope
from core.ports.platform_capabilities import PlatformCapabilities
from core.ports.proposal_store import Proposal
from core.retrieval.hybrid import Retriever
from core.service.kb.item_sources import ItemSources
from core.service.kb.job_queue import JobQueue
from core.service.kb.job_runner import JobRunner, JobWorker
from core.service.kb.service import KnowledgeService
from tests.core.scene import Scene
from tests.core.service.kb.knowledge_room import PaperSite, PlainParser
from tests.fakes.discord import Interaction, Person


class Library:
    """What outlives a process of it: documents, jobs, and what was proposed or removed."""

    def __init__(self, scene: Scene, audit: Audit) -> None:
        self.parser, self.site = PlainParser(), PaperSite()
        self.jobs, self.inbox = InProcessJobStore(), InProcessInbox()
        self._proposal_store, self._site_store = InProcessProposalStore(), InProcessSiteStore()
        self._blobs = InProcessBlobStore()
        self._catalog, self._index, self._clock = scene.catalog, scene.index, scene.clock
        self._ingestor = Ingestor(
            index=scene.index,
            encoder=scene.encoder,
            catalog=scene.catalog,
            parser=self.parser,
            clock=scene.clock,
        )
        self._trash = Trash(
            catalog=scene.catalog,
            index=scene.index,
            encoder=scene.encoder,
            store=InProcessTrashStore(),
            blobs=self._blobs,
            clock=scene.clock,
        )
        self._job_queue = JobQueue(
            self.jobs, self.inbox, self._blobs, self._trash, InProcessScheduleStore(), self._proposal_store, self._clock
        )
        retriever = Retriever(scene.index, scene.encoder, None, scene.catalog)
        self.kb_service = KnowledgeService(
            scene.catalog, scene.index, retriever, self._job_queue, self._site_store, audit
        )

    def worker(self, capabilities: PlatformCapabilities) -> JobWorker:
        """Who does the jobs, with what Discord lends."""
        runner = JobRunner(
            jobs=self.jobs,
            ingestor=self._ingestor,
            catalog=self._catalog,
            trash=self._trash,
            site_store=self._site_store,
            item_sources=ItemSources(self._catalog, self._blobs, WebCrawler(self.site), {"discord": capabilities}),
            clock=self._clock,
        )
        return JobWorker(name="w", inbox=self.inbox, runner=runner, tick=self._job_queue.tick)

    async def proposals(self) -> Sequence[Proposal]:
        """What waits for an admin."""
        return await self._proposal_store.proposals()

    async def text(self, title: str) -> str:
        """What can be found of the document of this title."""
        bases = frozenset(base.name for base in await self._catalog.bases())
        (document,) = [one for one in await self._catalog.documents(bases) if one.title == title]
        passages = await self._index.passages(document.id, document.version, Scope(bases))
        return "\n".join(passage.text for passage in passages)

    async def titles(self) -> list[str]:
        """What is in it, by title."""
        bases = frozenset(base.name for base in await self._catalog.bases())
        return sorted(document.title for document in await self._catalog.documents(bases))


async def add_files(person: Person, *files: tuple[str, bytes], kb: str = "") -> Interaction:
    """Files from somebody's disk, by the form that ``/kb add files`` opens; what came back when it was sent."""
    opened = await person.slash("kb add files", {"kb": kb} if kb else {})
    return await person.submits(opened, {"Files": list(files)})
