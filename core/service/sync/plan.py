"""A dry run: what a sync would do, with nothing written."""

from collections import Counter
from dataclasses import dataclass

from core.model.connections import Connection
from core.model.errors import Busy
from core.ports.connector import ConnectionStore, Connector, SourceItem
from core.service.sync.engine import MOST_DOCUMENTS
from core.service.sync.rights import digest_of, readers_json, resolve_rights


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync would do. ``titles`` are some of what is new or changed.

    ``unreadable`` documents have readers none of whom is known here; ``groups`` are those that no principal holds.
    """

    documents: int
    new: int
    changed: int
    gone: int
    classes: int
    unreadable: int
    groups: tuple[str, ...]
    titles: tuple[str, ...]


MOST_TITLES = 10


async def plan_sync(connection: Connection, connector: Connector, store: ConnectionStore) -> SyncPlan:
    """List everything and look up who may read it, from the beginning. Raises SourceUnavailable, Busy."""
    found: dict[str, SourceItem] = {}
    cursor, more, whole = "", True, False
    while more:
        page = await connector.changes(cursor)
        found |= {item.id: item for item in page.items}
        cursor, more, whole = page.cursor, page.more, page.whole
        if len(found) > MOST_DOCUMENTS:
            raise Busy(f"There are more than {MOST_DOCUMENTS:,} documents.", remedy="Connect a part of it.")
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
