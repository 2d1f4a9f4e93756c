"""The embedded Valkey as a real process: shared, adopted, killed, and what it still knows afterwards."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.redis import embedded_server
from adapters.redis.client import bounded_call, connect, durability, probe
from adapters.redis.embedded_server import SOCKET_PATH_LIMIT, EmbeddedValkey
from adapters.redis.inbox import RedisInbox
from adapters.redis.memory import RedisMemory
from core.model.errors import ConfigurationError, StoreUnavailable
from core.ports.inbox import Delivery
from tests.contracts.conversations import THREAD, evidence, turn

pytestmark = pytest.mark.live

# A program that uses the server until it is told to leave, or is killed.
PROGRAM = """
import asyncio, sys
from pathlib import Path
from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey

async def main():
    async with EmbeddedValkey(Path(sys.argv[1])) as valkey:
        client = connect(valkey.url)
        for number in range(2_000):
            await client.set(f"written-{number}", number)
        await client.aclose()
        print(valkey.pid, flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="valkey-") as made:
        yield Path(made)


@pytest.fixture
async def valkey(folder: Path) -> AsyncIterator[EmbeddedValkey]:
    async with EmbeddedValkey(folder) as server:
        yield server


@pytest.fixture
async def client(valkey: EmbeddedValkey) -> AsyncIterator[Redis]:
    made = connect(valkey.url)
    yield made
    await made.aclose()


def program(folder: Path) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline().strip().isdigit()
    return started


def ended(started: subprocess.Popen[str]) -> None:
    started.communicate("leave\n", timeout=30)


async def answers(client: Redis) -> bool:
    try:
        async with bounded_call():
            return bool(await client.ping())
    except StoreUnavailable:
        return False


async def test_it_is_durable_and_listens_on_no_port(client: Redis) -> None:
    told = await durability(client)
    assert told.is_durable
    assert told.fsync == "everysec"
    assert (await client.config_get("port"))["port"] == "0"


async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(valkey: EmbeddedValkey, client: Redis) -> None:
    memory, inbox = RedisMemory(client), RedisInbox(client)
    for number in range(50):
        await memory.remember(THREAD, turn(f"t{number}", cites=(number + 1,)), [evidence(number + 1)])
        await inbox.put(Delivery(f"d{number}", "slack", f"thread {number}", f"U{number}", "{}"))
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    await valkey.start()
    record = await memory.recall(THREAD)
    assert [kept.trace_id for kept in record.turns] == [f"t{number}" for number in range(50)]
    assert len(record.library) == 50
    assert await inbox.count_waiting() == 50


async def test_stores_say_that_it_is_away_and_go_on_when_it_is_back(valkey: EmbeddedValkey, client: Redis) -> None:
    memory = RedisMemory(client)
    await memory.remember(THREAD, turn("t1"), [])
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    with pytest.raises(StoreUnavailable):
        await memory.remember(THREAD, turn("t2"), [])
    with pytest.raises(StoreUnavailable):
        await memory.recall(THREAD)
    await valkey.start()
    await memory.remember(THREAD, turn("t3"), [])
    assert [kept.trace_id for kept in (await memory.recall(THREAD)).turns] == ["t1", "t3"]


async def test_a_server_that_hangs_is_away_too(valkey: EmbeddedValkey, client: Redis) -> None:
    pid = valkey.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(StoreUnavailable):
            async with bounded_call(deadline=0.2):
                await client.ping()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await answers(client)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), "Redis is full and accepts no writes. Raise maxmemory"),
        (
            ("REPLICAOF", "127.0.0.1", "1"),
            "This Redis is a replica and accepts no writes. Set REDIS_URL to its primary",
        ),
    ],
)
async def test_a_server_that_takes_no_writes_says_what_to_do(
    client: Redis, command: tuple[str, ...], said: str
) -> None:
    await client.execute_command(*command)  # type: ignore[no-untyped-call]
    with pytest.raises(StoreUnavailable, match=said):
        await RedisMemory(client).remember(THREAD, turn("t1"), [])
    with pytest.raises(StoreUnavailable, match=said):
        await RedisInbox(client).put(Delivery("d", "slack", "thread", "U1", "{}"))
    with pytest.raises(StoreUnavailable, match=said):
        await probe(client)


