"""The description of /v1, OpenAPI 3.1, made of the same types that requests and replies are checked against."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api.chat_schemas import ChatCompletion, ChatErrorReply, ChatRequest, ModelList
from adapters.web.api.problems import CONTENT_TYPE
from adapters.web.api.schemas import (
    AddDocumentRequest,
    AnswerReply,
    AskRequest,
    DocumentDeletedReply,
    DocumentReply,
    DocumentsQuery,
    DocumentsReply,
    FeedbackReply,
    FeedbackRequest,
    JobReply,
    Problem,
    PutDocumentRequest,
    ResumeRequest,
    SearchReply,
    SearchRequest,
)
from core.ports.access import TokenScope

_REF = "#/components/schemas/{model}"
EVENT_STREAM = "text/event-stream"
EVENTS = (
    "With `Accept: text/event-stream`: each event of the run as it happens, `event` its kind and `data` its fields as"
    " JSON, but none that shows the text before it is checked."
    " The last event is `answer`, whose data is an AnswerReply, or `problem`, whose data is a Problem."
)


@dataclass(frozen=True, slots=True)
class Operation:
    """A method at an address: what it takes, what it gives, and the scope of a token that may use it.

    ``form`` where it takes a file as a form as well; ``openai`` where errors have OpenAI's shape.
    """

    name: str
    method: str
    path: str
    summary: str
    request: type[BaseModel] | None
    reply: type[BaseModel]
    scope: TokenScope
    status: int = 200
    streams: str = ""  # what an event stream from here holds
    form: bool = False
    openai: bool = False
    in_base: bool = False  # whether a query says in which knowledge base
    paged: bool = False


_ASK, _SEARCH, _INGEST = TokenScope
_FORM = "The same fields as a form, with the document as the field `file`; its file name says the format."
CHUNKS = "With `stream`: chunks as OpenAI sends them, the whole text checked before the first; last `[DONE]`."
_DOCUMENT = "/v1/documents/{key}"
OPERATIONS = (
    Operation("ask", "POST", "/v1/ask", "Ask a question", AskRequest, AnswerReply, _ASK, streams=EVENTS),
    Operation(
        "resume", "POST", "/v1/resume", "Choose at a checkpoint", ResumeRequest, AnswerReply, _ASK, streams=EVENTS
    ),
    Operation("feedback", "POST", "/v1/feedback", "Say whether an answer helped", FeedbackRequest, FeedbackReply, _ASK),
    Operation("search", "POST", "/v1/search", "Search without an answer", SearchRequest, SearchReply, _SEARCH),
    Operation(
        *("add_document", "POST", "/v1/documents", "Add or replace a document"),
        *(AddDocumentRequest, JobReply, _INGEST, 202),
        form=True,
    ),
    Operation(
        *("list_documents", "GET", "/v1/documents", "List the token's own documents"),
        *(None, DocumentsReply, _INGEST),
        in_base=True,
        paged=True,
    ),
    Operation(*("get_document", "GET", _DOCUMENT, "Get one of them"), *(None, DocumentReply, _INGEST), in_base=True),
    Operation(
        *("put_document", "PUT", _DOCUMENT, "Add or replace the document of this key"),
        *(PutDocumentRequest, JobReply, _INGEST, 202),
        form=True,
    ),
    Operation(
        *("delete_document", "DELETE", _DOCUMENT, "Delete one of them"),
        *(None, DocumentDeletedReply, _INGEST),
        in_base=True,
    ),
    Operation("get_job", "GET", "/v1/jobs/{job}", "See how far a document is", None, JobReply, _INGEST),
    Operation(
        *("chat_completions", "POST", "/v1/chat/completions", "Ask in OpenAI's shape"),
        *(ChatRequest, ChatCompletion, _ASK),
        streams=CHUNKS,
        openai=True,
    ),
    Operation("models", "GET", "/v1/models", "List the models in OpenAI's shape", None, ModelList, _ASK, openai=True),
)
_PROBLEMS = {
    "400": "The request cannot be read.",
    "405": "The address does not know this method.",
    "401": "No token, or none that is in force.",
    "403": "The token may not do this.",
    "404": "What the request names is not there.",
    "413": "The body is too large.",
    "422": "The request is not as described.",
    "429": "Too many requests, or a budget is used up; Retry-After says when to go on.",
    "500": "Something went wrong.",
    "503": "A store or the model is away, or everything is still starting; Retry-After says when to try again.",
}


def description(version: str) -> dict[str, Any]:
    """The whole document, as JSON."""
    models = {(one.reply, "serialization") for one in OPERATIONS} | {
        (one.request, "validation") for one in OPERATIONS if one.request is not None
    }
    errors = [(Problem, "serialization"), (ChatErrorReply, "serialization")]
    ordered = sorted(models, key=lambda one: one[0].__name__)
    _, schemas = models_json_schema([*ordered, *errors], ref_template=_REF)  # type: ignore[list-item]
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Footnote",
            "version": version,
            "summary": "Answers from a team's own documents, with citations that can be checked.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": _ref(one.reply)}}}
    if one.streams:
        content[EVENT_STREAM] = {"schema": {"type": "string", "description": one.streams}}
    responses: dict[str, Any] = {str(one.status): {"description": one.reply.__doc__ or "", "content": content}}
    kind, shape = ("application/json", ChatErrorReply) if one.openai else (CONTENT_TYPE, Problem)
    wrong = {kind: {"schema": {"$ref": _ref(shape)}}}
    responses |= {status: {"description": text, "content": wrong} for status, text in _PROBLEMS.items()}
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "description": f"Takes a token with the scope `{one.scope}`.",
        "responses": responses,
    }
    if parameters := _parameters(one):
        described["parameters"] = parameters
    if one.request is not None:
        taken: dict[str, Any] = {"application/json": {"schema": {"$ref": _ref(one.request)}}}
        if one.form:
            taken["multipart/form-data"] = {"schema": _form(one)}
        described["requestBody"] = {"required": True, "content": taken}
    return described


def _parameters(one: Operation) -> list[dict[str, Any]]:
    named = [part[1:-1] for part in one.path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    inside = [{"name": name, "in": "path", "required": True, "schema": text} for name in named]
    query = {"knowledge_base": text} if one.in_base else {}
    if one.paged:
        fields = DocumentsQuery.model_json_schema()["properties"]
        query |= {name: {"type": fields[name]["type"]} for name in ("limit", "cursor")}
    return [*inside, *({"name": name, "in": "query", "required": False, "schema": query[name]} for name in query)]


def _form(one: Operation) -> dict[str, Any]:
    text = {"type": "string"}
    fields = dict.fromkeys(("title", "address", "dated", "knowledge_base"), text)
    key = {} if "{key}" in one.path else {"key": text}
    properties = {
        "file": {"type": "string", "format": "binary"},
        **key,
        **fields,
        "audience": {"type": "array", "items": text},
    }
    return {"type": "object", "description": _FORM, "properties": properties, "required": ["file", *key]}


def _ref(model: type[BaseModel]) -> str:
    return _REF.format(model=model.__name__)
