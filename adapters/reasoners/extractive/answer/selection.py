"""Which units of the evidence are quoted for one need, by words, meaning and kind of answer, and what completes them.

How they look is ``rendering``'s business; what leads from one to the next is ``name_trail``'s.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.rendering import BARE_ANSWER, Quotation
from adapters.reasoners.extractive.evidence.grading import ranked_units
from adapters.reasoners.extractive.evidence.name_trail import Step, Trail, handles, in_range, mentions, trail
from adapters.reasoners.extractive.evidence.numbered import contradicts
from adapters.reasoners.extractive.evidence.sufficiency import is_layered
from adapters.reasoners.extractive.evidence.units import NOTHING_NEAR, Form, Near, Unit, looks_back, topic_words, units
from adapters.reasoners.extractive.question.answer_type import fits, is_broad, is_strict, lacks
from core.model.evidence import Evidence
from core.model.text import content_words, sentences, words

CANDIDATES = 64  # units that are compared by meaning
_OPENING = 3  # sentences from the beginning of a section that is itself the answer
_LIST_ITEMS = 8
_ROWS = 4
_SMALL_TABLE = 10  # rows
_SEVERAL = re.compile(
    r"^(?:which|what) (?!(?:is|was|does|has|this|was)\b)[\w-]*[^siu\W]s\b|^what are\b|^who are\b|^(?:list|name)\b",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"^(what|who|where|when|how)['’]s\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d[\d.,]*\d|\d")
_NUMBERS = re.compile(r"[\W\d_]+")
_STAMP = re.compile(
    r"^[*_]{0,2}(?:last (?:reviewed|updated|changed|rehearsed)|applies to|owner|updated|effective date|version"
    r"|published|exported|rolled out|saved on|generated)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:see|described|explained|defined|documented|listed|stated|stands?|found|covered|part of|are|is)\s+(?:in |on "
    r"|under |at )?(?:the |our )?(?:\[|\*[A-Z])",
    re.IGNORECASE,
)
_CODE = re.compile(r"[`{};=_]|\(\)|::|->")
_STOPPED = re.compile(r"[.!?:;)]\W*$")
_GLUED = re.compile(r"[a-z).](?=[A-Z][a-z])")  # "OverviewIntro to …": a menu whose links touch
_MUCH_GLUED = 4
_MENU = 6  # words


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that may be quoted, and its worth for one need."""

    evidence: Evidence
    unit: Unit
    worth: float


