"""OpenAPI and Swagger: one passage per operation, with its parameters, bodies and responses."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_YAML = 8 * 1024 * 1024
MAX_OPERATIONS = 5_000
MAX_FIELDS = 200
"""Maximum described fields of one object; for the others only the names are kept."""

MAX_NAMES = 2_000
MAX_DEPTH = 4
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

Node = Mapping[str, Any]


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the description of an API: overview, operations, schemas."""
    api = _load(data)
    if not isinstance(api, dict):
        raise DocumentRejected("This API description is damaged: it is not an object.")
    info = _node(api.get("info"))
    blocks = [Block(text, label=label) for label, text in _parts(api, info) if text]
    if not blocks:
        raise NoText("There is no text in this API description.")
    return ParsedDocument(choose_title(name, _line(info.get("title"))), tuple(blocks), "application/x-openapi")


def _load(data: bytes) -> Any:
    """Parse JSON or YAML; YAML aliases cannot multiply the output, because traversal is bounded."""
    text = decode(data)
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DocumentRejected("This API description is damaged: its JSON cannot be read.") from error
    if len(data) > MAX_YAML:
        raise DocumentRejected("This API description is over 8 MB of YAML.", remedy="Add it as JSON.")
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, the fast one where it is built
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise DocumentRejected("This API description is damaged: its YAML cannot be read.") from error


def _parts(api: Node, info: Node) -> Iterator[tuple[str, str]]:
    servers = [_line(_node(server).get("url")) for server in _list(api.get("servers"))]
    if api.get("host"):
        servers.append(
            f"{'/'.join(_list(api.get('schemes'))[:1]) or 'https'}://{_line(api['host'])}{_line(api.get('basePath'))}"
        )
    facts = [("Version", _line(info.get("version"))), ("Servers", ", ".join(filter(None, servers)))]
    schemes = _node(_node(api.get("components")).get("securitySchemes")) or _node(api.get("securityDefinitions"))
    facts += [("Contact", ", ".join(map(_line, _node(info.get("contact")).values())))]
    facts += [(f"Sign in by {name}", _security(_node(one))) for name, one in schemes.items()]
    listed = "\n".join(f"- {label}: {text}" for label, text in facts if text)
    title = f"# {_line(info.get('title')) or 'API'}"
    yield "about", "\n\n".join(filter(None, (title, _text(info.get("description")), listed)))
    count = 0
    for path, item in _node(api.get("paths")).items():
        for method, operation in _node(item).items():
            if str(method).lower() in _METHODS and isinstance(operation, dict) and count < MAX_OPERATIONS:
                count += 1
                yield (
                    f"{str(method).upper()} {path}",
                    _operation(api, str(path), str(method).upper(), _node(item), operation),
                )
    schemas = _node(_node(api.get("components")).get("schemas")) or _node(api.get("definitions"))
    for name, schema in list(schemas.items())[:MAX_OPERATIONS]:
        fields = "\n".join(_fields(api, schema))
        said = _text(_node(schema).get("description"))
        if fields or said:
            yield f"schema {name}", "\n\n".join(filter(None, (f"## Schema {name}", said, fields)))


def _operation(api: Node, path: str, method: str, item: Node, operation: Node) -> str:
    summary = _line(operation.get("summary")) or _line(item.get("summary"))
    head = f"## {method} {path}" + (f": {summary}" if summary else "")
    pieces = [head, "Deprecated." if operation.get("deprecated") is True else "", _text(operation.get("description"))]
    facts = [
        ("Operation", _line(operation.get("operationId"))),
        ("Tags", ", ".join(map(_line, _list(operation.get("tags"))))),
    ]
    if isinstance(secured := operation.get("security", api.get("security")), list):
        facts.append(("Needs", " or ".join(_scopes(_node(one)) for one in secured) or "no sign-in"))
    pieces.append("\n".join(f"- {label}: {text}" for label, text in facts if text))
    parameters = [_resolved(api, one) for one in (*_list(item.get("parameters")), *_list(operation.get("parameters")))]
    named = [_line(one.get("name")) for one in parameters]
    if shown := "\n".join(filter(None, (*(_parameter(api, one) for one in parameters[:MAX_FIELDS]), *_more(named)))):
        pieces.append(f"Parameters:\n\n{shown}")
    body = _node(_resolved(api, operation.get("requestBody")))
    fields, said = "\n".join(_fields(api, _content(body))), _line(body.get("description"))
    if fields or said:
        head = f"Body{' (required)' if body.get('required') is True else ''}: {said}".rstrip()
        pieces.append("\n\n".join(filter(None, (head, fields))))
    answers = [_answer(api, str(code), _resolved(api, one)) for code, one in _node(operation.get("responses")).items()]
    pieces.append("Answers:\n\n" + "\n".join(answers) if answers else "")
    return "\n\n".join(filter(None, pieces))


def _parameter(api: Node, parameter: Node) -> str:
    if not parameter.get("name"):
        return ""
    schema = _resolved(api, parameter.get("schema")) or parameter
    must = ", required" if parameter.get("required") is True else ""
    where = f"in {_line(parameter.get('in'))}{must}"
    return f"- `{_line(parameter['name'])}` ({where}, {_kind(schema)}): {_line(parameter.get('description'))}".rstrip(
        ": "
    )


