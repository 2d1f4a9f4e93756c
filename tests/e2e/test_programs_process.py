"""Programs at the real process: /v1 over HTTP, MCP over stdio and HTTP by the official client, tokens and their reach.

One installation for all: a handbook that is open, and the board's minutes with a canary, which are not.
"""

import asyncio
import json
import re
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from openai import AsyncOpenAI

from tests.e2e.test_slack_process import ROOT, STARTING, end_server, environment, free_port
from tests.several_commands import run_commands

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]

HANDBOOK = "# Lift\n\nThe lift is inspected every spring by Mr Otis.\n"
BOARD = "# Takeover\n\nThe canary project takes over Zanzibar Lifts in May.\n"
SECRET = re.compile(r"footnote_[A-Z0-9]{8}_[\w-]{43}")


@dataclass(frozen=True)
class Installation:
    """A data directory that is filled, with tokens."""

    home: Path
    handbook: str  # reads what is open; its questions may be shown
    board: str  # reads the board's minutes alone
    searching: str  # may only search
    revoked: str

    def run(self, *words: str) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "bot", *words]
        done = subprocess.run(
            command, env=environment(self.home), cwd=ROOT, check=True, capture_output=True, timeout=300, text=True
        )
        return done.stdout


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("programs")
    home = folder / "home"
    for name, text in (("handbook", HANDBOOK), ("board", BOARD)):
        (folder / f"{name}.md").write_text(text)
    printed = run_commands(
        [
            ["ingest", str(folder / "handbook.md"), "--kb", "handbook"],
            ["ingest", str(folder / "board.md"), "--kb", "board"],
            ["kb", "grant", "board", "slack:channel:T1/C1", "--yes"],
            ["token", "create", "--name", "the wiki", "--public"],
            ["token", "create", "--kb", "board"],
            ["token", "create", "--scope", "search"],
            ["token", "create", "--name", "gone"],
        ],
        environment(home),
    )
    made = [token.out.strip() for token in printed[3:]]
    assert all(SECRET.fullmatch(secret) for secret in made)
    filled = Installation(home, *made)
    filled.run("token", "revoke", made[-1].split("_")[1])
    yield filled
    asyncio.run(end_server(home))


