"""Footnote over HTTP: another program posts what its people say, and receives what to show them.

Whoever holds the token is believed about who speaks and where. A question is in the inbox before it is acknowledged.
"""

import asyncio
import hmac
from collections.abc import Collection, Sequence
from typing import Annotated, Self, TypeVar

from aiohttp import web
from pydantic import BaseModel, StringConstraints, ValidationError

from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.errors import Busy, ConfigurationError, StoreUnavailable
from core.model.incoming_events import (
    Deletion,
    Expiry,
    FileReference,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    MessageRoute,
    Permissions,
)
from core.model.inquiry import Checkpoint
from core.ports.inbox import Inbox
from core.ports.message_state import CancelReason, MessageStateStore
from core.ports.platform import MessageState
from core.service.channel_settings import SettingsService
from core.service.incoming import delivery
from footnote_webhook.replies import Replies, WebhookAnswerView, WebhookQuestionState

NAME, SPACE = "webhook", "main"
Id = Annotated[str, StringConstraints(pattern=r"^[\w.@+-]{1,100}$")]
M = TypeVar("M", bound=BaseModel)


class Place(BaseModel):
    """Which question it is about, and whose: all that is sent when it was deleted."""

    id: Id
    conversation: Id
    person: Id


class Question(Place):
    """The body of a question. The same ``id`` again is the same question."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class Choice(Place):
    """The body of a choice at a checkpoint of that question."""

    checkpoint: Id
    choice: Annotated[str, StringConstraints(max_length=200)]


class WebhookPlatform:
    """``core.ports.platform.Platform``, and the routes at which it is called."""

    name = NAME
    question_state = WebhookQuestionState

    def __init__(
        self,
        *,
        token: str,
        reply_url: str,
        admins: Collection[str],
        inbox: Inbox,
        message_states: MessageStateStore,
        settings: SettingsService,
    ) -> None:
        if not reply_url:
            raise ConfigurationError("WEBHOOK_TOKEN is set, but not WEBHOOK_REPLY_URL.", remedy="Set both.")
        self._token = token
        self._admins = admins
        self._inbox = inbox
        self._message_states = message_states
        self._settings = settings
        self._replies = Replies(reply_url, token)

    # --- connected

    async def __aenter__(self) -> Self:
        await self._replies.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._replies.close()

    async def run(self, stop: asyncio.Event) -> None:
        """Wait until ``stop`` is set: nothing has to be connected."""
        await stop.wait()

    def readiness_problem(self) -> str:
        """Return why the last answer did not arrive."""
        return self._replies.problem

    def routes(self) -> Sequence[web.RouteDef]:
        """Return what can be called."""
        return (
            web.post("/webhook/messages", self._message),
            web.delete("/webhook/messages", self._deletion),
            web.post("/webhook/choices", self._choice),
        )

    # --- called

    async def _message(self, request: web.Request) -> web.Response:
        body = await self._body(request, Question)
        question = _message_of(body, body.text)
        return await self._put(f"{question.thread}:{question.id}", question)

    async def _deletion(self, request: web.Request) -> web.Response:
        question = _message_of(await self._body(request, Place))
        thread = str(question.thread)
        await self._message_states.request_cancel(thread, question.id, CancelReason.DELETED)
        return await self._put(f"{thread}:{question.id}:deleted", Deletion(question))

    async def _choice(self, request: web.Request) -> web.Response:
        body = await self._body(request, Choice)
        thread, person = _thread(body.conversation), _person(body.person)
        choice = IncomingChoice(body.checkpoint, body.choice, person, thread, subject=body.id)
        return await self._put(f"{thread}:{body.checkpoint}:{body.choice}:{body.person}", choice)

    async def _body(self, request: web.Request, model: type[M]) -> M:
        """Return what was sent. Raises HTTPUnauthorized or HTTPBadRequest."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            raise web.HTTPUnauthorized(text="The token is wrong.", headers={"WWW-Authenticate": "Bearer"})
        try:
            return model.model_validate_json(await request.read())
        except ValidationError as error:
            wrong = ", ".join(".".join(str(part) for part in one["loc"]) or "the body" for one in error.errors())
            raise web.HTTPBadRequest(text=f"These fields are missing or wrong: {wrong}.") from None

    async def _put(self, delivery_id: str, incoming: IncomingMessage | IncomingChoice | Deletion) -> web.Response:
        """Keep it, then acknowledge it. The caller tries again on 503 and 429."""
        try:
            is_new = await self._inbox.put(delivery(delivery_id, incoming))
        except Busy as error:
            raise web.HTTPTooManyRequests(text=str(error)) from None
        except StoreUnavailable as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from None
        return web.json_response({"new": is_new}, status=202)

    # --- what a worker needs

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[WebhookQuestionState], trace_id: str
    ) -> WebhookAnswerView:
        """Return where the answer to this will be visible."""
        return WebhookAnswerView(_shown_at(incoming), message_state, self._replies)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return what applies in this conversation."""
        return await self._settings.effective_settings(thread.place)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return who reads the answer: everybody in the conversation."""
        return Audience(frozenset({_shown_at(incoming).thread.place}))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return what this person may do there."""
        is_admin = person.id.rpartition("/")[2] in self._admins
        return Permissions(is_admin=is_admin, principals=frozenset({thread.place}))

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return nothing: all that is said there is said to us."""
        return ()

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return nothing: messages have no files."""
        return ()

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message as it is: a call brings all of it."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return nothing: messages have no files."""
        return ()

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Show that we were muted or unmuted."""
        await self._replies.post(message, "notice", "I keep quiet." if decided is MessageRoute.MUTE else "I'm back.")

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say something beside an answer."""
        await self._replies.post(_shown_at(incoming), "notice", text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState]) -> None:
        """Do nothing: a question cannot be edited here."""

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState], card: Checkpoint
    ) -> None:
        """Say that the choices are over."""
        await self._replies.post(message, "expired", checkpoint=card.id)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState]) -> None:
        """Say that everything about this question goes."""
        await self._replies.post(message, "withdrawn")


def _thread(conversation: str) -> ThreadKey:
    return ThreadKey(NAME, SPACE, conversation, conversation)


def _person(name: str) -> Person:
    return Person(f"{NAME}:{SPACE}/{name}", name)


def _message_of(body: Place, text: str = "") -> IncomingMessage:
    return IncomingMessage(body.id, _thread(body.conversation), text, _person(body.person), direct=True)


def _shown_at(incoming: Incoming) -> IncomingMessage:
    """Return the question at which something is shown."""
    if isinstance(incoming, Expiry):
        return incoming.question
    if isinstance(incoming, IncomingChoice):
        return IncomingMessage(incoming.subject, incoming.thread, "", incoming.person, direct=True)
    return incoming
