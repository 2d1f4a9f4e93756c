"""Discord as a platform: it puts events into the inbox, and answers what a worker needs.

``run`` keeps the connection. The rest is the ``Platform`` protocol. Any worker may call it for any message, even one
that another process received.
"""

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Self

import discord
import structlog

from adapters.discord.api.http import configure_endpoints
from adapters.discord.api.ids import PLATFORM, handoff_role
from adapters.discord.inbound.context import NearbyMessages, files_above, read_attachments, read_thread_context
from adapters.discord.inbound.event_listener import EventListener
from adapters.discord.inbound.gateway import FootnoteClient, GatewayEvents
from adapters.discord.inbound.gateway_connection import GatewayConnection
from adapters.discord.inbound.identify_limiter import IdentifyLimiter
from adapters.discord.inbound.look_back import LookBack
from adapters.discord.inbound.message_words import bot_identity
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.assembly import Interactions
from adapters.discord.kb.commands import KbGroup
from adapters.discord.kb.job_cards import DiscordCards
from adapters.discord.kb.transcripts import DiscordTranscripts, download_file
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.answer_view import MANNERS, DiscordAnswers
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import again_button
from adapters.discord.outbound.layouts import Extras
from adapters.discord.outbound.notices import DiscordAnnouncements, DiscordOffers, DiscordPersonalNotices, Notices
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import (
    FileReference,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    MessageRoute,
    Permissions,
    ReplyMode,
    person_in,
    question_of,
)
from core.model.inquiry import Checkpoint
from core.ports.answer_view import AnswerView
from core.ports.chat import AnswerPlace, CallRefused, Manners
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.ports.platform import MessageState, PlatformCapabilities
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import ThreadMuted, outcome_text
from core.service.attached_files import Parse
from core.service.channel_settings import AnswerVisibility, answer_visibility
from core.service.delivery.job_cards import JobCards, look_after
from core.service.delivery.pacing import LIMITS, PacingLimits
from core.service.incoming import BackfillPlaces
from core.service.kb.service import KnowledgeService
from core.service.leases import LeaderLease

CLOSE_SECONDS = 10.0
CONNECT_SECONDS = 60.0  # how long a worker waits for the connection


log = structlog.get_logger(__name__)


