"""The contract of all connectors, tested against a fake of the vendor's server.

A new connector inherits ``ConnectorContract`` and adds a ``Source``: its fake server, and changes there.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Protocol, Self

import pytest

from adapters.connectors.confluence import PLUGIN as CONFLUENCE
from adapters.connectors.github import GitHubPlugin
from adapters.connectors.notion import NotionPlugin
from adapters.documents.parser import DocumentParser
from core.model.connections import SyncPhase
from core.model.jobs import ItemState
from core.model.principals import mail_principal
from core.ports.connector import ConnectorPlugin
from tests.connectors.sync_room import SyncRoom
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence, FakeDataCenter
from tests.fakes.github.server import TOKEN as GITHUB_TOKEN
from tests.fakes.github.server import FakeGitHub
from tests.fakes.notion.server import SPECIFICATION as NOTION
from tests.fakes.notion.server import TOKEN as NOTION_TOKEN
from tests.fakes.notion.server import FakeNotion

ADA, BO, EVE = (mail_principal(f"{name}@example.org") for name in ("ada", "bo", "eve"))


def _room(source: "Source", parser: DocumentParser) -> SyncRoom:
    readers = () if source.plugin.states_readers else (ADA, BO)
    return SyncRoom(source.plugin, source.settings, parser, source.port, readers)


class Source(Protocol):
    """A source as its people see it. ``ada`` and ``bo`` can read everything that is added."""

    plugin: ConnectorPlugin
    settings: Mapping[str, str]
    port: int
    calls: list[str]
    faults: list[tuple[int, dict[str, str]] | None]
    violations: list[str]

    def add(self, item: str, title: str, text: str) -> None: ...
    def edit(self, item: str, text: str) -> None: ...
    def rename(self, item: str, title: str) -> None: ...
    def restrict(self, item: str, *people: str) -> None: ...
    def leave(self, person: str) -> None: ...
    def delete(self, item: str) -> None: ...
    def restore(self, item: str) -> None: ...
    def revoke_token(self) -> None: ...
    def repeat_items(self) -> None: ...
    def delete_while_listing(self, item: str) -> None: ...
    def break_item(self, item: str) -> None: ...


class ConnectorContract:
    """Override ``open_source``. Every source lists a few items on each page, so a listing has several pages."""

    def open_source(self) -> AbstractAsyncContextManager[Source]:
        raise NotImplementedError

    @pytest.fixture
    async def source(self) -> AsyncIterator[Source]:
        async with self.open_source() as source:
            for number in range(1, 8):
                source.add(str(number), f"Page {number}", f"Alpha number {number}.")
            yield source
            assert not source.violations

    @pytest.fixture
    async def parser(self) -> AsyncIterator[DocumentParser]:
        async with DocumentParser() as parser:
            yield parser

    @pytest.fixture
    def room(self, source: Source, parser: DocumentParser) -> SyncRoom:
        return _room(source, parser)

    async def test_first_sync_brings_in_all_for_their_readers(self, room: SyncRoom) -> None:
        await room.sync()
        assert await room.titles(ADA) == [f"Page {number}" for number in range(1, 8)]
        assert await room.texts("alpha number 3", ADA)
        assert await room.titles(EVE) == []
        assert await room.titles() == []

    async def test_documents_carry_their_own_address(self, room: SyncRoom) -> None:
        await room.sync()
        (document,) = [one for one in await room.catalog.documents(frozenset({"wiki"})) if one.title == "Page 3"]
        assert document.url
        assert document.url.startswith("http")

    async def test_a_sync_without_changes_fetches_and_encodes_nothing(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        first, encoded = len(source.calls), room.encoder.encoded
        report = await room.sync()
        assert report.outcomes == []
        assert room.encoder.encoded == encoded
        assert len(source.calls) - first < first

    async def test_a_change_is_read(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        source.edit("3", "Beta now.")
        assert (await room.sync()).outcomes == [("Page 3", ItemState.UPDATED, "")]
        assert await room.texts("beta", ADA) != []
        assert "Alpha number 3." not in await room.texts("alpha number 3", ADA)

    async def test_a_rename_encodes_no_passage(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        encoded = room.encoder.passages
        assert encoded == 7
        source.rename("3", "Another title")
        await room.sync()
        assert "Another title" in await room.titles(ADA)
        assert "Page 3" not in await room.titles(ADA)
        assert room.encoder.passages == encoded

    async def test_what_is_deleted_is_withdrawn_and_what_is_restored_comes_back(
        self, room: SyncRoom, source: Source
    ) -> None:
        await room.sync()
        source.delete("3")
        assert ("Page 3", ItemState.REMOVED, "") in (await room.sync()).outcomes
        assert "Page 3" not in await room.titles(ADA)
        assert await room.leftovers() == []
        source.restore("3")
        await room.sync()
        assert "Page 3" in await room.titles(ADA)

    async def test_duplicates_across_pages_are_read_once(self, room: SyncRoom, source: Source) -> None:
        source.repeat_items()
        report = await room.sync()
        assert sorted(title for title, _, _ in report.outcomes) == [f"Page {number}" for number in range(1, 8)]

    async def test_a_deletion_while_listing_takes_no_other_document_away(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        source.delete_while_listing("1")
        await room.sync()
        await room.sync()
        assert await room.titles(ADA) == [f"Page {number}" for number in range(2, 8)]

    async def test_one_broken_document_is_named_and_the_others_are_read(self, room: SyncRoom, source: Source) -> None:
        source.break_item("3")
        await room.sync()
        assert len(await room.titles(ADA)) == 6
        (failed,) = [one for one in (await room.store.items("wiki")).values() if one.reason]
        assert failed.id == "3"
        assert failed.failed_since == room.clock.now()

    async def test_waits_as_long_as_the_source_says(self, room: SyncRoom, source: Source) -> None:
        source.faults += [(429, {"Retry-After": "7"}), None, (503, {}), None, (429, {"Retry-After": "2"})]
        await room.sync()
        assert len(await room.titles(ADA)) == 7
        assert {7.0, 2.0} <= set(room.waited)

    async def test_a_long_wait_ends_the_sync_until_then_and_it_goes_on_where_it_was(
        self, room: SyncRoom, source: Source
    ) -> None:
        source.faults += [None, None, None, (429, {"Retry-After": "900"})]
        assert "has reached its rate limit" in await room.fails()
        state = await room.state()
        assert state.next_at is not None
        assert (state.next_at - room.clock.now()).total_seconds() == 900
        await room.sync()
        assert len(await room.titles(ADA)) == 7
        assert (await room.state()).failure == ""

    async def test_a_revoked_token_is_named_and_takes_nothing_away(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        source.revoke_token()
        assert "rejected the token" in await room.fails()
        assert len(await room.titles(ADA)) == 7
        room.clock.advance(60)
        await room.fails()
        state = await room.state()
        assert state.failed_since is not None
        assert (room.clock.now() - state.failed_since).total_seconds() == 60

    async def test_401_in_the_middle_keeps_what_was_read(self, room: SyncRoom, source: Source) -> None:
        source.faults += [None] * 4 + [(401, {})]
        assert await room.fails()
        await room.sync()
        assert len(await room.titles(ADA)) == 7

    async def test_killed_at_any_call_it_goes_on_and_comes_to_the_same_end(
        self, source: Source, parser: DocumentParser
    ) -> None:
        for item in ("5", "6", "7"):
            source.delete(item)
        call, lived = 0, True
        while lived:
            call += 1
            room = _room(source, parser)
            lived = await room.sync_killed_at(call)
            await room.sync()
            assert await room.titles(ADA) == [f"Page {number}" for number in range(1, 5)], call
            assert await room.leftovers() == [], call
        assert call > 50

    async def test_a_change_of_everything_survives_a_kill_at_any_call(
        self, source: Source, parser: DocumentParser
    ) -> None:
        for item in ("5", "6", "7"):
            source.delete(item)
        call, lived = 0, True
        while lived:
            call += 3  # every third call: the same ones are tried with a first sync
            room = _room(source, parser)
            await room.sync()
            source.edit("1", "Gamma.")
            if source.plugin.states_readers:
                source.restrict("2", "ada")
            source.delete("3")
            source.rename("4", "Moved")
            lived = await room.sync_killed_at(call)
            if source.plugin.states_readers and (await room.state()).phase is SyncPhase.DOCUMENTS:
                assert "Page 2" not in await room.titles(BO), call  # withdrawn before anything is fetched
            await room.sync()
            assert await room.titles(ADA) == ["Moved", "Page 1", "Page 2"], call
            assert ("Page 2" in await room.titles(BO)) is not source.plugin.states_readers, call
            assert await room.texts("gamma", ADA), call
            assert await room.leftovers() == [], call
            source.edit("1", "Alpha number 1.")
            if source.plugin.states_readers:
                source.restrict("2")
            source.restore("3")
            source.rename("4", "Page 4")
        assert call > 30


class ReadersContract(ConnectorContract):
    """The contract of connectors whose sources state readers."""

    async def test_a_narrower_right_takes_effect_within_one_round_and_encodes_nothing(
        self, room: SyncRoom, source: Source
    ) -> None:
        await room.sync()
        encoded, fetched = room.encoder.encoded, len(source.calls)
        source.restrict("3", "ada")
        await room.sync()
        assert "Page 3" in await room.titles(ADA)
        assert "Page 3" not in await room.titles(BO)
        assert await room.texts("alpha number 3", ADA)
        assert "Alpha number 3." not in await room.texts("alpha number 3", BO)
        assert room.encoder.encoded == encoded
        assert len(source.calls) > fetched
        assert await room.leftovers() == []

    async def test_what_nobody_may_read_here_is_counted_and_not_read(self, room: SyncRoom, source: Source) -> None:
        source.restrict("3", "somebody-without-address")
        await room.sync()
        assert (await room.state()).unmapped == 1
        bases = frozenset(base.name for base in await room.catalog.bases())
        assert "Page 3" not in [one.title for one in await room.catalog.documents(bases)]

    async def test_whoever_left_reads_nothing_after_one_round(self, room: SyncRoom, source: Source) -> None:
        await room.sync()
        source.leave("bo")
        await room.sync()
        assert await room.titles(BO) == []
        assert len(await room.titles(ADA)) == 7


class ConfluenceSource(FakeConfluence):
    """A Confluence site, as the contract changes it."""

    plugin: ConnectorPlugin = CONFLUENCE
    port: int = 0
    settings: Mapping[str, str] = MappingProxyType({})

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.page_size = 3
        self.settings = {"url": self.url, "email": EMAIL, "token": TOKEN, "spaces": "ENG"}
        return self

    def add(self, item: str, title: str, text: str) -> None:
        self.add_page(item, title, f"<p>{text}</p>")

    def edit(self, item: str, text: str) -> None:
        self.change(item, body=f"<p>{text}</p>")

    def rename(self, item: str, title: str) -> None:
        self.change(item, title=title)

    def restrict(self, item: str, *people: str) -> None:
        self.pages[item].users = people

    def leave(self, person: str) -> None:
        self.groups["g-staff"].remove(person)

    def delete(self, item: str) -> None:
        self.pages[item].is_deleted = True

    def restore(self, item: str) -> None:
        self.pages[item].is_deleted = False

    def revoke_token(self) -> None:
        self.is_revoked = True

    def repeat_items(self) -> None:
        self.duplicates = True

    def delete_while_listing(self, item: str) -> None:
        def delete(page: int) -> None:
            if page % 3 == 2:
                self.delete(item)

        self.before_answer = delete

    def break_item(self, item: str) -> None:
        self.without_body.add(item)


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here.")
class TestConfluence(ReadersContract):
    def open_source(self) -> AbstractAsyncContextManager[Source]:
        return ConfluenceSource()


class DataCenterSource(ConfluenceSource, FakeDataCenter):
    """A Confluence site of one's own."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.settings = {"url": f"{self.url}/confluence", "email": "", "token": TOKEN, "spaces": "ENG"}
        return self


