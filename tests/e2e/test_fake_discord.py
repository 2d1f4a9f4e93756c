"""The fake Discord behaves like Discord for the real discord.py client.

The client runs in this process. A raw connection sends what the library would never send.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import discord
import pytest
import yarl
from discord import app_commands

from tests.fakes.discord import SPECIFICATION, FakeDiscord

if TYPE_CHECKING:
    import re
    from collections.abc import AsyncIterator

    from tests.fakes.discord import Channel

pytestmark = pytest.mark.skipif(
    not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the repository"
)

Json = dict[str, Any]
MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"
NOBODY: Json = {"parse": []}
LAYOUT = 1 << 15


class Listener(discord.Client):
    """A bot that keeps what it hears; tests tell it what to say."""

    def __init__(self, *, content: bool = True, **options: Any) -> None:
        intents = discord.Intents.default()
        intents.message_content = content
        nobody = discord.AllowedMentions.none()
        super().__init__(intents=intents, allowed_mentions=nobody, guild_ready_timeout=0.05, **options)
        self.tree = app_commands.CommandTree(self)
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user and message.type is not discord.MessageType.thread_starter_message:
            self.heard.put_nowait(message)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identifies at once; the library's own hook sleeps for five seconds."""

    async def hears(self) -> discord.Message:
        return await asyncio.wait_for(self.heard.get(), 60)

    async def channel(self, name: str) -> discord.TextChannel:
        """A text channel by name, as its cache knows it."""
        await asyncio.wait_for(self.wait_until_ready(), 60)
        found = discord.utils.get(self.get_all_channels(), name=name)
        assert isinstance(found, discord.TextChannel)
        return found


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        monkeypatch.setattr("discord.http.Route.BASE", server.api_url)
        monkeypatch.setattr("discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY", yarl.URL(server.gateway_url))
        yield server


@asynccontextmanager
async def connected(fake: FakeDiscord, **options: Any) -> AsyncIterator[Listener]:
    listener = Listener(**options)
    running = asyncio.create_task(listener.start(fake.token))
    try:
        await fake.connected()
        await asyncio.wait_for(listener.wait_until_ready(), 60)
        yield listener
    finally:
        await listener.close()
        await running


@pytest.fixture
async def client(fake: FakeDiscord) -> AsyncIterator[Listener]:
    async with connected(fake) as listener:
        yield listener


class Raw:
    """Requests that no library would make."""

    def __init__(self, fake: FakeDiscord) -> None:
        self.fake = fake
        self.headers = {"Authorization": f"Bot {fake.token}"}

    async def __aenter__(self) -> Self:
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        url = self.fake.api_url + path
        async with self.session.request(method, url, json=body, headers=self.headers) as response:
            return response.status, (None if response.status == 204 else await response.json())

    async def post(self, channel: Channel, **body: Any) -> tuple[int, Any]:
        return await self.call("POST", f"/channels/{channel.id}/messages", {"allowed_mentions": NOBODY} | body)

    async def refused(self, channel: Channel, **body: Any) -> Any:
        """The error of a message that is refused and recorded."""
        before = len(self.fake.violations)
        status, answer = await self.post(channel, **body)
        assert status == 400, answer
        assert len(self.fake.violations) == before + 1
        return answer


@pytest.fixture
async def raw(fake: FakeDiscord) -> AsyncIterator[Raw]:
    async with Raw(fake) as connection:
        yield connection


# ---- Hearing and answering


async def test_a_mention_is_heard_and_the_reply_is_read_back(fake: FakeDiscord, client: Listener) -> None:
    asked = await fake.person("alice").says("<@bot> how long is a refund?", channel="general")

    heard = await client.hears()
    assert heard.content == f"<@{fake.me.id}> how long is a refund?"
    assert client.user in heard.mentions
    assert isinstance(heard.channel, discord.TextChannel)
    await heard.reply("Thirty days.")

    assert (await fake.reply_to(asked, settle=0.02)).text == "Thirty days."
    assert fake.violations == []
    assert fake.pings() == []


