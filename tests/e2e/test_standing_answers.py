"""Changed answers on both platforms: one direct message, its buttons, the settings form, kills and lost rights."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ThreadKey
from core.model.knowledge import KnowledgeBase
from core.model.records import Record
from core.service.standing_answers.checks import AnswerCheck, MutedNotices
from core.service.standing_answers.notices import NoticePreview
from core.service.standing_answers.service import StandingAnswers
from tests.core.service.standing_answers.company import FOURTEEN, THIRTY, Fuse, Killed, publish
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.driver import PlatformDriver, Seen
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.discord import SPECIFICATION, FakeDiscord
from tests.fakes.discord.permissions import Overwrite, Permission
from tests.fakes.memory.processes import InProcessNamedLeases
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not (specs_are_here() and SPECIFICATION.exists()), reason="The platforms' descriptions are not here"
    ),
]
QUESTION = "how long do refunds take?"
DAY = 86_400.0


class Company(Bot):
    """The bot, and processes of it that keep answers standing."""

    def __init__(self, driver: PlatformDriver) -> None:
        super().__init__(driver)
        self.clock = self.harness.clock
        self.clock.set_to((datetime.now(UTC) - self.clock.now()).total_seconds())  # platforms have their own clock
        self.leases = InProcessNamedLeases(self.clock)
        settings = replace(self.user_actions.settings, preview=self._preview)
        self.user_actions = replace(self.user_actions, settings=settings)
        self._processes = 0

    async def _preview(self, channel: ThreadKey, readers: Audience, settings: ChannelSettings) -> str:
        return await NoticePreview(self._check(), self.harness.questions, self.harness.memory).text(
            channel, readers, settings
        )

    def _check(self) -> AnswerCheck:
        agent = self.harness.question_service.agent  # the very one that answered
        return AnswerCheck(agent, self.harness.catalog, self.harness.index, self.clock)

    def process(self) -> StandingAnswers:
        self._processes += 1
        platform: Any = self.platform
        return StandingAnswers(
            check=self._check(),
            questions=self.harness.questions,
            memory=self.harness.memory,
            settings=self.user_actions.settings.store,
            message_states=self.message_states,
            leases=self.leases,
            holder=f"p{self._processes}",
            notices=lambda name: platform.capabilities().notices if name == self.driver.name else None,
        )

    async def answers(self, person: str = "alice") -> Any:
        """Switched on, it answers somebody."""
        await self.driver.configure(self.user_actions, standing_answers="yes")
        self.clock.advance(-60)
        await self.process().look()
        self.clock.advance(240)
        said = await self.driver.says(person, QUESTION)
        await self.driver.reply(said, containing=FOURTEEN)
        await self.settled()
        await self.process().look()
        self.clock.advance(200)
        return said

    async def until(self, holds: Any) -> None:
        """Wait for something that a press leads to."""
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.01)

    async def until_muted(self) -> None:
        """Somebody's press of Mute is kept."""
        async with asyncio.timeout(60):
            while not await self.message_states.read_entries(MutedNotices(name="")):
                await asyncio.sleep(0.01)

    def direct(self, person: str) -> list[Seen]:
        """What the bot wrote to somebody directly."""
        match self.driver:
            case SlackDriver(slack=slack):
                found: list[Any] = [
                    one for one in slack.person(person).dm.messages if one.user != slack.person(person).id
                ]
                return [Seen(one.markdown, tuple(one.buttons()), one) for one in found]
            case DiscordDriver(discord=discord):
                posts = [one for one in discord.person(person).dm_channel.posts() if one.author is discord.me]
                return [Seen(one.text, tuple(one.buttons()), one) for one in posts]
        raise TypeError(self.driver.name)


@pytest.fixture(params=["slack", "discord"])
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[PlatformDriver]:
    if request.param == "slack":
        async with FakeSlack() as slack:
            yield SlackDriver(slack, "socket")
    else:
        async with FakeDiscord() as discord:
            yield DiscordDriver(discord)


@pytest.fixture
async def company(driver: PlatformDriver) -> AsyncIterator[Company]:
    company = Company(driver)
    await company.harness.catalog.save_base(KnowledgeBase("default"))
    await publish(company.harness, FOURTEEN, "v1")
    async with company.running():
        yield company
    assert driver.broken_rules == []
    assert driver.pings() == []


async def test_tells_the_asker_once_and_a_second_edit_waits_a_day(company: Company) -> None:
    await company.answers()
    process = company.process()
    await publish(company.harness, THIRTY, "v2")
    assert await process.look() == 1
    (notice,) = company.direct("alice")
    for words in ("14 days is now 30 days.", QUESTION, FOURTEEN, THIRTY, "Refund policy", "2026-01-01"):
        assert words in notice.text
    assert notice.buttons[:2] == ("Mute", "Open the thread")
    await publish(company.harness, "Refunds are paid within 60 days.", "v3")
    assert await process.look() == 0
    assert len(company.direct("alice")) == 1
    company.clock.advance(DAY)
    assert await process.look() == 1
    assert "30 days is now 60 days." in company.direct("alice")[-1].text


