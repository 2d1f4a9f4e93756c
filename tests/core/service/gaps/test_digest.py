"""The weekly digest: its time and channel, once, and without hidden content."""

import asyncio
from datetime import datetime, timedelta

import pytest

from core.model.conversation import Audience, ThreadKey
from core.model.errors import Denied, PlatformUnavailable
from core.model.knowledge import KnowledgeBase
from core.service.gaps.digest import WEEK, GapDigest
from tests.core.service.gaps.planted import BOARD, HANDBOOK, House
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.message_state import InProcessMessageStateStore

CHANNEL = ThreadKey("slack", "T", "C9", "")
PARKING = "Where may I park?"


class Board:
    """A channel and its announcements."""

    proposals_command = "/kb proposals"

    def __init__(self) -> None:
        self.posted: list[str] = []
        self.failing: Exception | None = None
        self.audience = Audience(frozenset({"slack:channel:T/C9", "slack:team:T"}))

    async def readers(self, channel: ThreadKey) -> Audience:
        assert channel == CHANNEL
        return self.audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        return any(text.startswith(beginning) for text in self.posted)

    async def post(self, channel: ThreadKey, text: str) -> None:
        await asyncio.sleep(0)
        if self.failing is not None:
            raise self.failing
        self.posted.append(text)


class Office:
    """An installation whose digest goes to a board."""

    def __init__(self) -> None:
        self.house = House(HashingEncoder())
        self.board = Board()
        self.message_states = InProcessMessageStateStore(self.house.state)
        self.connected = True

    def process(self) -> GapDigest:
        """One of the processes that serve."""
        return GapDigest(
            self.house.analysis,
            self.house.catalog,
            self.message_states,
            self.house.clock,
            CHANNEL,
            lambda: self.board if self.connected else None,
        )


@pytest.fixture
async def office() -> Office:
    office = Office()
    await office.house.furnish()
    return office


async def test_it_tells_what_was_asked_most_and_what_is_near(office: Office) -> None:
    for number in range(3):
        await office.house.asks(PARKING, by=f"slack:T/U{number}")
    assert await office.process().look()
    (text,) = office.board.posted
    assert "3 questions" in text
    assert f"1. {PARKING} (3 questions of 3 people, new; nearest: Handbook)" in text


async def test_of_many_processes_one_posts_and_none_again_that_week(office: Office) -> None:
    looked = await asyncio.gather(*(office.process().look() for _ in range(5)))
    assert sorted(looked) == [False, False, False, False, True]
    office.house.clock.advance(timedelta(days=1).total_seconds())
    assert not await office.process().look()
    assert len(office.board.posted) == 1


async def test_the_next_week_it_is_told_again(office: Office) -> None:
    await office.process().look()
    office.house.clock.advance(WEEK.total_seconds())
    assert await office.process().look()
    assert len(office.board.posted) == 2


@pytest.mark.parametrize("refusal", [PlatformUnavailable("Slack does not respond."), Denied("Slack refuses it.")])
async def test_what_the_platform_refuses_is_tried_again(office: Office, refusal: Exception) -> None:
    office.board.failing = refusal
    with pytest.raises(type(refusal)):
        await office.process().look()
    office.board.failing = None
    assert await office.process().look()
    assert len(office.board.posted) == 1


async def test_no_error_of_one_look_ends_the_looking(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    office.board.failing = RuntimeError("A fault of ours.")
    stop = asyncio.Event()
    running = asyncio.create_task(office.process().run(stop))
    async with asyncio.timeout(10):
        while "digest_not_posted" not in caplog.messages and not running.done():
            await asyncio.sleep(0)
    assert not running.done()
    stop.set()
    await running


async def test_a_process_that_died_over_it_is_not_followed_by_a_second_digest(office: Office) -> None:
    office.board.failing = asyncio.CancelledError()  # type: ignore[assignment]
    with pytest.raises(asyncio.CancelledError):
        await office.process().look()
    office.board.failing = None
    assert not await office.process().look()


async def test_until_the_platform_is_connected_nothing_is_taken(office: Office) -> None:
    office.connected = False
    assert not await office.process().look()
    office.connected = True
    assert await office.process().look()


async def test_private_words_and_other_workspaces_are_not_told(office: Office) -> None:
    for number in range(4):
        await office.house.asks("May I have an advance on my salary?", by=f"slack:T/U{number}", private=True)
    await office.house.asks("Where do they keep the secret recipe?", space="OTHER")
    await office.process().look()
    (text,) = office.board.posted
    assert "salary" not in text
    assert "recipe" not in text
    assert "4 questions" in text


async def test_documents_that_the_channel_may_not_read_are_not_named(office: Office) -> None:
    await office.house.catalog.save_base(KnowledgeBase("board", grants=frozenset({"slack:channel:T/BOARD"})))
    await office.house.asks(PARKING, nearest=(BOARD, HANDBOOK))
    await office.process().look()
    assert "Board minutes" not in office.board.posted[0]
    assert "Handbook" in office.board.posted[0]
