"""Several processes on one database file: one serves it, the others share it, and somebody always takes over."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from adapters.milvus.embedded_server import RESERVE, EmbeddedMilvus
from adapters.milvus.index import IndexState, MilvusIndex
from core.ingestion.passage_vectors import vectors_of
from core.model.errors import ConfigurationError, DiskFull, IndexMismatch, StoreUnavailable
from core.model.knowledge import Passage
from core.ports.index import Scope
from tests.fakes.memory.encoder import HashingEncoder

pytestmark = pytest.mark.live

ENCODER = HashingEncoder()
ALL = Scope(frozenset({"handbook"}))

# Another process with the same index: adds what it is told, prints the count, and says whether it serves.
OTHER = """
import asyncio, sys
from adapters.milvus.index import MilvusIndex
from core.ingestion.passage_vectors import vectors_of
from core.model.knowledge import Passage
from core.ports.index import Scope
from tests.fakes.memory.encoder import HashingEncoder

async def main():
    encoder = HashingEncoder()
    async with MilvusIndex(sys.argv[1], model=encoder.name, dimension=encoder.dimension) as index:
        print("holding" if index.is_server_owner else "sharing", await index.count(), flush=True)
        for line in iter(sys.stdin.readline, ""):
            passage = Passage(line.strip(), "handbook", "doc", "v1", "s", 0, "T", line)
            await index.add([passage], await vectors_of([passage], encoder))
            print(await index.count(), flush=True)

asyncio.run(main())
"""


@pytest.fixture
def path() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="milvus-") as folder:
        yield f"{folder}/milvus.db"


def opened(path: str, **more: object) -> MilvusIndex:
    return MilvusIndex(path, **{"model": ENCODER.name, "dimension": ENCODER.dimension, **more})  # type: ignore[arg-type]


def serves(index: MilvusIndex) -> bool:
    return index.is_server_owner


def is_ready(index: MilvusIndex) -> bool:
    return index.ready


def state_of(index: MilvusIndex) -> IndexState:
    return index.state


async def add(index: MilvusIndex, name: str) -> None:
    passage = Passage(name, "handbook", "doc", "v1", "s", 0, "T", name)
    await index.add([passage], await vectors_of([passage], ENCODER))


@asynccontextmanager
async def another(path: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", OTHER, path,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def says(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()


async def tell(process: asyncio.subprocess.Process, line: str) -> str:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    return await says(process)


async def test_a_second_process_sees_and_adds_to_the_same_passages(path: str) -> None:
    async with opened(path) as index:
        await add(index, "from the first")
        async with another(path) as second:
            assert await says(second) == "sharing 1"
            assert await tell(second, "from the second") == "2"
        assert index.is_server_owner
        assert await index.count() == 2


async def test_leaves_no_output_no_temporary_files_and_no_process(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with another(path) as process:
        assert await says(process) == "holding 0"
        out, err = await process.communicate(b"")
        assert (out, err, process.returncode) == (b"", b"", 0)
    assert not list(tmp_path.iterdir())
    async with opened(path) as index:  # the file is free again
        assert index.is_server_owner


async def test_when_the_serving_process_is_killed_another_takes_over_with_every_passage(path: str) -> None:
    async with another(path) as first:
        assert await says(first) == "holding 0"
        assert await tell(first, "written before the end") == "1"
        async with opened(path) as index:
            assert not serves(index)
            os.kill(first.pid, signal.SIGKILL)
            await first.wait()
            # The server that lost its holder looks for it every two seconds, and answers until it has looked.
            async with asyncio.timeout(60):
                while not serves(index):
                    assert await index.count() == 1
                    await asyncio.sleep(0.05)
            await add(index, "written after it")
            assert await index.count() == 2


async def test_another_process_takes_over_when_the_serving_one_ends(path: str) -> None:
    serving = opened(path)
    await serving.open()
    async with another(path) as other, opened(path) as mine:
        assert await says(other) == "sharing 0"
        await serving.close()
        grown, _ = await asyncio.gather(tell(other, "one"), add(mine, "two"))
        assert grown in {"1", "2"}
        assert await mine.count() == 2


async def test_a_server_that_is_killed_is_started_again_by_the_next_call(path: str) -> None:
    async with opened(path) as index:
        await add(index, "kept")
        server = index._connection._embedded._server  # type: ignore[union-attr]
        assert server is not None
        server.kill()
        server.wait()
        assert await index.count() == 1


async def test_an_idle_owner_that_watches_starts_its_dead_server_again_for_everybody(path: str) -> None:
    async with opened(path) as index:
        await add(index, "kept")
        watching = asyncio.create_task(index.watch(every=0.05))
        server = index._connection._embedded._server  # type: ignore[union-attr]
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)
        async with another(path) as second:
            assert await says(second) == "sharing 1"
        watching.cancel()
        await asyncio.wait({watching})


async def test_another_model_is_refused_and_told_what_to_do(path: str) -> None:
    async with opened(path) as index:
        await add(index, "kept")
    with pytest.raises(IndexMismatch, match=r"written with hashing .64 dimensions.*EMBEDDING_MODEL back to hashing"):
        await opened(path, model="other").open()
    with pytest.raises(IndexMismatch, match=r"EMBEDDING_MODEL is hashing .32."):
        await opened(path, dimension=32).open()
    async with opened(path) as index:
        assert await index.count() == 1


async def test_a_path_too_long_for_a_socket_works_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("a folder with a long name and a % " * 3) / "more of it"
    async with opened(str(deep / "milvus.db")) as index:
        await add(index, "kept")
        async with another(str(deep / "milvus.db")) as second:
            assert await says(second) == "sharing 1"


async def test_a_file_name_that_milvus_cannot_take_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="at most 36 letters"):
        opened("/tmp/a name with spaces.db")


async def test_a_server_that_is_not_there_is_one_clear_line() -> None:
    with pytest.raises(StoreUnavailable, match=r"Milvus at http://127.0.0.1:9 does not respond. Check MILVUS_URI"):
        await opened("http://127.0.0.1:9").open()


async def test_an_index_says_how_far_it_is_and_waits_for_its_opening(path: str) -> None:
    index = opened(path, patience=120.0)  # a busy machine opens slowly
    assert state_of(index) is IndexState.CLOSED
    assert not is_ready(index)
    with pytest.raises(StoreUnavailable, match="closed"):
        await index.count()
    opening = asyncio.create_task(index.open())
    await asyncio.sleep(0)
    assert state_of(index) is IndexState.CONNECTING
    assert await index.count(ALL) == 0  # asked while it opens
    await opening
    assert is_ready(index)
    await index.close()
    assert state_of(index) is IndexState.CLOSED
    with pytest.raises(StoreUnavailable, match="closed"):
        await index.count()


def _cut_short(*_: object) -> None:
    raise StoreUnavailable("cut short")


async def test_a_collection_that_was_left_without_its_indexes_gets_them(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(path)
    with monkeypatch.context() as cut_short:
        cut_short.setattr("adapters.milvus.index.create_indexes", _cut_short)
        with pytest.raises(StoreUnavailable, match="cut short"):
            await index.open()
    async with opened(path) as again:
        await add(again, "kept")
        vector = (await ENCODER.encode_queries(["kept"]))[0]
        assert len((await again.search("kept", vector, ALL, 5)).bm25) == 1


async def test_processes_that_start_at_the_same_moment_all_open(path: str) -> None:
    indexes = [opened(path) for _ in range(4)]
    await asyncio.gather(*(index.open() for index in indexes))
    assert [serves(index) for index in indexes].count(True) == 1
    await asyncio.gather(*(add(index, f"p{n}") for n, index in enumerate(indexes)))
    assert {await index.count() for index in indexes} == {4}
    for index in indexes:
        await index.close()


def finds_rows_by_id(path: str) -> bool:
    """Whether the database, which nobody has open, has an index of its rows' ids."""
    with closing(sqlite3.connect(path)) as database:
        plan = database.execute("EXPLAIN QUERY PLAN DELETE FROM passages WHERE milvus_id IN ('a', 'b')").fetchall()
    return any("USING" in step[-1] and "INDEX" in step[-1] for step in plan)


