"""MCP over stdio with hostile lines: the process goes on, prints nothing but messages, and answers the next call."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from tests.fuzz.events import faulty

pytest.importorskip("mcp", reason="the mcp package is not installed")

pytestmark = pytest.mark.e2e
SERVER = """
import asyncio
from core.service.api_clients import local_owner
from tests.adapters.mcp.test_tools import REFUNDS, Desk

async def main():
    desk = Desk()
    desk.owner = local_owner()
    await desk.harness.knows(REFUNDS, title="Refund policy")
    await desk.server.run_stdio_async()

asyncio.run(main())
"""
LINES = (
    b"",
    b"garbage",
    b"\xff\xfe\x00\x1b[2J",
    b"{",
    b"[]",
    b"null",
    b"1e999",
    b'"\\ud800"',
    b"[" * 100_000,
    b"x" * 3_000_000,
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 1e400, "method": "tools/list"}',
    b"Content-Length: 99\r\n\r\n{}",
)


def message(method: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method} | more


def call(number: Any) -> dict[str, Any]:
    params = {"name": "search_knowledge_base", "arguments": {"query": "refunds", "knowledge_base": "default"}}
    return message("tools/call", id=number, params=params)


async def test_no_hostile_line_ends_the_process_or_makes_it_print_what_is_no_message() -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hostile = [*LINES, *(json.dumps(one).encode() for one in faulty(call("hostile")))]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER), stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=2**24
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        sent = [
            *LINES,
            json.dumps(message("initialize", id="begin", params=client)).encode(),
            json.dumps(message("notifications/initialized")).encode(),
            *hostile,
            json.dumps(call("last")).encode(),
        ]
        writing = asyncio.create_task(_write(process.stdin, sent))
        printed: list[dict[str, Any]] = []
        async with asyncio.timeout(120):
            while not printed or printed[-1].get("id") != "last":
                printed.append(json.loads(await process.stdout.readline()))
            await writing
        assert "14 days" in json.dumps(printed[-1])
        assert "Traceback" not in json.dumps(printed)
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _write(to: asyncio.StreamWriter, lines: list[bytes]) -> None:
    for line in lines:
        to.write(line + b"\n")
        await to.drain()
