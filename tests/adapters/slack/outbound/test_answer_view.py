"""When an answer in progress is sent to Slack, and when it is not."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.answer_renderer import SlackMessage
from adapters.slack.outbound.answer_surface import STREAM_SECONDS, SlackSurface
from adapters.slack.outbound.answer_view import slack_answer_view
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.ports.chat import PartKey
from core.ports.platform import MessageState
from core.service.delivery.delivery import AnswerDelivery
from tests.core.harness import Harness, user_actions
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")


class Room:
    """The workspace of one question, and a worker that holds its thread under the first fence."""

    def __init__(self, slack: FakeSlack) -> None:
        harness = Harness()
        self.slack, self.state = slack, harness.state
        store = InProcessMessageStateStore(self.state)
        self.workspace = SlackWorkspace.connect(slack.bot_token, slack.api_url, (), user_actions(harness), store)

    async def asked(self, root: Message | None = None) -> IncomingMessage:
        alice = self.slack.person("alice")
        said = await alice.says("<@bot> how long do refunds take?", "general", thread=root)
        thread = ThreadKey("slack", self.slack.team_id, said.channel.id, root.ts if root else said.ts)
        return IncomingMessage(said.ts, thread, said.text, Person("slack:T/" + alice.id))

    def surface(self, question: IncomingMessage) -> SlackSurface:
        return SlackSurface(self.workspace, question, question.id, "trace", self.workspace.message_states)

    async def opened(self, question: IncomingMessage | None = None) -> AnswerDelivery[SlackMessage]:
        question = question or await self.asked()
        self.state.fences[str(question.thread)] = 1
        kept = SlackQuestionState(thread=question.thread, message=question.id, asker="slack:T/U")
        message_state = MessageState(self.workspace.message_states, kept, 1)
        view = slack_answer_view(self.workspace, question, message_state, "trace")
        await view.open()
        return view


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with FakeSlack() as slack:
        room = Room(slack)
        yield room
        await room.workspace.web.close()


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
