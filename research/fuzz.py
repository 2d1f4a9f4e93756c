"""Sends requests that nobody means to the page, ``/v1`` and MCP, and slow clients; prints what must not have happened.

    python -m research.fuzz [--requests 20000] [--seed 1]

Routes come from the app. A failure is an answer of 5xx, but for a 503 that says why, or an error in the log.
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
from tests.adapters.web.api.office import Office
from tests.fuzz.office import errors_logged, failures, page_and_api, tools

SLOW_CLIENTS = 900
SEEDS = 4
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


async def _described() -> int:
    """All phases of schemathesis over the description of ``/v1``; its exit status."""
    office = Office()
    await office.scene.knows("Refunds are paid within 14 days.", title="Refund policy")
    with tempfile.TemporaryDirectory() as folder:
        async with office.open():
            program = await office.program()
            process = await asyncio.create_subprocess_exec(
                str(Path(sys.executable).parent / "schemathesis"), "run", office.url("/v1/openapi.json"),
                "-H", f"Authorization: Bearer {program.secret}", "--phases", "coverage,fuzzing", "--max-examples", "25",
                cwd=folder,
                stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            said, _ = await process.communicate()
    lines = [line for line in said.decode().splitlines() if "test cases" in line or "failures" in line.lower()]
    print(f"schemathesis: exit {process.returncode}; {'; '.join(line.strip() for line in lines[:3])}")
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
    given = parser.parse_args()
    found = await _fuzzed(given.requests, given.seed)
    found += await _described()
    found += await _slow()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
