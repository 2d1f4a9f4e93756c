"""The change whose version or day a question asks for: "which release brought the waiting list".

An entry of a changelog says what is new, and its heading once with which version and when. So its lines are compared
with what is asked about alone ("what about the waiting list?"), and any other that tells no version counts less.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import doubted
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, SearchAction, SearchKnowledge
from core.model.knowledge import Passage
from core.model.passage_units import Form, Unit, units
from core.model.text import content_words

_VERSIONS = "version|release|firmware|update|edition|build"
_HELPING = r"(?:did|does|do|was|were|is|are|has|have|had|can)"
_CHANGED = (
    "introduced|added|removed|dropped|fixed|mended|changed|renamed|arrive|come in|go away|start|stop|change|move|become"
)
_ASKS_VERSION = re.compile(
    rf"^\W*(?P<since>(?:in|since|with|from|as of|by) )?(?:which|what)"
    rf" (?P<product>(?:[\w-]+ ){{0,3}}?(?:{_VERSIONS})s?\b(?: of [\w-]+)?) (?:that )?"
    r"(?:brought|introduced|added|removed|dropped|fixed|mended|changed|got|came with|first had"
    rf"|(?(since){_HELPING}|(?!)))\b(?: there)? (?P<change>.+)",
    re.IGNORECASE,
)
_ASKS_DAY = re.compile(
    rf"^\W*(?:when|since when) {_HELPING} (?P<change>.+?\b(?:{_CHANGED})\b.*)",
    re.IGNORECASE,
)
# "3.4, 8 September 2026", "F29  10 February 2026  P1 and P2", "2026.11 (3 November 2026)"; or a bare "5.2".
_ENTRY = re.compile(
    r"^\W*(?:version |release |v|[a-z]{1,2})?\d+(?:\.\d+)*\b(?=.*\b(?:19|20)\d\d\b)"
    r"|^\W*(?:version |release |v)?\d+(?:\.\d+)+\W*$",
    re.IGNORECASE,
)
_TELLS_VERSION = re.compile(rf"\b(?:{_VERSIONS}|v|since|until|from) ?\d|\b\d+\.\d+|\b(?:19|20)\d\d\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangeAsked:
    """A question for the version or day of a change, as one about the change; of which product, where it is named."""

    bare_question: str
    product: frozenset[str] = frozenset()  # stems

    def holds(self, one: ScoredUnit) -> bool:
        """Whether a unit stands in an entry of the product's changelog, or is one."""
        passage = one.evidence.passage
        return self.product <= set(content_words(_above(passage))) and _is_entry(passage.heading, one.unit)

    def doubt_others(self, units: Sequence[ScoredUnit]) -> list[ScoredUnit]:
        """What stands elsewhere, doubted where it tells no version and no year itself."""
        return [
            one if self.holds(one) or _TELLS_VERSION.search(one.unit.text) else doubted(one, weights.OTHER_NUMBER)
            for one in units
        ]


def change_asked(question: str, pool: Sequence[Evidence]) -> ChangeAsked | None:
    """The change that a question asks the version or day of, where something was found of a changelog."""
    found = _match(question)
    if found is None or not any(_is_entry(item.passage.heading, unit) for item, unit in _all_units(pool)):
        return None
    titles = set(content_words(" ".join(_above(item.passage) for item in pool)))
    product = set(content_words(found.groupdict().get("product") or "")) - _OF_ANY
    return ChangeAsked(f"what about {_change(found)}?", frozenset(product & titles))


def search_for_change(inquiry: Inquiry) -> tuple[SearchAction, ...]:
    """A search for the change alone, since what it is asked of finds whatever speaks of versions. Once."""
    found = _match(inquiry.standalone)
    return (SearchKnowledge(_change(found)),) if found and len(inquiry.searches) == 1 else ()


def _match(question: str) -> re.Match[str] | None:
    found = _ASKS_VERSION.match(question) or _ASKS_DAY.match(question)
    return found if found and content_words(found["change"]) else None


def _change(found: re.Match[str]) -> str:
    return found["change"].rstrip("?!. ")


_OF_ANY = frozenset(content_words(_VERSIONS.replace("|", " ")))


def _all_units(pool: Iterable[Evidence]) -> Iterator[tuple[Evidence, Unit]]:
    return ((item, unit) for item in pool for unit in units(item.passage.text))


def _above(passage: Passage) -> str:
    return " ".join((passage.title, *passage.heading))


def _is_entry(headings: Sequence[str], unit: Unit) -> bool:
    own = () if unit.form is Form.ROW else (unit.text.split(":")[0],)
    return any(_ENTRY.search(one) for one in (*headings[-2:], unit.under, *own))
