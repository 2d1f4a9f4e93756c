"""A place's settings as menus: what applies there, where that comes from, and one menu for each thing to change.

A menu's id names the place and the field. Every change is saved at once; who may change is not decided here.
"""

from collections.abc import Mapping, Sequence

import discord
from discord import ui

from adapters.discord.inbound.button_handlers import role_of
from adapters.discord.inbound.buttons import PlaceMenu, RoleMenu
from adapters.discord.inbound.forms import form_of
from adapters.discord.outbound.layouts import layout, row
from adapters.discord.outbound.sanitizer import SanitizedForm, SanitizedView, Text
from adapters.discord.outbound.text import clip, plain
from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.inquiry import Behaviour, Profile
from core.service.answer_actions import CHECKPOINT_LABELS, REPLY_LABELS, SettingsForm

DEFAULT = "default"
OTHER = "other"


def menu(place_id: int, applies: ChannelSettings, chosen: Mapping[str, str], bases: Sequence[str]) -> SanitizedView:
    """The settings of one channel or category, as they are."""
    lines = [f"**How I answer in <#{place_id}>**", *_explain(applies, chosen)]
    head = Text(clip("\n".join(lines), 2_500), mentions=True)
    menus = [
        *([_bases(place_id, chosen, bases)] if bases else []),
        _manner(place_id, chosen),
        _checkpoints(place_id, applies),
        _replies(place_id, chosen),
        _other(place_id, applies),
    ]
    handoff = RoleMenu.create("handoff", place_id, "Ask a person: which role?", role_of(applies.handoff))
    return layout(head, *(row(one) for one in menus), row(handoff))


def _explain(applies: ChannelSettings, chosen: Mapping[str, str]) -> list[str]:
    """What applies, a line each; marked where it was chosen here or for the category."""
    conduct, role = applies.conduct, role_of(applies.handoff)
    asks = [label for kind, label in CHECKPOINT_LABELS.items() if kind in conduct.checkpoints]
    told = {
        "profile": ("Effort", conduct.profile.value),
        "behaviour": ("Behaviour", conduct.behaviour.value),
        "checkpoints": ("I ask back when", "; ".join(asks) or "never"),
        "sources_first": ("Sources before an answer", "yes" if conduct.sources_first else "no"),
        "languages": ("Languages", ", ".join(conduct.languages) or "the asker's"),
        "bases": ("Knowledge", ", ".join(sorted(applies.bases)) if applies.bases else "all that the channel may see"),
        "reply_style": ("Answers appear", REPLY_LABELS[applies.reply_style]),
    }
    lines = [
        f"-# {name}: {plain(value)}{' · chosen here' if setting in chosen else ''}"
        for setting, (name, value) in told.items()
    ]
    return [*lines, f"-# Ask a person: {f'<@&{role}>' if role else 'nobody yet'}"]


def _bases(place_id: int, chosen: Mapping[str, str], bases: Sequence[str]) -> PlaceMenu:
    now = chosen.get("bases", "").split(",")
    options = [discord.SelectOption(label=clip(name, 100), value=name[:100], default=name in now) for name in bases]
    return PlaceMenu.create("bases", place_id, "Knowledge: all that the channel may see", options, several=True)


def _manner(place_id: int, chosen: Mapping[str, str]) -> PlaceMenu:
    """Profile and behaviour in one menu; each option says which of the two it sets."""
    options = [
        *(_option(f"Effort: {one.value}", f"profile={one.value}", chosen, "profile", one) for one in Profile),
        *(_option(f"Behaviour: {one.value}", f"behaviour={one.value}", chosen, "behaviour", one) for one in Behaviour),
    ]
    return PlaceMenu.create("manner", place_id, "How much effort, and how careful", options, several=True)


def _option(label: str, value: str, chosen: Mapping[str, str], name: str, now: str) -> discord.SelectOption:
    return discord.SelectOption(label=label, value=value, default=chosen.get(name) == now)


def _checkpoints(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    on = applies.conduct.checkpoints
    options = [
        discord.SelectOption(label=label, value=kind.value, default=kind in on)
        for kind, label in CHECKPOINT_LABELS.items()
    ]
    return PlaceMenu.create("checkpoints", place_id, "Ask back when …: never", options, several=True)


def _replies(place_id: int, chosen: Mapping[str, str]) -> PlaceMenu:
    options = [
        discord.SelectOption(label=REPLY_LABELS[style], value=style.value, default=chosen.get("reply_style") == style)
        for style in ReplyStyle
    ]
    return PlaceMenu.create("reply_style", place_id, "Where answers appear", options)


def _other(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    first = applies.conduct.sources_first
    options = [
        discord.SelectOption(label="Show sources before every answer", value="sources_first=yes", default=first),
        discord.SelectOption(label="Answer at once", value="sources_first=no", default=not first),
        discord.SelectOption(label="Languages …", value="languages"),
        discord.SelectOption(label="Back to the defaults", value=DEFAULT),
    ]
    return PlaceMenu.create(OTHER, place_id, "Sources first, languages, defaults", options)


def change_field(chosen: Mapping[str, str], field: str, values: Sequence[str]) -> SettingsForm:
    """What was chosen so far, with one field changed; what was not chosen stays the default."""
    now = dict(chosen)
    match field:
        case "manner":
            now = {name: value for name, value in now.items() if name not in ("profile", "behaviour")}
            now |= dict(value.split("=", 1) for value in values if "=" in value)
        case "other":
            now = {} if DEFAULT in values else now | dict(v.split("=", 1) for v in values if "=" in v)
        case _:
            now[field] = ",".join(values)
    return SettingsForm(
        bases=tuple(one for one in now.get("bases", "").split(",") if one),
        profile=now.get("profile", ""),
        behaviour=now.get("behaviour", ""),
        checkpoints=tuple(now["checkpoints"].split(",")) if "checkpoints" in now else None,
        sources_first=now.get("sources_first") == "yes",
        reply_style=now.get("reply_style", ""),
        languages=now.get("languages", ""),
        handoff=now.get("handoff", ""),
    )


def languages_form(place_id: str) -> SanitizedForm:
    """The one setting that is typed."""
    field = ui.TextInput[ui.Modal](required=False, max_length=200, custom_id="languages", placeholder="English, German")
    label: ui.Label[ui.Modal] = ui.Label(text="Languages to answer in; empty: the asker's", component=field)
    return form_of("Languages", f"footnote:languages:{place_id}", label)
