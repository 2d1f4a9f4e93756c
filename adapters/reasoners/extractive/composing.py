"""Lays quotes out as an answer: grouped by document, verbatim, each with the id of its evidence.

Nothing factual is written that a document does not say: the lines between quotes name documents, and say what was not
found or which document calls itself out of date.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby

from adapters.reasoners.extractive.chaining import Step, Trail, handles, in_range, mentions, trail
from adapters.reasoners.extractive.grading import CUTOFF, ranked_units
from adapters.reasoners.extractive.selection import NOTHING_NEAR, Form, Near, Unit, fits, topic_words, units
from adapters.reasoners.extractive.sufficiency import is_layered, open_names
from core.evidence import Evidence
from core.inquiry import Inquiry
from core.language import content_words, sentences

_QUOTES = 3  # for one need, before what completes them
_QUOTES_OF_MANY = 2  # for each of several needs
_LIST_ITEMS = 8
_ROWS = 4
_LONG = 600  # characters of one quote
CANDIDATES = 24  # units that are compared by meaning
_LEANT_ON = 1.25
_IN_RANGE, _OUT_OF_RANGE = 1.4, 0.3
_ENOUGH = 0.8  # of the best unit's worth
_ENOUGH_NEW = 0.6  # where the unit also covers words of the question that no other quote has
_LOOKS_BACK = re.compile(
    r"^(?:they|it|its|this|these|those|that|he|she|his|her|their|both|such|then|otherwise|after that|the same|either"
    r"|so|also|however|instead|yes|no)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SEVERAL = re.compile(
    r"^(?:which|what) (?!(?:is|was|does|has|this|was)\b)[\w-]*[^s\W]s\b|^what are\b|^who are\b|^(?:list|name)\b",
    re.IGNORECASE,
)
_BARE_ANSWER = re.compile(r"^(?:yes|no|not yet|only partly)[.,!]?$", re.IGNORECASE)
_NUMBERS = re.compile(r"[\W\d_]+")
_STAMP = re.compile(
    r"^[*_]{0,2}(?:last (?:reviewed|updated|changed)|applies to|owner|updated|effective date|version)\b", re.IGNORECASE
)
_OUTDATED = re.compile(
    r"\b(?:superseded\b(?! by all)|(?:was|is|been) replaced\b|no longer (?:valid|applies|in force|current)"
    r"|obsolete|out of date|"
    r"outdated|withdrawn)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Units of one passage that are quoted together."""

    evidence: Evidence
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that may be quoted, and its worth for one need."""

    evidence: Evidence
    unit: Unit
    worth: float


def candidates(
    need: str, evidence: Sequence[Evidence], rarity: Mapping[str, float], near: Near = NOTHING_NEAR
) -> list[Candidate]:
    """The units that meet a need best by their words, a few of each passage, at most ``CANDIDATES``."""
    found: list[Candidate] = []
    share = max(2, CANDIDATES // max(1, len(evidence)))
    for item in evidence:
        ranked = [
            (score, unit) for score, unit in ranked_units(need, item.passage, rarity, near) if _says_something(unit)
        ]
        found.extend(Candidate(item, unit, score) for score, unit in ranked[:share])
    return sorted(found, key=lambda one: -one.worth)[:CANDIDATES]


def weighed(
    need: str, found: Sequence[Candidate], cosines: Sequence[float], leant_on: Collection[str] = ()
) -> list[Candidate]:
    """The candidates by words, meaning and the grade of their passage together, best first.

    A row for amounts from here to there counts only where the question's amount lies between. What a follow-up leans
    on, by its title, counts more than other documents.
    """
    done = []
    for one, cosine in zip(found, cosines, strict=True):
        grade = (one.evidence.grade.score if one.evidence.grade else CUTOFF) / 10
        same = _LEANT_ON if one.evidence.passage.title in leant_on else 1.0
        ranged = {True: _IN_RANGE, False: _OUT_OF_RANGE, None: 1.0}[in_range(need, one.unit.text)]
        done.append(replace(one, worth=(one.worth + max(0.0, cosine)) * (0.6 + grade) * ranged * same))
    return sorted(done, key=lambda one: -one.worth)


def answer(inquiry: Inquiry, found: Sequence[tuple[str, Sequence[Candidate]]]) -> Iterator[str]:
    """The whole answer in pieces, from each need's weighed candidates."""
    if inquiry.caveats:
        yield "The documents only come near this question; please read with care.\n\n"
    limit = _QUOTES if len(found) == 1 else _QUOTES_OF_MANY
    used: list[Evidence] = []
    for need, weighed_units in found:
        quotations = chosen(need, weighed_units, limit, inquiry.library.found())
        if len(found) > 1:
            yield f"On “{need}”:\n\n"
        if not quotations:
            yield "I found nothing in the documents about this part.\n\n"
        yield from rendered(quotations)
        used.extend(quotation.evidence for quotation in quotations)
    yield from _remarks(inquiry, used)