class TestConfluenceDataCenter(ReadersContract):
    def open_source(self) -> AbstractAsyncContextManager[Source]:
        return DataCenterSource()


class GitHubSource(FakeGitHub):
    """Two repositories of issues, as the contract changes them: whoever may not read the one is not in the other."""

    plugin: ConnectorPlugin = GitHubPlugin()
    port: int = 0
    settings: Mapping[str, str] = MappingProxyType(
        {"token": GITHUB_TOKEN, "repositories": "acme/site acme/closed", "kinds": "issues"}
    )

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.page_size, self.plugin = 3, GitHubPlugin(origin=self.url)
        self.collaborators["acme/closed"] = ["ada"]
        return self

    def edit(self, item: str, text: str) -> None:
        self.change(item, body=text)

    def rename(self, item: str, title: str) -> None:
        self.change(item, title=title)

    def restrict(self, item: str, *people: str) -> None:
        if people:
            self.collaborators["acme/closed"] = list(people)
        self.items[item].repository = "acme/closed" if people else "acme/site"

    def leave(self, person: str) -> None:
        self.collaborators["acme/site"].remove(person)

    def delete(self, item: str) -> None:
        self.items[item].is_deleted = True

    def restore(self, item: str) -> None:
        self.items[item].is_deleted = False

    def revoke_token(self) -> None:
        self.is_revoked = True

    def repeat_items(self) -> None:
        self.duplicates = True

    def delete_while_listing(self, item: str) -> None:
        def delete(page: int) -> None:
            if page % 4 == 2:
                self.delete(item)

        self.before_answer = delete

    def break_item(self, item: str) -> None:
        self.refused.add(item)


