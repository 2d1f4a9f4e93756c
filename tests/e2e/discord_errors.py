"""Every error that Discord documents, for every call that a question may make: one visible outcome, never two.

Each trouble has a channel and a person of its own, so that all of a route's can be played at once against one server
and one installation. Shared by the suite, which plays those that are told apart, and by
``python -m research.measure.discord_errors``, which plays all there are.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from core.model.channel_settings import ChosenSettings
from core.model.principals import channel_principal
from core.service import leases as leasing
from tests.e2e.discord_office import Office
from tests.fakes.discord import Channel, FakeDiscord, Interaction, Message, Person
from tests.fakes.discord.error_codes import Trouble

REFUNDS = "Refunds are paid within 14 days."
QUESTION = "how long do refunds take?"
MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"
CALLBACK = "/interactions/{interaction_id}/{interaction_token}/callback"
ANSWER = "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"
OFTEN = 12  # more than one run of a question meets before it is kept for later
OF_THE_TOKEN = 3  # each of these ends a run at once
NOTHING = "nothing, logged"
AT_ONCE = 100  # a command is to be acknowledged soon, also on a machine that plays a hundred others
LEASE_SECONDS = 31.0
PATIENCE = 240.0  # seconds for all plays of a route, on a busy machine

Asked = Message | Interaction


@dataclass(frozen=True)
class Stage:
    """The channel and person of one error."""

    office: Office
    discord: FakeDiscord
    person: Person
    channel: Channel


@dataclass(frozen=True)
class Route:
    """One call that a question makes. ``about`` narrows the error, ``ask`` asks the question."""

    name: str
    method: str
    template: str
    ask: Callable[[Stage], Awaitable[Asked]]
    about: Callable[[Stage], int] = lambda stage: stage.channel.id
    times: int = OFTEN
    only_place: bool = False  # what is refused here can be said nowhere else


@dataclass(frozen=True)
class Played:
    """The final messages that the asker saw."""

    route: str
    trouble: str
    where: tuple[str, ...]  # one name for each message: thread, reply, channel, direct; "answered" or "said why not"
    working: bool = False
    unsayable: bool = False  # the only place there is refuses for good

    @property
    def once(self) -> bool:
        """Return whether there is exactly one final outcome, or none if no place accepts it."""
        return len(self.where) == (0 if self.unsayable else 1) and not self.working


# --- how it is asked


async def _mention(stage: Stage) -> Asked:
    return await stage.person.says(f"<@bot> {QUESTION}", stage.channel)


async def _in_a_thread(stage: Stage) -> Asked:
    root = await stage.person.says("Something about refunds.", stage.channel)
    await stage.person.starts_thread(root, "a thread")
    return await stage.person.says(f"<@bot> {QUESTION}", thread=root)


async def _in_reply(stage: Stage) -> Asked:
    original = await stage.person.says(QUESTION, stage.channel)
    return await stage.person.says("<@bot>", stage.channel, reply_to=original)


async def _directly(stage: Stage) -> Asked:
    return await stage.person.dm(QUESTION)


async def _to_be_answered_directly(stage: Stage) -> Asked:
    place = channel_principal("discord", str(stage.discord.guild_id), str(stage.channel.id))
    await stage.office.settings_store.write(place, ChosenSettings.from_mapping({"reply_style": "private"}))
    return await _mention(stage)


async def _by_command(stage: Stage) -> Asked:
    return await stage.person.slash("ask", question=QUESTION, private=False, channel=stage.channel)


async def _by_private_command(stage: Stage) -> Asked:
    return await stage.person.slash("ask", question=QUESTION, private=True, channel=stage.channel)


def _person(stage: Stage) -> int:
    return stage.person.id


def _direct_channel(stage: Stage) -> int:
    return stage.person.dm_channel.id


ROUTES = (
    Route("start a thread", "POST", "/channels/{channel_id}/messages/{message_id}/threads", _mention),
    Route("post in the thread and the channel", "POST", MESSAGES, _mention),
    Route("edit in the thread", "PATCH", MESSAGE, _mention),
    Route("show that it types", "POST", "/channels/{channel_id}/typing", _mention),
    Route("post in somebody's thread", "POST", MESSAGES, _in_a_thread),
    Route("read a thread", "GET", MESSAGES, _in_a_thread),
    Route("read what is replied to", "GET", MESSAGE, _in_reply),
    Route("post directly", "POST", MESSAGES, _directly, _direct_channel, only_place=True),
    Route("post directly, refused once", "POST", MESSAGES, _directly, _direct_channel, times=1),
    Route("edit directly", "PATCH", MESSAGE, _directly, _direct_channel),
    Route("look up a member", "GET", "/guilds/{guild_id}/members/{user_id}", _directly, _person),
    Route("open a direct channel", "POST", "/users/@me/channels", _to_be_answered_directly, _person),
    Route("acknowledge a command", "POST", CALLBACK, _by_command),
    Route("answer a command", "PATCH", ANSWER, _by_command),
    Route("answer a command privately", "PATCH", ANSWER, _by_private_command),
)


# --- playing it


class Theatre:
    """One server and one installation, in which any number of errors are played."""

    def __init__(self, discord: FakeDiscord, office: Office) -> None:
        self.discord = discord
        self.office = office
        self._number = 0

    async def play(self, route: Route, troubles: Sequence[Trouble]) -> list[Played]:
        """Play many errors at once; return their results."""
        played: list[Played] = []
        for first in range(0, len(troubles), AT_ONCE):
            played += await self._play(route, troubles[first : first + AT_ONCE])
        return played

    async def _play(self, route: Route, troubles: Sequence[Trouble]) -> list[Played]:
        stages = [await self._stage() for _ in troubles]
        for stage, trouble in zip(stages, troubles, strict=True):
            self._order(route, trouble, stage)
        asked = await asyncio.gather(*(route.ask(stage) for stage in stages))
        async with asyncio.timeout(PATIENCE):
            await self.discord.quiet(0.1)
            while await self.office.inbox.count_waiting():
                await self.office.work.wait_for_rest()
                self.office.harness.clock.advance(LEASE_SECONDS)  # of what failed: that is its pause
        await self.discord.quiet(0.1)
        self.discord.faults.ordered.clear()
        return [
            self._seen(route, trouble, stage, one) for stage, trouble, one in zip(stages, troubles, asked, strict=True)
        ]

    async def _stage(self) -> Stage:
        self._number += 1
        channel = await self.discord.text_channel(f"stage-{self._number}")
        return Stage(self.office, self.discord, self.discord.person(f"person{self._number}"), channel)

    def _order(self, route: Route, trouble: Trouble, stage: Stage) -> None:
        self.discord.fail(
            route.method,
            route.template,
            times=min(route.times, OF_THE_TOKEN if trouble.status == 401 else OFTEN),
            about=route.about(stage),
            status=trouble.status or None,
            code=trouble.code,
            message=trouble.name,
            retry_after=trouble.retry_after,
            text=trouble.text,
            text_type="application/json" if trouble.name == "200 cut off" else "text/html",
            drops=trouble.drops,
        )

    def _seen(self, route: Route, trouble: Trouble, stage: Stage, asked: Asked) -> Played:
        here = [place for place in self.discord.world.channels.values() if stage.channel in (place, place.parent)]
        places = {place: "thread" if place.is_thread else "channel" for place in here if not place.deleted}
        places[stage.person.dm_channel] = "direct"
        shown = [
            (_kind(one, where), one)
            for place, where in places.items()
            for one in place.posts()
            if one.author is self.discord.me and one.kind != THREAD_STARTER and one.visible_to(stage.person.member)
        ]
        if route.template == CALLBACK and isinstance(asked, Interaction) and asked.failed and not shown:
            return Played(route.name, trouble.name, ("Discord itself: did not respond",))
        where = tuple(f"{kind}: {'answered' if REFUNDS in one.text else 'said why not'}" for kind, one in shown)
        unsayable = route.only_place and not trouble.passes and trouble.status != 401
        return Played(route.name, trouble.name, where, any(self.discord.working(one) for _, one in shown), unsayable)


THREAD_STARTER = 21


def _kind(one: Message, where: str) -> str:
    return "reply" if where == "channel" and one.reference is not None else where


@asynccontextmanager
async def theatre(patching: pytest.MonkeyPatch) -> AsyncIterator[Theatre]:
    """Return a server and an installation with short retries."""
    patching.setattr(leasing, "RETRY_SECONDS", 0.02)
    async with FakeDiscord() as discord:
        office = Office(discord, lanes=64, timed_by_harness=True)
        await office.harness.knows(REFUNDS, title="Refund policy")
        async with office.open():
            yield Theatre(discord, office)
        late = "was acknowledged after more than"  # an acknowledgement that the library repeats while Discord is away
        assert [one for one in discord.violations if late not in one] == []


def table(played: Sequence[Played]) -> str:
    """Return the results by route, then every case without exactly one outcome."""
    lines = ["| route | outcome | troubles |", "|---|---|---|"]
    for route in dict.fromkeys(one.route for one in played):
        of_route = [one for one in played if one.route == route]
        for outcome in sorted({one.where for one in of_route}):
            count = sum(one.where == outcome for one in of_route)
            lines.append(f"| {route} | {' + '.join(outcome) or NOTHING} | {count} |")
    wrong = [one for one in played if not one.once]
    lines += [f"\n{len(played)} played, {len(played) - len(wrong)} with exactly one outcome, {len(wrong)} without."]
    lines += [f"- {one.route}, {one.trouble}: {' + '.join(one.where) or NOTHING}" for one in wrong]
    return "\n".join(lines)
