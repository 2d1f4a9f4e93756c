"""The description of /v1, OpenAPI 3.1, made of the same types that requests and replies are checked against."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api.problems import CONTENT_TYPE
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
from core.ports.api_tokens import TokenScope

_REF = "#/components/schemas/{model}"
EVENT_STREAM = "text/event-stream"
EVENTS = (
    "With `Accept: text/event-stream`: each event of the run as it happens, `event` its kind and `data` its fields as"
    " JSON, but none that shows the text before it is checked."
    " The last event is `answer`, whose data is an AnswerReply, or `problem`, whose data is a Problem."
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One address: what it takes, what it gives, and the scope of a token that may use it."""

    path: str
    summary: str
    request: type[BaseModel]
    reply: type[BaseModel]
    scope: TokenScope
    streams: bool = False


OPERATIONS = (
    Operation("/v1/ask", "Ask a question", AskRequest, AnswerReply, TokenScope.ASK, streams=True),
    Operation("/v1/resume", "Choose at a checkpoint", ResumeRequest, AnswerReply, TokenScope.ASK, streams=True),
    Operation("/v1/feedback", "Say whether an answer helped", FeedbackRequest, FeedbackReply, TokenScope.ASK),
    Operation("/v1/search", "Search without an answer", SearchRequest, SearchReply, TokenScope.SEARCH),
)
_PROBLEMS = {
    "400": "The body is no JSON.",
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
    models = [model for one in OPERATIONS for model in ((one.request, "validation"), (one.reply, "serialization"))]
    _, schemas = models_json_schema([*models, (Problem, "serialization")], ref_template=_REF)  # type: ignore[list-item]
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
        "paths": {one.path: {"post": _operation(one)} for one in OPERATIONS},
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": _ref(one.reply)}}}
    if one.streams:
        content[EVENT_STREAM] = {"schema": {"type": "string", "description": EVENTS}}
    responses: dict[str, Any] = {"200": {"description": one.reply.__doc__ or "", "content": content}}
    problem = {CONTENT_TYPE: {"schema": {"$ref": _ref(Problem)}}}
    responses |= {status: {"description": text, "content": problem} for status, text in _PROBLEMS.items()}
    return {
        "operationId": one.path.rpartition("/")[2],
        "summary": one.summary,
        "description": f"Takes a token with the scope `{one.scope}`.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": _ref(one.request)}}}},
        "responses": responses,
    }


def _ref(model: type[BaseModel]) -> str:
    return _REF.format(model=model.__name__)
