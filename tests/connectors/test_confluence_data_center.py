"""Confluence Data Center: what differs from Cloud in who may read, and in how files are fetched."""

from collections.abc import AsyncIterator

import pytest

from adapters.connectors.confluence import PLUGIN
from adapters.connectors.http import opener
from adapters.documents.parser import DocumentParser
from adapters.documents.web.fetcher import Rules
from core.model.errors import ConfigurationError
from core.model.principals import mail_principal
from core.ports.connector import SourceCheck
from tests.connectors.sync_room import SyncRoom
from tests.fakes.confluence.server import TOKEN, FakeDataCenter

ADA, BO = (mail_principal(f"{name}@example.org") for name in ("ada", "bo"))


@pytest.fixture
async def site() -> AsyncIterator[FakeDataCenter]:
    async with FakeDataCenter(page_size=2) as site:
        for number in ("1", "2", "3"):
            site.add_page(number, f"Page {number}", f"<p>Alpha number {number}.</p>")
        yield site
        assert not site.violations


def settings(site: FakeDataCenter) -> dict[str, str]:
    return {"url": f"{site.url}/confluence/", "token": TOKEN}


@pytest.fixture
async def room(site: FakeDataCenter) -> AsyncIterator[SyncRoom]:
    async with DocumentParser() as parser:
        yield SyncRoom(PLUGIN, settings(site), parser, site.port)


async def check(site: FakeDataCenter) -> SourceCheck:
    http = opener(Rules(allow_private=frozenset({f"127.0.0.1:{site.port}"})))
    async with PLUGIN.open(settings(site), http) as connector:
        return await connector.check()


async def test_people_and_groups_of_a_space_read_it_and_a_group_may_have_any_name(
    room: SyncRoom, site: FakeDataCenter
) -> None:
    site.groups["Sales & more"] = ["bo", "cy"]
    site.spaces["ENG"] = [("user", "ada"), ("group", "Sales & more")]
    site.pages["2"].groups = ("Sales & more",)
    site.pages["3"].users = ("ada",)
    await room.sync()
    assert await room.titles(ADA) == ["Page 1", "Page 3"]
    assert await room.titles(BO) == ["Page 1", "Page 2"]


async def test_a_file_is_downloaded_from_its_own_address(room: SyncRoom, site: FakeDataCenter) -> None:
    site.add_file("att7", "2", "price list.md", b"The pump costs 40 euros.")
    await room.sync()
    assert await room.texts("what the pump costs", BO)


async def test_anonymous_access_is_nobody_until_it_is_mapped(room: SyncRoom, site: FakeDataCenter) -> None:
    site.spaces["ENG"] = [("", "")]
    await room.sync()
    assert await room.titles(ADA) == []
    assert (await room.state()).groups == {"**": 3}


async def test_who_was_deleted_and_who_has_no_address_read_nothing(room: SyncRoom, site: FakeDataCenter) -> None:
    site.spaces["ENG"] = [("user", "ada"), ("user", "deleted")]
    await room.sync()
    assert len(await room.titles(ADA)) == 3
    site.tells_addresses = False
    await room.sync()
    assert await room.titles(ADA) == []


async def test_an_account_that_does_not_administer_a_space_is_named(room: SyncRoom, site: FakeDataCenter) -> None:
    site.administers = False
    assert "The account must be an administrator of the space." in await room.fails()


async def test_the_check_counts_pages_and_hidden_addresses(site: FakeDataCenter) -> None:
    site.people["bo"] = ""
    found = await check(site)
    assert (found.account, found.documents, found.example) == ("Ada", 3, "Page 1")
    assert "1 of 2 people" in found.warnings[0]


async def test_cloud_needs_an_address_of_the_account() -> None:
    with pytest.raises(ConfigurationError, match="needs the e-mail address"):
        async with PLUGIN.open({"url": "https://acme.atlassian.net", "token": "t"}, opener(Rules())):
            pass
