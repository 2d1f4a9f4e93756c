"""Exports helpful answers as document tests: their questions and the sources that they cited.

Answers with as many unhelpful as helpful ratings are left out, and so are answers whose sources are all removed. A
follow-up includes the questions before it while the thread is stored.
"""

from collections.abc import AsyncIterator

from core.model.conversation import ThreadKey
from core.ports.catalog import Catalog
from core.ports.memory import Feedback, FeedbackStore, Memory


async def export_feedback(box: FeedbackStore, catalog: Catalog, memory: Memory, base: str) -> list[dict[str, object]]:
    """Return a test for each helpful answer from this base, as ``bot.evaluation.document_tests`` reads them."""
    sources = {document.source for document in await catalog.documents(frozenset({base}))}
    tests: list[dict[str, object]] = []
    for one in await _helpful(box.all()):
        cited = {citation.document for citation in one.citations if citation.knowledge_base == base}
        if kept := sorted(cited & sources):
            before = await _before(one, memory)
            tests.append({"ask": one.question, **({"after": before} if before else {}), "cites": kept})
    return tests


async def _helpful(words: AsyncIterator[Feedback]) -> list[Feedback]:
    """Return one feedback for each answer rated more helpful than not, if it has a question and sources."""
    by_trace: dict[str, list[Feedback]] = {}
    async for word in words:
        by_trace.setdefault(word.trace_id, []).append(word)
    return [
        said[-1]
        for said in by_trace.values()
        if sum(1 if word.helpful else -1 for word in said) > 0 and said[-1].question and said[-1].citations
    ]


async def _before(word: Feedback, memory: Memory) -> list[str]:
    """Return the questions before this one in its thread; none if that is forgotten."""
    if not word.thread:
        return []
    asked: list[str] = []
    for turn in (await memory.recall(ThreadKey.parse(word.thread))).turns:
        if turn.trace_id == word.trace_id:
            return asked
        asked.append(turn.question)
    return []
