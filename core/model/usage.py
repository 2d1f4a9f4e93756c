"""How many questions ended how, what they took and how they were rated: counted since the installation began."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.model.answer import Answer, Outcome

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
        """What one question adds that ended with this answer."""
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
        """What is not zero, by the names under which stores keep it and add it up; a rating may be taken back."""
        counts = {f"{_OUTCOME}{outcome}": number for outcome, number in self.outcomes.items()}
        counts |= {_HELPFUL: self.helpful, _UNHELPFUL: self.unhelpful}
        counts |= {_SEARCHED: self.searched, _SEARCHED_ONCE: self.searched_once}
        return {name: number for name, number in counts.items() if number}
