"""Jupyter notebooks: text, code and output, cell by cell. Images are left out and counted."""

import json
import re
from typing import Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.formats.markdown import read_markdown
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_CELLS = 20_000
MAX_OUTPUT = 2_000
"""Maximum characters of one output; longer ones keep only their beginning and end."""

END_OF_OUTPUT = 500

_LEFT_OUT = "\n[… left out …]\n"
_ESCAPES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_EMBEDDED = re.compile(r"data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=\s]{40,}|\b[A-Za-z0-9+/]{200,}={0,2}")


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the cells in order, one numbered block each."""
    try:
        book = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise DocumentRejected("This notebook is damaged: it is not JSON.", remedy="Save it again.") from error
    cells = _cells(book)
    language = _language(book)
    blocks = [
        Block(text, label=f"cell {number}")
        for number, cell in enumerate(cells[:MAX_CELLS], 1)
        if (text := _cell(cell, language))
    ]
    if not blocks:
        raise NoText("There is no text in this notebook.")
    notes = {
        "pictures in outputs not read": sum(map(_pictures, cells)),
        "long outputs shortened": sum(block.text.count(_LEFT_OUT) for block in blocks),
    }
    return ParsedDocument(
        title=choose_title(name, markdown=[block.text for block in blocks]),
        blocks=tuple(blocks),
        media_type="application/x-ipynb+json",
        notes=tuple(f"{what}: {count}" for what, count in notes.items() if count),
    )


def _cells(book: Any) -> list[dict[str, Any]]:
    """Return the cells of a notebook; before version 4 they were in worksheets."""
    if not isinstance(book, dict):
        return []
    sheets = book.get("worksheets")
    holders = sheets if isinstance(sheets, list) and sheets else [book]
    found = [cell for holder in holders if isinstance(holder, dict) for cell in holder.get("cells") or []]
    return [cell for cell in found if isinstance(cell, dict)]


def _language(book: Any) -> str:
    known = book.get("metadata") if isinstance(book, dict) else None
    info = known.get("language_info") if isinstance(known, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) and re.fullmatch(r"[\w+#-]{1,20}", name) else "python"


def _cell(cell: dict[str, Any], language: str) -> str:
    source = _EMBEDDED.sub("", _joined(cell.get("source") or cell.get("input"))).strip()
    match cell.get("cell_type"):
        case "markdown" | "heading" | "raw":
            if not source:
                return ""
            mark = (
                "#" * int(cell["level"]) + " " if str(cell.get("level", "")) in "123456" and cell.get("level") else ""
            )
            return _markdown(mark + source)
        case "code":
            printed = "\n".join(filter(None, map(_output, cell.get("outputs") or [])))
            pieces = [_fenced(source, language), f"Output:\n\n{_fenced(printed, '')}" if printed else ""]
            return "\n\n".join(filter(None, pieces)) if source or printed else ""
        case _:
            return ""


def _markdown(source: str) -> str:
    """Return a cell's Markdown, processed like a Markdown file."""
    try:
        return "\n\n".join(block.text for block in read_markdown("cell.md", source.encode()).blocks)
    except NoText:
        return ""


def _output(output: Any) -> str:
    """Return the text of an output: printed lines, a result, an error without its traceback."""
    if not isinstance(output, dict):
        return ""
    if output.get("ename"):
        return f"{output.get('ename')}: {_joined(output.get('evalue'))}"[:MAX_OUTPUT]
    held = output.get("data")
    data = held if isinstance(held, dict) else output
    text = _joined(output.get("text")) or _joined(data.get("text/markdown")) or _joined(data.get("text/plain"))
    text = _EMBEDDED.sub("", _ESCAPES.sub("", text)).strip()
    if re.fullmatch(r"<[\w.]+ (?:object |size )?[^<>]*>", text):
        return ""  # <Figure size 640x480 with 1 Axes>
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[: MAX_OUTPUT - END_OF_OUTPUT].rstrip()}{_LEFT_OUT}{text[-END_OF_OUTPUT:].lstrip()}"


def _pictures(cell: dict[str, Any]) -> int:
    outputs = [one for one in cell.get("outputs") or [] if isinstance(one, dict)]
    shown = [one.get("data") for one in outputs if isinstance(one.get("data"), dict)]
    attached = cell.get("attachments")
    embedded = len(attached) if isinstance(attached, dict) else 0
    return embedded + sum(any(str(kind).startswith("image/") for kind in one) for one in shown if one)


def _fenced(text: str, language: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}" if text else ""


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _is_notebook(known: str | None, head: str) -> bool:
    if known not in (None, "application/json") or not head.lstrip().startswith("{"):
        return False
    return bool(re.match(r'\s*\{\s*"(?:cells|metadata|nbformat|worksheets)"\s*:', head)) and '"cell_type"' in head


FORMATS = (
    Format(
        media_type="application/x-ipynb+json",
        read=read,
        label="Jupyter notebooks",
        suffixes=("ipynb",),
        in_text=_is_notebook,
        rank=1,
    ),
)
