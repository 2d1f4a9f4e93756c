"""Channel settings by channel id: the choices of its admins, on top of the installation's defaults."""

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
    """Where and to whom an answer is shown."""

    THREAD = "thread"
    PRIVATE = "private"  # only to the asker, with a button that shares it
    CHANNEL = "channel"  # in the channel itself, as a reply to the question


class Confidence(StrEnum):
    """How sure an unsolicited answer has to be before it is posted."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


NEVER = 0.0  # never answer questions that do not address the bot
LEAST_CONFIDENCE = 0.5  # an unsolicited answer must be more likely right than wrong
MOST_OF_A_LIMIT = 1_000_000
LONGEST_INSTRUCTIONS = 500  # characters
THRESHOLDS = {Confidence.LOW: 0.7, Confidence.MEDIUM: 0.8, Confidence.HIGH: 0.9}


def parse_threshold(text: str) -> float | None:
    """Return the threshold for a word or a number from 0.5 to 1; ``NEVER`` for *off*, None for anything else."""
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
    """Return a limit from 0 (no limit) to a million; None for any other text."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if 0.0 <= number <= MOST_OF_A_LIMIT else None


def _parse_whole(text: str) -> int | None:
    limit = parse_limit(text)
    return None if limit is None else round(limit)


def threshold_name(threshold: float) -> str:
    """Return the text of a threshold: its word if it has one, otherwise the number."""
    words = {value: name.value for name, value in THRESHOLDS.items()} | {NEVER: Confidence.OFF.value}
    return words.get(threshold) or f"{threshold:g}"


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The settings in force in one place. ``bases`` None: every base that its audience may see."""

    policy: AnswerPolicy = field(default_factory=AnswerPolicy)
    bases: frozenset[str] | None = None
    reply_style: ReplyStyle = ReplyStyle.THREAD
    handoff: str = ""  # the group or role that *Ask a person* mentions
    auto_answer: float = NEVER  # confidence threshold for questions that do not address the bot
    forum_posts: bool = False  # answer every new post of a forum
    proposal_digest: bool = False  # post here once a day how many proposals wait
    standing_answers: bool = False  # people get a notice when an answer that they got here changes
    closed_to_partners: bool = False  # shared with another organization: of the open bases, use only the chosen ones

    @property
    def answers_privately(self) -> bool:
        """Whether answers are private by default."""
        return self.reply_style is ReplyStyle.PRIVATE

    @property
    def answers_unasked(self) -> bool:
        """Whether questions that do not mention the bot are answered. Never if answers are private."""
        return self.auto_answer > NEVER and not self.answers_privately

    def to_mapping(self) -> dict[str, str]:
        """Return the settings as text by name, for the store."""
        holders: dict[str, object] = {name: self.policy if name in _OF_POLICY else self for name in _AT_REST}
        holders |= dict.fromkeys(_OF_LIMITS, self.policy.limits)
        return {name: write(getattr(holders[name], name)) for name, (_, write) in _AT_REST.items()}


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The choices made in one place. None: not chosen, so that the wider settings apply."""

    profile: Profile | None = None
    behaviour: Behaviour | None = None
    checkpoints: frozenset[CheckpointKind] | None = None
    sources_first: bool | None = None
    languages: tuple[str, ...] | None = None
    follow_ups: bool | None = None
    instructions: str | None = None
    person_answers: int | None = None  # a day, like the next two; 0: no limit
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
        """Return these settings with every one of them chosen."""
        return cls.from_mapping(settings.to_mapping())

    @classmethod
    def from_mapping(cls, values: Mapping[str, str]) -> "ChosenSettings":
        """Return the choices from the store's texts. An unknown value counts as not chosen."""
        return cls(**{name: read(values[name]) for name, (read, _) in _AT_REST.items() if name in values})

    def to_mapping(self) -> dict[str, str]:
        """Return the chosen settings as text by name, for the store."""
        chosen = {name: getattr(self, name) for name in _AT_REST}
        return {name: write(chosen[name]) for name, (_, write) in _AT_REST.items() if chosen[name] is not None}

    def beyond(self, default: ChannelSettings) -> "ChosenSettings":
        """Return what differs from the default: of the rest a form said no more than what applied anyway."""
        given = default.to_mapping()
        return replace(self, **{name: None for name, value in self.to_mapping().items() if value == given[name]})


def channel_settings(default: ChannelSettings, *layers: ChosenSettings) -> ChannelSettings:
    """Return the defaults overridden by each layer in order: the category's, then the channel's."""
    chosen = {name: value for layer in layers for name, value in _fields(layer) if value is not None}
    policy = {name: chosen.pop(name) for name in _OF_POLICY if name in chosen}
    policy["limits"] = replace(
        default.policy.limits, **{name: chosen.pop(name) for name in _OF_LIMITS if name in chosen}
    )
    return replace(default, policy=replace(default.policy, **policy), **chosen)


_OF_POLICY = ("profile", "behaviour", "checkpoints", "sources_first", "languages", "follow_ups", "instructions")
_OF_LIMITS = tuple(one.name for one in fields(DailyLimits))
_ARROW = re.compile(r"->|=>|→")


def wishes_in(instructions: str) -> str:
    """Return the instructions for the model: all lines except those that say where to send people."""
    return "\n".join(line for line in instructions.splitlines() if _referral(line) is None).strip()


def where_to_send(instructions: str, question: str) -> tuple[str, ...]:
    """Return the referral notices for the question: one for each line *topic, topic -> place* whose topic it names."""
    asked, said = set(content_words(question)), []
    for topics, place in filter(None, map(_referral, instructions.splitlines())):
        for topic in split_names(topics):
            if (meant := set(content_words(topic))) and meant <= asked:
                said.append(f"For “{topic}”, this channel's admins point to {place}.")
                break
    return tuple(said)


def _referral(line: str) -> tuple[str, str] | None:
    """Return the topics and the place of a line *topics -> place*; None for any other line."""
    topics, place = (part.strip() for part in [*_ARROW.split(line, maxsplit=1), ""][:2])
    return (topics, place) if topics and place else None


def _fields(chosen: ChosenSettings) -> list[tuple[str, Any]]:
    return [(one.name, getattr(chosen, one.name)) for one in fields(chosen)]


def _named(kinds: Iterable[CheckpointKind], text: str) -> list[CheckpointKind]:
    """Return the kinds that a list names. As enum members, because Pydantic warns about plain strings."""
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
_AT_REST: Mapping[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {  # (parse, format) of each setting
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
