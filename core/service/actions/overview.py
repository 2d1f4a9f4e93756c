"""What there is to read, for a reader, and how the installation is doing, for admins."""

from dataclasses import dataclass

from core.model.conversation import Audience
from core.model.knowledge import KnowledgeBase
from core.model.usage import UsageCounts
from core.ports.inbox import Inbox
from core.ports.trace_store import TraceStore
from core.service.visible_bases import VisibleBases


@dataclass(frozen=True, slots=True)
class KnowledgeBaseSummary:
    """A knowledge base as a reader sees it."""

    base: KnowledgeBase
    documents: int


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """How the installation is doing, for admins."""

    waiting: int  # questions in line or under way
    usage: UsageCounts


@dataclass(frozen=True, slots=True)
class InstallationOverview:
    """Counts bases, documents and questions."""

    bases: VisibleBases
    inbox: Inbox
    trace_store: TraceStore

    async def knowledge_bases(self, audience: Audience) -> tuple[KnowledgeBaseSummary, ...]:
        """The bases this audience may read, each with the number of its documents."""
        bases = await self.bases.for_audience(audience)
        names = frozenset(base.name for base in bases)
        documents = await self.bases.catalog.documents(names) if bases else ()
        return tuple(
            KnowledgeBaseSummary(base, sum(one.knowledge_base == base.name for one in documents)) for base in bases
        )

    async def system_status(self) -> SystemStatus:
        """How many questions wait, and what became of the others."""
        return SystemStatus(await self.inbox.count_waiting(), await self.trace_store.counts())
