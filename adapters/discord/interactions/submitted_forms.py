"""Forms of ours that come back: each to what it is for, privately where it concerns only one."""

from adapters.discord.inbound.form_values import entered_texts, uploaded_files
from adapters.discord.inbound.interaction_responses import report_errors, tell
from adapters.discord.interactions.checkpoint_buttons import CheckpointButtons
from adapters.discord.interactions.ratings import RatingButtons
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.forms import LONGEST_CORRECTION, LONGEST_WORDS
from adapters.discord.outbound.payloads import FormId, FormKind
from adapters.discord.outbound.text import clip
from core.service.actions.wording import GONE


class SubmittedForms:
    """Which of them takes what. ``kb`` None: no knowledge is managed here."""

    def __init__(
        self, checkpoints: CheckpointButtons, ratings: RatingButtons, settings: ChannelSettingsMenus, kb: KbGroup | None
    ) -> None:
        self._checkpoints = checkpoints
        self._ratings = ratings
        self._settings = settings
        self._kb = kb

    async def on_submit(self, interaction: Interaction) -> None:
        """A form of ours was sent, perhaps one that another process had opened."""
        data = dict(interaction.data or {})
        form = FormId.decode(str(data.get("custom_id", "")))
        if form is None:
            return
        typed = " ".join(entered_texts(data.get("components"))).strip()
        words = clip(typed, LONGEST_WORDS)
        async with report_errors(interaction):
            match form.kind:
                case FormKind.WORDS:
                    await self._checkpoints.submit_words(interaction, form, words)
                case FormKind.REASON:
                    await self._ratings.submit_reason(interaction, form.subject, words)
                case FormKind.CORRECTION:
                    await self._ratings.submit_correction(interaction, form.subject, clip(typed, LONGEST_CORRECTION))
                case FormKind.LANGUAGES | FormKind.CONFIDENCE:
                    await self._settings.submit(interaction, form, words)
                case FormKind.FILES if self._kb is not None:
                    await self._kb.add_files(interaction, form.subject, uploaded_files(data))
                case FormKind.FILES:
                    await tell(interaction, GONE)
