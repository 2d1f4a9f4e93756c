"""The OpenAPI 3.1 description of /v1, generated from the types that validate requests and replies.

/docs shows it to people as one plain page, without scripts or external content.
"""

from dataclasses import dataclass
from html import escape
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api.chat_schemas import ChatCompletion, ChatErrorReply, ChatRequest, ModelList
from adapters.web.api.replies import CONTENT_TYPE
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
    """An API operation: its request, reply, and the token scope it requires.

    ``form``: it also takes a file as a form. ``openai``: its errors have OpenAI's format.
    """

    name: str
    method: str
    path: str
    summary: str
    request: type[BaseModel] | None
    reply: type[BaseModel]
    scope: TokenScope
    status: int = 200
    streams: str = ""  # the content of its event stream
    form: bool = False
    openai: bool = False
    in_base: bool = False  # takes the knowledge base as a query parameter
    paged: bool = False


_ASK, _SEARCH, _INGEST = TokenScope
_FORM = "The same fields as a form. The field `file` holds the document; the suffix of its file name sets the format."
CHUNKS = "With `stream`: chunks in OpenAI's format, then `[DONE]`. The whole text is checked before the first chunk."
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
    Operation(*("get_document", "GET", _DOCUMENT, "Get a document"), *(None, DocumentReply, _INGEST), in_base=True),
    Operation(
        *("put_document", "PUT", _DOCUMENT, "Add or replace the document with this key"),
        *(PutDocumentRequest, JobReply, _INGEST, 202),
        form=True,
    ),
    Operation(
        *("delete_document", "DELETE", _DOCUMENT, "Delete a document"),
        *(None, DocumentDeletedReply, _INGEST),
        in_base=True,
    ),
    Operation("get_job", "GET", "/v1/jobs/{job}", "Get the progress of a document", None, JobReply, _INGEST),
    Operation(
        *("chat_completions", "POST", "/v1/chat/completions", "Ask in OpenAI's format"),
        *(ChatRequest, ChatCompletion, _ASK),
        streams=CHUNKS,
        openai=True,
    ),
    Operation("models", "GET", "/v1/models", "List the models in OpenAI's format", None, ModelList, _ASK, openai=True),
)
_PROBLEMS = {
    "400": "The request cannot be read.",
    "405": "This address does not support this method.",
    "401": "The token is missing or not valid.",
    "403": "The token does not allow this.",
    "404": "Not found.",
    "413": "The body is too large.",
    "422": "The request does not match this description.",
    "429": "Too many requests, or a budget is used up. Retry-After says when to try again.",
    "500": "Something went wrong.",
    "503": "A store or the model is unavailable, or Footnote is starting. Retry-After says when to try again.",
}


def description(version: str) -> dict[str, Any]:
    """Return the whole document, as JSON."""
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
        "description": f"Requires a token with the scope `{one.scope}`.",
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


PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
"""
_EXAMPLE = """curl -s {address}/v1/ask -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
     -d '{{"question": "How long do refunds take?"}}'"""


def page(description: dict[str, Any], address: str = "http://127.0.0.1:8080") -> str:
    """Return the whole page as HTML."""
    operations = [
        (method.upper(), path, one) for path, methods in description["paths"].items() for method, one in methods.items()
    ]
    schemas: dict[str, Any] = description["components"]["schemas"]
    listed = "".join(
        f'<li><a href="#{one["operationId"]}"><code>{method} {escape(path)}</code></a> {escape(one["summary"])}</li>'
        for method, path, one in operations
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Footnote API</title><style>{_STYLE}</style></head><body><main><h1>Footnote API</h1>"
        "<p>Programs ask, search and add documents here. Each request carries a token, which "
        "<code>footnote token create</code> makes. The same as <a href='/v1/openapi.json'>OpenAPI</a> for tools.</p>"
        f"<pre>{escape(_EXAMPLE.format(address=address))}</pre><ul>{listed}</ul>"
        + "".join(_operation_lines(method, path, one) for method, path, one in operations)
        + "<h2>Types</h2>"
        + "".join(_schema(name, one) for name, one in sorted(schemas.items()))
        + "</main></body></html>"
    )


def _operation_lines(method: str, path: str, one: dict[str, Any]) -> str:
    body = one.get("requestBody", {}).get("content", {})
    taken = ", ".join(_type(content["schema"]) + f" as {escape(kind)}" for kind, content in body.items()) or "nothing"
    rows = "".join(
        f"<tr><td>{status}</td><td>{escape(' '.join(reply['description'].split()))}</td>"
        f"<td>{', '.join(_type(content['schema']) for content in reply['content'].values())}</td></tr>"
        for status, reply in one["responses"].items()
    )
    return (
        f'<h2 id="{one["operationId"]}"><code>{method} {escape(path)}</code></h2><p>{escape(one["summary"])}. '
        f"{escape(one['description'].replace('`', ''))}</p><p>Takes {taken}.</p>"
        f"<table><thead><tr><th>Status</th><th>Means</th><th>Body</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _schema(name: str, one: dict[str, Any]) -> str:
    required = one.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in required else ' (optional)'}</td><td>{_type(schema)}</td>"
        f"<td>{escape(schema.get('description', ''))}</td></tr>"
        for field, schema in one.get("properties", {}).items()
    )
    words = " ".join(one.get("description", "").split())
    table = f"<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    values = ", ".join(f"<code>{escape(str(value))}</code>" for value in one.get("enum", []))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(words)}</p>{table if rows else f"<p>{values}</p>"}'


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "allOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", schema.get("const", "anything"))))
