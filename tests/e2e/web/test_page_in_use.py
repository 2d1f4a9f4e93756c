"""The page in a browser while it is used: what is in view, where the focus is, what happens without the server."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.web.conftest import DONE, PageServer, Watched, ask, picture
from tests.sample_home import copy_sample_home

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(600), pytest.mark.usefixtures("library")]

NOTE: Any = {
    "name": "ferry.md",
    "mimeType": "text/markdown",
    "buffer": b"# Ferry\n\nThe ferry to the depot leaves at half past nine.",
}
IN_VIEW = """(element) => {
    const box = element.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + Math.min(box.width, 40) / 2, box.y + box.height / 2);
    return box.top >= 0 && box.bottom <= innerHeight && (element.contains(at) || at?.contains(element));
}"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A data directory with the sample documents in it."""
    home = tmp_path_factory.mktemp("page") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    return home


def is_in_view(page: "Page", selector: str) -> bool:
    """Whether it is on the screen with nothing in front of it."""
    return bool(page.locator(selector).last.evaluate(IN_VIEW))


def test_removing_asks_in_a_dialog_in_view_that_can_be_cancelled(office: Watched) -> None:
    page = office.open("/knowledge/bases/samples")
    page.set_viewport_size({"width": 1280, "height": 600})
    row = page.locator("#list tbody tr").last
    title = row.locator("a").inner_text()
    row.get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert title in dialog.inner_text()
    assert is_in_view(page, "dialog .danger")
    picture(page, "remove-dialog")
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    row.get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Cancel").click()
    assert not dialog.is_visible()
    assert title in page.inner_text("#list")


def test_a_follow_up_is_in_view_whole_and_the_focus_is_where_one_asks(office: Watched) -> None:
    page = office.open("/ask")
    page.set_viewport_size({"width": 1280, "height": 720})
    ask(page, "How long are driver positions kept?")
    page.wait_for_selector(f"{DONE} .cite")
    assert page.evaluate("document.activeElement.id") == "question"
    ask(page, "Who approves refunds above €2,000?")
    page.wait_for_selector(f"{DONE} .cite >> nth=1")
    page.wait_for_selector("article:nth-of-type(2):not([aria-busy])")
    page.wait_for_function("document.querySelector('#announce').textContent")
    picture(page, "follow-up")
    for part in (".question", ".source-link", ".rating button"):
        assert is_in_view(page, f"article:last-child {part}"), part
    assert page.evaluate("document.activeElement.id") == "question"


@pytest.mark.parametrize("there", ["start", "conversation"])
def test_a_question_sent_while_the_server_is_away_is_kept_and_sent_once(
    office: Watched, server: PageServer, there: str
) -> None:
    page = office.open("/ask")
    if there == "conversation":
        ask(page, "Who approves refunds?")
        page.wait_for_selector(f"{DONE} .cite")
    before = page.locator("article.turn").count()
    port = int(server.address.rpartition(":")[2])
    server.stop()
    ask(page, "How long are driver positions kept?")
    page.get_by_text("Footnote can’t be reached. Your question is kept").wait_for()
    assert page.input_value("#question") == "How long are driver positions kept?"
    picture(page, f"server-away-{there}")
    server.start(port)
    page.locator("article.turn").nth(before).locator(".cite").first.wait_for()
    page.locator("#question").press("x")
    assert page.get_by_text("Footnote can’t be reached").count() == 0
    page.reload()
    assert page.locator("article.turn").count() == before + 1
    assert page.get_by_text("Footnote can’t be reached").count() == 0
    office.complaints.clear()  # the browser says that it reached no server


def test_the_same_form_sent_twice_is_one_question(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "Who approves refunds?")
    page.wait_for_selector(f"{DONE} .cite")
    shown = page.evaluate(
        """async () => {
            const form = document.querySelector("#composer");
            form.elements.question.value = "How long are driver positions kept?";
            const send = () => fetch(form.action, {method: "POST", body: new FormData(form)});
            const replies = await Promise.all([send(), send()]);
            return replies.map((reply) => reply.status);
        }"""
    )
    assert shown == [200, 200]
    page.reload()
    assert page.locator("article.turn").count() == 2


