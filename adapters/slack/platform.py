"""Slack as the message handler knows it: who reads, what was said before, where answers appear."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import structlog

from adapters.slack.api.files import Files
from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.event_listener import LOOK_AGAIN, PLATFORM, user_of
from adapters.slack.outbound.answer_messages import AnswerMessages, Spot
from adapters.slack.outbound.answer_records import AnswerStage, SlackQuestionState
from adapters.slack.outbound.answer_view import SlackAnswerView
from adapters.slack.outbound.text import plain_message
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, Role, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import (
    Expiry,
    FileReference,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    MessageRoute,
    Permissions,
)
from core.model.parsed_document import ParsedDocument
from core.ports.answer_view import AnswerView
from core.ports.platform import MessageState
from core.service.actions.wording import MUTED, UNMUTED

MOST_CONTEXT = 50  # messages of the thread before the question
MOST_PAGES = 5  # of 200 messages each
MOST_BEFORE = 6  # messages of a direct message before a new one
CONTEXT_CHARACTERS = 2_000  # of one message
MOST_BYTES = 10 * 2**20  # of one file
MOST_READ = 40_000  # characters of one file
MOST_FILES = 3

Parse = Callable[[str, bytes], Awaitable[ParsedDocument]]
log = structlog.get_logger(__name__)


class SlackThreads:
    """``core.ports.platform.Platform`` for one workspace."""

    def __init__(self, workspace: SlackWorkspace, parse: Parse) -> None:
        """``parse`` turns a file's name and bytes into text, or raises DocumentRejected."""
        self.workspace = workspace
        self.parse = parse
        self._files = Files(workspace.web)

    @property
    def name(self) -> str:
        """Its name in thread keys."""
        return PLATFORM

    @property
    def question_state(self) -> type[SlackQuestionState]:
        """What it keeps of a question."""
        return SlackQuestionState

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[SlackQuestionState], trace_id: str
    ) -> AnswerView:
        """Where the answer to this will be visible."""
        message = _question(incoming)
        if message is None:
            raise FootnoteError("A choice is answered where its question was.")
        return SlackAnswerView(self.workspace, _spot(message), message_state, trace_id)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in this channel."""
        return await self.workspace.settings(thread)

    async def audience(self, incoming: Incoming) -> Audience:
        """Who will be able to read the answer there, as of the last minute; see ``SlackWorkspace.audience``."""
        thread, person = _where(incoming)
        return await self.workspace.audience(thread, user_of(person))

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """What this person may do there, as of the last minute."""
        user = user_of(person)
        principals = await self.workspace.principals(thread.space, user)
        return Permissions(await self.workspace.is_admin(user), principals)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """What was said in the thread before the question, oldest first; before a new direct message, the last few."""
        if message.thread.thread != _ts(message):
            found = await self._thread(message)
        elif message.direct:
            found = await self._before(message)
        else:
            found = []
        earlier = [one for one in found if float(one.get("ts", 0)) < float(_ts(message))]
        return tuple([await self._as_context(one) for one in earlier[-MOST_CONTEXT:] if one.get("text")])

    async def _thread(self, message: IncomingMessage) -> list[dict[str, Any]]:
        """The thread up to this message, oldest first; of a very long one, its beginning."""
        key = message.thread
        arguments = {"channel": key.channel, "ts": key.thread, "limit": 200, "latest": _ts(message), "inclusive": True}
        found: list[dict[str, Any]] = []
        cursor = None
        try:
            for _ in range(MOST_PAGES):
                answer = await self.workspace.web.patiently("conversations.replies", cursor=cursor, **arguments)
                found += answer.get("messages") or []
                cursor = (answer.get("response_metadata") or {}).get("next_cursor")
                if not cursor:
                    break
        except (Refusal, PlatformUnavailable) as error:
            log.info("thread_unreadable", reason=str(error))
        return found

    async def _before(self, message: IncomingMessage) -> list[dict[str, Any]]:
        arguments = {"channel": message.thread.channel, "latest": _ts(message), "limit": MOST_BEFORE}
        try:
            answer = await self.workspace.web.patiently("conversations.history", **arguments)
        except (Refusal, PlatformUnavailable) as error:
            log.info("history_unreadable", reason=str(error))
            return []
        return list(reversed(answer.get("messages") or []))

    async def _as_context(self, said: dict[str, Any]) -> ContextMessage:
        us = await self.workspace.directory.identity()
        ours = said.get("user") == us.user
        author = "Footnote" if ours else await self.workspace.directory.name(str(said.get("user") or "someone"))
        text = plain_message(str(said["text"]), us.user)[:CONTEXT_CHARACTERS]
        return ContextMessage(author, text, Role.ASSISTANT if ours else Role.PERSON)

    # --- what hangs on it

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """The text of the files on the message; for one that cannot be read, the reason in its place."""
        files = message.files
        if LOOK_AGAIN in files:
            files = await self._files_of(message)
        return tuple([await self._read(file) for file in files[:MOST_FILES]])

    async def _files_of(self, message: IncomingMessage) -> tuple[FileReference, ...]:
        """An ``app_mention`` comes without files: the message is fetched again."""
        for said in await self._thread(message):
            if said.get("ts") == _ts(message):
                found = said.get("files") or []
                return tuple(FileReference(str(one["id"]), str(one.get("name") or "")) for one in found)
        return ()

    async def _read(self, file: FileReference) -> ContextMessage:
        name = file.name or "file"
        try:
            name, data = await self._files.fetch(file.id, MOST_BYTES)
            parsed = await self.parse(name, data)
        except FootnoteError as error:
            return ContextMessage(name, f"(not read: {error})", unread=str(error))
        return ContextMessage(name, "\n\n".join(block.text for block in parsed.blocks)[:MOST_READ])

    # --- saying something

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Say that we were muted or unmuted."""
        await self.tell(message, MUTED if decided is MessageRoute.MUTE else UNMUTED)

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say something to the one who wrote or pressed: privately where there are others, else directly to them."""
        thread, person = _where(incoming)
        if not await self.workspace.whisper(thread, user_of(person), text):
            await self.workspace.tell_directly(user_of(person), text)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[SlackQuestionState]) -> None:
        """Remove what was posted for a question that was deleted, cards that led on to it included."""
        messages, kept = self._messages(message, message_state, ""), message_state.kept
        lost = await messages.find("0") if kept.state is AnswerStage.OPEN and not kept.ts else ""
        for ts in filter(None, (lost, kept.ts, *kept.parts, *kept.cards)):
            await messages.remove(ts)
        for ts in kept.direct_ts:
            await messages.remove(ts, kept.direct)
        await message_state.keep(replace(kept, ts="", parts=()))
        await self.workspace.show_session(message.thread, "active")

    def _messages(
        self, message: IncomingMessage, message_state: MessageState[SlackQuestionState], trace_id: str
    ) -> AnswerMessages:
        return AnswerMessages(self.workspace, _spot(message), message_state, trace_id)


def _spot(message: IncomingMessage) -> Spot:
    ts, said = _ts(message), message.text
    return Spot(message.thread, message.asker, ts, said, message.direct, message.private, message.suggested)


def _ts(message: IncomingMessage) -> str:
    return message.reply_target.message or message.id


def _question(incoming: Incoming) -> IncomingMessage | None:
    match incoming:
        case IncomingMessage():
            return incoming
        case Expiry():
            return incoming.question
        case IncomingChoice():
            return None


def _where(incoming: Incoming) -> tuple[ThreadKey, Person]:
    match incoming:
        case IncomingMessage():
            return incoming.thread, incoming.asker
        case IncomingChoice():
            return incoming.thread, incoming.person
        case Expiry():
            return incoming.question.thread, incoming.question.asker
