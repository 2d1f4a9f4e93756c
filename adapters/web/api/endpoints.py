"""/v1: asking, choosing, rating and searching for API clients, each under its token's audience.

Requests are validated by type and authenticated by token; errors are problem details. If a client disconnects during a
stream, its work is cancelled.
"""

import logging
import uuid
from dataclasses import dataclass, replace

from aiohttp import web

from adapters.web.api.asking import ENDS, SHOWS_DRAFT, Asking, ProgramRun, RunRecorder
from adapters.web.api.chat import ChatEndpoints, error_response
from adapters.web.api.documents import DocumentEndpoints
from adapters.web.api.openapi import EVENT_STREAM, OPERATIONS, PAGE_POLICY, description, page
from adapters.web.api.replies import WENT_WRONG, EventStream, hit_reply, problem, problem_of, problem_response
from adapters.web.api.requests import Handler, TokenGuard, body_of, send
from adapters.web.api.schemas import (
    AskRequest,
    FeedbackReply,
    FeedbackRequest,
    Problem,
    ResumeRequest,
    SearchReply,
    SearchRequest,
)
from core.model.errors import FootnoteError, NotFound
from core.model.inquiry import AnswerPolicy
from core.model.json_codec import to_json
from core.ports.memory import Checkpoints
from core.service.actions.user_actions import UserActions
from core.service.api_clients import ApiClient, ApiClients, KnowledgeReader
from core.service.kb.program_documents import ProgramDocuments
from core.service.question_service import Question, QuestionService