def test_a_paste_that_is_too_long_is_counted_and_not_cut(office: Watched) -> None:
    page = office.open("/ask")
    page.fill("#question", "refunds " * 600)
    page.get_by_text("4,800 characters: at most 4,000 fit.").wait_for()
    page.press("#question", "Enter")
    assert page.url.endswith("/ask")
    assert len(page.input_value("#question")) == 4_800
    page.fill("#question", "Who approves refunds?")
    assert page.locator(".too-long").count() == 0


def test_an_address_without_a_page_is_a_page_of_ours(office: Watched) -> None:
    for path in ("/nope", "/knowledge/nope", "/knowledge/do", "/documents/nope", "/ask/nope"):
        page = office.open(path)
        assert page.get_by_role("heading", name="Not found").count() == 1, path
        assert page.get_by_role("link", name="Knowledge").count() == 1, path
        page.close()
    office.complaints.clear()  # the browser names each 404


def test_the_sign_in_link_opened_again_leads_home(office: Watched, server: PageServer) -> None:
    page = office.context.new_page()
    server.sign_in(page)
    server.sign_in(page)
    assert page.url == f"{server.address}/"


def test_the_whole_menu_is_in_view_on_a_phone(office: Watched) -> None:
    page = office.open("/ask")
    page.set_viewport_size({"width": 390, "height": 800})
    for entry in page.locator(".menu a").all():
        box = entry.bounding_box()
        assert box is not None
        assert box["x"] >= 0, entry.inner_text()
        assert box["x"] + box["width"] <= 390, entry.inner_text()


def test_a_citation_stays_on_the_line_of_its_sentence(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "How long are driver positions kept?")
    page.wait_for_selector(f"{DONE} .cite")
    for width in range(390, 520, 10):
        page.set_viewport_size({"width": width, "height": 800})
        alone = page.locator(".prose .cite").evaluate_all(
            """(cites) => cites.filter((cite) => {
                const range = document.createRange();
                range.selectNodeContents(cite.parentElement);
                const middle = (box) => box.y + box.height / 2;
                const own = cite.getClientRects()[0];
                const isBeside = (box) => box.x < own.x - 1 && Math.abs(middle(box) - middle(own)) < 12;
                return ![...range.getClientRects()].some(isBeside);
            }).length"""
        )
        assert alone == 0, width


