"""A real browser on the real process: the system's Chromium, driven by Playwright. Skipped without it."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from adapters.redis.embedded_server import EmbeddedValkey

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[3]
AXE = ROOT / "build" / "axe-core" / "package" / "axe.min.js"  # .ci/run brings it: npm pack axe-core
PICTURES = os.environ.get("PAGE_PICTURES", "")  # a folder: every screen is pictured there
STARTING = 180.0  # seconds; the model is loaded on a machine that has other things to do
PATIENCE = 90_000.0  # milliseconds for what the page has to show
DONE = "article.turn:not([aria-busy])"
LINK = re.compile(r"http://\S+/sign-in/\S+")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip


def chromium() -> str:
    """The system's browser; empty where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


class PageServer:
    """``footnote web`` in a process of its own, which can be ended and started anew over the same data."""

    def __init__(self, home: Path, **env: str) -> None:
        self.home = home
        self._env = env
        self.address = ""
        self.link = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self, port: int = 0) -> None:
        """Start it, and read the link that it prints."""
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        env = kept | {"FOOTNOTE_HOME": str(self.home), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"} | self._env
        command = [sys.executable, "-m", "bot", "web", "--port", str(port)]
        self._process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        deadline = time.monotonic() + STARTING
        while time.monotonic() < deadline:
            line = self._process.stdout.readline()
            if found := LINK.search(line):
                self.link = found.group()
                self.address = self.link.partition("/sign-in")[0]
                return
            assert line or self._process.poll() is None, "footnote web ended"
        raise AssertionError("footnote web printed no link")

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(STARTING)  # a model that is being loaded is loaded to its end first
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()

    def sign_in(self, page: "Page") -> None:
        """Open the link and press its button."""
        page.goto(self.link)
        page.get_by_role("button", name="Sign in").click()

    def restart(self) -> None:
        """End it and start it anew, at the same address."""
        port = int(self.address.rpartition(":")[2])
        self.stop()
        self.start(port)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory, empty at first."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[PageServer]:
    """One for all tests of a module."""
    running = PageServer(home)
    running.start()
    yield running
    running.stop()
    asyncio.run(end_store(home))


async def end_store(home: Path) -> None:
    """End the embedded Valkey of a server that could not."""
    async with EmbeddedValkey(home / "valkey"):
        pass


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not chromium():
        pytest.skip("There is no Chromium on this machine")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def signed_in(server: PageServer, browser: "Browser") -> dict[str, Any]:
    """The cookies of the operator, who opened the link once."""
    context = browser.new_context()
    page = context.new_page()
    server.sign_in(page)
    assert page.url == f"{server.address}/"
    state: dict[str, Any] = dict(context.storage_state())
    context.close()
    return state


class Watched:
    """A browser context that records requests and console errors."""

    def __init__(self, context: "BrowserContext", address: str) -> None:
        self.context = context
        self.address = address
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: self._requested(request.url))
        context.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def _requested(self, url: str) -> None:
        if not url.startswith((self.address, "data:")):
            self.foreign.append(url)

    def open(self, path: str) -> "Page":
        """A new page at this address."""
        page = self.context.new_page()
        page.goto(self.address + path)
        return page


@pytest.fixture
def office(server: PageServer, browser: "Browser", signed_in: dict[str, Any]) -> Iterator[Watched]:
    """The operator's browser. External requests and console errors fail the test."""
    context = browser.new_context(storage_state=signed_in, viewport={"width": 1360, "height": 900})  # type: ignore[arg-type]
    watched = Watched(context, server.address)
    yield watched
    context.close()
    assert watched.foreign == []
    assert watched.complaints == []


def picture(page: "Page", name: str, *, whole: bool = False) -> None:
    """Picture a screen, or the whole page behind it, where pictures are wanted."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=whole)


def ask(page: "Page", question: str) -> None:
    """Type it and press Enter."""
    page.fill("#question", question)
    page.press("#question", "Enter")


@pytest.fixture(scope="module")
def library(server: PageServer, browser: "Browser", signed_in: dict[str, Any]) -> None:
    """The sample documents are there, whoever brought them, and so is a conversation about them."""
    context = browser.new_context(storage_state=signed_in)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{server.address}/ask")
    if page.get_by_role("button", name="Add the sample documents").count():
        page.get_by_role("button", name="Add the sample documents").click()
    page.get_by_role("heading", name="Ask your documents").wait_for()
    ask(page, "Who approves refunds?")
    page.wait_for_selector(f"{DONE} .cite")
    context.close()