async def test_a_reply_is_final_only_when_it_can_no_longer_be_stopped(fake: FakeDiscord, client: Listener) -> None:
    asked = await fake.person("alice").dm("what is the notice period?")
    heard = await client.hears()
    view = discord.ui.View()
    view.add_item(discord.ui.Button(label="Stop", custom_id="stop"))
    working = await heard.channel.send(embed=discord.Embed(description="Searching"), view=view)

    waiting = asyncio.create_task(fake.reply_to(asked, settle=0.02))
    assert not (await asyncio.wait([waiting], timeout=0.2))[0]
    await working.edit(content="Three months.", embed=None, view=None)

    reply = await waiting
    assert [state.text for state in reply.history] == ["Searching", "Three months."]
    assert [state.buttons() for state in reply.history] == [["Stop"], []]
    assert fake.violations == []


async def test_silence_is_reported_with_what_there_was(fake: FakeDiscord, client: Listener) -> None:
    asked = await fake.person("alice").says("anybody?")

    with pytest.raises(AssertionError, match="no final reply"):
        await fake.reply_to(asked, timeout=0.05)


async def test_edits_deletions_and_other_bots_are_heard_as_such(fake: FakeDiscord, client: Listener) -> None:
    alice = fake.person("alice")
    said = await alice.says("first")
    heard = await client.hears()
    edited = asyncio.create_task(client.wait_for("message_edit", timeout=60))
    deleted = asyncio.create_task(client.wait_for("message_delete", timeout=60))
    await asyncio.sleep(0)

    await alice.edits(said, "second")
    before, after = await edited
    await alice.deletes(said)
    await fake.bot("other").says("<@bot> beep")

    assert (before.content, after.content) == ("first", "second")
    assert (await deleted).id == heard.id
    assert (await client.hears()).author.bot
    assert fake.visible("general")[0].text == f"<@{fake.me.id}> beep"


async def test_a_file_from_a_person_can_be_read_and_one_from_the_bot_arrives(
    fake: FakeDiscord, client: Listener
) -> None:
    asked = await fake.person("alice").says("read this", files=[("notes.txt", b"four eyes")])
    heard = await client.hears()
    assert await heard.attachments[0].read() == b"four eyes"

    await heard.channel.send("here", file=discord.File(SPECIFICATION.with_name("README.md"), "copy.md"))

    copy = (await fake.reply_to(asked, settle=0.02)).attachments[0]
    assert (copy.filename, copy.data) == ("copy.md", SPECIFICATION.with_name("README.md").read_bytes())
    assert fake.violations == []


async def test_what_happens_in_a_hidden_channel_is_not_heard_and_not_writable(
    fake: FakeDiscord, client: Listener
) -> None:
    secret = await fake.text_channel("board", private_to=[fake.role("board")])
    await fake.take_permission("view_channel", secret)
    chair = fake.person("chair", roles=[fake.role("board")])
    await chair.says("unheard", channel=secret)
    await chair.says("heard", channel="general")

    assert (await client.hears()).content == "heard"
    with pytest.raises(PermissionError):
        await fake.person("alice").says("let me in", channel="board")
    with pytest.raises(discord.Forbidden) as refusal:
        await client.get_partial_messageable(secret.id).send("hello")
    assert refusal.value.code == 50001


async def test_a_permission_that_was_taken_is_missed_and_seen_to_be_missing(
    fake: FakeDiscord, client: Listener
) -> None:
    channel = await client.channel("general")
    updated = asyncio.create_task(client.wait_for("guild_channel_update", timeout=60))
    await asyncio.sleep(0)
    await fake.take_permission("send_messages", fake.channel("general"))
    await updated

    assert not channel.permissions_for(channel.guild.me).send_messages
    with pytest.raises(discord.Forbidden) as refusal:
        await channel.send("hello")
    assert refusal.value.code == 50013
    assert fake.violations == []


