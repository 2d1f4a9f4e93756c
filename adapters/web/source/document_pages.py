"""A document as it can be looked at: a PDF's pages as pictures, everything else as its passages in reading order.

What is shown is what was indexed, so that a citation always leads somewhere; only pictures need the original.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache
from markupsafe import Markup

from adapters.web.rendering.markdown import render_passage
from adapters.web.rendering.marks import letters_of, mark_quote
from core.ingestion.originals import Originals
from core.model.errors import FootnoteError
from core.model.knowledge import Document, Passage
from core.ports.index import Index, Scope
from core.ports.sources import PagePicture, PagePictures

PDF = "application/pdf"
AROUND = 24  # passages shown before and after the one that is looked at
KEPT_PICTURES = 24  # of about a tenth of a megabyte each


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage as it is shown. ``headings`` are those that begin with it."""

    headings: tuple[str, ...]
    html: Markup
    place: str
    is_cited: bool = False


@dataclass(frozen=True, slots=True)
class TextView:
    """A stretch of a document. ``earlier`` and ``later`` are ordinals to look at next, where there is more."""

    parts: tuple[PassageView, ...]
    earlier: int | None = None
    later: int | None = None


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of a PDF, with where the quote stands on it."""

    page: int
    picture: PagePicture


@dataclass(frozen=True, slots=True)
class DocumentView:
    """What is shown of a document. ``note`` says why a page's picture, or the quote, is not there."""

    document: Document
    page: PageView | None
    text: TextView
    note: str = ""


@dataclass(slots=True)
class DocumentPages:
    """Looks into documents that their reader may see: who may is for the caller to know."""

    index: Index
    originals: Originals
    pictures: PagePictures
    _kept: "LRUCache[tuple[str, str, int], PagePicture]" = field(default_factory=lambda: LRUCache(KEPT_PICTURES))

    async def open_at_citation(
        self, document: Document, passage_id: str, quote: str, page: int | None = None
    ) -> DocumentView:
        """The document at its cited passage, with the quote marked; at another page of it where that is asked for."""
        passages = await self._passages(document)
        at = _position(passages, passage_id, quote)
        there = passages[at] if at is not None else None
        note = "" if there else "The document has changed since: what was quoted does not stand in it any more."
        text = _text(passages, at or 0, quote if there else "")
        wanted = page or (there.locator.page if there else 1)
        shown, why_not = await self._page(document, wanted, quote)
        return DocumentView(document, shown, text, note or why_not)

    async def at(self, document: Document, ordinal: int = 0, page: int | None = None) -> DocumentView:
        """The document from this passage on, or at this page."""
        passages = await self._passages(document)
        shown, note = await self._page(document, page or 1, "")
        return DocumentView(document, shown, _text(passages, ordinal, ""), note)

    async def picture(self, document: Document, page: int) -> bytes:
        """A page's PNG. Raises DocumentRejected where it cannot be drawn."""
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
            raise FootnoteError("Its file is not kept here.", remedy="Add it again to have it kept.")
        picture = await self.pictures.draw(original.name, original.data, page, quote)
        self._kept[document.id, document.version, page] = picture
        return picture


def _position(passages: Sequence[Passage], passage_id: str, quote: str) -> int | None:
    """Which passage it is: by its id, or in a newer version of the document by the words."""
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
