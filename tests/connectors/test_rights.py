"""Random permissions: people, groups, spaces and restrictions, compared with the source's own rules.

People must find exactly what the source allows them, before and after its permissions change.
"""

import random
from collections.abc import Collection
from dataclasses import replace

import pytest

from adapters.connectors.confluence import PLUGIN
from core.model.conversation import Audience
from core.model.document_content import Block, ParsedDocument
from core.model.principals import mail_principal
from core.ports.index import Scope
from core.retrieval.hybrid import Retriever
from core.service.visibility import VisibleBases
from tests.connectors.sync_room import SyncRoom
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence, Page

pytestmark = pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here.")
PEOPLE = ("ada", "bo", "cy", "dee", "eve")
GROUPS = ("g-staff", "g-sales", "g-empty", "g-deleted")
TEAM = "slack:team:T1"  # holds g-sales, where that is mapped


class PlainParser:
    """Reads the last words of a page, without a sandbox."""

    async def parse(self, name: str, data: bytes, progress: object = None) -> ParsedDocument:
        return ParsedDocument("", (Block(data.decode(), first_line=1),), "text/html")


def _some(chance: random.Random, things: Collection[str], most: int) -> tuple[str, ...]:
    return tuple(chance.sample(sorted(things), chance.randint(0, most)))


def _set_rights(site: FakeConfluence, chance: random.Random) -> None:
    """Change the readers of everything on the site, and the hidden addresses."""
    site.people.update({name: chance.choice([f"{name}@example.org", f"{name}@example.org", ""]) for name in PEOPLE})
    site.groups.update({name: list(_some(chance, PEOPLE, 3)) for name in GROUPS[:2]} | {"g-empty": []})
    for space in ("ENG", "HR"):
        holders = [("user", one) for one in _some(chance, PEOPLE, 2)] + [
            ("group", one) for one in _some(chance, GROUPS, 2)
        ]
        site.spaces[space] = holders + ([("", "")] if chance.random() < 0.2 else [])
    for page in site.pages.values():
        is_restricted = chance.random() < 0.5
        page.users = _some(chance, PEOPLE, 2) if is_restricted else ()
        page.groups = _some(chance, GROUPS, 1) if is_restricted else ()


def _may_read(site: FakeConfluence, page: Page, held: frozenset[str], *, is_mapped: bool) -> bool:
    """The source's own rule, written down by itself: one of the audience's principals is in each of the sets."""
    sets: list[tuple[list[str], list[str]]] = [
        (
            [one for kind, one in site.spaces[page.space] if kind == "user"],
            [one for kind, one in site.spaces[page.space] if kind == "group"],
        )
    ]
    above: Page | None = page
    while above is not None:
        if above.users or above.groups:
            sets.append((list(above.users), list(above.groups)))
        above = site.pages.get(above.parent)

    def is_in(principal: str, people: list[str], groups: list[str]) -> bool:
        if principal == TEAM:
            return is_mapped and "g-sales" in groups
        members = {*people, *(one for group in groups for one in site.groups.get(group, []))}
        return any(site.people[one] and mail_principal(site.people[one]) == principal for one in members)

    return any(all(is_in(principal, *one) for one in sets) for principal in held)


async def _found(room: SyncRoom, held: frozenset[str]) -> set[str]:
    """Return the titles that a search and the catalog show to an audience."""
    bases = await VisibleBases(room.catalog).names(Audience(held))
    hits = (await Retriever(room.index, room.encoder, None, room.catalog).search("word", Scope(bases), 100)).hits
    return {one.title for one in await room.catalog.documents(bases)} | {hit.passage.title for hit in hits}


@pytest.mark.parametrize("seed", range(8))
async def test_everyone_finds_what_the_source_lets_them_read_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    is_mapped = seed % 2 == 0
    async with FakeConfluence() as site:
        for number in range(12):
            parent = str(chance.randrange(number)) if number and chance.random() < 0.5 else ""
            space = site.pages[parent].space if parent else chance.choice(["ENG", "HR"])
            site.add_page(str(number), f"Page {number}", f"word {number}", space=space, parent=parent)
        room = SyncRoom(PLUGIN, {"url": site.url, "email": EMAIL, "token": TOKEN}, PlainParser(), site.port)
        mapping = {"g-sales": frozenset({TEAM})} if is_mapped else {}
        room.connection = replace(room.connection, mapping=mapping)
        audiences = [frozenset({mail_principal(f"{name}@example.org")}) for name in PEOPLE]
        audiences += [frozenset({TEAM}), frozenset({TEAM, *audiences[0]}), frozenset(), frozenset({"slack:user:T1/U1"})]
        for _ in range(4):
            _set_rights(site, chance)
            await room.sync()
            for held in audiences:
                allowed = {
                    page.title for page in site.pages.values() if _may_read(site, page, held, is_mapped=is_mapped)
                }
                assert await _found(room, held) == allowed
            assert await room.leftovers() == []
        assert not site.violations