async def test_what_the_library_looks_up_is_there(fake: FakeDiscord, client: Listener) -> None:
    alice = fake.person("alice")
    said = [await alice.says(text) for text in ("one", "two", "three")]
    channel = await client.channel("general")
    guild = await client.fetch_guild(fake.guild_id)

    assert [message.content async for message in channel.history(limit=2)] == ["three", "two"]
    assert [m.content async for m in channel.history(after=said[0], oldest_first=True)] == ["two", "three"]
    assert (await channel.fetch_message(said[0].id)).content == "one"
    assert (await client.fetch_channel(channel.id)).id == channel.id
    assert (await guild.fetch_member(alice.id)).name == "alice"
    assert (await channel.guild.query_members("ali"))[0].id == alice.id
    assert {role.name for role in await guild.fetch_roles()} >= {"@everyone", "footnote"}
    assert await client.tree.fetch_commands() == []
    assert (await client.application_info()).flags.gateway_message_content_limited
    assert fake.violations == []


async def test_the_bot_writes_directly_and_reacts(fake: FakeDiscord, client: Listener) -> None:
    alice = fake.person("alice")
    said = await alice.says("hello")
    heard = await client.hears()
    async with heard.channel.typing():
        await heard.add_reaction("👀")
    await (await client.fetch_user(alice.id)).send("psst")

    assert said.reactions == {"👀": [fake.me]}
    assert fake.is_typing_in(said.channel)
    assert [message.text for message in fake.visible(alice.dm_channel)] == ["psst"]
    await heard.remove_reaction("👀", discord.Object(fake.me.id))
    assert fake.violations == []


async def test_rights_given_later_are_known_to_the_bot(fake: FakeDiscord, client: Listener) -> None:
    await fake.person("mia", permissions=["manage_guild"]).says("hello")

    author = (await client.hears()).author
    assert isinstance(author, discord.Member)
    assert author.guild_permissions.manage_guild
    assert not author.guild_permissions.administrator


# ---- Threads and forums


async def test_a_thread_started_on_a_message_carries_the_conversation(fake: FakeDiscord, client: Listener) -> None:
    alice = fake.person("alice")
    asked = await alice.says("<@bot> refunds?")
    thread = await (await client.hears()).create_thread(name="Refunds")
    await thread.send("Thirty days.")
    assert (await fake.reply_to(asked, settle=0.02)).channel.name == "Refunds"

    await alice.says("and abroad?", thread=asked)
    heard = await client.hears()
    assert isinstance(heard.channel, discord.Thread)
    assert heard.channel.id == asked.id
    with pytest.raises(discord.HTTPException, match="160004"):
        await (await client.channel("general")).get_partial_message(asked.id).create_thread(name="x")
    assert fake.violations == []


async def test_an_archived_thread_refuses_edits_and_reopens_on_a_message(fake: FakeDiscord, client: Listener) -> None:
    alice = fake.person("alice")
    asked = await alice.says("<@bot> refunds?")
    thread = await (await client.hears()).create_thread(name="Refunds")
    answer = await thread.send("Thirty days.")
    assert asked.thread is not None
    await fake.archive(asked.thread)

    with pytest.raises(discord.HTTPException, match="50083"):
        await answer.edit(content="Forty days.")
    await alice.says("still there?", thread=asked)

    assert (await client.hears()).content == "still there?"
    assert not asked.thread.archived


async def test_a_forum_post_is_a_thread_that_opens_with_its_message(fake: FakeDiscord, client: Listener) -> None:
    await fake.forum("questions")
    post = await fake.person("alice").posts_in_forum("questions", "Refunds", "How long, <@bot>?")

    heard = await client.hears()
    assert isinstance(heard.channel, discord.Thread)
    assert isinstance(heard.channel.parent, discord.ForumChannel)
    assert heard.id == heard.channel.id
    await heard.channel.send("Thirty days.")
    assert (await fake.reply_to(post, settle=0.02)).text == "Thirty days."


# ---- The gateway


async def test_a_resumed_session_replays_what_was_missed(fake: FakeDiscord, client: Listener) -> None:
    await fake.drop_socket()
    await fake.until(lambda: not fake.is_connected())
    await fake.person("alice").says("while you were away")

    assert (await client.hears()).content == "while you were away"
    assert (fake.identifies, fake.resumes) == (1, 1)


