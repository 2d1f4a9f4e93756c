"""The compose file, started: asked, restarted, moved to more workers, one of which is killed, and asked again."""

import asyncio
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.fakes.slack import FakeSlack, Message, specs_are_here

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds, for a machine that is busy with something else
SOCKET = "/data/milvus/milvus.db.sock"
LIFT, BOILER = b"# Lift\n\nThe lift is inspected by Mr Otis.\n", b"# Boiler\n\nThe boiler is cleaned by Ms Bell.\n"

pytestmark = [
    pytest.mark.containers,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


class Composed:
    """One project of the compose file, in a folder of its own with its ``.env``."""

    def __init__(self, folder: Path, slack: FakeSlack) -> None:
        self.folder = folder
        self.slack = slack
        self.name = f"footnote-{uuid.uuid4().hex[:8]}"
        shutil.copy(ROOT / "docker-compose.yml", folder)
        shutil.copy(Path(__file__).with_name("compose.override.yml"), folder)
        self.settings: dict[str, str] = {}

    def run(self, *words: str, check: bool = True) -> str:
        """A command of podman-compose, to its end; what it printed."""
        (self.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in self.settings.items()))
        command = ["podman-compose", "-p", self.name, "-f", "docker-compose.yml", "-f", "compose.override.yml", *words]
        env = {name: os.environ[name] for name in ("PATH", "HOME", "CONTAINERS_CONF") if name in os.environ}
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not check, done.stdout + done.stderr
        return done.stdout + done.stderr

    def container(self, service: str) -> str:
        return f"{self.name}_{service}_1"

    def healthy(self, service: str) -> bool:
        """What the image's own check says now; podman has no timer for it without systemd."""
        command = ["podman", "healthcheck", "run", self.container(service)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def command(self, service: str, *words: str) -> str:
        """What a command prints in a container."""
        done = subprocess.run(["podman", "exec", self.container(service), *words], capture_output=True, check=False)
        return done.stdout.decode()

    def said(self, service: str, pattern: str) -> str:
        """The last word of a container's log that looks like this."""
        command = ["podman", "logs", self.container(service)]
        log = subprocess.run(command, capture_output=True, text=True, check=False)
        return str(re.findall(pattern, log.stdout + log.stderr)[-1])

    async def until_healthy(self, service: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(self.healthy, service):
                await asyncio.sleep(1)

    async def until_there(self, service: str, path: str) -> None:
        """Until a container has this file."""
        command = ["podman", "exec", self.container(service), "test", "-e", path]
        async with asyncio.timeout(PATIENCE):
            while (await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)).returncode:
                await asyncio.sleep(1)

    async def answer(self, words: str, fact: str) -> Message:
        """What is asked is answered, once."""
        question = await self.slack.person("alice").says(f"<@bot> {words}", "general")
        answer = await self.slack.reply_to(question, PATIENCE, until=lambda one: "Show quotes" in one.buttons())
        assert fact in answer.markdown
        assert len(self.slack.answers_to(question)) == 1
        return answer

    async def add(self, name: str, content: bytes) -> None:
        """An admin adds a file."""
        ada = self.slack.person("ada")
        await ada.slash("/kb", "", "general")
        before = len(self.slack.visible(ada.dm))
        await ada.submits(await ada.next_modal(), {"files": [(name, content)]})
        await self.slack.until(
            lambda: any("1 added" in one.markdown for one in self.slack.visible(ada.dm)[before:]), PATIENCE, what="it"
        )


@pytest.fixture
async def composed(engine: str, tmp_path: Path) -> AsyncIterator[Composed]:
    async with FakeSlack() as slack:
        made = Composed(tmp_path, slack)
        yield made
        await asyncio.to_thread(made.run, "--profile", "scale", "down", "--volumes", check=False)
        assert slack.violations == []


async def test_without_any_setting_the_page_is_served_to_who_has_the_link(composed: Composed) -> None:
    await asyncio.to_thread(composed.run, "up", "-d", "--no-build")
    await composed.until_healthy("bot")
    link = composed.said("bot", r"http://127\.0\.0\.1:8080/sign-in/[\w-]+")
    async with aiohttp.ClientSession() as anybody, anybody.get("http://127.0.0.1:8080/ask") as page:
        assert "Sign in" in await page.text()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as admin:  # it takes an address, too
        site = "http://127.0.0.1:8080"
        async with admin.post(link, headers={"Origin": site}) as first:
            token = re.findall(r'name="csrf" value="([^"]+)"', await first.text())[0]
        samples = f"{site}/knowledge/samples"
        async with admin.post(samples, data={"csrf": token}, headers={"Origin": site}) as added:
            assert added.status == 200
        async with asyncio.timeout(PATIENCE):
            while "samples" not in composed.command("bot", "footnote", "kb", "list"):
                await asyncio.sleep(1)
    await asyncio.to_thread(composed.run, "down")
    await asyncio.to_thread(composed.run, "up", "-d", "--no-build")
    await composed.until_healthy("bot")  # the password of Redis is as it was
    assert "samples" in composed.command("bot", "footnote", "kb", "list")


async def test_from_one_container_to_several_and_on_when_one_is_killed(composed: Composed) -> None:
    composed.settings |= composed.slack.environment()
    await asyncio.to_thread(composed.run, "up", "-d", "--no-build")
    assert not composed.healthy("bot")  # it is loading
    await composed.until_healthy("bot")
    await composed.add("lift.md", LIFT)
    answer = await composed.answer("who inspects the lift?", "Otis")
    await asyncio.to_thread(composed.run, "restart", "bot")
    await composed.until_healthy("bot")
    await composed.slack.person("alice").clicks(answer, "Show quotes")
    assert "Otis" in (await composed.slack.person("alice").next_modal()).markdown
    await composed.answer("who inspects the lift?", "Otis")
    await asyncio.to_thread(composed.run, "down")

    composed.settings |= {"COMPOSE_PROFILES": "scale", "MILVUS_URI": f"unix:{SOCKET}"}
    await asyncio.to_thread(composed.run, "up", "-d", "--no-build", "redis", "milvus", "etcd", "minio")
    await composed.until_there("milvus", SOCKET)
    await asyncio.to_thread(composed.run, "run", "--rm", "bot", "kb", "repair")
    await asyncio.to_thread(composed.run, "up", "-d", "--no-build")
    for service in ("bot", "worker"):
        await composed.until_healthy(service)
    await composed.answer("who inspects the lift?", "Otis")
    await composed.add("boiler.md", BOILER)
    asked = [await composed.slack.person(f"p{n}").says("<@bot> who cleans the boiler?", "general") for n in range(6)]
    await asyncio.to_thread(subprocess.run, ["podman", "kill", "-s", "KILL", composed.container("worker")], check=True)
    for question in asked:
        reply = await composed.slack.reply_to(question, PATIENCE, until=lambda one: "Show quotes" in one.buttons())
        assert "Bell" in reply.markdown
        assert len(composed.slack.answers_to(question)) == 1
    await composed.answer("who inspects the lift?", "Otis")
