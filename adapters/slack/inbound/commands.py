"""``/footnote why|mute|unmute|forget|help|settings``.

Slack's commands name no thread, so they mean the thread in this channel where the person was last answered.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.event_listener import PLATFORM, person_id
from adapters.slack.outbound import views
from adapters.slack.outbound.answer_records import LatestInChannel, LatestOfPerson
from adapters.slack.outbound.payloads import SettingsForm, form_in
from core.model.channel_settings import ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.service.actions.wording import HELP, explanation_text, outcome_text

COMMAND = "/footnote"
SAVED = "The settings of this channel are saved; they hold from the next question."
NO_THREAD = "I have not answered you in this channel yet. Mention me in a thread, or give the link of one."
_LINK = re.compile(
    r"/archives/(?P<channel>[A-Z0-9]+)/p(?P<s>\d{10})(?P<us>\d{6})(?:\?(?:[^\s>]*?)thread_ts=(?P<root>[\d.]+))?"
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command as it was given."""

    team: str
    channel: str
    user: str
    words: str
    trigger: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "SlashCommand":
        """From a ``slash_commands`` payload."""
        return cls(
            team=str(body["team_id"]),
            channel=str(body["channel_id"]),
            user=str(body["user_id"]),
            words=str(body.get("text") or "").strip(),
            trigger=str(body.get("trigger_id") or ""),
        )

    @property
    def place(self) -> ThreadKey:
        """The channel."""
        return ThreadKey(PLATFORM, self.team, self.channel, "")

    @property
    def person(self) -> Person:
        """Who gave it."""
        return Person(person_id(self.team, self.user))


@dataclass(frozen=True, slots=True)
class Commands:
    """Answers commands; each answer is for the one who gave it."""

    workspace: SlackWorkspace

    async def answer(self, given: SlashCommand) -> str:
        """What to tell; empty when a modal opened instead."""
        verb, _, rest = given.words.partition(" ")
        try:
            match verb.casefold():
                case "why":
                    return await self._why(given, rest)
                case "mute" | "unmute":
                    thread = await self._thread(given, rest)
                    muted = verb.casefold() == "mute"
                    return await self._mute(thread, muted=muted) if thread else NO_THREAD
                case "forget":
                    return await self._forget(given, rest)
                case "settings":
                    return await self._settings(given)
                case _:
                    return "\n".join(HELP)
        except FootnoteError as error:
            return str(error)

    async def _why(self, given: SlashCommand, rest: str) -> str:
        thread = await self._thread(given, rest)
        if thread is None:
            return NO_THREAD
        alone = (await self.workspace.settings(thread)).reply_style is ReplyStyle.PRIVATE
        reader = await self.workspace.reader(thread, given.user)
        asker = given.person.id if alone else ""
        return explanation_text(await self.workspace.user_actions.answers.explain(thread, reader, asker=asker))

    async def _mute(self, thread: ThreadKey, *, muted: bool) -> str:
        return outcome_text(await self.workspace.user_actions.memory.mute(thread, muted=muted))

    async def _forget(self, given: SlashCommand, rest: str) -> str:
        memory = self.workspace.user_actions.memory
        if rest.strip().casefold() in {"me", "everything", "all"}:
            return outcome_text(await memory.forget_person(given.person))
        thread = await self._thread(given, rest)
        if thread is None:
            return NO_THREAD
        is_admin = await self.workspace.is_admin(given.user)
        return outcome_text(await memory.forget_thread(thread, given.person, is_admin=is_admin))

    async def _thread(self, given: SlashCommand, rest: str) -> ThreadKey | None:
        """The thread that is meant: of the link, else where this person was last answered here."""
        if named := _LINK.search(rest):
            ts = named.group("root") or f"{named.group('s')}.{named.group('us')}"
            # Only of this channel: who can give a command here can read here.
            return ThreadKey(PLATFORM, given.team, given.channel, ts) if named["channel"] == given.channel else None
        message_states = self.workspace.message_states
        theirs = await message_states.read(LatestOfPerson(channel=given.place, asker=given.person.id))
        latest = theirs or await message_states.read(LatestInChannel(channel=given.place))
        return latest.thread if latest is not None else None

    # --- settings

    async def _settings(self, given: SlashCommand) -> str:
        view = await self.settings_form(given.place, given.user)
        try:
            await self.workspace.web.eagerly("views.open", trigger_id=given.trigger, view=view)
        except (Refusal, PlatformUnavailable) as error:
            log.info("view_not_opened", reason=str(error))
            return "Slack did not open the form. Please try again."
        return ""

    async def settings_form(self, place: ThreadKey, user: str) -> views.View:
        """The form with what applies in a channel. Raises Denied, on record, for who is no admin."""
        settings = self.workspace.user_actions.settings
        person, is_admin = Person(person_id(place.space, user)), await self.workspace.is_admin(user)
        await settings.require_admin(person, place.place, is_admin=is_admin)
        bases = await settings.selectable_bases(await self.workspace.audience(place, user))
        groups = {
            group: f"@{handle}" for group, (handle, _) in sorted((await self.workspace.directory.groups()).items())
        }
        now = await self.workspace.settings(place)
        return views.settings(now, bases, groups, await self._called(place), SettingsForm(place.channel))

    async def _called(self, place: ThreadKey) -> str:
        """What a channel is called above its settings."""
        try:
            room = await self.workspace.directory.room(place.channel)
        except (Refusal, PlatformUnavailable):
            return "this channel"
        if room.direct:
            return "this direct message"
        return f"#{room.name}" if room.name else "this channel"

    async def save_settings(self, body: Mapping[str, Any]) -> None:
        """Keep what the settings form brought. Raises Denied: rights are looked up again."""
        user = str(body["user"]["id"])
        team = str((body.get("team") or {}).get("id") or body["user"].get("team_id") or "")
        place = ThreadKey(PLATFORM, team, form_in(SettingsForm, body["view"]).channel, "")
        person = await self.workspace.person(team, user)
        is_admin, readers = await self.workspace.is_admin(user), await self.workspace.audience(place, user)
        chosen, settings = views.filled_in(body["view"]), self.workspace.user_actions.settings
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        if not await self.workspace.whisper(place, user, SAVED):
            await self.workspace.tell_directly(user, SAVED)