async def test_a_resumed_session_may_repeat_what_was_already_seen(fake: FakeDiscord, client: Listener) -> None:
    said = await fake.person("alice").says("once")
    first = await client.hears()
    fake.replay_on_resume(1)
    await fake.ask_to_reconnect()

    again = await client.hears()
    assert (first.id, again.id) == (said.id, said.id)
    assert fake.resumes == 1


async def test_an_invalid_session_makes_the_client_identify_anew(fake: FakeDiscord, client: Listener) -> None:
    await fake.invalidate_session()
    await fake.until(lambda: fake.identifies == 2)
    await fake.connected()
    await fake.person("alice").says("hello again")

    assert (await client.hears()).content == "hello again"


async def test_an_invalid_session_that_is_resumable_is_resumed(fake: FakeDiscord, client: Listener) -> None:
    await fake.invalidate_session(resumable=True)
    await fake.until(lambda: fake.resumes == 1)

    assert fake.identifies == 1


async def test_a_forgotten_session_cannot_be_resumed(fake: FakeDiscord, client: Listener) -> None:
    fake.forget_sessions()
    await fake.drop_socket(code=4000)
    await fake.until(lambda: fake.identifies == 2)

    assert fake.resumes == 0


async def test_withheld_acknowledgements_make_the_client_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeDiscord(heartbeat_seconds=0.05) as fake:
        monkeypatch.setattr("discord.http.Route.BASE", fake.api_url)
        monkeypatch.setattr("discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY", yarl.URL(fake.gateway_url))
        async with connected(fake, heartbeat_timeout=0.2):
            fake.withhold_acks()
            await fake.until(lambda: fake.resumes > 0)
            fake.withhold_acks(withheld=False)


async def test_a_disallowed_intent_closes_the_gateway(fake: FakeDiscord) -> None:
    fake.disallow_intent("message_content")
    listener = Listener()
    try:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await asyncio.wait_for(listener.start(fake.token), 60)
        assert listener.application is not None
        assert not listener.application.flags.gateway_message_content_limited
    finally:
        await listener.close()


async def test_without_the_content_intent_only_what_is_addressed_can_be_read(fake: FakeDiscord) -> None:
    async with connected(fake, content=False) as listener:
        alice = fake.person("alice")
        await alice.says("just talking", files=[("a.txt", b"a")])
        await alice.says("<@bot> to you")
        await alice.dm("privately")
        unread, addressed, private = [await listener.hears() for _ in range(3)]

    assert (unread.content, unread.attachments) == ("", [])
    assert addressed.content.endswith("to you")
    assert private.content == "privately"


async def test_the_gateway_speaks_plainly_to_who_asks_for_no_compression(fake: FakeDiscord) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(fake.gateway_url) as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json({"op": 1, "d": None})
        assert (await socket.receive_json())["op"] == 11
        await socket.send_json({"op": 2, "d": {"token": "wrong", "intents": 0, "properties": {}}})
        await socket.receive()
        assert socket.close_code == 4004


# ---- The limits


async def test_a_message_over_the_limit_is_refused_and_recorded(fake: FakeDiscord, client: Listener) -> None:
    channel = await client.channel("general")
    await channel.send("x" * 2_000)
    assert fake.violations == []

    with pytest.raises(discord.HTTPException) as refusal:
        await channel.send("x" * 2_001)
    assert (refusal.value.status, refusal.value.code) == (400, 50035)
    assert "2000 or fewer" in refusal.value.text
    assert len(fake.violations) == 1


async def test_the_same_enforced_nonce_returns_the_first_message(fake: FakeDiscord, client: Listener) -> None:
    channel = await client.channel("general")
    first = await channel.send("once", nonce="answer-1")
    second = await channel.send("once", nonce="answer-1")
    other = await channel.send("once", nonce="answer-2")

    assert first.id == second.id != other.id
    assert len(fake.visible("general")) == 2


async def test_embeds_count_together(fake: FakeDiscord, raw: Raw) -> None:
    half = {"description": "x" * 3_000}
    general = fake.channel("general")

    assert (await raw.post(general, embeds=[half, half]))[0] == 200
    refusal = await raw.refused(general, embeds=[half, half, {"footer": {"text": "x"}}])
    assert "6000" in str(refusal["errors"]["embeds"])


