"""The workspace as it stands: people, channels, messages with every state they went through, views, files.

This is the model only. What the Web API answers is left to `methods_*`, what the bot is told to `delivery`,
what a person does to `people`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import mimetypes
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.fakes.slack.rendering import PingKind, State, buttons_of, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ChannelKind = Literal["public", "private", "im", "mpim"]
StreamState = Literal["none", "streaming", "done", "expired", "stopped_by_user"]

_CHANNEL_TYPES: dict[ChannelKind, str] = {"public": "channel", "private": "group", "im": "im", "mpim": "mpim"}
_HISTORY_BOUND = 20_000  # states of one message; a stream that goes on longer is a bug in itself


@dataclass
class User:
    """A person or a bot user."""

    id: str
    name: str
    real_name: str
    is_admin: bool = False
    is_bot: bool = False
    bot_id: str | None = None
    tz: str = "Europe/London"
    deleted: bool = False
    is_guest: bool = False
    home_team: str = ""  # of somebody from another workspace, who writes through a shared channel
    org_teams: tuple[str, ...] = ()  # the workspaces of an organization that they are a member of
    email_confirmed: bool = True

    def to_json(self, team_id: str) -> dict[str, Any]:
        """The user object of users.info."""
        profile = {"real_name": self.real_name, "display_name": self.name, "email": f"{self.name}@example.com"}
        if self.bot_id:
            profile["bot_id"] = self.bot_id
        return {
            "id": self.id, "team_id": self.home_team or team_id, "name": self.name, "deleted": self.deleted,
            "real_name": self.real_name, "tz": self.tz, "tz_label": self.tz, "tz_offset": 0, "profile": profile,
            "is_admin": self.is_admin, "is_owner": False, "is_primary_owner": False, "is_restricted": self.is_guest,
            "is_email_confirmed": self.email_confirmed,
            "is_ultra_restricted": False, "is_bot": self.is_bot, "is_app_user": False, "updated": 1_700_000_000,
        } | ({"enterprise_user": {"teams": list(self.org_teams)}} if self.org_teams else {})  # fmt: skip


@dataclass
class UserGroup:
    """A user group, such as @support."""

    id: str
    handle: str
    name: str
    members: list[str]


@dataclass
class File:
    """A file a person shared or the bot uploaded."""

    id: str
    name: str
    user: str
    content: bytes
    origin: str
    created: int
    canvas: bool = False
    claimed_size: int | None = None
    shared_in: list[Channel] = field(default_factory=list, repr=False)

    def share(self, channel: Channel) -> None:
        """Put it into a channel, where its members may read it."""
        if channel not in self.shared_in:
            self.shared_in.append(channel)

    @property
    def public(self) -> bool:
        """Whether everybody of the workspace may read it."""
        return any(one.kind == "public" for one in self.shared_in)

    def link(self, domain: str, team: str) -> str:
        """Its address for people."""
        path = f"docs/{team}/{self.id}" if self.canvas else f"files/{self.user}/{self.id}/{self.name}"
        return f"https://{domain}.slack.com/{path}"

    def to_json(self) -> dict[str, Any]:
        """The file object that events and files.info carry; of a canvas, as people saw it come."""
        kind = self.name.rpartition(".")[2].lower() or "text"
        media = mimetypes.guess_type(self.name)[0] or "application/octet-stream"
        url = f"{self.origin}/files-pri/{self.id}/{self.name}"
        return {
            "id": self.id, "created": self.created, "timestamp": self.created, "name": self.name, "title": self.name,
            "mimetype": "application/vnd.slack-docs" if self.canvas else media,
            "filetype": "quip" if self.canvas else {"txt": "text"}.get(kind, kind),
            "pretty_type": "Canvas" if self.canvas else kind.upper(), "user": self.user,
            "editable": self.canvas, "mode": "quip" if self.canvas else "hosted",
            "size": len(self.content) if self.claimed_size is None else self.claimed_size,
            "is_external": False, "is_public": self.public,
            "channels": [one.id for one in self.shared_in if one.kind == "public"],
            "groups": [one.id for one in self.shared_in if one.kind in {"private", "mpim"}],
            "ims": [one.id for one in self.shared_in if one.kind == "im"],
            "url_private": url, "url_private_download": f"{url}?download=1",
            "permalink": f"{self.origin}/files/{self.user}/{self.id}/{self.name}", "file_access": "visible",
        }  # fmt: skip


@dataclass(eq=False)
class Message:
    """One message in all its states. `ts` is its id within its channel, as in Slack.

    `text` is the notification text, `blocks` what is laid out, `stream_text` what a stream has shown so far and
    `tasks` the task cards of a stream by their id.
    """

    channel: Channel = field(repr=False)
    ts: str
    user: str
    text: str = ""
    thread_ts: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    blocks: list[dict[str, Any]] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    visible_to: str | None = None
    edited: dict[str, str] | None = None
    deleted: bool = False
    tombstone: bool = False
    stream: StreamState = "none"
    stream_text: str = ""
    stream_appends: int = 0
    stream_started: float = 0.0
    plan_title: str | None = None
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    linkify: bool = False
    unfurls: bool = False
    history: deque[State] = field(default_factory=lambda: deque(maxlen=_HISTORY_BOUND), repr=False)
    changed_at: float = 0.0

    @property
    def root(self) -> str:
        """The `ts` of the thread this message belongs to or would begin."""
        return self.thread_ts or self.ts

    @property
    def is_reply(self) -> bool:
        """Whether it sits inside a thread."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return self.visible_to is not None

    @property
    def visible(self) -> bool:
        """Whether somebody can still see it."""
        return not self.deleted

    @property
    def streaming(self) -> bool:
        """Whether its stream is still open."""
        return self.stream == "streaming"

    @property
    def markdown(self) -> str:
        """All the text a reader sees now: of the stream and the blocks; `text` only where there is neither."""
        return render(self)

    def buttons(self) -> list[str]:
        """The texts of every button a reader could press now, in order."""
        return [button.text for button in buttons_of(self.blocks)]

    def to_json(self, *, with_metadata: bool = False) -> dict[str, Any]:
        """The message object of conversations.history and of interaction payloads."""
        made: dict[str, Any] = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts}
        made["team"] = self.channel.world.team_id
        given = {name: getattr(self, name) for name in ("thread_ts", "bot_id", "app_id", "edited", "attachments")}
        given |= {
            "bot_profile": self.channel.world.bot_profile(self.bot_id) if self.bot_id else None,
            "blocks": self._blocks_as_stored(),
            "files": [file.to_json() for file in self.files],
            "subtype": "file_share" if self.files and not self.bot_id else None,
            "metadata": self.metadata if with_metadata else None,
            "reactions": [{"name": name, "users": who, "count": len(who)} for name, who in self.reactions.items()],
        }
        made |= {name: value for name, value in given.items() if value}
        if self.tombstone:
            made |= {"subtype": "tombstone", "hidden": True, "user": "USLACKBOT"}
        return made | self._thread_counts()

    def _blocks_as_stored(self) -> list[dict[str, Any]]:
        streamed = [{"type": "markdown", "text": self.stream_text}] if self.stream_text else []
        return [*streamed, *self.blocks]

    def _thread_counts(self) -> dict[str, Any]:
        replies = [one for one in self.channel.thread(self.ts) if one is not self]
        if not replies or self.ephemeral:
            return {}
        users = list(dict.fromkeys(one.user for one in replies))
        return {
            "thread_ts": self.ts, "reply_count": len(replies), "reply_users_count": len(users),
            "reply_users": users, "latest_reply": replies[-1].ts, "is_locked": False, "subscribed": False,
        }  # fmt: skip

    def record(self, how: str) -> None:
        """Keep the state it is in now, and tell everyone who waits."""
        self.history.append(
            State(
                how=how,
                text=self.text,
                markdown=self.markdown,
                stream_text=self.stream_text,
                blocks=json.loads(json.dumps(self.blocks)),
                tasks=json.loads(json.dumps(list(self.tasks.values()))),
                attachments=self.attachments,
                linkify=self.linkify,
                visible=self.visible,
            )
        )
        self.changed_at = time.monotonic()
        self.channel.world.note_change(self)


