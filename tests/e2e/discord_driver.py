"""Discord for tests: the fake server, its people, and what they see there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from adapters.discord.outbound.answer_view import MANNERS
from adapters.discord.platform import DiscordPlatform
from core.model.channel_settings import ChosenSettings
from core.model.principals import channel_principal
from core.ports.inbox import Inbox
from core.ports.memory import Checkpoints
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions
from core.service.leases import LeaderLease
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.driver import Running, Seen
from tests.fakes.discord import FakeDiscord, Interaction, Message, Modal, Person

PACE_SECONDS = 0.05  # the fake server has no limit unless a test sets one
ADMINS = ("ada",)


class DiscordDriver:
    """People in a fake Discord server."""

    name = "discord"
    person_id = "discord:user:{}"

    def __init__(self, discord: FakeDiscord) -> None:
        self.discord = discord
        self._last: dict[str, Interaction] = {}
        self._told: set[tuple[int, int]] = set()

    @asynccontextmanager
    async def connecting(
        self,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        user_actions: UserActions,
        **more: Any,
    ) -> AsyncIterator[Running]:
        given: dict[str, Any] = {"kb": Room().kb_service, "gateway_lease": LeaderLease(), **more}
        platform = DiscordPlatform(
            token=self.discord.token,
            api_url=self.discord.api_url,
            gateway_url=self.discord.gateway_url,
            manners=replace(MANNERS, edit_seconds=PACE_SECONDS),
            inbox=inbox,
            message_states=message_states,
            user_actions=user_actions,
            **given,
        )
        async with platform:
            yield platform

    def person(self, name: str) -> Person:
        return self.discord.person(name, admin=name in ADMINS)

    # --- what people do

    async def says(
        self,
        person: str,
        text: str,
        *,
        mention: bool = True,
        thread: Message | None = None,
        place: str = "general",
        files: Sequence[tuple[str, bytes]] = (),
    ) -> Message:
        self.person("bob")  # whom tests mention
        who = self.person(person)
        written = f"<@bot> {text}" if mention else text
        if thread is None:
            return await who.says(written, place, files=files)
        if thread.thread is None and not thread.channel.is_thread and thread.channel.guild_id is not None:
            await who.starts_thread(thread, "a thread")
        return await who.says(written, thread=thread, files=files)

    async def says_directly(self, person: str, text: str, *, thread: Message | None = None) -> Message:
        return await self.person(person).dm(text)

    async def bot_says(self, name: str, text: str, *, thread: Message | None = None) -> Message:
        return await self.discord.bot(name).says(f"<@bot> {text}", thread=thread)

    async def edits(self, person: str, said: Message, text: str) -> None:
        mention = "<@bot> " if self.discord.me.mention in said.text else ""
        await self.person(person).edits(said, mention + text)

    async def deletes(self, person: str, said: Message) -> None:
        await self.person(person).deletes(said)

    async def stops(self, person: str, said: Message) -> None:
        await self.discord.until(lambda: self._stoppable(said), what="a Stop button")
        await self.person(person).clicks(self._stoppable(said)[-1], "Stop")

    def _stoppable(self, said: Message) -> list[Message]:
        return [one for one in self.discord.answers_to(said) if "Stop" in one.buttons()]

    async def redelivers(self, said: Message, times: int = 4) -> None:
        for _ in range(times):
            await self.discord.deliver_again(said)
        await asyncio.sleep(0.2)

    async def presses(self, person: str, seen: Seen, label: str, *, stale: bool = False) -> None:
        self._last[person] = await self.person(person).clicks(seen.raw, label, stale=stale)

    async def submits(self, person: str, form: Seen, values: dict[str, Any]) -> None:
        """Fills in a form; a settings message is a form of menus, each of which is used."""
        who = self.person(person)
        if isinstance(form.raw, Modal):
            (field,) = form.raw.fields().values()
            await who.submits(form.raw, {field["custom_id"]: values["text"]})
            return
        for name, value in values.items():
            setting, option = _menu_of(name, value)
            menu = next(one for one in form.raw.controls() if f":{setting}:" in (one.custom_id or ""))
            await who.selects(form.raw, menu.custom_id or "", option)
            await self.discord.quiet(0.1)

    async def commands(self, person: str, words: str, place: str = "general") -> Seen | None:
        who = self.person(person)
        done = await who.slash(f"footnote {words}", channel=place)
        await self.discord.until(lambda: _answered(done), what=f"an answer to /footnote {words}")
        self._told |= {(one.id, 0) for one in done.messages}
        if any(one.kind != 2 for one in done.reply.controls()):
            self._last[person] = done
            return None
        return _seen(done.reply)

    # --- what they see

    async def reply(self, said: Message, containing: str = "", within: float = 60.0) -> Seen:
        def holds(one: Message) -> bool:
            return containing in _seen(one).text

        return _seen(await self.discord.reply_to(said, within, settle=0.4, until=holds))

    async def replies(self, said: Message) -> list[Seen]:
        return [_seen(one) for one in self._answers(said)]

    def _answers(self, said: Message) -> list[Message]:
        """Return only answers. Notices to one person refer to their message and have no buttons."""
        shown = [one for one in self.discord.answers_to(said) if one.ephemeral_for is None]
        return [one for one in shown if one.reference in (None, said) or one.controls()]

    async def sign(self, said: Message, within: float = 60.0) -> Seen:
        await self.discord.until(lambda: self._answers(said), within, what="a first sign")
        return _seen(self._answers(said)[-1])

    async def showing(self, said: Message, text: str, within: float = 60.0) -> Seen:
        def found() -> list[Message]:
            return [one for one in self._answers(said) if text in one.text]

        await self.discord.until(found, within, what=f"{text!r} in an answer")
        return _seen(found()[-1])

    async def private(self, person: str) -> Seen:
        """Return private messages to one person: ephemeral, direct, or in reply to their message."""
        who = self.person(person)

        def news() -> list[tuple[Message, int]]:
            return [(one, n) for one, n in self._to(who) if (one.id, n) not in self._told]

        await self.discord.until(news, what=f"something for {person}")
        message, stage = news()[0]
        self._told.add((message.id, stage))
        shown = message.history[0].text if stage == 0 and len(message.history) > 1 else message.text
        return Seen(shown, tuple(message.buttons()), message)

    def _to(self, who: Person) -> list[tuple[Message, int]]:
        """Messages to one person, and the stage in which they are: a first sign, then what it became."""
        found = [(one, 0) for one in who.private]
        for one in who.dm_channel.posts():
            if one.author is self.discord.me:
                found.append((one, 0))
                found += [(one, 1)] if len(one.history) > 1 and not self.discord.working(one) else []
        for channel in self.discord.world.threads():
            told = [one for one in channel.posts() if one.reference is not None and not one.controls()]
            mine = [one for one in told if one.author is self.discord.me]
            found += [(one, 0) for one in mine if one.reference is not None and one.reference.author is who.member]
        return sorted(found, key=lambda pair: (pair[0].id, pair[1]))

    async def form(self, person: str) -> Seen:
        """A form, or a message with what was asked for that only they see."""
        done = self._last[person]
        await self.discord.until(lambda: done.modal is not None or _answered(done), what=f"a form for {person}")
        if done.modal is not None:
            return Seen(done.modal.text, (), done.modal)
        self._told |= {(one.id, 0) for one in done.messages}
        return Seen(done.text, tuple(done.reply.buttons()), done.reply)

    def rating(self, helpful: bool) -> str:
        return "Helpful" if helpful else "Not helpful"

    async def configure(self, user_actions: UserActions, **values: str) -> None:
        channel = self.discord.channel("general")
        await user_actions.settings.store.write(
            channel_principal("discord", str(self.discord.guild_id), str(channel.id)),
            ChosenSettings.from_mapping(values),
        )

    def pings(self) -> list[Any]:
        return list(self.discord.pings())

    @property
    def broken_rules(self) -> list[str]:
        return self.discord.violations


def _answered(done: Interaction) -> bool:
    return any(not one.loading for one in done.messages)


def _menu_of(name: str, value: str) -> tuple[str, str]:
    """Return the menu that sets this, and its option."""
    menu = {"profile": "manner", "behaviour": "manner", "standing_answers": "other"}.get(name)
    return (menu, f"{name}={value}") if menu else (name, value)


def _seen(one: Message) -> Seen:
    """Return its text and button labels, as a person sees them."""
    return Seen("\n".join([one.text, *one.buttons()]), tuple(one.buttons()), one)
