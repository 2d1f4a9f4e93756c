"""Lays quotes out as an answer: grouped by document, verbatim, each with the id of its evidence.

Nothing factual is written that a document does not say: the lines between quotes name documents, and say what was not
found or which of two versions is older.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from adapters.reasoners.extractive.grading import ranked_units
from adapters.reasoners.extractive.selection import Form, Unit, units
from core.evidence import Evidence
from core.inquiry import Inquiry
from core.language import content_words

_QUOTES = 4
_LIST_ITEMS = 8
_LONG = 600  # characters of one quote
_ENOUGH = 0.55  # of the best unit's score
_OUTDATED = re.compile(
    r"\b(?:superseded|replaced by|no longer (?:valid|applies|in force|current)|obsolete|deprecated|out of date|outdated|withdrawn|expired|retired|archived)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Units of one passage that are quoted together."""

    evidence: Evidence
    units: tuple[Unit, ...]
    score: float


def chosen(need: str, evidence: Sequence[Evidence], rarity: Mapping[str, float], limit: int = _QUOTES) -> list[Quotation]:
    """The best units for one need, at most ``limit``, no two that say the same."""
    pool: list[tuple[float, Evidence, Unit]] = []
    for item in evidence:
        weight = item.grade.score / 10 if item.grade else 0.5
        ranked = ranked_units(need, item.passage.text, rarity)
        pool.extend((score * (0.4 + weight), item, unit) for score, unit in ranked[:3])
    pool.sort(key=lambda entry: -entry[0])
    kept: list[tuple[float, Evidence, Unit]] = []
    for entry in pool:
        if len(kept) == limit or entry[0] < pool[0][0] * _ENOUGH:
            break
        if not any(_same(entry[2].text, other[2].text) for other in kept):
            kept.append(entry)
    return _gathered(kept)


def _gathered(kept: Sequence[tuple[float, Evidence, Unit]]) -> list[Quotation]:
    found: dict[int, list[tuple[float, Evidence, Unit]]] = {}
    for entry in kept:
        found.setdefault(entry[1].id, []).append(entry)
    quotations: list[Quotation] = []
    for entries in found.values():
        item = entries[0][1]
        order = {unit: at for at, unit in enumerate(units(item.passage.text))}
        picked = _with_neighbours([entry[2] for entry in entries], tuple(order))
        quotations.append(Quotation(item, tuple(sorted(picked, key=lambda unit: order.get(unit, 0))), entries[0][0]))
    return quotations


def _with_neighbours(picked: Sequence[Unit], everything: Sequence[Unit]) -> set[Unit]:
    """Steps stay together: one item of a short numbered list brings the others."""
    found = set(picked)
    for unit in picked:
        if unit.form is Form.ITEM and unit.text.lstrip()[:1].isdigit():
            block = [one for one in everything if one.block == unit.block]
            found.update(block[:_LIST_ITEMS] if len(block) <= _LIST_ITEMS else ())
    return found


def _same(one: str, other: str) -> bool:
    a, b = set(content_words(one)), set(content_words(other))
    return bool(a) and bool(b) and len(a & b) / min(len(a), len(b)) > 0.85  # noqa: PLR2004


def rendered(quotations: Sequence[Quotation]) -> Iterator[str]:
    """The quotes, grouped by document, as Markdown."""
    for _, group in groupby(quotations, key=lambda one: (one.evidence.passage.document, one.evidence.passage.heading)):
        items = list(group)
        yield f"{origin(items[0].evidence)}\n\n"
        for quotation in items:
            yield quoted(quotation)


def origin(item: Evidence) -> str:
    """Where the quotes below come from; says nothing else."""
    passage = item.passage
    heading = [part for part in passage.heading if part.casefold() != passage.title.casefold()]
    where = f", section {heading[-1]}" if heading else ""
    page = f", page {passage.locator.page}" if passage.locator.page is not None else ""
    return f"From *{passage.title}*{where}{page}:"


def quoted(quotation: Quotation) -> str:
    """One passage's quotes with its marker: sentences as a quotation, lists and tables in their own form."""
    mark = f"[{quotation.evidence.id}]"
    parts: list[str] = []
    for form, group in groupby(quotation.units, key=lambda unit: unit.form):
        members = list(group)
        if form is Form.ROW:
            parts.append("\n".join((*members[0].head, *(unit.text for unit in members))) + f"\n\n{mark}")
        elif form is Form.ITEM:
            parts.append("\n".join(f"{_cut(unit.text)} {mark}" for unit in members))
        elif form is Form.CODE:
            parts.append(f"{members[0].text}\n{mark}")
        else:
            parts.append("\n".join(f"> {_cut(unit.text)} {mark}" for unit in members))
    return "\n\n".join(parts) + "\n\n"


def _cut(text: str) -> str:
    if len(text) <= _LONG:
        return text
    return text[:_LONG].rsplit(" ", 1)[0] + " …"


def age_notes(evidence: Sequence[Evidence]) -> Iterator[str]:
    """One line where quoted documents differ in date or say themselves that they are out of date."""
    seen: dict[str, Evidence] = {}
    for item in evidence:
        seen.setdefault(item.passage.document, item)
    for item in seen.values():
        if _OUTDATED.search(f"{item.passage.title} {' '.join(item.passage.heading)}"):
            yield f"*{item.passage.title}* is marked as out of date in its own title."


def not_covered(inquiry: Inquiry, lacking: Sequence[str]) -> str:
    """Says which part of the question the documents do not answer."""
    if not lacking:
        return ""
    listed = ", ".join(f"“{word}”" for word in lacking[:5])
    return f"I found nothing in the documents about {listed}.\n"
