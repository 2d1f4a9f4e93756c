"""The result of a question: an answer with its citations and verdict, or one of the five other outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The way a question ended.

    ``answered``, ``clarified`` (a question back), ``abstained`` (nothing relevant found), ``parked`` (waits for a
    choice), ``refused`` (stopped by the asker) or ``failed`` (an error). Each question has exactly one outcome.
    """

    ANSWERED = "answered"
    CLARIFIED = "clarified"
    ABSTAINED = "abstained"
    PARKED = "parked"
    REFUSED = "refused"
    FAILED = "failed"


OPEN_OUTCOMES = frozenset({Outcome.PARKED, Outcome.CLARIFIED})  # not final: a card waits for a choice


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
    place: str = ""  # innermost heading and page, for readers who open the link; empty in turns of old versions
    links: tuple[str, ...] = ()  # addresses of the passage that the answer contains and may link to

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses that a text citing this source may link to."""
        return frozenset((*self.links, self.url) if self.url else self.links)

    @property
    def short_place(self) -> str:
        """The shortest place to find it in the document. With a link, it leaves out line numbers of the source file."""
        return (self.place if self.url else "") or self.locator


class Support(StrEnum):
    """Whether the evidence supports a claim. UNCHECKED: a limit left no time to check."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNCHECKED = "unchecked"
    NO_CLAIM = "no claim"  # a courtesy, an introduction or a transition, which states nothing


@dataclass(frozen=True, slots=True)
class Claim:
    """One factual sentence of a draft and the evidence ids it cites."""

    text: str
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim with the result of its check.

    ``words`` are the words of the evidence that the verdict rests on. ``fault`` is a short reason why the claim is
    wrong. ``by_words``: only words were compared; no reliable model has read the claim.
    """

    claim: Claim
    support: Support
    confidence: float = 1.0
    words: str = ""
    fault: str = ""
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdicts on all claims of an answer.

    ``grounding`` is the share of supported claims, in [0, 1]; 1 without claims.
    """

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
    tokens_cached: int = 0  # part of ``tokens_in`` that came from the endpoint's cache

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: "ResourceUsage") -> "ResourceUsage":
        return ResourceUsage(*(getattr(self, one) + getattr(other, one) for one in self.__slots__))


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A suggested next question, and its button's label of at most 40 characters."""

    label: str
    question: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two sources of an answer that give different values for the same thing.

    ``newer`` and ``older`` are citation numbers. Unless ``dated``, the dates do not show which is newer, and the order
    means nothing.
    """

    newer: int
    older: int
    newer_says: str
    older_says: str
    dated: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The final result of an inquiry, as shown. ``text`` is Markdown with ``[n]`` markers that match ``citations``."""

    outcome: Outcome
    text: str
    citations: tuple[Citation, ...] = ()
    verdict: Verdict | None = None
    notices: tuple[str, ...] = ()  # shown once below the answer: "the writing model is away, so I quote"
    nearest: tuple[Citation, ...] = ()  # the closest sources when nothing answers; not evidence
    written_by: str = ""  # the reasoner's name
    spent: ResourceUsage = ResourceUsage()
    timings: tuple[tuple[str, float], ...] = ()  # seconds by stage
    causes: tuple[str, ...] = ()  # problems at the model endpoint, for the operator
    follow_ups: tuple[FollowUp, ...] = ()  # other questions that the evidence answers, if suggestions are switched on
    dispute: Dispute | None = None  # ``text`` mentions it

    @property
    def confidence(self) -> float:
        """The confidence in [0, 1]: the score of the best source times the share of supported claims.

        0 if this is not an answer or cites nothing.
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
        """Whether people may rate it. A greeting, for which nothing was searched, has no rating."""
        looked_up = bool(self.citations or self.spent.searches)
        return looked_up and self.outcome in {Outcome.ANSWERED, Outcome.ABSTAINED}


_OUTCOME = "outcome."
_HELPFUL, _UNHELPFUL = "feedback.helpful", "feedback.unhelpful"
_SEARCHED, _SEARCHED_ONCE = "answers.searched", "answers.one_search"


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """Usage counts, or increments to add to them. ``outcomes`` omits outcomes that never occurred."""

    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    helpful: int = 0  # ratings
    unhelpful: int = 0
    searched: int = 0  # questions with at least one search
    searched_once: int = 0  # questions with exactly one search

    @classmethod
    def of_answer(cls, answer: Answer) -> "UsageCounts":
        """Return the increments for one question that ended with this answer."""
        searches = answer.spent.searches
        return cls({answer.outcome: 1}, searched=int(searches > 0), searched_once=int(searches == 1))

    @classmethod
    def from_mapping(cls, kept: Mapping[str, int]) -> "UsageCounts":
        """Return the counts that ``to_mapping`` wrote; ignore unknown names."""
        known = {f"{_OUTCOME}{outcome}": outcome for outcome in Outcome}
        return cls(
            outcomes={known[name]: number for name, number in kept.items() if name in known},
            helpful=kept.get(_HELPFUL, 0),
            unhelpful=kept.get(_UNHELPFUL, 0),
            searched=kept.get(_SEARCHED, 0),
            searched_once=kept.get(_SEARCHED_ONCE, 0),
        )

    def to_mapping(self) -> dict[str, int]:
        """Return the non-zero counts by the names that stores use. Ratings may be negative if one was withdrawn."""
        counts = {f"{_OUTCOME}{outcome}": number for outcome, number in self.outcomes.items()}
        counts |= {_HELPFUL: self.helpful, _UNHELPFUL: self.unhelpful}
        counts |= {_SEARCHED: self.searched, _SEARCHED_ONCE: self.searched_once}
        return {name: number for name, number in counts.items() if number}
