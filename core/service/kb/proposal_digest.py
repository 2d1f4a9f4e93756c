"""Once a day, that proposals wait for an admin: told where admins chose it, without a ping, and nowhere else.

It says how many wait and since when, and none of their words: not everybody who reads there may know them. A day's word
is taken before it is said and marked once it is; who takes it over from a process that died looks first at whether it
is there already. So none is lost, and none is posted twice.
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
LOOK_SECONDS = 60.0  # between two looks at whether something waits that today nobody was told of

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ProposalDigestDay(OneTimeUse, place="{channel}/proposals", subject="digest:{day}"):
    """A day, counted from ``FIRST``, on which a channel was told what waits, or is being told now."""

    channel: str
    day: int
    person: str = field(default="", metadata=PERSON)  # nobody's


@dataclass(frozen=True, slots=True)
class ProposalDigest:
    """Looks now and again whether proposals wait; of many processes one says so, once a day in each place."""

    proposals: ProposalStore
    settings: ChannelSettingsStore
    message_states: MessageStateStore
    clock: Clock
    announcements: Callable[[str], Announcements | None]  # of the platform of this name, once it is connected here

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set."""
        await repeat(self.look, LOOK_SECONDS, stop, "proposals_not_announced")

    async def look(self) -> int:
        """Say it wherever it is wanted and was not said today; in how many places it was said here.

        A platform that is away is asked again at the next look. Raises StoreUnavailable.
        """
        waiting = await self.proposals.proposals()
        if not waiting:
            return 0
        return sum([await self._tell(place, waiting) for place in await self.settings.places()])

    async def _tell(self, place: str, waiting: Sequence[Proposal]) -> bool:
        channel = channel_of(place)
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
    """Return whether it is there, said now or since ``begun``.

    What a channel does not take today is not tried again until tomorrow. Raises PlatformUnavailable, StoreUnavailable.
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


def channel_of(place: str) -> ThreadKey | None:
    """Return the channel that settings are kept for; None for what is no channel."""
    platform, _, rest = place.partition(":channel:")
    space, slash, channel = rest.partition("/")
    return ThreadKey(platform, space, channel, "") if slash and channel else None


def digest_beginning(now: datetime) -> str:
    """Return how the word of a day begins, and by what it is found again."""
    return f"Proposals, {(FIRST + (now - FIRST) // DAY * DAY):%d %B %Y}:"


def digest_text(waiting: Sequence[Proposal], command: str) -> str:
    """Say how many proposals wait, since when, and which command lists them, in plain text."""
    oldest = min(one.at for one in waiting)
    verb = "waits" if len(waiting) == 1 else "wait"
    waits = f"{count(len(waiting), 'proposal')} {verb} for an admin"
    since = f", the oldest since {oldest.day} {oldest:%B}" if len(waiting) > 1 else f" since {oldest.day} {oldest:%B}"
    return f"{waits}{since}. Review with {command}."
