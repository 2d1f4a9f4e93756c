"""Short overview of unanswered questions, for one admin who views it in private in their own workspace."""

from dataclasses import dataclass
from datetime import timedelta

from core.model.conversation import Person
from core.model.errors import Denied
from core.ports.access import Audit
from core.ports.catalog import Catalog
from core.service.gaps.analysis import GapAnalysis, Reader
from core.service.gaps.digest import gap_line, gaps_in_words

PERIOD = timedelta(days=28)
MOST = 15  # gaps
NOTHING_LACKING = "The documents answered every question of the last 28 days."
ONLY_ADMINS = "Only an admin can see unanswered questions."


@dataclass(frozen=True, slots=True)
class GapOverview:
    """Lists for admins the public questions without a good answer, and the nearest documents."""

    analysis: GapAnalysis
    catalog: Catalog
    audit: Audit

    async def lines(self, person: Person, *, is_admin: bool, workspace: tuple[str, str]) -> tuple[str, ...]:
        """Return a line for each gap, those of most people first. ``workspace``: its platform and space.

        Raises Denied, and records it, if this person is no admin. Raises StoreUnavailable.
        """
        if not is_admin:
            await self.audit.record(person.id, "gaps", "/".join(workspace), allowed=False)
            raise Denied(ONLY_ADMINS)
        bases = frozenset(base.name for base in await self.catalog.bases() if not base.connection)
        report = await self.analysis.report(PERIOD, Reader(bases, frozenset({workspace})))
        shown = gaps_in_words(report)[:MOST]
        more = len(report.gaps) + report.withheld_gaps - len(shown)
        tail = [f"And {more} more, some of them asked in private."] if shown and more > 0 else []
        return (*(gap_line(number, gap) for number, gap in enumerate(shown, 1)), *tail) or (NOTHING_LACKING,)
