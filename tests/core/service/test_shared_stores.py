"""All processes share one index and one file store, or the later one refuses to start."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.files.blob_store import FolderBlobStore
from core.model.errors import ConfigurationError, StoreUnavailable
from core.ports.inbox import ServingProcess
from core.service.shared_stores import SharedStores
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.processes import InProcessNamedLeases, InProcessProcessRegistry


class Machines:
    """What all processes of an installation share: one Redis."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.registry = InProcessProcessRegistry(self.clock)
        self.leases = InProcessNamedLeases(self.clock)

    def process(self, name: str, files: Path) -> SharedStores:
        return SharedStores(
            name=name, role="worker", registry=self.registry, leases=self.leases, blobs=FolderBlobStore(files)
        )


async def test_those_with_the_same_index_and_files_serve_together(tmp_path: Path) -> None:
    machines = Machines()
    for name in ("one", "two"):
        await machines.process(name, tmp_path).join("index")
    assert [one.name for one in await machines.registry.live_processes()] == ["one", "two"]


async def test_an_index_that_the_others_do_not_have_is_refused(tmp_path: Path) -> None:
    machines = Machines()
    await machines.process("one", tmp_path).join("index")
    with pytest.raises(ConfigurationError, match=r"use different indexes\. Set MILVUS_URI"):
        await machines.process("two", tmp_path).join("its own")
    assert [one.name for one in await machines.registry.live_processes()] == ["one"]


async def test_files_that_the_others_do_not_see_are_refused(tmp_path: Path) -> None:
    machines = Machines()
    await machines.process("one", tmp_path / "here").join("index")
    with pytest.raises(ConfigurationError, match=r"use different file stores\. Set BLOB_STORE_URL"):
        await machines.process("two", tmp_path / "there").join("index")


async def test_one_that_has_died_keeps_nobody_from_starting(tmp_path: Path) -> None:
    machines = Machines()
    await machines.process("one", tmp_path / "here").join("index")
    machines.clock.advance(61)
    await machines.process("two", tmp_path / "there").join("another")


async def test_one_that_ends_is_known_no_more(tmp_path: Path) -> None:
    machines = Machines()
    process, stop = machines.process("one", tmp_path), asyncio.Event()
    await process.join("index")
    staying = asyncio.create_task(process.stay(stop))
    stop.set()
    async with asyncio.timeout(30):
        await staying
    assert await machines.registry.live_processes() == []


class Refusing(InProcessProcessRegistry):
    """A store that answers but rejects writes while ``refuses`` is set."""

    refuses = ""

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        if self.refuses:
            raise StoreUnavailable(self.refuses)
        await super().announce(process, lasting)


async def test_a_store_that_takes_no_writes_any_more_is_remembered_until_it_does(tmp_path: Path) -> None:
    machines = Machines()
    machines.registry = registry = Refusing(machines.clock)
    process = machines.process("one", tmp_path)
    await process.join("index")
    for refuses in ("It is full.", ""):
        registry.refuses, stop = refuses, asyncio.Event()
        stopping = asyncio.create_task(process.stay(stop))
        await asyncio.sleep(0)  # one announcement, and then its pause
        stop.set()
        async with asyncio.timeout(30):
            await stopping
        assert process.refused == refuses
