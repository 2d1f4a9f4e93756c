"""In-memory stores with the sync engine, which can be killed at any call."""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.connectors.http import PolicyHttp, opener
from adapters.connectors.registry import connector_plugin
from adapters.documents.parser import DocumentParser
from adapters.documents.web.fetcher import Rules
from adapters.files.secret_box import FernetBox
from bot.plugins import principal_forms
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Originals
from core.model.connections import Connection, SyncState
from core.model.conversation import Audience, Person
from core.model.errors import FootnoteError
from core.model.jobs import ItemState, JobStage
from core.ports.connector import ConnectorPlugin
from core.ports.index import Scope
from core.ports.sources import Parser
from core.retrieval.hybrid import Retriever
from core.service.kb.job_queue import JobQueue
from core.service.sync.connections import Connections
from core.service.sync.documents import SyncedDocuments
from core.service.sync.engine import SyncEngine
from core.service.sync.rights import ReaderClasses
from core.service.visibility import VisibleBases
from tests.core.service.kb.knowledge_room import ADMIN, Room
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.connection_store import InProcessConnectionStore
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.job_store import InProcessBlobStore
from tests.fakes.memory.stores import InProcessCatalog

OPERATOR = Person("terminal:operator", "operator")


class Killed(BaseException):
    """The process died here."""


@dataclass
class Killer:
    """Raises Killed at the call with this number, counted from 1. 0: never."""

    at: int = 0
    calls: int = 0

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise Killed


class Killable:
    """A proxy that may kill the process before or after each call."""

    def __init__(self, real: Any, killer: Killer) -> None:
        self._real, self._killer = real, killer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*given: Any, **named: Any) -> Any:
            self._killer.step()
            result = await found(*given, **named)
            self._killer.step()
            return result

        return call


class CountingEncoder(HashingEncoder):
    """Encoder that counts the texts, and the passages among them."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded = self.passages = 0

    async def encode_passages(self, texts: Any) -> Any:
        self.encoded += len(texts)
        self.passages += sum("\n" in text for text in texts)
        return await super().encode_passages(texts)


@dataclass
class Report:
    """The messages of a sync."""

    outcomes: list[tuple[str, ItemState, str]] = field(default_factory=list)

    def begin(self, stage: JobStage, title: str, done: int, total: int) -> None:
        pass

    def progress(self, stage: JobStage, done: int, total: int) -> None:
        pass

    async def outcome(self, item: str, title: str, state: ItemState, reason: str = "") -> None:
        self.outcomes.append((title, state, reason))


class ConnectedRoom(Room):
    """An installation whose connections call the fake site."""

    def __init__(self, site: FakeConfluence, home: Path) -> None:
        super().__init__()
        self.parser = DocumentParser()  # type: ignore[assignment]  # pages are HTML
        self.assemble()
        self.store = InProcessConnectionStore()
        self.site_of = site

        def connect(job_queue: JobQueue) -> Connections:
            documents = SyncedDocuments(self.catalog, self.ingestor, self.originals)
            return Connections(
                store=self.store,
                engine=SyncEngine(self.store, documents, ReaderClasses(self.catalog), self.clock),
                plugins=connector_plugin,
                http=opener(Rules(allow_private=frozenset({f"127.0.0.1:{site.port}"}))),
                box=FernetBox(home),
                catalog=self.catalog,
                ingestor=self.ingestor,
                jobs=self.jobs,
                job_queue=job_queue,
                audit=self.audit,
                clock=self.clock,
                forms=principal_forms(),
            )

        self.connect = connect
        self.wire()

    @property
    def sources(self) -> Connections:
        assert self.connections is not None
        return self.connections

    @property
    def values(self) -> dict[str, str]:
        return {"url": self.site_of.url, "email": EMAIL, "token": TOKEN, "spaces": ""}

    async def connects(self, **given: object) -> None:
        await self.sources.connect("wiki", "confluence", self.values, ADMIN, **given)  # type: ignore[arg-type]
        await self.scheduler.tick()
        await self.works()

    async def titles(self, *principals: str) -> list[str]:
        bases = await VisibleBases(self.catalog).names(Audience(frozenset(principals)))
        return sorted(one.title for one in await self.catalog.documents(bases))


class SyncRoom:
    """One connection, with methods to sync it and inspect the result."""

    def __init__(
        self,
        plugin: ConnectorPlugin,
        settings: Mapping[str, str],
        parser: Parser,
        port: int,
        readers: Sequence[str] = (),
    ) -> None:
        self.plugin, self.settings, self.parser = plugin, settings, parser
        self.clock, self.encoder = ManualClock(datetime.now(UTC)), CountingEncoder()
        self.store, self.catalog, self.index = InProcessConnectionStore(), InProcessCatalog(), InProcessIndex()
        self.blobs = InProcessBlobStore()
        self.connection = Connection(
            "wiki", plugin.name, {}, {}, OPERATOR, self.clock.now(), readers=frozenset(readers)
        )
        self.waited: list[float] = []
        self.http: PolicyHttp | None = None
        self.rules = Rules(allow_private=frozenset({f"127.0.0.1:{port}"}))

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def sync(self, *, kill_at: int = 0, turns: int = 50) -> Report:
        """Sync to the end of a round. Raises Killed at the call of this number, and what the engine raises."""
        killer, report = Killer(kill_at), Report()
        catalog, index = Killable(self.catalog, killer), Killable(self.index, killer)
        originals = Originals(Killable(self.blobs, killer))
        ingestor = Ingestor(
            index=index,
            encoder=self.encoder,
            catalog=catalog,
            parser=self.parser,
            clock=self.clock,
            originals=originals,
        )
        engine = SyncEngine(
            Killable(self.store, killer),
            SyncedDocuments(catalog, ingestor, originals),
            ReaderClasses(catalog),
            self.clock,
        )

        async def guard() -> None:
            killer.step()

        for _ in range(turns):
            async with self.plugin.open(self.settings, opener(self.rules, sleep=self._sleep)) as connector:
                if await engine.run(
                    self.connection, self.plugin, connector, guard=guard, report=report, until=float("inf")
                ):
                    return report
        raise AssertionError("It never ends.")

    async def sync_killed_at(self, call: int) -> bool:
        """Sync, killed at this call. Return whether it was killed."""
        try:
            await self.sync(kill_at=call)
        except Killed:
            return True
        return False

    async def fails(self) -> str:
        """Sync, and return why it failed."""
        with suppress(FootnoteError):
            await self.sync()
        return (await self.state()).failure

    async def state(self) -> SyncState:
        return await self.store.state(self.connection.name)

    async def titles(self, *principals: str) -> list[str]:
        """Return all titles that a holder of these principals can find."""
        bases = await VisibleBases(self.catalog).names(Audience(frozenset(principals)))
        return sorted(document.title for document in await self.catalog.documents(bases))

    async def texts(self, query: str, *principals: str) -> list[str]:
        """Return the passages that a search of theirs finds."""
        bases = await VisibleBases(self.catalog).names(Audience(frozenset(principals)))
        found = await Retriever(self.index, self.encoder, None, self.catalog).search(query, Scope(bases))
        return [hit.passage.text for hit in found.hits]

    async def leftovers(self) -> list[str]:
        """Return indexed versions that the catalog does not show."""
        bases = frozenset(base.name for base in await self.catalog.bases())
        shown = {document.id: frozenset({document.version}) for document in await self.catalog.documents(bases)}
        return sorted(one for one, versions in (await self.index.versions()).items() if shown.get(one) != versions)
