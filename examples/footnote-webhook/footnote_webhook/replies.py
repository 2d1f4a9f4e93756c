"""Replies to the other program: signed JSON, one object for each thing that its people should see."""

import hashlib
import hmac
import json
import logging
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp

from core.model.answer import Answer
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import IncomingMessage
from core.model.inquiry import Checkpoint
from core.model.records import QuestionState
from core.ports.answer_view import Step
from core.ports.platform import MessageState

SECONDS = 10.0  # seconds for one call
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class WebhookQuestionState(QuestionState):
    """Stored state of a question, and whether its first sign was sent."""

    begun: bool = False


class Replies:
    """Posts replies. The receiver replaces an earlier reply with the same ``Idempotency-Key``, so retries are safe."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token.encode()
        self._http: aiohttp.ClientSession | None = None
        self.problem = ""  # why the last call failed

    async def open(self) -> None:
        """Open the client."""
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS))

    async def close(self) -> None:
        """Close the client."""
        if self._http is not None:
            await self._http.close()

    async def post(self, message: IncomingMessage, kind: str, text: str = "", **more: Any) -> None:
        """Post one reply, and log it if it is refused. Raises PlatformUnavailable if it has to be retried."""
        assert self._http is not None
        conversation = message.thread.channel
        reply = {"kind": kind, "id": message.id, "conversation": conversation, "text": text, **more}
        body = json.dumps(reply, ensure_ascii=False).encode()
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": f"{conversation}/{message.id}/{kind}",
            "X-Footnote-Signature": f"sha256={hmac.new(self._token, body, hashlib.sha256).hexdigest()}",
        }
        try:
            async with self._http.post(self._url, data=body, headers=headers, allow_redirects=False) as response:
                status = response.status
        except (TimeoutError, aiohttp.ClientError) as error:
            self.problem = f"The webhook's receiver cannot be reached ({type(error).__name__})."
            raise PlatformUnavailable(self.problem) from error
        if status >= 500 or status == 429:
            self.problem = f"The webhook's receiver answers {status}."
            raise PlatformUnavailable(self.problem)
        self.problem = ""
        if status >= 300:
            log.error("webhook_reply_refused", extra={"status": status, "kind": kind})


@dataclass(slots=True)
class WebhookAnswerView:
    """Implementation of ``core.ports.answer_view.AnswerView``: one first sign, then the outcome, without a stream."""

    message: IncomingMessage
    message_state: MessageState[WebhookQuestionState]
    replies: Replies
    notices: list[str] = field(default_factory=list)

    async def open(self) -> None:
        """Show the first sign once, after storing that it was sent."""
        if not self.message_state.kept.begun:
            await self.message_state.keep(replace(self.message_state.kept, begun=True))
            await self.replies.post(self.message, "working")

    async def step(self, step: Step) -> None:
        """Show nothing, because each step would be a call."""

    async def write(self, text: str) -> None:
        """Show no text before it is final."""

    async def rewrite(self, reason: str) -> None:
        """Store a notice for the answer."""
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Store a notice for the answer."""
        if text and text not in self.notices:
            self.notices.append(text)

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Post the answer with its sources."""
        await self._end("answer", answer.text, answer, trace=trace_id)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Post the choices of a checkpoint, which ``/webhook/choices`` takes."""
        choices = [{"id": one.id, "label": one.label} for one in checkpoint.choices]
        card = {"checkpoint": checkpoint.id, "choices": choices}
        await self._end("choices", checkpoint.message, answer, trace=trace_id, **card)

    async def fail(self, message: str, trace_id: str) -> None:
        """Post the failure."""
        await self.replies.post(self.message, "failure", message, trace=trace_id)
        await self.message_state.settle(self.message_state.kept)

    async def close(self) -> None:
        """Do nothing."""

    async def _end(self, kind: str, text: str, answer: Answer, **more: Any) -> None:
        sources = [
            {"n": one.n, "title": one.title, "place": one.short_place, "quote": one.quote, "url": one.url}
            for one in answer.citations
        ]
        notices = [*self.notices, *answer.notices]
        fields = {"outcome": answer.outcome, "sources": sources, "notices": notices, **more}
        await self.replies.post(self.message, kind, text, **fields)
        await self.message_state.settle(self.message_state.kept, answer.outcome)
