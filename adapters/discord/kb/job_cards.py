"""A job's card: one message, for the eyes of the one who asked for the job, that tells how far it is.

It is edited under the token of an interaction, which Discord takes for a quarter of an hour. A job that lasts longer
says its end directly. The card may be drawn by another process than the one that posted it, and the work may begin,
or end, before the card is there: each draws what is latest. An end that could not be shown is
kept, for a process that starts or runs on.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from adapters.discord.api.ids import PLATFORM
from adapters.discord.outbound import layouts
from adapters.discord.outbound.buttons import kb_button
from adapters.discord.outbound.messages import TOKEN_SECONDS, Messages, Spot, interaction_time
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import markdown_lines
from core.model.errors import FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyTarget
from core.model.jobs import Job
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import Caller
from core.service.kb.job_cards import JobCardStates, KeptJobCard, job_card
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_spans import Line, line_text

log = structlog.get_logger(__name__)

CATCHING_UP = 5  # times that a card is drawn again because its job has gone on meanwhile


@dataclass(frozen=True, slots=True)
class CardWords:
    """Lines as they are kept with a card."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class DiscordJobCard(KeptJobCard, place="discord/job/{job}", subject="card"):
    """What a job's card shows, and the message that is it."""

    asker: str = ""  # the Discord id of the person who asked for the job
    message: str = ""
    channel: str = ""
    token: str = ""  # of the interaction under which the message can be edited
    token_of: str = ""  # the id of that interaction, which says when it was
    words: CardWords | None = None  # what is said below the state, whatever that is
    cancel: str = ""  # the kept command that ends the job


class JobCards:
    """Every job's card. ``now`` gives seconds since the epoch, ``connected`` waits until something can be shown."""

    def __init__(
        self,
        messages: Messages,
        message_states: MessageStateStore,
        connected: Callable[[], Awaitable[None]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._messages = messages
        self._states = JobCardStates(message_states, PLATFORM)
        self._connected = connected
        self._now = now
        self._unplaced: set[str] = set()

    async def remember_message(
        self, job: JobSummary, caller: Caller, message: int, *, words: Sequence[Line] = (), cancel: str = ""
    ) -> None:
        """Remember which message is this job's card, and draw what has happened since.

        ``words`` are said below whatever the job's state is; ``cancel`` is the kept command that ends it.
        """
        card = _with_place(job.id, caller.person.id, caller.reply_target)
        kept = await self._states.keep(
            replace(card, message=str(message), words=CardWords(tuple(words)), cancel=cancel)
        )
        drawn: JobSummary | None = None
        for _ in range(CATCHING_UP):
            if kept.state == drawn:
                return
            drawn = kept.state
            await self._draw(kept)
            if kept.over:
                await self._states.mark_shown(job.id)
            kept = await self._read(job.id)

    async def renew_token(self, job_id: str, person: str, token: str, token_of: str) -> None:
        """Renew the token under which the card can be edited: this person pressed something on it."""
        await self._states.keep(DiscordJobCard(job=job_id, person=person, token=token, token_of=token_of))

    async def show_cancelling(self, job: JobSummary, person: str) -> None:
        """Say on the card that its job is being ended, unless it has ended. Raises what ``Messages`` raises."""
        kept = await self._states.keep_cancelling(DiscordJobCard(job=job.id, person=person), job)
        if kept is not None and kept.message:
            await self._draw(kept)

    async def show(self, job: Job) -> None:
        """Draw this state. Raises what ``Messages`` raises, when there is still time to draw it later."""
        if not job.reply_target.asker:
            return
        card = DiscordJobCard(job=job.id, person=job.by.id, state=summarize_job(job), over=job.over)
        kept = await self._states.keep(card)
        if not kept.token:  # else it is the card's, or that of a later press
            kept = await self._states.keep(_with_place(job.id, job.by.id, job.reply_target))
        if kept.message:
            await self._draw(kept)
            if job.over:
                await self._states.mark_shown(job.id)

    async def finish(self) -> None:
        """Show the end of every job whose card may not show it yet; of a card that never came, say it directly.

        Raises what ``Messages`` raises, when there is still time to draw it later.
        """
        unplaced = set[str]()
        for kept in await self._states.unshown(lambda job, person: DiscordJobCard(job=job, person=person)):
            if not kept.message and kept.job not in self._unplaced:
                unplaced.add(kept.job)  # it may be on its way: if it is not there the next time, it will not come
                continue
            try:
                await self._draw(kept)
            except PlatformUnavailable:
                raise
            except FootnoteError as error:
                log.info("card_not_finished", job=kept.job, reason=str(error))
            await self._states.mark_shown(kept.job)
        self._unplaced = unplaced

    async def _read(self, job_id: str) -> DiscordJobCard:
        return await self._states.read(DiscordJobCard(job=job_id))

    async def _draw(self, kept: DiscordJobCard) -> None:
        """Edit the card; where that is not possible any more, say the end directly. What was forgotten is not drawn."""
        if kept.state is None:
            return
        await self._connected()
        words = kept.words.lines if kept.words is not None else ()
        given = interaction_time(kept.token_of)
        if kept.message and self._now() - given < TOKEN_SECONDS:
            spot = Spot(int(kept.channel), token=kept.token, token_from=given, private=True)
            try:
                await self._messages.edit(spot, int(kept.message), card(kept.state, words, kept.cancel))
            except NotFound:
                if not kept.over:
                    raise
            else:
                return
        if kept.over:
            direct = await self._messages.direct_channel(int(kept.asker))
            where = f"-# You asked for this in <#{kept.channel}>."
            await self._messages.post(Spot(direct), card(kept.state, words, kept.cancel, where), f"job-{kept.job}"[:25])


def card(job: JobSummary, words: Sequence[Line] = (), cancel: str = "", where: str = "") -> SanitizedView:
    """Show the job's card with ``words`` below, and a button for the command that is kept as ``cancel``."""
    shown = job_card(job)
    lines = [markdown_lines(shown.lines)]
    lines += [f"-# {markdown_lines([line])}" for line in words if line_text(line).strip()]
    parts: list[Any] = [Text("\n".join(filter(None, [*lines, f"-# {shown.footer}", where])), mentions=True)]
    if cancel and shown.cancel is not None:
        parts.append(layouts.row(kb_button(cancel, shown.cancel.label)))
    return layouts.layout(*parts)


def _with_place(job_id: str, person: str, target: ReplyTarget) -> DiscordJobCard:
    """Return a card with the place and the asker of its job, and the token of that interaction."""
    return DiscordJobCard(
        job=job_id,
        person=person,
        channel=target.channel,
        asker=target.asker,
        token=target.token,
        token_of=target.message,
    )
