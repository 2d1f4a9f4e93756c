"""The forms that open before one person. A form carries its ``FormId`` and nothing else."""

from typing import Any

import discord
from discord import ui

from adapters.discord.outbound.payloads import FormId, FormKind
from adapters.discord.outbound.sanitizer import SanitizedForm
from adapters.discord.outbound.text import clip
from core.model.channel_settings import LEAST_CONFIDENCE
from core.model.inquiry import Checkpoint, Choice
from core.service.actions.wording import IN_OWN_WORDS
from core.service.kb.commands import MOST_FILES

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