def test_restricting_a_base_names_who_loses_access_and_keeps_it_managed(office: Watched) -> None:
    page = office.open("/knowledge")
    page.fill("#new-base", "private notes")
    page.get_by_role("button", name="Create").click()
    page.locator("#kb-result .note.good").wait_for()
    page.goto(f"{office.address}/knowledge/bases/private%20notes")
    page.set_input_files("#files", NOTE)
    page.get_by_role("button", name="Add files").click()
    page.wait_for_selector(".job:not([aria-busy])")
    page.get_by_label("Restrict to…").fill("web:user:ada")
    page.get_by_role("button", name="Restrict", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("all other people, channels and API tokens lose access").wait_for()
    picture(page, "restrict-dialog")
    dialog.get_by_role("button", name="Cancel").click()
    page.reload()
    assert "open to everyone" in page.inner_text(".head")
    page.get_by_label("Restrict to…").fill("web:user:ada")
    page.get_by_role("button", name="Restrict", exact=True).click()
    dialog.get_by_role("button", name="Restrict to these", exact=True).click()
    page.locator("#kb-result .note.good").wait_for()
    page.reload()
    assert "restricted to web:user:ada" in page.inner_text(".head")
    page.get_by_role("button", name="Everyone").click()
    dialog.get_by_role("button", name="Open it to everyone").click()
    page.locator("#kb-result .note.good").wait_for()
    page.reload()
    assert "open to everyone" in page.inner_text(".head")


def test_an_example_question_is_asked_and_answered(office: Watched) -> None:
    page = office.open("/ask")
    offered = page.locator(".examples button")
    assert offered.count() == 3
    question = offered.first.inner_text()
    picture(page, "examples")
    offered.first.click()
    page.wait_for_selector(f"{DONE} .cite")
    assert page.inner_text(".question") == question


def test_a_file_beside_a_question_is_answered_from(office: Watched) -> None:
    page = office.open("/ask")
    page.set_input_files("#attached", NOTE)
    page.get_by_text("ferry.md").wait_for()
    ask(page, "When does the ferry leave according to the attached file?")
    page.wait_for_selector(DONE)
    assert "Attached: ferry.md" in page.inner_text("article")
    assert "half past nine" in page.inner_text(".prose")
    picture(page, "attached")


def test_an_upload_shows_how_far_it_is_and_what_became_of_it(office: Watched) -> None:
    page = office.open("/knowledge")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
    office.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    blank: Any = {"name": "blank.md", "mimeType": "text/markdown", "buffer": b"\n" * 1_000_000}
    page.set_input_files("#files", blank)
    assert "blank.md" in page.inner_text(".drop .picked")
    page.get_by_role("button", name="Add files").click()
    page.wait_for_function(
        "() => { const bar = document.querySelector('.sending'); return !bar.hidden && bar.value > 0 && bar.value < 1 }"
    )
    picture(page, "uploading")
    page.wait_for_selector("#kb-result .job:not([aria-busy])")
    assert "1 skipped" in page.inner_text("#kb-result")
    assert page.locator(".drop .sending").is_hidden()


def test_a_conversation_is_found_by_its_words(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "Who approves refunds?")
    page.wait_for_selector(f"{DONE} .cite")
    page.fill("#find", "approves refunds")
    page.wait_for_function("document.querySelectorAll('#found li a').length >= 1")
    page.fill("#find", "zanzibar")
    page.get_by_text("None of your conversations contains these words.").wait_for()
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("link", name="New conversation").click()
    page.wait_for_selector(".welcome")
    assert is_in_view(page, "#found li:first-child a"), "on a phone"


def test_shortcuts_are_listed_work_and_can_be_switched_off(office: Watched) -> None:
    page = office.open("/knowledge")
    page.locator("main").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("Go to the question").wait_for()
    picture(page, "shortcuts")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.goto(f"{office.address}/ask")
    page.locator("main").focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("what? and/or")
    assert page.input_value("#question") == "what? and/or"
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    assert not page.get_by_role("dialog").is_visible()


def test_a_table_is_a_table_among_the_sources(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "Who approves refunds?")
    page.wait_for_selector(f"{DONE} .sources table")
    assert "|" not in page.inner_text(".sources")
    assert page.locator(".sources").get_by_text("Who approves").count(), "the section that the answer names"


def test_a_gap_has_a_chart_and_its_draft_waits_until_it_is_written(office: Watched) -> None:
    page = office.open("/ask")
    ask(page, "Is there a canteen on the moon base?")
    page.wait_for_selector(DONE)
    page.goto(f"{office.address}/gaps")
    chart = page.get_by_role("img", name=re.compile("Questions by week"))
    assert chart.locator("text").count() >= 3, "both axes have labels"
    picture(page, "gaps")
    page.get_by_role("link", name=re.compile("Write the missing section on Is there a canteen")).click()
    page.get_by_role("button", name="Propose it").click()
    page.get_by_text("The draft still says “(to be written)”.").wait_for()
    text = page.input_value("#text")
    page.fill("#text", text.replace("(to be written)", "The canteen opens at noon."))
    page.get_by_role("button", name="Propose it").click()
    page.get_by_text("The canteen opens at noon.").wait_for()
    page.get_by_role("button", name="Approve").first.click()
    page.wait_for_selector(".job:not([aria-busy])")
    page.goto(f"{office.address}/ask")
    ask(page, "Is there a canteen on the moon base?")
    page.wait_for_selector(f"{DONE} .cite")
    assert "opens at noon" in page.inner_text(".prose")
    assert "Nearest so far" not in page.inner_text("main")
    office.complaints.clear()  # the browser says that a 422 came


def test_a_removed_base_leaves_its_page_with_the_outcome(office: Watched) -> None:
    """The last one: it takes the sample documents away."""
    page = office.open("/knowledge/bases/samples")
    page.get_by_role("button", name="Remove this base").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove samples").click()
    page.get_by_role("link", name="Back to Knowledge").wait_for()
    page.wait_for_selector(".job:not([aria-busy])")
    assert page.url == f"{office.address}/knowledge"
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("document.activeElement.id") == "main"
