"""What "show me more" adds: the rest of what was quoted from, else what comes next among the evidence.

Nothing is shown twice, however often more is asked for of one question.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from adapters.reasoners.extractive.answer.quote_markdown import Quotation
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, repeats_title, says_something
from core.model.answer import Outcome
from core.model.citation_markers import without_markers
from core.model.conversation import Thread, Turn
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.markdown_lines import without_links
from core.model.passage_units import units
from core.model.source_names import list_titles
from core.model.text import words

MOST_AROUND = 8  # units of the passages that were quoted from
MOST_BESIDE = 3  # units of others


def quote_more(thread: Thread, library: Iterable[Evidence], ranked: Sequence[ScoredUnit]) -> tuple[Quotation, ...]:
    """Quotes that the thread's last question has not been answered with yet; none where all that bears on it was."""
    answers = _answers_to_last_question(thread)
    shown = _plain(" ".join(without_markers(turn.answer) for turn in answers))
    cited = {citation.passage for turn in answers for citation in turn.citations}
    around = [
        (item, unit)
        for item in library
        if item.passage.id in cited
        for unit in units(item.passage.text)
        if says_something(unit) and not repeats_title(unit, item.passage) and _plain(unit.text) not in shown
    ]
    beside = [(one.evidence, one.unit) for one in ranked if _plain(one.unit.text) not in shown]
    chosen = around[:MOST_AROUND] or beside[:MOST_BESIDE]
    grouped = groupby(chosen, key=lambda pair: pair[0])
    return tuple(Quotation(item, tuple(unit for _, unit in pairs)) for item, pairs in grouped)


def nothing_more(library: EvidenceLibrary) -> str:
    """Said above what was quoted before; it names what else there may be to read."""
    titles = list_titles(hit.passage.title for hit in library.further)
    unread = f" Next in the search, and not quoted, came {titles}." if titles else ""
    return f"I found nothing more on this.{unread} Once more:\n\n"


def _answers_to_last_question(thread: Thread) -> list[Turn]:
    last = thread.last
    asked = last.rewritten or last.question if last else ""
    return [
        turn for turn in thread.turns if turn.outcome is Outcome.ANSWERED and asked == (turn.rewritten or turn.question)
    ]


def _plain(text: str) -> str:
    """The words alone, for looking whether a quote stands in an answer."""
    return " ".join(words(without_links(text))).casefold()
