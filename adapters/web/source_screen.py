"""Source screen: documents, and cited passages within their document next to the answer.

It shows the indexed text, so that a citation always has a target. Only PDF pages are pictures of the original. A quote
is located by its letters and digits, ignoring the markup between them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any

from aiohttp import web
from cachetools import LRUCache
from markupsafe import Markup

from adapters.web.ask.conversations import Conversations
from adapters.web.ask.turn_views import TurnViews
from adapters.web.markdown import render_passage, render_quote
from adapters.web.pages import Pages, wants_part
from adapters.web.routing import MenuEntry, Route, Visitor
from core.ingestion.ingestor import document_id_of
from core.ingestion.originals import Originals
from core.model.answer import Citation
from core.model.errors import FootnoteError, NotFound
from core.model.knowledge import Document, Passage
from core.ports.index import Index, Scope
from core.ports.sources import PagePicture, PagePictures
from core.service.actions.user_actions import UserActions
from core.service.kb.queries import KnowledgeQueries

_PIECE = re.compile(r"<[^>]*>|[^<]+")


@dataclass(frozen=True, slots=True)
class Letters:
    """The lower-case letters and digits of a text, with their positions in the text."""

    text: str
    places: tuple[int, ...]

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return (start, end) of the quote in the text; None if it is not there."""
        wanted = letters_of(quote).text
        at = self.text.find(wanted) if wanted else -1
        return None if at < 0 else (self.places[at], self.places[at + len(wanted) - 1] + 1)


def letters_of(text: str) -> Letters:
    """Return the letters and digits of a text."""
    found = [(folded, place) for place, sign in enumerate(text) if sign.isalnum() for folded in sign.casefold()]
    return Letters("".join(sign for sign, _ in found), tuple(place for _, place in found))


def mark_quote(html: Markup, quote: str) -> Markup:
    """Return the HTML with the quote in ``<mark>``; unchanged if the quote is not found.

    ``html`` comes from a cleaner, so its tags are well-formed. A mark is closed before each tag and reopened after it.
    """
    pieces = [match.group() for match in _PIECE.finditer(str(html))]
    texts = ["" if piece.startswith("<") else unescape(piece) for piece in pieces]
    span = letters_of("".join(texts)).find(quote)
    if span is None:
        return html
    start, end = span
    out, at, first = [], 0, True
    for piece, text in zip(pieces, texts, strict=True):
        low, high = max(start - at, 0), min(end - at, len(text))
        if text and low < high and text.strip():
            name = ' id="quote"' if first else ""
            inner = f"<mark{name}>{escape(text[low:high])}</mark>"
            out.append(escape(text[:low]) + inner + escape(text[high:]))
            first = False
        else:
            out.append(piece)
        at += len(text)
    return Markup("".join(out))  # noqa: S704 - texts are escaped again, tags come from the cleaner


PDF = "application/pdf"
AROUND = 24  # passages shown before and after the current one
KEPT_PICTURES = 24  # about 0.1 MB each


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage for display. ``headings`` are those that begin with it."""

    headings: tuple[str, ...]
    html: Markup
    place: str
    is_cited: bool = False


@dataclass(frozen=True, slots=True)
class TextView:
    """Part of a document. ``earlier`` and ``later`` are the ordinals of the adjacent parts, if there are any."""

    parts: tuple[PassageView, ...]
    earlier: int | None = None
    later: int | None = None


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of a PDF, with the places of the quote."""

    page: int
    picture: PagePicture


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The displayed part of a document. ``note`` says why the page's picture or the quote is missing."""

    document: Document
    page: PageView | None
    text: TextView
    note: str = ""


@dataclass(slots=True)
class DocumentPages:
    """Viewer of documents. The caller checks that the reader may see them."""

    index: Index
    originals: Originals
    pictures: PagePictures
    _kept: "LRUCache[tuple[str, str, int], PagePicture]" = field(default_factory=lambda: LRUCache(KEPT_PICTURES))

    async def open_at_citation(
        self, document: Document, passage_id: str, quote: str, page: int | None = None
    ) -> DocumentView:
        """Return the document at its cited passage with the quote marked, or at another page."""
        passages = await self._passages(document)
        at = _position(passages, passage_id, quote)
        there = passages[at] if at is not None else None
        note = "" if there else "The document has changed: it no longer contains the quoted text."
        text = _text(passages, at or 0, quote if there else "")
        wanted = page or (there.locator.page if there else 1)
        shown, why_not = await self._page(document, wanted, quote)
        return DocumentView(document, shown, text, note or why_not)

    async def at(self, document: Document, ordinal: int = 0, page: int | None = None) -> DocumentView:
        """Return the document from this passage on, or at this page."""
        passages = await self._passages(document)
        shown, note = await self._page(document, page or 1, "")
        return DocumentView(document, shown, _text(passages, ordinal, ""), note)

    async def picture(self, document: Document, page: int) -> bytes:
        """Return a page's PNG. Raises DocumentRejected if it cannot be drawn."""
        kept = self._kept.get((document.id, document.version, page))
        return (kept or await self._draw(document, page, "")).png

    async def _passages(self, document: Document) -> Sequence[Passage]:
        return await self.index.passages(document.id, document.version, Scope(frozenset({document.knowledge_base})))

    async def _page(self, document: Document, page: int | None, quote: str) -> tuple[PageView | None, str]:
        if document.media_type != PDF or page is None:
            return None, ""
        try:
            return PageView(page, await self._draw(document, page, quote)), ""
        except FootnoteError as error:
            return None, f"The page cannot be shown as a picture. {error}"

    async def _draw(self, document: Document, page: int, quote: str) -> PagePicture:
        original = await self.originals.read(document)
        if original is None:
            raise FootnoteError(
                "The original file is not stored here.", remedy=("Add the document again to store its file.")
            )
        picture = await self.pictures.draw(original.name, original.data, page, quote)
        self._kept[document.id, document.version, page] = picture
        return picture


