"""A job's card: a direct message to whoever asked for the job, edited while it goes on.

A message for one person's eyes in a channel can be edited for half an hour only, and a job may take longer or outlive
the process that accepted it. So the card is a message of its own, and what it should show is kept before it is shown:
whichever process works on the job goes on editing, and of two that edit at once the newest state stays. That a job is
over may have to wait for Slack; whose card is still to say so is kept too, for a process that starts or runs on.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from adapters.slack.api.web_client import Pace, Refusal, Uncertain
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.event_listener import PLATFORM
from adapters.slack.inbound.one_time_actions import kept_under
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.outbound import blocks
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable, StoreUnavailable
from core.model.jobs import Job
from core.service.kb.job_text import job_title
from core.service.pending_card_updates import PendingCardUpdates

EDITS, EDIT_SECONDS = 4, 10.0  # edits of cards by this process in that time; answers need the rest of Slack's limit
MOST_ENDING = 50  # last states that are on their way at once
AWAITED_SECONDS = 6.0  # that a card which is just being posted is waited for
LOOK_SECONDS = 0.1
FORGOTTEN_SECONDS = 15.0  # then whoever accepted the job is gone, and another process posts its card
MOST_LOOKED_AT = 50  # messages in which a card is looked for

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Card:
    """What a job's card shows, and to whom."""

    job: str
    person: str
    user: str
    space: str
    layout: str
    title: str

    @classmethod
    def of(cls, job: Job) -> "_Card":
        """The card for a job as it is now."""
        space = ThreadKey.parse(job.thread).space if job.thread else ""
        layout = json.dumps(kb_blocks.card(job))
        return cls(job.id, job.by.id, job.address.get("user", ""), space, layout, job_title(job))

    @classmethod
    def of_kept(cls, job_id: str, person: str, kept: Mapping[str, str]) -> "_Card":
        """The card as it was last kept."""
        return cls(job_id, person, kept["user"], kept["space"], kept["card"], kept["title"])

    def kept(self) -> dict[str, str]:
        """What another process needs to show it."""
        return {"user": self.user, "space": self.space, "card": self.layout, "title": self.title}