def button(custom_id: str, label: str = "Press") -> Json:
    return {"type": 2, "style": 1, "label": label, "custom_id": custom_id}


def row(*children: Json) -> Json:
    return {"type": 1, "components": list(children)}


@pytest.mark.parametrize(
    "components",
    [
        pytest.param([row(button(str(i))) for i in range(6)], id="six rows"),
        pytest.param([row(*[button(str(i)) for i in range(6)])], id="six buttons in a row"),
        pytest.param([row(button("same"), button("same"))], id="a custom id twice"),
        pytest.param([row(button("x" * 101))], id="a long custom id"),
        pytest.param([row(button(""))], id="an empty custom id"),
        pytest.param([row(button("a", "x" * 81))], id="a long label"),
        pytest.param([row(button("a", ""))], id="no label"),
        pytest.param([{"type": 10, "content": "text"}], id="a text display without the layout flag"),
    ],
)
async def test_a_layout_of_buttons_has_limits(fake: FakeDiscord, raw: Raw, components: list[Json]) -> None:
    await raw.refused(fake.channel("general"), content="choose", components=components)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"components": [{"type": 10, "content": "x" * 2_001}] * 2}, id="over 4,000 characters"),
        pytest.param(
            {"components": [{"type": 17, "components": [{"type": 10, "content": "x"}] * 40}]}, id="over 40 in all"
        ),
        pytest.param({"components": [{"type": 10, "content": "x"}], "content": "y"}, id="with content"),
        pytest.param({"components": [{"type": 10, "content": "x"}], "embeds": [{"title": "y"}]}, id="with an embed"),
    ],
)
async def test_a_layout_view_has_limits(fake: FakeDiscord, raw: Raw, body: Json) -> None:
    await raw.refused(fake.channel("general"), flags=LAYOUT, **body)


async def test_a_layout_is_read_as_text_and_cannot_be_taken_off_again(fake: FakeDiscord, raw: Raw) -> None:
    general = fake.channel("general")
    inner = [{"type": 10, "content": "Thirty days [1]."}, row(button("more", "Show quotes"))]
    _, posted = await raw.post(general, flags=LAYOUT, components=[{"type": 17, "components": inner}])
    shown = fake.visible("general")[0]
    assert shown.text == "Thirty days [1]."
    assert shown.buttons() == ["Show quotes"]

    path = f"/channels/{general.id}/messages/{posted['id']}"
    edit = {"allowed_mentions": NOBODY, "flags": 0, "content": "plain", "components": []}
    assert (await raw.call("PATCH", path, edit))[0] == 400


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param({"name": "Ask", "description": "x"}, id="capitals"),
        pytest.param({"name": "a" * 33, "description": "x"}, id="a long name"),
        pytest.param({"name": "ask", "description": ""}, id="no description"),
        pytest.param({"name": "ask", "description": "x" * 101}, id="a long description"),
        pytest.param({"name": "Answer", "type": 3, "description": "x"}, id="a described menu entry"),
    ],
)
async def test_a_command_has_limits(fake: FakeDiscord, raw: Raw, definition: Json) -> None:
    path = f"/applications/{fake.me.id}/commands"

    assert (await raw.call("PUT", path, [definition]))[0] == 400
    assert (await raw.call("PUT", path, [{"name": "ask", "description": "Ask"}]))[0] == 200
    assert [sync.names for sync in fake.commands.syncs] == [("ask",)]
    assert len(fake.violations) == 1


@pytest.mark.parametrize(
    ("allowed", "fine"),
    [(NOBODY, True), (None, False), ({"parse": ["users"]}, False), ({"parse": [], "replied_user": True}, False)],
)
async def test_mentions_must_be_off_in_every_message(
    fake: FakeDiscord, raw: Raw, allowed: Json | None, *, fine: bool
) -> None:
    status, _ = await raw.post(fake.channel("general"), content="hello", allowed_mentions=allowed)

    assert (status == 200) is fine
    assert (fake.violations == []) is fine


