"""What comes back: an answer, its citations and its verdict, or another of the six outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """Every addressed message ends in exactly one of these."""

    ANSWERED = "answered"
    CLARIFIED = "clarified"
    ABSTAINED = "abstained"
    PARKED = "parked"
    REFUSED = "refused"
    FAILED = "failed"


OPEN_OUTCOMES = frozenset({Outcome.PARKED, Outcome.CLARIFIED})  # a card waits for a choice: not the last word


@dataclass(frozen=True, slots=True)
class Citation:
    """One numbered source of one answer. ``n`` counts from 1 within the answer; ``evidence`` is the thread's stable id.

    ``score`` is the evidence's grade scaled to [0, 1]; ``quote`` is verbatim from the passage.
    """

    n: int
    evidence: int
    passage: str
    knowledge_base: str
    document: str  # the source: a path or a link, unique within its base
    title: str
    locator: str
    quote: str
    score: float
    url: str | None = None
    dated: str = ""
    place: str = ""  # the innermost heading and the page, for who follows the link; empty in turns of earlier versions
    links: tuple[str, ...] = ()  # addresses of the passage that the answer has and that may be links in it

    @property
    def addresses(self) -> frozenset[str]:
        """Everything that may be a link in a text that cites it."""
        return frozenset((*self.links, self.url) if self.url else self.links)

    @property
    def short_place(self) -> str:
        """Where in the document, as short as it can be found by: beside a link no lines of its source."""
        return (self.place if self.url else "") or self.locator


class Support(StrEnum):
    """What the evidence says of a claim; unchecked where a cap left no time to look."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNCHECKED = "unchecked"
    NO_CLAIM = "no claim"  # a courtesy, a lead or a transition: it states nothing


@dataclass(frozen=True, slots=True)
class Claim:
    """One factual sentence of a draft and the evidence ids it cites."""

    text: str
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim judged.

    ``words`` are the words of the evidence that the verdict rests on, ``fault`` says in a few words what is wrong.
    ``by_words``: no model that can be believed has read it, only words were compared.
    """

    claim: Claim
    support: Support
    confidence: float = 1.0
    words: str = ""
    fault: str = ""
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """All claims of an answer. ``grounding`` is the share that is known to hold, in [0, 1]; 1 without any claim."""

    claims: tuple[ClaimVerdict, ...] = ()

    @property
    def grounding(self) -> float:
        """The share of claims that their evidence supports."""
        if not self.claims:
            return 1.0
        return sum(c.support is Support.SUPPORTED for c in self.claims) / len(self.claims)

    @property
    def failed_claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims that did not hold."""
        return tuple(c for c in self.claims if c.support in {Support.CONTRADICTED, Support.UNSUPPORTED})


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """What an inquiry has cost so far. ``cost`` is in the configured currency, 0 where no price is set."""

    searches: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    tokens_cached: int = 0  # of those read, the ones that the endpoint had kept

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question that may be asked next, and what is on its button, in at most 40 characters."""

    label: str
    question: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two sources of an answer that give different values for the same thing; ``newer`` and ``older`` are citations.

    ``dated``: their dates say which is newer. Otherwise the two are in any order.
    """

    newer: int
    older: int
    newer_says: str
    older_says: str
    dated: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of an inquiry, as it is shown. ``text`` is Markdown with ``[n]`` markers that match ``citations``."""

    outcome: Outcome
    text: str
    citations: tuple[Citation, ...] = ()
    verdict: Verdict | None = None
    notices: tuple[str, ...] = ()  # said once below the answer: "the writing model is away, so I quote"
    nearest: tuple[Citation, ...] = ()  # when nothing answers: the closest sources, not offered as evidence
    written_by: str = ""  # the reasoner's name
    spent: ResourceUsage = ResourceUsage()
    timings: tuple[tuple[str, float], ...] = ()  # seconds by stage
    causes: tuple[str, ...] = ()  # what was wrong at the model's endpoint, for the one who runs this
    follow_ups: tuple[FollowUp, ...] = ()  # what the evidence answers beside this, where that is switched on
    dispute: Dispute | None = None  # said in ``text``

    @property
    def confidence(self) -> float:
        """How sure it is, in [0, 1]: the score of its best source, times the share of its claims that hold.

        0 for what is no answer, or cites nothing.
        """
        if self.outcome is not Outcome.ANSWERED:
            return 0.0
        best = max((citation.score for citation in self.citations), default=0.0)
        return best * (self.verdict.grounding if self.verdict is not None else 1.0)

    @property
    def is_tentative(self) -> bool:
        """Whether it abstains with a quote that may answer."""
        return self.outcome is Outcome.ABSTAINED and bool(self.citations)

    @property
    def is_rateable(self) -> bool:
        """Whether people are asked what they think of it: not of a greeting, for which nothing was looked up."""
        looked_up = bool(self.citations or self.spent.searches)
        return looked_up and self.outcome in {Outcome.ANSWERED, Outcome.ABSTAINED}


_OUTCOME = "outcome."
_HELPFUL, _UNHELPFUL = "feedback.helpful", "feedback.unhelpful"
_SEARCHED, _SEARCHED_ONCE = "answers.searched", "answers.one_search"


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """Counts, or what is to be added to them. An outcome that never came is not among ``outcomes``."""

    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    helpful: int = 0  # ratings
    unhelpful: int = 0
    searched: int = 0  # questions for which a search was made
    searched_once: int = 0  # and no second one

    @classmethod
    def of_answer(cls, answer: Answer) -> "UsageCounts":
        """Return what one question adds that ended with this answer."""
        searches = answer.spent.searches
        return cls({answer.outcome: 1}, searched=int(searches > 0), searched_once=int(searches == 1))

    @classmethod
    def from_mapping(cls, kept: Mapping[str, int]) -> "UsageCounts":
        """Read back what ``to_mapping`` made; what it does not know is left out."""
        known = {f"{_OUTCOME}{outcome}": outcome for outcome in Outcome}
        return cls(
            outcomes={known[name]: number for name, number in kept.items() if name in known},
            helpful=kept.get(_HELPFUL, 0),
            unhelpful=kept.get(_UNHELPFUL, 0),
            searched=kept.get(_SEARCHED, 0),
            searched_once=kept.get(_SEARCHED_ONCE, 0),
        )

    def to_mapping(self) -> dict[str, int]:
        """Return what is not zero, by the names under which stores add it up; a rating may be taken back."""
        counts = {f"{_OUTCOME}{outcome}": number for outcome, number in self.outcomes.items()}
        counts |= {_HELPFUL: self.helpful, _UNHELPFUL: self.unhelpful}
        counts |= {_SEARCHED: self.searched, _SEARCHED_ONCE: self.searched_once}
        return {name: number for name, number in counts.items() if number}
