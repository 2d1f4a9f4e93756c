"""Fifth step: hold each claim against the evidence it cites; what does not hold is searched for once, then struck.

A claim that stands word for word in its evidence needs no reasoner. Sentences that cite nothing but state something
are held against all the evidence: supported ones get their citation, others are marked as not from the documents.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace

from core.agent.citations import MARKER, cited_ids, finished_text, without_markers
from core.agent.claims import claims_in, stands_verbatim
from core.agent.conclude import abstained, ended
from core.agent.gather import grade
from core.agent.run import Run
from core.answer import Claim, ClaimVerdict, Outcome, Support, Verdict
from core.errors import BudgetExhausted
from core.events import (
    AgentEvent,
    AnswerReset,
    HallucinationChecked,
    QueryRefined,
    RetrievalCompleted,
    RetrievalStarted,
)
from core.inquiry import Phase, Profile, Search, SearchKnowledge
from core.ports import Scope
from core.retrieval.hybrid import Retrieval

GROUNDED = 0.999  # an answer is called grounded when every claim that is left holds
SECOND_LOOK = 3  # passages that one more search for a claim may add
UNSOURCED = " (not from the documents)"


async def verify(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Leaves the final answer; in the thorough profile may first go back for one more round."""
    if not cited_ids(run.draft) or not _known(run):
        yield abstained(run)
        return
    verdict: Verdict | None = None
    if run.inquiry.conduct.profile is not Profile.QUICK:
        started = run.bench.clock.monotonic()
        with run.timed("verify"):
            verdicts = await _judged(run, claims_in(run.draft))
        async for event in _look_again(run, verdicts):
            yield event
        verdict = Verdict(tuple(verdicts))
        yield HallucinationChecked(
            is_grounded=verdict.grounding >= GROUNDED,
            confidence=round(verdict.grounding, 3),
            hallucinated_claims=tuple(v.claim.text for v in verdict.unsupported),
            duration_ms=(run.bench.clock.monotonic() - started) * 1000,
        )
        run.draft = amended(run.draft, verdict.claims)
    if run.inquiry.conduct.profile is Profile.THOROUGH and not (run.critiqued or run.quick):
        async for event in _critique(run):
            yield event
        if run.inquiry.phase is Phase.GATHER:
            return
    text, citations = finished_text(run.draft, run.inquiry.library, run.inquiry.standalone)
    if not citations:
        yield abstained(run, because="What I had written did not hold against the documents.", verdict=verdict)
        return
    yield ended(run, Outcome.ANSWERED, text, citations=citations, verdict=verdict)


def _known(run: Run) -> bool:
    return any(run.inquiry.library.get(evidence_id) for evidence_id in cited_ids(run.draft))


async def _judged(run: Run, claims: Sequence[Claim]) -> list[ClaimVerdict]:
    """One verdict for each claim; only what is not verbatim costs a reasoner call, and all of that costs one."""
    everything = tuple(item.id for item in run.composed_from)
    held = [replace(claim, evidence=claim.evidence or everything) for claim in claims]
    verdicts: dict[int, ClaimVerdict] = {}
    for position, claim in enumerate(held):
        texts = [item.passage.text for n in claim.evidence if (item := run.inquiry.library.get(n))]
        if stands_verbatim(claim.text, texts):
            verdicts[position] = ClaimVerdict(claim, Support.SUPPORTED)
    open_positions = [position for position in range(len(held)) if position not in verdicts]
    if open_positions:
        try:
            judged = await run.within(
                run.bench.reasoner.check(run.inquiry, [held[p] for p in open_positions], run.meter)
            )
        except BudgetExhausted:
            run.meter.notice("There was no time to check every sentence against its source.")
            judged = [ClaimVerdict(held[p], Support.SUPPORTED, 0.0) for p in open_positions]
        verdicts.update(zip(open_positions, judged, strict=True))
    return [replace(verdicts[p], claim=replace(verdicts[p].claim, text=claims[p].text)) for p in range(len(held))]


async def _look_again(run: Run, verdicts: list[ClaimVerdict]) -> AsyncIterator[AgentEvent]:
    """One more search for the first claim that nothing supports; its verdict may change with what is found."""
    position = next((p for p, v in enumerate(verdicts) if v.support is Support.UNSUPPORTED), None)
    if position is None or not run.meter.searches_left or run.inquiry.closing:
        return
    claim = verdicts[position].claim
    query = without_markers(claim.text)
    run.meter.searched()
    yield QueryRefined(run.inquiry.standalone, query, "a sentence of the draft lacks support")
    run.iteration += 1
    yield RetrievalStarted(run.iteration, query)
    try:
        retrieval = await run.within(run.bench.retriever.search(query, Scope(run.inquiry.scope), SECOND_LOOK))
    except BudgetExhausted:
        retrieval = Retrieval()
    library, added = run.inquiry.library.add(retrieval.hits, query)
    search = Search(SearchKnowledge(query), len(retrieval.hits), len(added))
    run.update(library=library, searches=(*run.inquiry.searches, search))
    yield RetrievalCompleted(
        run.iteration,
        query,
        ("dense", "bm25"),
        retrieval.vector_results,
        retrieval.bm25_results,
        len(retrieval.hits),
        len(added),
        sum(retrieval.seconds.values()) * 1000,
        tuple(dict.fromkeys(hit.passage.title for hit in retrieval.hits)),
    )
    if added:
        async for event in grade(run):
            yield event
        wider = replace(claim, evidence=tuple(item.id for item in added))
        (again,) = await _judged(run, [wider])
        if again.support is Support.SUPPORTED:
            verdicts[position] = again


def amended(draft: str, verdicts: Sequence[ClaimVerdict]) -> str:
    """The draft with each verdict carried out: contradicted corrected or struck, unsupported struck or marked."""
    for verdict in verdicts:
        sentence = verdict.claim.text
        cited = cited_ids(sentence)
        ids = "".join(f"[{n}]" for n in verdict.claim.evidence)
        match verdict.support:
            case Support.SUPPORTED if not cited and len(verdict.claim.evidence) == 1:
                draft = draft.replace(sentence, f"{sentence} {ids}", 1)
            case Support.SUPPORTED:
                continue
            case Support.CONTRADICTED if verdict.correction:
                draft = draft.replace(sentence, f"{without_markers(verdict.correction)} {ids}", 1)
            case Support.UNSUPPORTED if not cited:
                draft = draft.replace(sentence, sentence + UNSOURCED, 1)
            case _:
                draft = draft.replace(sentence, "", 1)
    return re.sub(r"(?m)^\s*(?:[-*•]|\d+\.)\s*$\n?", "", re.sub(r"\n{3,}", "\n\n", draft)).strip()


async def _critique(run: Run) -> AsyncIterator[AgentEvent]:
    run.critiqued = True
    if run.inquiry.closing or not run.meter.searches_left:
        return
    try:
        missing = await run.within(run.bench.reasoner.critique(run.inquiry, MARKER.sub("", run.draft), run.meter))
    except BudgetExhausted:
        return
    if missing:
        run.update(phase=Phase.GATHER, proposals=(SearchKnowledge(missing),), missing=missing)
        yield QueryRefined(run.inquiry.standalone, missing, "the answer leaves part of the question open")
        yield AnswerReset("looking for one more thing")
