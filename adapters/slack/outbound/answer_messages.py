"""The messages of one answer: posted once, edited in place, found again, and said directly where a place takes none.

Slack may refuse any of these calls with a word that nobody has met before. So no refusal is read as an end: what cannot
be edited is posted anew, what is refused with its layout is posted in plain text, and what a place does not take at all
goes to the one who asked. Two things are no refusals: a token that is not accepted and an error on Slack's own side.
Both are raised as PlatformUnavailable, so that the question is kept.
https://docs.slack.dev/reference/methods/chat.postMessage/#errors
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import structlog

from adapters.slack.api.errors import OutcomeUnknown, RequestRefused, SlackServerError, is_token_refused
from adapters.slack.api.ids import user_id
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import blocks
from adapters.slack.outbound.agent_sessions import AgentSessions
from adapters.slack.outbound.answer_records import SlackQuestionState
from adapters.slack.outbound.messages import ephemeral_place
from adapters.slack.outbound.text import escape, shorten
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.ports.platform import MessageState

METADATA = "footnote"
POST_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before a message whose fate is unknown is tried again
MOST_SEARCHED = 200  # messages since the question among which a lost one is looked for
LONGEST_UPDATE = 4_000  # characters of ``text`` that chat.update takes
LONGEST_TEXT = 12_000  # characters of a message without blocks; Slack would cut one at 40,000
MOST_QUOTED = 300  # characters of the question, in a direct message about it
_ABOUT_CONTENT = (
    "invalid_blocks", "invalid_attachments", "invalid_metadata", "invalid_arguments", "metadata_", "markdown_text",
    "msg_", "no_text", "too_many_", "attachment_payload", "slack_connect_", "block_mismatch",
)  # fmt: skip

log = structlog.get_logger(__name__)


class NowhereToPost(FootnoteError):
    """Slack takes no message of ours there, in whatever form: the channel is archived, locked, or we were removed."""


class Workspace(Protocol):
    """What an answer view asks of the workspace around it."""

    @property
    def web(self) -> WebClient:
        """The Web API."""

    @property
    def sessions(self) -> AgentSessions:
        """The states of agent sessions, where the app is an agent."""

    async def bot_user_id(self) -> str:
        """Our own user id."""

    async def partner_notice(self, thread: ThreadKey) -> str:
        """What the first answer in a channel says when another organization reads there; empty in all others."""

    async def keep_partners_mentioned(self, thread: ThreadKey) -> None:
        """Keep that they were mentioned: no later answer says it again."""

    async def name_of(self, user: str) -> str:
        """The name that others see of somebody."""

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in a place."""


@dataclass(frozen=True, slots=True)
class SlackQuestion:
    """One question in Slack: who asked it where, and so where its answer goes."""

    thread: ThreadKey
    asker: Person
    ts: str  # of the message that it stands in
    text: str
    direct: bool
    private: bool
    suggested: bool = False  # the question was pressed: it stands in no message, so the answer says it

    @property
    def heading(self) -> list[blocks.Block]:
        """What stands above the answer: the question, where it stands nowhere else."""
        return [blocks.asked_line(self.asker.name, self.text)] if self.suggested else []

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
        return user_id(self.asker)


