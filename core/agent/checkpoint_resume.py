"""Resuming a parked inquiry after a person's choice, as a pure function from one inquiry to the next."""

from dataclasses import replace

from core.agent.understand import MAX_QUERIES
from core.model.inquiry import AskBack, CheckpointKind, Choice, ChoiceId, Inquiry, Investigate, Phase, SearchKnowledge
from core.ports.memory import ParkedInquiry


def resume_inquiry(parked: ParkedInquiry, choice: Choice, text: str = "") -> Inquiry:
    """Return the inquiry to continue with after this choice. ``text`` is what the person typed, if the choice asks."""
    inquiry = parked.inquiry
    if choice.id == ChoiceId.STOP:  # people can type "stop" at every checkpoint
        return _compose_now(inquiry, choice)
    match parked.checkpoint.kind:
        case CheckpointKind.LONG_SEARCH:
            return _after_long_search(inquiry, choice, text)
        case CheckpointKind.NOTHING_RELEVANT:
            return _after_nothing(inquiry, choice)
        case CheckpointKind.SOURCES_FIRST:
            return _compose_now(inquiry, choice)
        case CheckpointKind.CLARIFY:
            return _after_clarify(inquiry, choice, text)


def _after_long_search(inquiry: Inquiry, choice: Choice, text: str) -> Inquiry:
    match choice.id:
        case ChoiceId.KEEP:
            return replace(inquiry, phase=Phase.GATHER)
        case ChoiceId.NARROW if text.strip():
            return narrow_inquiry(inquiry, text)
        case _:
            return replace(inquiry, phase=Phase.COMPOSE, closing=True, proposals=())


def narrow_inquiry(inquiry: Inquiry, text: str) -> Inquiry:
    """Search for the question within what the person added."""
    question = f"{inquiry.standalone} ({text.strip()})"
    plan = Investigate(question, (f"{text.strip()} {inquiry.standalone}",), "narrowed by the asker")
    actions = (SearchKnowledge(text.strip()), SearchKnowledge(plan.queries[0]))
    return replace(inquiry, phase=Phase.GATHER, plan=plan, refining=text.strip(), proposals=actions)


def _after_nothing(inquiry: Inquiry, choice: Choice) -> Inquiry:
    if choice.value:
        return replace(inquiry, phase=Phase.GATHER, proposals=(SearchKnowledge(choice.value),))
    if choice.id == ChoiceId.CAVEATS:
        return replace(inquiry, phase=Phase.COMPOSE, closing=True, caveats=True)
    return _compose_now(inquiry, choice)


def _compose_now(inquiry: Inquiry, choice: Choice) -> Inquiry:
    """Answer from the evidence found so far, unless the person stopped the question."""
    return replace(inquiry, phase=Phase.COMPOSE, closing=True, stopped=choice.id == ChoiceId.STOP)


def _all_readings(inquiry: Inquiry) -> Inquiry:
    """Without a choice, answer from the evidence for all readings. If there is none, search for each reading."""
    if inquiry.library.items_found():
        return replace(inquiry, phase=Phase.COMPOSE, closing=True)
    readings = inquiry.plan.options if isinstance(inquiry.plan, AskBack) else ()
    actions = tuple(SearchKnowledge(reading) for reading in readings or (inquiry.standalone,))
    return replace(inquiry, phase=Phase.GATHER, closing=True, proposals=actions[:MAX_QUERIES])


def _after_clarify(inquiry: Inquiry, choice: Choice, text: str) -> Inquiry:
    said = text.strip()
    question = choice.value or (said if said.endswith("?") or not said else f"{inquiry.standalone} {said}")
    if not question:
        return _all_readings(inquiry)
    plan = Investigate(question, (question,), "the asker said which one")
    # The grades belong to the ambiguous question, so search and grade again for the chosen reading.
    known = inquiry.library.carry_over()
    reading = choice.label if choice.value else said
    proposals = (SearchKnowledge(question),)
    return replace(inquiry, phase=Phase.GATHER, plan=plan, reading=reading, proposals=proposals, library=known)
