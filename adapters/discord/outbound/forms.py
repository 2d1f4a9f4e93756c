"""Forms and menus: their ids and values, their layout, and the parsing of what comes back.

The ids have not changed since the first version, so forms that are open in a client still work. Nothing in them is
trusted: permissions are checked on submission.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Self

import discord
from discord import ui

from adapters.discord.outbound.sanitizer import SanitizedForm
from adapters.discord.outbound.text import clip
from core.model.channel_settings import (
    LEAST_CONFIDENCE,
    LONGEST_INSTRUCTIONS,
    ChannelSettings,
    ChosenSettings,
    parse_limit,
    parse_threshold,
    split_names,
)
from core.model.incoming_events import FileReference
from core.model.inquiry import AnswerPolicy, Checkpoint, Choice
from core.service.actions.wording import IN_OWN_WORDS
from core.service.channel_settings import INSTRUCTIONS_LABEL, LIMIT_LABELS
from core.service.kb.commands import MOST_FILES

LONGEST_WORDS = 500
LONGEST_DESCRIPTION = 100
LONGEST_CORRECTION = 3_000


class FormKind(StrEnum):
    """The purpose of a form."""

    WORDS = "words"  # a checkpoint's choice in the person's own words
    REASON = "reason"  # why an answer did not help
    CORRECTION = "correction"
    LANGUAGES = "languages"  # of a place
    CONFIDENCE = "confidence"  # of a place
    INSTRUCTIONS = "instructions"  # of a place
    LIMITS = "limits"  # of a place
    FILES = "files"


FILLED_FORMS = frozenset({FormKind.INSTRUCTIONS, FormKind.LIMITS})  # they open with what applies
_FORM = re.compile(
    rf"footnote:(?P<kind>{'|'.join(FormKind)}):(?P<subject>[\w-]{{1,40}})(?::(?P<choice>[\w-]{{1,40}}))?"
)


@dataclass(frozen=True, slots=True)
class FormId:
    """A form and its subject: a checkpoint with its choice, a trace, a place, or a stored command."""

    kind: FormKind
    subject: str
    choice: str = ""

    def encode(self) -> str:
        """Return it as a form's custom id."""
        return f"footnote:{self.kind}:{self.subject}" + (f":{self.choice}" if self.choice else "")

    @classmethod
    def decode(cls, custom_id: str) -> Self | None:
        """Parse a form's custom id. Return None if it is not a form of ours."""
        match = _FORM.fullmatch(custom_id)
        return cls(FormKind(match["kind"]), match["subject"], match["choice"] or "") if match is not None else None


class SettingsMenu(StrEnum):
    """One menu of a place's settings. The value is part of the menu's id."""

    BASES = "bases"
    EFFORT = "manner"  # profile and behaviour
    CHECKPOINTS = "checkpoints"
    REPLY_STYLE = "reply_style"
    AUTO_ANSWER = "auto_answer"
    FORUM_POSTS = "forum_posts"
    OTHER = "other"
    HANDOFF = "handoff"


class MenuOption(StrEnum):
    """An option that is not the value of a setting. Others are the ``FormKind`` in which a value is typed."""

    DEFAULTS = "default"
    TYPE_NUMBER = "number"
    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A change by a menu or form: the settings in ``names`` get the value in ``chosen``; None means the default."""

    names: frozenset[str]
    chosen: ChosenSettings

    def beyond(self, shown: ChannelSettings) -> Self:
        """Return the change without what the form was filled with: such a setting stays as chosen or as inherited."""
        changed = self.chosen.beyond(shown).to_mapping()
        same = self.chosen.to_mapping().keys() - changed.keys()
        return replace(self, names=self.names - same)

    def apply(self, before: ChosenSettings) -> ChosenSettings:
        """Return the place's chosen settings after this change."""
        return replace(before, **{name: getattr(self.chosen, name) for name in self.names})