@dataclass(frozen=True)
class Ping:
    """Somebody was called: `kind` says how, `target` whom (`channel`, a group's id, a user's id).

    `state` is the position in `message.history` at which it could first be seen.
    """

    kind: PingKind
    target: str
    message: Message
    state: int


@dataclass(eq=False)
class Channel:
    """A public or private channel, a direct message or a group message."""

    world: World = field(repr=False)
    id: str
    name: str
    kind: ChannelKind
    members: list[str]
    messages: list[Message] = field(default_factory=list, repr=False)
    archived: bool = False
    host_team: str = ""  # the workspace that made it and shares it with ours
    _by_ts: dict[str, Message] = field(default_factory=dict, repr=False)
    _threads: dict[str, list[Message]] = field(default_factory=dict, repr=False)

    def add(self, message: Message) -> None:
        """Put a message at the end."""
        self.messages.append(message)
        self._by_ts[message.ts] = message
        self._threads.setdefault(message.root, []).append(message)

    @property
    def channel_type(self) -> str:
        """The `channel_type` of its message events."""
        return _CHANNEL_TYPES[self.kind]

    def find(self, ts: str) -> Message | None:
        """The message with this `ts`, deleted ones and ephemeral ones aside."""
        found = self._by_ts.get(ts)
        return found if found is not None and found.visible and not found.ephemeral else None

    def thread(self, root: str) -> list[Message]:
        """The visible messages of a thread, its parent first."""
        return [one for one in self._threads.get(root, []) if one.visible and not one.ephemeral]

    def to_json(self) -> dict[str, Any]:
        """The channel object of conversations.info."""
        if self.kind == "im":
            other = next((one for one in self.members if one != self.world.bot.id), self.world.bot.id)
            return {"id": self.id, "is_im": True, "user": other, "is_archived": False, "created": 1_700_000_000}
        return {
            "id": self.id, "name": self.name, "name_normalized": self.name, "is_channel": self.kind == "public",
            "is_group": self.kind == "private", "is_im": False, "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "public", "is_archived": self.archived, "is_general": self.name == "general",
            "is_member": self.world.bot.id in self.members, "is_shared": bool(self.host_team),
            "is_ext_shared": bool(self.host_team),
            "created": 1_700_000_000, "creator": self.members[0] if self.members else "",
            "context_team_id": self.world.team_id, "topic": {"value": ""}, "purpose": {"value": ""},
        }  # fmt: skip


