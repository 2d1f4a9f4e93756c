"""Daily notice that proposals wait for an admin, posted only in channels that admins chose, without a ping.

It says how many wait and since when. It quotes nothing, because not every reader of the channel may see the proposals.
A process claims the day before it posts and marks it afterwards. A process that takes over first checks whether the
notice is already there. So no notice is lost or posted twice.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.model.clock import Clock
from core.model.conversation import ThreadKey
from core.model.errors import AlreadyDone, FootnoteError, PlatformUnavailable, Unavailable
from core.model.records import PERSON
from core.ports.job_store import Proposal, ProposalStore
from core.ports.message_state import MessageStateStore
from core.ports.platform import Announcements, ChannelSettingsStore
from core.service.kb.text_spans import count
from core.service.leases import repeat
from core.service.one_time_use import OneTimeUse, OneTimeUses

DAY = timedelta(days=1)
FIRST = datetime(2024, 1, 1, 8, tzinfo=UTC)  # a day begins at eight
LOOK_SECONDS = 60.0  # between two checks for proposals without a notice today

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ProposalDigestDay(OneTimeUse, place="{channel}/proposals", subject="digest:{day}"):
    """A day, counted from ``FIRST``, whose notice was posted in a channel or is being posted now."""

    channel: str
    day: int
    person: str = field(default="", metadata=PERSON)  # nobody's


@dataclass(frozen=True, slots=True)
class ProposalDigest:
    """Checks periodically whether proposals wait. Of many processes, one posts, once a day in each place."""

    proposals: ProposalStore
    settings: ChannelSettingsStore
    message_states: MessageStateStore
    clock: Clock
    announcements: Callable[[str], Announcements | None]  # of the platform of this name, once it is connected here

    async def run(self, stop: asyncio.Event) -> None:
        """Check until ``stop`` is set."""
        await repeat(self.look, LOOK_SECONDS, stop, "proposals_not_announced")

    async def look(self) -> int:
        """Post today's notice where it is wanted and missing; return in how many places this call posted it.

        An unavailable platform is retried at the next check. Raises StoreUnavailable.
        """
        waiting = await self.proposals.proposals()
        if not waiting:
            return 0
        return sum([await self._tell(place, waiting) for place in await self.settings.places()])

    async def _tell(self, place: str, waiting: Sequence[Proposal]) -> bool:
        channel = ThreadKey.of_place(place)
        announcements = self.announcements(channel.platform) if channel is not None else None
        if channel is None or announcements is None or not (await self.settings.read(place)).proposal_digest:
            return False
        now = self.clock.now()
        day = ProposalDigestDay(channel=str(channel), day=(now - FIRST) // DAY)
        actions = OneTimeUses(self.message_states, lambda: self.clock.now().timestamp())
        beginning = digest_beginning(now)
        try:
            async with actions.once(day, ""):
                begun = FIRST + day.day * DAY
                return await _announce(
                    announcements, channel, beginning, digest_text(waiting, announcements.proposals_command), begun
                )
        except AlreadyDone:
            return False
        except PlatformUnavailable as error:
            log.warning("proposals_not_announced", extra={"channel": str(channel), "reason": str(error)})
            return False


async def _announce(
    announcements: Announcements, channel: ThreadKey, beginning: str, text: str, begun: datetime
) -> bool:
    """Return whether the notice is in the channel, posted now or since ``begun``.

    If the channel refuses it, it is not retried until tomorrow. Raises PlatformUnavailable, StoreUnavailable.
    """
    try:
        if not await announcements.has_posted(channel, beginning, since=begun):
            await announcements.post(channel, f"{beginning} {text}")
    except Unavailable:
        raise
    except FootnoteError as error:
        log.warning("proposals_not_announced", extra={"channel": str(channel), "reason": str(error)})
        return False
    return True


def digest_beginning(now: datetime) -> str:
    """Return the first words of a day's notice, which identify it later."""
    return f"Proposals, {(FIRST + (now - FIRST) // DAY * DAY):%d %B %Y}:"


def digest_text(waiting: Sequence[Proposal], command: str) -> str:
    """Return how many proposals wait, since when, and which command lists them, in plain text."""
    oldest = min(one.at for one in waiting)
    verb = "waits" if len(waiting) == 1 else "wait"
    waits = f"{count(len(waiting), 'proposal')} {verb} for an admin"
    since = f", the oldest since {oldest.day} {oldest:%B}" if len(waiting) > 1 else f" since {oldest.day} {oldest:%B}"
    return f"{waits}{since}. Review with {command}."
