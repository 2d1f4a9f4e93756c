"""Persons, as a test tells of them: they say, edit, click, submit, and see only what Discord would show them.

A person can do what Discord's client lets them do. What it does not even offer raises here: a command that is hidden
or not registered, a button that is disabled, a channel they cannot see.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import commands as registry
from tests.fakes.discord import interactions as kinds
from tests.fakes.discord import mentions, showing
from tests.fakes.discord.forms import filled
from tests.fakes.discord.interactions import Choice, Interaction, Modal
from tests.fakes.discord.permissions import EVERYTHING, Permission
from tests.fakes.discord.world import (
    DM,
    FORUM,
    HAS_SNAPSHOT,
    REPLY,
    TEXT,
    VOICE,
    Attachment,
    Channel,
    Member,
    Message,
    Role,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.fakes.discord.server import FakeDiscord

Json = dict[str, Any]
File = tuple[str, bytes]
Place = str | Channel

NAMED = re.compile(r"<(@&|@|#)([A-Za-z][\w-]*)>")


class Person:
    """Somebody in the server: ``alice = discord.person("alice")``. Another bot is one as well."""

    def __init__(self, discord: FakeDiscord, member: Member) -> None:
        self.discord = discord
        self.world = discord.world
        self.member = member
        self._read: set[int] = set()
        self._forms_seen = 0

    @property
    def id(self) -> int:
        return self.member.id

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def mention(self) -> str:
        return self.member.mention

    @property
    def dm_channel(self) -> Channel:
        return self.world.direct(self.member)

    async def says(
        self,
        text: str,
        channel: Place | None = None,
        *,
        thread: Channel | Message | None = None,
        reply_to: Message | None = None,
        files: Sequence[File] = (),
        embeds: Sequence[Json] = (),
    ) -> Message:
        """Posts a message. ``<@bot>``, ``<@alice>``, ``<@&support>`` and ``<#general>`` become real mentions.

        ``thread`` is a thread, or a message that has one or is in one. Replying pings its author, as by default.
        ``embeds`` are a bot's own, or what Discord makes of the links in a person's message.
        """
        place = self._place(channel, thread, reply_to)
        message = self._draft(place, text, files)
        message.embeds = [{"type": "rich", **embed} for embed in embeds]
        if reply_to is not None:
            message.kind, message.reference = REPLY, reply_to
            message.refers_to = {"type": 0, "message_id": str(reply_to.id), "channel_id": str(place.id)}
            message.refers_to |= {"guild_id": str(place.guild_id)} if place.guild_id else {}
        self._mention(message)
        return await self.discord.posting.publish(message)

    async def dm(self, text: str, *, files: Sequence[File] = (), reply_to: Message | None = None) -> Message:
        """Writes to the bot directly."""
        return await self.says(text, self.dm_channel, files=files, reply_to=reply_to)

    async def forwards(self, message: Message, channel: Place) -> Message:
        """Forwards a message: what is posted has no words of its own, and a snapshot of the other."""
        place = self._seen(self._channel(channel))
        posted = self._draft(place, "", ())
        posted.forwarded, posted.flags = message, HAS_SNAPSHOT
        posted.refers_to = {"type": 1, "message_id": str(message.id), "channel_id": str(message.channel.id)}
        return await self.discord.posting.publish(posted)

    async def posts_in_forum(self, forum: Place, title: str, text: str, *, files: Sequence[File] = ()) -> Message:
        """Opens a post. The message returned is its first; its ``channel`` is the post's thread."""
        parent = self._seen(self._channel(forum))
        if parent.kind != FORUM:
            raise ValueError(f"#{parent.name} is no forum")
        thread = self.world.add_thread(parent, title, self.member)
        await self.discord.posting.announce_thread(thread)
        message = self._draft(thread, text, files, message_id=thread.id)
        self._mention(message)
        return await self.discord.posting.publish(message)

    async def starts_thread(self, message: Message, name: str) -> Channel:
        return await self.discord.posting.start_thread(message, name, self.member)

    async def edits(self, message: Message, text: str) -> Message:
        if message.author is not self.member:
            raise PermissionError(f"{self.name} did not write that message")
        message.content = self._marked_up(text)
        self._mention(message)
        return await self.discord.posting.edited(message)

    async def deletes(self, message: Message) -> None:
        if message.author is not self.member and not self._may(Permission.MANAGE_MESSAGES, message.channel):
            raise PermissionError(f"{self.name} may not delete that message")
        await self.discord.posting.delete(message)

    async def reacts(self, message: Message, emoji: str, *, removed: bool = False) -> None:
        await self.discord.posting.react(message, self.member, emoji, removed=removed)

    async def types(self, channel: Place) -> None:
        await self.discord.posting.types(self._channel(channel), self.member)

    async def clicks(self, message: Message, wanted: str, *, stale: bool = False) -> Interaction:
        """Presses a button by its label or custom_id, and waits for the acknowledgement (``failed`` if none came).

        ``stale`` presses one that stood there in an earlier state, on a screen that was not yet redrawn; the bot is
        told of the message as it was then.
        """
        before = message.sight_with(wanted) if stale else None
        control = self._control(message, wanted, before)
        if control.kind != showing.BUTTON or control.custom_id is None:
            raise LookupError(f"{wanted!r} is no button that the bot hears of")
        data = {"custom_id": control.custom_id, "component_type": showing.BUTTON}
        return await self._interacts(kinds.COMPONENT, message.channel, data, message, before)

    async def selects(self, message: Message, wanted: str, *picked: str) -> Interaction:
        """Chooses options of a menu (found by placeholder or custom_id) by their label or value."""
        control = self._control(message, wanted)
        values = [value for label, value in control.options if label in picked or value in picked]
        if control.options and len(values) != len(picked):
            raise LookupError(f"{picked} are not all among {control.options}")
        data: Json = {"custom_id": control.custom_id, "component_type": control.kind}
        data["values"] = values if control.options else list(picked)
        return await self._interacts(kinds.COMPONENT, message.channel, data, message)

    async def submits(self, modal: Modal | Interaction, values: Mapping[str, Any]) -> Interaction:
        """Fills a form by label or custom_id and sends it. A file field takes ``[(name, bytes), …]``."""
        form = modal.modal if isinstance(modal, Interaction) else modal
        if form is None:
            raise LookupError("no form was opened")
        opened_by = form.interaction
        form.sent = True
        data = filled(form, values, attach=lambda name, data: self._upload(opened_by.channel, name, data))
        return await self._interacts(kinds.MODAL_SUBMIT, opened_by.channel, data, opened_by.source)

    async def slash(
        self, name: str, options: Mapping[str, Any] | None = None, /, *, channel: Place | None = None, **more: Any
    ) -> Interaction:
        """Runs a slash command: ``slash("kb ingest", url=…)``. Options named like a parameter go into ``options``."""
        place = self._seen(self._channel(channel))
        chain = self._offered(name, place)
        given = {**(options or {}), **more}
        resolved: Json = {}
        values = [
            {"name": option["name"], "type": option["type"], "value": self._value(option, given, place, resolved)}
            for option in chain[-1].get("options") or ()
            if option["name"] in given
        ]
        _complete(chain[-1], given)
        data = _command_data(chain, values)
        if resolved:
            data["resolved"] = resolved
        return await self._interacts(kinds.APPLICATION_COMMAND, place, data)

    async def autocompletes(
        self, name: str, *, option: str, typed: str, channel: Place | None = None, **more: Any
    ) -> list[Choice]:
        """What is suggested while typing into one option; ``more`` are the options filled in before."""
        place = self._seen(self._channel(channel))
        chain = self._offered(name, place)
        known = {item["name"]: item for item in chain[-1].get("options") or ()}
        if not known[option].get("autocomplete"):
            raise LookupError(f"{option!r} offers no suggestions")
        values: list[Json] = [{"name": key, "type": known[key]["type"], "value": more[key]} for key in more]
        values.append({"name": option, "type": known[option]["type"], "value": typed, "focused": True})
        interaction = await self._interacts(kinds.AUTOCOMPLETE, place, _command_data(chain, values))
        return interaction.choices

    async def context_menu(self, name: str, message: Message) -> Interaction:
        """Chooses an app's entry in the menu of a message."""
        place = self._seen(message.channel)
        command = self._permitted(self.discord.commands.find(name, registry.MESSAGE_MENU), place)
        data = _command_data([command], []) | {"target_id": str(message.id)}
        data["resolved"] = {"messages": {str(message.id): message.payload()}}
        return await self._interacts(kinds.APPLICATION_COMMAND, place, data)

    def sees(self, channel: Place | None = None, thread: Channel | Message | None = None) -> list[Message]:
        """The messages in a channel or thread as this person sees them, with what only they are shown."""
        return self.discord.visible(self._seen(self._channel(channel)), thread, to=self)

    @property
    def private(self) -> list[Message]:
        """The ephemeral messages they can see, oldest first."""
        everywhere = [message for channel in self.world.channels.values() for message in channel.posts()]
        mine = [message for message in everywhere if message.ephemeral_for is self.member and not message.loading]
        return sorted(mine, key=lambda message: message.id)

    async def next_private(self, timeout: float = 60.0) -> Message:
        """The next ephemeral message they were not given before."""
        what = f"a private message to {self.name}"
        await self.discord.until(lambda: any(m.id not in self._read for m in self.private), timeout, what=what)
        message = next(message for message in self.private if message.id not in self._read)
        self._read.add(message.id)
        return message

    @property
    def modal(self) -> Modal | None:
        """The form that was opened for them last and that they have not sent yet."""
        opened = self._forms()
        return opened[-1] if opened and not opened[-1].sent else None

    async def next_modal(self, timeout: float = 60.0) -> Modal:
        """The next form that opens for them and that they were not given before."""
        what = f"a form for {self.name}"
        await self.discord.until(lambda: len(self._forms()) > self._forms_seen, timeout, what=what)
        self._forms_seen += 1
        return self._forms()[self._forms_seen - 1]

    def _forms(self) -> list[Modal]:
        mine = [one for one in self.discord.interactions.every.values() if one.person is self.member]
        return [one.modal for one in mine if one.modal is not None]

    def _place(self, channel: Place | None, thread: Channel | Message | None, reply_to: Message | None) -> Channel:
        if isinstance(thread, Message):
            thread = thread.thread or thread.channel
        if thread is None and reply_to is not None and channel is None:
            thread = reply_to.channel
        place = self._seen(thread or self._channel(channel))
        if place.locked and not self._may(Permission.MANAGE_THREADS, place):
            raise PermissionError(f"{place.name!r} is locked")
        return place

    def _channel(self, channel: Place | None) -> Channel:
        if channel is None:
            channel = "general"
        return self.world.channel_named(channel) if isinstance(channel, str) else channel

    def _seen(self, channel: Channel) -> Channel:
        if not self._may(Permission.VIEW_CHANNEL, channel):
            raise PermissionError(f"{self.name} cannot see {channel.name!r}")
        return channel

    def _may(self, permission: Permission, channel: Channel | None) -> bool:
        return self.world.may(self.member, permission, channel)

    def _draft(self, place: Channel, text: str, files: Sequence[File], *, message_id: int | None = None) -> Message:
        if place.kind not in (TEXT, VOICE, DM) and not place.is_thread:
            raise ValueError(f"nobody can write into {place.name!r} itself")
        content = self._marked_up(text)
        if len(content) > 2_000:
            raise ValueError("a person cannot send more than 2,000 characters")
        message = Message(message_id or self.world.ids.next(), place, self.member, content)
        message.attachments = [self._upload(place, name, data) for name, data in files]
        return message

    def _upload(self, place: Channel, name: str, data: bytes) -> Attachment:
        return self.world.attach(place, name, data, at=self.discord.url)

    def _mention(self, message: Message) -> None:
        replied_to = message.reference if message.kind == REPLY else None
        found = mentions.mentioned(self.world, message.content, None, author=self.member, replied_to=replied_to)
        message.mentions, message.mention_roles = found.users, found.roles
        message.mention_everyone = found.everyone

    def _marked_up(self, text: str) -> str:
        def snowflake(match: re.Match[str]) -> str:
            sigil, name = match.groups()
            found: Member | Role | Channel | None
            if sigil == "@":
                found = self.world.bot if name == "bot" else self.world.member_named(name)
            else:
                found = self.world.role_named(name) if sigil == "@&" else self.world.channel_named(name)
            if found is None:
                raise LookupError(f"there is nobody called {name!r}")
            return f"<{sigil}{found.id}>"

        return NAMED.sub(snowflake, text)

    def _control(self, message: Message, wanted: str, before: showing.Sight | None = None) -> showing.Control:
        self._seen(message.channel)
        if not message.visible_to(self.member):
            raise PermissionError(f"{self.name} cannot see that message")
        if before is not None:
            return next(control for control in before.controls if control.answers_to(wanted))
        control = message.control(wanted)
        if control.disabled:
            raise PermissionError(f"{wanted!r} is disabled")
        return control

    async def _interacts(
        self,
        kind: int,
        place: Channel,
        data: Json,
        source: Message | None = None,
        before: showing.Sight | None = None,
    ) -> Interaction:
        return await self.discord.interactions.start(kind, self.member, place, data, source, before)

    def _offered(self, name: str, place: Channel) -> list[Json]:
        """The command and its subcommands down to the one that is named, if this person is offered it here."""
        first, *rest = name.removeprefix("/").split()
        return registry.descend(self._permitted(self.discord.commands.find(first), place), rest)

    def _permitted(self, command: Json, place: Channel) -> Json:
        direct = place.kind == DM
        contexts = command.get("contexts")
        here = (1 if direct else 0) in contexts if contexts else not direct or command.get("dm_permission") is not False
        if not here or (direct and "guild_id" in command):
            raise LookupError(f"{command['name']!r} is not offered in {place.name!r}")
        needed = command["default_member_permissions"]
        allowed = self.world.permissions(self.member, None if direct else place)
        hidden = needed is not None and (
            (allowed & int(needed)) != int(needed) or not (int(needed) or allowed == EVERYTHING)
        )
        if hidden and not direct and not self.discord.commands_shown_to_all:
            raise PermissionError(f"{command['name']!r} is hidden from {self.name}")
        return command

    def _value(self, option: Json, given: Mapping[str, Any], place: Channel, resolved: Json) -> Any:
        """An option's value; users, channels, roles and files become an id that ``resolved`` explains."""
        value = given[option["name"]]
        offered = option.get("choices")
        if offered:
            return _chosen(offered, value)
        if isinstance(value, Person):
            value = value.member
        if option["type"] == 7 and isinstance(value, str):
            value = self.world.channel_named(value)
        if isinstance(value, tuple):
            value = self._upload(place, *value)
        if isinstance(value, Member | Channel | Role | Attachment):
            _resolve(value, resolved, str(int(self.world.permissions(self.member, place))))
            return str(value.id)
        return value


