"""The newest of several versions that one document tells of, as a changelog does: by date, else by number.

Also the one that a question names by its number, where nothing is asked but when it came and what it brought.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.evidence.versions import series
from adapters.reasoners.extractive.evidence.word_coverage import topic_words
from core.ingestion.dates import stated_date
from core.model.evidence import Evidence
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words

_ASKS = re.compile(
    r"\b(?:latest|newest|most recent|current|last)\b.{0,30}\b(?:version|release|revision|update|firmware|build|edition"
    r"|changes?|changelog)\b|\b(?:newest|latest)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"^\W*(?:version |release |[a-z]{1,2}[.-]?)?(\d+(?:\.\d+)*)\b", re.IGNORECASE)
_OF_PRODUCT = re.compile(r"^\W*(?:[^\W\d_][\w-]* ){1,2}v?(\d+(?:\.\d+)+)\b")  # "**Prometheus 3.13**", in a row
_NAMED_VERSION = re.compile(r"\((?:v\.? ?|version |release )?(\d+(?:\.\d+)+)\)\W*$", re.IGNORECASE)  # "Pintail" (26.3)
_SAID_OF_ANY = frozenset(
    content_words(
        "new newest latest current last recent version release revision update build edition change changelog since"
        " before one previous news what whats when come came out date released called name"
    )
)
_OF_VERSIONS = re.compile(r"\b(?:version|release|build|firmware|edition)\b", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:until|till|ends?|eol)\b", re.IGNORECASE)
_BEFORE_NEWEST = re.compile(r"\bthe one before the (?:latest|newest|most recent|current)\b", re.IGNORECASE)
_ENTRIES = 2  # versions in one document, from which on it tells of several
_SHOWN = 3  # units of the newest one
_NUMBER = re.compile(
    r"(?<![\w.])v?(?P<number>\d+(?:\.\d+)+)(?![\w.]*\w)"
    r"|\b(?:firmware|release|version|update) [a-z]{1,2}-?(?P<code>\d{1,3})\b",  # "firmware F31"
    re.IGNORECASE,
)
_PARTS = 4  # passages of one entry: what was added, changed, mended, removed


@dataclass(frozen=True, slots=True)
class _Entry:
    """A version with what stands under its heading."""

    order: tuple[str, tuple[int, ...]]
    evidence: Evidence
    units: tuple[Unit, ...]


def asks_for_newest(question: str) -> bool:
    """Whether the newest of several versions is asked for."""
    return bool(_ASKS.search(question))


def named_version(question: str) -> str:
    """The number of the version that a question names, such as 2.4.0; empty where it names none."""
    found = _NUMBER.search(question)
    return found["number"] or found["code"] if found else ""


def asked_alone(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """The evidence that tells of the newest version, where nothing is asked but what that is and what it brings.

    No sentence of it has the question's words: what is new in the latest release is whatever stands there.
    """
    found = newest(question, evidence)
    if not found or _asks_beside(question, found[0].evidence):
        return frozenset()
    return frozenset(quotation.evidence.id for quotation in found)


def _asks_beside(question: str, item: Evidence) -> bool:
    """Whether something else is asked than which version of the document that is, when it came and what it brought."""
    bare = _NUMBER.sub(" ", question)
    return bool(set(topic_words(bare)) - _SAID_OF_ANY - _place_of(item))


def _place_of(item: Evidence) -> frozenset[str]:
    """The words of the title, and of the heading over a table: "List of LTS releases"."""
    return frozenset(content_words(" ".join((item.passage.title, *item.passage.heading[-1:]))))


def newest(question: str, evidence: Sequence[Evidence], weighed: Sequence[ScoredUnit] = ()) -> tuple[Quotation, ...]:
    """What the newest version says, or the one that is named, where a document that fits tells of several.

    Where more is asked than that, what of it answers, by what was weighed.
    """
    named = named_version(question)
    if not named and not asks_for_newest(question):
        return ()
    wanted = set(topic_words(question))
    documents: dict[str, list[_Entry]] = {}
    for item in evidence:
        for entry in _entries(item):
            documents.setdefault(item.passage.document, []).append(entry)
    telling = [entries for entries in documents.values() if len({entry.order for entry in entries}) >= _ENTRIES]
    best = _told_by(named, wanted, telling) if named else _titled(wanted, [*telling, *_families(evidence)])
    if best is None:
        return ()
    orders = sorted({entry.order for entry in best}, reverse=True)
    order = _order_of(named, best) if named else orders[1 if _BEFORE_NEWEST.search(question) else 0]
    found = {entry.evidence.id: entry for entry in best if entry.order == order}
    if not found or (named and _asks_beside(question, best[0].evidence)):
        return ()
    parts = sorted(found.values(), key=lambda entry: entry.evidence.passage.ordinal)[:_PARTS]
    if _asks_beside(question, best[0].evidence) and (answering := _answering(parts, weighed)):
        return answering
    return tuple(Quotation(entry.evidence, entry.units[:_SHOWN]) for entry in parts)


def _titled(wanted: AbstractSet[str], telling: Sequence[list[_Entry]]) -> list[_Entry] | None:
    """What tells of versions and has most of what is asked for over it; None where none has any of it."""

    def overlap(entries: Sequence[_Entry]) -> int:
        return len(wanted & _place_of(entries[0].evidence))

    best = max(telling, key=overlap, default=None)
    return best if best and overlap(best) else None


def _told_by(number: str, wanted: AbstractSet[str], telling: Sequence[list[_Entry]]) -> list[_Entry] | None:
    """What tells of the version of this number: by its title, else the only one that says when that came.

    A clause 3.3 has no day, as a release has.
    """
    orders = [(entries, order) for entries in telling if (order := _order_of(number, entries))]
    dated = [entries for entries, order in orders if order[0]]
    return _titled(wanted, [entries for entries, _ in orders]) or (dated[0] if len(dated) == 1 else None)


def _order_of(number: str, entries: Sequence[_Entry]) -> tuple[str, tuple[int, ...]] | None:
    """The day and number under which a version stands among these, with its day where any of them states one."""
    wanted = tuple(int(part) for part in number.split("."))
    return max((entry.order for entry in entries if entry.order[1] == wanted), default=None)


def _answering(entries: Sequence[_Entry], weighed: Sequence[ScoredUnit]) -> tuple[Quotation, ...]:
    """The unit of these entries that is likeliest to answer, where it is likelier than not."""
    own = {(entry.evidence.id, unit) for entry in entries for unit in entry.units}
    likely = [one for one in weighed if (one.evidence.id, one.unit) in own and one.odds > 0]
    best = max(likely, key=lambda one: one.odds, default=None)
    return (Quotation(best.evidence, (best.unit,)),) if best else ()


def _families(evidence: Sequence[Evidence]) -> Iterator[list[_Entry]]:
    """Documents of one title but for its number, each with what was found of it first: a release's notes."""
    families: dict[str, dict[str, Evidence]] = {}
    for item in evidence:
        members = families.setdefault(series(item.passage), {})
        known = members.get(item.passage.document)
        if known is None or item.passage.ordinal < known.passage.ordinal:
            members[item.passage.document] = item
    for members in families.values():
        if len(members) >= _ENTRIES and all(item.passage.dated for item in members.values()):
            yield [
                _Entry(
                    (item.passage.dated, ()),
                    item,
                    units(item.passage.text),
                )
                for item in members.values()
            ]


