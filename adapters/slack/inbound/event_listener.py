"""Slack's events to inbox deliveries. Each is stored durably before Slack gets its acknowledgement.

This module calls Slack only for our own identity, so an event is acknowledged as soon as it is stored. One message may
arrive as ``app_mention`` and as ``message``, each several times. All of them get the same delivery id.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import structlog
from cachetools import LRUCache

from adapters.slack.api.directory import Identity
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.inbound.message_words import (
    file_references,
    has_more,
    mentions,
    own_text,
    plain_message,
    without_marks,
)
from adapters.slack.outbound.answer_records import CurrentAnswer, SlackQuestionState, VisibleAnswer
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.answer import OPEN_OUTCOMES
from core.model.conversation import Person, ThreadKey
from core.model.errors import Busy, Denied, FootnoteError, NotFound
from core.model.incoming_events import OUR_MENTION, FileReference, IncomingMessage, ReplyTarget
from core.model.message_text import plain_question
from core.model.principals import channel_principal
from core.ports.inbox import Inbox
from core.ports.message_state import KEPT_FOR, CancelReason
from core.service.incoming import BackfillPlaces, delivery, take_in_deletion
from core.service.kb.chat_changes import note_change
from core.service.message_routing import ANYWHERE, could_be_answered

MESSAGE_SUBTYPES = {None, "file_share", "thread_broadcast", "bot_message"}  # of messages with content
MOST_EDITS = 1_000  # remembered, so that a redelivered edit is not new
_CHANNEL_IDS = ("old_channel_id", "new_channel_id")
FILES_UNKNOWN = FileReference("?", "")  # an app_mention does not say whether there are files

log = structlog.get_logger(__name__)

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """The result of an event: whether it was new to us, and the reply to its writer, if any."""

    new: bool = False
    reply: str = ""
    message: IncomingMessage | None = None


NOTHING = IntakeResult()


class EventListener:
    """Turns Slack's events into inbox deliveries."""

    def __init__(
        self,
        workspace: SlackWorkspace,
        inbox: Inbox,
        places: BackfillPlaces,
        allowed_bots: Iterable[str] = (),
    ) -> None:
        """Put relevant messages into this inbox. ``allowed_bots`` are names or ids of bots that may ask."""
        self._workspace = workspace
        self._inbox = inbox
        self._places = places
        self._edits: LRUCache[str, None] = LRUCache(MOST_EDITS)
        self._allowed_bots = frozenset(name.casefold() for name in allowed_bots)

    async def take(self, event: Event, team: str) -> IntakeResult:
        """Process one event. Raises StoreUnavailable if it could not be stored; then it must not be acknowledged."""
        us = await self._workspace.directory.identity()
        kind, subtype = event.get("type"), event.get("subtype")
        if kind in {"app_mention", "message"} and not (event.get("ts") and event.get("channel")):
            log.warning("event_without_place", kind=kind, subtype=subtype, channel=event.get("channel"))
            return NOTHING
        if kind == "channel_id_changed":
            await self._on_new_channel_id(event, team, us)
        elif kind == "agent_session_stopped":
            await self._on_stop(event, team)
        elif kind == "message" and subtype == "message_changed":
            return await self._on_edit(event, team, us)
        elif kind == "message" and subtype == "message_deleted":
            await self._on_delete(event, team, us)
        elif kind == "app_mention" and event.get("edited"):
            return NOTHING  # the same edit also comes as ``message_changed``, with the previous text
        elif kind in {"app_mention", "message"} and subtype in MESSAGE_SUBTYPES:
            return await self._on_message(event, team, us)
        return NOTHING

    async def put(self, delivery_id: str, message: IncomingMessage) -> IntakeResult:
        """Enqueue a question. The result has a reply if its asker has too many questions waiting."""
        try:
            return IntakeResult(await self._inbox.put(delivery(delivery_id, message)), message=message)
        except Busy as busy:
            spoken_to = message.mentions_us or message.direct
            return IntakeResult(reply=str(busy) if spoken_to else "", message=message)

    async def put_shortcut(self, message: IncomingMessage, subject: str, asker: Person) -> IntakeResult:
        """Enqueue a message that somebody chose with a shortcut, as their own question. Each use counts as new."""
        asked = replace(message, id=subject, asker=asker, mentions_us=True, mentions_others=False, wording="", files=())
        return await self.put(f"{PLATFORM}:{asked.thread.space}:{asked.thread.channel}:{subject}:{asker.id}", asked)

    async def put_follow_up(self, message: IncomingMessage) -> None:
        """Enqueue a suggested question whose button was pressed. Raises Busy and StoreUnavailable."""
        await self._inbox.put(delivery(f"{_delivery_id(message)}:{message.asker.id}", message))

    # --- messages

    async def _on_message(self, event: Event, team: str, us: Identity) -> IntakeResult:
        message = await self._parse_if_relevant(event, team, us)
        if message is None:
            return NOTHING
        if message.mentions_us or message.direct:
            key = message.thread
            await self._places.record_question(message, f"{key.channel}/{key.thread}")
        return await self.put(_delivery_id(message), message)

    async def _parse_if_relevant(
        self, event: Event, team: str, us: Identity, *, edited: bool = False
    ) -> IncomingMessage | None:
        """Return the message if it could be for us. Without a mention, the channel's settings must allow it."""
        message = self.parse_message(event, team, us, edited=edited, unaddressed=True)
        if message is None or not message.in_channel:
            return message
        if not could_be_answered(message, ANYWHERE):
            return None
        return message if could_be_answered(message, await self._workspace.settings(message.thread)) else None

    def parse_message(
        self, event: Event, team: str, us: Identity, *, edited: bool = False, unaddressed: bool = False
    ) -> IncomingMessage | None:
        """Return the message if it could be for us: a mention, a direct message, or anything in a thread.

        With ``unaddressed``, also return what a person says in a channel without a mention.
        """
        sender = self._sender(event, team, us)
        text, ts, channel = own_text(event), str(event["ts"]), str(event["channel"])
        called = mentions(text)
        direct = event.get("channel_type") == "im" or channel.startswith("D")
        mentioned = us.user in called or event.get("type") == "app_mention"
        root = str(event.get("thread_ts") or ts)
        addressed = mentioned or direct or root != ts
        if sender is None or not (addressed or (unaddressed and not event.get("bot_id"))):
            return None
        if event.get("bot_id") and root != ts:
            return None  # an allowed bot is answered once, above; in threads, two bots could go on forever
        files = file_references(event)
        return IncomingMessage(
            id=ts,
            thread=ThreadKey(PLATFORM, team, channel, root),
            text=plain_question(without_marks(plain_message(text, us.user))),
            asker=sender,
            reply_target=ReplyTarget(
                channel=channel,
                message=ts,
                asker=str(event.get("user") or event.get("bot_id") or ""),
                about=ts if has_more(event) else "",  # the messages that it shares are read along with the thread
            ),
            mentions_us=mentioned,
            direct=direct,
            mentions_others=bool(called - {us.user}),
            edited=edited,
            files=files if files or event.get("type") != "app_mention" else (FILES_UNKNOWN,),
            in_channel=not addressed,
            wording=plain_message(text, us.user, ours=OUR_MENTION) if us.user in called else "",
        )

    def _sender(self, event: Event, team: str, us: Identity) -> Person | None:
        """Return the writer, or None if we wrote it or a bot did that is not allowed."""
        user, bot = str(event.get("user") or ""), str(event.get("bot_id") or "")
        if user == us.user or (bot and bot == us.bot):
            return None
        profile = event.get("bot_profile") or {}
        if bot or profile:
            names = {user, bot, event.get("username"), event.get("app_id"), profile.get("name"), profile.get("app_id")}
            if not self._allowed_bots & {str(name).casefold() for name in names if name}:
                return None
        writer = user or bot
        if not writer or writer == "USLACKBOT":
            return None
        name = str(profile.get("name") or self._workspace.directory.cached_name(writer))
        return Person(person_id(team, writer), name)

    # --- edits and deletions

    async def _on_edit(self, event: Event, team: str, us: Identity) -> IntakeResult:
        """Handle an edit: cancel the old question and ask the new one, unless it is already answered."""
        now: Event = event.get("message") or {}
        before: Event = event.get("previous_message") or {}
        if now.get("subtype") == "tombstone":
            await self._on_delete({**event, "deleted_ts": now.get("ts")}, team, us)
            return NOTHING
        if now.get("text") == before.get("text") or not now.get("ts"):
            return NOTHING
        if not now.get("bot_id") and now.get("user") != us.user:  # documents never contain messages of bots
            await self._note_change(event, now, us)
        place = {"channel": event["channel"], "channel_type": event.get("channel_type"), "type": "message"}
        message = await self._parse_if_relevant({**now, **place}, team, us, edited=True)
        if message is None:
            return NOTHING
        changed_at = str((now.get("edited") or {}).get("ts") or event.get("event_ts") or event.get("ts"))
        edit = f"{_delivery_id(message)}:{changed_at}"
        first_time = edit not in self._edits
        self._edits[edit] = None
        try:
            earlier = self.parse_message({**before, **place}, team, us)
            return await self._ask_again(message, edit, first_time=first_time, earlier=earlier)
        except FootnoteError:
            self._edits.pop(edit, None)
            raise

    async def _ask_again(
        self, message: IncomingMessage, edit: str, *, first_time: bool, earlier: IncomingMessage | None
    ) -> IntakeResult:
        """Cancel the work in progress, once per edit: a redelivered edit must not cancel its own work.

        If a card is waiting, the edited question replaces it.
        """
        blank = SlackQuestionState(thread=message.thread, message=message.id, asker=message.asker.id)
        known = await self._workspace.message_states.read(blank)
        if known is None and _is_forgotten(message.id):
            return NOTHING
        kept = known or blank
        if kept.outcome and kept.outcome not in OPEN_OUTCOMES:
            return await self.put(edit, message)  # after its answer, tell the writer how to ask again
        asked = earlier is not None and (earlier.mentions_us or earlier.direct)
        if first_time and kept.edit != edit and (kept.stage or asked):
            await self._workspace.message_states.request_cancel(str(message.thread), message.id, CancelReason.EDITED)
            await self._workspace.message_states.save(replace(kept, edit=edit), was=kept)
        return await self.put(edit, message)

    async def _on_delete(self, event: Event, team: str, us: Identity) -> None:
        before: Event = event.get("previous_message") or {}
        ts = str(event.get("deleted_ts") or before.get("ts") or "")
        place = {"channel": event["channel"], "channel_type": event.get("channel_type"), "type": "message", "ts": ts}
        if ts:
            await self._note_change(event, {**before, "ts": ts}, us)
        message = await self._parse_if_relevant({**before, **place}, team, us) if ts else None
        if message is not None:
            await take_in_deletion(self._workspace.message_states, self._inbox, message)

    async def _note_change(self, event: Event, message: Event, us: Identity) -> None:
        """Mark the documents that quote this message for another read."""
        ts = str(message["ts"])
        thread = ThreadKey(PLATFORM, us.team, str(event["channel"]), str(message.get("thread_ts") or ts))
        await note_change(self._workspace.message_states, thread, datetime.fromtimestamp(float(ts), UTC), ts)

    async def _on_new_channel_id(self, event: Event, team: str, us: Identity) -> None:
        """Move the settings of a private channel, whose id changes when it is shared with another workspace.

        https://docs.slack.dev/reference/events/channel_id_changed
        """
        before, after = (channel_principal(PLATFORM, team, str(event[name])) for name in _CHANNEL_IDS)
        await self._workspace.user_actions.settings.move(before, after, person_id(team, us.user))

    async def _on_stop(self, event: Event, team: str) -> None:
        """Stop what Slack's own stop button names: streams, or only the thread. Permissions equal our button's."""
        thread = ThreadKey(PLATFORM, team, str(event["channel"]), str(event.get("thread_ts") or ""))
        streams = event.get("streaming_message_ts") or []
        answers: list[VisibleAnswer | CurrentAnswer] = [VisibleAnswer(thread=thread, ts=str(ts)) for ts in streams]
        for answer in answers or (CurrentAnswer(thread=thread),):
            kept = await self._workspace.message_states.read(answer)
            if kept is not None:
                question = SlackQuestionState(thread=thread, message=kept.subject)
                with suppress(NotFound, Denied):  # it has ended, or is somebody else's: that is in the audit log
                    await self._workspace.stop(question, str(event.get("user", "")))


def _is_forgotten(ts: str) -> bool:
    """Return whether a message is so old that records of its answer have expired."""
    return time.time() - float(ts) > KEPT_FOR.total_seconds()


def _delivery_id(message: IncomingMessage) -> str:
    thread = message.thread
    return f"{PLATFORM}:{thread.space}:{thread.channel}:{message.id}"
