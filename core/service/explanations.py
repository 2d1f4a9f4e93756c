"""How an answer came about, for readers of its sources: *Why*, ``/footnote why`` and a plain "why".

It explains the last answer of a thread, or the answer of a given trace.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import assert_never

from core.model.answer import Answer
from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    GenerationCompleted,
    GenerationStarted,
    GradingCompleted,
    HallucinationChecked,
    Noticed,
    QueryRefined,
    RerankingCompleted,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
    TracedEvent,
)
from core.ports.memory import Memory
from core.ports.usage import TraceStore


def describe_event(event: AgentEvent) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm for each event is the point
    """Return an event in words, with its numbers."""
    match event:
        case AgentStarted():
            verb = "taken up again" if event.resumed else "asked"
            return f"“{event.question}” {verb}; profile {event.profile}, reasoner {event.reasoner}"
        case RoutingDecided():
            what = "search for " + "; ".join(event.queries) if event.needs_retrieval else "no search"
            return f"{what} ({event.reason})" if event.reason else what
        case RetrievalStarted():
            return f"search {event.iteration}: {event.query}" + (f" in {event.where}" if event.where else "")
        case RetrievalCompleted():
            legs = f"{event.vector_results} by meaning, {event.bm25_results} by words"
            found = f"{event.total_docs} kept, {event.new} new, {event.duration_ms:.0f} ms"
            return event.note or f"search {event.iteration}: {legs}; {found}: {', '.join(event.sources[:5])}"
        case RerankingCompleted():
            return f"{event.candidates} reranked, {event.duration_ms:.0f} ms"
        case GradingCompleted():
            graded = f"{event.relevant} of {event.total} relevant, average grade {event.average}"
            return " · ".join((f"{graded}, {event.duration_ms:.0f} ms", *event.why))
        case QueryRefined():
            return f"next: {event.refined} ({event.reason})"
        case CheckpointReached():
            choices = " / ".join(choice.label for choice in event.checkpoint.choices)
            return f"asked how to continue: {event.checkpoint.message} [{choices}]"
        case GenerationStarted():
            return f"writing from {event.evidence} pieces of evidence"
        case AnswerDelta():
            return event.text
        case AnswerReset():
            return f"the text starts again: {event.reason}"
        case GenerationCompleted():
            counts = _counts((event.citations, "citation", "citations"), (event.tokens, "token", "tokens"))
            return f"{counts or 'nothing cited'}, {event.duration_ms:.0f} ms"
        case HallucinationChecked():
            supported = "" if event.is_grounded else f"{event.confidence:.0%} of the claims supported, "
            return f"{_check_result(event)} ({supported}{event.duration_ms:.0f} ms)"
        case Noticed():
            return event.text
        case AgentCompleted():
            return _outcome(event.answer)
        case AgentFailed():
            return event.message
        case _:
            assert_never(event)


def _counts(*counted: tuple[int, str, str]) -> str:
    """Return each nonzero number with its noun, which is given in singular and plural."""
    return ", ".join(f"{number:,} {one if number == 1 else several}" for number, one, several in counted if number)


def _check_result(event: HallucinationChecked) -> str:
    if event.is_grounded:
        return "quoted word for word" if event.word_for_word else "every sentence is supported"
    return f"not supported by the documents: {'; '.join(event.hallucinated_claims)}"


def _outcome(answer: Answer) -> str:
    """Return how an inquiry ended, what it cost, and why it was not answered."""
    spent = answer.spent
    cost = _counts(
        (spent.searches, "search", "searches"),
        (spent.calls, "model call", "model calls"),
        (spent.tokens, "token", "tokens"),
    )
    causes = "".join(f"; {cause}" for cause in answer.causes)
    return f"{answer.outcome}: {', '.join(filter(None, (cost, f'{spent.seconds:.2f} s')))}{causes}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _routing_sentence(event: RoutingDecided) -> str:
    why = f" ({event.reason})" if event.reason else ""
    if not event.needs_retrieval:
        return f"I answered without a search{why}."
    said = f"I decided to search for: {'; '.join(event.queries)}{why}"
    return said if said.endswith((".", "?", "!")) else f"{said}."


def _search_sentence(event: RetrievalCompleted) -> str:
    """Return what was searched or read and how many passages it found."""
    where = ", ".join(event.sources[:3])
    if event.note and not where:
        return event.note if event.note.endswith((".", "?", "!")) else f"{event.note}."
    passages = "1 new passage" if event.new == 1 else f"{event.new} new passages"
    if event.note:
        return f"I read more in {where}: {passages if event.new else 'nothing new'}."
    return f"I searched “{event.query}”: {f'{passages} from {where}' if event.new else 'nothing new'}."


def explanation_steps(events: Sequence[TracedEvent]) -> tuple[str, ...]:
    """Return one sentence each for how the question was understood, what was searched and found, and how it ended."""
    lines: list[str] = []
    for traced in events:
        match traced.event:
            case RoutingDecided() as event:
                lines.append(_routing_sentence(event))
            case RetrievalCompleted() as event:
                lines.append(_search_sentence(event))
            case GradingCompleted() as event:
                passages = "passage" if event.total == 1 else "passages"
                lines.append(f"{event.relevant} of {event.total} {passages} counted as evidence.")
            case HallucinationChecked() as event:
                lines.append(_sentence(_check_result(event)))
            case CheckpointReached() as event:
                lines.append(_sentence(f"I asked how to continue: {event.checkpoint.message}"))
            case AgentCompleted() as event:
                lines.append(_sentence(_outcome(event.answer)))
            case AgentFailed() as event:
                lines.append(_sentence(event.message))
            case _:
                pass
    return tuple(lines)


NOTHING_ANSWERED = "I have not answered anything here that I can explain."
NO_TRACE = "I no longer have the steps of that answer."
_WHY = re.compile(r"(?i)^\W*(?:please\s+)?why\W*(?:please)?\W*$")


def asks_why(text: str) -> bool:
    """Return whether a message to us, without our mention, only asks why: how the last answer came about."""
    return _WHY.match(text) is not None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the answer of a trace came about: a sentence for each step."""

    question: str
    steps: tuple[str, ...]
    trace_id: str


async def explain_answer(
    memory: Memory,
    trace_store: TraceStore,
    thread: ThreadKey,
    visible: Collection[str],
    *,
    trace_id: str = "",
    asker: str = "",
) -> Explanation:
    """Return how an answer came about: that of this trace, or the last one in the thread that the reader may read.

    ``visible`` are the names of the bases that the reader may read. With ``asker``, only this person's questions count,
    for places where only the asker sees an answer. Raises NotFound if there is none, or its trace no longer exists.
    """
    readable = [
        turn
        for turn in (await memory.recall(thread)).turns
        if turn.readable_by(frozenset(visible)) and trace_id in {"", turn.trace_id} and asker in {"", turn.asker.id}
    ]
    if not readable:
        raise NotFound(NOTHING_ANSWERED)
    last = readable[-1]
    steps = explanation_steps(await trace_store.trace(last.trace_id))
    if not steps:
        raise NotFound(NO_TRACE)
    return Explanation(last.question, steps, last.trace_id)
