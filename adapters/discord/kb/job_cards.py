"""A job's card: one message, for the eyes of the one who asked for the job, that tells how far it is.

It is edited under the token of an interaction, which Discord takes for a quarter of an hour. A job that lasts longer
says its end directly. The card may be drawn by another process than the one that posted it, and the work may begin,
or end, before the card is there: each draws what is latest, whoever comes second. An end that could not be shown is
kept, for a process that starts or runs on.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from adapters.discord.api.messages import Messages, Spot, given_at
from adapters.discord.api.reply_target import TOKEN_SECONDS
from adapters.discord.inbound.buttons import KbButton
from adapters.discord.kb.line_format import markdown_lines
from adapters.discord.outbound import layouts
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from core.model.errors import FootnoteError, NotFound, PlatformUnavailable
from core.model.jobs import Job
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import Caller
from core.service.kb.results import JobSummary
from core.service.kb.summaries import summarize_job
from core.service.kb.text_layout import job_id_line, job_lines, plain_lines
from core.service.kb.text_spans import Line, line_text
from core.service.pending_card_updates import PendingCardUpdates

log = structlog.get_logger(__name__)

CATCHING_UP = 5  # times that a card is drawn anew because its job has gone on meanwhile


@dataclass(frozen=True, slots=True)
class CardWords:
    """Lines as they are kept with a card."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class DiscordJobCard(Record, place="discord/job/{job}", subject="card"):
    """What a job's card shows, and the message that is it."""

    job: str
    person: str = field(default="", metadata=PERSON)  # who asked for the job, by qualified id
    asker: str = ""  # the same person's Discord id
    message: str = ""
    channel: str = ""
    token: str = ""  # of the interaction under which the message can be edited
    token_of: str = ""  # the id of that interaction, which says when it was
    words: CardWords | None = None  # what is said below the state, whatever that is
    note: str = ""  # the same, as an earlier version kept it
    cancel: str = ""  # the kept command that ends the job
    state: JobSummary | None = field(default=None, metadata={"stored": "job"})  # the newest
    latest: str = ""  # the newest state in words, as an earlier version kept it
    over: bool = False


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
        self._message_states = message_states
        self._connected = connected
        self._now = now
        self._pending_updates = PendingCardUpdates(message_states, "discord")
        self._unplaced: set[str] = set()

    async def remember_message(
        self, job: JobSummary, caller: Caller, message: int, *, words: Sequence[Line] = (), cancel: str = ""
    ) -> None:
        """Remember where the card stands that shows this job, and draw what has happened since.

        ``words`` are said below whatever the job's state is; ``cancel`` is the kept command that ends it.
        """
        card = _with_place(job.id, caller.person.id, caller.address)
        await self._message_states.save(
            replace(card, message=str(message), words=CardWords(tuple(words)), cancel=cancel)
        )
        drawn: JobSummary | None = None
        for _ in range(CATCHING_UP):
            kept = await self._read(job.id)
            if kept.state == drawn:
                return
            drawn = kept.state
            await self._draw(kept)
            if kept.over:
                await self._pending_updates.mark_shown(job.id)

    async def renew_token(self, job_id: str, person: str, token: str, token_of: str) -> None:
        """This person pressed something on the card: it can be edited for another while, under the token of that."""
        await self._message_states.save(DiscordJobCard(job=job_id, person=person, token=token, token_of=token_of))

    async def show(self, job: Job) -> None:
        """Draw this state. Raises what ``Messages`` raises, when there is still time to draw it later."""
        if not job.address.get("asker"):
            return
        card = DiscordJobCard(job=job.id, person=job.by.id)
        if not (await self._read(job.id)).token:  # a later press may have renewed it
            card = _with_place(job.id, job.by.id, job.address)
        await self._message_states.save(replace(card, state=summarize_job(job), over=job.over))
        if job.over:  # who dies before this has not done the job: another shows it
            await self._pending_updates.expect(job.id, job.by.id)
        kept = await self._read(job.id)
        if kept.message:
            await self._draw(kept)
            if job.over:
                await self._pending_updates.mark_shown(job.id)

    async def finish(self) -> None:
        """Show the end of every job whose card may not show it yet; of a card that never came, say it directly.

        Raises what ``Messages`` raises, when there is still time to draw it later.
        """
        unplaced = set[str]()
        for update in await self._pending_updates.outstanding():
            kept = await self._read(update.job)
            if kept.over and not kept.message and update.job not in self._unplaced:
                unplaced.add(update.job)  # it may be on its way: if it is not there the next time, it will not come
                continue
            try:
                if kept.over:
                    await self._draw(kept)
            except PlatformUnavailable:
                raise
            except FootnoteError as error:
                log.info("card_not_finished", job=update.job, reason=str(error))
            await self._pending_updates.mark_shown(update.job)
        self._unplaced = unplaced

    async def _read(self, job_id: str) -> DiscordJobCard:
        blank = DiscordJobCard(job=job_id)
        return await self._message_states.read(blank) or blank

    async def _draw(self, kept: DiscordJobCard) -> None:
        """Edit the card; where that is not possible any more, the end is said directly."""
        await self._connected()
        given = given_at(kept.token_of)
        if kept.message and self._now() - given < TOKEN_SECONDS:
            spot = Spot(int(kept.channel), token=kept.token, token_from=given, private=True)
            try:
                await self._messages.edit(spot, int(kept.message), _kept_card(kept))
            except NotFound:
                if not kept.over:
                    raise
            else:
                return
        if kept.over:
            direct = await self._messages.direct_channel(int(kept.asker))
            where = f"-# You asked for this in <#{kept.channel}>."
            await self._messages.post(Spot(direct), _kept_card(kept, where), f"job-{kept.job}"[:25])


def card(job: JobSummary, words: Sequence[Line] = (), cancel: str = "", where: str = "") -> SanitizedView:
    """The job's state, what was said of it, and a button that ends it while it is under way."""
    return _card(job_lines(job), words, f"-# {job_id_line(job.id)}", where, "" if job.over else cancel)


def _kept_card(kept: DiscordJobCard, where: str = "") -> SanitizedView:
    """The card as it was last kept: as data, or by an earlier version as text."""
    words = kept.words.lines if kept.words is not None else plain_lines(kept.note.splitlines())
    if kept.state is not None:
        return card(kept.state, words, kept.cancel, where)
    return _card(plain_lines(kept.latest.splitlines()), words, "", where, "" if kept.over else kept.cancel)


def _card(state: Sequence[Line], words: Sequence[Line], number: str, where: str, cancel: str) -> SanitizedView:
    lines = [markdown_lines(state)]
    lines += [f"-# {markdown_lines([line])}" for line in words if line_text(line).strip()]
    parts: list[Any] = [Text("\n".join(filter(None, [*lines, number, where])), mentions=True)]
    if cancel:
        parts.append(layouts.row(KbButton.create(cancel, "Cancel")))
    return layouts.layout(*parts)


def _with_place(job_id: str, person: str, address: Mapping[str, str]) -> DiscordJobCard:
    """Where the job was asked for, by whom, and the token under which that is answered."""
    return DiscordJobCard(
        job=job_id,
        person=person,
        channel=address["channel"],
        asker=address["asker"],
        token=address["token"],
        token_of=address["message"],
    )
