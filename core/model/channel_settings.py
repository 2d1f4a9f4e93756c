"""How a channel is set up, by its id: what admins chose there, over the defaults of the whole installation."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from core.model.inquiry import ALL_CHECKPOINTS, AnswerPolicy, CheckpointKind, DailyLimits
from core.model.profile import Behaviour, Profile
from core.model.text import content_words

E = TypeVar("E", bound=StrEnum)


class ReplyStyle(StrEnum):
    """How an answer appears where a question was asked."""

    THREAD = "thread"
    PRIVATE = "private"  # for the asker's eyes only, with a button that shares it
    CHANNEL = "channel"  # in the channel itself, as a reply to the question


class Confidence(StrEnum):
    """How sure an answer has to be before it is given to somebody who has not asked us."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


NEVER = 0.0  # no answer to a question that is put to nobody in particular
LEAST_CONFIDENCE = 0.5  # below even odds nobody wants to be answered unasked
MOST_OF_A_LIMIT = 1_000_000
LONGEST_INSTRUCTIONS = 500  # characters
THRESHOLDS = {Confidence.LOW: 0.7, Confidence.MEDIUM: 0.8, Confidence.HIGH: 0.9}


def parse_threshold(text: str) -> float | None:
    """Return a threshold from a word or a number from 0.5 to 1; ``NEVER`` for *off*, None for what is neither."""
    word = text.strip().casefold()
    if word == Confidence.OFF:
        return NEVER
    for name, value in THRESHOLDS.items():
        if word == name:
            return value
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        return None
    return number if LEAST_CONFIDENCE <= number <= 1.0 else None


