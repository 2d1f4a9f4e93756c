"""Which knowledge bases somebody may read now: one rule for answers, searches, suggestions, digests, programs, lists.

It is asked each time anew, because grants change while threads, jobs and parked inquiries go on.
"""

from collections.abc import Collection
from dataclasses import dataclass

from core.model.conversation import Audience
from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase
from core.ports.catalog import Catalog

LONGEST_NAME = 60  # characters of what was typed that are said again


@dataclass(frozen=True, slots=True)
class VisibleBases:
    """The catalog's bases, as an audience may know of them."""

    catalog: Catalog

    async def for_audience(self, audience: Audience, only: Collection[str] | None = None) -> tuple[KnowledgeBase, ...]:
        """The bases that everyone in this audience may read, by name; of those in ``only`` where it is given.

        Raises StoreUnavailable.
        """
        return tuple(
            base
            for base in await self.catalog.bases()
            if base.visible_to(audience) and (only is None or base.name in only)
        )

    async def has_more_in_private(self, audience: Audience) -> bool:
        """Whether a connected source has documents that somebody in a shared place may read, and others there not.

        It does not depend on what was asked.
        """
        if not audience.is_shared:
            return False
        connected = {base.name for base in await self.catalog.bases() if base.connection}
        return bool(connected) and not connected <= await self.names(audience)

    async def names(self, audience: Audience, only: Collection[str] | None = None) -> frozenset[str]:
        """Their names: what bounds a search, and what words of earlier answers are held against."""
        return frozenset(base.name for base in await self.for_audience(audience, only))

    async def select(self, name: str, audience: Audience, only: Collection[str] | None = None) -> frozenset[str]:
        """The base of exactly this name, as the bound of a search. Raises NotFound, naming those that may be read."""
        names = await self.names(audience, only)
        if name not in names:
            there = ", ".join(sorted(names)) or "none"
            raise NotFound(f"There is no knowledge base called “{name[:LONGEST_NAME]}” here; there is: {there}.")
        return frozenset({name})