async def test_opens_the_thread_by_a_link_of_the_platforms_own(company: Company, driver: PlatformDriver) -> None:
    said = await company.answers()
    await publish(company.harness, THIRTY, "v2")
    assert await company.process().look() == 1
    (notice,) = company.direct("alice")
    match driver:
        case SlackDriver(slack=slack):
            assert slack.world.permalink(said).partition("?")[0] in str(notice.raw.blocks)
        case DiscordDriver():
            (opens,) = [one for one in notice.raw.controls() if one.label == "Open the thread"]
            assert (opens.url or "").startswith("https://discord.com/channels/")


async def test_says_nothing_after_a_press_of_mute(company: Company, driver: PlatformDriver) -> None:
    await company.answers()
    process = company.process()
    await publish(company.harness, THIRTY, "v2")
    assert await process.look() == 1
    (notice,) = company.direct("alice")
    await driver.presses("alice", notice, "Mute")
    await company.until_muted()
    company.clock.advance(DAY)
    await publish(company.harness, "Refunds are paid within 60 days.", "v3")
    assert await process.look() == 0


async def test_says_nothing_to_who_may_not_read_it_any_more(company: Company) -> None:
    await company.answers()
    process = company.process()
    await process.look()
    await publish(company.harness, THIRTY, "v2")
    await company.close_knowledge()
    assert await process.look() == 0
    assert company.direct("alice") == []


async def test_says_nothing_to_who_left_the_channel(company: Company, driver: PlatformDriver) -> None:
    await company.answers()
    match driver:
        case SlackDriver(slack=slack):
            slack.channel("general").members.remove(slack.person("alice").id)
        case DiscordDriver(discord=discord):
            await _hide(discord, "general")
    await publish(company.harness, THIRTY, "v2")
    assert await company.process().look() == 0
    assert company.direct("alice") == []


async def test_the_settings_form_shows_what_would_have_been_told(company: Company, driver: PlatformDriver) -> None:
    said = await driver.says("alice", QUESTION)
    await driver.reply(said, containing=FOURTEEN)
    await company.settled()
    company.clock.advance(60)
    await publish(company.harness, THIRTY, "v2")
    assert await driver.commands("ada", "settings") is None
    form = await driver.form("ada")
    chosen: Any = ["yes"] if driver.name == "slack" else "yes"
    await driver.submits("ada", form, {"standing_answers": chosen})
    if driver.name == "slack":
        shown = (await driver.private("ada")).text
    else:
        await company.until(lambda: "I would have told" in form.raw.text)
        shown = form.raw.text
    assert "I would have told 1 person about 1 changed answer. I sent nothing." in shown
    assert "14 days is now 30 days." in shown
    assert await company.process().look() == 0
    assert company.direct("alice") == []


async def _hide(discord: FakeDiscord, name: str) -> None:
    """Only the bot may view a channel from now on."""
    channel, view = discord.channel(name), int(Permission.VIEW_CHANNEL)
    channel.overwrites[discord.guild_id] = Overwrite(discord.guild_id, of_member=False, deny=view)
    channel.overwrites[discord.me.id] = Overwrite(discord.me.id, of_member=True, allow=view)
    await discord.gateway.dispatch("CHANNEL_UPDATE", channel.payload())


class MortalCalls:
    """The records or the platform, as a process reaches them until it is killed."""

    def __init__(self, inner: Any, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)

        async def burned(*given: Record, **more: Any) -> Any:
            return await self._fuse.burn(call, *given, **more)

        return burned


async def test_a_kill_between_any_two_calls_tells_once(company: Company) -> None:
    company.clock.set_to(-60 * DAY)  # so that no message is older than what it is about, for days to come
    await company.answers()
    fuse = Fuse()
    fuse.after = True
    days, at, told = 30, 0, 0
    while True:
        days, at, told = days + 1, at + 1, told + 1
        company.clock.advance(DAY)
        await publish(company.harness, f"Refunds are paid within {days} days.", f"v{days}")
        process = company.process()
        mortal: Any = MortalCalls(process.notices(company.driver.name), fuse)
        states: Any = MortalCalls(company.message_states, fuse)
        process = replace(process, message_states=states, notices={company.driver.name: mortal}.get)
        fuse.calls, fuse.at, fuse.dead = 0, at, False
        try:
            await process.look()
        except Killed:
            for _ in range(2):
                company.clock.advance(200)
                await company.process().look()
        assert len(company.direct("alice")) == told, f"call {at}"
        if not fuse.dead:
            return
        assert f"{days} days." in company.direct("alice")[-1].text
