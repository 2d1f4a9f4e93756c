"""Slash commands and context menus: what they are called, what they take, and who may use them.

A question goes through the inbox like any other; everything else is answered at once, for the one who asked. They
are registered with Discord only when they have changed. Who is an admin is decided here, whatever Discord hides.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord.api.api_errors import api_call
from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.identifiers import base_channel_id, direct_key, guild_key, key_of, person_of, private_key
from adapters.discord.inbound.interaction_responses import (
    LOOK_UP_SECONDS,
    WENT_WRONG,
    acknowledge,
    is_admin,
    report_errors,
    tell,
)
from adapters.discord.inbound.message_parser import ourselves, readable
from adapters.discord.inbound.options import PlaceOption
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound import settings_menu
from adapters.discord.outbound.answer_index import AnswerIndex
from adapters.discord.outbound.buttons import Press
from adapters.discord.outbound.messages import NOBODY
from adapters.discord.outbound.sanitizer import SanitizedView, choice
from adapters.discord.outbound.text import clip, markdown, plain
from core.model.channel_settings import LEAST_CONFIDENCE, ReplyStyle, parse_threshold
from core.model.conversation import Audience, ThreadKey
from core.model.errors import FootnoteError, NotFound
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.principals import channel_principal
from core.model.records import Record
from core.model.reply_target import ReplyMode, ReplyTarget
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import HELP, NOTHING_KEPT, explanation_text, outcome_text
from core.service.answer_visibility import AnswerVisibility, answer_visibility

LONGEST_QUESTION = 2_000
LOOK_SECONDS = 1.0
NO_ADMIN = "Only an admin of this server (Manage Server) can do that here."
NO_THRESHOLD = f"That is no number from {LEAST_CONFIDENCE:g} to 1, like 0.85."
WHERE = {
    ReplyMode.POST: "I will answer that here.",
    ReplyMode.REPLY: "I will answer that in reply to it.",
    ReplyMode.START: "I will answer that in a thread on it.",
}
CHANGED = "That command has changed. Type it anew to see what it is now; if you do not, reload Discord."
NOT_ANSWERED = "I have not answered anything here that I could explain."
ALSO_HERE = (
    "`/ask` asks from anywhere, privately if you like. In any message's menu, under *Apps*, **Answer this** answers it "
    "and **Add to knowledge base** proposes it as something to know."
)
NOT_A_THREAD = "Use this in a thread that I am in, or in a direct message to me."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class RegisteredCommands(Record, place="discord/commands/{application}", subject="{scope}", installation=True):
    """Which commands were registered with Discord last, as a number that changes with any of them."""

    application: str
    scope: str
    digest: int = 0


class Commands:
    """All commands of the application."""

    def __init__(
        self,
        *,
        user_actions: UserActions,
        readers: ChannelAccess,
        ordered_queue: OrderedQueue,
        message_states: MessageStateStore,
        shown: AnswerIndex,
        kb: KbGroup | None,
        dev_guild: str | None,
    ) -> None:
        self._user_actions = user_actions
        self._readers = readers
        self._ordered_queue = ordered_queue
        self._message_states = message_states
        self._shown = shown
        self._kb = kb
        self._dev_guild = discord.Object(int(dev_guild)) if dev_guild else None

    # --- registering

    def register(self, tree: "app_commands.CommandTree[Any]") -> None:
        """Put every command into a client's tree."""
        tree.error(self._report_failure)
        ask = _command("ask", "Ask a question of your team's documents", _ask_callback(self))
        ask.autocomplete("knowledge")(self._complete_base)
        tree.add_command(ask)
        tree.add_command(self._footnote_group())
        tree.add_command(_menu("Answer this", self._answer_this))
        if self._kb is not None:
            tree.add_command(self._kb.group())
            tree.add_command(_menu("Add to knowledge base", self._kb.add_message))

    async def sync(self, tree: "app_commands.CommandTree[Any]") -> bool:
        """Register them with Discord if they are not what was registered last; whether that was needed."""
        scope = f"guild:{self._dev_guild.id}" if self._dev_guild else "global"
        registered = RegisteredCommands(application=str(tree.client.application_id), scope=scope, digest=_digest(tree))
        try:
            if await self._message_states.read(registered) == registered:
                return False
            async with api_call("register my commands"):
                if self._dev_guild is not None:
                    tree.copy_global_to(guild=self._dev_guild)
                await tree.sync(guild=self._dev_guild)
            await self._message_states.save(registered)
        except FootnoteError as error:
            log.warning("commands_not_registered", reason=str(error))
            return False
        log.info("commands_registered", scope=scope)
        return True

    # --- asking

    async def ask(
        self, press: Press, question: str, private: bool | None, file: discord.Attachment | None, base: str = ""
    ) -> None:
        """Acknowledge, then put the question into the inbox; ``base`` names the only knowledge base to look in."""
        async with report_errors(press):
            alone = await self._visibility(press, private) is AnswerVisibility.ASKER
            response = await acknowledge(press, alone=alone)
            bases = await self._readable_base(press, base, alone=alone) if base.strip() else ()
            target = ReplyTarget(
                mode=ReplyMode.PRIVATE if alone else ReplyMode.RESPONSE,
                channel=str(press.channel_id),
                message=str(press.id),
                guild=str(press.guild_id or ""),
                asker=str(press.user.id),
                token=press.token,
                response=response,
                file=file.url if file is not None else "",
            )
            incoming = IncomingMessage(
                id=str(press.id),
                thread=command_thread(press, alone=alone),
                text=question,
                asker=person_of(press.user),
                reply_target=target,
                mentions_us=True,
                direct=press.guild_id is None,
                private=alone,
                files=(FileReference(str(file.id), file.filename, file.size),) if file is not None else (),
                bases=bases,
            )
            self._enqueue(press, incoming)

    async def _readable_base(self, press: Press, name: str, *, alone: bool) -> tuple[str, ...]:
        """The base of this name. Raises NotFound unless everybody who will read the answer may read it."""
        thread = command_thread(press, alone=alone)
        readers = await (self.own_audience(press) if alone or not thread.space else self._readers.of_place(thread))
        wanted = name.strip().casefold()
        for base in await self._user_actions.bases.for_audience(readers):
            if base.name.casefold() == wanted:
                return (base.name,)
        raise NotFound(
            f"There is no knowledge base called “{plain(clip(name.strip(), 60))}” that everybody here may read.",
            remedy="Ask without naming one, or for your eyes only.",
        )

    async def _complete_base(self, press: Press, typed: str) -> list[app_commands.Choice[str]]:
        """Names of bases that the one who types may read."""
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS):
                bases = await self._user_actions.bases.for_audience(await self.own_audience(press))
        except (FootnoteError, TimeoutError):
            return []
        names = [base.name for base in bases if base.name.casefold().startswith(typed.strip().casefold())]
        return [choice(name, name) for name in names[:25]]

    async def _visibility(self, press: Press, private: bool | None) -> AnswerVisibility:
        """Who sees the answer to what is asked here; ``private`` is what the asker chose, if anything."""
        direct = press.guild_id is None
        settings = None
        if not direct and private is None:
            with suppress(FootnoteError, TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    settings = await self._readers.settings(command_thread(press, alone=False))
        return answer_visibility(settings, direct=direct, private=private)

    def _enqueue(self, press: Press, incoming: IncomingMessage) -> None:
        async def keep() -> None:
            await self._ordered_queue.put(f"discord:{press.id}", incoming, busy=lambda text: tell(press, text))

        self._ordered_queue.add(keep)

    async def _answer_this(self, press: Press, message: discord.Message) -> None:
        """Somebody else's message as the question, answered in a thread on it."""
        async with report_errors(press):
            us = ourselves(press.client.user.id if press.client.user else 0, press.guild)
            text = readable(message, us)
            if not text and not message.attachments:
                return await tell(press, "There is nothing in that message that I could answer.")
            mode = await self._reply_mode(press, message)
            target = ReplyTarget(
                mode=mode,
                channel=str(press.channel_id),
                message=str(message.id),
                guild=str(press.guild_id or ""),
                asker=str(press.user.id),
            )
            await tell(press, WHERE[mode])
            files = tuple(FileReference(str(one.id), one.filename, one.size) for one in message.attachments[:10])
            incoming = IncomingMessage(
                id=str(press.id),
                thread=key_of(press.channel, press.guild_id, message.id),
                text=text,
                asker=person_of(press.user),
                reply_target=target,
                mentions_us=True,
                files=files,
            )
            self._enqueue(press, incoming)
        return None

    async def _reply_mode(self, press: Press, message: discord.Message) -> ReplyMode:
        """How a message in this place is answered for all to see. When that cannot be told in time: in a thread."""
        if isinstance(press.channel, discord.Thread) or press.guild_id is None:
            return ReplyMode.POST
        with suppress(FootnoteError, TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                settings = await self._readers.settings(key_of(press.channel, press.guild_id, message.id))
            if settings.reply_style is ReplyStyle.CHANNEL:
                return ReplyMode.REPLY
        return ReplyMode.START

    # --- /footnote

    def _footnote_group(self) -> app_commands.Group:
        group = app_commands.Group(name="footnote", description="What I know, why I said it, and how I behave here")
        described: list[tuple[str, str, Callable[..., Any]]] = [
            ("help", "How to ask, and what else I can do", _plain(self._help)),
            ("why", "How I came to the last answer here", _plain(self._why)),
            ("mute", "Keep quiet in this thread until I am mentioned", _plain(self._mute)),
            ("unmute", "Listen in this thread again", _plain(self._unmute)),
            ("forget", "Remove what I keep of this thread, or of you", _forget_callback(self)),
            ("settings", "For admins: how I behave in a channel or category", _settings_callback(self)),
        ]
        for name, description, callback in described:
            group.add_command(_command(name, description, callback))
        return group

    async def _help(self, press: Press) -> None:
        async with report_errors(press):
            lines = [line.replace("*Show quotes*", "**Show quotes**") for line in HELP]
            await tell(press, "\n".join([*lines, ALSO_HERE]))

    async def _why(self, press: Press) -> None:
        async with report_errors(press):
            await press.response.defer(ephemeral=True, thinking=True)
            audience = await self.own_audience(press)
            thread = await self._conversation_of(press)
            if thread is None:
                return await tell(press, NOT_ANSWERED)
            await tell(press, markdown(explanation_text(await self._user_actions.answers.explain(thread, audience))))
        return None

    async def _conversation_of(self, press: Press) -> ThreadKey | None:
        """The conversation that a command is about: this thread, or in a channel the one that was asked in last."""
        if press.guild_id is None:
            return direct_key(press.channel_id or 0)
        channel_id = base_channel_id(press.channel) or press.channel_id or 0
        if isinstance(press.channel, discord.Thread):
            return guild_key(press.guild_id, channel_id, press.channel.id)
        place = channel_principal("discord", str(press.guild_id), str(channel_id))
        return await self._shown.last_in(place, person_of(press.user).id)

    async def _mute(self, press: Press) -> None:
        await self._set_muted(press, muted=True)

    async def _unmute(self, press: Press) -> None:
        await self._set_muted(press, muted=False)

    async def _set_muted(self, press: Press, *, muted: bool) -> None:
        async with report_errors(press):
            if press.guild_id is not None and not isinstance(press.channel, discord.Thread):
                return await tell(press, NOT_A_THREAD)
            async with asyncio.timeout(LOOK_UP_SECONDS):
                thread = await self._conversation_of(press)
                muting = self._user_actions.memory.mute(thread, muted=muted) if thread is not None else None
                text = outcome_text(await muting) if muting is not None else NOT_A_THREAD
            await tell(press, text)
        return None

    async def forget(self, press: Press, what: str) -> None:
        """Forget a thread, or everything that the person asked."""
        async with report_errors(press):
            await press.response.defer(ephemeral=True, thinking=True)
            person = person_of(press.user)
            if what == "me":
                return await tell(press, outcome_text(await self._user_actions.memory.forget_person(person)))
            thread = await self._conversation_of(press)
            if thread is None:
                return await tell(press, NOTHING_KEPT)
            outcome = await self._user_actions.memory.forget_thread(thread, person, is_admin=is_admin(press))
            await tell(press, outcome_text(outcome))
        return None

    async def own_audience(self, press: Press) -> Audience:
        """What the one who calls may read here, for their own eyes."""
        return await self._readers.of_one(person_of(press.user), press.guild_id, press.channel, press.user)

    # --- settings

    async def settings(self, press: Press, place: int | None) -> None:
        """Show what applies in a place, with menus to change it."""
        async with report_errors(press):
            place_id = place if place is not None else base_channel_id(press.channel)
            await self._require_admin(press, place_id)
            await press.response.defer(ephemeral=True, thinking=True)
            await press.followup.send(view=await self._menu(press, place_id), ephemeral=True, allowed_mentions=NOBODY)

    async def set_place(self, press: Press, field: str, place_id: str, values: list[str]) -> None:
        """Change one setting; whoever is no admin now is refused, whatever menu they hold."""
        await self._require_admin(press, int(place_id))
        if "languages" in values and field == "other":
            await press.response.send_modal(settings_menu.languages_form(place_id))
            return
        if field == "auto_answer" and settings_menu.NUMBER in values:
            await press.response.send_modal(settings_menu.confidence_form(place_id))
            return
        if field == "auto_answer" and parse_threshold(values[0]) is None:
            await tell(press, NO_THRESHOLD)
            return
        await press.response.defer()
        place = channel_principal("discord", str(press.guild_id), place_id)
        settings, readers = self._user_actions.settings, await self._readers_of(press, int(place_id))
        chosen = settings_menu.change_field(await settings.store.read(place), field, values)
        await settings.save(place, chosen, person_of(press.user), readers, is_admin=True)
        await press.edit_original_response(view=await self._menu(press, int(place_id)), allowed_mentions=NOBODY)

    async def _menu(self, press: Press, place_id: int) -> SanitizedView:
        key = ThreadKey("discord", str(press.guild_id), str(place_id), "")
        applies = await self._readers.settings(key)
        settings = self._user_actions.settings
        bases = await settings.selectable_bases(await self._readers_of(press, place_id))
        place = press.guild.get_channel(place_id) if press.guild is not None else None
        kind = settings_menu.PlaceKind(
            forum=isinstance(place, discord.ForumChannel | discord.CategoryChannel),
            channel=not isinstance(place, discord.ForumChannel),
            content=press.client.intents.message_content,
        )
        return settings_menu.menu(place_id, applies, await settings.store.read(key.place), bases, kind)

    async def _readers_of(self, press: Press, place_id: int) -> Audience:
        """Who reads in a channel; a category has no readers of its own, so that any base may be meant for it."""
        place = press.guild.get_channel(place_id) if press.guild is not None else None
        if place is None or isinstance(place, discord.CategoryChannel):
            return Audience(unrestricted=True)
        return await self._readers.of_place(ThreadKey("discord", str(press.guild_id), str(place_id), ""))

    async def _require_admin(self, press: Press, place_id: int) -> None:
        """Raises Denied, and puts it on record, for who may not; also for a place of another server."""
        channel = press.guild.get_channel(place_id) if press.guild is not None else None
        place = channel_principal("discord", str(press.guild_id), str(place_id))
        allowed = is_admin(press) and channel is not None
        await self._user_actions.settings.require_admin(person_of(press.user), place, is_admin=allowed)

    async def _report_failure(self, press: Press, error: app_commands.AppCommandError) -> None:
        """What a command's own handling did not catch; who lacks the rights is refused on record."""
        name = press.command.qualified_name if press.command else ""
        if isinstance(error, app_commands.MissingPermissions):
            await self._user_actions.audit.record(
                person_of(press.user).id, name.rpartition(" ")[2], f"/{name}", allowed=False
            )
            await tell(press, NO_ADMIN)
            return
        if isinstance(error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
            log.info("command_of_earlier_version", command=name)  # what their Discord still shows is not there any more
            await tell(press, CHANGED)
            return
        log.error("command_failed", command=name, exc_info=error)
        await tell(press, WENT_WRONG)


def command_thread(press: Press, *, alone: bool) -> ThreadKey:
    """The conversation that a command's question belongs to."""
    if press.guild_id is None:
        return direct_key(press.channel_id or 0)
    channel_id = base_channel_id(press.channel) or press.channel_id or 0
    if alone:
        return private_key(press.guild_id, channel_id, press.user.id)
    return key_of(press.channel, press.guild_id, press.id)


def _command(name: str, description: str, callback: Callable[..., Any]) -> "app_commands.Command[Any, ..., Any]":
    return app_commands.Command(name=name, description=description, callback=callback)


def _menu(name: str, callback: Callable[..., Any]) -> app_commands.ContextMenu:
    async def shown(interaction: Press, message: discord.Message) -> None:
        await callback(interaction, message)

    shown.__annotations__ = {"interaction": discord.Interaction, "message": discord.Message}
    return app_commands.ContextMenu(name=name, callback=shown)


def _plain(callback: Callable[[Press], Any]) -> Callable[..., Any]:
    async def run(interaction: discord.Interaction) -> None:
        await callback(interaction)

    return run


def _ask_callback(commands: Commands) -> Callable[..., Any]:
    @app_commands.describe(
        question="What do you want to know?",
        private="Answer only to me",
        file="A text file or PDF to read for this question",
        knowledge="Look only in this knowledge base",
    )
    @app_commands.rename(knowledge="kb")
    async def ask(
        interaction: discord.Interaction,
        question: app_commands.Range[str, 1, LONGEST_QUESTION],
        private: bool | None = None,
        file: discord.Attachment | None = None,
        knowledge: str = "",
    ) -> None:
        await commands.ask(interaction, question, private, file, knowledge)

    return ask


def _forget_callback(commands: Commands) -> Callable[..., Any]:
    @app_commands.describe(what="This thread, or everything you asked")
    @app_commands.choices(
        what=[
            app_commands.Choice(name="this thread", value="thread"),
            app_commands.Choice(name="everything I asked", value="me"),
        ]
    )
    async def forget(interaction: discord.Interaction, what: str = "thread") -> None:
        await commands.forget(interaction, what)

    return forget


def _settings_callback(commands: Commands) -> Callable[..., Any]:
    @app_commands.describe(place="A channel or category; this channel if you leave it out")
    @app_commands.checks.has_permissions(manage_guild=True)
    async def settings(
        interaction: discord.Interaction, place: app_commands.Transform[int, PlaceOption] | None = None
    ) -> None:
        await commands.settings(interaction, place)

    return settings


def _digest(tree: "app_commands.CommandTree[Any]") -> int:
    shown = [command.to_dict(tree) for command in tree.get_commands()]
    shown += [command.to_dict(tree) for command in tree.get_commands(type=discord.AppCommandType.message)]
    return int(hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()[:15], 16)