@asynccontextmanager
async def running(installation: Installation, *words: str, **more: str) -> AsyncIterator[tuple[Process, str]]:
    """A command that serves, and the address that it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *words),
        env=environment(installation.home) | more,
        cwd=ROOT,
        stdout=PIPE,
        stderr=DEVNULL,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(STARTING):
            while not (found := re.search(rb"http://[\d.]+:\d+(/mcp)?", await process.stdout.readline())):
                assert process.returncode is None
        yield process, found[0].decode()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def ready(address: str) -> None:
    async with asyncio.timeout(STARTING), aiohttp.ClientSession() as web:
        while True:
            async with web.get(f"{address}/readyz") as response:
                if response.status == 200:
                    return
            await asyncio.sleep(0.2)


async def post(address: str, path: str, token: str, **fields: Any) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as web, web.post(address + path, json=fields, headers=headers) as response:
        return response.status, await response.json(content_type=None)


async def test_programs_ask_the_running_page_and_gaps_lists_what_they_did_not_find(
    installation: Installation,
) -> None:
    async with running(installation, "web", "--port", str(free_port())) as (_, address):
        await ready(address)
        status, answer = await post(address, "/v1/ask", installation.handbook, question="Who inspects the lift?")
        assert (status, answer["outcome"]) == (200, "answered")
        assert "Mr Otis" in answer["answer"]
        assert answer["citations"][0]["title"] == "Lift"
        for question in ("When does the cafeteria serve lunch?", "At what time is lunch served in the cafeteria?"):
            _, missing = await post(address, "/v1/ask", installation.handbook, question=question)
            assert missing["outcome"] in {"abstained", "parked"}
        for path, fields in (("/v1/ask", {"question": "canary takeover?"}), ("/v1/search", {"query": "canary"})):
            status, told = await post(address, path, installation.handbook, **fields)
            assert status == 200
            assert "Zanzibar" not in json.dumps(told)
        _, found = await post(address, "/v1/search", installation.board, query="canary")
        assert "Zanzibar" in json.dumps(found)
        assert (await post(address, "/v1/ask", installation.searching, question="lift?"))[0] == 403
        assert (await post(address, "/v1/search", installation.searching, query="lift"))[0] == 200
        assert (await post(address, "/v1/search", installation.revoked, query="lift"))[0] == 401
    report = json.loads(await asyncio.to_thread(installation.run, "gaps", "--json"))
    lunch = [gap for gap in report["gaps"] if "lunch" in gap["title"]]
    assert [gap["questions"] for gap in lunch] == [2]


async def test_the_example_of_the_documentation_runs_and_so_does_the_openai_client(installation: Installation) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text(), re.DOTALL)
    assert example is not None
    made = installation.run("token", "create", "--scope", "ask,search,ingest", "--kb", "handbook").strip()
    async with running(installation, "web", "--port", str(free_port())) as (_, address):
        await ready(address)
        env = environment(installation.home) | {"FOOTNOTE_URL": address, "FOOTNOTE_TOKEN": made}
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", example[1], env=env, cwd=ROOT, stdout=PIPE, stderr=PIPE
        )
        out, err = await asyncio.wait_for(program.communicate(), STARTING)
        assert program.returncode == 0, err.decode()
        assert out.startswith(b"answered")
        assert b"Mr Otis" in out
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key=made) as client:
            answer = await client.chat.completions.create(
                model="footnote/handbook", messages=[{"role": "user", "content": "Who inspects the lift?"}]
            )
            assert "Mr Otis" in (answer.choices[0].message.content or "")
            assert answer.choices[0].message.annotations
        async with aiohttp.ClientSession() as web:
            async with web.get(f"{address}/docs") as page:
                assert (page.status, page.content_type) == (200, "text/html")
            async with web.delete(f"{address}/v1/documents/lift", headers={"Authorization": f"Bearer {made}"}) as gone:
                assert gone.status == 200
    assert "api:" not in await asyncio.to_thread(installation.run, "sources", "list")


async def test_the_owners_agent_reads_everything_over_stdio(installation: Installation) -> None:
    pytest.importorskip("mcp", reason="the mcp package is not installed")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "bot", "mcp"], env=environment(installation.home), cwd=ROOT
    )
    async with asyncio.timeout(STARTING), Client(server) as client:
        assert len((await client.list_tools()).tools) == 5
        sources = (await client.call_tool("list_sources", {})).structured_content
        assert {base["name"] for base in sources["knowledge_bases"]} == {"handbook", "board"}
        found = (await client.call_tool("search_knowledge_base", {"query": "canary takeover"})).structured_content
        first = found["passages"][0]
        section = await client.call_tool("read_section", {"document": first["document"], "section": first["section"]})
        assert "Zanzibar Lifts" in section.structured_content["text"]
        answer = (await client.call_tool("ask", {"question": "Who inspects the lift?"})).structured_content
        assert "Mr Otis" in answer["answer"]
        assert answer["sources"][0]["title"] == "Lift"


async def test_over_http_each_agent_reads_what_its_token_may(installation: Installation) -> None:
    pytest.importorskip("mcp", reason="the mcp package is not installed")
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def told(address: str, token: str) -> str:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            results = [
                await client.call_tool("list_sources", {}),
                await client.call_tool("search_knowledge_base", {"query": "who does what"}),
                await client.call_tool("ask", {"question": "What does the canary project take over?"}),
            ]
        return repr([result.structured_content or result.content for result in results])

    async with running(installation, "mcp", "--http", "--port", "0") as (_, address):
        async with asyncio.timeout(STARTING):
            handbook, board = await asyncio.gather(
                told(address, installation.handbook), told(address, installation.board)
            )
            assert "Mr Otis" in handbook
            assert "Zanzibar" not in handbook
            assert "Zanzibar" in board
            assert "Otis" not in board
            assert "may not ask" in await told(address, installation.searching)
        async with aiohttp.ClientSession() as web:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accept = {"Accept": "application/json, text/event-stream"}
            for token in ("", installation.revoked, "nonsense"):
                headers = accept | ({"Authorization": f"Bearer {token}"} if token else {})
                async with web.post(address, json=call, headers=headers) as refused:
                    assert refused.status == 401


async def test_a_token_that_opens_nothing_is_told_at_the_start(installation: Installation) -> None:
    env = environment(installation.home) | {"MCP_TOKEN": installation.revoked}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "mcp"), env=env, cwd=ROOT, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), STARTING)
    assert (process.returncode, out) == (1, b"")
    assert b"MCP_TOKEN is not a valid token." in err
    assert installation.revoked.encode() not in err
