"""What blocks and views may look like: slack_sdk's own validators, and the documented limits they leave out.

Sources: the Block Kit reference of docs.slack.dev, and what slack_sdk.models checks. Arguments outside blocks are
left to `specs`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block, BlockElement
from slack_sdk.models.messages.chunk import Chunk
from slack_sdk.models.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Surface = Literal["message", "modal", "home"]

MOST_BLOCKS: Mapping[Surface, int] = {"message": 50, "modal": 100, "home": 100}
MARKDOWN_CHARACTERS = 12_000  # of all markdown blocks of one payload together
MESSAGE_CHARACTERS = 13_200  # reported: a message fails near this total
TEXT_CHARACTERS = 40_000
UPDATED_TEXT_CHARACTERS = 4_000  # chat.update answers msg_too_long beyond it
_TEXT_OBJECT_CHARACTERS = 3_000
_VIEW_BYTES = 250_000
_LIMITS_OF_COUNT = {
    ("actions", "elements"): (1, 25), ("context", "elements"): (1, 10), ("context_actions", "elements"): (1, 5),
    ("section", "fields"): (1, 10), ("table", "rows"): (1, 100), ("static_select", "options"): (1, 100),
    ("multi_static_select", "options"): (1, 100), ("overflow", "options"): (1, 5), ("checkboxes", "options"): (1, 10),
    ("radio_buttons", "options"): (1, 10),
}  # fmt: skip
_LIMITS_OF_TEXT = {
    ("button", "text"): 75, ("header", "text"): 150, ("section", "text"): 3_000, ("input", "label"): 2_000,
    ("input", "hint"): 2_000,
    ("button", "value"): 2_000, ("button", "accessibility_label"): 75, ("button", "url"): 3_000,
    ("any", "action_id"): 255, ("any", "block_id"): 255, ("any", "placeholder"): 150,
    ("icon_button", "value"): 2_000, ("icon_button", "accessibility_label"): 75, ("markdown", "text"): 12_000,
    ("confirm", "title"): 100, ("confirm", "text"): 300, ("confirm", "confirm"): 30, ("confirm", "deny"): 30,
}  # fmt: skip
_PLAIN_TEXT_ONLY = {
    ("button", "text"), ("header", "text"), ("input", "label"), ("input", "hint"),
    ("confirm", "title"), ("confirm", "confirm"), ("confirm", "deny"), ("any", "placeholder"),
    ("icon_button", "text"),
}  # fmt: skip
# The reference lists these for messages alone, and `alert` for modals too.
_MESSAGE_ONLY = {"markdown", "context_actions", "task_card", "plan", "table", "card", "carousel"}
_FILE_INPUT_SURFACES = {"modal"}
_TASK_CHARACTERS = 256  # of each of its texts, reported by another vendor's SDK
_TASK_STATES = {"pending", "in_progress", "complete", "error"}


def faults_of_blocks(blocks: Any, surface: Surface) -> list[str]:
    """Everything wrong with a list of blocks, in words; empty when Slack would take it."""
    if not isinstance(blocks, list):
        return ["blocks: not a list"]
    faults: list[str] = []
    if len(blocks) > MOST_BLOCKS[surface]:
        faults.append(f"blocks: {len(blocks)} of them, a {surface} takes at most {MOST_BLOCKS[surface]}")
    for number, block in enumerate(blocks):
        where = f"blocks[{number}]"
        if not isinstance(block, dict) or "type" not in block:
            faults.append(f"{where}: not a block")
            continue
        faults += [f"{where} ({block['type']}): {fault}" for fault in _faults_of_block(block, surface)]
    faults += _repeated(blocks)
    markdown = sum(len(str(one.get("text", ""))) for one in _dicts(blocks) if one.get("type") == "markdown")
    if markdown > MARKDOWN_CHARACTERS:
        faults.append(f"blocks: {markdown} characters of markdown together, at most {MARKDOWN_CHARACTERS} are allowed")
    return faults


def characters_of(blocks: Any) -> int:
    """How many characters of text these blocks hold together."""
    return sum(len(node["text"]) for node in _dicts(blocks) if isinstance(node.get("text"), str))


def faults_of_view(view: Any, surface: Surface) -> list[str]:
    """Everything wrong with a modal or Home view."""
    if not isinstance(view, dict):
        return ["view: not an object"]
    faults = [f"view: unknown field {name!r}" for name in view if name not in View.attributes | {"submit_disabled"}]
    if view.get("type") != surface:
        faults.append(f"view: type is {view.get('type')!r}, this call takes a {surface}")
    try:
        View(**view).to_dict()
    except (SlackObjectFormationError, TypeError, AttributeError) as error:
        faults.append(f"view: {error}")
    if surface == "modal":
        faults += _faults_of_modal(view)
    if len(str(view)) > _VIEW_BYTES:
        faults.append(f"view: larger than {_VIEW_BYTES} bytes")
    return faults + faults_of_blocks(view.get("blocks"), surface)


def faults_of_chunks(chunks: Any) -> list[str]:
    """Everything wrong with the chunks of a stream."""
    if not isinstance(chunks, list):
        return ["chunks: not a list"]
    faults: list[str] = []
    for number, chunk in enumerate(chunks):
        where = f"chunks[{number}]"
        try:
            parsed = Chunk.parse(dict(chunk))
        except TypeError as error:
            faults.append(f"{where}: {error}")
            continue
        if parsed is None:
            faults.append(f"{where}: unknown type {chunk.get('type')!r}")
            continue
        faults += [f"{where}: unknown field {name!r}" for name in chunk if name not in parsed.attributes]
        faults += [f"{where}: {fault}" for fault in _faults_of_chunk(chunk)]
    return faults


def _faults_of_chunk(chunk: dict[str, Any]) -> Iterator[str]:
    match chunk["type"]:
        case "markdown_text" if len(chunk["text"]) > MARKDOWN_CHARACTERS:
            yield f"{len(chunk['text'])} characters of markdown, at most {MARKDOWN_CHARACTERS} are allowed"
        case "task_update":
            if chunk["status"] not in _TASK_STATES:
                yield f"status {chunk['status']!r} is none of {', '.join(sorted(_TASK_STATES))}"
            for name in ("title", "details", "output"):
                if (size := len(chunk.get(name) or "")) > _TASK_CHARACTERS:
                    yield f"{name} is {size} characters, at most {_TASK_CHARACTERS} are allowed"
            for source in chunk.get("sources") or []:
                if source.get("type") != "url" or not source.get("url") or not source.get("text"):
                    yield f"a source needs type 'url', a url and a text, not {source!r}"
        case "blocks":
            yield from faults_of_blocks(chunk["blocks"], "message")


def _faults_of_block(block: dict[str, Any], surface: Surface) -> list[str]:
    try:
        parsed = Block.parse(block)
        if parsed is None:
            return ["unknown type"]
        parsed.to_dict()
    except (SlackObjectFormationError, TypeError, AttributeError) as error:
        return [str(error)]
    faults = [f"unknown field {name!r}" for name in block if name not in parsed.attributes]
    if surface != "message" and block["type"] in _MESSAGE_ONLY:
        faults.append(f"only in messages, not in a {surface}")
    for node in _dicts(block):
        faults += _faults_of_node(node, surface)
    return faults


def _faults_of_node(node: dict[str, Any], surface: Surface) -> list[str]:
    kind = _kind_of(node)
    faults = list(_faults_of_element(node)) + list(_faults_of_text_object(node))
    if kind == "file_input" and surface not in _FILE_INPUT_SURFACES:
        faults.append("file_input: only in a modal")
    for (owner, field), (least, most) in _LIMITS_OF_COUNT.items():
        if owner == kind and isinstance(node.get(field), list) and not least <= len(node[field]) <= most:
            faults.append(f"{owner}.{field}: {len(node[field])} items, {least} to {most} are allowed")
    for (owner, field), most in _LIMITS_OF_TEXT.items():
        if owner in {kind, "any"} and (size := len(_text_in(node.get(field)))) > most:
            faults.append(f"{kind}.{field}: {size} characters, at most {most} are allowed")
    for owner, field in _PLAIN_TEXT_ONLY:
        value = node.get(field)
        if owner in {kind, "any"} and isinstance(value, dict) and value.get("type") != "plain_text":
            faults.append(f"{kind}.{field}: must be plain_text, not {value.get('type')!r}")
    return faults


def _faults_of_element(node: dict[str, Any]) -> Iterator[str]:
    if "action_id" not in node:
        return
    try:
        parsed = BlockElement.parse(node)
    except TypeError as error:
        yield str(error)
        return
    if parsed is None:
        yield f"unknown element {node.get('type')!r}"
    else:
        yield from (f"{node['type']}: unknown field {name!r}" for name in node if name not in parsed.attributes)
    if node.get("type") == "feedback_buttons":
        for side in ("positive_button", "negative_button"):
            button = node.get(side) or {}
            if (button.get("text") or {}).get("type") != "plain_text":
                yield f"feedback_buttons.{side}: its text must be plain_text"
            if not button.get("value"):
                yield f"feedback_buttons.{side}: it needs a value"


def _faults_of_text_object(node: dict[str, Any]) -> Iterator[str]:
    if node.get("type") not in {"mrkdwn", "plain_text"}:
        return
    text = node.get("text")
    if not isinstance(text, str) or not text:
        yield f"{node['type']}: its text is empty"
    elif len(text) > _TEXT_OBJECT_CHARACTERS:
        yield f"{node['type']}: {len(text)} characters, at most {_TEXT_OBJECT_CHARACTERS} are allowed"
    if node["type"] == "mrkdwn" and "emoji" in node:
        yield "mrkdwn: emoji is only for plain_text"
    if unknown := set(node) - {"type", "text", "emoji", "verbatim"}:
        yield f"{node['type']}: unknown field {min(unknown)!r}"


def _faults_of_modal(view: dict[str, Any]) -> Iterator[str]:
    if not view.get("title"):
        yield "view: missing required field: title"
    blocks = view.get("blocks") or []
    if not view.get("submit") and any(isinstance(one, dict) and one.get("type") == "input" for one in blocks):
        yield "view: submit is required when there are input blocks"


def _repeated(blocks: list[Any]) -> Iterator[str]:
    ids = Counter(one["block_id"] for one in _dicts(blocks) if one.get("block_id"))
    yield from (f"blocks: block_id {name!r} is used {count} times" for name, count in ids.items() if count > 1)
    for block in blocks:
        inside = Counter(one["action_id"] for one in _dicts(block) if one.get("action_id"))
        yield from (f"blocks: action_id {name!r} is used {n} times in one block" for name, n in inside.items() if n > 1)


def _kind_of(node: dict[str, Any]) -> str:
    return str(node.get("type") or ("confirm" if {"confirm", "deny"} <= set(node) else "?"))


def _text_in(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("text") or "")
    return value if isinstance(value, str) else ""


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _dicts(one)
    elif isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _dicts(one)
