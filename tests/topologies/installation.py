"""Footnote as several processes: one Redis, one Milvus, a Slack, and ``footnote serve`` in each of its roles.

Redis is a real ``redis-server``. Milvus is Milvus Lite's server behind its socket, by the address of a server: the
real server that comes as a package has no BM25 functions, and Footnote refuses it.
"""

import asyncio
import subprocess
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from redis import Redis

from adapters.milvus.embedded_server import EmbeddedMilvus
from tests.e2e.test_slack_process import ROOT, STARTING, environment, free_port
from tests.fakes.slack import FakeSlack
from tests.topologies.servers import free_port as free_redis_port
from tests.topologies.servers import running, wait_for

PASSWORD = "a-word-for-tests"


@dataclass
class Installation:
    """What all its processes share, and those that run."""

    folder: Path
    redis_url: str
    milvus_uri: str
    processes: dict[str, Process] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def environment(self, name: str = "shared", **more: str) -> dict[str, str]:
        """Each process has a home of its own, as on a machine of its own; the files they share lie beside."""
        shared = {"REDIS_URL": self.redis_url, "MILVUS_URI": self.milvus_uri}
        files = {"BLOB_STORE_URL": f"file://{self.folder / 'files'}"}
        return environment(self.folder / name) | shared | files | more

    def ingest(self, *paths: Path) -> None:
        """Documents go in by the terminal."""
        command = [sys.executable, "-m", "bot", "ingest", *map(str, paths)]
        subprocess.run(command, env=self.environment(), cwd=ROOT, check=True, stdout=DEVNULL, timeout=300)

    @asynccontextmanager
    async def serving(self, slack: FakeSlack, name: str, role: str, **more: str) -> AsyncIterator[Process]:
        """One process under this name; killed at the end unless it is gone by then."""
        port = self.ports[name] = free_port()
        env = self.environment(name, **slack.environment(), HTTP_PORT=str(port), **more)
        (self.folder / name).mkdir(exist_ok=True)
        with (self.folder / name / "serve.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "serve", "--role", role, env=env, cwd=ROOT, stdout=log, stderr=log
            )
        self.processes[name] = process
        try:
            yield process
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    async def readiness(self, name: str) -> dict[str, str] | None:
        """What a process waits for; None while it does not even listen."""
        with suppress(aiohttp.ClientError):
            address = f"http://127.0.0.1:{self.ports[name]}/readyz"
            async with aiohttp.ClientSession() as web, web.get(address) as response:
                return dict((await response.json())["waiting_for"])
        return None

    async def ready(self, *names: str) -> None:
        """Until these processes are ready. Raises AssertionError with the log of one that ended."""
        async with asyncio.timeout(STARTING):
            for name in names:
                while await self.readiness(name) != {}:
                    assert self.processes[name].returncode is None, self.log(name)
                    await asyncio.sleep(0.1)

    def log(self, name: str) -> str:
        """What a process has logged."""
        return (self.folder / name / "serve.log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def installation(binary: str, folder: Path, *documents: Path) -> Iterator[Installation]:
    """The stores, running, with these documents in them."""
    port = free_redis_port()
    milvus = EmbeddedMilvus(folder / "milvus.db", "passages")
    with running(binary, folder / "redis", port, "--port", str(port), "--requirepass", PASSWORD):
        wait_for(Redis(port=port, password=PASSWORD).ping, "Redis answers")
        try:
            made = Installation(folder, f"redis://:{PASSWORD}@127.0.0.1:{port}/0", milvus.address())
            made.ingest(*documents)
            yield made
        finally:
            milvus.close()
