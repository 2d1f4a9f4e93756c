"""The knowledge as it is governed, over the stores of a test: the real service, the real jobs, and pages on paper."""

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
    """What outlives a process of it: documents, jobs, and what was proposed or removed."""

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
        """Who does the jobs, with what Discord lends."""
        runner = self._room.runner({"discord": capabilities})
        return JobWorker(name="w", inbox=self.inbox, runner=runner, tick=self._room.scheduler.tick)

    async def changed(self) -> int:
        """How many conversations are noted as changed, and wait to be read again."""
        return len(await self.message_states.read_entries(ChangedConversation(source="")))

    async def tick(self) -> None:
        """What a worker does once a minute."""
        await self._room.scheduler.tick()

    async def found(self, words: str) -> str:
        """What a search finds."""
        return "\n".join(await self._room.finds_text(words, *[one.name for one in await self._room.catalog.bases()]))

    async def proposals(self) -> Sequence[Proposal]:
        """What waits for an admin."""
        return await self._room.proposal_store.proposals()

    async def text(self, title: str) -> str:
        """What can be found of the document of this title."""
        bases = frozenset(base.name for base in await self._room.catalog.bases())
        (document,) = [one for one in await self._room.catalog.documents(bases) if one.title == title]
        passages = await self._room.index.passages(document.id, document.version, Scope(bases))
        return "\n".join(passage.text for passage in passages)

    async def titles(self) -> list[str]:
        """What is in it, by title."""
        bases = frozenset(base.name for base in await self._room.catalog.bases())
        return sorted(document.title for document in await self._room.catalog.documents(bases))

    async def grants(self, name: str) -> frozenset[str]:
        """Who may read the base of this name."""
        return next(base.grants for base in await self._room.catalog.bases() if base.name == name)


async def add_files(person: Person, *files: tuple[str, bytes], kb: str = "") -> Interaction:
    """Files from somebody's disk, by the form that ``/kb add files`` opens; what came back when it was sent."""
    opened = await person.slash("kb add files", {"kb": kb} if kb else {})
    return await person.submits(opened, {"Files": list(files)})
