"""Crawler for one section of a site: the pages under a path, or those that a sitemap lists.

It stays on the same origin and under the start path, honours robots.txt and has a page limit. Each request goes through
the guarded fetcher; the sandbox parses the pages.
"""

import asyncio
import logging
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from adapters.documents.web.fetcher import ROBOTS_NAME, Fetcher
from core.model.errors import FetchRefused
from core.ports.sources import FetchResult, Web

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

log = logging.getLogger(__name__)

SITEMAP_BYTES = 10 * 1024 * 1024
"""Maximum size of an unpacked sitemap (the protocol allows 50 MB for 50,000 pages)."""

MAX_SITEMAPS = 20
LINKS_BYTES = 3 * 1024 * 1024
QUEUE_PER_PAGE = 50
MAX_PAUSE = 5.0
Refused = Callable[[str, FetchRefused], None]


class WebCrawler(Web):
    """Fetching of links and whole sites through one fetcher and its rules."""

    def __init__(self, fetcher: Fetcher) -> None:
        """Use `fetcher` for every request."""
        self._fetcher = fetcher

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchResult:
        """Fetch a link; see ``Fetcher.fetch``."""
        return await self._fetcher.fetch(url, etag=etag, last_modified=last_modified)

    def crawl(self, start_url: str, *, limit: int, pause: float, refused: Refused) -> AsyncIterator[FetchResult]:
        """Crawl a site; see the function ``crawl``."""
        return crawl(self._fetcher, start_url, limit=limit, pause=pause, refused=refused)


async def crawl(
    fetcher: Fetcher, start_url: str, *, limit: int, pause: float = 0.2, refused: Refused | None = None
) -> AsyncIterator[FetchResult]:
    """Yield the pages under the path of `start_url`, breadth first, or those listed if it is a sitemap.

    Args:
        fetcher: fetches each page.
        start_url: a page, a folder or a sitemap (also .gz).
        limit: maximum number of pages.
        pause: seconds between two requests; a longer Crawl-delay in robots.txt is honoured up to 5 s.
        refused: called for each page or sitemap that cannot be fetched; the crawl continues.

    Raises:
        FetchRefused: when the first page itself cannot be fetched, or robots.txt forbids it.
    """
    scope = _Scope(start_url)
    robots = await _robots(fetcher, start_url)
    if not robots.can_fetch(ROBOTS_NAME, start_url):
        raise FetchRefused("The site's robots.txt asks not to fetch this page.")
    pause = max(pause, min(float(robots.crawl_delay(ROBOTS_NAME) or 0.0), MAX_PAUSE))
    first = await fetcher.fetch(start_url)
    scope.follow(first.url)
    queue: deque[str] = deque()
    seen = {scope.key(start_url), scope.key(first.url)}
    done = 0
    async for page in _pages(fetcher, first, queue, pause, refused):
        if is_sitemap(page):
            found = await _sitemap_pages(fetcher, page, limit, refused)
        else:
            if scope.key(page.url) not in seen and not scope.holds(page.url):
                continue  # a redirect led out of the scope
            seen.add(scope.key(page.url))
            yield page
            done += 1
            found = await asyncio.to_thread(links, page) if _is_page(page) else []
        if done >= limit:
            return
        for url in found:
            key = scope.key(url)
            if key in seen or not scope.holds(url) or not robots.can_fetch(ROBOTS_NAME, url):
                continue
            if len(queue) < limit * QUEUE_PER_PAGE:
                seen.add(key)
                queue.append(url)


async def _pages(
    fetcher: Fetcher, first: FetchResult, queue: deque[str], pause: float, refused: Refused | None
) -> AsyncIterator[FetchResult]:
    """Yield the first page, then the pages of the queue, which the caller may extend."""
    yield first
    while queue:
        url = queue.popleft()
        await asyncio.sleep(pause)
        try:
            page = await fetcher.fetch(url)
        except FetchRefused as error:
            log.info("a page of the crawl was refused: %s", error)
            if refused is not None:
                refused(url, error)
            continue
        yield page