async def test_only_the_permitted_role_may_be_pinged_and_only_when_it_is_mentioned(fake: FakeDiscord, raw: Raw) -> None:
    support, sales = fake.role("support", mentionable=True), fake.role("sales", mentionable=True)
    fake.allow_pings_of(support)
    general, alice = fake.channel("general"), fake.person("alice")
    handoff = {"parse": [], "roles": [str(support.id)]}
    text = f"<@&{support.id}> please help {alice.mention}; not <@&{sales.id}>, @everyone"

    await raw.post(general, content="nobody here", allowed_mentions=handoff)
    assert fake.pings() == []
    await raw.post(general, content=text, allowed_mentions=handoff)
    assert [ping.who for ping in fake.pings()] == ["support"]
    await raw.refused(general, content=text, allowed_mentions={"parse": [], "roles": [str(sales.id)]})


async def test_what_the_description_does_not_know_is_a_violation(fake: FakeDiscord, raw: Raw) -> None:
    general = fake.channel("general")

    assert (await raw.call("GET", "/channels/1/nonsense"))[0] == 404
    assert (await raw.call("PUT", f"/channels/{general.id}/messages"))[0] == 404
    assert (await raw.call("GET", f"/channels/{general.id}/messages?newest=1"))[0] == 400
    assert (await raw.post(general, content=["not", "text"]))[0] == 400
    assert len(fake.violations) == 4


async def test_a_wrong_token_is_refused(fake: FakeDiscord) -> None:
    listener = Listener()
    try:
        with pytest.raises(discord.LoginFailure):
            await listener.login("wrong")
    finally:
        await listener.close()


# ---- Interactions


async def test_a_slash_command_answers_only_the_one_who_asked(fake: FakeDiscord, client: Listener) -> None:
    @client.tree.command(description="Ask")
    async def ask(interaction: discord.Interaction, question: str, who: discord.Member | None = None) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await interaction.edit_original_response(content=f"{question} {who}")
        await interaction.followup.send("And more.", ephemeral=True)

    await client.tree.sync()
    alice, bob = fake.person("alice"), fake.person("bob")
    asked = await alice.slash("ask", question="refunds?", who=bob, channel="general")

    assert (await fake.reply_to(asked, settle=0.05)).text == "And more."
    assert asked.text == "refunds? bob\nAnd more."
    assert asked.private
    assert [(await alice.next_private()).text for _ in range(2)] == ["refunds? bob", "And more."]
    assert len(alice.sees("general")) == 2
    assert bob.sees("general") == fake.visible("general") == []
    assert [sync.names for sync in fake.commands.syncs] == [("ask",)]
    with pytest.raises(LookupError, match="needs the option"):
        await alice.slash("ask")
    assert fake.violations == []


async def test_an_expired_token_no_longer_edits(fake: FakeDiscord, client: Listener) -> None:
    outcome: asyncio.Queue[discord.HTTPException] = asyncio.Queue()

    @client.tree.command(description="Ask")
    async def ask(interaction: discord.Interaction) -> None:
        await interaction.response.defer(thinking=True)
        fake.expire_interaction_tokens()
        with pytest.raises(discord.HTTPException) as refusal:
            await interaction.edit_original_response(content="too late")
        outcome.put_nowait(refusal.value)

    await client.tree.sync()
    asked = await fake.person("alice").slash("ask")

    assert (await asyncio.wait_for(outcome.get(), 60)).code == 50027
    assert asked.messages[0].loading


async def test_a_missed_acknowledgement_is_an_unknown_interaction(fake: FakeDiscord, client: Listener) -> None:
    outcome: asyncio.Queue[discord.HTTPException] = asyncio.Queue()

    @client.tree.command(description="Ask")
    async def ask(interaction: discord.Interaction) -> None:
        with pytest.raises(discord.NotFound) as refusal:
            await interaction.response.send_message("too late")
        outcome.put_nowait(refusal.value)

    await client.tree.sync()
    fake.miss_acks()
    asked = await fake.person("alice").slash("ask")

    assert asked.failed
    assert (await asyncio.wait_for(outcome.get(), 60)).code == 10062


