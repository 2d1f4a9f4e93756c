"""A job's card: a direct message to whoever asked for the job, edited while it goes on.

A message for one person's eyes in a channel can be edited for half an hour only, and a job may take longer or outlive
the process that accepted it. So the card is a message of its own, and what it should show is kept before it is shown:
whichever process works on the job goes on editing, and of two that edit at once the newest state stays. That a job is
over may have to wait for Slack; whose card is still to say so is kept too, for a process that starts or runs on.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from adapters.slack.api.errors import OutcomeUnknown, RequestRefused
from adapters.slack.api.ids import PLATFORM
from adapters.slack.api.web_client import RateLimiter
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.outbound import blocks
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable, StoreUnavailable
from core.model.jobs import Job
from core.model.records import PERSON
from core.service.kb.commands import Caller
from core.service.kb.job_cards import JobCardStates, KeptJobCard, job_card, job_title
from core.service.kb.summaries import JobSummary, summarize_job

EDITS, EDIT_SECONDS = 4, 10.0  # edits of cards by this process in that time; answers need the rest of Slack's limit
MOST_FINAL_UPDATES = 50  # last states that are on their way at once
POSTING_SECONDS = 6.0  # that a card which is just being posted is waited for
CHECK_SECONDS = 0.1  # between two looks at whether it is posted
ABANDONED_SECONDS = 15.0  # then whoever accepted the job is gone, and another process posts its card
MOST_SEARCHED = 50  # messages in which a card is looked for

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class SlackJobCard(KeptJobCard, place="slack/kb/{person}", subject="job-{job}"):
    """What a job's card shows, to whom, and which message it is."""

    person: str = field(metadata=PERSON)
    user: str = ""  # the same person's Slack id
    space: str = ""
    channel: str = ""  # the direct message that it stands in
    ts: str = ""
    closed: bool = False  # Slack takes no direct message of ours there

    @property
    def layout(self) -> list[blocks.Block]:
        """The blocks of the newest state; none where none is kept."""
        return [] if self.newest is None else kb_blocks.card(job_card(self.newest))

    @property
    def text(self) -> str:
        """What a notification says of it."""
        return "" if self.state is None else job_title(self.state)


def card_of(job: Job) -> SlackJobCard:
    """Return the card for a job as it is now, wherever it stands."""
    space = ThreadKey.parse(job.thread).space if job.thread else ""
    return SlackJobCard(
        person=job.by.id,
        job=job.id,
        user=job.reply_target.asker,
        space=space,
        state=summarize_job(job),
        over=job.over,
    )


def card_of_accepted(job: JobSummary, caller: Caller) -> SlackJobCard:
    """Return the card for a job that this caller has just been promised."""
    user, space = caller.reply_target.asker, caller.thread.space
    return SlackJobCard(person=caller.person.id, job=job.id, user=user, space=space, state=job)