class JobCards:
    """``core.service.kb.commands.JobCard`` over direct messages."""

    def __init__(self, workplace: SlackWorkspace) -> None:
        """Post and edit as this workspace's bot."""
        self._workplace = workplace
        self._endings = PendingCardUpdates(workplace.postings, PLATFORM)
        self._pace = Pace({"card": EDITS}, EDIT_SECONDS)
        self._ending: set[asyncio.Task[None]] = set()
        self._concluding: set[str] = set()
        self._adopting: set[str] = set()

    async def finish(self) -> None:
        """Show the last state of every job whose card may not show it yet, but for those in hand here.

        Raises PlatformUnavailable and StoreUnavailable; the next time goes on.
        """
        for job_id, person in (await self._endings.left()).items():
            if job_id in self._concluding:
                continue
            kept = await self._read_card(job_id, person)
            if not kept.get("over"):  # forgotten with the person it was for
                await self._endings.told(job_id)
                continue
            try:
                await self._show_last_state(_Card.of_kept(job_id, person, kept))
            except Refusal as refusal:
                log.info("card_not_finished", job=job_id, reason=str(refusal))

    async def close(self) -> None:
        """End what is still on its way; what it leaves is finished wherever ``finish`` is called next."""
        for task in tuple(self._ending):
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    # --- the first sign

    async def post(self, job: Job) -> bool:
        """Post the card of a job that was just accepted; False where Slack takes no direct message of ours."""
        card = _Card.of(job)
        try:
            channel = await self.direct_message(card.user)
            await self._post(card, channel)
        except Refusal as refusal:
            log.info("card_not_posted", job=job.id, reason=str(refusal))
            await self._keep(job.id, job.by.id, closed="yes")
            return False
        except PlatformUnavailable as error:
            log.info("card_not_posted", job=job.id, reason=str(error))
            return False
        return True

    async def _post(self, card: "_Card", channel: str) -> bool:
        """Post it; whether it shows the newest state."""
        place = ThreadKey(PLATFORM, card.space, channel, "")
        await self._keep(card.job, card.person, first=card.layout, title=card.title)
        try:
            said = await self._workplace.say(place, card.title, json.loads(card.layout), part=_part(card.job))
            ts = str(said["ts"])
        except Uncertain:
            ts = await self._lost(channel, card.job)
            if not ts:
                raise
        await self._keep(card.job, card.person, channel=channel, ts=ts)
        return await self._catch_up(card.job, card.person, card.layout)

    async def direct_message(self, user: str) -> str:
        """The channel in which this person reads us alone. Raises Refusal and PlatformUnavailable."""
        answer = await self._workplace.web.patiently("conversations.open", users=user)
        return str(answer["channel"]["id"])

    # --- while it goes on

    async def show(self, job: Job) -> None:
        """Show this state: sooner or later while the job goes on, always when it is over."""
        card = _Card.of(job)
        if not card.user:
            return
        await self._keep(card.job, card.person, over="yes" if job.over else "", **card.kept())
        if job.over:  # who dies before this has not done the job: another shows it
            await self._endings.expect(card.job, card.person)
        kept = await self._read_card(card.job, card.person)
        if kept.get("closed"):
            await self._endings.told(card.job)
        elif job.over:
            await self._run_owned(self._conclude(card, _age(job)))
        elif "ts" not in kept:
            if _age(job) > FORGOTTEN_SECONDS:
                await self._run_owned(self._adopt(card))
        elif self._pace.allows("card"):
            await self._edit(kept, card.layout, self._workplace.web.eagerly)

    async def _conclude(self, card: "_Card", age: float) -> None:
        """The last state, waiting out whatever Slack asks for; a card that was never posted is posted now."""
        self._concluding.add(card.job)
        try:
            for _ in range(int(AWAITED_SECONDS / LOOK_SECONDS)):
                kept = await self._read_card(card.job, card.person)
                if "ts" in kept or kept.get("closed") or age > FORGOTTEN_SECONDS:
                    break
                await asyncio.sleep(LOOK_SECONDS)
            await self._show_last_state(card)
        finally:
            self._concluding.discard(card.job)

    async def _show_last_state(self, card: "_Card") -> None:
        """Show the last state wherever the card is, and strike it from those that are still to show it."""
        kept = await self._read_card(card.job, card.person)
        if "ts" in kept and not await self._edit(kept, card.layout, self._workplace.web.patiently):
            return
        if "ts" not in kept and not kept.get("closed") and not await self._adopt(card):
            return
        await self._endings.told(card.job)

    async def _adopt(self, card: "_Card") -> bool:
        """Take over a card that nobody kept: find it, where it was posted just before a crash, or else post it.

        Whether it shows the newest state; False also where that is on its way already.
        """
        if card.job in self._adopting:
            return False
        self._adopting.add(card.job)
        try:
            channel = await self.direct_message(card.user)
            ts = await self._lost(channel, card.job)
            if ts:
                await self._keep(card.job, card.person, channel=channel, ts=ts)
                return await self._catch_up(card.job, card.person, "")
            return await self._post(card, channel)
        except Refusal as refusal:
            if not refusal.retry_after:
                await self._keep(card.job, card.person, closed="yes")
                await self._endings.told(card.job)
            raise
        finally:
            self._adopting.discard(card.job)

    async def _run_owned(self, work: Coroutine[Any, Any, object]) -> None:
        """Wait for it; when whoever waits has no more time, it goes on by itself."""
        if len(self._ending) >= MOST_ENDING:
            await work
            return
        task = asyncio.create_task(_run_logged(work))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)

    # --- when it is cancelled

    async def cancelling(self, job_id: str, person: str, words: str) -> None:
        """Say on this person's card that its job is being ended, unless it has ended meanwhile."""
        kept = await self._read_card(job_id, person)
        if "ts" not in kept or kept.get("over"):
            return
        shown = json.loads(kept.get("card") or kept.get("first") or "[]")
        layout = json.dumps(kb_blocks.being_cancelled(shown, words))
        await self._keep(job_id, person, card=layout)
        await self._edit(kept, layout, self._workplace.web.patiently)
        await self._catch_up(job_id, person, layout)

    # --- one message

    async def _catch_up(self, job_id: str, person: str, shown: str) -> bool:
        """Show the newest state there is, until that is what stands there; False where Slack did not take it."""
        through = True
        kept = await self._read_card(job_id, person)
        while kept.get("card") and kept["card"] != shown:
            shown = kept["card"]
            through = await self._edit(kept, shown, self._workplace.web.patiently)
            kept = await self._read_card(job_id, person)
        return through

    async def _edit(self, kept: dict[str, str], layout: str, call: Callable[..., Coroutine[Any, Any, Any]]) -> bool:
        """Show this; False where that may be tried again."""
        place = {"channel": kept["channel"], "ts": kept["ts"]}
        text = blocks.fallback(kept.get("title") or "")
        try:
            await call("chat.update", text=text, blocks=json.loads(layout), link_names=False, **place)
        except Refusal as refusal:
            log.info("card_not_edited", reason=str(refusal))
            return not refusal.retry_after
        except PlatformUnavailable as error:
            log.info("card_not_edited", reason=str(error))
            return False
        return True

    async def _lost(self, channel: str, job_id: str) -> str:
        """The ``ts`` of a card that was posted, or may have been; empty when it is not there."""
        look = {"channel": channel, "limit": MOST_LOOKED_AT, "include_all_metadata": True}
        found = await self._workplace.web.patiently("conversations.history", **look)
        for message in found.get("messages") or []:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("part") == _part(job_id):
                return str(message["ts"])
        return ""

    async def _read_card(self, job_id: str, person: str) -> dict[str, str]:
        return dict(await self._workplace.postings.read(kept_under(person), _part(job_id)))

    async def _keep(self, job_id: str, person: str, **values: str) -> None:
        await self._workplace.postings.keep(kept_under(person), _part(job_id), values, person=person)


def _part(job_id: str) -> str:
    return f"job-{job_id}"


def _age(job: Job) -> float:
    return (datetime.now(UTC) - job.created_at).total_seconds()


async def _run_logged(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    except (Refusal, PlatformUnavailable, StoreUnavailable) as error:
        log.warning("card_not_concluded", reason=str(error))
    except Exception:
        log.exception("card_not_concluded")
