"""Composition of an answer from verbatim quotes, by need and document, each with the id of its evidence.

Every factual statement is a quote. The lines between quotes only name documents, and say what was not found or which
document calls itself out of date. ``selection`` chooses the quotes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from adapters.reasoners.extractive.candidates import ScoredUnit, says_something
from adapters.reasoners.extractive.compose.quote_markdown import Quotation, render, render_quotation
from adapters.reasoners.extractive.compose.selection import choose_quotations
from adapters.reasoners.extractive.decide.versions import calls_itself_outdated, family
from adapters.reasoners.extractive.tables.aggregation import aggregation_of
from adapters.reasoners.extractive.tables.computed_answer import compute_answer
from adapters.reasoners.extractive.tables.releases import releases_that_answer
from adapters.reasoners.extractive.tables.rows import TableAnswer
from adapters.reasoners.extractive.understand.intent import Intent, kind_of, split_question
from adapters.reasoners.extractive.understand.query_translation import note_of_translation
from core.model.answer import Outcome
from core.model.conversation import Thread
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry
from core.model.knowledge import Passage, list_titles
from core.model.languages import language_of
from core.model.markdown_lines import without_links
from core.model.passage_units import units
from core.model.text import without_markers, words
from core.ports.reasoner import DraftRemark

_QUOTES = 3  # for one need, without the units that complete them
_QUOTES_OF_MANY = 2  # for each of several needs
MOST_AROUND = 8  # units of quoted passages
MOST_BESIDE = 3  # units of other passages


def compose(
    inquiry: Inquiry,
    thread: Thread,
    evidence: Sequence[Evidence],
    found: Sequence[tuple[str, Sequence[ScoredUnit]]],
    asked_for: str,
) -> Iterator[str]:
    """Return the answer in pieces: the quotes, the documents on a topic, or more of what was quoted before.

    ``asked_for`` is the question before translation and spelling correction.
    """
    ranked = found[0][1]
    if (asked := split_question(inquiry.question)).lists_documents:
        yield from list_documents(asked.question, ranked)
    elif kind_of(inquiry.question, in_thread=bool(thread.turns)) is not Intent.MORE:
        yield from answer(inquiry, found)
    elif further := quote_more(thread, evidence, ranked):
        yield from render(further)
    else:
        titles = list_titles(hit.passage.title for hit in inquiry.library.further)
        unread = f" Next in the search, and not quoted, came {titles}." if titles else ""
        yield DraftRemark(f"I found nothing more on this.{unread} Once more:\n\n")
        yield from answer(inquiry, found)
    quoted = next((one.evidence.passage.text for one in ranked), "")
    if language_of(quoted) == "en" and (note := note_of_translation(asked_for, inquiry.standalone)):
        yield DraftRemark(note)


def quote_files(question: str, ranked: Sequence[ScoredUnit], files: Sequence[Evidence]) -> str:
    """Return quotes from files without citation marks, because a mark cannot link to a file."""
    return without_markers("".join(render(choose_quotations(question, ranked, _QUOTES, files)))).strip()


def answer(inquiry: Inquiry, found: Sequence[tuple[str, Sequence[ScoredUnit]]]) -> Iterator[str]:
    """Yield the whole answer in pieces, from the scored candidates of each need."""
    if inquiry.caveats:
        yield DraftRemark("This may not answer your question. It is the closest I found:\n\n")
    computed = [_worked_out(need, inquiry) for need, _ in found]
    limit = _QUOTES if len(found) == 1 else _QUOTES_OF_MANY
    used: list[Quotation] = []
    for (need, weighed_units), worked_out in zip(found, computed, strict=True):
        quotations: Sequence[Quotation] = (
            worked_out.quotations
            if worked_out
            else choose_quotations(need, weighed_units, limit, inquiry.library.items_found())
        )
        if len(found) > 1:
            yield DraftRemark(f"On “{need}”:\n\n")
        if not quotations:
            yield DraftRemark(f"I found nothing in the documents about “{need.rstrip('?')}”.\n\n")
        if worked_out and worked_out.lead:
            yield DraftRemark(f"{worked_out.lead}\n\n")
        yield from render(quotations)
        used.extend(quotations)
    yield from _remarks(inquiry, used)


def list_documents(topic: str, found: Sequence[ScoredUnit]) -> Iterator[str]:
    """Yield the documents on a topic, each with its best sentence."""
    best: dict[str, ScoredUnit] = {}
    for one in found:
        best.setdefault(one.evidence.passage.document, one)
    count = "1 document speaks" if len(best) == 1 else f"{len(best)} documents speak"
    yield DraftRemark(f"{count} of “{topic.rstrip('?. ')}”:\n\n")
    for one in best.values():
        quote = Quotation(one.evidence, (one.unit,))
        yield f"*{one.evidence.passage.title}*:\n\n{render_quotation(quote)}"


def _worked_out(need: str, inquiry: Inquiry) -> TableAnswer | None:
    """Return the answer of a changelog or a whole table, if the question asks for one."""
    found = inquiry.library.items_found()
    sections = {item.passage.section for item in inquiry.library.relevant(inquiry.cutoff)}
    tables = [item for item in found if item.passage.section in sections]  # a table may be split over several passages
    return releases_that_answer(need, found) or compute_answer(need, aggregation_of(need), tables, found)


def _remarks(inquiry: Inquiry, used: Sequence[Quotation]) -> Iterator[str]:
    """Yield remarks on other versions and on outdated documents."""
    documents = tuple({one.evidence.passage.document: one.evidence for one in used}.values())
    shown = {unit.text.lstrip("> ") for one in used for unit in one.units}
    yield from _versions(documents)
    yield from _other_versions(documents, inquiry)
    for item in documents:
        same = (other for other in inquiry.library if other.passage.document == item.passage.document)
        for said in map(_outdated_notice, same):
            if said and said[1] not in shown:
                yield f"Mind what *{item.passage.title}* says of itself:\n\n> {said[1]} [{said[0]}]\n\n"
            if said:
                break


def _versions(documents: Sequence[Evidence]) -> Iterator[str]:
    """Yield a line if two quoted documents have the same title except for its year or number."""
    families: dict[str, list[Evidence]] = {}
    for item in documents:
        families.setdefault(family(item.passage), []).append(item)
    for members in families.values():
        # A document in two bases is not two versions.
        titles = tuple(dict.fromkeys(_titled(item.passage) for item in members))
        if len(titles) > 1:
            yield DraftRemark(f"The documents differ in age: {', '.join(titles)}. Check which one applies.\n\n")


def _other_versions(documents: Sequence[Evidence], inquiry: Inquiry) -> Iterator[str]:
    """Yield a line that names found versions of a quoted document that are not quoted."""
    quoted = {item.passage.document for item in documents}
    families = {family(item.passage) for item in documents}
    others = {
        item.passage.document: item.passage
        for item in inquiry.library.relevant(inquiry.cutoff)
        if item.passage.document not in quoted and family(item.passage) in families
    }
    if others:
        yield DraftRemark(f"Not quoted, another version of it: {', '.join(map(_titled, others.values()))}.\n\n")


def _titled(passage: Passage) -> str:
    return f"*{passage.title}*" + (f" ({passage.dated})" if passage.dated else "")


def _outdated_notice(item: Evidence) -> tuple[int, str] | None:
    """Return what the passage says about its own document being out of date, with the evidence's id."""
    said = (unit.text for unit in units(item.passage.text) if calls_itself_outdated(item.passage, unit))
    found = next(said, "")
    return (item.id, found.lstrip("> ")) if found else None


