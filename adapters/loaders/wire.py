"""What crosses the pipe between the sandbox and its worker: frames of JSON with their length in front.

A request is a header frame (name, size) followed by the file's bytes; an answer is one frame.
"""

import json
import struct
from typing import Any

from core.errors import DocumentRejected
from core.ingestion.parsed import Block, Parsed

LENGTH = struct.Struct(">Q")


def frame(message: dict[str, Any]) -> bytes:
    """The message as bytes: eight bytes of length, big-endian, then UTF-8 JSON."""
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    return LENGTH.pack(len(body)) + body


def from_parsed(parsed: Parsed) -> dict[str, Any]:
    """A reading as a message."""
    return {
        "title": parsed.title,
        "media_type": parsed.media_type,
        "modified": parsed.modified,
        "url": parsed.url,
        "notes": list(parsed.notes),
        "blocks": [
            [block.text, block.page, block.label, block.first_line, list(block.lines)] for block in parsed.blocks
        ],
    }


def to_parsed(body: bytes) -> Parsed:
    """The reading that an answer holds. The worker has met hostile bytes: nothing about its answer is taken on trust.

    Raises:
        DocumentRejected: the worker's reason, or that its answer makes no sense.
    """
    try:
        message = json.loads(body)
        if reason := message.get("rejected"):
            raise DocumentRejected(_text(reason)[:1_000], remedy=_optional(message.get("remedy")))
        return Parsed(
            title=_text(message["title"]),
            blocks=tuple(_block(*fields) for fields in message["blocks"]),
            media_type=_text(message["media_type"]),
            modified=_optional(message["modified"]),
            url=_optional(message["url"]),
            notes=tuple(map(_text, message["notes"])),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DocumentRejected("The parser gave no usable answer for this file.") from error


def _block(text: object, page: object, label: object, first_line: object, lines: object) -> Block:
    if not isinstance(lines, list):
        raise TypeError("not a list of numbers")
    numbers = tuple(number for number in map(_number, lines) if number is not None)
    return Block(_text(text), _number(page), _optional(label), _number(first_line), numbers)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)


def _number(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError("not a number")
