"""JSON and JSONL: lists of records as tables, other objects as headings and 'name: value' lines."""

import json
import re
from collections.abc import Iterator
from typing import Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.tables import STRETCH_CHARS, record, stretches
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_RECORDS = 200_000
MAX_DEPTH = 60
_COMMENT = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA_TOO_MANY = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*")|,(?P<rest>\s*[}\]])')
_TITLES = ("title", "name", "subject", "heading", "question", "id", "key")


def read_json(name: str, data: bytes) -> ParsedDocument:
    """Read a JSON document; one object per line is accepted too."""
    text = decode(data)
    try:
        value = _value(text)
    except RecursionError as error:
        raise DocumentRejected("This JSON is nested too deeply to be read.") from error
    except ValueError as error:
        if text.lstrip().count("\n{") and text.lstrip().startswith("{"):
            return read_lines(name, data)
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "it"
        raise DocumentRejected(f"This JSON is damaged: {where} cannot be read.") from error
    title = value.get("title") if isinstance(value, dict) else None
    blocks = [Block(piece) for piece in _whole(value) if piece.strip()]
    if not blocks:
        raise NoText("There is no text in this file.")
    return ParsedDocument(
        title=choose_title(name, title if isinstance(title, str) else None),
        blocks=tuple(blocks),
        media_type="application/json",
    )


def _value(text: str) -> Any:
    """Parse JSON, including settings files with comments and trailing commas. Raises ValueError."""
    try:
        return json.loads(text)
    except ValueError as error:
        without_comments = _COMMENT.sub(lambda match: match["text"] or re.sub(r"[^\n]", " ", match[0]), text)
        plain = _COMMA_TOO_MANY.sub(lambda match: match["text"] or match["rest"], without_comments)
        if plain == text:
            raise
        try:
            return json.loads(plain)
        except ValueError:
            raise error from None


def read_lines(name: str, data: bytes) -> ParsedDocument:
    """Read one record per line; small records share a block. Invalid lines are only counted."""
    blocks: list[Block] = []
    broken: list[int] = []
    pieces: list[tuple[str, int]] = []
    chars = 0
    for number, line in enumerate(decode(data).split("\n"), 1):
        if not line.strip():
            continue
        try:
            piece = _record_text(json.loads(line))
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if pieces and (chars + len(piece) > STRETCH_CHARS):
            blocks.append(_together(pieces))
            pieces, chars = [], 0
        if piece:
            pieces.append((piece, number))
        chars += len(piece)
        if number >= MAX_RECORDS:
            break
    if pieces:
        blocks.append(_together(pieces))
    if not blocks or len(broken) > len(blocks) * 50:
        raise DocumentRejected("None of its lines is valid JSON.")
    notes = (f"{len(broken)} lines are not valid JSON. The first one is line {broken[0]}",) if broken else ()
    return ParsedDocument(choose_title(name), tuple(blocks), "application/x-ndjson", notes=notes)


def _together(pieces: list[tuple[str, int]]) -> Block:
    """Return a block of records; each line gets the line number of its record."""
    numbers = [number for piece, number in pieces for _ in range(piece.count("\n") + 2)]  # and a blank line
    return Block("\n\n".join(piece for piece, _ in pieces), first_line=pieces[0][1], lines=tuple(numbers[:-1]))


def _record_text(value: Any) -> str:
    if isinstance(value, dict) and all(not isinstance(v, (dict, list)) for v in value.values()):
        return record(list(value), [_scalar(v) for v in value.values()])
    return "\n".join(_lines(value))


def _whole(value: Any) -> Iterator[str]:
    """Yield a document's pieces: a table for a list of flat records, a section per key of an object."""
    if isinstance(value, list):
        yield from _list(value)
    elif isinstance(value, dict):
        flat = {key: item for key, item in value.items() if not isinstance(item, (dict, list))}
        if flat:
            yield record(list(flat), [_scalar(item) for item in flat.values()])
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                pieces = _list(item) if isinstance(item, list) else iter(["\n".join(_lines(item))])
                for i, piece in enumerate(pieces):
                    yield f"## {key}\n\n{piece}" if i == 0 else piece
    else:
        yield _scalar(value)


def _list(items: list[Any]) -> Iterator[str]:
    """Yield flat records with few fields as a table, other items as one section each with a title."""
    records = [item for item in items if isinstance(item, dict)]
    columns = list(dict.fromkeys(key for item in records[:2_000] for key in item))
    flat = all(not isinstance(value, (dict, list)) for item in records for value in item.values())
    if records and len(records) == len(items) and flat and len(columns) <= 40:
        rows = [[_scalar(item.get(column)) for column in columns] for item in records[:MAX_RECORDS]]
        yield from (stretch.text for stretch in stretches(columns, rows))
        return
    if not records:
        yield "\n".join(_lines(items))
        return
    for i, item in enumerate(items[:MAX_RECORDS], 1):
        name = next((str(item[key]) for key in _TITLES if isinstance(item, dict) and item.get(key)), str(i))
        yield f"### {' '.join(name.split())[:120]}\n\n" + "\n".join(_lines(item))


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield nested values as an indented list."""
    if depth > MAX_DEPTH:
        raise DocumentRejected("This JSON is nested too deeply to be read.")
    pad = "  " * min(depth, 8)
    pairs = (
        value.items()
        if isinstance(value, dict)
        else ((None, item) for item in value)
        if isinstance(value, list)
        else ((None, value),)
    )
    for key, item in pairs:
        if isinstance(item, (dict, list)):
            if key is not None:
                yield f"{pad}- {key}:"
            yield from _lines(item, depth + 1)
        elif item is not None and item != "":
            text = _scalar(item).strip().replace("\n", f"\n{pad}  ")
            yield f"{pad}- {key}: {text}" if key is not None else f"{pad}- {text}"


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if not isinstance(value, (dict, list)) else json.dumps(value, ensure_ascii=False)


def _is_json(known: str | None, head: str) -> bool:
    start = head.lstrip()
    if known is not None or start[:1] not in ("{", "["):
        return False
    try:
        json.JSONDecoder().raw_decode(start)
    except ValueError:
        return len(head.encode("utf-8", "replace")) > 60_000 and bool(re.match(r'\s*[\[{]\s*(\{\s*)?"', head))
    except RecursionError:
        return False
    return True


FORMATS = (
    Format(media_type="application/json", read=read_json, label="JSON", suffixes=("json",), in_text=_is_json),
    Format(media_type="application/x-ndjson", read=read_lines, suffixes=("jsonl", "ndjson")),
)
