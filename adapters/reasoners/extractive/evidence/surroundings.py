"""What stands around a sentence in its passage, to be read and quoted with it.

What a sentence is about often stands in the one before it, and what holds for it in the one after: "The database to
use. Default: sqlite."
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, takewhile, zip_longest

from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from core.model.passage_units import Form, Unit, in_context, units

_CHARACTERS = 350  # what the reader reads at once, but for the headings above
_PROSE = {Form.SENTENCE, Form.ITEM}


def stretch_around(one: ScoredUnit) -> tuple[Unit, ...]:
    """The unit with as many sentences and items before and after it, by turns, as are read at once; in their order."""
    everything = units(one.evidence.passage.text)
    if one.unit.form not in _PROSE or one.unit not in everything:
        return (one.unit,)
    at = everything.index(one.unit)
    before = takewhile(lambda place: everything[place].form in _PROSE, range(at - 1, -1, -1))
    after = takewhile(lambda place: everything[place].form in _PROSE, range(at + 1, len(everything)))
    stretch, length = [at], len(one.unit.text)
    for beside in _by_turns(before, after):
        length += len(everything[beside].text) + 1
        if length > _CHARACTERS:
            break
        stretch.append(beside)
    return tuple(everything[place] for place in sorted(stretch))


def is_whole(one: ScoredUnit, stretch: Sequence[Unit]) -> bool:
    """Whether a stretch is all that its passage says."""
    return len(stretch) == len(units(one.evidence.passage.text))


def text_of_stretch(one: ScoredUnit, stretch: Sequence[Unit]) -> str:
    """The stretch below its headings, as a reader reads it."""
    joined = Unit(" ".join(unit.text for unit in stretch), Form.SENTENCE, one.unit.block, under=one.unit.under)
    return in_context(one.evidence.passage, joined)


def _by_turns(before: Iterable[int], after: Iterable[int]) -> Iterator[int]:
    return (place for place in chain.from_iterable(zip_longest(before, after)) if place is not None)
