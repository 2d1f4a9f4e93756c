"""Slack content that can become documents: threads and channels as transcripts, and links into Slack.

A thread is one conversation. Messages in a channel outside threads form one conversation per day (UTC), so the same
messages always make the same document. Our own messages and those of other bots are left out, because an answer may
quote documents that fewer people can read than the conversation.

The bot may be able to read more than the person who gives a link. If we do not know that they can read the target, the
link is refused and the refusal is recorded.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused, reason_in_words
from adapters.slack.api.files import Files, SlackFile, file_in
from adapters.slack.api.ids import PLATFORM, thread_in, user_id
from adapters.slack.api.web_client import WebClient
from adapters.slack.inbound.message_words import ids_in, plain_message, shared_messages, without_marks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.model.document_content import MOST_MESSAGES, Conversation, TranscriptMessage
from core.model.errors import FetchRefused, NotFound, PlatformUnavailable
from core.model.message_text import without_emoji
from core.ports.platform import ConversationGone
from core.service.kb.commands import Caller, KbCommand

MOST_READ = 10_000  # messages of one channel
MESSAGE_SUBTYPES = {None, "file_share", "thread_broadcast"}
TITLE = 80  # characters

Message = Mapping[str, Any]


def conversation_reference(channel: str, root: str) -> str:
    """Return the reference by which a job names a thread."""
    return f"{channel}/{root}"


class Transcripts:
    """Transcripts of the conversations that the bot can read."""

    def __init__(self, web: WebClient, directory: Directory) -> None:
        """Read messages through this Web API client, and names from this directory."""
        self._web = web
        self._directory = directory

    async def conversation(self, reference: str) -> Conversation:
        """Return one thread. Raises NotFound if people have written nothing in it, and PlatformUnavailable."""
        channel, _, root = reference.partition("/")
        said: list[TranscriptMessage] = []
        async for message in self._pages("conversations.replies", {"channel": channel, "ts": root}, MOST_MESSAGES):
            if message.get("subtype") == "tombstone" and message["ts"] == root:
                raise ConversationGone("The first message of that thread was deleted.")
            said += await self._messages_of(message)
            if len(said) >= MOST_MESSAGES:
                break
        if not said:
            raise ConversationGone("That thread has no messages from people to add.")
        return await self._build_conversation(channel, root, _title(said[0].text), said, root)

    async def read_again(self, source: str) -> Conversation:
        """Return the thread or the day of a channel that this source names. Raises as ``Transcript`` does."""
        _, team, channel, key = source.split("/")
        if team != (await self._directory.identity()).team:
            raise NotFound("That conversation is in another workspace.")
        if "-" not in key:
            return await self.conversation(conversation_reference(channel, key))
        begins = datetime.fromisoformat(key).replace(tzinfo=UTC).timestamp()
        place = {"channel": channel, "oldest": f"{begins - 1e-6:.6f}", "latest": f"{begins + 86_400:.6f}"}
        said = [one async for one in self._pages("conversations.history", place, MOST_READ) if _is_of_day(one)]
        if not said or (conversation := await self._of_day(channel, key, said)) is None:
            raise ConversationGone("All messages of that day were deleted.")
        return conversation

    def reference_of(self, thread: ThreadKey) -> str:
        """Return the reference to a thread in which somebody asked us."""
        return conversation_reference(thread.channel, thread.thread)

    async def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """Yield the newest conversations of a channel, newest first. Raises NotFound, PlatformUnavailable."""
        day = ""
        of_the_day: list[Message] = []
        left = limit
        async for message in self._pages("conversations.history", {"channel": channel}, MOST_READ):
            if left <= 0:
                return
            if message.get("subtype") == "thread_broadcast":
                continue  # it appears in its thread
            if day and _day(message) != day:
                if (made := await self._of_day(channel, day, of_the_day)) is not None:
                    left -= 1
                    yield made
                of_the_day = []
            day = _day(message)
            if not message.get("reply_count"):
                of_the_day.append(message)
            elif left > 0 and (thread := await self._if_any(channel, str(message["ts"]))) is not None:
                left -= 1
                yield thread
        if left > 0 and (made := await self._of_day(channel, day, of_the_day)) is not None:
            yield made

    async def _if_any(self, channel: str, root: str) -> Conversation | None:
        try:
            return await self.conversation(conversation_reference(channel, root))
        except NotFound:
            return None

    async def _of_day(self, channel: str, day: str, messages: list[Message]) -> Conversation | None:
        """Return the messages outside threads on one day, oldest first, or None if there are none."""
        said = [one for message in reversed(messages) for one in await self._messages_of(message)]
        if not said:
            return None
        name = (await self._directory.channel(channel)).name or "a conversation"
        when = said[0].at
        title = f"#{name}, {when.day} {when:%B %Y}"
        return await self._build_conversation(channel, day, title, said, str(messages[-1]["ts"]))

    async def _build_conversation(
        self, channel: str, key: str, title: str, said: list[TranscriptMessage], ts: str
    ) -> Conversation:
        us = await self._directory.identity()
        source = f"{PLATFORM}/{us.team}/{channel}/{key}"
        link = await self._web.permalink(channel, ts)  # a deleted first message has no link
        return Conversation(source, title, tuple(said), link)

    async def _messages_of(self, message: Message) -> list[TranscriptMessage]:
        """Return what a person said; nothing for bots, empty messages, and joining or leaving."""
        us = await self._directory.identity()
        user = str(message.get("user") or "")
        if (
            message.get("subtype") not in MESSAGE_SUBTYPES
            or message.get("bot_id")
            or user in {"", us.user, "USLACKBOT"}
        ):
            return []
        shared = [f"Forwarded from {one.author or 'somebody'}: {one.text}" for one in shared_messages(message)]
        written = "\n".join(filter(None, (str(message.get("text") or ""), *shared)))
        names = await self._directory.names(ids_in(written))
        text = without_emoji(without_marks(plain_message(written, us.user, names))).strip()
        if not text:
            return []
        return [TranscriptMessage(await self._directory.name(user), _at(message), text, str(message["ts"]))]

    async def _pages(self, method: str, place: Mapping[str, str], most: int) -> AsyncIterator[Message]:
        """Yield at most ``most`` messages. Raises NotFound, PlatformUnavailable."""
        try:
            async for message in self._web.items(method, "messages", most, **place):
                yield message
        except RequestRefused as refusal:
            raise _unreadable(refusal) from None


def _at(message: Message) -> datetime:
    return datetime.fromtimestamp(float(message["ts"]), UTC)


def _day(message: Message) -> str:
    return f"{_at(message):%Y-%m-%d}"


def _is_of_day(message: Message) -> bool:
    """Return whether a channel message was written outside threads."""
    return not message.get("reply_count") and message.get("subtype") != "thread_broadcast"


def _title(text: str) -> str:
    return " ".join(text.splitlines()[0].split())[:TITLE]


def _unreadable(refusal: RequestRefused) -> NotFound:
    match refusal.error:
        case "not_in_channel" | "channel_not_found":
            return NotFound("I cannot read that conversation, because I am not in it.", remedy="Invite me there.")
        case "thread_not_found":
            return ConversationGone("That conversation no longer exists.")
        case "missing_scope":
            return NotFound(
                "I cannot read that conversation, because the app lacks a scope (channels:history, groups:history, "
                "im:history or mpim:history).",
                remedy="An admin can add it with the app's manifest and reinstall the app.",
            )
        case other:
            return NotFound(f"Slack does not show me that conversation: {reason_in_words(other)}.")


NOT_KNOWN = "I can't tell whether you have permission to read that."


@dataclass(frozen=True, slots=True)
class SlackLinks:
    """Resolves the links of one workspace."""

    workspace: SlackWorkspace

    async def resolve(self, command: KbCommand, place: str, caller: Caller) -> KbCommand:
        """Return the command with a Slack link resolved to its thread or file, and with the channel's name.

        Raises FetchRefused if we do not know that the caller can read the target, and PlatformUnavailable.
        """
        if command.channel:
            return replace(command, target=await self.channel_name(command.channel))
        channel, root = thread_in(command.target)
        if channel:
            if channel != place and not await self._is_public(channel):
                raise await self._refuse(channel, caller)
            return replace(command, target="", conversation=conversation_reference(channel, root))
        file_id = file_in(command.target)
        if not file_id:
            return command
        file = await self._readable_file(file_id, place, caller)
        return replace(command, target="", files=(*command.files, file.reference))

    async def _readable_file(self, file_id: str, place: str, caller: Caller) -> SlackFile:
        file = await Files(self.workspace.web).about(file_id)
        if not file.readable_by(user_id(caller.person), place):
            raise await self._refuse(file_id, caller)
        return file

    async def _refuse(self, what: str, caller: Caller) -> FetchRefused:
        """Record that the caller may lack permission to read what the bot can read, and return the refusal."""
        await self.workspace.user_actions.audit.record(caller.person.id, "kb ingest", what, allowed=False)
        return FetchRefused(NOT_KNOWN, remedy="Run the command in the channel where it is shared.")

    async def _is_public(self, channel: str) -> bool:
        """Return whether every member of the workspace can read the channel."""
        try:
            found = await self.workspace.directory.channel(channel)
        except RequestRefused:
            return False
        return not (found.private or found.direct)

    async def channel_name(self, channel: str) -> str:
        """Return ``#general``, or an empty string if Slack does not say."""
        try:
            name = (await self.workspace.directory.channel(channel)).name
        except (RequestRefused, PlatformUnavailable):
            name = ""
        return f"#{name}" if name else ""
