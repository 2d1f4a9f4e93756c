"""Slack conversations as documents."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from adapters.slack.api.directory import Directory
from adapters.slack.api.ids import thread_in
from adapters.slack.api.web_client import PAGE, WebClient
from adapters.slack.kb.slack_sources import Transcripts, conversation_reference
from core.model.errors import NotFound
from tests.fakes.slack import Channel, FakeSlack, Message, specs_are_here

pytestmark = pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")


@dataclass
class Place:
    slack: FakeSlack
    transcripts: Transcripts

    @property
    def channel(self) -> Channel:
        return self.slack.channel("general")

    def said(self, who: str, text: str, when: str, *, thread: Message | None = None) -> Message:
        """Put a message into the channel at that time, without telling anybody."""
        at = datetime.fromisoformat(when).replace(tzinfo=UTC).timestamp()
        message = Message(self.channel, f"{at:.6f}", self.slack.person(who).id, text=text)
        message.thread_ts = thread.ts if thread else None
        self.channel.add(message)
        return message

    async def titles(self, limit: int = 100) -> list[str]:
        return [one.title async for one in self.transcripts.conversations(self.channel.id, limit)]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with FakeSlack() as slack:
        web = WebClient(slack.bot_token, slack.api_url)
        yield Place(slack, Transcripts(web, Directory(web)))
        await web.close()
        assert slack.violations == []


@pytest.mark.parametrize(
    ("link", "thread"),
    [
        ("https://acme.slack.com/archives/C012/p1700000000123456", ("C012", "1700000000.123456")),
        (
            "https://acme.slack.com/archives/C012/p1700000000123456?thread_ts=1600000000.000001&cid=C012",
            ("C012", "1600000000.000001"),
        ),
        ("https://evil.example/archives/C012/p1700000000123456", ("", "")),
    ],
)
def test_a_link_to_a_message_names_its_thread(link: str, thread: tuple[str, str]) -> None:
    assert thread_in(link) == thread


async def test_a_day_is_a_conversation_and_a_thread_is_one(place: Place) -> None:
    place.said("alice", "Monday's lunch is soup.", "2026-01-05 11:00")
    asked = place.said("bob", "Who has the keys?", "2026-01-06 09:00")
    place.said("alice", "Reception.", "2026-01-06 09:05", thread=asked)
    place.said("bob", "Tuesday's lunch is stew.", "2026-01-06 11:00")
    assert await place.titles() == ["Who has the keys?", "#general, 6 January 2026", "#general, 5 January 2026"]
    assert await place.titles(2) == ["Who has the keys?", "#general, 6 January 2026"]


async def test_the_same_day_keeps_its_name_however_much_is_added(place: Place) -> None:
    place.said("alice", "Soup.", "2026-01-05 11:00")
    (before,) = [one async for one in place.transcripts.conversations(place.channel.id, 5)]
    place.said("bob", "Stew.", "2026-01-05 12:00")
    (after,) = [one async for one in place.transcripts.conversations(place.channel.id, 5)]
    assert before.source == after.source == f"slack/{place.slack.team_id}/{place.channel.id}/2026-01-05"
    assert [(one.author, one.text) for one in after.messages] == [("alice", "Soup."), ("bob", "Stew.")]
    assert before.permalink == after.permalink


async def test_a_long_channel_is_read_page_by_page(place: Place) -> None:
    for number in range(PAGE + 20):
        place.said("bob", f"Message {number}.", f"2026-01-05 {number // 60:02}:{number % 60:02}")
    (day,) = [one async for one in place.transcripts.conversations(place.channel.id, 5)]
    assert len(day.messages) == PAGE + 20
    assert day.messages[0].text == "Message 0."
    assert len(place.slack.calls_of("conversations.history")) == 2


async def test_people_are_named_and_bots_left_out(place: Place) -> None:
    alice = place.slack.person("alice")
    root = place.said("bob", f"Ask <@{alice.id}> or <@{place.slack.bot_user_id}>.", "2026-01-05 11:00")
    answer = place.said("bob", "An answer that quotes what is for few.", "2026-01-05 11:01", thread=root)
    answer.user, answer.bot_id = place.slack.bot_user_id, place.slack.world.bot.bot_id
    place.said("alice", "Me.", "2026-01-05 11:02", thread=root)
    conversation = await place.transcripts.conversation(conversation_reference(place.channel.id, root.ts))
    assert [one.text for one in conversation.messages] == ["Ask @alice or .", "Me."]


async def test_markup_is_read_as_names_and_forwards_as_text(place: Place) -> None:
    group = place.slack.usergroup("ops", ["bob"])
    root = place.said("bob", f":wave: <!subteam^{group.id}> own the *queue* :tada:", "2026-01-05 11:00")
    forward = place.said("alice", "fyi", "2026-01-05 11:01", thread=root)
    carol = place.slack.person("carol")
    forward.attachments = [{"is_share": True, "author_id": carol.id, "author_name": "carol", "text": "It is `stuck`."}]
    conversation = await place.transcripts.conversation(conversation_reference(place.channel.id, root.ts))
    assert [one.text for one in conversation.messages] == [
        "@ops own the queue",
        "fyi\nForwarded from carol: It is `stuck`.",
    ]
    assert conversation.title == "@ops own the queue"


@pytest.mark.parametrize("scope", ["channels:history"])
async def test_what_may_not_be_read_is_named(place: Place, scope: str) -> None:
    root = place.said("bob", "Hello.", "2026-01-05 11:00")
    with pytest.raises(NotFound, match="no longer exists"):
        await place.transcripts.conversation(conversation_reference(place.channel.id, "1.000000"))
    place.slack.scopes.discard(scope)
    with pytest.raises(NotFound, match=scope):
        await place.transcripts.conversation(conversation_reference(place.channel.id, root.ts))
    place.slack.channel("hidden", private=True, members=["bob"], bot=False)
    with pytest.raises(NotFound, match="Invite me there"):
        await anext(place.transcripts.conversations(place.slack.channel("hidden").id, 5))
