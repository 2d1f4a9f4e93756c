"""Outcomes of a run: an answer, a question back, a checkpoint, or "I couldn't find this"."""

import re
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

from core.agent.citations import citation, finished_text, source_links
from core.agent.question_back import choice_labels, plain_question, shown_words
from core.agent.run import WEAK, Run
from core.agent.verification.claims import verbatim_in
from core.model.answer import Answer, Citation, Outcome, Verdict
from core.model.answer_links import without_foreign_links
from core.model.events import AgentCompleted, AgentEvent, AnswerDelta, CheckpointReached
from core.model.evidence import Evidence
from core.model.inquiry import (
    AskBack,
    Checkpoint,
    CheckpointKind,
    Choice,
    ChoiceId,
    Phase,
    Reply,
)
from core.model.knowledge import list_titles
from core.model.languages import WORDINGS, language_of
from core.model.markdown_lines import without_links

NEAREST = 3
# Thresholds to quote a sentence that is not evidence: its own chance, and the most that the next document may have.
LIKELY, NOTHING_ELSE = 0.44, 0.08
FOUND = 8
MOST_OPTIONS = 5
CLOSED = (
    "I can't use my documents for you right now: some data was lost, and an admin must first confirm who can read"
    " them. "
    "For admins: `/kb list` shows how."
)


def end_run(
    run: Run, outcome: Outcome, text: str, citations: tuple[Citation, ...] = (), **more: object
) -> AgentCompleted:
    """Return the final event, including what the run cost."""
    if run.fallback_reason and outcome is Outcome.ANSWERED:
        run.meter.notice(run.fallback_reason)
    run.update(phase=Phase.DONE)
    return AgentCompleted(_answer(run, outcome, text, citations, **more))


def _answer(run: Run, outcome: Outcome, text: str, citations: tuple[Citation, ...] = (), **more: object) -> Answer:
    """Build the answer. Every answer is built here, so that none has a link that ``answer_links`` forbids."""
    return Answer(
        outcome,
        _safe(run, text, citations),
        citations=citations,
        notices=tuple(dict.fromkeys((*run.inquiry.notices, *run.meter.notices))),
        causes=tuple(run.meter.causes),
        written_by=run.meter.written_by or run.reasoner.name,
        spent=run.meter.spent,
        timings=tuple(run.timings.items()),
        **more,  # type: ignore[arg-type]
    )


def _safe(run: Run, text: str, citations: Sequence[Citation] = ()) -> str:
    library = run.inquiry.library
    cited = [item for one in citations if (item := library.get(one.evidence)) is not None]
    return without_foreign_links(text, source_links(library, cited, run.deps.link_hosts))


async def reply_directly(run: Run, plan: Reply) -> AsyncIterator[AgentEvent]:
    """Send a reply that needs no search. It may cite evidence of earlier turns."""
    text, citations = finished_text(plan.text, run.inquiry.library, run.inquiry.question, run.deps.link_hosts)
    yield AnswerDelta(text)
    yield end_run(run, Outcome.ANSWERED, text, citations=citations)


async def ask_back(run: Run, ask: AskBack) -> AsyncIterator[AgentEvent]:
    """Ask the person a question back, with readings to choose from if there are any.

    A model that has read documents may have written it, so ``question_back`` filters it.
    """
    ask = plain_question(run, ask)
    if ask.options and CheckpointKind.CLARIFY in run.inquiry.policy.checkpoints:
        options = ask.options[:MOST_OPTIONS]
        labelled = zip(choice_labels(options), options, strict=True)
        choices = [Choice(ChoiceId.reading(n), label, option) for n, (label, option) in enumerate(labelled, 1)]
        choices.append(Choice(ChoiceId.OTHER, "Something else", asks_text=True))
        yield park_run(run, CheckpointKind.CLARIFY, ask.question, tuple(choices), Outcome.CLARIFIED)
        return
    listed = "".join(f"\n- {option}" for option in ask.options[:MOST_OPTIONS])
    yield AnswerDelta(ask.question + listed)
    yield end_run(run, Outcome.CLARIFIED, ask.question + listed)


def park_run(
    run: Run, kind: CheckpointKind, message: str, choices: tuple[Choice, ...], outcome: Outcome = Outcome.PARKED
) -> CheckpointReached:
    """End the run at a checkpoint. The caller stores the inquiry as JSON, so nothing waits in memory."""
    now, message = run.deps.clock.now(), _safe(run, message)
    run.update(spent=run.meter.spent, settled=run.inquiry.settled | {kind})
    checkpoint = Checkpoint(
        id=uuid.uuid4().hex[:16],
        kind=kind,
        thread=run.inquiry.thread,
        asker=run.inquiry.asker,
        question=run.inquiry.question,
        message=message,
        choices=choices,
        found=tuple(dict.fromkeys(_source_titles(run)))[:FOUND],
        missing=shown_words(run, run.inquiry.missing),
        spent=run.meter.spent,
        created_at=now,
        expires_at=now + timedelta(seconds=run.deps.checkpoint_seconds),
    )
    return CheckpointReached(checkpoint, _answer(run, outcome, message, nearest=nearest(run)))


def show_sources(run: Run) -> CheckpointReached:
    """Show the sources with quotes, and keep the inquiry parked so that the person can still get an answer."""
    cited = tuple(citation(n, item, run.inquiry.standalone) for n, item in enumerate(run.relevant[:FOUND], 1))
    message = f"These are the sources.{_also_found(run)} Do you want an answer from them?"
    choices = (Choice(ChoiceId.ANSWER, "Answer"), Choice(ChoiceId.STOP, "Never mind"))
    event = park_run(run, CheckpointKind.SOURCES_FIRST, message, choices)
    return replace(event, answer=replace(event.answer, citations=cited, nearest=()))


