"""What documents are made of, before they are cut into passages: files, parsed blocks, conversations."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

UPLOAD = "upload"  # a file without a place: one that is uploaded again under its name replaces the earlier one


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file whose bytes are at hand. Its format is recognised by ``name``.

    ``source`` names it within its base, as ``Document.source`` does.
    """

    source: str
    name: str
    data: bytes
    origin: str = UPLOAD


class LocalFile(NamedTuple):
    """A file on a disk, and the folder that was named to find it; ``root`` is ``path`` for a file named by itself."""

    path: Path
    root: Path


class NamedFile(NamedTuple):
    """A file on a disk with its source in one base."""

    path: Path
    source: str
    origin: str = UPLOAD


def folder_origin(installation: str, folder: str) -> str:
    """Return the origin of what was found in this absolute folder of this installation."""
    return f"{installation}:{folder}"


def folder_of(origin: str) -> str:
    """Return the absolute folder, or the file named by itself, of an origin; empty for what comes from no folder."""
    return origin.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of Markdown that came from one place of the file.

    Headings are '#' lines (outside code fences), tables are pipe tables, code is fenced. A heading stays in
    force for the blocks after it: a PDF page does not repeat the heading that began on the page before.

    Attributes:
        text: the Markdown itself.
        page: 1-based page (PDF) or slide (PPTX).
        label: what to call the place otherwise: 'Prices!A2:D20', 'slide 3', an archive member's path.
        first_line: 1-based line of the source that the first line of `text` corresponds to, for formats made
            of lines (Markdown, text, RST, code, CSV, JSONL).
        lines: the line of the source that each line of `text` came from, where they do not count on from
            `first_line` one to one: where a heading, a fence or a table's header was added (code, CSV, JSONL).
    """

    text: str
    page: int | None = None
    label: str | None = None
    first_line: int | None = None
    lines: tuple[int, ...] = ()

    def source_line(self, offset: int) -> int | None:
        """Return the 1-based line of the source for a line of `text` counted from 0; None where the format has none."""
        if self.lines:
            return self.lines[min(offset, len(self.lines) - 1)]
        return None if self.first_line is None else self.first_line + offset


@dataclass(frozen=True, slots=True)
class PicturePage:
    """A page that is a picture, by its number from 1; ``member`` is the path of its file within an archive."""

    number: int
    member: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A whole file, read.

    Attributes:
        title: what the document calls itself, else the file's name without its ending.
        blocks: in reading order, none blank; empty only where all there is are pictures.
        media_type: what the bytes turned out to be, whatever the name said.
        modified: ISO date or date and time stated by the document itself, else None.
        url: the link that the document states for itself, when it is plain http(s), else None.
        notes: what a person should know about the reading: 'pages 3 and 4 have no text layer'.
        picture_pages: pages that are pictures and were not read: text recognition may read them.
        uncomputed: formulas of a workbook that have no value: a spreadsheet program may compute them.
    """

    title: str
    blocks: tuple[Block, ...]
    media_type: str
    modified: str | None = None
    url: str | None = None
    notes: tuple[str, ...] = ()
    picture_pages: tuple[PicturePage, ...] = ()
    uncomputed: int = 0


MOST_MESSAGES = 2_000  # of one conversation
MOST_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message. ``text`` is plain or Markdown, names written out instead of the platform's own codes."""

    author: str
    at: datetime
    text: str
    id: str = ""  # the platform's own


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread, or a stretch of a channel. ``source`` is its stable name within a base, ``permalink`` leads back."""

    source: str
    title: str
    messages: tuple[TranscriptMessage, ...]
    permalink: str | None = None


def as_markdown(conversation: Conversation) -> bytes:
    """Return the conversation as Markdown in UTF-8; what is beyond the bounds is left out, and the end says so."""
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
    """Return who said what first, in one plain line of at most so many characters."""
    words: list[str] = []
    for said in conversation.messages:
        words += [f"{said.author}:", *said.text.split()]
        if sum(map(len, words)) > most:
            break
    return " ".join(words)[:most]
