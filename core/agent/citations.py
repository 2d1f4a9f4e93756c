"""Conversion of ``[evidence id]`` markers in a draft to the ``[n]`` that a person sees, also while it streams.

Numbers count from 1 in the order of first mention. A marker of unknown evidence is dropped, with the space before it.
Then links that were not retrieved as a source are dropped (``core.model.answer_links``). Markers come first because an
address can contain one. A streamed prefix never shows half a marker or half a link: the renderer holds back text that
may still become one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.model.answer import Citation
from core.model.answer_links import (
    MOST_HELD_BACK,
    RESERVED_SHARE,
    SourceLinks,
    addresses_in,
    clickable,
    without_foreign_links,
)
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.passage_units import heading_over, units
from core.model.text import MARKER, cited_ids
from core.retrieval.quotes import quote_for


class Numbering:
    """Mapping from evidence ids to the citation numbers of one answer."""

    def __init__(self, library: EvidenceLibrary) -> None:
        """Start without any number assigned."""
        self._library = library
        self._numbers: dict[int, int] = {}

    @property
    def order(self) -> tuple[Evidence, ...]:
        """Evidence in citation order: the number of an item is its index plus one."""
        found = (self._library.get(evidence_id) for evidence_id in self._numbers)
        return tuple(item for item in found if item is not None)

    def render(self, text: str) -> str:
        """Return the text with evidence ids replaced by numbers, and unknown ids dropped."""
        return MARKER.sub(self._marker, text)

    def _marker(self, match: re.Match[str]) -> str:
        known = [n for n in cited_ids(match.group()) if self._library.get(n) is not None]
        numbers = [self._numbers.setdefault(n, len(self._numbers) + 1) for n in known]
        lead = " " if match.group().startswith(" ") else ""
        return lead + "".join(f"[{number}]" for number in numbers) if numbers else ""


class CitationRenderer:
    """Streaming renderer that turns pieces of a draft into pieces that are safe to show."""

    def __init__(self, library: EvidenceLibrary) -> None:
        """Render text that cites this library."""
        self._numbering = Numbering(library)
        self._sources = source_links(library)
        self._held = ""

    def push(self, piece: str) -> str:
        """Add a piece and return the text that can be shown now."""
        text = self._held + piece
        held = RESERVED_SHARE.search(text)
        cut = held.start() if held and len(text) - held.start() <= MOST_HELD_BACK else len(text)
        self._held = text[cut:]
        return self._show(text[:cut])

    def finish(self) -> str:
        """Return the text that is still held back."""
        held, self._held = self._held, ""
        return self._show(held)

    def _show(self, text: str) -> str:
        return without_foreign_links(self._numbering.render(text), self._sources)


def source_links(
    library: EvidenceLibrary, cited: Iterable[Evidence] = (), hosts: frozenset[str] = frozenset()
) -> SourceLinks:
    """Return the links that an answer may use: its sources, and addresses in the passages that it cites.

    Args:
        library: the retrieved evidence.
        cited: the evidence that the answer cites. Empty while the answer streams.
        hosts: further hosts that answers may link to.
    """
    links = {item.passage.url for item in library if item.passage.url}
    shown: set[str] = set()
    for item in cited:
        found = addresses_in(item.passage.text)
        shown |= found
        links |= clickable(found, item.passage.url, hosts)
    return SourceLinks(frozenset(links), tuple(item.passage.text for item in library), frozenset(shown))


def finished_text(
    draft: str, library: EvidenceLibrary, question: str, hosts: frozenset[str] = frozenset()
) -> tuple[str, tuple[Citation, ...]]:
    """Return the draft as shown, and its citations, each with the verbatim quotes that support it."""
    numbering = Numbering(library)
    numbered = numbering.render(draft)
    text = without_foreign_links(numbered, source_links(library, numbering.order, hosts)).strip()
    claims = _sentences_citing(draft)
    return text, tuple(
        replace(citation(n, item, question, claims.get(item.id, ())), links=_links_shown(text, item, hosts))
        for n, item in enumerate(numbering.order, 1)
    )


def _links_shown(text: str, item: Evidence, hosts: frozenset[str]) -> tuple[str, ...]:
    """Return the addresses in a cited passage that may be links and that appear in the answer."""
    found = clickable(addresses_in(item.passage.text), item.passage.url, hosts)
    return tuple(sorted(address for address in found if address in text))


def citation(n: int, item: Evidence, question: str, claims: Sequence[str] = ()) -> Citation:
    """Return the citation of one source, with the verbatim sentences that support the claims."""
    passage = item.passage
    quote = quote_for(passage.text, question, claims)
    section = heading_over(unit for unit in units(passage.text) if unit.text in quote)
    if section and section not in passage.heading:
        passage = replace(passage, heading=(*passage.heading, section))
    return Citation(
        n=n,
        evidence=item.id,
        passage=passage.id,
        knowledge_base=passage.knowledge_base,
        document=passage.source,
        title=passage.title,
        locator=passage.place,
        place=passage.short_place,
        quote=quote,
        score=round((item.grade.score / 10) if item.grade else item.hit.score, 3),
        url=passage.url,
        dated=passage.dated,
    )


def _sentences_citing(draft: str) -> dict[int, tuple[str, ...]]:
    """Return the sentences before the markers of each evidence id: the claims that cite it."""
    claims: dict[int, tuple[str, ...]] = {}
    start, said = 0, ""
    for marker in MARKER.finditer(draft):
        between = draft[start : marker.start()].strip()
        said = re.split(r"(?<=[.!?])\s+|\n", between)[-1] or said  # two markers can follow the same sentence
        for number in cited_ids(marker.group()):
            claims[number] = (*claims.get(number, ()), said)
        start = marker.end()
    return claims
