"""/v1: asking, choosing, rating and searching for programs, each under its token's audience.

What arrives is checked by its type, who sends it by the token; errors leave as problem details. A program that
hangs up in the middle of a stream ends the work that is done for it.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from adapters.web.api.event_stream import EventStream
from adapters.web.api.openapi import EVENT_STREAM, OPERATIONS, description
from adapters.web.api.problems import WENT_WRONG, invalid, problem, problem_of, problem_response
from adapters.web.api.replies import answer_reply, hit_reply
from adapters.web.api.schemas import (
    AnswerReply,
    AskRequest,
    FeedbackReply,
    FeedbackRequest,
    Problem,
    ResumeRequest,
    SearchReply,
    SearchRequest,
)
from core.model.conversation import ThreadKey
from core.model.errors import Busy, FootnoteError, NotFound, Unavailable
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    HallucinationChecked,
    Noticed,
)
from core.model.inquiry import AnswerPolicy
from core.model.json_codec import to_json
from core.ports.api_tokens import TokenScope
from core.ports.checkpoints import Checkpoints
from core.ports.metrics import Metrics, NoMetrics
from core.service.actions.user_actions import UserActions
from core.service.api_clients import API_PLATFORM, ApiClient, ApiClients
from core.service.knowledge_reader import KnowledgeReader
from core.service.question_service import Question, QuestionService

BODY_LIMIT = 64 * 1024  # bytes
MOST_ASKING = 16  # questions of programs at once in a process: chat comes first
GONE = "There is no open checkpoint of yours with this id: it was answered, or its time is over."

_ENDS = AgentCompleted | AgentFailed | CheckpointReached
_SHOWS_DRAFT = AnswerDelta | AnswerReset | HallucinationChecked  # has sentences of a draft: no program gets those

log = logging.getLogger(__name__)

R = TypeVar("R", bound=BaseModel)
Handler = Callable[[web.Request, ApiClient], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class _Run:
    """A question or a choice under way."""

    client: ApiClient
    thread: ThreadKey
    events: AsyncGenerator[AgentEvent, None]


@dataclass(slots=True)
class _Recorder:
    """What is known of a run when it has ended."""

    conversation: str
    trace_id: str = ""
    notices: list[str] = field(default_factory=list)
    final: AnswerReply | Problem | None = None

    def take_in(self, event: AgentEvent) -> None:
        """Note what the reply needs."""
        match event:
            case AgentStarted():
                self.trace_id = event.trace_id
            case Noticed():
                self.notices.append(event.text)
            case AgentCompleted():
                self.final = answer_reply(event.answer, self.trace_id, self.conversation, self.notices)
            case CheckpointReached():
                self.final = answer_reply(
                    event.answer, self.trace_id, self.conversation, self.notices, event.checkpoint
                )
            case AgentFailed():
                self.final = problem(503, event.message, trace_id=event.trace_id)
            case _:
                pass

    @property
    def end(self) -> AnswerReply | Problem:
        """The reply at the end of a run."""
        return self.final or problem(500, WENT_WRONG, trace_id=self.trace_id)


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints, over what is open."""

    clients: ApiClients
    questions: QuestionService
    checkpoints: Checkpoints
    actions: UserActions
    reader: KnowledgeReader
    policy: AnswerPolicy
    version: str
    metrics: Metrics = NoMetrics()  # noqa: RUF009 - it has no state
    warming: Callable[[], bool] = lambda: False
    asking: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_ASKING))

    def routes(self) -> tuple[web.RouteDef, ...]:
        """The routes of ``/v1``."""
        handlers = {
            "/v1/ask": self._ask,
            "/v1/resume": self._resume,
            "/v1/feedback": self._feedback,
            "/v1/search": self._search,
        }
        posts = [web.post(one.path, self._guard(handlers[one.path], one.scope)) for one in OPERATIONS]
        return (*posts, web.get("/v1/openapi.json", self._description))

    async def _description(self, _request: web.Request) -> web.Response:
        return web.json_response(description(self.version), headers={"Cache-Control": "no-store"})

    def _guard(self, handler: Handler, scope: TokenScope) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def guarded_handler(request: web.Request) -> web.StreamResponse:
            try:
                client = await self.clients.authenticate(_bearer(request))
                client.check(scope)
                return await handler(request, client)
            except ValidationError as error:
                return problem_response(invalid(error))
            except FootnoteError as error:
                return problem_response(problem_of(error))
            except web.HTTPRequestEntityTooLarge:
                return problem_response(problem(413, f"The body is larger than {BODY_LIMIT} bytes."))
            except web.RequestPayloadError:
                return problem_response(problem(400, "The body could not be read to its end."))
            except (web.HTTPException, ConnectionResetError):
                raise
            except Exception:
                log.exception("api_failed", extra={"path": request.path})
                return problem_response(problem(500, WENT_WRONG))

        return guarded_handler

    # --- asking

    async def _ask(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        asked = await _body(request, AskRequest)
        thread = client.thread(asked.conversation or uuid.uuid4().hex[:16], asked.user or "")
        question = Question(
            asked.question,
            thread,
            client.person(asked.user or ""),
            client.audience,
            self.policy if asked.profile is None else replace(self.policy, profile=asked.profile),
            await self._bases(client, asked.knowledge_base),
        )
        return await self._answer(request, _Run(client, thread, self.questions.ask(question)))

    async def _bases(self, client: ApiClient, base: str | None) -> frozenset[str] | None:
        if base is None:
            return client.bases
        return await self.actions.bases.select(base, client.audience, client.bases)

    async def _resume(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        chosen = await _body(request, ResumeRequest)
        person = client.person(chosen.user or "")
        parked = await self.checkpoints.read(chosen.checkpoint)
        if parked is None or parked.checkpoint.asker.id != person.id:  # another's is not there, for who asks
            raise NotFound(GONE, remedy="Ask again.")
        choice = parked.checkpoint.choice(chosen.choice)
        if choice is None:
            ids = ", ".join(one.id for one in parked.checkpoint.choices)
            raise NotFound(f"“{chosen.choice[:60]}” is none of the choices.", remedy=f"There are: {ids}.")
        events = self.questions.choose(chosen.checkpoint, choice, person, text=chosen.text, audience=client.audience)
        return await self._answer(request, _Run(client, parked.checkpoint.thread, events))

    async def _answer(self, request: web.Request, run: _Run) -> web.StreamResponse:
        """Work on it, and answer as the program wants it. Raises Busy, Unavailable while everything starts."""
        if self.warming():
            raise Unavailable("I am still warming up.", remedy="Try again in a moment.")
        if self.asking.locked():
            raise Busy(f"{MOST_ASKING} questions are worked on already.", remedy="Wait a moment, then go on.")
        async with self.asking:
            recording = _Recorder(run.thread.thread)
            try:
                response = await self._respond(request, run, recording)
            finally:
                self.questions.release(recording.trace_id)
        await self._reflect(run)
        return response

    async def _respond(self, request: web.Request, run: _Run, recording: _Recorder) -> web.StreamResponse:
        if EVENT_STREAM in request.headers.get("Accept", ""):
            return await self._stream(request, run, recording)
        async with aclosing(run.events) as events:
            async for event in events:
                self._take_in(recording, event)
        return await _send(request, recording.end)

    async def _stream(self, request: web.Request, run: _Run, recording: _Recorder) -> web.StreamResponse:
        async with EventStream(request) as stream:
            try:
                async with aclosing(run.events) as events:
                    async for event in events:
                        self._take_in(recording, event)
                        if not isinstance(event, _ENDS | _SHOWS_DRAFT):
                            await stream.send(event.kind, to_json(event))
                end = recording.end
            except FootnoteError as error:
                end = problem_of(error)
            except ConnectionResetError:
                raise
            except Exception:
                log.exception("api_failed", extra={"path": request.path, "trace_id": recording.trace_id})
                end = problem(500, WENT_WRONG, trace_id=recording.trace_id)
            await stream.send("problem" if isinstance(end, Problem) else "answer", end.model_dump_json())
            return await stream.close()

    def _take_in(self, recording: _Recorder, event: AgentEvent) -> None:
        recording.take_in(event)
        if isinstance(event, _ENDS):
            self.metrics.count_outcome(API_PLATFORM, event)

    async def _reflect(self, run: _Run) -> None:
        """The thread's summary is of use to later questions; the answer is with the program already."""
        try:
            await self.questions.reflect(run.thread, run.client.audience)
        except FootnoteError as error:
            log.warning("not_summarised", extra={"reason": str(error)})

    # --- beside asking

    async def _feedback(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        said = await _body(request, FeedbackRequest)
        thread, person = client.thread(said.conversation, said.user or ""), client.person(said.user or "")
        await self.actions.ratings.rate(thread, said.answer, person, helpful=said.helpful, reason=said.reason)
        return await _send(request, FeedbackReply())

    async def _search(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        wanted = await _body(request, SearchRequest)
        if self.warming():
            raise Unavailable("I am still warming up.", remedy="Try again in a moment.")
        found = await self.reader.search(
            client, wanted.query, base=wanted.knowledge_base or "", source=wanted.source or "", limit=wanted.limit
        )
        return await _send(request, SearchReply(hits=[hit_reply(hit) for hit in found.hits]))


def _bearer(request: web.Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


async def _body(request: web.Request, kind: type[R]) -> R:
    """The request as its type. Raises ValidationError, HTTPRequestEntityTooLarge."""
    body = bytearray()
    async for part in request.content.iter_chunked(8 * 1024):
        body += part
        if len(body) > BODY_LIMIT:
            raise web.HTTPRequestEntityTooLarge(max_size=BODY_LIMIT, actual_size=len(body))
    return kind.model_validate_json(bytes(body))


async def _send(request: web.Request, reply: BaseModel) -> web.StreamResponse:
    """The reply, on its way before this returns: what follows keeps nobody waiting."""
    if isinstance(reply, Problem):
        response = problem_response(reply)
    else:
        headers: dict[str, Any] = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        response = web.Response(body=reply.model_dump_json().encode(), content_type="application/json", headers=headers)
    await response.prepare(request)
    await response.write_eof()
    return response