def _also_found(run: Run) -> str:
    """Name the next documents of the search, so that a person sees what an answer would leave out."""
    titles = list_titles(hit.passage.title for hit in run.inquiry.library.further)
    return f" The search also found {titles}." if titles else ""


def stop_run(run: Run) -> AgentEvent:
    """End a run that its asker stopped, and offer what was found so far."""
    if not (counts := _counted_evidence(run)):
        return end_run(run, Outcome.REFUSED, "Stopped, as you asked. I hadn't found anything useful yet.")
    titles = ", ".join(f"*{title}*" for title in dict.fromkeys(item.passage.title for item in counts[:NEAREST]))
    choices = (Choice(ChoiceId.ANSWER, "Answer from that"), Choice(ChoiceId.KEEP, "Keep searching"))
    return park_run(run, CheckpointKind.LONG_SEARCH, f"Stopped, as you asked. So far I have found: {titles}.", choices)


def _counted_evidence(run: Run) -> tuple[Evidence, ...]:
    """Return the evidence that counts. The fast path grades nothing, so there it is the draft's evidence."""
    return run.relevant or (run.composed_from if run.inquiry.fast_path else ())


def _source_titles(run: Run) -> list[str]:
    items = _counted_evidence(run) or run.inquiry.library.relevant(WEAK)
    return [
        f"{item.passage.title} ({item.passage.place})" if item.passage.place else item.passage.title for item in items
    ]


def nearest(run: Run) -> tuple[Citation, ...]:
    """Return the closest sources, one passage each, best first. They are named, not offered as evidence."""
    kept = _nearest_items(run)
    return tuple(citation(n, item, run.inquiry.standalone, _nearest_claims(item)) for n, item in enumerate(kept, 1))


def _nearest_items(run: Run) -> list[Evidence]:
    ranked = sorted(run.inquiry.library.items_found(), key=lambda item: (-_chance(item), -item.hit.score))
    by_document = {item.passage.document: item for item in reversed(ranked)}
    return sorted(by_document.values(), key=ranked.index)[:NEAREST]


def _chance(item: Evidence) -> float:
    """Return the probability that a passage answers, in [0, 1]: the grader's own, or derived from its grade."""
    if item.grade is None:
        return 0.0
    return (item.grade.score - 1) / 9 if item.grade.chance is None else item.grade.chance


def _nearest_claims(item: Evidence) -> tuple[str, ...]:
    """Return the sentence that the grade is based on, if the passage has it word for word."""
    said = item.grade.summary if item.grade else ""
    return (said,) if said and verbatim_in(said, (item.passage.text,)) is not None else ()


def likely_answer(run: Run) -> tuple[str, tuple[Citation, ...]]:
    """Return a remark that quotes the nearest sentence, with its citation. Empty if it hardly answers."""
    close = nearest(run)[:1]
    first, second, *_ = (*map(_chance, _nearest_items(run)), 0.0, 0.0)
    if not close or first < LIKELY or second > NOTHING_ELSE:
        return "", ()
    said = running_text(close[0].quote)
    wording = WORDINGS[language_of(run.inquiry.question)]
    return (f"{wording.may_answer} {wording.quoted.format(said)} [1]", close) if said else ("", ())


def running_text(quote: str) -> str:
    """Put a quote on one line: dots between cells, no list or heading marks, links as plain words."""
    bare = re.sub(r"(?m)^\s*(?:[-*+•>#]+|\d{1,3}[.)])\s+|^[|\s:-]+$", "", without_links(quote))
    cells = re.sub(r"\s*\|\s*", " · ", re.sub(r"(?m)^\s*\|\s*|\s*\|\s*$", "", bare))
    return " ".join(cells.replace("“", "‘").replace("”", "’").split())


def abstain(run: Run, *, because: str = "", verdict: Verdict | None = None) -> AgentCompleted:
    """Quote a sentence that may answer. Without one, say that nothing was found and name the nearest source."""
    close = nearest(run)
    said = WORDINGS[language_of(run.inquiry.question)]
    remark, cited = likely_answer(run)
    reading = run.inquiry.reading and said.unsaid_for.format(said.quoted.format(run.inquiry.reading))
    lines = [because or reading, remark] if remark else [because or reading or said.not_found]
    if close and not remark:
        lines.append(said.nearest.format(_nearest_name(close[0])))
        lines.append(said.foreign if language_of(close[0].quote) != language_of(run.inquiry.question) else "")
    lines.append(said.privately if run.inquiry.more_in_private else "")
    text = " ".join(filter(None, lines))
    return end_run(run, Outcome.ABSTAINED, text, citations=cited, nearest=close, verdict=verdict)


def leave_unanswered(run: Run) -> AgentCompleted:
    """End a question that its asker no longer wants answered."""
    return end_run(run, Outcome.ABSTAINED, WORDINGS[language_of(run.inquiry.question)].left)


async def nothing_to_read(run: Run) -> AgentCompleted:
    """Say that there are no readable documents, or none until an admin confirms the readers, and what to do."""
    if any(base.closed for base in await run.deps.catalog.bases()):
        return end_run(run, Outcome.ABSTAINED, CLOSED)
    privately = WORDINGS[language_of(run.inquiry.question)].privately
    way_on = privately if run.inquiry.more_in_private else run.deps.remedy
    return end_run(run, Outcome.ABSTAINED, f"There are no documents yet that I can use here. {way_on}")


def _nearest_name(source: Citation) -> str:
    return f"{source.title} ({source.short_place})" if source.short_place else source.title