@dataclass(slots=True)
class AnswerMessages:
    """Our messages that answer one question, each a numbered part."""

    workspace: Workspace
    question: SlackQuestion
    message_state: MessageState[SlackQuestionState]
    trace_id: str

    async def post(self, layout: list[blocks.Block], text: str, part: str, *, resumed: bool = False) -> str:
        """A new message's ``ts``; ``resumed``: an earlier worker may have posted it, so it is looked for first.

        Raises NowhereToPost and PlatformUnavailable.
        """
        if resumed and (found := await self.find(part)) and await self.update(found, layout, text, part):
            return found
        place = {"channel": self.question.channel, "thread_ts": self.question.root}
        return await self._post_or_plain(place, layout, text, part)

    async def update(self, ts: str, layout: list[blocks.Block], text: str, part: str) -> bool:
        """Whether the message is still there and surely shows this now. Raises PlatformUnavailable."""
        arguments = {"channel": self.question.channel, "ts": ts, "link_names": False}
        try:
            await self._call("chat.update", **arguments, text=text, blocks=layout, metadata=self.metadata(part))
        except SlackServerError as error:  # again and again, over this one message
            log.info("edit_failed", reason=str(error))
            return False
        except RequestRefused as refusal:
            log.info("edit_refused", reason=refusal.error)
            plain = blocks.plain_text(layout)
            if not is_about_content(refusal) or len(plain) > LONGEST_UPDATE:
                return False
            try:
                await self._call("chat.update", **arguments, text=plain, blocks=[])
            except RequestRefused as again:
                log.info("edit_refused", reason=again.error)
                return False
        return True

    async def remove(self, ts: str, channel: str = "") -> None:
        """Take a message away, as far as Slack lets us. Raises PlatformUnavailable."""
        try:
            await self._call("chat.delete", channel=channel or self.question.channel, ts=ts)
        except RequestRefused as refusal:
            log.info("not_removed", reason=refusal.error)

    async def find(self, part: str) -> str:
        """The ``ts`` of a message of ours that was posted but not kept; empty when there is none."""
        place = {"channel": self.question.channel, "ts": self.question.root, "oldest": self.question.ts}
        return await self._find("conversations.replies", part, **place)

    async def others_wrote(self) -> bool:
        """Whether somebody else has written in the thread since the question; no where Slack does not say."""
        since = {"channel": self.question.channel, "ts": self.question.root, "oldest": self.question.ts}
        try:
            answer = await self.workspace.web.call_once("conversations.replies", **since, limit=MOST_SEARCHED)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("thread_unreadable", reason=str(error))
            return False
        known = {await self.workspace.bot_user_id(), self.question.user, None}
        later = [one for one in answer.get("messages") or [] if float(one.get("ts") or 0) > float(self.question.ts)]
        return any(one.get("user") not in known for one in later)

    async def post_privately(self, layout: list[blocks.Block], text: str) -> bool:
        """Whether the asker alone was shown this where they asked. Raises PlatformUnavailable."""
        place = await ephemeral_place(self.workspace.web, self.question.thread, self.question.user)
        shown = blocks.with_thread(layout, self.question.root)
        for given in ({"text": text, "blocks": shown}, {"text": blocks.plain_text(layout)[:LONGEST_TEXT]}):
            try:
                await self._call("chat.postEphemeral", **place, **given)
            except RequestRefused as refusal:
                log.info("not_shown_privately", reason=refusal.error)
            else:
                return True
        return False

    async def post_directly(self, layouts: Sequence[list[blocks.Block]], text: str, reason: str) -> bool:
        """Tell the asker in a direct message, once, what could not be said where they asked; whether they were told.

        Buttons stay away: they would be pressed in another thread than they are about. Raises PlatformUnavailable.
        """
        resumed = bool(self.message_state.kept.direct)
        try:
            channel = self.message_state.kept.direct or await self._direct_channel()
            await self.message_state.keep(replace(self.message_state.kept, direct=channel))
            asked = escape(shorten(self.question.text, MOST_QUOTED))
            about = f"I could not answer where you asked: {escape(reason)}. You asked: “{asked}”"
            for number, layout in enumerate(layouts):
                shown = [*([] if number else [blocks.context(about)]), *blocks.without_buttons(layout)]
                part = f"direct-{number}"
                if resumed and await self._find("conversations.history", part, channel=channel):
                    continue
                ts = await self._post_or_plain({"channel": channel}, shown, text, part)
                kept = self.message_state.kept
                await self.message_state.keep(replace(kept, direct_ts=(*kept.direct_ts, ts)))
        except (RequestRefused, NowhereToPost) as error:
            log.warning("nowhere_to_answer", trace_id=self.trace_id, reason=str(error), because=reason)
            return False
        return True

    def metadata(self, part: str = "0") -> dict[str, Any]:
        """By what a message is found again."""
        payload = {"question": self.message_state.kept.message, "trace": self.trace_id, "part": part}
        return {"event_type": METADATA, "event_payload": payload}

    async def _direct_channel(self) -> str:
        """The direct message with the asker; without the right to open one, Slack takes the person's id for it."""
        try:
            return str((await self._call("conversations.open", users=self.question.user))["channel"]["id"])
        except RequestRefused as refusal:
            log.info("direct_message_not_opened", reason=refusal.error)
            return self.question.user

    async def _post_or_plain(self, place: Mapping[str, Any], layout: list[blocks.Block], text: str, part: str) -> str:
        whole = {"text": text, "blocks": layout, "metadata": self.metadata(part)}
        reason = ""
        for given in (whole, {"text": blocks.plain_text(layout)[:LONGEST_TEXT]}):
            try:
                return await self._post_once({**place, **given}, part)
            except RequestRefused as refusal:
                reason = refusal.error
                log.info("message_refused", reason=reason)
        raise NowhereToPost(reason)

    async def _post_once(self, arguments: Mapping[str, Any], part: str) -> str:
        """Post, once: after an answer that did not come, the message is looked for before it is tried again."""
        for pause in (*POST_PAUSES, 0.0):
            try:
                answer = await self._call("chat.postMessage", **arguments, unfurl_links=False, unfurl_media=False)
                return str(answer["ts"])
            except OutcomeUnknown:
                if found := await self._find_posted(arguments, part):
                    return found
                if not pause:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _find_posted(self, arguments: Mapping[str, Any], part: str) -> str:
        if "thread_ts" in arguments:
            return await self.find(part)
        return await self._find("conversations.history", part, channel=arguments["channel"])

    async def _find(self, method: str, part: str, **where: str) -> str:
        try:
            answer = await self._call(method, **where, limit=MOST_SEARCHED, include_all_metadata=True)
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("thread_unreadable", reason=str(error))
            return ""
        ours, others = await self.workspace.bot_user_id(), {*self.message_state.kept.cards, self.message_state.kept.ts}
        found = sorted(answer.get("messages") or [], key=lambda message: float(message["ts"]), reverse=True)
        for message in found:
            known = message.get("user") != ours or message["ts"] in others
            if not known and self._is_part(message.get("metadata") or {}, part):
                return str(message["ts"])
        return ""

    def _is_part(self, metadata: Mapping[str, Any], part: str) -> bool:
        if metadata.get("event_type") != METADATA:
            return part == "0" and not metadata  # a stream has no metadata until it ends
        payload = metadata.get("event_payload") or {}
        return payload.get("question") == self.message_state.kept.message and str(payload.get("part")) == part

    async def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Raises RequestRefused for what concerns this call, PlatformUnavailable for what concerns every call."""
        try:
            return await self.workspace.web.call(method, **arguments)
        except RequestRefused as refusal:
            if is_token_refused(refusal):
                raise PlatformUnavailable(
                    "Slack does not accept my token. `footnote doctor` says what to do."
                ) from None
            if refusal.retry_after:
                raise PlatformUnavailable(f"Slack limits {method} for long.") from None
            raise


def is_about_content(refusal: RequestRefused) -> bool:
    """Whether it is what we send that was refused, and not where we send it."""
    return refusal.error.startswith(_ABOUT_CONTENT)
