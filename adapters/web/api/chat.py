"""/v1/chat/completions and /v1/models: Footnote as a model for clients of OpenAI's API.

Such a client sends the whole conversation each time. Only ``user`` messages count: the last is the question, and the
earlier ones are its context. Earlier answers come from our own memory of the same questions. ``system`` and
``assistant`` messages are the client's words and never evidence.
"""

import hashlib
import json
import logging
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiohttp import web

from adapters.web.api.asking import Asking, ProgramRun, RunRecorder
from adapters.web.api.chat_schemas import (
    Annotation,
    AssistantMessage,
    ChatChoice,
    ChatCompletion,
    ChatError,
    ChatErrorReply,
    ChatRequest,
    FootnoteFields,
    Model,
    ModelList,
    UrlCitation,
    Usage,
)
from adapters.web.api.replies import WENT_WRONG, EventStream, problem, problem_of, problem_response
from adapters.web.api.requests import body_of, send
from adapters.web.api.schemas import AnswerReply, Problem
from core.model.answer_links import SourceLinks, without_foreign_links
from core.model.conversation import ContextMessage, ThreadKey
from core.model.errors import DocumentRejected, FootnoteError, NotFound
from core.model.inquiry import AnswerPolicy
from core.model.message_text import LONGEST_QUESTION
from core.ports.catalog import Catalog
from core.service.api_clients import ApiClient
from core.service.question_service import OpenThread, Question, QuestionService

log = logging.getLogger(__name__)

MODEL = "footnote"
BODY_LIMIT = 1024 * 1024  # bytes: a whole conversation
_MOST_CONTEXT = 8  # earlier questions
_LOOKED_BACK = 3  # questions; a choice's answer is stored with the question before it
_TASK = "### Task:"  # prefix of Open WebUI's own prompts: titles, tags, follow-ups, search queries
_MARKER = re.compile(r"\[(\d{1,3})\]")
_PIECE = re.compile(r"\S*\s*")
_ASKED_FIRST = re.compile(r"(?m)^USER: (.{1,80})")
_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_scope"),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


