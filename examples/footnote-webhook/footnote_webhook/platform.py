"""Footnote over HTTP: another program posts its people's messages, and receives what to show them.

A caller with the token may name any speaker and place. A question is in the inbox before it is acknowledged.
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
    """The question and its asker. The body of a deletion."""

    id: Id
    conversation: Id
    person: Id


class Question(Place):
    """The body of a question. A repeated ``id`` is the same question."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class Choice(Place):
    """The body of a choice at a checkpoint of that question."""

    checkpoint: Id
    choice: Annotated[str, StringConstraints(max_length=200)]


class WebhookPlatform:
    """Implementation of ``core.ports.platform.Platform``, with its HTTP routes."""

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
        """Wait until ``stop`` is set. No connection is needed."""
        await stop.wait()

    def readiness_problem(self) -> str:
        """Return why the last answer could not be delivered."""
        return self._replies.problem

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the HTTP routes."""
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
        """Return the request's body. Raises HTTPUnauthorized or HTTPBadRequest."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            raise web.HTTPUnauthorized(text="The token is wrong.", headers={"WWW-Authenticate": "Bearer"})
        try:
            return model.model_validate_json(await request.read())
        except ValidationError as error:
            wrong = ", ".join(".".join(str(part) for part in one["loc"]) or "the body" for one in error.errors())
            raise web.HTTPBadRequest(text=f"These fields are missing or wrong: {wrong}.") from None

    async def _put(self, delivery_id: str, incoming: IncomingMessage | IncomingChoice | Deletion) -> web.Response:
        """Store the delivery, then acknowledge it. The caller retries on 503 and 429."""
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
        """Return the view that shows the answer."""
        return WebhookAnswerView(_shown_at(incoming), message_state, self._replies)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the settings of this conversation."""
        return await self._settings.effective_settings(thread.place)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return the readers of the answer: everyone in the conversation."""
        return Audience(frozenset({_shown_at(incoming).thread.place}))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return the person's permissions."""
        is_admin = person.id.rpartition("/")[2] in self._admins
        return Permissions(is_admin=is_admin, principals=frozenset({thread.place}))

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return no context: every message there is for the bot."""
        return ()

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return nothing: messages have no files."""
        return ()

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message unchanged. A call contains all of it."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return nothing: messages have no files."""
        return ()

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Show that we were muted or unmuted."""
        await self._replies.post(message, "notice", "I keep quiet." if decided is MessageRoute.MUTE else "I'm back.")

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Show a message outside an answer."""
        await self._replies.post(_shown_at(incoming), "notice", text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState]) -> None:
        """Do nothing. Questions cannot be edited here."""

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState], card: Checkpoint
    ) -> None:
        """Report that the choices have expired."""
        await self._replies.post(message, "expired", checkpoint=card.id)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[WebhookQuestionState]) -> None:
        """Report that everything about this question is deleted."""
        await self._replies.post(message, "withdrawn")


def _thread(conversation: str) -> ThreadKey:
    return ThreadKey(NAME, SPACE, conversation, conversation)


def _person(name: str) -> Person:
    return Person(f"{NAME}:{SPACE}/{name}", name)


def _message_of(body: Place, text: str = "") -> IncomingMessage:
    return IncomingMessage(body.id, _thread(body.conversation), text, _person(body.person), direct=True)


def _shown_at(incoming: Incoming) -> IncomingMessage:
    """Return the question that this belongs to."""
    if isinstance(incoming, Expiry):
        return incoming.question
    if isinstance(incoming, IncomingChoice):
        return IncomingMessage(incoming.subject, incoming.thread, "", incoming.person, direct=True)
    return incoming