def candidates(
    need: str, evidence: Sequence[Evidence], rarity: Mapping[str, float], near: Near = NOTHING_NEAR
) -> list[Candidate]:
    """The units that meet a need best by their words, a share of each passage, at most ``CANDIDATES``.

    Those of a passage stand together, so that their vectors can be asked for passage by passage.
    """
    found: list[Candidate] = []
    share = max(3, CANDIDATES // max(1, len(evidence)))
    for item in evidence:
        known = {part.casefold() for part in (item.passage.title, *item.passage.heading)}
        ranked = [
            Candidate(item, unit, score)
            for score, unit in ranked_units(need, item.passage, rarity, near)
            if says_something(unit) and not _repeats(unit, known)
        ]
        found.extend(ranked[:share])
    return found[:CANDIDATES]


def _repeats(unit: Unit, titles: Collection[str]) -> bool:
    """Whether it only says again what stands above it; a message kept as a document has its statement as its title."""
    text = unit.text.strip("*_# ")
    return text.casefold() in titles and not text.endswith(".")


def says_something(unit: Unit) -> bool:
    """Not a stamp such as "Last reviewed 12 January 2026." or a lead-in that ends in a colon."""
    if unit.form is Form.SENTENCE and (_STAMP.match(unit.text) or unit.text.rstrip("*_ ").endswith(":")):
        return False
    return len(content_words(unit.text)) > 1


def weighed(
    need: str, found: Sequence[Candidate], cosines: Sequence[float], leant_on: Collection[str] = ()
) -> list[Candidate]:
    """The candidates by words, meaning and the grade of their passage together, best first.

    A row for amounts from here to there counts only where the question's amount lies between. What a follow-up leans
    on, by its title, counts more than other documents.
    """
    done = []
    for one, cosine in zip(found, cosines, strict=True):
        grade = (one.evidence.grade.score if one.evidence.grade else weights.UNGRADED) / 10
        same = weights.LEANT_ON if one.evidence.passage.title in leant_on else 1.0
        worth = (
            (one.worth + weights.MEANING * max(0.0, cosine))
            * (weights.GRADE_OFFSET + grade)
            * same
            * _doubts(need, one)
        )
        done.append(replace(one, worth=worth))
    return sorted(done, key=lambda one: -one.worth)


def _is_debris(text: str) -> bool:
    """Whether it is a menu or a table that lost its cells: words that touch, or hardly a word without a capital."""
    glued = len(_GLUED.findall(text))
    if _CODE.search(text) or (glued < _MUCH_GLUED and _STOPPED.search(text)):
        return False
    said = words(text)
    capitals = sum(word[:1].isupper() for word in said)
    return glued > 1 or (len(said) >= _MENU and 2 * capitals > len(said))


def _headed(row: Unit) -> bool:
    """Whether a row's columns have names."""
    return bool(content_words(" ".join(row.head)))


def _is_asked_for(need: str, row: str) -> bool:
    """Whether a row's first cell, which says what the row is about, stands in the question."""
    key = content_words(row.strip().strip("|").split("|")[0])
    return bool(key) and set(key) <= set(content_words(need))


def _doubts(need: str, one: Candidate) -> float:
    """What speaks against a unit, whatever its words: a factor, above 1 only for a row that is asked for by name."""
    text = one.unit.text
    factor = {True: weights.IN_RANGE, False: weights.OUT_OF_RANGE, None: 1.0}[in_range(need, text)]
    passage = one.evidence.passage
    said = " ".join((passage.title, *passage.heading[-1:], one.unit.under, text))
    if contradicts(need, said):
        factor *= weights.OTHER_NUMBER
    if lacks(need, text):
        factor *= weights.LACKS_KIND
    if one.unit.form is Form.ROW and not is_strict(need) and not _headed(one.unit):
        factor *= weights.HEADLESS_ROW
    if one.unit.form is Form.ROW and _is_asked_for(need, text):
        factor *= weights.KEYED_ROW
    figures = _FIGURE.findall(need)
    around = passage.text if one.unit.form is Form.ROW and not _headed(one.unit) else said
    if figures and not any(figure in around for figure in figures):
        factor *= weights.OTHER_FIGURE
    if one.unit.form is Form.SENTENCE and _ELSEWHERE.search(text):
        factor *= weights.POINTS_ELSEWHERE
    if one.unit.form is Form.SENTENCE and _is_debris(text):
        factor *= weights.DEBRIS
    return factor


def chosen(need: str, found: Sequence[Candidate], limit: int, library: Sequence[Evidence] = ()) -> list[Quotation]:
    """The best units for one need: the first, others nearly as good, any that covers what is still open, and the trail.

    The trail leads from them to what they leave open, through the whole library: its links need not be good evidence.
    """
    kept: list[Candidate] = []
    bar = _bar(need, limit)
    open_words = frozenset(topic_words(need))
    held = fits(need, found[0].unit.text) if found else 0.0
    for one in found:
        if len(kept) == bar.most:
            break
        own = frozenset(content_words(" ".join((*one.unit.head[:1], one.unit.text))))
        new = bool(own & open_words) or fits(need, one.unit.text) > held
        if kept and one.worth < found[0].worth * (bar.new if new else bar.enough):
            continue
        if sum(other.evidence.id == one.evidence.id for other in kept) == bar.of_one:
            continue
        if not any(_same(one.unit.text, other.unit.text) for other in kept):
            kept.append(one)
            open_words -= own
            held = max(held, fits(need, one.unit.text))
    kept.extend(_newer(kept, found))
    kept = _section_opened(need, kept) if kept else kept
    found_on = trail(need, [Step(one.evidence, one.unit) for one in kept], _pool(library))
    picked = [step for step in (Step(one.evidence, one.unit) for one in kept) if not _beside(need, step, found_on)]
    return _newest_first(_gathered((*picked, *found_on.steps)))


def _is_heading_of(heading: str, title: str, need: str) -> bool:
    """Whether a heading asks no more than the need, or the need no more than heading and title together."""
    there, asked = frozenset(content_words(heading)), frozenset(content_words(need))
    topic = frozenset(topic_words(need))
    return bool(there & asked) and (there <= asked or topic <= there | frozenset(content_words(title)))


@dataclass(frozen=True, slots=True)
class _Bar:
    """How good a further quote must be, as a share of the best unit's worth, and how many there are at most."""

    most: int
    enough: float
    new: float  # where it also covers words of the question that no other quote has, or the kind of answer
    of_one: int = 9  # of one passage


def _bar(need: str, limit: int) -> _Bar:
    """One sentence answers a question for one figure; one for several things, or by way of another, needs more."""
    if _SEVERAL.match(need):
        return _Bar(limit + 2, 0.6, 0.6)
    if is_layered(_CONTRACTED.sub(r"\1 is", need)) or len(sentences(need)) > 1:
        return _Bar(limit + 1, 0.8, 0.6, of_one=2)
    return _Bar(limit, 0.9, 0.8) if is_strict(need) else _Bar(limit, 0.85, 0.7)


def _section_opened(need: str, kept: list[Candidate]) -> list[Candidate]:
    """With the beginning of the best unit's section, where its heading is what is asked: "How to claim".

    A question for one figure is answered by the sentence that has it.
    """
    best = kept[0]
    heading = best.unit.under or " ".join(best.evidence.passage.heading[-1:])
    if not is_broad(need) or not heading or not _is_heading_of(heading, best.evidence.passage.title, need):
        return kept
    everything = units(best.evidence.passage.text)
    section = [unit for unit in everything if unit.under == best.unit.under and says_something(unit)]
    first = [replace(best, unit=unit) for unit in section[:_OPENING]]
    known = {one.unit for one in first}
    return [*first, *(one for one in kept if one.unit not in known)]


def _newer(kept: Sequence[Candidate], found: Sequence[Candidate]) -> list[Candidate]:
    """What a newer version says where an older one is quoted: the older must not stand alone.

    The same section of it, else what of it comes near enough to the best.
    """
    for old in kept:
        newest = max((str(one.evidence.passage.dated) for one in kept if _related(one, old)), default="")
        newer = [one for one in found if _related(one, old) and str(one.evidence.passage.dated) > newest]
        same = [one for one in newer if old.evidence.passage.heading[-1:] == one.evidence.passage.heading[-1:] != ()]
        near = [one for one in newer if one.worth >= weights.OLDER_VERSION * found[0].worth]
        if picked := same or near:
            best = picked[0]
            rows = [one for one in picked if one.evidence.id == best.evidence.id and one.unit.form is Form.ROW]
            return rows[:_ROWS] if best.unit.form is Form.ROW else [best]
    return []


def _related(one: Candidate, other: Candidate) -> bool:
    """Whether they are of versions of one document, or of the same version."""
    return family(one.evidence) == family(other.evidence)


def _pool(library: Sequence[Evidence]) -> list[Step]:
    return [Step(item, unit) for item in library for unit in units(item.passage.text) if says_something(unit)]


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
        families.setdefault(family(quotation.evidence), []).append(at)
    for places in families.values():
        members = [ordered[at] for at in places]
        if all(one.evidence.passage.dated for one in members):
            members.sort(key=lambda one: str(one.evidence.passage.dated), reverse=True)
            for at, member in zip(places, members, strict=True):
                ordered[at] = member
    return ordered


def family(item: Evidence) -> str:
    """The title without its numbers: the same for all versions of one document."""
    return _NUMBERS.sub("", item.passage.title).casefold()


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
        elif unit.form is Form.ROW and _mostly(block, picked):
            found.update(block)  # half a small table is harder to read than all of it
        elif unit.form is Form.SENTENCE:
            found.update(_around(unit, block))
    return found | _between(found, everything)


def _mostly(block: Sequence[Unit], picked: Sequence[Unit]) -> bool:
    """Whether several rows of a very small table are quoted, or most of a small one."""
    there = len([one for one in block if one in picked])
    return (there > 1 and len(block) <= _ROWS) or (2 * there > len(block) and len(block) <= _SMALL_TABLE and there > 1)


def _around(unit: Unit, block: Sequence[Unit]) -> Iterator[Unit]:
    """The sentence before one that looks back, and the one after a question."""
    at = block.index(unit)
    if at and looks_back(unit):
        yield block[at - 1]
        if at > 1 and BARE_ANSWER.match(block[at - 1].text):
            yield block[at - 2]
    elif at and BARE_ANSWER.match(block[at - 1].text):
        yield block[at - 1]
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
