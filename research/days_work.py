# ruff: noqa: T201 - a measurement is printed
"""A day's work at the real process: 10,000 questions, 1,000 ingests and 20 restarts; what must not grow is looked at.

    python -m research.days_work [--scale 1.0] [--restarts 20]

``footnote web`` with the embedded stores and the extractive reasoner, asked over ``/v1`` by 8 at a time: half of the
questions in 50 conversations, half alone. Documents are put under 100 keys again and again. Looked at after a quarter
of each life of the process and at its end: memory, open files, threads, and Redis's keys by their kind. What grows is
printed, and the exit status is 1: open files or threads within a life; memory from the first life's end to the last's
by over 15 %; keys that never expire from the first life's end to the last's.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from tests.e2e.test_programs_process import Installation, ready, running
from tests.e2e.test_slack_process import SAMPLES, end_server, free_port

QUESTIONS, INGESTS, TOGETHER, TRIES = 10_000, 1_000, 8, 10
CONVERSATIONS, KEYS = 50, 100
MORE_FILES, MORE_MEMORY = 5, 1.15
WORDS = (
    "who approves refunds?",
    "how long do refunds take?",
    "what is the VPN for?",
    "who is on call?",
    "and at night?",
)
_ID = re.compile(r"[0-9a-f]{8,}|\{[^}]*\}|[\w.@-]*\d[\w.@/-]*")


@dataclass(frozen=True)
class Look:
    """The process and its Redis at one moment. ``lasting`` are keys without an expiry, ``passing`` the others."""

    resident: int  # MB, with the embedded servers
    files: int
    threads: int
    redis: int  # MB
    lasting: Counter[str]
    passing: Counter[str]

    def __str__(self) -> str:
        """One line of the table."""
        keys = f"{self.lasting.total():,} + {self.passing.total():,} keys"
        return f"{self.resident} MB, {self.files} files, {self.threads} threads, Redis {self.redis} MB, {keys}"


async def look(home: Path, pid: int) -> Look:
    """Look at a process of this home."""
    proc = Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    lasting, passing = Counter[str](), Counter[str]()
    async with EmbeddedValkey(home / "valkey") as server:
        client = connect(server.url)
        try:
            names = [str(name) async for name in client.scan_iter(count=1_000)]
            for start in range(0, len(names), 1_000):
                pipe = client.pipeline(transaction=False)
                for name in names[start : start + 1_000]:
                    pipe.ttl(name)
                for name, left in zip(names[start : start + 1_000], await pipe.execute(), strict=True):
                    (lasting if left == -1 else passing)[_ID.sub("*", name)] += 1
            memory = await client.info("memory")
        finally:
            await client.aclose()
    return Look(
        int(status["VmRSS"].split()[0]) // 1024,
        len(list((proc / "fd").iterdir())),
        int(status["Threads"]),
        int(memory["used_memory"]) // 2**20,
        lasting,
        passing,
    )


class Program:
    """A program that asks and adds documents, again where it reads to try later.

    ``failed`` counts the answers that it must not get.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"})
        self.failed = Counter[str]()
        self.later = 0

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()

    async def ask(self, number: int) -> None:
        """Ask a question, every other one in a conversation."""
        fields = {"question": f"{WORDS[number % len(WORDS)]} I ask for team {number % 97}."}
        if number % 2:
            fields["conversation"] = f"c{number % CONVERSATIONS}"
        await self._send("POST", "/v1/ask", fields)

    async def put(self, number: int) -> None:
        """Put a document that has not been there so, and wait until it is in."""
        text = f"# Gate {number % KEYS}\n\nGate {number % KEYS} opens at {number} o'clock in edition {number}."
        job = await self._send("PUT", f"/v1/documents/gate-{number % KEYS}", {"text": text})
        while job.get("state") in ("queued", "running"):
            await asyncio.sleep(0.3)
            job = await self._send("GET", f"/v1/jobs/{job['id']}")
        self.failed[f"job {job.get('state')}"] += job.get("state") != "done"

    async def _send(self, method: str, path: str, fields: dict[str, str] | None = None) -> dict[str, str]:
        status, reply = 0, dict[str, str]()
        for _ in range(TRIES):
            async with self._session.request(method, self._address + path, json=fields) as got:
                status, reply = got.status, await got.json(content_type=None)
            if status not in (429, 503):
                break
            self.later += 1
            await asyncio.sleep(2)
        self.failed[f"{method} {path} {status}"] += status not in (200, 202)
        return reply


