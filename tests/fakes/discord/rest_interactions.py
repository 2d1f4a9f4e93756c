"""REST: answering interactions, and the followups and edits that an interaction's token allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.discord import interactions as kinds
from tests.fakes.discord import limits
from tests.fakes.discord.calls import Answer, Call, endpoint
from tests.fakes.discord.interactions import Choice, Interaction, Modal
from tests.fakes.discord.refusal import Refusal, invalid_form, unknown
from tests.fakes.discord.rest_messages import amend, create, shown
from tests.fakes.discord.world import CHAT_COMMAND, DEFAULT_MESSAGE, EPHEMERAL, LOADING, MENU_COMMAND, Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.fakes.discord.server import FakeDiscord

Json = dict[str, Any]

WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
ORIGINAL, FOLLOWUP = f"{WEBHOOK}/messages/@original", f"{WEBHOOK}/messages/{{message_id}}"


@endpoint("POST", "/interactions/{interaction_id}/{interaction_token}/callback")
async def answer(discord: FakeDiscord, call: Call) -> Answer:
    """The acknowledgement, in one of its six forms. Only what fits the kind of interaction is taken."""
    interactions = discord.interactions
    interaction = interactions.answerable(call.snowflake("interaction_id"), call.params["interaction_token"])
    kind = call.body["type"]
    if kind not in _fitting(interaction):
        raise invalid_form(
            "type", "UNION_TYPE_CHOICES", f"{kind} does not answer an interaction of {interaction.kind}."
        )
    message = await ANSWERS[kind](discord, interaction, call)
    interactions.acknowledged(interaction, kind)
    if call.query.get("with_response") not in ("1", "true"):
        return 204, None
    return 200, _response(discord, interaction, kind, message)


def _fitting(interaction: Interaction) -> set[int]:
    if interaction.kind == kinds.AUTOCOMPLETE:
        return {kinds.CHOICES}
    fitting = {kinds.MESSAGE, kinds.DEFERRED_MESSAGE}
    if interaction.kind != kinds.MODAL_SUBMIT:
        fitting.add(kinds.MODAL)
    if interaction.source is not None:
        fitting |= {kinds.DEFERRED_UPDATE, kinds.UPDATE}
    return fitting


def _response(discord: FakeDiscord, interaction: Interaction, kind: int, message: Message | None) -> Json:
    body: Json = {"id": str(interaction.id), "type": interaction.kind}
    resource: Json = {"type": kind}
    if message is not None:
        body |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.loading,
            "response_message_ephemeral": message.ephemeral_for is not None,
        }
        resource["message"] = shown(discord, message)
    return {"interaction": body, "resource": resource}


def _fields(interaction: Interaction, discord: FakeDiscord) -> Json:
    kind = DEFAULT_MESSAGE
    if interaction.kind == kinds.APPLICATION_COMMAND:
        kind = CHAT_COMMAND if interaction.data.get("type", 1) == 1 else MENU_COMMAND
    metadata, application = interaction.metadata(), discord.world.application_id
    return {"kind": kind, "interaction_metadata": metadata, "application_id": application}


async def _show(discord: FakeDiscord, interaction: Interaction, body: Json, call: Call, **more: Any) -> Message:
    private = interaction.person if (body.get("flags") or 0) & EPHEMERAL else None
    fields = _fields(interaction, discord) | more
    message = await create(discord, interaction.channel, body, call, private=private, **fields)
    interaction.messages.append(message)
    discord.world.changes.notify()
    return message


async def _message(discord: FakeDiscord, interaction: Interaction, call: Call) -> Message:
    interaction.original = await _show(discord, interaction, call.body.get("data") or {}, call)
    return interaction.original


async def _deferred(discord: FakeDiscord, interaction: Interaction, call: Call) -> Message:
    """ "… is thinking": a message without text, which the first edit or followup fills."""
    flags = (call.body.get("data") or {}).get("flags") or 0
    message = Message(discord.world.ids.next(), interaction.channel, discord.world.bot, flags=flags | LOADING)
    message.ephemeral_for = interaction.person if flags & EPHEMERAL else None
    for name, value in _fields(interaction, discord).items():
        setattr(message, name, value)
    interaction.original = await discord.posting.publish(message)
    interaction.messages.append(message)
    return message


async def _deferred_update(_: FakeDiscord, interaction: Interaction, __: Call) -> Message | None:
    interaction.original = interaction.source
    return None


async def _update(discord: FakeDiscord, interaction: Interaction, call: Call) -> Message | None:
    assert interaction.source is not None
    interaction.original = await amend(discord, interaction.source, call.body.get("data") or {}, call)
    return interaction.original


async def _choices(_: FakeDiscord, interaction: Interaction, call: Call) -> None:
    limits.choices(call.body["data"])
    interaction.choices = [Choice(item["name"], item["value"]) for item in call.body["data"].get("choices") or ()]


async def _modal(_: FakeDiscord, interaction: Interaction, call: Call) -> None:
    data = call.body["data"]
    limits.modal(data)
    interaction.modal = Modal(data["title"], data["custom_id"], data["components"], interaction)


ANSWERS: dict[int, Callable[[FakeDiscord, Interaction, Call], Awaitable[Message | None]]] = {
    kinds.MESSAGE: _message,
    kinds.DEFERRED_MESSAGE: _deferred,
    kinds.DEFERRED_UPDATE: _deferred_update,
    kinds.UPDATE: _update,
    kinds.CHOICES: _choices,
    kinds.MODAL: _modal,
}


def _interaction_of(discord: FakeDiscord, call: Call) -> Interaction:
    if call.snowflake("webhook_id") != discord.world.application_id:
        raise unknown("Webhook", 10015)
    return discord.interactions.by_token(call.params["webhook_token"])


def _message_of(discord: FakeDiscord, call: Call) -> tuple[Interaction, Message]:
    interaction = _interaction_of(discord, call)
    wanted = call.params.get("message_id")
    if wanted is None:
        message = interaction.original
    else:
        mine = [*interaction.messages, *([interaction.original] if interaction.original else [])]
        message = next((message for message in mine if str(message.id) == wanted), None)
    if message is None or message.deleted:
        raise unknown("Message", 10008)
    return interaction, message


@endpoint("POST", WEBHOOK)
async def follow_up(discord: FakeDiscord, call: Call) -> Answer:
    """A further message. The first one after a deferred answer fills that answer, and keeps its privacy."""
    interaction = _interaction_of(discord, call)
    original = interaction.original
    if original is not None and original.loading and not original.deleted:
        return 200, shown(discord, await amend(discord, original, call.body, call))
    return 200, shown(discord, await _show(discord, interaction, call.body, call, kind=DEFAULT_MESSAGE))


@endpoint("GET", ORIGINAL, FOLLOWUP)
async def get_answer(discord: FakeDiscord, call: Call) -> Answer:
    return 200, shown(discord, _message_of(discord, call)[1])


@endpoint("PATCH", ORIGINAL, FOLLOWUP)
async def edit_answer(discord: FakeDiscord, call: Call) -> Answer:
    _, message = _message_of(discord, call)
    if message.channel.archived:
        raise Refusal(400, 50083, "Thread is archived")
    return 200, shown(discord, await amend(discord, message, call.body, call))


@endpoint("DELETE", ORIGINAL, FOLLOWUP)
async def delete_answer(discord: FakeDiscord, call: Call) -> Answer:
    _, message = _message_of(discord, call)
    await discord.posting.delete(message)
    return 204, None
