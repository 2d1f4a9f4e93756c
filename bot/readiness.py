"""Readiness: what keeps all questions from being answered now, and what only degrades the service."""

import asyncio
import errno
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adapters.observability import prometheus as metrics
from adapters.redis.client import write_probe
from bot.container import Footnote
from bot.supervision import SupervisedPlatform
from core.model.errors import DiskFull, FootnoteError
from core.service.shared_stores import SharedStores

PROBE_SECONDS = 3.0  # for one store; Kubernetes and Docker probes wait four or five
_FULL = (errno.ENOSPC, errno.EDQUOT)
_PROBE = b"\0" * 4096


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """Problems by component. Ready while ``waiting_for`` is empty."""

    waiting_for: dict[str, str] = field(default_factory=dict)
    degraded: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Checks the stores, the disk and the platforms on every call, so that it recovers by itself."""

    footnote: Footnote
    stores: SharedStores
    platforms: Sequence[SupervisedPlatform]
    home: Path
    model_failure: Callable[[], str]

    async def report(self) -> ReadinessReport:
        """Return the current problems.

        An unavailable platform only degrades the service as long as another one, the page included, is available. If
        the model is unavailable, answers are quotes.
        """
        away = {one.name: problem for one in self.platforms if (problem := one.readiness_problem())}
        degraded = dict(away) if len(away) < len(self.platforms) else {}
        if failure := self.model_failure():
            degraded["model"] = failure
        waiting = {} if degraded.keys() >= away.keys() else dict(away)
        waiting |= self.footnote.opening.readiness_problems()
        if not self.stores.joined.is_set():
            waiting.setdefault("index", "it is still opening")
        redis, index, disk = await asyncio.gather(self._redis_problem(), self._index_problem(), self._disk_problem())
        for name, problem in (("redis", redis or self.stores.refused), ("index", index), ("disk", disk)):
            if problem:
                waiting[name] = problem
        if not redis and self.stores.joined.is_set():
            try:
                await self.footnote.knowledge_stack.deps.consistency.check()  # Redis may have restarted empty
            except FootnoteError as error:
                waiting["catalog"] = str(error)
        return ReadinessReport(waiting, degraded)

    async def _redis_problem(self) -> str:
        """Return why Redis cannot be written; empty if it can."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await write_probe(self.footnote.redis)
                metrics.WAITING.set(await self.footnote.inbox.count_waiting())
        except FootnoteError as error:
            return str(error)
        except TimeoutError:
            return f"Redis did not respond within {PROBE_SECONDS:.0f} seconds."
        return ""

    async def _index_problem(self) -> str:
        """Return why the index cannot be searched; empty if it can, or is not open yet."""
        if not self.stores.joined.is_set():
            return ""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                metrics.PASSAGES.set(await self.footnote.index.count())
        except FootnoteError as error:
            return str(error)
        except TimeoutError:
            return f"The index did not respond within {PROBE_SECONDS:.0f} seconds."
        return ""

    async def _disk_problem(self) -> str:
        """Return whether the disk of the data directory is full. A read-only folder is not a problem."""
        try:
            await asyncio.to_thread(_write, self.home)
        except OSError as error:
            if error.errno in _FULL:
                return str(DiskFull(self.home))
        return ""


def _write(home: Path) -> None:
    with tempfile.TemporaryFile(dir=home, prefix=".readiness-", buffering=0) as file:
        file.write(_PROBE)
        os.fsync(file.fileno())
