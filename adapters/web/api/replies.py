"""Core's values, events and errors as /v1 replies. Errors are problem details (RFC 9457) with a remedy.

Details that are only for the operator, such as endpoint failures, are left out.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Self

from aiohttp import web
from pydantic import ValidationError

from adapters.web.api.schemas import (
    AnswerReply,
    CheckpointReply,
    CitationReply,
    HitReply,
    Problem,
    SpentReply,
)
from core.model.answer import Answer
from core.model.errors import BudgetExhausted, Busy, Denied, FootnoteError, NotFound, Unavailable
from core.model.evidence import Hit
from core.model.inquiry import Checkpoint
from core.service.api_clients import Unauthenticated

CONTENT_TYPE = "application/problem+json"
RETRY_SECONDS = 10
WENT_WRONG = "Something went wrong on my side."
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (
    (Unauthenticated, 401),
    (Denied, 403),
    (NotFound, 404),
    (Busy, 429),
    (BudgetExhausted, 429),
    (Unavailable, 503),
)
MOST_FIELDS = 5


def problem_of(error: FootnoteError) -> Problem:
    """Return the problem that describes one of our errors."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return problem(status, str(error.args[0]), error.remedy or "")


def invalid(error: ValidationError) -> Problem:
    """Return the problem with a request field by field, never with its values."""
    wrong = [
        f"{'.'.join(str(part) for part in one['loc']) or 'body'}: {one['msg']}"
        for one in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    return problem(422, "; ".join(wrong[:MOST_FIELDS]), "GET /v1/openapi.json describes every request.")


def problem(status: int, detail: str, remedy: str = "", trace_id: str = "") -> Problem:
    """Return a problem without its own type; its title is the status phrase."""
    return Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, remedy=remedy, trace_id=trace_id)


def problem_response(told: Problem) -> web.Response:
    """Return the problem as a response."""
    headers = {"Cache-Control": "no-store"}
    if told.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="footnote"'
    if told.status in (429, 503):
        headers["Retry-After"] = str(RETRY_SECONDS)
    body = told.model_dump_json().encode()
    return web.Response(body=body, status=told.status, content_type=CONTENT_TYPE, headers=headers)


def answer_reply(
    answer: Answer, trace_id: str, conversation: str, notices: Sequence[str], checkpoint: Checkpoint | None = None
) -> AnswerReply:
    """Return the outcome of a question with its notices."""
    return AnswerReply(
        id=trace_id,
        conversation=conversation,
        outcome=answer.outcome,
        answer=answer.text,
        citations=[CitationReply.model_validate(source) for source in answer.citations],
        nearest=[CitationReply.model_validate(source) for source in answer.nearest],
        checkpoint=CheckpointReply.model_validate(checkpoint) if checkpoint is not None else None,
        grounding=answer.verdict.grounding if answer.verdict is not None else None,
        notices=list(dict.fromkeys((*notices, *answer.notices))),
        written_by=answer.written_by,
        spent=SpentReply.model_validate(replace(answer.spent, seconds=round(answer.spent.seconds, 3))),
    )


def hit_reply(hit: Hit) -> HitReply:
    """Return a passage that was found, with the score of each leg."""
    passage = hit.passage
    return HitReply(
        knowledge_base=passage.knowledge_base,
        document=passage.document,
        section=passage.section,
        title=passage.title,
        heading=list(passage.heading),
        locator=str(passage.locator),
        source=passage.source,
        text=passage.text,
        url=passage.url,
        dated=passage.dated,
        score=hit.score,
        dense=hit.dense,
        bm25=hit.bm25,
        rerank=hit.rerank,
    )


HEARTBEAT_SECONDS = 15.0  # a comment that detects disconnected clients and keeps proxies from closing the connection


class EventStream:
    """A server-sent event stream. Raises ConnectionResetError if the client has disconnected."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._response = web.StreamResponse(
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
        )
        self._response.content_type = "text/event-stream"
        self._response.charset = "utf-8"
        self._writing = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._response.prepare(self._request)
        self._beating = asyncio.create_task(self._beat(asyncio.current_task()))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating

    async def send(self, data: str, event: str = "") -> None:
        """Send one event. ``data`` is JSON, which has no line break. Without a name, only the data is sent."""
        name = f"event: {event}\n" if event else ""
        async with self._writing:
            await self._response.write(f"{name}data: {data}\n\n".encode())

    async def close(self) -> web.StreamResponse:
        """End the stream."""
        await self._response.write_eof()
        return self._response

    async def _beat(self, owner: "asyncio.Task[object] | None") -> None:
        """Send heartbeats. If the client has disconnected, cancel the owner's work."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                async with self._writing:
                    await self._response.write(b": still at it\n\n")
            except ConnectionResetError:
                if owner is not None:
                    owner.cancel()
                return
