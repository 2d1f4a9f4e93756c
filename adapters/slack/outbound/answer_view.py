"""One answer in the making, in Slack: a stream where Slack takes one, else a message that is edited.

What is visible is a message whose ``ts`` is kept in the ``MessageState``. A worker that takes over edits that message;
when the crash came between posting and keeping, the message is found by its metadata, or as ours without any (a stream
that never ended). The end always replaces what was streamed by the whole answer, so that no text is lost or doubled.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from adapters.slack.api.web_client import Refusal, Uncertain, Web
from adapters.slack.outbound import blocks
from adapters.slack.outbound.text import Escaper, escaped
from core.model.answer import Answer, Outcome
from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.errors import PlatformUnavailable, StoreUnavailable
from core.model.inquiry import Checkpoint
from core.ports.answer_view import Step, StepState
from core.ports.platform import MessageState

STREAM_SECONDS = 0.8  # between two pieces of one stream
EDIT_SECONDS = 1.5  # between two edits of one placeholder
MOST_STREAMED = 9_000  # characters shown live; a message fails near 13,200, and the end shows all of it anyway
MOST_TURNS = 600  # looks at whether it is our turn before the rest is left to the end: two minutes
METADATA = "footnote"
STREAM_IS_OVER = {"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}
POST_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before a message whose fate is unknown is tried again
NOT_THERE = {"message_not_found", "cant_update_message"}

log = structlog.get_logger(__name__)


class Unpostable(PlatformUnavailable):
    """Slack will not take our messages there: we were removed, or the channel is archived."""


class Workspace(Protocol):
    """What a surface asks of the workspace around it."""

    @property
    def web(self) -> Web:
        """The Web API."""

    @property
    def is_agent(self) -> bool:
        """Whether the app is declared as an agent, as far as is known."""

    async def bot_user_id(self) -> str:
        """Our own user id."""

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in a place."""

    async def show_session(self, thread: ThreadKey, status: str, title: str = "") -> None:
        """Set an agent session's status and title; silently nothing where the app is no agent."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one question's answer goes."""

    thread: ThreadKey
    asker: Person
    question: str
    direct: bool
    private: bool

    @property
    def channel(self) -> str:
        """The channel's id."""
        return self.thread.channel

    @property
    def root(self) -> str:
        """The ``ts`` of the thread's first message."""
        return self.thread.thread

    @property
    def user(self) -> str:
        """The asker's Slack id."""
        return self.asker.id.rsplit("/", 1)[-1]