async def work(program: Program, questions: range, ingests: range) -> None:
    """Ask and put, so many at a time; documents one after the other."""
    numbers = iter(questions)

    async def asking() -> None:
        for number in numbers:
            await program.ask(number)

    async def putting() -> None:
        for number in ingests:
            await program.put(number)

    await asyncio.gather(putting(), *(asking() for _ in range(TOGETHER)))


async def live(installation: Installation, token: str, life: int, questions: int, ingests: int) -> tuple[Look, Look]:
    """One life of the process: its work in four parts, looked at after the first and the last."""
    looks = []
    async with running(installation, "web", "--port", str(free_port())) as (process, address):
        await ready(address)
        program = Program(address, token)
        try:
            for part in range(4):
                first, added = (life * 4 + part) * questions // 4, (life * 4 + part) * ingests // 4
                await work(program, range(first, first + questions // 4), range(added, added + max(1, ingests // 4)))
                if part in (0, 3):
                    looks.append(await look(installation.home, process.pid))
        finally:
            await program.close()
    again = f"; {program.later} sent again after 503" if program.later else ""
    print(f"life {life + 1}: {looks[1]}; after a quarter {looks[0].resident} MB{again}", flush=True)
    if failed := {what: count for what, count in program.failed.items() if count}:
        print(f"  failed: {failed}", flush=True)
        raise SystemExit(1)
    return looks[0], looks[1]


def grown(lives: list[tuple[Look, Look]]) -> list[str]:
    """Return what must not grow and did."""
    first, last = lives[0][1], lives[-1][1]
    found = [
        f"{what} of life {number}: {getattr(early, what)} to {getattr(late, what)}"
        for number, (early, late) in enumerate(lives, 1)
        for what in ("files", "threads")
        if getattr(late, what) > getattr(early, what) + MORE_FILES
    ]
    if last.resident > MORE_MEMORY * first.resident:
        found.append(f"memory: {first.resident} to {last.resident} MB")
    found += [
        f"keys {name}: {first.lasting[name]} to {n}" for name, n in last.lasting.items() if n > first.lasting[name]
    ]
    return found


async def measure(scale: float, restarts: int) -> int:
    """Do the work; 1 where something grew."""
    lives_count = restarts + 1
    questions, ingests = int(QUESTIONS * scale) // lives_count, int(INGESTS * scale) // lives_count
    with tempfile.TemporaryDirectory(prefix="days-work-") as folder:
        installation = Installation(Path(folder) / "home", "", "", "", "")
        installation.run("ingest", str(SAMPLES))
        scopes = ("--scope", "ask,search,ingest", "--kb", "default", "--rate", "6000")
        token = installation.run("token", "create", *scopes).strip()
        started = time.monotonic()
        try:
            lives = [await live(installation, token, number, questions, ingests) for number in range(lives_count)]
        finally:
            await end_server(installation.home)
    first, last = lives[0][1], lives[-1][1]
    more = last.passing - first.passing
    print(f"{questions * lives_count:,} questions, {restarts} restarts, {time.monotonic() - started:.0f} s")
    print(f"keys that expire, more at the end: {', '.join(f'{n:,} {name}' for name, n in more.most_common(8))}")
    for line in (found := grown(lives)):
        print(f"GREW: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--restarts", type=int, default=20)
    given = parser.parse_args()
    sys.exit(asyncio.run(measure(given.scale, given.restarts)))