class JobCards:
    """``core.ports.platform.JobCardView`` over direct messages."""

    def __init__(self, workspace: SlackWorkspace) -> None:
        """Post and edit as this workspace's bot."""
        self._workspace = workspace
        self._states = JobCardStates(workspace.message_states, PLATFORM)
        self._rate_limiter = RateLimiter({"card": EDITS}, EDIT_SECONDS)
        self._final_updates: set[asyncio.Task[None]] = set()
        self._concluding: set[str] = set()
        self._adopting: set[str] = set()

    async def finish(self) -> None:
        """Show the last state of every job whose card may not show it yet, but for those in hand here.

        Raises PlatformUnavailable and StoreUnavailable; the next time goes on.
        """
        for card in await self._states.unshown(_blank):
            if card.job in self._concluding:
                continue
            try:
                await self._show_last_state(card)
            except RequestRefused as refusal:
                log.info("card_not_finished", job=card.job, reason=str(refusal))

    async def close(self) -> None:
        """End what is still on its way; what it leaves is finished wherever ``finish`` is called next."""
        for task in tuple(self._final_updates):
            task.cancel()
        await asyncio.gather(*self._final_updates, return_exceptions=True)

    # --- the first sign

    async def post(self, job: JobSummary, caller: Caller) -> bool:
        """Post the card of a job that was just accepted; False where Slack takes no direct message of ours."""
        card = card_of_accepted(job, caller)
        try:
            channel = await self._workspace.messages.direct_channel(card.user)
            await self._post(card, channel)
        except RequestRefused as refusal:
            log.info("card_not_posted", job=job.id, reason=str(refusal))
            await self._close(card)
            return False
        except PlatformUnavailable as error:
            log.info("card_not_posted", job=job.id, reason=str(error))
            return False
        return True

    async def _post(self, card: SlackJobCard, channel: str) -> bool:
        """Post it; whether it shows the newest state."""
        place = ThreadKey(PLATFORM, card.space, channel, "")
        layout = card.layout
        try:
            said = await self._workspace.messages.post(place, card.text, layout, part=_part(card.job))
            ts = str(said["ts"])
        except OutcomeUnknown:
            ts = await self._find_posted(channel, _part(card.job))
            if not ts:
                raise
        await self._save(SlackJobCard(person=card.person, job=card.job, channel=channel, ts=ts))
        return await self._catch_up(card, layout)

    # --- while it goes on

    async def show(self, job: Job) -> None:
        """Show this state: sooner or later while the job goes on, always when it is over."""
        card = card_of(job)
        if not card.user:
            return
        kept = await self._states.keep(card)
        if kept.closed:
            await self._states.mark_shown(card.job)
        elif job.over:
            await self._run_owned(self._conclude(card, _age(job)))
        elif not kept.ts:
            if _age(job) > ABANDONED_SECONDS:
                await self._run_owned(self._adopt(card))
        elif self._rate_limiter.try_acquire("card"):
            await self._edit(kept, card.layout, self._workspace.web.call_once)

    async def _conclude(self, card: SlackJobCard, age: float) -> None:
        """Show the last state, waiting out rate limits; post a card that was never posted."""
        self._concluding.add(card.job)
        try:
            for _ in range(int(POSTING_SECONDS / CHECK_SECONDS)):
                kept = await self._read(card)
                if kept.ts or kept.closed or age > ABANDONED_SECONDS:
                    break
                await asyncio.sleep(CHECK_SECONDS)
            await self._show_last_state(card)
        finally:
            self._concluding.discard(card.job)

    async def _show_last_state(self, card: SlackJobCard) -> None:
        """Show the last state wherever the card is, and strike it from those that are still to show it."""
        kept = await self._read(card)
        if kept.ts and not await self._edit(kept, kept.layout, self._workspace.web.call):
            return
        if not kept.ts and not kept.closed and not await self._adopt(card):
            return
        await self._states.mark_shown(card.job)

    async def _adopt(self, card: SlackJobCard) -> bool:
        """Take over a card that nobody kept: find it, where it was posted just before a crash, or else post it.

        Whether it shows the newest state; False also where that is on its way already.
        """
        if card.job in self._adopting:
            return False
        self._adopting.add(card.job)
        try:
            channel = await self._workspace.messages.direct_channel(card.user)
            ts = await self._find_posted(channel, _part(card.job))
            if ts:
                await self._save(SlackJobCard(person=card.person, job=card.job, channel=channel, ts=ts))
                return await self._catch_up(card, [])
            return await self._post(card, channel)
        except RequestRefused as refusal:
            if not refusal.retry_after:
                await self._close(card)
                await self._states.mark_shown(card.job)
            raise
        finally:
            self._adopting.discard(card.job)

    async def _run_owned(self, work: Coroutine[Any, Any, object]) -> None:
        """Wait for it; when whoever waits has no more time, it goes on by itself."""
        if len(self._final_updates) >= MOST_FINAL_UPDATES:
            await work
            return
        task = asyncio.create_task(_run_logged(work))
        self._final_updates.add(task)
        task.add_done_callback(self._final_updates.discard)
        await asyncio.shield(task)

    # --- when it is cancelled

    async def show_cancel_request(self, job: JobSummary, person: str) -> None:
        """Say on this person's card that its job is being ended, unless it has ended meanwhile."""
        kept = await self._states.keep_cancelling(_blank(job.id, person), job)
        if kept is not None and kept.ts:
            layout = kept.layout
            await self._edit(kept, layout, self._workspace.web.call)
            await self._catch_up(kept, layout)

    # --- one message

    async def _catch_up(self, card: SlackJobCard, shown: list[blocks.Block]) -> bool:
        """Show the newest state there is, until that is what stands there; False where Slack did not take it."""
        through = True
        kept = await self._read(card)
        while kept.layout and kept.layout != shown:
            shown = kept.layout
            through = await self._edit(kept, shown, self._workspace.web.call)
            kept = await self._read(card)
        return through

    async def _edit(
        self, kept: SlackJobCard, layout: list[blocks.Block], call: Callable[..., Coroutine[Any, Any, Any]]
    ) -> bool:
        """Show this; False where that may be tried again. A last state that the card does not take is posted anew."""
        place = {"channel": kept.channel, "ts": kept.ts}
        text = blocks.fallback(kept.text)
        try:
            await call("chat.update", text=text, blocks=layout, link_names=False, **place)
        except RequestRefused as refusal:
            log.info("card_not_edited", reason=str(refusal))
            if refusal.retry_after:
                return False
            return not kept.over or await self._post_anew(kept)
        except PlatformUnavailable as error:
            log.info("card_not_edited", reason=str(error))
            return False
        return True

    async def _post_anew(self, kept: SlackJobCard) -> bool:
        """Say in a new message that the job is over, plainly where the layout is refused; False: it may be tried again.

        Raises PlatformUnavailable.
        """
        part, place = _part(kept.job, again=True), ThreadKey(PLATFORM, kept.space, kept.channel, "")
        ts = ""
        with suppress(RequestRefused):  # what was said there may not be read: then it is said again
            ts = await self._find_posted(kept.channel, part)
        for layout in (kept.layout, [blocks.section(blocks.plain_text(kept.layout))]):
            if ts:
                break
            try:
                ts = str((await self._workspace.messages.post(place, kept.text, layout, part=part))["ts"])
            except RequestRefused as refusal:
                log.warning("card_not_posted", job=kept.job, reason=str(refusal))
                if refusal.retry_after:
                    return False
        if ts:
            await self._save(SlackJobCard(person=kept.person, job=kept.job, channel=kept.channel, ts=ts))
        return True

    async def _find_posted(self, channel: str, part: str) -> str:
        """Return the ``ts`` of a card that was posted, or may have been; empty when it is not there."""
        look = {"channel": channel, "limit": MOST_SEARCHED, "include_all_metadata": True}
        found = await self._workspace.web.call("conversations.history", **look)
        for message in found.get("messages") or []:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("part") == part:
                return str(message["ts"])
        return ""

    async def _close(self, card: SlackJobCard) -> None:
        """Keep that Slack takes no card there, so that nobody tries again."""
        await self._save(SlackJobCard(person=card.person, job=card.job, closed=True))

    async def _read(self, card: SlackJobCard) -> SlackJobCard:
        """Return the card as it is kept; with nothing on it where it is not."""
        return await self._states.read(_blank(card.job, card.person))

    async def _save(self, card: SlackJobCard) -> None:
        """Keep what is said here of the card; the rest of it stays."""
        await self._workspace.message_states.save(card)


def _blank(job_id: str, person: str) -> SlackJobCard:
    return SlackJobCard(person=person, job=job_id)


def _part(job_id: str, *, again: bool = False) -> str:
    """Return the key of a job's card, or of the message that says its end where the card takes no edit."""
    return f"job-{job_id}" + ("-over" if again else "")


def _age(job: Job) -> float:
    return (datetime.now(UTC) - job.created_at).total_seconds()


async def _run_logged(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    except (RequestRefused, PlatformUnavailable, StoreUnavailable) as error:
        log.warning("card_not_concluded", reason=str(error))
    except Exception:
        log.exception("card_not_concluded")
