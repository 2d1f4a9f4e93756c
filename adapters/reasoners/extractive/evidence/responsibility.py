"""Who looks after something, drives it or stands in for somebody, as a table tells it in a column of persons.

Such a row hardly has a word of the question but the thing's name, so that neither its words nor the reader take it for
an answer. It is one all the same where it names just the thing that is asked about and has one person who can be meant.
Who insures a thing, built it or teaches there no such column tells: of these nothing is said here.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.columns import stands_in
from adapters.reasoners.extractive.evidence.scoring import WeighedPassage
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, ReadSection, SearchAction, SearchKnowledge
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import STOPWORDS, content_words, words

_TABLES = 2  # whose sections are read to the end
_STATED = 1.0  # the least odds of the row that tells it, in logarithms


@dataclass(frozen=True, slots=True)
class _Relation:
    """What somebody is to a thing: how a question asks for it, and what the column of such persons is called.

    The thing may stand ``in_any_cell`` of the row ("driving to Larchfield"); else the row is of the thing itself.
    """

    asked: re.Pattern[str]
    column: re.Pattern[str]
    in_any_cell: bool


def _relation(asked: str, column: str, *, in_any_cell: bool) -> _Relation:
    return _Relation(re.compile(asked, re.IGNORECASE), re.compile(column, re.IGNORECASE), in_any_cell)


_WHO = r"^(?:so |and )?who(?:['’]?s| is| are| does| do)? (?:the |our )?"
_TO_STAND_IN = r"\b(?:deputy|deputies|stands? in|stand-in|substitute|cover(?:ed)? by|backup|replace[sd]?)\b"
_RELATIONS = (
    _relation(
        rf"{_WHO}(?:stand(?:s|ing) in for|deputi[sz](?:es?|ing) for|deputy (?:of|for)|substitutes? for"
        r"|fill(?:s|ing) in for)"
        r"|^(?:the )?(?:deputy|stand-in|substitute) (?:of|for)",
        rf"{_TO_STAND_IN}(?!.*\b(?:for|of)$)",
        in_any_cell=True,
    ),
    _relation(rf"{_WHO}driv(?:es?|ing|er (?:of|for|to|on))", r"\bdriv(?:er|es|en by)\b", in_any_cell=True),
    _relation(
        rf"{_WHO}(?:look(?:s|ing)? after|tak(?:es?|ing) care of|responsible for|in charge of|in control of"
        r"|(?:boss|head|manager|owner|keeper) of|runs?|running|leads?|leading|heads?|manag(?:es?|ing)|owns)",
        r"\b(?:responsible|owner|owned by|manager|managed by|lead|leader|head|keeper|in charge|looked after by|contact"
        r"|runs?|name|who|person)\b",
        in_any_cell=False,
    ),
)
_AWAY = re.compile(
    r"\b(?:when|while|if) (?:he|she|they)(?:['’]?s|['’]?re| is| are) (?:away|out|off|ill|sick|on holiday|not there)\b"
    r"|\b(?:now|nowadays|these days|currently|at the moment|normally|usually|today)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:sits?|seat|desk|room|floor|office|where|based|works? at)\b", re.IGNORECASE)
_PERSON = re.compile(
    r"(?:(?:Dr|Mrs?|Ms)\.? )?[^\W\d_][\w’'.-]+(?: (?:[A-Z]\.|de|van|von|der|la))*(?: [A-Z][\w’'-]+){1,2}"
)
_CODE = re.compile(r"[A-Za-z]{1,4}[- ]?0*(\d{1,4})")


def judge_responsibility(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """With the rows that name the thing and the one person who is asked for it sure to answer; the rest stays."""
    asked = _asked(question)
    if asked is None:
        return list(weighed)
    relation, thing = asked
    rows = [one for passage in weighed for one in passage.units if one.unit.form is Form.ROW and one.unit.head]
    told = [(one, person) for one in rows if (person := _person_of(relation, thing, one.unit))]
    if len({person for _, person in told}) != 1:
        return list(weighed)
    return [_judged(passage, {id(one) for one, _ in told}) for passage in weighed]


def rest_of_persons(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Where nothing answers, the rest of the tables with a column of such persons: the thing's row may stand there."""
    asked = _asked(inquiry.standalone)
    read = any(isinstance(made.action, ReadSection) for made in inquiry.searches)
    if asked is None or read or inquiry.library.relevant(inquiry.cutoff):
        return ()
    sections: dict[str, int] = {}
    for item in near:
        heads = {unit.head[0] for unit in units(item.passage.text) if unit.form is Form.ROW and unit.head}
        if any(asked[0].column.search(name) for head in heads for name in cells_of(head)):
            sections.setdefault(item.passage.section, item.id)
    return tuple(ReadSection(evidence) for evidence in list(sections.values())[:_TABLES])


