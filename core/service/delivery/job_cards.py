"""Delivery of job cards: one message for each job, edited while the job runs.

The newest state is stored before it is shown. Any process may edit the card; if two edit at once, the newest state
wins. The end of a job stays pending until this or another process has shown it. If a process dies before it posts a
card, the next process that shows the job posts it. If a card does not accept the end, the end is posted as a separate
message.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from core.model.errors import PlatformUnavailable, StoreUnavailable
from core.model.incoming_events import ReplyTarget
from core.model.jobs import Job
from core.model.records import PERSON, Record
from core.ports.chat import CallRefused, NoAnswer, Refusal
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import Caller
from core.service.kb.summaries import JobSummary, summarize_job
from core.service.kb.text_spans import Line
from core.service.leases import repeat

LOOK_SECONDS = 60.0  # between two checks for cards left by other processes
MOST_UPDATES = 50  # updates that continue after their caller was cancelled
ABANDONED_SECONDS = 15.0  # after this age of a job, the process that accepted it no longer posts its card
MOST_RENDERINGS = 5  # edits in a row because the job has changed
_TRIES = 5  # to store a cancellation while a worker stores progress

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CardLines:
    """Lines stored with a card."""

    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KeptJobCard(Record, place="{platform}/kb/{person}", subject="job-{job}"):
    """The newest state that a job's card should show, and which message the card is."""

    platform: str
    job: str
    person: str = field(metadata=PERSON)  # who asked for the job, by qualified id
    state: JobSummary | None = field(default=None, metadata={"stored": "job"})
    over: bool = False
    target: ReplyTarget | None = None  # where the job was asked for
    channel: str = ""  # of the direct message that the card is; empty for a response to the command
    message: str = ""
    closed: bool = False  # the platform accepts no direct message from us there
    words: CardLines | None = None  # shown below every state
    cancel: str = ""  # the stored command that cancels the job

    @property
    def asker(self) -> str:
        """The platform's id of the person who asked."""
        return "" if self.target is None else self.target.asker


@dataclass(frozen=True, kw_only=True)
class PendingCardUpdate(Record, place="{platform}/kb", subject="endings", entry="{job}"):
    """A finished job whose card does not show its end yet."""

    platform: str
    job: str
    person: str = field(default="", metadata=PERSON)  # whose card it is


class CardMessages(Protocol):
    """A platform's messages for job cards. Every call raises CallRefused, NoAnswer and PlatformUnavailable."""

    async def edit(self, card: KeptJobCard, *, once: bool) -> None:
        """Show the card's state. With ``once`` it may raise CallRefused to keep within a rate limit."""

    async def direct_channel(self, asker: str) -> str:
        """Return the channel of direct messages with this person."""

    async def post(self, card: KeptJobCard, key: str, *, plain: bool = False) -> str:
        """Post the card in its channel, to be found by the key; ``plain``: its layout was refused. Return its id."""

    async def find(self, channel: str, key: str) -> str:
        """Return the id of a message that was posted under the key, or may have been; empty if there is none."""


async def look_after(cards: "JobCards", stop: asyncio.Event) -> None:
    """Finish pending cards now and periodically, until ``stop`` is set."""
    await repeat(cards.finish, LOOK_SECONDS, stop, "cards_not_finished")


