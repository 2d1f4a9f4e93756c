"""Sync engine for every connector: list, resolve rights, then fetch what is new or changed.

Each step is stored before the next begins, so a sync that was killed at any call resumes there. Revoked rights are
applied before anything is fetched. A round with much to fetch ends when the next one is due, so that rights are read
again in time; the next round continues with the rest.
"""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol, TypeVar

from core.ingestion.ingestor import Change, IngestResult
from core.model.clock import Clock
from core.model.connections import Connection, SyncedItem, SyncPhase, SyncState
from core.model.errors import Busy, FootnoteError, NotFound, SettingsRefused, SourceRefused, SourceUnavailable
from core.model.jobs import ItemState, JobCancelled, JobStage
from core.model.json_codec import to_json
from core.ports.connector import (
    ChangePage,
    ConnectionStore,
    Connector,
    ConnectorPlugin,
    Content,
    FetchFailure,
    SourceItem,
)
from core.service.sync.documents import Guard, SyncedDocuments, listed_item, may_retry
from core.service.sync.rights import ReaderClasses, digest_of, readers_json, resolve_rights, used_classes

MOST_DOCUMENTS = 50_000  # of one connection
RETRY = timedelta(minutes=5)  # after a failure without a time for the retry
MOST_PAGES = 100_000  # of one listing; gives up on a source that never ends
NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a connector raises when a response does not match its interface."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class SyncReport(Protocol):
    """Shows the progress of a sync. Any call may raise JobCancelled."""

    def begin(self, stage: JobStage, title: str, done: int, total: int) -> None:
        """Report the current work; ``done`` of ``total`` documents are finished, if known."""

    def progress(self, stage: JobStage, done: int, total: int) -> None:
        """Report the progress of the current document."""

    async def outcome(self, item: str, title: str, state: ItemState, reason: str = "") -> None:
        """Report a document's outcome by id. Only its readers and the operator may see its title."""


@dataclass(slots=True)
class _Round:
    """A round in progress."""

    connection: Connection
    plugin: ConnectorPlugin
    connector: Connector
    state: SyncState
    items: dict[str, SyncedItem]
    guard: Guard
    report: SyncReport
    until: float  # of the monotonic clock
    is_cut_short: bool = False  # because the next round is due

    @property
    def name(self) -> str:
        return self.connection.name


