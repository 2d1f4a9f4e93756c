"""A place's settings as menus: what applies there, where that comes from, and one menu for each thing to change.

A menu's id names the place and the field. Every change is saved at once; who may change is not decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import discord

from adapters.discord.api.ids import handoff_role
from adapters.discord.outbound.buttons import PlaceMenu, RoleMenu
from adapters.discord.outbound.layouts import layout, row
from adapters.discord.outbound.payloads import MenuOption, SettingsMenu, encode_setting
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import clip, plain
from core.model.channel_settings import (
    ChannelSettings,
    ChosenSettings,
    ReplyStyle,
    threshold_name,
)
from core.model.inquiry import Behaviour, Profile
from core.service.channel_settings import (
    CHECKPOINT_LABELS,
    FOLLOW_UPS_LABEL,
    PROPOSALS_LABEL,
    REPLY_LABELS,
    THRESHOLD_LABELS,
)

POSTS_LABELS = {False: "Answered when they mention me", True: "All answered, but for those of moderators"}
NO_CONTENT = (
    "-# ⚠ I cannot read messages that do not mention me: switch on “Message Content Intent” in the developer portal, "
    "under Bot, and restart me."
)


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """What a place is: a category is both. ``content``: whether we may read what does not mention us."""

    forum: bool = False
    channel: bool = True
    content: bool = True


def menu(
    place_id: int,
    applies: ChannelSettings,
    chosen: ChosenSettings,
    bases: Sequence[str],
    kind: PlaceKind = PlaceKind(),
) -> SanitizedView:
    """The settings of one channel or category: what applies, each above the menu that changes it."""
    says = _explain(applies, chosen)
    role = handoff_role(applies.handoff)
    settings: list[tuple[Sequence[str], PlaceMenu | RoleMenu]] = [
        *([(("bases",), _bases(place_id, chosen, bases))] if bases else []),
        (("profile", "behaviour"), _effort(place_id, chosen)),
        (("checkpoints",), _checkpoints(place_id, applies)),
        *([(("reply_style",), _replies(place_id, chosen))] if kind.channel else []),
        (("auto_answer",), _auto_answer(place_id, applies)),
        *([(("forum_posts",), _forum_posts(place_id, applies))] if kind.forum else []),
        (("sources_first", "follow_ups", "languages", "proposal_digest"), _other(place_id, applies)),
        (("handoff",), RoleMenu.create(SettingsMenu.HANDOFF, place_id, "Ask a person: which role?", role)),
    ]
    needs_content = applies.answers_unasked or (kind.forum and applies.forum_posts)
    return layout(
        Text(f"**How I answer in <#{place_id}>**", mentions=True),
        *([Text(NO_CONTENT)] if needs_content and not kind.content else []),
        *(item for names, control in settings for item in (_above(says, names), row(control))),
    )


def _above(says: Mapping[str, str], names: Sequence[str]) -> Text:
    return Text(clip("\n".join(says[name] for name in names), 1_000), mentions=True)


def _explain(applies: ChannelSettings, chosen: ChosenSettings) -> dict[str, str]:
    """What applies, a line for each setting; marked where it was chosen here."""
    policy, role, here = applies.policy, handoff_role(applies.handoff), chosen.to_mapping()
    asks = [label for kind, label in CHECKPOINT_LABELS.items() if kind in policy.checkpoints]
    told = {
        "profile": ("Effort", policy.profile.value),
        "behaviour": ("Behaviour", policy.behaviour.value),
        "checkpoints": ("I ask back when", "; ".join(asks) or "never"),
        "sources_first": ("Sources before an answer", "yes" if policy.sources_first else "no"),
        "follow_ups": (FOLLOW_UPS_LABEL, "yes" if policy.follow_ups else "no"),
        "languages": ("Languages", ", ".join(policy.languages) or "the asker's"),
        "bases": ("Knowledge", ", ".join(sorted(applies.bases)) if applies.bases else "all that the channel may see"),
        "reply_style": ("Answers appear", REPLY_LABELS[applies.reply_style]),
        "auto_answer": ("Questions that do not mention me", _auto_label(applies)),
        "forum_posts": ("New posts", POSTS_LABELS[applies.forum_posts]),
        "proposal_digest": (PROPOSALS_LABEL, "yes" if applies.proposal_digest else "no"),
    }
    lines = {
        setting: f"**{name}**: {plain(value)}{' · chosen here' if setting in here else ''}"
        for setting, (name, value) in told.items()
    }
    return lines | {"handoff": f"**Ask a person**: {f'<@&{role}>' if role else 'nobody yet'}"}


def _auto_label(applies: ChannelSettings) -> str:
    if applies.auto_answer and not applies.answers_unasked:
        return "Off: answers are private here"
    return THRESHOLD_LABELS.get(applies.auto_answer) or f"When I am at least {applies.auto_answer:g} sure"


def _bases(place_id: int, chosen: ChosenSettings, bases: Sequence[str]) -> PlaceMenu:
    now = chosen.bases or ()
    options = [discord.SelectOption(label=clip(name, 100), value=name[:100], default=name in now) for name in bases]
    return PlaceMenu.create(SettingsMenu.BASES, place_id, "All that the channel may see", options, several=True)


def _effort(place_id: int, chosen: ChosenSettings) -> PlaceMenu:
    """Profile and behaviour in one menu; each option says which of the two it sets."""
    profiles = [_option(f"Effort: {one}", ChosenSettings(profile=one), chosen.profile is one) for one in Profile]
    behaviours = [
        _option(f"Behaviour: {one}", ChosenSettings(behaviour=one), chosen.behaviour is one) for one in Behaviour
    ]
    hint = "How much effort, and how careful"
    return PlaceMenu.create(SettingsMenu.EFFORT, place_id, hint, [*profiles, *behaviours], several=True)


def _option(label: str, chooses: ChosenSettings, chosen: bool = False) -> discord.SelectOption:
    return discord.SelectOption(label=label, value=encode_setting(chooses), default=chosen)


def _checkpoints(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    on = applies.policy.checkpoints
    options = [
        discord.SelectOption(label=label, value=kind.value, default=kind in on)
        for kind, label in CHECKPOINT_LABELS.items()
    ]
    return PlaceMenu.create(SettingsMenu.CHECKPOINTS, place_id, "Never", options, several=True)


def _replies(place_id: int, chosen: ChosenSettings) -> PlaceMenu:
    options = [
        discord.SelectOption(label=REPLY_LABELS[style], value=style.value, default=chosen.reply_style is style)
        for style in ReplyStyle
    ]
    return PlaceMenu.create(SettingsMenu.REPLY_STYLE, place_id, "Where answers appear", options)


def _auto_answer(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    now = applies.auto_answer
    options = [
        discord.SelectOption(label=label, value=threshold_name(value), default=value == now)
        for value, label in THRESHOLD_LABELS.items()
    ]
    if now not in THRESHOLD_LABELS:
        options.append(discord.SelectOption(label=_auto_label(applies), value=threshold_name(now), default=True))
    options.append(discord.SelectOption(label="A number …", value=MenuOption.TYPE_NUMBER))
    return PlaceMenu.create(SettingsMenu.AUTO_ANSWER, place_id, "Questions that do not mention me", options)


def _forum_posts(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    options = [
        discord.SelectOption(
            label=label, value=MenuOption.YES if answered else MenuOption.NO, default=applies.forum_posts is answered
        )
        for answered, label in POSTS_LABELS.items()
    ]
    return PlaceMenu.create(SettingsMenu.FORUM_POSTS, place_id, "New posts", options)


def _other(place_id: int, applies: ChannelSettings) -> PlaceMenu:
    """Everything that is switched on or off: each option says the opposite of what applies."""
    policy, digest = applies.policy, applies.proposal_digest
    options = [
        _option(
            "Answer at once" if policy.sources_first else "Show sources before every answer",
            ChosenSettings(sources_first=not policy.sources_first),
        ),
        _option(
            "Suggest nothing below an answer" if policy.follow_ups else FOLLOW_UPS_LABEL,
            ChosenSettings(follow_ups=not policy.follow_ups),
        ),
        _option("Say nothing of proposals" if digest else PROPOSALS_LABEL, ChosenSettings(proposal_digest=not digest)),
        discord.SelectOption(label="Languages …", value=MenuOption.TYPE_LANGUAGES),
        discord.SelectOption(label="Back to the defaults", value=MenuOption.DEFAULTS),
    ]
    return PlaceMenu.create(SettingsMenu.OTHER, place_id, "Change one of these", options)
