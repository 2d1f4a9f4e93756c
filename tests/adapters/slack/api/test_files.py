"""Files and canvases in Slack."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from adapters.slack.api.files import Files, file_in
from adapters.slack.api.web_client import WebClient
from core.model.errors import DocumentRejected, FetchRefused
from tests.fakes.slack import FakeSlack, specs_are_here

needs_slack = pytest.mark.skipif(
    not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"
)


@dataclass
class Cabinet:
    slack: FakeSlack
    web: WebClient

    @property
    def files(self) -> Files:
        return Files(self.web)

    def holds(self, name: str, content: bytes) -> str:
        return self.slack.world.add_file(name, content, self.slack.person("ada").id).id


@pytest.fixture
async def cabinet() -> AsyncIterator[Cabinet]:
    async with FakeSlack() as slack:
        web = WebClient(slack.bot_token, slack.api_url)
        yield Cabinet(slack, web)
        await web.close()


@pytest.mark.parametrize(
    ("link", "file"),
    [
        ("https://acme.slack.com/docs/T0123/F0456ABC", "F0456ABC"),
        ("https://acme.slack.com/docs/T0123/F0456ABC?focus_section_id=temp:C:x", "F0456ABC"),
        ("https://acme.enterprise.slack.com/files/U0123/F0456ABC/plan.pdf", "F0456ABC"),
        ("https://acme.slack.com/archives/C0123/p1700000000000000", ""),
        ("https://acme.slack.com.evil.example/docs/T0123/F0456ABC", ""),
        ("https://evil.example/https://acme.slack.com/docs/T0123/F0456ABC", ""),
    ],
)
def test_only_a_link_of_slacks_own_names_a_file(link: str, file: str) -> None:
    assert file_in(link) == file


@needs_slack
async def test_a_file_keeps_its_name_and_its_bytes(cabinet: Cabinet) -> None:
    assert await cabinet.files.fetch(cabinet.holds("a.txt", b"words"), 100) == ("a.txt", b"words")


@needs_slack
async def test_a_canvas_is_a_page_with_its_title(cabinet: Cabinet) -> None:
    canvas = await cabinet.slack.person("bob").writes_canvas("Plans & <more>", "<h2>One</h2>", "general")
    name, data = await cabinet.files.fetch(canvas.id, 1_000)
    assert name == f"canvas {canvas.id}.html"
    assert b"<title>Plans &amp; &lt;more&gt;</title>" in data
    assert b"<h2>One</h2>" in data


@needs_slack
async def test_what_is_announced_too_large_is_not_even_fetched(cabinet: Cabinet) -> None:
    with pytest.raises(DocumentRejected, match="larger than"):
        await cabinet.files.fetch(cabinet.holds("a.txt", b"x" * (2**20 + 1)), 2**20)
    assert cabinet.slack.downloads == []


@needs_slack
@pytest.mark.parametrize("name", ["a.txt", "page.html"])
@pytest.mark.parametrize("redirected", [True, False])
async def test_a_page_to_sign_in_is_named_as_what_it_is(cabinet: Cabinet, name: str, redirected: bool) -> None:
    file = cabinet.holds(name, b"<p>words</p>")
    about = await cabinet.files.about(file)
    cabinet.slack.serves_sign_in_page = not redirected
    if redirected:
        cabinet.slack.scopes.discard("files:read")
        with pytest.raises(FetchRefused, match="files:read"):
            await cabinet.web.download(about.url, 100)
    with pytest.raises(FetchRefused, match="files:read"):
        await cabinet.files.fetch(file, 100)


@needs_slack
@pytest.mark.parametrize(
    "url", ["https://evil.example/a.txt", "https://slack.com.evil.example/a", "http://files.slack.com/a.txt"]
)
async def test_the_token_goes_to_slack_alone(cabinet: Cabinet, url: str) -> None:
    with pytest.raises(FetchRefused, match="outside Slack"):
        await cabinet.web.download(url, 100)


@needs_slack
async def test_a_file_that_is_gone_says_so(cabinet: Cabinet) -> None:
    with pytest.raises(FetchRefused, match="It was deleted, or it is not shared with me"):
        await cabinet.files.fetch("F0GONE", 100)
