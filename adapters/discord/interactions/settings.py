"""``/footnote settings``: the settings of a channel or category as menus, and what is chosen or typed there."""

import discord

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.ids import PLATFORM, base_channel_id, person_of
from adapters.discord.inbound.interaction_responses import (
    acknowledge,
    acknowledge_press,
    is_admin,
    report_errors,
    respond,
    show,
    tell,
)
from adapters.discord.outbound import forms, settings_menu
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.payloads import (
    FormId,
    FormKind,
    SettingsChange,
    SettingsMenu,
    read_languages,
    read_menu,
    read_threshold,
)
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.channel_settings import LEAST_CONFIDENCE
from core.model.conversation import Audience, ThreadKey
from core.model.principals import channel_principal
from core.service.channel_settings import SettingsService

NO_THRESHOLD = f"That is no number from {LEAST_CONFIDENCE:g} to 1, like 0.85."


class ChannelSettingsMenus:
    """Shows a place's settings to an admin of its server, and changes them. Rights are looked up each time."""

    def __init__(self, settings: SettingsService, channel_access: ChannelAccess) -> None:
        self._settings = settings
        self._channel_access = channel_access

    async def show(self, interaction: Interaction, place: int | None) -> None:
        """Show what applies in a place, with menus to change it; without a place, in the channel itself."""
        async with report_errors(interaction):
            place_id = place if place is not None else base_channel_id(interaction.channel)
            await self._require_admin(interaction, place_id)
            await acknowledge(interaction, alone=True)
            await show(interaction, await self._menus(interaction, place_id))

    async def choose(self, interaction: Interaction, menu: SettingsMenu, place_id: str, values: list[str]) -> None:
        """Change what was chosen in a menu, or open the form in which it is typed."""
        async with report_errors(interaction):
            await self._require_admin(interaction, int(place_id))
            try:
                chosen = read_menu(menu, values)
            except ValueError:
                return await tell(interaction, NO_THRESHOLD)
            if isinstance(chosen, SettingsChange):
                return await self._change(interaction, int(place_id), chosen)
            form = forms.languages_form if chosen is FormKind.LANGUAGES else forms.confidence_form
            await respond(interaction.response.send_modal(form(place_id)))
        return None

    async def submit(self, interaction: Interaction, form: FormId, typed: str) -> None:
        """Change what was typed into a form; whoever is no admin now is refused, whatever form they hold."""
        async with report_errors(interaction):
            await self._require_admin(interaction, int(form.subject))
            try:
                change = read_languages(typed) if form.kind is FormKind.LANGUAGES else read_threshold(typed)
            except ValueError:
                return await tell(interaction, NO_THRESHOLD)
            await self._change(interaction, int(form.subject), change)
        return None

    async def _change(self, interaction: Interaction, place_id: int, change: SettingsChange) -> None:
        await acknowledge_press(interaction)
        place = channel_principal(PLATFORM, str(interaction.guild_id), str(place_id))
        readers = await self._readers_of(interaction, place_id)
        chosen = change.apply(await self._settings.store.read(place))
        await self._settings.save(place, chosen, person_of(interaction.user), readers, is_admin=True)
        await show(interaction, await self._menus(interaction, place_id), in_place=True)

    async def _menus(self, interaction: Interaction, place_id: int) -> SanitizedView:
        key = ThreadKey(PLATFORM, str(interaction.guild_id), str(place_id), "")
        applies = await self._channel_access.settings(key)
        bases = await self._settings.selectable_bases(await self._readers_of(interaction, place_id))
        place = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        kind = settings_menu.PlaceKind(
            forum=isinstance(place, discord.ForumChannel | discord.CategoryChannel),
            channel=not isinstance(place, discord.ForumChannel),
            content=interaction.client.intents.message_content,
        )
        return settings_menu.menu(place_id, applies, await self._settings.store.read(key.place), bases, kind)

    async def _readers_of(self, interaction: Interaction, place_id: int) -> Audience:
        """Who reads in a channel; a category has no readers of its own, so that any base may be meant for it."""
        place = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        if place is None or isinstance(place, discord.CategoryChannel):
            return Audience(administers=True)
        return await self._channel_access.audience_of_channel(
            ThreadKey(PLATFORM, str(interaction.guild_id), str(place_id), "")
        )

    async def _require_admin(self, interaction: Interaction, place_id: int) -> None:
        """Raises Denied, and puts it on record, for who may not; also for a place of another server."""
        channel = interaction.guild.get_channel(place_id) if interaction.guild is not None else None
        place = channel_principal(PLATFORM, str(interaction.guild_id), str(place_id))
        allowed = is_admin(interaction) and channel is not None
        await self._settings.require_admin(person_of(interaction.user), place, is_admin=allowed)
