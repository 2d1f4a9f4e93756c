"""Sources of documents: the web, file stores, and parsing of files to text and page images."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.model.document_content import FileContent, LocalFile, NamedFile, ParsedDocument
from core.model.errors import FetchRefused


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The response to fetching a link.

    Attributes:
        url: the final address after redirects, without a fragment.
        status: 200, or 304 if the source has not changed.
        media_type: as the server states it, in lower case; '' if it does not.
        data: the body, decompressed; empty if unchanged.
        etag, last_modified: to send with the next request.
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
        """Whether the source says that our copy is current."""
        return self.status == 304


class PageGone(FetchRefused):
    """The host says that the page does not exist (any more): 404 or 410."""


class Web(Protocol):
    """Client that fetches links and crawls sites. It refuses every address that is not public."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchResult:
        """Fetch a link. Raises FetchRefused with the reason, ``PageGone`` if the page does not exist."""

    def crawl(
        self, start_url: str, *, limit: int, pause: float, refused: Callable[[str, FetchRefused], None]
    ) -> AsyncIterator[FetchResult]:
        """Yield the pages below ``start_url``, or those that it lists if it is a sitemap; at most ``limit``.

        ``pause``: seconds between two requests. ``refused`` is called for each page that could not be fetched. Raises
        FetchRefused if the first page cannot be fetched.
        """


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file in a file store.

    Attributes:
        address: its address, which is also its source: 's3://handbook/travel/hotels.md'.
        name: its file name.
        version: changes when the file does: an etag, a hash, or its time and size.
        url: where a person can open it, if there is such a link.
    """

    address: str
    name: str
    version: str
    url: str | None = None


class FileStores(Protocol):
    """Lists and reads files in the file stores that this installation allows."""

    def refusal(self, address: str) -> str | None:
        """Return why this address is not in an allowed file store; None if it may be read."""

    def files(self, address: str, *, limit: int) -> AsyncIterator[StoredFile]:
        """Yield the files at and below an address, at most ``limit``, in the order of their names.

        Raises FetchRefused, ``PageGone`` if there is nothing.
        """

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        """Return a file and its bytes; None if it still has this version. Raises FetchRefused, ``PageGone``."""


class LocalFiles(Protocol):
    """Files below a folder of this machine, or one file. ``refused_files`` has those left out so far, and why."""

    @property
    def refused_files(self) -> Sequence[str]:
        """The files left out, each as one line with the reason."""

    @property
    def files(self) -> Sequence[LocalFile]:
        """The files found. Their sources still have to be derived from their paths."""

    def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        """Yield the content of each of these."""


PageProgress = Callable[[int, int], None]
"""Callback with (pages done, total pages)."""


class Parser(Protocol):
    """Parser that turns the bytes of a file into text with headings and places."""

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        """Return the document's text. ``progress`` is called for pages that need OCR, which takes seconds each.

        Raises DocumentRejected with the reason if it cannot be indexed.
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
    """One page as a PNG. ``marks`` are the rectangles of the quote, line by line; none if it is not found."""

    png: bytes
    width: int
    height: int
    pages: int  # of the whole document
    marks: tuple[Box, ...] = ()


class PagePictures(Protocol):
    """Renderer of pages of untrusted files."""

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        """Return one page, counted from 1. Raises DocumentRejected with the reason if it cannot be drawn."""
