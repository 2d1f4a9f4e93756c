"""The state of one question: its plan, evidence, budget and, if parked, its checkpoint.

Everything here is frozen and serialises to JSON with ``json_codec``. So an inquiry can stop in one process and continue
in another, days later.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from core.model.answer import ResourceUsage
from core.model.conversation import Audience, Person, ThreadKey
from core.model.evidence import EvidenceLibrary
from core.model.json_codec import name_at_rest
from core.model.knowledge import KnowledgeBase
from core.model.profile import Behaviour, Profile


class Phase(StrEnum):
    """The next step of an inquiry."""

    UNDERSTAND = "understand"
    GATHER = "gather"
    DECIDE = "decide"
    COMPOSE = "compose"
    VERIFY = "verify"
    DONE = "done"


# Grades run from 1 to 10. A passage below the cutoff is not evidence. Calibrated by research/measure/abstention.py.
CUTOFFS = {Behaviour.CONSERVATIVE: 6, Behaviour.BALANCED: 5, Behaviour.THOROUGH: 4}


class CheckpointKind(StrEnum):
    """The reason why a question waits for a choice.

    ``long_search``: the search takes long. ``nothing_relevant``: nothing relevant was found. ``sources_first``: the
    asker confirms the sources before the answer is written. ``clarify``: the question has several meanings.
    """

    LONG_SEARCH = "long_search"
    NOTHING_RELEVANT = "nothing_relevant"
    SOURCES_FIRST = "sources_first"
    CLARIFY = "clarify"


ALL_CHECKPOINTS = frozenset(CheckpointKind)
DEFAULT_CHECKPOINTS = ALL_CHECKPOINTS - {CheckpointKind.SOURCES_FIRST}


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one inquiry. At a limit it answers from what it has. ``cost`` None: no price is configured."""

    searches: int
    tokens: int
    seconds: float
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """Daily limits of a channel; 0: no limit. A person's answers count wherever they ask."""

    person_answers: int = 0
    channel_answers: int = 0
    channel_money: float = 0.0  # in the configured currency


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How questions are answered in one place; channels may differ."""

    profile: Profile = Profile.BALANCED
    behaviour: Behaviour = Behaviour.BALANCED
    checkpoints: frozenset[CheckpointKind] = DEFAULT_CHECKPOINTS
    sources_first: bool = False  # always show sources before answering, whatever ``checkpoints`` says
    languages: tuple[str, ...] = ()  # the languages to answer in; empty: the asker's
    follow_ups: bool = False  # suggest next questions below an answer
    instructions: str = ""  # an admin's instructions: tone, language, where to send people
    limits: DailyLimits = DailyLimits()


@dataclass(frozen=True, slots=True)
class SearchKnowledge:
    """Action: search by keywords, in one base or in all visible ones."""

    query: str
    knowledge_base: str | None = None
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class SearchSource:
    """Action: search within one source, by its title or path."""

    query: str
    source: str


@dataclass(frozen=True, slots=True)
class ListSources:
    """Action: list the sources."""


@dataclass(frozen=True, slots=True)
class ReadSection:
    """Action: read the section around a piece of evidence."""

    evidence: int


SearchAction = SearchKnowledge | SearchSource | ListSources | ReadSection


@dataclass(frozen=True, slots=True)
class Reply:
    """Plan: reply without a search. ``[n]`` in the text may refer to evidence of earlier turns.

    ``small_talk``: the reply answers a greeting, thanks or the like, which documents cannot.
    """

    text: str
    reason: str = ""
    small_talk: bool = False


@dataclass(frozen=True, slots=True)
class AskBack:
    """Plan or decision: the question is unclear. ``options`` are its readings, each a self-contained question."""

    question: str
    options: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Investigate:
    """Plan: search. ``question`` is self-contained; ``queries`` has one to three, one for each unrelated need.

    ``reason`` is for people to read. ``resolved_from_thread``: the planner knows that it filled gaps in the message
    from earlier turns (a model's plan does not say so). ``leans_on``: titles that the last answer cited, if the
    question continues with them.
    """

    question: str
    queries: tuple[str, ...]
    reason: str = ""
    sources_first: bool = False  # the person asked to see sources before an answer
    resolved_from_thread: bool = False
    leans_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """Plan: no search; the person asks what can be read, in all bases or in one. The loop writes the reply."""

    knowledge_base: str | None
    reason: str = ""


Plan = Reply | AskBack | Investigate | Overview


@dataclass(frozen=True, slots=True)
class Sufficient:
    """Decision: the evidence answers the question."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Decision: this is missing, and these actions may find it. No actions: there is nothing better to try."""

    missing: str
    actions: tuple[SearchAction, ...] = ()


Decision = Sufficient | Insufficient | AskBack


@dataclass(frozen=True, slots=True)
class Search:
    """An executed action and its result. ``new`` counts evidence not known before: 0 is a miss."""

    action: Annotated[SearchAction, name_at_rest("move")]
    found: int = 0
    new: int = 0
    note: str = ""  # feedback for the model: an unknown name, a listing, a section's text


class ChoiceId(StrEnum):
    """The effect of a checkpoint's choice, as its button sends it. There may be several for terms and readings."""

    KEEP = "keep"  # go on searching
    ANSWER = "answer"  # answer from the evidence so far
    NARROW = "narrow"  # narrow the search by words that the person adds
    CAVEATS = "caveats"  # answer from weak evidence, marked as such
    STOP = "stop"
    SHOW = "show"  # show the sources before an answer
    OTHER = "other"  # none of the readings; the person types their own
    OWN_TERMS = "own-terms"  # search for the terms typed

    @staticmethod
    def term(number: int) -> str:
        """Return the id of the button that searches for proposed term ``number``, from 1."""
        return f"try-{number}"

    @staticmethod
    def reading(number: int) -> str:
        """Return the id of the button for reading ``number``, from 1."""
        return f"option-{number}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A button of a checkpoint.

    ``id`` is a ``ChoiceId``, or the id of a term or reading, whose text is ``value``. ``asks_text`` opens a text field
    first.
    """

    id: str
    label: str
    value: str = ""
    asks_text: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point where the inquiry waits for a person's choice. ``found`` names sources, best first."""

    id: str
    kind: CheckpointKind
    thread: ThreadKey
    asker: Person
    question: str
    message: str
    choices: tuple[Choice, ...]
    found: tuple[str, ...]
    missing: str
    spent: ResourceUsage
    created_at: datetime
    expires_at: datetime

    @property
    def progress(self) -> tuple[str, ...]:
        """The sources that a card lists as found so far. None for CLARIFY, whose readings each name their source."""
        return () if self.kind is CheckpointKind.CLARIFY else self.found

    def may_be_answered_by(self, person: Person, *, is_admin: bool) -> bool:
        """Return whether this person may choose here: the person who asked, or an admin."""
        return is_admin or person.id == self.asker.id

    def choice(self, pressed: str) -> Choice | None:
        """Return the choice with this id, number (from 1) or label, ignoring case; None if there is none."""
        wanted = pressed.strip().casefold()
        for number, choice in enumerate(self.choices, 1):
            if wanted in {choice.id.casefold(), choice.label.casefold(), str(number)}:
                return choice
        return None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The whole state of one question. ``id`` is its trace id."""

    id: str
    question: str
    thread: ThreadKey
    asker: Person
    audience: Audience
    started_at: datetime
    phase: Phase = Phase.UNDERSTAND
    policy: Annotated[AnswerPolicy, name_at_rest("conduct")] = field(default_factory=AnswerPolicy)
    bases: tuple[KnowledgeBase, ...] = ()  # bases visible to the audience; re-read on every start and resume
    plan: Plan | None = None
    searches: tuple[Search, ...] = ()
    more_in_private: bool = False  # a connected source has documents that only part of the audience may read
    library: EvidenceLibrary = field(default_factory=EvidenceLibrary)
    misses: int = 0  # consecutive rounds without new evidence
    missing: str = ""
    refining: str = ""  # what a person narrowed the question to
    reading: str = ""  # label of the reading that a person chose for an unclear question
    proposals: tuple[SearchAction, ...] = ()  # decided actions that are still to do
    settled: frozenset[CheckpointKind] = frozenset()  # checkpoints that a person has already passed
    caveats: bool = False  # the person wants an answer from weak evidence, marked as such
    fast_path: Annotated[bool, name_at_rest("attempt")] = (
        False  # write from the ungraded first search; the reasoner may decline
    )
    closing: bool = False  # answer from the evidence so far, whatever it is
    stopped: bool = False  # the person wants no answer
    notices: tuple[str, ...] = ()
    spent: ResourceUsage = ResourceUsage()

    @property
    def scope(self) -> frozenset[str]:
        """The names of the bases that this inquiry may read."""
        return frozenset(base.name for base in self.bases)

    @property
    def cutoff(self) -> int:
        """The lowest grade at which a passage counts as evidence here, for every reasoner."""
        return CUTOFFS[self.policy.behaviour]

    @property
    def standalone(self) -> str:
        """The question as understood, self-contained if it was rewritten."""
        return self.plan.question if isinstance(self.plan, Investigate) else self.question

    def may_ask(self, kind: CheckpointKind) -> bool:
        """Return whether this checkpoint is enabled here and the person has not passed it yet."""
        return kind in self.policy.checkpoints and kind not in self.settled


PROFILE_LIMITS = {
    Profile.QUICK: Limits(searches=3, tokens=12_000, seconds=30),
    Profile.BALANCED: Limits(searches=5, tokens=40_000, seconds=60),
    Profile.THOROUGH: Limits(searches=10, tokens=120_000, seconds=60),
}
