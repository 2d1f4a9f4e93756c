"""Fifth step: verify the draft. Failing parts are repaired once, then struck. The rest is the answer.

Every character outside the edited parts stays as it was written.
A good draft costs one call, a failing one at most three: check, repair, check of the repairs. Quotes replace the answer
if fewer than half of its claims hold.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence

from core.agent.citations import finished_text
from core.agent.outcomes import abstain, end_run
from core.agent.retries import (
    CITES_NOTHING,
    DOES_NOT_HOLD,
    NO_ANSWER,
    can_restart_with_quotes,
    look_closer,
    restart_with_quotes,
)
from core.agent.run import Run
from core.agent.verification.claims import (
    FEWEST_WORDS,
    DraftUnit,
    UnitKind,
    code_stands,
    says_nothing,
    units_in,
    verbatim_in,
)
from core.agent.verification.judge import Judged, judge
from core.model.answer import ClaimVerdict, Outcome, Support, Verdict
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, AnswerReset, HallucinationChecked, QueryRefined
from core.model.inquiry import Phase, SearchKnowledge
from core.model.markdown_lines import LIST_ITEM
from core.model.profile import Profile
from core.model.text import MARKER, cited_ids, content_words, without_markers
from core.values import Kind, values_in

CODE_LEFT_OUT = "(Lines that are in no document were left out here.)"
_ROW = re.compile(r"(\s*\|.*?)\s*\|\s*")
_EMPTY_ITEM = re.compile(r"^\s*(?:>\s*)*(?:[-*•]|\d+[.)])?\s*$")

Edit = tuple[DraftUnit, str]  # a part of the draft and its replacement, empty to strike it


def edit(draft: str, edits: Iterable[Edit]) -> str:
    """Return the draft with each part replaced. Remove lines that become empty."""
    for unit, text in sorted(edits, key=lambda one: -one[0].start):
        draft = _replace(draft, unit, text)
    return re.sub(r"\n{3,}", "\n\n", _without_empty_quotes(draft)).strip()


def cited(judged: Judged) -> Edit | None:
    """Return the edit that adds a claim's citation markers. None if it has them or another marker covers it."""
    unit, evidence = judged.unit, judged.verdict.claim.evidence
    if judged.verdict.support is not Support.SUPPORTED or not evidence or evidence == unit.evidence:
        return None
    marks = "".join(f"[{n}]" for n in evidence)
    return unit, _with_mark(without_markers(unit.text) if cited_ids(unit.text) else unit.text, marks)


def without_foreign_code(draft: str, texts: Sequence[str]) -> str:
    """Return the draft without code blocks that are in none of the texts."""
    foreign = [unit for unit in units_in(draft) if unit.kind is UnitKind.CODE and not code_stands(unit.text, texts)]
    return edit(draft, [(unit, CODE_LEFT_OUT) for unit in foreign]) if foreign else draft


def without_idle_leads(draft: str) -> str:
    """Return the draft without a last line that introduces struck content."""
    lines = draft.rstrip().split("\n")
    while len(lines) > 1 and without_markers(lines[-1]).rstrip("*_ ").endswith(":"):
        lines = "\n".join(lines[:-1]).rstrip().split("\n")
    return "\n".join(lines)


def _replace(draft: str, unit: DraftUnit, text: str) -> str:
    before, after = draft[: unit.start], draft[unit.end :]
    if text:
        return f"{before}{text}{after}"
    line_start, rest = before.rpartition("\n")[2], after.partition("\n")
    if not _EMPTY_ITEM.match(line_start + rest[0]):
        return before.rstrip(" ") + after if not rest[0].strip() else before + after.lstrip(" ")
    return before[: len(before) - len(line_start)] + (rest[2] if rest[1] else "")


def _with_mark(sentence: str, mark: str) -> str:
    """Return the sentence with its marker. A table row has it in the last cell."""
    row = _ROW.fullmatch(sentence)
    return f"{row.group(1)} {mark} |" if row else f"{sentence} {mark}"


def _without_empty_quotes(draft: str) -> str:
    """Return the draft without empty block quote lines, except one between two paragraphs."""
    kept: list[str] = []
    for line in draft.split("\n"):
        within = bool(kept) and kept[-1].startswith(">")
        if line.startswith(">") and not line.strip("> ") and not (within and kept[-1] != ">"):
            continue
        if kept and kept[-1] == ">" and not line.startswith(">"):
            kept.pop()  # the block quote ends here
        kept.append(line.rstrip() if line.startswith(">") else line)
    return "\n".join(kept)


GROUNDED = 0.999  # an answer is grounded if every remaining claim holds


