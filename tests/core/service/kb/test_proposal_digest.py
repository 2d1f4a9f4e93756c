"""The daily digest of waiting proposals: sent once, also after crashes, without their text."""

import asyncio
from datetime import datetime, timedelta

import pytest

from core.model.channel_settings import ChannelSettings, ChosenSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied, FootnoteError, PlatformUnavailable
from core.model.records import Record
from core.ports.job_store import Proposal, ProposalStore
from core.service.kb.proposal_digest import ProposalDigest
from core.service.one_time_use import LOST_SECONDS
from tests.core.service.kb.knowledge_room import Room
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessChannelSettingsStore, InProcessState

ADMINS = "slack:channel:T/C9"


class Killed(BaseException):
    """The process dies here."""


class Board:
    """Channels and their announcements."""

    proposals_command = "/kb proposals"

    def __init__(self) -> None:
        self.posted: list[tuple[str, str]] = []
        self.failing: FootnoteError | None = None
        self.failing_in = ""  # one channel; empty for all
        self.dying_before = self.dying_after = False

    async def readers(self, channel: ThreadKey) -> Audience:
        return Audience()

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        await asyncio.sleep(0)
        return any(place == channel.channel and text.startswith(beginning) for place, text in self.posted)

    async def post(self, channel: ThreadKey, text: str) -> None:
        await asyncio.sleep(0)
        if self.failing is not None and self.failing_in in ("", channel.channel):
            raise self.failing
        if self.dying_before:
            raise Killed
        self.posted.append((channel.channel, text))
        if self.dying_after:
            raise Killed


class MortalStore(InProcessMessageStateStore):
    """The stores of a process until it is killed. A killed process cleans up nothing."""

    dead = False

    async def remove(self, record: Record) -> None:
        if not self.dead:
            await super().remove(record)


class Office:
    """Waiting proposals, places with settings, and processes that check them."""

    def __init__(self, proposals: ProposalStore) -> None:
        self.proposals = proposals
        self.board = Board()
        self.clock = ManualClock()
        self.settings = InProcessChannelSettingsStore()
        self.message_states = MortalStore(InProcessState())
        self.connected = True

    def process(self) -> ProposalDigest:
        return ProposalDigest(
            self.proposals,
            self.settings,
            self.message_states,
            self.clock,
            lambda platform: self.board if self.connected and platform == "slack" else None,
        )

    async def proposes(self, title: str = "The secret plan") -> None:
        number = str(len(await self.proposals.proposals()))
        by = Person("slack:T/U1", "Bob")
        await self.proposals.keep_proposal(Proposal(number, "", f"s{number}", title, "words", by, self.clock.now()))

    async def chooses(self, place: str = ADMINS, *, wanted: bool = True) -> None:
        await self.settings.write(place, ChosenSettings(proposal_digest=wanted))


@pytest.fixture
async def office() -> Office:
    return Office(Room().proposal_store)


async def test_nobody_is_told_unless_an_admin_chose_it(office: Office) -> None:
    await office.proposes()
    assert not ChannelSettings().proposal_digest
    assert await office.process().look() == 0
    await office.chooses(wanted=False)
    assert await office.process().look() == 0
    assert office.board.posted == []


async def test_it_says_how_many_wait_and_none_of_their_words(office: Office) -> None:
    await office.chooses()
    await office.proposes()
    await office.proposes()
    assert await office.process().look() == 1
    ((place, text),) = office.board.posted
    assert place == "C9"
    assert "2 proposals wait for an admin, the oldest since" in text
    assert "secret" not in text
    assert "Bob" not in text


async def test_it_is_told_once_a_day_of_many_processes_and_in_each_place(office: Office) -> None:
    await office.chooses()
    await office.chooses("slack:channel:T/D1")
    await office.proposes()
    looked = await asyncio.gather(*(office.process().look() for _ in range(5)))
    assert sum(looked) == 2
    assert sorted(place for place, _ in office.board.posted) == ["C9", "D1"]
    office.clock.advance(3600)
    assert await office.process().look() == 0
    office.clock.advance(timedelta(days=1).total_seconds())
    assert await office.process().look() == 2


async def test_where_nothing_waits_nothing_is_said(office: Office) -> None:
    await office.chooses()
    assert await office.process().look() == 0
    await office.proposes()
    assert await office.process().look() == 1


@pytest.mark.parametrize("posted", [False, True])
async def test_a_process_that_dies_over_it_loses_nothing_and_tells_nothing_twice(
    office: Office, *, posted: bool
) -> None:
    await office.chooses()
    await office.proposes()
    office.board.dying_before, office.board.dying_after = not posted, posted
    office.message_states.dead = True
    with pytest.raises(Killed):
        await office.process().look()
    office.message_states.dead = False
    office.board.dying_before = office.board.dying_after = False
    assert await office.process().look() == 0  # it may be at it still
    office.clock.advance(LOST_SECONDS + 1)
    assert await office.process().look() == 1
    assert len(office.board.posted) == 1
    office.clock.advance(LOST_SECONDS + 1)
    assert await office.process().look() == 0


async def test_a_platform_that_is_away_is_asked_again(office: Office) -> None:
    await office.chooses()
    await office.proposes()
    office.board.failing = PlatformUnavailable("Slack is away.")
    assert await office.process().look() == 0
    office.board.failing = None
    assert await office.process().look() == 1


async def test_a_channel_that_takes_nothing_is_left_alone_until_tomorrow(office: Office) -> None:
    await office.chooses()
    await office.proposes()
    office.board.failing = Denied("I am not in that channel.")
    assert await office.process().look() == 0
    office.board.failing = None
    assert await office.process().look() == 0
    office.clock.advance(timedelta(days=1).total_seconds())
    assert await office.process().look() == 1


async def test_a_place_in_which_nothing_can_be_said_keeps_no_other_from_being_told(office: Office) -> None:
    await office.chooses("slack:channel:T/A1")
    await office.chooses()
    await office.proposes()
    office.board.failing, office.board.failing_in = FootnoteError("That is a forum."), "A1"
    assert await office.process().look() == 1
    assert [place for place, _ in office.board.posted] == ["C9"]
    office.board.failing = None
    assert await office.process().look() == 0


async def test_a_platform_that_is_connected_elsewhere_is_left_to_that_process(office: Office) -> None:
    await office.chooses()
    await office.proposes()
    office.connected = False
    assert await office.process().look() == 0
    office.connected = True
    assert await office.process().look() == 1