def _chosen(offered: list[Json], value: Any) -> Any:
    for choice in offered:
        if value in (choice["name"], choice["value"]):
            return choice["value"]
    raise LookupError(f"{value!r} is not among {[choice['name'] for choice in offered]}")


def _resolve(value: Member | Channel | Role | Attachment, resolved: Json, permissions: str) -> None:
    key = str(value.id)
    if isinstance(value, Member):
        resolved.setdefault("users", {})[key] = value.user()
        resolved.setdefault("members", {})[key] = value.membership() | {"permissions": permissions}
    elif isinstance(value, Channel):
        resolved.setdefault("channels", {})[key] = value.payload() | {"permissions": permissions}
    elif isinstance(value, Role):
        resolved.setdefault("roles", {})[key] = value.payload()
    else:
        resolved.setdefault("attachments", {})[key] = value.payload() | {"ephemeral": True}


def _complete(command: Json, given: Mapping[str, Any]) -> None:
    """The client does not send a command with an option that is unknown or required and missing."""
    known = {option["name"]: option for option in command.get("options") or ()}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise LookupError(f"{command['name']!r} has no option {unknown[0]!r}; it has {sorted(known)}")
    missing = [name for name, option in known.items() if option.get("required") and name not in given]
    if missing:
        raise LookupError(f"{command['name']!r} needs the option {missing[0]!r}")


def _command_data(chain: list[Json], values: list[Json]) -> Json:
    """Nests the values under the subcommands that lead to them."""
    options = values
    for subcommand in reversed(chain[1:]):
        options = [{"name": subcommand["name"], "type": subcommand["type"], "options": options}]
    command = chain[0]
    data: Json = {"id": command["id"], "name": command["name"], "type": command["type"]}
    if options:
        data["options"] = options
    if "guild_id" in command:
        data["guild_id"] = command["guild_id"]
    return data