@dataclass(frozen=True, slots=True)
class ChatEndpoints:
    """Handlers, each behind the token check."""

    questions: QuestionService
    asking: Asking
    policy: AnswerPolicy
    catalog: Catalog

    async def models(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Handle GET: return the model, and one for each base that the client may read."""
        names = [MODEL, *(f"{MODEL}/{base.name}" for base in await client.visible_bases(self.catalog))]
        return await send(request, ModelList(data=[Model(id=name, created=0) for name in names]))

    async def complete(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Handle POST: answer the last question of a conversation."""
        asked = await body_of(request, ChatRequest, BODY_LIMIT)
        said = [one.text.strip() for one in asked.messages if one.role == "user" and one.text.strip()]
        if not said:
            raise DocumentRejected(
                "The conversation has no user message.", remedy=("The last user message is the question.")
            )
        if said[-1].startswith(_TASK):
            return await _respond(request, asked, _task_done(asked, said[-1]))
        if len(said[-1]) > LONGEST_QUESTION:
            raise DocumentRejected(f"A question can have at most {LONGEST_QUESTION} characters.")
        run = await self._run(client, asked, said)
        async with self.asking.work(run) as recorder:
            if asked.stream:
                return await _stream(request, asked, run, recorder)
            end = await recorder.finish(run)
            if isinstance(end, Problem):
                return error_response(end)
            return await send(request, _completion(asked, end))

    async def _run(self, client: ApiClient, asked: ChatRequest, said: Sequence[str]) -> ProgramRun:
        user = hashlib.sha256(asked.user.encode(errors="replace")).hexdigest()[:16] if asked.user else ""
        thread, opened = (
            client.thread(_conversation(asked.model, said), user),
            await self._before(client, asked.model, user, said),
        )
        question = Question(
            said[-1],
            thread,
            client.person(user),
            client.audience,
            self.policy,
            await self._bases(client, asked.model),
            context=tuple(
                ContextMessage("the asker", text[:LONGEST_QUESTION]) for text in said[-1 - _MOST_CONTEXT : -1]
            ),
        )
        return ProgramRun(client, thread, self.questions.ask(question, opened))

    async def _before(self, client: ApiClient, model: str, user: str, said: Sequence[str]) -> OpenThread:
        """Return the stored thread of the previous question, in a conversation with the same questions."""
        for back in range(1, min(_LOOKED_BACK, len(said) - 1) + 1):
            key: ThreadKey = client.thread(_conversation(model, said[:-back]), user)
            opened = await self.questions.open_thread(key)
            if opened.parked is not None or opened.record.turns:
                return opened
        return OpenThread()

    async def _bases(self, client: ApiClient, model: str) -> frozenset[str] | None:
        name, _, base = model.partition("/")
        if name != MODEL:
            raise NotFound(f"There is no model “{model[:60]}”.", remedy="GET /v1/models lists them.")
        return await client.select_bases(self.catalog, base) if base else client.bases


def _conversation(model: str, said: Sequence[str]) -> str:
    """Return the name of a conversation: the same for the same questions to the same model in the same order.

    A thread belongs to a token and its ``user``. Without ``user``, two people who typed the same questions share a
    conversation, whose answers are for the audience of that token.
    """
    return "chat-" + hashlib.sha256(json.dumps([model, *said]).encode()).hexdigest()[:32]


def _task_done(asked: ChatRequest, prompt: str) -> ChatCompletion:
    """Return the reply to one of Open WebUI's own prompts, without search, memory or counting."""
    first = _ASKED_FIRST.search(prompt)
    fields = {
        '"title"': {"title": first[1].strip() if first else "Footnote"},
        '"tags"': {"tags": []},
        '"follow_ups"': {"follow_ups": []},
        '"queries"': {"queries": []},
    }
    reply = next((json.dumps(value) for field, value in fields.items() if field in prompt), "")
    nothing = FootnoteFields(outcome="task", citations=[], notices=[], grounding=None, choices=[])
    return _in_shape(
        asked, uuid.uuid4().hex[:16], reply, [], nothing, Usage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
    )


def _completion(asked: ChatRequest, reply: AnswerReply) -> ChatCompletion:
    """Return an answer as a message. A question back lists its choices, and sources are listed below the text."""
    choices = [_plain(one.label) for one in reply.checkpoint.choices] if reply.checkpoint else []
    listed = [f"{number}. {label}" for number, label in enumerate(choices, 1)]
    sources = [f"\\[{one.n}\\] {_plain(one.title)}, {_plain(one.locator)}".rstrip(", ") for one in reply.citations]
    text = "\n\n".join(filter(None, (reply.answer, "\n".join(listed), "  \n".join(sources))))
    by_number = {one.n: one for one in reply.citations}
    annotations = [
        Annotation(
            url_citation=UrlCitation(
                url=by_number[n].url or "", title=by_number[n].title, start_index=found.start(), end_index=found.end()
            )
        )
        for found in _MARKER.finditer(reply.answer)
        if (n := int(found[1])) in by_number
    ]
    fields = FootnoteFields(
        outcome=reply.outcome,
        citations=reply.citations,
        notices=reply.notices,
        grounding=reply.grounding,
        choices=choices,
    )
    spent = reply.spent
    usage = Usage(
        prompt_tokens=spent.tokens_in,
        completion_tokens=spent.tokens_out,
        total_tokens=spent.tokens_in + spent.tokens_out,
    )
    return _in_shape(asked, reply.id, text, annotations, fields, usage)


def _in_shape(
    asked: ChatRequest, run: str, text: str, annotations: list[Annotation], fields: FootnoteFields, usage: Usage
) -> ChatCompletion:
    return ChatCompletion(
        id=f"chatcmpl-{run}",
        created=int(time.time()),
        model=asked.model,
        choices=[ChatChoice(message=AssistantMessage(content=text, annotations=annotations))],
        usage=usage,
        footnote=fields,
    )


def _plain(text: str) -> str:
    """Return a title or label for an answer's text, with a document's markup escaped."""
    return without_foreign_links(re.sub(r"([\\\[\]*_`<>])", r"\\\1", " ".join(text.split())), SourceLinks())


# --- on its way


async def _respond(request: web.Request, asked: ChatRequest, whole: ChatCompletion) -> web.StreamResponse:
    if not asked.stream:
        return await send(request, whole)
    async with EventStream(request) as stream:
        for chunk in _chunks(asked, whole):
            await stream.send(json.dumps(chunk))
        await stream.send("[DONE]")
        return await stream.close()


async def _stream(
    request: web.Request, asked: ChatRequest, run: ProgramRun, recorder: RunRecorder
) -> web.StreamResponse:
    """Stream the text in pieces once it is checked, and keep the connection alive until then."""
    async with EventStream(request) as stream:
        try:
            end = await recorder.finish(run)
        except FootnoteError as error:
            end = problem_of(error).model_copy(update={"trace_id": recorder.trace_id})
        except ConnectionResetError:
            raise
        except Exception:
            log.exception("api_failed", extra={"path": request.path, "trace_id": recorder.trace_id})
            end = problem(500, WENT_WRONG, trace_id=recorder.trace_id)
        if isinstance(end, Problem):
            await stream.send(_error(end).model_dump_json())
            return await stream.close()
        for chunk in _chunks(asked, _completion(asked, end)):
            await stream.send(json.dumps(chunk))
        await stream.send("[DONE]")
        return await stream.close()


def _chunks(asked: ChatRequest, whole: ChatCompletion) -> Iterator[dict[str, object]]:
    message = whole.choices[0].message
    head = {"id": whole.id, "object": "chat.completion.chunk", "created": whole.created, "model": whole.model}

    def chunk(delta: dict[str, object], finish: str | None = None, **more: object) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**head, "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _PIECE.findall(message.content):
        if piece:
            yield chunk({"content": piece})
    annotations = [one.model_dump() for one in message.annotations]
    yield chunk({"annotations": annotations} if annotations else {}, "stop", footnote=whole.footnote.model_dump())
    if asked.stream_options is not None and asked.stream_options.include_usage:
        yield {**head, "choices": [], "usage": whole.usage.model_dump()}


def error_response(told: Problem) -> web.Response:
    """Return a problem in OpenAI's format, with the usual status and headers."""
    response = problem_response(told)
    response.content_type = "application/json"
    response.body = _error(told).model_dump_json().encode()
    if told.status == 422:
        response.set_status(400)
    return response


def _error(told: Problem) -> ChatErrorReply:
    kind, code = _ERRORS.get(told.status, ("server_error" if told.status >= 500 else "invalid_request_error", None))
    message = f"{told.detail} {told.remedy}".strip()
    return ChatErrorReply(error=ChatError(message=message, type=kind, code=code, trace_id=told.trace_id))
