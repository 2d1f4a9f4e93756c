"""Pages and files behind links."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

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
        """The bytes behind a link. Raises FetchRefused with the reason, ``PageGone`` where there is no such page."""

    def crawl(
        self, start_url: str, *, limit: int, pause: float, refused: Callable[[str, FetchRefused], None]
    ) -> AsyncIterator[FetchResult]:
        """The pages below ``start_url``, or those that it lists when it is a sitemap; at most ``limit``.

        ``pause``: seconds between two requests. ``refused`` is told of each page that could not be fetched. Raises
        FetchRefused when the first page cannot be.
        """