def search_for_owner(inquiry: Inquiry) -> tuple[SearchAction, ...]:
    """Where no row says who keeps the thing, a search as such a table has it: "planner owned by team". Once.

    The row has hardly a word of "who is responsible for the planner?", and many another page has them all.
    """
    asked = _asked(inquiry.standalone)
    if asked is None or asked[0].in_any_cell or len(inquiry.searches) != 1:
        return ()
    found = (unit for item in inquiry.library.items_found() for unit in units(item.passage.text))
    if any(tells_person(inquiry.standalone, unit) for unit in found):
        return ()
    return (SearchKnowledge(f"{' '.join(asked[1])} owned by team"),)


def tells_person(question: str, row: Unit) -> bool:
    """Whether a row says who is asked for in so many words, so that nothing is to be followed from it."""
    asked = _asked(question)
    return asked is not None and row.form is Form.ROW and bool(row.head) and bool(_person_of(*asked, row))


def _judged(passage: WeighedPassage, told: Collection[int]) -> WeighedPassage:
    done = (with_odds(one, max(one.odds, _STATED)) if id(one) in told else one for one in passage.units)
    return replace(passage, units=tuple(sorted(done, key=lambda one: -one.odds)))


def _asked(question: str) -> tuple[_Relation, tuple[str, ...]] | None:
    """What somebody is asked to be, and the words of the thing; None where no such person is asked for."""
    bare = _AWAY.sub(" ", question)
    for relation in _RELATIONS:
        if found := relation.asked.search(bare):
            thing = tuple(word for word in words(bare[found.end() :]) if word.casefold() not in STOPWORDS)
            return (relation, thing) if thing else None
    return None


def _person_of(relation: _Relation, thing: Sequence[str], row: Unit) -> str:
    """The one person whom a row has for the thing; empty where it is of another, or has none or several."""
    cells = list(zip(cells_of(row.head[0]), cells_of(row.text), strict=False))
    persons = [(name, cell) for name, cell in cells if _PERSON.fullmatch(cell)]
    called = [(name, cell) for name, cell in persons if relation.column.search(name)]
    if len(called) != 1:
        return ""
    (person,) = called
    of_it = [cell for name, cell in cells if (name, cell) != person and not _PLACE.search(name)]
    is_of_thing = relation.in_any_cell or cells[0] in persons or _names_part(thing, cells[0][1])
    return person[1] if is_of_thing and _names(thing, of_it) else ""


def _names(thing: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether these cells have every word of the thing."""
    told = _told(thing, cells)
    return bool(told) and all(told)


def _names_part(thing: Sequence[str], key: str) -> bool:
    """Whether a row's first cell has a word of the thing: a washer at a site is not the site."""
    return any(_told(thing, [key]))


def _told(thing: Sequence[str], cells: Sequence[str]) -> list[bool]:
    """Of each word of the thing, whether the cells have it, a number also as a code does: "ironer 2" is IR2."""
    there = set(content_words(" ".join(cells)))
    numbers = {found[1] for cell in cells if (found := _CODE.fullmatch(cell))}
    stems = [stem for word in thing for stem in content_words(word)]
    return [stands_in(stem, there) or stem in numbers for stem in stems]
