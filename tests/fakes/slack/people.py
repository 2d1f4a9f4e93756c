"""What people (and other bots) do in the workspace, so that a test reads as dialogue.

Everything that reaches the app goes through the courier; a press, a submission or a command waits for the app's
acknowledgement, because a person's screen waits for it too.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import events, forms
from tests.fakes.slack.methods_chat import fill, publish
from tests.fakes.slack.methods_views import checked, put_up, replace, shown
from tests.fakes.slack.rendering import Button, buttons_of, elements_of
from tests.fakes.slack.world import Channel, Message, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fakes.slack.delivery import Delivery, Kind
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.world import File, User


class Person:
    """Somebody in the workspace."""

    def __init__(self, slack: FakeSlack, user: User) -> None:
        self._slack = slack
        self._world = slack.world
        self.user = user
        self._typed: dict[tuple[str, str], forms.Typed] = {}
        self._private_read = 0
        self._modals_seen: set[str] = set()

    @property
    def id(self) -> str:
        """Their user id."""
        return self.user.id

    @property
    def dm(self) -> Channel:
        """Their direct message with the bot."""
        return self._world.direct_message(self._world.bot.id, self.user.id)

    # --- talking

    async def says(
        self,
        text: str,
        channel: str | Channel | None = None,
        *,
        thread: Message | None = None,
        files: Sequence[tuple[str, bytes]] = (),
        attachments: Sequence[dict[str, Any]] = (),
    ) -> Message:
        """Write a message: in a channel, in the thread of `thread`, or in the direct message with the bot.

        `<@bot>`, `<@bob>` and `<#general>` become ids. The bot is told as Slack tells it: `message`, and
        `app_mention` too where it is mentioned outside a direct message; nothing where it is no member.
        """
        room = self._room(channel, thread)
        assert self.user.id in room.members, f"{self.user.name} is not in {room.name}"
        message = Message(room, self._world.new_ts(), self.user.id, text=events.written(self._world, text))
        message.thread_ts = thread.root if thread else None
        message.attachments = list(attachments)
        message.files = [self._world.add_file(name, content, self.user.id) for name, content in files]
        for file in message.files:
            file.share(room)
        room.add(message)
        message.record("posted")
        self._tell_of(message)
        return message

    async def forwards(
        self,
        original: Message,
        channel: str | Channel | None = None,
        text: str = "",
        *,
        thread: Message | None = None,
    ) -> Message:
        """Share a message of somebody's, with a word of their own or without."""
        writer = self._world.users[original.user]
        shown: dict[str, Any] = {
            "is_share": True, "is_msg_unfurl": True, "ts": original.ts, "channel_id": original.channel.id,
            "author_id": writer.id, "author_name": writer.name, "text": original.text,
            "fallback": f"[{original.ts}] {writer.name}: {original.text}", "from_url": self._world.permalink(original),
            "footer": f"Posted in #{original.channel.name}", "mrkdwn_in": ["text"],
            "message_blocks": [{"channel": original.channel.id, "ts": original.ts, "message": {
                "blocks": original.blocks or events.rich_text(original.text)
            }}],
        }  # fmt: skip
        if original.files:
            shown["files"] = [file.to_json() for file in original.files]
        return await self.says(text, channel, thread=thread, attachments=[shown])

    async def edits(self, message: Message, text: str) -> Message:
        """Change an own message. Slack sends `message_changed`; of a mention also `app_mention`, with `edited`.

        https://github.com/slackapi/bolt-js/issues/960
        """
        assert message.user == self.user.id, "people edit their own messages"
        before = message.to_json()
        message.text = events.written(self._world, text)
        message.edited = {"user": self.user.id, "ts": self._world.new_ts()}
        message.record("edited")
        self._tell_of_mention(message)
        self._event(message, events.message_changed(message, before))
        return message

    async def deletes(self, message: Message) -> None:
        """Take an own message away; with replies beneath it, a tombstone stays."""
        assert message.user == self.user.id, "people delete their own messages"
        self._slack.take_away(message, message)

    async def reacts(self, message: Message, name: str) -> None:
        """Put an emoji on a message."""
        message.reactions.setdefault(name, []).append(self.user.id)
        self._event(message, events.reaction_added(self.user, name, message))

    # --- pressing and filling in

    async def clicks(
        self, target: Message | View, which: str, *, choose: str | None = None, stale: bool = False
    ) -> Delivery:
        """Press a button by its text or action_id; `choose` picks an option where it is a menu.

        `stale` presses a button that stood there in an earlier state, as on a screen that was not redrawn.
        """
        if isinstance(target, Message):
            assert target.ephemeral is False or target.visible_to == self.user.id, "they cannot see that message"
        if choose is not None:
            typed = self._typed_into(target)
            return await self._acts(target, forms.fill_in(target.blocks, typed, {which: choose}))
        button = self._button(target, which, stale=stale)
        return await self._acts(target, [forms.press(button, self._world.new_ts())])

    async def types(self, target: Message | View, values: dict[str, Any]) -> list[Delivery]:
        """Fill in fields by action_id, block_id or label; fields that dispatch tell the app of it.

        Menus take the option's value or text, checkboxes a list of them, file inputs a list of (name, bytes).
        """
        prepared = {name: self._prepared(value) for name, value in values.items()}
        dispatched = forms.fill_in(target.blocks, self._typed_into(target), prepared)
        return [await self._acts(target, [action]) for action in dispatched]

    async def looks_up(self, view: View, which: str, typed: str) -> list[dict[str, Any]]:
        """Type into a menu whose options the app is asked for; the options it knows. One can be given to `types`."""
        element, block = next(
            pair for pair in elements_of(view.blocks) if which in {pair[0]["action_id"], pair[1].get("block_id")}
        )
        assert element["type"] == "external_select", f"nobody is asked for the options of a {element['type']}"
        payload = self._identity() | {
            "type": "block_suggestion", "action_id": element["action_id"], "block_id": block["block_id"],
            "value": typed, "container": events.container_of(view), "view": shown(self._slack, view),
        }  # fmt: skip
        answer = (await self._waits_for("interactive", payload)).response
        found = (answer or {}).get("options") if isinstance(answer, dict) else None
        assert isinstance(found, list), f"the app answered with no options: {answer!r}"
        return found

    async def writes_canvas(self, title: str, html: str, channel: str | Channel) -> File:
        """Write a canvas in a channel."""
        canvas = self._world.add_file(title, html.encode(), self.user.id, canvas=True)
        canvas.share(self._room(channel, None))
        return canvas

    async def submits(self, view: View, values: dict[str, Any] | None = None) -> Delivery:
        """Fill in the rest, and submit. What the app answers happens: errors, update, push, clear, or it closes.

        AssertionError when the client would not let it be submitted: something required is empty.
        """
        assert view.open, "that view is not open any more"
        await self.types(view, values or {})
        missing = forms.missing_in(view.blocks, view.typed)
        assert not missing, f"Slack would not submit: still empty are {', '.join(missing)}"
        payload = self._identity() | {
            "type": "view_submission", "trigger_id": self._world.add_trigger(self.user.id, view.id),
            "view": shown(self._slack, view), "response_urls": [],
        }  # fmt: skip
        delivery = await self._waits_for("interactive", payload)
        if delivery.acknowledged:
            self._after_submission(view, delivery.response)
        return delivery

    async def closes(self, view: View) -> None:
        """Cancel a modal; the app hears of it where it asked for it."""
        view.open = False
        if view.payload.get("notify_on_close"):
            payload = self._identity() | {"type": "view_closed", "view": shown(self._slack, view), "is_cleared": False}
            await self._waits_for("interactive", payload)

    async def slash(self, command: str, text: str = "", channel: str | Channel | None = None) -> Delivery:
        """Give a slash command; a text in the acknowledgement becomes a message for them alone."""
        room = self._room(channel, None)
        text = self._escaped(text) if command in self._world.escaped_commands else text
        hook = self._world.add_response_url(self.user.id, room, None)
        payload = {
            "token": "fake-verification-token", "team_id": self._world.team_id, "team_domain": self._world.domain,
            "channel_id": room.id, "channel_name": events.place_of(room)["name"], "user_id": self.user.id,
            "user_name": self.user.name, "command": command, "text": text, "api_app_id": self._world.app_id,
            "is_enterprise_install": "false", "response_url": hook,
            "trigger_id": self._world.add_trigger(self.user.id),
        }  # fmt: skip
        delivery = await self._waits_for("slash_commands", payload)
        answer = delivery.response
        if isinstance(answer, dict) and (answer.get("text") or answer.get("blocks")):
            self._show_answer(room, answer)
        return delivery

    def _escaped(self, text: str) -> str:
        """What Slack makes of a command with ``should_escape``: channels, people, groups and links with their ids.

        https://docs.slack.dev/interactivity/implementing-slash-commands
        """
        world = self._world

        def named(match: re.Match[str]) -> str:
            sign, name = match[1], match[2]
            if sign == "#":
                found = next((one for one in world.channels.values() if one.name == name), None)
                return f"<#{found.id}|{name}>" if found else match[0]
            person = next((one for one in world.users.values() if one.name == name), None)
            group = next((one for one in world.groups.values() if one.handle == name), None)
            if person is not None:
                return f"<@{person.id}|{name}>"
            return f"<!subteam^{group.id}|@{name}>" if group else match[0]

        kept = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        linked = re.sub(r"https?://(?:[^\s&\"“”]|&amp;)+", lambda link: f"<{link[0]}>", kept)
        return re.sub(r"(?<![\w/<|])([#@])([\w.-]+)", named, linked)

    async def shortcut(self, callback_id: str, message: Message | None = None) -> Delivery:
        """Use a message shortcut on this message, or a global one."""
        payload = self._identity() | {
            "callback_id": callback_id, "trigger_id": self._world.add_trigger(self.user.id),
            "action_ts": self._world.new_ts(), "type": "shortcut",
        }  # fmt: skip
        if message is not None:
            payload |= {
                "type": "message_action", "channel": events.place_of(message.channel), "message_ts": message.ts,
                "message": message.to_json(),
                "response_url": self._world.add_response_url(self.user.id, message.channel, message),
            }  # fmt: skip
        return await self._waits_for("interactive", payload)

    async def opens_home(self) -> None:
        """Open the app's Home tab."""
        view = self.home
        now = shown(self._slack, view) if view else None
        self._send(events.app_home_opened(self.user, self.dm, "home", now))

    async def opens_dm(self) -> Channel:
        """Open the app's direct message."""
        self._send(events.app_home_opened(self.user, self.dm, "messages", None))
        return self.dm

    async def stops_session(self, message: Message) -> list[Message]:
        """Press Slack's own stop button in the thread of this message; answers with the streams that ended."""
        streams = [one for one in message.channel.thread(message.root) if one.streaming]
        for stream in streams:
            stream.stream = "stopped_by_user"
            stream.record("stopped")
        event = events.agent_session_stopped(self.user, message.channel, message.root, streams)
        self._event(message, event)
        return streams

    # --- seeing

    @property
    def modal(self) -> View | None:
        """The modal before them: the top of the stack."""
        stack = self._slack.stack_of(self.user.id)
        return stack[-1] if stack else None

    @property
    def home(self) -> View | None:
        """Their Home tab as it was last published."""
        return self._world.homes.get(self.user.id)

    @property
    def private(self) -> list[Message]:
        """The ephemeral messages they can see, old to new."""
        mine = [one for one in self._world.all_messages() if one.visible_to == self.user.id and one.visible]
        return sorted(mine, key=lambda one: float(one.ts))

    def sees(self, channel: str | Channel, thread: Message | None = None) -> list[Message]:
        """What they see in a channel or thread, ephemeral messages included."""
        room = self._room(channel, None)
        found = [one for one in room.messages if one.visible and one.visible_to in (None, self.user.id)]
        return [one for one in found if thread is None or one.root == thread.root]

    async def next_private(self, timeout: float = 60.0) -> Message:
        """The next ephemeral message they were not given before."""
        await self._slack.until(
            lambda: len(self._private_ever()) > self._private_read,
            timeout,
            what=f"a private message to {self.user.name}",
        )
        self._private_read += 1
        return self._private_ever()[self._private_read - 1]

    async def next_modal(self, timeout: float = 60.0) -> View:
        """The next modal that opens before them and that they were not given before."""
        await self._slack.until(
            lambda: self.modal is not None and self.modal.id not in self._modals_seen,
            timeout,
            what=f"a modal before {self.user.name}",
        )
        assert self.modal is not None
        self._modals_seen.add(self.modal.id)
        return self.modal

    async def modal_shows(self, text: str, timeout: float = 60.0) -> View:
        """The modal before them, as soon as it holds this text."""
        await self._slack.until(
            lambda: self.modal is not None and text in self.modal.markdown, timeout, what=f"{text!r} in a modal"
        )
        assert self.modal is not None
        self._modals_seen.add(self.modal.id)
        return self.modal

    async def home_shows(self, text: str, timeout: float = 60.0) -> View:
        """Their Home tab, as soon as it holds this text."""
        await self._slack.until(
            lambda: self.home is not None and text in self.home.markdown, timeout, what=f"{text!r} on the Home tab"
        )
        assert self.home is not None
        return self.home

    # --- within

    def _private_ever(self) -> list[Message]:
        mine = [one for one in self._world.all_messages() if one.visible_to == self.user.id]
        return sorted(mine, key=lambda one: float(one.ts))

    def _room(self, channel: str | Channel | None, thread: Message | None) -> Channel:
        if isinstance(channel, Channel):
            return channel
        if channel is not None:
            return self._slack.channel(channel)
        return thread.channel if thread else self.dm

    def _tell_of(self, message: Message) -> None:
        self._tell_of_mention(message)
        self._event(message, events.message(message))

    def _tell_of_mention(self, message: Message) -> None:
        if f"<@{self._world.bot.id}>" in message.text and message.channel.kind != "im":
            self._event(message, events.app_mention(message))

    def _event(self, message: Message, event: dict[str, Any]) -> None:
        if self._world.bot.id in message.channel.members:
            self._slack.courier.send("events_api", events.wrap(self._world, event), message)

    def _send(self, event: dict[str, Any]) -> None:
        self._slack.courier.send("events_api", events.wrap(self._world, event))

    async def _waits_for(self, kind: Kind, payload: dict[str, Any]) -> Delivery:
        delivery = self._slack.courier.send(kind, payload)
        await delivery.finished.wait()
        return delivery

    def _identity(self) -> dict[str, Any]:
        return events.identity(self._world, self.user)

    def _typed_into(self, target: Message | View) -> forms.Typed:
        if isinstance(target, View):
            return target.typed
        return self._typed.setdefault((target.channel.id, target.ts), {})

    def _prepared(self, value: Any) -> Any:
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            return [self._world.add_file(name, content, self.user.id).to_json() for name, content in value]
        return value

    def _button(self, target: Message | View, which: str, *, stale: bool) -> Button:
        layouts = [target.blocks]
        if stale and isinstance(target, Message):
            layouts += [state.blocks for state in reversed(target.history)]
        for blocks in layouts:
            found = [one for one in buttons_of(blocks) if which in (one.text, one.action_id)]
            assert len(found) < 2, f"{which!r} could be any of {[one.text for one in found]}"
            if found:
                return found[0]
        raise AssertionError(f"there is no button {which!r}; there are: {target.buttons()}")

    async def _acts(self, target: Message | View, actions: list[dict[str, Any]]) -> Delivery:
        for action in actions:
            action.setdefault("action_ts", self._world.new_ts())
        view_id = target.id if isinstance(target, View) else None
        payload = self._identity() | {
            "type": "block_actions", "container": events.container_of(target), "actions": actions,
            "trigger_id": self._world.add_trigger(self.user.id, view_id),
        }  # fmt: skip
        if isinstance(target, View):
            payload["view"] = shown(self._slack, target)
        else:
            payload |= {
                "channel": events.place_of(target.channel),
                "state": {"values": forms.values_of(target.blocks, self._typed_into(target))},
                "response_url": self._world.add_response_url(self.user.id, target.channel, target),
            }
            if not target.ephemeral:  # the payload of an ephemeral message does not repeat it
                payload["message"] = target.to_json()
        return await self._waits_for("interactive", json.loads(json.dumps(payload)))

    def _after_submission(self, view: View, answer: Any) -> None:
        given = answer if isinstance(answer, dict) else {}
        if given.get("view") and (faults := checked(given["view"])):
            for fault in faults:
                self._slack.violate(f"answer to a submission: {fault}")
            return
        match given.get("response_action"):
            case "errors":
                view.errors = dict(given["errors"])
                for block_id in set(view.errors) - {one.get("block_id") for one in view.blocks}:
                    self._slack.violate(f"answer to a submission: an error for an unknown block {block_id!r}")
            case "update":
                replace(self._slack, view, given["view"])
            case "push":
                put_up(self._slack, self.user.id, given["view"], below=view)
            case "clear":
                for one in self._slack.stack_of(self.user.id):
                    one.open = False
            case None:
                view.open = False
            case other:
                self._slack.violate(f"answer to a submission: unknown response_action {other!r}")
        self._world.note_change()

    def _show_answer(self, room: Channel, answer: dict[str, Any]) -> None:
        bot = self._world.bot
        message = Message(room, self._world.new_ts(), bot.id, bot_id=bot.bot_id, app_id=self._world.app_id)
        message.visible_to = None if answer.get("response_type") == "in_channel" else self.user.id
        fill(self._slack, message, answer, longest_text=40_000)
        publish(self._slack, message)


class OtherBot:
    """Another app's bot that posts in the workspace."""

    def __init__(self, slack: FakeSlack, user: User) -> None:
        self._slack = slack
        self.user = user

    async def says(
        self,
        text: str,
        channel: str | Channel,
        *,
        thread: Message | None = None,
        blocks: Sequence[dict[str, Any]] = (),
        attachments: Sequence[dict[str, Any]] = (),
    ) -> Message:
        """Post a message, with the `bot_id` and `app_id` of that other app."""
        world = self._slack.world
        room = channel if isinstance(channel, Channel) else self._slack.channel(channel)
        message = Message(room, world.new_ts(), self.user.id, text=events.written(world, text))
        message.thread_ts = thread.root if thread else None
        message.bot_id, message.app_id = self.user.bot_id, f"A0{self.user.name.upper()}"
        message.blocks, message.attachments = list(blocks), list(attachments)
        room.add(message)
        message.record("posted")
        if world.bot.id in room.members:
            if f"<@{world.bot.id}>" in message.text:
                mention = events.wrap(world, events.app_mention(message))
                self._slack.courier.send("events_api", mention, message)
            self._slack.courier.send("events_api", events.wrap(world, events.message(message)), message)
        return message