async def test_suggestions_come_while_typing(fake: FakeDiscord, client: Listener) -> None:
    group = app_commands.Group(name="kb", description="Knowledge bases")

    @group.command(description="Ingest")
    async def ingest(interaction: discord.Interaction, kb: str, file: discord.Attachment) -> None:
        await interaction.response.send_message(f"{kb}: {(await file.read()).decode()}")

    @ingest.autocomplete("kb")
    async def suggest(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=n, value=n) for n in ("handbook", "policies") if typed in n]

    client.tree.add_command(group)
    await client.tree.sync()
    alice = fake.person("alice")

    assert [c.value for c in await alice.autocompletes("kb ingest", option="kb", typed="ha")] == ["handbook"]
    done = await alice.slash("kb ingest", kb="handbook", file=("a.txt", b"hello"))
    assert done.reply.text == "handbook: hello"
    assert fake.violations == []


async def test_a_command_for_admins_is_hidden_until_the_server_overrides_it(
    fake: FakeDiscord, client: Listener
) -> None:
    @client.tree.command(description="Settings")
    @app_commands.default_permissions(manage_guild=True)
    @app_commands.guild_only()
    async def settings(interaction: discord.Interaction) -> None:
        await interaction.response.send_message(str(interaction.permissions.manage_guild), ephemeral=True)

    await client.tree.sync(guild=discord.Object(fake.guild_id))
    client.tree.copy_global_to(guild=discord.Object(fake.guild_id))
    await client.tree.sync(guild=discord.Object(fake.guild_id))
    alice, admin = fake.person("alice"), fake.person("root", admin=True)
    manager = fake.person("mia", permissions=["manage_guild"])

    assert (await admin.slash("settings")).text == (await manager.slash("settings")).text == "True"
    with pytest.raises(PermissionError, match="hidden"):
        await alice.slash("settings")
    fake.commands_shown_to_all = True
    assert (await alice.slash("settings")).text == "False"
    with pytest.raises(LookupError, match="not offered"):
        await alice.slash("settings", channel=alice.dm_channel)


