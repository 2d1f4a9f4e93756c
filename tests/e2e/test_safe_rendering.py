"""No rendered text has active links or pings, whatever a document or a model wrote.

Every hostile text is put into every place of a message and sent through the real view to the fake platform.
The result is read with the platform's own rules, by readers that use none of our code.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.kb import job_cards as discord_cards
from adapters.discord.outbound import layouts, text
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.messages import Spot
from adapters.discord.outbound.sanitizer import Text
from adapters.discord.outbound.text import markdown_lines
from adapters.discord.platform import DiscordPlatform
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import RateLimiter
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.listeners import home_tab
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.platform import SlackPlatform
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError
from core.model.events import AgentEvent
from core.model.incoming_events import IncomingMessage, ReplyMode, ReplyTarget
from core.model.knowledge import KnowledgeBase
from core.ports.memory import AskedQuestion
from core.ports.platform import MessageState, Platform
from core.service.actions.answers import Quotes
from core.service.actions.user_actions import KnowledgeBaseSummary
from core.service.event_presenter import EventPresenter
from core.service.kb.job_cards import job_card
from core.service.kb.summaries import summarize_job
from core.service.kb.text_spans import Line, Span, Style, plain
from tests.e2e import discord_links, slack_links
from tests.e2e.discord_driver import DiscordDriver
from tests.e2e.hostile_runs import ANSWER_PLACES, CHECKPOINT_PLACES, TRACE, answering, asking, citation, failing, job
from tests.e2e.hostile_texts import ALLOWED, HOSTILE
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="The platforms' descriptions are not beside this checkout"),
]
SLACK_PLACES = (*ANSWER_PLACES, *CHECKPOINT_PLACES, "failure", "said to one person", "session title", "quote",
                "quoted question", "base", "base's description", "proposal", "job", "reply of /kb")  # fmt: skip
DISCORD_PLACES = (*ANSWER_PLACES, *CHECKPOINT_PLACES, "failure", "said to one person", "quote",
                  "quoted question", "what was chosen", "call of a role", "job", "reply of /kb")  # fmt: skip
AT_ONCE = 24


def test_there_are_thousands_of_renderings() -> None:
    assert len(HOSTILE) * (len(SLACK_PLACES) + len(DISCORD_PLACES)) >= 5_000


async def many(play: Callable[[str], Any]) -> None:
    """Every hostile text, some at a time."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(hostile: str) -> None:
        async with places:
            await play(hostile)

    await asyncio.gather(*(one(hostile) for hostile in HOSTILE.values()))


async def played(
    platform: Platform, message: IncomingMessage, message_state: MessageState[Any], events: AsyncIterator[AgentEvent]
) -> None:
    """A run in the platform's real answer view."""
    shown_view = platform.answer_view(message, message_state, TRACE)
    await shown_view.open()
    await EventPresenter(shown_view).show(events)


# --- Slack


@asynccontextmanager
async def slack_bot(slack: FakeSlack) -> AsyncIterator[SlackPlatform]:
    driver = SlackDriver(slack, "socket")
    bot = Bot(driver)
    async with driver.connecting(
        bot.inbox, bot.message_states, bot.harness.checkpoints, bot.user_actions, parse=None
    ) as platform:
        assert isinstance(platform, SlackPlatform)
        platform.workspace.web.rate_limiter = RateLimiter({})
        await platform.workspace.directory.identity()
        yield platform


async def test_nothing_on_slack_can_be_clicked_or_calls_anybody() -> None:
    async with FakeSlack() as slack, slack_bot(slack) as platform:
        asked = await slack.person("alice").says("how long do refunds take?", "general")
        alice = slack.person("alice").id

        async def play(hostile: str) -> None:
            thread = ThreadKey("slack", slack.team_id, asked.channel.id, asked.ts)
            asker = Person(f"slack:{slack.team_id}/{alice}", hostile)
            message = IncomingMessage(asked.ts, thread, hostile, asker, ReplyTarget(asker=alice))
            for events in (answering, asking, failing):
                subject = f"{events.__name__} {hash(hostile)}"
                kept = SlackQuestionState(thread=thread, message=subject, asker=asker.id)
                message_state = MessageState(platform.workspace.message_states, kept)
                await played(platform, message, message_state, events(hostile))
            await platform.workspace.messages.post_privately(thread, alice, hostile)
            await slack_beside(platform, thread, alice, hostile)

        await many(play)
        shown = [(call.method, call.args) for call in slack.calls]
        assert {"chat.appendStream", "chat.update", "views.publish", "chat.postEphemeral"} <= {one for one, _ in shown}
        found = slack_links.active_in_calls(shown)
        own_thread = slack.world.permalink(asked).partition("?")[0]  # on the Home tab, where its question is listed
        assert [one for one in found.links if one not in (ALLOWED, own_thread)] == []
        assert {ALLOWED, own_thread} <= set(found.links)
        assert found.calls == []
        assert slack.pings() == []
        assert slack.unfurling() == []
        assert [one for one in slack.violations if "trigger" not in one] == []


