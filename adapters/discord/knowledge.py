"""What Discord lends to the knowledge desk: attached files, conversations as documents, and a job's card."""

from collections.abc import AsyncIterator, Callable
from urllib.parse import unquote, urlsplit

import discord

from adapters.discord import layouts
from adapters.discord.hearing import could_be_for_us, ourselves, readable
from adapters.discord.messages import Messages, Spot, given_at
from adapters.discord.reaching import reaching
from adapters.discord.text import clipped, plain
from adapters.knowledge_desk import JobCard, PlatformSeams
from core.errors import DocumentRejected, FetchRefused, NotFound
from core.ingestion.jobs import ItemState, Job
from core.ingestion.transcripts import Conversation, Said
from core.ports import Postings

LARGEST = 25 * 1024 * 1024  # bytes
MOST_MESSAGES = 2_000
DOWNLOAD_SECONDS = 60.0
FAILURES_SHOWN = 5


def reference_of(message: discord.Message) -> str:
    """The conversation that a message stands in, or begins: its server, channel and thread."""
    guild = message.guild.id if message.guild else 0
    if isinstance(message.channel, discord.Thread):
        return f"{guild}/{message.channel.parent_id}/{message.channel.id}"
    return f"{guild}/{message.channel.id}/{message.id}"


async def conversation_of(
    client: discord.Client, reference: str, *, fallback: discord.Message | None = None
) -> Conversation:
    """One thread as a document; a message without a thread (``fallback``) is a conversation of one. Raises NotFound."""
    guild_id, _, thread_id = (int(part) for part in reference.split("/"))
    async with reaching("read that conversation", DOWNLOAD_SECONDS):
        try:
            thread = await client.fetch_channel(thread_id)
        except discord.NotFound:
            thread = None
        if isinstance(thread, discord.Thread):
            messages = [one async for one in thread.history(limit=MOST_MESSAGES, oldest_first=True)]
            return _conversation(client, reference, thread.name, messages, thread.jump_url)
    if fallback is None:
        raise NotFound("That conversation is not there any more.")
    title = clipped(" ".join(fallback.content.split()), 80) or "A message"
    del guild_id
    return _conversation(client, reference, title, [fallback], fallback.jump_url)


def _conversation(
    client: discord.Client, reference: str, title: str, messages: list[discord.Message], link: str
) -> Conversation:
    said: list[Said] = []
    for message in messages:
        shown = message
        if message.type is discord.MessageType.thread_starter_message and message.reference is not None:
            original = message.reference.resolved
            shown = original if isinstance(original, discord.Message) else message
        us = ourselves(client.user.id if client.user else 0, message.guild)
        text = readable(shown, us)
        if could_be_for_us(shown) and text:
            said.append(Said(shown.author.display_name, shown.created_at, text))
    return Conversation(f"discord/{reference}", title, tuple(said), link)


class DiscordKnowledge:
    """The seams, over whatever client is connected now."""

    def __init__(self, client: Callable[[], discord.Client], messages: Messages, postings: Postings) -> None:
        self._client = client
        self._messages = messages
        self._postings = postings

    def seams(self) -> PlatformSeams:
        """As the knowledge desk takes them."""
        card: JobCard = self
        return PlatformSeams(download=self.download, transcript=self, card=card)

    async def download(self, reference: str) -> tuple[str, bytes]:
        """An attached file by its address, which Discord itself gave us. Raises FetchRefused, PlatformUnavailable."""
        name = unquote(urlsplit(reference).path.rsplit("/", 1)[-1]) or "file"
        async with reaching("download an attached file", DOWNLOAD_SECONDS):
            try:
                data = await self._client().http.get_from_cdn(reference)
            except (discord.NotFound, discord.Forbidden) as error:
                raise FetchRefused(f"{name} is gone.", remedy="Attach it again.") from error
        if len(data) > LARGEST:
            raise DocumentRejected(f"{name} is larger than {LARGEST // 2**20} MB.")
        return name, data

    async def conversation(self, reference: str) -> Conversation:
        """One thread. Raises NotFound when it is not there, PlatformUnavailable."""
        return await conversation_of(self._client(), reference)

    async def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """The newest threads of a channel that are not put away, then those that are."""
        async with reaching("look at that channel"):
            place = await self._client().fetch_channel(int(channel))
        if not isinstance(place, discord.TextChannel | discord.ForumChannel):
            raise NotFound("That channel has no conversations that I could read.")
        threads = sorted(place.threads, key=lambda one: one.id, reverse=True)[:limit]
        async with reaching("look at its threads"):
            if len(threads) < limit:
                threads += [one async for one in place.archived_threads(limit=limit - len(threads))]
        for thread in threads[:limit]:
            yield await conversation_of(self._client(), f"{thread.guild.id}/{place.id}/{thread.id}")

    async def show(self, job: Job) -> None:
        """Edit the job's card; once its interaction's time is over, the end is said in the channel's place."""
        kept = await self._postings.read("discord/kb", f"job-{job.id}")
        channel = job.address.get("channel", "")
        if not kept or not channel:
            return
        shown = layouts.said(job_text(job))
        spot = Spot(int(channel), token=kept["token"], token_from=given_at(kept["token_of"]), private=True)
        if spot.token_is_good:
            await self._messages.edit(spot, int(kept["message"]), shown)
        elif job.over and job.address.get("asker"):
            direct = await self._messages.direct_channel(int(job.address["asker"]))
            await self._messages.post(Spot(direct), shown, f"job{job.id}"[:25])


def job_text(job: Job) -> str:
    """A job's state in a few lines: what it does, how far it is, what came out, what failed and why."""
    head = f"**{plain(clipped(job.subject or job.kind.value, 100))}** into *{plain(job.base)}* · {job.state.value}"
    lines = [head]
    progress = job.progress
    if not job.over:
        of = f" {progress.done} of {progress.total}" if progress.total else ""
        lines.append(f"-# {progress.stage.value}{of} {plain(clipped(progress.source, 80))}".rstrip())
    counts = [f"{count} {state.value}" for state, count in job.counts.items() if state in ItemState]
    if counts:
        lines.append(f"-# {', '.join(counts)}")
    lines += [
        f"-# {plain(clipped(one.source, 80))}: {plain(clipped(one.reason, 200))}" for one in job.failed[:FAILURES_SHOWN]
    ]
    if job.reason:
        lines.append(f"-# {plain(clipped(job.reason, 300))}")
    lines.append(f"-# job {job.id}")
    return "\n".join(lines)
