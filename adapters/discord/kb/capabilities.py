"""What the knowledge service can use of Discord: attached files, conversations as documents, and a job's card."""

from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import unquote, urlsplit

import discord

from adapters.discord.api.errors import api_call
from adapters.discord.kb.job_cards import JobCards
from adapters.discord.kb.transcripts import conversation_of, conversations_in
from core.model.conversation import ThreadKey
from core.model.errors import DocumentRejected, FetchRefused
from core.model.transcripts import Conversation
from core.ports.platform_capabilities import PlatformCapabilities

LARGEST = 25 * 1024 * 1024  # bytes
DOWNLOAD_SECONDS = 60.0


class DiscordKnowledge:
    """Discord's, over whatever client is connected now; a job that goes on after a restart waits for that."""

    def __init__(
        self, client: Callable[[], discord.Client], cards: JobCards, connected: Callable[[], Awaitable[None]]
    ) -> None:
        self._client = client
        self._cards = cards
        self._connected = connected

    def capabilities(self) -> PlatformCapabilities:
        """What jobs that came from Discord need of it: downloads, transcripts and cards."""
        return PlatformCapabilities(download=self.download, transcript=self, card=self._cards)

    async def download(self, reference: str) -> tuple[str, bytes]:
        """(name, bytes) of an attached file by its address, which Discord itself gave us.

        Raises FetchRefused when it is gone, DocumentRejected above LARGEST bytes, PlatformUnavailable.
        """
        name = unquote(urlsplit(reference).path.rsplit("/", 1)[-1]) or "file"
        await self._connected()
        async with api_call("download an attached file", DOWNLOAD_SECONDS):
            try:
                data = await self._client().http.get_from_cdn(reference)
            except (discord.NotFound, discord.Forbidden) as error:
                raise FetchRefused(f"{name} is gone.", remedy="Attach it again.") from error
        if len(data) > LARGEST:
            raise DocumentRejected(f"{name} is larger than {LARGEST // 2**20} MB.")
        return name, data

    async def conversation(self, reference: str) -> Conversation:
        """One thread. Raises NotFound when it is not there, PlatformUnavailable."""
        await self._connected()
        return await conversation_of(self._client(), reference)

    def reference_of(self, thread: ThreadKey) -> str:
        """The reference to a thread in which we were asked."""
        return f"{thread.space}/{thread.channel}/{thread.thread}"

    async def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """The latest conversations of a channel. Raises NotFound when it has none, PlatformUnavailable."""
        await self._connected()
        async for conversation in conversations_in(self._client(), int(channel), limit):
            yield conversation