def encode_setting(chosen: ChosenSettings) -> str:
    """Return the one setting that an option chooses, as the option's value: ``name=value``."""
    ((name, value),) = chosen.to_mapping().items()
    return f"{name}={value}"


def read_menu(menu: SettingsMenu, values: Sequence[str]) -> SettingsChange | FormKind:
    """Return a menu's choice, or the form for typing it. Raises ValueError for an unknown threshold."""
    if menu is SettingsMenu.OTHER:
        return _read_other(values)
    if menu is SettingsMenu.AUTO_ANSWER:
        return FormKind.CONFIDENCE if MenuOption.TYPE_NUMBER in values else read_threshold("".join(values))
    names = {"profile", "behaviour"} if menu is SettingsMenu.EFFORT else {menu.value}
    return SettingsChange(frozenset(names), _read_values(menu, values))


def _read_values(menu: SettingsMenu, values: Sequence[str]) -> ChosenSettings:
    """Return the settings that the chosen options set together."""
    if menu is SettingsMenu.BASES:  # a name may contain a comma
        return ChosenSettings(bases=frozenset(values) or None)
    return (
        _settings_in(values) if menu is SettingsMenu.EFFORT else ChosenSettings.from_mapping({menu: ",".join(values)})
    )


def read_threshold(typed: str) -> SettingsChange:
    """Return the change of the threshold, typed as a word or a number. Raises ValueError for anything else."""
    threshold = parse_threshold(typed)
    if threshold is None:
        raise ValueError(f"{typed!r} is not a threshold.")
    return SettingsChange(frozenset({"auto_answer"}), ChosenSettings(auto_answer=threshold))


def read_typed(kind: FormKind, typed: str) -> SettingsChange:
    """Return the change that was typed into a setting's form. No languages mean the asker's.

    Raises ValueError for a threshold that is none, and for limits that are not three numbers.
    """
    match kind:
        case FormKind.CONFIDENCE:
            return read_threshold(typed)
        case FormKind.LANGUAGES:
            return SettingsChange(frozenset({"languages"}), ChosenSettings(languages=tuple(split_names(typed))))
        case FormKind.INSTRUCTIONS:
            return SettingsChange(frozenset({"instructions"}), ChosenSettings(instructions=typed or None))
    numbers = [parse_limit(one) for one in re.split(r"[,;]?\s+|[,;]", typed.strip())]
    if len(numbers) != len(LIMIT_LABELS) or None in numbers:
        raise ValueError(f"{typed!r} is not three numbers.")
    chosen = dict(zip(LIMIT_LABELS, typed_limits(numbers), strict=True))
    return SettingsChange(frozenset(chosen), ChosenSettings.from_mapping(chosen))


def typed_limits(numbers: Iterable[float | None]) -> list[str]:
    """Return limits in their typed and stored form."""
    return [f"{number or 0:.10g}" for number in numbers]


def _read_other(values: Sequence[str]) -> SettingsChange | FormKind:
    for form in (FormKind.LANGUAGES, FormKind.INSTRUCTIONS, FormKind.LIMITS):
        if form in values:
            return form
    if MenuOption.DEFAULTS in values:
        return SettingsChange(frozenset(one.name for one in fields(ChosenSettings)), ChosenSettings())
    chosen = _settings_in(values)
    return SettingsChange(frozenset(chosen.to_mapping()), chosen)


def _settings_in(values: Sequence[str]) -> ChosenSettings:
    """Return the settings of options that ``encode_setting`` wrote. Other options are ignored."""
    return ChosenSettings.from_mapping(dict(value.split("=", 1) for value in values if "=" in value))


def words_form(checkpoint: Checkpoint, choice: Choice) -> SanitizedForm:
    """Return the form for the words of a checkpoint's choice."""
    asked = clip(f"You asked: “{checkpoint.question}”", LONGEST_DESCRIPTION)
    form = FormId(FormKind.WORDS, checkpoint.id, choice.id)
    return _text_form(clip(choice.label, 45), form, IN_OWN_WORDS, LONGEST_WORDS, description=asked)


