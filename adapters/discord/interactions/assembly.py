"""Everything that answers commands, buttons, menus and forms, put together."""

from dataclasses import dataclass

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.answer_buttons import AnswerButtons
from adapters.discord.interactions.ask_commands import AskCommands
from adapters.discord.interactions.button_handlers import DiscordButtonHandlers
from adapters.discord.interactions.checkpoint_buttons import CheckpointButtons
from adapters.discord.interactions.command_tree import CommandTree
from adapters.discord.interactions.footnote_commands import FootnoteCommands
from adapters.discord.interactions.ratings import RatingButtons
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.answer_index import AnswerIndex
from adapters.discord.outbound.messages import Messages
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions


@dataclass(frozen=True, slots=True)
class Interactions:
    """What a client needs to answer interactions."""

    command_tree: CommandTree
    button_handlers: DiscordButtonHandlers


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
    handlers = DiscordButtonHandlers(
        answers=answers, checkpoints=checkpoints, ratings=ratings, settings=settings, kb=kb
    )
    ask = AskCommands(user_actions, channel_access, ordered_queue)
    footnote = FootnoteCommands(user_actions, channel_access, answer_index, settings)
    commands = [*ask.commands(), footnote.group(), *(kb.commands() if kb is not None else ())]
    return Interactions(CommandTree(commands, user_actions.audit, message_states, dev_guild), handlers)
