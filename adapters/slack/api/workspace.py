"""What everything Slack-side shares: the Web API, who may see and do what, and how to say something to one person."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from adapters.slack.api.directory import Directory, Room
from adapters.slack.api.web_client import Refusal, Web
from adapters.slack.inbound.event_listener import PLATFORM, person_id
from adapters.slack.outbound import blocks
from adapters.slack.outbound.agent_sessions import Sessions
from adapters.slack.outbound.text import escape
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.message_records import QuestionState
from core.model.principals import Principal, PrincipalKind, channel_principal
from core.ports.checkpoints import Checkpoints
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SlackWorkspace:
    """One workspace, with the stores behind it."""

    web: Web
    directory: Directory
    sessions: Sessions
    user_actions: UserActions
    inbox: Inbox
    message_states: MessageStateStore
    checkpoints: Checkpoints
    admin_users: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_agent(self) -> bool:
        """Whether the app is an agent, as far as is known."""
        return self.sessions.available

    def is_agent_in(self, channel: str) -> bool:
        """Whether the app may act as an agent in this channel, as far as is known."""
        return self.sessions.available_in(channel)

    async def bot_user_id(self) -> str:
        """Our own user id."""
        return (await self.directory.identity()).user

    async def show_session(self, thread: ThreadKey, status: str, title: str = "") -> None:
        """Set a session's status and title, best effort."""
        await self.sessions.show(thread, status, title)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in this channel."""
        return await self.user_actions.settings.applying(thread.place)

    # --- who may what

    async def is_admin(self, user: str) -> bool:
        """Whether someone is an admin: of the workspace, as Slack says now, or named in SLACK_ADMIN_USERS."""
        return user in self.admin_users or (await self.directory.member(user)).is_admin

    async def stop(self, question: QuestionState, user: str) -> None:
        """Stop the work on a question, for the one who asked or an admin. Raises NotFound and Denied."""
        person = Person(person_id(question.thread.space, user))
        await self.user_actions.cancellation.stop(question, person, partial(self.is_admin, user))

    async def audience(self, thread: ThreadKey, user: str) -> Audience:
        """Who will read what is said in this thread.

        A public channel: the channel's principal, and the workspace's (``slack:team:T``), because every reader is in
        it. A private channel or group message: the same two; never another channel's. A channel shared with another
        workspace: the channel's principal alone. A direct message: the person (``slack:user:T/U``), their user groups
        (``slack:group:T/S``), the workspace unless they are a guest, and the direct message itself; the channels they
        are a member of are not added. A guest reads in a channel what that channel may see. Where Slack does not say
        what kind of place it is, only the place's own principal remains.
        """
        here = channel_principal(PLATFORM, thread.space, thread.channel)
        room = await self._room(thread.channel)
        if room is None or room.shared:
            return Audience(frozenset({here}))
        if room.direct:
            return Audience(await self.principals(thread.space, user) | {here})
        return Audience(frozenset({here, team_principal(thread.space)}), public=not room.private)

    async def reader(self, thread: ThreadKey, user: str) -> Audience:
        """One person who looks at something in this thread alone: what they may see, and what the place may."""
        place = await self.audience(thread, user)
        return Audience(place.principals | await self.principals(thread.space, user))

    async def principals(self, team: str, user: str) -> frozenset[str]:
        """What one person holds by themselves: the person, their user groups, the workspace unless they are a guest."""
        member = await self.directory.member(user)
        groups = {group_principal(team, group) for group in await self.directory.groups_of(user)}
        workspace = set() if member.is_guest else {team_principal(team)}
        return frozenset({user_principal(team, user)} | groups | workspace)

    async def _room(self, channel: str) -> Room | None:
        try:
            return await self.directory.room(channel)
        except (Refusal, PlatformUnavailable) as error:
            log.warning("room_unknown", channel=channel, reason=str(error))
            return None

    async def person(self, team: str, user: str) -> Person:
        """A person by their Slack id, with the name that others see."""
        return Person(person_id(team, user), await self.directory.name(user))

    # --- saying something

    async def whisper(self, thread: ThreadKey, user: str, text: str, layout: list[blocks.Block] | None = None) -> bool:
        """Say something to one person alone; in a direct message, simply there. Whether it could be said."""
        words = {"text": blocks.fallback(text), "blocks": layout or [blocks.section(escape(text))]}
        root = thread.thread or None
        try:
            if thread.channel.startswith("D"):
                await self.say(thread, text, layout)
            else:
                await self.web.patiently(
                    "chat.postEphemeral", channel=thread.channel, user=user, thread_ts=root, **words
                )
        except (Refusal, PlatformUnavailable) as error:
            log.info("not_told", reason=str(error))
            return False
        return True

    async def tell_directly(self, user: str, text: str) -> None:
        """Say something in a direct message; what cannot be said there either is logged."""
        try:
            opened = await self.web.patiently("conversations.open", users=user)
            await self.say(ThreadKey(PLATFORM, "", str(opened["channel"]["id"]), ""), text)
        except (Refusal, PlatformUnavailable) as error:
            log.warning("not_told", reason=str(error))

    async def say(
        self, thread: ThreadKey, text: str, layout: list[blocks.Block] | None = None, *, part: str = "aside"
    ) -> dict[str, Any]:
        """Say something in a thread, for everyone there. Raises Refusal and PlatformUnavailable."""
        payload = {"question": "", "trace": "", "part": part}
        return await self.web.patiently(
            "chat.postMessage",
            channel=thread.channel,
            thread_ts=thread.thread or None,
            text=blocks.fallback(text),
            blocks=layout or [blocks.section(escape(text))],
            metadata={"event_type": "footnote", "event_payload": payload},
            unfurl_links=False,
            unfurl_media=False,
        )


def team_principal(team: str) -> str:
    """The principal that stands for every full member of the workspace."""
    return str(Principal(PLATFORM, PrincipalKind.TEAM, team))


def group_principal(team: str, group: str) -> str:
    """The principal that stands for everybody in a user group."""
    return str(Principal(PLATFORM, PrincipalKind.GROUP, group, team))


def user_principal(team: str, user: str) -> str:
    """The principal that stands for one person; not their id, which has no kind in it."""
    return str(Principal(PLATFORM, PrincipalKind.USER, user, team))
