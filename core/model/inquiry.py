"""One question being pursued: its plan, its evidence, its budget and, when parked, its checkpoint.

Everything here is frozen and serialises to JSON with ``json_codec``, so that an inquiry can end in one process and
go on in another, days later.
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
    """The step that comes next."""

    UNDERSTAND = "understand"
    GATHER = "gather"
    DECIDE = "decide"
    COMPOSE = "compose"
    VERIFY = "verify"
    DONE = "done"


# Grades run from 1 to 10; below the cutoff a passage is no evidence. Calibrated by research/measure/abstention.py.
CUTOFFS = {Behaviour.CONSERVATIVE: 6, Behaviour.BALANCED: 5, Behaviour.THOROUGH: 4}


class CheckpointKind(StrEnum):
    """The four places where a person is asked how to go on."""

    LONG_SEARCH = "long_search"
    NOTHING_RELEVANT = "nothing_relevant"
    SOURCES_FIRST = "sources_first"
    CLARIFY = "clarify"


ALL_CHECKPOINTS = frozenset(CheckpointKind)
DEFAULT_CHECKPOINTS = ALL_CHECKPOINTS - {CheckpointKind.SOURCES_FIRST}


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard caps of one inquiry. On a cap it composes from what it has; ``cost`` None means no price is configured."""

    searches: int
    tokens: int
    seconds: float
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """What one day may bring in one place; 0: no limit. A person's answers count wherever they ask."""

    person_answers: int = 0
    channel_answers: int = 0
    channel_money: float = 0.0  # in the configured currency


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How to go about questions in one place; channels differ in this."""

    profile: Profile = Profile.BALANCED
    behaviour: Behaviour = Behaviour.BALANCED
    checkpoints: frozenset[CheckpointKind] = DEFAULT_CHECKPOINTS
    sources_first: bool = False  # always show sources before answering here, whatever ``checkpoints`` says
    languages: tuple[str, ...] = ()  # the languages to answer in; empty: the asker's
    follow_ups: bool = False  # suggest below an answer what could be asked next
    instructions: str = ""  # what an admin wishes of the answers there: tone, language, where to send people
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
    """Action: list what is there."""


@dataclass(frozen=True, slots=True)
class ReadSection:
    """Action: read the section around a piece of evidence."""

    evidence: int


SearchAction = SearchKnowledge | SearchSource | ListSources | ReadSection


@dataclass(frozen=True, slots=True)
class Reply:
    """Plan: no search is needed; this is the reply. ``[n]`` in it may name evidence of earlier turns.

    ``small_talk``: it answers a greeting, thanks and the like, which no document can.
    """

    text: str
    reason: str = ""
    small_talk: bool = False


@dataclass(frozen=True, slots=True)
class AskBack:
    """Plan or decision: the question is unclear; these are its readings, each a self-contained question."""

    question: str
    options: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Investigate:
    """Plan: search. ``question`` is self-contained; ``queries`` has one to three, one for each unrelated need.

    ``reason`` is for people to read. ``resolved_from_thread``: what the message left out was put in from earlier turns,
    and the planner knows so (a model's plan does not say it). ``leans_on``: the titles that the last answer cited,
    where the question goes on with them.
    """

    question: str
    queries: tuple[str, ...]
    reason: str = ""
    sources_first: bool = False  # the person asked to see sources before an answer
    resolved_from_thread: bool = False
    leans_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """Plan: no search; the person asks what there is to read, in all of it or in one base. The loop tells it."""

    knowledge_base: str | None
    reason: str = ""


Plan = Reply | AskBack | Investigate | Overview


@dataclass(frozen=True, slots=True)
class Sufficient:
    """Decision: what is there answers the question."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Decision: this is missing, and these actions may find it. No actions: nothing better is known to try."""

    missing: str
    actions: tuple[SearchAction, ...] = ()


Decision = Sufficient | Insufficient | AskBack


@dataclass(frozen=True, slots=True)
class Search:
    """An action that was carried out and what came of it. ``new`` counts evidence not known before: 0 is a miss."""

    action: Annotated[SearchAction, name_at_rest("move")]
    found: int = 0
    new: int = 0
    note: str = ""  # what the model hears: an unknown name, a listing, a section's text


class ChoiceId(StrEnum):
    """What a choice of a checkpoint does, as its button carries it. Of a term or a reading there are several."""

    KEEP = "keep"  # go on searching
    ANSWER = "answer"  # from what there is
    NARROW = "narrow"  # search within what the person adds
    CAVEATS = "caveats"  # answer from weak evidence, marked as such
    STOP = "stop"
    SHOW = "show"  # the sources, before an answer
    OTHER = "other"  # none of the readings: the person says which
    OWN_TERMS = "own-terms"  # search for what was typed

    @staticmethod
    def term(number: int) -> str:
        """Of the button that searches for the proposed term of this number, from 1."""
        return f"try-{number}"

    @staticmethod
    def reading(number: int) -> str:
        """Of the button for the reading of this number, from 1."""
        return f"option-{number}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A button of a checkpoint. ``id`` is a ``ChoiceId``, or that of a term or a reading, which ``value`` carries.

    ``asks_text`` opens a text field first.
    """

    id: str
    label: str
    value: str = ""
    asks_text: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A place where the inquiry ended until a person chooses. ``found`` names sources, best first."""

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
        """What a card says was found so far: nothing between readings, each of which says where it is from."""
        return () if self.kind is CheckpointKind.CLARIFY else self.found

    def may_be_answered_by(self, person: Person, *, is_admin: bool) -> bool:
        """Return whether this person may choose here: the person who asked, or an admin."""
        return is_admin or person.id == self.asker.id

    def choice(self, pressed: str) -> Choice | None:
        """Return the choice of this id, number (from 1) or label, whatever the case; None when there is none such."""
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
    bases: tuple[KnowledgeBase, ...] = ()  # those visible to the audience; re-read on every start and resume
    plan: Plan | None = None
    searches: tuple[Search, ...] = ()
    more_in_private: bool = False  # a connected source has documents that not everyone in the audience may read
    library: EvidenceLibrary = field(default_factory=EvidenceLibrary)
    misses: int = 0  # rounds in a row that brought nothing new
    missing: str = ""
    refining: str = ""  # what a person narrowed the question to
    reading: str = ""  # the reading that a person chose of an unclear question, in the words of its button
    proposals: tuple[SearchAction, ...] = ()  # what to do next, decided and not yet done
    settled: frozenset[CheckpointKind] = frozenset()  # gates a person has already passed
    caveats: bool = False  # the person wants an answer from weak evidence, marked as such
    fast_path: Annotated[bool, name_at_rest("attempt")] = (
        False  # written from the first search as it came; the reasoner may withhold
    )
    closing: bool = False  # answer from what is there, whatever it is
    stopped: bool = False  # the person wants no answer
    notices: tuple[str, ...] = ()
    spent: ResourceUsage = ResourceUsage()

    @property
    def scope(self) -> frozenset[str]:
        """The names of the bases that this inquiry may read."""
        return frozenset(base.name for base in self.bases)

    @property
    def cutoff(self) -> int:
        """The grade from which a passage counts as evidence here, for every reasoner."""
        return CUTOFFS[self.policy.behaviour]

    @property
    def standalone(self) -> str:
        """The question as understood: self-contained where it was rewritten."""
        return self.plan.question if isinstance(self.plan, Investigate) else self.question

    def may_ask(self, kind: CheckpointKind) -> bool:
        """Return whether this checkpoint is switched on here and the person has not passed it already."""
        return kind in self.policy.checkpoints and kind not in self.settled


PROFILE_LIMITS = {
    Profile.QUICK: Limits(searches=3, tokens=12_000, seconds=30),
    Profile.BALANCED: Limits(searches=5, tokens=40_000, seconds=60),
    Profile.THOROUGH: Limits(searches=10, tokens=120_000, seconds=60),
}
