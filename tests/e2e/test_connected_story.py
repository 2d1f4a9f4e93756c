"""One source, three places: a page of Confluence asked about in Slack, in Discord and on the page while it changes.

The real process with all three, the real command, and Slack, Discord and Confluence on sockets. Alice is known in Slack
by her address, in Discord by a role that an admin mapped, and on the page by the name that a proxy signs her in with.
Bob may read nothing at the source.
"""

import asyncio
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.test_slack_process import STARTING, end_server, free_port
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence
from tests.fakes.discord import SPECIFICATION as DISCORD
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import DEFAULT_SCOPES, FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (SPECIFICATION.exists() and DISCORD.exists() and specs_are_here()),
        reason="The vendors' descriptions are not shared here.",
    ),
]
ROOT = Path(__file__).parents[2]
QUESTION = "Within how many days are refunds of annual plans paid?"
ALICE, BOB = "alice@example.com", "bob@example.com"


@dataclass
class Installation:
    """The process that serves, and the three places where people ask it."""

    home: Path
    site: FakeConfluence
    slack: FakeSlack
    discord: FakeDiscord
    port: int

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        own = {
            "FOOTNOTE_HOME": str(self.home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
            "HTTP_PORT": str(self.port), "WEB_IDENTITY_HEADER": "X-Email", "WEB_PROXIES": "127.0.0.1",
            "FETCH_ALLOW_PRIVATE": f"127.0.0.1:{self.site.port}",
            "CONFLUENCE_URL": self.site.url, "CONFLUENCE_EMAIL": EMAIL, "CONFLUENCE_TOKEN": TOKEN,
        }  # fmt: skip
        return kept | self.slack.environment() | self.discord.environment() | own

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", env=self.environment(), cwd=ROOT, stdout=DEVNULL
        )
        try:
            await self.slack.until(lambda: self.slack.sockets.opened > 0, STARTING, what="a connection to Slack")
            await self.discord.until(self.discord.is_connected, STARTING, what="a connection to Discord")
            yield
        finally:
            process.kill()
            await process.wait()

    async def run(self, *words: str) -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", *words, env=self.environment(), cwd=ROOT, stdin=DEVNULL, stdout=PIPE,
            stderr=STDOUT,
        )  # fmt: skip
        said = (await process.communicate())[0].decode()
        assert process.returncode == 0, said
        return said

    async def answers(self, name: str, address: str) -> list[str]:
        """What somebody is answered in Slack, in Discord and on the page."""
        asked = await self.slack.person(name).says(QUESTION)
        asked_there = await self.discord.person(name).dm(QUESTION)
        in_slack = (await self.slack.reply_to(asked, 120)).markdown
        in_discord = (await self.discord.reply_to(asked_there, 120)).text
        return [in_slack, in_discord, await self._on_the_page(address)]

    async def _on_the_page(self, address: str) -> str:
        site = f"http://127.0.0.1:{self.port}"
        headers = {"X-Email": address, "Origin": site}
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(headers=headers, cookie_jar=jar) as browser:
            async with browser.get(f"{site}/ask") as page:
                form = {"question": QUESTION, "csrf": re.findall(r'name="csrf" value="([^"]+)"', await page.text())[0]}
            async with browser.post(f"{site}/ask", data=form, allow_redirects=False) as asked:
                there = f"{site}{asked.headers['Location'].partition('#')[0]}"
            async with asyncio.timeout(120):
                while True:
                    async with browser.get(there) as page:
                        text = await page.text()
                    if "aria-busy" not in text:
                        return text
                    await asyncio.sleep(0.2)


@pytest.fixture
async def installation(tmp_path: Path) -> AsyncIterator[Installation]:
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(FakeConfluence())
        slack = await stack.enter_async_context(FakeSlack(scopes=DEFAULT_SCOPES | {"users:read.email"}))
        discord = await stack.enter_async_context(FakeDiscord())
        site.people |= {"alice": ALICE, "bob": BOB}
        site.groups["g-staff"] = ["alice"]
        site.add_page("1", "Refund policy", "<p>Refunds of annual plans are paid within 14 days.</p>")
        yield Installation(tmp_path, site, slack, discord, free_port())
        assert not site.violations
        assert not slack.violations
        assert not discord.violations
    await end_server(tmp_path)


async def test_connected_asked_changed_and_withdrawn_in_slack_discord_and_on_the_page(
    installation: Installation,
) -> None:
    site, discord = installation.site, installation.discord
    staff = discord.world.add_role("staff")
    discord.person("alice").member.roles.append(staff)
    async with installation.serving():
        assert "1 added" in await installation.run("connect", "confluence", "--name", "wiki", "--yes")
        role = f"discord:role:{discord.guild_id}/{staff.id}"
        await installation.run("connections", "map", "wiki", "g-staff", role)
        await installation.run("connections", "sync", "wiki")
        for answer in await installation.answers("alice", ALICE):
            assert "14 days" in answer
            assert "Refund policy" in answer
        assert not [one for one in await installation.answers("bob", BOB) if "14 days" in one or "Refund policy" in one]

        site.change("1", body="<p>Refunds of annual plans are paid within 30 days.</p>")
        assert "1 updated" in await installation.run("connections", "sync", "wiki")
        for answer in await installation.answers("alice", ALICE):
            assert "30 days" in answer
            assert "14 days" not in answer

        site.groups["g-board"] = []
        site.pages["1"].groups = ("g-board",)  # for a group that nobody is in
        await installation.run("connections", "sync", "wiki")
        withdrawn = await installation.answers("alice", ALICE)
        assert not [one for one in withdrawn if "30 days" in one or "Refund policy" in one]
