"""Second step: run the proposed actions concurrently and grade what they find."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from core.agent.run import RESERVE_SECONDS, Run
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, GradingCompleted, RerankingCompleted, RetrievalCompleted, RetrievalStarted
from core.model.evidence import Evidence, Grade, Hit
from core.model.inquiry import (
    Inquiry,
    Investigate,
    ListSources,
    Phase,
    ReadSection,
    Search,
    SearchAction,
    SearchKnowledge,
    SearchSource,
)
from core.model.knowledge import Document, matching_sources
from core.model.profile import Profile
from core.ports.index import Scope
from core.ports.reasoner import GradesWithDecision
from core.retrieval.hybrid import Retrieval

MAX_TOP_K = 20
LISTED = 40  # most sources listed for the model
EXPLAINED = 3  # explanations of the best grades in a trace


@dataclass(frozen=True, slots=True)
class ActionResult:
    """Result of one search action."""

    action: SearchAction
    retrieval: Retrieval | None = None
    note: str = ""
    known_sources: str = ""  # for a model that named an unknown source; too long for a person
    seconds: float = 0.0


async def gather(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Run the proposed actions that are new, and add what they find.

    Grade new evidence, unless the fast path answers from it directly.
    """
    actions = _affordable(run)
    run.update(proposals=())
    first = run.iteration + 1
    for offset, action in enumerate(actions):
        yield RetrievalStarted(first + offset, describe(action), where(action))
    with run.time_stage("search"):
        try:
            results = await run.within(
                asyncio.gather(*(perform(run, action) for action in actions)), reserve=RESERVE_SECONDS / 2
            )
        except BudgetExhausted as cap:
            run.update(phase=Phase.COMPOSE, closing=True)
            run.meter.notice(str(cap))
            return
    before = len(run.inquiry.library.items_found())
    for result in results:
        async for event in keep(run, result):
            yield event
    run.update(misses=0 if len(run.inquiry.library.items_found()) > before else run.inquiry.misses + 1)
    run.update(fast_path=_simple(run, actions))
    if run.inquiry.fast_path:
        run.update(phase=Phase.COMPOSE)
        return
    async for event in grade(run, run.inquiry.library.ungraded_items()):
        yield event
    run.update(phase=Phase.DECIDE)


def _affordable(run: Run) -> tuple[SearchAction, ...]:
    actions = []
    for action in new_actions(run.inquiry, run.inquiry.proposals):
        if isinstance(action, SearchKnowledge | SearchSource):
            if not run.meter.searches_left:
                continue
            run.meter.count_search()
        actions.append(action)
    return tuple(actions)


async def perform(run: Run, action: SearchAction) -> ActionResult:
    """Run one action. The caller counts it against the budget."""
    started = run.deps.clock.monotonic()
    match action:
        case SearchKnowledge():
            result = await _search(run, action)
        case SearchSource():
            result = await _search_source(run, action)
        case ListSources():
            result = ActionResult(action, note=_source_list(await run.deps.catalog.documents(run.inquiry.scope)))
        case ReadSection():
            result = await _read(run, action)
        case _:
            assert_never(action)
    return replace(result, seconds=run.deps.clock.monotonic() - started)


async def _search(run: Run, action: SearchKnowledge) -> ActionResult:
    scope = run.inquiry.scope
    if action.knowledge_base is not None:
        if action.knowledge_base not in scope:
            names = ", ".join(sorted(scope)) or "none"
            return ActionResult(
                action, note=f"There is no knowledge base called {action.knowledge_base!r}. There are: {names}."
            )
        scope = frozenset({action.knowledge_base})
    limit = min(action.top_k or run.reasoner.top_k, MAX_TOP_K)
    return ActionResult(action, await run.deps.retriever.search(action.query, Scope(scope), limit))


async def _search_source(run: Run, action: SearchSource) -> ActionResult:
    documents = await run.deps.catalog.documents(run.inquiry.scope)
    chosen = matching_sources(documents, action.source)
    if not chosen:
        return ActionResult(
            action, note=f"There is no source called {action.source!r}.", known_sources=_source_list(documents)
        )
    ids = frozenset(document.id for document in chosen)
    scope = Scope(run.inquiry.scope, ids)
    return ActionResult(action, await run.deps.retriever.search(action.query, scope, run.reasoner.top_k))


def _source_list(documents: Sequence[Document]) -> str:
    names = [document.title for document in documents]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"Sources: {'; '.join(names[:LISTED]) or 'none'}{more}."


async def _read(run: Run, action: ReadSection) -> ActionResult:
    evidence = run.inquiry.library.get(action.evidence)
    if evidence is None:
        return ActionResult(action, note=f"There is no evidence [{action.evidence}].")
    passage = evidence.passage
    around = await run.deps.index.passages(passage.document, passage.version, Scope(run.inquiry.scope))
    section = [p for p in around if p.section == passage.section]
    near = sorted(section, key=lambda p: abs(p.ordinal - passage.ordinal))[:MAX_TOP_K]
    hits = tuple(Hit(p, evidence.hit.score) for p in sorted(near, key=lambda p: p.ordinal))
    how_much = "" if len(near) == len(section) else f", the {len(near)} nearest of its {len(section)} passages,"
    said = f"The section around [{action.evidence}]{how_much} is now among the evidence."
    return ActionResult(action, Retrieval(hits=hits), note=said)


