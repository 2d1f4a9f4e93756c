"""A job's card: a direct message to whoever asked for the job, edited while it goes on.

A message for one person's eyes in a channel can be edited for half an hour only, and a job may take longer or outlive
the process that accepted it. So the card is a message of its own, and what it should show is kept before it is shown:
whichever process works on the job goes on editing, and of two that edit at once the newest state stays.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import structlog

from adapters.knowledge_text import job_title
from adapters.slack import blocks, kb_blocks
from adapters.slack.intake import PLATFORM
from adapters.slack.offers import kept_under
from adapters.slack.web import Pace, Refusal, Uncertain
from adapters.slack.workplace import Workplace
from core.conversation import ThreadKey
from core.errors import PlatformUnavailable, StoreUnavailable
from core.ingestion.jobs import Job

EDITS, EDIT_SECONDS = 4, 10.0  # edits of cards by this process in that time; answers need the rest of Slack's limit
MOST_ENDING = 50  # last states that are on their way at once
AWAITED_SECONDS = 6.0  # that a card which is just being posted is waited for
LOOK_SECONDS = 0.1
FORGOTTEN_SECONDS = 15.0  # then whoever accepted the job is gone, and another process posts its card
MOST_LOOKED_AT = 50  # messages in which a card is looked for

log = structlog.get_logger(__name__)


class JobCards:
    """``adapters.knowledge_desk.JobCard`` over direct messages."""

    def __init__(self, workplace: Workplace) -> None:
        """Post and edit as this workspace's bot."""
        self._workplace = workplace
        self._pace = Pace({"card": EDITS}, EDIT_SECONDS)
        self._ending: set[asyncio.Task[None]] = set()
        self._adopting: set[str] = set()

    async def close(self) -> None:
        """End what is still on its way."""
        for task in tuple(self._ending):
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    # --- the first sign

    async def post(self, job: Job) -> bool:
        """Post the card of a job that was just accepted; False where Slack takes no direct message of ours."""
        try:
            channel = await self.direct_message(job.address.get("user", ""))
            await self._post(job, channel)
        except Refusal as refusal:
            log.info("card_not_posted", job=job.id, reason=str(refusal))
            await self._keep(job.id, job.by.id, closed="yes")
            return False
        except PlatformUnavailable as error:
            log.info("card_not_posted", job=job.id, reason=str(error))
            return False
        return True

    async def _post(self, job: Job, channel: str) -> None:
        layout = json.dumps(kb_blocks.card(job))
        place = ThreadKey(PLATFORM, ThreadKey.parse(job.thread).space, channel, "")
        await self._keep(job.id, job.by.id, first=layout, title=job_title(job))
        try:
            said = await self._workplace.say(place, job_title(job), json.loads(layout), part=_part(job.id))
            ts = str(said["ts"])
        except Uncertain:
            ts = await self._lost(channel, job.id)
            if not ts:
                raise
        await self._keep(job.id, job.by.id, channel=channel, ts=ts)
        await self._catch_up(job.id, job.by.id, layout)

    async def direct_message(self, user: str) -> str:
        """The channel in which this person reads us alone. Raises Refusal and PlatformUnavailable."""
        answer = await self._workplace.web.patiently("conversations.open", users=user)
        return str(answer["channel"]["id"])

    # --- while it goes on

    async def show(self, job: Job) -> None:
        """Show this state: sooner or later while the job goes on, always when it is over."""
        if not job.address.get("user"):
            return
        layout = json.dumps(kb_blocks.card(job))
        await self._keep(job.id, job.by.id, card=layout, title=job_title(job), over="yes" if job.over else "")
        kept = await self._kept(job.id, job.by.id)
        if kept.get("closed"):
            return
        if job.over:
            await self._owned(self._conclude(job, layout))
        elif "ts" not in kept:
            if _age(job) > FORGOTTEN_SECONDS:
                await self._owned(self._adopt(job))
        elif self._pace.allows("card"):
            await self._edit(kept, layout, self._workplace.web.eagerly)

    async def _conclude(self, job: Job, layout: str) -> None:
        """The last state, waiting out whatever Slack asks for; a card that was never posted is posted now."""
        kept = await self._kept(job.id, job.by.id)
        for _ in range(int(AWAITED_SECONDS / LOOK_SECONDS)):
            if "ts" in kept or kept.get("closed") or _age(job) > FORGOTTEN_SECONDS:
                break
            await asyncio.sleep(LOOK_SECONDS)
            kept = await self._kept(job.id, job.by.id)
        if "ts" in kept:
            await self._edit(kept, layout, self._workplace.web.patiently)
        elif not kept.get("closed"):
            await self._adopt(job)

    async def _adopt(self, job: Job) -> None:
        """Take over a card that nobody kept: find it, where it was posted just before a crash, or else post it."""
        if job.id in self._adopting:
            return
        self._adopting.add(job.id)
        try:
            channel = await self.direct_message(job.address["user"])
            ts = await self._lost(channel, job.id)
            if ts:
                await self._keep(job.id, job.by.id, channel=channel, ts=ts)
                await self._catch_up(job.id, job.by.id, "")
            else:
                await self._post(job, channel)
        except Refusal:
            await self._keep(job.id, job.by.id, closed="yes")
            raise
        finally:
            self._adopting.discard(job.id)

    async def _owned(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for it; when whoever waits has no more time, it goes on by itself."""
        if len(self._ending) >= MOST_ENDING:
            await work
            return
        task = asyncio.create_task(_logged(work))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)

    # --- when it is cancelled

    async def cancelling(self, job_id: str, person: str, words: str) -> None:
        """Say on this person's card that its job is being ended, unless it has ended meanwhile."""
        kept = await self._kept(job_id, person)
        if "ts" not in kept or kept.get("over"):
            return
        shown = json.loads(kept.get("card") or kept.get("first") or "[]")
        layout = json.dumps(kb_blocks.being_cancelled(shown, words))
        await self._keep(job_id, person, card=layout)
        await self._edit(kept, layout, self._workplace.web.patiently)
        await self._catch_up(job_id, person, layout)

    # --- one message

    async def _catch_up(self, job_id: str, person: str, shown: str) -> None:
        """Show the newest state there is, until that is what stands there."""
        kept = await self._kept(job_id, person)
        while kept.get("card") and kept["card"] != shown:
            shown = kept["card"]
            await self._edit(kept, shown, self._workplace.web.patiently)
            kept = await self._kept(job_id, person)

    async def _edit(self, kept: dict[str, str], layout: str, call: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        place = {"channel": kept["channel"], "ts": kept["ts"]}
        text = blocks.fallback(kept.get("title") or "")
        try:
            await call("chat.update", text=text, blocks=json.loads(layout), link_names=False, **place)
        except (Refusal, PlatformUnavailable) as error:
            log.info("card_not_edited", reason=str(error))

    async def _lost(self, channel: str, job_id: str) -> str:
        """The ``ts`` of a card that was posted, or may have been; empty when it is not there."""
        look = {"channel": channel, "limit": MOST_LOOKED_AT, "include_all_metadata": True}
        found = await self._workplace.web.patiently("conversations.history", **look)
        for message in found.get("messages") or []:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("part") == _part(job_id):
                return str(message["ts"])
        return ""

    async def _kept(self, job_id: str, person: str) -> dict[str, str]:
        return dict(await self._workplace.postings.read(kept_under(person), _part(job_id)))

    async def _keep(self, job_id: str, person: str, **values: str) -> None:
        await self._workplace.postings.keep(kept_under(person), _part(job_id), values, person=person)


def _part(job_id: str) -> str:
    return f"job-{job_id}"


def _age(job: Job) -> float:
    return (datetime.now(UTC) - job.created_at).total_seconds()


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (Refusal, PlatformUnavailable, StoreUnavailable) as error:
        log.warning("card_not_concluded", reason=str(error))
    except Exception:
        log.exception("card_not_concluded")
