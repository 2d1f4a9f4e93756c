"""The form with a channel's settings, which ``/footnote settings`` and the Home tab open."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, sender_of
from adapters.slack.listeners.error_reports import ACKNOWLEDGE_SECONDS, TRY_AGAIN
from adapters.slack.outbound import views
from adapters.slack.outbound.payloads import SettingsForm, form_in
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import FootnoteError, NotFound

NOT_SEEN = "I cannot see who reads this channel."
SAVED = "Saved. The settings of this channel apply from the next question."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelSettingsForm:
    """Shows what applies in a channel to an admin, and keeps what they choose."""

    workspace: SlackWorkspace

    def register(self, app: AsyncApp) -> None:
        """The form as it is sent."""
        app.view(views.SETTINGS)(self._submit)

    async def _submit(self, ack: Ack, body: Body) -> None:
        (team, user), channel = sender_of(body), form_in(SettingsForm, body["view"]).channel
        place = ThreadKey(PLATFORM, team, channel, "")
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._save(place, user, body["view"])
        except (FootnoteError, TimeoutError) as error:
            await acknowledge(ack, errors={"profile": str(error) or TRY_AGAIN})
            return
        await ack()
        if not await self.workspace.messages.post_privately(place, user, SAVED):
            await self.workspace.messages.post_directly(user, SAVED)

    async def view(self, place: ThreadKey, user: str) -> views.View:
        """The form with what applies in a channel.

        Raises Denied, on record, for who is no admin; NotFound and PlatformUnavailable where Slack does not say who
        reads there, and so which bases could be chosen.
        """
        settings = self.workspace.user_actions.settings
        person, is_admin = Person(person_id(place.space, user)), await self.workspace.access.is_admin(user)
        await settings.require_admin(person, place.place, is_admin=is_admin)
        name = await self._channel_name(place)
        bases = await settings.selectable_bases(await self._readers(place, user))
        known = await self.workspace.directory.groups()
        groups = {group_id: f"@{group.handle}" for group_id, group in sorted(known.items())}
        now = await self.workspace.settings(place)
        shared = await self.workspace.access.is_shared(place.channel)
        return views.settings(now, bases, groups, name, SettingsForm(place.channel), shared=shared)

    async def _readers(self, place: ThreadKey, user: str) -> Audience:
        """Who reads there, with every open base: an admin chooses among all of them."""
        return replace(await self.workspace.access.audience(place, user), open_bases=None)

    async def _channel_name(self, place: ThreadKey) -> str:
        """What the form calls the channel. Raises NotFound and PlatformUnavailable."""
        try:
            channel = await self.workspace.directory.channel(place.channel)
        except RequestRefused as refusal:
            log.info("channel_unknown", reason=refusal.error)
            raise NotFound(NOT_SEEN, remedy="Invite me there.") from None
        if channel.direct:
            return "this direct message"
        return f"#{channel.name}" if channel.name else "this channel"

    async def _save(self, place: ThreadKey, user: str, view: Mapping[str, Any]) -> None:
        """Keep what the form brought; rights are looked up again. Raises what ``view`` raises."""
        settings, access = self.workspace.user_actions.settings, self.workspace.access
        await self._channel_name(place)
        person, is_admin = await access.person(place.space, user), await access.is_admin(user)
        chosen = views.read_settings(view, await settings.store.read(place.place))
        readers = await self._readers(place, user)
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
