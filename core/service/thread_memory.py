"""Thread memory: recall earlier turns, remember an answer, summarise the turns that leave the window."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.agent.run import Run
from core.model.answer import Answer
from core.model.budget import Meter
from core.model.clock import Clock
from core.model.conversation import Audience, ThreadKey, Turn
from core.model.text import content_words
from core.ports.memory import Memory, ThreadRecord
from core.ports.reasoner import Reasoner
from core.retrieval.quotes import coverage, scores
from core.service.visibility import VisibleBases

WINDOW = 8  # turns shown in full to a reasoner; older ones are summarised or recalled
FLOOR = 0.34  # share of the question's words, weighted by rarity: about one of three


@dataclass(frozen=True, slots=True)
class ThreadMemory:
    """Stores answers in their threads, and summarises turns that are too old to be shown in full."""

    memory: Memory
    bases: VisibleBases
    clock: Clock

    async def remember(self, run: Run, answer: Answer, fence: int | None) -> None:
        """Store the turn that ends with this answer, and its cited evidence. Raises LeaseLost."""
        inquiry = run.inquiry
        cited = {citation.evidence for citation in answer.citations}
        evidence = tuple(item for item in inquiry.library if item.id in cited)
        turn = Turn(
            question=inquiry.question,
            answer=answer.text,
            outcome=answer.outcome,
            asker=inquiry.asker,
            at=self.clock.now(),
            trace_id=inquiry.id,
            rewritten=inquiry.standalone if inquiry.searches else "",
            citations=answer.citations,
            knowledge_bases=_words_from(run),
        )
        await self.memory.remember(inquiry.thread, turn, evidence, fence=fence)

    async def summarise(self, key: ThreadKey, audience: Audience, reasoner: Reasoner, meter: Meter) -> None:
        """Extend the thread's summary by the turns that left the window.

        ``audience`` is who reads the thread now; the summary leaves out what they may not read.
        """
        record = await self.memory.recall(key)
        upto = record.total - WINDOW
        past = _between(record, record.summarised, upto)
        if not past:
            return
        visible = await self.bases.names(audience)
        leaving = tuple(turn for turn in past if turn.readable_by(visible))
        before = record.summary if record.summary_bases <= visible else ""
        summary = await reasoner.summarise(before, leaving, meter) if leaving else before
        bases = (record.summary_bases if before else frozenset()).union(*(turn.knowledge_bases for turn in leaving))
        await self.memory.summarise(key, summary, bases, upto)


def has_turns_to_summarise(before: ThreadRecord) -> bool:
    """Return whether the next turn pushes a turn out of the window that is not summarised yet."""
    return before.total + 1 - WINDOW > before.summarised


def recall_turns(turns: Sequence[Turn], question: str, limit: int) -> tuple[Turn, ...]:
    """Return at most ``limit`` turns that share enough with the question, oldest first."""
    texts = [content_words(f"{turn.rewritten or turn.question} {turn.answer}") for turn in turns]
    asked = content_words(question)
    ranked = scores(texts, asked)
    near = [n for n in range(len(turns)) if ranked[n] > 0 and coverage(texts, asked, set(texts[n])) >= FLOOR]
    best = sorted(near, key=lambda n: (-ranked[n], -n))[: max(0, limit)]
    return tuple(turns[n] for n in sorted(best))


def _words_from(run: Run) -> frozenset[str]:
    """Return the bases whose text a turn may contain: of all it found, and of what it may repeat from the thread."""
    thread = run.thread
    earlier = thread.summary_bases.union(*(turn.knowledge_bases for turn in (*thread.turns, *thread.recalled)))
    library = run.inquiry.library
    found = (*(item.hit for item in library.items_found()), *library.further)
    return earlier.union(hit.passage.knowledge_base for hit in found)


def _between(record: ThreadRecord, first: int, last: int) -> Sequence[Turn]:
    """Return the stored turns from number ``first`` (from 0) up to ``last``, counted over the whole thread."""
    dropped = record.total - len(record.turns)
    return record.turns[max(0, first - dropped) : max(0, last - dropped)]
