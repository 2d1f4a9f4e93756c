"""``/footnote settings``: the settings of a channel or category as menus, and the changes made there.

A menu's id names the place and the field. Every change is saved at once, after a permission check.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import discord
from discord import ui

from adapters.discord.api.ids import PLATFORM, base_channel_id, handoff_role, person_of
from adapters.discord.inbound.interactions import (
    acknowledge,
    acknowledge_press,
    is_admin,
    report_errors,
    respond,
    show,
)
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction, place_menu, role_menu
from adapters.discord.outbound.forms import (
    FILLED_FORMS,
    FormId,
    FormKind,
    MenuOption,
    SettingsChange,
    SettingsMenu,
    encode_setting,
    read_menu,
    read_typed,
    setting_form,
)
from adapters.discord.outbound.layouts import layout, row
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import clip, escape
from core.model.channel_settings import (
    LEAST_CONFIDENCE,
    ChannelSettings,
    ChosenSettings,
    ReplyStyle,
    threshold_name,
)
from core.model.conversation import Audience, ThreadKey
from core.model.errors import FootnoteError
from core.service.channel_settings import (
    BEHAVIOUR_LABELS,
    CHECKPOINT_LABELS,
    FOLLOW_UPS_LABEL,
    LIMIT_LABELS,
    PROFILE_LABELS,
    PROPOSALS_LABEL,
    REPLY_LABELS,
    STANDING_LABEL,
    THRESHOLD_LABELS,
)

NO_THRESHOLD = f"Enter a number from {LEAST_CONFIDENCE:g} to 1, like 0.85."

NO_LIMITS = "Enter three numbers, like 20, 200, 5. 0 means no limit."


class ChannelSettingsMenus:
    """Shows a place's settings to an admin of its server, and changes them. Each step checks permissions."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app
        self._settings = app.user_actions.settings

    async def show(self, interaction: Interaction, place: int | None) -> None:
        """Show a place's effective settings with menus to change them. The default place is this channel."""
        async with report_errors(interaction):
            place_id = place if place is not None else base_channel_id(interaction.channel)
            await self._require_admin(interaction, place_id)
            await acknowledge(interaction, alone=True)
            await show(interaction, await self._menus(interaction, place_id))

    async def choose(self, interaction: Interaction, menu: SettingsMenu, place_id: str, values: list[str]) -> None:
        """Save the choice of a menu, or open the form for a typed value."""
        async with report_errors(interaction):
            await self._require_admin(interaction, int(place_id))
            try:
                chosen = read_menu(menu, values)
            except ValueError:
                raise FootnoteError(NO_THRESHOLD) from None
            if isinstance(chosen, SettingsChange):
                return await self._change(interaction, int(place_id), chosen)
            policy = (await self._app.channel_access.settings(_key(interaction, place_id))).policy
            await respond(interaction.response.send_modal(setting_form(chosen, place_id, policy)))
        return None

    async def submit(self, interaction: Interaction, form: FormId, typed: str) -> None:
        """Save a form's value. Refuse anyone who is not an admin now, even with an open form."""
        async with report_errors(interaction):
            await self._require_admin(interaction, int(form.subject))
            try:
                change = read_typed(form.kind, typed)
            except ValueError:
                raise FootnoteError(NO_LIMITS if form.kind is FormKind.LIMITS else NO_THRESHOLD) from None
            if form.kind in FILLED_FORMS:
                change = change.beyond(await self._app.channel_access.settings(_key(interaction, form.subject)))
            await self._change(interaction, int(form.subject), change)

    async def _change(self, interaction: Interaction, place_id: int, change: SettingsChange) -> None:
        await acknowledge_press(interaction)
        key, readers = _key(interaction, place_id), await self._readers_of(interaction, place_id)
        chosen = change.apply(await self._settings.store.read(key.place))
        before = (await self._app.channel_access.settings(key)).standing_answers
        await self._settings.save(key.place, chosen, person_of(interaction.user), readers, is_admin=True)
        preview = await self._settings.preview_notices(key, readers, before=before)
        await show(interaction, await self._menus(interaction, place_id, preview), in_place=True)

    async def _menus(self, interaction: Interaction, place_id: int, preview: str = "") -> SanitizedView:
        key = _key(interaction, place_id)
        applies = await self._app.channel_access.settings(key)
        bases = await self._settings.selectable_bases(await self._readers_of(interaction, place_id))
        place = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        kind = PlaceKind(
            forum=isinstance(place, discord.ForumChannel | discord.CategoryChannel),
            channel=not isinstance(place, discord.ForumChannel),
            content=interaction.client.intents.message_content,
        )
        return menu(place_id, applies, await self._settings.store.read(key.place), bases, kind, preview)

    async def _readers_of(self, interaction: Interaction, place_id: int) -> Audience:
        """Return the audience of a channel. A category has no readers of its own, so any base may be chosen."""
        place = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        if place is None or isinstance(place, discord.CategoryChannel):
            return Audience(administers=True)
        return await self._app.channel_access.audience_of_channel(_key(interaction, place_id))

    async def _require_admin(self, interaction: Interaction, place_id: int) -> None:
        """Raise Denied and record it for anyone who is not an admin here, or for a place of another server."""
        channel = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        allowed, place = is_admin(interaction) and channel is not None, _key(interaction, place_id).place
        await self._settings.require_admin(person_of(interaction.user), place, is_admin=allowed)


