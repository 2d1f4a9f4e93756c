"""Confluence's published description, against which the fake checks every request and every answer of its v1 interface.

The description that is shared here has no v2: permissions of spaces are checked by hand (``server``).
"""

import copy
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

SPECIFICATION = Path(__file__).parents[4] / "shared" / "specs" / "confluence-openapi.yaml"
_ROOT = "urn:confluence"


class Contract:
    """What the description says of one call."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._description = _nullable(description)
        self._registry: Any = Registry().with_resource(
            _ROOT, Resource.from_contents(self._description, default_specification=DRAFT202012)
        )
        self._paths = [
            (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), path) for path in self._description["paths"]
        ]

    def check_request(self, method: str, path: str, query: dict[str, str]) -> str | None:
        """What is wrong with a request; None where nothing is."""
        operation = self._operation(method, path)
        if operation is None:
            return f"there is no {method} {path}"
        parameters = [self._resolved(one) for one in operation.get("parameters", [])]
        known = {one["name"] for one in parameters if one["in"] == "query"}
        missing = {one["name"] for one in parameters if one["in"] == "query" and one.get("required")} - set(query)
        unknown = set(query) - known
        return f"{path}: missing {missing}, unknown {unknown}" if missing or unknown else None

    def check_answer(self, method: str, path: str, body: Any) -> str | None:
        """What is wrong with an answer of ours; None where nothing is."""
        operation = self._operation(method, path) or {}
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        reference = schema["$ref"].removeprefix("#")
        validator = jsonschema.Draft202012Validator({"$ref": f"{_ROOT}#{reference}"}, registry=self._registry)
        error = jsonschema.exceptions.best_match(validator.iter_errors(body))
        return f"{path}: {error.message} at {list(error.absolute_path)}" if error else None

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for pattern, name in self._paths:
            if pattern.fullmatch(path):
                found: dict[str, Any] | None = self._description["paths"][name].get(method.lower())
                return found
        return None

    def _resolved(self, found: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in found:
            return found
        resolved: dict[str, Any] = self._description["components"]["parameters"][found["$ref"].rsplit("/", 1)[-1]]
        return resolved


def _nullable(found: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` as JSON Schema has it; ``example`` and formats stay as they are."""
    if isinstance(found, list):
        return [_nullable(one) for one in found]
    if not isinstance(found, dict):
        return found
    made = {name: _nullable(value) for name, value in found.items()}
    if made.get("nullable") is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


@cache
def contract() -> Contract:
    """The description, read once. Raises FileNotFoundError where it is not shared."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Contract(copy.deepcopy(yaml.load(SPECIFICATION.read_text("utf-8"), loader)))
