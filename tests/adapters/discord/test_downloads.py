"""Downloads of attached files: only from Discord's servers, and only up to the limit."""

from collections.abc import AsyncIterator

import pytest
from discord.http import Route

from adapters.discord.api.http import configure_endpoints, download, file_name
from core.model.errors import DocumentRejected, FetchRefused, PlatformUnavailable
from tests.fakes.discord import SPECIFICATION, FakeDiscord

pytestmark = pytest.mark.skipif(
    not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"
)


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    before = Route.BASE
    async with FakeDiscord() as server:
        configure_endpoints(server.api_url, None)
        yield server
    configure_endpoints(before, None)


async def test_a_file_of_the_size_that_is_wanted_comes_whole_and_a_larger_one_not_at_all(discord: FakeDiscord) -> None:
    attached = discord.world.attach(discord.channel("general"), "a plan.txt", b"12345", at=discord.url)
    address = attached.payload()["url"]
    assert await download(address, 5, 10) == b"12345"
    with pytest.raises(DocumentRejected, match="larger"):
        await download(address, 4, 10)


async def test_a_file_that_is_gone_says_what_to_do(discord: FakeDiscord) -> None:
    with pytest.raises(FetchRefused, match=r"plan b\.txt was deleted\. Attach it again"):
        await download(f"{discord.url}/attachments/1/2/plan%20b.txt?ex=1", 10, 10)
    assert file_name("https://cdn.discordapp.com/attachments/1/2/plan%20b.txt?ex=1") == "plan b.txt"


async def test_a_server_that_does_not_answer_is_not_taken_for_a_file_that_is_gone(discord: FakeDiscord) -> None:
    address = f"{discord.url}/attachments/1/2/plan.txt"
    await discord.__aexit__(None, None, None)
    with pytest.raises(PlatformUnavailable):
        await download(address, 10, 10)


@pytest.mark.parametrize(
    "address",
    [
        "https://files.example/attachments/1/2/plan.txt",
        "http://cdn.discordapp.com/attachments/1/2/plan.txt",
        "https://cdn.discordapp.com@files.example/plan.txt",
        "http://127.0.0.1:1/attachments/1/2/plan.txt",
    ],
)
async def test_an_address_elsewhere_is_not_followed(discord: FakeDiscord, address: str) -> None:
    with pytest.raises(FetchRefused, match="not stored by Discord"):
        await download(address, 10, 10)
