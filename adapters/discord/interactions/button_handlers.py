"""Every button, menu and form of ours, by what it is for: at once, and privately where it concerns only one.

An id is all that a press brings. Only what starts work goes through the inbox.
"""

from adapters.discord.inbound.form_values import entered_texts, uploaded_files
from adapters.discord.inbound.interaction_responses import report_errors, tell
from adapters.discord.interactions.answer_buttons import AnswerButtons
from adapters.discord.interactions.checkpoint_buttons import CheckpointButtons
from adapters.discord.interactions.ratings import RatingButtons
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.forms import LONGEST_CORRECTION, LONGEST_WORDS
from adapters.discord.outbound.payloads import FormId, FormKind, SettingsMenu
from adapters.discord.outbound.text import clip
from core.service.actions.presses import AnswerAction
from core.service.actions.wording import GONE


class DiscordButtonHandlers:
    """Which of them handles what; the ``ButtonHandlers`` of the client. ``kb`` None: no knowledge is managed here."""

    def __init__(
        self,
        *,
        answers: AnswerButtons,
        checkpoints: CheckpointButtons,
        ratings: RatingButtons,
        settings: ChannelSettingsMenus,
        kb: KbGroup | None,
    ) -> None:
        self._answers = answers
        self._checkpoints = checkpoints
        self._ratings = ratings
        self._settings = settings
        self._kb = kb

    async def stop(self, interaction: Interaction, trace_id: str) -> None:
        """The work on a question is to end."""
        await self._answers.stop(interaction, trace_id)

    async def act(self, interaction: Interaction, action: AnswerAction, trace_id: str) -> None:
        """One of an answer's buttons."""
        await self._answers.act(interaction, action, trace_id)

    async def ask_follow_up(self, interaction: Interaction, trace_id: str, number: int) -> None:
        """A question that was suggested below an answer."""
        await self._answers.ask_follow_up(interaction, trace_id, number)

    async def ask_again(self, interaction: Interaction, trace_id: str) -> None:
        """A question that was edited after its answer."""
        await self._answers.ask_again(interaction, trace_id)

    async def choose(self, interaction: Interaction, checkpoint_id: str, choice_id: str) -> None:
        """A choice of a checkpoint's card."""
        await self._checkpoints.choose(interaction, checkpoint_id, choice_id)

    async def correct(self, interaction: Interaction, trace_id: str) -> None:
        """Someone knows the right answer."""
        await self._ratings.open_correction(interaction, trace_id)

    async def choose_settings(
        self, interaction: Interaction, menu: SettingsMenu, place_id: str, values: list[str]
    ) -> None:
        """What was chosen in a menu of a place's settings."""
        await self._settings.choose(interaction, menu, place_id, values)

    async def use_kept_command(self, interaction: Interaction, kept: str) -> None:
        """A button below a reply of ``/kb``."""
        if self._kb is None:
            await tell(interaction, GONE)
        else:
            await self._kb.on_press(interaction, kept)

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
