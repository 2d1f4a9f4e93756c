"""What our forms and menus in Discord carry through a client, each as a type, written and read here alone.

The texts are those of the first version: what stands in channels, or is open before somebody, can still be used. Ids of
buttons are the templates in ``buttons``. Nothing of this is relied on: rights are looked up when it comes back.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Self

from core.model.channel_settings import ChosenSettings, parse_threshold, split_names
from core.model.inquiry import ALL_CHECKPOINTS, CheckpointKind


class FormKind(StrEnum):
    """What a form is for."""

    WORDS = "words"  # a checkpoint's choice in words of one's own
    REASON = "reason"  # why an answer did not help
    CORRECTION = "correction"
    LANGUAGES = "languages"  # of a place
    CONFIDENCE = "confidence"  # of a place
    FILES = "files"


_FORM = re.compile(
    rf"footnote:(?P<kind>{'|'.join(FormKind)}):(?P<subject>[\w-]{{1,40}})(?::(?P<choice>[\w-]{{1,40}}))?"
)


@dataclass(frozen=True, slots=True)
class FormId:
    """A form, and what it is about: a checkpoint with its choice, a trace, a place, or a kept command."""

    kind: FormKind
    subject: str
    choice: str = ""

    def encode(self) -> str:
        """As the form carries it."""
        return f"footnote:{self.kind}:{self.subject}" + (f":{self.choice}" if self.choice else "")

    @classmethod
    def decode(cls, custom_id: str) -> Self | None:
        """What a form carried; None for what is no form of ours."""
        match = _FORM.fullmatch(custom_id)
        return cls(FormKind(match["kind"]), match["subject"], match["choice"] or "") if match is not None else None


class SettingsMenu(StrEnum):
    """One menu of a place's settings; its value stands in the menu's id."""

    BASES = "bases"
    EFFORT = "manner"  # profile and behaviour
    CHECKPOINTS = "checkpoints"
    REPLY_STYLE = "reply_style"
    AUTO_ANSWER = "auto_answer"
    FORUM_POSTS = "forum_posts"
    OTHER = "other"
    HANDOFF = "handoff"


_NAMES = {  # the settings that each menu decides on, of those that always decide on the same
    SettingsMenu.BASES: frozenset({"bases"}),
    SettingsMenu.EFFORT: frozenset({"profile", "behaviour"}),
    SettingsMenu.CHECKPOINTS: frozenset({"checkpoints"}),
    SettingsMenu.REPLY_STYLE: frozenset({"reply_style"}),
    SettingsMenu.FORUM_POSTS: frozenset({"forum_posts"}),
    SettingsMenu.HANDOFF: frozenset({"handoff"}),
}


class MenuOption(StrEnum):
    """An option that chooses no setting by itself."""

    DEFAULTS = "default"
    TYPE_LANGUAGES = "languages"
    TYPE_NUMBER = "number"
    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What a menu or a form changes: these settings, by their fields, become what ``chosen`` has; None: the default."""

    names: frozenset[str]
    chosen: ChosenSettings

    @classmethod
    def to_defaults(cls) -> Self:
        """Nothing is chosen in the place any more."""
        return cls(frozenset(one.name for one in fields(ChosenSettings)), ChosenSettings())

    def apply(self, before: ChosenSettings) -> ChosenSettings:
        """What is chosen in the place after it."""
        return replace(before, **{name: getattr(self.chosen, name) for name in self.names})


def encode_setting(chosen: ChosenSettings) -> str:
    """The one setting that an option chooses, as its value carries it: by its name and value at rest."""
    ((name, value),) = chosen.to_mapping().items()
    return f"{name}={value}"


def read_menu(menu: SettingsMenu, values: Sequence[str]) -> SettingsChange | FormKind:
    """What was chosen in a menu; or the form in which it is to be typed. Raises ValueError for no known threshold."""
    if menu is SettingsMenu.OTHER:
        return _read_other(values)
    if menu is SettingsMenu.AUTO_ANSWER:
        return FormKind.CONFIDENCE if MenuOption.TYPE_NUMBER in values else read_threshold("".join(values))
    return SettingsChange(_NAMES[menu], _read_values(menu, values))


def _read_values(menu: SettingsMenu, values: Sequence[str]) -> ChosenSettings:
    """The settings that the options of a menu choose together."""
    first = next(iter(values), "")
    match menu:
        case SettingsMenu.BASES:
            return ChosenSettings(bases=frozenset(values) or None)
        case SettingsMenu.CHECKPOINTS:
            asks = frozenset(CheckpointKind(one) for one in values if one in ALL_CHECKPOINTS)
            return ChosenSettings(checkpoints=asks)
        case SettingsMenu.REPLY_STYLE:
            return ChosenSettings.from_mapping({"reply_style": first})
        case SettingsMenu.FORUM_POSTS:
            return ChosenSettings(forum_posts=first == MenuOption.YES)
        case SettingsMenu.HANDOFF:
            return ChosenSettings(handoff=first)
        case _:
            return _settings_in(values)


def read_threshold(typed: str) -> SettingsChange:
    """How sure it has to be, as a word or a number. Raises ValueError for what is neither."""
    threshold = parse_threshold(typed)
    if threshold is None:
        raise ValueError(f"{typed!r} is no threshold.")
    return SettingsChange(frozenset({"auto_answer"}), ChosenSettings(auto_answer=threshold))


def read_languages(typed: str) -> SettingsChange:
    """The languages to answer in, as they were typed; none: the asker's."""
    return SettingsChange(frozenset({"languages"}), ChosenSettings(languages=tuple(split_names(typed))))


def _read_other(values: Sequence[str]) -> SettingsChange | FormKind:
    if MenuOption.TYPE_LANGUAGES in values:
        return FormKind.LANGUAGES
    if MenuOption.DEFAULTS in values:
        return SettingsChange.to_defaults()
    chosen = _settings_in(values)
    return SettingsChange(frozenset(chosen.to_mapping()), chosen)


def _settings_in(values: Sequence[str]) -> ChosenSettings:
    """What options choose, as ``encode_setting`` wrote them; what is no setting chooses nothing."""
    return ChosenSettings.from_mapping(dict(value.split("=", 1) for value in values if "=" in value))
