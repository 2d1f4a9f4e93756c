"""Fifth step: hold each claim against the evidence it cites; what does not hold is searched for once, then struck.

Three looks, the cheapest first. A claim that stands word for word in its evidence holds. One whose numbers, names or
negations its evidence does not have falls, whatever a model says of it. Only what is left costs a reasoner call; in the
quick profile it counts as unchecked instead. Sentences that cite nothing but state something are held against all the
evidence: supported ones get their citation, others are marked as not from the documents.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace

from core.agent.citations import finished_text
from core.agent.claims import (
    FEWEST_WORDS,
    DraftUnit,
    UnitKind,
    claims_in,
    code_stands,
    says_nothing,
    units_in,
    verbatim_in,
)
from core.agent.expected_kind import has_expected_kind
from core.agent.fast_path import look_closer
from core.agent.gather import ActionResult, keep, perform
from core.agent.outcomes import abstain, end_run
from core.agent.quote_fallback import (
    CITES_NOTHING,
    DOES_NOT_HOLD,
    NO_ANSWER,
    can_restart_with_quotes,
    restart_with_quotes,
)
from core.agent.run import Run
from core.model.answer import Claim, ClaimVerdict, Outcome, Support, Verdict
from core.model.citation_markers import MARKER, cited_ids, without_markers
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, AnswerReset, HallucinationChecked, QueryRefined, RetrievalStarted
from core.model.inquiry import Investigate, Phase, Profile, SearchKnowledge
from core.model.knowledge import Passage
from core.model.text import content_words
from core.retrieval.lexical_check import check_lexically, is_known

GROUNDED = 0.999  # an answer is called grounded when every claim that is left holds
SECOND_LOOK = 3  # passages that one more search for a claim may add
UNSOURCED = " (not from the documents)"
CUT = " …"  # ends a draft that was cut off
HALF = 0.5  # of a claim's words in its evidence; with fewer, and nobody to read, it is not said
HOLDS = frozenset({Support.SUPPORTED})
_IDENTIFIER = re.compile(r"\b(?:[vV]?\d+(?:\.\d+)+|[A-Za-z]+-?\d{1,6}|\d{3,4})\b")
CODE_LEFT_OUT = "(Lines that stand in no document were left out here.)"


async def verify(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Leaves the final answer, or goes back: from a fast path's draft that does not hold, and once where thorough."""
    written = run.draft
    cites = any(run.inquiry.library.get(evidence_id) for evidence_id in cited_ids(written))
    verdicts: list[ClaimVerdict] = []
    if cites:
        async for event in _check_claims(run, verdicts):
            yield event
        run.draft = _without_unfounded(run, apply_verdicts(written, verdicts))
    if cites and run.inquiry.policy.profile is Profile.THOROUGH and not run.critiqued:
        async for event in _critique(run):
            yield event
        if run.inquiry.phase is Phase.GATHER:
            return
    text, citations = finished_text(run.draft, run.inquiry.library, run.inquiry.standalone)
    verdict = Verdict(tuple(verdicts)) if verdicts else None
    because = NO_ANSWER if says_nothing(written, run.inquiry.standalone) else DOES_NOT_HOLD if cites else CITES_NOTHING
    shortfall = because
    if citations and because != NO_ANSWER:
        shortfall = _shortfall(run, verdicts, because)
    if not shortfall:
        yield end_run(run, Outcome.ANSWERED, text, citations=citations, verdict=verdict)
        return
    async for event in _go_back(run, written, shortfall, verdict):
        yield event


async def _go_back(run: Run, written: str, because: str, verdict: Verdict | None) -> AsyncIterator[AgentEvent]:
    """No answer came of this draft: look closer, else quote, else say that the documents don't say."""
    if run.inquiry.fast_path:
        run.draft = written
        async for event in look_closer(run):
            yield event
    elif can_restart_with_quotes(run):
        restart_with_quotes(run, because)
        yield AnswerReset("quoting the documents instead")
    else:
        said = "What I had written did not hold against the documents." if because == DOES_NOT_HOLD else ""
        yield abstain(run, because=said, verdict=verdict)