class JobCards:
    """``core.ports.platform.JobCardView`` for one platform."""

    def __init__(
        self,
        message_states: MessageStateStore,
        platform: str,
        messages: CardMessages,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Store cards in ``message_states`` and show them as ``messages``. ``now``: seconds since the epoch."""
        self._store = message_states
        self._platform = platform
        self._messages = messages
        self._now = now
        self._updates: set[asyncio.Task[None]] = set()
        self._adopting: set[str] = set()

    async def finish(self) -> None:
        """Show the last state of every job whose card may not show it yet. Raises StoreUnavailable."""
        for update in await self._store.read_entries(self._update("")):
            card = await self._read(self._blank(update.job, update.person))
            if card.over:
                await _logged(self._show_last_state(card))
            else:  # it was deleted with its person's data
                await self._mark_shown(card)

    async def close(self) -> None:
        """Cancel the updates in progress; ``finish`` completes them later, in any process."""
        for task in tuple(self._updates):
            task.cancel()
        await asyncio.gather(*self._updates, return_exceptions=True)

    # --- the first message

    async def post(self, job: JobSummary, caller: Caller) -> bool:
        """Post the card of an accepted job; return False if the person accepts no direct message from us."""
        card = replace(self._blank(job.id, caller.person.id), state=job, target=caller.reply_target)
        try:
            await self._post(card)
        except CallRefused as refusal:
            log.info("card_not_posted", extra={"job": job.id, "reason": str(refusal)})
            await self._store.save(replace(self._blank(job.id, card.person), closed=True))
            return False
        except PlatformUnavailable as error:
            log.info("card_not_posted", extra={"job": job.id, "reason": str(error)})
            return False
        return True

    async def take_message(
        self, job: JobSummary, caller: Caller, message: str, *, words: Sequence[Line] = (), cancel: str = ""
    ) -> None:
        """Use this message, which already shows the job, as its card, and show later changes.

        ``words`` are shown below every state; ``cancel`` is the stored command that cancels the job.
        """
        card = replace(self._blank(job.id, caller.person.id), target=caller.reply_target, message=message)
        await self._placed(replace(card, words=CardLines(tuple(words)), cancel=cancel), job)

    async def renew_token(self, job_id: str, person: str, token: str, interaction: str) -> None:
        """Renew the token that allows edits of the card, after this person pressed a button on it."""
        card = await self._read(self._blank(job_id, person))
        if card.target is not None:
            target = replace(card.target, token=token, message=interaction)
            await self._store.save(replace(self._blank(job_id, person), target=target))

    async def _post(self, card: KeptJobCard, *, look: bool = False) -> bool:
        """Post the card, or adopt the one posted just before a crash; return whether it shows the newest state."""
        channel, key = await self._messages.direct_channel(card.asker), _key(card)
        message, shown = await self._messages.find(channel, key) if look else "", None
        if not message:
            shown = card.state
            try:
                message = await self._messages.post(replace(card, channel=channel), key)
            except NoAnswer:
                message = await self._messages.find(channel, key)
                if not message:
                    raise
        return await self._placed(replace(self._blank(card.job, card.person), channel=channel, message=message), shown)

    async def _placed(self, card: KeptJobCard, shown: JobSummary | None) -> bool:
        """Store where the card is, and show states newer than ``shown``; return whether it shows the newest state."""
        await self._store.save(card)
        return await self._show_newest(card, shown)

    async def _show_newest(self, card: KeptJobCard, shown: JobSummary | None) -> bool:
        """Show stored states newer than ``shown``; return whether the card shows the newest state."""
        through = True
        for _ in range(MOST_RENDERINGS):
            kept = await self._read(card)
            if kept.state is None or kept.state == shown:
                break
            shown = kept.state
            through = await self._edit(kept)
            if through and kept.over:
                await self._mark_shown(kept)
        return through

    # --- while the job runs

    async def show(self, job: Job) -> None:
        """Show this state: at a bounded rate while the job runs, always when it is over."""
        if not job.reply_target.asker:
            return
        blank = self._blank(job.id, job.by.id)
        kept = await self.keep(replace(blank, state=summarize_job(job), over=job.over))
        if kept.target is None:
            kept = await self.keep(replace(blank, target=job.reply_target))
        if kept.over or kept.closed:
            await self._run_owned(self._show_last_state(kept))
        elif kept.message:
            await self._edit(kept, once=True)
        elif self._is_abandoned(kept):
            await self._run_owned(self._adopt(kept))

    async def show_cancelling(self, job: JobSummary, person: str) -> None:
        """Show on this person's card that its job is being cancelled, unless the job has ended."""
        kept = await self.keep_cancelling(job, person)
        if kept is not None and kept.message:  # saving it again would overwrite an end that was stored just now
            await self._show_newest(kept, None)

    async def _show_last_state(self, card: KeptJobCard) -> None:
        """Show the end, unless the process that accepted the job is still posting the card and will show it."""
        kept = await self._read(card)
        if not kept.closed:
            if kept.message and not await self._edit(kept):
                return
            if not kept.message and not (self._is_abandoned(kept) and await self._adopt(kept)):
                return
        await self._mark_shown(kept)

    async def _adopt(self, card: KeptJobCard) -> bool:
        """Find or post a card whose place is not stored; return whether it shows the newest state.

        Returns False while another call is doing this.
        """
        if card.job in self._adopting:
            return False
        self._adopting.add(card.job)
        try:
            return await self._post(card, look=True)
        except CallRefused as refusal:
            if refusal.refusal is not Refusal.LIMITED:
                await self._store.save(replace(self._blank(card.job, card.person), closed=True))
                await self._mark_shown(card)
            raise
        finally:
            self._adopting.discard(card.job)

    async def _run_owned(self, work: Coroutine[Any, Any, object]) -> None:
        """Wait for the work, which continues if the caller is cancelled."""
        if len(self._updates) >= MOST_UPDATES:
            await work
            return
        task = asyncio.create_task(_logged(work))
        self._updates.add(task)
        task.add_done_callback(self._updates.discard)
        await asyncio.shield(task)

    async def _edit(self, kept: KeptJobCard, *, once: bool = False) -> bool:
        """Show the state; return False if that may be retried. Posts an end that the card does not accept."""
        try:
            await self._messages.edit(kept, once=once)
        except CallRefused as refusal:
            if refusal.refusal is Refusal.LIMITED:
                return False
            log.info("card_not_edited", extra={"job": kept.job, "reason": str(refusal)})
            return not kept.over or await self._post_again(kept)
        except PlatformUnavailable as error:
            log.info("card_not_edited", extra={"job": kept.job, "reason": str(error)})
            return False
        return True

    async def _post_again(self, kept: KeptJobCard) -> bool:
        """Post the end as a new message; return False if that may be retried."""
        key, message = f"{_key(kept)}-over", ""
        try:
            kept = replace(kept, channel=kept.channel or await self._messages.direct_channel(kept.asker))
            with suppress(CallRefused):  # if messages there cannot be read, post it again
                message = await self._messages.find(kept.channel, key)
            message = message or await self._post_end(kept, key)
        except CallRefused as refusal:
            log.warning("card_not_posted", extra={"job": kept.job, "reason": str(refusal)})
            return refusal.refusal is not Refusal.LIMITED
        except PlatformUnavailable as error:
            log.info("card_not_posted", extra={"job": kept.job, "reason": str(error)})
            return False
        await self._store.save(replace(self._blank(kept.job, kept.person), channel=kept.channel, message=message))
        return True

    async def _post_end(self, kept: KeptJobCard, key: str) -> str:
        """Post the end, plainly if its layout is refused; return the message's id."""
        try:
            return await self._messages.post(kept, key)
        except CallRefused as refusal:
            if refusal.refusal is Refusal.LIMITED:
                raise
            log.warning("card_not_posted", extra={"job": kept.job, "reason": str(refusal)})
            return await self._messages.post(kept, key, plain=True)

    # --- stored state

    async def keep(self, card: KeptJobCard) -> KeptJobCard:
        """Store these fields of a card before it is shown; return the whole card. Raises StoreUnavailable.

        The end of a job is stored as pending. A worker that dies before that has not finished the job.
        """
        await self._store.save(card)
        if card.over:
            await self._store.save(self._update(card.job, card.person))
        return await self._read(card)

    async def keep_cancelling(self, job: JobSummary, person: str) -> KeptJobCard | None:
        """Store that somebody cancels this job; return None if its end is already stored. Raises StoreUnavailable."""
        for _ in range(_TRIES):
            kept = await self._read(self._blank(job.id, person))
            if kept.over:
                return None
            now = replace(kept, state=job)
            if await self._store.exchange(kept, now):
                return now
        return None

    async def _read(self, blank: KeptJobCard) -> KeptJobCard:
        return await self._store.read(blank) or self._blank(blank.job, blank.person)

    async def _mark_shown(self, card: KeptJobCard) -> None:
        await self._store.remove(self._update(card.job))

    def _is_abandoned(self, card: KeptJobCard) -> bool:
        """Return whether the process that accepted the job must have posted its card by now."""
        return card.state is not None and self._now() - card.state.created_at.timestamp() > ABANDONED_SECONDS

    def _blank(self, job_id: str, person: str) -> KeptJobCard:
        return KeptJobCard(platform=self._platform, job=job_id, person=person)

    def _update(self, job_id: str, person: str = "") -> PendingCardUpdate:
        return PendingCardUpdate(platform=self._platform, job=job_id, person=person)


def _key(card: KeptJobCard) -> str:
    return f"job-{card.job}"


async def _logged(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    except (CallRefused, PlatformUnavailable, StoreUnavailable) as error:
        log.warning("card_not_concluded", extra={"reason": str(error)})
    except Exception:
        log.exception("card_not_concluded")