async def test_one_without_tls_that_is_asked_with_it_lets_tls_be_looked_at(client: Redis) -> None:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        port = int(probing.getsockname()[1])
    await client.config_set("port", port)
    async with aclosing(connect(f"rediss://127.0.0.1:{port}/0")) as wrong:
        with pytest.raises(StoreUnavailable, match="rediss:// only if Redis uses TLS"):
            await probe(wrong)
    async with aclosing(connect(f"redis://127.0.0.1:{port}/0")) as right:
        await probe(right)


async def test_one_who_watches_starts_it_again(valkey: EmbeddedValkey, client: Redis) -> None:
    watching = asyncio.create_task(valkey.watch(every=0.05))
    first = valkey.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(120):
        while valkey.pid == first or not await answers(client):
            await asyncio.sleep(0.05)
    watching.cancel()
    await asyncio.wait({watching})


class Counted(EmbeddedValkey):
    """Counts how often it was started."""

    starts = 0

    def _start(self, *, joining: bool = True) -> None:
        self.starts += 1
        super()._start(joining=joining)


async def test_one_who_watches_goes_on_after_a_start_that_the_disk_refused(folder: Path) -> None:
    async with Counted(folder) as valkey:
        assert valkey.pid is not None
        (folder / "valkey.address").unlink()
        (folder / "valkey.address").mkdir()  # cannot be written, as on a full disk
        os.kill(valkey.pid, signal.SIGKILL)
        watching = asyncio.create_task(valkey.watch(every=0.05))
        async with asyncio.timeout(120):
            while valkey.starts < 3 and not watching.done():
                await asyncio.sleep(0.01)
            (folder / "valkey.address").rmdir()
            client = connect(valkey.url)
            while not await answers(client) and not watching.done():
                await asyncio.sleep(0.05)
        assert await answers(client)
        watching.cancel()
        await asyncio.wait({watching})
        await client.aclose()


async def test_a_second_process_shares_the_server_and_outlives_the_first(folder: Path) -> None:
    first = await asyncio.to_thread(program, folder)
    async with EmbeddedValkey(folder) as valkey:
        pid, client = valkey.pid, connect(valkey.url)
        assert await client.get("written-1999") == "1999"
        await asyncio.to_thread(ended, first)
        assert await client.get("written-0") == "0"
        assert valkey.pid == pid
        await client.aclose()
    assert valkey.pid is None, "the last one out shuts it down"


async def test_a_killed_programs_server_is_adopted_by_the_next(folder: Path) -> None:
    first = await asyncio.to_thread(program, folder)
    left_alone = EmbeddedValkey(folder).pid
    first.kill()
    await asyncio.to_thread(first.communicate)
    async with EmbeddedValkey(folder) as valkey:
        assert valkey.pid == left_alone
        client = connect(valkey.url)
        assert await client.get("written-1999") == "1999"
        await client.aclose()


async def test_adopts_and_ends_a_server_whose_pid_file_is_empty(folder: Path) -> None:
    first = await asyncio.to_thread(program, folder)
    living = EmbeddedValkey(folder).pid
    first.kill()
    await asyncio.to_thread(first.communicate)
    (folder / "valkey.pid").write_text("")
    async with EmbeddedValkey(folder) as valkey:
        assert valkey.pid == living
        client = connect(valkey.url)
        assert await client.get("written-1999") == "1999"
        await client.aclose()
    assert not (folder / "valkey.sock").exists()
    assert valkey.pid is None


async def test_one_who_is_cancelled_while_it_starts_leaves_no_server_behind(folder: Path) -> None:
    server = EmbeddedValkey(folder)
    joining = asyncio.create_task(server.__aenter__())
    while server.pid is None:
        await asyncio.sleep(0.001)
    joining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await joining
    assert server.pid is None, "who was cancelled shuts it down"


