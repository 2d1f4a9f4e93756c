"""The index in Milvus: embedded (Milvus Lite) or a server, through the same calls.

One collection holds the passages of all knowledge bases. Each row has a vector for the dense leg and a sparse field for
BM25, which Milvus computes from the text with an analyzer that stems English. The catalog decides which version of a
document is visible; the index may hold several versions.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import unquote

from adapters.milvus.collection import (
    INDEXED,
    CollectionRecord,
    CollectionStatus,
    check_server,
    create_collection,
    create_indexes,
    read_status,
)
from adapters.milvus.connection import MilvusConnection
from adapters.milvus.dense_search import INDEXED_FROM, DenseSearch
from adapters.milvus.rows import (
    BASE_HASH,
    FIELDS,
    HIT_FIELDS,
    both,
    by_base_hash,
    equal,
    in_scope,
    key,
    one_of,
    read_sentences,
    sees_nothing,
    to_passage,
    to_row,
    within,
)
from core.model.errors import StoreUnavailable
from core.model.knowledge import Passage
from core.model.text import without_stopwords
from core.ports.index import DenseAndBm25Hits, PassageVectors, Scope, cosines_of_nearest

if TYPE_CHECKING:
    from core.ports.index import Vectors

T = TypeVar("T")

_BATCH = 500  # rows of a write: about 3 MB, at most 50 MB; a server's limit is 64
_PAGE = 1_000  # rows of a read
_LOOKUP = 200  # ids of one query
_QUERY_BYTES = 8_000  # of a lexical query; a longer one only takes more time

_SEARCH_SECONDS = 10.0
_READ_SECONDS = 30.0
_WRITE_SECONDS = 60.0
_LOAD_SECONDS = 600.0  # 1,000,000 passages took two minutes to open
_LISTING_SECONDS = 600.0
_COUNT_AGAIN = 60.0  # seconds; another process may add rows too
_PATIENCE_WHILE_OPENING = 5.0  # seconds that a call waits for an index that opens


class IndexState(StrEnum):
    """State of an index between closed and ready."""

    CLOSED = "closed"
    CONNECTING = "connecting"
    LOADING = "loading"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Leg:
    """The passages that one leg found with their scores, and the cosines of their nearest sentences by passage id."""

    scored: tuple[tuple[Passage, float], ...] = ()
    nearest: Mapping[str, float] = field(default_factory=dict)


class MilvusIndex:
    """``Index`` on Milvus. Call ``open`` first; calls during opening wait a few seconds, then raise StoreUnavailable.

    Args:
        uri: a path (embedded), ``http(s)://…`` or ``unix:/…`` (a server).
        model: the encoder's name; the collection stores it and refuses another one.
        dimension: the length of the encoder's vectors.
        token: ``user:password`` or an API key, for a server.
        collection: the collection's name.
        patience: seconds that a call waits while the index opens.
        on_demand: open at the first call that needs the index.
    """

    _indexed: tuple[str, ...] = INDEXED

    def __init__(
        self,
        uri: str,
        *,
        model: str,
        dimension: int,
        token: str = "",
        collection: str = "passages",
        patience: float = _PATIENCE_WHILE_OPENING,
        on_demand: bool = False,
    ) -> None:
        self._patience = patience
        self._on_demand = on_demand
        self._connection = MilvusConnection(uri, token, collection=collection)
        self._model = model
        self._dimension = dimension
        self._collection = collection
        self._opened = asyncio.Event()
        self._hashed = True
        self._record = CollectionRecord(model, dimension)
        self._rows, self._counted = 0, 0.0
        self.state = IndexState.CLOSED

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def ready(self) -> bool:
        """Whether the index is open. Opening takes about 5 s for 100,000 passages, two minutes for 1,000,000."""
        return self.state is IndexState.READY

    @property
    def identity(self) -> str:
        """Unique id given to a collection at its creation; empty for collections of the first version."""
        return self._record.identity

    @property
    def is_server_owner(self) -> bool:
        """Whether this process runs the embedded server that other processes share."""
        return self._connection.is_server_owner

    async def open(self) -> None:
        """Connect, create the collection if it is missing, and load it.

        Raises IndexMismatch if it was written with another model, StoreUnavailable if Milvus does not answer.
        """
        self.state = IndexState.CONNECTING
        try:
            await self._connection.open()
            await self._connection.call(self._ensure_collection, _READ_SECONDS)
            self.state = IndexState.LOADING
            await self._connection.call(self._load, _LOAD_SECONDS)
        except BaseException as error:
            self.state = IndexState.CLOSED
            await self._connection.disconnect()
            if isinstance(error, StoreUnavailable):
                await self._connection.check_file()
            raise
        self.state = IndexState.READY
        self._opened.set()

    async def watch(self, every: float = 2.0) -> None:
        """While the index is open, restart our embedded server if it has died. ``every`` is in seconds."""
        while True:
            await asyncio.sleep(every)
            if self.ready:
                await self._connection.revive()

    async def close(self) -> None:
        """Disconnect and stop the embedded server if it is ours."""
        self.state, self._on_demand = IndexState.CLOSED, False
        self._opened.clear()
        await self._connection.close()

    async def status(self) -> CollectionStatus | None:
        """Return the collection's status on a server; None for Milvus Lite. Raises StoreUnavailable."""
        if self._connection.is_lite:
            return None
        return await self._call(lambda client: read_status(client, self._collection, _READ_SECONDS), _READ_SECONDS)

    # --- reading

    async def search(self, text: str, vector: "Vectors", scope: Scope, limit: int) -> DenseAndBm25Hits:
        """Search both legs concurrently, at most ``limit`` hits each. A text without words has no lexical leg.

        Stop words are removed from the query. Milvus's analyzer has only 33, and in documents without questions, words
        like "how", "what" and "does" are as rare as names (nDCG@10 of the lexical leg .596 with them, .656 without, on
        code).

        Two searches are used instead of ``hybrid_search``, which returns only a fused score and took 7.6 ms; the two
        together took 6.5 ms (30,000 passages, 50 of each leg).
        """
        if sees_nothing(scope) or limit < 1:
            return DenseAndBm25Hits()
        lexical = without_stopwords(text).encode(errors="replace")[:_QUERY_BYTES].decode(errors="ignore")
        search = DenseSearch(
            self._collection, self._within(scope), limit, HIT_FIELDS if self._hashed else FIELDS, _SEARCH_SECONDS
        )
        if not any(character.isalnum() for character in lexical):
            found = await self._dense_leg(search, vector, scope)
            return DenseAndBm25Hits(found.scored, (), found.nearest)
        try:
            async with asyncio.TaskGroup() as legs:
                # The quicker one first: Milvus Lite searches one field at a time, and during the second search the
                # first one's passages are built.
                bm25 = legs.create_task(self._lexical_leg(search, lexical, vector, scope))
                dense = legs.create_task(self._dense_leg(search, vector, scope))
        except* StoreUnavailable as failed:
            failure = failed.exceptions[0]
        else:
            near, worded = dense.result(), bm25.result()
            return DenseAndBm25Hits(near.scored, worded.scored, {**near.nearest, **worded.nearest})
        raise failure

    async def _dense_leg(self, search: DenseSearch, vector: "Vectors", scope: Scope) -> Leg:
        find = search.nearest if await self._looks_into_lists() else search.near
        return await self._call(
            lambda client: _leg_of(find(client, "vector", vector), vector, scope), 2 * _SEARCH_SECONDS
        )

    async def _lexical_leg(self, search: DenseSearch, text: str, vector: "Vectors", scope: Scope) -> Leg:
        """Search by BM25. An empty collection has no hits: Milvus Lite divides by its number of rows and fails."""
        try:
            return await self._call(
                lambda client: _leg_of(search.near(client, "sparse", text), vector, scope), _SEARCH_SECONDS
            )
        except StoreUnavailable:
            if await self._count(""):
                raise
            return Leg()

    async def _looks_into_lists(self) -> bool:
        """Return whether this is Milvus Lite with so many rows that a dense search covers only some of them."""
        if not self._connection.is_lite or self._rows >= INDEXED_FROM:
            return self._connection.is_lite
        if monotonic() - self._counted > _COUNT_AGAIN:
            self._counted = monotonic()
            self._rows = await self._count("")
        return self._rows >= INDEXED_FROM

    def _within(self, scope: Scope) -> str:
        """Return the scope as a filter; with base hashes, check the hits' bases (``_leg_of``, ``in_scope``)."""
        return by_base_hash(scope) if self._hashed else within(scope)

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Return the stored vectors of those passages that exist."""
        import numpy as np

        found: dict[str, PassageVectors] = {}
        by_key = {key(passage_id): passage_id for passage_id in passage_ids}
        for batch in _batches(list(by_key), _LOOKUP):
            condition = one_of("id", (by_key[name] for name in batch))
            try:
                rows = await self._query(condition, ["id", "vector", "about"], len(batch))
            except StoreUnavailable:
                if await self._count(""):
                    raise
                return {}  # Milvus Lite raises an error for vectors of an empty collection
            for row in rows:
                whole = np.asarray(row["vector"], dtype=np.float32)
                found[by_key[row["id"]]] = PassageVectors(whole, read_sentences(row["about"]))
        return found

    async def passages(self, document: str, version: str, scope: Scope) -> Sequence[Passage]:
        """Return all passages of one version of a document, in reading order."""
        if sees_nothing(scope):
            return []
        condition = both(self._within(scope), equal("document", document), equal("version", version))
        found = await self._every(condition, list(FIELDS), lambda rows: in_scope(map(to_passage, rows), scope))
        return sorted(found, key=lambda passage: passage.ordinal)

    async def count(self, scope: Scope | None = None) -> int:
        """Return the number of passages in the scope, or in the whole index without one."""
        if scope is not None and sees_nothing(scope):
            return 0
        return await self._count("" if scope is None else within(scope))

    async def passage_counts(self, versions: Mapping[str, str]) -> Mapping[str, int]:
        """Return the number of passages of exactly these versions of documents."""
        found: Counter[str] = Counter()
        for some in _batches(sorted(versions), _LOOKUP):
            present = await self._every(
                one_of("document", some),
                ["document", "version"],
                lambda rows: Counter((unquote(row["document"]), unquote(row["version"])) for row in rows),
            )
            found.update({document: present[document, versions[document]] for document in some})
        return found

    async def versions(self) -> Mapping[str, frozenset[str]]:
        """Return every document id in the index with its versions."""
        present = await self._every(
            "", ["document", "version"], lambda rows: {(row["document"], row["version"]) for row in rows}
        )
        found: defaultdict[str, set[str]] = defaultdict(set)
        for document, version in present:
            found[unquote(document)].add(unquote(version))
        return {document: frozenset(versions) for document, versions in found.items()}

    # --- writing

    async def add(self, passages: Sequence[Passage], vectors: Sequence[PassageVectors]) -> None:
        """Insert or replace by id, in batches. This process sees them on return, others after ``confirm``."""
        rows = {row["id"]: row for row in (to_row(p, v) for p, v in zip(passages, vectors, strict=True))}
        if not self._hashed:
            rows = {name: {k: v for k, v in row.items() if k != BASE_HASH} for name, row in rows.items()}
        self._rows += len(rows)
        for batch in _batches(list(rows.values()), _BATCH):
            await self._write(batch)

    async def confirm(self, document: str, version: str) -> int:
        """Return a version's number of passages once every reader sees them; on a server, wait for a time tick."""
        condition = both(equal("document", document), equal("version", version))
        return await self._count(condition, consistency_level="Strong")

    async def remove(self, document: str, *, keep_version: str | None = None) -> int:
        """Delete a document's passages, or all but one version's; return how many there were."""
        other = "" if keep_version is None else f'version != "{key(keep_version)}"'
        removed = await self._delete(both(equal("document", document), other))
        if removed:
            await self._catch_up()
        return removed

    async def sweep(self, stale: Mapping[str, Collection[str]]) -> int:
        """Delete exactly these versions of these documents; return the number of passages deleted."""
        named = [(document, versions) for document, versions in stale.items() if versions]
        # One document at a time: Milvus Lite refuses a chain of about fifty pairs.
        swept = sum([await self._delete(both(equal("document", d), one_of("version", v))) for d, v in named])
        if swept:
            await self._catch_up()
        return swept

    async def _delete(self, condition: str) -> int:
        there = await self._count(condition)
        if there:
            await self._change(lambda client: client.delete(self._collection, filter=condition, timeout=_WRITE_SECONDS))
        return there

    async def _catch_up(self) -> None:
        """Wait for the server's next time tick; until then, it still returns deleted rows."""
        if not self._connection.is_lite:
            await self._count("", consistency_level="Strong")

    # --- one call each

    async def _query(self, condition: str, fields: list[str], limit: int) -> list[dict[str, Any]]:
        def query(client: Any) -> list[dict[str, Any]]:
            return list(
                client.query(
                    self._collection, filter=condition, output_fields=fields, limit=limit, timeout=_READ_SECONDS
                )
            )

        return await self._call(query, _READ_SECONDS)

    async def _every(self, condition: str, fields: list[str], made_of: Callable[[Iterable[Any]], T]) -> T:
        """Apply ``made_of`` to a stream of all rows, because a million rows do not fit in a list of dicts."""

        def read(client: Any) -> T:
            pages = client.query_iterator(
                self._collection, batch_size=_PAGE, filter=condition, output_fields=fields, timeout=_READ_SECONDS
            )
            try:
                return made_of(_rows(pages))
            finally:
                pages.close()

        return await self._call(read, _LISTING_SECONDS)

    async def _count(self, condition: str, **more: str) -> int:
        rows = await self._call(
            lambda client: client.query(
                self._collection, filter=condition, output_fields=["count(*)"], timeout=_READ_SECONDS, **more
            ),
            _READ_SECONDS,
        )
        return int(rows[0]["count(*)"])

    async def _write(self, rows: list[dict[str, Any]]) -> None:
        """Write rows durably: Milvus Lite also acknowledges rows that a full disk lost. Raises StoreUnavailable."""
        await self._connection.check_room()
        await self._change(lambda client: client.upsert(self._collection, rows, timeout=_WRITE_SECONDS))
        await self._connection.check_stored([row["id"] for row in rows])

    async def _change(self, do: Callable[[Any], object]) -> None:
        try:
            await self._call(do, _WRITE_SECONDS)
        except StoreUnavailable:
            await self._connection.check_room()  # on a full disk, Milvus Lite only reports that it does not answer
            raise

    async def _call(self, do: Callable[[Any], T], seconds: float) -> T:
        if not self.ready:
            await self._wait_for_opening()
        return await self._connection.call(do, seconds)

    async def _wait_for_opening(self) -> None:
        if self.state is IndexState.CLOSED and self._on_demand:
            await self.open()
            return
        if self.state is IndexState.CLOSED:
            raise StoreUnavailable("The index is closed.")
        try:
            async with asyncio.timeout(self._patience):
                await self._opened.wait()
        except TimeoutError as error:
            raise StoreUnavailable("The index is still warming up.", remedy="Try again in a minute.") from error

    # --- opening; these methods run in a thread

    def _ensure_collection(self, client: Any) -> None:
        from pymilvus.exceptions import MilvusException

        if not client.has_collection(self._collection, timeout=_READ_SECONDS):
            if not self._connection.is_lite:
                check_server(client, self._connection.uri, _READ_SECONDS)
            try:
                self._create(client)
            except MilvusException:
                if not client.has_collection(self._collection, timeout=_READ_SECONDS):
                    raise  # otherwise another process has just created it
        described = client.describe_collection(self._collection, timeout=_READ_SECONDS)
        self._record = CollectionRecord.of(described.get("description") or "")
        self._record.check(self._model, self._dimension)
        self._hashed = any(field["name"] == BASE_HASH for field in described["fields"])
        if len(client.list_indexes(self._collection, timeout=_READ_SECONDS)) < len(self._indexed):
            create_indexes(client, self._collection, self._indexed, _WRITE_SECONDS)  # an earlier start was interrupted

    def _create(self, client: Any) -> None:
        record = CollectionRecord.new(self._model, self._dimension)
        create_collection(client, self._collection, record, embedded=self._connection.is_lite, seconds=_WRITE_SECONDS)

    def _load(self, client: Any) -> None:
        client.load_collection(self._collection, timeout=_LOAD_SECONDS)
        # Milvus Lite loads a collection at its first use.
        counted = client.query(self._collection, filter="", output_fields=["count(*)"], timeout=_LOAD_SECONDS)
        self._rows, self._counted = int(counted[0]["count(*)"]), monotonic()


def _rows(pages: Any) -> Iterator[Any]:
    while page := pages.next():
        yield from page


def _leg_of(hits: Sequence[Any], vector: "Vectors", scope: Scope) -> Leg:
    """Return the hits as passages; drop those of bases outside the scope, because base hashes may collide."""
    found = [(to_passage({"id": hit["id"], **hit["entity"]}), hit) for hit in hits]
    seen = [(passage, hit) for passage, hit in found if passage.knowledge_base in scope.bases]
    cosines = cosines_of_nearest([read_sentences(hit["entity"]["about"]) for _, hit in seen], vector)
    return Leg(
        tuple((passage, float(hit["distance"])) for passage, hit in seen),
        {passage.id: cosine for (passage, _), cosine in zip(seen, cosines, strict=True) if cosine is not None},
    )


def _batches(items: list[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
