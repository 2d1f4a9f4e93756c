"""The files that hang on a question: text, PDFs and pictures are read for it; of others it is said why not."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePosixPath

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.inbound.message_parser import attachments_of
from core.model.conversation import ContextMessage
from core.model.errors import FootnoteError
from core.model.incoming_events import FileReference, IncomingMessage
from core.model.parsed_document import ParsedDocument
from core.model.reply_target import ReplyTarget

LARGEST = 10 * 1024 * 1024  # bytes
READ = frozenset(
    (
        *(".txt", ".md", ".markdown", ".rst", ".log", ".csv", ".tsv", ".json", ".yaml", ".yml", ".toml", ".ini"),
        *(".xml", ".html", ".htm", ".py", ".js", ".ts", ".sql", ".pdf"),
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff"),  # by text recognition, where it is installed
    )
)
DOWNLOAD_SECONDS = 20.0

Parse = Callable[[str, bytes], Awaitable[ParsedDocument]]

log = structlog.get_logger(__name__)


async def read_attachments(
    client: discord.Client, message: IncomingMessage, parse: Parse
) -> tuple[ContextMessage, ...]:
    """Each file's text, or one line that says why it was not read."""
    target = message.reply_target
    try:
        there = await _addresses(client, target, message.files)
    except FootnoteError as error:
        return tuple(_unread(file, str(error)) for file in message.files)
    return tuple([await _text(client, file, there.get(file.id, ""), parse) for file in message.files])


async def _addresses(client: discord.Client, target: ReplyTarget, files: Sequence[FileReference]) -> dict[str, str]:
    """Where each file can be downloaded now: Discord's addresses run out, so they are asked for anew."""
    if target.file:
        return {file.id: target.file for file in files}
    if all(_is_address(file.id) for file in files):
        return {file.id: file.id for file in files}
    guild = int(target.guild) if target.guild else None
    channel = client.get_partial_messageable(int(target.channel), guild_id=guild)
    async with api_call("look at the attached files", DOWNLOAD_SECONDS):
        message = await channel.fetch_message(int(target.message))
    return {str(one.id): one.url for one in attachments_of(message)}


def _is_address(file_id: str) -> bool:
    """Whether a file is named by its address: it came with a command, and so hangs on no message of its asker's."""
    return "://" in file_id


async def _text(client: discord.Client, file: FileReference, url: str, parse: Parse) -> ContextMessage:
    if not url:
        return _unread(file, "It is gone.")
    if PurePosixPath(file.name.lower()).suffix not in READ:
        return _unread(file, "This kind of file is not read here: text, PDF and pictures are.")
    try:
        data = b"" if file.size > LARGEST else await _download(client, url)
        if max(file.size, len(data)) > LARGEST:
            return _unread(file, f"It is larger than {LARGEST // 2**20} MB.")
        parsed = await parse(file.name, data)
    except FootnoteError as error:
        log.info("attachment_not_read", reason=str(error))
        return _unread(file, str(error))
    return ContextMessage(file.name, "\n\n".join(block.text for block in parsed.blocks))


def _unread(file: FileReference, why: str) -> ContextMessage:
    return ContextMessage(file.name, f"(not read: {why})", unread=why)


async def _download(client: discord.Client, url: str) -> bytes:
    async with api_call("download an attached file", DOWNLOAD_SECONDS):
        return await client.http.get_from_cdn(url)
