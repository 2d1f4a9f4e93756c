"""Judging claims: the verifier decides, and code checks its quoted words and the values.

All parts of a draft go to the reasoner in one call. If it calls a claim supported, code checks that the quoted words
are in the evidence and that every value of the claim follows from the evidence. If no trusted model has read the
claims (``ClaimVerdict.by_words``), only the reasoner's word rules decide.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.agent.run import Run
from core.agent.verification.claims import FEWEST_WORDS, DraftUnit, UnitKind, verbatim_in
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.errors import BudgetExhausted
from core.model.evidence import Evidence
from core.model.profile import Profile
from core.model.text import cited_ids, content_words, without_markers, words
from core.values import Kind, exchanged_values, polarity_conflict, value_faults, values_in

HALF = 0.5  # least share of a claim's content words in the evidence
MOST_OF_WORDS = 0.8  # least share of a verdict's quoted words in one passage: allows small slips
UNSOURCED = "(not from the documents)"
FAILED = frozenset({Support.CONTRADICTED, Support.UNSUPPORTED})
_GAP = re.compile(r"\s*(?:…|\.{3})\s*|\n+")
_ANSWERS = re.compile(r"(?i)^\W*(?:yes|no|nope|ja|nein|doch|oui|non|si|sí)\b")


@dataclass(frozen=True, slots=True)
class Judged:
    """A part of a draft with its verdict. ``counts`` is false for parts that state nothing, such as leads."""

    unit: DraftUnit
    verdict: ClaimVerdict
    counts: bool = True

    @property
    def failed(self) -> bool:
        """Whether the part must be repaired or struck."""
        return self.verdict.support in FAILED


async def judge(run: Run, units: Sequence[DraftUnit]) -> list[Judged]:
    """Return a verdict for each unit, in order, with at most one reasoner call."""
    judged = [_without_reading(run, unit) for unit in units]
    if all(judged):
        return [one for one in judged if one]
    verdicts = await _read(run, [Claim(unit.text, _evidence_of(run, unit)) for unit in units])
    return [one or _checked(run, unit, verdict) for unit, verdict, one in zip(units, verdicts, judged, strict=True)]


async def _read(run: Run, claims: Sequence[Claim]) -> Sequence[ClaimVerdict]:
    """Return the reasoner's verdicts, or those of the word rules in the quick profile. Unchecked if time runs out."""
    quick = run.inquiry.policy.profile is Profile.QUICK
    reader = run.deps.quote_fallback if quick else run.reasoner
    if reader is None:
        return [ClaimVerdict(claim, Support.UNSUPPORTED, by_words=True) for claim in claims]
    try:
        return await run.within(reader.check(run.inquiry, claims, run.composed_from, run.meter))
    except BudgetExhausted:
        run.meter.notice("I ran out of time before I could check every sentence against its source.")
        return [ClaimVerdict(claim, Support.UNCHECKED, 0.0) for claim in claims]


def _evidence_of(run: Run, unit: DraftUnit) -> tuple[int, ...]:
    cited = tuple(n for n in unit.evidence if run.inquiry.library.get(n))
    return cited or tuple(item.id for item in run.composed_from)


def _without_reading(run: Run, unit: DraftUnit) -> Judged | None:
    """Judge units that need no reasoner: verbatim sentences of the documents, and questions. None for the rest."""
    if unit.kind is UnitKind.LEAD:
        said = without_markers(unit.text)
        harmless = said.rstrip("*_ ").endswith("?") or said.startswith("|")  # a question; a table's header
        plain = run.fallback_reason or (harmless and not _faults(run, unit, _found(run)))
        return _passed(unit) if plain else None
    if unit.kind is not UnitKind.STATEMENT or len(content_words(without_markers(unit.text))) < FEWEST_WORDS:
        return None
    cited = _items(run, _evidence_of(run, unit))
    at = verbatim_in(unit.text, [item.passage.text for item in cited])
    source = (
        cited[at]
        if at is not None
        else next((item for item in run.composed_from if verbatim_in(unit.text, [item.passage.text]) == 0), None)
    )
    if source is None:
        return None
    evidence = unit.evidence if at is not None and unit.evidence else (source.id,)
    return Judged(unit, ClaimVerdict(Claim(unit.text, evidence), Support.SUPPORTED, words=unit.text))


def _checked(run: Run, unit: DraftUnit, verdict: ClaimVerdict) -> Judged:
    """Check the reasoner's verdict on a part of the draft."""
    if verdict.by_words:
        return _by_words(run, unit, verdict)
    if unit.kind is UnitKind.COVERAGE:  # it says itself that no document states it
        return Judged(unit, verdict) if verdict.support is Support.CONTRADICTED else _passed(unit)
    if unit.kind is UnitKind.LEAD:
        return _lead(run, unit, verdict)
    match verdict.support:
        case Support.NO_CLAIM:
            return _passed(unit) if _states_nothing(unit) else _failed(unit, verdict, "no document says it")
        case Support.SUPPORTED | Support.UNCHECKED:
            return _hold(run, unit, verdict)
    harmless = unit.text.rstrip(" .").endswith(UNSOURCED) and verdict.support is Support.UNSUPPORTED
    if harmless and not _faults(run, unit, _found(run)):
        verdict = replace(verdict, support=Support.UNCHECKED)
    return Judged(unit, verdict)


def _lead(run: Run, unit: DraftUnit, verdict: ClaimVerdict) -> Judged:
    """Fail a lead that is contradicted, has a value that is not in the evidence, or adds something new."""
    if verdict.support is Support.CONTRADICTED:
        return Judged(unit, verdict)
    if verdict.support is Support.UNSUPPORTED:
        return _passed(unit) if _is_known(run, unit) else Judged(unit, verdict)
    faults = _faults(run, unit, _found(run))
    return _failed(unit, verdict, faults[0]) if faults else _passed(unit)


