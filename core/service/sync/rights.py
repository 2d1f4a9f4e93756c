"""From the readers that a source states to the principals that Footnote knows.

A person is known by their e-mail address, a group by its members' addresses and by the principals that an admin mapped
it to. Who cannot be mapped may not read: a missing address never opens anything.
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
    """Who may read the documents of each class of readers, by its digest.

    ``grants`` are principals, EVERYONE alone for everyone, and empty for nobody. ``unmapped`` are groups that no
    principal holds, with how many documents name them.
    """

    grants: Mapping[str, frozenset[str]]
    unmapped: Mapping[str, int]


def digest_of(readers: Readers) -> str:
    """Return what tells two classes of readers apart; the order of sets does not matter."""
    return blake2b(readers_json(readers).encode(), digest_size=9).hexdigest()


def readers_json(readers: Readers) -> str:
    """Return readers as JSON that is the same for equal readers."""
    plain = [[sorted(one.people), sorted(one.groups)] for one in dict.fromkeys(readers)]
    return to_json(sorted(plain), list[list[list[str]]])


async def resolve_rights(
    connection: Connection, connector: Connector, classes: Mapping[str, str], used: Counter[str]
) -> ResolvedRights:
    """Look up the people and groups of these classes (JSON by digest), of which ``used`` counts the documents.

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
    """Return the principals that hold a group: those it is mapped to, and the addresses of its members."""
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
    """Return who is in all sets. One that is open to everyone takes nobody away."""
    bounded = [one for one in sets if EVERYONE not in one]
    return frozenset.intersection(*bounded) if bounded else frozenset({EVERYONE})
