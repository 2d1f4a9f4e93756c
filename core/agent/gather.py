"""Second step: make the moves that were decided on, together, and have what they bring graded."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from core.agent.grading import grade
from core.agent.run import RESERVE_SECONDS, Run
from core.agent.search_actions import describe, unmade, where
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, RerankingCompleted, RetrievalCompleted, RetrievalStarted
from core.model.evidence import Hit
from core.model.inquiry import (
    Investigate,
    ListSources,
    Phase,
    Profile,
    ReadSection,
    Search,
    SearchAction,
    SearchKnowledge,
    SearchSource,
)
from core.model.knowledge import Document
from core.model.source_names import matching_sources
from core.ports.index import Scope
from core.retrieval.hybrid import Retrieval

TOP_K = 8  # one batch of grading
MAX_TOP_K = 20
LISTED = 40  # sources named to the model at most


@dataclass(frozen=True, slots=True)
class Finding:
    """What one move brought back."""

    move: SearchAction
    retrieval: Retrieval | None = None
    note: str = ""
    seconds: float = 0.0


async def gather(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Makes the proposed moves (those not made before) and adds what they find.

    What is new is graded, unless the question is simple enough to be answered from it at once.
    """
    moves = _affordable(run)
    run.update(proposals=())
    first = run.iteration + 1
    for offset, move in enumerate(moves):
        yield RetrievalStarted(first + offset, describe(move), where(move))
    with run.time_stage("search"):
        try:
            findings = await run.within(
                asyncio.gather(*(make(run, move) for move in moves)), reserve=RESERVE_SECONDS / 2
            )
        except BudgetExhausted as cap:
            run.update(phase=Phase.COMPOSE, closing=True)
            run.meter.notice(str(cap))
            return
    before = len(run.inquiry.library.items_found())
    for finding in findings:
        async for event in keep(run, finding):
            yield event
    run.update(misses=0 if len(run.inquiry.library.items_found()) > before else run.inquiry.misses + 1)
    run.update(attempt=_simple(run, moves))
    if run.inquiry.attempt:
        run.update(phase=Phase.COMPOSE)
        return
    async for event in grade(run, run.inquiry.library.ungraded_items()):
        yield event
    run.update(phase=Phase.DECIDE)


def _affordable(run: Run) -> tuple[SearchAction, ...]:
    moves = []
    for move in unmade(run.inquiry, run.inquiry.proposals):
        if isinstance(move, SearchKnowledge | SearchSource):
            if not run.meter.searches_left:
                continue
            run.meter.count_search()
        moves.append(move)
    return tuple(moves)


async def make(run: Run, move: SearchAction) -> Finding:
    """Make one move. It is counted by whoever decides on it."""
    started = run.deps.clock.monotonic()
    match move:
        case SearchKnowledge():
            finding = await _search(run, move)
        case SearchSource():
            finding = await _search_source(run, move)
        case ListSources():
            finding = Finding(move, note=_source_list(await run.deps.catalog.documents(run.inquiry.scope)))
        case ReadSection():
            finding = await _read(run, move)
        case _:
            assert_never(move)
    return replace(finding, seconds=run.deps.clock.monotonic() - started)


async def _search(run: Run, move: SearchKnowledge) -> Finding:
    scope = run.inquiry.scope
    if move.knowledge_base is not None:
        if move.knowledge_base not in scope:
            names = ", ".join(sorted(scope)) or "none"
            return Finding(move, note=f"There is no knowledge base called {move.knowledge_base!r}. There are: {names}.")
        scope = frozenset({move.knowledge_base})
    limit = min(move.top_k or TOP_K, MAX_TOP_K)
    return Finding(move, await run.deps.retriever.search(move.query, Scope(scope), limit))


async def _search_source(run: Run, move: SearchSource) -> Finding:
    documents = await run.deps.catalog.documents(run.inquiry.scope)
    chosen = matching_sources(documents, move.source)
    if not chosen:
        return Finding(move, note=f"There is no source called {move.source!r}. {_source_list(documents)}")
    ids = frozenset(document.id for document in chosen)
    return Finding(move, await run.deps.retriever.search(move.query, Scope(run.inquiry.scope, ids), TOP_K))


def _source_list(documents: Sequence[Document]) -> str:
    names = [document.title for document in documents]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"Sources: {'; '.join(names[:LISTED]) or 'none'}{more}."


async def _read(run: Run, move: ReadSection) -> Finding:
    evidence = run.inquiry.library.get(move.evidence)
    if evidence is None:
        return Finding(move, note=f"There is no evidence [{move.evidence}].")
    passage = evidence.passage
    around = await run.deps.index.passages(passage.document, passage.version, Scope(run.inquiry.scope))
    section = [p for p in around if p.section == passage.section]
    near = sorted(section, key=lambda p: abs(p.ordinal - passage.ordinal))[:MAX_TOP_K]
    hits = tuple(Hit(p, evidence.hit.score) for p in sorted(near, key=lambda p: p.ordinal))
    how_much = "" if len(near) == len(section) else f", the {len(near)} nearest of its {len(section)} passages,"
    said = f"The section around [{move.evidence}]{how_much} is now among the evidence."
    return Finding(move, Retrieval(hits=hits), note=said)


async def keep(run: Run, finding: Finding) -> AsyncIterator[AgentEvent]:
    """Adds what a move brought to the library, and the move to those made."""
    run.iteration += 1
    retrieval = finding.retrieval or Retrieval()
    library, added = run.inquiry.library.add(retrieval.hits, describe(finding.move))
    search = Search(finding.move, found=len(retrieval.hits), new=len(added), note=finding.note)
    run.update(library=library, searches=(*run.inquiry.searches, search))
    if retrieval.reranked:
        yield RerankingCompleted(retrieval.reranked, retrieval.seconds.get("rerank", 0.0) * 1000)
    yield RetrievalCompleted(
        iteration=run.iteration,
        query=describe(finding.move),
        strategies=("dense", "bm25") if retrieval.hits else (),
        vector_results=retrieval.vector_results,
        bm25_results=retrieval.bm25_results,
        total_docs=len(retrieval.hits),
        new=len(added),
        duration_ms=finding.seconds * 1000,
        sources=tuple(dict.fromkeys(hit.passage.title for hit in retrieval.hits)),
        note=finding.note,
    )


def _simple(run: Run, made: Sequence[SearchAction]) -> bool:
    """Whether the question is one need, and the search for it, just made, found something: see ``attempt``.

    In the thorough profile everything is looked at first, and so is what a person wants to see the sources of.
    """
    plan = run.inquiry.plan
    if run.inquiry.conduct.profile is Profile.THOROUGH or run.wants_sources or not isinstance(plan, Investigate):
        return False
    if tuple(made) != tuple(SearchKnowledge(query) for query in plan.queries) or len(made) != 1:
        return False
    best = max((item.hit.score for item in run.inquiry.library.items_found()), default=0.0)
    return best > 0 and best >= run.deps.confident and not run.fallback_reason
