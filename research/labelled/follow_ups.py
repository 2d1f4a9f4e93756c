"""Follow-up questions with the rewrites that people wrote, and how close another rewrite comes to those.

Our own layout, ``conversations.jsonl``, one follow-up a line::

    {"_id": "leave-2", "text": "Can I carry any of it over?",
     "metadata": {"turns": [{"question": "How much annual leave do we get?", "answer": "27 days.",
                             "documents": ["handbook/leave.md"]}],
                  "rewrite": "Can I carry any annual leave over?",
                  "relevant": {"handbook/leave.md": 1}}}

``turns`` are what was said before, oldest first; ``documents`` are the titles or sources that an answer cited;
``relevant`` grades the documents that answer the follow-up, so that the effect on retrieval can be measured. Three
published layouts are read as well: MTRAG (``user_turns``, the last being the follow-up itself), CANARD (``history``
that begins with the article's and the section's title) and TREC CAsT (``history`` of questions, or of questions and
answers in turns).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.model.conversation import Exchange
from core.model.text import content_words
from research.evaluation.datasets import rows

# Some people keep these in their rewrites, others drop them; they are counted nowhere.
INTERJECTIONS = frozenset(
    content_words("okay ok wow hmm hi hello oh yes yeah thanks cool great interesting sorry really")
)
_ASSISTANT = "ASSISTANT:"


@dataclass(frozen=True, slots=True)
class FollowUpCase:
    """A question in a conversation, and the self-contained question a person made of it."""

    id: str
    text: str
    earlier: tuple[Exchange, ...]
    rewrite: str
    relevant: Mapping[str, int] = field(default_factory=dict)

    @property
    def needs_context(self) -> bool:
        """Whether the person's rewrite says anything that the follow-up itself does not."""
        return bool(set(content_words(self.rewrite)) - set(content_words(self.text)))


@dataclass(frozen=True, slots=True)
class Closeness:
    """Content words shared with the person's rewrite, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def follow_ups_from(lines: Iterable[str]) -> tuple[FollowUpCase, ...]:
    """Return the follow-ups of any of the four layouts. Raises ValueError or KeyError on a line that is none."""
    found = []
    for row in rows(lines):
        about: dict[str, Any] = row["metadata"]
        relevant = {str(name): int(grade) for name, grade in (about.get("relevant") or {}).items()}
        found.append(FollowUpCase(str(row["_id"]), str(row["text"]), _earlier(about), str(about["rewrite"]), relevant))
    return tuple(found)


def _earlier(about: Mapping[str, Any]) -> tuple[Exchange, ...]:
    if "turns" in about:
        return tuple(
            Exchange(turn["question"], turn.get("answer", ""), tuple(turn.get("documents", ())))
            for turn in about["turns"]
        )
    if "user_turns" in about:
        return tuple(Exchange(turn) for turn in about["user_turns"][:-1])
    history = [line for line in about["history"] if line]
    if "changed" in about:  # CANARD: article and section stand where a product's thread has the cited titles
        return (Exchange("", "", tuple(history[:2])), *_in_turns(history[2:]))
    if about.get("year") == 2020:  # CAsT of that year: questions alone
        return tuple(Exchange(line) for line in history)
    return _in_turns(history)


def _in_turns(lines: Sequence[str]) -> tuple[Exchange, ...]:
    """Questions and answers that alternate; an answer may be marked as the assistant's."""
    marked = any(line.startswith(_ASSISTANT) for line in lines)
    found: list[Exchange] = []
    for number, line in enumerate(lines):
        is_answer = line.startswith(_ASSISTANT) if marked else number % 2 == 1
        if is_answer and found:
            found[-1] = Exchange(found[-1].question, line.removeprefix(_ASSISTANT).strip())
        else:
            found.append(Exchange(line))
    return tuple(found)


def closeness(text: str, human: str) -> Closeness:
    """Content-word precision, recall and F1, as sets; both empty counts as agreement."""
    ours, theirs = _content_words(text), _content_words(human)
    if not ours and not theirs:
        return Closeness(1.0, 1.0, 1.0)
    shared = len(ours & theirs)
    precision = shared / len(ours) if ours else 0.0
    recall = shared / len(theirs) if theirs else 0.0
    return Closeness(precision, recall, 2 * shared / (len(ours) + len(theirs)))


def is_left_alone(text: str, raw: str) -> bool:
    """Whether a rewrite adds no content word to the question as it was asked."""
    return not set(content_words(text)) - set(content_words(raw))


def _content_words(text: str) -> set[str]:
    return set(content_words(text)) - INTERJECTIONS
