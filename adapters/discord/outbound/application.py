"""The shared parts of the adapter: our application on Discord, and the records of its answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

import discord

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.servers import Servers
from adapters.discord.outbound.answer_records import AnswerIndex, EditVersions
from adapters.discord.outbound.messages import Messages
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions


@dataclass(frozen=True, slots=True)
class DiscordApplication:
    """One application.

    ``client`` returns the connected client, and ``connected`` waits for the connection. Both raise PlatformUnavailable.
    """

    client: Callable[[], discord.Client]
    connected: Callable[[], Awaitable[None]]
    servers: Servers
    messages: Messages
    channel_access: ChannelAccess
    answer_index: AnswerIndex
    edit_versions: EditVersions
    message_states: MessageStateStore
    user_actions: UserActions

    @classmethod
    def new(
        cls,
        client: Callable[[], discord.Client],
        connected: Callable[[], Awaitable[None]],
        holds_gateway: Callable[[], bool],
        message_states: MessageStateStore,
        user_actions: UserActions,
    ) -> Self:
        """Create all parts. ``holds_gateway`` says whether the gateway keeps the client's server data current."""
        servers = Servers(client, holds_gateway)
        return cls(
            client=client,
            connected=connected,
            servers=servers,
            messages=Messages(client, servers),
            channel_access=ChannelAccess(client, servers, user_actions),
            answer_index=AnswerIndex(message_states),
            edit_versions=EditVersions(message_states),
            message_states=message_states,
            user_actions=user_actions,
        )
