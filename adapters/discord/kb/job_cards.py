"""A job's card: one message, for the eyes of the one who asked for the job, that tells how far it is.

It is edited under the token of an interaction, which Discord takes for a quarter of an hour. A job that lasts longer
says its end directly. The card may be drawn by another process than the one that posted it, and the work may begin,
or end, before the card is there: each draws what is latest, whoever comes second. An end that could not be shown is
kept, for a process that starts or runs on.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from core.model.json_codec import from_json, to_json
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import Caller
from core.service.kb.results import JobSummary
from core.service.kb.summaries import summarize_job
from core.service.kb.text_layout import job_id_line, job_lines, plain_lines
from core.service.kb.text_spans import Line
from core.service.pending_card_updates import PendingCardUpdates

_CARD = "card"

log = structlog.get_logger(__name__)

CATCHING_UP = 5  # times that a card is drawn anew because its job has gone on meanwhile


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

    async def posted(self, job: JobSummary, caller: Caller, message: int, *, note: str = "", cancel: str = "") -> None:
        """Remember where the card stands that shows this job, and draw what has happened since.

        ``note`` is said below whatever the job's state is; ``cancel`` is the kept command that ends it.
        """
        values = {"message": str(message), **_place_of(caller.address), "note": note, "cancel": cancel}
        await self._message_states.keep(_place(job.id), _CARD, values, person=caller.person.id)
        drawn = ""
        for _ in range(CATCHING_UP):
            kept = await self._message_states.read(_place(job.id), _CARD)
            if kept.get("job", "") == drawn:
                return
            drawn = kept["job"]
            await self._draw(job.id, kept)
            if kept.get("over"):
                await self._pending_updates.mark_shown(job.id)

    async def renew_token(self, job_id: str, token: str, token_of: str) -> None:
        """Something on the card was pressed: it can be edited for another while, under the token of that."""
        await self._message_states.keep(_place(job_id), _CARD, {"token": token, "token_of": token_of})

    async def show(self, job: Job) -> None:
        """Draw this state. Raises what ``Messages`` raises, when there is still time to draw it later."""
        if not job.address.get("asker"):
            return
        before = await self._message_states.read(_place(job.id), _CARD)
        latest = {"job": to_json(summarize_job(job)), "over": "yes" if job.over else ""}
        where = {} if "token" in before else _place_of(job.address)  # a later press may have renewed it
        await self._message_states.keep(_place(job.id), _CARD, where | latest, person=job.by.id)
        if job.over:  # who dies before this has not done the job: another shows it
            await self._pending_updates.expect(job.id, job.by.id)
        kept = await self._message_states.read(_place(job.id), _CARD)
        if "message" in kept:
            await self._draw(job.id, kept)
            if job.over:
                await self._pending_updates.mark_shown(job.id)

    async def finish(self) -> None:
        """Show the end of every job whose card may not show it yet; of a card that never came, say it directly.

        Raises what ``Messages`` raises, when there is still time to draw it later.
        """
        unplaced = set[str]()
        for job_id in await self._pending_updates.outstanding():
            kept = await self._message_states.read(_place(job_id), _CARD)
            if kept.get("over") and "message" not in kept and job_id not in self._unplaced:
                unplaced.add(job_id)  # it may be on its way: if it is not there the next time, it will not come
                continue
            try:
                if kept.get("over"):
                    await self._draw(job_id, kept)
            except PlatformUnavailable:
                raise
            except FootnoteError as error:
                log.info("card_not_finished", job=job_id, reason=str(error))
            await self._pending_updates.mark_shown(job_id)
        self._unplaced = unplaced

    async def _draw(self, job_id: str, kept: Mapping[str, str]) -> None:
        """Edit the card; where that is not possible any more, the end is said directly."""
        await self._connected()
        given = given_at(kept["token_of"])
        if "message" in kept and self._now() - given < TOKEN_SECONDS:
            spot = Spot(int(kept["channel"]), token=kept["token"], token_from=given, private=True)
            try:
                await self._messages.edit(spot, int(kept["message"]), _kept_card(kept))
            except NotFound:
                if not kept.get("over"):
                    raise
            else:
                return
        if kept.get("over"):
            direct = await self._messages.direct_channel(int(kept["asker"]))
            where = f"-# You asked for this in <#{kept['channel']}>."
            await self._messages.post(Spot(direct), _kept_card(kept, where), f"job-{job_id}"[:25])


def card(job: JobSummary, note: str = "", cancel: str = "", where: str = "") -> SanitizedView:
    """The job's state, what was said of it, and a button that ends it while it is under way."""
    return _card(job_lines(job), note, f"-# {job_id_line(job.id)}", where, "" if job.over else cancel)


def _kept_card(kept: Mapping[str, str], where: str = "") -> SanitizedView:
    """The card as it was last kept: as data, or by an earlier version as text."""
    note, cancel = kept.get("note", ""), kept.get("cancel", "")
    if "job" in kept:
        return card(from_json(JobSummary, kept["job"]), note, cancel, where)
    return _card(plain_lines(kept["latest"].splitlines()), note, "", where, "" if kept.get("over") else cancel)


def _card(state: Sequence[Line], note: str, number: str, where: str, cancel: str) -> SanitizedView:
    lines = [markdown_lines(state)]
    lines += [f"-# {markdown_lines([line])}" for line in plain_lines(note.splitlines()) if line[0].text.strip()]
    parts: list[Any] = [Text("\n".join(filter(None, [*lines, number, where])), mentions=True)]
    if cancel:
        parts.append(layouts.row(KbButton.create(cancel, "Cancel")))
    return layouts.layout(*parts)


def _place_of(address: Mapping[str, str]) -> dict[str, str]:
    """Where the job was asked for, by whom, and the token under which that is answered."""
    return {
        "channel": address["channel"],
        "asker": address["asker"],
        "token": address["token"],
        "token_of": address["message"],
    }


def _place(job_id: str) -> str:
    return f"discord/job/{job_id}"
