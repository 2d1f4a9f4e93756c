"""``/kb`` over the stores of a test: the real service, the real jobs, and fake pages."""

from collections.abc import Sequence

from core.ports.index import Scope
from core.ports.job_store import Proposal
from core.ports.platform import PlatformCapabilities
from core.service.kb.chat_changes import ChangedConversation
from core.service.workers import JobWorker
from tests.core.harness import Harness
from tests.core.service.kb.knowledge_room import Room
from tests.fakes.discord import Interaction, Person
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit


class Library:
    """The state that outlives a process: documents, jobs, proposals and removals."""

    def __init__(self, harness: Harness, audit: InProcessAudit) -> None:
        self._room = room = Room()
        room.catalog, room.index, room.encoder, room.clock = (
            harness.catalog,
            harness.index,
            harness.encoder,
            harness.clock,
        )
        room.audit, room.inbox = audit, InProcessInbox()
        self.proposal_store = room.proposal_store = InProcessProposalStore(harness.state)
        self.message_states = room.message_states = InProcessMessageStateStore(harness.state)
        room.memory = harness.memory
        room.assemble()
        self.person_answers, self.lent, self.room = room.person_answers, room.lent, room
        self.parser, self.site, self.jobs, self.inbox = room.parser, room.site, room.jobs, room.inbox
        self.kb_service = room.kb_service

    def worker(self, capabilities: PlatformCapabilities) -> JobWorker:
        """Return a worker with Discord's capabilities."""
        runner = self._room.runner({"discord": capabilities})
        return JobWorker(name="w", inbox=self.inbox, runner=runner, tick=self._room.scheduler.tick)

    async def changed(self) -> int:
        """Return how many changed conversations wait to be read again."""
        return len(await self.message_states.read_entries(ChangedConversation(source="")))

    async def tick(self) -> None:
        """Run the worker's tick."""
        await self._room.scheduler.tick()

    async def found(self, words: str) -> str:
        """Return the results of a search."""
        return "\n".join(await self._room.finds_text(words, *[one.name for one in await self._room.catalog.bases()]))

    async def proposals(self) -> Sequence[Proposal]:
        """Return the waiting proposals."""
        return await self._room.proposal_store.proposals()

    async def text(self, title: str) -> str:
        """Return the indexed text of the document with this title."""
        bases = frozenset(base.name for base in await self._room.catalog.bases())
        (document,) = [one for one in await self._room.catalog.documents(bases) if one.title == title]
        passages = await self._room.index.passages(document.id, document.version, Scope(bases))
        return "\n".join(passage.text for passage in passages)

    async def titles(self) -> list[str]:
        """Return the titles of all documents."""
        bases = frozenset(base.name for base in await self._room.catalog.bases())
        return sorted(document.title for document in await self._room.catalog.documents(bases))

    async def grants(self, name: str) -> frozenset[str]:
        """Return the grants of this base."""
        return next(base.grants for base in await self._room.catalog.bases() if base.name == name)


async def add_files(person: Person, *files: tuple[str, bytes], kb: str = "") -> Interaction:
    """Upload files with the form of ``/kb add files``; return the reply."""
    opened = await person.slash("kb add files", {"kb": kb} if kb else {})
    return await person.submits(opened, {"Files": list(files)})
