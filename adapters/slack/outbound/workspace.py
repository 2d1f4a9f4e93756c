"""One workspace as its listeners share it: the Web API client, its helpers, and core's use cases."""

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import structlog

from adapters.slack.api.channel_access import ChannelAccess
from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused, reason_in_words
from adapters.slack.api.ids import person_id
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import views
from adapters.slack.outbound.answer_records import PartnersMentioned
from adapters.slack.outbound.blocks import section
from adapters.slack.outbound.messages import AgentSessions, Messages
from adapters.slack.outbound.views import View
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import ReplyTarget
from core.model.records import QuestionState
from core.ports.message_state import MessageStateStore
from core.service.actions.presses import AnswerPress
from core.service.actions.user_actions import UserActions
from core.service.kb.commands import Caller

log = structlog.get_logger(__name__)


class ViewNotOpened(FootnoteError):
    """Slack did not open a modal."""


@dataclass(frozen=True, slots=True)
class SlackWorkspace:
    """The parts of a workspace that listeners, views and job cards use."""

    web: WebClient
    directory: Directory
    access: ChannelAccess
    messages: Messages
    sessions: AgentSessions
    user_actions: UserActions
    message_states: MessageStateStore

    @classmethod
    def connect(
        cls,
        bot_token: str,
        api_url: str | None,
        admin_users: Iterable[str],
        user_actions: UserActions,
        message_states: MessageStateStore,
    ) -> Self:
        """Return the workspace of this bot token. Nothing connects before the first call."""
        web_client = WebClient(bot_token, api_url)
        directory = Directory(web_client)
        return cls(
            web=web_client,
            directory=directory,
            access=ChannelAccess(directory, user_actions.settings.effective_settings, frozenset(admin_users)),
            messages=Messages(web_client),
            sessions=AgentSessions(web_client),
            user_actions=user_actions,
            message_states=message_states,
        )

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the effective settings of this channel."""
        return await self.user_actions.settings.effective_settings(thread.place)

    async def partner_notice(self, thread: ThreadKey) -> str:
        """Return the notice for a channel's first answer if another organization reads the channel; otherwise empty."""
        if not await self.access.is_shared(thread.channel) or (await self.settings(thread)).closed_to_partners:
            return ""
        kept = await self.message_states.read(PartnersMentioned(channel=replace(thread, thread="")))
        return "" if kept is not None else views.PARTNERS_READ

    async def keep_partners_mentioned(self, thread: ThreadKey) -> None:
        """Record that the notice was shown, so that later answers do not repeat it."""
        await self.message_states.save(PartnersMentioned(channel=replace(thread, thread=""), at=time.time()))

    async def stop(self, question: QuestionState, user: str) -> None:
        """Stop the work on a question, if the user asked it or is an admin. Raises NotFound and Denied."""
        person = Person(person_id(question.thread.space, user))
        await self.user_actions.questions.stop(question, person, partial(self.access.is_admin, user))

    async def caller(self, thread: ThreadKey, user: str) -> Caller:
        """Return the caller of ``/kb`` with their current rights, whatever a button's payload says.

        The Home tab has no channel, so there the caller sees what they may see by themselves.
        """
        permissions = await self.access.permissions(thread.space, user)
        person = await self.access.person(thread.space, user)
        reader = await self.access.reader(thread, user) if thread.channel else Audience(permissions.principals)
        return Caller(person, permissions, reader, thread, ReplyTarget(channel=thread.channel, asker=user))

    def pressed(self, thread: ThreadKey, user: str, trace_id: str, person: Person, reason: str = "") -> AnswerPress:
        """Return the press of a button below an answer."""
        reader, place = partial(self.access.reader, thread, user), partial(self.access.audience, thread, user)
        return AnswerPress(thread, trace_id, person, reader, place, reason)

    async def open_view(self, trigger_id: str, view: View) -> str:
        """Open a modal and return its id. Raises ViewNotOpened.

        A trigger expires after three seconds and cannot be renewed.

        https://docs.slack.dev/interactivity/handling-user-interaction
        """
        try:
            answer = await self.web.call_once("views.open", trigger_id=trigger_id, view=view)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("view_not_opened", reason=str(error))
            why = f": {reason_in_words(error.error)}" if isinstance(error, RequestRefused) else ""
            raise ViewNotOpened(f"Slack did not open the form{why}. Please try again.") from None
        return str((answer.get("view") or {}).get("id") or "")

    async def respond(self, respond: Callable[..., Awaitable[Any]], user: str, **message: Any) -> None:
        """Answer a command or press through its ``respond``; if Slack refuses that, in the user's direct message."""
        try:
            await self.web.respond(respond, **message)
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("reply_not_shown", reason=str(error))
            shown = message.get("blocks") or [section(message["text"])]
            await self.messages.post_directly(user, message["text"], shown)