def _shortfall(run: Run, verdicts: Sequence[ClaimVerdict], because: str) -> str:
    """Why what is left is hardly the answer, where there is another way to one; empty where it stands."""
    if (
        run.deps.quote_fallback is None
        or run.fallback_reason
        or not (run.inquiry.fast_path or can_restart_with_quotes(run))
    ):
        return ""
    if _mostly_struck(run, verdicts):
        return because
    beside = _quotes_beside(run, verdicts) or _is_bare_cell(run, verdicts) or _cites_another_number(run, verdicts)
    return NO_ANSWER if beside else ""


def _mostly_struck(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether more was struck than is left, or some of an answer in parts: then the rest is hardly the answer."""
    struck = sum(verdict.support in {Support.CONTRADICTED, Support.UNSUPPORTED} for verdict in verdicts)
    plan = run.inquiry.plan
    in_parts = isinstance(plan, Investigate) and len(plan.queries) > 1
    return 2 * struck > len(verdicts) or (in_parts and struck > 0)


def _cites_another_number(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether nothing cited is about the version or code that the question names, or about a number found elsewhere."""
    asked = set(_IDENTIFIER.findall(run.inquiry.standalone))
    found = " ".join(item.passage.searchable for item in run.inquiry.library.items_found())
    cited = {n for one in verdicts for n in one.claim.evidence}
    there = " ".join(item.passage.searchable for n in cited if (item := run.inquiry.library.get(n)))
    return bool(cited) and any(one not in there and (one in found or not one.isdigit()) for one in asked)


def _is_bare_cell(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether the draft is a table's cell and no more: of which row and column it is, only the table itself says."""
    return bool(verdicts) and all(_stands_in_row(run, one.claim) for one in verdicts)


def _stands_in_row(run: Run, claim: Claim) -> bool:
    bare = without_markers(claim.text).strip(" .*")
    rows = (
        line
        for n in claim.evidence
        if (item := run.inquiry.library.get(n))
        for line in item.passage.text.splitlines()
        if line.lstrip().startswith("|")
    )
    return len(content_words(bare)) < FEWEST_WORDS and any(bare in row for row in rows)


def _quotes_beside(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether the draft only repeats sentences that do not have the kind of thing that was asked for."""
    quoted = bool(verdicts) and all(_is_quoted(run, one.claim) for one in verdicts)
    return quoted and not has_expected_kind(run.inquiry.standalone, run.draft)


async def _check_claims(run: Run, verdicts: list[ClaimVerdict]) -> AsyncIterator[AgentEvent]:
    """Fills in the verdicts of all claims of the draft, after a second look where one lacks support."""
    claims = [claim for claim in claims_in(run.draft) if not _is_remark(run, claim.text)]
    if not claims:
        return
    started = run.deps.clock.monotonic()
    with run.time_stage("verify"):
        verdicts.extend(await _judge_claims(run, claims))
    async for event in _look_again(run, verdicts):
        yield event
    verdict = Verdict(tuple(verdicts))
    yield HallucinationChecked(
        is_grounded=verdict.grounding >= GROUNDED,
        confidence=round(verdict.grounding, 3),
        hallucinated_claims=tuple(v.claim.text for v in verdict.failed_claims),
        duration_ms=(run.deps.clock.monotonic() - started) * 1000,
        word_for_word=bool(verdicts) and all(_is_quoted(run, one.claim) for one in verdicts),
    )


async def _judge_claims(run: Run, claims: Sequence[Claim]) -> list[ClaimVerdict]:
    """One verdict for each claim; only what words alone cannot settle costs a reasoner call, and all of that one."""
    everything = tuple(item.id for item in run.composed_from)
    held = [replace(claim, evidence=claim.evidence or everything) for claim in claims]
    verdicts = {at: verdict for at, claim in enumerate(held) if (verdict := _by_words(run, claim))}
    if run.inquiry.policy.profile is not Profile.QUICK:
        # What words speak against is asked about as well, for its correction: but not to be acquitted.
        open_positions = [at for at in range(len(held)) if at not in verdicts or verdicts[at].support not in HOLDS]
        judged = await _by_reasoner(run, [held[at] for at in open_positions])
        for at, verdict in zip(open_positions, judged, strict=True):
            verdicts[at] = _apply_word_verdict(run, verdict, verdicts.get(at))
    return [replace(verdicts[p], claim=replace(verdicts[p].claim, text=claims[p].text)) for p in range(len(held))]


def _by_words(run: Run, claim: Claim) -> ClaimVerdict | None:
    """The verdict that needs no reasoner; None where only reading can tell."""
    cited = [item for n in claim.evidence if (item := run.inquiry.library.get(n))]
    at = verbatim_in(claim.text, [item.passage.text for item in cited])
    if at is not None:
        return ClaimVerdict(replace(claim, evidence=_evidence_of_claim(claim, cited[at].id)), Support.SUPPORTED)
    elsewhere = next((item.id for item in run.composed_from if verbatim_in(claim.text, [item.passage.text]) == 0), None)
    if elsewhere is not None:  # right, with another document's number
        return ClaimVerdict(replace(claim, evidence=(elsewhere,)), Support.SUPPORTED)
    if not cited:
        return ClaimVerdict(claim, Support.UNSUPPORTED)
    result = check_lexically(claim.text, [item.passage for item in cited], run.inquiry.standalone)
    if result.fault:
        return ClaimVerdict(claim, Support.UNSUPPORTED)
    if run.inquiry.policy.profile is not Profile.QUICK:
        return None
    near = result.shared >= HALF and not result.borrowed
    support = Support.SUPPORTED if result.stated else Support.UNCHECKED if near else Support.UNSUPPORTED
    return ClaimVerdict(claim, support, round(result.shared, 2))


def _evidence_of_claim(claim: Claim, evidence_id: int) -> tuple[int, ...]:
    """A sentence without marks cites the one document that has its words."""
    return claim.evidence if cited_ids(claim.text) else (evidence_id,)


def _apply_word_verdict(run: Run, judged: ClaimVerdict, by_words: ClaimVerdict | None) -> ClaimVerdict:
    """The reasoner's verdict, unless words speak against the claim, or against the correction that it makes."""
    if judged.support is Support.CONTRADICTED and judged.correction:
        # Nobody looks at a correction a second time, so that it has to be the documents' own words.
        return judged if _is_stated(run, judged) else replace(judged, correction="")
    return by_words if by_words is not None and judged.support in {*HOLDS, Support.UNCHECKED} else judged


def _is_stated(run: Run, judged: ClaimVerdict) -> bool:
    """Whether one sentence of the evidence has nearly all words of a correction, and nothing speaks against it."""
    cited = [item.passage for n in judged.claim.evidence if (item := run.inquiry.library.get(n))]
    if verbatim_in(judged.correction, [passage.text for passage in cited]) is not None:
        return len(content_words(judged.correction)) >= FEWEST_WORDS
    result = check_lexically(judged.correction, cited, run.inquiry.standalone)
    return result.stated and len(content_words(judged.correction)) >= FEWEST_WORDS


async def _by_reasoner(run: Run, claims: Sequence[Claim]) -> Sequence[ClaimVerdict]:
    if not claims:
        return []
    try:
        return await run.within(run.reasoner.check(run.inquiry, claims, run.meter))
    except BudgetExhausted:
        run.meter.notice("There was no time to check every sentence against its source.")
        return [ClaimVerdict(claim, Support.UNCHECKED, 0.0) for claim in claims]


def _without_unfounded(run: Run, draft: str) -> str:
    """The draft without headings that bring in something new, and without code that stands nowhere."""
    passages = [item.passage for item in run.inquiry.library.items_found() or run.inquiry.library]
    for unit in units_in(draft):
        if unit.kind is UnitKind.CODE and not code_stands(unit.text, [passage.text for passage in passages]):
            draft = draft.replace(unit.text, CODE_LEFT_OUT, 1)
        elif unit.kind is UnitKind.LEAD and not (_is_remark(run, unit.text) or _leads_over(run, unit, passages)):
            draft = draft.replace(unit.text, "", 1)
    return draft.strip()


def _is_remark(run: Run, text: str) -> bool:
    return any(text in remark for remark in run.remarks)


def _leads_over(run: Run, unit: DraftUnit, passages: Sequence[Passage]) -> bool:
    return bool(run.fallback_reason) or is_known(
        unit.text, passages, f"{run.inquiry.question} {run.inquiry.standalone}"
    )


def _is_quoted(run: Run, claim: Claim) -> bool:
    """Whether a claim stands word for word in what it cites."""
    texts = [item.passage.text for n in claim.evidence if (item := run.inquiry.library.get(n))]
    return verbatim_in(claim.text, texts) is not None


async def _look_again(run: Run, verdicts: list[ClaimVerdict]) -> AsyncIterator[AgentEvent]:
    """One more search for the first claim that nothing supports; its verdict may change with what is found."""
    position = next((p for p, v in enumerate(verdicts) if v.support is Support.UNSUPPORTED), None)
    if position is None or not run.meter.searches_left or run.inquiry.closing:
        return
    claim = verdicts[position].claim
    action = SearchKnowledge(without_markers(claim.text), top_k=SECOND_LOOK)
    run.meter.count_search()
    yield QueryRefined(run.inquiry.standalone, action.query, "a sentence of the draft lacks support")
    yield RetrievalStarted(run.iteration + 1, action.query)
    known = {item.id for item in run.inquiry.library.items_found()}
    try:
        result = await run.within(perform(run, action))
    except BudgetExhausted:
        result = ActionResult(action)
    async for event in keep(run, result):
        yield event
    if added := [item for item in run.inquiry.library.items_found() if item.id not in known]:
        # No grader looks at these: to bear out a sentence is more than a grade asks for.
        again = await _judge_claims(run, [replace(claim, evidence=(item.id,)) for item in added])
        held = next((verdict for verdict in again if verdict.support is Support.SUPPORTED), None)
        verdicts[position] = held or verdicts[position]


def apply_verdicts(draft: str, verdicts: Sequence[ClaimVerdict]) -> str:
    """The draft with each verdict carried out: contradicted corrected or struck, unsupported struck or marked."""
    for verdict in verdicts:
        sentence = verdict.claim.text
        cited = cited_ids(sentence)
        ids = "".join(f"[{n}]" for n in verdict.claim.evidence)
        match verdict.support:
            case Support.SUPPORTED if len(verdict.claim.evidence) == 1 and cited != verdict.claim.evidence:
                draft = draft.replace(sentence, _add_mark(without_markers(sentence), ids), 1)
            case Support.SUPPORTED | Support.UNCHECKED:
                continue
            case Support.CONTRADICTED if verdict.correction:
                draft = draft.replace(sentence, _add_mark(without_markers(verdict.correction), ids), 1)
            case Support.UNSUPPORTED if not cited and not sentence.endswith(CUT.strip()):
                draft = draft.replace(sentence, _add_mark(sentence, UNSOURCED.strip()), 1)
            case _:
                draft = draft.replace(sentence, "", 1)
    bare = re.sub(r"(?m)^\s*(?:[-*•]|\d+\.)\s*$\n?", "", _without_empty_quotes(draft))
    return re.sub(r"\n{3,}", "\n\n", bare).strip()


def _without_empty_quotes(draft: str) -> str:
    """The draft without lines of a quotation in which nothing is left, but for one between two paragraphs of it."""
    kept: list[str] = []
    for line in draft.split("\n"):
        within = bool(kept) and kept[-1].startswith(">")
        if line.startswith(">") and not line.strip("> ") and not (within and kept[-1] != ">"):
            continue
        if kept and kept[-1] == ">" and not line.startswith(">"):
            kept.pop()  # nothing of the quotation follows
        kept.append(line.rstrip() if line.startswith(">") else line)
    return "\n".join(kept)


def _add_mark(sentence: str, mark: str) -> str:
    """The sentence with its mark; a table's row has it in its last cell."""
    row = re.fullmatch(r"(\s*\|.*?)\s*\|\s*", sentence)
    return f"{row.group(1)} {mark} |" if row else f"{sentence} {mark}"


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
