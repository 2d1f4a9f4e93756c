"""The published descriptions of Slack's Web API methods, and the check of one call's arguments against them.

What an argument means is left to the handlers; what may be inside blocks is left to `block_rules`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

SPECS = Path(__file__).parents[3] / ".." / "shared" / "specs" / "slack-methods"

# The descriptions are a mirror of the documentation and lag behind it. slack_sdk 3.47 (pull request 1945) sends
# `session_status`; its own stream helper appends chunks without `markdown_text`.
_LATER_ARGUMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "chat.stopStream": {"session_status": {"type": "string", "enum": ["active", "processing", "suspended", "closed"]}},
}
_NOT_REALLY_REQUIRED: dict[str, set[str]] = {"chat.appendStream": {"markdown_text"}}
# The mirror leaves these out of `required`, the prose of the same pages demands them.
_REQUIRED_TOO: dict[str, set[str]] = {"chat.startStream": {"thread_ts"}}
_EITHER_OF: dict[str, tuple[str, ...]] = {
    "chat.appendStream": ("markdown_text", "chunks"),
    "views.open": ("trigger_id", "interactivity_pointer"),
    "views.push": ("trigger_id", "interactivity_pointer"),
    "views.update": ("view_id", "external_id"),
    "conversations.open": ("users", "channel"),
}
# slack_bolt sends the workspace's id with every call: it is what org-wide tokens need, and ignored otherwise.
_EVERYWHERE: dict[str, dict[str, Any]] = {"team_id": {"type": "string"}}
# Arguments that are JSON structures, whether they came as JSON or as a JSON-encoded string.
STRUCTURED = frozenset({
    "attachments", "blocks", "chunks", "files", "loading_messages", "message", "metadata", "prompts",
    "unfurled_attachments", "unfurls", "user_auth_blocks", "view",
})  # fmt: skip


def specs_are_here() -> bool:
    """Whether the shared method descriptions are present beside this checkout."""
    return SPECS.is_dir()


@dataclass(frozen=True)
class MethodSpec:
    """One Web API method: its arguments, scopes and tier."""

    name: str
    arguments: dict[str, Mapping[str, Any]]
    required: frozenset[str]
    bot_scopes: tuple[str, ...]
    tier: str | None
    takes_json: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read one description file."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        name = path.stem
        args = raw.get("args") or {}
        arguments = dict(args.get("properties") or {}) | _LATER_ARGUMENTS.get(name, {})
        required = (set(args.get("required") or ()) | _REQUIRED_TOO.get(name, set())) - {"token"}
        return cls(
            name=name,
            arguments=arguments,
            required=frozenset(required - _NOT_REALLY_REQUIRED.get(name, set())),
            bot_scopes=tuple((raw.get("scope") or {}).get("bot") or ()),
            tier=raw.get("rate_limits"),
            takes_json=bool(raw.get("json_input_supported")),
        )

    def faults_of(self, given: Mapping[str, Any], *, as_json: bool) -> list[str]:
        """Everything that is wrong with the arguments of one call, in words; empty when the call is fine."""
        faults = [f"unknown argument {name!r}" for name in given if name not in self.arguments | _EVERYWHERE.keys()]
        faults += [f"missing required argument {name!r}" for name in sorted(self.required) if _blank(given, name)]
        if (either := _EITHER_OF.get(self.name)) and all(_blank(given, name) for name in either):
            faults.append("one of " + ", ".join(map(repr, either)) + " is required")
        if as_json and not self.takes_json:
            faults.append("this method takes no JSON body, only form or query arguments")
        for name, value in given.items():
            if name in self.arguments:
                faults += [f"argument {name!r} {fault}" for fault in _misfit(name, self.arguments[name], value)]
        return faults


def load_specs() -> dict[str, MethodSpec]:
    """Every described method by its name; raises FileNotFoundError where the descriptions are absent."""
    if not specs_are_here():
        raise FileNotFoundError(f"Slack's method descriptions are not at {SPECS}")
    return {path.stem: MethodSpec.read(path) for path in sorted(SPECS.glob("*.json"))}


def _blank(given: Mapping[str, Any], name: str) -> bool:
    return given.get(name) in (None, "")


def _misfit(name: str, spec: Mapping[str, Any], value: Any) -> Iterable[str]:
    if name in STRUCTURED:
        if isinstance(value, str):
            yield "is not the JSON it should be"
        yield from _wrong_size(spec, value)
        return
    if value is None and not _may_be_null(spec):
        yield "may not be null"
    kinds = _kinds(spec)
    if value is not None and kinds and not any(_is_a(kind, value) for kind in kinds):
        yield f"should be {' or '.join(sorted(kinds))}, not {type(value).__name__} {value!r}"
    allowed = spec.get("enum")
    if allowed and value not in allowed:
        yield f"should be one of {', '.join(allowed)}, not {value!r}"
    yield from _wrong_size(spec, value)


def _kinds(spec: Mapping[str, Any]) -> set[str]:
    alternatives = [spec, *(spec.get("anyOf") or ())]
    return {str(kind["type"]) for kind in alternatives if kind.get("type")} or {"string"}


def _may_be_null(spec: Mapping[str, Any]) -> bool:
    return "null" in _kinds(spec)


def _is_a(kind: str, value: Any) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool) or str(value).lower() in {"true", "false", "0", "1"}
        case "integer" | "number":
            return not isinstance(value, bool) and str(value).lstrip("-").isdigit()
        case "array":
            return isinstance(value, list | str)
        case "object":
            return isinstance(value, dict)
        case "string":
            return isinstance(value, str)
        case _:
            return value is None


def _wrong_size(spec: Mapping[str, Any], value: Any) -> Iterable[str]:
    if isinstance(value, list):
        if len(value) > spec.get("maxItems", len(value)):
            yield f"has {len(value)} items, at most {spec['maxItems']} are allowed"
        if len(value) < spec.get("minItems", 0):
            yield f"needs at least {spec['minItems']} items"
        items = spec.get("items")
        if isinstance(items, dict) and items.get("type") == "string":
            for item in value:
                yield from _wrong_size(items, item)
    # The mirror writes a nonsensical maxLength of 0 for some team ids.
    if isinstance(value, str) and 0 < spec.get("maxLength", 0) < len(value):
        yield f"is {len(value)} characters, at most {spec['maxLength']} are allowed"
    if isinstance(value, str) and len(value) < spec.get("minLength", 0):
        yield "is empty"
