"""``/footnote why|mute|unmute|forget|settings|help``, and the form with a channel's settings.

Slack commands name no thread. They refer to the thread with the person's latest answer in this channel.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id, thread_named_in, thread_url
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, SlashCommand, sender_of
from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS, TRY_AGAIN, report_errors
from adapters.slack.outbound import views
from adapters.slack.outbound.answer_records import LatestInChannel, LatestOfPerson
from adapters.slack.outbound.blocks import SECTION, section
from adapters.slack.outbound.payloads import SettingsForm, form_in
from adapters.slack.outbound.text import escape, link, mrkdwn
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import FootnoteError, NotFound
from core.service.actions.wording import explanation_text, outcome_text
from core.service.channel_settings import answer_visibility
from core.service.help import HELP

NOT_SEEN = "I cannot look up who can read this channel."
SAVED = "Saved. The settings of this channel apply from the next question."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelSettingsForm:
    """Shows a channel's effective settings to an admin, and saves what they choose."""

    workspace: SlackWorkspace

    def register(self, app: AsyncApp) -> None:
        """Register the form."""
        app.view(views.SETTINGS)(self._submit)

    async def _submit(self, ack: Ack, body: Body) -> None:
        (team, user), channel = sender_of(body), form_in(SettingsForm, body["view"]).channel
        place = ThreadKey(PLATFORM, team, channel, "")
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                before = await self._save(place, user, body["view"])
        except (FootnoteError, TimeoutError) as error:
            await acknowledge(ack, errors={"profile": str(error) or TRY_AGAIN})
            return
        await ack()
        async with report_errors(partial(self.workspace.messages.post_directly, user)):
            readers = await self.workspace.access.audience(place, user)
            settings = self.workspace.user_actions.settings
            preview = await settings.preview_notices(place, readers, before=before.standing_answers)
            saved = f"{SAVED}\n{preview}" if preview else SAVED
            if not await self.workspace.messages.post_privately(place, user, saved):
                await self.workspace.messages.post_directly(user, saved)

    async def view(self, place: ThreadKey, user: str) -> views.View:
        """Return the form with the channel's effective settings.

        Raises Denied and records it if the user is not an admin. Raises NotFound and PlatformUnavailable if Slack does
        not say who reads the channel, because the selectable bases depend on that.
        """
        settings = self.workspace.user_actions.settings
        person, is_admin = Person(person_id(place.space, user)), await self.workspace.access.is_admin(user)
        await settings.require_admin(person, place.place, is_admin=is_admin)
        name = await self._channel_name(place)
        bases = await settings.selectable_bases(await self._readers(place, user))
        known = await self.workspace.directory.groups()
        groups = {group_id: f"@{group.handle}" for group_id, group in sorted(known.items())}
        now = await self.workspace.settings(place)
        shared = await self.workspace.access.is_shared(place.channel)
        return views.settings(now, bases, groups, name, SettingsForm(place.channel), shared=shared)

    async def _readers(self, place: ThreadKey, user: str) -> Audience:
        """Return the channel's readers with every open base, because an admin chooses among all of them."""
        return replace(await self.workspace.access.audience(place, user), open_bases=None)

    async def _channel_name(self, place: ThreadKey) -> str:
        """Return the channel's name in the form. Raises NotFound and PlatformUnavailable."""
        try:
            channel = await self.workspace.directory.channel(place.channel)
        except RequestRefused as refusal:
            log.info("channel_unknown", reason=refusal.error)
            raise NotFound(NOT_SEEN, remedy="Invite me there.") from None
        if channel.direct:
            return "this direct message"
        return f"#{channel.name}" if channel.name else "this channel"

    async def _save(self, place: ThreadKey, user: str, view: Mapping[str, Any]) -> ChannelSettings:
        """Save the form after checking permissions, and return the earlier settings. Raises what ``view`` raises."""
        settings, access = self.workspace.user_actions.settings, self.workspace.access
        await self._channel_name(place)
        person, is_admin = await access.person(place.space, user), await access.is_admin(user)
        chosen = views.read_settings(view, await settings.store.read(place.place)).beyond(settings.defaults)
        readers = await self._readers(place, user)
        before = await self.workspace.settings(place)
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        return before


