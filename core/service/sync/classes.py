"""Classes of readers: each is a knowledge base whose grants mirror the source's readers.

Everything that uses bases therefore respects these rights: searches, memory, lists, digests, programs. If all readers
of a class change together, it keeps its base. A right is then revoked in one write, without touching a document.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.model.connections import Connection, SyncedItem, SyncState
from core.model.errors import Busy
from core.model.knowledge import NOBODY, KnowledgeBase
from core.model.principals import EVERYONE
from core.ports.catalog import Catalog
from core.service.sync.rights import ResolvedRights

MOST_CLASSES = 500  # of one connection; each adds one value to a search filter


@dataclass(frozen=True, slots=True)
class ReaderClasses:
    """Stores the bases of connections. Raises StoreUnavailable."""

    catalog: Catalog

    async def assign(
        self, connection: Connection, state: SyncState, items: Collection[SyncedItem], rights: ResolvedRights
    ) -> Mapping[str, str]:
        """Choose the base of each class of readers, by its digest, without writing it. Raises Busy for too many.

        Nobody may read a class without grants: it has no base, and its documents are not read.
        """
        used = used_classes(items)
        readable = [digest for digest, _ in used.most_common() if rights.grants.get(digest)]
        if len(readable) > MOST_CLASSES:
            raise Busy(
                f"Its documents have {len(readable)} different sets of readers. At most {MOST_CLASSES} are possible.",
                remedy="Connect fewer spaces at once, each under its own name.",
            )
        bases = _kept(state.bases, items, readable)
        names = (base.name for base in await self.catalog.bases())
        taken = {name.casefold() for name in (*names, *state.bases.values())}
        for digest in readable:
            if digest not in bases:
                bases[digest] = _free_name(connection.name, taken)
                taken.add(bases[digest].casefold())
        return bases

    async def save(
        self, connection: Connection, title: str, state: SyncState, bases: Mapping[str, str], rights: ResolvedRights
    ) -> None:
        """Write the grants of these bases, and close those of classes that no longer exist."""
        there = {base.name: base for base in await self.catalog.bases()}
        until = (state.started_at or datetime.min.replace(tzinfo=UTC)) + timedelta(hours=connection.hours)
        for digest, name in bases.items():
            before = there.get(name, KnowledgeBase(name, f"Documents of {title}, connected as {connection.name}."))
            grants = frozenset() if EVERYONE in rights.grants[digest] else rights.grants[digest]
            after = replace(
                before, grants=grants, closed=False, connection=connection.name, rights_until=until.isoformat()
            )
            if after != before:
                await self.catalog.save_base(after)
        for name, base in there.items():  # bases of no class; their documents are moved or removed later
            if base.connection == connection.name and name not in bases.values() and base.grants != {NOBODY}:
                await self.catalog.save_base(replace(base, grants=frozenset({NOBODY})))

    async def remove_unused(self, connection: Connection, state: SyncState, items: Iterable[SyncedItem]) -> None:
        """Remove the empty bases of classes that no longer exist."""
        used = {item.base for item in items if item.base} | set(state.bases.values())
        for base in await self.catalog.bases():
            if base.connection == connection.name and base.name not in used:
                await self.catalog.remove_base(base.name)


def used_classes(items: Iterable[SyncedItem]) -> Counter[str]:
    """Count the current documents of each class of readers."""
    return Counter(item.readers for item in items if not item.gone)


def _kept(bases: Mapping[str, str], items: Iterable[SyncedItem], readable: Collection[str]) -> dict[str, str]:
    """Return the bases that classes keep. If all documents of a class got the same new readers, it keeps its base."""
    kept = {digest: name for digest, name in bases.items() if digest in readable}
    now: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.base and not item.gone:
            now[item.base].add(item.readers)
    for digest, name in bases.items():
        if digest in kept or len(now[name]) != 1:
            continue
        (new,) = now[name]
        if new in readable and new not in kept:
            kept[new] = name
    return kept


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the connection's name for its first class, then that name with a number."""
    number = 1
    while (free := f"{name} {number}" if number > 1 else name).casefold() in taken:
        number += 1
    return free
