"""Recovery after Redis lost its latest data: every change in the ledger is made again.

The lost data may include grants, removals and deletions of memory, and their effects elsewhere in Redis. So every base
is closed to all but admins until one of them confirms its readers. Removed documents stay removed, deleted memory stays
deleted, and revoked tokens stay revoked. Unfinished jobs are cancelled, because they could bring back what was removed
since.
"""

import asyncio
import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from core.ingestion.change_ledger import ChangeLedger, Entries, LedgerEntry, Subject, base_entry, is_removed
from core.ingestion.consistency import REPAIR
from core.model.clock import Clock
from core.model.conversation import ThreadKey
from core.model.errors import StoreUnavailable
from core.ports.access import ApiTokens
from core.ports.catalog import Catalog
from core.ports.inbox import NamedLeases
from core.ports.job_store import Every, JobStore, ScheduleStore
from core.ports.memory import Memory
from core.service.kb.text_spans import count

CONFIRM = "footnote kb confirm NAME"
RECOVERING = "recovering"  # the lease that lets one process at a time redo changes
MOST_JOBS = 1_000
BY = "footnote"
_LEASE = timedelta(seconds=30)
_RENEWED_EVERY = 500  # changes, which take at most seconds
_TRIES = 300  # to get the lease, _PAUSE apart: longer than the lease of a killed process
_PAUSE = 0.2  # seconds

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Recovered:
    """The changes that were made again."""

    documents: int = 0
    removals: int = 0
    forgotten: int = 0
    revoked: int = 0
    closed: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class LostChanges:
    """Compares catalog and ledger. ``catalog`` and ``memory`` are the stores below the recording ones."""

    catalog: Catalog
    ledger: ChangeLedger
    memory: Memory
    jobs: JobStore
    schedules: ScheduleStore
    leases: NamedLeases
    tokens: ApiTokens
    clock: Clock
    _holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _notices: list[str] = field(default_factory=list)

    def take_notices(self) -> tuple[str, ...]:
        """Return what was lost and restored since the last call, one line each with what to do."""
        taken = tuple(self._notices)
        self._notices.clear()
        return taken

    async def recover(self) -> None:
        """Redo lost changes, or update a ledger that is behind; do nothing if the two agree.

        Raises StoreUnavailable if Redis is empty. It may be the wrong server, so a person has to run ``restore``.
        """
        if await self._agree():
            return
        if not await self.catalog.changes() and not await self.catalog.bases():
            raise StoreUnavailable(
                "Redis has lost data.",
                remedy=f"Restore Redis's data, or {REPAIR} restores documents, readers and removals without it.",
            )
        await self.restore()

    async def restore(self) -> None:
        """Recover even if Redis is empty; if nothing is lost, write a damaged ledger again.

        Raises StoreUnavailable while another process does so.
        """
        async with self._lock:
            await self._acquire()
            try:
                if not await self._agree():
                    await self._restore()
                elif entries := await self.ledger.catch_up(self.catalog):
                    self._notices.append(f"{count(entries, 'record')} of the ledger was lost and is now restored.")
            finally:
                await self.leases.release(RECOVERING, self._holder)

    async def _acquire(self) -> None:
        for _ in range(_TRIES):
            if await self.leases.acquire(RECOVERING, self._holder, _LEASE):
                return
            await asyncio.sleep(_PAUSE)
        raise StoreUnavailable(
            "Redis has lost data, and another process is restoring it.", remedy="Try again in a moment."
        )

    async def _agree(self) -> bool:
        """Return whether nothing is lost. Updates a ledger that is behind first."""
        last = await self.ledger.number()
        number = await self.catalog.changes()
        if await self.ledger.recovering_from() is not None or number < last:
            return False
        if number > last or (not last and await self.catalog.bases()):
            await self.ledger.catch_up(self.catalog)
        return True

    async def _restore(self) -> None:
        """Close every base, redo the lost changes, and record the closing. If killed at any point, it starts again."""
        last, begun = await self.ledger.number(), await self.ledger.recovering_from()
        behind = await self.catalog.changes() if begun is None else begun
        await self.ledger.begin_recovery(behind)
        done = _Recovered()
        for base in await self.catalog.bases():
            await self.catalog.save_base(replace(base, closed=True))
        entries = await self.ledger.entries()
        lost = sorted((one for one in entries.values() if one.number > behind), key=lambda one: one.number)
        await self._cancel_jobs()
        await self._make_again(lost, entries, done)
        await self._unschedule(entries)
        number = await self.catalog.count_change(at_least=last + 1)
        bases = await self.catalog.bases()
        closed = [base_entry(number, base, entries.get((Subject.BASE, base.name))) for base in bases]
        await self.ledger.record(closed, number)
        await self.ledger.end_recovery()
        done.closed = [base.name for base in bases]
        self._tell(last - behind, done)

    async def _make_again(self, lost: Iterable[LedgerEntry], entries: Entries, done: _Recovered) -> None:
        for made, entry in enumerate(lost):
            if not made % _RENEWED_EVERY:
                await self.leases.acquire(RECOVERING, self._holder, _LEASE)
            match entry.subject:
                case Subject.BASE if entry.base is None or entry.removed:
                    await self.catalog.remove_base(entry.key)
                case Subject.BASE if entry.base is not None:
                    if entry.emptied:
                        await self._remove_lost(entry, entries)
                    await self.catalog.save_base(replace(entry.base, closed=True))
                case Subject.DOCUMENT if entry.document is not None and not is_removed(entry, entries):
                    await self.catalog.publish(entry.document)
                    done.documents += 1
                case Subject.DOCUMENT:
                    done.removals += await self.catalog.withdraw(entry.key) is not None
                case Subject.PERSON | Subject.THREAD | Subject.TOKEN:
                    await self._end_again(entry, done)

    async def _end_again(self, entry: LedgerEntry, done: _Recovered) -> None:
        """Redo a lost deletion of memory or revocation of a token."""
        if entry.subject is Subject.TOKEN:
            done.revoked += await self._revoke(entry.key)
            return
        done.forgotten += 1
        if entry.subject is Subject.PERSON:
            await self.memory.forget_person(entry.key)
        else:
            await self.memory.forget_thread(ThreadKey.parse(entry.key))

    async def _revoke(self, token_id: str) -> bool:
        """Revoke a token again; return False if it does not exist or is already revoked."""
        kept = await self.tokens.find(token_id)
        if kept is None or kept.token.revoked_at is not None:
            return False
        await self.tokens.keep(replace(kept, token=replace(kept.token, revoked_at=self.clock.now())))
        return True

    async def _remove_lost(self, base: LedgerEntry, entries: Entries) -> None:
        """Withdraw documents that a base had before it was removed and created again."""
        for document in await self.catalog.documents(frozenset({base.key})):
            entry = entries.get((Subject.DOCUMENT, document.id))
            if entry is None or is_removed(entry, entries):
                await self.catalog.withdraw(document.id)

    async def _cancel_jobs(self) -> None:
        for job in await self.jobs.recent(MOST_JOBS):
            if not job.over:
                await self.jobs.cancel(job.id, BY)

    async def _unschedule(self, entries: Entries) -> None:
        """Remove the schedules of removed documents and bases."""
        removed = {
            (one.document.knowledge_base, one.document.source)
            for one in entries.values()
            if one.document is not None and is_removed(one, entries)
        }
        bases = {base.name for base in await self.catalog.bases()}
        for schedule in await self.schedules.schedules():
            if schedule.base not in bases or (schedule.base, schedule.link) in removed:
                await self.schedules.save_schedule(replace(schedule, every=Every.NEVER))

    def _tell(self, lost: int, done: _Recovered) -> None:
        again = [f"{count(done.documents, 'document')} restored"] if done.documents else []
        again += [f"{count(done.removals, 'document')} taken out again"] if done.removals else []
        again += [f"{count(done.forgotten, 'request')} to forget carried out again"] if done.forgotten else []
        again += [f"{count(done.revoked, 'token')} revoked again"] if done.revoked else []
        what = f": {', '.join(again)}" if again else ""
        notice = f"Redis lost its last {count(lost, 'change')}{what}."
        if done.closed:
            names = ", ".join(done.closed)
            notice += f" Only admins can read {names} until an admin confirms their readers: {CONFIRM}."
        self._notices.append(notice)
        log.warning("redis_lost_changes", extra={"changes": lost, "reason": notice})