def _entries(item: Evidence) -> Iterator[_Entry]:
    """The versions that a passage has: under its heading, under small headings, or each after a line of its own."""
    groups: dict[str, list[Unit]] = {}
    heading = version_heading(item.passage.heading)
    opening = ""
    for unit in units(item.passage.text):
        if unit.form is Form.ROW and _OF_VERSIONS.search(unit.head[0].split("|")[1] if unit.head else ""):
            yield from _row_entry(item, unit)
            continue
        if unit.form is Form.SENTENCE and _VERSION.match(unit.text):
            opening = unit.text
        over = unit.under if _of_version(unit.under) or not (opening or _of_version(heading)) else opening
        groups.setdefault(over or heading, []).append(unit)
    for told, members in groups.items():
        if number := _of_version(told):
            rest = told.replace(number[0], " ")  # 3.3 is no day
            dated = stated_date(f"Released {told}") or stated_date(told) or stated_date(rest)
            yield _Entry((dated, tuple(int(part) for part in number[1].split("."))), item, tuple(members))


def _of_version(told: str) -> re.Match[str] | None:
    return _VERSION.match(told) or _NAMED_VERSION.search(told)


def version_heading(headings: Sequence[str]) -> str:
    """The heading that says of which version a section is, perhaps above "Added" and "Changed"; else the last."""
    numbered = (one for one in reversed(headings[-2:]) if _VERSION.match(one) and "." in one)
    return next(numbered, "".join(headings[-1:]))


def _row_entry(item: Evidence, unit: Unit) -> Iterator[_Entry]:
    """The version that a row of a table of versions is of."""
    names, cells = cells_of(unit.head[0]), cells_of(unit.text)
    if number := _VERSION.match(cells[0]) or _OF_PRODUCT.match(cells[0]):
        ends = len(names) > 1 and _ENDS.search(names[1])  # "Supported until" is not when it came
        dated = stated_date(f"Released {cells[1].strip('*_` ')}") if len(cells) > 1 and not ends else ""
        yield _Entry((dated, tuple(int(part) for part in number[1].split("."))), item, (unit,))
