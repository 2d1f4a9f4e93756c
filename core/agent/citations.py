"""From ``[evidence id]`` in a draft to ``[n]`` in what a person sees, also while it streams.

Numbers count from 1 in the order of first mention. A marker that names nothing known is dropped, with the space before
it. Then links that were not retrieved as a source are dropped (see ``links``): after the markers, since a marker can
stand in an address. A streamed prefix never shows half a
marker or half a link: what may still become one is held back.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.model.answer import Citation
from core.model.answer_links import MOST_HELD_BACK, RESERVED_SHARE, SourceLinks, without_foreign_links
from core.model.citation_markers import MARKER, cited_ids
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.passage_units import heading_over, units
from core.retrieval.quotes import quote_for


class Numbering:
    """Evidence ids to the numbers of one answer."""

    def __init__(self, library: EvidenceLibrary) -> None:
        """Number evidence of this library."""
        self._library = library
        self._numbers: dict[int, int] = {}

    @property
    def order(self) -> tuple[Evidence, ...]:
        """The evidence numbered so far; its place plus one is its number."""
        found = (self._library.get(evidence_id) for evidence_id in self._numbers)
        return tuple(item for item in found if item is not None)

    def render(self, text: str) -> str:
        """The text with evidence ids replaced by numbers, and what names nothing dropped."""
        return MARKER.sub(self._marker, text)

    def _marker(self, match: re.Match[str]) -> str:
        known = [n for n in cited_ids(match.group()) if self._library.get(n) is not None]
        numbers = [self._numbers.setdefault(n, len(self._numbers) + 1) for n in known]
        lead = " " if match.group().startswith(" ") else ""
        return lead + "".join(f"[{number}]" for number in numbers) if numbers else ""


class CitationRenderer:
    """Turns pieces of a draft into pieces that are safe to show."""

    def __init__(self, library: EvidenceLibrary) -> None:
        """Show text that cites from this library."""
        self._numbering = Numbering(library)
        self._sources = source_links(library)
        self._held = ""

    def push(self, piece: str) -> str:
        """What can be shown now that this piece came."""
        text = self._held + piece
        held = RESERVED_SHARE.search(text)
        cut = held.start() if held and len(text) - held.start() <= MOST_HELD_BACK else len(text)
        self._held = text[cut:]
        return self._show(text[:cut])

    def finish(self) -> str:
        """What was still held back."""
        held, self._held = self._held, ""
        return self._show(held)

    def _show(self, text: str) -> str:
        return without_foreign_links(self._numbering.render(text), self._sources)


def source_links(library: EvidenceLibrary) -> SourceLinks:
    """The links of the sources in this library, the only ones an answer may carry, and what the passages name."""
    links = frozenset(item.passage.url for item in library if item.passage.url)
    return SourceLinks(links, tuple(item.passage.text for item in library))


def finished_text(draft: str, library: EvidenceLibrary, question: str) -> tuple[str, tuple[Citation, ...]]:
    """The draft as it is shown, and its citations, each with the exact quotes that bear the sentences citing it."""
    numbering = Numbering(library)
    text = without_foreign_links(numbering.render(draft), source_links(library)).strip()
    claims = _sentences_citing(draft)
    return text, tuple(
        citation(n, item, question, claims.get(item.id, ())) for n, item in enumerate(numbering.order, 1)
    )


def citation(n: int, item: Evidence, question: str, claims: Sequence[str] = ()) -> Citation:
    """One source, numbered, with the exact sentences that bear out what it is cited for."""
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
    """For each evidence id, the sentences that stand before its markers: what it is cited for."""
    claims: dict[int, tuple[str, ...]] = {}
    start, said = 0, ""
    for marker in MARKER.finditer(draft):
        between = draft[start : marker.start()].strip()
        said = re.split(r"(?<=[.!?])\s+|\n", between)[-1] or said  # two markers stand behind the same sentence
        for number in cited_ids(marker.group()):
            claims[number] = (*claims.get(number, ()), said)
        start = marker.end()
    return claims
