"""The page in a browser, from the first start on, over one server's data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.web.conftest import AXE, DONE, PATIENCE, PageServer, Watched, ask, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(600)]

FILES = Path(__file__).parents[4] / "shared" / "data" / "ingest_files"
SCREENS = ("/ask", "/knowledge", "/knowledge/bases/samples", "/knowledge/jobs", "/knowledge/proposals",
           "/knowledge/removed", "/knowledge/audit", "/inspect?q=driver+positions", "/inspect/settings",
           "/inspect/doctor", "/inspect/trace", "/gaps", "/connections", "/connect/confluence")  # fmt: skip


def test_a_first_start_offers_documents_to_look_around_in(office: Watched) -> None:
    page = office.open("/")
    page.get_by_role("heading", name="There is nothing to read yet").wait_for()
    picture(page, "first-start")
    page.get_by_role("button", name="Add the sample documents").click()
    page.get_by_role("heading", name="Ask your documents").wait_for()  # as soon as they are there
    picture(page, "ask")


@pytest.mark.usefixtures("library")
def test_an_answer_is_read_to_the_marked_sentence_in_its_pdf(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "How long are driver positions kept?")
    page.wait_for_selector(f"{DONE} .cite")
    page.locator(".cite").first.click()
    mark = page.locator("#source svg rect").first
    mark.wait_for()
    box, sheet = mark.bounding_box(), page.locator("#source .source-body").bounding_box()
    assert box is not None
    assert sheet is not None
    assert sheet["y"] <= box["y"] <= sheet["y"] + sheet["height"], "the marked sentence is in view"
    assert "Page 2 of 4" in page.inner_text("#source")
    assert page.locator("#source img").evaluate("image => image.naturalWidth") > 500
    picture(page, "answer")
    page.keyboard.press("Escape")
    assert page.locator("#source h2").count() == 0
    assert page.evaluate("document.activeElement.className") == "cite", "back where the reader was"


@pytest.mark.usefixtures("library")
def test_a_follow_up_goes_on_and_its_quote_is_marked_in_the_text(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "How long does a customer on an annual plan have to get a refund?")
    page.wait_for_selector(f"{DONE} .cite")
    ask(page, "And on a monthly plan?")
    page.wait_for_selector(f"{DONE} >> nth=1")
    assert page.input_value("#question") == ""
    page.locator(f"{DONE} >> nth=1").locator(".source-link", has_text="Refund policy (2026)").click()
    page.locator("#source .part.cited mark").first.wait_for()
    assert "14 days" in "".join(page.locator("#source .part.cited mark").all_inner_texts())
    page.locator("article").nth(1).get_by_role("button", name="No", exact=True).click()
    page.get_by_label("If you know the right answer").fill("Thirty days, since March.")
    page.get_by_role("button", name="Propose it").click()
    page.locator(".rating .note.good").wait_for()


@pytest.mark.usefixtures("library")
def test_ten_real_files_come_in_and_can_be_taken_out_and_put_back(office: Watched) -> None:
    if not FILES.exists():
        pytest.skip("The real files are not beside this checkout")
    page = office.open("/knowledge")
    files = [file for kind in ("pdf", "docx", "html", "xlsx", "md") for file in sorted((FILES / kind).iterdir())[:2]]
    page.set_input_files("#files", files)
    page.fill("#into", "papers")
    page.get_by_role("button", name="Add files").click()
    page.wait_for_selector(".job:not([aria-busy])")
    assert "10 files" in page.inner_text(".job >> nth=0")
    picture(page, "knowledge")
    page.goto(f"{office.address}/knowledge/bases/papers")
    title = page.inner_text("#list tbody tr >> nth=0 >> a")
    page.locator("#list tbody tr").first.get_by_role("button", name="Remove").click()
    page.locator("#kb-result").get_by_role("button", name="Remove it").click()
    page.locator("#kb-result .note.good").wait_for()
    page.goto(f"{office.address}/knowledge/removed")
    assert title in page.inner_text("#list")
    page.get_by_role("button", name="Restore").first.click()
    page.locator("#kb-result .note.good").wait_for()
    picture(page, "restored")


@pytest.mark.usefixtures("library")
def test_a_checkpoint_is_pressed_after_a_restart(office: Watched, server: PageServer) -> None:
    page = office.open("/ask")
    ask(page, "How do I configure the timeout?")
    page.wait_for_selector(f"{DONE} .checkpoint button")
    picture(page, "checkpoint")
    server.restart()
    page.locator(".checkpoint button").first.click()
    page.wait_for_selector(f"{DONE} .chosen")
    page.wait_for_selector(f"{DONE} .cite")
    office.complaints.clear()  # while the server was away, the browser says so


@pytest.mark.usefixtures("library")
def test_what_can_be_chosen_is_not_hidden_below_the_field_to_ask_in(office: Watched) -> None:
    page = office.open("/ask")
    page.set_viewport_size({"width": 1280, "height": 620})
    ask(page, "What is new in the latest release?")
    page.wait_for_selector(DONE)
    ask(page, "How do I configure the timeout?")
    page.wait_for_selector(f"{DONE} .checkpoint button")
    page.wait_for_function(
        """() => [...document.querySelectorAll(".checkpoint button")].every((button) => {
            const at = button.getBoundingClientRect();
            return button.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2));
        })"""
    )
    picture(page, "checkpoint-below-others")


@pytest.mark.usefixtures("library")
def test_two_tabs_show_the_same_conversation(office: Watched) -> None:
    first = office.open("/ask")
    ask(first, "Who approves refunds?")
    first.wait_for_url("**/ask/*")
    second = office.open(first.url.removeprefix(office.address))
    for page in (first, second):
        page.wait_for_selector(f"{DONE} .cite")
    assert first.inner_text(".prose") == second.inner_text(".prose")


@pytest.mark.usefixtures("library")
def test_on_a_slow_line_the_answer_arrives_whole(office: Watched) -> None:
    page = office.open("/ask")
    line = office.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 300, "downloadThroughput": 40_000, "uploadThroughput": 20_000}
    line.send("Network.emulateNetworkConditions", slow)
    ask(page, "How long are driver positions kept?")
    page.wait_for_selector(f"{DONE} .cite")
    assert "days" in page.inner_text(".prose")


@pytest.mark.usefixtures("library")
def test_without_scripts_it_can_be_asked_read_and_looked_up(
    server: PageServer, browser: "Browser", signed_in: dict[str, Any]
) -> None:
    context = browser.new_context(storage_state=signed_in, java_script_enabled=False)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{server.address}/ask")
    page.fill("#question", "How long are driver positions kept?")
    page.get_by_role("button", name="Ask").click()
    page.locator(f"{DONE} .cite").first.click()  # the page looks again by itself until the answer is there
    page.get_by_role("heading", name="Data protection").wait_for()
    assert page.locator(".sheet rect").count() > 0
    page.goto(f"{server.address}/knowledge")
    from playwright.sync_api import FilePayload

    page.set_input_files("#files", FilePayload(name="lift.md", mimeType="text/markdown", buffer=b"# Lift\n\nIn May."))
    page.get_by_role("button", name="Add files").click()
    page.get_by_text("Adding lift.md").first.wait_for()
    context.close()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_a_serious_barrier_or_runs_over_the_edge(
    server: PageServer, browser: "Browser", signed_in: dict[str, Any], scheme: Any
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm pack axe-core brings it, see .ci/run")
    context = browser.new_context(storage_state=signed_in, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    context.add_init_script(path=AXE)
    page = context.new_page()
    found: list[Any] = []
    for path in (*SCREENS, _conversation(page, server)):
        page.goto(server.address + path)
        found += _barriers(page, scheme, path.partition("?")[0])
    for name, path, open_state in STATES:
        page.goto(server.address + (path or _conversation(page, server)))
        open_state(page)
        found += _barriers(page, scheme, name)
    context.close()
    assert found == []


def _barriers(page: "Page", scheme: str, name: str) -> list[Any]:
    """What axe finds serious on a desk and on a phone, and what is wider than the phone."""
    found: list[Any] = []
    for width, height in ((1280, 800), (390, 800)):
        page.set_viewport_size({"width": width, "height": height})
        picture(page, f"{scheme}-{width}{name.replace('/', '-')}")
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        found += [(name, width, one["id"], one["nodes"][0]["html"][:120]) for one in serious]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append((name, width, "runs over the edge"))
    return found


def _open_source(page: "Page") -> None:
    page.locator(".source-link").first.click()
    page.wait_for_selector("#source h2")


def _ask_to_remove(page: "Page") -> None:
    page.locator("#list tbody tr").last.get_by_role("button", name="Remove").click()
    page.wait_for_selector("dialog[open]")


def _list_shortcuts(page: "Page") -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("[data-shortcuts]").click()
    page.wait_for_selector("dialog[open]")


def _write_too_much(page: "Page") -> None:
    page.fill("#question", "refunds " * 600)
    page.wait_for_selector(".too-long")


STATES: tuple[tuple[str, str, Callable[["Page"], None]], ...] = (
    ("/source", "", _open_source),
    ("/remove", "/knowledge/bases/samples", _ask_to_remove),
    ("/shortcuts", "/ask", _list_shortcuts),
    ("/too-long", "/ask", _write_too_much),
    ("/not-found", "/nope", lambda _: None),
    ("/found-nothing", "/ask?find=zanzibar", lambda _: None),
)


def _conversation(page: "Page", server: PageServer) -> str:
    """A conversation that is there."""
    page.goto(f"{server.address}/ask")
    return page.locator(".rail li a").last.get_attribute("href") or ""
