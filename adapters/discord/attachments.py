"""The files that hang on a question: text and PDFs are read for that conversation; of others it is said why not."""

from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath

import discord
import structlog

from adapters.discord.places import Address
from adapters.discord.reaching import reaching
from adapters.incoming import FileReference, IncomingMessage
from core.conversation import ContextMessage
from core.errors import FootnoteError
from core.ingestion.parsed import Parsed

LARGEST = 10 * 1024 * 1024  # bytes
READ = frozenset(
    ".txt .md .markdown .rst .csv .tsv .json .yaml .yml .toml .ini .log .xml .html .htm .py .js .ts .sql .pdf".split()
)
DOWNLOAD_SECONDS = 20.0

Parse = Callable[[str, bytes], Awaitable[Parsed]]

log = structlog.get_logger(__name__)


async def texts_of(client: discord.Client, message: IncomingMessage, parse: Parse) -> tuple[ContextMessage, ...]:
    """Each file's text, or one line that says why it was not read."""
    address = Address.of(message.address)
    guild = int(address.guild) if address.guild else None
    channel = client.get_partial_messageable(int(address.channel), guild_id=guild)
    try:
        async with reaching("look at the attached files", DOWNLOAD_SECONDS):
            there = {str(one.id): one for one in (await channel.fetch_message(int(address.message))).attachments}
    except FootnoteError as error:
        return tuple(ContextMessage(file.name, f"(This file could not be read: {error})") for file in message.files)
    return tuple([await _text(file, there.get(file.id), parse) for file in message.files])


async def _text(file: FileReference, attachment: discord.Attachment | None, parse: Parse) -> ContextMessage:
    if attachment is None:
        return ContextMessage(file.name, "(This file is gone.)")
    if PurePosixPath(file.name.lower()).suffix not in READ:
        return ContextMessage(file.name, "(This kind of file is not read here: text and PDF are.)")
    if attachment.size > LARGEST:
        return ContextMessage(file.name, f"(This file is larger than {LARGEST // 2**20} MB and was not read.)")
    try:
        async with reaching("download an attached file", DOWNLOAD_SECONDS):
            data = await attachment.read()
        if len(data) > LARGEST:
            return ContextMessage(file.name, f"(This file is larger than {LARGEST // 2**20} MB and was not read.)")
        parsed = await parse(file.name, data)
        return ContextMessage(file.name, "\n\n".join(block.text for block in parsed.blocks))
    except FootnoteError as error:
        log.info("attachment_not_read", reason=str(error))
        return ContextMessage(file.name, f"(This file could not be read: {error})")
