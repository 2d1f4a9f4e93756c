"""Slack as the delivery engine uses it: the messages of one answer, and the stream that may be the first of them.

Slack may refuse any of these calls with an unknown error code. The cause may be the content or the place
(``Refusal.OTHER``). Two cases are not refusals: a rejected token, and a server error of Slack.
https://docs.slack.dev/reference/methods/chat.postMessage/#errors
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack.api.errors import (
    RequestRefused,
    SlackServerError,
    is_token_refused,
    reason_in_words,
)
from adapters.slack.api.ids import question_ts, user_id
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_records import VisibleAnswer
from adapters.slack.outbound.answer_renderer import SlackMessage, SlackRenderer
from adapters.slack.outbound.messages import ephemeral_place
from adapters.slack.outbound.text import safe_markdown
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.ports.answer_view import Step
from core.ports.chat import AnswerPlace, CallRefused, Concluded, End, NoAnswer, PartKey, Refusal, Work
from core.ports.message_state import MessageStateStore

METADATA = "footnote"
MOST_SEARCHED = 200  # messages since the question that a search for a lost message reads
STREAM_SECONDS = 0.8  # between two pieces of a stream
CHECK_SECONDS = 0.2  # between two checks of the rate limit
MOST_STREAMED = 9_000  # characters shown live; a message fails near 13,200, and the final message shows all of it
NOT_PRIVATELY = "Slack does not show you a private message there"
_ABOUT_CONTENT = (
    "invalid_blocks", "invalid_attachments", "invalid_metadata", "invalid_arguments", "metadata_", "markdown_text",
    "msg_", "no_text", "too_many_", "attachment_payload", "slack_connect_", "block_mismatch",
)  # fmt: skip
_GONE = {"message_not_found", "message_not_in_streaming_state"}
_STOPPED = "stopped_by_user"

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class SlackSurface:
    """``core.ports.chat.Surface`` for one question."""

    workspace: SlackWorkspace
    question: IncomingMessage
    message: str  # the question's id, which identifies our messages
    trace_id: str
    message_states: MessageStateStore
    is_private: bool = False

    @property
    def home(self) -> AnswerPlace:
        """The thread of the question."""
        return AnswerPlace(ReplyMode.PRIVATE if self.is_private else ReplyMode.POST, self.question.thread.channel)

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        """Return the thread of the question."""
        return self.home, first

    async def next_place(self, mode: ReplyMode) -> AnswerPlace | None:
        """Return the direct message with the asker. Without the scope to open it, its channel is the person's id."""
        if mode is not ReplyMode.DIRECT:
            return None
        try:
            answer = await self._call("conversations.open", users=user_id(self.question.asker))
        except CallRefused:
            return AnswerPlace(mode, user_id(self.question.asker))
        return AnswerPlace(mode, str(answer["channel"]["id"]))

    async def is_deleted(self, place: AnswerPlace) -> bool:
        """Return False: Slack does not delete threads, so a refused answer goes to the direct message."""
        return False

    async def post(self, place: AnswerPlace, payload: SlackMessage, key: PartKey) -> str:
        """Post a message and return its ``ts``, prefixed with its channel if the place is a person's id.

        The id of an ephemeral message is empty.
        """
        if place.mode is ReplyMode.PRIVATE:
            await self._post_privately(payload)
            return ""
        where = {"channel": place.channel}
        if place.mode is not ReplyMode.DIRECT:
            where["thread_ts"] = self.question.thread.thread
        whole = {"blocks": payload.blocks, "metadata": self.metadata(_part(place, key))} if payload.blocks else {}
        answer = await self._call(
            "chat.postMessage", **where, text=payload.text, **whole, unfurl_links=False, unfurl_media=False
        )
        channel = str(answer.get("channel") or place.channel)
        return str(answer["ts"]) if channel == place.channel else f"{channel}/{answer['ts']}"

    async def _post_privately(self, payload: SlackMessage) -> None:
        """Show the message to the asker only. Raises PlatformUnavailable without an answer."""
        place = await ephemeral_place(self.workspace.web, self.question.thread, user_id(self.question.asker))
        shown = {"blocks": blocks.with_thread(payload.blocks, self.question.thread.thread)} if payload.blocks else {}
        try:
            await self._call("chat.postEphemeral", **place, text=payload.text, **shown)
        except CallRefused as refused:
            raise CallRefused(refused.refusal, NOT_PRIVATELY) from None
        except NoAnswer as error:
            raise PlatformUnavailable(str(error)) from None

    async def edit(
        self, place: AnswerPlace, message: str, payload: SlackMessage, *, number: int = 0, once: bool = False
    ) -> None:
        """Replace a message's content. The client already retries if Slack is unreachable."""
        given: dict[str, Any] = {**_address(place, message), "text": payload.text, "blocks": payload.blocks}
        given["link_names"] = False
        if once:
            await self.call_once("chat.update", **given)
            return
        if payload.blocks:
            given["metadata"] = self.metadata(_part(place, PartKey(number)))
        try:
            await self._call("chat.update", **given)
        except SlackServerError:  # repeated server errors for this one message
            raise
        except NoAnswer as error:
            raise PlatformUnavailable(str(error)) from None

    async def delete(self, place: AnswerPlace, message: str) -> None:
        """Delete a message if Slack allows it."""
        await self._call("chat.delete", **_address(place, message))

    async def find(self, place: AnswerPlace, key: PartKey, known: Collection[str]) -> str:
        """Return the id of a message of ours that was posted but not recorded, or an empty string."""
        if place.mode is ReplyMode.PRIVATE:
            return ""
        where = {"channel": _channel(place, known)}
        if place.mode is not ReplyMode.DIRECT:
            where |= {"ts": self.question.thread.thread, "oldest": question_ts(self.question)}
        method = "conversations.history" if place.mode is ReplyMode.DIRECT else "conversations.replies"
        try:
            answer = await self._call(method, **where, limit=MOST_SEARCHED, include_all_metadata=True)
        except (CallRefused, PlatformUnavailable) as error:
            log.warning("thread_unreadable", reason=str(error))
            return ""
        ours = (await self.workspace.directory.identity()).user
        found = sorted(answer.get("messages") or [], key=lambda message: float(message["ts"]), reverse=True)
        for message in found:
            ts = str(message["ts"])
            found_as = ts if where["channel"] == place.channel else f"{where['channel']}/{ts}"
            if message.get("user") != ours or found_as in known:
                continue
            if await self._is_part(ts, message.get("metadata") or {}, _part(place, key)):
                return found_as
        return ""

    async def _is_part(self, ts: str, metadata: Mapping[str, Any], part: str) -> bool:
        """Return whether a message of ours is this part of this answer, not of another answer in the thread."""
        if metadata.get("event_type") == METADATA:
            payload = metadata.get("event_payload") or {}
            return payload.get("question") == self.message and str(payload.get("part")) == part
        if metadata or part != "0":
            return False
        # A stream has no metadata until it ends. Its question was recorded unless that record was lost; then it may
        # match.
        shown = await self.message_states.read(VisibleAnswer(thread=self.question.thread, ts=ts))
        return shown is None or shown.subject == self.message

    def metadata(self, part: str = "0") -> dict[str, Any]:
        """Return the metadata that identifies a message later."""
        payload = {"question": self.message, "trace": self.trace_id, "part": part}
        return {"event_type": METADATA, "event_payload": payload}

    async def others_wrote(self) -> bool:
        """Return whether somebody else has written in the thread since the question; False if Slack does not say."""
        thread, ts = self.question.thread, question_ts(self.question)
        since = {"channel": thread.channel, "ts": thread.thread, "oldest": ts}
        try:
            answer = await self.workspace.web.call_once("conversations.replies", **since, limit=MOST_SEARCHED)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("thread_unreadable", reason=str(error))
            return False
        known = {(await self.workspace.directory.identity()).user, user_id(self.question.asker), None}
        later = [one for one in answer.get("messages") or [] if float(one.get("ts") or 0) > float(ts)]
        return any(one.get("user") not in known for one in later)

    async def call_once(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Make one attempt, within the rate limit. Raises CallRefused and NoAnswer."""
        if not self.workspace.web.rate_limiter.try_acquire(method):
            raise CallRefused(Refusal.LIMITED, f"{method} has to wait.", after=CHECK_SECONDS)
        try:
            return await self.workspace.web.call_once(method, **arguments)
        except RequestRefused as refusal:
            raise _refused(refusal) from None

    async def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call with retries. Raises as ``translated`` does."""
        with translated():
            return await self.workspace.web.call(method, **arguments)


@dataclass(slots=True)
class SlackStream:
    """``core.ports.chat.Streaming``: the first message of an answer as Slack streams it."""

    surface: SlackSurface
    renderer: SlackRenderer
    seconds: float = STREAM_SECONDS
    longest: int = MOST_STREAMED

    def text(self, written: str) -> str:
        """Return the text, escaped."""
        return safe_markdown(written)

    async def start(self, step: Step) -> str:
        """Start a stream. A stream cannot show the heading of a suggested question."""
        question, workspace = self.surface.question, self.surface.workspace
        if question.suggested:
            raise CallRefused(Refusal.OTHER, "A stream shows no heading.")
        arguments: dict[str, Any] = {
            "channel": question.thread.channel,
            "thread_ts": question.thread.thread,
            "task_display_mode": "timeline",
            "chunks": [blocks.task(step)],
        }
        if not question.direct:
            arguments |= {"recipient_user_id": user_id(question.asker), "recipient_team_id": question.thread.space}
        if not workspace.sessions.available_in(question.thread.channel):
            arguments["chunks"].append({"type": "blocks", "blocks": [blocks.stop_row(self.surface.message)]})
        return str((await self.surface.call_once("chat.startStream", **arguments))["ts"])

    async def append(self, message: str, steps: Sequence[Step], text: str) -> None:
        """Append steps and text to the stream."""
        channel = self.surface.question.thread.channel
        await self.surface.call_once("chat.appendStream", channel=channel, ts=message, chunks=_chunks(steps, text))

    async def stop(
        self, message: str, steps: Sequence[Step] = (), text: str = "", below: SlackMessage | None = None
    ) -> None:
        """End the stream and set the metadata that identifies its message from now on."""
        shown = {"chunks": _chunks(steps, text) or None, "blocks": below.blocks} if below is not None else {}
        channel, metadata = self.surface.question.thread.channel, self.surface.metadata()
        try:
            await self.surface.workspace.web.call(
                "chat.stopStream", channel=channel, ts=message, metadata=metadata, **shown
            )
        except RequestRefused as refusal:
            raise _refused(refusal) from None

    def below(self, end: End, work: Work) -> SlackMessage | None:
        """Return the sources and buttons if the stream shows the whole text and nothing belongs above it."""
        if not isinstance(end, Concluded):
            return None
        if not self.surface.workspace.sessions.available_in(self.surface.question.thread.channel):
            return None
        return self.renderer.below_stream(end, work)


def _chunks(steps: Sequence[Step], text: str) -> list[dict[str, Any]]:
    return [*(blocks.task(step) for step in steps), *([{"type": "markdown_text", "text": text}] if text else [])]


def _address(place: AnswerPlace, message: str) -> dict[str, str]:
    """Return the channel and ``ts`` of a message. Slack accepts a person's id as a channel only for posting."""
    channel, _, ts = message.rpartition("/")
    return {"channel": channel or place.channel, "ts": ts}


def _channel(place: AnswerPlace, messages: Collection[str]) -> str:
    """Return the channel to read. If the place is a person's id, take the channel of the messages posted there."""
    return next((one.rpartition("/")[0] for one in messages if "/" in one), "") or place.channel


def _part(place: AnswerPlace, key: PartKey) -> str:
    return f"direct-{key.number}" if place.mode is ReplyMode.DIRECT else str(key.number)


@contextmanager
def translated() -> Iterator[None]:
    """Raise CallRefused for problems of this call, PlatformUnavailable for problems of every call."""
    try:
        yield
    except RequestRefused as refusal:
        if is_token_refused(refusal):
            raise PlatformUnavailable("Slack does not accept my token. `footnote doctor` says what to do.") from None
        if refusal.retry_after:
            raise PlatformUnavailable(f"Slack's rate limit for {refusal.method} lasts too long.") from None
        raise _refused(refusal) from None


def _refused(refusal: RequestRefused) -> CallRefused:
    """Return Slack's refusal in the delivery engine's terms, with text for people."""
    log.info("slack_refused", reason=str(refusal))
    words = reason_in_words(refusal.error)
    if refusal.retry_after:
        return CallRefused(Refusal.LIMITED, words, after=refusal.retry_after)
    if refusal.error in _GONE:
        return CallRefused(Refusal.GONE, words)
    if refusal.error == _STOPPED:
        return CallRefused(Refusal.DENIED, words)
    return CallRefused(Refusal.REJECTED if refusal.error.startswith(_ABOUT_CONTENT) else Refusal.OTHER, words)
