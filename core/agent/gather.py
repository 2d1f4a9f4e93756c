"""Second step: make the moves that were decided on, together, and grade what they bring."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from core.agent.run import RESERVE_SECONDS, Run
from core.errors import BudgetExhausted
from core.events import (
    AgentEvent,
    GradingCompleted,
    RerankingCompleted,
    RetrievalCompleted,
    RetrievalStarted,
)
from core.evidence import Evidence, Grade, Hit
from core.inquiry import Inquiry, ListSources, Move, Phase, ReadSection, Search, SearchKnowledge, SearchSource
from core.knowledge import Document
from core.ports import Scope
from core.retrieval.hybrid import Retrieval

TOP_K = 8  # one batch of grading
MAX_TOP_K = 20
RUNNER_UP = 0.7  # share of the best score
LISTED = 40  # sources named to the model at most


@dataclass(frozen=True, slots=True)
class Finding:
    """What one move brought back."""

    move: Move
    retrieval: Retrieval | None = None
    note: str = ""
    seconds: float = 0.0


async def gather(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Makes the proposed moves (those not made before), adds what they find, grades what is new."""
    moves = _affordable(run)
    run.update(proposals=())
    first = run.iteration + 1
    for offset, move in enumerate(moves):
        yield RetrievalStarted(first + offset, describe(move), _where(move))
    with run.timed("search"):
        try:
            findings = await run.within(
                asyncio.gather(*(_make(run, move) for move in moves)), reserve=RESERVE_SECONDS / 2
            )
        except BudgetExhausted as cap:
            run.update(phase=Phase.COMPOSE, closing=True)
            run.meter.notice(str(cap))
            return
    before = len(run.inquiry.library.found())
    for finding in findings:
        async for event in _keep(run, finding):
            yield event
    run.update(misses=0 if len(run.inquiry.library.found()) > before else run.inquiry.misses + 1)
    async for event in grade(run):
        yield event
    run.update(phase=Phase.DECIDE)


def unmade(inquiry: Inquiry, moves: Sequence[Move]) -> tuple[Move, ...]:
    """The moves that were not made before: the same query is never run twice."""
    made = {_fingerprint(search.move) for search in inquiry.searches}
    fresh: dict[object, Move] = {}
    for move in moves:
        if _fingerprint(move) not in made:
            fresh.setdefault(_fingerprint(move), move)
    return tuple(fresh.values())


def _affordable(run: Run) -> tuple[Move, ...]:
    moves = []
    for move in unmade(run.inquiry, run.inquiry.proposals):
        if isinstance(move, SearchKnowledge | SearchSource):
            if not run.meter.searches_left:
                continue
            run.meter.searched()
        moves.append(move)
    return tuple(moves)


def _fingerprint(move: Move) -> object:
    match move:
        case SearchKnowledge():
            return ("search", " ".join(move.query.casefold().split()), move.knowledge_base)
        case SearchSource():
            return ("source", " ".join(move.query.casefold().split()), move.source.casefold())
        case ListSources():
            return "list"
        case ReadSection():
            return ("read", move.evidence)
        case _:
            assert_never(move)


def describe(move: Move) -> str:
    """The move in a person's words."""
    match move:
        case SearchKnowledge() | SearchSource():
            return move.query
        case ListSources():
            return "what there is"
        case ReadSection():
            return f"the section around [{move.evidence}]"
        case _:
            assert_never(move)


def _where(move: Move) -> str:
    match move:
        case SearchKnowledge():
            return move.knowledge_base or ""
        case SearchSource():
            return move.source
        case ListSources() | ReadSection():
            return ""
        case _:
            assert_never(move)


async def _make(run: Run, move: Move) -> Finding:
    started = run.bench.clock.monotonic()
    match move:
        case SearchKnowledge():
            finding = await _search(run, move)
        case SearchSource():
            finding = await _search_source(run, move)
        case ListSources():
            finding = Finding(move, note=_listing(await run.bench.catalogue.documents(run.inquiry.scope)))
        case ReadSection():
            finding = await _read(run, move)
        case _:
            assert_never(move)
    return replace(finding, seconds=run.bench.clock.monotonic() - started)