GONE = "There is no open checkpoint with this id. It was answered or has expired."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints of ``/v1``."""

    clients: ApiClients
    questions: QuestionService
    checkpoints: Checkpoints
    actions: UserActions
    reader: KnowledgeReader
    documents: ProgramDocuments
    policy: AnswerPolicy
    version: str
    asking: Asking

    def routes(self) -> tuple[web.RouteDef, ...]:
        """Return the routes of ``/v1``, and the page about them for people."""
        guard = TokenGuard(self.clients)
        documents, chat = (
            DocumentEndpoints(self.documents),
            ChatEndpoints(self.questions, self.asking, self.policy, self.reader.catalog),
        )
        handlers: dict[str, Handler] = {
            "ask": self._ask,
            "resume": self._resume,
            "feedback": self._feedback,
            "search": self._search,
            "add_document": documents.add,
            "list_documents": documents.all,
            "get_document": documents.one,
            "put_document": documents.put,
            "delete_document": documents.delete,
            "get_job": documents.job,
            "chat_completions": chat.complete,
            "models": chat.models,
        }
        guarded = [
            web.route(
                one.method,
                one.path.replace("{key}", "{key:(?s:.+)}"),
                guard(handlers[one.name], one.scope, error_response if one.openai else problem_response),
            )
            for one in OPERATIONS
        ]
        return (
            *guarded,
            web.get("/v1/openapi.json", self._description),
            web.get("/docs", self._page),
            web.route("*", "/v1{rest:.*}", _nowhere),
            web.route("*", "/mcp{rest:.*}", _nowhere),
        )

    async def _description(self, _request: web.Request) -> web.Response:
        return web.json_response(description(self.version), headers={"Cache-Control": "no-store"})

    async def _page(self, _request: web.Request) -> web.Response:
        headers = {"Content-Security-Policy": PAGE_POLICY, "X-Content-Type-Options": "nosniff"}
        return web.Response(text=page(description(self.version)), content_type="text/html", headers=headers)

    # --- asking

    async def _ask(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        asked = await body_of(request, AskRequest)
        thread = client.thread(asked.conversation or uuid.uuid4().hex[:16], asked.user or "")
        question = Question(
            asked.question,
            thread,
            client.person(asked.user or ""),
            client.audience,
            self.policy if asked.profile is None else replace(self.policy, profile=asked.profile),
            await self._bases(client, asked.knowledge_base),
        )
        return await self._answer(request, ProgramRun(client, thread, self.questions.ask(question)))

    async def _bases(self, client: ApiClient, base: str | None) -> frozenset[str] | None:
        if base is None:
            return client.bases
        return await self.actions.bases.select(base, client.audience, client.bases)

    async def _resume(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        chosen = await body_of(request, ResumeRequest)
        person = client.person(chosen.user or "")
        parked = await self.checkpoints.read(chosen.checkpoint)
        if parked is None or parked.checkpoint.asker.id != person.id:  # treat another person's checkpoint as not found
            raise NotFound(GONE, remedy="Ask again.")
        choice = parked.checkpoint.choice(chosen.choice)
        if choice is None:
            ids = ", ".join(one.id for one in parked.checkpoint.choices)
            raise NotFound(f"“{chosen.choice[:60]}” is not one of the choices.", remedy=f"There are: {ids}.")
        events = self.questions.choose(chosen.checkpoint, choice, person, text=chosen.text, audience=client.audience)
        return await self._answer(request, ProgramRun(client, parked.checkpoint.thread, events))

    async def _answer(self, request: web.Request, run: ProgramRun) -> web.StreamResponse:
        """Answer in the form that the client accepts. Raises Busy, and Unavailable during startup."""
        async with self.asking.work(run) as recorder:
            if EVENT_STREAM in request.headers.get("Accept", ""):
                return await self._stream(request, run, recorder)
            return await send(request, await recorder.finish(run))

    async def _stream(self, request: web.Request, run: ProgramRun, recorder: RunRecorder) -> web.StreamResponse:
        async with EventStream(request) as stream:
            try:
                async for event in recorder.watch(run):
                    if not isinstance(event, ENDS | SHOWS_DRAFT):
                        await stream.send(to_json(event), event.kind)
                end = recorder.end
            except FootnoteError as error:
                end = problem_of(error).model_copy(update={"trace_id": recorder.trace_id})
            except ConnectionResetError:
                raise
            except Exception:
                log.exception("api_failed", extra={"path": request.path, "trace_id": recorder.trace_id})
                end = problem(500, WENT_WRONG, trace_id=recorder.trace_id)
            await stream.send(end.model_dump_json(), "problem" if isinstance(end, Problem) else "answer")
            return await stream.close()

    # --- beside asking

    async def _feedback(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        said = await body_of(request, FeedbackRequest)
        thread, person = client.thread(said.conversation, said.user or ""), client.person(said.user or "")
        await self.actions.answers.rate(thread, said.answer, person, helpful=said.helpful, reason=said.reason)
        return await send(request, FeedbackReply())

    async def _search(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        wanted = await body_of(request, SearchRequest)
        self.asking.check_ready()
        found = await self.reader.search(
            client, wanted.query, base=wanted.knowledge_base or "", source=wanted.source or "", limit=wanted.limit
        )
        return await send(request, SearchReply(hits=[hit_reply(hit) for hit in found.hits]))


async def _nowhere(request: web.Request) -> web.StreamResponse:
    """Answer a request for an address that does not exist, or with a method that it does not take."""
    known = sorted({one.method for one in OPERATIONS if _matches(one.path, request.path)})
    if request.path.startswith("/mcp"):
        told = problem(404, "MCP is not served here.", "Run footnote mcp --http to serve it on its own port.")
    elif known:
        told = problem(405, f"{request.method} is not supported at this address.", f"Use {', '.join(known)}.")
    else:
        told = problem(404, "There is nothing at this address.", "GET /docs lists the addresses.")
    response = problem_response(told.model_copy(update={"trace_id": uuid.uuid4().hex[:16]}))
    if known:
        response.headers["Allow"] = ", ".join(known)
    return response


def _matches(path: str, asked: str) -> bool:
    fixed, _, rest = path.partition("{")
    return asked.startswith(fixed) and len(asked) > len(fixed) if rest else asked == path
