"""Connections: connect, list, map and remove sources, and enqueue syncs that are due. ``engine`` runs the sync.

Secrets of a source never pass through a chat: ``/kb connect`` gives an admin a link to the web page.
"""

import asyncio
import hashlib
import logging
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from core.ingestion.ingestor import Ingestor
from core.model.clock import Clock
from core.model.connections import Connection, SyncedItem, SyncState
from core.model.conversation import Person
from core.model.errors import Busy, ConfigurationError, FootnoteError, NotFound, SourceUnavailable
from core.model.jobs import Job, JobCancelled, JobKind
from core.model.knowledge import find_base
from core.model.principals import EVERYONE, PRINCIPAL_FORMS, PrincipalForm
from core.ports.access import CODE_SECONDS, Audit, SignInMethod, WebSession, WebSessions
from core.ports.catalog import Catalog
from core.ports.connector import (
    ConnectionStore,
    Connector,
    ConnectorPlugin,
    OpenHttp,
    SecretBox,
    SourceCheck,
    SourceItem,
)
from core.ports.job_store import JobStore
from core.service.kb.bases import base_name
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.job_queue import JobQueue
from core.service.kb.results import ConnectLink
from core.service.kb.text_spans import count
from core.service.sync.documents import Guard
from core.service.sync.engine import (
    MOST_DOCUMENTS,
    NOT_UNDERSTOOD,
    RETRY,
    SyncEngine,
    SyncReport,
    not_understood,
    require_another_page,
)
from core.service.sync.rights import digest_of, readers_json, resolve_rights

