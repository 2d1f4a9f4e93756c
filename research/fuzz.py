"""Sends requests that nobody means to the page, ``/v1`` and MCP, malformed events and slow clients; prints failures.

    python -m research.fuzz [--requests 20000] [--seed 1] [--examples 100] [--only requests,events,described,slow]

Routes come from the app. ``described``: all phases of schemathesis over the whole description of ``/v1``, against a
``footnote web`` process. A failure is an answer of 5xx, but for a 503 that says why, or an error in the log.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from adapters.http_bounds import HttpBounds
from bot.health import application, listen
from bot.readiness import ReadinessReport
from tests.e2e.test_programs_process import HANDBOOK, Installation, ready, running
from tests.e2e.test_slack_process import end_server, free_port
from tests.fuzz.office import errors_logged, failures, page_and_api, tools
from tests.fuzz.platforms import discord_bot, send_to_discord, send_to_slack, slack_bot

SLOW_CLIENTS = 900
SEEDS = 4
BASES = ("default", "board")
_CUT_SHORT = ("ClientDisconnect", "LocalProtocolError")  # what uvicorn and mcp log of requests that break off


async def _fuzzed(requests: int, seed: int) -> int:
    found = 0
    for name, opened, share in (("page and /v1", page_and_api, 1.0), ("MCP", tools, 0.2)):
        seeds = SEEDS if opened is page_and_api else 1  # a process can serve MCP once
        for number in range(seed, seed + seeds):
            count = int(requests * share / seeds)
            with errors_logged() as logged:
                async with opened(number) as fuzzer:
                    failed = await failures(fuzzer, count)
                    routes = len(fuzzer.routes)
            wrong = [one for one in logged if not any(word in one for word in _CUT_SHORT)]
            bad = f"{len(failed)} of 5xx, {len(wrong)} errors"
            print(f"{name}, seed {number}: {count:,} requests to {routes} routes, {bad}", flush=True)
            for failure in failed[:3]:
                print(f"  {failure.status} for {failure.sent[:300]!r}")
            for error in wrong[:3]:
                print(f"  {error}")
            found += len(failed) + len(wrong)
    return found


async def _events() -> int:
    """Every fault of every kind of event of both platforms; Slack's by both roads."""
    found = 0
    for road in ("socket", "http"):
        with errors_logged() as logged:
            async with slack_bot(road) as (slack, _):
                count, failed = await send_to_slack(slack, 1)
        print(f"Slack, {road}: {count:,} events, {len(failed)} of 5xx, {len(logged)} errors", flush=True)
        found += len(failed) + len(logged)
    with errors_logged() as logged:
        async with discord_bot() as discord:
            count = await send_to_discord(discord, 1)
    print(f"Discord: {count:,} dispatches, {len(logged)} errors", flush=True)
    return found + len(logged)


async def _described(examples: int) -> int:
    """All phases of schemathesis over the description of ``/v1`` at a ``footnote web`` process; its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder) / "home", "", "", "", "")
        try:
            for base in BASES:
                (Path(folder) / "lift.md").write_text(HANDBOOK)
                installation.run("ingest", f"{folder}/lift.md", "--kb", base)
            named = [word for base in BASES for word in ("--kb", base)]
            scopes = ("--scope", "ask,search,ingest")
            token = installation.run("token", "create", *scopes, *named, "--rate", "6000").strip()
            async with running(installation, "web", "--port", str(free_port())) as (_, address):
                await ready(address)
                return await _schemathesis(address, token, examples, folder)
        finally:
            await end_server(installation.home)


async def _schemathesis(address: str, token: str, examples: int, folder: str) -> int:
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).parent / "schemathesis"), "run", f"{address}/v1/openapi.json",
        "-H", f"Authorization: Bearer {token}", "--phases", "examples,coverage,fuzzing,stateful",
        "--max-examples", str(examples), "--continue-on-failure", "--request-timeout", "70",
        # What a description cannot say is refused all the same, and its \w is ASCII's alone.
        "--exclude-checks", "positive_data_acceptance,negative_data_rejection",
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, _ = await process.communicate()
    print(f"schemathesis: exit {process.returncode}\n{said.decode()[-6_000:]}", flush=True)
    return process.returncode or 0


async def _slow() -> int:
    """Half a request line of many clients; how many are still open a little after the time for a head."""

    async def ready() -> ReadinessReport:
        return ReadinessReport()

    bounds = HttpBounds()
    port = await listen(application(ready, bounds=bounds), "127.0.0.1", 0)
    place = urlsplit(port.address)
    ended: set[int] = set()

    async def follow(number: int, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            await reader.read()
        ended.add(number)

    async with AsyncExitStack() as stack:
        following = []
        for number in range(SLOW_CLIENTS):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            stack.callback(writer.close)
            writer.write(b"GET / HT")
            following.append(asyncio.create_task(follow(number, reader)))
        await asyncio.sleep(1)
        at_once = len(ended)
        other = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
        async with aiohttp.ClientSession(connector=other) as session, session.get(f"{port.address}/healthz") as answer:
            served = answer.status
        await asyncio.wait(following, timeout=bounds.head + 10)
    await port.cleanup()
    print(
        f"slow clients: {SLOW_CLIENTS} half requests of one address, {at_once} refused at once, "
        f"{SLOW_CLIENTS - len(ended)} open after {bounds.head + 10:.0f} s; another address got {served}"
    )
    return SLOW_CLIENTS - len(ended)


async def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=100, help="of schemathesis for each operation")
    parser.add_argument("--only", default="requests,events,described,slow")
    given = parser.parse_args()
    parts = {
        "requests": lambda: _fuzzed(given.requests, given.seed),
        "events": _events,
        "described": lambda: _described(given.examples),
        "slow": _slow,
    }
    found = [await parts[name]() for name in given.only.split(",")]
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
