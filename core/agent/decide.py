"""Third step: decide whether the evidence suffices, to search for what is missing, or to ask the person."""

from collections.abc import AsyncGenerator, AsyncIterator

from core.agent.gather import describe, new_actions
from core.agent.outcomes import ask_back, likely_answer, park_run
from core.agent.question_back import short_label, shown_words
from core.agent.retries import NO_ANSWER, can_restart_with_quotes, restart_with_quotes
from core.agent.run import RESERVE_SECONDS, WEAK, Run
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, QueryRefined
from core.model.inquiry import (
    AskBack,
    CheckpointKind,
    Choice,
    ChoiceId,
    Decision,
    Insufficient,
    Phase,
    SearchAction,
    SearchKnowledge,
    SearchSource,
    Sufficient,
)
from core.model.knowledge import list_titles
from core.model.languages import WORDINGS, language_of

CAPPED = Sufficient("a cap is reached")
LONG_SEARCH_AFTER = 3  # searches
IN_FULL = 9  # lowest grade of a passage that answers the question by itself
MISSES_IN_A_ROW = 2  # searching stops after this many rounds without new evidence


async def decide(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Set the inquiry's next phase, or end the run at a checkpoint."""
    if run.wants_sources and run.relevant and not run.inquiry.closing:
        yield _sources_first(run)
        return
    if run.inquiry.closing:
        run.update(phase=Phase.COMPOSE)
        return
    with run.time_stage("decide"):
        decision = _take_grader_decision(run) or await _decision(run)
    if isinstance(decision, AskBack) and run.inquiry.may_ask(CheckpointKind.CLARIFY):
        async for event in ask_back(run, decision):
            yield event
        return
    if isinstance(decision, Insufficient):
        async for event in _go_on(run, decision):
            yield event
        return
    found = isinstance(decision, Sufficient) and decision is not CAPPED
    run.update(phase=Phase.COMPOSE, missing="" if found else run.inquiry.missing)


def _take_grader_decision(run: Run) -> Decision | None:
    """Return the decision that came with the grades. Ignore "sufficient" if the same grades left no evidence."""
    decision, run.decision = run.decision, None
    return None if isinstance(decision, Sufficient) and not run.relevant else decision


async def _decision(run: Run) -> Decision:
    try:
        return await run.within(run.reasoner.decide(run.inquiry, run.thread, run.meter), reserve=RESERVE_SECONDS / 2)
    except BudgetExhausted as cap:
        run.meter.notice(str(cap))
        return CAPPED


async def _go_on(run: Run, decision: Insufficient) -> AsyncIterator[AgentEvent]:
    run.update(missing=decision.missing)
    actions = new_actions(run.inquiry, decision.actions)
    long = run.searches >= LONG_SEARCH_AFTER
    # After three searches without any evidence, don't ask the person whether to keep searching.
    hopeless = long and not run.relevant and CheckpointKind.LONG_SEARCH not in run.inquiry.settled
    repeating = run.inquiry.misses >= MISSES_IN_A_ROW
    worthwhile = bool(actions) and bool(run.meter.searches_left) and not repeating and not hopeless
    if worthwhile and long and _contradicts_grades(run):
        run.update(phase=Phase.COMPOSE)
    elif worthwhile and long and run.inquiry.may_ask(CheckpointKind.LONG_SEARCH):
        run.update(proposals=actions)
        yield _long_search(run, actions)
    elif worthwhile:
        run.update(proposals=actions, phase=Phase.GATHER)
        refined = "; ".join(describe(action) for action in actions)
        yield QueryRefined(original=run.inquiry.standalone, refined=refined, reason=decision.missing)
    elif not run.relevant and can_restart_with_quotes(run):
        restart_with_quotes(run, NO_ANSWER)
        yield QueryRefined(run.inquiry.standalone, run.inquiry.standalone, "nothing counted: by the rules for quotes")
    elif _may_offer_more(run):
        yield _nothing_relevant(run, actions)
    else:
        run.update(phase=Phase.COMPOSE)


def _may_offer_more(run: Run) -> bool:
    """Return whether to ask the person how to go on. Don't ask if a quote may answer or a reading was chosen."""
    weak = not run.relevant and bool(run.inquiry.library.relevant(WEAK))
    asks = weak and not run.inquiry.reading and run.inquiry.may_ask(CheckpointKind.NOTHING_RELEVANT)
    return asks and not likely_answer(run)[0]


def _contradicts_grades(run: Run) -> bool:
    """Return whether a model wants to keep searching although it graded a passage as the whole answer.

    Then the answer is written from that passage, and quotes replace it if verification fails. No person is asked.
    """
    best = max((item.grade.score for item in run.relevant if item.grade), default=0)
    return (
        run.deps.quote_fallback is not None
        and not run.fallback_reason
        and bool(run.meter.spent.calls)
        and best >= IN_FULL
    )


def _sources_first(run: Run) -> AgentEvent:
    titles = dict.fromkeys(item.passage.title for item in run.relevant)
    count = len(run.relevant)
    passages = "1 passage" if count == 1 else f"{count} passages"
    message = f"I found {passages} about this in {list_titles(titles)}. Show the sources first, or answer now?"
    choices = (Choice(ChoiceId.SHOW, "Show sources"), Choice(ChoiceId.ANSWER, "Answer"))
    return park_run(run, CheckpointKind.SOURCES_FIRST, message, choices)


def _long_search(run: Run, actions: tuple[SearchAction, ...]) -> AgentEvent:
    found = dict.fromkeys(item.passage.title for item in run.relevant)
    have = f"I have evidence from {list_titles(found)}"
    lacking, ahead = shown_words(run, run.inquiry.missing), shown_words(run, describe(actions[0]))
    missing = f", but nothing yet on {lacking}" if lacking else ""
    message = f"I have searched {run.searches} times. {have}{missing}. Next I would search for “{ahead}”."
    choices = (
        Choice(ChoiceId.KEEP, "Keep searching"),
        Choice(ChoiceId.ANSWER, "Answer now"),
        Choice(ChoiceId.NARROW, "Narrow it", asks_text=True),
    )
    return park_run(run, CheckpointKind.LONG_SEARCH, message, choices)


def _nothing_relevant(run: Run, actions: tuple[SearchAction, ...]) -> AgentEvent:
    terms = _proposed_terms(run, actions)
    choices = tuple(
        Choice(ChoiceId.term(n), short_label(f"Try “{shown_words(run, term)}”"), term)
        for n, term in enumerate(terms, 1)
    )
    said = WORDINGS[language_of(run.inquiry.question)]
    weak = dict.fromkeys(item.passage.title for item in run.inquiry.library.relevant(WEAK))
    return park_run(
        run,
        CheckpointKind.NOTHING_RELEVANT,
        f"{said.nothing} {said.weak} {list_titles(weak)}. {said.go_on}",
        (*choices, Choice(ChoiceId.CAVEATS, "Answer with caveats"), Choice(ChoiceId.STOP, "Never mind")),
    )


def _proposed_terms(run: Run, actions: tuple[SearchAction, ...]) -> tuple[str, ...]:
    """Return two untried queries: the reasoner's next ones, then the sections of weak evidence.

    A heading includes its document's title, because "Terms" alone matches every document.
    """
    tried = {describe(search.action).casefold() for search in run.inquiry.searches}
    proposed = [action.query for action in actions if isinstance(action, SearchKnowledge | SearchSource)]
    near = [item.passage for item in run.inquiry.library.relevant(WEAK)]
    open_places = (one for one in near if not one.heading or one.heading[-1].casefold() not in tried)
    proposed.extend(f"{one.heading[-1]} ({one.title})" if one.heading else one.title for one in open_places)
    return tuple(term for term in dict.fromkeys(proposed) if term.casefold() not in tried)[:2]