@dataclass(slots=True)
class SlackAnswerView:
    """Shows one answer. Calls come one at a time; a piece that waits for its turn is sent by a task of its own."""

    workspace: Workspace
    spot: Spot
    posting: MessageState
    trace_id: str
    _handoff: bool = False
    _streaming: bool = False
    _private: bool = False
    _over: bool = False
    _quiet: bool = False  # an answer stands there already: change it only at the end
    _text: str = ""  # everything written, escaped
    _sent: int = 0  # how much of it the stream has
    _escaper: Escaper = field(default_factory=Escaper)
    _steps: dict[str, Step] = field(default_factory=dict)
    _unsent_steps: dict[str, Step] = field(default_factory=dict)
    _notices: list[str] = field(default_factory=list)
    _last_flush: float = 0.0
    _flushing: asyncio.Task[None] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def web(self) -> Web:
        """The Web API."""
        return self.workspace.web

    # --- the beginning

    async def open(self) -> None:
        """Show the first sign, or take up what an earlier worker or an earlier choice left."""
        settings = await self.workspace.settings(self.spot.thread)
        self._handoff = bool(settings.handoff)
        self._private = not self.spot.direct and (self.spot.private or settings.reply_style is ReplyStyle.PRIVATE)
        state = self.posting.get("state")
        if state == "offered":
            await self._settle_card()
        if self._private:
            await self._open_privately(state)
            return
        found = "" if state == "offered" else self.posting.get("ts")
        if not found and state == "open":  # it was about to be posted when an earlier worker went away
            found = await self._lost_message("0")
        if found:
            await self._take_up(found, state)
        else:
            await self._begin()
        await self.workspace.show_session(self.spot.thread, "processing", self.spot.question)

    async def _begin(self) -> None:
        await self.posting.keep(
            state="open", ts="", cards=f"{self.posting.get('cards')} {self.posting.get('ts')}".strip()
        )
        if not await self._start_stream():
            await self._post_placeholder()

    async def _take_up(self, ts: str, state: str) -> None:
        await self._shown(ts)
        self._quiet = state in {"done", "concluding"}
        with suppress(Refusal, PlatformUnavailable):  # it was no stream, or it is over: an edit does the rest
            await self.web.patiently("chat.stopStream", channel=self.spot.channel, ts=ts, metadata=self._metadata())
        if not self._quiet:
            await self._edit_placeholder()

    async def _open_privately(self, state: str) -> None:
        if state in {"", "offered"}:
            await self.posting.keep(state="private")
            await self._whisper(
                [blocks.context("Looking that up. The answer will be visible to you only.")], "Looking…"
            )

    async def _start_stream(self) -> bool:
        """Whether a stream shows now. When no answer came, one that may have been begun is looked for."""
        if not self.web.pace.allows("chat.startStream"):
            return False
        arguments: dict[str, Any] = {
            "channel": self.spot.channel,
            "thread_ts": self.spot.root,
            "task_display_mode": "timeline",
            "chunks": [{"type": "task_update", "id": "start", "title": "Looking…", "status": "complete"}],
        }
        if not self.spot.direct:
            arguments |= {"recipient_user_id": self.spot.user, "recipient_team_id": self.spot.thread.space}
        if not self.workspace.is_agent:
            row = blocks.stop_row(self.posting.subject)
            arguments["chunks"].append({"type": "blocks", "blocks": [row]})
        try:
            answer = await self.web.eagerly("chat.startStream", **arguments)
        except Refusal as refusal:
            log.info("stream_refused", reason=refusal.error)
            return False
        except Uncertain:
            found = await self._lost_message("0")
            if found:
                await self._take_up(found, "open")
            return bool(found)
        await self._shown(str(answer["ts"]))
        self._streaming = True
        self._last_flush = time.monotonic()
        return True

    async def _post_placeholder(self) -> None:
        await self._shown(await self._post(self._placeholder(), "Looking…", "0"))

    async def _shown(self, ts: str) -> None:
        """Keep what is visible, and whose it is: a stop names only the message."""
        await self.posting.keep(ts=ts)
        kept = {"subject": self.posting.subject, "asker": self.spot.asker.id}
        await self.posting.store.keep(self.posting.thread, f"shown:{ts}", kept, fence=self.posting.fence)
        await self.posting.store.keep(self.posting.thread, "current", kept, fence=self.posting.fence)

    async def _lost_message(self, part: str) -> str:
        """The ``ts`` of a message of ours that was posted but not kept; empty when there is none."""
        try:
            answer = await self.web.patiently(
                "conversations.replies",
                channel=self.spot.channel,
                ts=self.spot.root,
                limit=200,
                include_all_metadata=True,
            )
        except (Refusal, PlatformUnavailable) as error:
            log.warning("thread_unreadable", reason=str(error))
            return ""
        ours, cards = await self.workspace.bot_user_id(), self.posting.get("cards").split()
        for message in reversed(answer.get("messages") or []):
            if message.get("user") != ours or message["ts"] in cards:
                continue
            if self._is_mine(message.get("metadata") or {}, part):
                return str(message["ts"])
        return ""

    def _is_mine(self, metadata: Mapping[str, Any], part: str) -> bool:
        if metadata.get("event_type") != METADATA:
            return part == "0" and not metadata  # a stream has no metadata until it ends
        payload = metadata.get("event_payload") or {}
        return payload.get("question") == self.posting.subject and str(payload.get("part")) == part

    # --- in between

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        self._steps[step.id] = step
        self._unsent_steps[step.id] = step
        self._flush()

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        self._text += self._escaper.push(text)
        self._flush()

    async def rewrite(self, reason: str) -> None:
        """Forget the text: a stream cannot, so from here on the message is edited."""
        self._text, self._escaper = "", Escaper()
        self._notices.append(reason)
        async with self._lock:
            self._sent = 0
            if self._streaming:
                await self._leave_stream()
            if not (self._private or self._quiet):
                await self._edit_placeholder()

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""
        self._notices.append(text)
        number = f"notice-{len(self._notices)}"
        self._unsent_steps[number] = Step(number, text, StepState.DONE)
        self._flush()

    def _flush(self) -> None:
        """Have what is new sent when it is its turn, by a task of its own: a slow Slack does not slow the work."""
        if self._over or self._private or self._quiet:
            return
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._send_in_turn())

    async def _send_in_turn(self) -> None:
        """Send, and go on while more comes; what does not get its turn is left to the end, which shows everything."""
        for _ in range(MOST_TURNS):
            async with self._lock:
                if self._over:
                    return
                if self._is_turn():
                    await self._send()
                if not self._news:
                    return
            await asyncio.sleep(STREAM_SECONDS / 4)

    @property
    def _news(self) -> bool:
        return bool(self._unsent_steps) or self._sent < min(len(self._text), MOST_STREAMED)

    def _is_turn(self) -> bool:
        method, pause = ("chat.appendStream", STREAM_SECONDS) if self._streaming else ("chat.update", EDIT_SECONDS)
        return time.monotonic() - self._last_flush >= pause and self.web.pace.allows(method)

    async def _send(self) -> None:
        self._last_flush = time.monotonic()
        if self._streaming:
            await self._append()
        else:
            await self._edit_placeholder()

    async def _append(self) -> None:
        new = self._text[self._sent : MOST_STREAMED]
        chunks: list[dict[str, Any]] = [blocks.task(step) for step in self._unsent_steps.values()]
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        if not chunks:
            return
        steps, self._unsent_steps = self._unsent_steps, {}
        try:
            await self.web.eagerly(
                "chat.appendStream", channel=self.spot.channel, ts=self.posting.get("ts"), chunks=chunks
            )
        except Refusal as refusal:
            if refusal.retry_after:  # nothing was taken: it goes with the next piece
                self._unsent_steps = steps | self._unsent_steps
                return
            log.info("stream_ended_early", reason=refusal.error)
            self._streaming = False
            if refusal.error != "stopped_by_user":
                await self._edit_placeholder()
        except Uncertain:  # it may have been taken: only an edit can tell no text twice
            await self._leave_stream()
            await self._edit_placeholder()
        else:
            self._sent += len(new)

    async def _leave_stream(self) -> None:
        """End the stream and go on by editing its message."""
        self._streaming = False
        try:
            await self.web.patiently("chat.stopStream", channel=self.spot.channel, ts=self.posting.get("ts"))
        except (Refusal, PlatformUnavailable) as error:
            log.info("stream_not_ended", reason=str(error))

    async def _edit_placeholder(self) -> None:
        self._unsent_steps = {}
        self._sent = len(self._text)
        try:
            await self.web.eagerly(
                "chat.update",
                channel=self.spot.channel,
                ts=self.posting.get("ts"),
                text="Looking…",
                blocks=self._placeholder(),
                link_names=False,
            )
        except (Refusal, Uncertain) as error:
            log.info("edit_skipped", reason=str(error))  # the next one, or the end, shows it

    def _placeholder(self) -> list[blocks.Block]:
        shown = self._text[:MOST_STREAMED]
        return blocks.working(self._steps.values(), shown, self._notices, self.posting.subject)

    # --- the end

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """The whole answer with its sources and buttons, in place of everything streamed."""
        parts = blocks.answer_parts(answer)
        foot = blocks.foot(answer, trace_id, self._notices, handoff=self._handoff, private=self._private)
        layouts = [[blocks.answer_part(part, answer)] if part.strip() else [] for part in parts]
        layouts[-1] += foot
        streamed = len(parts) == 1 and self._text.strip() == parts[0].strip() and not blocks.has_links(parts[0], answer)
        await self._finish(layouts, answer.text, "done", below=foot if streamed else None)
        status = "suspended" if answer.outcome is Outcome.PARKED else "active"
        await self._remember_latest()
        await self.workspace.show_session(self.spot.thread, status)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """A checkpoint's card."""
        await self.posting.keep(checkpoint=checkpoint.id)
        layout = blocks.card(checkpoint, answer, self._notices, trace_id)
        kept = {"card": escaped(checkpoint.message)[:1_500]}
        subject = f"checkpoint:{checkpoint.id}"
        await self.posting.store.keep(self.posting.thread, subject, kept, fence=self.posting.fence)
        await self._finish([layout], checkpoint.message, "offered")
        await self._remember_latest()
        await self.workspace.show_session(self.spot.thread, "suspended")

    async def fail(self, message: str, trace_id: str) -> None:
        """Say that it did not work, under which trace; what was written so far stays.

        Raises StoreUnavailable when Slack itself is away: the question is then kept, as when any store is away.
        """
        written = self._text[: blocks.PART]
        layout = [blocks.markdown(written)] if written.strip() and self._streaming else []
        layout += [blocks.section(escaped(message)), blocks.context(f"trace {trace_id}")]
        try:
            await self._finish([layout], message, "done")
        except Unpostable as error:
            log.warning("nowhere_to_answer", trace_id=trace_id, reason=str(error))
        except PlatformUnavailable as error:
            raise StoreUnavailable(f"{error} The question is kept.") from None
        await self.workspace.show_session(self.spot.thread, "active")

    async def _finish(
        self, layouts: Sequence[list[blocks.Block]], text: str, state: str, *, below: list[blocks.Block] | None = None
    ) -> None:
        """Show these messages, the first in place of what stands there. Kept ids are edited, never posted again.

        ``below`` is what is missing when the stream shows the very text already: then it simply ends.
        """
        async with self._lock:
            self._over = True
        if self._flushing is not None:
            self._flushing.cancel()
        if self._private:
            for layout in layouts:
                await self._whisper(layout, blocks.fallback(text))
            await self.posting.keep(state=state)
            return
        resumed = self.posting.get("state") == "concluding"
        await self.posting.keep(state="concluding")
        if not (below and await self._end_stream(below)):
            await self._replace(layouts[0], blocks.fallback(text))
        for number, layout in enumerate(layouts[1:], 1):
            await self._further(str(number), layout, text, resumed=resumed)
        await self.posting.keep(state=state)

    async def _end_stream(self, below: list[blocks.Block]) -> bool:
        """Whether the stream could end as it is, with the rest of the text and the blocks below it."""
        if not self._streaming or not self.workspace.is_agent or len(self._text) > MOST_STREAMED:
            return False
        new = self._text[self._sent :]
        chunks: list[dict[str, Any]] = [blocks.task(step) for step in self._unsent_steps.values()]
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        try:
            await self.web.patiently(
                "chat.stopStream",
                channel=self.spot.channel,
                ts=self.posting.get("ts"),
                chunks=chunks or None,
                blocks=below,
                metadata=self._metadata(),
            )
        except (Refusal, PlatformUnavailable) as error:
            log.info("stream_not_ended", reason=str(error))
            self._streaming = False
            return False
        return True

    async def _replace(self, layout: list[blocks.Block], text: str) -> None:
        """The first message as it stays: the stream is ended, then the message shows the whole answer."""
        if self._streaming:
            await self._leave_stream()
        if not await self._shows(self.posting.get("ts"), layout, text):
            await self._shown(await self._post(layout, text, "0"))

    async def _shows(self, ts: str, layout: list[blocks.Block], text: str) -> bool:
        """Whether the message is still there and shows this now."""
        if not ts:
            return False
        try:
            await self._update(ts, layout, text, "0")
        except Refusal as refusal:
            if refusal.error in NOT_THERE:
                return False
            raise Unpostable(f"Slack did not take the answer ({refusal.error}).") from None
        return True

    async def _further(self, part: str, layout: list[blocks.Block], text: str, *, resumed: bool) -> None:
        """A further message of a long answer."""
        ts = self.posting.get(f"part-{part}")
        if not ts and resumed:
            ts = await self._lost_message(part)
        if ts:
            await self._update(ts, layout, blocks.fallback(text), part)
            return
        await self.posting.keep(**{f"part-{part}": await self._post(layout, blocks.fallback(text), part)})

    async def _settle_card(self) -> None:
        """Take the buttons off the card that led here: what was chosen stands there instead."""
        ts, checkpoint = self.posting.get("ts"), self.posting.get("checkpoint")
        kept = await self.posting.store.read(self.posting.thread, f"checkpoint:{checkpoint}")
        if not ts or kept.get("chosen"):  # it was replaced when the button was pressed
            return
        layout = [blocks.markdown(kept.get("card") or "…"), blocks.context("Going on from here.")]
        try:
            await self._update(ts, layout, "Going on from here.", "0")
        except (Refusal, PlatformUnavailable) as error:
            log.info("card_not_settled", reason=str(error))

    # --- calls

    async def _post(self, layout: list[blocks.Block], text: str, part: str) -> str:
        """Post a message, once: after an answer that did not come, it is looked for before it is tried again."""
        for pause in (*POST_PAUSES, 0.0):
            try:
                answer = await self.web.patiently(
                    "chat.postMessage",
                    channel=self.spot.channel,
                    thread_ts=self.spot.root,
                    text=text,
                    blocks=layout,
                    metadata=self._metadata(part),
                    unfurl_links=False,
                    unfurl_media=False,
                )
                return str(answer["ts"])
            except Refusal as refusal:
                raise Unpostable(f"Slack did not take the message ({refusal.error}).") from None
            except Uncertain:
                if found := await self._lost_message(part):
                    return found
                if not pause:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _update(self, ts: str, layout: list[blocks.Block], text: str, part: str) -> None:
        await self.web.patiently(
            "chat.update",
            channel=self.spot.channel,
            ts=ts,
            text=text,
            blocks=layout,
            metadata=self._metadata(part),
            link_names=False,
        )

    async def _whisper(self, layout: list[blocks.Block], text: str) -> None:
        await self.web.patiently(
            "chat.postEphemeral",
            channel=self.spot.channel,
            user=self.spot.user,
            thread_ts=self.spot.root,
            text=text,
            blocks=layout,
        )

    def _metadata(self, part: str = "0") -> dict[str, Any]:
        payload = {"question": self.posting.subject, "trace": self.trace_id, "part": part}
        return {"event_type": METADATA, "event_payload": payload}

    async def _remember_latest(self) -> None:
        """Where this person was last answered in this channel: commands cannot name a thread."""
        kept = {"thread": str(self.spot.thread), "trace": self.trace_id}
        for subject in ("latest", f"latest:{self.spot.asker.id}"):
            await self.posting.store.keep(place_key(self.spot.thread), subject, kept)


def place_key(thread: ThreadKey) -> str:
    """The key under which things about a whole channel are kept beside its threads."""
    return str(ThreadKey(thread.platform, thread.space, thread.channel, ""))
