"""Where documents come from: the web, file stores, and the bytes of a file as text and pictures."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from core.model.document_content import ParsedDocument
from core.model.errors import FetchRefused


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What a link led to.

    Attributes:
        url: where it came from in the end, after redirects, without a fragment.
        status: 200, or 304 when the source says it has not changed.
        media_type: as the server states it, lower case, '' when it does not.
        data: the body, unpacked; empty when unchanged.
        etag, last_modified: to be sent next time.
        file_name: what to call the file.
    """

    url: str
    status: int
    media_type: str
    data: bytes
    etag: str | None
    last_modified: str | None
    file_name: str

    @property
    def is_unchanged(self) -> bool:
        """Whether the source says that what we have is current."""
        return self.status == 304


class PageGone(FetchRefused):
    """The host says that there is no such page (any more): 404 or 410."""


class Web(Protocol):
    """Brings what is behind links, and walks through sites; refuses every address that is not public."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchResult:
        """Return the bytes behind a link. Raises FetchRefused with the reason, ``PageGone`` for no such page."""

    def crawl(
        self, start_url: str, *, limit: int, pause: float, refused: Callable[[str, FetchRefused], None]
    ) -> AsyncIterator[FetchResult]:
        """Yield the pages below ``start_url``, or those that it lists when it is a sitemap; at most ``limit``.

        ``pause``: seconds between two requests. ``refused`` hears of each page that could not be fetched. Raises
        FetchRefused when the first page cannot be.
        """


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file in such a place.

    Attributes:
        address: where it is, and what it is called as a source: 's3://handbook/travel/hotels.md'.
        name: its file name.
        version: changes when the file does: an etag, a hash, or its time and size.
        url: where a person can look at it, when there is such a link.
    """

    address: str
    name: str
    version: str
    url: str | None = None


class FileStores(Protocol):
    """Lists and reads files in the places that this installation allows."""

    def refusal(self, address: str) -> str | None:
        """Return why this is no address of such a place, or of none that is allowed; None when it may be read."""

    def files(self, address: str, *, limit: int) -> AsyncIterator[StoredFile]:
        """Yield the files at and below an address, at most so many, in the order of their names.

        Raises FetchRefused, ``PageGone`` where there is nothing.
        """

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        """Return a file and its bytes; None if it still has this version. Raises FetchRefused, ``PageGone``."""


PageProgress = Callable[[int, int], None]
"""Told (pages done, pages to do)."""


class Parser(Protocol):
    """Turns the bytes of a file into text with headings and places."""

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        """Return the document's text; ``progress`` hears of pages that take seconds each, because they are pictures.

        Raises DocumentRejected with the reason when it cannot become knowledge.
        """


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a picture, in pixels from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PagePicture:
    """One page as a PNG. ``marks`` are where the quote is, line by line; none where it is not found there."""

    png: bytes
    width: int
    height: int
    pages: int  # of the whole document
    marks: tuple[Box, ...] = ()


class PagePictures(Protocol):
    """Draws pages of untrusted files."""

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        """Return one page, counted from 1. Raises DocumentRejected with the reason why it cannot be drawn."""
