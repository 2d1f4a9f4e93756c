"""Admins' decisions between two sources that differ: proposed once, stored as a short document, and then cited.

A decision's source names the two statements that it is about. It settles them only while both stay the same.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.model.answer import Answer
from core.model.clock import Clock
from core.model.conversation import Person
from core.model.errors import AlreadyDone, DocumentRejected
from core.model.events import AgentCompleted, TracedEvent
from core.model.plain_text import clipped
from core.ports.job_store import DisputedSource, Proposal, ProposalStore
from core.service.actions.wording import OWNER_DECIDED, OWNER_TOLD

DECISION = "decision "  # a decision's source begins with it
MOST_TITLE, MOST_SAID = 60, 140  # characters of a side in the list of proposals
LETTERS = "ab"


@dataclass(frozen=True, slots=True)
class DisputeReports:
    """Sends disputes to the admins who may read both sources."""

    proposal_store: ProposalStore
    clock: Clock

    async def report(self, question: str, sides: Sequence[DisputedSource], person: Person) -> None:
        """Propose a decision between two sources. Raises AlreadyDone if one is or was proposed, and Busy."""
        source = decision_source(sides)
        name = _proposal_id(source)
        if await self.proposal_store.proposal(name) is not None:
            raise AlreadyDone(OWNER_TOLD)
        if await self.proposal_store.decision(name) is not None:
            raise AlreadyDone(OWNER_DECIDED)
        shown = " ".join(f"{letter.upper()}, {_line(side)}" for letter, side in zip(LETTERS, sides, strict=True))
        title = f"Two sources differ: {question}"
        await self.proposal_store.keep_proposal(
            Proposal(name, "", source, title, question, person, self.clock.now(), beginning=shown, sides=tuple(sides))
        )


async def withdraw_decision(proposal_store: ProposalStore, source: str) -> None:
    """Reopen a dispute whose decision was removed. Ignores sources of other documents."""
    if source.startswith(DECISION):
        await proposal_store.reopen(_proposal_id(source))


def _proposal_id(source: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, source).hex[:8]


def disputed_sources(trace: Iterable[TracedEvent]) -> tuple[DisputedSource, ...]:
    """Return the two sources that differ in the answer that ended a trace; empty if none do."""
    answers = [one.event.answer for one in trace if isinstance(one.event, AgentCompleted)]
    return _sides_of(answers[-1]) if answers else ()


def _sides_of(answer: Answer) -> tuple[DisputedSource, ...]:
    if answer.dispute is None:
        return ()
    cited = {one.n: one for one in answer.citations}
    said = {answer.dispute.newer: answer.dispute.newer_says, answer.dispute.older: answer.dispute.older_says}
    sources = [(cited[number], says) for number, says in said.items()]
    return tuple(DisputedSource(one.knowledge_base, one.document, one.title, says, one.dated) for one, says in sources)


def _line(side: DisputedSource) -> str:
    dated = f" ({side.dated})" if side.dated else ""
    return f"{side.title[:MOST_TITLE]}{dated}: “{clipped(side.says, MOST_SAID)}”"


def _mark(side: DisputedSource) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{side.base}\x1f{side.source}\x1f{side.says}").hex[:12]


def decision_source(sides: Iterable[DisputedSource]) -> str:
    """Return the source of the document that decides between these sides, in any order."""
    return DECISION + " ".join(sorted(map(_mark, sides)))


def settles(source: str, sides: Iterable[DisputedSource]) -> bool:
    """Return whether a decision with this source is about these sides. A side may be the decision itself."""
    marks = source.removeprefix(DECISION).split()
    return source.startswith(DECISION) and all(side.source == source or _mark(side) in marks for side in sides)


def decision_text(text: str) -> str:
    """Return the decision from its document's text, without the line that says who approved it and when."""
    return text.partition("\n\n")[2] or text


def decide(proposal: Proposal, ruling: str, by: Person, at: datetime) -> Proposal:
    """Return the proposal with the document that states which side is right, in the base of the chosen sides.

    ``ruling`` is a, b, or both with words that say when each applies. Raises DocumentRejected if it is none of these.
    If the sides are in several bases, the base stays empty, because its readers would read text from another base.
    """
    which, _, when = ruling.strip().partition(" ")
    held = {"a": proposal.sides[:1], "b": proposal.sides[1:], "both": proposal.sides}.get(which.casefold(), ())
    if not held or (len(held) > 1 and not when.strip()):
        ways = f"`{proposal.id} a`, `{proposal.id} b`, or `{proposal.id} both` and in which case each holds"
        raise DocumentRejected("Two sources differ here.", remedy=f"Approve {ways}.")
    approved = f"Approved on {at:%Y-%m-%d} by {by.name or 'an admin'}, where two sources differed."
    said = [held[0].says] if len(held) == 1 else [*(f"{side.title}: {side.says}" for side in held), when.strip()]
    topic = proposal.text.rstrip(" ?")  # a title that asks states nothing
    text = "\n\n".join((f"# {topic}", approved, *said))
    bases = {side.base for side in held}
    return replace(proposal, title=topic, text=text, base=held[0].base if len(bases) == 1 else "")