async def test_a_menu_entry_is_given_the_message(fake: FakeDiscord, client: Listener) -> None:
    @client.tree.context_menu(name="Answer this")
    async def answer(interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_message(f"{message.author.name} said {message.content}")

    await client.tree.sync()
    said = await fake.person("alice").says("hm?")

    assert (await fake.person("bob").context_menu("Answer this", said)).reply.text == "alice said hm?"


class Feedback(discord.ui.Modal, title="What was wrong?"):
    reason: discord.ui.Label[Any] = discord.ui.Label(text="Reason", component=discord.ui.TextInput(max_length=20))
    proof: discord.ui.Label[Any] = discord.ui.Label(
        text="Proof", component=discord.ui.FileUpload(max_values=2, required=False)
    )

    async def on_submit(self, interaction: discord.Interaction) -> None:
        assert isinstance(self.reason.component, discord.ui.TextInput)
        assert isinstance(self.proof.component, discord.ui.FileUpload)
        files = [(await file.read()).decode() for file in self.proof.component.values]
        await interaction.response.edit_message(content=f"{self.reason.component.value} {files}", view=None)


class Rate(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"rate:(?P<answer>\d+)"):
    def __init__(self, answer: int) -> None:
        super().__init__(discord.ui.Button(label="Not helpful", custom_id=f"rate:{answer}"))

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(int(match["answer"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Feedback())


async def test_a_button_opens_a_form_whose_values_and_files_arrive(fake: FakeDiscord, client: Listener) -> None:
    client.add_dynamic_items(Rate)
    view = discord.ui.View(timeout=None)
    view.add_item(Rate(7))
    await (await client.channel("general")).send("Thirty days.", view=view)
    alice, (answer,) = fake.person("alice"), fake.visible("general")

    pressed = await alice.clicks(answer, "Not helpful")
    assert pressed.modal is not None
    assert list(pressed.modal.fields()) == ["Reason", "Proof"]
    with pytest.raises(ValueError, match="required"):
        await alice.submits(pressed, {})
    with pytest.raises(ValueError, match="21 characters"):
        await alice.submits(pressed, {"Reason": "x" * 21})
    await alice.submits(pressed, {"Reason": "outdated", "Proof": [("new.txt", b"forty days")]})

    await fake.until(lambda: answer.text == "outdated ['forty days']")
    assert answer.buttons() == []
    with pytest.raises(LookupError):
        await alice.clicks(answer, "Not helpful")
    assert (await alice.clicks(answer, "Not helpful", stale=True)).modal is alice.modal is not None
    assert fake.violations == []


async def test_an_interaction_is_answered_once_and_only_in_a_form_that_fits(
    fake: FakeDiscord, client: Listener, raw: Raw
) -> None:
    callbacks: list[str] = []

    @client.event
    async def on_interaction(interaction: discord.Interaction) -> None:
        callbacks.append(f"/interactions/{interaction.id}/{interaction.token}/callback")
        form = {"custom_id": "f", "title": "x" * 46, "components": [{"type": 10, "content": "x"}]}
        answers = [{"type": 8, "data": {"choices": []}}, {"type": 9, "data": form}, {"type": 6}, {"type": 6}]
        statuses = [(await raw.call("POST", callbacks[0], answer))[0] for answer in answers]
        assert statuses == [400, 400, 204, 400]

    _, posted = await raw.post(fake.channel("general"), content="choose", components=[row(button("b"))])
    message = fake.channel("general").messages[int(posted["id"])]
    pressed = await fake.person("alice").clicks(message, "Press")

    await fake.until(lambda: len(fake.violations) == 3)
    assert pressed.ack_type == 6


# ---- Bad days


async def test_a_rate_limit_is_waited_for(fake: FakeDiscord, client: Listener) -> None:
    channel = await client.channel("general")
    for scope in ("user", "global", "shared"):
        fake.limit_rate("POST", MESSAGES, retry_after=0.01, scope=scope)
        await channel.send(scope)

    assert [message.text for message in fake.visible("general")] == ["user", "global", "shared"]
    assert [call.status for call in fake.calls("POST", MESSAGES)] == [429, 200] * 3


async def test_an_edit_limit_is_announced_before_it_bites(fake: FakeDiscord, client: Listener, raw: Raw) -> None:
    fake.enforce_edit_limit(2, 0.2)
    message = await (await client.channel("general")).send("0")
    for number in range(1, 6):
        await message.edit(content=str(number))
    assert fake.faults.limited == []

    path = f"/channels/{message.channel.id}/messages/{message.id}"
    body = {"content": "hasty", "allowed_mentions": NOBODY}
    fake.enforce_edit_limit(2, 60)
    assert [(await raw.call("PATCH", path, body))[0] for _ in range(4)] == [200, 200, 429, 429]


async def test_a_lost_answer_did_its_work_and_a_nonce_finds_it(fake: FakeDiscord, raw: Raw) -> None:
    general = fake.channel("general")
    fake.break_down("POST", MESSAGES, status=502, done=True)
    body = {"content": "once", "nonce": "n", "enforce_nonce": True}

    assert (await raw.post(general, **body))[0] == 502
    assert len(fake.visible(general)) == 1
    assert (await raw.post(general, **body))[0] == 200
    assert [message.text for message in fake.visible(general)] == ["once"]


async def test_a_held_request_waits_until_it_is_released(fake: FakeDiscord, client: Listener) -> None:
    hold = fake.hold("POST", MESSAGES)
    channel = await client.channel("general")
    sending = asyncio.create_task(channel.send("slowly"))
    await hold.reached()
    assert fake.visible("general") == []

    hold.release()
    await sending
    assert fake.visible("general")[0].text == "slowly"


async def test_a_refusal_on_demand_is_refused_and_no_violation(fake: FakeDiscord, client: Listener) -> None:
    fake.refuse("POST", "/channels/{channel_id}/messages/{message_id}/threads")
    await fake.person("alice").says("<@bot> refunds?")

    with pytest.raises(discord.Forbidden):
        await (await client.hears()).create_thread(name="Refunds")
    assert fake.violations == []
