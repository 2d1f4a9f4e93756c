"""When an answer in progress is sent to Slack, and when it is not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.answer_renderer import SlackMessage
from adapters.slack.outbound.answer_surface import STREAM_SECONDS, SlackQuestion, SlackSurface
from adapters.slack.outbound.answer_view import slack_answer_view
from adapters.slack.outbound.messages import AgentSessions
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import ReplyMode
from core.ports.chat import PartKey
from core.ports.platform import MessageState
from core.service.delivery.delivery import AnswerDelivery
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessState
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")


@dataclass
class Room:
    """The workspace of one question, and a worker that holds its thread under the first fence."""

    slack: FakeSlack
    web: WebClient
    sessions: AgentSessions
    state: InProcessState = field(default_factory=InProcessState)

    async def bot_user_id(self) -> str:
        return self.slack.bot_user_id

    async def partner_notice(self, thread: ThreadKey) -> str:
        return ""

    async def keep_partners_mentioned(self, thread: ThreadKey) -> None:
        raise NotImplementedError

    async def name_of(self, user: str) -> str:
        return user

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        return ChannelSettings()

    async def asked(self, root: Message | None = None) -> SlackQuestion:
        alice = self.slack.person("alice")
        said = await alice.says("<@bot> how long do refunds take?", "general", thread=root)
        thread = ThreadKey("slack", self.slack.team_id, said.channel.id, root.ts if root else said.ts)
        return SlackQuestion(thread, Person("slack:T/" + alice.id), said.ts, said.text, direct=False, private=False)

    def surface(self, question: SlackQuestion) -> SlackSurface:
        return SlackSurface(self, question, question.ts, "trace", InProcessMessageStateStore(self.state))

    async def opened(self, question: SlackQuestion | None = None) -> AnswerDelivery[SlackMessage]:
        question = question or await self.asked()
        thread = question.thread
        self.state.fences[str(thread)] = 1
        kept = SlackQuestionState(thread=thread, message=question.ts, asker="slack:T/U")
        message_state = MessageState(InProcessMessageStateStore(self.state), kept, 1)
        view = slack_answer_view(self, question, message_state, "trace")
        await view.open()
        return view


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with FakeSlack() as slack:
        web = WebClient(slack.bot_token, slack.api_url)
        yield Room(slack, web, AgentSessions(web))
        await web.close()


async def test_what_waits_to_be_sent_is_sent_no_more_once_the_view_is_closed(room: Room) -> None:
    view = await room.opened()
    await view.write("Refunds are paid")
    await view.close()
    await view.write(" within 14 days.")
    await asyncio.sleep(2 * STREAM_SECONDS)
    assert room.slack.calls_of("chat.appendStream") == []


async def test_nothing_is_sent_once_another_worker_has_taken_over(room: Room) -> None:
    view = await room.opened()
    room.state.fences.update(dict.fromkeys(room.state.fences, 2))
    await view.write("Refunds are paid")
    await asyncio.sleep(2 * STREAM_SECONDS)
    assert room.slack.calls_of("chat.appendStream") == []


async def test_does_not_take_the_stream_of_another_question_in_the_thread_for_its_own(room: Room) -> None:
    root = await room.slack.person("alice").says("morning", "general")
    first, second = await room.asked(root), await room.asked(root)
    await room.opened(first)
    (stream,) = [one for one in root.channel.thread(root.ts) if one.streaming]
    assert await room.surface(first).find(room.surface(first).home, PartKey(0), ()) == stream.ts
    assert await room.surface(second).find(room.surface(second).home, PartKey(0), ()) == ""


async def test_finds_a_stream_whose_start_was_not_kept(room: Room) -> None:
    root = await room.slack.person("alice").says("morning", "general")
    question = await room.asked(root)
    await room.opened(question)
    (stream,) = [one for one in root.channel.thread(root.ts) if one.streaming]
    room.state.records.clear()
    assert await room.surface(question).find(room.surface(question).home, PartKey(0), ()) == stream.ts


async def test_edits_finds_and_deletes_a_direct_message_without_reopening_the_channel(room: Room) -> None:
    room.slack.faults.fail("conversations.open", "missing_scope", times=None)
    surface = room.surface(await room.asked())
    place = await surface.next_place(ReplyMode.DIRECT)
    assert place is not None
    posted = await surface.post(place, SlackMessage("Looking…", [blocks.section("Looking…")]), PartKey(0))
    later = await surface.post(place, SlackMessage("More", [blocks.section("More")]), PartKey(1))
    await surface.edit(place, posted, SlackMessage("Done", [blocks.section("Done")]))
    there = room.slack.person("alice").dm
    assert [one.text for one in room.slack.visible(there)] == ["Done", "More"]
    assert await surface.find(place, PartKey(1), (posted,)) == later
    await surface.delete(place, posted)
    assert [one.text for one in room.slack.visible(there)] == ["More"]