def _key(interaction: Interaction, place_id: int | str) -> ThreadKey:
    return ThreadKey(PLATFORM, str(interaction.guild_id), str(place_id), "")


POSTS_LABELS = {
    MenuOption.NO: "Answered only when they mention me",
    MenuOption.YES: "All answered, except those of moderators",
}
NO_CONTENT = (
    "-# ⚠ I cannot read messages that do not mention me: switch on “Message Content Intent” in the developer portal, "
    "under Bot, and restart me."
)


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """The kind of a place; a category is both. ``content`` says whether we can read messages without a mention."""

    forum: bool = False
    channel: bool = True
    content: bool = True

    @property
    def takes_messages(self) -> bool:
        """Return whether people can write in the place itself."""
        return self.channel and not self.forum


def menu(
    place_id: int,
    applies: ChannelSettings,
    chosen: ChosenSettings,
    bases: Sequence[str],
    kind: PlaceKind = PlaceKind(),
    preview: str = "",
) -> SanitizedView:
    """Return the settings of a channel or category: each effective value above the menu that changes it.

    ``preview`` says which notices of changed answers would have been sent.
    """
    rows = [
        *([_bases_row(place_id, applies, chosen, bases)] if bases else []),
        _effort_row(place_id, applies, chosen),
        _checkpoints_row(place_id, applies, chosen),
        *([_reply_style_row(place_id, applies, chosen)] if kind.channel else []),
        _auto_answer_row(place_id, applies, chosen),
        *([_forum_posts_row(place_id, applies, chosen)] if kind.forum else []),
        _other_row(place_id, applies, chosen, kind),
        _handoff_row(place_id, applies),
    ]
    needs_content = applies.answers_unasked or (kind.forum and applies.forum_posts)
    return layout(
        Text(f"**How I answer in <#{place_id}>**", mentions=True),
        *([Text(escape(preview))] if preview else []),
        *([Text(NO_CONTENT)] if needs_content and not kind.content else []),
        *(item for one in rows for item in (Text(clip("\n".join(one.lines), 1_000), mentions=True), row(one.menu))),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """The effective values as lines, above the menu that changes them."""

    lines: tuple[str, ...]
    menu: ui.Select[Any] | ui.RoleSelect[Any]


def _line(name: str, value: str, chosen: object) -> str:
    """Return the effective value of a setting, marked if it was set here (``chosen`` is not None)."""
    return f"**{name}**: {escape(value)}{' · set here' if chosen is not None else ''}"


def _switch(name: str, on: bool, chosen: bool | None) -> str:
    return _line(name, "yes" if on else "no", chosen)


def _auto_label(applies: ChannelSettings) -> str:
    if applies.auto_answer and not applies.answers_unasked:
        return "Off: answers are private here"
    return THRESHOLD_LABELS.get(applies.auto_answer) or f"When I am at least {applies.auto_answer:g} sure"


def _bases_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings, bases: Sequence[str]) -> _Row:
    now = chosen.bases or ()
    options = [discord.SelectOption(label=clip(name, 100), value=name[:100], default=name in now) for name in bases]
    value = ", ".join(sorted(applies.bases)) if applies.bases else "everything that this channel can read"
    menu = place_menu(SettingsMenu.BASES, place_id, "Everything this channel can read", options, several=True)
    return _Row((_line("Knowledge bases", value, chosen.bases),), menu)


def _effort_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings) -> _Row:
    """Combine profile and behaviour in one menu. Each option names which of the two it sets."""
    policy = applies.policy
    profiles = [
        _option(f"Search: {label}", ChosenSettings(profile=one), chosen.profile is one)
        for one, label in PROFILE_LABELS.items()
    ]
    behaviours = [
        _option(f"Caution: {label}", ChosenSettings(behaviour=one), chosen.behaviour is one)
        for one, label in BEHAVIOUR_LABELS.items()
    ]
    hint = "Search effort and caution"
    menu = place_menu(SettingsMenu.EFFORT, place_id, hint, [*profiles, *behaviours], several=True)
    effort = _line("How much to search", PROFILE_LABELS[policy.profile], chosen.profile)
    careful = _line("How careful to be", BEHAVIOUR_LABELS[policy.behaviour], chosen.behaviour)
    return _Row((effort, careful), menu)


