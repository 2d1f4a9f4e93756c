"""Disputes in answers: both values with date and place, the newer first, above the rest of the answer."""

import asyncio
import logging
from dataclasses import dataclass, replace

from core.agent.citations import citation, source_links
from core.agent.outcomes import running_text
from core.agent.run import Run
from core.model.answer import Answer, Citation, Dispute, Outcome
from core.model.answer_links import without_foreign_links
from core.model.events import AgentCompleted, AgentEvent
from core.model.evidence import Evidence, EvidenceLibrary
from core.model.languages import language_of
from core.model.plain_text import clipped
from core.model.text import without_markers, words
from core.ports.job_store import DisputedSource
from core.service.disputes.decisions import DECISION, decision_text, settles
from core.service.disputes.detection import Disagreement, find_disagreement
from core.service.disputes.statements import Statement

SECONDS = 3.0  # the longest delay of an answer
MOST_QUOTED = 300  # characters

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Wording:
    """The phrases for a dispute. ``newer``, ``older`` and ``says`` take a source's title with its date and place."""

    differ: str
    undated: str
    newer: str
    older: str
    says: str
    decided: str


_WORDINGS = {
    "en": _Wording(
        "**Two sources differ.**",
        "**Two sources differ**, and their dates don't say which is newer.",
        "The newer one, {}, says",
        "The older one, {}, says",
        "{} says",
        "**An admin has decided between two sources.**",
    ),
    "de": _Wording(
        "**Zwei Quellen widersprechen sich.**",
        "**Zwei Quellen widersprechen sich**, und welche neuer ist, sagen sie nicht.",
        "In der neueren, {}, steht",
        "In der älteren, {}, steht",
        "In {} steht",
        "**Zwischen zwei Quellen ist entschieden.**",
    ),
    "fr": _Wording(
        "**Deux sources se contredisent.**",
        "**Deux sources se contredisent**, et leurs dates ne disent pas laquelle est la plus récente.",
        "La plus récente, {}, dit",
        "La plus ancienne, {}, dit",
        "{} dit",
        "**Entre deux sources, une décision a été prise.**",
    ),
    "es": _Wording(
        "**Dos fuentes se contradicen.**",
        "**Dos fuentes se contradicen**, y sus fechas no dicen cuál es más reciente.",
        "La más reciente, {}, dice",
        "La más antigua, {}, dice",
        "{} dice",
        "**Entre dos fuentes, se ha tomado una decisión.**",
    ),
}


async def with_dispute(run: Run, event: AgentEvent) -> AgentEvent:
    """Return an answer with a contradiction of its sources stated first; any other event unchanged.

    An error or a timeout is logged, and the answer stays as it was.
    """
    if not isinstance(event, AgentCompleted) or event.answer.outcome is not Outcome.ANSWERED:
        return event
    library, question = run.inquiry.library, run.inquiry.standalone
    try:
        async with asyncio.timeout(SECONDS):
            found = await asyncio.to_thread(_compare, question, event.answer, library)
        match found:
            case Evidence():
                return replace(event, answer=_with_decision(run, event.answer, found))
            case Disagreement():
                return replace(event, answer=_shown(run, event.answer, found))
    except TimeoutError:
        log.warning("no_disputes", extra={"trace_id": run.inquiry.id, "reason": "timeout"})
    except Exception:
        log.exception("no_disputes", extra={"trace_id": run.inquiry.id})
    return event


def _compare(question: str, answer: Answer, library: EvidenceLibrary) -> Disagreement | Evidence | None:
    """Return the clearest undecided disagreement, otherwise a decision that the answer does not cite."""
    everything = (*library.items, *(Evidence(0, hit, "") for hit in library.further))
    decisions = [item for item in everything if item.passage.source.startswith(DECISION)]
    decided: Evidence | None = None
    while (found := find_disagreement(question, answer, library)) is not None:
        both = (found.newer, found.older)
        sides = tuple(map(_side, both))
        holds = next((one for one in decisions if settles(one.passage.source, sides)), None)
        settled = {one.source.passage.id for one in both if holds and one.source.passage.source != holds.passage.source}
        if holds is None or not settled:
            return found
        decided = decided or holds
        library = EvidenceLibrary(
            tuple(item for item in library.items if item.passage.id not in settled),
            tuple(hit for hit in library.further if hit.passage.id not in settled),
        )
    if decided is None or any(one.passage == decided.passage.id for one in answer.citations):
        return None
    return decided


def _side(statement: Statement) -> DisputedSource:
    passage = statement.source.passage
    return DisputedSource(
        passage.knowledge_base, passage.source, passage.title, _clipped(statement.quote), passage.dated
    )


def _with_decision(run: Run, answer: Answer, decision: Evidence) -> Answer:
    """Return the answer below an admin's decision between its source and another one."""
    citations = list(answer.citations)
    text = decision_text(decision.passage.text)
    number, wording = _cited(run, decision, text, citations), _WORDINGS[language_of(run.inquiry.question)]
    named = _named(next(one for one in citations if one.n == number))
    said = f"{wording.decided} {wording.says.format(named)}: “{_clipped(text)}” [{number}]"
    return _headed(run, answer, citations, said, (text,))


def _shown(run: Run, answer: Answer, found: Disagreement) -> Answer:
    citations = list(answer.citations)
    newer, older = (_cited(run, one.source, one.text, citations) for one in (found.newer, found.older))
    dispute = Dispute(newer, older, _clipped(found.newer.quote), _clipped(found.older.quote), found.dated)
    said = dispute_text(dispute, citations, language_of(run.inquiry.question))
    return replace(_headed(run, answer, citations, said, (found.newer.text, found.older.text)), dispute=dispute)


def _headed(run: Run, answer: Answer, citations: list[Citation], said: str, quoted: tuple[str, ...]) -> Answer:
    """Return the answer below ``said``, without paragraphs that only repeat its quotes."""
    items = [item for one in citations if (item := run.inquiry.library.get(one.evidence)) is not None]
    safe = without_foreign_links(said, source_links(run.inquiry.library, items, run.deps.link_hosts))
    rest = _without_repeated(answer.text, quoted)
    return replace(answer, text="\n\n".join(filter(None, (safe, rest))), citations=tuple(citations))


def dispute_text(dispute: Dispute, citations: list[Citation], language: str) -> str:
    """Return both values, the newer first, each with the title, date and place of its source."""
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


def _clipped(quote: str) -> str:
    return clipped(running_text(quote), MOST_QUOTED)


def _cited(run: Run, source: Evidence, text: str, citations: list[Citation]) -> int:
    """Return the number of a passage's citation. Adds one that quotes ``text`` if there is none."""
    for one in citations:
        if one.passage == source.passage.id:
            return one.n
    item = _in_library(run, source)
    citations.append(citation(len(citations) + 1, item, run.inquiry.standalone, (text,)))
    return citations[-1].n


def _in_library(run: Run, item: Evidence) -> Evidence:
    if not item.id:  # found, but not yet part of the evidence
        library, added = run.inquiry.library.add([item.hit], run.inquiry.standalone)
        run.update(library=library)
        return added[0]
    return item


def _without_repeated(text: str, said: tuple[str, ...]) -> str:
    """Return an answer without the paragraphs that only repeat what the dispute quotes."""
    known = [" ".join(words(one)).casefold() for one in said]
    kept = [
        part
        for part in text.split("\n\n")
        if (plain := " ".join(words(without_markers(part))).casefold()) not in known or not plain
    ]
    return "\n\n".join(kept).strip()