def parse_limit(text: str) -> float | None:
    """Return a limit from a number, 0 for none; None for what is no number from 0 to a million."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if 0.0 <= number <= MOST_OF_A_LIMIT else None


def _parse_whole(text: str) -> int | None:
    limit = parse_limit(text)
    return None if limit is None else round(limit)


def threshold_name(threshold: float) -> str:
    """Return a threshold as it is written: by its word where it has one."""
    words = {value: name.value for name, value in THRESHOLDS.items()} | {NEVER: Confidence.OFF.value}
    return words.get(threshold) or f"{threshold:g}"


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """What applies in one place. ``bases`` None: every base its audience may see."""

    policy: AnswerPolicy = field(default_factory=AnswerPolicy)
    bases: frozenset[str] | None = None
    reply_style: ReplyStyle = ReplyStyle.THREAD
    handoff: str = ""  # the group or role that *Ask a person* calls
    auto_answer: float = NEVER  # the least confidence at which a question that nobody put to us is answered
    forum_posts: bool = False  # whether every new post of a forum is answered
    proposal_digest: bool = False  # once a day it is said here how many proposals wait
    standing_answers: bool = False  # people get a notice when an answer that they got here changes
    closed_to_partners: bool = False  # where another organization reads too: of open bases only the chosen are read

    @property
    def answers_privately(self) -> bool:
        """Whether only the asker sees an answer, where nothing else was said."""
        return self.reply_style is ReplyStyle.PRIVATE

    @property
    def answers_unasked(self) -> bool:
        """Whether questions in the channel are answered that do not name us: never where answers are private."""
        return self.auto_answer > NEVER and not self.answers_privately

    def to_mapping(self) -> dict[str, str]:
        """As the store keeps it."""
        holders: dict[str, object] = {name: self.policy if name in _OF_POLICY else self for name in _AT_REST}
        holders |= dict.fromkeys(_OF_LIMITS, self.policy.limits)
        return {name: write(getattr(holders[name], name)) for name, (_, write) in _AT_REST.items()}


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """What was chosen in one place. None: nothing was, so that what is wider applies."""

    profile: Profile | None = None
    behaviour: Behaviour | None = None
    checkpoints: frozenset[CheckpointKind] | None = None
    sources_first: bool | None = None
    languages: tuple[str, ...] | None = None
    follow_ups: bool | None = None
    instructions: str | None = None
    person_answers: int | None = None  # a day, as the following; 0: no limit
    channel_answers: int | None = None
    channel_money: float | None = None
    bases: frozenset[str] | None = None
    reply_style: ReplyStyle | None = None
    handoff: str | None = None
    auto_answer: float | None = None
    forum_posts: bool | None = None
    proposal_digest: bool | None = None
    standing_answers: bool | None = None
    closed_to_partners: bool | None = None

    @classmethod
    def of(cls, settings: ChannelSettings) -> "ChosenSettings":
        """Return all of these settings, chosen."""
        return cls.from_mapping(settings.to_mapping())

    @classmethod
    def from_mapping(cls, values: Mapping[str, str]) -> "ChosenSettings":
        """From what the store keeps. What is no known value was not chosen."""
        return cls(**{name: read(values[name]) for name, (read, _) in _AT_REST.items() if name in values})

    def to_mapping(self) -> dict[str, str]:
        """As the store keeps it: what was chosen, by name."""
        chosen = {name: getattr(self, name) for name in _AT_REST}
        return {name: write(chosen[name]) for name, (_, write) in _AT_REST.items() if chosen[name] is not None}


def channel_settings(default: ChannelSettings, *layers: ChosenSettings) -> ChannelSettings:
    """Return the default with what each layer chose over it: a category's, then its channel's."""
    chosen = {name: value for layer in layers for name, value in _fields(layer) if value is not None}
    policy = {name: chosen.pop(name) for name in _OF_POLICY if name in chosen}
    policy["limits"] = replace(
        default.policy.limits, **{name: chosen.pop(name) for name in _OF_LIMITS if name in chosen}
    )
    return replace(default, policy=replace(default.policy, **policy), **chosen)


_OF_POLICY = ("profile", "behaviour", "checkpoints", "sources_first", "languages", "follow_ups", "instructions")
_OF_LIMITS = tuple(one.name for one in fields(DailyLimits))
_SENDS = re.compile(r"\s*(?P<topics>[^\n]{1,200}?)\s*(?:->|=>|→)\s*(?P<place>[^\n]{1,200}?)\s*")


def wishes_in(instructions: str) -> str:
    """Return what only a model can honour of instructions: the lines that do not say where to send people."""
    return "\n".join(line for line in instructions.splitlines() if not _SENDS.fullmatch(line)).strip()


def where_to_send(instructions: str, question: str) -> tuple[str, ...]:
    """Return, for each line *topic, topic -> place* whose topic the question names, what is said below its answer."""
    asked, said = set(content_words(question)), []
    for found in filter(None, map(_SENDS.fullmatch, instructions.splitlines())):
        for topic in split_names(found["topics"]):
            if (meant := set(content_words(topic))) and meant <= asked:
                said.append(f"For “{topic}”, this channel's admins point to {found['place']}.")
                break
    return tuple(said)


def _fields(chosen: ChosenSettings) -> list[tuple[str, Any]]:
    return [(one.name, getattr(chosen, one.name)) for one in fields(chosen)]


def _named(kinds: Iterable[CheckpointKind], text: str) -> list[CheckpointKind]:
    """Return those that a list names: as kinds, since Pydantic warns of their plain names."""
    names = split_names(text)
    return [kind for kind in kinds if kind in names]


def split_names(text: str) -> list[str]:
    """Return the names in a list that is separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _one_of(kind: type[E], value: str | None) -> E | None:
    try:
        return kind(value) if value else None
    except ValueError:
        return None


_YES_OR_NO = (lambda text: text == "yes", lambda value: "yes" if value else "no")
_AT_REST: Mapping[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {  # how each is read and written
    "profile": (partial(_one_of, Profile), str),
    "behaviour": (partial(_one_of, Behaviour), str),
    "checkpoints": (lambda text: frozenset(_named(ALL_CHECKPOINTS, text)), lambda kinds: ",".join(sorted(kinds))),
    "sources_first": _YES_OR_NO,
    "languages": (lambda text: tuple(split_names(text)), ",".join),
    "follow_ups": _YES_OR_NO,
    "instructions": (str, str),
    "person_answers": (_parse_whole, str),
    "channel_answers": (_parse_whole, str),
    "channel_money": (parse_limit, "{:.10g}".format),
    "bases": (
        lambda text: frozenset(split_names(text)) - {"*"} or None,
        lambda bases: "*" if bases is None else ",".join(sorted(bases)),
    ),
    "reply_style": (partial(_one_of, ReplyStyle), str),
    "handoff": (str, str),
    "auto_answer": (parse_threshold, threshold_name),
    "forum_posts": _YES_OR_NO,
    "proposal_digest": _YES_OR_NO,
    "standing_answers": _YES_OR_NO,
    "closed_to_partners": _YES_OR_NO,
}