COMMAND = "/footnote"
NO_THREAD = (
    "I have not answered you in this channel yet. To choose a thread of this channel, add its link to the command."
)
LONGEST_ECHO = 40  # characters of an unknown command that the reply repeats


class FootnoteVerb(StrEnum):
    """The words after ``/footnote``. The reply to any other word is an error with the help."""

    WHY = "why"
    MUTE = "mute"
    UNMUTE = "unmute"
    FORGET = "forget"
    SETTINGS = "settings"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class CommandListeners:
    """Answers ``/footnote`` to the caller only."""

    workspace: SlackWorkspace
    settings_form: ChannelSettingsForm

    def register(self, app: AsyncApp) -> None:
        """Register the command."""
        app.command(COMMAND)(self._command)

    async def _command(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        given = SlashCommand.of(body)
        async with report_errors(partial(self._respond, respond, given.user)):
            await self._respond(respond, given.user, await self._answer(given))

    async def _respond(self, respond: Ack, user: str, text: str) -> None:
        if text:
            # A block keeps a link to a thread clickable.
            shown = {"blocks": [section(text)]} if len(text) <= SECTION else {}
            await self.workspace.respond(respond, user, text=text, response_type="ephemeral", **shown)

    async def _answer(self, given: SlashCommand) -> str:
        """Return the reply, or an empty string if a modal opened."""
        verb, _, rest = given.text.partition(" ")
        match verb.casefold():
            case FootnoteVerb.WHY:
                return await self._why(given, rest)
            case FootnoteVerb.MUTE | FootnoteVerb.UNMUTE:
                thread, muted = await self._thread(given, rest), verb.casefold() == FootnoteVerb.MUTE
                outcome = await self.workspace.user_actions.memory.mute(thread, muted=muted)
                return outcome_text(outcome, await self._link_to(thread))
            case FootnoteVerb.FORGET:
                return await self._forget(given, rest)
            case FootnoteVerb.SETTINGS:
                view = await self.settings_form.view(given.place, given.user)
                await self.workspace.open_view(given.trigger_id, view)
                return ""
            case FootnoteVerb.HELP | "":
                return "\n".join(map(mrkdwn, HELP))
            case _:
                unknown = f"There is no `{COMMAND} {escape(verb)[:LONGEST_ECHO]}`. To ask something, mention me."
                return "\n".join([unknown, *map(mrkdwn, HELP)])

    async def _why(self, given: SlashCommand, rest: str) -> str:
        thread = await self._thread(given, rest)
        settings = await self.workspace.settings(thread)
        visibility = answer_visibility(settings, direct=given.channel.startswith("D"))
        reader = await self.workspace.access.reader(thread, given.user)
        asker = given.person.id if visibility.for_asker_alone else ""
        return explanation_text(await self.workspace.user_actions.answers.explain(thread, reader, asker=asker))

    async def _forget(self, given: SlashCommand, rest: str) -> str:
        memory = self.workspace.user_actions.memory
        if rest.strip().casefold() in {"me", "everything", "all"}:
            return outcome_text(await memory.forget_person(given.person))
        thread = await self._thread(given, rest)
        is_admin = await self.workspace.access.is_admin(given.user)
        outcome = await memory.forget_thread(thread, given.person, is_admin=is_admin)
        return outcome_text(outcome, await self._link_to(thread))

    async def _link_to(self, thread: ThreadKey) -> str:
        """Return a link to a thread. A command is given outside threads, so "this thread" would be ambiguous."""
        url = (await self.workspace.directory.identity()).url
        return link(thread_url(url, thread) if url else None, "that thread")

    async def _thread(self, given: SlashCommand, rest: str) -> ThreadKey:
        """Return the thread in the link, or else the one with this person's latest answer here. Raises NotFound."""
        channel, root = thread_named_in(rest)
        if channel == given.channel:  # this channel only: a person who can give a command here can read here
            return ThreadKey(PLATFORM, given.team, channel, root)
        if channel:
            raise NotFound(NO_THREAD)
        message_states = self.workspace.message_states
        theirs = await message_states.read(LatestOfPerson(channel=given.place, asker=given.person.id))
        latest = theirs or await message_states.read(LatestInChannel(channel=given.place))
        if latest is None or latest.thread is None:
            raise NotFound(NO_THREAD)
        return latest.thread