@dataclass(eq=False)
class View:
    """A modal or a Home tab as one person has it before them."""

    id: str
    user: str
    payload: dict[str, Any]
    hash: str
    root_id: str
    previous_id: str | None = None
    errors: dict[str, str] = field(default_factory=dict)
    typed: dict[str, dict[str, Any]] = field(default_factory=dict)
    open: bool = True

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Its blocks."""
        return list(self.payload.get("blocks") or [])

    @property
    def title(self) -> str:
        """Its title; empty for a Home tab."""
        return str((self.payload.get("title") or {}).get("text", ""))

    @property
    def markdown(self) -> str:
        """All the text in it."""
        return render(self)

    @property
    def text(self) -> str:
        """Nothing: a view has no notification text."""
        return ""

    def buttons(self) -> list[str]:
        """The texts of its buttons, in order; the submit button is not among them."""
        return [button.text for button in buttons_of(self.blocks)]


@dataclass
class Trigger:
    """The right to open one view, for three seconds."""

    user: str
    made_at: float
    view_id: str | None = None
    used: bool = False


@dataclass
class ResponseUrl:
    """A response_url: five posts within thirty minutes, for one message or one command."""

    user: str
    channel: Channel
    message: Message | None
    left: int = 5


class World:
    """Everything that exists in the workspace. Ids are stable: they follow from the names and the order."""

    def __init__(self) -> None:
        self.team_id = "T0FOOTNOTE"
        self.team_name = "Paper & Ink"
        self.domain = "paper-and-ink"
        self.app_id = "A0FOOTNOTE"
        self.origin = ""
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.escaped_commands = {"/kb"}  # those whose manifest says should_escape
        self.groups: dict[str, UserGroup] = {}
        self.files: dict[str, File] = {}
        self.uploads: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.session_status: dict[tuple[str, str], str] = {}
        self.session_titles: dict[tuple[str, str], str] = {}
        self.session_log: list[tuple[str, str, str]] = []
        self.assistant_status: dict[tuple[str, str], str] = {}
        self.suggested_prompts: dict[tuple[str, str | None], list[dict[str, str]]] = {}
        self.watchers: list[Callable[[Message], None]] = []
        self._numbers = itertools.count(1)
        self._last_ts = 0
        self._changed = asyncio.Event()
        self.bot = self.add_user("footnote", is_bot=True)

    # --- making things

    def new_id(self, prefix: str, name: str = "") -> str:
        """An id in Slack's manner: a letter, then capitals and digits."""
        stem = "".join(letter for letter in name.upper() if letter.isalnum() and letter.isascii())[:6]
        return f"{prefix}0{stem}{next(self._numbers):0{9 - len(stem)}d}"

    def new_ts(self) -> str:
        """A timestamp later than every one before it: seconds, a dot, six digits."""
        self._last_ts = max(self._last_ts + 1, int(time.time() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def add_user(self, name: str, *, is_admin: bool = False, is_bot: bool = False) -> User:
        """A new member of the workspace."""
        bot_id = self.new_id("B", name) if is_bot else None
        user = User(self.new_id("U", name), name, name.title(), is_admin=is_admin, is_bot=is_bot, bot_id=bot_id)
        self.users[user.id] = user
        return user

    def add_channel(self, name: str, *, kind: ChannelKind, members: Sequence[str]) -> Channel:
        """A new conversation."""
        prefix = {"public": "C", "private": "C", "im": "D", "mpim": "C"}[kind]
        channel = Channel(self, self.new_id(prefix, name), name, kind, list(members))
        self.channels[channel.id] = channel
        return channel

    def add_file(self, name: str, content: bytes, user: str, *, canvas: bool = False) -> File:
        """A new file, or a canvas, whose name is its title."""
        file = File(self.new_id("F"), name, user, content, self.origin, int(time.time()), canvas=canvas)
        self.files[file.id] = file
        return file

    def add_trigger(self, user: str, view_id: str | None = None) -> str:
        """A new trigger id for this person."""
        trigger_id = f"{next(self._numbers)}.{int(time.time())}.{self.new_id('x').lower()}"
        self.triggers[trigger_id] = Trigger(user, time.monotonic(), view_id)
        return trigger_id

    def add_response_url(self, user: str, channel: Channel, message: Message | None) -> str:
        """A new response_url."""
        key = self.new_id("R")
        self.response_urls[key] = ResponseUrl(user, channel, message)
        return f"{self.origin}/response/{key}"

    def direct_message(self, *people: str) -> Channel:
        """The direct or group message between these people, made when it is first asked for."""
        wanted = sorted(set(people))
        for channel in self.channels.values():
            if channel.kind in {"im", "mpim"} and sorted(channel.members) == wanted:
                return channel
        kind: ChannelKind = "im" if len(wanted) <= 2 else "mpim"
        first = next((self.users[one].name for one in wanted if one != self.bot.id), "self")
        return self.add_channel(f"dm-{first}", kind=kind, members=wanted)

    # --- finding things

    def user_named(self, name: str) -> User | None:
        """A user by name or id."""
        by_name = (user for user in self.users.values() if user.name == name)
        return self.users.get(name) or next(by_name, None)

    def channel_named(self, name: str) -> Channel | None:
        """A channel by its name, with or without `#`, or by its id."""
        bare = name.removeprefix("#")
        by_name = (one for one in self.channels.values() if one.name == bare)
        return self.channels.get(name) or next(by_name, None)

    def bot_profile(self, bot_id: str) -> dict[str, Any]:
        """The bot_profile of a bot's message."""
        user = next(user for user in self.users.values() if user.bot_id == bot_id)
        return {
            "id": bot_id, "app_id": self.app_id if user is self.bot else f"A0{user.name.upper()}",
            "name": user.name, "user_id": user.id, "team_id": self.team_id, "deleted": False, "icons": {},
        }  # fmt: skip

    def all_messages(self) -> Iterator[Message]:
        """Every message there ever was, channel by channel."""
        for channel in self.channels.values():
            yield from channel.messages

    def permalink(self, message: Message) -> str:
        """The address of a message."""
        link = f"https://{self.domain}.slack.com/archives/{message.channel.id}/p{message.ts.replace('.', '')}"
        return f"{link}?thread_ts={message.thread_ts}&cid={message.channel.id}" if message.is_reply else link

    # --- watching it

    def note_change(self, message: Message | None = None) -> None:
        """Wake everyone who waits for the world to change."""
        if message is not None:
            for watcher in self.watchers:
                watcher(message)
        self._changed.set()
        self._changed = asyncio.Event()

    async def next_change(self, within: float) -> None:
        """Return at the next change, or after `within` seconds without one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(within, 0)):
                await self._changed.wait()