@dataclass(frozen=True, slots=True)
class SyncEngine:
    """Syncs one connection at a time; the caller holds the connection's lease. Stateless."""

    store: ConnectionStore
    documents: SyncedDocuments
    classes: ReaderClasses
    clock: Clock

    async def run(
        self,
        connection: Connection,
        plugin: ConnectorPlugin,
        connector: Connector,
        *,
        guard: Guard,
        report: SyncReport,
        until: float,
    ) -> bool:
        """Continue a round until it ends or ``until`` (on the monotonic clock); return whether it ended.

        Raises SourceUnavailable, Busy and NotFound after storing the error and the time of the next attempt. Raises
        LeaseLost, JobCancelled and StoreUnavailable unchanged.
        """
        state = (await self.store.state(connection.name)).begin(self.clock.now())
        items = dict(await self.store.items(connection.name))
        run = _Round(connection, plugin, connector, state, items, guard, report, until)
        try:
            if run.state.phase is SyncPhase.LISTING and not await self._list(run):
                return False
            if run.state.phase is SyncPhase.RIGHTS:
                await self._apply_rights(run)
            if not await self._sync_documents(run):
                return False
        except JobCancelled:
            pause = timedelta(minutes=connection.minutes)
            await guard()  # store nothing if the connection was removed or changed
            await self.store.save_state(run.name, replace(run.state, next_at=self.clock.now() + pause))
            raise
        except NOT_UNDERSTOOD as error:
            log.exception("source_not_understood", extra={"connection": connection.name})
            failure = not_understood(plugin)
            await self._keep_failure(run, failure)
            raise failure from error
        except (SourceUnavailable, Busy, NotFound) as error:
            await self._keep_failure(run, error)
            raise
        await guard()
        await self.classes.remove_unused(connection, run.state, run.items.values())
        ended = run.state.end(self.clock.now(), connection.minutes)
        ended = replace(ended, next_at=self.clock.now()) if run.is_cut_short else ended
        await self.store.save_state(run.name, ended)
        return True

    async def _keep_failure(self, run: _Round, error: FootnoteError) -> None:
        """Store why a round failed, and the time of the next attempt."""
        after = timedelta(seconds=error.after) if isinstance(error, SourceUnavailable) and error.after else RETRY
        failed = run.state.fail(self.clock.now(), str(error), after)
        if failed.phase is SyncPhase.DOCUMENTS and self._next_round_is_due(run):
            failed = replace(failed, phase=SyncPhase.IDLE)  # read rights again, even if documents cannot be fetched
        await run.guard()
        await self.store.save_state(run.name, failed)

    # --- listing

    async def _list(self, run: _Round) -> bool:
        """Read the pages of changes, and store each with its next cursor; return False if the turn ends first."""
        for _ in range(MOST_PAGES):
            run.report.begin(JobStage.FETCHING, run.name, 0, 0)
            began = self.clock.monotonic()
            page = await self._next_page(run)
            took = self.clock.monotonic() - began
            await self._keep_page(run, page, took)
            if not page.more:
                break
            if self.clock.monotonic() >= run.until:
                return False
        if run.state.whole:
            await self._find_missing(run)
        await self._save(run, replace(run.state, phase=SyncPhase.RIGHTS))
        return True

    @staticmethod
    async def _next_page(run: _Round) -> ChangePage:
        """Return the next page, or the first one if the source no longer accepts the cursor."""
        try:
            page = await run.connector.changes(run.state.cursor)
        except (SettingsRefused, NotFound):
            if not (run.state.whole and run.state.cursor):
                raise
            return await run.connector.changes("")
        require_another_page(run.state.cursor, page)
        return page

    async def _keep_page(self, run: _Round, page: ChangePage, seconds: float) -> None:
        _require_same_places(run.state, page)
        changed = [self._listed(run, item) for item in page.items]
        changed += [replace(run.items[one], gone=True) for one in page.deleted if one in run.items]
        readers = {digest_of(item.readers): readers_json(item.readers) for item in page.items}
        run.items |= {item.id: item for item in changed}
        if len(run.items) > MOST_DOCUMENTS:
            raise Busy(f"There are more than {MOST_DOCUMENTS:,} documents.", remedy="Connect fewer spaces.")
        state = replace(
            run.state,
            cursor=page.cursor,
            whole=page.whole,
            listed_seconds=run.state.listed_seconds + seconds,
            readers={**run.state.readers, **readers},
            unread=Counter(run.state.unread) + Counter(page.unread),
            places={**run.state.places, **page.places},
        )
        await self._save(run, state, {item.id: item for item in changed}.values())

    @staticmethod
    def _listed(run: _Round, found: SourceItem) -> SyncedItem:
        """Return the item as it is listed now, with its stored state."""
        before = run.items.get(found.id, SyncedItem(found.id, "", "", 0))
        changed = bool(before.listed) and listed_item(before).version != found.version
        tries = 0 if changed else before.tries
        return replace(
            before,
            listed=to_json(replace(found, readers=())),
            readers=digest_of(found.readers),
            seen=run.state.round,
            gone=False,
            tries=tries,
        )

    async def _find_missing(self, run: _Round) -> None:
        """Look up items that a complete listing did not contain, because pages move while they are listed."""
        missing = sorted(item.id for item in run.items.values() if item.seen < run.state.round and not item.gone)
        for some in _batches(missing, run.plugin.batch):
            there = await run.connector.lookup(some)
            page = ChangePage(tuple(there), tuple(set(some) - {one.id for one in there}), run.state.cursor, whole=True)
            await self._keep_page(run, page, 0.0)

    # --- rights

    async def _apply_rights(self, run: _Round) -> None:
        """Hide documents whose readers changed, then write who may read each class."""
        run.report.begin(JobStage.FETCHING, f"the readers of {run.name}", 0, 0)
        used = used_classes(run.items.values())
        rights = await resolve_rights(run.connection, run.connector, run.state.readers, used)
        bases = await self.classes.assign(run.connection, run.state, run.items.values(), rights)
        await run.guard()
        for item in [one for one in run.items.values() if one.base and not one.hidden]:
            if item.gone or bases.get(item.readers) != item.base:
                await self.documents.hide(run.connection, item)
                await self._save_item(run, replace(item, hidden=True))
        await self.classes.save(run.connection, run.plugin.title, run.state, bases, rights)
        state = replace(
            run.state,
            bases=bases,
            readers={digest: text for digest, text in run.state.readers.items() if digest in used},
            unmapped=sum(count for digest, count in used.items() if digest not in bases),
            groups=rights.unmapped,
            rights_at=run.state.started_at,
            phase=SyncPhase.DOCUMENTS,
        )
        await self._save(run, state)

    # --- documents

    async def _sync_documents(self, run: _Round) -> bool:
        """Remove, move and fetch documents as needed; return False if the turn ends first."""
        for item in [
            one for one in run.items.values() if one.gone or (one.base and one.readers not in run.state.bases)
        ]:
            await self._remove(run, item)
        due = [item for item in run.items.values() if self._is_due(run, item)]
        done = len(run.items) - len(due)
        for number, some in enumerate(_batches(due, run.plugin.batch)):
            if number and self._next_round_is_due(run):
                run.is_cut_short = True
                return True
            if number and self.clock.monotonic() >= run.until:
                return False
            await self._fetch(run, [item for item in some if not await self._move(run, item, done)], done)
            done += len(some)
        return True

    def _is_due(self, run: _Round, item: SyncedItem) -> bool:
        base = run.state.bases.get(item.readers)
        if base is None or item.gone:
            return False
        current = item.version == listed_item(item).version and item.base == base and not item.hidden
        return not current and may_retry(item, self.clock.now())

    def _next_round_is_due(self, run: _Round) -> bool:
        ended = run.state.end(self.clock.now(), run.connection.minutes)
        pause = (ended.next_at or self.clock.now()) - self.clock.now()
        return self.clock.now() - (run.state.started_at or self.clock.now()) >= pause

    async def _remove(self, run: _Round, item: SyncedItem) -> None:
        """Remove a document that no longer exists, or that nobody may read any more."""
        await run.guard()
        await self.documents.remove(run.connection, item)
        if item.base:
            await run.report.outcome(item.id, listed_item(item).title, ItemState.REMOVED)
        if item.gone:
            del run.items[item.id]
            await self.store.remove_items(run.name, [item.id])
        else:
            await self._save_item(run, replace(item, base="", version="", indexed="", hidden=False))

    async def _move(self, run: _Round, item: SyncedItem, done: int) -> bool:
        """Move an item that was already read in this version; return False if it has to be fetched."""
        if item.version != listed_item(item).version:
            return False
        run.report.begin(JobStage.FETCHING, listed_item(item).title, done, len(run.items))
        base = run.state.bases[item.readers]
        result = await self.documents.move(run.connection, item, base, run.guard, run.report.progress)
        if result is None:
            return False
        await self._settle(run, item, result)
        return True

    async def _fetch(self, run: _Round, items: Sequence[SyncedItem], done: int) -> None:
        """Fetch and ingest these items; store each outcome before the next one."""
        left = {item.id: item for item in items}
        if not left:
            return
        run.report.begin(JobStage.FETCHING, listed_item(items[0]).title, done, len(run.items))
        async for found in run.connector.fetch([listed_item(item) for item in items]):
            item = left.pop(found.id, None)
            if item is None:  # a duplicate, or not requested
                continue
            run.report.begin(JobStage.FETCHING, listed_item(item).title, done, len(run.items))
            if isinstance(found, FetchFailure):
                await self._settle(run, item, IngestResult("", Change.FAILED, reason=found.reason))
                continue
            await self._settle(run, item, await self._ingest(run, item, found))
        for item in left.values():
            await self._remove(run, replace(item, gone=True))

    async def _ingest(self, run: _Round, item: SyncedItem, content: Content) -> IngestResult:
        base = run.state.bases[item.readers]
        return await self.documents.bring_in(run.connection, item, content, base, run.guard, run.report.progress)

    async def _settle(self, run: _Round, item: SyncedItem, result: IngestResult) -> None:
        """Store an item's outcome."""
        listed, base = listed_item(item), run.state.bases[item.readers]
        if result.change is Change.FAILED:
            since = item.failed_since or self.clock.now()
            after = replace(item, reason=result.reason, failed_since=since, tries=item.tries + 1)
        else:
            indexed = await self.documents.indexed_version(run.connection, item, base)
            read = replace(item, version=listed.version, base=base, indexed=indexed, hidden=False)
            after = replace(read, reason=result.reason, failed_since=None, tries=0)
        await self._save_item(run, after)
        await run.report.outcome(item.id, listed.title, ItemState(result.change), result.reason)

    # --- keeping

    async def _save(self, run: _Round, state: SyncState, items: Collection[SyncedItem] = ()) -> None:
        await run.guard()
        run.state = state
        await self.store.save_state(run.name, state, list(items))

    async def _save_item(self, run: _Round, item: SyncedItem) -> None:
        run.items[item.id] = item
        await self.store.save_items(run.name, [item])


def not_understood(plugin: ConnectorPlugin) -> SourceUnavailable:
    """Return the error for a response that does not match the connector's interface."""
    return SourceUnavailable(
        f"{plugin.title} sent a reply that I do not understand.", remedy="The log has the details."
    )


def require_another_page(cursor: str, page: ChangePage) -> None:
    """Raise SourceUnavailable if a listing returns the same cursor again."""
    if page.more and page.cursor == cursor:
        raise SourceUnavailable("The source listed the same page twice.")


def _require_same_places(state: SyncState, page: ChangePage) -> None:
    """Raise SourceRefused if another place now has the name of a connected one."""
    for name, identity in page.places.items():
        if state.places.get(name, identity) != identity:
            raise SourceRefused(
                f"{name} is not what was connected: it was deleted or renamed, and someone created another one with"
                " that name.",
                remedy="If you trust the new one, connect it again.",
            )


def _batches(found: Sequence[T], size: int) -> list[Sequence[T]]:
    return [found[start : start + size] for start in range(0, len(found), size)]