async def test_the_file_finds_its_rows_by_id_from_the_first_start_and_after_an_older_one(path: str) -> None:
    async with opened(path) as index:
        await add(index, "a")
    assert finds_rows_by_id(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP INDEX passages_milvus_id")
    assert not finds_rows_by_id(path)
    async with opened(path) as index:
        assert await index.count() == 1
        assert await index.remove("doc") == 1
    assert finds_rows_by_id(path)
    async with opened(path) as index:
        assert await index.count() == 0


async def test_it_opens_where_the_users_home_cannot_be_written(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a read-only root: what Milvus Lite caches goes beside its file."""
    monkeypatch.setenv("HOME", "/proc/no-home")
    async with opened(path) as index:
        await add(index, "a")
        assert await index.count() == 1


async def test_a_call_that_meets_a_damaged_page_says_what_to_do(path: str) -> None:
    passages = [Passage(f"p{n}", "handbook", "doc", "v1", "s", n, "T", f"Words {n}. " * 40) for n in range(200)]
    vectors = await vectors_of(passages, ENCODER)
    async with opened(path) as index:
        await index.add(passages, vectors)
    os.truncate(path, Path(path).stat().st_size - 3)
    async with opened(path) as index:
        adding = index.add(passages, vectors)
        with pytest.raises(StoreUnavailable, match=r"damaged\. Move it away\. Then footnote kb repair"):
            await adding


async def test_rows_that_the_file_lacks_are_noticed(path: str) -> None:
    async with opened(path) as index:
        await add(index, "p1")
        server = EmbeddedMilvus(Path(path), "passages")
        server.check_stored(["p1"])
        with pytest.raises(StoreUnavailable, match="has lost data"):
            server.check_stored(["p1", "p2"])
        for number in range(20):  # looking at the file does not keep Milvus Lite from writing to it
            await asyncio.gather(asyncio.to_thread(server.check_stored, ["p1"]), add(index, f"q{number}"))


async def test_on_a_disk_without_the_reserve_nothing_is_added_and_what_is_there_is_found(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={RESERVE + 2**20}", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:  # noqa: ASYNC221
        pytest.skip("No file system can be mounted here.")
    try:
        async with opened(str(place / "milvus.db")) as index:
            await add(index, "p1")
            (place / "filler").write_bytes(bytes(2**20))
            with pytest.raises(DiskFull, match=r"The disk of .* is full\. Free some space\."):
                await add(index, "p2")
            assert await index.count() == 1
            (place / "filler").unlink()
            await add(index, "p2")
            assert await index.count() == 2
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)  # noqa: ASYNC221
