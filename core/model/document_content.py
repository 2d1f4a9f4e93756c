"""Document content before it is split into passages: files, parsed blocks, conversations."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

UPLOAD = "upload"  # a file without a location; uploading the same name again replaces it


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file with its bytes. ``name`` determines its format.

    ``source`` identifies it within its base, as ``Document.source`` does.
    """

    source: str
    name: str
    data: bytes
    origin: str = UPLOAD


class LocalFile(NamedTuple):
    """A file on disk and the folder given to find it. For a single file, ``root`` is the same as ``path``."""

    path: Path
    root: Path


class NamedFile(NamedTuple):
    """A file on disk, with its source within one base."""

    path: Path
    source: str
    origin: str = UPLOAD


def folder_origin(installation: str, folder: str) -> str:
    """Return the origin of files from this absolute folder of this installation."""
    return f"{installation}:{folder}"


def folder_of(origin: str) -> str:
    """Return the absolute folder or single file of an origin; empty if it does not come from a folder."""
    return origin.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Block:
    """Markdown from one place of a file.

    Headings are '#' lines (outside code fences), tables are pipe tables, code is fenced. A heading also applies to the
    blocks after it: a PDF page does not repeat the heading that began on the page before.

    Attributes:
        text: the Markdown itself.
        page: 1-based page (PDF) or slide (PPTX).
        label: name of the place: 'Prices!A2:D20', 'slide 3', an archive member's path.
        first_line: 1-based line of the source that the first line of `text` corresponds to, for formats made
            of lines (Markdown, text, RST, code, CSV, JSONL).
        lines: source line of each line of `text`, if they do not simply count up from `first_line` because a
            heading, a fence or a table header was added (code, CSV, JSONL).
    """

    text: str
    page: int | None = None
    label: str | None = None
    first_line: int | None = None
    lines: tuple[int, ...] = ()

    def source_line(self, offset: int) -> int | None:
        """Return the 1-based source line for a 0-based line of `text`; None if the format has no lines."""
        if self.lines:
            return self.lines[min(offset, len(self.lines) - 1)]
        return None if self.first_line is None else self.first_line + offset


@dataclass(frozen=True, slots=True)
class PicturePage:
    """A page that is a picture; its number counts from 1. ``member`` is the path of its file within an archive."""

    number: int
    member: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A completely parsed file.

    Attributes:
        title: the document's own title, otherwise the file name without extension.
        blocks: in reading order, none blank; empty only if the document has nothing but pictures.
        media_type: detected from the bytes, not from the name.
        modified: ISO date, or date and time, that the document states; None if it states none.
        url: the document's own link, if it states one and it is plain http(s); otherwise None.
        notes: parsing problems to report to a person: 'pages 3 and 4 have no text layer'.
        picture_pages: pages that are pictures and were not read; OCR may read them.
        uncomputed: number of workbook formulas without a value; a spreadsheet program may compute them.
    """

    title: str
    blocks: tuple[Block, ...]
    media_type: str
    modified: str | None = None
    url: str | None = None
    notes: tuple[str, ...] = ()
    picture_pages: tuple[PicturePage, ...] = ()
    uncomputed: int = 0


MOST_MESSAGES = 2_000  # in one conversation
MOST_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message. ``text`` is plain or Markdown, with names in place of the platform's ids."""

    author: str
    at: datetime
    text: str
    id: str = ""  # the platform's message id


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread or part of a channel. ``source`` is its stable name within a base; ``permalink`` links to it."""

    source: str
    title: str
    messages: tuple[TranscriptMessage, ...]
    permalink: str | None = None


def as_markdown(conversation: Conversation) -> bytes:
    """Return the conversation as UTF-8 Markdown. It is cut at the limits, and then ends with a note."""
    lines = [f"# {' '.join(conversation.title.split())}", ""]
    size = 0
    left_out = len(conversation.messages)
    for said in conversation.messages[:MOST_MESSAGES]:
        size += len(said.text)
        if size > MOST_CHARACTERS:
            break
        left_out -= 1
        if said.text.strip():
            lines += [f"**{said.author}**, {said.at:%Y-%m-%d %H:%M}:", "", said.text.strip(), ""]
    if left_out:
        lines += [f"({left_out} further messages are not kept.)", ""]
    return "\n".join(lines).encode(errors="replace")


def first_line(conversation: Conversation, most: int) -> str:
    """Return the first messages with their authors in one plain line of at most ``most`` characters."""
    words: list[str] = []
    for said in conversation.messages:
        words += [f"{said.author}:", *said.text.split()]
        if sum(map(len, words)) > most:
            break
    return " ".join(words)[:most]
