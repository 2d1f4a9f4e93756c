"""The page as a platform: its screens behind one guard, and what a worker needs to answer what is asked there."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from aiohttp import web

from adapters.web.access.guard import Guard
from adapters.web.access.rules import AccessRules, audience_of
from adapters.web.access.sign_in import HASHING, SignIn
from adapters.web.ask.answer_view import AnswerStage, WebAnswerView, WebQuestionState
from adapters.web.ask.attached_texts import attached_texts
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
    """The page, ``/v1`` and MCP under one address."""

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
        """Put the screens behind one guard; ``chats`` say who is still an admin there."""
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
        """Report no problem: the page waits for nobody."""
        return ""

    def capabilities(self) -> PlatformCapabilities:
        """Jobs from the page can be done here: their bytes are at hand, and their cards look for themselves."""
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
        """Until ``stop`` is set; then no open page holds the server up."""
        await stop.wait()
        self._live.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    # --- what a worker needs

    @property
    def question_state(self) -> type[WebQuestionState]:
        """What it keeps of a question."""
        return WebQuestionState

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[WebQuestionState], trace_id: str
    ) -> WebAnswerView:
        """Where the answer to this will be visible."""
        return WebAnswerView(question_of(incoming), message_state, self._stream, trace_id)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return what applies on the page: chosen for the page as a whole."""
        return await self._user_actions.settings.effective_settings(PLATFORM)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return the one who asks, and they alone."""
        return audience_of(person_in(incoming))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Whose conversation it is may choose there, and nobody else comes to it."""
        return Permissions(is_admin=False)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Nothing is said on the page but to us."""
        return ()

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the files on the question, read when it was asked."""
        return await attached_texts(self._message_states, message)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message as it is: a form brings all of it."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the files on the question: on the page nothing else is above it."""
        return message.files

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Do nothing: a conversation here has no other people to mute."""

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say it where the question stands, which is not worked on (any more)."""
        thread = incoming.thread
        message_id = incoming.subject if isinstance(incoming, IncomingChoice) else question_of(incoming).id
        state = WebQuestionState(thread=thread, message=message_id, asker=person_in(incoming).id)
        await self._message_states.save(replace(state, stage=AnswerStage.ENDED, told=text))
        await self._stream.publish(str(thread), message_id, [NoticeShown(text), Ended()])

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[WebQuestionState]) -> None:
        """Tell the writer how to ask again."""
        await self.tell(message, EDITED_LATE)

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[WebQuestionState], card: Checkpoint
    ) -> None:
        """Say in place of the choices that their time is over."""
        await self.tell(message, CARD_OVER)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[WebQuestionState]) -> None:
        """Nothing is posted anywhere else."""
