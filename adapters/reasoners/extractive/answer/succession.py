"""What a document says that nobody replaced, though what it repeats was: the help page that still has the old policy.

Such a page is no version of the policy and calls itself nothing, so that only what it says tells: the same, with the
same figures, as a superseded document, and it is older than that one's successor. There the successor is quoted first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.figures import figures_in
from adapters.reasoners.extractive.evidence.superseded import has_most_words_of
from adapters.reasoners.extractive.evidence.versions import family, other_version
from adapters.reasoners.extractive.question.answer_type import fits, is_strict
from core.model.evidence import Evidence
from core.model.passage_units import Unit, units

_MOST = 3  # sentences or items of the successor


@dataclass(frozen=True, slots=True)
class Succession:
    """What the successor says, and the quotations of what is older than it and says what it replaced."""

    successor: tuple[Quotation, ...]
    replaced: tuple[Quotation, ...]


def succession_of(need: str, quotations: Sequence[Quotation], pool: Sequence[Evidence]) -> Succession | None:
    """What replaced the content of some quotations; None where nothing did, or no figure or date is asked for."""
    if not is_strict(need):
        return None
    replaced = [one for one in quotations if list(_successors(need, one, pool))]
    if not replaced:
        return None
    new = {item.passage.document for one in replaced for item, _ in _successors(need, one, pool)}
    kept = tuple(one for one in quotations if one not in replaced)
    if not any(one.evidence.passage.document in new for one in kept):
        said: dict[int, list[Unit]] = {}
        items: dict[int, Evidence] = {}
        for item, unit in [found for one in replaced for found in _successors(need, one, pool)][:_MOST]:
            items[item.id] = item
            said.setdefault(item.id, []).append(unit)
        kept = (*(Quotation(items[known], tuple(found)) for known, found in said.items()), *kept)
    return Succession(kept, tuple(replaced))


def _successors(need: str, quoted: Quotation, pool: Sequence[Evidence]) -> Iterator[tuple[Evidence, Unit]]:
    """What newer documents say of what is quoted, whose superseded versions have it as it is quoted."""
    passage = quoted.evidence.passage
    if not passage.dated:
        return
    for item in pool:
        if item.passage.dated <= passage.dated or other_version(need, item, pool):
            continue
        old = [one for one in pool if _is_superseded_by(item, one, need, pool)]
        for said in quoted.units:
            figures = figures_in(said.text)
            if not figures or not any(_repeats(said, unit, figures) for one in old for unit in units(one.passage.text)):
                continue
            for unit in units(item.passage.text):
                same = has_most_words_of(said.text, unit.text)
                if same and fits(need, unit.text) == 1.0 and not figures & figures_in(unit.text):
                    yield item, unit


def _is_superseded_by(new: Evidence, old: Evidence, need: str, pool: Sequence[Evidence]) -> bool:
    """Whether it is a version of the same document that no longer holds."""
    same = family(old.passage) == family(new.passage) and old.passage.document != new.passage.document
    return same and other_version(need, old, pool)


def _repeats(said: Unit, old: Unit, figures: frozenset[str]) -> bool:
    return figures <= figures_in(old.text) and has_most_words_of(said.text, old.text)