log = logging.getLogger(__name__)
MOST_TITLES = 10  # of a plan
_LOST = timedelta(minutes=15)  # after this time, an unfinished job counts as lost
SECONDS_A_DOCUMENT = 0.5  # on two cores, for pages of ordinary length
CHECK_SECONDS = 180.0  # for a whole check
_ADDRESS = re.compile(r"://([^\s,]+)")


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync would do. ``titles`` are some new or changed documents.

    ``unreadable`` documents have no reader known here; ``groups`` are those without a principal.
    """

    documents: int
    new: int
    changed: int
    gone: int
    classes: int
    unreadable: int
    groups: tuple[str, ...]
    titles: tuple[str, ...]


async def plan_sync(connection: Connection, connector: Connector, store: ConnectionStore) -> SyncPlan:
    """List all documents from the beginning and resolve their readers. Raises SourceUnavailable, Busy."""
    found: dict[str, SourceItem] = {}
    cursor, more, whole = "", True, False
    while more:
        page = await connector.changes(cursor)
        require_another_page(cursor, page)
        found |= {item.id: item for item in page.items}
        cursor, more, whole = page.cursor, page.more, page.whole
        if len(found) > MOST_DOCUMENTS:
            raise Busy(f"There are more than {MOST_DOCUMENTS:,} documents.", remedy="Connect only a part of it.")
    known = await store.items(connection.name)
    versions = {key: item.version for key, item in known.items() if item.version}
    classes = {digest_of(item.readers): readers_json(item.readers) for item in found.values()}
    used = Counter(digest_of(item.readers) for item in found.values())
    rights = await resolve_rights(connection, connector, classes, used)
    readable = {digest for digest, grants in rights.grants.items() if grants}
    fresh = [item for item in found.values() if versions.get(item.id) != item.version]
    return SyncPlan(
        documents=len(found),
        new=sum(item.id not in versions for item in fresh),
        changed=sum(item.id in versions for item in fresh),
        gone=len(set(known) - set(found)) if whole else 0,
        classes=len(readable),
        unreadable=sum(count for digest, count in used.items() if digest not in readable),
        groups=tuple(sorted(rights.unmapped)),
        titles=tuple(item.title for item in fresh[:MOST_TITLES]),
    )


def check_lines(plugin: ConnectorPlugin, check: SourceCheck) -> list[str]:
    """Return what the token sees, how long its first sync takes, and what the token cannot do."""
    seen = "an unknown number of documents" if check.documents is None else count(check.documents, "document")
    token = f"The token belongs to {check.account} and sees {seen}, for example “{check.example}”."
    lines = [f"{plugin.title} answers. {token}"]
    if check.documents:
        spent = max(1, round(check.documents * SECONDS_A_DOCUMENT / 60))
        rough = f"The first sync takes roughly {count(spent, 'minute')}"
        lines.append(f"{rough}; you can ask about what is already read.")
    return [*lines, *(f"Note: {warning}" for warning in check.warnings)]


@dataclass(frozen=True, slots=True)
class ConnectionOverview:
    """A connection, its progress, its documents that could not be read, and its number of documents."""

    connection: Connection
    state: SyncState
    failing: tuple[SyncedItem, ...] = ()
    documents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """The sources of this installation. ``plugins`` finds a connector by its name.

    ``forms`` are the notations of readers. Raises StoreUnavailable.
    """

    store: ConnectionStore
    engine: SyncEngine
    plugins: Callable[[str], ConnectorPlugin]
    http: OpenHttp
    box: SecretBox
    catalog: Catalog
    ingestor: Ingestor
    jobs: JobStore
    job_queue: JobQueue
    audit: Audit
    clock: Clock
    forms: tuple[PrincipalForm, ...] = PRINCIPAL_FORMS

    # --- connecting

    async def check(self, kind: str, values: Mapping[str, str]) -> SourceCheck:
        """Test these settings, including secrets. Raises ConfigurationError, SourceRefused, SourceUnavailable."""
        plugin = self.plugins(kind)
        if missing := [one.label for one in plugin.fields if one.required and not values.get(one.name, "").strip()]:
            raise ConfigurationError(f"{plugin.title} needs: {', '.join(missing)}.")
        try:
            async with asyncio.timeout(CHECK_SECONDS), plugin.open(values, self.http) as connector:
                return await connector.check()
        except TimeoutError as error:
            raise SourceUnavailable(
                f"The check of {plugin.title} took longer than {CHECK_SECONDS:g} seconds.",
                remedy="Connect only a part of it.",
            ) from error
        except NOT_UNDERSTOOD as error:
            log.exception("source_not_understood", extra={"connection": kind})
            raise not_understood(plugin) from error

    async def connect(
        self,
        name: str,
        kind: str,
        values: Mapping[str, str],
        by: Person,
        *,
        readers: Collection[str] = (),
        minutes: int = 15,
        hours: int = 24,
    ) -> Connection:
        """Save a connection with encrypted secrets, or update the one of the same name and kind.

        Another site has other documents with the same ids, so documents of the previous site are removed. ``readers``
        are for sources that state none. Raises NotFound if the name is taken.
        """
        made = await self._draft(name, kind, values, by, readers, minutes, hours)
        before = await self._find(made.name)
        if before is None:  # delete leftovers of an earlier connection of this name
            await self.store.remove_connection(made.name)
        elif _sites(before) != _sites(made):
            await self._take_out(before)
        await self.store.save_connection(made)
        state = await self.store.state(made.name)
        await self.store.save_state(made.name, replace(state, places={}, next_at=self.clock.now()))
        await self._record(by, "connect", made.name, " ".join((kind, *sorted(made.readers))))
        return made

    async def preview(
        self, name: str, kind: str, values: Mapping[str, str], by: Person, *, readers: Collection[str] = ()
    ) -> SyncPlan:
        """Return what the first sync of such a connection would do; save nothing. Raises as ``connect`` does."""
        draft = await self._draft(name, kind, values, by, readers, 15, 24)
        async with self.plugins(kind).open(values, self.http) as connector:
            return await plan_sync(draft, connector, self.store)

    async def plan(self, name: str) -> SyncPlan:
        """Return what a sync of this connection would do; save nothing."""
        connection = await self.find(name)
        async with self.open(connection) as connector:
            return await plan_sync(connection, connector, self.store)

    async def _draft(
        self,
        name: str,
        kind: str,
        values: Mapping[str, str],
        by: Person,
        readers: Collection[str],
        minutes: int,
        hours: int,
    ) -> Connection:
        plugin, name = self.plugins(kind), base_name(name)
        before = await self._find(name)
        if before is not None and before.kind != kind:
            raise NotFound(f"“{name}” is a connection to {before.kind}.", remedy="Choose another name.")
        if before is None and find_base(await self.catalog.bases(), name) is not None:
            raise NotFound(f"There is already a knowledge base called “{name}”.", remedy="Choose another name.")
        if not plugin.states_readers and not readers:
            raise ConfigurationError(
                f"{plugin.title} does not say who may read.", remedy="Set the readers with --readers."
            )
        self._require_principals(readers)
        secret = {one.name for one in plugin.fields if one.secret}
        return Connection(
            name=name,
            kind=kind,
            settings={key: value for key, value in values.items() if key not in secret},
            secrets={key: self.box.seal(value) for key, value in values.items() if key in secret and value},
            by=by,
            created_at=before.created_at if before else self.clock.now(),
            minutes=minutes,
            hours=hours,
            mapping=before.mapping if before else {},
            readers=frozenset(readers),
        )

    async def find(self, name: str) -> Connection:
        """Return the connection of this name. Raises NotFound."""
        found = await self._find(name)
        if found is None:
            there = ", ".join(one.name for one in await self.store.connections()) or "none"
            raise NotFound(f"There is no connection called “{name[:60]}”. Available: {there}.")
        return found

    async def _find(self, name: str) -> Connection | None:
        wanted = name.strip().casefold()
        return next((one for one in await self.store.connections() if one.name.casefold() == wanted), None)

    async def overview(self) -> Sequence[ConnectionOverview]:
        """Return all connections, with the documents that could not be read."""
        found = []
        for connection in await self.store.connections():
            items = (await self.store.items(connection.name)).values()
            failing = tuple(sorted((one for one in items if one.failed_since), key=lambda one: one.id))
            documents = sum(bool(one.base) for one in items)
            found.append(ConnectionOverview(connection, await self.store.state(connection.name), failing, documents))
        return found

    async def map_group(self, name: str, group: str, principals: Collection[str], by: Person) -> Connection:
        """Map a group or person of the source to principals; without principals, to nobody.

        It takes effect at the next sync, which is due at once.
        """
        connection = await self.find(name)
        self._require_principals(principals)
        mapping = {key: value for key, value in connection.mapping.items() if key != group}
        if principals:
            mapping[group] = frozenset(principals)
        mapped = replace(connection, mapping=mapping)
        await self.store.save_connection(mapped)
        state = await self.store.state(mapped.name)
        await self.store.save_state(mapped.name, replace(state, next_at=self.clock.now()))
        await self._record(by, "map", f"{mapped.name} {group}", " ".join(sorted(principals)) or "nobody")
        return mapped

    async def disconnect(self, name: str, by: Person) -> int:
        """Delete a connection, its secrets and all its documents; return the number of documents."""
        connection = await self.find(name)
        documents = await self._take_out(connection)
        await self._record(by, "disconnect", connection.name, f"{documents} documents")
        return documents

    async def _take_out(self, connection: Connection) -> int:
        """Delete all data of a connection with its documents; return the number of documents."""
        own = [base for base in await self.catalog.bases() if base.connection == connection.name]
        documents = await self.catalog.documents(frozenset(base.name for base in own))
        await self.store.save_connection(replace(connection, secrets={}))  # first, because this ends a sync in progress
        if (job := await self._under_way(connection)) is not None:
            await self.jobs.cancel(job.id, connection.by.id)
        for base in own:
            await self.catalog.remove_base(base.name)
        for document in documents:
            await self.ingestor.remove(document.id)
        await self.store.remove_connection(connection.name)
        return len(documents)

    async def _record(self, by: Person, action: str, target: str, detail: str) -> None:
        await self.audit.record(by.id, action, target, allowed=True, detail=detail)

    def _require_principals(self, given: Collection[str]) -> None:
        """Raise NotFound for an invalid principal."""
        for one in given:
            if one != EVERYONE and not any(form.accepts(one) for form in self.forms):
                raise NotFound(
                    f"{one[:60]} is not a reader that I know.",
                    remedy=f"It looks like {', '.join(map(str, self.forms))} or {EVERYONE}.",
                )

    # --- syncing

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[Connector]:
        """Yield the connector of a connection. Raises ConfigurationError if its secrets cannot be decrypted."""
        secrets = {key: self.box.unseal(value) for key, value in connection.secrets.items()}
        async with self.plugins(connection.kind).open({**connection.settings, **secrets}, self.http) as connector:
            yield connector

    async def sync(self, name: str, *, guard: Guard, report: SyncReport, until: float) -> bool:
        """Continue the sync of a connection; return whether the round ended. Raises what ``SyncEngine.run`` raises."""
        connection = await self.find(name)
        plugin = self.plugins(connection.kind)

        async def still_connected() -> None:
            await guard()
            now = await self._find(name)
            if now is None or _sites(now) != _sites(connection) or (connection.secrets and not now.secrets):
                raise JobCancelled("It was disconnected in the meantime.")

        try:
            async with self.open(connection) as connector:
                return await self.engine.run(
                    connection, plugin, connector, guard=still_connected, report=report, until=until
                )
        except ConfigurationError as error:  # shown in the list of connections until somebody fixes it
            state = await self.store.state(connection.name)
            await guard()
            await self.store.save_state(connection.name, state.fail(self.clock.now(), str(error), RETRY))
            raise

    async def begin_sync(self, connection: Connection, caller: Caller) -> Job:
        """Enqueue a sync for a person; if one is already queued, return that job. Raises Busy."""
        waiting = await self._under_way(connection)
        if waiting is not None:
            return waiting
        job = self.job_queue.create_job(JobKind.SYNC, connection.name, caller, self.plugins(connection.kind).title)
        return await self.job_queue.accept(replace(job, reference=connection.name))

    async def enqueue_due(self) -> None:
        """Enqueue each due sync once, even if several processes do this."""
        for connection in await self.store.connections():
            try:
                await self._enqueue(connection)
            except FootnoteError as error:  # the other connections are still synced
                log.warning("sync_not_enqueued", extra={"connection": connection.name, "reason": str(error)})

    async def _enqueue(self, connection: Connection) -> None:
        state, now = await self.store.state(connection.name), self.clock.now()
        if (state.next_at is not None and state.next_at > now) or await self._under_way(connection) is not None:
            return
        due = state.next_at or connection.created_at
        # If a job is lost during a round, another one replaces it after a while.
        marks = f"{connection.name}\x1f{state.round}\x1f{state.phase}\x1f{due.isoformat()}\x1f{(now - due) // _LOST}"
        job = Job(
            id=hashlib.sha256(marks.encode()).hexdigest()[:12],
            kind=JobKind.SYNC,
            base=connection.name,
            by=connection.by,
            created_at=now,
            subject=self.plugins(connection.kind).title,
            reference=connection.name,
        )
        with suppress(Busy):
            await self.job_queue.accept(job)

    async def _under_way(self, connection: Connection) -> Job | None:
        of_it = (job for job in await self.jobs.recent() if job.kind is JobKind.SYNC and not job.over)
        return next((job for job in of_it if job.reference == connection.name and not job.cancelled_by), None)


def _sites(connection: Connection) -> frozenset[str]:
    """Return the site addresses in the settings, which identify the site."""
    found = (address for value in connection.settings.values() for address in _ADDRESS.findall(value.casefold()))
    return frozenset(address.rstrip("/") for address in found)


@dataclass(frozen=True, slots=True)
class ConnectLinks:
    """Links to the web page at ``address``; without an address, admins cannot reach a page."""

    sessions: WebSessions | None
    address: str

    async def issue(self, command: KbCommand, caller: Caller) -> ConnectLink:
        """Return a one-time link that signs the caller in to the connections only.

        Raises NotFound if there is no page, or if others would read the link; StoreUnavailable.
        """
        if self.sessions is None or not self.address:
            raise NotFound(
                "The web page has no public address.",
                remedy="Set WEB_ADDRESS and a way to sign in, or run footnote connect in a terminal.",
            )
        if not caller.private:
            raise NotFound("Others could read the link here.", remedy="Ask me in a direct message.")
        csrf = secrets.token_urlsafe(18)
        session = WebSession(caller.person, SignInMethod.CHAT, is_admin=True, csrf=csrf, thread=caller.thread)
        code = await self.sessions.issue_code(session)
        return ConnectLink(f"{self.address.rstrip('/')}/sign-in/{code}", CODE_SECONDS // 60)
