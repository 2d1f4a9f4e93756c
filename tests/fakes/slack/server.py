"""The fake Slack itself: one workspace behind a real HTTP and WebSocket server on a local port.

    async with FakeSlack() as slack:
        ...  # start the bot with SLACK_API_URL=slack.api_url and the tokens of slack.environment()
        question = await slack.person("alice").says("<@bot> how long is a refund?", channel="general")
        answer = await slack.reply_to(question)
        assert slack.violations == []

What people do is in `people`; how the app is told is in `delivery`; what the app may call is in `methods_*`.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from tests.fakes.slack import events, forms
from tests.fakes.slack.delivery import Courier, Delivery
from tests.fakes.slack.faults import Faults, Limits
from tests.fakes.slack.http_push import HttpPush
from tests.fakes.slack.methods_chat import publish
from tests.fakes.slack.people import OtherBot, Person
from tests.fakes.slack.rendering import pings_in
from tests.fakes.slack.sockets import Sockets
from tests.fakes.slack.specs import load_specs
from tests.fakes.slack.web_api import build_app
from tests.fakes.slack.world import Channel, File, Message, Ping, UserGroup, View, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.fakes.slack.methods import Call
    from tests.fakes.slack.rendering import PingKind

DEFAULT_SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands",
    "files:read", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
    "mpim:write", "reactions:write", "team:read", "usergroups:read", "users:read",
})  # fmt: skip

_RETRY_DELAYS = (0.0, 60.0, 300.0)  # at once, after a minute, after five: the Events API's schedule


class FakeSlack:
    """One workspace and the server that speaks for it.

    Without `request_url` the app is reached by Socket Mode, with it by signed HTTP requests; the attribute may be
    set later. `agent` False is an app that was never declared as an agent. `deadline` and `retry_delays` (seconds)
    are Slack's own unless a test shortens them; `trigger_lifetime` is eight times Slack's, because a busy machine is no
    late bot. `echo` also tells the app of its own messages, as Slack does.
    """

    def __init__(
        self,
        *,
        people: Sequence[str] = ("alice", "bob"),
        admins: Sequence[str] = ("ada",),
        channels: Sequence[str] = ("general",),
        request_url: str | None = None,
        agent: bool = True,
        scopes: Iterable[str] = DEFAULT_SCOPES,
        deadline: float = 3.0,
        retry_delays: Sequence[float] = _RETRY_DELAYS,
        trigger_lifetime: float = 24.0,
        echo: bool = True,
    ) -> None:
        self.bot_token = "xoxb-0000000000-fake-bot-token"
        self.app_token = "xapp-1-A0FOOTNOTE-fake-app-token"
        self.signing_secret = "8f742231b10e8888abcd99yyyzzz85a5"
        self.scopes: set[str] = set(scopes)
        self.agent = agent
        self.trigger_lifetime = trigger_lifetime
        self.specs = load_specs()
        self.world = World()
        self.violations: list[str] = []
        self.calls: list[Call] = []
        self.downloads: list[str] = []
        self.serves_sign_in_page = False
        self.sockets = Sockets(self.world, self.violate)
        self.http = HttpPush(self.signing_secret)
        self.courier = Courier(self.world, deadline=deadline, retry_delays=retry_delays)
        self.faults = Faults(self.courier)
        self.limits = Limits()
        self._allowed_groups: set[str] = set()
        self._echo = echo
        self._runner: web.AppRunner | None = None
        self._people: dict[str, Person] = {}
        self.port = 0
        self.world.watchers.append(self._check_for_pings)
        self._furnish(people, admins, channels)
        self.request_url = request_url

    # --- opening and closing

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(build_app(self), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.world.origin = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.courier.close()
        await self.sockets.close()
        await self.http.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        """What SLACK_API_URL is set to; slack_sdk's `base_url`."""
        return f"{self.world.origin}/api/"

    @property
    def request_url(self) -> str | None:
        """Where the app listens in HTTP mode; None for Socket Mode."""
        return self.http.url

    @request_url.setter
    def request_url(self, url: str | None) -> None:
        self.http.url = url
        self.courier.road = self.sockets if url is None else self.http

    def environment(self) -> dict[str, str]:
        """The environment a bot under test is started with; HTTP mode leaves the app token out."""
        shared = {"SLACK_API_URL": self.api_url, "SLACK_BOT_TOKEN": self.bot_token}
        if self.request_url is None:
            return shared | {"SLACK_APP_TOKEN": self.app_token}
        return shared | {"SLACK_SIGNING_SECRET": self.signing_secret}

    def _furnish(self, people: Sequence[str], admins: Sequence[str], channels: Sequence[str]) -> None:
        for name in people:
            self.world.add_user(name)
        for name in admins:
            self.world.add_user(name, is_admin=True)
        for name in channels:
            self.world.add_channel(name, kind="public", members=list(self.world.users))

    # --- who and where

    @property
    def team_id(self) -> str:
        """The workspace's id."""
        return self.world.team_id

    @property
    def bot_user_id(self) -> str:
        """The user id of the bot under test."""
        return self.world.bot.id

    def person(self, name: str, *, admin: bool = False) -> Person:
        """A person by name; whoever is new is made and joins every public channel."""
        if name not in self._people:
            user = self.world.user_named(name)
            if user is None:
                user = self.world.add_user(name, is_admin=admin)
                for channel in self.world.channels.values():
                    if channel.kind == "public":
                        channel.members.append(user.id)
            self._people[name] = Person(self, user)
        return self._people[name]

    def bot(self, name: str) -> OtherBot:
        """Another app's bot, in every public channel."""
        user = self.world.user_named(name) or self.world.add_user(name, is_bot=True)
        for channel in self.world.channels.values():
            if channel.kind == "public" and user.id not in channel.members:
                channel.members.append(user.id)
        return OtherBot(self, user)

    def channel(
        self, name: str, *, private: bool = False, members: Sequence[str] | None = None, bot: bool = True
    ) -> Channel:
        """A channel by name or id; a new one is made with these members (everybody) and the bot, unless not."""
        found = self.world.channel_named(name)
        if found is not None:
            return found
        ids = [user.id for user in self.world.users.values() if not user.is_bot]
        if members is not None:
            ids = [self.person(one).user.id for one in members]
        return self.world.add_channel(
            name, kind="private" if private else "public", members=ids + ([self.bot_user_id] if bot else [])
        )

    def usergroup(self, handle: str, members: Sequence[str] = ()) -> UserGroup:
        """A user group, new or found by its handle."""
        for group in self.world.groups.values():
            if group.handle == handle:
                return group
        ids = [self.person(one).user.id for one in members]
        group = UserGroup(self.world.new_id("S", handle), handle, handle.title(), ids)
        self.world.groups[group.id] = group
        return group

    # --- what is to be seen

    def visible(self, channel: str | Channel, thread: str | Message | None = None) -> list[Message]:
        """The messages everybody in a channel sees, old to new; of one thread, its parent included, if given."""
        room = channel if isinstance(channel, Channel) else self.channel(channel)
        found = [one for one in room.messages if one.visible and not one.ephemeral]
        if thread is None:
            return found
        root = thread.root if isinstance(thread, Message) else thread
        return [one for one in found if one.root == root]

    def answers_to(self, message: Message) -> list[Message]:
        """The bot's visible messages after this one: in its thread, or beside it in a direct message."""
        room = message.channel
        near = room.thread(message.root)
        if room.kind == "im":
            near = [one for one in self.visible(room) if one.root == message.root or not one.is_reply]
        return [one for one in near if one.bot_id == self.world.bot.bot_id and one.ts > message.ts]

    async def reply_to(
        self,
        message: Message,
        timeout: float = 60.0,
        *,
        settle: float = 0.5,
        until: Callable[[Message], object] | None = None,
    ) -> Message:
        """The bot's last visible message in answer to this one, once nothing about it moves any more.

        It has settled when it streams no more, the session there is not `processing`, no "is thinking..." line
        stands, `until` (if given) is true of it and it did not change for `settle` seconds. AssertionError, with
        what is to be seen, when that does not come about within `timeout` seconds.
        """
        end = time.monotonic() + timeout
        while True:
            answers = self.answers_to(message)
            still = self._unsettled(answers, message, settle, until)
            if still is None:
                return answers[-1]
            now = time.monotonic()
            assert now < end, f"no settled reply after {timeout:g} s: {still}\n{self.describe(message)}"
            # Not at every change: a thousand waiting tests' lines would wake each other a thousand times.
            await asyncio.sleep(min(end - now, max(min(settle / 4, 0.1), 0.01)))

    async def until(
        self,
        happened: Callable[[], object],
        timeout: float = 60.0,
        *,
        what: str = "what was waited for",
    ) -> None:
        """Return once this is true of the world; AssertionError after `timeout` seconds."""
        end = time.monotonic() + timeout
        while not happened():
            assert time.monotonic() < end, f"{what} did not happen within {timeout:g} s; violations: {self.violations}"
            await self.world.next_change(min(0.05, end - time.monotonic()))

    def describe(self, message: Message) -> str:
        """The thread as it stands, for a failing test's message."""
        lines = [
            f"  {self.world.users[one.user].name} [{one.stream}]: {one.markdown[:300]!r}"
            for one in self.visible(message.channel, message)
        ]
        calls = [f"{one.method} -> {one.error or 'ok'}" for one in self.calls[-8:]]
        return "\n".join(["thread:", *lines, f"last calls: {calls}", f"violations: {self.violations}"])

    def _unsettled(
        self, answers: list[Message], asked: Message, settle: float, until: Callable[[Message], object] | None
    ) -> str | None:
        key = (asked.channel.id, asked.root)
        if not answers:
            return "there is no reply"
        checks = {
            "a stream is still open": any(one.streaming for one in answers),
            "the session is still processing": self.world.session_status.get(key) == "processing",
            "a status line still stands": key in self.world.assistant_status,
            "the condition is not met": until is not None and not until(answers[-1]),
            "it is still changing": time.monotonic() - max(one.changed_at for one in answers) < settle,
        }
        return next((what for what, holds in checks.items() if holds), None)

    # --- what must not be

    def violate(self, what: str) -> None:
        """Record that the app broke a rule. Tests assert that `violations` is empty."""
        self.violations.append(what)

    def pings(self, kind: PingKind | None = None) -> list[Ping]:
        """Everybody the bot ever called, in any state of any of its messages: broadcasts, groups and people."""
        found: dict[tuple[Any, ...], Ping] = {}
        for message in self.world.all_messages():
            if message.bot_id != self.world.bot.bot_id:
                continue
            for number, state in enumerate(message.history):
                for what, target in pings_in(state):
                    key = (what, target, message.channel.id, message.ts)
                    found.setdefault(key, Ping(what, target, message, number))
        return [one for one in found.values() if kind is None or one.kind == kind]

    def allow_pings_of(self, group: UserGroup) -> None:
        """Let the bot call this group, for instance to hand a question over."""
        self._allowed_groups.add(group.id)

    def unfurling(self) -> list[Message]:
        """The bot's posts that did not switch off link and media previews."""
        return [one for one in self.world.all_messages() if one.bot_id == self.world.bot.bot_id and one.unfurls]

    def _check_for_pings(self, message: Message) -> None:
        """The one place where outgoing text is checked for live broadcasts and group calls."""
        if message.bot_id != self.world.bot.bot_id or not message.history:
            return
        for kind, target in pings_in(message.history[-1]):
            if kind == "broadcast" or (kind == "group" and target not in self._allowed_groups):
                where = f"{message.channel.name} at {message.ts}"
                self.violate(f"a live {kind} ping of {target!r} was visible in {where}")

    # --- the record

    def calls_of(self, method: str) -> list[Call]:
        """The calls of one method, in order."""
        return [one for one in self.calls if one.method == method]

    @property
    def deliveries(self) -> list[Delivery]:
        """Everything the app was to learn, with each attempt."""
        return self.courier.deliveries

    def deliveries_of(self, message: Message, event_type: str | None = None) -> list[Delivery]:
        """The events of one message."""
        found = [one for one in self.deliveries if one.message is message]
        return [one for one in found if event_type in (None, one.event_type)]

    async def acknowledged(self, message: Message, timeout: float = 60.0) -> list[Delivery]:
        """Wait until every event of this message was acknowledged."""
        found = self.deliveries_of(message)
        await self.until(lambda: all(one.acknowledged for one in found), timeout, what="an acknowledgement")
        return found

    # --- what the handlers need

    def tell_posted(self, message: Message) -> None:
        """Bring the app its own message, as Slack does."""
        if self._echo and self.bot_user_id in message.channel.members:
            self.courier.send("events_api", events.wrap(self.world, events.message(message)))

    def tell_changed(self, message: Message, before: dict[str, Any]) -> None:
        """Bring the app the news that its own message changed."""
        if self._echo and not message.ephemeral and self.bot_user_id in message.channel.members:
            self.courier.send("events_api", events.wrap(self.world, events.message_changed(message, before)))

    def take_away(self, message: Message, told_for: Message | None = None) -> None:
        """Delete a message. The parent of a thread leaves a tombstone, and is reported as a change."""
        before = message.to_json()
        replies = [one for one in message.channel.thread(message.ts) if one is not message]
        if replies and not message.is_reply:
            message.tombstone, message.text = True, "This message was deleted."
            message.blocks, message.files, message.stream_text = [], [], ""
            event = events.message_changed(message, before)
        else:
            message.deleted = True
            event = events.message_deleted(message, before)
        message.record("deleted")
        own = message.bot_id == self.world.bot.bot_id
        if not message.ephemeral and self.bot_user_id in message.channel.members and (self._echo or not own):
            self.courier.send("events_api", events.wrap(self.world, event), told_for)

    def change_id(self, channel: Channel) -> None:
        """Give a channel another id for good, as sharing a private one with another workspace does; tell the app.

        https://docs.slack.dev/reference/events/channel_id_changed
        """
        before, channel.id = channel.id, self.world.new_id("C", channel.name)
        self.world.channels[channel.id] = self.world.channels.pop(before)
        self.courier.send(
            "events_api", events.wrap(self.world, events.channel_id_changed(self.world, before, channel.id))
        )

    def share_as_bot(self, channel: Channel, files: list[File], args: dict[str, Any]) -> None:
        """Put uploaded files into a channel as the bot's message."""
        bot = self.world.bot
        text, root = str(args.get("initial_comment") or ""), args.get("thread_ts")
        message = Message(channel, self.world.new_ts(), bot.id, text=text, thread_ts=root, bot_id=bot.bot_id)
        message.files = files
        publish(self, message)

    def set_session(self, key: tuple[str, str], status: str) -> None:
        """The state of an agent session, with a log of all states."""
        self.world.session_status[key] = status
        self.world.session_log.append((*key, status))
        self.world.note_change()

    def stack_of(self, user_id: str) -> list[View]:
        """The open modals of a person, the lowest first."""
        return [one for one in self.world.views.values() if one.user == user_id and one.open and self._is_modal(one)]

    def form_of(self, view: View) -> dict[str, Any]:
        """`state.values` of a view."""
        return forms.values_of(view.blocks, view.typed)

    @staticmethod
    def _is_modal(view: View) -> bool:
        return view.payload.get("type") == "modal"
