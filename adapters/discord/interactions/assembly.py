"""Assembly of everything that answers commands, buttons, menus and forms."""

from adapters.discord.inbound.interactions import report_errors, tell
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.answer_buttons import AnswerButtons, RatingButtons
from adapters.discord.interactions.ask_commands import AskCommands
from adapters.discord.interactions.checkpoint_buttons import CheckpointButtons
from adapters.discord.interactions.command_tree import CommandTree
from adapters.discord.interactions.footnote_commands import FootnoteCommands
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import ButtonHandlers, Interaction
from adapters.discord.outbound.forms import (
    LONGEST_CORRECTION,
    LONGEST_WORDS,
    FormId,
    FormKind,
    entered_texts,
    uploaded_files,
)
from adapters.discord.outbound.text import clip
from core.service.actions.wording import GONE


class Interactions:
    """What a client needs to answer interactions: its commands, and the handlers of buttons and forms."""

    def __init__(
        self, app: DiscordApplication, ordered_queue: OrderedQueue, kb: KbGroup | None, dev_guild: str | None
    ) -> None:
        """Set up all handlers. Without ``kb``, there is no ``/kb``. ``dev_guild`` is the only server for commands."""
        self._kb = kb
        self._checkpoints = CheckpointButtons(app)
        self._ratings = RatingButtons(app, kb)
        self._settings = ChannelSettingsMenus(app)
        answers = AnswerButtons(app, ordered_queue, self._ratings)
        self.button_handlers = ButtonHandlers(
            stop=answers.stop,
            act=answers.act,
            ask_follow_up=answers.ask_follow_up,
            ask_again=answers.ask_again,
            choose=self._checkpoints.choose,
            correct=self._ratings.open_correction,
            mute_notices=answers.mute_notices,
            decide_answer=self._ratings.decide_answer,
            choose_settings=self._settings.choose,
            use_kept_command=kb.on_press if kb is not None else _without_knowledge,
            on_submit=self._on_submit,
        )
        ask, footnote = AskCommands(app, ordered_queue), FootnoteCommands(app, self._settings)
        commands = [*ask.commands(), footnote.group(), *(kb.commands() if kb is not None else ())]
        self.command_tree = CommandTree(commands, app.user_actions.audit, app.message_states, dev_guild)

    async def _on_submit(self, interaction: Interaction) -> None:
        """Handle a submitted form, even one that another process opened."""
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
                case FormKind.LANGUAGES | FormKind.CONFIDENCE | FormKind.INSTRUCTIONS | FormKind.LIMITS:
                    await self._settings.submit(interaction, form, words)
                case FormKind.FILES if self._kb is not None:
                    await self._kb.add_files(interaction, form.subject, uploaded_files(data))
                case FormKind.FILES:
                    await tell(interaction, GONE)


async def _without_knowledge(interaction: Interaction, _kept: str) -> None:
    await tell(interaction, GONE)
