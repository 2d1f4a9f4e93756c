"""One Slack workspace as a Footnote platform.

Events are stored durably before they are acknowledged. If the inbox is unavailable, Socket Mode gets no acknowledgement
and HTTP gets 503, so Slack delivers the event again.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import structlog
from aiohttp import web
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.slack.api.errors import RequestRefused, configuration_error
from adapters.slack.api.ids import PLATFORM, user_id
from adapters.slack.app import PATH, SlackListeners, build_app, dispatch_http, dispatch_socket_mode
from adapters.slack.inbound.event_listener import EventListener
from adapters.slack.inbound.look_back import LookBack
from adapters.slack.inbound.socket_mode import RETRY_SECONDS, SocketModeConnection
from adapters.slack.inbound.thread_context import Parse, ThreadContext
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.listeners.support import BackgroundTasks
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.answer_renderer import SlackMessage
from adapters.slack.outbound.answer_view import slack_answer_view
from adapters.slack.outbound.notices import SlackAnnouncements, SlackNotices, SlackOffers
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.errors import ConfigurationError, PlatformUnavailable
from core.model.incoming_events import (
    FileReference,
    Incoming,
    IncomingMessage,
    MessageRoute,
    Permissions,
    person_in,
    question_of,
)
from core.model.inquiry import Checkpoint
from core.model.records import AnswerStage
from core.ports.answer_view import AnswerView
from core.ports.chat import NoAnswer
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.ports.platform import MessageState, PlatformCapabilities
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import EDITED_LATE, YOU_EDITED, ThreadMuted, outcome_text
from core.service.delivery.delivery import AnswerDelivery
from core.service.delivery.job_cards import look_after
from core.service.delivery.pacing import LIMITS, PacingLimits
from core.service.gaps.digest import GapOverview
from core.service.incoming import BackfillPlaces
from core.service.kb.service import KnowledgeService
from core.service.leases import pause

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp

CANNOT_LISTEN = "Slack needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP) beside SLACK_BOT_TOKEN."
log = structlog.get_logger(__name__)


class SlackPlatform:
    """``core.ports.platform.Platform`` for one workspace. It closes its connections on exit."""

    name = PLATFORM
    question_state = SlackQuestionState

    def __init__(
        self,
        *,
        bot_token: str,
        app_token: str | None,
        signing_secret: str | None,
        inbox: Inbox,
        message_states: MessageStateStore,
        user_actions: UserActions,
        parse: Parse,
        kb: KnowledgeService,
        gaps: GapOverview,
        api_url: str | None = None,
        admin_users: Iterable[str] = (),
        allowed_bots: Iterable[str] = (),
        listens: bool = True,
        pacing_limits: PacingLimits = LIMITS,
    ) -> None:
        """Use Socket Mode with an app token, otherwise HTTP with a signing secret. Raises ConfigurationError.

        With ``listens`` False, the platform answers what another process received. It calls Slack, but Slack does not
        call it.
        """
        if listens and not app_token and not signing_secret:
            raise ConfigurationError(CANNOT_LISTEN, remedy="footnote manifest slack says where they come from.")
        self.workspace = SlackWorkspace.connect(bot_token, api_url, admin_users, user_actions, message_states)
        self._context = ThreadContext(self.workspace.web, self.workspace.directory, parse)
        places = BackfillPlaces(message_states, PLATFORM)
        event_listener = EventListener(self.workspace, inbox, places, allowed_bots)
        self._look_back = LookBack(self.workspace.web, event_listener, places, self.tell)
        self._knowledge = SlackKnowledge(self.workspace, kb)
        self._background = BackgroundTasks()
        self._listeners = SlackListeners(self.workspace, event_listener, self._background, self._knowledge, gaps)
        self._listens = listens
        self._pacing_limits = pacing_limits
        self._bot_token = bot_token
        self._signing_secret = signing_secret if not app_token else None
        self._socket: SocketModeConnection | None = None
        if listens and app_token:
            self._socket = SocketModeConnection(self.workspace.web, app_token, self._dispatch_socket_mode)
        self._app: AsyncApp | None = None

    # --- connection

    async def __aenter__(self) -> Self:
        self._app = build_app(self._listeners, bot_token=self._bot_token, signing_secret=self._signing_secret)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._background.close()
        await self._knowledge.cards.close()
        await self.workspace.web.close()

    async def run(self, stop: asyncio.Event) -> None:
        """Stay connected until ``stop`` is set. Raises ConfigurationError if a token is wrong or of the wrong kind."""
        if await self._identify(stop):
            self._background.start(self._watch_token(stop))
            if self._listens:
                us = await self.workspace.directory.identity()
                self._background.start(self._look_back.keep_up(self._connections, us.team, stop))
            self._background.start(look_after(self._knowledge.cards, stop))
            if self._socket is not None:
                await self._socket.run(stop)
        await stop.wait()

    async def _identify(self, stop: asyncio.Event) -> bool:
        """Ask Slack for our identity until it answers. Return False if ``stop`` is set first."""
        failures = 0
        while not stop.is_set():
            try:
                us = await self.workspace.directory.identity()
            except RequestRefused as refusal:
                if (wrong := configuration_error(refusal)) is not None:
                    raise wrong from None
                log.warning("slack_refuses", reason=refusal.error)
            except PlatformUnavailable as error:
                log.warning("slack_away", reason=str(error))
            else:
                log.info("slack_known", team=us.team, bot=us.user, mode=self._mode())
                return True
            await pause(stop, RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
            failures += 1
        return False

    def _mode(self) -> str:
        if not self._listens:
            return "calls alone"
        return "socket" if self._socket else "http"

    def _connections(self) -> int:
        """Return the number of connections so far, or 0 while disconnected. HTTP always counts as one."""
        return 1 if self._socket is None else self._socket.connections

    async def _watch_token(self, stop: asyncio.Event) -> None:
        """Retry a refused token periodically, because no other call may happen for hours."""
        while not stop.is_set():
            await pause(stop, RETRY_SECONDS[-1])
            if self.workspace.web.token_refusal and not stop.is_set():
                with suppress(RequestRefused, PlatformUnavailable):
                    await self.workspace.web.call_once("auth.test")

    def readiness_problem(self) -> str:
        """Return why the platform is not ready, or an empty string if it is."""
        if refusal := self.workspace.web.token_refusal:
            return f"Slack rejected the token ({refusal}); footnote doctor says what to do"
        if self.workspace.directory.cached_identity is None:
            return "Slack has not answered yet"
        return "Socket Mode is not connected" if self._socket is not None and not self._socket.connected else ""

    def routes(self) -> list[web.RouteDef]:
        """Return the single HTTP route for events, interactions and commands; empty in Socket Mode."""
        return [web.post(PATH, self._dispatch_http)] if self._listens and self._socket is None else []

    async def _dispatch_http(self, request: web.Request) -> web.Response:
        return web.Response(status=503) if self._app is None else await dispatch_http(self._app, request)

    async def _dispatch_socket_mode(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if self._app is not None:
            await dispatch_socket_mode(self._app, client, request)

    def capabilities(self) -> PlatformCapabilities:
        """Return the capabilities that jobs and announcements need."""
        workspace = self.workspace
        announcements, offers = SlackAnnouncements(workspace), SlackOffers(workspace)
        notices = SlackNotices(workspace)
        return replace(self._knowledge.capabilities(), announcements=announcements, offers=offers, notices=notices)

    # --- core.ports.platform.Platform

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[SlackQuestionState], trace_id: str
    ) -> AnswerView:
        """Return the view that shows the answer to this message."""
        return self._delivery(question_of(incoming), message_state, trace_id)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the effective settings of this channel."""
        return await self.workspace.settings(thread)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return who will be able to read the answer, as of the last minute. See ``ChannelAccess.audience``."""
        return await self.workspace.access.audience(incoming.thread, user_id(person_in(incoming)))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return what this person may do here, as of the last minute."""
        return await self.workspace.access.permissions(thread.space, user_id(person))

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the messages before the question. See ``ThreadContext.earlier``."""
        return await self._context.earlier(message)

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the message's files. See ``ThreadContext.attachments``."""
        return await self._context.attachments(message)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message with what its event left out. See ``ThreadContext.complete``."""
        return await self._context.complete(message)

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the files of the message, or those above it. See ``ThreadContext.files``."""
        return await self._context.files(message, above=above)

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Tell the writer that we were muted or unmuted."""
        await self.tell(message, outcome_text(ThreadMuted(muted=decided is MessageRoute.MUTE)))

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Tell the person who wrote or pressed: in an ephemeral message, or else in their direct message."""
        user, messages = user_id(person_in(incoming)), self.workspace.messages
        if not await messages.post_privately(incoming.thread, user, text):
            await messages.post_directly(user, text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[SlackQuestionState]) -> None:
        """Show only the writer a button to ask the edited question again. See ``AnswerButtonListeners``."""
        user, thread = user_id(message.asker), message.thread
        layout = blocks.offer_again(thread.thread, message.id)
        if not await self.workspace.messages.post_privately(thread, user, YOU_EDITED, layout):
            await self.workspace.messages.post_directly(user, EDITED_LATE)

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[SlackQuestionState], card: Checkpoint
    ) -> None:
        """Remove the buttons of a card. An ephemeral card can only be edited through a press on it."""
        if message_state.kept.stage is AnswerStage.OFFERED:
            with suppress(NoAnswer):  # Slack fails for this one message; the thread continues
                await self._delivery(message, message_state).close_card(card)
        await self.workspace.sessions.show(message.thread, "active")

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[SlackQuestionState]) -> None:
        """Delete what was posted for a deleted question, including earlier cards that led to it."""
        await self._delivery(message, message_state).withdraw()
        await self.workspace.sessions.show(message.thread, "active")

    def _delivery(
        self, message: IncomingMessage, message_state: MessageState[SlackQuestionState], trace_id: str = ""
    ) -> AnswerDelivery[SlackMessage]:
        return slack_answer_view(self.workspace, message, message_state, trace_id, self._pacing_limits)
