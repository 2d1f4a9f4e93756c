"""Weekly digest of unanswered questions, posted in a channel that admins choose. Off by default; pings nobody.

It contains only what everybody in that channel may know: public questions of their own workspace, and documents of
bases that the channel may read. An admin views a longer list in private, in their own workspace.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.model.clock import Clock
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied, FootnoteError
from core.model.plain_text import clipped
from core.model.records import Record
from core.ports.access import Audit
from core.ports.catalog import Catalog
from core.ports.message_state import MessageStateStore
from core.ports.platform import Announcements
from core.service.gaps.analysis import GapAnalysis, Reader
from core.service.gaps.report import Gap, GapReport
from core.service.leases import repeat
from core.service.visibility import VisibleBases

WEEK = timedelta(days=7)
FIRST = datetime(2024, 1, 1, 8, tzinfo=UTC)  # a Monday, at eight
LOOK_SECONDS = 600.0  # between two checks whether the digest is due
MOST = 5  # gaps listed
LONGEST = 160  # characters of a question
PERIOD = timedelta(days=28)
MOST_IN_OVERVIEW = 15  # gaps
NOTHING_LACKING = "The documents answered every question of the last 28 days."
ONLY_ADMINS = "Only an admin can see unanswered questions."


@dataclass(frozen=True, kw_only=True)
class DigestWeek(Record, place="{channel}/gaps", subject="digest", installation=True):
    """The last week, counted from ``FIRST``, whose digest was posted in a channel or is being posted; 0: none."""

    channel: str
    week: int = 0


@dataclass(frozen=True, slots=True)
class GapDigest:
    """Checks periodically whether a week is over. Of many processes, one posts."""

    analysis: GapAnalysis
    catalog: Catalog
    message_states: MessageStateStore
    clock: Clock
    channel: ThreadKey
    announcements: Callable[[], Announcements | None]  # of the channel's platform, once it is connected here

    async def run(self, stop: asyncio.Event) -> None:
        """Post the digest when it is due, until ``stop`` is set."""
        await repeat(self.look, LOOK_SECONDS, stop, "digest_not_posted")

    async def look(self) -> bool:
        """Post the digest if it is due and nobody has posted it; return whether this call did.

        The week is claimed before posting. A process that dies then posts nothing, and none posts twice. A failed post
        is retried. Raises what ``Announcements`` raise, and StoreUnavailable.
        """
        announcements = self.announcements()
        if announcements is None:
            return False
        week = (self.clock.now() - FIRST) // WEEK
        unknown = DigestWeek(channel=str(self.channel))
        before = await self.message_states.read(unknown) or unknown
        taken = replace(before, week=week)
        if before.week >= week or not await self.message_states.exchange(before, taken):
            return False
        try:
            await announcements.post(self.channel, await self._text(await announcements.readers(self.channel)))
        except FootnoteError:
            await self.message_states.exchange(taken, before)
            raise
        return True

    async def _text(self, readers: Audience) -> str:
        bases = await VisibleBases(self.catalog).names(readers)
        workspace = (self.channel.platform, self.channel.space)
        return digest_text(await self.analysis.report(WEEK, Reader(bases, frozenset({workspace}))))


def digest_text(report: GapReport) -> str:
    """Return the report of a week in a few lines of plain text."""
    last = report.weeks[-1]
    shares = f"{last.answered} answered, {last.abstained} not found in the documents, {last.disliked} rated not helpful"
    head = f"Unanswered questions of the last 7 days. In all {_count(report.asked, 'question')}: {shares}."
    lines = [gap_line(number, gap) for number, gap in enumerate(gaps_in_words(report)[:MOST], 1)]
    more = len(report.gaps) + report.withheld_gaps - len(lines)
    tail = [f"And {more} more."] if lines and more > 0 else []
    end = "The page Gaps and the command footnote gaps list all of them and can start a draft."
    return "\n".join([head, *(lines or ["There are no unanswered questions that I can show here."]), *tail, end])


def gaps_in_words(report: GapReport) -> list[Gap]:
    """Return the gaps whose questions may be shown."""
    return [gap for gap in report.gaps if gap.title]


def gap_line(number: int, gap: Gap) -> str:
    """Return a gap in one line of plain text."""
    title = " ".join(clipped(gap.title, LONGEST).split())
    near = f"; nearest: {gap.nearest[0].document.title}" if gap.nearest else ""
    people = f"{gap.people} {'person' if gap.people == 1 else 'people'}"
    return f"{number}. {title} ({_count(gap.questions, 'question')} of {people}, {gap.trend}{near})"


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


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
        shown = gaps_in_words(report)[:MOST_IN_OVERVIEW]
        more = len(report.gaps) + report.withheld_gaps - len(shown)
        tail = [f"And {more} more, some of them asked in private."] if shown and more > 0 else []
        return (*(gap_line(number, gap) for number, gap in enumerate(shown, 1)), *tail) or (NOTHING_LACKING,)