async def verify(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Yield the final answer, or go back: to a closer look, to quotes, or (thorough, once) to the search."""
    written, question = run.draft, run.inquiry.standalone
    verdict: Verdict | None = None
    if says_nothing(written, question):
        shortfall = NO_ANSWER
    elif not any(run.inquiry.library.get(n) for n in cited_ids(written)):
        shortfall = CITES_NOTHING
    else:
        judged: list[Judged] = []
        async for event in _check(run, judged):
            yield event
        verdict = Verdict(tuple(one.verdict for one in judged if one.counts)) if judged else None
        shortfall = _shortfall(run, judged)
    if not shortfall and run.inquiry.policy.profile is Profile.THOROUGH and not run.critiqued:
        async for event in _critique(run):
            yield event
        if run.inquiry.phase is Phase.GATHER:
            return
    text, citations = finished_text(run.draft, run.inquiry.library, question, run.deps.link_hosts)
    if citations and not shortfall:
        yield end_run(run, Outcome.ANSWERED, text, citations=citations, verdict=verdict)
        return
    async for event in _go_back(run, written, shortfall or DOES_NOT_HOLD, verdict):
        yield event


async def judge_draft(run: Run) -> list[Judged]:
    """Remove code from the draft that is in no document, and judge all other parts."""
    texts = [item.passage.text for item in run.inquiry.library.items_found() or run.inquiry.library]
    run.draft = without_foreign_code(run.draft, texts)
    units = [unit for unit in units_in(run.draft) if unit.kind is not UnitKind.CODE and not _is_remark(run, unit)]
    return await judge(run, units)


async def _check(run: Run, judged: list[Judged]) -> AsyncIterator[AgentEvent]:
    """Judge every part of the draft, repair failing parts, and apply the verdicts to the draft."""
    started = run.deps.clock.monotonic()
    with run.time_stage("verify"):
        judged.extend(await judge_draft(run))
        failed = [one for one in judged if one.failed]
        repaired = await _repair(run, failed)
    verdict = Verdict(tuple(one.verdict for one in judged if one.counts))
    yield HallucinationChecked(
        is_grounded=verdict.grounding >= GROUNDED,
        confidence=round(verdict.grounding, 3),
        hallucinated_claims=tuple(one.verdict.claim.text for one in failed),
        duration_ms=(run.deps.clock.monotonic() - started) * 1000,
        word_for_word=bool(verdict.claims) and all(_is_quoted(run, one) for one in verdict.claims),
    )
    edits = [mark for one in judged if (mark := cited(one)) is not None]  # positions refer to the draft, not to repairs
    for at, one in enumerate(judged):
        if one.failed and one.unit in repaired:
            judged[at] = repaired[one.unit][0]
    struck: list[Edit] = [(one.unit, repaired[one.unit][1] if one.unit in repaired else "") for one in failed]
    run.draft = without_idle_leads(edit(run.draft, [*edits, *struck])) if edits or struck else run.draft


async def _repair(run: Run, failed: Sequence[Judged]) -> dict[DraftUnit, tuple[Judged, str]]:
    """Ask once for corrected sentences, judge them, and return those that hold by the part that they replace.

    Claims that no trusted model has read are not repaired.
    """
    wrong = [one for one in failed if not one.verdict.by_words]
    if not wrong or run.inquiry.stopped:
        return {}
    try:
        verdicts = [one.verdict for one in wrong]
        texts = await run.within(run.reasoner.repair(run.inquiry, run.draft, verdicts, run.composed_from, run.meter))
        formed = [_in_form(one.unit.text, text) for one, text in zip(wrong, texts, strict=True)]
        pairs = [(one, text) for one, text in zip(wrong, formed, strict=True) if _may_replace(run, one, text)]
        again = [unit for _, text in pairs for unit in units_in(text)]
        verdict_on = dict(zip(again, await judge(run, again), strict=True)) if again else {}
    except BudgetExhausted:
        return {}
    held: dict[DraftUnit, tuple[Judged, str]] = {}
    for one, text in pairs:
        parts = [verdict_on[unit] for unit in units_in(text)]
        if parts and all(part.verdict.support is Support.SUPPORTED or not part.counts for part in parts):
            marked = edit(text, [mark for part in parts if (mark := cited(part)) is not None])
            held[one.unit] = (parts[0], marked)
    return held


def _in_form(failed: str, text: str) -> str:
    """Return a correction with the list marker of the item that it replaces."""
    mark = LIST_ITEM.match(failed)
    return f"{mark.group()}{text}" if mark and text and not LIST_ITEM.match(text) else text


def _may_replace(run: Run, failed: Judged, text: str) -> bool:
    """Return whether a correction shares words with the failed part, cites evidence, and is new to the draft."""
    ours, theirs = (set(content_words(MARKER.sub("", part))) for part in (failed.unit.text, text))
    return bool(ours & theirs) and any(map(run.inquiry.library.get, cited_ids(text))) and text not in run.draft


def _shortfall(run: Run, judged: Sequence[Judged]) -> str:
    """Return why the remaining draft is not an answer. Empty if it is one."""
    counted = [one for one in judged if one.counts]
    held = sum(not one.failed for one in counted)
    if (counted and not held) or not run.draft or says_nothing(run.draft, run.inquiry.standalone):
        return DOES_NOT_HOLD
    if run.fallback_reason or not can_restart_with_quotes(run):
        return ""
    if 2 * held < len(counted):
        return DOES_NOT_HOLD
    unread = all(one.verdict.by_words or _is_quoted(run, one.verdict) for one in counted)
    return NO_ANSWER if unread and is_beside_the_question(run, [one.verdict for one in counted]) else ""


async def _go_back(run: Run, written: str, because: str, verdict: Verdict | None) -> AsyncIterator[AgentEvent]:
    """Replace a failed draft: look closer on the fast path, otherwise quote, otherwise say that nothing was found."""
    quotes = can_restart_with_quotes(run)
    if run.inquiry.fast_path and (because != DOES_NOT_HOLD or not quotes):
        run.draft = written
        async for event in look_closer(run):
            yield event
    elif quotes:
        restart_with_quotes(run, because)
        yield AnswerReset("quoting the documents instead")
    else:
        said = "What I had written was not supported by the documents." if because == DOES_NOT_HOLD else ""
        yield abstain(run, because=said, verdict=verdict)


def _is_remark(run: Run, unit: DraftUnit) -> bool:
    return any(unit.text in remark for remark in run.remarks)


def _is_quoted(run: Run, verdict: ClaimVerdict) -> bool:
    """Return whether a claim is word for word in a passage that it cites."""
    texts = [item.passage.text for n in verdict.claim.evidence if (item := run.inquiry.library.get(n))]
    return verbatim_in(verdict.claim.text, texts) is not None


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


_AMOUNT_ASKED = re.compile(
    r"(?i)\bhow (?:many|much|long|often|fast|soon|quickly|late|early|big|large|old|far|high|few)\b|\bwhat time\b"
    r"|\b(?:until|since|by|from|after) when\b|^\W*when\b|\bwhich (?:day|weekday|date|month|year|version)\b"
    r"|\bwhat (?:percentage|share|price|date)\b"
)
_AMOUNT_WORD = re.compile(
    r"(?i)\b(?:once|twice|half|never|always|no|none|immediately|at once|daily|weekly|monthly|yearly|quarterly|annually"
    r"|hourly|free)\b"
)
_PERSON_ASKED = re.compile(r"(?i)^\W*who\b|\b(?:by|to|from|with) whom\b|^\W*whom\b|\bwhose\b")
_PERSON = re.compile(
    r"\S\s+(?!I\b)[A-Z]\w|(?i:\b(?:team|lead|head|manager|owner|everyone|everybody|anyone|nobody|customer)s?\b)"
)
_IDENTIFIER = re.compile(r"\b(?:[vV]?\d+(?:\.\d+)+|[A-Za-z]+-?\d{1,6}|\d{3,4})\b")


def is_beside_the_question(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Return whether the draft only speaks of another version or thing, or lacks the kind of value asked for."""
    return (
        all(_is_cell(run, one) for one in verdicts)
        or _cites_another_version(run, verdicts)
        or not _has_expected_kind(run.inquiry.standalone, " ".join(one.claim.text for one in verdicts))
    )


def _is_cell(run: Run, verdict: ClaimVerdict) -> bool:
    bare = without_markers(verdict.claim.text).strip(" .*")
    rows = (
        line
        for n in verdict.claim.evidence
        if (item := run.inquiry.library.get(n))
        for line in item.passage.text.splitlines()
        if line.lstrip().startswith("|")
    )
    return len(content_words(bare)) < FEWEST_WORDS and any(bare in row for row in rows)


def _cites_another_version(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Return whether the cited passages miss the question's version or code, or a number that other evidence has."""
    asked = set(_IDENTIFIER.findall(run.inquiry.standalone))
    found = " ".join(item.passage.searchable for item in run.inquiry.library.items_found())
    cited = {n for one in verdicts for n in one.claim.evidence}
    there = " ".join(item.passage.searchable for n in cited if (item := run.inquiry.library.get(n)))
    return bool(cited) and any(one not in there and (one in found or not one.isdigit()) for one in asked)


def _has_expected_kind(question: str, said: str) -> bool:
    """Return whether the draft has an amount, time or person if the question asks for one."""
    plain = without_markers(said)
    if _AMOUNT_ASKED.search(question) and not (
        _AMOUNT_WORD.search(plain) or any(value.kind is not Kind.NAME for value in values_in(plain))
    ):
        return False
    return not (_PERSON_ASKED.search(question) and not _PERSON.search(plain))
