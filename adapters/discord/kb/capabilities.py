"""What the knowledge service can use of Discord: attached files, conversations as documents, and a job's card."""

from collections.abc import AsyncIterator, Awaitable, Callable

import discord

from adapters.discord.api.downloads import download, file_name
from adapters.discord.kb.job_cards import JobCards
from adapters.discord.kb.transcripts import conversation_of, conversations_in
from core.model.conversation import ThreadKey
from core.model.document_content import Conversation
from core.ports.platform import PlatformCapabilities
from core.service.kb.commands import LARGEST_FILE

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
        """(name, bytes) of an attached file by its address, of LARGEST_FILE bytes at most.

        Raises FetchRefused when it is gone, DocumentRejected, PlatformUnavailable.
        """
        return file_name(reference), await download(reference, LARGEST_FILE, DOWNLOAD_SECONDS)

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
