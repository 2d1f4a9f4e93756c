"""The files that hang on a question, by the addresses that Discord has for them now."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import discord

from adapters.discord.api.downloads import download
from adapters.discord.api.errors import api_call
from adapters.discord.inbound.message_words import attachments_of
from adapters.discord.inbound.nearby_messages import NearbyMessages
from core.model.conversation import ContextMessage
from core.model.errors import FetchRefused, FootnoteError
from core.model.incoming_events import FileReference, IncomingMessage, ReplyTarget
from core.service.attached_files import Parse, read_files, unread

DOWNLOAD_SECONDS = 20.0


async def read_attachments(
    client: discord.Client, message: IncomingMessage, parse: Parse
) -> tuple[ContextMessage, ...]:
    """Each file's text, or one line that says why it was not read."""
    target = message.reply_target
    try:
        there = await _addresses(client, target, message.files)
    except FootnoteError as error:
        return tuple(unread(file, str(error)) for file in message.files)

    async def fetch(file: FileReference, limit: int) -> tuple[str, bytes]:
        if file.id not in there:
            raise FetchRefused("It is gone.")
        return file.name, await download(there[file.id], limit, DOWNLOAD_SECONDS)

    return await read_files(message.files, fetch, parse)


async def files_above(nearby: NearbyMessages) -> tuple[FileReference, ...]:
    """The files on the message that a question replies to, then on the one that its thread began with.

    Each is named with its channel and message, since it does not hang on the question.
    """
    above = {one.id: one for one in (await nearby.replied_to(), await nearby.opening()) if one is not None}
    return tuple(
        FileReference(f"{message.channel.id}/{message.id}/{file.id}", file.filename, file.size)
        for message in above.values()
        for file in attachments_of(message)
    )


def files_on(question: IncomingMessage) -> tuple[FileReference, ...]:
    """The files on a message, for a question that does not stand there."""
    target = question.reply_target
    return tuple(
        file if "/" in file.id else replace(file, id=f"{target.channel}/{target.message}/{file.id}")
        for file in question.files
    )


async def _addresses(client: discord.Client, target: ReplyTarget, files: Sequence[FileReference]) -> dict[str, str]:
    """Where each file can be downloaded now: Discord's addresses run out, so they are asked for anew."""
    if target.file:
        return {file.id: target.file for file in files}
    if all(_is_address(file.id) for file in files):
        return {file.id: file.id for file in files}
    wanted: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # by message, each file's id there and here
    for file in files:
        *where, attachment = file.id.split("/")
        channel, message = where or (target.channel, target.message)
        wanted[channel, message][attachment] = file.id
    found: dict[str, str] = {}
    guild = int(target.guild) if target.guild else None
    for (channel, message), ids in wanted.items():
        async with api_call("look at the attached files", DOWNLOAD_SECONDS):
            place = client.get_partial_messageable(int(channel), guild_id=guild)
            there = attachments_of(await place.fetch_message(int(message)))
        found |= {ids[str(one.id)]: one.url for one in there if str(one.id) in ids}
    return found


def _is_address(file_id: str) -> bool:
    """Whether a file is named by its address: it came with a command, and so hangs on no message of its asker's."""
    return "://" in file_id
