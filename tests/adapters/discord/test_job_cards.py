"""Job cards: any process can update them, and the result goes to a direct message after the interaction expires."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import discord
import pytest

from adapters.discord.kb.job_cards import DiscordCards
from adapters.discord.outbound.layouts import layout_text
from adapters.discord.outbound.messages import Messages, Spot
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import NotFound, PlatformUnavailable
from core.model.incoming_events import Permissions, ReplyMode, ReplyTarget
from core.model.jobs import Job, JobKind, JobState
from core.model.records import R
from core.service.delivery.job_cards import JobCards
from core.service.kb.commands import Caller
from core.service.kb.summaries import summarize_job
from core.service.kb.text_spans import plain, principal
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.message_state import InProcessMessageStateStore

CARD, DIRECT, ADA = 11, 22, 33
MINUTES = 60


class Written(Messages):
    """Writes down what is shown, and where."""

    def __init__(self) -> None:
        self.edits: list[tuple[int, str]] = []
        self.posts: list[tuple[int, str]] = []
        self.gone = False
        self.away = False

    async def edit(self, spot: Spot, message_id: int, shown: SanitizedView) -> None:
        if self.away:
            raise PlatformUnavailable("Discord does not respond.")
        if self.gone:
            raise NotFound("The time for a private answer has passed.")
        self.edits.append((message_id, layout_text(shown)))

    async def post(self, spot: Spot, shown: SanitizedView, key: str) -> int:
        assert len(key) <= 25
        self.posts.append((spot.channel, layout_text(shown)))
        return 1

    async def direct_channel(self, user_id: int) -> int:
        assert user_id == ADA
        return DIRECT


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def written() -> Written:
    return Written()


class Interleaved(InProcessMessageStateStore):
    """A store in which another process does something right after the next exchange."""

    then: Callable[[], Awaitable[None]] | None = None

    async def exchange(self, was: R, now: R) -> bool:
        exchanged = await super().exchange(was, now)
        if then := self.then:
            self.then = None
            await then()
        return exchanged


@pytest.fixture
def message_states() -> Interleaved:
    return Interleaved()


@pytest.fixture
def process(clock: ManualClock, written: Written, message_states: Interleaved) -> Callable[[], JobCards]:
    """The cards as another process has them, over the same stores."""

    async def connected() -> None:
        """From the beginning."""

    now = lambda: clock.now().timestamp()  # noqa: E731
    return lambda: JobCards(message_states, "discord", DiscordCards(written, connected, now), now)


@pytest.fixture
def cards(process: Callable[[], JobCards]) -> JobCards:
    return process()


@pytest.fixture
def job(clock: ManualClock) -> Job:
    pressed = str(discord.utils.time_snowflake(clock.now()))
    target = ReplyTarget(ReplyMode.PRIVATE, "44", pressed, asker=str(ADA), token="t")
    return Job("0123456789ab", JobKind.INGEST, "default", Person("discord:user:33"), clock.now(), reply_target=target)


def caller_of(job: Job) -> Caller:
    """Who asked for the job, by the interaction in which that was."""
    thread = ThreadKey("discord", "1", job.reply_target.channel, "")
    return Caller(job.by, Permissions(is_admin=True), Audience(), thread, job.reply_target)


def done(job: Job) -> Job:
    return replace(job, state=JobState.DONE)


async def test_the_card_is_edited_from_stage_to_stage(cards: JobCards, job: Job, written: Written) -> None:
    await cards.take_message(
        summarize_job(job),
        caller_of(job),
        str(CARD),
        words=[(plain("The added documents are restricted to "), principal("discord:role:1/2"), plain("."))],
    )
    await cards.show(replace(job, state=JobState.RUNNING))
    await cards.show(done(job))
    (_, under_way), (message, end) = written.edits
    assert "Running" in under_way
    assert "Done" in end
    assert "The added documents are restricted to <@&2>." in end
    assert message == CARD
    assert written.posts == []


async def test_a_job_that_ends_before_its_card_stands_is_shown_at_its_end(
    cards: JobCards, job: Job, written: Written
) -> None:
    await cards.show(done(job))
    assert written.edits == []
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    ((message, end),) = written.edits
    assert message == CARD
    assert "Done" in end


async def test_after_a_quarter_of_an_hour_only_the_end_is_said_and_directly(
    cards: JobCards, job: Job, written: Written, clock: ManualClock
) -> None:
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    clock.advance(16 * MINUTES)
    await cards.show(replace(job, state=JobState.RUNNING))
    assert (written.edits, written.posts) == ([], [])
    await cards.show(done(job))
    ((channel, end),) = written.posts
    assert channel == DIRECT
    assert "Done" in end
    assert "<#44>" in end
    assert written.edits == []


async def test_what_is_pressed_on_the_card_gives_it_another_quarter_of_an_hour(
    cards: JobCards, job: Job, written: Written, clock: ManualClock
) -> None:
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    clock.advance(13 * MINUTES)
    await cards.renew_token(job.id, job.by.id, "another", str(discord.utils.time_snowflake(clock.now())))
    clock.advance(10 * MINUTES)
    await cards.show(done(job))
    assert len(written.edits) == 1
    assert written.posts == []


async def test_a_card_whose_job_is_being_ended_says_so_until_it_has_ended(
    cards: JobCards, job: Job, written: Written
) -> None:
    ending = replace(job, state=JobState.RUNNING, cancelled_by=job.by.id)
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD), cancel="0123456789abcdef01234567")
    await cards.show_cancelling(summarize_job(ending), job.by.id)
    ((_, shown),) = written.edits
    assert "Cancelling." in shown
    await cards.show(replace(ending, state=JobState.CANCELLED))
    await cards.show_cancelling(summarize_job(ending), job.by.id)
    assert [("Cancelled. " in text) for _, text in written.edits] == [False, True]


async def test_a_job_that_ends_while_its_cancellation_is_stored_is_shown_as_ended(
    cards: JobCards, process: Callable[[], JobCards], job: Job, written: Written, message_states: Interleaved
) -> None:
    ending = replace(job, state=JobState.RUNNING, cancelled_by=job.by.id)
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    message_states.then = lambda: process().show(replace(ending, state=JobState.CANCELLED))
    await cards.show_cancelling(summarize_job(ending), job.by.id)
    assert "Cancelled. " in written.edits[-1][1]


async def test_a_card_that_is_gone_is_no_end_of_the_news(cards: JobCards, job: Job, written: Written) -> None:
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    written.gone = True
    await cards.show(replace(job, state=JobState.RUNNING))
    assert written.posts == []
    await cards.show(done(job))
    assert [channel for channel, _ in written.posts] == [DIRECT]


async def test_an_end_that_discord_did_not_take_is_shown_by_the_next_process(
    cards: JobCards, process: Callable[[], JobCards], job: Job, written: Written
) -> None:
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))
    written.away = True
    await cards.show(done(job))
    await process().finish()
    written.away = False
    await process().finish()
    ((message, end),) = written.edits
    assert message == CARD
    assert "Done" in end
    await process().finish()
    assert len(written.edits) == 1


async def test_an_end_that_was_shown_is_not_shown_again(
    cards: JobCards, process: Callable[[], JobCards], job: Job, written: Written
) -> None:
    await cards.show(done(job))
    await cards.take_message(summarize_job(job), caller_of(job), str(CARD))  # which draws it
    await cards.show(done(replace(job, id="ba9876543210")))
    await cards.take_message(summarize_job(replace(job, id="ba9876543210")), caller_of(job), str(CARD))
    for _ in range(3):
        await process().finish()
    assert len(written.edits) == 2
    assert written.posts == []


async def test_the_end_of_a_job_whose_card_never_came_is_said_directly(
    cards: JobCards, process: Callable[[], JobCards], job: Job, written: Written, clock: ManualClock
) -> None:
    await cards.show(done(job))  # by a worker; the process that accepted it has died
    another = process()
    await another.finish()
    assert written.posts == []  # it may still come
    clock.advance(MINUTES)
    await another.finish()
    ((channel, end),) = written.posts
    assert channel == DIRECT
    assert "Done" in end
    await another.finish()
    assert len(written.posts) == 1
