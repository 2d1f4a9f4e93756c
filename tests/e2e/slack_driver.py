"""Slack for tests: the fake workspace, driven by either road."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from aiohttp import web

from adapters.slack.app import PATH
from adapters.slack.listeners.support import ONE_MOMENT
from adapters.slack.platform import SlackPlatform
from core.model.channel_settings import ChosenSettings
from core.model.principals import channel_principal
from core.ports.inbox import Inbox
from core.ports.memory import Checkpoints
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.driver import Running, Seen
from tests.fakes.slack import FakeSlack, Message

Road = Literal["socket", "http"]


class SlackDriver:
    """People in a fake Slack workspace."""

    name = "slack"

    def __init__(self, slack: FakeSlack, road: Road) -> None:
        self.slack = slack
        self.road = road
        self.person_id = f"slack:{slack.team_id}/{{}}"

    @asynccontextmanager
    async def connecting(
        self,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        user_actions: UserActions,
        **more: Any,
    ) -> AsyncIterator[Running]:
        socket = self.road == "socket"
        given: dict[str, Any] = {"kb": Room().kb_service, "gaps": None, **more}
        platform = SlackPlatform(
            bot_token=self.slack.bot_token,
            app_token=self.slack.app_token if socket else None,
            signing_secret=None if socket else self.slack.signing_secret,
            api_url=self.slack.api_url,
            inbox=inbox,
            message_states=message_states,
            user_actions=user_actions,
            **given,
        )
        async with platform:
            app = web.Application()
            app.add_routes(platform.routes())
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            if not socket:
                self.slack.request_url = f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
            try:
                yield platform
            finally:
                await runner.cleanup()

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
        written = f"<@bot> {text}" if mention else text
        channel = thread.channel if thread else place
        return await self.slack.person(person).says(written, channel, thread=thread, files=files)

    async def says_directly(self, person: str, text: str, *, thread: Message | None = None) -> Message:
        return await self.slack.person(person).says(text, thread=thread)

    async def bot_says(self, name: str, text: str, *, thread: Message | None = None) -> Message:
        return await self.slack.bot(name).says(f"<@bot> {text}", "general", thread=thread)

    async def edits(self, person: str, said: Message, text: str) -> None:
        mention = "<@bot> " if self.slack.bot_user_id in said.text else ""
        await self.slack.person(person).edits(said, mention + text)

    async def deletes(self, person: str, said: Message) -> None:
        await self.slack.person(person).deletes(said)

    async def stops(self, person: str, said: Message) -> None:
        await self.slack.person(person).stops_session(said)

    async def redelivers(self, said: Message, times: int = 4) -> None:
        self.slack.faults.redeliver(said, times)
        await asyncio.sleep(0.2)

    async def reply(self, said: Message, containing: str = "", within: float = 60.0) -> Seen:
        found = await self.slack.reply_to(said, within, settle=0.4, until=lambda one: containing in one.markdown)
        return _seen(found)

    async def replies(self, said: Message) -> list[Seen]:
        return [_seen(one) for one in self.slack.answers_to(said)]

    async def sign(self, said: Message, within: float = 60.0) -> Seen:
        await self.slack.until(lambda: self.slack.answers_to(said), within, what="a first sign")
        return _seen(self.slack.answers_to(said)[-1])

    async def showing(self, said: Message, text: str, within: float = 60.0) -> Seen:
        def found() -> list[Message]:
            return [one for one in self.slack.answers_to(said) if text in one.markdown]

        await self.slack.until(found, within, what=f"{text!r} in an answer")
        return _seen(found()[-1])

    async def presses(self, person: str, seen: Seen, label: str, *, stale: bool = False) -> None:
        await self.slack.person(person).clicks(seen.raw, label, stale=stale)

    async def private(self, person: str) -> Seen:
        return _seen(await self.slack.person(person).next_private())

    async def form(self, person: str) -> Seen:
        modal = await self.slack.person(person).next_modal()
        await self.slack.until(lambda: ONE_MOMENT not in modal.markdown, what="what the modal is to show")
        return _seen(modal)

    async def submits(self, person: str, form: Seen, values: dict[str, Any]) -> None:
        await self.slack.person(person).submits(form.raw, values)

    async def commands(self, person: str, words: str, place: str = "general") -> Seen | None:
        who = self.slack.person(person)
        before = len(who.private)
        await who.slash("/footnote", words, place)
        await self.slack.until(
            lambda: len(who.private) > before or who.modal is not None, what=f"an answer to /footnote {words}"
        )
        return _seen(await who.next_private()) if len(who.private) > before else None

    def rating(self, helpful: bool) -> str:
        return "👍" if helpful else "👎"

    async def configure(self, user_actions: UserActions, **values: str) -> None:
        channel = self.slack.channel("general")
        await user_actions.settings.store.write(
            channel_principal("slack", self.slack.team_id, channel.id), ChosenSettings.from_mapping(values)
        )

    def pings(self) -> list[Any]:
        return list(self.slack.pings())

    @property
    def broken_rules(self) -> list[str]:
        return self.slack.violations + [f"unfurls: {one.text}" for one in self.slack.unfurling()]


def _seen(one: Any) -> Seen:
    return Seen(one.markdown, tuple(one.buttons()), one)