class DiscordPlatform:
    """One application on Discord.

    ``parse`` turns an attached file into text. ``kb`` manages knowledge. ``allowed_bots`` are names or ids of bots that
    may ask in channels. ``dev_guild`` is the only server to register commands in during development. ``api_url`` (with
    its version) and ``gateway_url`` name a proxy or a compatible server. ``gateway_lease`` is the lease for the gateway
    connection, which one process has at a time. ``now`` is the clock of the jobs, in seconds since the epoch.
    """

    name = PLATFORM
    question_state = DiscordQuestionState

    def __init__(
        self,
        *,
        token: str,
        inbox: Inbox,
        message_states: MessageStateStore,
        user_actions: UserActions,
        parse: Parse,
        kb: KnowledgeService,
        gateway_lease: LeaderLease,
        dev_guild: str | None = None,
        allowed_bots: Collection[str] = (),
        api_url: str | None = None,
        gateway_url: str | None = None,
        manners: Manners = MANNERS,
        pacing_limits: PacingLimits = LIMITS,
        now: Callable[[], float] = time.time,
    ) -> None:
        configure_endpoints(api_url, gateway_url)
        self._parse = parse
        self._connection = GatewayConnection(self._new_client, token, gateway_lease)
        self._identify_limiter = IdentifyLimiter(message_states)
        self._ordered_queue = OrderedQueue(inbox)
        app = DiscordApplication.new(
            self.client, self.wait_until_connected, self._connection.holds_gateway, message_states, user_actions
        )
        self.app = app
        self._answers = DiscordAnswers(app, self._extras, manners, pacing_limits)
        self._notices = Notices(app)
        self._cards = JobCards(message_states, PLATFORM, DiscordCards(app.messages, app.connected), now)
        places = BackfillPlaces(message_states, PLATFORM)
        self._look_back = LookBack(
            client=app.client,
            session=self._connection.session,
            on_message=self._on_missed,
            enqueue=self._ordered_queue.add,
            places=places,
        )
        self._event_listener = EventListener(
            app,
            self._ordered_queue,
            inbox,
            places,
            tell=self.tell,
            look_again=self._look_back.look_again,
            allowed_bots=allowed_bots,
        )
        group = KbGroup(kb, app, self._cards)
        self._interactions = Interactions(app, self._ordered_queue, group, dev_guild)

    def client(self) -> FootnoteClient:
        """Return the connected client. Raises PlatformUnavailable before the first connection."""
        if self._connection.client is None:
            raise PlatformUnavailable("Discord is not connected yet.")
        return self._connection.client

    async def wait_until_connected(self) -> None:
        """Wait for the connection, since a worker may start before it. Raises PlatformUnavailable."""
        await self._connection.wait_until_ready(CONNECT_SECONDS)

    # --- connection

    def readiness_problem(self) -> str:
        """Return why the platform is not ready, or an empty string if it is."""
        problem = self._connection.readiness_problem()
        return problem and (self._identify_limiter.problem() or problem)

    def capabilities(self) -> PlatformCapabilities:
        """Return what the knowledge service can use of Discord."""
        app = self.app
        announcements, offers = DiscordAnnouncements(app), DiscordOffers(app)
        notices = DiscordPersonalNotices(app)
        return PlatformCapabilities(download_file, DiscordTranscripts(app), self._cards, announcements, offers, notices)

    def routes(self) -> tuple[()]:
        """Return no routes, because Discord does not call us over HTTP."""
        return ()

    async def run(self, stop: asyncio.Event) -> None:
        """Stay connected until ``stop`` is set, whatever Discord does. ``readiness_problem`` says what is wrong.

        A missing intent is logged with its remedy. We continue with what works without it: mentions, direct messages
        and commands.
        """
        taking = asyncio.create_task(self._ordered_queue.run())
        connecting = asyncio.create_task(self._connection.hold())
        stopping = asyncio.create_task(stop.wait())
        finishing = asyncio.create_task(look_after(self._cards, stop))
        catching_up = asyncio.create_task(self._look_back.run())
        try:
            await asyncio.wait([taking, connecting, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in (taking, connecting):
                if task.done():
                    task.result()
        finally:
            await self._connection.hang_up(connecting)
            await self._ordered_queue.drain()
            for helper in (taking, stopping, finishing, catching_up):
                helper.cancel()
            await asyncio.gather(taking, stopping, finishing, catching_up, return_exceptions=True)

    async def close(self) -> None:
        """Release everything. Nothing can be shown afterwards."""
        await self._cards.close()
        await self._event_listener.close()
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _new_client(self, content: bool) -> FootnoteClient:
        listener, connection = self._event_listener, self._connection
        events = GatewayEvents(
            on_message=listener.on_message,
            on_edit=listener.on_edit,
            on_delete=listener.on_delete,
            on_thread_delete=listener.on_thread_delete,
            on_member_change=self.app.servers.forget_member,
            on_ready=self._on_ready,
            on_resume=connection.mark_resumed,
            on_disconnect=connection.mark_disconnected,
            on_press=self._interactions.on_press,
            on_submit=self._interactions.on_submit,
        )
        client = FootnoteClient(events=events, identify_limiter=self._identify_limiter, content=content)
        self._interactions.command_tree.register(client.tree)
        return client

    def _on_missed(self, message: discord.Message) -> None:
        self._event_listener.on_message(message)

    async def _on_ready(self) -> None:
        """Register changed commands in a new session."""
        self._connection.mark_established()
        self._look_back.on_session()
        await self._interactions.command_tree.sync(self.client().tree)
        self._connection.mark_serving()

    # --- core.ports.platform.Platform

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[DiscordQuestionState], trace_id: str
    ) -> AnswerView:
        """Return the view that shows the answer to this message."""
        return self._answers.delivery(question_of(incoming), message_state, trace_id)

    async def _extras(self, message: IncomingMessage) -> Extras:
        """Return the answer buttons that depend on the place."""
        settings = await self.app.channel_access.settings(message.thread)
        visibility = _visibility(message)
        handoff = visibility is AnswerVisibility.PLACE and handoff_role(settings.handoff) is not None
        return Extras(handoff=handoff, share=visibility is AnswerVisibility.ASKER)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the effective settings of this place."""
        await self.wait_until_connected()
        return await self.app.channel_access.settings(thread)

    async def audience(self, incoming: Incoming) -> Audience:
        """Return who can read the answer there now."""
        await self.wait_until_connected()
        thread, asker = incoming.thread, person_in(incoming)
        match _visibility(incoming):
            case AnswerVisibility.DIRECT:
                return await self.app.channel_access.audience_of_person(asker)
            case AnswerVisibility.ASKER:
                return await self.app.channel_access.audience_in_thread(asker, thread)
            case AnswerVisibility.PLACE:
                return await self.app.channel_access.audience_of_channel(thread)

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return what this person may do there now."""
        await self.wait_until_connected()
        return await self.app.channel_access.permissions(person, thread)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the earlier messages of the thread, oldest first."""
        guild = message.reply_target.guild
        server = await self.app.servers.server(int(guild)) if guild else None
        us = bot_identity(self.client(), server)
        return await read_thread_context(NearbyMessages(self.client(), self.app.servers, message), us)

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the files attached to the message."""
        return await read_attachments(self.client(), message, self._parse)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message unchanged: the gateway sends all of it."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the message's files. If it has none and ``above`` is set, return those of the messages above it.

        These are the message it replies to and its thread's first message.
        """
        if message.files or not above:
            return message.files
        return await files_above(NearbyMessages(self.client(), self.app.servers, message))

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Tell the writer that we were muted or unmuted."""
        await self.tell(message, outcome_text(ThreadMuted(muted=decided is MessageRoute.MUTE)))

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Tell the person who wrote or pressed: privately after a press, otherwise where they wrote.

        Raises only PlatformUnavailable.
        """
        subject = incoming.checkpoint if isinstance(incoming, IncomingChoice) else question_of(incoming).id
        await self._notices.tell(incoming.thread, subject, incoming.reply_target, text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState]) -> None:
        """Add a button below the answer, for its asker only. Editing a message notifies nobody.

        Only a press allows an ephemeral message, so a separate note would be visible to everyone.
        """
        kept = message_state.kept
        if not kept.trace or not kept.messages:
            return
        await self.wait_until_connected()
        place = AnswerPlace(ReplyMode(kept.mode or message.reply_target.mode), kept.channel)
        row = layouts.row(again_button(kept.trace))
        try:
            await self._answers.surface(message, message_state).add_row(place, kept.messages[-1], row)
        except CallRefused as refused:
            log.info("row_not_added", reason=str(refused))

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState], card: Checkpoint
    ) -> None:
        """Remove the choices of a card. An ephemeral card can be edited for 15 minutes after a press."""
        await self.wait_until_connected()
        await self._answers.delivery(message, message_state).close_card(card)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState]) -> None:
        """Delete what was posted for a deleted question."""
        await self.wait_until_connected()
        await self._answers.delivery(message, message_state).withdraw()


def _visibility(incoming: Incoming) -> AnswerVisibility:
    """Return who sees the answer, as decided when the question arrived."""
    private = not isinstance(incoming, IncomingChoice) and question_of(incoming).private
    return answer_visibility(None, direct=not incoming.thread.space, private=private)