def reason_form(trace_id: str) -> SanitizedForm:
    """Return the form that asks why this trace's answer did not help. The text is optional."""
    form = FormId(FormKind.REASON, trace_id)
    return _text_form("Not helpful", form, "What was wrong or missing?", LONGEST_WORDS, required=False)


def correction_form(trace_id: str) -> SanitizedForm:
    """Return the form that asks for the right answer instead of this trace's."""
    form = FormId(FormKind.CORRECTION, trace_id)
    return _text_form("The right answer", form, "What is the right answer?", LONGEST_CORRECTION)


def setting_form(kind: FormKind, place_id: str, policy: AnswerPolicy) -> SanitizedForm:
    """Return the form for a typed setting of a place, filled with the current instructions or limits."""
    form = FormId(kind, place_id)
    match kind:
        case FormKind.CONFIDENCE:
            label = f"How sure, from {LEAST_CONFIDENCE:g} to 1"
            return _text_form("Questions that do not mention me", form, label, 10, example="0.85")
        case FormKind.LANGUAGES:
            label = "Languages to answer in; empty: the asker's"
            return _text_form("Languages", form, label, 200, required=False, example="English, German")
        case FormKind.INSTRUCTIONS:
            hint, now = "A model follows them; “payroll -> #payroll-help” works without one", policy.instructions
            label, longest = INSTRUCTIONS_LABEL, LONGEST_INSTRUCTIONS
            return _text_form("Instructions", form, label, longest, description=hint, required=False, now=now)
    label, typed = "Answers a person, answers here, money here", ", ".join(typed_limits(astuple(policy.limits)))
    hint = "Per day: answers per person, answers here, model cost. 0: no limit"
    return _text_form("Limits of a day", form, label, 40, description=hint, example="20, 200, 5", now=typed)


def _text_form(
    title: str,
    form: FormId,
    label: str,
    longest: int,
    *,
    description: str | None = None,
    required: bool = True,
    example: str | None = None,
    now: str | None = None,
) -> SanitizedForm:
    """Return a form with one text field: a single line if there is an example, otherwise a paragraph."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.short if example else discord.TextStyle.paragraph,
        max_length=longest,
        required=required,
        custom_id=form.kind.value,
        placeholder=example,
        default=now or None,
    )
    return SanitizedForm(title, form.encode(), ui.Label[ui.Modal](text=label, description=description, component=field))


def files_form(kept: str) -> SanitizedForm:
    """Return the form for the files of the command stored under this id."""
    field = ui.FileUpload[ui.Modal](custom_id="files", required=True, min_values=1, max_values=MOST_FILES)
    description = f"Up to {MOST_FILES}: text, PDF, Word, web pages and more"
    label = ui.Label[ui.Modal](text="Files", description=description, component=field)
    return SanitizedForm("Add files", FormId(FormKind.FILES, kept).encode(), label)


def entered_texts(components: object) -> list[str]:
    """Return the texts of a submitted form."""
    return [one["value"] for one in _walk(components) if isinstance(one.get("value"), str)]


def uploaded_files(data: Mapping[str, Any]) -> tuple[FileReference, ...]:
    """Return the files of a submitted form, in the chosen order."""
    upload, sent = discord.ComponentType.file_upload.value, (data.get("resolved") or {}).get("attachments") or {}
    fields = [one for one in _walk(data.get("components")) if one.get("type") == upload]
    found = [sent[str(one)] for field in fields for one in field.get("values") or () if str(one) in sent]
    return tuple(FileReference(str(one["url"]), str(one["filename"]), int(one["size"])) for one in found)


def _walk(components: object) -> Iterator[Mapping[str, Any]]:
    """Yield components as Discord sent them, including nested ones."""
    for component in components if isinstance(components, list) else []:
        yield component
        yield from _walk(component.get("components"))
        yield from _walk([component["component"]] if component.get("component") else None)
