"""The page as a platform: its screens behind one guard, and what a worker needs to answer questions there."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from aiohttp import web

from adapters.web.access.guard import Guard
from adapters.web.access.rules import AccessRules, audience_of
from adapters.web.access.sign_in import HASHING, SignIn
from adapters.web.ask.answer_view import AnswerStage, WebAnswerView, WebQuestionState
from adapters.web.ask.conversations import attached_texts
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.pages import Pages, static_file
from adapters.web.routing import PLATFORM, Screen
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.incoming_events import (
    FileReference,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    MessageRoute,
    Permissions,
    person_in,
    question_of,
)
from core.model.inquiry import Checkpoint
from core.ports.access import Audit, WebSessions
from core.ports.answer_view import AnswerStream, Ended, NoticeShown
from core.ports.message_state import MessageStateStore
from core.ports.platform import MessageState, Platform, PlatformCapabilities
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import CARD_OVER, EDITED_LATE


class WebPlatform:
    """The page as a platform, next to ``/v1`` and MCP under one address."""

    def __init__(
        self,
        *,
        rules: AccessRules,
        sessions: WebSessions,
        audit: Audit,
        user_actions: UserActions,
        message_states: MessageStateStore,
        stream: AnswerStream,
        pages: Pages,
        live: LiveStreams,
        screens: Sequence[Screen],
        chats: Sequence[Platform] = (),
    ) -> None:
        """Put the screens behind one guard. ``chats`` say who is still an admin there."""
        self._screens = tuple(screens)
        self._user_actions = user_actions
        self._stream = stream
        self._message_states = message_states
        self._live = live
        pages.show_menu([entry for screen in self._screens for entry in screen.menu])
        self._guard = Guard(rules, sessions, audit, pages, chats)
        self._sign_in = SignIn(self._guard, sessions, pages, asyncio.Semaphore(HASHING))

    @property
    def name(self) -> str:
        """``web``."""
        return PLATFORM

    # --- the server

    def readiness_problem(self) -> str:
        """Return no problem, because the page depends on no connection."""
        return ""

    def capabilities(self) -> PlatformCapabilities:
        """Return no capabilities: jobs from the page bring their bytes, and their cards poll for updates."""
        return PlatformCapabilities()

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes of every screen."""
        behind = [*self._sign_in.routes(), *(route for screen in self._screens for route in screen.routes())]
        return (
            web.get("/static/{digest}/{name}", self._guard.outermost(static_file)),
            *self._sign_in.open_routes(),
            *(self._guard.protect(route) for route in behind),
            web.route("*", r"/{path:(?!(?:v1|mcp)(?:/|$)).*}", self._guard.outermost(self._guard.not_found)),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set, then close streams so that open pages do not delay the shutdown."""
        await stop.wait()
        self._live.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    # --- what a worker needs

    @property
    def question_state(self) -> type[WebQuestionState]:
        """The record type of a question's state."""
        return WebQuestionState

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[WebQuestionState], trace_id: str
    ) -> WebAnswerView:
        """Return the view that will show the answer."""
        return WebAnswerView(question_of(incoming), message_state, self._stream, trace_id)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the settings in force on the page, chosen for the page as a whole."""
        return await self._user_actions.settings.effective_settings(PLATFORM)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return the audience, which is only the asker."""
        return audience_of(person_in(incoming))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return no admin rights: only the owner of a conversation can reach and answer it."""
        return Permissions(is_admin=False)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return nothing, because every message on the page is to the bot."""
        return ()

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the question's files, which were read when it was asked."""
        return await attached_texts(self._message_states, message)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message unchanged, because a form is complete."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the question's files; on the page there are no messages above it."""
        return message.files

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Do nothing: a conversation here has no other people to mute."""

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Show the text at the question, which is not in progress (any more)."""
        thread = incoming.thread
        message_id = incoming.subject if isinstance(incoming, IncomingChoice) else question_of(incoming).id
        state = WebQuestionState(thread=thread, message=message_id, asker=person_in(incoming).id)
        await self._message_states.save(replace(state, stage=AnswerStage.ENDED, told=text))
        await self._stream.publish(str(thread), message_id, [NoticeShown(text), Ended()])

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[WebQuestionState]) -> None:
        """Tell the author how to ask again."""
        await self.tell(message, EDITED_LATE)

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[WebQuestionState], card: Checkpoint
    ) -> None:
        """Replace the choices by a note that they have expired."""
        await self.tell(message, CARD_OVER)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[WebQuestionState]) -> None:
        """Do nothing, because nothing was posted elsewhere."""
