"""The knowledge as it is governed, over the stores of a scene: the real desk, the real jobs, and pages on paper."""

from collections.abc import Sequence

from adapters.accepting import Acceptance
from adapters.jobs import JobRunner, JobWorker
from adapters.knowledge_desk import PlatformSeams
from adapters.librarian import KnowledgeDesk
from adapters.materials import Materials
from adapters.testing.inbox import InProcessInbox
from adapters.testing.knowledge import InProcessArchive, InProcessJobs, InProcessShelfRecords
from core.ingestion.ingestor import Ingestor
from core.ingestion.shelves import Proposal, Shelves
from core.ports import Audit, Scope
from core.retrieval.hybrid import Retriever
from tests.adapters.knowledge_room import PaperSite, PlainParser
from tests.core.scene import Scene


class Library:
    """What outlives a process of it: documents, jobs, and what was proposed or removed."""

    def __init__(self, scene: Scene, audit: Audit) -> None:
        self.parser, self.site = PlainParser(), PaperSite()
        self.jobs, self.inbox = InProcessJobs(), InProcessInbox()
        self._records, self._archive = InProcessShelfRecords(), InProcessArchive()
        self._catalogue, self._index, self._clock = scene.catalogue, scene.index, scene.clock
        self._ingestor = Ingestor(
            index=scene.index,
            encoder=scene.encoder,
            catalogue=scene.catalogue,
            parser=self.parser,
            clock=scene.clock,
        )
        self._shelves = Shelves(
            catalogue=scene.catalogue,
            index=scene.index,
            encoder=scene.encoder,
            records=self._records,
            archive=self._archive,
            clock=scene.clock,
        )
        self._acceptance = Acceptance(self.jobs, self.inbox, self._archive, self._shelves, self._records, self._clock)
        retriever = Retriever(scene.index, scene.encoder, None, scene.catalogue)
        self.desk = KnowledgeDesk(scene.catalogue, scene.index, retriever, self._acceptance, audit)

    def worker(self, seams: PlatformSeams) -> JobWorker:
        """Who does the jobs, with what Discord lends."""
        runner = JobRunner(
            jobs=self.jobs,
            ingestor=self._ingestor,
            catalogue=self._catalogue,
            shelves=self._shelves,
            records=self._records,
            materials=Materials(self._catalogue, self._archive, self.site, {"discord": seams}),
            clock=self._clock,
        )
        return JobWorker(name="w", inbox=self.inbox, runner=runner, tick=self._acceptance.tick)

    async def proposals(self) -> Sequence[Proposal]:
        """What waits for an admin."""
        return await self._records.proposals()

    async def text(self, title: str) -> str:
        """What can be found of the document of this title."""
        bases = frozenset(base.name for base in await self._catalogue.bases())
        (document,) = [one for one in await self._catalogue.documents(bases) if one.title == title]
        passages = await self._index.passages(document.id, document.version, Scope(bases))
        return "\n".join(passage.text for passage in passages)

    async def titles(self) -> list[str]:
        """What is in it, by title."""
        bases = frozenset(base.name for base in await self._catalogue.bases())
        return sorted(document.title for document in await self._catalogue.documents(bases))