async def _search(run: Run, move: SearchKnowledge) -> Finding:
    scope = run.inquiry.scope
    if move.knowledge_base is not None:
        if move.knowledge_base not in scope:
            names = ", ".join(sorted(scope)) or "none"
            return Finding(move, note=f"There is no knowledge base called {move.knowledge_base!r}. There are: {names}.")
        scope = frozenset({move.knowledge_base})
    limit = min(move.top_k or TOP_K, MAX_TOP_K)
    return Finding(move, await run.bench.retriever.search(move.query, Scope(scope), limit))


async def _search_source(run: Run, move: SearchSource) -> Finding:
    documents = await run.bench.catalogue.documents(run.inquiry.scope)
    chosen = matching_sources(documents, move.source)
    if not chosen:
        return Finding(move, note=f"There is no source called {move.source!r}. {_listing(documents)}")
    ids = frozenset(document.id for document in chosen)
    return Finding(move, await run.bench.retriever.search(move.query, Scope(run.inquiry.scope, ids), TOP_K))


def matching_sources(documents: Sequence[Document], name: str) -> tuple[Document, ...]:
    """The documents that a name means: the exact title or path where there is one, else all that contain it."""
    wanted = name.strip().casefold()
    exact = tuple(d for d in documents if wanted in {d.id, d.title.casefold(), d.source.casefold()})
    if exact or not wanted:
        return exact
    return tuple(d for d in documents if wanted in d.title.casefold() or wanted in d.source.casefold())


def _listing(documents: Sequence[Document]) -> str:
    names = [document.title for document in documents]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"Sources: {'; '.join(names[:LISTED]) or 'none'}{more}."


async def _read(run: Run, move: ReadSection) -> Finding:
    evidence = run.inquiry.library.get(move.evidence)
    if evidence is None:
        return Finding(move, note=f"There is no evidence [{move.evidence}].")
    passage = evidence.passage
    around = await run.bench.index.passages(passage.document, passage.version, Scope(run.inquiry.scope))
    near = [p for p in around if p.section == passage.section and abs(p.ordinal - passage.ordinal) <= TOP_K]
    hits = tuple(Hit(p, evidence.hit.score) for p in near)
    return Finding(move, Retrieval(hits=hits), note=f"The section around [{move.evidence}] is now among the evidence.")


async def _keep(run: Run, finding: Finding) -> AsyncIterator[AgentEvent]:
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


async def grade(run: Run) -> AsyncIterator[AgentEvent]:
    """Grades what no one has graded yet. On the quick path the retrieval's own score is the grade."""
    fresh = run.inquiry.library.ungraded()
    if not fresh:
        return
    started = run.bench.clock.monotonic()
    if _convincing(run, fresh):
        run.quick = True
        grades: Sequence[Grade] = [_convinced(run, item) for item in fresh]
    else:
        try:
            grades = await run.within(
                run.bench.reasoner.grade(run.inquiry, fresh, run.meter), reserve=RESERVE_SECONDS / 2
            )
        except BudgetExhausted as cap:
            run.meter.notice(str(cap))
            run.update(closing=True)
            grades = [_from_score(item) for item in fresh]
    run.update(library=run.inquiry.library.graded({item.id: g for item, g in zip(fresh, grades, strict=True)}))
    elapsed = run.bench.clock.monotonic() - started
    run.timings["grade"] = run.timings.get("grade", 0.0) + elapsed
    yield GradingCompleted(
        total=len(fresh),
        relevant=sum(g.score >= run.cutoff for g in grades),
        average=round(sum(g.score for g in grades) / len(grades), 2),
        duration_ms=elapsed * 1000,
    )


def _convincing(run: Run, fresh: Sequence[Evidence]) -> bool:
    """Whether one search, the first, for one need, found one thing so clearly that no gate is worth its cost.

    A runner-up from another section that is nearly as good may be another reading, or another version: that is worth
    looking at.
    """
    if len(run.inquiry.searches) != 1:
        return False
    best = max(fresh, key=lambda item: item.hit.score)
    others = (item.hit.score for item in fresh if item.passage.section != best.passage.section)
    clear = max(others, default=0.0) <= RUNNER_UP * best.hit.score
    return best.hit.score >= run.bench.confident and clear


def _convinced(run: Run, item: Evidence) -> Grade:
    """The score as a grade; what convinces counts."""
    grade = _from_score(item)
    return Grade(max(run.cutoff, grade.score)) if item.hit.score >= run.bench.confident else grade


def _from_score(item: Evidence) -> Grade:
    return Grade(max(1, min(10, round(item.hit.score * 10))))