async def test_a_restart_that_comes_after_the_end_starts_nothing(folder: Path) -> None:
    async with EmbeddedValkey(folder) as server:
        pass
    server._start(joining=False)
    assert not server._answers()


async def test_ten_that_start_at_once_share_one_server(folder: Path) -> None:
    servers = [EmbeddedValkey(folder) for _ in range(10)]
    await asyncio.gather(*(server.start() for server in servers))
    assert len({server.pid for server in servers}) == 1
    await asyncio.gather(*(server.close() for server in servers))
    assert servers[0].pid is None


async def test_what_was_written_is_there_after_an_orderly_restart(folder: Path) -> None:
    for expected in (None, "kept"):
        async with EmbeddedValkey(folder) as valkey:
            client = connect(valkey.url)
            assert await client.get("word") == expected
            await client.set("word", "kept")
            await client.aclose()


async def test_a_directory_with_a_long_name_is_no_trouble(folder: Path) -> None:
    deep = folder / "ein ziemlich langer Ordner" / ("x" * SOCKET_PATH_LIMIT)
    async with EmbeddedValkey(deep) as valkey:
        client = connect(valkey.url)
        assert await answers(client)
        await client.aclose()


async def test_a_stale_pid_of_some_other_process_is_not_touched(folder: Path) -> None:
    async with EmbeddedValkey(folder):
        pass
    (folder / "valkey.pid").write_text(str(os.getpid()))
    async with EmbeddedValkey(folder) as valkey:
        assert valkey.pid != os.getpid()


async def test_a_servers_program_of_the_system_is_used_where_none_is_packaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("redis-server") is None and shutil.which("valkey-server") is None:
        pytest.skip("There is no Redis server on this system.")
    monkeypatch.setattr(embedded_server, "find_spec", lambda _: None)
    for written in (False, True):
        async with EmbeddedValkey(folder) as valkey, aclosing(connect(valkey.url)) as client:
            assert bool(await client.exists("kept")) is written
            await client.set("kept", 1)
    assert not Path(EmbeddedValkey(folder).url.removeprefix("unix://")).exists()  # the last one ended it


def test_no_servers_program_is_one_line_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigurationError, match="no Valkey or Redis server on this machine"):
        embedded_server.server_program()


async def test_a_data_directory_that_is_a_file_is_said(folder: Path) -> None:
    (folder / "file").touch()
    with pytest.raises(ConfigurationError, match="data directory"):
        await EmbeddedValkey(folder / "file").start()


async def test_a_damaged_append_only_file_names_its_remedy_which_keeps_what_can_be_read(folder: Path) -> None:
    async with EmbeddedValkey(folder) as server:
        client = connect(server.url)
        for number in range(500):
            await client.set(f"k{number}", "v" * 40)
        await client.aclose()
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    whole = file.read_bytes()
    file.write_bytes(whole[:20_000] + b"XXXXXXXX" + whole[20_008:])
    with pytest.raises(StoreUnavailable, match=rf"{re.escape(file.name)} cannot be read .* footnote doctor --fix"):
        await EmbeddedValkey(folder).start()
    aside = await EmbeddedValkey(folder).salvage()
    assert aside is not None
    assert (aside / file.name).read_bytes()[:20_000] == whole[:20_000]
    async with EmbeddedValkey(folder) as server:
        client = connect(server.url)
        assert 0 < await client.dbsize() < 500
        await client.aclose()
        assert await EmbeddedValkey(folder).salvage() is None  # it lives
    assert await EmbeddedValkey(folder).salvage() is None  # it is whole


async def test_a_tail_that_a_power_cut_left_half_written_is_no_hindrance(folder: Path) -> None:
    async with EmbeddedValkey(folder) as server:
        client = connect(server.url)
        for number in range(50):
            await client.set(f"k{number}", "v")
        await client.aclose()
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(file.read_bytes()[:-5])
    async with EmbeddedValkey(folder) as server:
        client = connect(server.url)
        assert await client.dbsize() == 49
        await client.aclose()
