"""Pipe protocol between the sandbox and its worker: length-prefixed frames of JSON.

A request is a header frame (name, size) followed by the file's bytes; an answer is one frame of small JSON lines. The
first line is the document without its blocks, the others hold blocks. The reader can yield to other tasks between
lines. Decoded in one piece, a table of a million rows took 180 ms, and the largest allowed answer took 3 s.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self

from core.model.document_content import Block, ParsedDocument, PicturePage
from core.model.errors import DocumentRejected, NoText

LENGTH = struct.Struct(">Q")
SLICE = 128 * 1024  # approximate characters of text per line, or an eighth as many numbers
MOST_LINE = 8 * SLICE  # bytes: a character takes at most six
NUMBERS = SLICE // 8


@dataclass(frozen=True, slots=True)
class PageWanted:
    """The page of a request (from 1), a quote to find on it, and the path of its file in an archive."""

    number: int | None = None
    quote: str = ""
    member: str = ""

    def header(self) -> dict[str, str | int]:
        """Return the request header fields; empty for a whole file."""
        given = {"page": self.number, "quote": self.quote, "member": self.member}
        return {name: value for name, value in given.items() if value}

    @classmethod
    def of(cls, header: dict[str, Any]) -> Self:
        """Parse the fields of a request header."""
        page = header.get("page")
        number = None if page is None else int(page)
        return cls(number, str(header.get("quote", "")), str(header.get("member", "")))


WHOLE_FILE = PageWanted()


def frame(*messages: dict[str, Any]) -> bytes:
    """Return the messages as bytes: eight bytes of length, big-endian, then UTF-8 JSON, one line per message."""
    lines = (json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") for message in messages)
    body = b"\n".join(lines)
    return LENGTH.pack(len(body)) + body


def from_parsed(parsed: ParsedDocument) -> list[dict[str, Any]]:
    """Return a parsed document as messages to the parent process."""
    head = {
        "title": parsed.title,
        "media_type": parsed.media_type,
        "modified": parsed.modified,
        "url": parsed.url,
        "notes": list(parsed.notes),
        "picture_pages": [[page.number, page.member] for page in parsed.picture_pages],
        "uncomputed": parsed.uncomputed,
    }
    messages: list[dict[str, Any]] = [head]
    room = 0
    for piece in (piece for block in parsed.blocks for piece in _pieces(block)):
        if room <= 0:
            messages.append({"blocks": []})
            room = SLICE
        messages[-1]["blocks"].append(piece)
        room -= 64 + len(piece[1]) + 8 * len(piece[2]) + (len(piece[4] or "") if len(piece) > 3 else 0)
    return messages


def _pieces(block: Block) -> Iterator[list[Any]]:
    """Yield a block as [whether more follows, text, line numbers]; the last piece adds the other fields."""
    texts = [block.text[start : start + SLICE] for start in range(0, len(block.text), SLICE)]
    lines = [block.lines[start : start + NUMBERS] for start in range(0, len(block.lines), NUMBERS)]
    *before, last = list(zip_longest(texts, lines, fillvalue="")) or [("", "")]
    for text, numbers in before:
        yield [True, text, list(numbers)]
    yield [False, last[0], list(last[1]), block.page, block.label, block.first_line]


def in_slices(body: bytes) -> Iterator[ParsedDocument | None]:
    """Yield None after each line, so that other tasks can run, and the document at the end.

    The worker has read hostile bytes, so its answer is not trusted.

    Raises:
        DocumentRejected: the worker's reason, or that its answer is malformed.
    """
    try:
        lines = _lines(body)
        head = json.loads(next(lines))
        if reason := head.get("rejected"):
            kind = NoText if head.get("without_text") is True else DocumentRejected
            raise kind(_text(reason)[:1_000], remedy=_optional(head.get("remedy")))
        blocks: list[Block] = []
        begun: list[tuple[str, tuple[int, ...]]] = []
        for line in lines:
            for more, text, numbers, *rest in json.loads(line)["blocks"]:
                begun.append((_text(text), _numbers(numbers)))
                if not more:
                    blocks.append(_block(begun, *rest))
                    begun = []
            yield None
        if begun:
            raise ValueError("the last block has no end")  # noqa: TRY301 - malformed, like the others
        yield ParsedDocument(
            title=_text(head["title"]),
            blocks=tuple(blocks),
            media_type=_text(head["media_type"]),
            modified=_optional(head["modified"]),
            url=_optional(head["url"]),
            notes=tuple(map(_text, head["notes"])),
            picture_pages=tuple(_picture_page(*page) for page in head["picture_pages"]),
            uncomputed=int(head["uncomputed"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DocumentRejected("The parser returned no usable result for this file.") from error


def _lines(body: bytes) -> Iterator[bytes]:
    start = 0
    while start <= len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        if end - start > MOST_LINE:
            raise ValueError("a line is too long")
        yield body[start:end]
        start = end + 1


def _block(begun: list[tuple[str, tuple[int, ...]]], page: object, label: object, first_line: object) -> Block:
    text = "".join(text for text, _ in begun)
    lines = begun[0][1] if len(begun) == 1 else tuple(number for _, numbers in begun for number in numbers)
    return Block(text, _number(page), _optional(label), _number(first_line), lines)


def _picture_page(number: object, member: object) -> PicturePage:
    if not isinstance(number, int):
        raise TypeError("not a number")
    return PicturePage(number, _text(member))


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise TypeError("not a list of numbers")
    return tuple(number for number in map(_number, value) if number is not None)


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