def chosen(need: str, found: Sequence[Candidate], limit: int, library: Sequence[Evidence] = ()) -> list[Quotation]:
    """The best units for one need: the first, others nearly as good, any that covers what is still open, and the trail.

    The trail leads from them to what they leave open, through the whole library: its links need not be good evidence.
    """
    kept: list[Candidate] = []
    several = bool(_SEVERAL.match(need))
    limit, enough = (limit + 2, _ENOUGH_NEW) if several else (limit + is_layered(need), _ENOUGH)
    open_words = frozenset(topic_words(need))
    held = fits(need, found[0].unit.text) if found else 0.0
    for one in found:
        if len(kept) == limit:
            break
        own = frozenset(content_words(" ".join((*one.unit.head[:1], one.unit.text))))
        adds = bool(own & open_words) and one.worth >= found[0].worth * _ENOUGH_NEW
        better = fits(need, one.unit.text) > held and one.worth >= found[0].worth * _ENOUGH_NEW
        if kept and not adds and not better and one.worth < found[0].worth * enough:
            continue
        if not any(_same(one.unit.text, other.unit.text) for other in kept):
            kept.append(one)
            open_words -= own
            held = max(held, fits(need, one.unit.text))
    kept.extend(_newer(kept, found))
    found_on = trail(need, [Step(one.evidence, one.unit) for one in kept], _pool(library))
    picked = [step for step in (Step(one.evidence, one.unit) for one in kept) if not _beside(need, step, found_on)]
    return _newest_first(_gathered((*picked, *found_on.steps)))


def _newer(kept: Sequence[Candidate], found: Sequence[Candidate]) -> list[Candidate]:
    """What a newer version says in the section that an older one is quoted from: the older must not stand alone."""
    quoted = {one.evidence.id for one in kept}
    for old in kept:
        newer = [one for one in found if one.evidence.id not in quoted and _supersedes(one.evidence, old.evidence)]
        if newer:
            best = newer[0]
            rows = [one for one in newer if one.evidence.id == best.evidence.id and one.unit.form is Form.ROW]
            return rows[:_ROWS] if best.unit.form is Form.ROW else [best]
    return []


def _supersedes(new: Evidence, old: Evidence) -> bool:
    """Whether it is the same section of the same document, dated later."""
    one, other = new.passage, old.passage
    same = _family(new) == _family(old) and one.document != other.document and one.heading[-1:] == other.heading[-1:]
    return same and bool(one.heading) and str(one.dated or "") > str(other.dated or "")


def _pool(library: Sequence[Evidence]) -> list[Step]:
    return [Step(item, unit) for item in library for unit in units(item.passage.text) if _says_something(unit)]


def _beside(need: str, step: Step, found_on: Trail) -> bool:
    """Whether the trail shows that a unit is beside the point.

    It is another row of a table whose right row the trail has found, or another's answer to the same kind of question.
    """
    if any(mentions(need, name) for name in handles(step.unit)):
        return False
    if found_on.settled_by and fits(need, step.unit.text) == 1.0:
        return not any(mentions(step.said, name) for name in found_on.settled_by)
    return step.unit.form is Form.ROW and any(
        other.evidence.id == step.evidence.id and other.unit.block == step.unit.block for other in found_on.steps
    )


def _newest_first(quotations: Sequence[Quotation]) -> list[Quotation]:
    """Versions of one document in the order of their dates, the newest in the place of the first."""
    ordered = list(quotations)
    families: dict[str, list[int]] = {}
    for at, quotation in enumerate(ordered):
        families.setdefault(_family(quotation.evidence), []).append(at)
    for places in families.values():
        members = [ordered[at] for at in places]
        if all(one.evidence.passage.dated for one in members):
            members.sort(key=lambda one: str(one.evidence.passage.dated), reverse=True)
            for at, member in zip(places, members, strict=True):
                ordered[at] = member
    return ordered


def _family(item: Evidence) -> str:
    return _NUMBERS.sub("", item.passage.title).casefold()


def _says_something(unit: Unit) -> bool:
    """Not a stamp such as "Last reviewed 12 January 2026." or a lead-in that ends in a colon."""
    if unit.form is Form.SENTENCE and (_STAMP.match(unit.text) or unit.text.rstrip().endswith(":")):
        return False
    return len(content_words(unit.text)) > 1


def _gathered(kept: Sequence[Step]) -> list[Quotation]:
    found: dict[int, list[Unit]] = {}
    items: dict[int, Evidence] = {}
    for step in kept:
        items[step.evidence.id] = step.evidence
        found.setdefault(step.evidence.id, []).append(step.unit)
    quotations: list[Quotation] = []
    for evidence_id, picked in found.items():
        everything = units(items[evidence_id].passage.text)
        wanted = _with_neighbours(picked, everything)
        quotations.append(Quotation(items[evidence_id], tuple(unit for unit in everything if unit in wanted)))
    return quotations


