"""Which links are fetched again by themselves, and how often: set, changed and taken away. When is ``scheduler``'s."""

from dataclasses import dataclass, replace
from datetime import timedelta

from core.model.clock import Clock
from core.model.errors import NotFound
from core.model.source_names import matching_sources
from core.ports.file_stores import FileStores
from core.ports.schedule_store import Every, Schedule, ScheduleStore
from core.service.kb.commands import MOST_PAGES, Caller, KbCommand, KbVerb
from core.service.kb.job_queue import JobQueue, site_limit
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.results import KbResult, ScheduleRemoved, ScheduleSaved
from core.service.kb.summaries import summarize_job, summarize_schedule
from core.service.kb.web_links import is_link, redact_link
from core.service.kb.wording import ADD_AGAIN


@dataclass(frozen=True, slots=True)
class Schedules:
    """Handles SCHEDULE. ``stores`` is None where no place but the web may be read."""

    schedule_store: ScheduleStore
    job_queue: JobQueue
    queries: KnowledgeQueries
    clock: Clock
    stores: FileStores | None = None

    async def schedule(self, command: KbCommand, caller: Caller) -> KbResult:
        """SCHEDULE of a link, or of the document that came from it; a link that is new is fetched at once too."""
        if command.every not in tuple(Every):
            raise NotFound("How often should I fetch it?", remedy="Choose daily, weekly, on-change or never.")
        base = await self.queries.own_base(command.base, caller, create=True)
        every, link = Every(command.every), command.target.strip()
        known = matching_sources(await self.queries.documents(base), link) if link else ()
        link = known[0].source if len(known) == 1 and "://" not in link else link
        schedule = await self.save(link, every, command.limit, base.name, caller)
        if every is Every.NEVER:
            return ScheduleRemoved(base.name, redact_link(link))
        if any(one.source == link for one in known):
            return ScheduleSaved(summarize_schedule(schedule))
        first = KbCommand(KbVerb.INGEST, base.name, link, limit=command.limit)
        job = await self.job_queue.ingest(first, base.name, caller)
        return ScheduleSaved(summarize_schedule(schedule), summarize_job(job))

    async def save(self, link: str, every: Every, limit: int, base: str, caller: Caller) -> Schedule:
        """Fetch a link on a schedule, for the first time an interval from now. Raises NotFound where it is none.

        ``limit`` is in pages: up to 1 it is the link alone, and no more than MOST_PAGES. Only places that keep files
        are watched (ON_CHANGE).
        """
        if not is_link(link) and (self.stores is None or self.stores.refusal(link)):
            raise NotFound("I can only fetch links again.", remedy=f"Name one that begins with https://. {ADD_AGAIN}")
        if is_link(link) and every is Every.ON_CHANGE:
            raise NotFound(
                "I can watch buckets and other file stores, but not web pages.", remedy="Choose daily or weekly."
            )
        limit = min(limit, MOST_PAGES) if is_link(link) else site_limit(link, limit)
        due = self.clock.now() + (every.interval or timedelta())
        schedule = Schedule(base, link, every, caller.person, due, limit if limit > 1 or not is_link(link) else 0)
        await self.schedule_store.save_schedule(schedule)
        return schedule

    async def remove(self, base: str, link: str = "") -> None:
        """Fetch nothing of a base, or not this link, by itself any more."""
        for schedule in await self.schedule_store.schedules():
            if schedule.base == base and link in ("", schedule.link):
                await self.schedule_store.save_schedule(replace(schedule, every=Every.NEVER))
