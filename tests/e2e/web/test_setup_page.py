"""The setup in a browser: from nothing to a checked installation, against a Slack, by the operator of the machine."""

import asyncio
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.web.conftest import AXE, PATIENCE, PageServer, Watched, end_store, picture
from tests.fakes.slack import FakeSlack, specs_are_here

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@pytest.fixture(scope="module")
def slack() -> Iterator[FakeSlack]:
    """A Slack in a loop of its own: the browser is driven from this thread."""
    loop, there = asyncio.new_event_loop(), threading.Event()
    platform: list[FakeSlack] = []
    ended = asyncio.Event()

    async def serve() -> None:
        async with FakeSlack() as fake:
            platform.append(fake)
            there.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    there.wait(60)
    yield platform[0]
    loop.call_soon_threadsafe(ended.set)
    thread.join(60)
    loop.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, slack: FakeSlack) -> Iterator[PageServer]:
    """The page of an installation that knows no platform yet."""
    home = tmp_path_factory.mktemp("home")
    running = PageServer(home, SLACK_API_URL=slack.api_url, XDG_CONFIG_HOME=str(home / "config"))
    running.start()
    yield running
    running.stop()
    asyncio.run(end_store(home))


def give(page: "Page", label: str, token: str) -> None:
    """Paste a token and send it."""
    page.get_by_label(re.compile(label)).fill(token)
    page.get_by_role("button", name="Check and save").click()


def test_slack_from_nothing_to_a_checked_installation(
    office: Watched, server: PageServer, slack: FakeSlack, tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.")
    page = office.open("/")
    page.get_by_role("link", name="Add Footnote to your team's chat").click()
    page.get_by_role("heading", name="Where should Footnote answer?").wait_for()
    page.locator("a[href='/setup/slack']").click()
    made = page.get_by_role("link", name="Open it at Slack")
    assert (made.get_attribute("href") or "").startswith("https://api.slack.com/apps?new_app=1&manifest_json=")
    picture(page, "setup-slack-begin")

    give(page, "Bot User OAuth Token", slack.app_token)
    page.get_by_text("That is the app token, which comes next.").wait_for()
    give(page, "Bot User OAuth Token", "xoxb-refused-by-slack")
    page.get_by_text("refused: invalid_auth").wait_for()
    picture(page, "setup-slack-refused")
    give(page, "Bot User OAuth Token", f"SLACK_BOT_TOKEN={slack.bot_token}")
    page.get_by_text("all 16 granted").wait_for()
    server.restart()  # people go on where they stopped
    server.sign_in(page)
    page.goto(f"{server.address}/setup/slack")
    page.get_by_text("all 16 granted").wait_for()
    give(page, "App-Level Token", slack.app_token)
    page.get_by_text("a connection was offered").wait_for()

    page.get_by_label("Or a folder of this machine").fill(str(tmp_path / "nowhere"))
    page.get_by_role("button", name="Add folder").click()
    page.get_by_text("There is no file or folder").wait_for()
    page.get_by_label("Or a folder of this machine").fill(str(tmp_path))
    page.get_by_role("button", name="Add folder").click()
    page.wait_for_selector(".job:not([aria-busy])")
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("1 passage of 1 document, all there").wait_for()
    assert page.get_by_text("Slack Socket Mode").count()
    picture(page, "setup-slack-done")
    office.complaints.clear()  # a token that is refused is a 422, which the browser says; so is the restart

    shown = page.content()
    kept = (server.home / ".env").read_text()
    assert kept == f"SLACK_BOT_TOKEN={slack.bot_token}\nSLACK_APP_TOKEN={slack.app_token}\n"
    assert stat.S_IMODE((server.home / ".env").stat().st_mode) == 0o600
    page.goto(f"{server.address}/knowledge/audit")
    for secret in (slack.bot_token, slack.app_token, "xoxb-refused-by-slack"):
        assert secret not in shown
        assert secret not in page.content()
    assert "SLACK_BOT_TOKEN" in page.content(), "it is on record that a token was set"
    assert slack.violations == []


def test_the_unit_is_written_where_systemd_is(office: Watched, server: PageServer) -> None:
    page = office.open("/setup/discord")
    if not page.get_by_role("button", name="Create the systemd unit").count():
        pytest.skip("systemd is not here")
    page.get_by_role("button", name="Create the systemd unit").click()
    page.get_by_text("is written").wait_for()
    unit = server.home / "config" / "systemd" / "user" / "footnote.service"
    assert f"FOOTNOTE_HOME={server.home}" in unit.read_text()


def test_the_page_can_be_set_up_without_scripts(
    server: PageServer, browser: "Browser", signed_in: dict[str, Any], slack: FakeSlack
) -> None:
    context = browser.new_context(storage_state=signed_in, java_script_enabled=False)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{server.address}/setup/discord")
    give(page, "Bot token", slack.bot_token)
    assert page.get_by_text("That is a token of Slack's.").count() == 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1360])
def test_no_screen_of_the_setup_has_a_serious_barrier_or_runs_over_the_edge(
    server: PageServer, browser: "Browser", signed_in: dict[str, Any], scheme: Any, width: int
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm pack axe-core brings it, see .ci/run")
    size = {"width": width, "height": 900}
    context = browser.new_context(storage_state=signed_in, color_scheme=scheme, viewport=size)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    context.add_init_script(path=AXE)
    page = context.new_page()
    for path in ("/setup", "/setup/slack", "/setup/discord", "/knowledge"):
        page.goto(server.address + path)
        picture(page, f"{scheme}-{width}{path.replace('/', '-')}", whole=True)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        assert [(path, one["id"], one["nodes"][0]["html"][:120]) for one in serious] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
