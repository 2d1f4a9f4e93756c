"""Rights in Slack: who can read a channel, who is an admin, and what each person may see.

The directory caches rights for RIGHTS_SECONDS. Code that checks a right asks here each time and caches nothing itself.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from adapters.slack.api.directory import Channel, Directory
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, group_principal, person_id, team_principal, user_principal
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import Permissions
from core.model.principals import channel_principal, mail_principal

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelAccess:
    """The rights of one workspace. ``admin_users`` are Slack ids that count as admins in addition to Slack's own."""

    directory: Directory
    settings: Callable[[str], Awaitable[ChannelSettings]]  # of a place
    admin_users: frozenset[str] = frozenset()

    async def is_admin(self, user: str) -> bool:
        """Return whether someone is a workspace admin according to Slack, or is listed in SLACK_ADMIN_USERS."""
        return user in self.admin_users or (await self.directory.member(user)).is_admin

    async def permissions(self, team: str, user: str) -> Permissions:
        """Return what one person may do anywhere in the workspace."""
        return Permissions(await self.is_admin(user), await self.principals(team, user))

    async def audience(self, thread: ThreadKey, user: str) -> Audience:
        """Return who can read what is said in this thread.

        - Public channel: the principals of the channel and of the workspace (``slack:team:T``), because every reader is
          a member of the workspace.
        - Private channel or group message: the same two principals, never another channel's.
        - Channel shared with another workspace: the channel's principal only. If an admin closed the channel to
          partners, only the chosen bases among those open to everyone are included.
        - Direct message: the person (``slack:user:T/U``), their user groups (``slack:group:T/S``), the direct message
          itself, and the workspace if they are a full member. Channels that they belong to are not added.

        In a channel, a guest reads what that channel may see. If Slack does not say what kind of place it is, only the
        place's own principal remains.
        """
        here = channel_principal(PLATFORM, thread.space, thread.channel)
        channel = await self._channel(thread.channel)
        if channel is None or channel.shared:
            return Audience(frozenset({here}), open_bases=await self._open_bases(here))
        if channel.direct:
            return Audience(await self.principals(thread.space, user) | {here})
        return Audience(frozenset({here, team_principal(thread.space)}), public=not channel.private)

    async def reader(self, thread: ThreadKey, user: str) -> Audience:
        """Return what one person may see in this thread: their own principals and the place's."""
        place, own = await self.audience(thread, user), await self.principals(thread.space, user)
        is_ours = team_principal(thread.space) in own
        return Audience(place.principals | own, open_bases=None if is_ours else place.open_bases)

    async def is_shared(self, channel: str) -> bool:
        """Return whether people of another organization can read a channel, according to Slack."""
        found = await self._channel(channel)
        return found is not None and found.shared

    async def _open_bases(self, place: str) -> frozenset[str] | None:
        settings = await self.settings(place)
        return (settings.bases or frozenset()) if settings.closed_to_partners else None

    async def principals(self, team: str, user: str) -> frozenset[str]:
        """Return one person's principals: themselves, their user groups, the workspace and their confirmed e-mail.

        Only full members, according to Slack, have the last two.
        """
        member = await self.directory.member(user)
        groups = {group_principal(team, group) for group in await self.directory.groups_of(user)}
        workspace = {team_principal(team)} if member.is_full else set()
        mail = {mail_principal(member.email)} - {""}
        return frozenset({user_principal(team, user)} | groups | workspace | mail)

    async def _channel(self, channel: str) -> Channel | None:
        try:
            return await self.directory.channel(channel)
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("channel_unknown", channel=channel, reason=str(error))
            return None

    async def person(self, team: str, user: str) -> Person:
        """Return a person by their Slack id, with the name that others see."""
        return Person(person_id(team, user), await self.directory.name(user))