def _with_neighbours(picked: Sequence[Unit], everything: Sequence[Unit]) -> set[Unit]:
    """What reads only together: the steps of a short list, a sentence and the one that its "they" looks back to."""
    found = set(picked)
    for unit in picked:
        block = [one for one in everything if one.block == unit.block]
        if unit.form is Form.ITEM and unit.text.lstrip()[:1].isdigit():
            found.update(block if len(block) <= _LIST_ITEMS else ())
        elif unit.form is Form.ROW and len(block) <= _ROWS and len([one for one in block if one in picked]) > 1:
            found.update(block)  # half a small table is harder to read than all of it
        elif unit.form is Form.SENTENCE:
            found.update(_around(unit, block))
    return found | _between(found, everything)


def _around(unit: Unit, block: Sequence[Unit]) -> Iterator[Unit]:
    """The sentence before one that looks back, and the one after a question."""
    at = block.index(unit)
    if at and _LOOKS_BACK.match(unit.text):
        yield block[at - 1]
        if at > 1 and _BARE_ANSWER.match(block[at - 1].text):
            yield block[at - 2]
    if unit.text.rstrip().endswith("?"):
        yield from block[at + 1 : at + 3]


def _between(found: AbstractSet[Unit], everything: Sequence[Unit]) -> set[Unit]:
    """The single sentence between two of one paragraph that are quoted."""
    return {
        middle
        for before, middle, after in zip(everything, everything[1:], everything[2:], strict=False)
        if middle.form is Form.SENTENCE
        and before in found
        and after in found
        and before.block == middle.block == after.block
    }


def _same(one: str, other: str) -> bool:
    a, b = set(content_words(one)), set(content_words(other))
    return bool(a) and bool(b) and len(a & b) / min(len(a), len(b)) > 0.85


def rendered(quotations: Sequence[Quotation]) -> Iterator[str]:
    """The quotes under the places they come from, as Markdown."""
    for place, group in groupby(quotations, key=lambda one: origin(one.evidence)):
        yield f"{place}\n\n"
        for quotation in group:
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
    for (form, _), group in groupby(quotation.units, key=lambda unit: (unit.form, unit.head)):
        members = list(group)
        if form is Form.ROW:
            parts.append(_table(members, mark))
        elif form is Form.ITEM:
            parts.append("\n".join(_item(unit, mark) for unit in members))
        elif form is Form.CODE:
            parts.append(f"{members[0].text}\n\n(as in {mark})")
        else:
            parts.append("\n".join(f"> {_cut(unit.text)} {mark}" for unit in members))
    return "\n\n".join(parts) + "\n\n"


def _table(rows: Sequence[Unit], mark: str) -> str:
    """Rows under their header; a marker stands in each row's last cell, so that the table stays one."""
    head = rows[0].head
    lines = head or ()
    return "\n".join((*lines, *(_marked(unit.text, mark) for unit in rows)))


def _item(unit: Unit, mark: str) -> str:
    """A list item with a marker after each of its sentences: each is a claim of its own."""
    text = _cut(unit.text)
    bullet = _BULLET.match(text)
    start = bullet.end() if bullet else 0
    return text[:start] + " ".join(f"{sentence} {mark}" for sentence in sentences(text[start:]))


def _marked(row: str, mark: str) -> str:
    bare = row.rstrip()
    return f"{bare[:-1].rstrip()} {mark} |" if bare.endswith("|") else f"{bare} {mark}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG].rsplit(" ", 1)[0] + " …"


def _remarks(inquiry: Inquiry, used: Sequence[Evidence]) -> Iterator[str]:
    """What a careful reader should know: versions of one document, what is out of date, which name is not covered."""
    documents = tuple({item.passage.document: item for item in used}.values())
    if len(documents) > 1:
        yield from _versions(documents)
        for item in documents:
            for said in (_outdated(other) for other in inquiry.library if _same_document(other, item)):
                if said:
                    yield f"Mind what *{item.passage.title}* says of itself:\n\n> {said[1]} [{said[0]}]\n\n"
                    break
    lacking = open_names(inquiry.standalone, inquiry.library)
    if lacking:
        yield f"I found nothing in the documents about {', '.join(f'“{word}”' for word in lacking[:4])}.\n"


def _versions(documents: Sequence[Evidence]) -> Iterator[str]:
    """One line where two quoted documents have the same title but for its year or number."""
    families: dict[str, list[Evidence]] = {}
    for item in documents:
        families.setdefault(_family(item), []).append(item)
    for family in families.values():
        titles = [
            f"*{item.passage.title}*" + (f" ({item.passage.dated})" if item.passage.dated else "") for item in family
        ]
        if len(titles) > 1:
            yield f"The documents differ in age: {', '.join(titles)}. Check which one applies.\n\n"


def _same_document(one: Evidence, other: Evidence) -> bool:
    return one.passage.document == other.passage.document


def _outdated(item: Evidence) -> tuple[int, str] | None:
    """What the passage says about its own document being out of date, with the evidence's id."""
    said = (unit.text for unit in units(item.passage.text) if _OUTDATED.search(unit.text))
    found = next(said, "")
    return (item.id, found.lstrip("> ")) if found else None