def quote_more(thread: Thread, library: Iterable[Evidence], ranked: Sequence[ScoredUnit]) -> tuple[Quotation, ...]:
    """Return quotes on the thread's last question that no answer has shown yet. Empty if there are none."""
    asked = thread.last.rewritten or thread.last.question if thread.last else ""
    answered = (turn for turn in thread.turns if turn.outcome is Outcome.ANSWERED)
    answers = [turn for turn in answered if asked == (turn.rewritten or turn.question)]
    shown = _plain(" ".join(without_markers(turn.answer) for turn in answers))
    cited = {citation.passage for turn in answers for citation in turn.citations}
    around = [
        (item, unit)
        for item in library
        if item.passage.id in cited
        for unit in units(item.passage.text)
        if says_something(unit) and _plain(unit.text) not in shown
    ]
    beside = [(one.evidence, one.unit) for one in ranked if _plain(one.unit.text) not in shown]
    chosen = around[:MOST_AROUND] or beside[:MOST_BESIDE]
    grouped = groupby(chosen, key=lambda pair: pair[0])
    return tuple(Quotation(item, tuple(unit for _, unit in pairs)) for item, pairs in grouped)


def _plain(text: str) -> str:
    """Return the words alone, to check whether an answer has a quote."""
    return " ".join(words(without_links(text))).casefold()