class TestGitHub(ReadersContract):
    def open_source(self) -> AbstractAsyncContextManager[Source]:
        return GitHubSource()


class NotionSource(FakeNotion):
    """A Notion workspace, as the contract changes it."""

    plugin: ConnectorPlugin = NotionPlugin()
    port: int = 0
    settings: Mapping[str, str] = MappingProxyType({"token": NOTION_TOKEN})

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.plugin = NotionPlugin(origin=self.url)
        return self

    def add(self, item: str, title: str, text: str) -> None:
        self.add_page(item, title, text)

    def edit(self, item: str, text: str) -> None:
        self.change(item, text=text)

    def rename(self, item: str, title: str) -> None:
        self.change(item, title=title)

    def restrict(self, item: str, *people: str) -> None:
        raise NotImplementedError

    def leave(self, person: str) -> None:
        raise NotImplementedError

    def delete(self, item: str) -> None:
        self.pages[item].is_deleted = True

    def restore(self, item: str) -> None:
        self.pages[item].is_deleted = False

    def revoke_token(self) -> None:
        self.is_revoked = True

    def repeat_items(self) -> None:
        self.duplicates = True

    def delete_while_listing(self, item: str) -> None:
        def delete(page: int) -> None:
            if page % 3 == 2:
                self.delete(item)

        self.before_answer = delete

    def break_item(self, item: str) -> None:
        self.refused.add(item)


@pytest.mark.skipif(not NOTION.exists(), reason="The description is not shared here.")
class TestNotion(ConnectorContract):
    def open_source(self) -> AbstractAsyncContextManager[Source]:
        return NotionSource()
