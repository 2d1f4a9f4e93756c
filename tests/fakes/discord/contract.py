"""Discord's published OpenAPI description as a check on requests: path, method, query names and body.

Parsed once for a process. A validator is built when its operation is first called, and references are
followed only where a body leads, so that a whole test suite pays a few milliseconds.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]

SPECIFICATION = Path(__file__).parents[4] / "shared" / "specs" / "discord-openapi.json"
URI = "urn:discord"
JSON_BODY = "application/json"


@dataclass(frozen=True)
class Operation:
    """One method of one path of the description."""

    method: str
    template: str
    params: tuple[tuple[str, str], ...]


class Contract:
    """The parsed description."""

    def __init__(self, document: Json) -> None:
        self._paths: dict[str, Json] = document["paths"]
        # discord.py sends some snowflakes as integers, and the real API takes them.
        document["components"]["schemas"]["SnowflakeType"]["type"] = ["string", "integer"]
        self._registry: Registry[Any] = Registry().with_resource(URI, DRAFT202012.create_resource(document))
        self._routes = [(_pattern(path), path) for path in sorted(self._paths, key=_generality)]
        self._validators: dict[tuple[str, str], Any] = {}

    def match(self, method: str, path: str) -> Operation | str:
        """The operation that a request calls, or a sentence saying why it calls none."""
        known = False
        for pattern, template in self._routes:
            found = pattern.fullmatch(path)
            if found is None:
                continue
            known = True
            if method.lower() in self._paths[template]:
                return Operation(method, template, tuple(found.groupdict().items()))
        return f"{method} is not a method of {path}" if known else f"{path} is not a path of the API"

    def problem(self, operation: Operation, query: Iterable[str], body: Any) -> tuple[str, str] | None:
        """Where a request departs from the description and how, or nothing."""
        described = self._paths[operation.template]
        method = described[operation.method.lower()]
        parameters = [*described.get("parameters", ()), *method.get("parameters", ())]
        names = {item["name"] for item in parameters if item.get("in") == "query"}
        for name in query:
            if name not in names:
                return f"query.{name}", "is not a query parameter of this operation"
        return self._body_problem(operation, method.get("requestBody"), body)

    def _body_problem(self, operation: Operation, described: Json | None, body: Any) -> tuple[str, str] | None:
        if described is None or JSON_BODY not in described["content"]:
            return None
        if body is None:
            return ("", "a body is required") if described.get("required") else None
        error = jsonschema.exceptions.best_match(self._validator(operation).iter_errors(body))
        if error is None:
            return None
        return ".".join(map(str, error.absolute_path)), error.message[:300]

    def _validator(self, operation: Operation) -> Any:
        key = (operation.method, operation.template)
        if key not in self._validators:
            steps = ["paths", operation.template, operation.method.lower(), "requestBody", "content", JSON_BODY]
            pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in [*steps, "schema"])
            reference = {"$ref": f"{URI}#/{_quoted(pointer)}"}
            self._validators[key] = jsonschema.Draft202012Validator(reference, registry=self._registry)
        return self._validators[key]


def _quoted(pointer: str) -> str:
    """A JSON pointer as a URI fragment: path templates hold braces."""
    return pointer.replace("{", "%7B").replace("}", "%7D")


def _pattern(path: str) -> re.Pattern[str]:
    parts = [f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part) for part in path.split("/")]
    return re.compile("/".join(parts))


def _generality(path: str) -> int:
    """Literal paths (``@me``, ``@original``) are tried before those with a parameter in their place."""
    return path.count("{")


@cache
def contract(path: Path = SPECIFICATION) -> Contract:
    """The description at ``path``. Raises FileNotFoundError where it is not shared."""
    return Contract(json.loads(path.read_text(encoding="utf-8")))
