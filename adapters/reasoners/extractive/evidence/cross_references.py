"""Lines that link to a page which was found itself: the entry of a table of contents, a list of benefits, "see Travel".

Such a line has the words of what it links to, and a sentence to make somebody open it. Whoever asks how it works, or
for a figure, is answered on the page; whether there is such a thing, and what it is, the line says well.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.definitions import definition_asked
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from core.model.knowledge import Passage

_LINK = re.compile(r"\]\((?P<target>[^()\s#?]+)[^()]*\)")
_CLOSED = re.compile(r"^\W*(?:and |so )?(?:is|are|do|does|did|can|could|may|will|would|has|have)\b", re.IGNORECASE)
_BEHIND = 0.1  # of the best of the page


def judge_links(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """With a line that links to a found page behind what that page says, where the page has an answer."""
    if _CLOSED.match(question) or definition_asked(question):
        return list(weighed)
    best = _best_of_pages(weighed)
    found = []
    for passage in weighed:
        judged = (_behind_its_page(one, best) for one in passage.units)
        found.append(replace(passage, units=tuple(sorted(judged, key=lambda one: -one.worth))))
    return found


def _best_of_pages(weighed: Sequence[WeighedPassage]) -> Mapping[str, float]:
    """The best odds on each page, by its path without a suffix, where they make it evidence."""
    best: dict[str, float] = {}
    for found in weighed:
        page = _bare(found.evidence.passage.source)
        odds = max((one.odds for one in found.units), default=0.0)
        if odds > best.get(page, 0.0):
            best[page] = odds
    return best


def _behind_its_page(one: ScoredUnit, best: Mapping[str, float]) -> ScoredUnit:
    passage = one.evidence.passage
    said = [best[page] for page in _linked(passage, one.unit.text) if page in best and page != _bare(passage.source)]
    return with_odds(one, min(one.odds, max(said) - _BEHIND)) if said else one


def _linked(passage: Passage, text: str) -> Iterator[str]:
    """The paths that a text links to, as seen from its own page."""
    folder = posixpath.dirname(passage.source)
    for found in _LINK.finditer(text):
        yield _bare(posixpath.normpath(posixpath.join(folder, found["target"])))


def _bare(path: str) -> str:
    return posixpath.splitext(path)[0]
