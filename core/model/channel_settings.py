"""How a channel is set up, by its id: what admins chose there, over the defaults of the whole installation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from core.model.inquiry import ALL_CHECKPOINTS, AnswerPolicy, Behaviour, CheckpointKind, Profile

E = TypeVar("E", bound=StrEnum)


class ReplyStyle(StrEnum):
    """How an answer appears where a question was asked."""

    THREAD = "thread"
    PRIVATE = "private"  # for the asker's eyes only, with a button that shares it


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """What applies in one place. ``bases`` None: every base its audience may see."""

    conduct: AnswerPolicy = field(default_factory=AnswerPolicy)
    bases: frozenset[str] | None = None
    reply_style: ReplyStyle = ReplyStyle.THREAD
    handoff: str = ""  # the group or role that *Ask a person* calls

    def to_mapping(self) -> dict[str, str]:
        """As the store keeps it."""
        conduct = self.conduct
        return {
            "profile": conduct.profile,
            "behaviour": conduct.behaviour,
            "checkpoints": ",".join(sorted(conduct.checkpoints)),
            "sources_first": "yes" if conduct.sources_first else "no",
            "languages": ",".join(conduct.languages),
            "bases": "*" if self.bases is None else ",".join(sorted(self.bases)),
            "reply_style": self.reply_style,
            "handoff": self.handoff,
        }


def channel_settings(default: ChannelSettings, *layers: Mapping[str, str]) -> ChannelSettings:
    """The default with each layer's values over it: a category's, then its channel's. Unknown values are ignored."""
    values: dict[str, str] = {}
    for layer in layers:
        values.update(layer)
    conduct = default.conduct
    wanted = values.get("checkpoints")
    checkpoints = frozenset(kind for kind in ALL_CHECKPOINTS if kind in _names(wanted or ""))
    bases = values.get("bases", "")
    return ChannelSettings(
        conduct=AnswerPolicy(
            profile=_one_of(Profile, values.get("profile"), conduct.profile),
            behaviour=_one_of(Behaviour, values.get("behaviour"), conduct.behaviour),
            checkpoints=conduct.checkpoints if wanted is None else checkpoints,
            sources_first=values.get("sources_first", "yes" if conduct.sources_first else "no") == "yes",
            languages=tuple(_names(values["languages"])) if "languages" in values else conduct.languages,
        ),
        bases=default.bases if not bases or bases == "*" else frozenset(_names(bases)),
        reply_style=_one_of(ReplyStyle, values.get("reply_style"), default.reply_style),
        handoff=values.get("handoff", default.handoff),
    )


def checkpoint_names() -> tuple[str, ...]:
    """The checkpoints that can be switched on and off, in a fixed order."""
    return tuple(kind.value for kind in CheckpointKind)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _one_of(kind: type[E], value: str | None, otherwise: E) -> E:
    try:
        return kind(value) if value else otherwise
    except ValueError:
        return otherwise
