"""Interactions: what a person pressed, typed or chose, how the bot answered, and for how long it still may.

An interaction must be acknowledged within 3 s, once; its token serves followups and edits for 15 minutes.
Source: the platform's "Receiving and Responding" page.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import showing
from tests.fakes.discord.refusal import Refusal, unknown
from tests.fakes.discord.world import DM, UPLOAD_LIMIT, Channel, Member, Message

if TYPE_CHECKING:
    from tests.fakes.discord.gateway import Gateway
    from tests.fakes.discord.world import World

Json = dict[str, Any]

APPLICATION_COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
ACK_SECONDS = 3.0
PATIENCE = 8  # times as long as Discord waits: a machine that is busy with something else is no late bot
TOKEN_SECONDS = 15 * 60.0


@dataclass(frozen=True)
class Choice:
    """One autocomplete suggestion."""

    name: str
    value: str | int | float


@dataclass(eq=False)
class Modal:
    """A form the bot opened for one person."""

    title: str
    custom_id: str
    components: list[Json]
    interaction: Interaction
    sent: bool = False

    @property
    def text(self) -> str:
        labels = [item for item in showing.walk(self.components) if item["type"] == showing.LABEL]
        asked = [str(item.get(name) or "") for item in labels for name in ("label", "description")]
        return "\n".join(filter(None, [self.title, showing.text("", (), self.components), *asked]))

    def fields(self) -> dict[str, Json]:
        """Its inputs by label, each the raw component."""
        found: dict[str, Json] = {}
        for component in showing.walk(self.components):
            inner = component.get("component")
            if component["type"] == showing.LABEL and inner is not None:
                found[component["label"]] = inner
            elif component["type"] == showing.TEXT_INPUT and component.get("label"):
                found[component["label"]] = component
        return found


@dataclass(eq=False)
class Interaction:
    """One interaction, from the press to everything that was shown in answer to it."""

    id: int
    token: str
    kind: int
    person: Member
    channel: Channel
    data: Json
    source: Message | None = None
    before: showing.Sight | None = None
    started: float = field(default_factory=time.monotonic)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    ack_type: int | None = None
    ack_after: float | None = None
    too_late: bool = False
    expired: bool = False
    failed: bool = False
    unconfirmed: bool = False  # acknowledged, and its client was told that it failed
    modal: Modal | None = None
    choices: list[Choice] = field(default_factory=list)
    original: Message | None = None
    messages: list[Message] = field(default_factory=list)

    @property
    def reply(self) -> Message:
        """What the person sees last in answer. Raises LookupError when there is nothing."""
        for message in reversed(self.messages):
            if message.visible_to(self.person) and not message.loading:
                return message
        raise LookupError("the interaction was answered with nothing to see")

    @property
    def text(self) -> str:
        """All that was shown in answer and is still there."""
        return "\n".join(message.text for message in self.messages if message.visible_to(self.person))

    @property
    def private(self) -> bool:
        """Everything shown in answer was shown to this person only."""
        return all(message.ephemeral_for is self.person for message in self.messages)

    def metadata(self) -> Json:
        return {
            "id": str(self.id),
            "type": self.kind,
            "user": self.person.user(),
            "authorizing_integration_owners": {"0": str(self.channel.guild_id or 0)},
        }


class Interactions:
    """Every interaction by its id and token, and the rules of answering one."""

    def __init__(self, world: World, gateway: Gateway) -> None:
        self.world = world
        self.gateway = gateway
        self.ack_seconds = ACK_SECONDS * PATIENCE
        self.every: dict[int, Interaction] = {}
        self.to_be_missed = 0

    async def start(
        self,
        kind: int,
        person: Member,
        channel: Channel,
        data: Json,
        source: Message | None = None,
        before: showing.Sight | None = None,
    ) -> Interaction:
        """Tells the bot, and waits until it acknowledges or the time for that has passed."""
        interaction = Interaction(
            self.world.ids.next(), f"aW50ZXJhY3Rpb246{secrets.token_urlsafe(40)}", kind, person, channel, data, source
        )
        interaction.before = before
        self.every[interaction.id] = interaction
        if self.to_be_missed:
            self.to_be_missed -= 1
            interaction.too_late = True
        await self.gateway.dispatch("INTERACTION_CREATE", self.payload(interaction))
        try:
            await asyncio.wait_for(interaction.answered.wait(), self.ack_seconds)
        except TimeoutError:
            interaction.failed = True
        return interaction

    def payload(self, interaction: Interaction) -> Json:
        """The event's JSON; in a server it names the member, in a direct message the user."""
        channel, person = interaction.channel, interaction.person
        allowed = str(int(self.world.permissions(person, channel)))
        body: Json = {
            "id": str(interaction.id),
            "application_id": str(self.world.application_id),
            "type": interaction.kind,
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel_id": str(channel.id),
            "channel": channel.payload() | {"permissions": allowed},
            "app_permissions": str(int(self.world.permissions(self.world.bot, channel))),
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(channel.guild_id or 0)},
            "context": 1 if channel.kind == DM else 0,
            "attachment_size_limit": UPLOAD_LIMIT,
        }
        if interaction.source is not None:
            then = {} if interaction.before is None else interaction.before.payload()
            body["message"] = interaction.source.payload() | then
        if channel.guild_id is None:
            return body | {"user": person.user()}
        guild = {"id": str(channel.guild_id), "locale": "en-US", "features": []}
        body |= {"guild_id": str(channel.guild_id), "guild_locale": "en-US", "guild": guild}
        return body | {"member": person.payload() | {"permissions": allowed}}

    def answerable(self, interaction_id: int, token: str) -> Interaction:
        """The interaction that a callback may answer now. Raises Refusal: unknown, too late or answered before."""
        interaction = self.every.get(interaction_id)
        if interaction is None or interaction.token != token:
            raise unknown("interaction", 10062)
        if interaction.ack_type is not None:
            message = "Interaction has already been acknowledged."
            raise Refusal(400, 40060, message, violation=None if interaction.unconfirmed else message)
        if interaction.too_late:
            interaction.failed = True
            interaction.answered.set()
            raise unknown("interaction", 10062)
        if interaction.failed or time.monotonic() - interaction.started > self.ack_seconds:
            violation = f"an interaction was acknowledged after more than {self.ack_seconds} s"
            raise Refusal(404, 10062, "Unknown interaction", violation=violation)
        return interaction

    def acknowledged(self, interaction: Interaction, kind: int) -> None:
        interaction.ack_type = kind
        interaction.ack_after = time.monotonic() - interaction.started
        interaction.answered.set()
        self.world.changes.notify()

    def refused(self, token: str) -> None:
        """Its callback was answered with an error that no client repeats: the person need not wait."""
        for interaction in self.every.values():
            if interaction.token == token:
                interaction.failed = True
                interaction.answered.set()

    def unconfirm(self, token: str) -> None:
        """Its callback was done, and its client hears that it was not: it may well send it again."""
        for interaction in self.every.values():
            interaction.unconfirmed |= interaction.token == token

    def by_token(self, token: str) -> Interaction:
        """The acknowledged interaction whose followup webhook this is. Raises Refusal: unknown or expired."""
        for interaction in self.every.values():
            if interaction.token == token and interaction.ack_type is not None:
                if interaction.expired or time.monotonic() - interaction.started > TOKEN_SECONDS:
                    raise Refusal(401, 50027, "Invalid Webhook Token")
                return interaction
        raise unknown("Webhook", 10015)

    def expire(self) -> None:
        """Every interaction so far becomes older than 15 minutes."""
        for interaction in self.every.values():
            interaction.expired = True
