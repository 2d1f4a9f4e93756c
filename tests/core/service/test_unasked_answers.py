"""Questions that do not mention the bot: answered if an admin allows it and the evidence is strong."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from core.model.answer import Answer, Citation, Claim, ClaimVerdict, Outcome, Support, Verdict
from core.model.budget import NOBODY, Account
from core.model.channel_settings import (
    NEVER,
    ChannelSettings,
    ChosenSettings,
    channel_settings,
    parse_threshold,
    threshold_name,
)
from core.model.conversation import ThreadKey
from core.ports.usage import DailyBudget
from core.service.answer_run import MOST_RUNS
from core.service.message_router import MOST_A_DAY, MOST_AN_HOUR, SHARE_OF_BUDGET, AutoAnswerLimiter
from tests.core.service.test_message_handler import ADA, BOB, PATIENCE, REFUNDS, THREAD, Room, room
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.platform import RecordedPlatform

__all__ = ["room"]

ASKED = "How long do refunds take?"
_THREADS = count(1)


def _channel(room: Room, settings: ChannelSettings) -> None:
    room.paper = RecordedPlatform(admins=frozenset({ADA.id}), settings=settings)


async def _asks_all(room: Room) -> None:
    thread = ThreadKey("paper", "T", "C", f"root-{next(_THREADS)}")
    await room.asks(ASKED, BOB, mentions_us=False, in_channel=True, thread=thread)
    await room.settled()


@pytest.mark.parametrize(("grade", "answered"), [(10, True), (9, True), (8, False), (7, False), (3, False), (1, False)])
async def test_only_strong_evidence_speaks_and_all_else_is_silence(room: Room, grade: int, answered: bool) -> None:
    _channel(room, ChannelSettings(auto_answer=0.9))
    room.harness.script.always("grade", grade)
    async with room.working():
        await _asks_all(room)
    assert len(room.paper.visible) == answered
    assert not room.paper.told
    logged = [one async for one in room.harness.questions.since(datetime.min.replace(tzinfo=UTC))]
    assert len(logged) == answered  # nor does the report on gaps count it
    if answered:
        assert room.paper.visible[0].text == f"{REFUNDS} [1]"


async def test_a_weak_find_is_neither_written_up_nor_checked(room: Room) -> None:
    _channel(room, ChannelSettings(auto_answer=0.9))
    room.harness.script.always("grade", 8)
    async with room.working():
        await _asks_all(room)
    assert not room.harness.script.calls_of("compose")
    assert not room.harness.script.calls_of("check")


async def test_an_answer_of_which_a_part_does_not_hold_is_not_given(room: Room) -> None:
    _channel(room, ChannelSettings(auto_answer=0.8))
    room.harness.script.always("grade", 10)
    room.harness.script.always("compose", f"{REFUNDS} [1] The moon decides who is paid first. [1]")
    room.harness.script.always("check", Support.UNSUPPORTED)
    async with room.working():
        await _asks_all(room)
    assert not room.paper.visible


async def test_one_that_ends_its_worker_again_and_again_is_not_tried_for_ever(room: Room) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    _channel(room, ChannelSettings(auto_answer=0.9))
    script = room.harness.script
    script.decide = never  # type: ignore[method-assign,assignment]
    await room.asks(ASKED, BOB, mentions_us=False, in_channel=True)
    for number in range(1, MOST_RUNS + 1):
        lease = await room.inbox.take(f"dies-{number}", timedelta(seconds=PATIENCE))
        assert lease is not None
        dying = asyncio.create_task(room.worker().message_handler.handle(lease))
        async with asyncio.timeout(PATIENCE):
            while len(script.calls_of("understand")) < number:
                await asyncio.sleep(0.01)
        dying.cancel()
        with suppress(asyncio.CancelledError):
            await dying
        room.harness.clock.advance(31)  # its lease runs out
    async with room.working():
        await room.settled()
    assert len(script.calls_of("understand")) == MOST_RUNS
    assert not room.paper.visible
    assert not room.paper.told


async def test_nothing_is_tried_where_no_admin_wants_it(room: Room) -> None:
    async with room.working():
        await _asks_all(room)
    assert not room.harness.script.calls


async def test_its_asker_goes_on_in_the_thread_without_a_mention(room: Room) -> None:
    _channel(room, ChannelSettings(auto_answer=0.8))
    async with room.working():
        await room.asks(ASKED, mentions_us=False, in_channel=True)
        await room.settled()
        await room.asks("And for annual plans?", mentions_us=False)
        await room.settled()
    assert len(room.paper.visible) == 2
    assert (await room.harness.memory.recall(THREAD)).total == 2


async def test_what_was_answered_unasked_may_be_edited_without_a_word(room: Room) -> None:
    _channel(room, ChannelSettings(auto_answer=0.8))
    async with room.working():
        asked = await room.asks(ASKED, mentions_us=False, in_channel=True)
        await room.settled()
        edited = room.message(
            "How long do refunds take now?", mentions_us=False, in_channel=True, id=asked.id, edited=True
        )
        await room.arrives(edited, "the edit")
        await room.settled()
    assert len(room.paper.visible) == 1
    assert not room.paper.told


async def test_a_new_post_is_answered_once_and_a_moderators_is_not(room: Room) -> None:
    _channel(room, ChannelSettings(forum_posts=True))
    async with room.working():
        post = await room.asks("Refunds", mentions_us=False, opens_post=True)
        await room.arrives(post, "told again")
        await room.settled()
        assert len(room.paper.visible) == 1
        other = ThreadKey("paper", "T", "C", "2")
        await room.asks("How to ask here", by=ADA, mentions_us=False, opens_post=True, thread=other)
        await room.settled()
    assert len(room.paper.visible) == 1


async def test_a_channel_is_tried_so_often_in_an_hour_and_then_left_alone(room: Room) -> None:
    _channel(room, ChannelSettings(auto_answer=0.8))
    async with room.working():
        for _ in range(MOST_AN_HOUR + 3):
            await _asks_all(room)
    assert len(room.paper.visible) == MOST_AN_HOUR
    assert not room.paper.told


# --- how often


@dataclass
class _Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def _admitted(attempts: AutoAnswerLimiter, channel: str, times: int) -> int:
    thread = ThreadKey("paper", "T", channel, "1")
    return sum([await attempts.admit(thread) for _ in range(times)])


async def test_an_hour_later_there_is_room_again_and_another_channel_has_its_own() -> None:
    clock = _Clock()
    attempts = AutoAnswerLimiter(InProcessMessageStateStore(), now=clock)
    assert await _admitted(attempts, "C1", MOST_AN_HOUR + 5) == MOST_AN_HOUR
    assert await _admitted(attempts, "C2", 3) == 3
    clock.now += 3_600
    assert await _admitted(attempts, "C1", 3) == 3


async def test_all_channels_together_have_a_bound_for_the_day() -> None:
    clock = _Clock()
    attempts = AutoAnswerLimiter(InProcessMessageStateStore(), now=clock)
    channels = range(MOST_A_DAY // MOST_AN_HOUR + 2)
    assert sum([await _admitted(attempts, f"C{n}", MOST_AN_HOUR) for n in channels]) == MOST_A_DAY
    clock.now += 86_400
    assert await _admitted(attempts, "C1", 1) == 1


class _Budget(DailyBudget):
    def __init__(self, share: float) -> None:
        self.share = share

    async def reserve(self, amount: float, account: Account = NOBODY) -> str:
        return ""

    async def spent_share(self) -> float:
        return self.share

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY, *, day: str) -> None:
        pass


@pytest.mark.parametrize(("share", "admitted"), [(0.0, 1), (SHARE_OF_BUDGET - 0.01, 1), (SHARE_OF_BUDGET, 0), (1.0, 0)])
async def test_half_of_a_days_budget_is_left_to_those_who_ask(share: float, admitted: int) -> None:
    attempts = AutoAnswerLimiter(InProcessMessageStateStore(), _Budget(share))
    assert await _admitted(attempts, "C1", 1) == admitted


# --- how sure


def _answer(*scores: float, grounding: float = 1.0, outcome: Outcome = Outcome.ANSWERED) -> Answer:
    citations = tuple(Citation(n, n, "p", "default", "d", "D", "", "q", score) for n, score in enumerate(scores, 1))
    held = [Support.SUPPORTED] * round(grounding * 4) + [Support.UNSUPPORTED] * round((1 - grounding) * 4)
    return Answer(outcome, "text", citations, Verdict(tuple(ClaimVerdict(Claim("c"), one) for one in held)))


def test_an_answer_is_as_sure_as_its_best_source_and_what_of_it_holds() -> None:
    assert _answer(0.6, 0.9).confidence == 0.9
    assert _answer(0.8, grounding=0.5).confidence == pytest.approx(0.4)
    assert _answer().confidence == 0.0
    assert _answer(1.0, outcome=Outcome.ABSTAINED).confidence == 0.0


@pytest.mark.parametrize(
    ("written", "threshold"),
    [("off", NEVER), ("High", 0.9), ("medium", 0.8), (" low ", 0.7), ("0.85", 0.85), ("0,85", 0.85), ("1", 1.0)],
)
def test_a_threshold_is_a_word_or_a_number(written: str, threshold: float) -> None:
    assert parse_threshold(written) == threshold
    assert parse_threshold(threshold_name(threshold)) == threshold


@pytest.mark.parametrize("written", ["", "sure", "0.2", "1.5", "-1", "nan", "inf", "90%"])
def test_what_is_no_threshold_is_not_chosen(written: str) -> None:
    assert parse_threshold(written) is None
    assert ChosenSettings.from_mapping({"auto_answer": written}).auto_answer is None


def test_what_was_kept_before_there_was_such_a_setting_reads_as_off() -> None:
    kept = {"profile": "quick", "reply_style": "thread"}
    settings = channel_settings(ChannelSettings(), ChosenSettings.from_mapping(kept))
    assert (settings.auto_answer, settings.forum_posts) == (NEVER, False)
    assert ChosenSettings.from_mapping(kept).to_mapping() == kept
