"""Resolves the readers that a source states to the principals that Footnote knows.

A person is identified by e-mail address, a group by its members' addresses and by the principals that an admin mapped
it to. Readers that cannot be mapped get no access: a missing address never opens anything.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from core.model.connections import Connection
from core.model.errors import NotFound
from core.model.json_codec import from_json, to_json
from core.model.principals import EVERYONE, mail_principal
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