def _hold(run: Run, unit: DraftUnit, verdict: ClaimVerdict) -> Judged:
    """Check a claim that the verifier calls supported against its quoted words and the values in the evidence."""
    cited = _items(run, _evidence_of(run, unit))
    sources = _sources_of(verdict.words, [*cited, *run.composed_from])
    if verdict.support is Support.SUPPORTED and not sources:
        return _failed(unit, verdict, "the words it rests on are not in the documents")
    faults = _faults(run, unit, [*cited, *sources], verdict.words)
    if faults and (denied := _faults(run, unit, run.composed_from, verdict.words)):
        return _failed(unit, verdict, denied[0])
    asked = f"{run.inquiry.question} {run.inquiry.standalone}"
    texts = [f"{item.passage.searchable} {item.passage.dated}" for item in run.composed_from]
    if exchanged := exchanged_values(without_markers(unit.text), verdict.words, texts, asked):
        return _failed(unit, verdict, exchanged[0].reason)
    if polarity_conflict(without_markers(unit.text), verdict.words):
        return _failed(unit, verdict, "the documents say the opposite")
    ids = {item.id for item in sources}
    evidence = unit.evidence if not ids or ids.intersection(unit.evidence) else tuple(sorted(ids))
    return Judged(unit, replace(verdict, claim=Claim(unit.text, evidence)))


def _by_words(run: Run, unit: DraftUnit, verdict: ClaimVerdict) -> Judged:
    """Judge a unit that no trusted model has read: it holds if it is close to the documents' own words."""
    if unit.kind is UnitKind.COVERAGE:
        return _passed(unit)
    known = not _faults(run, unit, _found(run))
    if unit.kind is UnitKind.LEAD or unit.is_short:
        return _passed(unit) if (unit.is_short and known) or _is_known(run, unit) else _failed(unit, verdict, "")
    quick = run.inquiry.policy.profile is Profile.QUICK
    if quick and verdict.support in FAILED and not verdict.fault and known and _shares(run, unit) >= HALF:
        return Judged(unit, replace(verdict, support=Support.UNCHECKED))
    return Judged(unit, verdict)


def _faults(run: Run, unit: DraftUnit, items: Sequence[Evidence], quoted: str = "") -> list[str]:
    """Return the reasons why values in a part of the draft do not follow from the evidence."""
    texts = [f"{item.passage.searchable} {item.passage.dated}" for item in {item.id: item for item in items}.values()]
    asked = f"{run.inquiry.question} {run.inquiry.standalone}"
    said = without_markers(unit.text).replace(UNSOURCED, "")
    return [fault.reason for fault in value_faults(said, texts, asked, words=[quoted] if quoted else ())]


def _sources_of(quoted: str, items: Sequence[Evidence]) -> list[Evidence]:
    """Return the evidence that has the quoted words, part by part. Empty if any part is in no passage."""
    found: dict[int, Evidence] = {}
    parts = [part for part in map(_plain, _GAP.split(quoted)) if part]
    for part in parts:
        source = next((item for item in items if _has(item, part)), None)
        if source is None:
            return []
        found[source.id] = source
    return list(found.values())


def _has(item: Evidence, part: tuple[str, ...]) -> bool:
    summary = item.grade.summary if item.grade else ""
    there = _plain(f"{item.passage.searchable} {item.passage.dated} {summary}")
    if f" {' '.join(part)} " in f" {' '.join(there)} ":
        return True
    return len(part) >= FEWEST_WORDS and sum(word in set(there) for word in part) >= MOST_OF_WORDS * len(part)


def _plain(text: str) -> tuple[str, ...]:
    return tuple(word.casefold().replace("’", "'") for word in words(without_markers(text)))


def _states_nothing(unit: DraftUnit) -> bool:
    """Return whether a part that the verifier calls no claim cites nothing and has no value and no yes or no."""
    said = without_markers(unit.text)
    values = [value for value in values_in(said) if value.kind is not Kind.NAME]
    return not cited_ids(unit.text) and not values and not _ANSWERS.match(said)


def _is_known(run: Run, unit: DraftUnit) -> bool:
    """Return whether a lead adds no value, and at least half of its words are in the evidence or the question."""
    return not _faults(run, unit, _found(run)) and _shares(run, unit, run.inquiry.standalone) >= HALF


def _shares(run: Run, unit: DraftUnit, more: str = "") -> float:
    there = " ".join([more, *(item.passage.searchable for item in _found(run))])
    said = set(content_words(without_markers(unit.text)))
    return len(said & set(content_words(there))) / len(said) if said else 1.0


def _found(run: Run) -> Sequence[Evidence]:
    """Return all evidence found for this question, or that of earlier questions if there is none."""
    return run.inquiry.library.items_found() or tuple(run.inquiry.library)


def _items(run: Run, ids: Sequence[int]) -> list[Evidence]:
    return [item for n in ids if (item := run.inquiry.library.get(n))]


def _passed(unit: DraftUnit) -> Judged:
    return Judged(unit, ClaimVerdict(Claim(unit.text, unit.evidence), Support.NO_CLAIM), counts=False)


def _failed(unit: DraftUnit, verdict: ClaimVerdict, fault: str) -> Judged:
    return Judged(
        unit, replace(verdict, claim=Claim(unit.text, unit.evidence), support=Support.UNSUPPORTED, fault=fault)
    )
