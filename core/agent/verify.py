"""Fifth step: hold each claim against the evidence it cites; what does not hold is searched for once, then struck.

A claim that stands word for word in its evidence needs no reasoner. Sentences that cite nothing but state something
are held against all the evidence: supported ones get their citation, others are marked as not from the documents.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace

from core.agent.attempt import look_closer
from core.agent.citations import MARKER, cited_ids, finished_text, without_markers
from core.agent.claims import claims_in, stands_verbatim
from core.agent.conclude import abstained, ended
from core.agent.floor import CITES_NOTHING, DOES_NOT_HOLD, falls_to_floor
from core.agent.gather import Finding, keep, make
from core.agent.run import Run
from core.answer import Claim, ClaimVerdict, Outcome, Support, Verdict
from core.errors import BudgetExhausted
from core.events import AgentEvent, AnswerReset, HallucinationChecked, QueryRefined, RetrievalStarted
from core.inquiry import Phase, Profile, SearchKnowledge

GROUNDED = 0.999  # an answer is called grounded when every claim that is left holds
SECOND_LOOK = 3  # passages that one more search for a claim may add
UNSOURCED = " (not from the documents)"


async def verify(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Leaves the final answer, or goes back: an attempt that does not hold, one more round in the thorough profile."""
    verdict: Verdict | None = None
    cites = any(run.inquiry.library.get(evidence_id) for evidence_id in cited_ids(run.draft))
    if cites and run.inquiry.conduct.profile is not Profile.QUICK:
        verdicts: list[ClaimVerdict] = []
        async for event in _checked(run, verdicts):
            yield event
        verdict = Verdict(tuple(verdicts))
        run.draft = amended(run.draft, verdict.claims)
    if cites and run.inquiry.conduct.profile is Profile.THOROUGH and not run.critiqued:
        async for event in _critique(run):
            yield event
        if run.inquiry.phase is Phase.GATHER:
            return
    text, citations = finished_text(run.draft, run.inquiry.library, run.inquiry.standalone)
    if citations:
        yield ended(run, Outcome.ANSWERED, text, citations=citations, verdict=verdict)
    elif run.inquiry.attempt:
        async for event in look_closer(run):
            yield event
    elif falls_to_floor(run, DOES_NOT_HOLD if cites else CITES_NOTHING):
        yield AnswerReset("quoting the documents instead")
    else:
        because = "What I had written did not hold against the documents." if cites else ""
        yield abstained(run, because=because, verdict=verdict)


async def _checked(run: Run, verdicts: list[ClaimVerdict]) -> AsyncIterator[AgentEvent]:
    """Fills in the verdicts of all claims of the draft, after a second look where one lacks support."""
    started = run.bench.clock.monotonic()
    with run.timed("verify"):
        verdicts.extend(await _judged(run, claims_in(run.draft)))
    async for event in _look_again(run, verdicts):
        yield event
    verdict = Verdict(tuple(verdicts))
    yield HallucinationChecked(
        is_grounded=verdict.grounding >= GROUNDED,
        confidence=round(verdict.grounding, 3),
        hallucinated_claims=tuple(v.claim.text for v in verdict.unsupported),
        duration_ms=(run.bench.clock.monotonic() - started) * 1000,
    )


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
            judged = await run.within(run.reasoner.check(run.inquiry, [held[p] for p in open_positions], run.meter))
        except BudgetExhausted:
            run.meter.notice("There was no time to check every sentence against its source.")
            judged = [ClaimVerdict(held[p], Support.UNCHECKED, 0.0) for p in open_positions]
        verdicts.update(zip(open_positions, judged, strict=True))
    return [replace(verdicts[p], claim=replace(verdicts[p].claim, text=claims[p].text)) for p in range(len(held))]


async def _look_again(run: Run, verdicts: list[ClaimVerdict]) -> AsyncIterator[AgentEvent]:
    """One more search for the first claim that nothing supports; its verdict may change with what is found."""
    position = next((p for p, v in enumerate(verdicts) if v.support is Support.UNSUPPORTED), None)
    if position is None or not run.meter.searches_left or run.inquiry.closing:
        return
    claim = verdicts[position].claim
    move = SearchKnowledge(without_markers(claim.text), top_k=SECOND_LOOK)
    run.meter.searched()
    yield QueryRefined(run.inquiry.standalone, move.query, "a sentence of the draft lacks support")
    yield RetrievalStarted(run.iteration + 1, move.query)
    known = {item.id for item in run.inquiry.library.found()}
    try:
        finding = await run.within(make(run, move))
    except BudgetExhausted:
        finding = Finding(move)
    async for event in keep(run, finding):
        yield event
    if added := [item for item in run.inquiry.library.found() if item.id not in known]:
        # No grader looks at these: to bear out a sentence is more than a grade asks for.
        again = await _judged(run, [replace(claim, evidence=(item.id,)) for item in added])
        held = next((verdict for verdict in again if verdict.support is Support.SUPPORTED), None)
        verdicts[position] = held or verdicts[position]


def amended(draft: str, verdicts: Sequence[ClaimVerdict]) -> str:
    """The draft with each verdict carried out: contradicted corrected or struck, unsupported struck or marked."""
    for verdict in verdicts:
        sentence = verdict.claim.text
        cited = cited_ids(sentence)
        ids = "".join(f"[{n}]" for n in verdict.claim.evidence)
        match verdict.support:
            case Support.SUPPORTED if len(verdict.claim.evidence) == 1 and cited != verdict.claim.evidence:
                draft = draft.replace(sentence, f"{without_markers(sentence)} {ids}", 1)
            case Support.SUPPORTED | Support.UNCHECKED:
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
        missing = await run.within(run.reasoner.critique(run.inquiry, MARKER.sub("", run.draft), run.meter))
    except BudgetExhausted:
        return
    if missing:
        run.update(phase=Phase.GATHER, proposals=(SearchKnowledge(missing),), missing=missing)
        yield QueryRefined(run.inquiry.standalone, missing, "the answer leaves part of the question open")
        yield AnswerReset("looking for one more thing")
