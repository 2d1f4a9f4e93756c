"""Connecting a source in a browser: the form, what it says of a wrong token, the first sync, a group, and removal."""

import asyncio
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.web.conftest import PATIENCE, PageServer, Watched, ask, end_store, picture
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here."),
]


@pytest.fixture(scope="module")
def site() -> Iterator[FakeConfluence]:
    """A site in a loop of its own: the browser is driven from a thread that waits."""
    loop, site = asyncio.new_event_loop(), FakeConfluence()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(site.__aenter__(), loop).result(30)
    site.add_page("1", "Refund policy", "<p>Refunds of annual plans are paid within 14 days.</p>")
    site.add_page("2", "Board minutes", "<p>The board meets in May.</p>", groups=("g-board",))
    site.add_page("3", "Broken page", "")
    site.without_body.add("3")
    site.groups["g-board"] = []
    yield site
    asyncio.run_coroutine_threadsafe(site.__aexit__(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)
    loop.close()
    assert not site.violations


@pytest.fixture(scope="module")
def server(site: FakeConfluence, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    home: Path = tmp_path_factory.mktemp("home")
    running = PageServer(home, FETCH_ALLOW_PRIVATE=f"127.0.0.1:{site.port}")
    running.start()
    yield running
    running.stop()
    asyncio.run(end_store(home))


def test_a_source_is_connected_mapped_asked_and_removed(office: Watched, site: FakeConfluence) -> None:
    page = office.open("/connections")
    picture(page, "connect-nothing")
    page.get_by_role("link", name="Confluence").click()
    page.get_by_label("Name", exact=False).first.fill("wiki")
    page.get_by_label("Address of the site").fill(site.url)
    page.get_by_label("E-mail address of the account").fill(EMAIL)
    page.get_by_label("API token").fill("mistyped")
    picture(page, "connect-form", whole=True)
    page.get_by_role("button", name="Check and connect").click()
    page.get_by_role("alert").wait_for()
    assert "rejected the token" in page.inner_text("[role=alert]")
    assert page.get_by_label("API token").input_value() == ""
    picture(page, "connect-refused", whole=True)
    page.get_by_label("API token").fill(TOKEN)
    page.get_by_role("button", name="Check and connect").click()
    page.get_by_role("heading", name="wiki").wait_for()
    assert "sees 3 documents" in page.inner_text(".note")
    page.goto(f"{office.address}/connections/wiki")
    page.get_by_role("button", name="Sync now").click()
    _until(page, "Broken page")
    assert "1 document not indexed" in page.inner_text("#readers")
    picture(page, "connection", whole=True)
    page.get_by_label("g-board", exact=False).fill("mail:user:ada@example.org")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_url("**/connections/wiki#readers")
    assert page.locator("input[value='mail:user:ada@example.org']").count() == 1
    asking = office.open("/ask")
    ask(asking, "When are refunds of annual plans paid?")
    asking.wait_for_selector("article.turn:not([aria-busy]) .cite")
    assert "14 days" in asking.inner_text("article.turn")
    page.set_viewport_size({"width": 390, "height": 844})
    picture(page, "connection-phone", whole=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_text("Remove this connection").click()
    page.get_by_role("button", name="Remove wiki").click()
    page.get_by_text("wiki is no longer connected").wait_for()
    office.complaints = [one for one in office.complaints if "422" not in one]  # the browser logs the refused form


def _until(page: "Page", words: str) -> None:
    """Reload until the page says so."""
    waited = 0
    while words not in page.inner_text("main"):
        assert waited < PATIENCE, page.inner_text("main")
        page.wait_for_timeout(1000)
        waited += 1000
        page.reload()