def _answer(api: Node, code: str, answer: Node) -> str:
    """Return a response with the name of its schema, or with its fields if the schema has no name."""
    schema = _content(answer) or answer.get("schema")
    returned = _returned(api, schema)
    head = f"- {code}: {_line(answer.get('description'))}{returned}"
    return "\n".join([head, *([] if returned else (f"  {field}" for field in _fields(api, schema)))])


def _returned(api: Node, schema: Any) -> str:
    name = _reference(schema) or _reference(_node(schema).get("items"))
    return (
        f" Returns {'a list of ' if _node(_resolved(api, schema)).get('type') == 'array' else ''}{name}."
        if name
        else ""
    )


def _fields(api: Node, schema: Any, depth: int = 0) -> Iterator[str]:
    """Yield the fields of an object as a list, nested objects below them."""
    node = _resolved(api, schema)
    if depth == 0 and node.get("items") and not node.get("properties"):
        node = _resolved(api, node["items"])
    parts = [_resolved(api, one) for key in ("allOf", "oneOf", "anyOf") for one in _list(node.get(key))]
    required = {name for part in (node, *parts) for name in map(str, _list(part.get("required")))}
    properties = {str(name): value for part in (*parts, node) for name, value in _node(part.get("properties")).items()}
    if depth == 0 and node.get("enum"):
        yield f"- One of: {', '.join(map(_line, _list(node.get('enum'))[:50]))}"
    for name, value in list(properties.items())[:MAX_FIELDS]:
        inner = _resolved(api, value)
        must = ", required" if name in required else ""
        one_of = f" One of: {', '.join(map(_line, _list(inner.get('enum'))[:50]))}." if inner.get("enum") else ""
        said = f"{_line(inner.get('description'))}{one_of}".strip()
        yield f"{'  ' * depth}- `{name}` ({_kind(inner)}{must})" + (f": {said}" if said else "")
        below = inner if inner.get("properties") else inner.get("items")
        if below and depth + 1 < MAX_DEPTH and not _reference(value) and not _reference(below):
            yield from _fields(api, below, depth + 1)
    yield from _more(list(properties), "  " * depth)


def _more(names: list[str], indent: str = "") -> Iterator[str]:
    """Yield a line with the names of fields that are not described."""
    if further := names[MAX_FIELDS:MAX_NAMES]:
        left = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        yield f"{indent}- Further: {', '.join(further)}{left}"


def _kind(schema: Any) -> str:
    node = _node(schema)
    name = _reference(node)
    kind = node.get("type")
    kind = " or ".join(map(str, kind)) if isinstance(kind, list) else _line(kind)
    if kind == "array":
        return f"list of {_kind(node.get('items'))}"
    more = [_line(node.get("format"))] + [
        f"{label} {_line(node[key])}"
        for key, label in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxLength", "at most characters"),
            ("default", "default"),
        )
        if isinstance(node.get(key), (str, int, float))
    ]
    return ", ".join(filter(None, (name or kind or "any", *more)))


def _security(scheme: Node) -> str:
    parts = (scheme.get("type"), scheme.get("scheme"), scheme.get("name"), scheme.get("description"))
    return ", ".join(filter(None, map(_line, parts)))


def _scopes(needed: Node) -> str:
    return " and ".join(
        f"{name} ({', '.join(map(_line, _list(scopes)))})" if scopes else str(name) for name, scopes in needed.items()
    )


def _content(node: Node) -> Any:
    """Return the schema of a body or response, from its first media type."""
    media = next(iter(_node(node.get("content")).values()), None)
    return _node(media).get("schema")


def _reference(node: Any) -> str:
    return str(_node(node).get("$ref", "")).rpartition("/")[2]


def _resolved(api: Node, node: Any) -> Node:
    """Resolve a reference within the description, up to a few levels; nothing external is fetched."""
    found = _node(node)
    for _ in range(MAX_DEPTH):
        reference = found.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return found
        target: Any = api
        for step in reference[2:].split("/"):
            target = _node(target).get(step.replace("~1", "/").replace("~0", "~"))
        found = _node(target)
    return found


def _node(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _line(value: Any) -> str:
    return re.sub(r"\s+", " ", str(value)).strip() if isinstance(value, (str, int, float)) else ""


def _text(value: Any) -> str:
    """Return a description, which is Markdown, with its headings below those of its operation."""
    text = str(value).strip() if isinstance(value, str) else ""
    return re.sub(r"(?m)^(#{1,3})(?=\s)", r"\1###", text)


def _is_openapi(known: str | None, head: str) -> bool:
    if known not in (None, "application/json", "text/x-source", "text/plain"):
        return False
    start = head[:20_000]
    versioned = re.search(r"""(?m)^\s*\{?\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d""", start)
    return bool(versioned) and bool(re.search(r"""["']?(?:paths|info|components|webhooks)["']?\s*:""", start))


FORMATS = (Format(media_type="application/x-openapi", read=read, label="OpenAPI", in_text=_is_openapi, rank=1),)
