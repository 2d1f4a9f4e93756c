"""A Discord of one server on a real socket: its REST API, its gateway, its people, and its bad days on demand.

    async with FakeDiscord() as discord:
        ...start the bot with discord.api_url, discord.gateway_url and discord.token...
        await discord.connected()
        asked = await discord.person("alice").says("<@bot> how long is a refund?")
        answer = await discord.reply_to(asked)
        assert not discord.violations

Every request is checked against the published description and Discord's limits; what breaks them is answered with
Discord's own error and remembered in ``violations``.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from tests.fakes.discord import reading, rest_interactions, rest_messages, rest_server
from tests.fakes.discord.calls import ENDPOINTS, Answer, Call, read_body
from tests.fakes.discord.commands import Commands
from tests.fakes.discord.contract import SPECIFICATION, contract
from tests.fakes.discord.faults import Fault, Faults, Hold, Scope
from tests.fakes.discord.gateway import MESSAGE_CONTENT, PRIVILEGED, Gateway
from tests.fakes.discord.interactions import Interaction, Interactions
from tests.fakes.discord.people import Person
from tests.fakes.discord.permissions import ORDINARY, Overwrite, Permission, named
from tests.fakes.discord.posting import MessageOperations
from tests.fakes.discord.refusal import Refusal, invalid_form
from tests.fakes.discord.world import CATEGORY, FORUM, TEXT, VOICE, Channel, Member, Message, Role, World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path
    from types import TracebackType

    from tests.fakes.discord.mentions import Ping, PingKind

Json = dict[str, Any]

ENDPOINT_MODULES = (rest_interactions, rest_messages, rest_server)  # importing them fills ENDPOINTS
WITHOUT_TOKEN = ("/webhooks/{webhook_id}/{webhook_token}", "/interactions/", "/gateway")
REMEMBERED_REQUESTS = 10_000


class FakeDiscord:
    """See the module. ``bot_permissions`` are those of the bot's own role, on top of what everybody may do."""

    def __init__(
        self,
        *,
        bot_name: str = "footnote",
        bot_permissions: Iterable[str] = (),
        channels: Iterable[str] = ("general", "random"),
        token: str = "MTIzNDU2Nzg5.fake.discord-bot-token",
        heartbeat_seconds: float = 41.25,
        working: Callable[[Message], bool] = reading.still_working,
        specification: Path = SPECIFICATION,
    ) -> None:
        self.token = token
        self.working = working
        self.contract = contract(specification)
        self.world = World(bot_name=bot_name, bot_permissions=int(ORDINARY) | named(bot_permissions))
        self.gateway = Gateway(self.world, token=token, heartbeat_seconds=heartbeat_seconds)
        self.posting = MessageOperations(self.world, self.gateway)
        self.interactions = Interactions(self.world, self.gateway)
        self.commands = Commands(self.world)
        self.faults = Faults()
        self.requests: deque[Call] = deque(maxlen=REMEMBERED_REQUESTS)
        self.violations: list[str] = []
        self.notified: list[Ping] = []
        self.nonces: dict[str, Message] = {}
        self.permitted_roles: set[int] = set()
        self.commands_shown_to_all = False
        self.url = ""
        self._people: dict[int, Person] = {}
        self._runner: web.AppRunner | None = None
        for name in channels:
            self.world.add_channel(TEXT, name)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/gateway", self.gateway.serve)
        app.router.add_get("/resume", self.gateway.serve)
        app.router.add_get("/attachments/{channel}/{id}/{name}", self._attachment)
        app.router.add_route("*", "/api/v10/{path:.*}", self._rest)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self.gateway.resume_url = f"ws://{host}:{port}/resume"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        for fault in self.faults.ordered:
            if fault.hold is not None:
                fault.hold.release()
        await self.gateway.close()
        await self._runner.cleanup()

    # Where the bot finds it

    @property
    def api_url(self) -> str:
        """The REST base, with the version: what takes the place of ``https://discord.com/api/v10``."""
        return f"{self.url}/api/v10"

    @property
    def gateway_url(self) -> str:
        return f"ws{self.url.removeprefix('http')}/gateway"

    def environment(self) -> dict[str, str]:
        """The environment a bot under test is started with."""
        urls = {"DISCORD_API_URL": self.api_url, "DISCORD_GATEWAY_URL": self.gateway_url}
        return urls | {"DISCORD_BOT_TOKEN": self.token}

    @property
    def guild_id(self) -> int:
        return self.world.guild_id

    @property
    def me(self) -> Member:
        """The bot under test."""
        return self.world.bot

    # The people and the places

    def person(
        self, name: str, *, admin: bool = False, permissions: Iterable[str] = (), roles: Iterable[Role] = ()
    ) -> Person:
        """A member by name, made on first mention; rights and roles given here are added."""
        member = self._member(name, bot=False)
        given = [*permissions, *(["administrator"] if admin else [])]
        if given:
            roles = [*roles, self.role(f"{name}: {', '.join(given)}", permissions=given)]
        new = [role for role in roles if role not in member.roles]
        if new:
            member.roles += new
            self.gateway.announce("GUILD_MEMBER_UPDATE", member.payload())
        return self._person(member)

    def _person(self, member: Member) -> Person:
        """Always the same object for the same member: it remembers what they have looked at."""
        return self._people.setdefault(member.id, Person(self, member))

    def _member(self, name: str, *, bot: bool) -> Member:
        known = self.world.member_named(name)
        if known is None:
            known = self.world.add_member(name, bot=bot)
            self.gateway.announce("GUILD_MEMBER_ADD", known.payload())
        return known

    def bot(self, name: str) -> Person:
        """Another bot in the server."""
        return self._person(self._member(name, bot=True))

    def role(self, name: str, *, mentionable: bool = False, permissions: Iterable[str] = ()) -> Role:
        known = self.world.role_named(name)
        if known is None:
            known = self.world.add_role(name, permissions=named(permissions), mentionable=mentionable)
            self.gateway.announce("GUILD_ROLE_CREATE", {"role": known.payload()})
        return known

    def allow_pings_of(self, role: Role) -> None:
        """The one role whose mention ``allowed_mentions`` may leave alive."""
        self.permitted_roles.add(role.id)

    def channel(self, name: str) -> Channel:
        return self.world.channel_named(name)

    async def text_channel(
        self, name: str, *, private_to: Iterable[Role | Person] | None = None, category: Channel | None = None
    ) -> Channel:
        """A new text channel; a private one is visible to those named and to the bot."""
        return await self._opened(TEXT, name, private_to, category)

    async def voice_channel(self, name: str) -> Channel:
        """One to talk in, with a chat beside it."""
        return await self._opened(VOICE, name, None, None)

    async def category(self, name: str, *, private_to: Iterable[Role | Person] | None = None) -> Channel:
        return await self._opened(CATEGORY, name, private_to, None)

    async def forum(
        self, name: str, *, private_to: Iterable[Role | Person] | None = None, category: Channel | None = None
    ) -> Channel:
        return await self._opened(FORUM, name, private_to, category)

    async def _opened(
        self, kind: int, name: str, private_to: Iterable[Role | Person] | None, category: Channel | None
    ) -> Channel:
        channel = self.world.add_channel(kind, name, parent=category)
        if private_to is not None:
            view = int(Permission.VIEW_CHANNEL)
            channel.overwrites = {self.guild_id: Overwrite(self.guild_id, of_member=False, deny=view)}
            for one in (*private_to, self.me):
                channel.overwrites[one.id] = Overwrite(one.id, of_member=not isinstance(one, Role), allow=view)
        await self.gateway.dispatch("CHANNEL_CREATE", channel.payload())
        return channel

    async def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """What happens by itself after a day of silence."""
        thread.locked = locked
        await self.posting.set_archived(thread, archived=True)

    async def take_permission(self, name: str, channel: Channel | None = None) -> None:
        """Denies the bot a permission (``"send_messages"``), in one channel or in all."""
        await self._overwrite_bot(named([name]), channel, allow=False)

    async def _overwrite_bot(self, bits: int, channel: Channel | None, *, allow: bool) -> None:
        for place in [channel] if channel is not None else self.world.guild_channels():
            own = place.overwrites.setdefault(self.me.id, Overwrite(self.me.id, of_member=True))
            own.allow = own.allow | bits if allow else own.allow & ~bits
            own.deny = own.deny & ~bits if allow else own.deny | bits
            await self.gateway.dispatch("CHANNEL_UPDATE", place.payload())

    # What can be read

    def visible(
        self, place: Channel | str, thread: Channel | Message | None = None, *, to: Person | None = None
    ) -> list[Message]:
        """What is there to see, oldest first: by everybody, or with what is shown only to one person.

        ``thread`` looks into a thread instead, or into the one that a message has or is in.
        """
        channel = self.channel(place) if isinstance(place, str) else place
        if isinstance(thread, Message):
            thread = thread.thread or thread.channel
        return [m for m in (thread or channel).posts() if m.visible_to(to.member if to else None)]

    def answers_to(self, said: Message | Interaction) -> list[Message]:
        """Everything the bot shows in reply, so far."""
        return reading.answers_to(self.world, said)

    async def reply_to(
        self,
        said: Message | Interaction,
        timeout: float = 60.0,
        *,
        settle: float = 0.5,
        until: Callable[[Message], object] | None = None,
    ) -> Message:
        """The bot's final message in reply: the last one, when nothing about it has changed for ``settle`` seconds.

        None is final while one of them still shows a *Stop* button or is "thinking" (see ``working``), or while
        ``until`` is not true of the last.

        Raises:
            AssertionError: there is none after ``timeout`` seconds; it says what there was.
        """
        return await reading.reply_to(self, said, timeout=timeout, settle=settle, until=until)

    async def until(
        self,
        happened: Callable[[], object],
        timeout: float = 60.0,
        *,
        what: str = "what was waited for",
    ) -> None:
        """Waits until something is so. Raises AssertionError when it is not in time."""
        await reading.until(self.world.changes, happened, timeout=timeout, what=what)

    async def connected(self, timeout: float = 60.0) -> None:
        """Waits until the bot has identified or resumed and its socket is open."""
        await self.until(self.is_connected, timeout, what="a connection of the bot")

    def is_connected(self) -> bool:
        return any(session.live for session in self.gateway.sessions.values())

    async def quiet(self, seconds: float = 0.4) -> None:
        """Returns when nothing has happened in the whole server for so long."""
        await reading.quiet(self.world.changes, seconds)

    def pings(self, kind: PingKind | None = None) -> list[Ping]:
        """Everybody who was notified by a message of the bot."""
        return [ping for ping in self.notified if kind in (None, ping.kind)]

    @property
    def identifies(self) -> int:
        return len(self.gateway.identified)

    @property
    def resumes(self) -> int:
        return self.gateway.resumes

    @property
    def reads_content(self) -> bool:
        return not self.gateway.disallowed & MESSAGE_CONTENT

    def calls(self, method: str, template: str) -> list[Call]:
        """The requests to one operation, e.g. ``("POST", "/channels/{channel_id}/messages")``."""
        return [c for c in self.requests if (c.operation.method, c.operation.template) == (method, template)]

    def is_typing_in(self, channel: Channel) -> bool:
        """Whether the bot has shown its typing indicator there."""
        return self.me in channel.typing

    # What can go wrong

    def disallow_intent(self, name: str) -> None:
        """Switches a privileged intent off in the portal: ``message_content``, ``members`` or ``presences``."""
        self.gateway.disallowed |= PRIVILEGED[name]

    def allow_intent(self, name: str) -> None:
        self.gateway.disallowed &= ~PRIVILEGED[name]

    def withhold_acks(self, *, withheld: bool = True) -> None:
        self.gateway.acknowledges = not withheld

    async def drop_socket(self, code: int | None = None) -> None:
        """Cuts the connection, or closes it with a code such as 4000."""
        await self.gateway.drop(code)

    def refuse_connections(self, times: int) -> None:
        """Answers the gateway's next connections with 503."""
        self.gateway.refuses = times

    async def ask_to_reconnect(self) -> None:
        await self.gateway.reconnect()

    async def invalidate_session(self, *, resumable: bool = False) -> None:
        await self.gateway.invalidate(resumable=resumable)

    def forget_sessions(self) -> None:
        self.gateway.forget_sessions()

    def introduce_late(self) -> Callable[[], Awaitable[None]]:
        """Whoever identifies next is not told of the server, as in an outage, until what is returned is awaited."""
        self.gateway.introduces = False
        return self.gateway.introduce

    def replay_on_resume(self, events: int) -> None:
        """The next resumption repeats so many events that the client has already seen."""
        self.gateway.replay_seen = events

    async def deliver_again(self, message: Message) -> None:
        """Sends the MESSAGE_CREATE of a message once more, under a new sequence number."""
        hidden = message.redacted(reader=self.me, event=True)
        await self.posting.tell("MESSAGE_CREATE", message.channel, message.payload(event=True), redacted=hidden)

    def limit_rate(
        self, method: str, template: str, *, retry_after: float = 0.05, scope: Scope = "user", times: int = 1
    ) -> Fault:
        """Answers the next requests with 429."""
        fault = Fault(method, template, times, 429, message="You are being rate limited.")
        fault.retry_after, fault.scope = retry_after, scope
        return self.faults.order(fault)

    def enforce_edit_limit(self, edits: int = 5, seconds: float = 5.0) -> None:
        """Gives message edits a real bucket for each channel, as Discord does."""
        self.enforce_limit("PATCH", rest_messages.MESSAGE, edits, seconds)

    def enforce_limit(self, method: str, template: str, requests: int, seconds: float) -> None:
        """The same for any operation: headers that tell the truth, and 429 once a bucket is empty."""
        self.faults.enforce(method, template, requests, seconds)

    def break_down(self, method: str, template: str, *, status: int = 500, times: int = 1, done: bool = False) -> Fault:
        """Answers with a server error; with ``done`` the work is done first and only its answer is lost."""
        return self.faults.order(Fault(method, template, times, status, message="Server error", done=done))

    def refuse(self, method: str, template: str, *, status: int = 403, code: int = 50013, times: int = 1) -> Fault:
        messages = {50001: "Missing Access", 50013: "Missing Permissions"}
        return self.faults.order(Fault(method, template, times, status, code, messages.get(code, "Refused")))

    def fail(self, method: str, template: str, **trouble: Any) -> Fault:
        """Orders any trouble by name: the fields of a `Fault`. ``times`` is how often; 10,000 is for good."""
        return self.faults.order(Fault(method, template, **trouble))

    def slow_down(self, method: str, template: str, *, seconds: float, times: int = 1) -> Fault:
        return self.faults.order(Fault(method, template, times, seconds=seconds))

    def hold(self, method: str, template: str) -> Hold:
        """Keeps the next such request waiting until the hold is released."""
        hold = Hold()
        self.faults.order(Fault(method, template, hold=hold))
        return hold

    def miss_acks(self, times: int = 1) -> None:
        """The next interactions count as acknowledged too late: their callback meets "Unknown interaction"."""
        self.interactions.to_be_missed += times

    def expire_interaction_tokens(self) -> None:
        """Every interaction so far is now older than 15 minutes."""
        self.interactions.expire()

    # The REST API

    async def _attachment(self, request: web.Request) -> web.Response:
        attachment = self.world.attachments.get(int(request.match_info["id"]))
        if attachment is None:
            return web.Response(status=404)
        return web.Response(body=attachment.data, content_type=attachment.payload()["content_type"])

    async def _rest(self, request: web.Request) -> web.Response:
        path = f"/{request.match_info['path']}"
        operation = self.contract.match(request.method, path)
        if isinstance(operation, str):
            self.violations.append(operation)
            return _respond(404, {"message": "404: Not Found", "code": 0})
        call = Call(operation, path, dict(request.query))
        self.requests.append(call)
        name, bucket = self.faults.bucket(operation.method, operation.template, call.params)
        wait = bucket.take()
        if wait:
            self.faults.limited.append((operation.method, operation.template))
            call.status = 429
            return _limited(wait, "user", bucket.headers(name))
        response = await self._troubled(request, call)
        call.status = response.status
        response.headers.update(bucket.headers(name))
        self.world.changes.notify()
        return response

    async def _troubled(self, request: web.Request, call: Call) -> web.Response:
        """The answer, or the trouble that was ordered in its place."""
        if call.operation.template == "/users/@me/channels":
            await read_body(request, call)
        fault = self.faults.next(call.operation.method, call.operation.template, self._about(call))
        if fault is not None and call.body is None:  # before any delay: the client may hang up during it
            await read_body(request, call)
        if fault is not None and fault.hold is not None:
            await fault.hold.pass_through()
        if fault is not None and fault.seconds:
            await asyncio.sleep(fault.seconds)
        if fault is None or not (fault.status or fault.drops):
            return await self._checked(request, call)
        return await self._failed(request, call, fault)

    async def _failed(self, request: web.Request, call: Call, fault: Fault) -> web.Response:
        if fault.done:
            self.interactions.unconfirm(call.params.get("interaction_token", ""))
            await self._checked(request, call)
        if not fault.done and (fault.status or 0) < 500:
            self.interactions.refused(call.params.get("interaction_token", ""))
        if fault.drops and request.transport is not None:
            request.transport.abort()
        if fault.text is not None:
            return web.Response(status=fault.status or 200, text=fault.text, content_type=fault.text_type)
        if fault.retry_after is not None:
            return _limited(fault.retry_after, fault.scope, {})
        return _respond(fault.status or 500, {"message": fault.message, "code": fault.code})

    def _about(self, call: Call) -> set[int]:
        """What a request is about: the ids in its path, a recipient, the channel of a thread or an interaction."""
        named = [*call.params.values(), str((call.body or {}).get("recipient_id", ""))]
        ids = {int(value) for value in named if value.isdigit()}
        tokens = set(call.params.values())
        ids |= {one.channel.id for one in self.interactions.every.values() if one.token in tokens}
        places = [self.world.channels[one] for one in ids if one in self.world.channels]
        return ids | {place.parent.id for place in places if place.parent is not None and place.is_thread}

    async def _checked(self, request: web.Request, call: Call) -> web.Response:
        try:
            status, body = await self._answer(request, call)
        except Refusal as refusal:
            if refusal.violation is not None:
                self.violations.append(f"{call.operation.method} {call.path}: {refusal.violation}")
            return _respond(refusal.status, refusal.payload())
        except Exception as error:
            self.violations.append(f"{call.operation.method} {call.path}: the fake itself failed: {error!r}")
            raise
        return _respond(status, body)

    async def _answer(self, request: web.Request, call: Call) -> Answer:
        operation = call.operation
        self._authorise(request, operation.template)
        if call.body is None:
            await read_body(request, call)
        function = ENDPOINTS.get((operation.method, operation.template))
        if function is None:
            missing = f"{operation.method} {operation.template} is not served here"
            raise Refusal(501, 0, missing, violation=missing)
        problem = self.contract.problem(operation, call.query, call.body)
        if problem is not None:
            raise invalid_form(problem[0], "CONTRACT", problem[1])
        return await function(self, call)

    def _authorise(self, request: web.Request, template: str) -> None:
        if template.startswith(WITHOUT_TOKEN):
            return
        if request.headers.get("Authorization") != f"Bot {self.token}":
            raise Refusal(401, 0, "401: Unauthorized")


def _respond(status: int, body: Any) -> web.Response:
    if status == 204:
        return web.Response(status=204)
    # Clients compare the content type with this exact text, so it carries no charset.
    return web.Response(status=status, body=json.dumps(body).encode(), content_type="application/json")


def _limited(retry_after: float, scope: Scope, headers: dict[str, str]) -> web.Response:
    """A 429 as Discord sends it. ``Via`` tells clients that it is not its proxy's ban page."""
    body = {"message": "You are being rate limited.", "retry_after": round(retry_after, 3), "global": scope == "global"}
    response = _respond(429, body)
    response.headers.update(headers)
    response.headers.update({"Via": "1.1 google", "Retry-After": f"{retry_after:.3f}", "X-RateLimit-Scope": scope})
    if scope == "global":
        response.headers["X-RateLimit-Global"] = "true"
    return response