def _position(passages: Sequence[Passage], passage_id: str, quote: str) -> int | None:
    """Return the passage's index, by its id or, in a newer version of the document, by the quote."""
    for n, passage in enumerate(passages):
        if passage.id == passage_id:
            return n
    for n, passage in enumerate(passages):
        if letters_of(passage.text).find(quote) is not None:
            return n
    return None


def _text(passages: Sequence[Passage], at: int, quote: str) -> TextView:
    at = min(max(at, 0), max(len(passages) - 1, 0))
    first, last = max(0, at - AROUND), min(len(passages), at + AROUND + 1)
    parts, above = [], passages[first - 1].heading if first else ()
    for n in range(first, last):
        passage = passages[n]
        html = render_passage(passage.text)
        begun = () if passage.heading == above else tuple(h for h in passage.heading if h not in above)
        is_cited = n == at and bool(quote)
        parts.append(PassageView(begun, mark_quote(html, quote) if is_cited else html, str(passage.locator), is_cited))
        above = passage.heading
    earlier = first - 1 if first else None
    return TextView(tuple(parts), earlier, last if last < len(passages) else None)


GONE = "This document was not found."
_A_DAY = "private, max-age=86400, immutable"  # a version's page never changes


@dataclass(frozen=True, slots=True)
class SourceScreen:
    """The source screen, which shows what a citation refers to."""

    pages: Pages
    conversations: Conversations
    turns: TurnViews
    actions: UserActions
    queries: KnowledgeQueries
    documents: DocumentPages
    menu: tuple[MenuEntry, ...] = ()

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of reading a document."""
        return (
            Route("GET", "/ask/{name}/{question}/source/{n}", self._source),
            Route("GET", "/documents/{document}", self._document),
            Route("GET", "/documents/{document}/{version}/page/{page}.png", self._picture),
        )

    async def _source(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name, question = request.match_info["name"], request.match_info["question"]
        message = await self.conversations.question(visitor, name, question)
        if message is None:
            raise NotFound("This question was not found.")
        citation = await self._citation(request, visitor, await self.turns.trace_of(message))
        document = await self._visible(visitor, document_id_of(citation.knowledge_base, citation.document))
        view = await self.documents.open_at_citation(document, citation.passage, citation.quote, _page(request))
        path = f"/ask/{name}/{question}/source/{citation.n}"
        back = f"/ask/{name}#q-{question}"
        return self._render_page(request, visitor, view, path=path, citation=citation, back=back)

    async def _citation(self, request: web.Request, visitor: Visitor, trace_id: str) -> Citation:
        """Return the citation with this number, from the sources or, without any, from the nearest passages."""
        wanted = request.match_info["n"]
        message_thread = visitor.thread(request.match_info["name"])
        quotes = await self.actions.answers.quotes(message_thread, trace_id, visitor.audience)
        found = quotes.citations or await self.turns.nearest(message_thread, request.match_info["question"])
        visible = await self.actions.bases.names(visitor.audience)
        for citation in found:
            if str(citation.n) == wanted and citation.knowledge_base in visible:
                return citation
        raise NotFound("That answer has no such source, or you no longer have permission to read it.")

    async def _document(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        document = await self._visible(visitor, request.match_info["document"])
        view = await self.documents.at(document, _number(request, "from") or 0, _page(request))
        path = f"/documents/{document.id}"
        return self._render_page(request, visitor, view, path=path, citation=None, back="/knowledge")

    async def _picture(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        document = await self._visible(visitor, request.match_info["document"])
        if document.version != request.match_info["version"] or not request.match_info["page"].isdecimal():
            raise NotFound(GONE)
        png = await self.documents.picture(document, int(request.match_info["page"]))
        return web.Response(body=png, content_type="image/png", headers={"Cache-Control": _A_DAY})

    async def _visible(self, visitor: Visitor, document_id: str) -> Document:
        """Return the document. Raises the same NotFound if it is unknown or this visitor may not see its base now."""
        document = await self.queries.document_of_id(document_id, visitor.caller())
        if document is None:
            raise NotFound(GONE)
        return document

    def _render_page(
        self,
        request: web.Request,
        visitor: Visitor,
        view: DocumentView,
        *,
        path: str,
        citation: Citation | None,
        back: str,
    ) -> web.StreamResponse:
        url = view.document.url or ""
        marked = bool(view.page.picture.marks) if view.page else any("<mark" in part.html for part in view.text.parts)
        context: dict[str, Any] = {
            "view": view,
            "citation": citation,
            "quote": render_quote(citation.quote) if citation is not None else "",
            "marked": marked,
            "source_path": path,
            "link": url if url.startswith(("http://", "https://")) else "",
            "back": back,
        }
        if wants_part(request):
            return self.pages.part("_source.html", panel=True, **context)
        return self.pages.html(request, visitor, "source.html", panel=False, **context)


def _page(request: web.Request) -> int | None:
    return _number(request, "page")


def _number(request: web.Request, name: str) -> int | None:
    given = request.query.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 7 else None
