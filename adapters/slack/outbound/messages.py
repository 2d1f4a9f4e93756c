"""Messages that are not answers: for everyone in a thread, for one person's eyes there, and in a direct message.

An answer and its parts, which have to be found again and edited, are ``answer_surface``.
"""

from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound import blocks
from adapters.slack.outbound.text import escape
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Messages:
    """Posts as this workspace's bot. A ``text`` goes into notifications, and where no ``layout`` is given, in it."""

    web: WebClient

    async def post(
        self, thread: ThreadKey, text: str, layout: list[blocks.Block] | None = None, *, part: str = "aside"
    ) -> dict[str, Any]:
        """Post in a thread, for everyone there; Slack's answer. ``part`` is what the message is found again by.

        Raises RequestRefused and PlatformUnavailable.
        """
        payload = {"question": "", "trace": "", "part": part}
        return await self.web.call(
            "chat.postMessage",
            channel=thread.channel,
            thread_ts=thread.thread or None,
            text=blocks.fallback(text),
            blocks=layout or [blocks.section(escape(text))],
            metadata={"event_type": "footnote", "event_payload": payload},
            unfurl_links=False,
            unfurl_media=False,
        )

    async def post_privately(
        self, thread: ThreadKey, user: str, text: str, layout: list[blocks.Block] | None = None
    ) -> bool:
        """Post for one person's eyes; in a direct message, simply there. Whether it could be posted."""
        words = {"text": blocks.fallback(text), "blocks": layout or [blocks.section(escape(text))]}
        try:
            if thread.channel.startswith("D"):
                await self.post(thread, text, layout)
            else:
                place = await ephemeral_place(self.web, thread, user)
                await self.web.call("chat.postEphemeral", **place, **words)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("not_posted", reason=str(error))
            return False
        return True

    async def post_directly(self, user: str, text: str, layout: list[blocks.Block] | None = None) -> None:
        """Post in the direct message with somebody; what cannot be said there either is logged."""
        try:
            await self.post(ThreadKey(PLATFORM, "", await self.direct_channel(user), ""), text, layout)
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("not_posted", reason=str(error))

    async def direct_channel(self, user: str) -> str:
        """The channel in which this person reads us alone. Raises RequestRefused and PlatformUnavailable."""
        answer = await self.web.call("conversations.open", users=user)
        return str(answer["channel"]["id"])


async def ephemeral_place(web: WebClient, thread: ThreadKey, user: str) -> dict[str, str]:
    """Where a message for one person's eyes is shown: in the thread once that has begun, else in the channel itself.

    In a thread without a reply Slack shows none, and says ok all the same.
    https://docs.slack.dev/reference/methods/chat.postEphemeral
    """
    place = {"channel": thread.channel, "user": user}
    return place | {"thread_ts": thread.thread} if thread.thread and await _has_begun(web, thread) else place


async def _has_begun(web: WebClient, thread: ThreadKey) -> bool:
    try:
        answer = await web.call_once("conversations.replies", channel=thread.channel, ts=thread.thread, limit=2)
    except (RequestRefused, PlatformUnavailable) as error:
        log.info("thread_unreadable", reason=str(error))
        return False
    return len(answer.get("messages") or []) > 1
