"""Resolves the readers that a source states to the principals that Footnote knows.

A person is identified by e-mail address, a group by its members' addresses and by the principals that an admin mapped
it to. Readers that cannot be mapped get no access: a missing address never opens anything.

Each class of readers is a knowledge base whose grants mirror the source's readers. Everything that uses bases therefore
respects these rights: searches, memory, lists, digests, programs. If all readers of a class change together, it keeps
its base. A right is then revoked in one write, without touching a document.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from core.model.connections import Connection, SyncedItem, SyncState
from core.model.errors import Busy, NotFound
from core.model.json_codec import from_json, to_json
from core.model.knowledge import NOBODY, KnowledgeBase
from core.model.principals import EVERYONE, mail_principal
from core.ports.catalog import Catalog
from core.ports.connector import PUBLIC, Connector, Readers

_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ResolvedRights:
    """The readers of each class of documents, by the class's digest.

    ``grants`` are principals, EVERYONE alone for everyone, and empty for nobody. ``unmapped`` are groups without a
    principal, with the number of documents that name them.
    """

    grants: Mapping[str, frozenset[str]]
    unmapped: Mapping[str, int]


def digest_of(readers: Readers) -> str:
    """Return a digest of a class of readers, independent of the order of sets."""
    return blake2b(readers_json(readers).encode(), digest_size=9).hexdigest()


def readers_json(readers: Readers) -> str:
    """Return readers as canonical JSON, the same for equal readers."""
    plain = [[sorted(one.people), sorted(one.groups)] for one in dict.fromkeys(readers)]
    return to_json(sorted(plain), list[list[list[str]]])


async def resolve_rights(
    connection: Connection, connector: Connector, classes: Mapping[str, str], used: Counter[str]
) -> ResolvedRights:
    """Resolve the people and groups of these classes (JSON by digest); ``used`` counts their documents.

    Raises SourceUnavailable.
    """
    sets: dict[str, list[tuple[list[str], list[str]]]] = {
        digest: from_json(list[tuple[list[str], list[str]]], classes[digest]) for digest in used if digest in classes
    }
    groups = {group for some in sets.values() for _, ids in some for group in ids}
    held = {group: await _holders(connection, connector, group) for group in sorted(groups)}
    people = await _addresses(connection, connector, {one for some in sets.values() for ids, _ in some for one in ids})
    grants = {
        digest: connection.readers
        if not some
        else _intersection(_union(ids, people) | _union(names, held) for ids, names in some)
        for digest, some in sets.items()
    }
    unmapped = {
        group: sum(used[digest] for digest, some in sets.items() if any(group in ids for _, ids in some))
        for group, principals in held.items()
        if not principals
    }
    return ResolvedRights(grants, unmapped)


async def _holders(connection: Connection, connector: Connector, group: str) -> frozenset[str]:
    """Return the principals in a group: those it is mapped to, and its members' addresses."""
    if group == PUBLIC:
        return connection.mapping.get(PUBLIC, frozenset({EVERYONE}))
    try:
        members = await connector.members(group)
    except NotFound:  # the token may not see the group, or it was deleted a moment ago
        members = ()
    found = {mail_principal(one.email) for one in members} - {""}
    return connection.mapping.get(group, _NOBODY) | found


async def _addresses(
    connection: Connection, connector: Connector, ids: Collection[str]
) -> Mapping[str, frozenset[str]]:
    people = await connector.people(sorted(ids)) if ids else ()
    found = {one.id: frozenset({mail_principal(one.email)} - {""}) for one in people}
    return {one: connection.mapping.get(one, _NOBODY) | found.get(one, _NOBODY) for one in ids}


def _union(names: Iterable[str], principals: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(principals[name] for name in names))


def _intersection(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the principals that are in all sets. A set with EVERYONE excludes nobody."""
    bounded = [one for one in sets if EVERYONE not in one]
    return frozenset.intersection(*bounded) if bounded else frozenset({EVERYONE})


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