async def keep(run: Run, result: ActionResult) -> AsyncIterator[AgentEvent]:
    """Add an action's hits to the library, and the action to the inquiry's searches."""
    run.iteration += 1
    retrieval = result.retrieval or Retrieval()
    library, added = run.inquiry.library.add(retrieval.hits, describe(result.action), retrieval.further)
    note = " ".join(filter(None, (result.note, result.known_sources)))
    search = Search(result.action, found=len(retrieval.hits), new=len(added), note=note)
    run.update(library=library, searches=(*run.inquiry.searches, search))
    if retrieval.reranked:
        yield RerankingCompleted(retrieval.reranked, retrieval.seconds.get("rerank", 0.0) * 1000)
    yield RetrievalCompleted(
        iteration=run.iteration,
        query=describe(result.action),
        strategies=("dense", "bm25") if retrieval.hits else (),
        vector_results=retrieval.vector_results,
        bm25_results=retrieval.bm25_results,
        total_docs=len(retrieval.hits),
        new=len(added),
        duration_ms=result.seconds * 1000,
        sources=tuple(dict.fromkeys(hit.passage.title for hit in retrieval.hits)),
        note=result.note,
    )


def _simple(run: Run, made: Sequence[SearchAction]) -> bool:
    """Return whether one search has just answered a single-part question. See ``Inquiry.fast_path``.

    Never in the thorough profile, or when the person wants to see the sources first.
    """
    plan = run.inquiry.plan
    if run.inquiry.policy.profile is Profile.THOROUGH or run.wants_sources or not isinstance(plan, Investigate):
        return False
    if tuple(made) != tuple(SearchKnowledge(query) for query in plan.queries) or len(made) != 1:
        return False
    best = max((item.hit.score for item in run.inquiry.library.items_found()), default=0.0)
    return best > 0 and best >= run.deps.confident and not run.fallback_reason


def new_actions(inquiry: Inquiry, actions: Sequence[SearchAction]) -> tuple[SearchAction, ...]:
    """Return the actions that the inquiry has not run yet, without duplicates."""
    made = {_fingerprint(search.action, inquiry) for search in inquiry.searches}
    fresh: dict[object, SearchAction] = {}
    for action in actions:
        if (fingerprint := _fingerprint(action, inquiry)) not in made:
            fresh.setdefault(fingerprint, action)
    return tuple(fresh.values())


def _fingerprint(action: SearchAction, inquiry: Inquiry) -> object:
    match action:
        case SearchKnowledge():
            everywhere = {action.knowledge_base} == inquiry.scope  # the only base: same as no base
            base = None if everywhere else action.knowledge_base
            return ("search", " ".join(action.query.casefold().split()), base)
        case SearchSource():
            return ("source", " ".join(action.query.casefold().split()), action.source.casefold())
        case ListSources():
            return "list"
        case ReadSection():
            return ("read", action.evidence)
        case _:
            assert_never(action)


def describe(action: SearchAction) -> str:
    """Return the action in words for a person."""
    match action:
        case SearchKnowledge() | SearchSource():
            return action.query
        case ListSources():
            return "what there is"
        case ReadSection():
            return f"the section around [{action.evidence}]"
        case _:
            assert_never(action)


def where(action: SearchAction) -> str:
    """Return the base or source that an action searches. Empty if it searches everything visible."""
    match action:
        case SearchKnowledge():
            return action.knowledge_base or ""
        case SearchSource():
            return action.source
        case ListSources() | ReadSection():
            return ""
        case _:
            assert_never(action)


async def grade(run: Run, fresh: Sequence[Evidence]) -> AsyncIterator[AgentEvent]:
    """Grade this evidence in the library. If the budget runs out, close the run so it answers from what it has."""
    run.decision = None
    if not fresh:
        return
    started = run.deps.clock.monotonic()
    try:
        grades = await run.within(run.reasoner.grade(run.inquiry, fresh, run.meter), reserve=RESERVE_SECONDS / 2)
    except BudgetExhausted as cap:
        run.meter.notice(str(cap))
        run.update(closing=True)
        grades = [_from_score(item) for item in fresh]
    run.update(library=run.inquiry.library.with_grades({item.id: g for item, g in zip(fresh, grades, strict=True)}))
    run.decision = grades.decision if isinstance(grades, GradesWithDecision) else None
    elapsed = run.deps.clock.monotonic() - started
    run.timings["grade"] = run.timings.get("grade", 0.0) + elapsed
    yield GradingCompleted(
        total=len(fresh),
        relevant=sum(g.score >= run.inquiry.cutoff for g in grades),
        average=round(sum(g.score for g in grades) / len(grades), 2),
        duration_ms=elapsed * 1000,
        why=tuple(g.why for g in sorted(grades, key=lambda g: -(g.chance or 0.0))[:EXPLAINED] if g.why),
    )


def _from_score(item: Evidence) -> Grade:
    """Return the retrieval score as a grade from 1 to 10."""
    return Grade(max(1, min(10, round(item.hit.score * 10))))
