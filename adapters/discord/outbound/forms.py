"""The forms that open before one person, and what they come back as.

A form carries an id in its name and nothing else: what it is about is looked up when it is sent.
"""

import re
from typing import Any

import discord
from discord import ui

from adapters.discord.outbound.sanitizer import SanitizedForm
from adapters.discord.outbound.text import clip
from core.model.inquiry import Checkpoint, Choice
from core.service.kb.commands import MOST_FILES

LONGEST_WORDS = 500
LONGEST_CORRECTION = 3_000
MODAL = re.compile(r"footnote:(?P<kind>words|reason|correction|languages|confidence|files):(?P<rest>[\w:-]{1,80})")


def words_form(checkpoint: Checkpoint, choice: Choice) -> SanitizedForm:
    """A checkpoint's choice that is made in words."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_WORDS, required=True, custom_id="words"
    )
    label: ui.Label[ui.Modal] = ui.Label(text="In your own words", component=field)
    return form_of(clip(choice.label, 45), f"footnote:words:{checkpoint.id}:{choice.id}", label)


def reason_form(trace_id: str) -> SanitizedForm:
    """Why the answer of this trace did not help; it may stay empty."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_WORDS, required=False, custom_id="reason"
    )
    label: ui.Label[ui.Modal] = ui.Label(text="What was wrong or missing?", component=field)
    return form_of("Not helpful", f"footnote:reason:{trace_id}", label)


def correction_form(trace_id: str) -> SanitizedForm:
    """What the answer of this trace should have been."""
    field = ui.TextInput[ui.Modal](
        style=discord.TextStyle.paragraph, max_length=LONGEST_CORRECTION, required=True, custom_id="correction"
    )
    label: ui.Label[ui.Modal] = ui.Label(text="What is the right answer?", component=field)
    return form_of("The right answer", f"footnote:correction:{trace_id}", label)


def files_form(kept: str) -> SanitizedForm:
    """Files for a command that is kept under this id."""
    field = ui.FileUpload[ui.Modal](custom_id="files", required=True, min_values=1, max_values=MOST_FILES)
    label: ui.Label[ui.Modal] = ui.Label(
        text="Files", description=f"Up to {MOST_FILES}: text, PDF, Word, web pages and more", component=field
    )
    return form_of("Add files", f"footnote:files:{kept}", label)


def form_of(title: str, custom_id: str, *items: ui.Item[Any]) -> SanitizedForm:
    """A form that the library need not remember: its answer is known by the id, also after a restart."""
    return SanitizedForm(title, custom_id, *items)
