"""Pool of worker processes that parse untrusted files with limits on memory, time and output.

A worker is replaced after a number of files, or at once after a failure. Whatever a file does to its worker (crash,
hang, exhaust memory), the caller gets a `DocumentRejected` with one reason.
"""

import asyncio
import hashlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import adapters
from adapters.documents.sandbox.protocol import LENGTH, WHOLE_FILE, PageWanted, frame, in_slices
from core.model.document_content import ParsedDocument, PicturePage
from core.model.errors import DocumentRejected

log = logging.getLogger(__name__)

MB = 1024 * 1024
_COPY_BYTES = 256 * 1024
_WATCH_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits for one file.

    Attributes:
        memory: bytes of address space of the worker (Linux) or of resident memory (elsewhere).
        seconds: wall-clock seconds for one file.
        cpu_seconds: CPU seconds for one file.
        input_bytes: larger files are refused without being read.
        output_bytes: files with more text than this are refused.
        documents: number of files after which a worker is replaced.
    """

    memory: int = 512 * MB
    seconds: float = 60.0
    cpu_seconds: int = 60
    input_bytes: int = 100 * MB
    output_bytes: int = 64 * MB
    documents: int = 50


class Sandbox:
    """A bounded pool of parsing processes. Use it as `async with Sandbox() as sandbox`.

    Args:
        workers: how many files are read at the same time; more callers wait.
        limits: limits for one file.
        watch_memory: poll the workers' resident memory, for systems that do not enforce the limit.
        enforce_memory: let the system enforce the limit.
        task: what the processes do: "parse" files, "recognize" the text of pages that are images, "draw" pages.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        limits: SandboxLimits | None = None,
        watch_memory: bool = sys.platform == "darwin",
        enforce_memory: bool = True,
        task: str = "parse",
    ) -> None:
        self._limits = limits or SandboxLimits()
        self._task = task
        self._turn = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._watch_memory = watch_memory
        self._enforce_memory = enforce_memory
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop all workers, including busy ones."""
        self._closed = True
        workers = [*self._idle, *self._busy]
        self._idle.clear()
        for worker in workers:
            await worker.end()

    async def read(self, name: str, data: bytes) -> ParsedDocument:
        """Read one file; pages that are only images are listed as `ParsedDocument.picture_pages`.

        Raises:
            DocumentRejected: with the reason why it cannot be indexed.
        """
        return await _read(await self._answer(name, data, WHOLE_FILE))

    async def read_page(self, name: str, data: bytes, page: PicturePage) -> ParsedDocument:
        """Run OCR on one page of a file. A process that already has the file does not get it again.

        Raises:
            DocumentRejected: with the reason why the page yields no text.
        """
        return await _read(await self._answer(name, data, PageWanted(page.number, member=page.member)))

    async def draw_page(self, name: str, data: bytes, page: int, quote: str) -> bytes:
        """Draw one page of a file, from 1, with the boxes of this quote; return the worker's raw answer.

        Raises:
            DocumentRejected: with the reason why there is no answer.
        """
        return await self._answer(name, data, PageWanted(page, quote))

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator["_Worker"]:
        """Yield a worker for one file; return it to the pool only if it is still healthy."""
        async with self._turn:
            if self._closed:
                raise RuntimeError("the sandbox is closed")
            memory = self._limits.memory if self._enforce_memory else 0
            worker = self._idle.pop() if self._idle else await _Worker.start(self._limits, memory, self._task)
            self._busy.add(worker)
            keep = False
            try:
                yield worker
                keep = worker.read < self._limits.documents
            except DocumentRejected:
                keep = worker.healthy and worker.read < self._limits.documents
                raise
            finally:
                self._busy.discard(worker)
                if keep and not self._closed:
                    self._idle.append(worker)
                else:
                    await asyncio.shield(worker.end())

    async def _answer(self, name: str, data: bytes, page: PageWanted) -> bytes:
        """Return a worker's answer about a file. Raises DocumentRejected."""
        if len(data) > self._limits.input_bytes:
            raise DocumentRejected(
                f"It is larger than {self._limits.input_bytes // MB} MB, which is too much for one file.",
                remedy="Split it, and add the parts.",
            )
        async with self._worker() as worker:
            return await self._ask(worker, name, data, page)

    async def _ask(self, worker: "_Worker", name: str, content: bytes, page: PageWanted) -> bytes:
        """Return the worker's answer before the timeout; poll its memory if the system does not limit it."""
        watch = asyncio.create_task(self._kill_over_limit(worker)) if self._watch_memory else None
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await worker.ask(name, content, self._limits.output_bytes, page)
        except TimeoutError:
            raise DocumentRejected(
                f"Reading it took longer than {self._limits.seconds:g} seconds.", remedy="Split it, and add the parts."
            ) from None
        except (EOFError, ConnectionError, asyncio.IncompleteReadError):
            raise await self._death(worker) from None
        finally:
            if watch is not None:
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch

    async def _kill_over_limit(self, worker: "_Worker") -> None:
        """Kill the worker when its resident memory exceeds the limit."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if await worker.resident() > self._limits.memory:
                worker.over_memory = True
                worker.kill()
                return

    async def _death(self, worker: "_Worker") -> DocumentRejected:
        """Return the error that explains why a worker ended in the middle of a file."""
        code = await worker.end()
        log.warning("a parsing process ended with %s", code)
        if worker.over_memory or code == -signal.SIGKILL:
            return DocumentRejected(f"Reading it needs more than {self._limits.memory // MB} MB of memory.")
        if code == -signal.SIGXCPU:
            return DocumentRejected(f"Reading it took more than {self._limits.cpu_seconds} seconds of processor time.")
        if code in (-signal.SIGABRT, -signal.SIGTRAP):  # pdfium and malloc end like this when they run out of memory
            return DocumentRejected(
                f"The parser gave up. The file is damaged, or needs more than {self._limits.memory // MB} MB of memory."
            )
        return DocumentRejected("It crashed the parser. It is damaged, or made to do harm.")


class _Worker:
    """One parsing process and the pipes to it."""

    def __init__(self, process: asyncio.subprocess.Process, home: "tempfile.TemporaryDirectory[str]") -> None:
        self._process = process
        self._home = home
        self.read = 0
        self.healthy = True
        self.over_memory = False
        self._holds = b""

    @classmethod
    async def start(cls, limits: SandboxLimits, memory: int, task: str) -> Self:
        """Start a fresh interpreter with a minimal environment and its own directory."""
        home = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="footnote-parse-")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-s", "-B", "-m", "adapters.documents.sandbox.child",
                str(memory), str(limits.cpu_seconds), str(limits.output_bytes), task,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=home.name,
                env=environment(home.name),
                start_new_session=True,
            )  # fmt: skip
        except BaseException:
            home.cleanup()
            raise
        return cls(process, home)

    async def ask(self, name: str, content: bytes, output_bytes: int, page: PageWanted) -> bytes:
        """Send one file, or the number of another page of the same file, and wait for the answer.

        Raises:
            EOFError, ConnectionError: the process ended.
        """
        self.read += 1
        self.healthy = False
        assert self._process.stdout is not None
        await self._send(name, content, page)
        (size,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        if size > output_bytes + MB:
            raise DocumentRejected("The parser returned no usable result for this file.")
        body = await self._process.stdout.readexactly(size)
        self.healthy = b'"fatal": true' not in body[-64:]
        return body

    async def _send(self, name: str, content: bytes, page: PageWanted) -> None:
        assert self._process.stdin is not None
        digest = hashlib.sha256(content).digest() if page.number is not None else b""
        again = bool(digest) and digest == self._holds
        self._holds = digest
        header = {"name": name} | page.header()
        if not again:
            header["size"] = len(content)
        self._process.stdin.write(frame(header))
        view = memoryview(b"" if again else content)
        for start in range(0, len(view), _COPY_BYTES):
            self._process.stdin.write(view[start : start + _COPY_BYTES])
            await self._process.stdin.drain()
        await self._process.stdin.drain()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    async def resident(self) -> int:
        """Return the resident memory of the process in bytes, from `ps`; 0 if it has ended."""
        asking = await asyncio.create_subprocess_exec(
            "ps", "-o", "rss=", "-p", str(self._process.pid),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        output, _ = await asking.communicate()
        return int(output) * 1024 if output.strip().isdigit() else 0

    def kill(self) -> None:
        """Kill the process and its children now."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> int:
        """End the process if it still runs; return its exit code, negative for a signal."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5 if self.healthy else 0.1):
                await self._process.wait()
        self.kill()
        code = await self._process.wait()
        await asyncio.to_thread(self._home.cleanup)
        return code


def environment(home: str) -> dict[str, str]:
    """Return a worker's environment: no tokens, no addresses, a temporary home, and our import path for formats."""
    return {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join((str(Path(adapters.__file__).parents[1]), *filter(None, sys.path))),
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


async def _read(body: bytes) -> ParsedDocument:
    """Decode an answer, yielding to the event loop in between."""
    for parsed in in_slices(body):
        if parsed is not None:
            return parsed
        await asyncio.sleep(0)
    raise AssertionError("a reading comes last")
