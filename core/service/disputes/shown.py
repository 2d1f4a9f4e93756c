"""A dispute in an answer: both values with date and place, the newer first, above what else the answer says."""

import asyncio
import logging
from dataclasses import dataclass, replace

from core.agent.citations import citation, source_links
from core.agent.outcomes import running_text
from core.agent.run import Run
from core.model.answer import Answer, Citation, Dispute, Outcome
from core.model.answer_links import without_foreign_links
from core.model.events import AgentCompleted, AgentEvent
from core.model.evidence import Evidence
from core.model.languages import language_of
from core.model.text import without_markers, words
from core.service.disputes.detection import Disagreement, find_disagreement
from core.service.disputes.statements import Statement

SECONDS = 3.0  # that comparing may hold an answer up at most
MOST_QUOTED = 300  # characters

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Wording:
    """How a dispute is said. ``source`` takes a title and where it is, ``says`` a source, a quote and a number."""

    differ: str
    undated: str
    newer: str
    older: str
    says: str


_WORDINGS = {
    "en": _Wording(
        "**Two sources differ.**",
        "**Two sources differ**, and their dates don't say which is newer.",
        "The newer one, {}, says",
        "The older one, {}, says",
        "{} says",
    ),
    "de": _Wording(
        "**Zwei Quellen widersprechen sich.**",
        "**Zwei Quellen widersprechen sich**, und welche neuer ist, sagen sie nicht.",
        "In der neueren, {}, steht",
        "In der älteren, {}, steht",
        "In {} steht",
    ),
    "fr": _Wording(
        "**Deux sources se contredisent.**",
        "**Deux sources se contredisent**, et leurs dates ne disent pas laquelle est la plus récente.",
        "La plus récente, {}, dit",
        "La plus ancienne, {}, dit",
        "{} dit",
    ),
    "es": _Wording(
        "**Dos fuentes se contradicen.**",
        "**Dos fuentes se contradicen**, y sus fechas no dicen cuál es más reciente.",
        "La más reciente, {}, dice",
        "La más antigua, {}, dice",
        "{} dice",
    ),
}


async def with_dispute(run: Run, event: AgentEvent) -> AgentEvent:
    """Return the event; of an answer whose sources another one contradicts, with both values said first.

    Where comparing takes too long or fails, the answer comes without it, and that is logged.
    """
    if not isinstance(event, AgentCompleted) or event.answer.outcome is not Outcome.ANSWERED:
        return event
    library, question = run.inquiry.library, run.inquiry.standalone
    try:
        async with asyncio.timeout(SECONDS):
            found = await asyncio.to_thread(find_disagreement, question, event.answer, library)
        return event if found is None else replace(event, answer=_shown(run, event.answer, found))
    except TimeoutError:
        log.warning("no_disputes", extra={"trace_id": run.inquiry.id, "reason": "timeout"})
    except Exception:
        log.warning("no_disputes", exc_info=True, extra={"trace_id": run.inquiry.id, "reason": "error"})
    return event


def _shown(run: Run, answer: Answer, found: Disagreement) -> Answer:
    citations = list(answer.citations)
    newer, older = (_cited(run, one, citations) for one in (found.newer, found.older))
    dispute = Dispute(newer, older, _quote(found.newer), _quote(found.older), found.dated)
    said = dispute_text(dispute, citations, language_of(run.inquiry.question))
    items = [item for one in citations if (item := run.inquiry.library.get(one.evidence)) is not None]
    safe = without_foreign_links(said, source_links(run.inquiry.library, items, run.deps.link_hosts))
    rest = _without_repeated(answer.text, (found.newer.text, found.older.text))
    return replace(answer, text="\n\n".join(filter(None, (safe, rest))), citations=tuple(citations), dispute=dispute)


def dispute_text(dispute: Dispute, citations: list[Citation], language: str) -> str:
    """Say both values, the newer first, each with the title, date and place of its source."""
    wording = _WORDINGS[language]
    by_number = {one.n: one for one in citations}
    leads = (wording.newer, wording.older) if dispute.dated else (wording.says, wording.says)
    sides = ((dispute.newer, dispute.newer_says), (dispute.older, dispute.older_says))
    parts = [wording.differ if dispute.dated else wording.undated]
    for lead, (number, quote) in zip(leads, sides, strict=True):
        parts.append(f"{lead.format(_named(by_number[number]))}: “{quote}” [{number}]")
    return "\n\n".join((parts[0], "\n".join(f"- {part}" for part in parts[1:])))


def _named(source: Citation) -> str:
    where = ", ".join(filter(None, (source.dated, source.short_place if source.short_place != source.title else "")))
    return f"*{source.title}*" + (f" ({where})" if where else "")


def _quote(statement: Statement) -> str:
    said = running_text(statement.quote)
    return said if len(said) <= MOST_QUOTED else f"{said[: MOST_QUOTED - 1]}…"


def _cited(run: Run, statement: Statement, citations: list[Citation]) -> int:
    """Return the number of the citation of a statement's passage, which is added where there is none."""
    for one in citations:
        if one.passage == statement.source.passage.id:
            return one.n
    item = _in_library(run, statement.source)
    citations.append(citation(len(citations) + 1, item, run.inquiry.standalone, (statement.text,)))
    return citations[-1].n


def _in_library(run: Run, item: Evidence) -> Evidence:
    if not item.id:  # found behind what was looked at
        library, added = run.inquiry.library.add([item.hit], run.inquiry.standalone)
        run.update(library=library)
        return added[0]
    return item


def _without_repeated(text: str, said: tuple[str, ...]) -> str:
    """Return the paragraphs of an answer that are not just a quote of what the dispute quotes already."""
    known = [" ".join(words(one)).casefold() for one in said]
    kept = [
        part
        for part in text.split("\n\n")
        if (plain := " ".join(words(without_markers(part))).casefold()) not in known or not plain
    ]
    return "\n\n".join(kept).strip()
