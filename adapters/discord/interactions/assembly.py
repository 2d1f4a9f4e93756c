"""Everything that answers commands, buttons, menus and forms, put together."""

from dataclasses import dataclass

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.inbound.interactions import report_errors, tell
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.answer_buttons import AnswerButtons
from adapters.discord.interactions.ask_commands import AskCommands
from adapters.discord.interactions.checkpoint_buttons import CheckpointButtons
from adapters.discord.interactions.command_tree import CommandTree
from adapters.discord.interactions.footnote_commands import FootnoteCommands
from adapters.discord.interactions.ratings import RatingButtons
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.answer_records import AnswerIndex
from adapters.discord.outbound.buttons import ButtonHandlers, Interaction
from adapters.discord.outbound.forms import (
    LONGEST_CORRECTION,
    LONGEST_WORDS,
    FormId,
    FormKind,
    entered_texts,
    uploaded_files,
)
from adapters.discord.outbound.messages import Messages
from adapters.discord.outbound.text import clip
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions
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


@dataclass(frozen=True, slots=True)
class Interactions:
    """What a client needs to answer interactions."""

    command_tree: CommandTree
    button_handlers: ButtonHandlers


def new_interactions(
    *,
    user_actions: UserActions,
    message_states: MessageStateStore,
    answer_index: AnswerIndex,
    channel_access: ChannelAccess,
    messages: Messages,
    ordered_queue: OrderedQueue,
    kb: KbGroup | None,
    dev_guild: str | None,
) -> Interactions:
    """All of it. ``kb`` None: no knowledge is managed here; ``dev_guild``: the one server to register commands in."""
    settings = ChannelSettingsMenus(user_actions.settings, channel_access)
    ratings = RatingButtons(user_actions, message_states, answer_index, channel_access, kb)
    answers = AnswerButtons(
        user_actions=user_actions,
        answer_index=answer_index,
        channel_access=channel_access,
        messages=messages,
        ordered_queue=ordered_queue,
        ratings=ratings,
    )
    checkpoints = CheckpointButtons(user_actions, answer_index)
    handlers = ButtonHandlers(
        stop=answers.stop,
        act=answers.act,
        ask_follow_up=answers.ask_follow_up,
        ask_again=answers.ask_again,
        choose=checkpoints.choose,
        correct=ratings.open_correction,
        choose_settings=settings.choose,
        use_kept_command=kb.on_press if kb is not None else _without_knowledge,
        on_submit=SubmittedForms(checkpoints, ratings, settings, kb).on_submit,
    )
    ask = AskCommands(user_actions, channel_access, ordered_queue)
    footnote = FootnoteCommands(user_actions, channel_access, answer_index, settings)
    commands = [*ask.commands(), footnote.group(), *(kb.commands() if kb is not None else ())]
    return Interactions(CommandTree(commands, user_actions.audit, message_states, dev_guild), handlers)


async def _without_knowledge(interaction: Interaction, _kept: str) -> None:
    await tell(interaction, GONE)
