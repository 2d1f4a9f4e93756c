"""Google Drive: the contract of all connectors, and what only Drive has."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import MappingProxyType
from typing import Self

import pytest

from adapters.connectors.gdrive import GoogleDrivePlugin
from adapters.connectors.http import opener
from adapters.documents.parser import DocumentParser
from adapters.documents.web.fetcher import Rules
from core.model.connections import SyncPhase
from core.model.errors import ConfigurationError
from core.model.jobs import ItemState
from core.model.principals import mail_principal
from core.ports.connector import ConnectorPlugin
from tests.connectors.sync_room import SyncRoom
from tests.connectors.test_connectors import ADA, BO, ReadersContract, Source
from tests.fakes.gdrive.server import ADMIN, FakeDrive, group, key_file, user


class DriveSource(FakeDrive):
    """Google Drive, as the contract changes it."""

    plugin: ConnectorPlugin = GoogleDrivePlugin()
    port: int = 0
    settings: Mapping[str, str] = MappingProxyType({"key": key_file(), "subject": ADMIN})

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.plugin = GoogleDrivePlugin(tokens=self.url, api=self.url, directory=self.url)
        return self

    def add(self, item: str, title: str, text: str) -> None:
        self.add_file(item, title, text)

    def edit(self, item: str, text: str) -> None:
        self.minute += 1
        self.files[item].text, self.files[item].edited = text, self.minute

    def rename(self, item: str, title: str) -> None:
        self.files[item].name = title

    def restrict(self, item: str, *people: str) -> None:
        known = [user(one) for one in people if one in {"ada", "bo", "eve"}]
        self.files[item].permissions = [*known, user("left", deleted=True)] if people else [group()]

    def leave(self, person: str) -> None:
        for members in self.members.values():
            members.remove(person)

    def delete(self, item: str) -> None:
        self.files[item].is_trashed = True

    def restore(self, item: str) -> None:
        self.files[item].is_trashed = False

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
        self.too_large.add(item)


class TestGoogleDrive(ReadersContract):
    def open_source(self) -> AbstractAsyncContextManager[Source]:
        return DriveSource()


@pytest.fixture
async def drive() -> AsyncIterator[DriveSource]:
    async with DriveSource() as source:
        yield source
        assert not source.violations


@pytest.fixture
async def room(drive: DriveSource) -> AsyncIterator[SyncRoom]:
    async with DocumentParser() as parser:
        yield SyncRoom(drive.plugin, drive.settings, parser, drive.port)


async def test_a_file_of_a_shared_drive_has_the_readers_of_its_own_list(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Plan.md", "The plan.", kind="text/markdown", drive="D1", permissions=[user("ada")])
    drive.add_file("2", "Hidden.md", "A secret.", kind="text/markdown", drive="D1", permissions=None)
    await room.sync()
    assert await room.titles(ADA) == ["Plan.md"]
    assert await room.titles(BO) == []
    assert (await room.state()).unmapped == 1


@pytest.mark.parametrize(
    "permission",
    [
        user("bo", deleted=True),
        user("bo", view="metadata"),
        user("bo", expirationTime="2020-01-01T00:00:00.000Z"),
        user("bo", expirationTime="no date"),
        user("bo", inheritedPermissionsDisabled=True),
        {"id": "anyoneWithLink", "type": "anyone", "role": "reader"},
        {"id": "d", "type": "domain", "role": "reader", "domain": "example.org"},
        {"id": "n", "type": "new", "role": "reader"},
    ],
)
async def test_a_permission_that_lets_nobody_in_here_opens_nothing(
    drive: DriveSource, room: SyncRoom, permission: dict[str, object]
) -> None:
    drive.add_file("1", "Plan", "The plan.", permissions=[user("ada"), permission])
    await room.sync()
    assert await room.titles(ADA) == ["Plan"]
    assert await room.titles(BO) == []
    assert await room.titles() == []


async def test_without_an_administrator_groups_are_for_an_admin_to_map(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Plan", "The plan.")
    drive.allows_groups = False
    await room.sync()
    assert await room.titles(ADA) == []
    assert list((await room.state()).groups) == ["staff@example.org"]


async def test_folders_pictures_and_forms_are_not_listed(drive: DriveSource, room: SyncRoom) -> None:
    for number, kind in enumerate(
        ("application/vnd.google-apps.folder", "image/png", "application/vnd.google-apps.form")
    ):
        drive.add_file(str(number), "None", "", kind=kind)
    drive.add_file("doc", "Plan", "The plan.")
    await room.sync()
    assert [title for title, *_ in (await room.sync()).outcomes] == []
    assert await room.titles(ADA) == ["Plan"]


async def test_only_the_named_drives_are_read(drive: DriveSource, room: SyncRoom) -> None:
    for number in (1, 2, 3):
        drive.add_file(str(number), f"Plan {number}", "The plan.", drive=f"D{number}")
    room.settings = {**drive.settings, "drives": "D1, D3"}
    await room.sync()
    assert await room.titles(ADA) == ["Plan 1", "Plan 3"]


async def test_waits_when_drive_answers_403_because_of_its_rate_limit(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Plan", "The plan.")
    drive.refusal, drive.faults = "userRateLimitExceeded", [(403, {})]
    await room.sync()
    assert await room.titles(ADA) == ["Plan"]
    assert room.waited


async def test_a_key_that_is_none_is_refused_before_any_call(drive: DriveSource) -> None:
    http = opener(Rules(allow_private=frozenset({f"127.0.0.1:{drive.port}"})))
    for key in ("", "[]", "{", '{"client_email": "a"}'):
        with pytest.raises(ConfigurationError, match="not the JSON key"):
            async with drive.plugin.open({"key": key}, http):
                raise AssertionError("It was opened.")
    async with drive.plugin.open({"key": '{"client_email": "a", "private_key": "b"}'}, http) as connector:
        with pytest.raises(ConfigurationError, match="cannot be read"):
            await connector.check()
    assert drive.calls == []


async def test_a_check_says_what_the_account_cannot_see(drive: DriveSource) -> None:
    drive.add_file("1", "Plan", "The plan.", permissions=None)
    http = opener(Rules(allow_private=frozenset({f"127.0.0.1:{drive.port}"})))
    async with drive.plugin.open({"key": key_file()}, http) as connector:
        found = await connector.check()
    assert found.example == "Plan"
    assert [one.split(",")[0] for one in found.warnings] == [
        "The readers of 1 of the first 1 files cannot be looked up",
        "The members of groups cannot be looked up",
    ]


def test_people_are_known_by_the_address_of_their_account() -> None:
    assert mail_principal("Ada@Example.org") == ADA


async def test_a_file_that_is_too_large_is_named_and_the_others_are_read(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Dump.txt", "Much. " * 500, kind="text/plain")
    drive.add_file("2", "Plan.txt", "The plan.", kind="text/plain")
    room.rules = replace(room.rules, max_bytes=1_000)
    report = await room.sync()
    assert ("Dump.txt", ItemState.FAILED, "It is larger than 0 MB.") in report.outcomes
    assert await room.titles(ADA) == ["Plan.txt"]


async def test_a_file_that_drive_cannot_export_is_named_and_the_others_are_read(
    drive: DriveSource, room: SyncRoom
) -> None:
    drive.add_file("1", "Broken", "")
    drive.add_file("2", "Plan", "The plan.")
    drive.broken.add("1")
    assert [title for title, state, _ in (await room.sync()).outcomes if state is ItemState.FAILED] == ["Broken"]
    assert await room.titles(ADA) == ["Plan"]


async def test_rights_are_read_again_although_nothing_can_be_fetched(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Plan", "The plan.")
    await room.sync()
    for number in ("2", "3"):
        drive.add_file(number, f"Broken {number}", "")
        drive.broken.add(number)
    assert "status 500" in await room.fails()
    assert (await room.state()).phase is SyncPhase.DOCUMENTS
    drive.files["1"].permissions = [user("ada")]
    for _ in range(2):  # the first attempt after a quarter of an hour ends the round
        room.clock.advance(16 * 60)
        assert await room.fails()
    assert await room.titles(ADA) == ["Plan"]
    assert await room.titles(BO) == []


async def test_a_listing_begins_again_when_its_page_token_has_expired(drive: DriveSource, room: SyncRoom) -> None:
    for number in range(1, 6):
        drive.add_file(str(number), f"Plan {number}", "The plan.")
    drive.faults = [None, (429, {"Retry-After": "900"})]
    assert "has reached its rate limit" in await room.fails()
    assert (await room.state()).cursor
    drive.expired_tokens, drive.page_size = True, 10
    await room.sync()
    assert len(await room.titles(ADA)) == 5


async def test_a_drive_that_is_gone_is_named_in_the_list_of_connections(drive: DriveSource, room: SyncRoom) -> None:
    drive.add_file("1", "Plan", "The plan.")
    await room.sync()
    drive.faults = [(404, {})]
    assert "replied that this does not exist" in await room.fails()
    assert await room.titles(ADA) == ["Plan"]


async def test_a_search_with_gaps_takes_nothing_away_and_says_what_to_do(drive: DriveSource, room: SyncRoom) -> None:
    drive.add("1", "Plan", "The plan.")
    await room.sync()
    drive.is_incomplete = True
    assert "with the ids of the drives" in await room.fails()
    assert await room.titles(ADA) == ["Plan"]