def _option(label: str, chooses: ChosenSettings, chosen: bool = False) -> discord.SelectOption:
    return discord.SelectOption(label=label, value=encode_setting(chooses), default=chosen)


def _options(labels: Mapping[Any, str], chosen: Collection[object]) -> list[discord.SelectOption]:
    return [discord.SelectOption(label=one, value=str(name), default=name in chosen) for name, one in labels.items()]


def _checkpoints_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings) -> _Row:
    on = applies.policy.checkpoints
    asks = "; ".join(label for kind, label in CHECKPOINT_LABELS.items() if kind in on) or "never"
    options = _options(CHECKPOINT_LABELS, on)
    menu = place_menu(SettingsMenu.CHECKPOINTS, place_id, "Never", options, several=True)
    return _Row((_line("I ask how to continue when", asks, chosen.checkpoints),), menu)


def _reply_style_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings) -> _Row:
    options = _options({style: REPLY_LABELS[style] for style in ReplyStyle}, [chosen.reply_style])
    menu = place_menu(SettingsMenu.REPLY_STYLE, place_id, "Where answers appear", options)
    return _Row((_line("Answers appear", REPLY_LABELS[applies.reply_style], chosen.reply_style),), menu)


def _auto_answer_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings) -> _Row:
    now, name = applies.auto_answer, "Questions that do not mention me"
    labels = THRESHOLD_LABELS if now in THRESHOLD_LABELS else {**THRESHOLD_LABELS, now: _auto_label(applies)}
    options = _options({threshold_name(value): label for value, label in labels.items()}, [threshold_name(now)])
    options.append(discord.SelectOption(label="A number …", value=MenuOption.TYPE_NUMBER))
    menu = place_menu(SettingsMenu.AUTO_ANSWER, place_id, name, options)
    return _Row((_line(name, _auto_label(applies), chosen.auto_answer),), menu)


def _forum_posts_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings) -> _Row:
    now = MenuOption.YES if applies.forum_posts else MenuOption.NO
    menu = place_menu(SettingsMenu.FORUM_POSTS, place_id, "New posts", _options(POSTS_LABELS, [now]))
    return _Row((_line("New posts", POSTS_LABELS[now], chosen.forum_posts),), menu)


def _other_row(place_id: int, applies: ChannelSettings, chosen: ChosenSettings, kind: PlaceKind) -> _Row:
    """Combine all switches in one menu. Each option is the opposite of the current value."""
    policy, digest = applies.policy, applies.proposal_digest
    proposals = _option(
        "Don't post about proposals" if digest else PROPOSALS_LABEL, ChosenSettings(proposal_digest=not digest)
    )
    options = [
        _option(
            "Answer at once" if policy.sources_first else "Show sources before every answer",
            ChosenSettings(sources_first=not policy.sources_first),
        ),
        _option(
            "Don't suggest follow-up questions" if policy.follow_ups else FOLLOW_UPS_LABEL,
            ChosenSettings(follow_ups=not policy.follow_ups),
        ),
        _option(
            "Don't tell people of changed answers" if applies.standing_answers else STANDING_LABEL,
            ChosenSettings(standing_answers=not applies.standing_answers),
        ),
        *([proposals] if digest or kind.takes_messages else []),
        discord.SelectOption(label="Languages …", value=FormKind.LANGUAGES),
        discord.SelectOption(
            label="Instructions …",
            value=FormKind.INSTRUCTIONS,
            description=clip("Without a model, only lines “topic -> place” have an effect", 100),
        ),
        discord.SelectOption(label="Limits of a day …", value=FormKind.LIMITS),
        discord.SelectOption(label="Reset to the defaults", value=MenuOption.DEFAULTS),
    ]
    lines = (
        _switch("Sources before an answer", policy.sources_first, chosen.sources_first),
        _switch(FOLLOW_UPS_LABEL, policy.follow_ups, chosen.follow_ups),
        _switch("Tell people when an answer has changed", applies.standing_answers, chosen.standing_answers),
        _line("Languages", ", ".join(policy.languages) or "the asker's", chosen.languages),
        _line("Instructions", clip(" ".join(policy.instructions.split()), 200) or "none", chosen.instructions),
        *(
            _line(label, f"{getattr(policy.limits, name):.10g}", getattr(chosen, name))
            for name, label in LIMIT_LABELS.items()
        ),
        *([_switch(PROPOSALS_LABEL, digest, chosen.proposal_digest)] if digest or kind.takes_messages else []),
    )
    return _Row(lines, place_menu(SettingsMenu.OTHER, place_id, "Change one of these", options))


def _handoff_row(place_id: int, applies: ChannelSettings) -> _Row:
    role = handoff_role(applies.handoff)
    menu = role_menu(SettingsMenu.HANDOFF, place_id, "Ask a person: which role?", role)
    return _Row((f"**Ask a person**: {f'<@&{role}>' if role else 'nobody yet'}",), menu)