class _Scope:
    """Same origin, and under the folder of the first page."""

    def __init__(self, start_url: str) -> None:
        self.follow(start_url)

    def follow(self, url: str) -> None:
        """Set the scope from a URL, such as the target of a redirect of the first page."""
        parts = urlsplit(url)
        self._origin = (parts.scheme, parts.netloc.lower())
        self._folder = parts.path.rpartition("/")[0] + "/"

    def holds(self, url: str) -> bool:
        """Return whether the crawl may fetch this URL."""
        parts = urlsplit(url)
        path = parts.path or "/"
        inside = path.startswith(self._folder) or path + "/" == self._folder
        return (parts.scheme, parts.netloc.lower()) == self._origin and inside and "/../" not in path

    def key(self, url: str) -> str:
        """Return a key that is equal for links to the same page."""
        parts = urlsplit(url)
        return f"{parts.netloc.lower()}{parts.path or '/'}?{parts.query}"


async def _robots(fetcher: Fetcher, url: str) -> RobotFileParser:
    """Return the robots.txt rules: without the file all is allowed, with a server error nothing is (RFC 9309)."""
    robots = RobotFileParser()
    try:
        page = await fetcher.fetch(urljoin(url, "/robots.txt"))
    except FetchRefused as error:
        robots.parse(["User-agent: *", "Disallow: /"] if "answered 5" in str(error) else [])
        return robots
    robots.parse(page.data[:512_000].decode("utf-8", "replace").splitlines())
    return robots


def is_sitemap(page: FetchResult) -> bool:
    """Return whether a page is a sitemap or an index of sitemaps."""
    head = page.data[:2_000]
    if head.startswith(b"\x1f\x8b"):
        return urlsplit(page.url).path.endswith(".xml.gz")
    return b"<urlset" in head or b"<sitemapindex" in head


async def _sitemap_pages(fetcher: Fetcher, page: FetchResult, limit: int, refused: Refused | None) -> list[str]:
    """Return the pages of a sitemap and of the sitemaps that it lists."""
    found: list[str] = []
    waiting, asked = [page], 0
    while waiting and len(found) < limit * QUEUE_PER_PAGE:
        pages, maps = await asyncio.to_thread(entries, waiting.pop(0))
        found += pages
        for url in maps:
            if asked >= MAX_SITEMAPS or urlsplit(url).netloc != urlsplit(page.url).netloc:
                continue
            asked += 1
            try:
                waiting.append(await fetcher.fetch(url))
            except FetchRefused as error:
                log.info("a sitemap was refused: %s", error)
                if refused is not None:
                    refused(url, error)
    return found


def entries(page: FetchResult) -> tuple[list[str], list[str]]:
    """Return (pages, further sitemaps) of a sitemap.

    Raises:
        FetchRefused: too large when unpacked, or not valid XML.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(_unzip(page.data))
    except (DefusedXmlException, ParseError, ValueError, LookupError) as error:
        raise FetchRefused("The sitemap is damaged and cannot be read.") from error
    places = [(element.text or "").strip() for element in root.iter() if element.tag.rpartition("}")[2] == "loc"]
    places = [urljoin(page.url, place) for place in places if place]
    return ([], places) if root.tag.rpartition("}")[2] == "sitemapindex" else (places, [])


def _unzip(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        if len(data) > SITEMAP_BYTES:
            raise FetchRefused("The sitemap is too large.")
        return data
    unpack = zlib.decompressobj(31)
    try:
        text = unpack.decompress(data, SITEMAP_BYTES)
    except zlib.error as error:
        raise FetchRefused("The sitemap is damaged and cannot be read.") from error
    if unpack.unconsumed_tail:
        raise FetchRefused("The sitemap is too large.")
    return text


def _is_page(page: FetchResult) -> bool:
    return page.media_type in ("text/html", "application/xhtml+xml") or b"<html" in page.data[:1_000].lower()


def links(page: FetchResult) -> list[str]:
    """Return the URLs of a page's links in order, without fragments."""
    reader = _Links()
    reader.feed(page.data[:LINKS_BYTES].decode("utf-8", "replace"))
    base = urljoin(page.url, reader.base) if reader.base else page.url
    found: dict[str, None] = {}
    for href in reader.hrefs:
        try:
            url = urldefrag(urljoin(base, href.strip())).url
        except ValueError:
            continue
        if url.startswith(("http://", "https://")):
            found[url] = None
    return list(found)


class _Links(HTMLParser):
    """Parser that collects the URLs of links that a robot may follow."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the URL of a link, or of the base element."""
        values = dict(attrs)
        href = values.get("href")
        if href and tag == "base":
            self.base = self.base or href
        elif href and tag == "a" and "nofollow" not in (values.get("rel") or ""):
            self.hrefs.append(href)
