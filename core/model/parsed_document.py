"""What a file looks like once it has been read: Markdown with headings, and where each stretch came from.

Loaders produce these; the chunker consumes them. How a format becomes Markdown is a loader's business.
"""

from dataclasses import dataclass


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
        """The 1-based line of the source for a line of `text` counted from 0; None where the format has none."""
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
