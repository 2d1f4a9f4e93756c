"""The example platform, installed like somebody else's package: found by its entry point, served by a real process."""

import asyncio
import hashlib
import hmac
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from tests.e2e.test_slack_process import ROOT, STARTING, end_server, environment, free_port
from tests.several_commands import run_commands

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]

EXAMPLE = ROOT / "examples" / "footnote-webhook"
TOKEN = "token-of-the-other-program"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has put the package."""
    site = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "footnote-webhook"
    command = ["cp", "-r", str(EXAMPLE), str(source)]  # a build leaves files beside its source
    subprocess.run(command, check=True)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(source)]
    subprocess.run(command, check=True, timeout=STARTING)
    return site


@dataclass
class Receiver:
    """The other program: keeps what it is sent, and can refuse for a while."""

    replies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    refusals: int = 0
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        signed = hmac.new(TOKEN.encode(), body, hashlib.sha256).hexdigest()
        assert request.headers["X-Footnote-Signature"] == f"sha256={signed}"
        reply = json.loads(body)
        if self.refusals and reply["kind"] == "answer":
            self.refusals -= 1
            return web.Response(status=503)
        self.replies.append(reply)
        self.keys.append(request.headers["Idempotency-Key"])
        return web.Response()

    async def until(self, kind: str, question: str) -> dict[str, Any]:
        async with asyncio.timeout(STARTING):
            while True:
                for reply in self.replies:
                    if (reply["kind"], reply["id"]) == (kind, question):
                        return reply
                await asyncio.sleep(0.1)


@dataclass
class Served:
    """Footnote with the example, and the program that it talks to."""

    address: str
    receiver: Receiver
    http: aiohttp.ClientSession

    async def call(self, path: str, token: str = TOKEN, method: str = "POST", **body: Any) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"}
        async with self.http.request(method, self.address + path, json=body, headers=headers) as response:
            return response.status, await response.text()

    async def ask(self, number: str, text: str, conversation: str = "support") -> tuple[int, str]:
        question = {"id": number, "conversation": conversation, "person": "ada", "text": text}
        return await self.call("/webhook/messages", **question)


def run(home: Path, site: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        env=_environment(home, site) | more,
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=STARTING,
    )


def _environment(home: Path, site: Path) -> dict[str, str]:
    paths = os.pathsep.join(filter(None, (str(site), str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return environment(home) | {"PYTHONPATH": paths}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Iterator[Path]:
    """A data directory with an open base, and one for the conversation "board" alone."""
    folder = tmp_path_factory.mktemp("webhook")
    home = folder / "home"
    for name, text in (("lift", "# Lift\n\nMr Otis inspects the lift."), ("board", "# Board\n\nZanzibar is next.")):
        (folder / f"{name}.md").write_text(text)
    run_commands(
        [
            ["ingest", str(folder / "lift.md"), "--kb", "lift"],
            ["ingest", str(folder / "board.md"), "--kb", "board"],
            ["kb", "grant", "board", "webhook:channel:main/board", "--yes"],
        ],
        _environment(home, installed),
    )
    yield home
    asyncio.run(end_server(home))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(home: Path, installed: Path) -> AsyncIterator[Served]:
    """One process for all tests that talk to it; each uses question ids of its own."""
    async with serving(home, installed) as running:
        yield running


@asynccontextmanager
async def serving(home: Path, site: Path) -> AsyncIterator[Served]:
    receiver, port = Receiver(), free_port()
    app = web.Application()
    app.router.add_post("/replies", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/replies"
    settings = {"WEBHOOK_TOKEN": TOKEN, "WEBHOOK_REPLY_URL": receiver.url, "HTTP_PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "serve"),
        env=_environment(home, site) | settings,
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as http:
            served = Served(f"http://127.0.0.1:{port}", receiver, http)
            await _ready(served)
            yield served
    finally:
        if process.returncode is None:
            process.terminate()
        assert await process.wait() == 0
        await runner.cleanup()


async def _ready(served: Served) -> None:
    async with asyncio.timeout(STARTING):
        while True:
            try:
                async with served.http.get(f"{served.address}/readyz") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.2)


@pytest.mark.asyncio(loop_scope="module")
async def test_it_answers_over_http_and_keeps_to_the_audience(served: Served) -> None:
    assert (await served.ask("1", "Who inspects the lift?"))[0] == 202
    answer = await served.receiver.until("answer", "1")
    assert "Mr Otis inspects the lift" in answer["text"]
    assert (answer["outcome"], answer["conversation"]) == ("answered", "support")
    assert [one["title"] for one in answer["sources"]] == ["Lift"]

    await served.ask("2", "What is next for the board?", conversation="support")
    assert "Zanzibar" not in json.dumps(await served.receiver.until("answer", "2"))
    await served.ask("3", "What is next for the board?", conversation="board")
    assert "Zanzibar is next" in (await served.receiver.until("answer", "3"))["text"]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_question_again_is_answered_once_and_an_outage_loses_nothing(served: Served) -> None:
    served.receiver.refusals = 2
    assert json.loads((await served.ask("10", "Who inspects the lift?"))[1]) == {"new": True}
    assert json.loads((await served.ask("10", "Who inspects the lift?"))[1]) == {"new": False}
    await served.receiver.until("answer", "10")
    await served.ask("11", "thank you, and who inspects the lift?")
    await served.receiver.until("answer", "11")
    assert served.receiver.refusals == 0
    assert served.receiver.keys.count("support/10/answer") == 1
    assert served.receiver.keys.count("support/10/working") == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_who_has_no_token_or_sends_nonsense_is_refused_and_a_deletion_is_passed_on(served: Served) -> None:
    before = len(served.receiver.replies)
    status, _ = await served.call("/webhook/messages", token="wrong", id="20")
    assert status == 401
    status, said = await served.call("/webhook/messages", id="20", conversation="a/b", person="ada", text="Hi?")
    assert (status, said) == (400, "These fields are missing or wrong: conversation.")
    deleted = {"id": "21", "conversation": "support", "person": "ada"}
    assert (await served.call("/webhook/messages", method="DELETE", **deleted))[0] == 202
    await served.receiver.until("withdrawn", "21")
    assert {reply["id"] for reply in served.receiver.replies[before:]} == {"21"}


def test_doctor_manifest_and_serve_know_it(home: Path, installed: Path) -> None:
    said = run(home, installed, "doctor", "--json", WEBHOOK_TOKEN=TOKEN)
    checks = {check["name"]: check for check in json.loads(said.stdout)}
    assert (checks["Webhook"]["health"], checks["Webhook"]["remedy"][:21]) == ("failed", "Set WEBHOOK_REPLY_URL")
    assert "/webhook/messages" in run(home, installed, "manifest", "webhook").stdout
    refused = run(home, installed, "serve", WEBHOOK_TOKEN=TOKEN)
    assert (refused.returncode, "WEBHOOK_REPLY_URL" in refused.stderr) == (1, True)
    assert TOKEN not in said.stdout + said.stderr + refused.stdout + refused.stderr


def test_without_the_package_its_settings_mean_nothing(home: Path) -> None:
    refused = run(home, ROOT, "manifest", "webhook", WEBHOOK_TOKEN=TOKEN)
    assert refused.returncode == 2
    assert "'webhook' is not one of" in refused.stderr
