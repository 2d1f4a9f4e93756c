"""The shortcuts in a message's menu: *Answer this* and *Add to knowledge base*."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.ids import PLATFORM
from adapters.slack.inbound.event_listener import EventListener
from adapters.slack.inbound.interactions import Ack, Body
from adapters.slack.inbound.message_words import own_text, shared_messages
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.kb.replies import KbReply, text_reply
from adapters.slack.listeners.support import report_errors
from adapters.slack.outbound import blocks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import Person, ThreadKey

ANSWER_THIS, ADD_TO_KNOWLEDGE = "footnote_answer_this", "footnote_add_to_knowledge"  # callback ids, as in the manifest
OWN_MESSAGE = "I wrote that message myself. Choose a message with a question."
NO_TEXT = "That message has no text and no file."
NOT_ANSWERABLE = "I cannot answer that message."


@dataclass(frozen=True, slots=True)
class ShortcutListeners:
    """Handles the shortcuts, and replies to the person who chose them only."""

    workspace: SlackWorkspace
    event_listener: EventListener
    knowledge: SlackKnowledge

    def register(self, app: AsyncApp) -> None:
        """Register both shortcuts by their callback ids."""
        app.shortcut(ANSWER_THIS)(self._listener(self._answer_this))
        app.shortcut(ADD_TO_KNOWLEDGE)(self._listener(self._add_to_knowledge))

    def _listener(self, work: Callable[[Body], Awaitable[KbReply]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body, respond: Ack) -> None:
            await ack()
            user = str(body["user"]["id"])
            async with report_errors(lambda text: self._respond(respond, user, text_reply(text))):
                await self._respond(respond, user, await work(body))

        return listener

    async def _respond(self, respond: Ack, user: str, reply: KbReply) -> None:
        if reply.text:
            await self.workspace.respond(
                respond,
                user,
                text=blocks.fallback(reply.text),
                blocks=reply.blocks,
                response_type="ephemeral",
                replace_original=False,
            )

    async def _answer_this(self, body: Body) -> KbReply:
        """Answer another person's message as a question of the person who chose the shortcut."""
        thread, person, chosen = await self._message_of(body)
        us = await self.workspace.directory.identity()
        if chosen.get("user") == us.user:
            return text_reply(OWN_MESSAGE)
        written = "\n".join(filter(None, (own_text(chosen), *(one.text for one in shared_messages(chosen)))))
        if not (written or chosen.get("files")):
            return text_reply(NO_TEXT)
        place = {"channel": thread.channel, "channel_type": "", "type": "app_mention", "text": written}
        event = {**chosen, **place, "user": body["user"]["id"], "bot_id": None, "bot_profile": None}
        message = self.event_listener.parse_message(event, thread.space, us)
        if message is None:
            return text_reply(NOT_ANSWERABLE)
        subject = f"{message.id}:{body.get('action_ts', '')}"
        message = replace(message, reply_target=replace(message.reply_target, about=message.id))  # to read its files
        result = await self.event_listener.put_shortcut(message, subject, person)
        return text_reply(result.reply)

    async def _add_to_knowledge(self, body: Body) -> KbReply:
        """Propose a message's thread for the knowledge."""
        thread, person, _ = await self._message_of(body)
        return await self.knowledge.propose(thread, person)

    async def _message_of(self, body: Body) -> tuple[ThreadKey, Person, Mapping[str, Any]]:
        """Return the message's thread, the person who chose the shortcut, and the message."""
        message: Mapping[str, Any] = body.get("message") or {}
        root = str(message.get("thread_ts") or message.get("ts") or "")
        team = str(body["team"]["id"])
        thread = ThreadKey(PLATFORM, team, str(body["channel"]["id"]), root)
        return thread, await self.workspace.access.person(team, str(body["user"]["id"])), message
