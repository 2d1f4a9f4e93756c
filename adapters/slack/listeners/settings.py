"""The form with a channel's settings, which ``/footnote settings`` and the Home tab open."""

from dataclasses import dataclass

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, sender_of
from adapters.slack.outbound import views
from adapters.slack.outbound.payloads import SettingsForm, form_in
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable

SAVED = "The settings of this channel are saved; they hold from the next question."


@dataclass(frozen=True, slots=True)
class ChannelSettingsForm:
    """Shows what applies in a channel to an admin, and keeps what they choose."""

    workspace: SlackWorkspace

    def register(self, app: AsyncApp) -> None:
        """The form as it is sent."""
        app.view(views.SETTINGS)(self._submit)

    async def _submit(self, ack: Ack, body: Body) -> None:
        try:
            await self._save(body)
        except FootnoteError as error:
            await acknowledge(ack, errors={"profile": str(error)})
            return
        await ack()

    async def view(self, place: ThreadKey, user: str) -> views.View:
        """The form with what applies in a channel. Raises Denied, on record, for who is no admin."""
        settings = self.workspace.user_actions.settings
        person, is_admin = Person(person_id(place.space, user)), await self.workspace.access.is_admin(user)
        await settings.require_admin(person, place.place, is_admin=is_admin)
        bases = await settings.selectable_bases(await self.workspace.access.audience(place, user))
        known = await self.workspace.directory.groups()
        groups = {group_id: f"@{group.handle}" for group_id, group in sorted(known.items())}
        now = await self.workspace.settings(place)
        return views.settings(now, bases, groups, await self._channel_name(place), SettingsForm(place.channel))

    async def _channel_name(self, place: ThreadKey) -> str:
        """What the form calls the channel."""
        try:
            channel = await self.workspace.directory.channel(place.channel)
        except (RequestRefused, PlatformUnavailable):
            return "this channel"
        if channel.direct:
            return "this direct message"
        return f"#{channel.name}" if channel.name else "this channel"

    async def _save(self, body: Body) -> None:
        """Keep what the settings form brought. Raises Denied: rights are looked up again."""
        team, user = sender_of(body)
        place = ThreadKey(PLATFORM, team, form_in(SettingsForm, body["view"]).channel, "")
        person = await self.workspace.access.person(team, user)
        is_admin, readers = (
            await self.workspace.access.is_admin(user),
            await self.workspace.access.audience(place, user),
        )
        chosen, settings = views.read_settings(body["view"]), self.workspace.user_actions.settings
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        if not await self.workspace.messages.post_privately(place, user, SAVED):
            await self.workspace.messages.post_directly(user, SAVED)