def hostile_lines(hostile: str) -> list[Line]:
    """The text in every style that a line has."""
    return [(Span(hostile, style), plain(f" {hostile}")) for style in Style]


async def slack_beside(platform: SlackPlatform, thread: ThreadKey, user: str, hostile: str) -> None:
    """What is shown beside answers: forms, the Home tab, cards and replies."""
    web = platform.workspace.web
    base = KnowledgeBase(hostile, hostile)
    await web.call(
        "views.publish",
        user_id=user,
        view=home_tab.home(
            home_tab.HomeContents(
                knowledge_bases=[KnowledgeBaseSummary(base, 1)],
                recent=[AskedQuestion(thread, hostile, datetime.now(UTC))],
                workspace_url="https://paper-and-ink.slack.com/",
                outcome=kb_blocks.paragraphs(hostile_lines(hostile)),
            )
        ),
    )
    await platform.workspace.messages.post(thread, hostile, kb_blocks.card(job_card(summarize_job(job(hostile)))))
    await platform.workspace.messages.post(
        thread, hostile, kb_blocks.reply([(hostile_lines(hostile), ())], note=hostile)
    )
    shown = [blocks.markdown(hostile), *blocks.sources([citation(hostile)])]
    await platform.workspace.messages.post(thread, hostile, blocks.settled_card(shown, hostile))
    with suppress(RequestRefused):  # it was sent all the same, which is what is read here
        await web.call_once("views.open", trigger_id="none", view=views.quotes(Quotes(hostile, (citation(hostile),))))


# --- Discord


async def test_nothing_on_discord_can_be_clicked_or_calls_anybody() -> None:
    async with FakeDiscord() as discord:
        driver = DiscordDriver(discord)
        bot = Bot(driver)
        stop = asyncio.Event()
        opening = driver.connecting(
            bot.inbox, bot.message_states, bot.harness.checkpoints, bot.user_actions, parse=None
        )
        async with opening as platform:
            assert isinstance(platform, DiscordPlatform)
            running = asyncio.create_task(platform.run(stop))
            await discord.until(lambda: not platform.readiness_problem(), what="a connection")
            asked = await driver.says("alice", "how long do refunds take?", mention=False)

            async def play(hostile: str) -> None:
                await discord_answers(platform, bot, asked, hostile)
                await discord_beside(platform, discord, asked, hostile)

            await many(play)
            stop.set()
            await running
        bodies = [call.body for call in discord.requests if call.body is not None]
        found = discord_links.active_in_calls(json.loads(json.dumps(bodies)))
        assert [one for one in found.links if one != ALLOWED] == []
        assert ALLOWED in found.links
        assert found.calls == ["<@&77>"] * len(HOSTILE)
        assert discord.pings() == []


async def discord_answers(platform: DiscordPlatform, bot: Bot, asked: Any, hostile: str) -> None:
    guild, channel = str(asked.channel.guild_id), str(asked.channel.id)
    thread = ThreadKey("discord", guild, channel, str(asked.id))
    asker = Person(f"discord:user:{asked.author.id}", hostile)
    address = ReplyTarget(ReplyMode.REPLY, channel, str(asked.id), guild, str(asked.author.id))
    message = IncomingMessage(str(asked.id), thread, hostile, asker, address)
    for events in (answering, asking, failing):
        subject = f"{events.__name__} {hash(hostile)}"
        kept = DiscordQuestionState(thread=thread, message=subject, asker=asker.id)
        message_state = MessageState(bot.message_states, kept)
        await played(platform, message, message_state, events(hostile))
    await platform.tell(message, hostile)


async def discord_beside(platform: DiscordPlatform, discord: FakeDiscord, asked: Any, hostile: str) -> None:
    spot = Spot(asked.channel.id, discord.guild_id)
    quotes = text.quote_blocks(hostile, (citation(hostile),), 1)
    shown = {
        "quotes": layouts.text_layout(quotes[:3_900], (citation(hostile),)),
        "job": discord_cards.card(summarize_job(job(hostile)), hostile_lines(hostile)),
        "reply": layouts.layout(Text(markdown_lines(hostile_lines(hostile)), mentions=True)),
    }
    for name, view in shown.items():
        await platform.app.messages.post(spot, view, f"{name}{hash(hostile)}"[:24])
    with suppress(FootnoteError):  # there is no such role; it was sent all the same
        link = "https://discord.com/channels/1/2/3"
        await platform.app.messages.call_role(spot, 77, hostile, link, f"role{hash(hostile)}"[:24])
