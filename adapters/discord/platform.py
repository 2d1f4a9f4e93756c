"""Discord as a platform: what it hears goes into the inbox, and what a worker needs of it is answered here.

``run`` keeps the connection; the rest is the ``Platform`` protocol, which any worker may call, on any message, also
one that another process heard.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Self

import discord
import structlog

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.http import configure_endpoints
from adapters.discord.api.ids import PLATFORM, handoff_role
from adapters.discord.api.servers import Servers
from adapters.discord.inbound.context import NearbyMessages, files_above, read_attachments, read_thread_context
from adapters.discord.inbound.event_listener import EventListener
from adapters.discord.inbound.gateway import FootnoteClient
from adapters.discord.inbound.gateway_connection import GatewayConnection
from adapters.discord.inbound.identify_limiter import IdentifyLimiter
from adapters.discord.inbound.look_back import LookBack
from adapters.discord.inbound.message_words import bot_identity
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.assembly import Interactions, new_interactions
from adapters.discord.kb.commands import DiscordKeptCommand, KbGroup
from adapters.discord.kb.job_cards import JobCards
from adapters.discord.kb.transcripts import DiscordKnowledge
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import AnswerIndex, DiscordQuestionState, EditVersions
from adapters.discord.outbound.answer_view import MANNERS, DiscordAnswers
from adapters.discord.outbound.buttons import AgainButton
from adapters.discord.outbound.layouts import Extras
from adapters.discord.outbound.messages import Messages
from adapters.discord.outbound.notices import DiscordAnnouncements, Notices
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import (
    Expiry,
    FileReference,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    MessageRoute,
    Permissions,
)
from core.model.inquiry import Checkpoint
from core.model.reply_target import ReplyMode, ReplyTarget
from core.ports.answer_view import AnswerView
from core.ports.chat import AnswerPlace, CallRefused, Manners
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.ports.platform import MessageState
from core.ports.platform_capabilities import PlatformCapabilities
from core.service.actions.outcomes import ThreadMuted
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import outcome_text
from core.service.answer_visibility import AnswerVisibility, answer_visibility
from core.service.attached_files import Parse
from core.service.backfill import BackfillPlaces
from core.service.delivery.pacing import LIMITS, PacingLimits
from core.service.kb.kept_commands import KeptCommands
from core.service.kb.knowledge_commands import KnowledgeCommands
from core.service.leader_lease import AlwaysLeader, LeaderLease
from core.service.pending_card_updates import look_after

CLOSE_SECONDS = 10.0
CONNECT_SECONDS = 60.0  # for which a worker waits for the connection


log = structlog.get_logger(__name__)


class DiscordPlatform:
    """One application on Discord.

    ``parse`` turns an attached file into text. ``kb`` manages knowledge (None: ``/kb`` and *Add to knowledge base* are
    not offered). ``allowed_bots`` are names or ids of bots that may ask, in channels. ``dev_guild`` is the one server
    to register commands in while developing. ``api_url`` (with its version) and ``gateway_url`` name a proxy or a
    compatible server. ``gateway_lease`` is the right to hold the gateway's connection, which one process has at a time.
    """

    def __init__(
        self,
        *,
        token: str,
        inbox: Inbox,
        message_states: MessageStateStore,
        user_actions: UserActions,
        parse: Parse,
        kb: KnowledgeCommands | None = None,
        dev_guild: str | None = None,
        allowed_bots: Collection[str] = (),
        api_url: str | None = None,
        gateway_url: str | None = None,
        gateway_lease: LeaderLease | None = None,
        manners: Manners = MANNERS,
        pacing_limits: PacingLimits = LIMITS,
    ) -> None:
        configure_endpoints(api_url, gateway_url)
        self._gateway_lease = gateway_lease or AlwaysLeader()
        self._parse = parse
        self._connection = GatewayConnection(self._new_client, token, self._gateway_lease)
        self._identify_limiter = IdentifyLimiter(message_states)
        self._ordered_queue = OrderedQueue(inbox)
        self._answer_index = AnswerIndex(message_states)
        self._edit_versions = EditVersions(message_states)
        self.servers = Servers(self.client, self._connection.holds_gateway)
        self.messages = Messages(self.client, self.servers)
        self.channel_access = ChannelAccess(self.client, self.servers, user_actions)
        self._answers = DiscordAnswers(
            messages=self.messages,
            answer_index=self._answer_index,
            edit_versions=self._edit_versions,
            connected=self.wait_until_connected,
            extras=self._extras,
            manners=manners,
            limits=pacing_limits,
        )
        self._notices = Notices(self.messages, self.wait_until_connected)
        self._cards = JobCards(self.messages, message_states, self.wait_until_connected)
        self.knowledge = DiscordKnowledge(self.client, self._cards, self.wait_until_connected)
        places = BackfillPlaces(message_states, PLATFORM)
        self._look_back = self._new_look_back(places)
        self._event_listener = self._new_event_listener(inbox, message_states, places, allowed_bots)
        interactions = self._new_interactions(message_states, user_actions, kb, dev_guild)
        self._command_tree, self._button_handlers = interactions.command_tree, interactions.button_handlers

    def _new_look_back(self, places: BackfillPlaces) -> LookBack:
        return LookBack(
            client=self.client,
            session=self._connection.session,
            on_message=self.on_message,
            enqueue=self._ordered_queue.add,
            places=places,
        )

    def _new_interactions(
        self,
        message_states: MessageStateStore,
        user_actions: UserActions,
        kb: KnowledgeCommands | None,
        dev_guild: str | None,
    ) -> Interactions:
        kept_commands = KeptCommands(message_states, user_actions.audit, DiscordKeptCommand)
        return new_interactions(
            user_actions=user_actions,
            message_states=message_states,
            answer_index=self._answer_index,
            channel_access=self.channel_access,
            messages=self.messages,
            ordered_queue=self._ordered_queue,
            kb=KbGroup(kb, self.channel_access, kept_commands, self._cards) if kb is not None else None,
            dev_guild=dev_guild,
        )

    def _new_event_listener(
        self, inbox: Inbox, message_states: MessageStateStore, places: BackfillPlaces, allowed_bots: Collection[str]
    ) -> EventListener:
        return EventListener(
            client=self.client,
            ordered_queue=self._ordered_queue,
            inbox=inbox,
            message_states=message_states,
            places=places,
            answer_index=self._answer_index,
            edit_versions=self._edit_versions,
            channel_access=self.channel_access,
            messages=self.messages,
            tell=self.tell,
            look_again=self._look_back.look_again,
            allowed_bots=allowed_bots,
        )

    @property
    def name(self) -> str:
        """``discord``."""
        return PLATFORM

    def client(self) -> FootnoteClient:
        """The client that is connected now. Raises PlatformUnavailable before there is one."""
        if self._connection.client is None:
            raise PlatformUnavailable("Discord is not connected yet.")
        return self._connection.client

    async def wait_until_connected(self) -> None:
        """Wait until Discord can be asked: a worker may be quicker than the gateway. Raises PlatformUnavailable."""
        await self._connection.wait_until_ready(CONNECT_SECONDS)

    # --- the connection

    def readiness_problem(self) -> str:
        """Why it is not ready; empty when it is."""
        problem = self._connection.readiness_problem()
        return problem and (self._identify_limiter.problem() or problem)

    def capabilities(self) -> PlatformCapabilities:
        """What the knowledge service can use of it."""
        announcements = DiscordAnnouncements(self.channel_access, self.messages, self.wait_until_connected)
        return replace(self.knowledge.capabilities(), announcements=announcements)

    def routes(self) -> tuple[()]:
        """It is not called over HTTP."""
        return ()

    async def run(self, stop: asyncio.Event) -> None:
        """Stay connected until ``stop`` is set, whatever Discord does: ``readiness_problem`` says what is wrong.

        A missing intent is logged with its remedy, and we go on with what can be heard without it: mentions, direct
        messages and commands.
        """
        taking = asyncio.create_task(self._ordered_queue.run())
        connecting = asyncio.create_task(self._connection.hold())
        stopping = asyncio.create_task(_wait(stop))
        finishing = asyncio.create_task(look_after(self._cards.finish, stop))
        catching_up = asyncio.create_task(self._look_back.run())
        try:
            await asyncio.wait([taking, connecting, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in (taking, connecting):
                if task.done():
                    task.result()
        finally:
            await self._hang_up(connecting)
            await self._ordered_queue.drain()
            helping = (taking, stopping, finishing, catching_up)
            for task in helping:
                task.cancel()
            await asyncio.gather(*helping, return_exceptions=True)

    async def _hang_up(self, connecting: "asyncio.Task[None]") -> None:
        """Hear nothing more. Answers that are being made can still be shown, until ``close``."""
        self._connection.mark_closing()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        client = self._connection.client
        socket = client.ws if client is not None else None
        if socket is not None:  # None until the first connection stands, whatever the library's types say
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await socket.close(code=1000)
        await self._gateway_lease.release()

    async def close(self) -> None:
        """Let go of everything: nothing can be shown any more."""
        await self._event_listener.close()
        if self._connection.client is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._connection.client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _new_client(self, content: bool) -> FootnoteClient:
        client = FootnoteClient(
            events=self, button_handlers=self._button_handlers, identify_limiter=self._identify_limiter, content=content
        )
        self._command_tree.register(client.tree)
        return client

    async def ready(self) -> None:
        """A session stands: commands that have changed are registered."""
        self._connection.mark_established()
        self._look_back.on_session()
        await self._command_tree.sync(self.client().tree)
        self._connection.mark_serving()

    def on_resume(self) -> None:
        """The gateway resumed our session: nothing was missed."""
        self._connection.mark_resumed()

    def on_disconnect(self) -> None:
        """The gateway's connection is lost; discord.py reconnects."""
        self._connection.mark_disconnected()

    # --- what the gateway tells

    def on_message(self, message: discord.Message) -> None:
        """A message was posted."""
        self._event_listener.on_message(message)

    def on_edit(self, message: discord.Message) -> None:
        """A message was edited."""
        self._event_listener.on_edit(message)

    def on_delete(self, guild_id: int | None, channel_id: int, message_id: int) -> None:
        """A message was deleted."""
        self._event_listener.on_delete(guild_id, channel_id, message_id)

    def on_thread_delete(self, guild_id: int, parent_id: int, thread_id: int) -> None:
        """A thread was deleted."""
        self._event_listener.on_thread_delete(guild_id, parent_id, thread_id)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """A form of ours was sent."""
        await self._button_handlers.on_submit(interaction)

    def on_member_change(self, guild_id: int, user_id: int) -> None:
        """A member's roles have changed."""
        self.channel_access.members.forget(guild_id, user_id)

    # --- what a worker needs

    @property
    def question_state(self) -> type[DiscordQuestionState]:
        """What it keeps of a question."""
        return DiscordQuestionState

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[DiscordQuestionState], trace_id: str
    ) -> AnswerView:
        """Where the answer to this will be visible."""
        return self._answers.delivery(_question(incoming), message_state, trace_id)

    async def _extras(self, message: IncomingMessage) -> Extras:
        """The buttons below its answer that depend on the place."""
        settings = await self.channel_access.settings(message.thread)
        visibility = _visibility(message)
        handoff = visibility is AnswerVisibility.PLACE and handoff_role(settings.handoff) is not None
        return Extras(handoff=handoff, share=visibility is AnswerVisibility.ASKER)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in this place."""
        await self.wait_until_connected()
        return await self.channel_access.settings(thread)

    async def audience(self, incoming: Incoming) -> Audience:
        """Who will be able to read the answer there, as of now."""
        await self.wait_until_connected()
        thread, asker = _thread(incoming), _person(incoming)
        match _visibility(incoming):
            case AnswerVisibility.DIRECT:
                return await self.channel_access.audience_of_person(asker)
            case AnswerVisibility.ASKER:
                return await self.channel_access.audience_in_thread(asker, thread)
            case AnswerVisibility.PLACE:
                return await self.channel_access.audience_of_channel(thread)

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """What this person may do there, as of now."""
        await self.wait_until_connected()
        return await self.channel_access.permissions(person, thread)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """What was said in the thread before, oldest first."""
        guild = message.reply_target.guild
        server = await self.servers.server(int(guild)) if guild else None
        user = self.client().user
        us = bot_identity(user.id if user else 0, server)
        return await read_thread_context(NearbyMessages(self.client(), self.servers, message), us)

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """The text of the files that hang on the message."""
        return await read_attachments(self.client(), message, self._parse)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """The message as it is: the gateway brings all of it."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """The files on the message, else those on what it replies to and on the message that its thread began with."""
        if message.files or not above:
            return message.files
        return await files_above(NearbyMessages(self.client(), self.servers, message))

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Say that we were muted or unmuted."""
        await self.tell(message, outcome_text(ThreadMuted(muted=decided is MessageRoute.MUTE)))

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say something to the one who wrote or pressed: privately after a press, else where they wrote.

        Raises PlatformUnavailable, and nothing else.
        """
        subject = incoming.checkpoint if isinstance(incoming, IncomingChoice) else _question(incoming).id
        await self._notices.tell(_thread(incoming), subject, _reply_target(incoming), text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState]) -> None:
        """Add a button below the answer, for its asker alone: an edit of a message disturbs nobody.

        What only one person sees needs a press, so a note of its own would be for all.
        """
        kept = message_state.kept
        if not kept.trace or not kept.messages:
            return
        await self.wait_until_connected()
        place = AnswerPlace(ReplyMode(kept.mode or message.reply_target.mode), kept.channel)
        row = layouts.row(AgainButton.create(kept.trace))
        try:
            await self._answers.surface(message, message_state).add_row(place, kept.messages[-1], row)
        except CallRefused as refused:
            log.info("row_not_added", reason=str(refused))

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState], card: Checkpoint
    ) -> None:
        """Take the choices off a card; one for a single person's eyes can be edited for 15 minutes after a press."""
        await self.wait_until_connected()
        await self._answers.delivery(message, message_state).close_card(card)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState]) -> None:
        """Remove what was posted for a question that was deleted."""
        await self.wait_until_connected()
        await self._answers.delivery(message, message_state).withdraw()


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def _question(incoming: Incoming) -> IncomingMessage:
    if isinstance(incoming, Expiry):
        return incoming.question
    if isinstance(incoming, IncomingChoice):
        raise TypeError("A choice is shown in the answer view of its question.")
    return incoming


def _thread(incoming: Incoming) -> ThreadKey:
    return incoming.question.thread if isinstance(incoming, Expiry) else incoming.thread


def _visibility(incoming: Incoming) -> AnswerVisibility:
    """Who sees the answer, as was settled when the question came in."""
    private = not isinstance(incoming, IncomingChoice) and _question(incoming).private
    return answer_visibility(None, direct=not _thread(incoming).space, private=private)


def _person(incoming: Incoming) -> Person:
    return incoming.person if isinstance(incoming, IncomingChoice) else _question(incoming).asker


def _reply_target(incoming: Incoming) -> ReplyTarget:
    return incoming.question.reply_target if isinstance(incoming, Expiry) else incoming.reply_target
