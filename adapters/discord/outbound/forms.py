"""Forms and menus: the ids and values they carry through a client, what forms look like, and what they bring back.

The ids are those of the first version, so that what is open in a client still works. Nothing in them is trusted: rights
are looked up when they come back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Self

import discord
from discord import ui

from adapters.discord.outbound.sanitizer import SanitizedForm
from adapters.discord.outbound.text import clip
from core.model.channel_settings import LEAST_CONFIDENCE, ChosenSettings, parse_threshold, split_names
from core.model.incoming_events import FileReference
from core.model.inquiry import ALL_CHECKPOINTS, Checkpoint, CheckpointKind, Choice
from core.service.actions.wording import IN_OWN_WORDS
from core.service.kb.commands import MOST_FILES


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


LONGEST_WORDS = 500
LONGEST_DESCRIPTION = 100
LONGEST_CORRECTION = 3_000


def words_form(checkpoint: Checkpoint, choice: Choice) -> SanitizedForm:
    """A checkpoint's choice that is made in words."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_WORDS, required=True, custom_id="words"
    )
    asked = clip(f"You asked: “{checkpoint.question}”", LONGEST_DESCRIPTION)
    label: ui.Label[ui.Modal] = ui.Label(text=IN_OWN_WORDS, description=asked, component=field)
    return _form(clip(choice.label, 45), FormId(FormKind.WORDS, checkpoint.id, choice.id), label)


def reason_form(trace_id: str) -> SanitizedForm:
    """Why the answer of this trace did not help; it may stay empty."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_WORDS, required=False, custom_id="reason"
    )
    label: ui.Label[ui.Modal] = ui.Label(text="What was wrong or missing?", component=field)
    return _form("Not helpful", FormId(FormKind.REASON, trace_id), label)


def correction_form(trace_id: str) -> SanitizedForm:
    """What the answer of this trace should have been."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_CORRECTION, required=True, custom_id="correction"
    )
    label: ui.Label[ui.Modal] = ui.Label(text="What is the right answer?", component=field)
    return _form("The right answer", FormId(FormKind.CORRECTION, trace_id), label)


def files_form(kept: str) -> SanitizedForm:
    """Files for a command that is kept under this id."""
    field = ui.FileUpload[ui.Modal](custom_id="files", required=True, min_values=1, max_values=MOST_FILES)
    label: ui.Label[ui.Modal] = ui.Label(
        text="Files", description=f"Up to {MOST_FILES}: text, PDF, Word, web pages and more", component=field
    )
    return _form("Add files", FormId(FormKind.FILES, kept), label)


def confidence_form(place_id: str) -> SanitizedForm:
    """A threshold that no option has."""
    field = ui.TextInput[ui.Modal](required=True, max_length=10, custom_id="confidence", placeholder="0.85")
    label: ui.Label[ui.Modal] = ui.Label(text=f"How sure, from {LEAST_CONFIDENCE:g} to 1", component=field)
    return _form("Questions that do not mention me", FormId(FormKind.CONFIDENCE, place_id), label)


def languages_form(place_id: str) -> SanitizedForm:
    """The one setting that is typed."""
    field = ui.TextInput[ui.Modal](required=False, max_length=200, custom_id="languages", placeholder="English, German")
    label: ui.Label[ui.Modal] = ui.Label(text="Languages to answer in; empty: the asker's", component=field)
    return _form("Languages", FormId(FormKind.LANGUAGES, place_id), label)


def _form(title: str, form_id: FormId, *items: ui.Item[Any]) -> SanitizedForm:
    """A form that the library need not remember: its answer is known by the id, also after a restart."""
    return SanitizedForm(title, form_id.encode(), *items)


def entered_texts(components: object) -> list[str]:
    """The texts of a form that was sent."""
    found: list[str] = []
    for component in components if isinstance(components, list) else []:
        if isinstance(component.get("value"), str):
            found.append(component["value"])
        found += entered_texts(component.get("components"))
        found += entered_texts([component["component"]] if component.get("component") else None)
    return found


def uploaded_files(data: Mapping[str, Any]) -> tuple[FileReference, ...]:
    """The files of a form that was sent, in the order in which they were chosen."""
    attachments = (data.get("resolved") or {}).get("attachments") or {}
    found = [attachments[one] for one in _upload_ids(data.get("components")) if one in attachments]
    return tuple(FileReference(str(one["url"]), str(one["filename"]), int(one["size"])) for one in found)


def _upload_ids(components: object) -> list[str]:
    found: list[str] = []
    for component in components if isinstance(components, list) else []:
        if component.get("type") == discord.ComponentType.file_upload.value:
            found += [str(one) for one in component.get("values") or ()]
        found += _upload_ids([component["component"]] if component.get("component") else None)
    return found
